// SPDX-License-Identifier: GPL-2.0
/*
 * What the module may answer, and its events: the first byte says what is asked, the
 * rest are the answers (fake_kernel.h).  What is understood is printed, in both ways.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "fake_kernel.h"
#include "fuzz.h"
#include "kernel.h"
#include "live.h"
#include "object.h"
#include "print.h"

/* What a person and a program read of it. */
static void show(const struct live *l)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *root = json_live(l);

	if (!out)
		abort();
	print_live(out, l);
	print_selectors(out, &l->object);
	if (l->evidence.reason)
		print_evidence(out, &l->evidence);
	fclose(out);
	fuzz_true("is JSON", !!root, text);
	json_decref(root);
	free(text);
}

static void ask_lives(void)
{
	struct err e = { "" };
	struct lives ls = { 0 };
	uint32_t i;
	int rc = lives_read(&ls, &e);

	fuzz_true("says why", rc <= 0 && (!rc || e.text[0]), "");
	for (i = 0; !rc && i < ls.n; i++)
		show(&ls.list[i]);
	if (!rc)
		lives_tripped(&ls);
	lives_free(&ls);
}

static void ask_totals(struct kernel *k)
{
	struct err e = { "" };
	struct totals t;
	int rc = totals_read(&k->genl, &t, &e);

	fuzz_true("says why", rc <= 0 && (!rc || e.text[0]), "");
	if (!rc)
		json_decref(json_totals(&t));
}

/* As the base of an item, it must be what object_parse() takes. */
static void ask_item(struct kernel *k, const char *set)
{
	char value[ITEM_VALUE] = "";
	struct err e = { "" };
	struct object o;
	int rc;

	if (set) {
		rc = k->backend.set(&k->backend, ITEM_CIRCUIT, "lhc", "absent", set, &e);
		fuzz_true("says why", !rc || e.text[0], set);
		return;
	}
	rc = k->backend.get(&k->backend, ITEM_CIRCUIT, "lhc", value, &e);
	fuzz_true("says why", rc <= 0 && (!rc || e.text[0]), "lhc");
	if (rc || !strcmp(value, "absent"))
		return;
	fuzz_true("one line", !strchr(value, '\n'), value);
	if (!object_parse(value, &o))
		object_free(&o);
}

static void know_circuits(struct kernel *k)
{
	const char *value;
	struct object o;

	known_circuits(&k->known, &k->genl);
	value = known_get(&k->known, ITEM_CIRCUIT, "lhc");
	if (value && strcmp(value, "absent") && !object_parse(value, &o))
		object_free(&o);
}

static void ask_prefix(struct kernel *k)
{
	struct err e = { "" };
	struct prefix p;
	struct object o;

	parse_prefix("192.0.2.0/24", &p, &e);
	if (!object_of_prefix(&k->genl, &p, &o, &e))
		object_free(&o);
	parse_prefix("2001:db8::/32", &p, &e);
	if (!object_of_prefix(&k->genl, &p, &o, &e))
		object_free(&o);
}

static int on_event(const struct nlmsghdr *nlh, void *data)
{
	struct event ev;
	char *text = NULL;
	size_t len;
	FILE *out;

	genl_family_gone(nlh);
	if (event_parse(nlh, &ev)) {
		event_free(&ev);
		return MNL_CB_OK;
	}
	event_learn(data, &ev);
	out = open_memstream(&text, &len);
	if (!out)
		abort();
	print_event(out, &ev);
	fclose(out);
	free(text);
	json_decref(json_event(&ev));
	event_free(&ev);
	return MNL_CB_OK;
}

static void hear_events(const uint8_t *data, size_t size)
{
	struct lives known = { 0 };
	char *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	nlm_each(copy, size, on_event, &known);
	free(copy);
	lives_free(&known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = { "" };
	struct kernel k;

	if (!size || data[0] > 7)
		return -1;
	if (data[0] == 6) {
		fake_kernel_begin(data, 0);
		hear_events(data + 1, size - 1);
		return 0;
	}
	fake_kernel_begin(data + 1, size - 1);
	fuzz_true("opens", !kernel_open(&k, &e), e.text);
	switch (data[0]) {
	case 0:
		ask_item(&k, NULL);
		break;
	case 1:
		ask_item(&k, "window=11163 rate=500000000 prefixes=192.0.2.0/24 dev=eth1 mark=7 flags=1");
		break;
	case 2:
		ask_item(&k, "absent");
		break;
	case 3:
		ask_lives();
		break;
	case 4:
		ask_totals(&k);
		break;
	case 7:
		know_circuits(&k);
		break;
	default:
		ask_prefix(&k);
	}
	kernel_close(&k);
	fake_kernel_end();
	return 0;
}

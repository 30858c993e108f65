// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel may answer about qdiscs, classes, filters, routes, links and
 * connections: the first byte says what is asked, the rest are the answers
 * (fake_kernel.h).  It ends, with an error that is said or with a value that the state
 * could hold: one line that parses to itself.
 */
#include <errno.h>
#include <string.h>

#include "conn.h"
#include "fake_kernel.h"
#include "filter.h"
#include "fuzz.h"
#include "hear.h"
#include "htb.h"
#include "interest.h"
#include "item.h"
#include "kernel.h"
#include "link.h"

struct asked {
	enum item_kind kind;
	const char *name;
	const char *set;	/* NULL = to be read only */
};

/* 192.0.2.0/24 by device 2, of our protocol */
#define ROUTE	"02180000fec7fd010000000008000100c00002000800040002000000"

static const struct asked items[] = {
	{ ITEM_QDISC, "eth1", NULL },
	{ ITEM_QDISC, "eth1", "tbf rate 500000000 burst 100000 limit 16900782" },
	{ ITEM_QDISC, "eth1", "mq queues 2 fq maxrate 62500000 limit 10000 flow_limit 100" },
	{ ITEM_QDISC, "eth1", "htb default ffff" },
	{ ITEM_QDISC, "eth1", "default" },
	{ ITEM_CLASS, "eth1 c7c0:1", NULL },
	{ ITEM_CLASS, "eth1 c7c0:ffff", NULL },
	{ ITEM_CLASS, "eth1 c7c0:1", "rate 500000000 burst 100000 quantum 65536 limit 16900782" },
	{ ITEM_FILTER, "eth1 192.0.2.0/24", NULL },
	{ ITEM_FILTER, "eth1 2001:db8::/32", NULL },
	{ ITEM_FILTER, "eth1 2001:db8::/32", "class c7c0:1" },
	{ ITEM_FILTER, "eth1 192.0.2.0/24", "absent" },
	{ ITEM_ROUTE, "192.0.2.0/24", NULL },
	{ ITEM_ROUTE, "2001:db8::/32", NULL },
	{ ITEM_ROUTE, "0.0.0.0/0", NULL },
	{ ITEM_ROUTE, "192.0.2.0/24", "absent" },
	{ ITEM_ROUTE, "192.0.2.0/24", ROUTE },
};

#define N_ITEMS (sizeof(items) / sizeof(items[0]))

static bool is_value(enum item_kind kind, const char *value)
{
	struct qdisc q;
	struct htb_class c;
	struct filter f;
	struct route r;

	switch (kind) {
	case ITEM_QDISC:
		return !qdisc_parse(value, &q);
	case ITEM_CLASS:
		return !class_parse(value, &c);
	case ITEM_FILTER:
		return !filter_parse(value, &f);
	default:
		return !route_from_text(value, &r);
	}
}

/* What an item has becomes its base, so that it must go through the state's file. */
static void check_value(const struct asked *a, const char *value)
{
	char text[256];

	fuzz_true("one line", !strpbrk(value, "\n"), value);
	fuzz_true("fits", strlen(value) < ITEM_VALUE, value);
	fuzz_true("is one", is_value(a->kind, value), value);
	fuzz_true("is equal to itself", item_equal(a->kind, a->name, value, value), value);
	item_describe(a->kind, a->name, value, text, sizeof(text));
}

static void ask_item(struct kernel *k, const struct asked *a)
{
	char value[ITEM_VALUE] = "";
	struct err e = { "" };
	int rc;

	if (a->set)
		rc = k->backend.set(&k->backend, a->kind, a->name,
				    a->kind == ITEM_ROUTE ? ROUTE : "absent", a->set, &e);
	else
		rc = k->backend.get(&k->backend, a->kind, a->name, value, &e);
	fuzz_true("says why", rc <= 0 && (!rc || e.text[0]), a->name);
	if (!rc && !a->set)
		check_value(a, value);
}

static int on_class(uint32_t classid, void *data)
{
	(void)classid;
	(void)data;
	return 0;
}

static int on_flower(const struct flower *fl, void *data)
{
	(void)data;
	if (fl->to.family)
		flower_is(fl, &fl->to, fl->tagged);
	return strlen(fl->kind) < sizeof(fl->kind) ? 0 : -EINVAL;
}

static int on_conn(const struct conn *c, void *data)
{
	uint32_t *n = data;

	fuzz_true("algorithm ends", strlen(c->algorithm) < sizeof(c->algorithm), "");
	fuzz_true("family", c->peer.family == AF_INET || c->peer.family == AF_INET6, "");
	++*n;
	return 0;
}

static int on_news(const struct nlmsghdr *nlh, void *data)
{
	interest_hears(data, nlh);
	return MNL_CB_OK;
}

static void hear(struct kernel *k, struct err *e)
{
	struct interest in = { 0 };
	bool lost;

	hear_take(&k->nl, on_news, &in, &lost, e);
	interest_lost(&in);
	in.all = true;
	hear_take(&k->nl, on_news, &in, &lost, e);
	interest_free(&in);
}

/* Of a table what get() would answer, or nothing */
static void check_known(struct kernel *k)
{
	unsigned int i;

	for (i = 0; i < N_ITEMS; i++) {
		const char *value = known_get(&k->known, items[i].kind, items[i].name);

		if (value)
			check_value(&items[i], value);
	}
}

static void ask_other(struct kernel *k, unsigned int what)
{
	struct conn c = { .peer = { .family = AF_INET, .len = 32 },
			  .local = { .family = AF_INET, .len = 32 } };
	struct err e = { "" };
	struct prefix to;
	struct route r;
	struct facts f;
	uint32_t n = 0;
	int rc = 0;

	switch (what) {
	case 0:
		rc = class_each(&k->nl, FAKE_IFINDEX, on_class, NULL, &e);
		break;
	case 1:
		rc = filter_each(&k->nl, FAKE_IFINDEX, on_flower, NULL, &e);
		break;
	case 2:
		rc = conns_read(on_conn, &n, &e);
		break;
	case 3:
		conn_device(&k->nl, &c);
		break;
	case 4:
		hear(k, &e);
		break;
	case 5:
		parse_address("192.0.2.1", &to);
		rc = route_lookup(&k->nl, &to, NULL, 0, &r, &e);
		break;
	case 6:
		memset(&f, 0, sizeof(f));
		rc = facts_read(&k->nl, "lo", &f, &e);
		break;
	case 7:
		known_routes(&k->known, &k->nl, 4);
		check_known(k);
		break;
	default:
		known_device(&k->known, &k->nl, "eth1", FAKE_IFINDEX);
		check_known(k);
	}
	fuzz_true("says why", rc <= 0 && (!rc || e.text[0]), "");
}

#define OTHERS 9

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = { "" };
	struct kernel k;

	if (!size || data[0] >= N_ITEMS + OTHERS)
		return -1;
	fake_kernel_begin(data + 1, size - 1);
	fuzz_true("opens", !kernel_open(&k, &e), e.text);
	if (data[0] < N_ITEMS)
		ask_item(&k, &items[data[0]]);
	else
		ask_other(&k, (unsigned int)(data[0] - N_ITEMS));
	kernel_close(&k);
	fake_kernel_end();
	return 0;
}

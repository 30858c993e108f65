// SPDX-License-Identifier: GPL-2.0
/*
 * Values of items as the state has them: the first line is the kind, the second the
 * item's name, then two values.  A value that is taken is equal to itself, in both
 * directions to the other, and comes back as it was; and whatever it is, it can be told
 * of, made the base of a want, and written as a command.
 */
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "fuzz.h"
#include "htb.h"
#include "item.h"
#include "object.h"
#include "print.h"
#include "qdisc.h"
#include "route.h"
#include "wants.h"

static void check_qdisc(const char *text)
{
	struct qdisc q, same;
	char once[ITEM_VALUE], twice[ITEM_VALUE];

	if (qdisc_parse(text, &q))
		return;
	qdisc_format(&q, once, sizeof(once));
	fuzz_true("qdisc", !qdisc_parse(once, &same), once);
	qdisc_format(&same, twice, sizeof(twice));
	fuzz_same("qdisc", once, twice);
}

static void check_class(const char *text)
{
	struct htb_class c, same;
	char once[ITEM_VALUE], twice[ITEM_VALUE];

	if (class_parse(text, &c))
		return;
	class_format(&c, once, sizeof(once));
	fuzz_true("class", !class_parse(once, &same), once);
	class_format(&same, twice, sizeof(twice));
	fuzz_same("class", once, twice);
}

static void check_filter(const char *text)
{
	struct filter f, same;
	char once[ITEM_VALUE], twice[ITEM_VALUE];

	if (filter_parse(text, &f))
		return;
	filter_format(&f, once, sizeof(once));
	fuzz_true("filter", !filter_parse(once, &same), once);
	filter_format(&same, twice, sizeof(twice));
	fuzz_same("filter", once, twice);
}

static void check_object(const char *text)
{
	char again[ITEM_VALUE];
	struct object o;

	if (object_parse(text, &o))
		return;
	fuzz_true("circuit", !object_format(&o, again), text);
	fuzz_same("circuit", text, again);
	object_free(&o);
}

/* The route that a circuit would make of it, which has all that it had. */
static void check_built(const struct route *r)
{
	struct route_want want = {
		.ifindex = route_ifindex(r), .dev = "eth1", .congctl = CC_NAME,
	};
	struct err e = { "" };
	struct route out;
	int rc;

	parse_prefix("192.0.2.0/24", &want.to, &e);
	rc = route_build(&want, r, &out, &e);
	fuzz_true("says why", !rc || e.text[0], "route");
	if (!rc)
		fuzz_true("has congctl", route_has_congctl(&out, CC_NAME), "route");
	memset(&out, 0, sizeof(out));
	want.like = *r;
	route_build(&want, &out, &out, &e);
}

static void check_route(const char *text)
{
	char again[ITEM_VALUE];
	struct prefix addr;
	struct route r;

	if (route_from_text(text, &r))
		return;
	route_to_text(&r, again);
	fuzz_same("route", text, again);
	if (!r.len)
		return;
	route_mtu(&r);
	route_table(&r);
	route_gateway(&r, &addr);
	route_source(&r, &addr);
	check_built(&r);
}

static void check_value(enum item_kind kind, const char *text)
{
	switch (kind) {
	case ITEM_QDISC:
		check_qdisc(text);
		break;
	case ITEM_CLASS:
		check_class(text);
		break;
	case ITEM_FILTER:
		check_filter(text);
		break;
	case ITEM_CIRCUIT:
		check_object(text);
		break;
	case ITEM_ROUTE:
		check_route(text);
		break;
	default:
		break;
	}
}

static void check_want(const char *value, const char *base)
{
	static const enum rule rules[] = {
		RULE_EXACT, RULE_AT_LEAST, RULE_NOT_ZERO, RULE_HAS_WORD,
	};
	struct want w = { .kind = ITEM_SYSCTL, .name = ALLOWED_CC };
	char target[ITEM_VALUE];
	struct err e = { "" };
	size_t i;

	snprintf(w.value, sizeof(w.value), "%s", value);
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		w.rule = rules[i];
		target[0] = 0;
		want_target(&w, base, target, &e);
	}
}

static void check_pair(enum item_kind kind, const char *name, const char *a, const char *b)
{
	static char lines[1 << 16];
	struct change c = { .kind = kind, .name = name, .from = a, .to = b };
	char text[DRIFT_TEXT];

	fuzz_true("equal to itself", item_equal(kind, name, a, a), a);
	fuzz_true("equal both ways",
		  item_equal(kind, name, a, b) == item_equal(kind, name, b, a), a);
	item_describe(kind, name, a, text, sizeof(text));
	drift_text(&c, text, sizeof(text));
	change_commands(&c, "eth1", lines, sizeof(lines));
	if (kind == ITEM_ROUTE) {
		route_text_without_congctl(a, b, CC_NAME);
		route_text_same_way(a, b);
	}
	if (kind == ITEM_CIRCUIT)
		object_is(a, b, true);
	if (kind == ITEM_SYSCTL)
		check_want(a, b);
}

/* As long as the state takes them: state_text.c, parse_base() */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum item_kind kind;
	struct fuzz_text t;

	fuzz_split(&t, data, size);
	if (!item_kind_parse(t.part[0], &kind) && item_name_is(kind, t.part[1]) &&
	    strlen(t.part[1]) < ITEM_NAME && strlen(t.part[2]) < ITEM_VALUE &&
	    strlen(t.part[3]) < ITEM_VALUE) {
		check_value(kind, t.part[2]);
		check_value(kind, t.part[3]);
		check_pair(kind, t.part[1], t.part[2], t.part[3]);
	}
	fuzz_free(&t);
	return 0;
}

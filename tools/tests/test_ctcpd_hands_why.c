// SPDX-License-Identifier: GPL-2.0
/*
 * What somebody has changed, in words: of a root what stands there now, and nothing of how the
 * state writes it.  And whether a root is one that no state tells of.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

#include "ctcpd/hands_class.h"
#include "ctcpd/history_search.h"
#include "diff.h"
#include "htb.h"
#include "item.h"
#include "qdisc.h"
#include "state.h"

static const struct {
	enum item_kind kind;
	const char *name, *from, *to, *says;
} rows[] = {
	{ ITEM_QDISC, "eth1", "foreign fq 8004:", "htb default 1",
	  "the root qdisc of eth1 is fq 8004: now, which somebody else set up" },
	{ ITEM_QDISC, "eth1", "default", "htb default 1",
	  "the root qdisc of eth1 was removed, and is the kernel's own now" },
	{ ITEM_QDISC, "eth1", "htb default 7", "htb default 1",
	  "the root qdisc of eth1 is htb default 7 now, as somebody changed it" },
	{ ITEM_FILTER, "eth1 192.0.2.7", "absent", "to 1",
	  "filter eth1 192.0.2.7 is \"absent\", and was set to \"to 1\"" },
};

static void test_why(void **state)
{
	struct hand h;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct change c = {
			.kind = rows[i].kind, .name = rows[i].name, .from = rows[i].from,
			.to = rows[i].to,
		};

		hands_why_changed(&c, h.why, sizeof(h.why));
		assert_string_equal(h.why, rows[i].says);
	}
}

static const struct {
	const char *what;
	struct qdisc root;
	enum item_kind kind;	/* of the one thing that the state has ... */
	int ifindex;		/* ... on this device; 0: it has nothing */
	bool is;
} roots[] = {
	{ "no state", { .state = QDISC_HTB, .defcls = CLASS_REST }, 0, 0, true },
	{ "of another device", { .state = QDISC_HTB, .defcls = CLASS_REST }, ITEM_QDISC, 3, true },
	{ "a class alone", { .state = QDISC_HTB, .defcls = CLASS_REST }, ITEM_CLASS, 2, true },
	{ "it has it", { .state = QDISC_HTB, .defcls = CLASS_REST }, ITEM_QDISC, 2, false },
	{ "another htb", { .state = QDISC_HTB, .defcls = 1 }, 0, 0, false },
	{ "a circuit's", { .state = QDISC_TBF, .defcls = CLASS_REST }, 0, 0, false },
	{ "the kernel's", { .state = QDISC_DEFAULT }, 0, 0, false },
	{ "somebody's", { .state = QDISC_FOREIGN, .kind = "htb", .defcls = CLASS_REST }, 0, 0,
	  false },
};

static void test_record(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		struct base b = { .kind = roots[i].kind, .ifindex = roots[i].ifindex };
		const struct state st = { .n_base = b.ifindex != 0, .base = &b };

		if (hands_is_unrecorded(&st, 2, &roots[i].root) != roots[i].is)
			print_message("%s\n", roots[i].what);
		assert_int_equal(hands_is_unrecorded(&st, 2, &roots[i].root), roots[i].is);
	}
}

/* With the longest name of a device, and a path as it is: the history keeps it whole. */
static void test_unrecorded(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(hands_why_unrecorded("eth1", "/run/ctcp-setup/c1.state", &e), -EPERM);
	assert_string_equal(e.text, "root qdisc htb c7c0: of eth1 is as ctcpd sets one up, but no state tells of it any more: it stays, and goes on pacing; tc qdisc del dev eth1 root removes it (the state was /run/ctcp-setup/c1.state)");
	hands_why_unrecorded("enp65s0f1np1.42", "/run/ctcp-setup/c12345678.state", &e);
	assert_true(strlen(e.text) < STOOD_DOWN_TEXT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_unrecorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

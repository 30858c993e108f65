// SPDX-License-Identifier: GPL-2.0
/*
 * What somebody has changed, in words: of a root what stands there now, and nothing of how the
 * state writes it.
 */
#include <string.h>

#include "test.h"

#include "ctcpd/hands_class.h"
#include "diff.h"
#include "item.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Which devices have classes: by their speed, their queues, and whether they have a link.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

#include "ctcpd/hands_class.h"

struct row {
	const char *what;
	bool carrier, has_speed, one_lock;
	uint64_t speed_mbit;
	uint32_t queues;
	int rc;
	const char *says;
};

static const struct row rows[] = {
	{ "below 20 Gbit/s", true, true, false, 19999, 1, 0, "" },
	{ "20 Gbit/s", true, true, true, 20000, 1, -EOPNOTSUPP, "carries 20gbit or more" },
	{ "queues", true, true, false, 1000, 8, -EOPNOTSUPP, "has 8 queues" },
	{ "queues, as its operator has it", true, true, true, 1000, 8, 0, "" },
	{ "no link", false, true, false, 0, 1, -ENETDOWN,
	  "the speed of eth1 is unknown while it has no link" },
	{ "no link, one lock", false, true, true, 0, 8, -ENETDOWN, "while it has no link" },
	/* of these no speed makes a difference */
	{ "no link, queues", false, true, false, 0, 8, -EOPNOTSUPP, "has 8 queues" },
	{ "no link, and it tells its speed", false, true, false, 1000, 1, 0, "" },
	/* as of a virtual machine */
	{ "it has a link, and tells no speed", true, true, false, 0, 1, 0, "" },
	/* veth, dummy */
	{ "it has none", true, false, false, 0, 1, 0, "" },
	{ "it has none, nor a link", false, false, false, 0, 1, 0, "" },
};

static void by_facts(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		const struct facts f = {
			.dev = "eth1", .up = true, .carrier = r->carrier,
			.has_speed = r->has_speed, .speed_mbit = r->speed_mbit,
			.tx_queues = r->queues,
		};
		struct err e = { "" };
		int rc = hands_check_lock(&f, r->one_lock, &e);

		if (rc != r->rc || !strstr(e.text, r->says))
			print_message("%s: expected %d, \"%s\", got %d, \"%s\"\n", r->what, r->rc,
				      r->says, rc, e.text);
		assert_int_equal(rc, r->rc);
		assert_non_null(strstr(e.text, r->says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * How streams split a window
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <linux/math64.h>

#include "../../circuit/split.h"

static void shares(void **state)
{
	static const struct {
		u32 window, modest, hungry, waiting, share;
	} table[] = {
		{ 1000, 0, 0, 0, 1000 },
		{ 1000, 0, 1, 0, 1000 },
		{ 1000, 0, 2, 0, 500 },
		{ 1000, 0, 3, 0, 334 },	/* rounded up: a segment each at most */
		{ 1000, 0, 3, 1, 333 },	/* some have none yet */
		{ 50, 0, 49, 0, 2 },
		{ 50, 0, 49, 24, 1 },
		{ 1000, 400, 2, 0, 300 },
		{ 1000, 1000, 2, 0, 1 },
		{ 1000, 1001, 2, 0, 1 },
		{ 1000, 1001, 2, 1, 0 },
		{ 1, 0, 5, 0, 1 },
		{ 1, 0, 5, 4, 0 },	/* more streams than segments: none has any */
		{ 67108864, 0, 1, 0, 67108864 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(split_share(table[i].window, table[i].modest,
					     table[i].hungry, table[i].waiting),
				 table[i].share);
}

/*
 * However many streams there are, shares exceed the window by one each at most, and not
 * at all while some wait.
 */
static void sum_of_shares(void **state)
{
	u32 window, hungry;

	(void)state;
	for (window = 1; window < 3000; window += 7)
		for (hungry = 1; hungry < 200; hungry++) {
			assert_true(split_share(window, 0, hungry, 0) * hungry <
				    window + hungry);
			assert_true(split_share(window, 0, hungry, 1) * hungry <=
				    window);
		}
}

static void left(void **state)
{
	(void)state;
	assert_int_equal(split_left(1000, 0, 10), 10);
	assert_int_equal(split_left(1000, 995, 10), 5);
	assert_int_equal(split_left(1000, 1000, 10), 0);
	assert_int_equal(split_left(1000, 1001, 10), 0);
	assert_int_equal(split_left(1000, U32_MAX, 10), 0);
}

static void turns(void **state)
{
	const u64 rtt = 100000000;	/* ns */

	(void)state;
	/* What no share holds, in each round trip; a quarter of the window at least */
	assert_int_equal(split_turn_gap(rtt, 1000, 0), rtt / 1000);
	assert_int_equal(split_turn_gap(rtt, 1000, 600), rtt / 400);
	assert_int_equal(split_turn_gap(rtt, 1000, 1000), rtt / 251);
	assert_int_equal(split_turn_gap(rtt, 1, 5), rtt);
	assert_int_equal(split_turn_gap(1000000000, 67108864, 0), 14);
}

static void modesty(void **state)
{
	(void)state;
	assert_int_equal(split_modest_most(1000, 5, false), 16);
	assert_int_equal(split_modest_most(3, 5, false), 3);
	assert_int_equal(split_modest_most(1000, 40, true), 80);
	assert_int_equal(split_used(1000, 100, 40), 200);
	assert_int_equal(split_used(1000, 40, 100), 200);
	assert_int_equal(split_used(1000, 1, 1), 16);
	assert_int_equal(split_used(1000, U32_MAX, 1), U32_MAX);
	/* Sixteen are not small where a share is no more. */
	assert_int_equal(split_used(20, 1, 1), 5);
	assert_int_equal(split_used(5, 1, 1), 2);
	assert_int_equal(split_used(1, 0, 0), 1);
}

static void cut(void **state)
{
	(void)state;
	assert_int_equal(split_cut(1), 1);
	assert_int_equal(split_cut(19), 1);
	assert_int_equal(split_cut(99), 9);
	assert_int_equal(split_cut(100), 10);
	assert_int_equal(split_cut(67108864), 10);
}

static u64 hungry_rate(u32 window, u32 held, u32 modest, u32 hungry, u32 share)
{
	const struct split p = { window, held, modest, hungry };

	return split_rate_hungry(1000000, &p, share);
}

static u64 modest_rate(u32 window, u32 held, u32 modest, u32 hungry, u32 share)
{
	const struct split p = { window, held, modest, hungry };

	return split_rate_modest(1000000, &p, share);
}

static void rates(void **state)
{
	const struct split alone = { .window = 67108864, .hungry = 1 };
	const u64 most = 125000000000ULL;	/* 1 Tbit/s */

	(void)state;
	/* Shares are rounded, paces are not. */
	assert_int_equal(hungry_rate(540, 0, 0, 8, 68), 125000);
	assert_int_equal(hungry_rate(540, 0, 0, 8, 64), 125000);
	/* One that has not given back yet, and a newcomer */
	assert_int_equal(hungry_rate(1000, 0, 0, 2, 900), 900000);
	assert_int_equal(hungry_rate(1000, 0, 0, 2, 1), 500000);
	assert_int_equal(hungry_rate(1000, 500, 0, 2, 250), 250000);
	assert_int_equal(hungry_rate(10, 20, 1, 1, 1), 100000);
	/* However many are modest, the hungry have 7/8 of what those do not hold. */
	assert_int_equal(hungry_rate(1000, 0, 125, 1, 1), 875000);
	assert_int_equal(hungry_rate(1000, 80, 40, 1, 1), 840000);
	assert_int_equal(modest_rate(640, 1, 1, 1, 1), 1000000 * 11 / 640);
	/* Nobody is hungry: all of the rate is theirs. */
	assert_int_equal(modest_rate(640, 1, 1, 0, 1), 1000000);
	assert_int_equal(modest_rate(640, 20, 2, 0, 10), 500000);
	assert_true(split_rate_hungry(most, &alone, 67108864) == most);
	assert_true(split_rate_modest(most, &alone, 67108864) == most);
}

/* Whoever is modest or hungry, all paces together are the rate. */
static void sum_of_rates(void **state)
{
	const u64 rate = 1000000;
	u32 window, modest, hungry, share;
	u64 sum;

	(void)state;
	for (window = 500; window < 50000; window += 777)
		for (modest = 0; modest < 200; modest += 13)
			for (hungry = 0; hungry < 100; hungry += 9) {
				share = modest ? window / 4 / modest : 0;
				if (!modest && !hungry)
					continue;
				sum = modest * modest_rate(window, modest * share,
							   modest, hungry, share) +
				      hungry * hungry_rate(window, modest * share,
							   modest, hungry, 1);
				assert_true(sum <= rate && sum > rate - rate / 500);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		cmocka_unit_test(sum_of_shares),
		cmocka_unit_test(left),
		cmocka_unit_test(turns),
		cmocka_unit_test(modesty),
		cmocka_unit_test(cut),
		cmocka_unit_test(rates),
		cmocka_unit_test(sum_of_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * left.h: what streams leave in flight, and for how long it counts
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../circuit/left.h"

static void one(void **state)
{
	struct left l = { 0 };

	(void)state;
	assert_int_equal(left_segments(&l, 0), 0);
	left_add(&l, 1000, 50, 10000);
	assert_int_equal(left_segments(&l, 1000), 50);
	assert_int_equal(left_segments(&l, 10999), 50);
	assert_int_equal(left_lasts(&l, 10999), 1);
	assert_int_equal(left_segments(&l, 11000), 0);
	assert_int_equal(left_lasts(&l, 11000), 0);
}

/* A near stream's segments are over while a far one's are not, whichever came first. */
static void near_and_far(void **state)
{
	struct left l = { 0 };

	(void)state;
	left_add(&l, 0, 100, 300000);
	left_add(&l, 10000, 7, 10000);
	assert_int_equal(left_segments(&l, 20000 - 1), 107);
	left_add(&l, 20000, 1, 500000);
	assert_int_equal(left_segments(&l, 20000), 101);
	assert_int_equal(left_segments(&l, 300000), 1);
	assert_int_equal(left_lasts(&l, 300000), 220000);
	assert_int_equal(left_segments(&l, 520000), 0);
}

/* What is over stays over: half an hour later, where a clock of 32 bits would have it ahead. */
static void stays_over(void **state)
{
	const uint64_t later = 1ULL << 31;
	struct left l = { 0 };

	(void)state;
	left_add(&l, UINT32_MAX - 10ULL, 5, 100);
	left_add(&l, UINT32_MAX - 5ULL, 6, 10);
	assert_int_equal(left_segments(&l, UINT32_MAX), 11);
	assert_int_equal(left_segments(&l, UINT32_MAX + 6ULL), 5);
	assert_int_equal(left_segments(&l, UINT32_MAX + 90ULL), 0);
	assert_int_equal(left_segments(&l, UINT32_MAX + 91ULL + later), 0);
	assert_int_equal(left_lasts(&l, UINT32_MAX + 91ULL + later), 0);
	assert_int_equal(left_segments(&l, UINT32_MAX + 91ULL + 2 * later), 0);
}

/* One that is accounted for elsewhere is taken out where it is, or nearest to that. */
static void removed(void **state)
{
	struct left l = { 0 };

	(void)state;
	left_remove(&l, 0, 100);
	left_add(&l, 0, 1, 10000);
	left_add(&l, 0, 3, 50000);
	left_remove(&l, 5, 49000);
	assert_int_equal(left_segments(&l, 5), 3);
	left_remove(&l, 5, 9000);
	assert_int_equal(left_segments(&l, 5), 2);
	assert_int_equal(left_segments(&l, 20000), 2);
	left_add(&l, 20000, 1, 5000);
	assert_int_equal(left_segments(&l, 20000), 3);
	left_remove(&l, 60000, 60000);
	assert_int_equal(left_segments(&l, 49999), 2);
}

/*
 * One every ms with a round trip of 310 ms: at each moment about as many are counted
 * as are in flight, and on average as many.
 */
static void over_and_over(void **state)
{
	const uint32_t rtt = 310000, step = 1000, flying = rtt / step;
	struct left l = { 0 };
	uint64_t sum = 0;
	uint32_t now, n = 0;

	(void)state;
	for (now = 0; now < 100 * rtt; now += step) {
		left_add(&l, now, 1, rtt);
		if (now < 2 * rtt)
			continue;
		assert_in_range(left_segments(&l, now), flying * 3 / 4, flying * 5 / 4);
		sum += left_segments(&l, now);
		n++;
	}
	assert_in_range(sum / n, flying * 98 / 100, flying * 102 / 100);
	assert_in_range(left_lasts(&l, now - step), rtt / 2, rtt);
	assert_int_equal(left_segments(&l, now + rtt), 0);
}

/* A far stream's many are not forgotten sooner because near ones come and go. */
static void crowded(void **state)
{
	struct left l = { 0 };
	uint32_t now;

	(void)state;
	left_add(&l, 0, 1000, 900000);
	for (now = 0; now < 800000; now += 500)
		left_add(&l, now, 1, 1000 + now % 7 * 1000);
	assert_in_range(left_segments(&l, 800000), 1000, 1050);
	assert_in_range(left_lasts(&l, 800000), 80000, 100000);
}

/* Of nine the two that end closest to each other become one, in whatever order they came. */
static void backwards(void **state)
{
	struct left l = { 0 };
	uint32_t i;

	(void)state;
	for (i = 9; i >= 2; i--)
		left_add(&l, 0, 10, i * 100000);
	left_add(&l, 0, 10, 190000);
	assert_int_equal(left_segments(&l, 194999), 90);
	assert_int_equal(left_segments(&l, 195000), 70);
	assert_int_equal(left_segments(&l, 300000), 60);
	assert_int_equal(left_lasts(&l, 0), 900000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one),
		cmocka_unit_test(near_and_far),
		cmocka_unit_test(stays_over),
		cmocka_unit_test(removed),
		cmocka_unit_test(over_and_over),
		cmocka_unit_test(crowded),
		cmocka_unit_test(backwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

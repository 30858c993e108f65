// SPDX-License-Identifier: GPL-2.0
/*
 * rtt.h: a round trip in 11 bits
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../circuit/rtt.h"

/* All there are: never shorter, by less than 1/64 longer, in their order, in 11 bits */
static void each(void **state)
{
	u32 us, before = 0;

	(void)state;
	for (us = 1; us <= RTT_MOST; us++) {
		u32 packed = rtt_pack(us), back = rtt_unpack(packed);

		assert_in_range(packed, 1, 2047);
		assert_in_range(back, us, us + us / 64);
		assert_in_range(back, before, UINT32_MAX);
		assert_true(rtt_is_packed(packed, us));
		assert_false(rtt_is_packed(packed, back + 1));
		assert_false(rtt_is_packed(0, us));
		before = back;
	}
}

static void at_most(void **state)
{
	(void)state;
	assert_int_equal(rtt_pack(RTT_MOST + 1), rtt_pack(RTT_MOST));
	assert_int_equal(rtt_pack(UINT32_MAX), rtt_pack(RTT_MOST));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each),
		cmocka_unit_test(at_most),
	};

	return cmocka_run_group_tests_name("rtt", tests, NULL, NULL);
}

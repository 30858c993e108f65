// SPDX-License-Identifier: GPL-2.0
/*
 * Differences of samples.
 */
#include "test.h"

#include "ctcpd/interval.h"

static struct sample at(uint64_t us)
{
	return (struct sample){
		.conn = { .cookie = 7, .mss = 1448, .acked = 1000, .busy = 10, .rwnd = 5,
			  .sndbuf = 3 },
		.at_us = us, .known = KNOWS_BYTES_SENT,
		.data_segs_out = 100, .total_retrans = 10, .delivered = 90, .delivered_ce = 4,
		.dsack_dups = 2, .reord_seen = 1, .bytes_sent = 5000, .bytes_retrans = 700,
	};
}

static void test_counts(void **state)
{
	struct sample a = at(1000000), b = at(6000000);
	struct interval i;

	(void)state;
	b.conn.acked += 11;
	b.conn.busy += 4000000;
	b.conn.rwnd += 300000;
	b.conn.sndbuf += 200000;
	b.data_segs_out += 12;
	b.total_retrans += 13;
	b.delivered += 14;
	b.delivered_ce += 15;
	b.dsack_dups += 16;
	b.reord_seen += 17;
	b.bytes_sent += 18;
	b.bytes_retrans += 19;
	assert_true(interval_make(&i, &a, &b));
	assert_ptr_equal(i.before, &a);
	assert_ptr_equal(i.now, &b);
	assert_int_equal(i.us, 5000000);
	assert_int_equal(i.acked, 11);
	assert_int_equal(i.segs, 12);
	assert_int_equal(i.retrans, 13);
	assert_int_equal(i.delivered, 14);
	assert_int_equal(i.delivered_ce, 15);
	assert_int_equal(i.dsack_dups, 16);
	assert_int_equal(i.reord, 17);
	assert_int_equal(i.sent, 18);
	assert_int_equal(i.retrans_bytes, 19);
	assert_int_equal(i.busy, 4000000);
	assert_int_equal(i.rwnd, 300000);
	assert_int_equal(i.sndbuf, 200000);
	assert_int_equal(i.local_drops, 0);
	assert_false(i.closed);
}

static void test_wraps(void **state)
{
	struct sample a = at(1), b = at(2);
	struct interval i;

	(void)state;
	a.data_segs_out = UINT32_MAX - 4;
	b.data_segs_out = 5;
	a.total_retrans = UINT32_MAX;
	b.total_retrans = 0;
	assert_true(interval_make(&i, &a, &b));
	assert_int_equal(i.segs, 10);
	assert_int_equal(i.retrans, 1);
}

static void test_no_bytes(void **state)
{
	struct sample a = at(1), b = at(2);
	struct interval i;

	(void)state;
	b.known = 0;
	b.bytes_sent = 0;
	b.data_segs_out += 3;
	b.total_retrans += 2;
	assert_true(interval_make(&i, &a, &b));
	assert_int_equal(i.sent, 3 * 1448);
	assert_int_equal(i.retrans_bytes, 2 * 1448);
}

/* Jiffies of 4 ms are coarser than an interval may be long. */
static void test_time_within(void **state)
{
	struct sample a = at(1000000), b = at(1050000);
	struct interval i;

	(void)state;
	b.conn.busy += 52000;
	b.conn.rwnd += 52000;
	b.conn.sndbuf += 4000;
	assert_true(interval_make(&i, &a, &b));
	assert_int_equal(i.busy, 50000);
	assert_int_equal(i.rwnd, 50000);
	assert_int_equal(i.sndbuf, 0);
}

static void test_not_a_pair(void **state)
{
	static const size_t counters_32[] = {
		offsetof(struct sample, data_segs_out), offsetof(struct sample, total_retrans),
		offsetof(struct sample, delivered), offsetof(struct sample, delivered_ce),
		offsetof(struct sample, dsack_dups), offsetof(struct sample, reord_seen),
	};
	static const size_t counters_64[] = {
		offsetof(struct sample, conn.acked), offsetof(struct sample, conn.busy),
		offsetof(struct sample, conn.rwnd), offsetof(struct sample, conn.sndbuf),
		offsetof(struct sample, bytes_sent), offsetof(struct sample, bytes_retrans),
	};
	struct sample a = at(5), b = at(5);
	struct interval i;
	size_t k;

	(void)state;
	assert_false(interval_make(&i, &a, &b));	/* time stood still */
	b.at_us = 4;
	assert_false(interval_make(&i, &a, &b));	/* went back */
	b.at_us = 6;
	assert_true(interval_make(&i, &a, &b));
	b.conn.cookie++;
	assert_false(interval_make(&i, &a, &b));
	for (k = 0; k < ARRAY_SIZE(counters_32); k++) {
		b = at(6);
		*(uint32_t *)((char *)&b + counters_32[k]) -= 1;
		assert_false(interval_make(&i, &a, &b));
	}
	for (k = 0; k < ARRAY_SIZE(counters_64); k++) {
		b = at(6);
		*(uint64_t *)((char *)&b + counters_64[k]) -= 1;
		assert_false(interval_make(&i, &a, &b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts), cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_no_bytes), cmocka_unit_test(test_time_within),
		cmocka_unit_test(test_not_a_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

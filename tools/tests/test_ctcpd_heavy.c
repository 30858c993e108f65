// SPDX-License-Identifier: GPL-2.0
/*
 * Heavy losses against mean windows: what is counted, what chance may hit, and verdicts.
 */
#include <math.h>

#include "ctcpd_draw.h"
#include "ctcpd_flow.h"
#include "test.h"

#include "ctcpd/heavy.h"
#include "ctcpd/losses.h"

static void lose(struct heavy *h, struct flow *f, uint32_t cwnd, uint32_t segs, uint32_t lost)
{
	next(f, LOOK, segs)->retrans = lost;
	f->now.snd_cwnd = cwnd;
	heavy_add(h, &f->i);
}

static void is_near(double got, double expected)
{
	if (fabs(got - expected) > expected / 1000)
		fail_msg("expected %g, got %g", expected, got);
}

/* A window of 4 and then of 8: between two samples the mean of both, of all by their time */
static void test_counted(void **state)
{
	struct heavy h = { .segs = 0 };
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "reno");
	f.now.snd_cwnd = 4;
	lose(&h, &f, 8, 100, 10);
	is_near(h.window_us, 6.0 * LOOK);
	lose(&h, &f, 8, 100, 0);
	is_near(h.window_us, 14.0 * LOOK);
	is_near(h.us, 2.0 * LOOK);
	assert_true(h.segs == 200 && h.lost == 10 && h.looks == 2 && h.losing == 1);
	next(&f, LOOK, 100)->dsack_dups = 7;	/* of the look before that */
	heavy_add(&h, &f.i);
	assert_true(h.lost == 3 && h.looks == 3 && h.losing == 1);
	next(&f, LOOK, 100)->dsack_dups = 4;
	heavy_add(&h, &f.i);
	assert_true(h.lost == 0);
	heavy_age(&h);
	assert_true(h.segs == 200 && h.looks == 2 && h.losing == 0 && h.us == 2 * LOOK);
	is_near(h.window_us, 15.0 * LOOK);
	lose(&h, &f, 8, 100, 9);
	heavy_age(&h);
	assert_true(h.lost == 4.5F);
}

/* A poll says nothing of each look, and slow start nothing of windows. */
static void test_not_these(void **state)
{
	struct heavy h = { .segs = 0 };
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "reno");
	next(&f, LOOK_MOST_US + 1, 100)->retrans = 9;
	heavy_add(&h, &f.i);
	f.now.snd_ssthresh = INFINITE_SSTHRESH;
	lose(&h, &f, 8, 100, 9);
	assert_true(h.looks == 0);
}

static float square_of(const char *algorithm, uint32_t rtt_us)
{
	struct heavy h = { .segs = 0 };
	struct flow f;

	flow_begin_cut(&f, algorithm);
	f.now.rtt_us = rtt_us;
	lose(&h, &f, 8, 100, 9);
	return h.square;
}

/* What is sent again by reordering was not lost; and what is not known counts for nothing. */
static void test_nor_these(void **state)
{
	struct heavy h = { .segs = 0 };
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "cubic");
	next(&f, LOOK, 100)->retrans = 9;
	f.i.reord = 1;
	heavy_add(&h, &f.i);
	f.now.rtt_us = 400001;
	lose(&h, &f, 8, 100, 9);
	assert_true(h.looks == 0 && h.square == 0);
	f.now.rtt_us = 1000;
	snprintf(f.now.conn.algorithm, sizeof(f.now.conn.algorithm), "htcp");
	lose(&h, &f, 8, 100, 9);
	snprintf(f.now.conn.algorithm, sizeof(f.now.conn.algorithm), "reno");
	lose(&h, &f, 8, 100, 9);
	assert_true(h.looks == 2 && h.square == 3.6F);
}

static void test_known(void **state)
{
	(void)state;
	assert_true(square_of("reno", 500000) == 1.5F);
	assert_true(square_of("cubic", 400000) == 1.5F);
	assert_true(square_of("cubic", 400001) == 0);
	assert_true(square_of("htcp", RTT) == 3.6F);
	assert_true(square_of("bbr", RTT) == 0);
	assert_true(square_of("illinois", RTT) == 0);
}

/* 10,000 segments in 100 looks, all of which lose; windows of 8: 3.375 / 64 may be lost */
static const struct heavy eight = {
	.segs = 10000, .lost = 917, .us = 100, .window_us = 800, .looks = 100, .losing = 100,
	.square = 1.5F,
};

static void test_against_chance(void **state)
{
	struct heavy h = eight;

	(void)state;
	is_near(heavy_against_chance(&h), 917 * log(917 / 527.34) - 917 + 527.34);
	h.losing = 90;
	assert_true(heavy_against_chance(&h) > 0);
	h.losing = 89;
	assert_true(heavy_against_chance(&h) == 0);
	h = eight;
	h.lost = 626;
	assert_true(heavy_against_chance(&h) > 0);
	h.lost = 624;		/* fewer than a sixteenth */
	assert_true(heavy_against_chance(&h) == 0);
	h = eight;
	h.window_us = 606;	/* 917 are as many as chance may hit */
	assert_true(heavy_against_chance(&h) == 0);
	h.window_us = 608;
	assert_true(heavy_against_chance(&h) > 0);
	h.square = 3.6F;
	assert_true(heavy_against_chance(&h) == 0);
	h = eight;
	h.square = 0;
	assert_true(heavy_against_chance(&h) == 0);
	h = (struct heavy){ .square = 1.5F };
	assert_true(heavy_against_chance(&h) == 0);
	h = eight;
	h.segs = 0;		/* nothing was sent that may be lost */
	assert_true(heavy_against_chance(&h) == 0);
}

/* Windows of one segment, and of less than that: chance may hit all */
static void test_smallest(void **state)
{
	struct heavy h = eight;

	(void)state;
	h.window_us = 50;
	h.lost = 9999;
	assert_true(heavy_against_chance(&h) == 0);
}

/*
 * Behind a bucket of a few segments: the window is now one, now twenty, and differs at each loss;
 * one of @part segments is lost, on average, in each look but one of @pause.
 */
static struct flow bucket(const char *algorithm, unsigned int part, unsigned int pause)
{
	uint64_t seed = 3;
	struct flow f;
	unsigned int i;

	flow_begin_cut(&f, algorithm);
	f.now.rtt_us = 1000;
	for (i = 0; i < 100; i++) {
		uint32_t segs = 300 + (uint32_t)(600 * uniform(&seed));
		uint32_t lost = (uint32_t)((0.6 + 0.8 * uniform(&seed)) * segs / part);

		look(&f, segs)->retrans = i % pause ? lost : 0;
		f.now.snd_cwnd = i % 2 ? 1 : 4 + i * 7 % 20;
		f.now.snd_ssthresh = 2 + i * 11 % 18;
		add(&f);
	}
	return f;
}

static void test_verdict(void **state)
{
	struct flow f = bucket("cubic", 5, 100);

	(void)state;
	expect(&f, VERDICT_OVERRUN, REASON_HEAVY);
	assert_true(judged(&f).excess > 920);
	f = bucket("reno", 5, 100);
	expect(&f, VERDICT_OVERRUN, REASON_HEAVY);
	f = bucket("reno", 5, 8);	/* other people's traffic pauses */
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
	f = bucket("reno", 20, 100);
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
	f = bucket("illinois", 5, 100);
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
}

/* One of four that are asked, and of two windows: 9.2 + ln 8 is 11.28. */
static void test_price(void **state)
{
	struct flow f = bucket("reno", 20, 100);

	(void)state;
	f.loss.heavy = eight;
	f.loss.heavy.lost = 626;	/* of 527 that may be */
	is_near(heavy_against_chance(&f.loss.heavy), 8.701);
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
	f.loss.heavy.lost = 641;
	is_near(heavy_against_chance(&f.loss.heavy), 11.452);
	expect(&f, VERDICT_OVERRUN, REASON_HEAVY);
	f.loss.response.lost = 0;
	assert_int_equal(judged(&f).excess, 937);
	f.loss.heavy.lost = 639;
	is_near(heavy_against_chance(&f.loss.heavy), 11.065);
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
}

/* Its losses come in bursts, too, which chance allows even less: no rate is even by that. */
static void test_verdict_of_bursts(void **state)
{
	struct flow f = bucket("reno", 5, 100);
	struct spacing_say say;

	(void)state;
	f.loss.heavy = eight;
	spacing_say(&f.loss.losses.looks, &say);
	assert_true(say.bursty > heavy_against_chance(&eight));
	expect(&f, VERDICT_OVERRUN, REASON_HEAVY);
}

/* In a flow's facts, too, what is two minutes old counts for half. */
static void test_age(void **state)
{
	struct flow f = bucket("reno", 5, 100);
	float segs = f.loss.heavy.segs;

	(void)state;
	next(&f, 120000000, 1000);
	add(&f);
	next(&f, LOOK, 0);
	add(&f);
	assert_true(f.loss.heavy.segs == segs / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_not_these),
		cmocka_unit_test(test_nor_these),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_against_chance),
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_verdict_of_bursts),
		cmocka_unit_test(test_price),
		cmocka_unit_test(test_age),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What a flow loses as it begins to send again, and where it paces far above what is delivered:
 * what is counted, and the verdicts that rest on it, of flows whose windows at loss and seconds
 * say nothing.
 */
#include <math.h>
#include <stdlib.h>

#include "ctcpd_flow.h"
#include "test.h"

#include "ctcpd/judge.h"

/* --- hits ------------------------------------------------------------------ */

static void test_against_chance(void **state)
{
	struct hits h = { .segs = 100, .segs_at = 20, .looks = 90, .looks_at = 9,
			  .losing = 8, .losing_at = 8 };

	(void)state;
	assert_true(fabs(hits_against_chance(&h) - 8 * log(5)) < 0.001);
	h.losing = 16;
	assert_true(fabs(hits_against_chance(&h) - 8 * log(2.5) - 8 * log(0.625)) < 0.001);
	h.losing = 40;	/* as often as elsewhere */
	assert_true(hits_against_chance(&h) == 0);
	h.losing = 50;	/* less often */
	assert_true(hits_against_chance(&h) == 0);
	h.looks_at = 36;	/* chance hits nearly each look, and those are short */
	h.losing = 16;
	assert_true(fabs(hits_against_chance(&h) - 8 * log(1.25) - 8 * log(5 / 6.0)) < 0.001);
	h = (struct hits){ .segs = 100, .segs_at = 100, .looks = 9, .looks_at = 9,
			   .losing = 8, .losing_at = 8 };
	assert_true(hits_against_chance(&h) == 0);	/* nothing but starts */
	h = (struct hits){ .segs = 100, .segs_at = 1, .looks = 100, .looks_at = 4,
			   .losing = 3, .losing_at = 3 };
	assert_true(fabs(hits_against_chance(&h) - 3 * log(25)) < 0.001);
	h.losing_at = 2;
	h.losing = 2;
	assert_true(hits_against_chance(&h) == 0);
}

static void test_age(void **state)
{
	struct hits h = { .segs = 40, .segs_at = 20, .looks = 32, .looks_at = 24,
			  .losing = 10, .losing_at = 8 };

	(void)state;
	hits_age(&h);
	assert_int_equal(h.segs, 20);
	assert_int_equal(h.segs_at, 10);
	assert_int_equal(h.looks, 16);
	assert_int_equal(h.looks_at, 12);
	assert_int_equal(h.losing, 5);
	assert_int_equal(h.losing_at, 4);
}

/* --- starts ---------------------------------------------------------------- */

/* Whole windows behind a pause: of @n bursts the first @lossy lose as they begin */
static void begin_again(struct flow *f, unsigned int n, unsigned int lossy, unsigned int later)
{
	unsigned int k, i;

	flow_begin_cut(f, "htcp");
	for (k = 0; k < n; k++) {
		look(f, 300)->busy = LOOK / 2;
		add(f);
		looks(f, 1, 500 + 67 * k % 300, k < lossy ? 40 : 0, 60 + 41 * k % 90);
		for (i = 0; i < 8; i++)
			looks(f, 1, 500 + (67 * k + 97 * i) % 400,
			      i == 5 && k < later ? 40 : 0, 60 + 31 * k % 90);
	}
}

static void test_starts(void **state)
{
	struct flow f;

	(void)state;
	begin_again(&f, 12, 8, 4);
	assert_in_range(f.loss.starts.hits.segs_at * 100 / f.loss.starts.hits.segs, 10, 20);
	assert_int_equal(f.loss.starts.hits.losing, 12);
	assert_int_equal(f.loss.starts.hits.losing_at, 8);
	expect(&f, VERDICT_OVERRUN, REASON_STARTS);
	begin_again(&f, 12, 3, 0);	/* an application of few bursts, say */
	expect(&f, VERDICT_OVERRUN, REASON_STARTS);
	begin_again(&f, 12, 2, 0);	/* too few */
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
	begin_again(&f, 12, 6, 12);	/* one of three, of one look in five */
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

/* The end of a burst is idle, too, but then nothing is in flight; what sends nothing is none. */
static void test_no_starts(void **state)
{
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "htcp");
	f.now.unacked = 0;
	look(&f, 300)->busy = LOOK / 2;
	add(&f);
	assert_int_equal(f.loss.starts.hits.segs, 300);
	assert_int_equal(f.loss.starts.hits.segs_at, 0);
	look(&f, 0)->busy = 0;
	add(&f);
	assert_int_equal(f.loss.starts.hits.segs, 300);
	f.now.unacked = 10;	/* begun in a poll: when is not known */
	look(&f, 300)->us = POLL;
	add(&f);
	looks(&f, 1, 500, 3, 60);
	assert_int_equal(f.loss.starts.hits.segs, 800);
	assert_int_equal(f.loss.starts.hits.segs_at, 0);
}

/* How many looks are of one start, of a flow with such a round trip */
static uint16_t looks_of_a_start(uint32_t rtt_us)
{
	struct flow f;

	flow_begin_cut(&f, "htcp");
	f.now.rtt_us = rtt_us;
	look(&f, 300)->busy = LOOK / 2;
	add(&f);
	looks(&f, 20, 300, 0, 0);
	return f.loss.starts.hits.looks_at;
}

/* The next look, and what two round trips need */
static void test_how_long(void **state)
{
	(void)state;
	assert_int_equal(looks_of_a_start(1000), 2);
	assert_int_equal(looks_of_a_start(LOOK / 2 - 1), 2);
	assert_int_equal(looks_of_a_start(LOOK / 2), 3);
	assert_int_equal(looks_of_a_start(LOOK), 4);
	assert_int_equal(looks_of_a_start(1U << 31), 21);	/* twice that is 0 in 32 bits */
	assert_int_equal(looks_of_a_start(UINT32_MAX), 21);
}

/* In a poll much may happen: what comes behind it is of no start. */
static void test_start_before_a_poll(void **state)
{
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "htcp");
	f.now.rtt_us = POLL;
	look(&f, 300)->busy = LOOK / 2;
	add(&f);
	looks(&f, 1, 300, 0, 0);
	next(&f, POLL, 300);
	add(&f);
	looks(&f, 1, 300, 0, 0);
	assert_int_equal(f.loss.starts.hits.looks, 3);
	assert_int_equal(f.loss.starts.hits.looks_at, 2);
}

/* What a start loses at any window does not hide where the rest is lost. */
static void test_windows_at_starts(void **state)
{
	struct flow f;
	unsigned int k;

	(void)state;
	flow_begin_cut(&f, "cubic");
	for (k = 0; k < 8; k++) {
		look(&f, 300)->busy = LOOK / 2;
		add(&f);
		looks(&f, 1, 300, k % 2 ? 0 : 7, 90 + 37 * k);
		looks(&f, 8, 300 + 31 * k, 0, 0);
		looks(&f, 1, 300, 9, 180);
		looks(&f, 2, 300, 0, 0);
	}
	assert_int_equal(judged(&f).levels, 8);
	assert_in_range(judged(&f).spread, 0, 1);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
}

/*
 * An application that writes most of what it has at once, and a little for a second: what others
 * make it lose is lost where most of it is sent.
 */
static void test_starts_that_have_most(void **state)
{
	unsigned short x[3] = { 3, 1, 4 };
	struct flow f;
	unsigned int k;

	(void)state;
	flow_begin_cut(&f, "htcp");
	for (k = 0; k < 120; k++) {
		bool hit = k % 8 == 3;
		uint32_t lost = 10 + (uint32_t)(9 * erand48(x));
		uint32_t left = 60 + (uint32_t)(200 * erand48(x));

		look(&f, 600 + (uint32_t)(400 * erand48(x)))->busy = LOOK / 2;
		f.i.retrans = hit && k % 2 ? lost : 0;
		f.now.snd_ssthresh = left;
		add(&f);
		looks(&f, 1, 300 + (uint32_t)(200 * erand48(x)), hit && !(k % 2) ? lost : 0, left);
		looks(&f, 3, 30, 0, 0);
	}
	assert_in_range(f.loss.starts.hits.segs_at * 100 / f.loss.starts.hits.segs, 90, 95);
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

/* --- faster ---------------------------------------------------------------- */

#define PACE	(200 * MSS * 5)		/* bytes/s: 200 segments in a look */

/* A look of that pacing rate */
static void paced(struct flow *f, uint64_t rate, uint32_t segs, uint32_t lost)
{
	look(f, segs)->retrans = lost;
	f->now.pacing_rate = rate;
	add(f);
}

/* BBR and a policer: slow for a while, and then far too fast; of @n times @lossy lose so */
static void tries_again(struct flow *f, unsigned int n, unsigned int lossy, unsigned int later)
{
	unsigned int k, i;

	flow_begin_cut(f, "bbr");
	for (k = 0; k < n; k++) {
		for (i = 0; i < 8; i++)
			paced(f, PACE, 190 + 67 * k % 20, i == 5 && k < later ? 40 : 0);
		paced(f, 20 * PACE, 300 + 67 * k % 100, k < lossy ? 90 : 0);
	}
}

static void test_faster(void **state)
{
	struct flow f;

	(void)state;
	tries_again(&f, 12, 12, 0);
	/* the look behind one begins at the rate of that */
	assert_in_range(f.loss.faster.hits.segs_at * 100 / f.loss.faster.hits.segs, 20, 30);
	assert_int_equal(f.loss.faster.hits.losing, 12);
	assert_int_equal(f.loss.faster.hits.losing_at, 12);
	expect(&f, VERDICT_OVERRUN, REASON_FASTER);
	tries_again(&f, 12, 4, 0);
	expect(&f, VERDICT_OVERRUN, REASON_FASTER);
	tries_again(&f, 12, 3, 0);	/* too few, of one segment in four */
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
	tries_again(&f, 12, 4, 8);	/* as often as not */
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

/* Where windows at loss tell, as of H-TCP, what is paced does not. */
static void test_faster_of_windows(void **state)
{
	struct flow f;
	unsigned int k;

	(void)state;
	flow_begin_cut(&f, "htcp");
	for (k = 0; k < 12; k++) {
		f.now.pacing_rate = PACE;
		looks(&f, 8, 190 + 67 * k % 20, 0, 0);
		f.now.pacing_rate = 20 * PACE;
		looks(&f, 1, 300 + 67 * k % 100, 90, 60 + 97 * k % 200);
	}
	assert_int_equal(f.loss.faster.hits.losing_at, 12);
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

/* ... nor where its application pauses in each look: windows at starts tell nothing. */
static void test_faster_of_starts(void **state)
{
	struct flow f;
	unsigned int k, i;

	(void)state;
	flow_begin_cut(&f, "htcp");
	for (k = 0; k < 12; k++) {
		for (i = 0; i < 9; i++) {
			f.now.pacing_rate = i == 8 ? 20 * PACE : PACE;
			look(&f, 200 + 67 * k % 100)->busy = LOOK / 2;
			if (i == 8) {
				f.i.retrans = 90;
				f.now.snd_ssthresh = 60 + 97 * k % 200;
			}
			add(&f);
		}
	}
	assert_int_equal(f.loss.faster.hits.losing_at, 12);
	assert_int_equal(judged(&f).levels, 0);
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
}

/* How many of a look's segments are faster, at such rates: paced, delivered, before, lately */
static uint32_t faster_segs(uint64_t rate, uint32_t segs, double before, double mean)
{
	struct flow f;

	flow_begin_cut(&f, "bbr");
	f.loss.faster.before = (float)before;
	f.loss.faster.mean = (float)mean;
	paced(&f, rate, segs, 0);
	return f.loss.faster.hits.segs_at;
}

static void test_is_faster(void **state)
{
	(void)state;
	assert_int_equal(faster_segs(2 * PACE - 1, 200, 0, 0), 0);
	assert_int_equal(faster_segs(2 * PACE + 1, 200, 0, 0), 200);
	/* as slow as the last seconds, the look before, or itself */
	assert_int_equal(faster_segs(2 * PACE, 20, PACE, PACE / 2), 0);
	assert_int_equal(faster_segs(2 * PACE, 20, PACE / 2, PACE * 1.02), 0);
	assert_int_equal(faster_segs(2 * PACE, 20, PACE / 2, PACE / 2), 20);
	assert_int_equal(faster_segs(2 * PACE, 200, PACE / 2, PACE / 2), 0);
}

/* 200 ms of 10.2 s; a rate of what is acknowledged, where the kernel tells nothing else */
static void test_lately(void **state)
{
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "bbr");
	paced(&f, PACE, 200, 0);
	assert_true(f.loss.faster.mean == PACE);
	paced(&f, PACE, 302, 0);
	assert_in_range(f.loss.faster.mean, PACE * 1.00999, PACE * 1.01001);
	assert_in_range(f.loss.faster.before, PACE * 1.50999, PACE * 1.51001);
	flow_begin_cut(&f, "bbr");
	look(&f, 200)->delivered = 0;
	add(&f);
	assert_true(f.loss.faster.mean == PACE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_chance),
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_starts),
		cmocka_unit_test(test_no_starts),
		cmocka_unit_test(test_how_long),
		cmocka_unit_test(test_start_before_a_poll),
		cmocka_unit_test(test_windows_at_starts),
		cmocka_unit_test(test_starts_that_have_most),
		cmocka_unit_test(test_faster),
		cmocka_unit_test(test_faster_of_windows),
		cmocka_unit_test(test_faster_of_starts),
		cmocka_unit_test(test_is_faster),
		cmocka_unit_test(test_lately),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

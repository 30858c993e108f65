// SPDX-License-Identifier: GPL-2.0
/*
 * Losses where a flow's window is large: which looks these are, and verdicts of flows that show
 * nothing else.
 */
#include <linux/tcp.h>

#include "ctcpd_draw.h"
#include "ctcpd_flow.h"

/* A look that begins with a window of @cwnd; no rate is like another */
static struct interval *begin_with(struct flow *f, uint32_t cwnd)
{
	f->now.snd_cwnd = cwnd;
	return look(f, 60 + cwnd * 37 % 80);
}

static void begins_with(struct flow *f, uint32_t cwnd, uint32_t lost)
{
	begin_with(f, cwnd)->retrans = lost;
	add(f);
}

static void halves(struct flow *f, uint32_t cwnd)
{
	begin_with(f, cwnd)->retrans = 1;
	f->now.snd_ssthresh = cwnd / 2;
	add(f);
}

static void test_which(void **state)
{
	struct flow f;
	struct high *h = &f.facts.high;

	(void)state;
	flow_begin_cut(&f, "reno");
	begins_with(&f, 100, 0);	/* against nothing */
	assert_int_equal(h->hits.looks, 0);
	begins_with(&f, 100, 1);
	assert_true(h->window == 100);
	assert_int_equal(h->hits.looks, 0);
	begins_with(&f, 79, 0);
	assert_int_equal(h->hits.looks, 1);
	assert_int_equal(h->hits.looks_at, 0);
	begins_with(&f, 80, 0);
	assert_int_equal(h->hits.looks_at, 1);
	begins_with(&f, 140, 1);
	assert_int_equal(h->hits.looks_at, 2);
	assert_int_equal(h->hits.losing_at, 1);
	assert_true(h->window == 105);
	f.now.ca_state = TCP_CA_Recovery;	/* of the same loss */
	begins_with(&f, 20, 1);
	assert_int_equal(h->hits.losing, 1);
	f.now.ca_state = TCP_CA_Open;
	begins_with(&f, 20, 1);
	assert_int_equal(h->hits.losing, 2);
	assert_true(h->window == 105 + (20 - 105) / 8.0F);
}

/* A poll says nothing of when, and slow start nothing of windows. */
static void test_not_these(void **state)
{
	struct flow f;
	struct high *h = &f.facts.high;

	(void)state;
	flow_begin_cut(&f, "reno");
	next(&f, POLL, 100)->retrans = 1;
	add(&f);
	assert_true(h->window == 0);
	f.now.snd_ssthresh = INFINITE_SSTHRESH;
	begins_with(&f, 100, 1);
	assert_true(h->window == 0);
	f.now.snd_ssthresh = 50;
	begins_with(&f, 100, 0);
	begins_with(&f, 100, 1);
	assert_true(h->window == 100);
}

/*
 * Reno behind a buffer of two frames: from half of the window that met a loss on, by four segments
 * in each look, to one that differs each time.
 */
static struct flow saws(unsigned int n, uint32_t least, uint32_t largest, uint32_t queue_us)
{
	uint64_t seed = 7;
	uint32_t cwnd = least;
	struct flow f;
	unsigned int i;

	flow_begin_cut(&f, "reno");
	f.now.conn.min_rtt = RTT - queue_us;
	for (i = 0; i < n; i++) {
		double at = least + (largest - least) * uniform(&seed);

		for (; cwnd < at; cwnd += 4)
			begins_with(&f, cwnd, 0);
		halves(&f, cwnd);
		cwnd /= 2;
	}
	return f;
}

static void test_verdict(void **state)
{
	struct flow f = saws(60, 100, 150, 1000);

	(void)state;
	assert_in_range(judged(&f).spread, 220, 400);
	expect(&f, VERDICT_OVERRUN, REASON_LARGE_WINDOW);
	f = saws(60, 100, 104, 1000);
	expect(&f, VERDICT_OVERRUN, REASON_SAME_WINDOW);
	f = saws(60, 60, 150, 1000);	/* now and then at a small one: what others leave */
	assert_in_range(judged(&f).spread, 500, 900);
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
	f = saws(9, 100, 150, 1000);	/* of few windows it is not known how far they lie apart */
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
}

/* Behind a queue it is the windows themselves that tell, where the rate is always the same. */
static void test_steady_rate(void **state)
{
	struct flow f = saws(60, 100, 150, 30000);
	unsigned int i;

	(void)state;
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
	for (i = 0; i < 20; i++)
		series_add(&f.facts.rates, 1000000);
	assert_in_range(judged(&f).spread, 220, 400);
	expect(&f, VERDICT_OVERRUN, REASON_SAME_WINDOW);
}

/*
 * Windows of 8 and 9 are alike, but for their step; evenly spaced losses show an overrun.  None
 * of it is said of large windows.
 */
static void test_small(void **state)
{
	struct flow f;
	unsigned int i;

	(void)state;
	flow_begin_cut(&f, "reno");
	for (i = 0; i < 60; i++) {
		f.now.snd_cwnd = i % 3 ? 12 : 16 + i / 3 % 2 * 2;
		look(&f, 400 + i * 37 % 80)->retrans = i % 3 ? 0 : 1;
		if (i % 3 == 0)
			f.now.snd_ssthresh = f.now.snd_cwnd / 2;
		f.now.snd_cwnd = 12;
		add(&f);
	}
	expect(&f, VERDICT_OVERRUN, REASON_SAME_WINDOW);
}

/* 100 segments in 200 ms, windows of 60 at loss: an eighth of these is a queue of 15 ms. */
static void test_queue(void **state)
{
	struct flow f = saws(60, 100, 150, 14000);

	(void)state;
	assert_in_range(judged(&f).levels, 20, 20);
	expect(&f, VERDICT_OVERRUN, REASON_LARGE_WINDOW);
	f = saws(60, 100, 150, 17000);
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
}

/* Reno, of which each segment is lost with one in a thousand: never so, of 400 flows */
static void test_chance(void **state)
{
	uint64_t seed = 3;
	unsigned int n, i;

	(void)state;
	for (n = 0; n < 400; n++) {
		uint32_t cwnd = 40;
		struct flow f;

		flow_begin_cut(&f, "reno");
		f.now.rtt_us = LOOK;
		f.now.conn.min_rtt = LOOK;
		for (i = 0; i < 600; i++) {
			uint32_t lost = lost_of(&seed, cwnd, 0.001);

			f.now.snd_cwnd = cwnd;
			look(&f, cwnd)->retrans = lost;
			cwnd = lost ? cwnd / 2 + 2 : cwnd + 1;
			if (lost)
				f.now.snd_ssthresh = cwnd;
			f.now.snd_cwnd = cwnd;
			add(&f);
		}
		if (hits_against_chance(&f.facts.high.hits) >= 9.2)
			fail_msg("flow %u: expected less than 9.2, got %g", n,
				 hits_against_chance(&f.facts.high.hits));
		assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which),
		cmocka_unit_test(test_not_these),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_steady_rate),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

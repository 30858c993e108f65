// SPDX-License-Identifier: GPL-2.0
/*
 * Losses where a flow's window is largest: which looks these are, and verdicts of flows that show
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

static void halves(struct flow *f, uint32_t cwnd, uint32_t lost)
{
	begin_with(f, cwnd)->retrans = lost;
	f->now.snd_ssthresh = cwnd / 2;
	add(f);
}

static void test_which(void **state)
{
	struct flow f;
	struct high *h = &f.loss.high;

	(void)state;
	flow_begin_cut(&f, "reno");
	begins_with(&f, 100, 0);
	begins_with(&f, 100, 1);	/* nothing was the largest before */
	assert_true(h->largest == 100);
	assert_int_equal(h->hits.looks, 2);
	assert_int_equal(h->hits.looks_at, 0);
	assert_int_equal(h->hits.losing_at, 0);
	begins_with(&f, 89, 0);
	assert_int_equal(h->hits.looks_at, 0);
	begins_with(&f, 90, 0);
	assert_int_equal(h->hits.looks_at, 1);
	begins_with(&f, 100, 1);
	assert_int_equal(h->hits.looks_at, 2);
	assert_int_equal(h->hits.losing_at, 1);
	f.now.ca_state = TCP_CA_Recovery;	/* of the same loss: no look of its own */
	begins_with(&f, 120, 1);
	f.now.ca_state = TCP_CA_Loss;
	begins_with(&f, 1, 0);
	assert_int_equal(h->hits.looks, 5);
	assert_int_equal(h->hits.losing, 2);
	assert_true(h->largest == 100);
	f.now.ca_state = TCP_CA_Open;
	begins_with(&f, 20, 1);
	assert_int_equal(h->hits.losing, 3);
	assert_true(h->largest == 100);
}

/* Those that are as near to a larger one still count. */
static void test_larger(void **state)
{
	struct flow f;
	struct high *h = &f.loss.high;

	(void)state;
	flow_begin_cut(&f, "reno");
	begins_with(&f, 100, 1);
	begins_with(&f, 100, 1);
	begins_with(&f, 110, 1);
	assert_true(h->largest == 110);
	assert_int_equal(h->hits.losing_at, 2);
	assert_int_equal(h->hits.looks_at, 2);
	begins_with(&f, 124, 1);
	assert_true(h->largest == 124);
	assert_int_equal(h->hits.losing_at, 0);
	assert_int_equal(h->hits.looks_at, 0);
	assert_int_equal(h->hits.segs_at, 0);
	assert_int_equal(h->hits.losing, 4);
}

/* A poll says nothing of when, and slow start nothing of windows. */
static void test_not_these(void **state)
{
	struct flow f;
	struct high *h = &f.loss.high;

	(void)state;
	flow_begin_cut(&f, "reno");
	next(&f, POLL, 100)->retrans = 1;
	add(&f);
	assert_true(h->largest == 0);
	f.now.snd_ssthresh = INFINITE_SSTHRESH;
	begins_with(&f, 100, 1);
	assert_true(h->largest == 0);
	f.now.snd_ssthresh = 50;
	begins_with(&f, 100, 0);
	begins_with(&f, 100, 1);
	assert_true(h->largest == 100);
}

/*
 * What a saw is like: windows at loss from @least to @largest, which leave 1 / @part of them, and
 * lose @lost segments
 */
struct saw {
	uint32_t least, largest, part, queue_us, lost;
};

static const struct saw shallow = { 100, 160, 2, 1000, 1 };

/* To a window of @at by four segments in each look, and its loss */
static uint32_t saw_once(struct flow *f, uint32_t cwnd, double at, struct saw s)
{
	for (; cwnd < at; cwnd += 4)
		begins_with(f, cwnd, 0);
	halves(f, cwnd, s.lost);
	return cwnd / s.part;
}

/* Reno behind a buffer of two frames: @n times to a window that differs each time */
static struct flow saws(unsigned int n, struct saw s)
{
	uint32_t cwnd = s.least;
	uint64_t seed = 7;
	struct flow f;

	flow_begin_cut(&f, "reno");
	f.now.conn.min_rtt = RTT - s.queue_us;
	for (; n; n--)
		cwnd = saw_once(&f, cwnd, s.least + (s.largest - s.least) * uniform(&seed), s);
	return f;
}

static void test_verdict(void **state)
{
	struct flow f = saws(60, shallow);

	(void)state;
	assert_in_range(judged(&f).spread, 250, 450);
	expect(&f, VERDICT_OVERRUN, REASON_LARGE_WINDOW);
	f.loss.high = (struct high){ .largest = 0 };	/* nothing else shows it */
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
	/* nor does a bucket that lets our own device's rate pass for as long as it lasts */
	f = saws(60, shallow);
	f.loss.ceiling = (struct ceiling){ .looks = 30, .queued = 10, .elsewhere = 10 };
	assert_true(ceiling_is_harmless(&f.loss.ceiling));
	expect(&f, VERDICT_OVERRUN, REASON_LARGE_WINDOW);
	f = saws(60, (struct saw){ 100, 104, 2, 1000, 1 });
	expect(&f, VERDICT_OVERRUN, REASON_SAME_WINDOW);
}

/* A third of its losses at the largest window, the others at any from a third of it on */
static void test_apart(void **state)
{
	uint32_t cwnd = 60;
	uint64_t seed = 7;
	struct flow f;
	unsigned int i;

	(void)state;
	flow_begin_cut(&f, "reno");
	f.now.conn.min_rtt = RTT - 1000;
	for (i = 0; i < 70; i++)
		cwnd = saw_once(&f, cwnd, i % 3 ? 55 + 90 * uniform(&seed) : 160, shallow);
	assert_in_range(judged(&f).spread, 500, 1000);
	expect(&f, VERDICT_OVERRUN, REASON_LARGE_WINDOW);
}

/* Of few windows none is the largest. */
static void test_few(void **state)
{
	struct saw s = shallow;
	struct flow f;

	(void)state;
	s.lost = 12;
	f = saws(40, s);
	f.loss.losses.levels.n = 9;
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
	f.loss.losses.levels.n = 10;
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
}

/* Where the losses come in bursts that is proof enough: they need a cause alone. */
static void test_bursts(void **state)
{
	struct saw s = shallow;
	struct flow f = saws(40, s);
	double high = high_against_chance(&f.loss.high);

	(void)state;
	if (high < 4.6 || high > 9.2)
		fail_msg("expected 4.6 to 9.2, got %g", high);
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
	s.lost = 12;
	f = saws(40, s);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	f.loss.high.hits.segs_at = f.loss.high.hits.segs * 3 / 4;	/* no habit */
	assert_true(high_against_chance(&f.loss.high) < 4.6);
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

/* Behind a queue it is the windows themselves that tell, where the rate is always the same. */
static void test_steady_rate(void **state)
{
	struct flow f = saws(60, (struct saw){ 100, 150, 2, 30000, 1 });
	unsigned int i;

	(void)state;
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
	for (i = 0; i < 20; i++)
		series_add(&f.loss.rates, 1000000);
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

/* 100 segments in 200 ms, windows of 65 at loss: an eighth of these is a queue of 16 ms. */
static void test_queue(void **state)
{
	struct flow f = saws(60, (struct saw){ 100, 160, 2, 14000, 1 });

	(void)state;
	assert_in_range(judged(&f).levels, 20, 20);
	expect(&f, VERDICT_OVERRUN, REASON_LARGE_WINDOW);
	f = saws(60, (struct saw){ 100, 160, 2, 20000, 1 });
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
}

/* Two minutes later they count for half; a largest window that is met no more, not at all. */
static void test_age(void **state)
{
	struct flow f = saws(60, shallow);
	uint16_t losing = f.loss.high.hits.losing;
	struct high h = { .hits = { .losing = 60, .losing_at = 2 }, .largest = 100 };

	(void)state;
	while (f.facts.recent.us < 120000000)
		begins_with(&f, 80, 0);
	begins_with(&f, 80, 0);
	assert_int_equal(f.loss.high.hits.losing, losing / 2);
	high_age(&h);
	assert_true(h.largest == 100);
	high_age(&h);
	assert_true(h.largest == 0);
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
		if (hits_against_chance(&f.loss.high.hits) >= 9.2)
			fail_msg("flow %u: expected less than 9.2, got %g", n,
				 hits_against_chance(&f.loss.high.hits));
		assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which),
		cmocka_unit_test(test_larger),
		cmocka_unit_test(test_not_these),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_steady_rate),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The search for a remote's rate: closed loops with models of receivers, and cases.
 *
 * A model tells what an interval at the rate in force, or without pacing, comes to; what the
 * search decides is in force in the next one.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "ctcpd/search.h"
#include "units.h"

#define GBIT		(1000 * MBIT)
#define MIN_RTT		1000U
#define INTERVAL_US	5000000ULL
#define DAY_S		86400
#define PACKET		1448U
#define BEGIN		1700000000	/* s */

/* --- receivers --------------------------------------------------------------- */

struct model {
	uint64_t line;		/* bytes/s of the sender */
	uint64_t takes;		/* bytes/s */
	uint64_t buffer;	/* bytes before it */
	uint64_t filled;	/* of it */
	double random;		/* part lost whatever the rate */
	double unpaced;		/* part of what it takes that TCP carries when it overruns it */
	double bursts;		/* part lost then; 0: thousandths, more or less, also when paced */
	double peak;		/* of what it takes, the highest delivery rate then; 0 = 1 */
	uint64_t interval_us;	/* 0 = INTERVAL_US */
	uint32_t rtt_us;	/* 0 = 47 ms */
	double noise;		/* of what is carried */
	double late;		/* part of it that an interval does not count */
	uint64_t (*changes)(const struct model *m, int64_t at);	/* what it takes then */
	uint32_t seed;
	bool idle;		/* the application has nothing to send */
	double dropped;		/* segments that it did not take, so far */
};

static double chance(struct model *m)
{
	m->seed = m->seed * 1664525 + 1013904223;
	return m->seed / 4294967296.0;
}

static uint64_t takes(const struct model *m, int64_t at)
{
	return m->changes ? m->changes(m, at) : m->takes;
}

static uint64_t interval_of(const struct model *m)
{
	return m->interval_us ?: INTERVAL_US;
}

/* What comes faster than it takes fills the buffer, then is lost. */
static double excess(struct model *m, uint64_t rate, uint64_t most)
{
	double seconds = (double)interval_of(m) / 1e6;
	double over = ((double)rate - (double)most) * seconds;
	double room = (double)(m->buffer - m->filled);

	if (over <= 0) {
		m->filled -= m->filled < -over ? m->filled : (uint64_t)-over;
		return 0;
	}
	if (over <= room) {
		m->filled += (uint64_t)over;
		return 0;
	}
	m->filled = m->buffer;
	return (over - room) / (over + (double)most * seconds);
}

/* Part of the segments, of those that come too fast */
static double part_lost(const struct model *m, double excess, uint64_t paced)
{
	if (excess <= 0)
		return 0;
	if (!m->bursts)
		return fmin(0.003, 0.0005 + excess / 20);
	return paced ? excess : m->bursts;
}

/* @paced: bytes/s, 0 = by the line's rate */
static void run(struct model *m, uint64_t paced, int64_t at, struct observation *o)
{
	uint64_t most = takes(m, at), rate = paced && paced < m->line ? paced : m->line;
	double lost = excess(m, rate, most), carried = (double)(rate < most ? rate : most);

	/* TCP answers what is lost by less, and what is lost is some thousandths at most */
	if (lost > 0 && !paced)
		carried *= m->unpaced;
	else if (lost > 0)
		carried *= fmax(m->unpaced, 1 - 10 * lost);
	lost = part_lost(m, lost, paced) + m->random;
	carried *= (1 - m->noise * chance(m)) * (1 - m->late);
	*o = (struct observation){
		.at = at, .us = interval_of(m), .paced = paced, .min_rtt_us = m->rtt_us ?: 47000,
		.acked = (uint64_t)(carried * (double)interval_of(m) / 1e6),
		.app = m->idle ? 600 : 0,
	};
	o->segs = (uint32_t)fmin((double)o->acked / PACKET, UINT32_MAX);
	o->retrans = (uint32_t)(o->segs * lost * (0.9 + 0.2 * chance(m)));
	m->dropped += o->segs * (lost - m->random);
	o->best_rate = (uint64_t)((double)(rate < most ? rate : most) *
				  (m->peak && !paced ? m->peak : 1));
	o->verdict = m->idle ? VERDICT_APPLICATION :
		     lost > m->random ? VERDICT_OVERRUN :
		     m->random > 0 ? VERDICT_LOSS : VERDICT_CLEAN;
}

/* --- the loop ---------------------------------------------------------------- */

struct loop {
	struct search s;
	struct model m;
	int64_t now;
	uint32_t steps, changes;	/* intervals, changes of the rate, so far */
	uint32_t day_changes, most_changes;	/* of a day */
	int64_t day;
	bool misjudged;			/* whatever is lost is called an overrun */
	enum search_reason last;
};

static void begin(struct loop *l, struct model m)
{
	memset(l, 0, sizeof(*l));
	l->m = m;
	l->m.seed = m.seed ? m.seed : 1;
	l->now = BEGIN;
	l->day = BEGIN;
}

static void count_change(struct loop *l)
{
	if (l->now - l->day >= DAY_S) {
		l->day = l->now;
		l->day_changes = 0;
	}
	l->changes++;
	l->day_changes++;
	if (l->day_changes > l->most_changes)
		l->most_changes = l->day_changes;
}

static void step(struct loop *l)
{
	uint64_t was = l->s.rate;
	struct observation o;
	struct decision d;

	l->now += (int64_t)(interval_of(&l->m) / 1000000);
	run(&l->m, was, l->now, &o);
	if (l->misjudged && o.retrans)
		o.verdict = VERDICT_OVERRUN;
	search_observe(&l->s, &o, l->m.rtt_us ? 0 : MIN_RTT, &d);
	l->steps++;
	if (d.reason)
		l->last = d.reason;
	if (l->s.rate != was) {
		count_change(l);
		assert_int_equal(d.action, l->s.rate ? SEARCH_PACE : SEARCH_UNPACE);
		assert_int_equal(d.rate, l->s.rate);
	} else {
		assert_int_equal(d.action, SEARCH_NOTHING);
	}
	if (l->s.rate)
		assert_in_range(l->s.rate, RATE_MIN, RATE_MAX);
}

static void steps(struct loop *l, uint32_t n)
{
	while (n--)
		step(l);
}

/* Until it is in @state; the number of steps, at most @most */
static uint32_t until(struct loop *l, enum search_state state, uint32_t most)
{
	uint32_t n = 0;

	while (l->s.state != state && n++ < most)
		step(l);
	assert_int_equal(l->s.state, state);
	return n;
}

static void assert_near(uint64_t got, uint64_t expected, double tolerance)
{
	double off = fabs((double)got - (double)expected) / (double)expected;

	if (off > tolerance)
		fail_msg("expected %llu within %g, got %llu, %g off", (unsigned long long)expected,
			 tolerance, (unsigned long long)got, off);
}

static const struct model fixed = {
	.line = 10 * GBIT, .takes = GBIT, .unpaced = 0.33, .noise = 0.02,
};

/* --- convergence --------------------------------------------------------------- */

/* Whatever the ratio, and how much is carried without pacing */
static void test_fixed(void **state)
{
	static const uint64_t lines[] = { 11, 15, 20, 40, 100, 400 };
	static const double unpaced[] = { 0.2, 0.33, 0.5, 0.8, 0.95 };
	struct loop l;
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		for (k = 0; k < ARRAY_SIZE(unpaced); k++) {
			struct model m = fixed;

			m.line = lines[i] * 100 * MBIT;
			m.unpaced = unpaced[k];
			m.seed = (uint32_t)(i * 10 + k + 1);
			begin(&l, m);
			until(&l, SEARCH_KEPT, 90);
			assert_near(l.s.rate, GBIT, 0.03);
			assert_true(l.changes <= 12);
			/* what it is kept for outlasts what is counted at that rate */
			assert_int_equal(l.s.now.n, 0);
			assert_near(search_goodput(&l.s.proof), l.s.rate, 0.03);
			assert_true(l.s.proof.retrans * 100 < l.s.base.retrans);
		}
	}
}

/* From 8 Mbit/s to 100 Gbit/s, where no product overflows */
static void test_scales(void **state)
{
	uint64_t takes;
	struct loop l;

	(void)state;
	for (takes = 8 * MBIT; takes <= 100 * GBIT; takes *= 5) {
		struct model m = fixed;

		m.takes = takes;
		m.line = 4 * takes;
		begin(&l, m);
		until(&l, SEARCH_KEPT, 2000);
		assert_near(l.s.rate, takes, 0.03);
	}
}

/* A buffer hides for a while that a rate is too much: it comes back as loss, and goes. */
static void test_buffer(void **state)
{
	static const uint64_t buffers[] = { 100000, 10000000, 100000000 };
	struct loop l;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(buffers); i++) {
		struct model m = fixed;

		m.buffer = buffers[i];
		begin(&l, m);
		until(&l, SEARCH_KEPT, 90);
		steps(&l, 2000);
		assert_int_equal(l.s.state, SEARCH_KEPT);
		assert_near(l.s.rate, GBIT, 0.03);
		assert_true(l.most_changes <= 24);
	}
}

static uint64_t after_a_week(const struct model *m, int64_t at)
{
	return at < BEGIN + 7 * DAY_S ? m->takes : 4 * m->takes;
}

/* Days of use, at one interval in ten, as a clock would have it */
static void days(struct loop *l, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n * DAY_S / (10 * 5); i++) {
		step(l);
		l->now += 45;
	}
}

static void test_faster_later(void **state)
{
	struct model m = fixed;
	struct loop l;

	(void)state;
	m.changes = after_a_week;
	begin(&l, m);
	until(&l, SEARCH_KEPT, 90);
	days(&l, 7);
	assert_near(l.s.rate, GBIT, 0.03);
	days(&l, 7);
	assert_int_equal(l.s.state, SEARCH_KEPT);
	assert_near(l.s.rate, 4 * GBIT, 0.03);
	assert_true(l.most_changes <= 24);
}

static uint64_t halved(const struct model *m, int64_t at)
{
	return at < BEGIN + DAY_S ? m->takes : m->takes / 2;
}

static void test_slower_later(void **state)
{
	struct model m = fixed;
	struct loop l;

	(void)state;
	m.changes = halved;
	begin(&l, m);
	until(&l, SEARCH_KEPT, 90);
	steps(&l, DAY_S / 5);
	steps(&l, 120);
	assert_int_equal(l.s.state, SEARCH_KEPT);
	assert_near(l.s.rate, GBIT / 2, 0.03);
	assert_near(search_goodput(&l.s.proof), GBIT / 2, 0.03);
}

/* A user of a shared address who is alone for 20 h of the second day, and takes what he likes */
static uint64_t alone(const struct model *m, int64_t at, uint64_t part)
{
	return at < BEGIN + DAY_S || at >= BEGIN + DAY_S + 20 * 3600 ? m->takes : m->takes / part;
}

static uint64_t takes_a_third(const struct model *m, int64_t at)
{
	return alone(m, at, 3);
}

static uint64_t takes_a_twentieth(const struct model *m, int64_t at)
{
	return alone(m, at, 20);
}

/* Not below a quarter of what was proved, within two days of that: rather not at all */
static void test_floor(void **state)
{
	struct model m = fixed;
	struct loop l;
	uint32_t i;

	(void)state;
	m.changes = takes_a_twentieth;
	begin(&l, m);
	until(&l, SEARCH_KEPT, 90);
	steps(&l, (uint32_t)(BEGIN + DAY_S - l.now) / 5);
	assert_near(l.s.rate, GBIT, 0.03);
	for (i = 0; i < 20 * 3600 / 5; i++) {
		step(&l);
		if (l.s.rate && l.s.rate < GBIT / 4 / 100 * 99)
			fail_msg("expected none below %llu, got %llu at step %u", GBIT / 4,
				 (unsigned long long)l.s.rate, i);
	}
	assert_int_equal(l.s.state, SEARCH_TAKEN_BACK);
}

/* Kept at @rate, it loses 1 % of 10,000 segments in three intervals, and carries all of it */
static void loses_at(struct search *s, uint64_t rate)
{
	struct observation o = {
		.at = BEGIN, .us = INTERVAL_US, .verdict = VERDICT_OVERRUN, .segs = 10000,
		.retrans = 100, .acked = rate * 5 / 10 * 9, .paced = rate, .min_rtt_us = 47000,
	};
	struct decision d;
	int i;

	*s = (struct search){ .state = SEARCH_KEPT, .rate = rate, .low = rate, .seen = BEGIN,
			      .counted = BEGIN, .floor = 100 * MBIT,
			      .floor_until = BEGIN + DAY_S };
	for (i = 0; i < 3; i++) {
		o.at += 5;
		search_observe(s, &o, MIN_RTT, &d);
	}
}

/* A step of a tenth ends at the floor, and from there none goes on. */
static void test_step_to_the_floor(void **state)
{
	struct search s;

	(void)state;
	loses_at(&s, 105 * MBIT);
	assert_int_equal(s.state, SEARCH_TRYING);
	assert_int_equal(s.rate, 100 * MBIT);
	loses_at(&s, 100 * MBIT);
	assert_int_equal(s.state, SEARCH_TAKEN_BACK);
	assert_int_equal(s.rate, 0);
	loses_at(&s, 200 * MBIT);
	assert_int_equal(s.rate, 180 * MBIT);
}

/* Taking it back is no way around the floor; being forgotten is the end of it */
static void test_floor_outlives(void **state)
{
	struct search s;
	struct decision d;

	(void)state;
	loses_at(&s, 100 * MBIT);
	assert_int_equal(s.state, SEARCH_TAKEN_BACK);
	assert_int_equal(s.floor, 100 * MBIT);
	assert_int_equal(s.floor_until, BEGIN + DAY_S);
	search_stand_down(&s, BEGIN + 20);
	assert_int_equal(s.floor, 100 * MBIT);
	search_tick(&s, BEGIN + 30 * DAY_S, &d);
	assert_int_equal(d.reason, SEARCH_FORGOTTEN);
	assert_int_equal(s.floor, 0);
	assert_int_equal(s.floor_until, 0);
}

/* Nor do those who come later wait for the rate that was theirs as long as he held it down */
static void test_back_from_less(void **state)
{
	struct model m = fixed;
	struct loop l;

	(void)state;
	m.changes = takes_a_third;
	begin(&l, m);
	until(&l, SEARCH_KEPT, 90);
	steps(&l, (uint32_t)(BEGIN + DAY_S + 20 * 3600 - l.now) / 5);
	assert_near(l.s.rate, GBIT / 3, 0.03);
	steps(&l, (4 * 3600 + 600) / 5);
	assert_int_equal(l.s.state, SEARCH_KEPT);
	assert_near(l.s.rate, GBIT, 0.03);
}

static uint64_t daily(const struct model *m, int64_t at)
{
	return (uint64_t)((double)m->takes * (0.75 + 0.25 * sin((double)at / DAY_S * 2 * M_PI)));
}

static uint64_t restless(const struct model *m, int64_t at)
{
	return at / 60 % 2 ? m->takes : m->takes / 3;
}

/* What a remote takes goes up and down: no more than 24 changes on any day. */
static void test_no_flapping(void **state)
{
	uint64_t (*const changes[])(const struct model *m, int64_t at) = { daily, restless };
	struct loop l;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		struct model m = fixed;

		m.changes = changes[i];
		begin(&l, m);
		steps(&l, 10 * DAY_S / 5);
		assert_true(l.changes > 0);
		assert_true(l.most_changes <= 2 * 24);
		assert_true(l.changes <= 11 * 24);
	}
}

/* In a steady state hardly any: the probes upward grow rare. */
static void test_rest(void **state)
{
	struct loop l;
	uint32_t before;

	(void)state;
	begin(&l, fixed);
	until(&l, SEARCH_KEPT, 90);
	steps(&l, 3 * DAY_S / 5);
	before = l.changes;
	steps(&l, 7 * DAY_S / 5);
	assert_int_equal(l.s.state, SEARCH_KEPT);
	/* a probe a day is two changes */
	assert_in_range(l.changes - before, 2, 2 * 8);
}

/* --- the margin ------------------------------------------------------------------ */

/* As found within 1 %, and kept 1 % below that: never above what it takes */
static void assert_kept(const struct loop *l, uint64_t takes)
{
	if (l->s.state != SEARCH_KEPT || l->last == SEARCH_BETTER || l->s.rate > takes ||
	    l->s.rate < takes / 100 * 97)
		fail_msg("%s: %s: %llu of %llu, proved %llu, rtt %u us, buffer %llu, lost %g %g",
			 search_state_name(l->s.state), search_reason_name(l->last),
			 (unsigned long long)l->s.rate,
			 (unsigned long long)takes, (unsigned long long)l->s.low, l->m.rtt_us,
			 (unsigned long long)l->m.buffer, l->m.bursts, l->m.random);
}

static uint64_t seconds_of(const struct loop *l)
{
	return interval_of(&l->m) / 1000000;
}

/* An hour at the rate that is kept, which a probe ends */
static void keeps_an_hour(struct loop *l)
{
	uint64_t rate = l->s.rate, n = 3600 / seconds_of(l) - 1;
	double dropped;

	/* what was tried last may have left the buffer full */
	step(l);
	dropped = l->m.dropped;
	while (--n) {
		step(l);
		assert_int_equal(l->s.rate, rate);
	}
	if (l->m.dropped > dropped)
		fail_msg("%g segments were dropped in an hour at %llu of %llu, rtt %u us",
			 l->m.dropped - dropped, (unsigned long long)rate,
			 (unsigned long long)l->m.takes, l->m.rtt_us);
}

static uint64_t faster_now(const struct model *m, int64_t at)
{
	(void)at;
	return m->takes / 100 * 159;
}

/* The hop is as it was: the same rate after a probe in vain.  Then it takes 59 % more. */
static void probes_upward(struct loop *l)
{
	uint64_t rate = l->s.rate, proved = l->s.low;

	until(l, SEARCH_TRYING, 3);
	assert_in_range(l->s.rate, proved / 100 * 104, proved / 100 * 106);
	until(l, SEARCH_KEPT, 100);
	assert_int_equal(l->s.rate, rate);
	assert_int_equal(l->s.low, proved);
	l->m.changes = faster_now;
	until(l, SEARCH_TRYING, (uint32_t)(2 * 3600 / seconds_of(l)) + 1);
	assert_true(l->s.rate > proved);
	until(l, SEARCH_KEPT, 2000);
	assert_kept(l, faster_now(&l->m, 0));
}

static void test_margin_of(struct model m)
{
	struct loop l;

	begin(&l, m);
	until(&l, SEARCH_KEPT, 3000);
	assert_kept(&l, m.takes);
	assert_true(l.s.low > l.s.rate);
	keeps_an_hour(&l);
	probes_upward(&l);
}

/* Each ratio, round trip, buffer and loss with each: of all that come of it every seventh */
static void test_margin(void **state)
{
	static const uint64_t rates[] = { 10 * MBIT, 137 * MBIT, GBIT }, ratios[] = { 4, 10 };
	static const uint32_t rtts[] = { 500, 5000, 20000, 47000, 100000, 200000 };
	static const double buffers[] = { 0, 0.1, 0.5, 1 }, unpaced[] = { 0.3, 0.8, 0.95 };
	static const double bursts[] = { 0.002, 0.004, 0.03, 0.15 }, random[] = { 0, 0.02 };
	static const double peaks[] = { 1, 0.85, 1.013, 1.3, 3 };
	uint32_t i, n = 3 * 2 * 6 * 4 * 3 * 4 * 2 * 2;

	(void)state;
	for (i = 0; i < n; i += 7) {
		struct model m = { .noise = 0.02, .seed = i + 1 };
		double bdp;

		m.takes = rates[i % 3] + 12345;
		m.line = m.takes * ratios[i / 3 % 2];
		m.rtt_us = rtts[i / 6 % 6];
		bdp = (double)m.takes * m.rtt_us / 1e6;
		m.buffer = (uint64_t)fmax(5 * 1514, bdp * buffers[i / 36 % 4]);
		m.unpaced = unpaced[i / 144 % 3];
		m.bursts = bursts[i / 432 % 4];
		m.random = m.bursts * random[i / 1728 % 2];
		m.peak = peaks[i % 5];
		/* fewer than 500 segments would say nothing */
		if (i / 3456 % 2 && (double)m.takes * m.unpaced > 600 * PACKET)
			m.interval_us = 1000000;
		test_margin_of(m);
	}
}

/* It carried all that it takes while it lost; when it is tried, it takes @takes. */
static void try_with(struct loop *l, uint64_t takes, double late)
{
	struct model m = { .line = 4 * GBIT, .takes = GBIT, .unpaced = 0.999, .bursts = 0.004 };

	begin(l, m);
	until(l, SEARCH_TRYING, 60);
	l->m.takes = takes;
	l->m.late = late;
}

/* What carries 98 % of before, and loses at 1 % more, is kept as it is proved. */
static void test_margin_no_worse(void **state)
{
	struct loop l;

	(void)state;
	try_with(&l, GBIT / 1000 * 983, 0);
	until(&l, SEARCH_KEPT, 200);
	assert_kept(&l, l.m.takes);
	assert_true(l.s.rate >= search_goodput(&l.s.base) / 100 * 98);
}

/*
 * It takes hardly less than it did while it lost, and an interval counts less than the rate: kept
 * at the least rate that is tried.  What does not fill that one is taken back.
 */
static void test_least_rate(void **state)
{
	struct loop l;

	(void)state;
	try_with(&l, GBIT / 100 * 98, 0.005);
	until(&l, SEARCH_KEPT, 200);
	assert_near(l.s.rate, GBIT / 1000 * 979, 0.001);

	try_with(&l, GBIT / 100 * 98, 0.015);
	until(&l, SEARCH_TAKEN_BACK, 200);
	assert_int_equal(l.last, SEARCH_NO_HELP);
}

/* A transfer ended in one of the intervals: the others show what the rate carries. */
static void test_least_rate_and_an_end(void **state)
{
	struct loop l;
	uint32_t i;

	(void)state;
	try_with(&l, GBIT / 100 * 98, 0.005);
	for (i = 0; i < 200 && (!l.s.rate || l.s.rate > GBIT / 100 * 98); i++)
		step(&l);
	l.m.late = 0.15;
	step(&l);
	step(&l);
	l.m.late = 0.005;
	until(&l, SEARCH_KEPT, 200);
	assert_near(l.s.rate, GBIT / 1000 * 979, 0.001);
}

/*
 * A rate that was kept loses, by a remote that fakes it, and is carried all the same: what is
 * tried is hardly less, and what is less than that is worse.
 */
static void test_least_rate_of_one_that_was_kept(void **state)
{
	struct model m = { .line = 4 * GBIT, .takes = GBIT, .unpaced = 0.8, .bursts = 0.004 };
	uint64_t least = GBIT;
	struct loop l;
	uint32_t i;

	(void)state;
	begin(&l, m);
	until(&l, SEARCH_KEPT, 200);
	l.m.random = 0.01;
	l.misjudged = true;
	for (i = 0; i < 300 && l.s.state != SEARCH_TAKEN_BACK; i++) {
		if (l.s.rate && l.s.rate < least)
			least = l.s.rate;
		step(&l);
	}
	assert_int_equal(l.s.state, SEARCH_TAKEN_BACK);
	assert_in_range(least, GBIT / 100 * 97, GBIT);
}

/* Kept by an earlier ctcpd at what it proved: a margin below it after the next probe */
static void test_margin_earlier(void **state)
{
	struct model m = fixed;
	struct loop l;
	struct err e;

	(void)state;
	m.bursts = 0.004;
	begin(&l, m);
	assert_int_equal(search_parse("kept rate=125000000 low=125000000 base-n=10 base-us=50000000 "
				      "base-acked=2000000000 base-segs=1400000 base-retrans=5600 "
				      "seen=1699999999 counted=1699999999", &l.s, &e), 0);
	step(&l);
	assert_int_equal(l.s.rate, GBIT);
	until(&l, SEARCH_TRYING, 800);
	until(&l, SEARCH_KEPT, 30);
	assert_int_equal(l.s.rate, GBIT / 100 * 99);
	assert_int_equal(l.s.low, GBIT);
}

/* --- taken back ------------------------------------------------------------------ */

/* Random loss is not tried at all; called an overrun, it is taken back, ever more rarely. */
static void test_random_loss(void **state)
{
	struct model m = { .line = 10 * GBIT, .takes = 20 * GBIT, .random = 0.001, .noise = 0.1 };
	uint32_t tried;
	struct loop l;

	(void)state;
	begin(&l, m);
	steps(&l, 1000);
	assert_int_equal(l.changes, 0);
	begin(&l, m);
	l.misjudged = true;
	until(&l, SEARCH_TAKEN_BACK, 60);
	assert_int_equal(l.last, SEARCH_NO_HELP);
	assert_int_equal(l.s.rate, 0);
	assert_true(l.changes <= 5);
	tried = l.changes;
	steps(&l, DAY_S / 5 - 60);
	assert_int_equal(l.changes, tried);
	steps(&l, 15 * DAY_S / 5);
	/* after 1, 2, 4 and 8 days */
	assert_in_range(l.changes, 4 * 2, 5 * 5);
	assert_in_range(l.s.failures, 4, 5);
}

/* What it fakes is its own: it is never held to less than it took while it faked. */
static void test_faked_loss(void **state)
{
	struct model m = { .line = 10 * GBIT, .takes = 20 * GBIT, .random = 0.003, .noise = 0.05 };
	struct loop l;
	uint32_t i;

	(void)state;
	begin(&l, m);
	l.misjudged = true;
	for (i = 0; i < 10 * DAY_S / 5; i++) {
		step(&l);
		if (l.s.rate)
			assert_true(l.s.rate > m.line / 100 * 90);
	}
}

/* It carries more though it still loses: kept, and no reason to look for less. */
static void test_better(void **state)
{
	struct model m = fixed;
	struct loop l;

	(void)state;
	m.random = 0.002;	/* beside what it drops */
	m.unpaced = 0.5;
	begin(&l, m);
	until(&l, SEARCH_KEPT, 120);
	assert_int_equal(l.last, SEARCH_BETTER);
	/* and what it takes is not overrun beside */
	assert_in_range(l.s.rate, GBIT / 100 * 97, GBIT / 100 * 99);
	assert_true(search_goodput(&l.s.proof) > search_goodput(&l.s.base));
	assert_true(l.s.proof.retrans > 0);
	steps(&l, 500);
	assert_int_equal(l.s.state, SEARCH_KEPT);
}

/* --- what counts nothing ------------------------------------------------------------ */

static void test_application(void **state)
{
	struct model m = fixed;
	struct loop l;

	(void)state;
	m.idle = true;
	begin(&l, m);
	steps(&l, 1000);
	assert_int_equal(l.changes, 0);
	assert_int_equal(l.s.base.n, 0);
	/* nor does it prove or disprove a rate */
	l.m.idle = false;
	until(&l, SEARCH_TRYING, 60);
	l.m.idle = true;
	steps(&l, 1000);
	assert_int_equal(l.s.state, SEARCH_TRYING);
	assert_int_equal(l.s.now.n, 0);
}

static struct observation overrun(int64_t at, uint64_t paced)
{
	return (struct observation){
		.at = at, .verdict = VERDICT_OVERRUN, .us = INTERVAL_US, .acked = 200000000,
		.segs = 140000, .retrans = 300, .min_rtt_us = 47000, .paced = paced,
	};
}

/* Of each kind that says nothing a thousand are as none. */
static void test_says_nothing(void **state)
{
	struct observation list[7];
	struct search s = { 0 };
	struct decision d;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(list); i++)
		list[i] = overrun(0, 0);
	list[0].segs = 100;
	list[1].app = 101;
	list[2].mixed = true;
	list[3].us = 0;
	list[4].paced = MBIT;
	list[5].verdict = VERDICT_REMOTE_WINDOW;
	list[6].us = UINT64_MAX;
	for (i = 0; i < ARRAY_SIZE(list); i++) {
		for (k = 0; k < 1000; k++) {
			list[i].at = BEGIN + 5 * k;
			search_observe(&s, &list[i], MIN_RTT, &d);
			assert_int_equal(d.action, SEARCH_NOTHING);
		}
		assert_int_equal(s.base.n, 0);
	}
}

/* One overrun among many that are none is none. */
static void test_mostly_clean(void **state)
{
	struct search s = { 0 };
	struct decision d;
	uint32_t i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		struct observation o = overrun(BEGIN + 5 * i, 0);

		if (i % 3)
			o.verdict = VERDICT_CLEAN;
		search_observe(&s, &o, MIN_RTT, &d);
		assert_int_equal(d.action, SEARCH_NOTHING);
	}
}

static void test_near(void **state)
{
	struct search s = { 0 };
	struct observation o;
	struct decision d;
	uint32_t i;

	(void)state;
	for (i = 0; i < 100; i++) {
		o = overrun(BEGIN + 5 * i, 0);
		o.min_rtt_us = 999;
		search_observe(&s, &o, MIN_RTT, &d);
		assert_int_equal(d.action, SEARCH_NOTHING);
	}
	for (i = 0; s.state != SEARCH_TRYING; i++) {
		o = overrun(BEGIN + 1000 + 5 * i, 0);
		search_observe(&s, &o, MIN_RTT, &d);
	}
	o = overrun(BEGIN + 2000, s.rate);
	o.min_rtt_us = 999;
	search_observe(&s, &o, MIN_RTT, &d);
	assert_int_equal(d.action, SEARCH_UNPACE);
	assert_int_equal(d.reason, SEARCH_NEAR);
	assert_int_equal(s.state, SEARCH_WATCHING);
}

/* --- time ------------------------------------------------------------------------- */

/* Set back by ten years: what was to come in a day comes in a day. */
static void test_clock_back(void **state)
{
	struct model m = { .line = 10 * GBIT, .takes = 20 * GBIT, .random = 0.001, .noise = 0.1 };
	struct loop l;
	uint32_t tried;

	(void)state;
	begin(&l, m);
	l.misjudged = true;
	until(&l, SEARCH_TAKEN_BACK, 60);
	tried = l.changes;
	l.now -= 10 * 365 * DAY_S;
	l.day = l.now;
	steps(&l, DAY_S / 5 - 120);
	assert_int_equal(l.changes, tried);
	steps(&l, 300);
	assert_true(l.changes > tried);
	begin(&l, fixed);
	until(&l, SEARCH_KEPT, 90);
	l.now = -5;
	steps(&l, 1000);
	assert_int_equal(l.s.state, SEARCH_KEPT);
}

static void test_forgets(void **state)
{
	struct decision d;
	struct loop l;

	(void)state;
	begin(&l, fixed);
	until(&l, SEARCH_KEPT, 90);
	search_tick(&l.s, l.now + 14 * DAY_S - 1, &d);
	assert_int_equal(d.action, SEARCH_NOTHING);
	search_tick(&l.s, l.now + 14 * DAY_S, &d);
	assert_int_equal(d.action, SEARCH_UNPACE);
	assert_int_equal(d.reason, SEARCH_FORGOTTEN);
	assert_int_equal(l.s.state, SEARCH_WATCHING);
	assert_int_equal(l.s.base.n, 0);
	search_tick(&l.s, l.now + 15 * DAY_S, &d);
	assert_int_equal(d.reason, SEARCH_NO_REASON);
	/* and what did not help is tried again, as if never */
	begin(&l, fixed);
	until(&l, SEARCH_TRYING, 60);
	search_stand_down(&l.s, l.now);
	assert_int_equal(l.s.failures, 1);
	search_tick(&l.s, l.now + 15 * DAY_S, &d);
	assert_int_equal(l.s.failures, 0);
	/* traffic that says nothing is no proof of a rate */
	begin(&l, fixed);
	until(&l, SEARCH_KEPT, 90);
	l.m.idle = true;
	steps(&l, 15 * DAY_S / 5);
	assert_int_equal(l.s.rate, 0);
}

static void test_stands_down(void **state)
{
	struct loop l;
	uint32_t changes;

	(void)state;
	begin(&l, fixed);
	until(&l, SEARCH_KEPT, 90);
	search_stand_down(&l.s, l.now);
	changes = l.changes;
	assert_int_equal(l.s.rate, 0);
	assert_int_equal(l.s.state, SEARCH_TAKEN_BACK);
	steps(&l, DAY_S / 5 - 10);
	assert_int_equal(l.changes, changes);
	steps(&l, 100);
	assert_true(l.changes > changes);
}

/* --- subnets ------------------------------------------------------------------------- */

static void fill(struct search *list, const struct search **of, const uint64_t *rates, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		memset(&list[i], 0, sizeof(list[i]));
		list[i].state = rates[i] ? SEARCH_KEPT : SEARCH_WATCHING;
		list[i].rate = rates[i] * MBIT;
		list[i].base = (struct tally){
			.n = 10, .us = 10 * INTERVAL_US, .acked = 2000000000, .segs = 1400000,
			.retrans = 3000, .best = 45000000,
		};
		of[i] = &list[i];
	}
}

static void test_alike(void **state)
{
	static const struct {
		uint64_t rates[6], together, used, rate;	/* mbit/s, of all 0: they are not */
	} cases[] = {
		{ { 900, 910, 905 }, 900, 0, 910 },		/* none has less than it had */
		{ { 900, 910 }, 900, 0, 0 },			/* two hosts are too few */
		{ { 900, 910, 0 }, 900, 0, 0 },
		{ { 900, 910, 905 }, 0, 0, 0 },			/* never seen together */
		{ { 900, 910, 905 }, 1800, 0, 0 },		/* each has its own */
		{ { 900, 910, 905, 1 }, 900, 0, 910 },		/* one host pulls nobody down */
		{ { 900, 910, 905, 10000 }, 900, 0, 0 },	/* nor is one that takes more */
		{ { 900, 910, 905, 990 }, 900, 0, 990 },
		{ { 900, 910, 905, 1010 }, 900, 0, 0 },
		{ { 900, 910, 905 }, 900, 1000, 0 },		/* nor another one */
		{ { 900, 910, 905 }, 900, 990, 990 },
		{ { 900, 910, 905 }, 900, 300, 910 },
		{ { 900, 910, 905, 10, 20 }, 900, 0, 0 },	/* three of five are too few */
		{ { 100, 300, 900, 2700 }, 900, 0, 0 },
	};
	struct search list[6];
	const struct search *of[6];
	uint64_t rate;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bool alike;

		fill(list, of, cases[i].rates, 6);
		rate = 0;
		alike = search_alike(of, 6, cases[i].together * MBIT, cases[i].used * MBIT,
				     &rate);
		if (alike != !!cases[i].rate || (alike && rate != cases[i].rate * MBIT))
			fail_msg("case %zu: %d, %llu", i, alike, (unsigned long long)rate);
	}
}

/* Of one that is being tried nobody knows what it takes. */
static void test_alike_but_one_is_tried(void **state)
{
	static const uint64_t rates[] = { 900, 910, 905, 0 };
	const struct search *of[4];
	struct search list[4];
	uint64_t rate;

	(void)state;
	fill(list, of, rates, 4);
	assert_true(search_alike(of, 4, 900 * MBIT, 0, &rate));
	list[3].state = SEARCH_TRYING;
	list[3].rate = 900 * MBIT;
	assert_false(search_alike(of, 4, 900 * MBIT, 0, &rate));
}

/* Whatever is lost: at least 98 % of what its hosts had, or nothing */
static void test_subnet_is_not_lowered(void **state)
{
	static const uint64_t rates[] = { 900, 910, 905 };
	const struct search *of[3];
	struct search list[3];
	struct loop l;
	uint32_t i;

	(void)state;
	fill(list, of, rates, 3);
	begin(&l, (struct model){ .line = 10 * GBIT, .takes = 600 * MBIT, .unpaced = 0.3 });
	search_begin_subnet(&l.s, of, 3, 910 * MBIT, l.now);
	for (i = 0; i < 1000; i++) {
		step(&l);
		if (l.s.rate && l.s.rate < 891 * MBIT)
			fail_msg("expected 891 mbit/s or nothing, got %llu bytes/s",
				 (unsigned long long)l.s.rate);
	}
}

/* For an hour, and for two where it comes again before anything is kept */
static void test_veto(void **state)
{
	struct search s = { .state = SEARCH_TRYING, .rate = 900 * MBIT };
	struct decision d;

	(void)state;
	search_veto(&s, BEGIN, &d);
	assert_int_equal(s.state, SEARCH_TAKEN_BACK);
	assert_int_equal(d.action, SEARCH_UNPACE);
	assert_int_equal(d.reason, SEARCH_VETO);
	assert_int_equal(s.again, BEGIN + 3600);
	search_veto(&s, BEGIN + 3600, &d);
	assert_int_equal(d.action, SEARCH_NOTHING);
	assert_int_equal(s.again, BEGIN + 3 * 3600);
}

/* It proves itself as any other, and is taken back as any other. */
static void test_subnet(void **state)
{
	static const uint64_t rates[] = { 900, 910, 905 };
	const struct search *of[3];
	struct search list[3];
	struct loop l;

	(void)state;
	fill(list, of, rates, 3);
	begin(&l, fixed);
	search_begin_subnet(&l.s, of, 3, 905 * MBIT, l.now);
	assert_int_equal(l.s.state, SEARCH_TRYING);
	assert_int_equal(l.s.rate, 905 * MBIT);
	until(&l, SEARCH_KEPT, 90);
	assert_near(l.s.rate, GBIT, 0.03);
	begin(&l, (struct model){ .line = 10 * GBIT, .takes = 20 * GBIT, .random = 0.003 });
	search_begin_subnet(&l.s, of, 3, 905 * MBIT, l.now);
	l.m.takes = 300 * MBIT;
	l.m.random = 0;
	l.m.unpaced = 0.3;
	steps(&l, 300);
	assert_true(l.s.state == SEARCH_TAKEN_BACK || l.s.state == SEARCH_WATCHING);
}

/* --- text ----------------------------------------------------------------------------- */

static void assert_text(const struct search *s)
{
	char text[SEARCH_TEXT], again[SEARCH_TEXT];
	struct search back;
	struct err e;

	search_format(s, text);
	assert_true(strlen(text) < sizeof(text) - 1);
	assert_int_equal(search_parse(text, &back, &e), 0);
	search_format(&back, again);
	assert_string_equal(text, again);
	assert_memory_equal(&back.base, &s->base, sizeof(back.base));
	assert_memory_equal(&back.proof, &s->proof, sizeof(back.proof));
	assert_int_equal(back.rate, s->rate);
	assert_int_equal(back.again, s->again);
	assert_int_equal(back.state, s->state);
}

/* A loop that is written and read after each step goes the same way. */
static void test_text(void **state)
{
	struct loop l, twin;
	char text[SEARCH_TEXT];
	struct err e;
	uint32_t i;

	(void)state;
	begin(&l, fixed);
	begin(&twin, fixed);
	for (i = 0; i < 5000; i++) {
		step(&l);
		search_format(&twin.s, text);
		assert_int_equal(search_parse(text, &twin.s, &e), 0);
		step(&twin);
		assert_int_equal(l.s.rate, twin.s.rate);
		assert_text(&l.s);
	}
	assert_int_equal(l.s.state, SEARCH_KEPT);
}

static void test_bad_text(void **state)
{
	static const char * const bad[] = {
		"", "keep", "kept", "kept rate=0", "kept rate=999", "kept rate=125000000001",
		"watching rate=1000", "kept rate=1000 x=1", "kept rate=1000 low",
		"kept rate=1000 low=-1",
		"kept rate=1000 low=+1", "kept rate=1000 upward=2", "kept rate=1000 low=1x",
		"kept rate=18446744073709551616", "kept  rate=1000",
		"kept rate=1000 seen=9223372036854775807",
	};
	char *longer = calloc(1, 100000);
	struct search s;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		e.text[0] = 0;
		if (search_parse(bad[i], &s, &e) != -EBADMSG)
			fail_msg("\"%s\" is taken", bad[i]);
		assert_true(e.text[0]);
		assert_int_equal(s.rate, 0);
	}
	assert_non_null(longer);
	memset(longer, 'x', 99999);
	assert_int_equal(search_parse(longer, &s, &e), -EBADMSG);
	free(longer);
}

static void test_on_wire(void **state)
{
	(void)state;
	assert_int_equal(search_on_wire(1448, 1448, 66), 1514);
	assert_int_equal(search_on_wire(724, 1448, 66), 757);
	assert_int_equal(search_on_wire(0, 1448, 66), 0);
	assert_int_equal(search_on_wire(1448, 0, 66), 1448);
	/* 400 Gbit/s for two weeks */
	assert_int_equal(search_on_wire(60480000000000000ULL, 8948, 66), 60926097451944568ULL);
}

/* The largest of everything, for weeks: UBSan sees what overflows. */
static void test_extremes(void **state)
{
	static const enum verdict verdicts[] = { VERDICT_OVERRUN, VERDICT_CLEAN, VERDICT_LOSS };
	struct search s = { 0 };
	struct decision d;
	uint32_t i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		struct observation o = {
			.at = i % 1000 == 999 ? INT64_MAX / 4 : (int64_t)i * 3600,
			.verdict = verdicts[i / 7 % 3], .us = 1209600000000ULL,
			.acked = 60480000000000000ULL, .segs = UINT32_MAX,
			.retrans = i % 3 ? UINT32_MAX : 0, .best_rate = UINT64_MAX,
			.min_rtt_us = 300000, .paced = s.rate,
		};

		search_observe(&s, &o, MIN_RTT, &d);
		if (s.rate)
			assert_in_range(s.rate, RATE_MIN, RATE_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_buffer),
		cmocka_unit_test(test_faster_later),
		cmocka_unit_test(test_slower_later),
		cmocka_unit_test(test_floor),
		cmocka_unit_test(test_step_to_the_floor),
		cmocka_unit_test(test_floor_outlives),
		cmocka_unit_test(test_back_from_less),
		cmocka_unit_test(test_no_flapping),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_margin),
		cmocka_unit_test(test_margin_no_worse),
		cmocka_unit_test(test_least_rate),
		cmocka_unit_test(test_least_rate_and_an_end),
		cmocka_unit_test(test_least_rate_of_one_that_was_kept),
		cmocka_unit_test(test_margin_earlier),
		cmocka_unit_test(test_random_loss),
		cmocka_unit_test(test_faked_loss),
		cmocka_unit_test(test_better),
		cmocka_unit_test(test_application),
		cmocka_unit_test(test_says_nothing),
		cmocka_unit_test(test_mostly_clean),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_clock_back),
		cmocka_unit_test(test_forgets),
		cmocka_unit_test(test_stands_down),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_alike_but_one_is_tried),
		cmocka_unit_test(test_subnet_is_not_lowered),
		cmocka_unit_test(test_veto),
		cmocka_unit_test(test_subnet),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_bad_text),
		cmocka_unit_test(test_on_wire),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

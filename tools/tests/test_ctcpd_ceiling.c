// SPDX-License-Identifier: GPL-2.0
/*
 * What a flow loses at the ceiling of its rate: what is counted, with each constant just below and
 * just above it, and the verdicts that rest on it, of flows whose windows at loss and seconds say
 * nothing.
 */
#include <linux/tcp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctcpd_flow.h"
#include "test.h"

#include "ctcpd/judge.h"

#define TOP	1000U		/* segments in a look, at the ceiling */

/* --- what is counted ------------------------------------------------------- */

/* A look at the ceiling, after some that have found it; @change makes another one of it */
static bool is_at_ceiling(void (*change)(struct interval *i), bool held)
{
	struct ceiling c = { 0 };
	struct flow f;
	uint16_t had;

	flow_begin_cut(&f, "cubic");
	ceiling_add(&c, look(&f, TOP), false, false);
	ceiling_add(&c, look(&f, TOP), false, false);
	ceiling_add(&c, look(&f, 1), false, false);	/* the next one begins anew */
	had = c.looks;
	look(&f, TOP);
	if (change)
		change(&f.i);
	ceiling_add(&c, &f.i, held, false);
	return c.looks > had;
}

static void slower_by_3(struct interval *i)
{
	i->delivered = 970;
}

static void slower_by_more(struct interval *i)
{
	i->delivered = 969;
}

static void short_look(struct interval *i)
{
	i->us = 40000;
	i->busy = i->us;
	i->delivered /= 5;
}

static void too_short(struct interval *i)
{
	i->us = 39990;
	i->busy = i->us;
	i->delivered /= 5;
}

static void idle_tenth(struct interval *i)
{
	i->busy = LOOK * 9 / 10;
}

static void idle_more(struct interval *i)
{
	i->busy = LOOK * 9 / 10 - 1;
}

static void rwnd_tenth(struct interval *i)
{
	i->rwnd = LOOK / 20;
	i->sndbuf = LOOK / 20;
}

static void a_poll(struct interval *i)
{
	i->us = 1000001;
	i->busy = i->us;
	i->delivered = 5 * TOP;
}

static void startup(struct interval *i)
{
	((struct sample *)i->before)->snd_ssthresh = INFINITE_SSTHRESH;
}

static void test_looks(void **state)
{
	static const struct {
		void (*change)(struct interval *i);
		bool held, there;
	} rows[] = {
		{ NULL, false, true },
		{ NULL, true, false },
		{ slower_by_3, false, true },
		{ slower_by_more, false, false },
		{ short_look, false, true },
		{ too_short, false, false },
		{ idle_tenth, false, true },
		{ idle_more, false, false },
		{ rwnd_tenth, false, false },
		{ a_poll, false, false },
		{ startup, false, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (is_at_ceiling(rows[i].change, rows[i].held) != rows[i].there)
			fail_msg("row %zu: at the ceiling expected %d, got %d", i, rows[i].there,
				 !rows[i].there);
}

/* Fewer than 64 segments are no rate. */
static void test_slow(void **state)
{
	struct ceiling c = { 0 };
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "cubic");
	ceiling_add(&c, look(&f, 63), false, false);
	ceiling_add(&c, look(&f, 63), false, false);
	assert_int_equal(c.looks, 0);
	ceiling_add(&c, look(&f, 64), false, false);
	ceiling_add(&c, look(&f, 64), false, false);
	assert_int_equal(c.looks, 1);
}

/* One rate out of line is no ceiling; two are, and what was counted below it is forgotten. */
static void test_higher(void **state)
{
	struct ceiling c = { 0 };
	struct flow f;
	int i;

	(void)state;
	flow_begin_cut(&f, "cubic");
	for (i = 0; i < 6; i++) {
		look(&f, TOP)->retrans = 10;
		ceiling_add(&c, &f.i, false, false);
	}
	assert_int_equal(c.losing, 5);	/* the first look alone is no ceiling */
	ceiling_add(&c, look(&f, TOP * 3), false, false);
	assert_int_equal(c.losing, 5);
	ceiling_add(&c, look(&f, TOP * 103 / 100), false, false);
	ceiling_add(&c, look(&f, TOP * 106 / 100), false, false);
	assert_int_equal(c.losing, 5);
	ceiling_add(&c, look(&f, TOP * 107 / 100), false, false);
	assert_int_equal(c.losing, 0);
	assert_int_equal(c.looks, 1);
	assert_true(c.losses.looks.lost == 0);
}

/* What is lost there is sent again a round trip later, in the next look; not behind a poll. */
static void test_next_look(void **state)
{
	struct ceiling c = { 0 };
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "cubic");
	f.now.rtt_us = LOOK / 2 + 1;
	ceiling_add(&c, look(&f, TOP), false, false);
	ceiling_add(&c, look(&f, TOP), false, false);
	look(&f, TOP / 2)->retrans = 7;
	ceiling_add(&c, &f.i, false, false);
	assert_int_equal(c.losing, 1);
	look(&f, TOP / 2)->retrans = 9;
	ceiling_add(&c, &f.i, false, false);
	assert_int_equal(c.losing, 1);
	assert_int_equal(c.elsewhere, 1);
	assert_true(c.losses.looks.lost == 7);

	ceiling_add(&c, look(&f, TOP), false, false);
	a_poll(look(&f, TOP));
	ceiling_add(&c, &f.i, false, false);
	look(&f, TOP / 2)->retrans = 7;
	ceiling_add(&c, &f.i, false, false);
	assert_int_equal(c.losing, 1);

	/* after half a look it would have been sent again in the look before */
	f.now.rtt_us = LOOK / 2;
	ceiling_add(&c, look(&f, TOP), false, false);
	look(&f, TOP / 2)->retrans = 7;
	ceiling_add(&c, &f.i, false, false);
	assert_int_equal(c.losing, 1);

	/* and a recovery that goes on is one loss */
	ceiling_add(&c, look(&f, TOP), false, false);
	f.now.ca_state = TCP_CA_Recovery;
	look(&f, TOP)->retrans = 7;
	ceiling_add(&c, &f.i, false, false);
	assert_int_equal(c.losing, 1);
}

/* How many of the looks that lose did so at the ceiling: one at it, and the next one */
static uint16_t losing_behind(uint32_t rtt_us, uint32_t segs)
{
	struct ceiling c = { 0 };
	struct flow f;

	flow_begin_cut(&f, "cubic");
	f.now.rtt_us = rtt_us;
	ceiling_add(&c, look(&f, TOP), false, false);
	ceiling_add(&c, look(&f, TOP), false, false);
	look(&f, segs)->retrans = 7;
	ceiling_add(&c, &f.i, false, false);
	assert_int_equal(c.losing + c.elsewhere, 1);
	return c.losing;
}

/* It grows from the ceiling into a loss, and is cut; what others leave is less than that. */
static void test_soon(void **state)
{
	(void)state;
	assert_int_equal(losing_behind(LOOK / 10 + 1, TOP * 81 / 100), 1);
	assert_int_equal(losing_behind(LOOK / 10 + 1, TOP * 79 / 100), 0);
	assert_int_equal(losing_behind(LOOK / 10, TOP * 81 / 100), 0);
	assert_int_equal(losing_behind(LOOK / 2, TOP * 79 / 100), 0);
	assert_int_equal(losing_behind(LOOK / 2 + 1, TOP / 2), 1);
}

static void test_theirs(void **state)
{
	struct ceiling c = { .looks = 30, .queued = 9, .losing = 5, .elsewhere = 15 };

	(void)state;
	assert_true(ceiling_is_of_path(&c, 250));
	assert_false(ceiling_is_ours(&c));
	assert_false(ceiling_is_of_path(&c, 251));
	c.queued = 10;
	assert_true(ceiling_is_ours(&c));
	assert_false(ceiling_is_of_path(&c, 250));
	c.queued = 0;
	c.losing = 4;
	c.elsewhere = 0;
	assert_false(ceiling_is_of_path(&c, 250));
	c = (struct ceiling){ 0 };	/* none is known */
	assert_false(ceiling_is_ours(&c));
	c.looks = 2;
	assert_false(ceiling_is_ours(&c));
}

/* Ours, and nothing is lost there, or a tenth of what is at lower rates: five looks or more */
static void test_harmless(void **state)
{
	struct ceiling c = { .looks = 30, .queued = 10, .losing = 1, .elsewhere = 10 };

	(void)state;
	assert_true(ceiling_is_harmless(&c));
	c.losing = 2;
	assert_false(ceiling_is_harmless(&c));
	c.losing = 0;
	c.elsewhere = 5;
	assert_true(ceiling_is_harmless(&c));
	c.elsewhere = 4;
	assert_false(ceiling_is_harmless(&c));
	c.elsewhere = 10;
	c.queued = 9;
	assert_false(ceiling_is_harmless(&c));
}

/* A look that was idle for a part has no rate to tell where it lost. */
static void test_idle_look(void **state)
{
	struct ceiling c = { 0 };
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "cubic");
	f.now.rtt_us = 1000;
	ceiling_add(&c, look(&f, TOP), false, false);
	ceiling_add(&c, look(&f, TOP), false, false);
	idle_more(look(&f, TOP / 2));
	f.i.retrans = 7;
	ceiling_add(&c, &f.i, false, false);
	assert_int_equal(c.elsewhere, 0);
	look(&f, TOP / 2)->retrans = 7;
	ceiling_add(&c, &f.i, false, false);
	assert_int_equal(c.elsewhere, 1);
	/* what is too little to be a ceiling is another rate than that of one, held or not */
	look(&f, 10)->retrans = 7;
	ceiling_add(&c, &f.i, false, false);
	look(&f, TOP / 2)->retrans = 7;
	ceiling_add(&c, &f.i, true, false);
	assert_int_equal(c.elsewhere, 3);
	assert_int_equal(c.losing, 0);
}

static void test_age(void **state)
{
	struct ceiling c = { .rate = 5, .looks = 30, .queued = 8, .losing = 6, .elsewhere = 4,
			     .reached = true };

	(void)state;
	ceiling_age(&c);
	assert_int_equal(c.looks, 15);
	assert_int_equal(c.queued, 4);
	assert_int_equal(c.losing, 3);
	assert_int_equal(c.elsewhere, 2);
	ceiling_age(&c);	/* not reached since */
	assert_int_equal(c.looks, 0);
	assert_true(c.rate == 0);
}

/* A rate that is not reached for minutes is no ceiling any more. */
static void test_lower_path(void **state)
{
	struct flow f;

	(void)state;
	flow_begin_cut(&f, "cubic");
	looks(&f, 10, TOP, 0, 0);
	assert_int_equal(f.loss.ceiling.looks, 9);
	looks(&f, 1000, TOP / 2, 0, 0);
	assert_in_range(f.loss.ceiling.looks, 100, 1000);
}

/* --- verdicts -------------------------------------------------------------- */

/*
 * An application that pauses: each burst fills the hop for four looks, loses there, and goes on
 * more slowly.  H-TCP leaves now a half of the window and now four fifths.
 */
static void pause_between(struct flow *f, unsigned int n, uint64_t wmem_alloc)
{
	flow_begin_cut(f, "htcp");
	for (; n; n--) {
		look(f, TOP / 2)->busy = LOOK / 2;
		add(f);
		f->now.wmem_alloc = wmem_alloc;
		looks(f, 1, TOP, 0, 0);
		f->now.wmem_alloc = 0;
		looks(f, 2, TOP, 0, 0);
		looks(f, 1, TOP, 30, n % 2 ? 160 : 100);
		looks(f, 3, 600 + 41 * n % 300, 0, 0);
	}
}

static void test_pauses(void **state)
{
	struct flow f;

	(void)state;
	pause_between(&f, 6, 0);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	pause_between(&f, 4, 0);	/* too few */
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
	pause_between(&f, 6, 2 * MSS + 1);	/* a quarter of the looks: a faster hop of ours */
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
}

/* The same, but what is full at the ceiling is our own device, half of that time. */
static void test_own_device(void **state)
{
	struct flow f;
	unsigned int n;

	(void)state;
	flow_begin_cut(&f, "htcp");
	for (n = 0; n < 6; n++) {
		f.now.wmem_alloc = 2 * MSS + 1;
		looks(&f, 2, TOP, 0, 0);
		f.now.wmem_alloc = 0;
		looks(&f, 1, TOP, 0, 0);
		looks(&f, 1, TOP, 30, n % 2 ? 160 : 100);
		looks(&f, 3, 600 + 41 * n % 300, 0, 0);
	}
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

/* Others leave it one room for a while; what is full at its ceiling is our own device. */
static void test_same_room(void **state)
{
	struct flow f;
	unsigned int n;

	(void)state;
	flow_begin_cut(&f, "cubic");
	for (n = 0; n < 8; n++) {
		f.now.wmem_alloc = 2 * MSS + 1;
		looks(&f, 2, TOP, 0, 0);
		f.now.wmem_alloc = 0;
		looks(&f, 2, TOP / 2, 0, 0);
		looks(&f, 1, TOP / 2, 10, 150);
		looks(&f, 2, TOP / 2, 0, 0);
	}
	assert_true(ceiling_is_harmless(&f.loss.ceiling));
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

/* Chance: looks that lose more are slower, and those at the ceiling are as even as nothing is. */
static void test_chosen(void **state)
{
	struct losses_say there;
	struct flow f;
	unsigned int n;

	(void)state;
	flow_begin_cut(&f, "htcp");
	f.now.rtt_us = 3000;	/* by a queue, which evens its rate */
	for (n = 0; n < 100; n++) {
		bool more = n % 12 == 11;

		looks(&f, 1, more ? 900 : TOP, more ? 20 : 10, 100 + 37 * n % 100);
	}
	losses_say(&f.loss.ceiling.losses, &there);
	assert_true(there.spacing.dispersion < 1);
	assert_true(there.spacing.even > 20);
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
}

/*
 * Alone it loses at the ceiling, each time at one window; while others send, at any window and
 * rate, so many times as often.
 */
static void share(struct flow *f, unsigned int others)
{
	unsigned int n, k;

	flow_begin_cut(f, "cubic");
	for (n = 0; n < 8; n++) {
		looks(f, 2, TOP, 0, 0);
		looks(f, 1, TOP, 2, 150);
		looks(f, 2, 500, 0, 0);
		for (k = 0; k < others; k++)
			looks(f, 2, 200 + (89 * n + 131 * k) % 500, k % 2 ? 9 : 3,
			      20 + (37 * n + 53 * k) % 100);
	}
}

static void test_others_also(void **state)
{
	struct judgement j;
	struct flow f;

	(void)state;
	share(&f, 1);
	expect(&f, VERDICT_OVERRUN, REASON_SAME_WINDOW);
	judge_flow(&f.facts, &j);
	assert_int_equal(j.levels, 8);	/* those at the ceiling */
	assert_int_equal(j.spread, 0);
	share(&f, 2);
	assert_int_not_equal(f.loss.ceiling.losing, 0);
	expect(&f, VERDICT_LOSS, REASON_OTHERS);	/* a fifth of the looks that lose */
}

/*
 * Half of the looks that lose do so at the ceiling, a little each; the others lose much.  These
 * alone tell that it is not chance, and the ceiling that they all have one cause.
 */
static void test_half_at_ceiling(void **state)
{
	struct flow f;
	unsigned int n;

	(void)state;
	flow_begin_cut(&f, "cubic");
	for (n = 0; n < 8; n++) {
		looks(&f, 2, TOP, 0, 0);
		looks(&f, 1, TOP, 2, 100 + 89 * n % 400);
		looks(&f, 2, 500, 0, 0);
		looks(&f, 1, 500, 30, 20 + 37 * n % 200);
		looks(&f, 1, 500, 0, 0);
	}
	assert_int_equal(f.loss.ceiling.losing, 8);
	assert_int_equal(f.loss.ceiling.elsewhere, 8);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
}

/* A slower hop is full all the time, and the path loses at random, at any window. */
static void test_chance(void **state)
{
	unsigned int seed, i;
	struct flow f;

	(void)state;
	for (seed = 0; seed < 300; seed++) {
		unsigned short x[3] = { (unsigned short)seed, 4711, 17 };
		double mean = 0.1 * pow(30, seed % 30 / 29.0);
		struct judgement j;

		flow_begin_cut(&f, "cubic");
		/* and the window is what that loss leaves (RFC 9438, 5.1) */
		f.now.snd_cwnd = (uint32_t)(1.054 * pow(RTT / 1e6 * TOP / mean, 0.75));
		for (i = 0; i < 200; i++) {
			uint32_t lost = 0;
			double p = exp(-mean), u = erand48(x);

			for (; u > p; lost++, p *= mean / lost)	/* Poisson's */
				u -= p;
			looks(&f, 1, TOP, lost, 150 + (uint32_t)(150 * erand48(x)));
		}
		judge_flow(&f.facts, &j);
		if (j.verdict == VERDICT_OVERRUN)
			fail_msg("seed %u, %g losses a look: an overrun by chance", seed, mean);
	}
}

/* Three in each look of 250: in so few looks z says little, but chance never does that. */
static void test_even(void **state)
{
	struct flow f;
	unsigned int i;

	(void)state;
	flow_begin_cut(&f, "htcp");
	for (i = 0; i < 20; i++)
		looks(&f, 1, 250, 3, 5);
	assert_true(f.loss.losses.looks.cells == 20);
	expect(&f, VERDICT_OVERRUN, REASON_REGULAR);
	flow_begin_cut(&f, "htcp");	/* ten alike are no wonder: 10! / 10^10, 4e-4 */
	looks(&f, 10, 250, 1, 5);
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
	flow_begin_cut(&f, "htcp");	/* as chance has it */
	for (i = 0; i < 20; i++)
		looks(&f, 1, 250, (i * 7 + i / 3) % 5 + i % 2, 5);
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
}

/* It is alone at its ceiling, and loses nothing; who comes then takes a third: then it loses. */
static void test_others_after_ceiling(void **state)
{
	unsigned short x[3] = { 2, 7, 1 };
	struct flow f;
	unsigned int k;

	(void)state;
	flow_begin_cut(&f, "htcp");
	for (k = 0; k < 40; k++) {
		looks(&f, 3 + (uint32_t)(10 * erand48(x)), TOP, 0, 0);
		looks(&f, 1, TOP * 7 / 10, 10 + (uint32_t)(9 * erand48(x)),
		      100 + (uint32_t)(200 * erand48(x)));
		looks(&f, 2, TOP / 2, 0, 0);
	}
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_higher),
		cmocka_unit_test(test_next_look),
		cmocka_unit_test(test_soon),
		cmocka_unit_test(test_theirs),
		cmocka_unit_test(test_harmless),
		cmocka_unit_test(test_idle_look),
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_lower_path),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_own_device),
		cmocka_unit_test(test_same_room),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_others_also),
		cmocka_unit_test(test_half_at_ceiling),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_even),
		cmocka_unit_test(test_others_after_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

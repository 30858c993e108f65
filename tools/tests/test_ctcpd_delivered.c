// SPDX-License-Identifier: GPL-2.0
/*
 * How even a rate is that losses leave: the sums of cells, what they say against chance, and
 * verdicts of flows that show nothing else.
 */
#include "ctcpd_draw.h"
#include "ctcpd_flow.h"
#include "test.h"

#include "ctcpd/judge.h"
#include "ctcpd/spacing.h"

#define CELL	DELIVERED_CELL_US
#define CLOSE	0.001	/* floats that were summed */

/* One interval; its queue is what the round trip exceeds its least by */
static void put(struct delivered *d, uint64_t us, uint32_t segs, uint32_t lost, uint32_t queue_us)
{
	struct sample now = { .rtt_us = 1000 + queue_us, .conn.min_rtt = 1000 };
	struct interval i = {
		.now = &now, .us = us, .segs = segs + lost, .delivered = segs, .retrans = lost,
	};

	delivered_add(d, &i, false);
}

/* --- cells ----------------------------------------------------------------- */

static void test_cell(void **state)
{
	struct delivered d = { .rate = 0 };

	(void)state;
	put(&d, CELL - 1, 100, 4, 50);
	assert_true(d.us == 0);
	put(&d, 1, 100, 5, 50);
	assert_true(d.us == CELL && d.segs == 200 && d.lost == 9);
	near(d.queued, 50.0 * CELL, 1);
	put(&d, CELL, 63, 4, 0);	/* too few */
	assert_true(d.segs == 200);
	put(&d, CELL, 1, 4, 0);
	assert_true(d.segs == 264 && d.lost == 17);
}

static void test_cell_of_a_round_trip(void **state)
{
	struct delivered d = { .rate = 0 };

	(void)state;
	put(&d, CELL, 100, 4, CELL);
	assert_true(d.us == 0);
	put(&d, CELL, 100, 4, CELL);
	assert_true(d.us == 2 * CELL);
}

/* What was begun before something else held the flow is in no cell. */
static void test_held(void **state)
{
	struct sample now = { .rtt_us = RTT };
	struct interval i = { .now = &now, .us = CELL, .segs = 100, .delivered = 100 };
	struct delivered d = { .rate = 0 };

	(void)state;
	put(&d, CELL / 2, 100, 4, 0);
	delivered_add(&d, &i, true);
	put(&d, CELL / 2, 100, 4, 0);
	assert_true(d.us == 0);
	put(&d, CELL / 2, 100, 4, 0);
	assert_true(d.segs == 200 && d.lost == 8 && d.us == CELL);
}

/* A D-SACK may come in the cell behind that of its segment. */
static void test_late_dsack(void **state)
{
	struct sample now = { .rtt_us = RTT };
	struct interval i = { .now = &now, .us = CELL, .segs = 100, .delivered = 100 };
	struct delivered d = { .rate = 0 };

	(void)state;
	i.retrans = 7;
	delivered_add(&d, &i, false);
	assert_true(d.lost == 7);
	i.retrans = 1;
	i.dsack_dups = 6;
	delivered_add(&d, &i, false);
	assert_true(d.lost == 2);
	delivered_add(&d, &i, false);
	assert_true(d.lost == 0);
}

/* Of a trace: as many as 32 bits tell of, and some before them in the cell */
static void test_too_many(void **state)
{
	struct delivered d = { .rate = 0 };

	(void)state;
	put(&d, LOOK, 100, 5, 0);
	put(&d, LOOK, 100, INT32_MAX, 0);
	assert_true(d.us == 0);
}

/* --- against the rate ------------------------------------------------------ */

/* @n cells, each of @segs and 50 lost */
static void steady(struct delivered *d, unsigned int n, uint32_t segs)
{
	for (; n; n--)
		put(d, CELL, segs, 50, 0);
}

/* The first cell is the rate, and the second the first of which a loss in two is known. */
static void test_rate(void **state)
{
	struct delivered d = { .rate = 0 };

	(void)state;
	steady(&d, 1, 950);
	near(d.rate, 950.0 / CELL, CLOSE);
	assert_true(d.cells == 0);
	put(&d, CELL, 960, 40, 0);
	assert_true(d.cells == 1);
	near(d.squares, 100, 0.01);
	near(d.variance, 40 * (1 - 90 / 2000.0), CLOSE);
	near(d.squares_vary, (2 * 40 * 40 + 40) * 0.955 * 0.955, 0.1);
	near(d.rate * CELL, 950 + 10 / 16.0, CLOSE);
	put(&d, 2 * CELL, 1900, 100, 0);	/* of twice the time */
	assert_true(d.cells == 2);
	near(d.squares, 100 + 1.25 * 1.25, 0.01);
	near(d.rate * CELL, 950 + 10 / 16.0 - 1.25 / 2 / 16, CLOSE);
}

/* 64 losses tell p, and where chance varies by less than four squared says little. */
static void test_too_few(void **state)
{
	struct delivered d = { .rate = 0 };

	(void)state;
	put(&d, CELL, 950, 31, 0);
	put(&d, CELL, 950, 32, 0);
	assert_true(d.cells == 0);
	put(&d, CELL, 950, 32, 0);
	assert_true(d.cells == 1);
	d = (struct delivered){ .rate = 1000.0F / CELL, .segs = 100000, .lost = 394 };
	put(&d, CELL, 1000, 4, 0);
	assert_true(d.cells == 0);
	d.lost = 420;
	put(&d, CELL, 1000, 4, 0);
	assert_true(d.cells == 1);
}

/*
 * Chance varies by 6.9: 35 is five of that.  A bucket that was full is not counted; three such
 * cells in a row are the rate.
 */
static void test_far(void **state)
{
	struct delivered d = { .rate = 0 };

	(void)state;
	steady(&d, 101, 950);
	assert_true(d.cells == 100);
	put(&d, CELL, 950 + 34, 50, 0);
	assert_true(d.cells == 101 && d.far == 0);
	put(&d, CELL, 950 + 38, 50, 0);
	put(&d, CELL, 950 - 36, 50, 0);
	assert_true(d.cells == 101 && d.far == 2);
	steady(&d, 1, 950);
	assert_true(d.cells == 102 && d.far == 0);
	steady(&d, 3, 500);
	assert_true(d.cells == 102 && d.far == 0);
	near(d.rate, 500.0 / CELL, CLOSE);
	steady(&d, 1, 500);
	assert_true(d.cells == 103);
}

static void test_halved(void **state)
{
	struct delivered_say before, say;
	struct delivered d = { .rate = 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 600; i++)
		put(&d, CELL, 948 + i % 3, 50, 1);
	assert_true(d.cells == 599);
	delivered_say(&d, &before);
	put(&d, CELL, 949, 50, 1);
	assert_true(d.cells == 300 && d.lost == 50 * 601 / 2.0F);
	near(d.us / CELL, 601 / 2.0, 1);
	near(d.queued / CELL, 601 / 2.0, 1);
	near(d.segs / 949, 601 / 2.0, 1);
	delivered_say(&d, &say);
	near(say.dispersion, before.dispersion, CLOSE);
	near(say.even, before.even / 2, 10);
}

/* Time without a loss is forgotten, too: then what comes is soon known. */
static void test_forgets(void **state)
{
	struct delivered d = { .rate = 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 3600; i++)
		put(&d, CELL, 1000, 0, 0);
	assert_true(d.us < 600000000);
	for (i = 0; i < 300; i++)
		put(&d, CELL, 950, 50, 0);
	assert_true(d.cells > 200);
}

/* --- what they say --------------------------------------------------------- */

/* @n cells of which one is @apart more than the one before, and 50 lost in each */
static struct delivered_say of(unsigned int n, uint32_t apart, uint32_t queue_us)
{
	struct delivered d = { .rate = 0 };
	struct delivered_say say;
	unsigned int i;

	for (i = 0; i < n + 1; i++)
		put(&d, CELL, 950 + i % 2 * apart, 50, queue_us);
	delivered_say(&d, &say);
	return say;
}

static void test_nothing(void **state)
{
	struct delivered_say say = of(1, 0, 0);

	(void)state;
	assert_true(say.dispersion == 1 && say.even == 0);
	say = of(2, 0, 0);
	near(say.dispersion, 0, CLOSE);
	assert_true(say.even > 0);
}

/* 950 and 960 by turns are 5 from the rate, which wavers by 0.16; chance has 47.5. */
static void test_dispersion(void **state)
{
	struct delivered_say say = of(500, 10, 0);

	(void)state;
	near(say.dispersion, 5.16 * 5.16 / 47.5, 0.01);
	/* 2 x^2 + x of x = 50, over x^2 */
	near(say.even, spacing_even(say.dispersion, 500 / (2 + 1 / 50.0)), 0.1);
	say = of(500, 20, 0);
	near(say.dispersion, 10.32 * 10.32 / 47.5, 0.05);
	assert_true(say.even == 0);
}

/* 950 segments in a second: the 6.9 segments that chance varies by are 7255 us of a queue. */
static void test_queue(void **state)
{
	(void)state;
	assert_true(of(20, 0, 7225).even > 0);
	assert_true(of(20, 0, 7275).even == 0);
}

/*
 * Sent at one rate, and lost by chance: what is delivered is as even as that no more often than is
 * said.  At e^-5 135 times in 20,000, and no more than three deviations of that above it.
 */
static void test_chance(void **state)
{
	static const double rows[] = { 0.01, 0.05, 0.2 };
	unsigned int even, k, n, i;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		uint64_t seed = 1;

		for (n = 0, even = 0; n < 20000; n++) {
			struct delivered d = { .rate = 0 };
			struct delivered_say say;

			for (i = 0; i < 40; i++) {
				uint32_t lost = lost_of(&seed, 1000, rows[k]);

				put(&d, CELL, 1000 - lost, lost, 0);
			}
			delivered_say(&d, &say);
			even += say.even >= 5;
		}
		if (even < 20 || even > 135 + 35)
			fail_msg("p = %g: expected 20 to 170, got %u", rows[k], even);
	}
}

/* What varies by ten times as much as chance is not taken for even by what is near its rate. */
static void test_broad(void **state)
{
	uint64_t seed = 5;
	unsigned int n, i;

	(void)state;
	for (n = 0; n < 1000; n++) {
		struct delivered d = { .rate = 0 };
		struct delivered_say say;

		for (i = 0; i < 100; i++)
			put(&d, CELL, 900 + (uint32_t)(100 * uniform(&seed)), 50, 0);
		delivered_say(&d, &say);
		if (say.even > 0)
			fail_msg("flow %u: expected a dispersion of more than 1, got %g", n,
				 say.dispersion);
	}
}

/* --- losses that change ---------------------------------------------------- */

/* @n looks of a flow that paces at one rate, and loses each segment with probability @p */
static void paced(struct delivered *d, uint64_t *seed, unsigned int n, double p)
{
	for (; n; n--) {
		uint32_t lost = lost_of(seed, 1000, p);

		put(d, CELL, 1000 - lost, lost, 0);
	}
}

static void expect_not_even(const struct delivered *d)
{
	struct delivered_say say;

	delivered_say(d, &say);
	assert_true(d->cells > 100);
	if (say.even >= 5)
		fail_msg("expected less than 5, got %g by a dispersion of %g", say.even,
			 say.dispersion);
}

/* A radio link that gets better: what it lost before says nothing of how even it is now. */
static void test_fewer(void **state)
{
	struct delivered d = { .rate = 0 };
	uint64_t seed = 1;

	(void)state;
	paced(&d, &seed, 150, 0.05);
	expect_not_even(&d);
	paced(&d, &seed, 300, 0.003);
	expect_not_even(&d);
}

/* Losses in one look of twenty are far from the rate of the others, which lose little. */
static void test_fades(void **state)
{
	struct delivered d = { .rate = 0 };
	uint64_t seed = 1;
	unsigned int i;

	(void)state;
	for (i = 0; i < 30; i++) {
		paced(&d, &seed, 1, 0.3);
		paced(&d, &seed, 19, 0.001);
	}
	expect_not_even(&d);
}

/* After Gilbert and Elliott, segment by segment: 1000 of 40,000 are bad, and lose a half. */
static void test_gilbert(void **state)
{
	uint64_t seed = 1;
	unsigned int n, i, k;

	(void)state;
	for (n = 0; n < 20; n++) {
		struct delivered d = { .rate = 0 };
		bool bad = false;

		for (i = 0; i < 600; i++) {
			uint32_t lost = 0;

			for (k = 0; k < 1000; k++) {
				if (uniform(&seed) < (bad ? 0.001 : 0.000025))
					bad = !bad;
				lost += bad && uniform(&seed) < 0.5;
			}
			put(&d, CELL, 1000 - lost, lost, 0);
		}
		expect_not_even(&d);
	}
}

/* D-SACKs for what far cells sent again leave nothing in those that count. */
static void test_none_left(void **state)
{
	struct sample now = { .rtt_us = RTT };
	struct interval i = { .now = &now, .us = CELL, .segs = 1000, .delivered = 1000 };
	struct delivered d = { .rate = 0 };
	struct delivered_say say;

	(void)state;
	steady(&d, 1, 1000);
	put(&d, CELL, 500, 500, 0);
	i.dsack_dups = 20;
	delivered_add(&d, &i, false);
	delivered_add(&d, &i, false);
	assert_true(d.cells == 2 && d.variance < 0);
	delivered_say(&d, &say);
	assert_true(say.dispersion == 1 && say.even == 0);
}

/* --- verdicts -------------------------------------------------------------- */

/*
 * A look of BBR behind a policer: what it sends differs as chance has it, and with it what is lost,
 * as what gets through is @segs.
 */
static void policed(struct flow *f, uint64_t *seed, uint32_t segs)
{
	uint32_t lost = lost_of(seed, 1000, 0.05);

	f->now.conn.min_rtt = RTT;
	look(f, segs + lost)->retrans = lost;
	f->i.delivered = segs;
}

/*
 * @n looks.  Its bucket is full at first; then each of five gets @apart more through than each of
 * the five before.  The peer's window holds one of @every, if that is not 0.
 */
static struct flow policed_flow(unsigned int n, uint32_t apart, unsigned int every)
{
	uint64_t seed = 1;
	struct flow f;
	unsigned int i;

	flow_begin(&f, "bbr");
	for (i = 0; i < n; i++) {
		policed(&f, &seed, i < 2 ? 1200 : 950 + i / 5 % 2 * apart);
		f.i.rwnd = every && i % every == 0 ? LOOK : 0;
		add(&f);
	}
	return f;
}

static void test_verdict(void **state)
{
	struct flow f = policed_flow(100, 0, 0);

	(void)state;
	expect(&f, VERDICT_OVERRUN, REASON_EVEN_RATE);
	f = policed_flow(400, 3, 0);	/* 56 of 237.5 */
	expect(&f, VERDICT_OVERRUN, REASON_EVEN_RATE);
	f = policed_flow(2500, 5, 0);	/* 156 of 237.5: p may be that far off */
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
}

/*
 * Its losses come in bursts, too, which chance allows even less; but its rate changes: it is
 * neither one rate nor a ceiling.
 */
static void test_verdict_of_bursts(void **state)
{
	static const uint32_t segs[] = { 1200, 700, 780, 860, 940, 1020 };
	struct flow f;
	unsigned int k, i;

	(void)state;
	flow_begin(&f, "bbr");
	f.now.conn.min_rtt = RTT;
	for (k = 0; k < ARRAY_SIZE(segs); k++) {
		for (i = 0; i < 40; i++) {
			uint32_t lost = i % 10 ? 10 : 300;

			look(&f, segs[k] + lost)->retrans = lost;
			f.i.delivered = segs[k];
			add(&f);
		}
	}
	expect(&f, VERDICT_OVERRUN, REASON_EVEN_RATE);
}

/* For a tenth of the time something else holds it: the rest may be even by that, too. */
static void test_verdict_of_held(void **state)
{
	struct flow f = policed_flow(220, 0, 11);

	(void)state;
	assert_true(f.loss.delivered.cells > 35);
	expect(&f, VERDICT_OVERRUN, REASON_EVEN_RATE);
	f = policed_flow(220, 0, 9);
	assert_true(f.loss.delivered.cells > 15);
	assert_int_not_equal(judged(&f).verdict, VERDICT_OVERRUN);
}

/* --- what holds it evens it ------------------------------------------------ */

static void test_held_by(void **state)
{
	static const struct {
		bool app_limited;
		uint32_t reord;
		uint32_t us, idle, rwnd, sndbuf, ssthresh;
	} rows[] = {
		{ .us = LOOK, .app_limited = true },
		{ .us = LOOK, .idle = LOOK / 10 + 1 },
		{ .us = LOOK, .rwnd = LOOK / 10 },
		{ .us = LOOK, .sndbuf = LOOK / 10 },
		{ .us = POLL },			/* by whom was not looked at */
		{ .us = LOOK, .reord = 1 },	/* what was sent again was late */
		{ .us = LOOK, .ssthresh = INFINITE_SSTHRESH },	/* slow start */
	};
	unsigned int k, i;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		uint64_t seed = 1;
		struct flow f;

		flow_begin(&f, rows[k].ssthresh ? "reno" : "bbr");
		f.now.snd_ssthresh = rows[k].ssthresh;
		for (i = 0; i < 20; i++) {
			policed(&f, &seed, 950);
			f.now.app_limited = rows[k].app_limited;
			f.i.us = rows[k].us;
			f.i.reord = rows[k].reord;
			f.i.busy = rows[k].us - rows[k].idle;
			f.i.rwnd = rows[k].rwnd;
			f.i.sndbuf = rows[k].sndbuf;
			add(&f);
		}
		if (f.loss.delivered.us > 0)
			fail_msg("row %u: expected no cell, got %g us", k, f.loss.delivered.us);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cell),
		cmocka_unit_test(test_cell_of_a_round_trip),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_late_dsack),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_halved),
		cmocka_unit_test(test_forgets),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_dispersion),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_broad),
		cmocka_unit_test(test_fewer),
		cmocka_unit_test(test_fades),
		cmocka_unit_test(test_gilbert),
		cmocka_unit_test(test_none_left),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_verdict_of_bursts),
		cmocka_unit_test(test_verdict_of_held),
		cmocka_unit_test(test_held_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

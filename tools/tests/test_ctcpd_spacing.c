// SPDX-License-Identifier: GPL-2.0
/*
 * How losses are spaced: the sums of cells, what they say against chance, and verdicts of
 * flows that show nothing else.
 */
#include <linux/tcp.h>
#include <math.h>

#include "ctcpd_draw.h"
#include "ctcpd_flow.h"
#include "test.h"

#include "ctcpd/judge.h"

#define EXACT	0.000001	/* floats */
#define CLOSE	0.001		/* ... that were summed, or come of a logarithm */

static void put(struct spacing *s, uint32_t us, uint32_t segs, uint32_t lost, uint32_t least_us)
{
	struct sample now = { .rtt_us = RTT };
	struct interval i = { .now = &now, .us = us, .segs = segs };

	spacing_add(s, &i, lost, least_us);
}

/* --- cells ----------------------------------------------------------------- */

static void test_cell(void **state)
{
	struct spacing s = { .squares = 0 };

	(void)state;
	put(&s, CELL_LOOK_US - 1, 100, 4, CELL_LOOK_US);
	assert_true(s.cells == 0);
	put(&s, 1, 100, 4, CELL_LOOK_US);
	assert_true(s.cells == 1 && s.segs == 200 && s.lost == 8);
	near(s.squares, 64.0 / 200, EXACT);
	near(s.inverse, 1.0 / 200, EXACT);
	put(&s, LOOK, 31, 4, CELL_LOOK_US);	/* too few to be one */
	assert_true(s.cells == 1);
	put(&s, LOOK, 1, 4, CELL_LOOK_US);
	assert_true(s.cells == 2 && s.segs == 232 && s.lost == 16);
}

static void test_cell_of_a_round_trip(void **state)
{
	struct sample now = { .rtt_us = LOOK + 1 };
	struct interval i = { .now = &now, .us = LOOK, .segs = 100 };
	struct spacing s = { .squares = 0 };

	(void)state;
	spacing_add(&s, &i, 1, CELL_LOOK_US);
	assert_true(s.cells == 0);
	spacing_add(&s, &i, 1, CELL_LOOK_US);
	assert_true(s.cells == 1);
}

static void test_halved(void **state)
{
	struct spacing s = { .squares = 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 3001; i++)
		put(&s, LOOK, 100, 1, CELL_LOOK_US);
	assert_true(s.cells == 1500.5F);
	assert_true(s.segs == 150050);
	assert_true(s.lost == 1500.5F);
	near(s.squares, 3001 / 100.0 / 2, CLOSE);
	near(s.inverse, 3001 / 100.0 / 2, CLOSE);
}

/* --- what they say --------------------------------------------------------- */

/* @n cells of a thousand segments, @less and @more lost in turn */
static struct spacing_say of(unsigned int n, uint32_t less, uint32_t more)
{
	struct spacing s = { .squares = 0 };
	struct spacing_say say;
	unsigned int i;

	for (i = 0; i < n; i++)
		put(&s, LOOK, 1000, i % 2 ? more : less, CELL_LOOK_US);
	spacing_say(&s, &say);
	return say;
}

static void test_nothing(void **state)
{
	struct spacing_say say = of(1, 10, 10);

	(void)state;
	assert_true(say.dispersion == 1 && say.bursty == 0 && say.even == 0);
	say = of(20, 0, 0);
	assert_true(say.dispersion == 1 && say.bursty == 0 && say.even == 0);
}

/* Of 40 and 60 of a thousand each is 100 from its mean, squared, where chance gives 47.5. */
static void test_dispersion(void **state)
{
	struct spacing_say say = of(20, 40, 60);
	double chi = 20 * 100 / 47.5, shape = 19 * 19 / (2 * 19 + 20 / 50.0);
	double x = chi / 19 * shape;

	(void)state;
	near(say.dispersion, chi / 19, EXACT);
	near(say.bursty, x - (shape - 1) * log(x) + lgamma(shape) + log(1 - (shape - 1) / x),
	     CLOSE);
	assert_true(say.even == 0);
}

/*
 * With half of a hundred thousand lost in each of 21 cells the sum has the gamma distribution
 * of shape 10.  Its values at 2, 3 and 5 are from tables: 0.0000465, 0.001102, 0.03183.
 */
static void test_even(void **state)
{
	static const struct {
		double part, chance;
	} rows[] = {
		{ 0.2, 0.0000465 },
		{ 0.3, 0.001102 },
		{ 0.5, 0.03183 },
	};
	unsigned int i, k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		/* 25000 by chance; @off squared in 20 cells of 21, the odd one has the mean */
		uint32_t off = (uint32_t)lround(sqrt(rows[k].part * 25000));
		struct spacing s = { .squares = 0 };
		struct spacing_say say;

		for (i = 0; i < 20; i++)
			put(&s, LOOK, 100000, i % 2 ? 50000 + off : 50000 - off, CELL_LOOK_US);
		put(&s, LOOK, 100000, 50000, CELL_LOOK_US);
		spacing_say(&s, &say);
		near(say.dispersion, rows[k].part, 0.003);
		assert_true(say.bursty == 0);
		/* an upper bound of that chance, and a close one */
		assert_true(say.even <= -log(rows[k].chance) + 0.03);
		near(say.even, -log(rows[k].chance), 0.25);
	}
}

/* Of two cells the shape is below 1: x^(shape - 1) e^-x / gamma(shape) is all of the bound. */
static void test_two_cells(void **state)
{
	struct spacing_say say = of(2, 40, 60);
	double shape = 1 / (2 + 2 / 50.0), x = 2 * 100 / 47.5 * shape;

	(void)state;
	near(say.bursty, x - (shape - 1) * log(x) + lgamma(shape), CLOSE);
}

/* Cells without a difference are no more than those of a twentieth of chance's. */
static void test_least(void **state)
{
	struct spacing_say say = of(21, 50, 50);
	double shape = 20 * 20 / (2 * 20 + 21 / 50.0), x = 0.05 * shape;

	(void)state;
	near(say.dispersion, 0, EXACT);
	near(say.even, x - shape * log(x) + lgamma(shape + 1) + log(1 - x / (shape + 1)), CLOSE);
}

/* Nothing arrives at all: a twentieth of it counts as arrived. */
static void test_all_lost(void **state)
{
	struct spacing s = { .squares = 0 };
	struct spacing_say say;

	(void)state;
	put(&s, LOOK, 100, 110, CELL_LOOK_US);
	put(&s, LOOK, 100, 90, CELL_LOOK_US);
	spacing_say(&s, &say);
	near(say.dispersion, 2 / 0.05, CLOSE);
}

/*
 * Losses drawn by chance come as far from the mean as the bounds say, or more seldom: at e^-5
 * 135 times in 20,000, and no more than three deviations of that above it.
 */
static void test_chance(void **state)
{
	static const struct {
		unsigned int cells;
		double p;
	} rows[] = { { 3, 0.01 }, { 10, 0.01 }, { 10, 0.05 }, { 40, 0.01 } };
	unsigned int bursty, even, k, n, i;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		uint64_t seed = 1;

		for (n = 0, bursty = 0, even = 0; n < 20000; n++) {
			struct spacing s = { .squares = 0 };
			struct spacing_say say;

			for (i = 0; i < rows[k].cells; i++)
				put(&s, LOOK, 1000, lost_of(&seed, 1000, rows[k].p),
				    CELL_LOOK_US);
			spacing_say(&s, &say);
			bursty += say.bursty >= 5;
			even += say.even >= 5;
		}
		if (bursty > 135 + 35 || even > 135 + 35)
			fail_msg("%u cells, p = %g: expected 170 of each at most, got %u, %u",
				 rows[k].cells, rows[k].p, bursty, even);
		/* nor are they loose: of ten cells and more a third of that is found */
		if (rows[k].cells >= 10 && (bursty < 45 || even < 45))
			fail_msg("%u cells, p = %g: expected 45 of each at least, got %u, %u",
				 rows[k].cells, rows[k].p, bursty, even);
	}
}

/* --- verdicts -------------------------------------------------------------- */

struct spaced {
	uint32_t lost[6];	/* in each of six looks, over and over again */
	unsigned int looks;
	enum verdict verdict;
	enum reason reason;
};

/* Look number @i: no two windows at loss, nor seconds, are alike; no rate is reached twice */
static void uneven_look(struct flow *f, unsigned int i, uint32_t lost)
{
	next(f, LOOK, 1000)->retrans = lost;
	f->i.delivered = 500 + (i / 5) * 97 % 400 + i % 5;
	f->i.acked = (uint64_t)f->i.delivered * MSS;
	if (lost)
		f->now.snd_ssthresh = 20 + i * 37 % 83;
	add(f);
}

static struct flow spaced(const struct spaced *s)
{
	struct flow f;
	unsigned int i;

	flow_begin_cut(&f, "htcp");
	for (i = 0; i < s->looks; i++)
		uneven_look(&f, i, s->lost[i % ARRAY_SIZE(s->lost)]);
	return f;
}

static void test_verdict(void **state)
{
	static const struct spaced rows[] = {
		/* by looks more or less as chance has it, by three of them always the same */
		{ { 33, 40, 47, 47, 33, 40 }, 60, VERDICT_OVERRUN, REASON_REGULAR },
		{ { 33, 40, 47, 47, 33, 40 }, 15, VERDICT_LOSS, REASON_RANDOM },	/* few */
		{ { 33, 33, 33, 47, 47, 47 }, 60, VERDICT_LOSS, REASON_RANDOM },
		/* a burst in each of three looks may be what others send by a clock */
		{ { 0, 0, 120, 0, 120, 0 }, 60, VERDICT_LOSS, REASON_OTHERS },
	};
	struct flow f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		f = spaced(&rows[i]);
		expect(&f, rows[i].verdict, rows[i].reason);
	}
}

/* What slow start loses at once is in no cell. */
static void test_slow_start(void **state)
{
	struct flow f;
	unsigned int i;

	(void)state;
	flow_begin_cut(&f, "htcp");
	f.now.snd_ssthresh = INFINITE_SSTHRESH;
	next(&f, LOOK, 4000)->retrans = 2000;
	f.now.snd_ssthresh = 700;
	add(&f);
	for (i = 0; i < 60; i++)
		uneven_look(&f, i, i % 3 == 0 ? 40 : i % 3 == 1 ? 47 : 33);
	expect(&f, VERDICT_OVERRUN, REASON_REGULAR);
}

/* Between ln 1000 and ln 10000, and what the rarest of four takes off, nothing is said. */
static void test_maybe(void **state)
{
	static const struct spaced s = { { 33, 40, 47, 47, 33, 40 }, 0, 0, 0 };
	unsigned int maybe = 0, regular = 0, n;
	enum verdict before = VERDICT_LOSS;

	(void)state;
	for (n = 12; n <= 60; n++) {
		struct spaced one = s;
		struct flow f;
		struct judgement j;
		struct spacing_say say;
		enum verdict expected;

		one.looks = n;
		f = spaced(&one);
		spacing_say(&f.loss.threes, &say);
		expected = say.even - log(4) >= 9.2 ? VERDICT_OVERRUN :
			   say.even - log(4) >= 6.9 ? VERDICT_UNKNOWN : VERDICT_LOSS;
		j = judged(&f);
		assert_string_equal(verdict_name(j.verdict), verdict_name(expected));
		maybe += expected == VERDICT_UNKNOWN;
		regular += expected == VERDICT_OVERRUN;
		assert_true(before != VERDICT_OVERRUN || expected == VERDICT_OVERRUN);
		before = expected;
	}
	assert_true(maybe > 0 && regular > 0);
}

/* @less and @more lost of a thousand, in three looks each, by turns */
static struct flow in_threes(uint32_t less, uint32_t more)
{
	struct flow f;
	unsigned int i;

	flow_begin_cut(&f, "htcp");
	for (i = 0; i < 600; i++)
		uneven_look(&f, i, i / 3 % 2 ? more : less);
	return f;
}

/* Of a queue that drops early, a share is even to half of chance's variance only if it is most. */
static void test_drops_early(void **state)
{
	struct flow f = in_threes(44, 56);	/* 3 * 36 / 47.5 by three looks, 0.76 by look */

	(void)state;
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
	f = in_threes(47, 53);		/* 0.57, 0.19 */
	expect(&f, VERDICT_OVERRUN, REASON_REGULAR);
	f = in_threes(45, 55);		/* 1.58, 0.53 */
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
}

/* --- the price of what is asked -------------------------------------------- */

/* 21 cells, 1 % of a thousand segments each, so bursty that chance has e^-@wanted for it */
static void make_bursty(struct spacing *s, double wanted)
{
	double low = 1, high = 10, middle = low;
	struct spacing_say say = { .bursty = 0 };

	while (high - low > EXACT) {
		middle = (low + high) / 2;
		*s = (struct spacing) {
			.cells = 21, .segs = 21000, .lost = 210, .inverse = 0.021F,
			.squares = 0.01 * (middle * 20 * 0.99 + 210),
		};
		spacing_say(s, &say);
		if (say.bursty < wanted)
			low = middle;
		else
			high = middle;
	}
	near(say.bursty, wanted, 0.01);
	assert_true(say.dispersion > 2.1);
}

#define NOT_CHANCE 9.2	/* as judge.c has it */

/* One that heeds no loss, whose seconds that lose have one rate */
static struct flow one_rate(double bursty)
{
	struct flow f;
	unsigned int i;

	flow_begin(&f, "bbr");
	for (i = 0; i < 100; i++) {
		next(&f, LOOK, 1000)->retrans = i % 5 ? 0 : 10;
		f.i.rwnd = LOOK / 10;	/* none of these looks is asked for a ceiling */
		add(&f);
	}
	make_bursty(&f.loss.losses.looks, bursty);
	return f;
}

/* Of four the rarest is less rare by ln 4. */
static void test_price_of_four(void **state)
{
	struct flow f = one_rate(NOT_CHANCE + log(4) + 0.1);

	(void)state;
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	f = one_rate(NOT_CHANCE + log(4) - 0.1);
	expect(&f, VERDICT_UNKNOWN, REASON_FEW_LOSSES);
}

static void put_at_ceiling(struct flow *f, double bursty)
{
	f->loss.ceiling.looks = 20;
	f->loss.ceiling.losing = 6;	/* of 20: a quarter, and not half */
	f->loss.ceiling.elsewhere = 14;
	make_bursty(&f->loss.ceiling.losses.looks, bursty);
}

/* The rarer of all losses and of those at the ceiling is less rare by ln 2 more. */
static void test_price_of_ceiling(void **state)
{
	struct flow f = one_rate(30);

	(void)state;
	f.loss.rates.n = 0;	/* nothing is alike but at the ceiling */
	put_at_ceiling(&f, NOT_CHANCE + log(4) + log(2) + 0.1);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	put_at_ceiling(&f, NOT_CHANCE + log(4) + log(2) - 0.1);
	expect(&f, VERDICT_UNKNOWN, REASON_FEW_LOSSES);
	/* and with that price it is not the rarer one */
	f = one_rate(NOT_CHANCE + log(4) + 0.1);
	put_at_ceiling(&f, NOT_CHANCE + log(4) + 0.4);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cell),
		cmocka_unit_test(test_cell_of_a_round_trip),
		cmocka_unit_test(test_halved),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_dispersion),
		cmocka_unit_test(test_even),
		cmocka_unit_test(test_two_cells),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_all_lost),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_slow_start),
		cmocka_unit_test(test_maybe),
		cmocka_unit_test(test_drops_early),
		cmocka_unit_test(test_price_of_four),
		cmocka_unit_test(test_price_of_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What chance does to a flow, and what the policy grants it: windows of Reno, CUBIC and H-TCP
 * under losses that are independent of one another, simulated round trip by round trip, and
 * drops of queues that drop early.  The figures are those of judge.c, losses.c and response.c.
 */
#include <linux/tcp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctcpd_flow.h"
#include "ctcpd_window.h"
#include "test.h"

#include "ctcpd/judge.h"
#include "ctcpd/losses.h"
#include "ctcpd/response.h"

#define LOSSES	20000	/* windows at loss of a path */
#define SETTLES	100	/* ... before them */
#define NOT_CHANCE 9.2		/* as judge.c has them */
#define MAYBE_CHANCE 6.9
#define SOME_LOOKS 4.6

struct path {
	double p, rtt;		/* loss of each segment; seconds */
};

static const struct path paths[] = {
	{ 0.00001, 0.002 }, { 0.0001, 0.002 }, { 0.001, 0.002 }, { 0.01, 0.002 },
	{ 0.00001, 0.02 }, { 0.0001, 0.02 }, { 0.001, 0.02 }, { 0.01, 0.02 },
	{ 0.00001, 0.2 }, { 0.0001, 0.2 }, { 0.001, 0.2 }, { 0.01, 0.2 },
};

/* Reno knows no time. */
static size_t paths_of(const struct algorithm *a)
{
	return a == &reno ? 4 : ARRAY_SIZE(paths);
}

static void between(const char *what, const struct path *path, double got, double least,
		    double most)
{
	if (got < least || got > most)
		fail_msg("%s, p = %g, rtt = %g s: expected %g to %g, got %g", what, path->p,
			 path->rtt, least, most, got);
}

static struct window settled(const struct algorithm *a, const struct path *path)
{
	struct window w;
	unsigned int i = 0;

	window_begin(&w, path->p, path->rtt);
	while (i < SETTLES)
		i += window_round(&w, a) > 0;
	return w;
}

/* --- windows at loss ------------------------------------------------------- */

static double met[LOSSES];	/* in the order in which they came */

static void meet(const struct algorithm *a, const struct path *path)
{
	struct window w = settled(a, path);
	unsigned int i = 0;

	while (i < LOSSES) {
		met[i] = floor(w.cwnd);
		i += window_round(&w, a) > 0;
	}
}

static double deviation(void)
{
	double sum = 0, squares = 0, mean;
	unsigned int i;

	for (i = 0; i < LOSSES; i++) {
		sum += met[i];
		squares += met[i] * met[i];
	}
	mean = sum / LOSSES;
	return sqrt(squares / LOSSES - mean * mean) / mean;
}

/* The mean of all round trips' windows */
static double mean_window(const struct algorithm *a, const struct path *path)
{
	struct window w = settled(a, path);
	double sum = 0, rounds = 0;
	unsigned int i;

	for (i = 0; i < LOSSES; rounds++) {
		sum += w.cwnd;
		i += window_round(&w, a) > 0;
	}
	return sum / rounds;
}

static void test_mean(void **state)
{
	static const struct path near = { 0.0001, 0.002 }, far = { 0.0001, 0.2 };

	(void)state;
	between("reno", &near, mean_window(&reno, &near) * 0.01, 1.29, 1.32);
	between("cubic", &far, mean_window(&cubic, &far) / pow(0.2 / 0.0001, 0.75), 1.17, 1.21);
}

/* --- how dense they are ---------------------------------------------------- */

/* What losses.c takes for it, told from three windows: 3 (density x width)^2 */
static double granted(const struct algorithm *a)
{
	struct losses l = { .is_reno = a == &reno };
	struct losses_say say;

	series_add(&l.levels, 1000);
	series_add(&l.levels, 1000);
	series_add(&l.levels, 1099 + (a != &reno));	/* of Reno's a segment more */
	losses_say(&l, &say);
	return exp((say.chance - log(3)) / 2) / 0.1;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The most that lie in a range of @d of their median, over @d */
static double density(double d)
{
	unsigned int first = 0, most = 0, i;
	double range;

	qsort(met, LOSSES, sizeof(*met), ascending);
	range = d * met[LOSSES / 2];
	for (i = 0; i < LOSSES; i++) {
		while (met[i] - met[first] > range)
			first++;
		most = i - first + 1 > most ? i - first + 1 : most;
	}
	return most / (double)LOSSES / d;
}

static void is(const char *what, const char *name, double got, double expected, double tolerance)
{
	if (fabs(got - expected) > tolerance)
		fail_msg("%s of %s: expected %g, got %g", what, name, expected, got);
}

struct figures {
	const struct algorithm *a;
	double least, most;	/* relative standard deviation of a path's windows at loss */
	double dense;		/* the most of a path's in a range of their median, over it */
};

/*
 * Deviations of all paths; densities of windows of a hundred segments and more, of which a
 * tenth is more than a step
 */
static void test_figures(void **state)
{
	static const struct figures rows[] = {
		{ &reno, 0.38, 0.40, 1.08 },
		{ &cubic, 0.29, 0.58, 1.46 },
		{ &htcp, 0.37, 0.71, 1.08 },
	};
	const struct figures *f;
	size_t i;

	(void)state;
	for (f = rows; f < rows + ARRAY_SIZE(rows); f++) {
		double least = HUGE_VAL, most = 0, dense = 0;

		for (i = 0; i < paths_of(f->a); i++) {
			meet(f->a, &paths[i]);
			least = fmin(least, deviation());
			most = fmax(most, deviation());
			if (paths[i].p <= 0.0001)
				dense = fmax(dense, density(0.1));
		}
		is("least deviation", f->a->name, least, f->least, 0.012);
		is("most deviation", f->a->name, most, f->most, 0.012);
		is("density", f->a->name, dense, f->dense, 0.05);
		assert_true(dense < granted(f->a));
	}
}

/* Pairs of a window and the next one where @least <= p W^2 < @most, and those within d W above */
struct pairs {
	unsigned int all, near;
};

static struct pairs pairs_of(double p, double least, double most, double d)
{
	struct pairs n = { 0 };
	unsigned int i;

	for (i = 0; i + 1 < LOSSES; i++) {
		double u = p * met[i] * met[i];

		if (u < least || u >= most)
			continue;
		n.all++;
		n.near += met[i + 1] >= met[i] && met[i + 1] < met[i] * (1 + d);
	}
	return n;
}

/* Reno's next loss is as near as d u exp(-3 u / 8), which is most at u = 8 / 3 */
static void test_reno_next(void **state)
{
	static const struct path path = { 0.00001, 0.002 };
	double u, d = 0.05;

	(void)state;
	meet(&reno, &path);
	for (u = 0.5; u < 8; u += 0.5) {
		struct pairs n = pairs_of(path.p, u - 0.25, u + 0.25, d);
		double expected = d * u * exp(-3 * u / 8) * n.all;

		if (fabs(n.near - expected) > 4 * sqrt(expected))
			fail_msg("u = %g: expected %g, got %u", u, expected, n.near);
	}
}

/*
 * CUBIC's next plateau is at the window that met the last loss: the next one is more likely near
 * to it than to any other window, so that its windows are not independent.
 */
static void test_cubic_next(void **state)
{
	static const struct path path = { 0.0001, 0.2 };
	unsigned int near = 0, i;

	(void)state;
	meet(&cubic, &path);
	for (i = 0; i + 1 < LOSSES; i++)
		near += fabs(met[i + 1] - met[i]) <= 0.005 * met[i];
	between("cubic", &path, near / (double)LOSSES / 0.01, 5.9, 7.0);
}

/* --- how often chance is taken for a cause --------------------------------- */

static void loss_add(struct losses *l, const struct sample *before, const struct sample *now,
		     double us, double segs, uint32_t lost)
{
	struct interval i = {
		.before = before, .now = now, .us = (uint64_t)us, .busy = (uint64_t)us,
		.segs = (uint32_t)segs, .retrans = lost,
	};

	losses_add(l, &i, false);
}

/* On to the next loss, and its round trip as a look of its own */
static void lose(struct losses *l, struct window *w, const struct algorithm *a)
{
	struct sample before = { .rtt_us = (uint32_t)lround(w->rtt * 1e6) }, now;
	double us = 0, segs = 0, sent;
	uint32_t lost;

	snprintf(before.conn.algorithm, sizeof(before.conn.algorithm), "%s", a->name);
	before.snd_ssthresh = (uint32_t)w->ssthresh;
	for (;; us += before.rtt_us, segs += sent) {
		before.snd_cwnd = (uint32_t)w->cwnd;
		sent = floor(w->cwnd);
		lost = window_round(w, a);
		if (lost)
			break;
	}
	if (us > 0)
		loss_add(l, &before, &before, us, segs, 0);
	now = before;
	now.snd_cwnd = (uint32_t)w->cwnd;
	now.snd_ssthresh = (uint32_t)w->ssthresh;
	loss_add(l, &before, &now, now.rtt_us, sent, lost);
}

struct asked {
	const struct algorithm *a;
	struct path path;
	double maybe, not_chance;	/* times as often as they should be, at most */
};

/* Answers to a number of windows at loss */
struct answers {
	unsigned int asked, maybe, not_chance;
};

#define ASKED	6	/* windows at loss; of more it is less likely */
#define ASKS	4000

/* Of one to ASKED windows, and so on ASKS times */
static void ask(struct answers answers[ASKED + 1], const struct algorithm *a,
		const struct path *path)
{
	struct window w = settled(a, path);
	unsigned int i;

	for (i = 0; i < ASKS; i++) {
		struct losses l = { .was_cut = 0 };
		struct losses_say say;
		uint16_t n = 0;

		for (; n < ASKED; n = l.levels.n) {
			lose(&l, &w, a);
			if (l.levels.n == n)	/* of the same burst */
				continue;
			losses_say(&l, &say);
			answers[n + 1].asked++;
			answers[n + 1].maybe += say.chance <= -MAYBE_CHANCE;
			answers[n + 1].not_chance += say.chance <= -NOT_CHANCE;
		}
	}
}

/* @times as often as e^-@rare has it, and three deviations */
static void seldom(const struct asked *r, unsigned int n, unsigned int got, double rare,
		   double times)
{
	double most = ASKS * exp(-rare) * times;

	if (got > most + 3 * sqrt(most))
		fail_msg("%s, p = %g, rtt = %g s, %u windows, e^-%g: expected %g at most, got %u",
			 r->a->name, r->path.p, r->path.rtt, n, rare, most + 3 * sqrt(most),
			 got);
}

/*
 * CUBIC's windows of long round trips are not independent (test_cubic_next()): of three to seven
 * of them chance is excluded too often, by so much.
 */
static void test_answers(void **state)
{
	static const struct asked rows[] = {
		{ &reno, { 0.0001, 0.002 }, 1, 1 },
		{ &reno, { 0.01, 0.002 }, 1, 1 },
		{ &cubic, { 0.0001, 0.002 }, 1, 1 },
		{ &cubic, { 0.01, 0.002 }, 1, 1 },
		{ &cubic, { 0.00001, 0.2 }, 8, 13 },
		{ &cubic, { 0.0001, 0.2 }, 8, 13 },
		{ &htcp, { 0.0001, 0.02 }, 1, 1 },
		{ &htcp, { 0.01, 0.02 }, 1, 1 },
		{ &htcp, { 0.00001, 0.2 }, 1, 1 },
	};
	const struct asked *r;
	unsigned int n;

	(void)state;
	for (r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		struct answers answers[ASKED + 1] = { { 0 } };

		ask(answers, r->a, &r->path);
		for (n = 1; n <= ASKED; n++) {
			assert_int_equal(answers[n].asked, ASKS);
			seldom(r, n, answers[n].maybe, MAYBE_CHANCE, r->maybe);
			seldom(r, n, answers[n].not_chance, NOT_CHANCE, r->not_chance);
		}
	}
}

/* --- looks ----------------------------------------------------------------- */

typedef void add_fn(void *to, const struct interval *i);

/* @add is told of a look of 200 ms, or of a round trip */
static void look_at(struct window *w, const struct algorithm *a, add_fn *add, void *to)
{
	struct sample before = { .rtt_us = (uint32_t)lround(w->rtt * 1e6) }, now;
	struct interval i = { .before = &before, .now = &now };

	snprintf(before.conn.algorithm, sizeof(before.conn.algorithm), "%s", a->name);
	before.snd_cwnd = (uint32_t)w->cwnd;
	before.snd_ssthresh = (uint32_t)w->ssthresh;
	now = before;
	for (; i.us < LOOK; i.us += now.rtt_us) {
		i.segs += (uint32_t)w->cwnd;
		i.retrans += window_round(w, a);
	}
	now.snd_cwnd = (uint32_t)w->cwnd;
	now.snd_ssthresh = (uint32_t)w->ssthresh;
	add(to, &i);
}

/* --- losses at the largest window ------------------------------------------ */

static void add_high(void *high, const struct interval *i)
{
	high_add(high, i);
}

/* How many of @n flows of @losing looks that lose lose at their largest window by e^-4.6 */
static unsigned int lose_high(const struct algorithm *a, const struct path *path, unsigned int n,
			      unsigned int losing)
{
	struct window w = settled(a, path);
	unsigned int high = 0;

	for (; n; n--) {
		struct high h = { .largest = 0 };

		while (h.hits.losing < losing)
			look_at(&w, a, add_high, &h);
		high += high_against_chance(&h) >= SOME_LOOKS;
	}
	return high;
}

/* No more often than that, however much they have lost */
static void test_high(void **state)
{
	static const struct algorithm *const algorithms[] = { &reno, &cubic, &htcp };
	static const unsigned int losing[] = { 10, 30, 100 };
	size_t i, k, l;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(algorithms); k++) {
		for (i = 0; i < paths_of(algorithms[k]); i++) {
			for (l = 0; l < ARRAY_SIZE(losing); l++)
				between("lose at their largest window", &paths[i],
					lose_high(algorithms[k], &paths[i], 300, losing[l]), 0, 3);
		}
	}
}

/* --- more losses than the windows allow ------------------------------------ */

static void add_response(void *response, const struct interval *i)
{
	response_add(response, i);
}

static struct response respond(struct window *w, const struct algorithm *a, unsigned int losses)
{
	struct response r = { .settled = true };

	while (r.lost < losses)
		look_at(w, a, add_response, &r);
	return r;
}

/* However long a flow lasts, chance hits no more than the windows allow. */
static void test_response(void **state)
{
	static const struct {
		const struct algorithm *a;
		double most;	/* losses for each that is allowed, of any path */
	} rows[] = { { &reno, 0.98 }, { &cubic, 1.13 } };
	size_t i, k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		const struct algorithm *a = rows[k].a;
		double most = 0;

		for (i = 0; i < paths_of(a); i++) {
			struct window w = settled(a, &paths[i]);
			struct response r = respond(&w, a, 5000);

			most = fmax(most, r.lost / r.allowed);
			assert_true(response_against_chance(&r) == 0);
		}
		is("losses of those allowed", a->name, most, rows[k].most, 0.03);
	}
}

/* Nor do few losses say so, where the windows allow least. */
static void test_few_losses(void **state)
{
	static const struct path far = { 0.001, 0.2 };
	struct window w = settled(&cubic, &far);
	unsigned int maybe = 0, i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		struct response r = respond(&w, &cubic, 14);

		maybe += response_against_chance(&r) >= MAYBE_CHANCE;
	}
	assert_true(maybe <= 2 + 4);
}

/* --- queues that drop early ------------------------------------------------ */

struct queue {
	bool (*drops)(struct queue *q);
	double p;		/* what the queue asks for */
	uint64_t seed;
	unsigned int count;	/* packets since the last drop */
};

/* Floyd, Jacobson 1993: p_a = p_b / (1 - count p_b); gentle or not, p_b is what it is */
static bool red_drops(struct queue *q)
{
	double left = 1 - ++q->count * q->p;

	if (left > q->p && uniform(&q->seed) > q->p / left)
		return false;
	q->count = 0;
	return true;
}

/* RFC 8033, de-randomization: from 0.85 packets that were to be dropped on, and at 8.5 at last */
static bool pie_drops(struct queue *q)
{
	double due = ++q->count * q->p;

	if (due < 0.85 || (due < 8.5 && uniform(&q->seed) > q->p))
		return false;
	q->count = 0;
	return true;
}

/* Of @segs of a flow that has @share of the packets of the queue */
static uint32_t dropped_of(struct queue *q, uint32_t segs, double share)
{
	uint32_t dropped = 0;

	while (segs) {
		bool drops = q->drops(q), own = share >= 1 || uniform(&q->seed) <= share;

		segs -= own;
		dropped += own && drops;
	}
	return dropped;
}

static void put_cells(struct spacing *s, struct queue *q, unsigned int cells, uint32_t segs,
		      double share)
{
	struct sample now = { .rtt_us = RTT };
	struct interval i = { .now = &now, .us = LOOK, .segs = segs };

	*s = (struct spacing) { .squares = 0 };
	for (; cells; cells--)
		spacing_add(s, &i, dropped_of(q, segs, share), CELL_LOOK_US);
}

/* The variance of all drops, and of a half of them, over that of chance */
static void test_drops(void **state)
{
	static const struct {
		const char *name;
		bool (*drops)(struct queue *q);
		double all, half;
	} rows[] = { { "RED", red_drops, 0.33, 0.67 }, { "PIE", pie_drops, 0.29, 0.65 } };
	struct spacing_say say;
	struct spacing s;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct queue q = { .drops = rows[i].drops, .p = 0.02, .seed = 1 };

		put_cells(&s, &q, 3000, 2000, 1);
		spacing_say(&s, &say);
		is("all drops", rows[i].name, say.dispersion, rows[i].all, 0.03);
		put_cells(&s, &q, 3000, 2000, 0.5);
		spacing_say(&s, &say);
		is("half of the drops", rows[i].name, say.dispersion, rows[i].half, 0.05);
	}
}

/* Hundredths of -ln of how likely chance is as even, as a verdict has it */
static uint16_t evenness(struct queue *q, unsigned int cells, double share)
{
	struct flow f;

	flow_begin(&f, "cubic");
	put_cells(&f.loss.losses.looks, q, cells, 200, share);
	return judged(&f).even;
}

/*
 * A half of the drops of six seconds comes out as even, by chance, in 1.3 of a thousand flows, and
 * maybe in 5.5, more often than that of shorter and of longer times: and three deviations.
 */
static void test_half(void **state)
{
	static bool (* const kinds[])(struct queue *q) = { red_drops, pie_drops };
	unsigned int maybe, not_chance, i, k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct queue q = { .drops = kinds[k], .p = 0.04, .seed = 1 };

		for (maybe = 0, not_chance = 0, i = 0; i < 1000; i++) {
			uint16_t even = evenness(&q, 30, 0.5);

			maybe += even >= 100 * MAYBE_CHANCE;
			not_chance += even >= 100 * NOT_CHANCE;
		}
		if (maybe > 5.5 + 7 || not_chance > 1.3 + 3.4)
			fail_msg("expected 12 and 4 of 1000 at most, got %u and %u", maybe,
				 not_chance);
	}
}

/* In the long run it never is; all that RED drops is, and is that flow's own to overrun. */
static void test_long_run(void **state)
{
	struct queue q = { .drops = red_drops, .p = 0.02, .seed = 1 };

	(void)state;
	assert_int_equal(evenness(&q, 3000, 0.5), 0);
	assert_true(evenness(&q, 3000, 1) > 100 * NOT_CHANCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_reno_next),
		cmocka_unit_test(test_cubic_next),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_high),
		cmocka_unit_test(test_response),
		cmocka_unit_test(test_few_losses),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_long_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

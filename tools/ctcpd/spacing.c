// SPDX-License-Identifier: GPL-2.0
/*
 * How a flow's losses are spaced: see spacing.h, and judge.c for the model.
 */
#include <math.h>

#include "spacing.h"

#define CELL_MOST_US	3600000000U	/* more does not fit */
/* In the tail of a burst, of a few segments, a loss weighs by 1 / n. */
#define CELL_SEGS	32U
#define CELLS_MAX	3000.0	/* ten minutes of looks; then each sum is halved */

#define DISPERSION_LEAST 0.05	/* below it the gamma distribution says too much of few cells */
#define ARRIVES_LEAST	0.05	/* of the segments, so that what is lost has a variance */

static void halve(struct spacing *s)
{
	s->squares /= 2;
	s->inverse /= 2;
	s->segs /= 2;
	s->lost /= 2;
	s->cells /= 2;
}

static void close_cell(struct spacing *s)
{
	double lost = s->cell_lost, segs = s->cell_segs;

	s->squares += lost * lost / segs;
	s->inverse += (float)(1 / segs);
	s->segs += segs;
	s->lost += (float)lost;
	s->cells++;
	s->cell_us = 0;
	s->cell_segs = 0;
	s->cell_lost = 0;
	if (s->cells > CELLS_MAX)
		halve(s);
}

void spacing_add(struct spacing *s, const struct interval *i, uint32_t lost, uint32_t least_us)
{
	s->cell_us = (uint32_t)fmin(s->cell_us + (double)i->us, CELL_MOST_US);
	s->cell_segs += i->segs;
	s->cell_lost += lost;
	if (s->cell_us >= least_us && s->cell_us >= i->now->rtt_us && s->cell_segs >= CELL_SEGS)
		close_cell(s);
}

/*
 * That sum over its mean is taken to have a gamma distribution whose mean is 1, and its variance
 * 1 / @shape.  With x = d shape the lower end has x^shape e^-x / gamma(shape + 1) times the sum
 * of x^k / ((shape + 1) ... (shape + k)), which is less than that of (x / (shape + 1))^k; the
 * upper end has x^(shape - 1) e^-x / gamma(shape) times no more than the sum of
 * ((shape - 1) / x)^k.
 */
double spacing_even(double dispersion, double shape)
{
	double x = fmax(dispersion, DISPERSION_LEAST) * shape;

	return fmax(0, x - shape * log(x) + lgamma(shape + 1) + log(1 - x / (shape + 1)));
}

static double bursty_by_chance(double dispersion, double shape)
{
	double x = dispersion * shape, ratio = fmax(0, (shape - 1) / x);

	return fmax(0, x - (shape - 1) * log(x) + lgamma(shape) + log(1 - ratio));
}

/*
 * Chance gives a cell of n segments n p losses, with a variance of n p (1 - p): the sum of
 * (lost - n p)² / (n p (1 - p)) over k cells is k - 1.  Its variance is that of a known p,
 * 2 (k - 1) + sum of 1/(n p), which is more than that of the p that the same losses tell: a
 * few losses in many cells say less than they could.
 */
void spacing_say(const struct spacing *s, struct spacing_say *say)
{
	double p, chi, free, shape;

	*say = (struct spacing_say) { .dispersion = 1 };
	if (s->cells < 2 || s->lost <= 0)
		return;
	p = s->lost / s->segs;
	chi = (s->squares / p - s->lost) / fmax(ARRIVES_LEAST, 1 - p);
	free = s->cells - 1;
	shape = free * free / (2 * free + s->inverse / p);
	say->dispersion = fmax(0, chi / free);
	if (say->dispersion > 1)
		say->bursty = bursty_by_chance(say->dispersion, shape);
	else
		say->even = spacing_even(say->dispersion, shape);
}

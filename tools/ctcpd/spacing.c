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
 * That sum over its mean has a gamma distribution, nearly, whose mean is 1, and its variance
 * 1 / @shape.  With x = d shape its lower end has x^shape e^-x / gamma(shape + 1) times the sum
 * of x^k / ((shape + 1) ... (shape + k)), which is less than that of (x / (shape + 1))^k.
 */
static double even_by_chance(double dispersion, double shape)
{
	double x = fmax(dispersion, DISPERSION_LEAST) * shape;
	double least = x - shape * log(x) + lgamma(shape + 1) + log(1 - x / (shape + 1));

	return fmax(0, least);
}

/*
 * Chance gives a cell of n segments n p losses, with a variance of n p (1 - p): the sum of
 * (lost - n p)² / (n p (1 - p)) over k cells is k - 1, give or take
 * sqrt(2 (k - 1) + sum of 1/(n p)).
 */
void spacing_say(const struct spacing *s, struct spacing_say *say)
{
	double p, chi, free, sd;

	*say = (struct spacing_say) { .dispersion = 1 };
	if (s->cells < 2 || s->lost <= 0)
		return;
	p = s->lost / s->segs;
	chi = (s->squares / p - s->lost) / fmax(ARRIVES_LEAST, 1 - p);
	free = s->cells - 1;
	sd = sqrt(2 * free + s->inverse / p);
	say->dispersion = chi / free;
	say->z = (chi - free) / sd;
	if (say->z > 0)
		say->bursty = say->z * say->z / 2;
	else
		say->even = even_by_chance(say->dispersion, free / sd * (free / sd));
}

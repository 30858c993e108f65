// SPDX-License-Identifier: GPL-2.0
/*
 * How even a flow's rate is: see delivered.h, and judge.c for the model.
 */
#include <math.h>

#include "delivered.h"
#include "spacing.h"

#define CELL_MOST_US	3600000000U	/* more does not fit */
#define CELL_SEGS	64U	/* delivered: of fewer an ACK of two is as much as chance */
#define US_MAX		600000000.0F	/* ten minutes; then each sum is halved */
#define LOST_LEAST	64.0F	/* segments, from which p is known to an eighth */
#define VARIANCE_LEAST	4.0F	/* segments^2 of a cell: of less, a loss or two are most of it */
#define WEIGHT		0.0625F	/* of a cell in the rate */
/*
 * Standard deviations: by chance one cell of a million is as far from the rate; a policer's bucket
 * that was full is, and BBR's window of four segments.  What varies by much more than chance is
 * spread over all of that range, to a variance of FAR^2 / 3.
 */
#define FAR		5.0F
#define FAR_MOST	3U	/* in a row: then that is the rate */

static void halve(struct delivered *d)
{
	d->segs /= 2;
	d->lost /= 2;
	d->us /= 2;
	d->queued /= 2;
	d->cells /= 2;
	d->squares /= 2;
	d->variance /= 2;
	d->squares_vary /= 2;
}

static void begin_cell(struct delivered *d)
{
	d->cell_us = 0;
	d->cell_segs = 0;
	d->cell_lost = 0;
}

static void add_sums(struct delivered *d, const struct sample *s)
{
	uint32_t queue_us = s->rtt_us > s->conn.min_rtt ? s->rtt_us - s->conn.min_rtt : 0;

	d->segs += (float)d->cell_segs;
	d->lost = fmaxf(0, d->lost + (float)d->cell_lost);
	d->us += (float)d->cell_us;
	d->queued += (float)queue_us * (float)d->cell_us;
}

static void begin_rate(struct delivered *d)
{
	d->rate = (float)d->cell_segs / (float)d->cell_us;
	d->far = 0;
}

/*
 * Chance loses n p of n segments, with a variance of n p (1 - p).  p is that of this cell, of which
 * nothing but x, what it lost, is known: x (1 - p) has that mean, whatever p was in other cells.
 * Those that lost much more may be far from the rate, and not counted.  The square of the
 * deviation has the variance 2 (n p)^2 + n p (spacing.c): 2 x^2 + x has a little more on average.
 */
static void count_cell(struct delivered *d, float off, float p)
{
	float lost = (float)d->cell_lost, arrives = 1 - p;

	d->squares += off * off;
	d->variance += lost * arrives;
	d->squares_vary += (2 * lost * lost + lost) * arrives * arrives;
	d->cells++;
}

/* The rate is that of cells before, and not of this one, which would be nearer to itself. */
static void hold_against_rate(struct delivered *d)
{
	float us = (float)d->cell_us, p = d->lost / (d->segs + d->lost);
	float off = (float)d->cell_segs - d->rate * us, variance = d->rate * us * p;

	if (off * off > FAR * FAR * fmaxf(variance, VARIANCE_LEAST)) {
		if (++d->far >= FAR_MOST)
			begin_rate(d);
		return;
	}
	d->far = 0;
	d->rate += WEIGHT * off / us;
	if (d->lost >= LOST_LEAST && variance >= VARIANCE_LEAST)
		count_cell(d, off, p);
}

static void close_cell(struct delivered *d, const struct sample *s)
{
	add_sums(d, s);
	if (d->rate > 0)
		hold_against_rate(d);
	else
		begin_rate(d);
	begin_cell(d);
	if (d->us > US_MAX)
		halve(d);
}

/* What something else holds is even by that. */
void delivered_add(struct delivered *d, const struct interval *i, bool held)
{
	if (held) {
		begin_cell(d);
		return;
	}
	d->cell_us = (uint32_t)fmin(d->cell_us + (double)i->us, CELL_MOST_US);
	d->cell_segs += i->delivered;
	/* unsigned, as a trace may tell of more than fits */
	d->cell_lost = (int32_t)((uint32_t)d->cell_lost + i->retrans - i->dsack_dups);
	if (d->cell_us >= DELIVERED_CELL_US && d->cell_us >= i->now->rtt_us &&
	    d->cell_segs >= CELL_SEGS)
		close_cell(d, i->now);
}

/*
 * What is delivered varies by what chance loses at least, however evenly it is sent, unless a
 * queue behind the loss evens it, of as many segments as it varies by.
 */
void delivered_say(const struct delivered *d, struct delivered_say *say)
{
	double variance = d->variance;

	*say = (struct delivered_say) { .dispersion = 1, .queue = HUGE_VAL };
	if (d->us > 0)
		say->queue = (double)d->queued / d->us * d->segs / d->us;
	/* late D-SACKs may leave less than nothing lost in the cells that count */
	if (d->cells < 2 || variance <= 0)
		return;
	say->dispersion = d->squares / variance;
	if (say->dispersion < 1 && say->queue * say->queue < variance / d->cells)
		say->even = spacing_even(say->dispersion, variance * variance / d->squares_vary);
}

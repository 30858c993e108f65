// SPDX-License-Identifier: GPL-2.0
/*
 * Losses in some of a flow's looks: see hits.h.
 */
#include <math.h>

#include "hits.h"
#include "losses.h"

#define LOSING_LEAST	3U	/* looks: fewer are no habit */

void hits_add(struct hits *h, const struct interval *i, bool at)
{
	if (!losses_is_look(i) || !i->segs)
		return;
	h->segs += i->segs;
	h->segs_at += at ? i->segs : 0;
	h->looks++;
	h->looks_at += at;
	if (!losses_begin(i))
		return;
	h->losing++;
	h->losing_at += at;
}

void hits_age(struct hits *h)
{
	h->segs /= 2;
	h->segs_at /= 2;
	h->looks /= 2;
	h->looks_at /= 2;
	h->losing /= 2;
	h->losing_at /= 2;
}

/* a ln(a / b), which is 0 where a is */
static double surprise(double a, double b)
{
	return a > 0 ? a * log(a / b) : 0;
}

/* Chernoff's bound of a binomial's upper end: n times the distance of Kullback and Leibler */
double hits_against_chance(const struct hits *h)
{
	double share, losing;

	if (h->losing_at < LOSING_LEAST || !h->looks_at)
		return 0;
	share = fmax((double)h->segs_at / h->segs, (double)h->looks_at / h->looks);
	losing = (double)h->losing_at / h->losing;
	if (losing <= share)
		return 0;
	return h->losing * (surprise(losing, share) + surprise(1 - losing, 1 - share));
}

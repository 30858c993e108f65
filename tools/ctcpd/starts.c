// SPDX-License-Identifier: GPL-2.0
/*
 * Losses as a flow begins to send again: see starts.h.
 */
#include <math.h>

#include "losses.h"
#include "starts.h"

#define LOSING_LEAST	5U	/* looks: fewer are no habit */

static bool begins(const struct interval *i)
{
	return i->busy < i->us / 10 * 9 && i->now->unacked;
}

void starts_add(struct starts *s, const struct interval *i)
{
	bool began = s->began, at = began || begins(i);

	s->began = i->us <= LOOK_MOST_US && begins(i);
	if (losses_in_startup(i) || i->us > LOOK_MOST_US || !i->segs)
		return;
	s->segs += i->segs;
	s->segs_at += at ? i->segs : 0;
	if (!losses_begin(i))
		return;
	s->losing++;
	s->losing_at += at;
}

void starts_age(struct starts *s)
{
	s->segs /= 2;
	s->segs_at /= 2;
	s->losing /= 2;
	s->losing_at /= 2;
}

/* a ln(a / b), which is 0 where a is */
static double surprise(double a, double b)
{
	return a > 0 ? a * log(a / b) : 0;
}

/* Chernoff's bound of a binomial's upper end: n times the distance of Kullback and Leibler */
double starts_against_chance(const struct starts *s)
{
	double share, losing;

	if (s->losing_at < LOSING_LEAST || !s->segs_at)
		return 0;
	share = (double)s->segs_at / s->segs;
	losing = (double)s->losing_at / s->losing;
	if (losing <= share)
		return 0;
	return s->losing * (surprise(losing, share) + surprise(1 - losing, 1 - share));
}

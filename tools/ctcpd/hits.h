/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow loses in some of its looks more often than in the others.
 *
 * Chance hits a segment as likely as another.  Where it hits few looks, each is hit as often as
 * it has segments, and few of them may have most; where it hits nearly all, each as often as
 * another.  What lies between is less than the larger of the two.  The model is in judge.c.
 */
#ifndef CTCPD_HITS_H
#define CTCPD_HITS_H

#include <stdbool.h>

#include "interval.h"

/* Each of all looks, and, as _at, of those in question */
struct hits {
	uint32_t segs, segs_at;
	uint16_t looks, looks_at;	/* in which it sent any */
	uint16_t losing, losing_at;	/* looks that lost something */
};

void hits_add(struct hits *h, const struct interval *i, bool at);
void hits_age(struct hits *h);	/* what was long ago counts for half */
/* -ln of how likely chance puts so many of its losses there, at most; 0: too few to say */
double hits_against_chance(const struct hits *h);

#endif

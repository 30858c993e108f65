/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow loses where its window is large.
 *
 * A look is high if the window that it begins with is HIGH of the mean of those that met losses of
 * late, or larger: what tells a look from another was known before it lost anything.  The model
 * is in judge.c.
 */
#ifndef CTCPD_HIGH_H
#define CTCPD_HIGH_H

#include "hits.h"

struct high {
	struct hits hits;
	float window;	/* segments, of late: with which looks began that lost; 0 = none yet */
};

void high_add(struct high *h, const struct interval *i);
/*
 * -ln of how likely chance puts so many of its losses there, at most; 0: some are elsewhere, or too
 * few to say
 */
double high_against_chance(const struct high *h);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow loses where its window is largest.
 *
 * A hop that is overrun lets no window past its room: what gets so far loses.  Where its buffer
 * has few frames it loses at smaller windows, too, by a burst.  Chance lets a window grow larger
 * now and then, and the largest one then meets no more of it than another that sends as much.
 *
 * A look is high if the window that it begins with is HIGH of the largest that met a loss, or
 * larger: what tells a look from another was known before it lost anything.  A look that begins in
 * a recovery is not counted: its window is what the recovery has left, often the least, and what it
 * loses is taken to be of that recovery.  The model is in judge.c.
 */
#ifndef CTCPD_HIGH_H
#define CTCPD_HIGH_H

#include "hits.h"

struct high {
	struct hits hits;
	float largest;	/* segments: with which a look began that lost, of late; 0 = none yet */
};

void high_add(struct high *h, const struct interval *i);
void high_age(struct high *h);
/* -ln of how likely chance puts so many of its losses there, at most; 0: too few to say */
double high_against_chance(const struct high *h);

#endif

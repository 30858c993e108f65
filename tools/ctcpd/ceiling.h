/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ceiling of a flow's rate, and what it loses there.  The model is in judge.c.
 *
 * Only looks tell: intervals of LOOK_MOST_US at most, all of which the flow had data in, and
 * nothing but the network held it.  The ceiling is the rate that no more than one of them was
 * above.  What is lost in a look at the ceiling was lost there; in the next one, too, if a
 * retransmission, which follows its loss by a round trip, may come so late, or if few round trips
 * lie between, and the rate falls no further than by the cut.  When the ceiling has risen above
 * what it was as counting began, all that was counted is forgotten.
 */
#ifndef CTCPD_CEILING_H
#define CTCPD_CEILING_H

#include "losses.h"

struct ceiling {
	float highest, rate;		/* bytes/s: of all looks, and of all but that one */
	float counted_from;		/* what @rate was when counting began */
	uint16_t looks, queued;		/* at it; with data in a queue of this host */
	uint16_t losing, elsewhere;	/* looks that lost something: there; at another rate */
	bool was_there;			/* in the interval before */
	bool reached;			/* since ceiling_age() */
	struct losses losses;		/* those at it */
};

/* @held: by something else than the network; @queued: its data is in a queue of this host */
void ceiling_add(struct ceiling *c, const struct interval *i, bool held, bool queued);
/* Looks of long ago count for half, and a ceiling that is not reached any more for nothing */
void ceiling_age(struct ceiling *c);
/* Our own device is what is full there; false where no ceiling is known */
bool ceiling_is_ours(const struct ceiling *c);
/* It is, and next to nothing is lost there, but at lower rates */
bool ceiling_is_harmless(const struct ceiling *c);
/* It is not, and @permille of the looks that lose do so there */
bool ceiling_is_of_path(const struct ceiling *c, unsigned int permille);

#endif

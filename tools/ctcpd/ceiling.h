/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ceiling of a flow's rate, and what it loses there.  The model is in judge.c.
 *
 * Only looks tell: intervals of LOOK_MOST_US at most, all of which the flow had data in, and
 * nothing but the network held it.  The ceiling is the rate that no more than one of them was
 * above, and what is lost in a look at the ceiling or in the next one was lost there, as a
 * retransmission follows its loss by a round trip.  When it has risen above what it was as
 * counting began, all that was counted is forgotten.
 */
#ifndef CTCPD_CEILING_H
#define CTCPD_CEILING_H

#include "losses.h"

struct ceiling {
	float highest, rate;		/* bytes/s: of all looks, and of all but that one */
	float counted_from;		/* what @rate was when counting began */
	uint16_t looks, queued;		/* at it; with data in a queue of this host */
	uint16_t losing, elsewhere;	/* looks that lost something: there; at other rates */
	bool was_there;			/* in the interval before */
	bool reached;			/* since ceiling_age() */
	struct losses losses;		/* those at it */
};

/* @held: by something else than the network; @queued: its data is in a queue of this host */
void ceiling_add(struct ceiling *c, const struct interval *i, bool held, bool queued);
/* What was long ago counts for half, and a ceiling that is not reached any more for nothing */
void ceiling_age(struct ceiling *c);
/* What is full at the ceiling is not our own device, and @permille of what loses does so there */
bool ceiling_is_theirs(const struct ceiling *c, unsigned int permille);

#endif

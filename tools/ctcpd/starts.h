/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow loses as it begins to send again, after a pause of its application.
 *
 * A start is the look in which it begins, part of which it was idle, and the next one, as a
 * retransmission follows its loss by a round trip.  Chance hits a segment as likely as another,
 * and a start may have most of them: so starts count by their segments, not by their time.  The
 * model is in judge.c.
 */
#ifndef CTCPD_STARTS_H
#define CTCPD_STARTS_H

#include "interval.h"

struct starts {
	uint32_t segs, segs_at;		/* that it sent; of these, at starts */
	uint16_t losing, losing_at;	/* that lost something; of these, starts */
	bool began;			/* in the interval before */
};

void starts_add(struct starts *s, const struct interval *i);
void starts_age(struct starts *s);	/* what was long ago counts for half */
/* -ln of how likely chance puts so many of its losses there, at most; 0: too few to say */
double starts_against_chance(const struct starts *s);

#endif

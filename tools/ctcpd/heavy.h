/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow loses heavily all the time, with windows that chance would not leave it.
 *
 * Losses of p of the segments, each independent of the others, leave Reno a mean window of about
 * sqrt(1.5 / p), and less where that is so small that the flow needs its timeouts (Padhye, Firoiu,
 * Towsley, Kurose, 1998, CCR 28(4)).  A hop with a buffer or a bucket of a few frames, over a short
 * round trip, cuts a window of any size to one or two segments, many times in a look; between the
 * cuts it grows, and the mean is larger than chance leaves it.  response.h asks of each look, and
 * allows windows of one segment to lose all that they send: it cannot tell these from chance.  The
 * model is in judge.c.
 */
#ifndef CTCPD_HEAVY_H
#define CTCPD_HEAVY_H

#include "interval.h"

struct heavy {
	float segs, lost;
	float us, window_us;	/* time, and cwnd x us */
	uint16_t looks, losing;
	float square;		/* p W^2 that independent losses leave at most; 0 = not known */
};

void heavy_add(struct heavy *h, const struct interval *i);
void heavy_age(struct heavy *h);	/* what was long ago counts for half */
/* -ln of how likely chance hits so many, at most; 0: not so many, or not in nearly each look */
double heavy_against_chance(const struct heavy *h);

#endif

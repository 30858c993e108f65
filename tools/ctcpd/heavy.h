/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow loses heavily all the time, with windows that chance would not leave it.
 *
 * Chance that hits p of the segments leaves Reno windows of sqrt(1.5 / p) on average, or less where
 * they are so small that it needs its timeouts (Padhye, Firoiu, Towsley, Kurose, 1998, CCR 28(4)).
 * A hop with a buffer or a bucket of a few frames, over a short round trip, cuts a window of any
 * size to one or two many times in a look, and what passes it leaves larger ones than that on
 * average.  response.h, which asks of each look, takes it that windows of one and two segments
 * lose whatever there is.  The model is in judge.c.
 */
#ifndef CTCPD_HEAVY_H
#define CTCPD_HEAVY_H

#include "interval.h"

struct heavy {
	float segs, lost;
	float us, window_us;	/* time, and cwnd x us */
	uint16_t looks, losing;
	float square;		/* p times the square of the mean window, at most; 0 = not known */
};

void heavy_add(struct heavy *h, const struct interval *i);
void heavy_age(struct heavy *h);	/* what was long ago counts for half */
/* -ln of how likely chance hits so many, at most; 0: not so many, or not in nearly each look */
double heavy_against_chance(const struct heavy *h);

#endif

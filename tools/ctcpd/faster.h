/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow loses where it paces far above what is delivered, now and of late.
 *
 * A look is faster if its pacing rate, as it begins or ends, is FASTER times the mean rate of
 * the last seconds, of the look and of the one before.  The model is in judge.c.
 */
#ifndef CTCPD_FASTER_H
#define CTCPD_FASTER_H

#include "hits.h"

struct faster {
	struct hits hits;
	float mean, before;	/* bytes/s, delivered: lately, and in the interval before */
};

void faster_add(struct faster *f, const struct interval *i);

#endif

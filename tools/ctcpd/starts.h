/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow loses as it begins to send again, after a pause of its application.
 *
 * A start is the look in which it begins, part of which it was idle, and what follows for two
 * round trips, the next look at least: a retransmission follows its loss by a round trip, and by a
 * queue.  The model is in judge.c.
 */
#ifndef CTCPD_STARTS_H
#define CTCPD_STARTS_H

#include "hits.h"

struct starts {
	struct hits hits;
	uint32_t left_us;	/* of the last one */
};

/* Whether @i is of a start */
bool starts_add(struct starts *s, const struct interval *i);

#endif

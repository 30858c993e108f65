/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a flow's windows are too large for its losses, were these by chance: its congestion
 * control's response to loss.  The model is in judge.c.
 */
#ifndef CTCPD_RESPONSE_H
#define CTCPD_RESPONSE_H

#include <stdbool.h>

#include "interval.h"

struct response {
	float lost;		/* segments, since @settled */
	float allowed;		/* ... that chance may hit with windows such as it had */
	bool settled;		/* a cut has left no less than the one before */
};

void response_add(struct response *r, const struct interval *i);
void response_age(struct response *r);	/* what was long ago counts for half */
/* -ln of how likely chance hits so many, at most; 0: not too many, or no response is known */
double response_against_chance(const struct response *r);

#endif

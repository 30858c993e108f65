// SPDX-License-Identifier: GPL-2.0
/*
 * Losses where a flow's window is large: see high.h.
 */
#include "high.h"
#include "losses.h"

#define HIGH	0.8F	/* Reno's goes from a half of that to all of it */
#define WEIGHT	0.125F	/* of a window in the mean */
#define ELSEWHERE	8U	/* one of so many looks that lose, at most: others take room at any
				 * window
				 */

void high_add(struct high *h, const struct interval *i)
{
	float cwnd = (float)i->before->snd_cwnd;

	if (i->us > LOOK_MOST_US || losses_in_startup(i))
		return;
	if (h->window > 0)
		hits_add(&h->hits, i, cwnd >= HIGH * h->window);
	if (losses_begin(i))
		h->window += h->window > 0 ? WEIGHT * (cwnd - h->window) : cwnd;
}

double high_against_chance(const struct high *h)
{
	if ((h->hits.losing - h->hits.losing_at) * ELSEWHERE > h->hits.losing)
		return 0;
	return hits_against_chance(&h->hits);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Losses where a flow's window is largest: see high.h.
 */
#include "high.h"
#include "losses.h"

#define HIGH	0.9F	/* of the largest window that met a loss */

static void new_largest(struct high *h, float cwnd)
{
	/* those that were high are not any more */
	if (h->largest < HIGH * cwnd) {
		h->hits.segs_at = 0;
		h->hits.looks_at = 0;
		h->hits.losing_at = 0;
	}
	h->largest = cwnd;
}

void high_add(struct high *h, const struct interval *i)
{
	float cwnd = (float)i->before->snd_cwnd;

	/* what a look loses that begins in a recovery is taken to be of that */
	if (!losses_is_look(i) || losses_in_recovery(i->before))
		return;
	hits_add(&h->hits, i, cwnd >= HIGH * h->largest);
	if (losses_of(i) && cwnd > h->largest)
		new_largest(h, cwnd);
}

void high_age(struct high *h)
{
	hits_age(&h->hits);
	/* the path may have less room than it had */
	if (!h->hits.losing_at)
		h->largest = 0;
}

double high_against_chance(const struct high *h)
{
	return hits_against_chance(&h->hits);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Losses as a flow begins to send again: see starts.h.
 */
#include "losses.h"
#include "starts.h"

static bool begins(const struct interval *i)
{
	return i->busy < i->us / 10 * 9 && i->now->unacked;
}

void starts_add(struct starts *s, const struct interval *i)
{
	bool began = begins(i);

	hits_add(&s->hits, i, s->began || began);
	s->began = i->us <= LOOK_MOST_US && began;
}

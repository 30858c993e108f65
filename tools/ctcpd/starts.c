// SPDX-License-Identifier: GPL-2.0
/*
 * Losses as a flow begins to send again: see starts.h.
 */
#include "losses.h"
#include "starts.h"

#define START_RTTS	2U
#define RTT_MOST_US	10000000U	/* ten seconds: twice what is more may not fit */

static bool begins(const struct interval *i)
{
	return i->busy < i->us / 10 * 9 && i->now->unacked;
}

static uint32_t lasts_us(uint32_t rtt_us)
{
	return START_RTTS * (rtt_us < RTT_MOST_US ? rtt_us : RTT_MOST_US) + 1;
}

bool starts_add(struct starts *s, const struct interval *i)
{
	bool began = begins(i), at = began || s->left_us;

	hits_add(&s->hits, i, at);
	if (i->us > LOOK_MOST_US) {
		s->left_us = 0;
		return false;
	}
	if (began)
		s->left_us = lasts_us(i->now->rtt_us);
	else
		s->left_us -= s->left_us < i->us ? s->left_us : (uint32_t)i->us;
	return at;
}

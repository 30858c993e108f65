// SPDX-License-Identifier: GPL-2.0
/*
 * Losses as a flow begins to send again: see starts.h.
 */
#include "losses.h"
#include "starts.h"

#define START_RTTS	2U
#define RTT_MOST_US	10000000U	/* more does not fit */

static bool begins(const struct interval *i)
{
	return i->busy < i->us / 10 * 9 && i->now->unacked;
}

static uint32_t less(uint32_t us, uint64_t by)
{
	return us > by ? us - (uint32_t)by : 0;
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
		s->left_us = START_RTTS * (i->now->rtt_us < RTT_MOST_US ? i->now->rtt_us :
									  RTT_MOST_US) + 1;
	else
		s->left_us = less(s->left_us, i->us);
	return at;
}

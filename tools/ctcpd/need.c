// SPDX-License-Identifier: GPL-2.0
/*
 * What a rate and a round trip need of a connection: see need.h.
 */
#include <limits.h>
#include <math.h>

#include "need.h"
#include "units.h"

#define SECOND_US	1000000ULL

_Static_assert(2ULL * NEED_WINDOW_MAX <= INT_MAX, "a buffer is no sysctl's value");

static uint64_t within(uint64_t n, uint64_t least, uint64_t most)
{
	return n < least ? least : n > most ? most : n;
}

/* RATE_MAX x RTT_MAX_US is 1.25e18: the product fits in 64 bits. */
void need_of(uint64_t rate, uint64_t rtt_us, struct need *n)
{
	n->rate = within(rate, RATE_MIN, RATE_MAX);
	n->rtt_us = within(rtt_us, 1, RTT_MAX_US);
	n->bdp = (n->rate * n->rtt_us + SECOND_US - 1) / SECOND_US;
	n->window = (uint32_t)within(n->bdp, 1, NEED_WINDOW_MAX);
	n->buffer = 2 * n->window;
	n->streams = (uint32_t)((n->bdp + n->window - 1) / n->window);
}

uint64_t window_rate(uint32_t window, uint64_t rtt_us)
{
	return rtt_us ? window * SECOND_US / rtt_us : 0;
}

uint64_t mathis_rate(uint32_t mss, uint64_t rtt_us, double loss)
{
	double rate;

	if (!(loss > 0) || !rtt_us)
		return UINT64_MAX;
	rate = (double)mss * SECOND_US / (double)rtt_us / sqrt(loss);
	return rate < (double)RATE_MAX ? (uint64_t)rate : RATE_MAX;
}

double mathis_loss(uint32_t mss, uint64_t rtt_us, uint64_t rate)
{
	double segments = (double)rate * (double)rtt_us / SECOND_US / (mss ?: 1);

	return segments > 1 ? 1 / (segments * segments) : 1;
}

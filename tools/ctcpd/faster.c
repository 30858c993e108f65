// SPDX-License-Identifier: GPL-2.0
/*
 * Losses where a flow paces faster than it delivers: see faster.h.
 */
#include <math.h>

#include "faster.h"

#define FASTER		2.0	/* BBR probes by a quarter, and a round trip at a time */
#define LATELY_US	10000000U	/* BBR waits for 48 round trips, of 200 ms or less */

static uint64_t larger_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void faster_add(struct faster *f, const struct interval *i)
{
	double rate = (double)interval_bytes(i) * 1e6 / (double)i->us;
	double part = f->mean ? (double)i->us / (double)(i->us + LATELY_US) : 1;
	double paced = (double)larger_of(i->before->pacing_rate, i->now->pacing_rate);

	f->mean += (float)(part * (rate - f->mean));
	hits_add(&f->hits, i, paced > FASTER * fmax(f->mean, fmax(rate, f->before)));
	f->before = (float)rate;
}

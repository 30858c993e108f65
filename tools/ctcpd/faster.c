// SPDX-License-Identifier: GPL-2.0
/*
 * Losses where a flow paces faster than it delivers: see faster.h.
 */
#include <math.h>

#include "faster.h"

#define FASTER		2.0	/* BBR probes the path by a quarter more (tcp_bbr.c) */
#define LATELY_US	10000000U	/* 48 round trips, which BBR waits, of 200 ms */

void faster_add(struct faster *f, const struct interval *i)
{
	double rate = (double)interval_bytes(i) * 1e6 / (double)i->us;
	double weight = f->mean ? (double)i->us / (double)(i->us + LATELY_US) : 1;
	double paced = fmax((double)i->before->pacing_rate, (double)i->now->pacing_rate);

	f->mean += (float)(weight * (rate - f->mean));
	hits_add(&f->hits, i, paced > FASTER * fmax(f->mean, fmax(rate, f->before)));
	f->before = (float)rate;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers drawn by chance, the same ones each time.
 */
#ifndef CTCPD_TEST_DRAW_H
#define CTCPD_TEST_DRAW_H

#include <math.h>
#include <stdint.h>

/* In (0, 1], by a generator of Knuth's (TAOCP 2, 3.3.4, line 26) */
static inline double uniform(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(*seed >> 11) + 1) / 9007199254740992.0;
}

/* Segments up to the next that is lost, with it, if each is with probability @p: geometric */
static inline double until_lost(uint64_t *seed, double p)
{
	return 1 + floor(log(uniform(seed)) / log1p(-p));
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers drawn by chance, the same ones each time, and held against what is expected.
 */
#ifndef CTCPD_TEST_DRAW_H
#define CTCPD_TEST_DRAW_H

#include <math.h>
#include <stdint.h>

#include "test.h"

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

/* Of @segs, of which each is lost with probability @p */
static inline uint32_t lost_of(uint64_t *seed, uint32_t segs, double p)
{
	double at = 0;
	uint32_t lost = 0;

	for (;;) {
		at += until_lost(seed, p);
		if (at > segs)
			return lost;
		lost++;
	}
}

static inline void near(double got, double expected, double tolerance)
{
	if (fabs(got - expected) > tolerance)
		fail_msg("expected %g, got %g, tolerance %g", expected, got, tolerance);
}

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers to ask for
 */
#include "fuzz.h"

/* Ends of ranges, and what is beside them */
uint64_t value(void)
{
	static const uint64_t ends[] = {
		0, 1, 2, 10, 60, 1000, 65536, TCP_CIRCUIT_FCWND_LIMIT,
		TCP_CIRCUIT_WINDOW_LIMIT, INT32_MAX, UINT32_MAX,
		TCP_CIRCUIT_RATE_LIMIT, INT64_MAX, UINT64_MAX, 125000000,
	};

	switch (below(4)) {
	case 0: return ends[below(COUNT(ends))] + below(3) - 1;
	case 1: return ends[below(COUNT(ends))];
	case 2: return chance() >> below(64);
	default: return below(200);
	}
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A part of a whole, in thousandths: what is counted apart may exceed its whole by a little.
 */
#ifndef CTCPD_PERMILLE_H
#define CTCPD_PERMILLE_H

#include <stdint.h>

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* @part: at most UINT64_MAX / 1000 */
static inline uint16_t permille(uint64_t part, uint64_t of)
{
	return of ? (uint16_t)least(part * 1000 / of, 1000) : 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * random.h: the tests' chance: the same numbers for the same seed on every machine
 * (xorshift64*)
 */
#ifndef SELFTESTS_RANDOM_H
#define SELFTESTS_RANDOM_H

#include <stdint.h>

extern uint64_t random_state;	/* each program defines it, once */

static inline void seed_random(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
}

static inline uint64_t chance(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dULL;
}

/* 0 .. @n - 1 */
static inline uint32_t below(uint32_t n)
{
	return (chance() >> 32) % n;
}

#endif

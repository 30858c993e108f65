/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A round trip in 11 bits
 *
 * A stream keeps the smallest round trip that the core last knew (tcp_min_rtt()), as the core
 * forgets it: TCP_TX_DELAY resets it.
 * 7 bits and by how many they are shifted: exact up to 127 us, above that too long by less
 * than 1/64, as segments in flight are not to be forgotten too early.
 *
 * Arithmetic alone: also compiled in user space, by its unit test.
 */
#ifndef _CIRCUIT_RTT_H
#define _CIRCUIT_RTT_H

#include <linux/types.h>

#define RTT_BITS	7
#define RTT_MOST	1000000U	/* us */

/* @us: at least 1, and no more than RTT_MOST counts.  Never 0 */
static inline u32 rtt_pack(u32 us)
{
	u32 shift = 0, bits;

	if (us > RTT_MOST)
		us = RTT_MOST;
	while (us >> shift >> RTT_BITS)
		shift++;
	bits = (us >> shift) + !!(us & ((1U << shift) - 1));
	if (bits >> RTT_BITS) {
		bits >>= 1;
		shift++;
	}
	return shift << RTT_BITS | bits;
}

/* us */
static inline u32 rtt_unpack(u32 packed)
{
	return (packed & ((1U << RTT_BITS) - 1)) << (packed >> RTT_BITS);
}

/* Is it @us, nearly?  Packing it costs more. */
static inline bool rtt_is_packed(u32 packed, u32 us)
{
	return rtt_unpack(packed) - us <= us / 64;
}

#endif /* _CIRCUIT_RTT_H */

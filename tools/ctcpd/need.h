/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one connection needs so that a rate fits through a round trip: window and buffer.
 *
 *  bdp	rate x rtt, what is in flight at that rate.
 *  window	bdp, at most NEED_WINDOW_MAX: window scale ends at 14 (RFC 7323).
 *  buffer	2 x window.  Of a buffer about half is the kernel's own overhead
 *		(tcp_adv_win_scale = 1; since 6.6 scaling_ratio, which begins at a half), so
 *		that twice the window is to be asked for.  Never above INT_MAX, where
 *		sysctls end.
 *  streams	connections, each with such a window, that fill the path.
 */
#ifndef CTCPD_NEED_H
#define CTCPD_NEED_H

#include <stdint.h>

#define NEED_WINDOW_MAX	(65535U << 14)	/* bytes: 1 GiB less 16 KiB */

struct need {
	uint64_t rate;		/* bytes/s, within RATE_MIN and RATE_MAX (units.h) */
	uint64_t rtt_us;	/* 1 us to RTT_MAX_US */
	uint64_t bdp;		/* bytes */
	uint32_t window;	/* bytes */
	uint32_t buffer;	/* bytes */
	uint32_t streams;
};

void need_of(uint64_t rate, uint64_t rtt_us, struct need *n);
/* bytes/s that @window bytes carry at a round trip of @rtt_us; 0: that is not known */
uint64_t window_rate(uint32_t window, uint64_t rtt_us);
/* bytes/s that Reno gets (Mathis et al. 1997, constant 1); UINT64_MAX: nothing was lost */
uint64_t mathis_rate(uint32_t mss, uint64_t rtt_us, double loss);
/* Part of the segments that may be lost, so that @rate is had by mathis_rate() */
double mathis_loss(uint32_t mss, uint64_t rtt_us, uint64_t rate);

#endif

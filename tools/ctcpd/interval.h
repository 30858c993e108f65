/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An interval: what one socket did between two samples of it.
 *
 * Only differences: what a socket did before it was first seen is in no interval, so that
 * the first sample of a flow counts nothing.  32-bit counters of the kernel wrap, and the
 * difference of two is right all the same.
 */
#ifndef CTCPD_INTERVAL_H
#define CTCPD_INTERVAL_H

#include "sample.h"

/*
 * @segs and @sent have what was sent again, too.  @sent and @retrans_bytes are of segments where
 * the kernel counts no bytes.  @busy is the part of @us with data in flight or queued, and of
 * that @rwnd was held by the peer's window, @sndbuf by the send buffer.  @local_drops is of all
 * flows that leave by its device.
 */
struct interval {
	const struct sample *before, *now;	/* of the same cookie */
	uint64_t us;				/* between them, never 0 */
	uint64_t acked, sent, retrans_bytes;	/* bytes */
	uint32_t segs, retrans;			/* data segments */
	uint32_t delivered, delivered_ce;	/* segments */
	uint32_t dsack_dups, reord;		/* segments, events */
	uint64_t busy, rwnd, sndbuf;		/* us */
	uint32_t local_drops;			/* packets that qdiscs of its device dropped */
	bool closed;				/* the socket has gone since; @now is its last */
};

/* False: not a pair (another cookie, time did not go on, counters went back) */
bool interval_make(struct interval *i, const struct sample *before, const struct sample *now);

/*
 * By SACK, too: what is acknowledged stands still while a hole is filled, and then leaps.
 * Kernels before 4.18 do not tell.
 */
uint64_t interval_bytes(const struct interval *i);

#endif

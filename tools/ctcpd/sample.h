/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sample: what the kernel said of one TCP socket at one time, by sock_diag(7).
 *
 * The counters are those of the socket's whole life; what happened between two samples is
 * an interval (interval.h).  A kernel that does not tell a field leaves it 0, and its bit
 * in @known is not set.
 */
#ifndef CTCPD_SAMPLE_H
#define CTCPD_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "conn.h"

/* Fields that kernels have or have not, each with the version that brought it */
enum sample_known {
	/* 4.19: bytes_sent, bytes_retrans, dsack_dups, reord_seen */
	KNOWS_BYTES_SENT	= 1U << 0,
	KNOWS_SND_WND		= 1U << 1,	/* 5.4 */
	KNOWS_SKMEM		= 1U << 2,
};

struct sample {
	/* who: cookie, addresses, ports, algorithm, min_rtt, mss, acked; busy, rwnd, sndbuf (us) */
	struct conn conn;
	uint64_t at_us;		/* CLOCK_BOOTTIME, when it was asked for */
	uint32_t known;		/* enum sample_known */
	uint8_t ca_state;	/* TCP_CA_Open, ... */
	uint8_t snd_wscale;
	bool has_wscale;	/* both ends offered RFC 7323's window scale */
	bool app_limited;	/* the delivery rate was measured while it had nothing to send */
	uint32_t rtt_us, rttvar_us, rto_us;
	uint32_t snd_cwnd, snd_ssthresh;	/* segments */
	uint32_t unacked, lost, retrans, sacked;	/* segments, at this time */
	uint32_t reordering, reord_seen;
	uint32_t snd_wnd;			/* bytes, what the peer offers */
	uint32_t total_retrans;			/* segments, so far */
	uint32_t segs_out, data_segs_out;
	uint32_t delivered, delivered_ce;	/* segments */
	uint32_t dsack_dups;
	uint64_t bytes_sent, bytes_retrans;
	uint64_t delivery_rate;			/* bytes/s, of the last ACK's sample */
	uint64_t pacing_rate, max_pacing_rate;	/* bytes/s; UINT64_MAX: none */
	uint32_t sndbuf;			/* bytes: SO_SNDBUF as the kernel counts */
	uint32_t wmem_queued;			/* bytes, with overhead */
	uint32_t wmem_alloc;			/* bytes handed to qdisc and device */
};

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that qdiscs of this host dropped: see local_drops.h.
 */
#include <linux/tcp.h>

#include "local_drops.h"
#include "losses.h"
#include "permille.h"

#define GSO_BYTES	65536U
#define GSO_SEGS	45U	/* of 1448 bytes, in these */
#define TSO_RTT_LOG	9U	/* net.ipv4.tcp_tso_rtt_log: of 512 us */

/*
 * A full qdisc of this host refuses a segment: it is kept, and sent later, so that none is
 * lost, but the window is cut.  Without a mark of ECN's nothing else does that.
 */
bool local_drops_cut(const struct interval *i)
{
	const struct sample *a = i->before, *b = i->now;

	if (!i->local_drops || i->retrans || i->delivered_ce)
		return false;
	return b->ca_state == TCP_CA_CWR ||
	       (a->snd_ssthresh < INFINITE_SSTHRESH && b->snd_ssthresh != a->snd_ssthresh);
}

/*
 * Segments that packets dropped here may have held: TCP hands on a millisecond's worth at a
 * time, and since 5.18 64 KiB more, halved for each 512 us of the least round trip; two segments
 * or more, and 64 KiB at most (tcp_tso_autosize()), but no more than half of the window
 * (tcp_cwnd_test()).
 */
uint64_t local_drops_segs(const struct interval *i)
{
	const struct sample *s = i->now;
	uint32_t halvings = s->conn.min_rtt >> TSO_RTT_LOG;
	uint64_t bytes = s->pacing_rate / 1024, segs;
	uint32_t was = i->before->snd_cwnd, cwnd = s->snd_cwnd > was ? s->snd_cwnd : was;

	if (s->conn.min_rtt && halvings < 32)
		bytes += GSO_BYTES >> halvings;
	segs = bytes / (s->conn.mss ?: 1);
	segs = segs < 2 ? 2 : least(segs, GSO_SEGS);
	return i->local_drops * (cwnd > 1 ? least(segs, cwnd / 2) : segs);
}

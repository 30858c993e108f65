// SPDX-License-Identifier: GPL-2.0
/*
 * Reports: what streams see, added to the tally of their user ten times a second
 *
 * A report comes with an ACK, before that moves the shares, and where a stream gets its
 * first share or gives up its last; the time in which it is idle counts for nothing.  It
 * takes no lock, except to start the tick.  The tick judges what has come together
 * (breaker.c).
 */

#include "circuit.h"

/* Segments lost: retransmitted, less those that the peer already had. */
u32 stream_lost(const struct tcp_sock *tp)
{
	return tp->total_retrans - tp->dsack_dups;
}

/*
 * Is more than a quarter of the stream's share queued in this host, in a qdisc
 * or a device?  A packet is charged to the socket until the device has sent it.
 */
static bool stream_stands_here(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u64 here = refcount_read(&sk->sk_wmem_alloc);
	u64 share = max(s->share, 1U);

	return here > share * tcp_sk(sk)->mss_cache / 4 ||
	       test_bit(TSQ_THROTTLED, &sk->sk_tsq_flags);
}

void tally_min(u32 *least, u32 value)
{
	u32 now = READ_ONCE(*least);

	if (value && (!now || value < now))
		WRITE_ONCE(*least, value);
}

static void tally_max(u32 *most, u32 value)
{
	if (value > READ_ONCE(*most))
		WRITE_ONCE(*most, value);
}

/*
 * Would the stream use more window if the circuit or its user's bound let it?  The core
 * keeps its verdict for a round trip: it may be about a share that was far smaller.
 */
static bool stream_fills(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	bool bound = s->asked && !s->own && s->share >= s->asked;

	return tp->is_cwnd_limited && tp->max_packets_out >= s->share / 2 &&
	       (bound || s->state == TCP_CIRCUIT_STREAM_HUNGRY);
}

/*
 * A stream that waits has one segment of the window in its turn.  For how many
 * of @ms milliseconds did it have one?
 */
static u32 stream_turn_ms(const struct stream *s, u32 ms)
{
	u32 waiting = max(READ_ONCE(stream_pool(s)->waiting), 1U);
	u32 window = stream_pool_window(s);

	return waiting > window ? div_u64((u64)ms * window, waiting) : ms;
}

/*
 * Add to the user's tally the share that @sk has held for @ms milliseconds:
 * whether it was in use, queued in this host, or late, and what it should have
 * carried.  Each counts by segments x time, so a stream with a small share
 * counts little; the streams that wait for a share count as one window
 * together.  Where the user has several peers, the stream is compared with its
 * own smallest round trip instead of the user's.
 */
static void stream_weigh(struct sock *sk, struct circuit_user *u, u32 ms)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct breaker_limits none = {};
	struct tally *t = &u->tally;
	struct judge_circuit known;
	u32 share = s->share;
	u64 share_ms;

	user_known(u, &none, &known);
	if (stream_waits(s)) {
		share = 1;
		ms = stream_turn_ms(s, ms);
	}
	share_ms = (u64)share * ms;
	if (!share_ms)
		return;
	if (READ_ONCE(u->peers_differ) && tcp_min_rtt(tp) != U32_MAX)
		known.rtt_us = tcp_min_rtt(tp);
	tally_max(&t->rtt_expected, judge_expected_rtt(&known));
	atomic64_add(judge_carries(&known, share, ms), &t->carries);
	atomic64_add(share_ms, &t->share_ms);
	if (stream_fills(sk))
		atomic64_add(share_ms, &t->full_ms);
	if (stream_stands_here(sk))
		atomic64_add(share_ms, &t->local_ms);
	if (judge_late(&known, tp->srtt_us >> 3))
		atomic64_add(share_ms, &t->late_ms);
}

/*
 * Add what a stream has seen since its last report to its user's tally.  A
 * negative loss (more duplicates than retransmissions) is credited against
 * later losses, up to the segments of one slot and no more: the network makes
 * duplicates, too, and the core cannot tell these from unnecessary
 * retransmissions.
 */
void stream_report(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct circuit_user *u = s->user;
	struct circuit *c = u->circuit;
	struct tally *t = &u->tally;
	u16 ago = tcp_jiffies32 - s->reported;
	s32 lost = stream_lost(tp) - s->lost;
	u32 delivered = tp->delivered - s->delivered;
	u32 ce = (tp->delivered_ce - s->ce) & ((1U << STREAM_CE_BITS) - 1);

	s->reported = tcp_jiffies32;
	/* tcp_disconnect() has set them to 0 before it calls release(). */
	if (inet_sk_state_load(sk) == TCP_CLOSE && !tp->delivered)
		delivered = 0;
	if (inet_sk_state_load(sk) == TCP_CLOSE && !tp->delivered_ce)
		ce = 0;
	s->delivered += delivered;
	s->ce += ce;
	s->lost += max(lost, 0) + min(lost + (s32)JUDGE_LOSS_SEGMENTS, 0);
	lost = max(lost, 0);

	WRITE_ONCE(u->wire, stream_wire(sk));
	if (tcp_min_rtt(tp) != U32_MAX)	/* none yet */
		tally_min(&u->rtt_us, tcp_min_rtt(tp));
	tally_min(&t->rtt_us, tp->srtt_us >> 3);
	stream_weigh(sk, u, jiffies_to_msecs(ago));
	atomic64_add((u64)delivered * u->wire, &t->bytes);
	atomic_add(lost, &t->lost);
	atomic_add(delivered, &t->delivered);
	atomic_add(ce, &t->ce);
	atomic64_add(lost, &c->lost);
	atomic64_add(delivered, &c->delivered);
	atomic64_add(ce, &c->ce);
	if (lost || delivered)
		stream_wake_tick(s);
}

/* Its share is about to become something or nothing: report it as it was held. */
void stream_report_held(struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	if ((u16)(tcp_jiffies32 - s->reported))
		stream_report(sk);
}

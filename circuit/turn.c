// SPDX-License-Identifier: GPL-2.0
/*
 * Turns: how streams without a share send
 *
 * A stream that waits for a share sends one segment at a time, in its turn.  The pool
 * has a clock, pool.turn: when the next turn is.  A stream books a turn, and the
 * clock moves on by a gap, so that in a round trip all that wait send what no share
 * holds of the window, however many they are and however short they live
 * (split_turn_gap()).  The core's pacing holds the segment back until then, and its
 * timer asks again.
 *
 * No share accounts for what is sent in turns (pool.turns), nor for what streams have in
 * flight that gave up their shares at once, by a reset or for another algorithm
 * (pool.left): share.c subtracts both before it hands out shares, and splits what
 * pool.left leaves of the window.  They are counted in
 * segments, each for a round trip of its own (left.h) from when it is sent, as the streams
 * of a circuit may be near and far.  A turn that is still to come takes nothing: whoever
 * booked it may give it back.
 *
 * Not in turn: what the core sends by timer without asking anybody, the
 * retransmission after an RTO and the loss probe (RFC 8985).
 */

#include "circuit.h"

#define TURN_LOOK_LEAST	(100ULL * NSEC_PER_MSEC)	/* from one look at a turn to the next */
#define TURN_LOOK_MOST	(1000ULL * NSEC_PER_MSEC)
#define TURN_GAP_MOST	((1U << 31) - 1)	/* ns, as turn_gap has 31 bits */
#define TURN_LATE	(4ULL * NSEC_PER_MSEC)	/* a turn is over that long after its time */

/*
 * us, 1 s at most; RFC 6298's second where none was measured.  TCP_TX_DELAY moves srtt_us up
 * and down.
 */
u32 stream_rtt_us(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u32 least = rtt_unpack(s->rtt);
	u32 rtt = tcp_min_rtt(tcp_sk(sk)) == U32_MAX ? least :
		  max(tcp_sk(sk)->srtt_us >> 3, least);

	return rtt ? min_t(u32, rtt, USEC_PER_SEC) : USEC_PER_SEC;
}

static u64 stream_rtt_ns(const struct sock *sk)
{
	return (u64)stream_rtt_us(sk) * NSEC_PER_USEC;
}

/* 1 to 255: which segment is the next to be sent, modulo 255 */
u8 stream_next(const struct sock *sk)
{
	return tcp_sk(sk)->data_segs_out % U8_MAX + 1;
}

/* Of all in the pool that wait: the window in each round trip, bytes/s on the wire */
u64 stream_turns_rate(struct sock *sk, u32 window)
{
	u64 bytes = (u64)window * stream_wire(sk);	/* 2^43 at most */

	return min(div_u64(bytes * USEC_PER_SEC, stream_rtt_us(sk)),
		   TCP_CIRCUIT_RATE_LIMIT);
}

static u64 clock_us(u64 ns)
{
	return div_u64(ns, NSEC_PER_USEC);
}

/* Segments in flight of streams that gave up their shares; the lock is not held. */
u32 pool_left(struct pool *p, const struct sock *sk)
{
	u32 left;

	if (!READ_ONCE(p->left.batch[0].segments))
		return 0;
	spin_lock_bh(&p->lock);
	left = left_segments(&p->left, clock_us(tcp_sk(sk)->tcp_clock_cache));
	if (!left)
		WRITE_ONCE(p->left.batch[0].segments, 0);
	spin_unlock_bh(&p->lock);
	return left;
}

/* Segments in flight that no share accounts for; the lock is held. */
u32 pool_in_flight(const struct pool *p, const struct sock *sk)
{
	u64 now = clock_us(tcp_sk(sk)->tcp_clock_cache);

	return left_segments(&p->turns, now) + left_segments(&p->left, now);
}

/* When nothing of that will be left, ns */
u64 pool_over(const struct pool *p)
{
	u64 now = ktime_get_ns();
	u32 lasts = max(left_lasts(&p->turns, clock_us(now)),
			left_lasts(&p->left, clock_us(now)));

	return max(now + (u64)lasts * NSEC_PER_USEC, READ_ONCE(p->turn));
}

/* ns from its turn to the next one, at most 2 s: not faster than its pace either */
static u32 stream_gap(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct pool *p = stream_pool(s);
	u32 left = left_segments(&p->left, clock_us(tcp_sk(sk)->tcp_clock_cache));
	u64 gap = split_turn_gap(stream_rtt_ns(sk), stream_pool_window(s),
				 p->cwnd_total + left);
	u64 paced = div64_ul((u64)tcp_sk(sk)->mss_cache * NSEC_PER_SEC, s->pace);

	return min_t(u64, max(gap, paced), TURN_GAP_MOST);
}

static void stream_book(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p = stream_pool(s);
	u64 now = tcp_sk(sk)->tcp_clock_cache;

	spin_lock_bh(&p->lock);
	s->turn_gap = stream_gap(sk);
	s->depart = max(p->turn, now);
	p->turn = s->depart + s->turn_gap;
	spin_unlock_bh(&p->lock);
	s->turn_counted = 0;
	s->let_go = stream_next(sk);
}

/* The smallest round trip, us, 1 s at most; its user's where it was alone and knows none */
u32 stream_least_rtt_us(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u32 rtt = s->rtt ? rtt_unpack(s->rtt) : READ_ONCE(s->user->rtt_us);

	return rtt ? min_t(u32, rtt, USEC_PER_SEC) : USEC_PER_SEC;
}

/*
 * How long a segment of the stream's turns counts as in flight, us.  A stream without an RTT
 * sample has few turns, as if its RTT were 1 s, and a user can open as many such streams as it
 * wants (TCP_TX_DELAY): its segments count for the RTT of the user's nearest peer.
 */
static u32 stream_turn_us(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->rtt ? stream_rtt_us(sk) : stream_least_rtt_us(sk);
}

/* Its turn has come: what it sends is in flight for a round trip. */
static void stream_count_turn(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p = stream_pool(s);

	if (s->turn_counted)
		return;
	s->turn_counted = 1;
	spin_lock_bh(&p->lock);
	left_add(&p->turns, clock_us(tcp_sk(sk)->tcp_clock_cache), 1, stream_turn_us(sk));
	spin_unlock_bh(&p->lock);
}

/* Segments of its turns that are counted in flight; the lock is held. */
u32 stream_own_turn(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->let_go && s->turn_counted &&
	       tcp_sk(sk)->tcp_clock_cache <
	       s->depart + (u64)stream_turn_us(sk) * NSEC_PER_USEC;
}

/* Its share accounts for that segment from now on; the lock is held. */
void pool_uncount_turn(struct pool *p, const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	left_remove(&p->turns, clock_us(tcp_sk(sk)->tcp_clock_cache),
		    clock_us(s->depart) + stream_turn_us(sk));
}

/* Uncount the turn that was counted without an RTT sample, as the first ACK has come. */
static void stream_uncount_turn(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p = stream_pool(s);

	if (!stream_waits(s) || !stream_own_turn(sk))
		return;
	spin_lock_bh(&p->lock);
	pool_uncount_turn(p, sk);
	spin_unlock_bh(&p->lock);
	s->turn_counted = 0;
}

/* Keep the smallest round trip: the core may forget it. */
void stream_note_rtt(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	u32 rtt = tcp_min_rtt(tcp_sk(sk));

	if (rtt == U32_MAX || rtt_is_packed(s->rtt, rtt))
		return;
	if (!s->rtt) {
		stream_uncount_turn(sk);
		tally_min(&s->user->rtt_us, rtt);
	}
	s->rtt = rtt_pack(max(rtt, 1U));
}

/*
 * The stream no longer waits: give its turn back if that is still to come.  With a
 * rate, its next segment of the first ten leaves one turn for each busy stream later
 * (pace.c).  The lock is held.
 */
void pool_unbook(struct pool *p, struct stream *s)
{
	u64 now = ktime_get_ns();

	if (!s->let_go)
		return;
	if (s->depart > now)
		p->turn = max(p->turn - s->turn_gap, now);
	s->depart = min(s->depart, now) + (u64)s->turn_gap * p->busy;
	s->let_go = 0;
}

/* How long what it sent last may still wait in fq, us, 1 s at most */
static u32 stream_departs_us(const struct sock *sk, u64 now)
{
	u64 last = READ_ONCE(tcp_sk(sk)->tcp_wstamp_ns);

	return last > now ? min_t(u64, clock_us(last - now), USEC_PER_SEC) : 0;
}

/*
 * Segments that the host has not sent yet, about: also of a stream that was reset.  A packet
 * takes some hundred bytes of memory, however short it is.
 */
static u32 stream_undeparted(const struct sock *sk)
{
	return sk_wmem_alloc_get(sk) / max_t(u32, tcp_sk(sk)->mss_cache, SKB_TRUESIZE(1));
}

/*
 * The segments of a stream that has just lost @segments of its share stay in flight for a
 * round trip, and those that wait in fq for one from their departure.  Count them for 15/16
 * of it only, so that a connection that starts now finds the window free once it is
 * established.  A reset has emptied the queues: then as many as the share was, or as it has
 * ever sent.  The lock is held.
 */
void pool_leave_behind(struct pool *p, const struct sock *sk, u32 segments)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 lasts = stream_least_rtt_us(sk) / 16 * 15, departs, waits = 0;
	u64 now = ktime_get_ns();

	if (tp->packets_out)
		segments = min(segments, tcp_packets_in_flight(tp));
	else if (inet_sk_state_load(sk) == TCP_CLOSE)
		segments = min(segments, tp->data_segs_out);
	else
		return;
	departs = stream_departs_us(sk, now);
	if (departs)
		waits = min(segments, stream_undeparted(sk));
	left_add(&p->left, clock_us(now), waits, departs + lasts);
	left_add(&p->left, clock_us(now), segments - waits, lasts);
}

/*
 * Have the core hold back what it would send now, and ask again at @when, ns.
 * tcp_wstamp_ns is not set to @when: the core stamps ACKs with it, too, and fq would
 * keep them until then.  With nothing in flight the core arms its window probe; that
 * stays, in case that nothing else wakes the stream, but not before @when, or two minutes.
 */
void stream_hold_back(struct sock *sk, u64 when)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u64 now = tp->tcp_clock_cache;

	stream_pace_by_core(sk);
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, now + 1);
	stream_set_timer(sk, when);
	if (!tp->packets_out && (!icsk->icsk_pending ||
				 icsk->icsk_pending == ICSK_TIME_PROBE0))
		inet_csk_reset_xmit_timer(sk, ICSK_TIME_PROBE0,
					  nsecs_to_jiffies64(when - now) +
					  tcp_probe0_base(sk), TCP_RTO_MAX);
}

/* Is its turn over?  It was used, or missed: SO_MAX_PACING_RATE may be slower. */
static bool stream_turn_is_over(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u64 late = max3(stream_rtt_ns(sk) / 2, TURN_LATE, 2ULL * TICK_NSEC);

	return s->let_go != stream_next(sk) ||
	       tcp_sk(sk)->tcp_clock_cache > s->depart + late;
}

/* When to look again at a turn that is still to come, ns: halfway at the latest */
static u64 stream_next_look(const struct stream *s, u64 now)
{
	u64 half = clamp((s->depart - now) / 2, TURN_LOOK_LEAST, TURN_LOOK_MOST);

	return min(s->depart, now + half);
}

/*
 * Called before a stream that waits sends new data or fast retransmissions.  When
 * others leave, all that wait move up: to within one turn for each of them, or a
 * round trip.
 */
void stream_take_turn(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	u64 now = tcp_sk(sk)->tcp_clock_cache;
	u64 all;

	if (tcp_packets_in_flight(tcp_sk(sk)))
		return;
	if (!s->let_go || stream_turn_is_over(sk))
		stream_book(sk);
	all = (u64)READ_ONCE(stream_pool(s)->waiting) * s->turn_gap;
	s->depart = min(s->depart, now + max(all, stream_rtt_ns(sk)));
	if (s->depart > now)
		stream_hold_back(sk, stream_next_look(s, now));
	else
		stream_count_turn(sk);
}

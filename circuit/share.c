// SPDX-License-Identifier: GPL-2.0
/*
 * Streams share one window
 *
 * What each stream holds is its share.  Shares add up to the window at most.  A
 * share grows only by what others gave back, and shrinks no faster than
 * segments leave the network (unless a breaker cuts it), so what streams with a
 * share have in flight does not exceed the window either.  As each ACK moves
 * the shares, a new stream has its own one round trip after its first ACK.  split.h has the
 * arithmetic.
 *
 * A stream that finds nothing left waits for a share.  While it waits, it sends
 * one segment at a time, in turn (turn.c): all streams that wait send at most a
 * window in each round trip.  These segments come on top of the window until
 * the others have given up their part of it.  Where there are more streams than
 * segments, all of them wait.
 *
 * A stream moves its share only when something happens to it.  reclaim.c takes the
 * shares of those to which nothing happens.
 *
 * The pool's lock is taken when a stream enters or leaves the pool, when its
 * share or state changes, and for each turn.  Streams that send steadily share
 * the lock's cache line without contention.
 */

#include "circuit.h"

#include "trace/events/tcp_circuit.h"

void pool_init(struct pool *p)
{
	spin_lock_init(&p->lock);
	INIT_LIST_HEAD(&p->active);
}

/* Have all streams call circuit_hold() with their next ACK. */
void pool_changed(struct pool *p)
{
	spin_lock_bh(&p->lock);
	WRITE_ONCE(p->version, p->version + 1);
	spin_unlock_bh(&p->lock);
}

/* Add @s to the pool's counts (@sign 1) or remove it (-1); the lock is held. */
static void pool_count(struct pool *p, const struct stream *s, int sign)
{
	u32 share = sign * (int)s->share;

	WRITE_ONCE(p->cwnd_total, p->cwnd_total + share);
	if (s->state == TCP_CIRCUIT_STREAM_MODEST)
		WRITE_ONCE(p->modest, p->modest + share);
	else if (s->state == TCP_CIRCUIT_STREAM_HUNGRY)
		WRITE_ONCE(p->hungry, p->hungry + sign);
	if (s->state != TCP_CIRCUIT_STREAM_IDLE)
		WRITE_ONCE(p->busy, p->busy + sign);
	if (stream_waits(s))
		WRITE_ONCE(p->waiting, p->waiting + sign);
}

/* The lock is held. */
void pool_set(struct pool *p, struct stream *s, u8 state, u32 share)
{
	bool idle = state == TCP_CIRCUIT_STREAM_IDLE;
	bool moves = state != s->state || state == TCP_CIRCUIT_STREAM_MODEST;

	/* one that was idle takes its share from what is left; the tick may have made it so */
	if (idle || s->state == TCP_CIRCUIT_STREAM_IDLE)
		share = 0;
	if (stream_waits(s) && (idle || share))
		pool_unbook(p, s);
	else if (!idle && !share)
		s->let_go = 0;
	pool_count(p, s, -1);
	if (idle && s->state != TCP_CIRCUIT_STREAM_IDLE)
		list_del(&s->active);
	else if (!idle && s->state == TCP_CIRCUIT_STREAM_IDLE)
		list_add_tail(&s->active, &p->active);
	s->state = state;
	WRITE_ONCE(s->share, share);
	pool_count(p, s, 1);
	if (moves)
		WRITE_ONCE(p->version, p->version + 1);
}

static void stream_set(struct sock *sk, u8 state, u32 share)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p = stream_pool(s);
	u8 before;

	spin_lock_bh(&p->lock);
	before = s->state;
	pool_set(p, s, state, share);
	spin_unlock_bh(&p->lock);
	s->repace = 1;
	if (state == before)
		return;
	trace_tcp_circuit_stream(sk, state, share);
	if (before == TCP_CIRCUIT_STREAM_IDLE) {
		s->reported = tcp_jiffies32;	/* it held nothing until now */
		stream_wake_tick(s);
	}
}

/*
 * The window that streams split when they take more.  Segments in flight of streams that
 * gave up their shares are still subtracted from it: otherwise a peer whose streams are reset
 * again and again would take all that becomes free before the others receive an ACK.
 */
static u32 stream_splits(struct sock *sk, u32 window)
{
	u32 left = pool_left(stream_pool(inet_csk_ca(sk)), sk);

	return window > left ? window - left : 0;
}

/*
 * Take up to @n more segments of what is left of @window beside the shares, and beside
 * what is in flight of streams without one (turn.c).
 */
static void stream_take(struct sock *sk, u32 window, u32 n)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p = stream_pool(s);
	bool waited = stream_waits(s);
	u32 take, own, flies;

	if (READ_ONCE(p->cwnd_total) >= window)
		return;
	/* nobody could tell how long what it leaves behind is in flight */
	if (!s->rtt && READ_ONCE(p->sockets) > 1)
		return;
	if (waited)
		stream_report_held(sk);
	spin_lock_bh(&p->lock);
	flies = pool_in_flight(p, sk);
	own = waited ? min(stream_own_turn(sk), flies) : 0;
	take = split_left(window, p->cwnd_total + flies - own, n);
	if (s->state == TCP_CIRCUIT_STREAM_IDLE)	/* the tick came in between */
		take = 0;
	if (take && own)
		pool_uncount_turn(p, sk);
	if (take)
		pool_set(p, s, s->state, s->share + take);
	spin_unlock_bh(&p->lock);
	if (!take)
		return;
	s->young = STREAM_YOUNG;
	s->repace = 1;
	if (waited)
		stream_begin_round(sk);
}

void stream_enter_pool(struct sock *sk, bool cut)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p;

	s->cut = cut;
	s->settled = 0;
	s->repace = 1;
	p = stream_pool(s);
	spin_lock_bh(&p->lock);
	WRITE_ONCE(p->sockets, p->sockets + 1);
	spin_unlock_bh(&p->lock);
}

void stream_leave_pool(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p = stream_pool(s);

	if (s->share) {
		spin_lock_bh(&p->lock);
		pool_leave_behind(p, sk, s->share);
		spin_unlock_bh(&p->lock);
	}
	stream_rest(sk);
	spin_lock_bh(&p->lock);
	WRITE_ONCE(p->sockets, p->sockets - 1);
	spin_unlock_bh(&p->lock);
}

void stream_rest(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->state == TCP_CIRCUIT_STREAM_IDLE)
		return;
	stream_report_held(sk);
	s->settled = 0;
	s->proved = 0;
	stream_set(sk, TCP_CIRCUIT_STREAM_IDLE, 0);
}

/* The most that its user asked for, segments */
static u32 stream_bound(const struct stream *s)
{
	return s->asked && !s->own ? s->asked : U32_MAX;
}

/*
 * Twice what SO_MAX_PACING_RATE lets it have in flight, bytes, two segments at least.  The
 * core sends in bursts of a millisecond (tcp_tso_autosize()), beside which a round trip may
 * be short.
 */
static u64 stream_paced_room(const struct sock *sk)
{
	u64 rate = stream_max_rate(sk);
	u32 lasts = stream_rtt_us(sk) + USEC_PER_MSEC;

	if (rate == ~0UL || rate > TCP_CIRCUIT_RATE_LIMIT)
		return U32_MAX;
	return max_t(u64, div_u64(rate * 2 * lasts, USEC_PER_SEC),
		     2 * tcp_sk(sk)->mss_cache);
}

/* What its peer and its user allow it to have in flight, bytes, at least 1 */
static u32 stream_room(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 bound = (u64)stream_bound(inet_csk_ca(sk)) * tp->mss_cache;

	bound = min(bound, stream_paced_room(sk));
	return max_t(u32, min_t(u64, tp->snd_wnd, bound), 1U);
}

/* What it would have in flight, segments */
static u32 stream_need(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return DIV_ROUND_UP(min(tp->write_seq - tp->snd_una, stream_room(sk)),
			    tp->mss_cache);
}

/* Does it need more than its share?  Not where the peer's window is smaller. */
bool stream_needs_more(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 share = (u64)s->share * tp->mss_cache;

	return tp->write_seq - tp->snd_una > share && stream_room(sk) > share;
}

/*
 * Is it the circuit's pace that keeps the stream below its share, and not what its peer or
 * its user allows?  An unsent tail of less than a segment is Nagle's doing.
 */
static bool stream_paced_below(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return s->burst && s->pace <= stream_max_rate(sk) &&
	       tp->write_seq - tp->snd_nxt >= tp->mss_cache &&
	       stream_room(sk) >= (u64)s->share * tp->mss_cache;
}

/*
 * Does the stream use its share?  It does also if only the rest is free that
 * the core holds back until a packet is full or a third of the window is free
 * (tcp_tso_should_defer()), if only the circuit's pace keeps it below its share, or if
 * the core has found it limited by its window in this round trip: one ACK may leave
 * nothing of a small share in flight.
 */
bool stream_uses_share(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return tcp_packets_in_flight(tp) +
	       min_t(u32, sk->sk_gso_max_segs, s->share / 3) >= s->share ||
	       tp->is_cwnd_limited || stream_paced_below(sk);
}

/* A modest stream that SO_MAX_PACING_RATE has slowed down keeps what it lets it use. */
static void stream_shed(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	u64 most = div_u64(stream_paced_room(sk), tcp_sk(sk)->mss_cache) + 1;

	most = max_t(u64, most, tcp_packets_in_flight(tcp_sk(sk)));
	if (s->share > most)
		stream_set(sk, s->state, (u32)most);
}

/*
 * False: it needs more than a modest stream may hold, which is at most what its share
 * would be as a hungry one.  A stream found modest by what it had in flight has to
 * fill its share first, however much data waits behind SO_MAX_PACING_RATE or a small
 * receive window.
 */
static bool stream_try_modest(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p = stream_pool(s);
	u32 modest = READ_ONCE(p->modest) - s->share;
	u32 hungry = READ_ONCE(p->hungry) + 1;
	u32 share = split_share(window, modest, hungry, READ_ONCE(p->waiting));
	u32 need;

	if (s->share > share)
		return false;
	if (!stream_needs_more(sk)) {
		stream_shed(sk);
		return s->share > 0;
	}
	if (s->proved && !stream_uses_share(sk))
		return true;

	need = stream_need(sk);
	share = split_share(stream_splits(sk, window), modest, hungry, READ_ONCE(p->waiting));
	if (need > split_modest_most(share, s->share, s->proved))
		return false;
	if (s->state == TCP_CIRCUIT_STREAM_IDLE)
		stream_set(sk, TCP_CIRCUIT_STREAM_MODEST, 0);
	stream_take(sk, window, need - s->share);
	return s->share >= need;
}

/* In flight, or lost and not yet retransmitted, segments */
static u32 stream_outstanding(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out;
}

/*
 * A round trip lasts until as many segments are delivered as are outstanding at its
 * beginning, in whatever order: a hole does not make it longer.  One that begins with
 * nothing outstanding, as one ACK may acknowledge all, lasts until the next ACK.
 */
void stream_begin_round(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	s->round_start = tp->delivered;
	s->round_end = tp->delivered + max(stream_outstanding(tp), 1U);
}

bool stream_round_ended(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return !before(tcp_sk(sk)->delivered, s->round_end);
}

/*
 * A hungry stream that used less than half of its share for a round trip becomes
 * modest, unless the circuit's rate was what limited it.
 */
static void stream_end_round(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 used = split_used(s->share, tp->delivered - s->round_start,
			      stream_outstanding(tp));

	if (used >= s->share || stream_paced_below(sk) ||
	    READ_ONCE(stream_pool(s)->cwnd_total) == s->share)
		return;
	stream_set(sk, TCP_CIRCUIT_STREAM_MODEST, used);
	s->proved = 1;
}

static void stream_count_round(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (!stream_round_ended(sk))
		return;
	if (!s->young)
		stream_end_round(sk);
	else
		s->young--;
	stream_begin_round(sk);
}

/* Keep @keep segments of its share; what is in flight beyond that stays there for a while. */
static void stream_shrink(struct sock *sk, u32 keep)
{
	struct stream *s = inet_csk_ca(sk);
	u32 flies = tcp_packets_in_flight(tcp_sk(sk));
	struct pool *p = stream_pool(s);

	if (flies > keep && !s->cut) {
		spin_lock_bh(&p->lock);
		flies = min(flies, s->share);	/* none, where the tick came in between */
		if (flies > keep)
			pool_leave_behind(p, sk, flies - keep);
		spin_unlock_bh(&p->lock);
	}
	stream_set(sk, s->state, keep);
}

static void stream_take_share(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p = stream_pool(s);
	u32 modest = READ_ONCE(p->modest), hungry = READ_ONCE(p->hungry);
	u32 waiting = READ_ONCE(p->waiting), splits = stream_splits(sk, window);
	u32 share = split_share(window, modest, hungry, waiting);
	u32 takes = split_share(splits, modest, hungry, waiting);
	u32 keep = share;

	/* What is in flight stays reserved, unless the breaker cuts or it waits in fq. */
	if (!s->cut && !stream_is_overdue(sk) && !stream_is_put_off(sk))
		keep = max(share, tcp_packets_in_flight(tcp_sk(sk)));
	if (s->share > keep)
		stream_shrink(sk, keep);
	else if (s->share < takes)
		stream_take(sk, window, takes - s->share);
	s->settled = s->share && s->share == share;
	if (!s->share)
		s->repace = 1;	/* its round trip may have changed */
	if (s->share)
		stream_count_round(sk);
}

/*
 * Has no data, or no connection yet, or nothing in flight and a peer without room for a
 * segment.
 */
static bool stream_idle(const struct tcp_sock *tp)
{
	return tp->write_seq == tp->snd_una ||
	       ((const struct sock *)tp)->sk_state == TCP_SYN_SENT ||
	       (!tp->packets_out && tp->snd_wnd < tp->mss_cache);
}

static void stream_yield(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct pool *p = stream_pool(s);

	spin_lock_bh(&p->lock);
	pool_leave_behind(p, sk, s->share);
	spin_unlock_bh(&p->lock);
	stream_rest(sk);
}

/* The window of a stream without a share, in its pool's @window, segments */
static u32 stream_share_of_idle(struct sock *sk, u32 window, bool dead)
{
	struct stream *s = inet_csk_ca(sk);
	u32 sockets;

	stream_rest(sk);
	sockets = max(READ_ONCE(stream_pool(s)->sockets), 1U);
	/* no share accounts for what a dead one sends: what the timer repeats */
	if (sockets > 1 && dead)
		return 1;
	/* what it would get: an equal part */
	return min(DIV_ROUND_UP(window, sockets), stream_bound(s));
}

/* The share of @sk in its pool's @window, segments. */
static u32 stream_busy_share(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->state != TCP_CIRCUIT_STREAM_HUNGRY) {
		if (stream_try_modest(sk, window)) {
			s->settled = s->proved;
			return s->share;
		}
		stream_set(sk, TCP_CIRCUIT_STREAM_HUNGRY, s->share);
		s->proved = 0;
		s->young = STREAM_YOUNG;
		stream_begin_round(sk);
	}
	stream_take_share(sk, window);
	return clamp(s->share, 1U, stream_bound(s));
}

/* The window of @sk in its pool's @window, segments: its share */
u32 stream_share(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool dead = stream_is_dead(sk);
	u32 share;

	stream_note_rtt(sk);
	s->settled = 0;
	if (stream_idle(tp) || dead)
		return stream_share_of_idle(sk, window, dead);
	if (stream_is_put_off(sk) && !tp->packets_out) {
		stream_rest(sk);
		return 1;
	}
	if (stream_is_mute(sk, tp->tcp_mstamp)) {
		if (s->share)
			stream_yield(sk);
		return stream_share_of_idle(sk, window, true);
	}
	/* whatever it needed then */
	if (stream_sleeps(sk))
		stream_rest(sk);
	if (s->state == TCP_CIRCUIT_STREAM_IDLE)	/* also where the tick has made it so */
		s->proved = 0;
	share = stream_busy_share(sk, window);
	if (stream_is_put_off(sk)) {
		share = min(share, max(tcp_packets_in_flight(tp), 1U));
		s->settled = 0;	/* that is not its share */
	}
	if (!tp->packets_out)	/* nothing will be acknowledged */
		s->settled = 0;
	return share;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Pace: the rate of a circuit, and SO_MAX_PACING_RATE
 *
 * With a rate, in bytes/s as a qdisc counts them, each segment is paced, from the
 * first one on, so that a switch with room for ten frames loses nothing.
 * Streams split the rate as they split the window.  The core's own pacing does
 * the work, in fq or in its internal timer; what it leaves unpaced, the first
 * ten segments of a connection, is paced here.
 */

#include "circuit.h"

#define STREAM_BURST_SHIFT	16	/* a burst lasts rate / 2^16: 15 us */
#define STREAM_BURST_MOST	((1U << 15) - 1)	/* segments, as burst has 15 bits */
#define STREAM_GSO_PARTS	16	/* unpaced: GSO packets are a 16th of the window at most */
#define STREAM_UNPACED		10	/* segments that the core never paces */

/* Under RCU: a device that goes away is taken from dst at any time, then freed. */
static const struct net_device *stream_device(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);

	return dst ? READ_ONCE(dst->dev) : NULL;
}

/* Bytes of a full segment as a qdisc counts them. */
u32 stream_wire(struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct net_device *dev;
	u32 link = ETH_HLEN;

	rcu_read_lock();
	dev = stream_device(sk);
	if (dev)
		link = dev->hard_header_len;
	rcu_read_unlock();
	return tp->mss_cache + tp->tcp_header_len + link +
	       icsk->icsk_af_ops->net_header_len + icsk->icsk_ext_hdr_len;
}

/* The rate that its circuit paces at, bytes/s, 0 = unpaced. */
u64 circuit_pace_rate(const struct circuit *c)
{
	return READ_ONCE(c->flags) & TCP_CIRCUIT_F_UNPACED ?
	       0 : READ_ONCE(c->rate);
}

/* Its part of the circuit's @rate, bytes/s on the wire */
static u64 stream_part(const struct sock *sk, u64 rate, u32 window)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct pool *p = stream_pool(s);
	struct split split;

	split.window = window;
	split.held = READ_ONCE(p->modest);
	split.hungry = READ_ONCE(p->hungry);
	split.modest = max(READ_ONCE(p->busy), split.hungry) - split.hungry;
	if (s->state == TCP_CIRCUIT_STREAM_HUNGRY)
		return split_rate_hungry(rate, &split, s->share);
	return split_rate_modest(rate, &split, s->share);
}

/* Bytes/s on the wire, U64_MAX: unpaced.  @shares: the window is the circuit's. */
static u64 stream_rate(struct sock *sk, u32 window, bool shares)
{
	const struct stream *s = inet_csk_ca(sk);
	u64 rate = circuit_pace_rate(s->user->circuit);

	if (!rate)
		rate = U64_MAX;
	if (!shares)
		return rate;
	if (stream_waits(s))
		return min(rate, stream_turns_rate(sk, window));
	return rate == U64_MAX ? rate : stream_part(sk, rate, window);
}

/*
 * A burst lasts 15 us: one frame at 1 Gbit/s, 12 (18 KB) at 10, 64 KB from 34
 * on.  The number of segments in a GSO packet sets it.  sk_pacing_shift would
 * also reduce what TSQ allows in the device's queue, and starve NICs that
 * report completions only every hundred us or so; and short round trips
 * override it (tcp_tso_rtt_log).
 */
static void stream_set_pace(struct sock *sk, u64 rate)
{
	struct stream *s = inet_csk_ca(sk);
	u32 mss = tcp_sk(sk)->mss_cache, wire = stream_wire(sk);
	u64 burst = div_u64(rate >> STREAM_BURST_SHIFT, wire);

	s->mss = mss;
	s->burst = clamp_t(u64, burst, 1, STREAM_BURST_MOST);
	s->pace = clamp_t(u64, div_u64(rate * mss, wire), 1, ~0UL - 1);
	if (cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE,
		    SK_PACING_NEEDED) == SK_PACING_NONE)
		s->paced = 1;
}

/* Limit GSO packets to @most segments, or to what the device takes if that is less. */
static void stream_bound_gso(struct sock *sk, u32 most)
{
	const struct net_device *dev;
	u32 segments = sk->sk_gso_max_segs;

	if (segments == most)
		return;
	rcu_read_lock();
	dev = stream_device(sk);
	if (dev && sk_can_gso(sk))
		segments = max_t(u32, 1, READ_ONCE(dev->gso_max_segs));
	rcu_read_unlock();
	segments = min(segments, most);
	if (sk->sk_gso_max_segs != segments)
		sk->sk_gso_max_segs = segments;
}

static void stream_lift_pace(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->paced && !s->was_fq && sk->sk_max_pacing_rate == ~0UL)
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NEEDED,
			SK_PACING_NONE);
	s->paced = 0;
	s->burst = 0;
	s->pace = ~0UL;
}

/* Pace by the core's timer: data stays in the socket until its time, not in fq's queue. */
void stream_pace_by_core(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (cmpxchg(&sk->sk_pacing_status, SK_PACING_FQ,
		    SK_PACING_NEEDED) == SK_PACING_FQ)
		s->was_fq = 1;
}

/* fq sets it by itself with a new flow only. */
static void stream_restore_fq(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->was_fq)
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NEEDED, SK_PACING_FQ);
	s->was_fq = 0;
}

/* Restore what the core would have set, for the algorithm that follows. */
void stream_unpace(struct sock *sk)
{
	stream_restore_fq(sk);
	stream_lift_pace(sk);
	stream_bound_gso(sk, GSO_MAX_SEGS);
}

/* SO_MAX_PACING_RATE, bytes/s, ~0 = none: 0 is none to the core, too */
unsigned long stream_max_rate(const struct sock *sk)
{
	return READ_ONCE(sk->sk_max_pacing_rate) ?: ~0UL;
}

static unsigned long stream_pace_now(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return min(s->pace, stream_max_rate(sk));
}

/*
 * A segment lasts longer than the smallest round trip.  The core asks once for all that it
 * sends in one go, and fq would keep it, whatever becomes of the stream or its pace.  One that
 * takes less than a us does not, and so bounds the product.
 */
static bool stream_is_slow(const struct sock *sk)
{
	u64 mss = tcp_sk(sk)->mss_cache;
	unsigned long pace = READ_ONCE(sk->sk_pacing_rate);

	return pace < mss * USEC_PER_SEC &&
	       mss * USEC_PER_SEC > (u64)pace * stream_least_rtt_us(sk);
}

/* Also while the core paces in its place */
bool stream_is_by_fq(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->was_fq || READ_ONCE(sk->sk_pacing_status) == SK_PACING_FQ;
}

/* False: the core, or SO_MAX_PACING_RATE, has changed what the pace depends on. */
bool stream_pace_undisturbed(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->mss == (u16)tcp_sk(sk)->mss_cache &&
	       sk->sk_gso_max_segs <= s->burst &&
	       READ_ONCE(sk->sk_pacing_rate) == stream_pace_now(sk);
}

static void stream_repace(struct sock *sk, u32 window, bool shares)
{
	struct stream *s = inet_csk_ca(sk);
	u64 rate = stream_rate(sk, window, shares);

	s->repace = 0;
	if (rate != U64_MAX)
		stream_set_pace(sk, rate);
	else if (s->burst)
		stream_lift_pace(sk);
}

/* fq, where it did so far, unless it would keep what is to leave later */
static noinline void stream_choose_pacer(struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	if (stream_is_slow(sk))
		stream_pace_by_core(sk);
	else if (s->was_fq && !stream_waits(s) && !stream_departs_later(sk))
		stream_restore_fq(sk);
}

/*
 * At 0 the core does not pace.  Only the algorithm raises it again, so that it sees each 0;
 * but newer kernels (7.x) set SO_MAX_PACING_RATE without the socket's lock, and the next 0 may
 * come before the next packet.
 */
static noinline void stream_restore_pace(struct sock *sk, unsigned long pace)
{
	struct stream *s = inet_csk_ca(sk);

	if (!READ_ONCE(sk->sk_pacing_rate))
		s->singly = 1;
	WRITE_ONCE(sk->sk_pacing_rate, pace);
}

/*
 * SO_MAX_PACING_RATE lowers sk_pacing_rate at once, but only the algorithm
 * raises it again; a new route restores the full size of GSO packets.
 *
 * Unpaced, the core defers segments until they fill a GSO packet or a third of the
 * window (tcp_tso_should_defer()).  Under a growing window that costs nothing; under
 * one fixed at rate x RTT, what is deferred is lost capacity.
 */
void stream_hold_pace(struct sock *sk, u32 window, bool shares)
{
	struct stream *s = inet_csk_ca(sk);
	unsigned long pace;

	if (s->repace || (s->burst && s->mss != (u16)tcp_sk(sk)->mss_cache))
		stream_repace(sk, window, shares);

	pace = stream_pace_now(sk);
	if (unlikely(READ_ONCE(sk->sk_pacing_rate) != pace))
		stream_restore_pace(sk, pace);
	if (unlikely(pace != ~0UL || s->was_fq))
		stream_choose_pacer(sk);
	stream_bound_gso(sk, s->burst ?: max(s->cwnd / STREAM_GSO_PARTS, 2U));
}

/* Set the core's pacing timer, which sends, to @when (ns) unless it fires earlier. */
void stream_set_timer(struct sock *sk, u64 when)
{
	struct hrtimer *timer = &tcp_sk(sk)->pacing_timer;

	if (!hrtimer_is_queued(timer))
		sock_hold(sk);
	else if (ktime_to_ns(hrtimer_get_expires(timer)) <= when ||
		 hrtimer_try_to_cancel(timer) != 1)
		return;
	hrtimer_start(timer, ns_to_ktime(when), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Paced, by the circuit or by SO_MAX_PACING_RATE, but not by the core; or slowly by fq. */
bool stream_sends_singly(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (stream_pace_now(sk) == ~0UL)
		return false;
	if (tp->data_segs_out < STREAM_UNPACED)
		return tcp_send_head(sk);
	return (s->singly || (stream_is_by_fq(sk) && stream_is_slow(sk))) &&
	       (tcp_send_head(sk) || tp->lost_out > tp->retrans_out);
}

/* Segments that it may send in one go at @pace where the core does not pace it */
static u32 stream_quota(const struct sock *sk, unsigned long pace)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!s->singly || tp->data_segs_out < STREAM_UNPACED)
		return 1;
	return clamp_t(unsigned long, (pace >> STREAM_BURST_SHIFT) / tp->mss_cache,
		       1, STREAM_BURST_MOST);
}

/* ns that the next @segments take at @pace */
static u64 stream_next_lasts(const struct sock *sk, unsigned long pace, u32 segments)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct sk_buff *head = tcp_send_head(sk);
	u32 bytes = tp->mss_cache * segments;	/* 2^31 at most */

	if (segments == 1 && head && tp->lost_out <= tp->retrans_out)
		bytes = min(bytes, head->len);
	return div64_ul((u64)bytes * NSEC_PER_SEC, pace);
}

/*
 * Hold back the next @segments if they are not due.  A turn (pool_unbook()) may have put them
 * off by more than they take.  Not where the peer has no room: the window probe would be put
 * off as well.
 */
static bool stream_hold_next(struct sock *sk, unsigned long pace, u32 segments)
{
	struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 full = div64_ul((u64)tp->mss_cache * segments * NSEC_PER_SEC, pace);

	s->depart = min(s->depart, tp->tcp_clock_cache + full);
	if (tp->tcp_clock_cache >= s->depart || tp->snd_wnd < tp->mss_cache)
		return false;
	s->let_go = 0;	/* a segment waits for the timer */
	stream_hold_back(sk, s->depart);
	return true;
}

/*
 * The core does not pace a connection's first ten segments
 * (tcp_update_skb_after_send()): a burst that a small buffer drops, or that stays in
 * it for good, since the rate leaves no room to drain it.  So they are paced here: one
 * segment of window at a time, and the core's own pacing timer for the next.  Called
 * before each transmission.
 *
 * A slow stream, too, sends one at a time: with each packet fq takes its pacing back, and
 * would keep the rest of what the core sends in one go.  But the core holds each until its
 * time (tcp_wstamp_ns), and sets the timer then.  Not at SO_MAX_PACING_RATE 0: a stream that
 * had it is paced here for good, a burst at a time.
 *
 * If the timer fires and nothing is sent, it is not set again, or it would fire every
 * few us for as long as a window is full.  The core calls this again when whatever
 * held the segment has gone.
 */
u32 circuit_send_singly(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool by_core = tp->data_segs_out >= STREAM_UNPACED && !s->singly;
	bool granted = s->let_go == stream_next(sk);	/* and was not sent */
	unsigned long pace = stream_pace_now(sk);
	u32 in_flight = tcp_packets_in_flight(tp), quota = stream_quota(sk, pace);

	window = min(window, in_flight + quota);
	if (by_core && tp->tcp_clock_cache < tp->tcp_wstamp_ns)
		return window;
	if (!by_core && !granted && stream_hold_next(sk, pace, quota))
		return window;
	if (window <= in_flight ||
	    (granted && hrtimer_callback_running(&tp->pacing_timer)))
		return window;
	s->let_go = stream_next(sk);
	s->depart = tp->tcp_clock_cache + stream_next_lasts(sk, pace, quota);
	stream_set_timer(sk, s->depart);
	return window;
}

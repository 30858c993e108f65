// SPDX-License-Identifier: GPL-2.0
/*
 * Shares of streams that do nothing with them
 *
 * A stream moves its share only when something happens to it.  So it loses its share when
 * nothing does: when nothing of what it sent is delivered any more, or it sends nothing
 * though it could.  It finds that out at its own next look (share.c), or the tick does, which
 * looks for such streams ten times a second (pool_reclaim()).  It has a share again with the
 * next delivery, or when it is to send.
 */

#include "circuit.h"

#define STREAM_SILENT_LEAST	((u32)USEC_PER_SEC)
#define STREAM_SILENT_MOST	(4 * (u32)USEC_PER_SEC)
#define STREAM_SLOW_SEGMENTS	4

/* How long so many segments take at @pace, us */
static u64 stream_lasts_us(const struct sock *sk, u32 segments, unsigned long pace)
{
	u64 bytes = (u64)segments * tcp_sk(sk)->mss_cache;	/* 2^42 at most */

	return div64_ul(bytes * USEC_PER_SEC, max(pace, 1UL));
}

/*
 * How long the circuit's pace alone may keep it from sending, us, 1 s at least: four segments,
 * as its part may have been smaller when it sent the last one.  As many as are busy now count,
 * too, as its pace is that of its last look.
 */
static u32 stream_slack_us(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u64 rate = circuit_pace_rate(s->user->circuit), paced;

	if (!rate)
		return STREAM_SILENT_LEAST;
	paced = stream_lasts_us(sk, STREAM_SLOW_SEGMENTS, READ_ONCE(s->pace));
	rate = min_t(u64, rate, ~0UL);
	paced = min(paced, stream_lasts_us(sk, STREAM_SLOW_SEGMENTS, rate) *
			   max(READ_ONCE(stream_pool(s)->busy), 1U));
	return clamp_t(u64, paced, STREAM_SILENT_LEAST, U32_MAX);
}

/*
 * Under fq it is too far ahead by more than its smallest round trip, as users and peers may
 * stretch the others, and than its share at its present pace: fq goes on with departures of a
 * pace that has been lifted, and with those of a stream that was reset.
 */
bool stream_is_far_ahead(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 ahead = tp->tcp_wstamp_ns - tp->tcp_clock_cache;	/* ns */
	u64 lasts;

	if (ahead > NSEC_PER_SEC &&
	    ahead > (u64)stream_slack_us(sk) * NSEC_PER_USEC)
		return true;
	if (!stream_is_by_fq(sk) ||
	    ahead <= (u64)stream_least_rtt_us(sk) * NSEC_PER_USEC)
		return false;
	lasts = stream_lasts_us(sk, max_t(u32, s->share, STREAM_SLOW_SEGMENTS),
				READ_ONCE(sk->sk_pacing_rate));
	return ahead > lasts * NSEC_PER_USEC;
}

/*
 * Two round trips, 4 s at most, as its peer says how long a round trip is; not less than its
 * slack
 */
static u32 stream_patience_us(const struct sock *sk)
{
	u32 rtts = 2 * (READ_ONCE(tcp_sk(sk)->srtt_us) >> 3);

	return max(min(rtts, STREAM_SILENT_MOST), stream_slack_us(sk));
}

/*
 * A segment of it is in flight and nothing comes back: others may want what it holds.
 * The core stamps each delivery, and the first segment that is sent with nothing in
 * flight: with the time at which fq is to send it, which may be far ahead.
 */
bool stream_is_mute(const struct sock *sk, u64 now_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 heard = READ_ONCE(tp->delivered_mstamp);

	return READ_ONCE(tp->packets_out) &&
	       (now_us > heard + stream_patience_us(sk) ||
		heard > now_us + stream_slack_us(sk)) &&
	       READ_ONCE(stream_pool(inet_csk_ca(sk))->sockets) > 1;
}

/*
 * It holds a share and has sent nothing for long, whatever its program or its peer calls
 * for meanwhile: it holds itself back by its own pace, say.
 */
bool stream_sleeps(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return s->share && !READ_ONCE(tp->packets_out) &&
	       (u32)(tcp_jiffies32 - READ_ONCE(tp->lsndtime)) >
	       usecs_to_jiffies(stream_patience_us(sk)) &&
	       READ_ONCE(stream_pool(s)->sockets) > 1;
}

/*
 * What is in flight stays its own, but not where the oldest of it is older than that: a peer
 * that acknowledges a segment now and then would keep the rest in flight for as long as it
 * likes.  Sorted by time: what is sent again is no longer old, but what was sent after it is.
 */
bool stream_is_overdue(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct sk_buff *oldest =
		list_first_entry_or_null(&tp->tsorted_sent_queue, struct sk_buff,
					 tcp_tsorted_anchor);

	return oldest && tp->tcp_mstamp > tcp_skb_timestamp_us(oldest) +
					  stream_patience_us(sk);
}

/*
 * Two timeouts in a row, and nothing was delivered since the last: the stream must not hold
 * a share that others could use, whatever its program writes.  Where something was, what it
 * sends has to be accounted for, though its oldest segment is still not acknowledged.
 */
bool stream_is_dead(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return inet_csk(sk)->icsk_retransmits > 1 && tcp_sk(sk)->packets_out && !s->heard;
}

/*
 * Nothing will give the stream's share back: a closed socket's, as the core does not tell
 * the algorithm that a connection was reset, and its socket lives until its file is
 * closed; or there is nothing to wake it for long.
 */
static bool stream_is_stuck(const struct sock *sk)
{
	u64 now_us = div_u64(ktime_get_ns(), NSEC_PER_USEC);

	return inet_sk_state_load(sk) == TCP_CLOSE || stream_is_mute(sk, now_us) ||
	       stream_sleeps(sk);
}

#define POOL_RECLAIM	1024	/* streams checked in one go */

/*
 * Reclaim shares of streams that are stuck.  The socket is not locked: whoever has it
 * finds its stream idle at the next look, as it does before it sends, and share and state
 * are the pool's.
 */
void pool_reclaim(struct pool *p)
{
	unsigned int looks = 0;
	struct stream *s, *next;
	LIST_HEAD(seen);

	if (list_empty(&p->active))
		return;
	spin_lock_bh(&p->lock);
	list_for_each_entry_safe(s, next, &p->active, active) {
		const struct inet_connection_sock *icsk =
			container_of((void *)s, struct inet_connection_sock,
				     icsk_ca_priv);
		const struct sock *sk = (const struct sock *)icsk;

		if (stream_is_stuck(sk)) {
			if (s->share)
				pool_leave_behind(p, sk, s->share);
			pool_set(p, s, TCP_CIRCUIT_STREAM_IDLE, 0);
		} else {
			list_move_tail(&s->active, &seen);
		}
		if (++looks >= POOL_RECLAIM)
			break;
	}
	list_splice_tail(&seen, &p->active);
	spin_unlock_bh(&p->lock);
}

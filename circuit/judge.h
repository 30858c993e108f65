/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The breaker's judgement: what was seen, and whether it trips
 *
 * A fixed window on a path that is shared after all (a reroute, a mistyped rate)
 * would starve everybody else for good.  RFC 8084 asks for a breaker that stops
 * this, and RFC 9743 5.1.1 for one in an algorithm like this one.  It judges what
 * the streams of one user of a circuit saw together, slot by slot.
 *
 * A slot lasts a fourth of net.ipv4.tcp_circuit_breaker_ms.  For loss it also
 * lasts at least 5 round trips and 256 segments, so that neither chance nor one
 * repair is taken for persistent loss; for all other reasons it does not count
 * with less than 32 delivered segments.  A slot is evidence of
 *
 *	loss		if lost / (lost + delivered) exceeds
 *			net.ipv4.tcp_circuit_breaker thousandths.  A slot that
 *			lost more than half counts twice; one that delivered
 *			nothing, an outage, does not count.
 *	CE		if marked / delivered exceeds the same threshold: nobody
 *			marks on a circuit of one's own
 *	delay		if the smoothed round trip exceeds 2 x explained + 5 ms,
 *			where explained is the smallest round trip, or
 *			window / rate if that is more
 *	shortfall	if less than half was delivered of what the user's part
 *			of the window carries: that part of the rate, or that
 *			part of the window in each round trip if that is less
 *
 * Four slots in a row with evidence of the same reason trip the breaker.
 *
 * Delay and shortfall need a rate, and a path that is the limit.  The window
 * that the user's streams held during the slot, by segments x time, has to be
 * in use for three quarters, and less than one quarter of it may be held by
 * streams with a backlog in this host, where a local shaper keeps what it does
 * not let pass.  For delay, three quarters of it have to be late.
 *
 * Arithmetic alone: also compiled in user space, by its unit test.
 */
#ifndef _CIRCUIT_JUDGE_H
#define _CIRCUIT_JUDGE_H

#include <linux/types.h>

#define JUDGE_SLOTS		4	/* in a row that trip */
#define JUDGE_LOSS_SEGMENTS	256	/* at least, in a slot for loss */
#define JUDGE_LOSS_RTTS		5	/* round trips that it lasts at least */
#define JUDGE_SEGMENTS		32	/* delivered at least, in any other slot */
#define JUDGE_DELAY_US		5000	/* beyond twice what is explained */

enum judge_reason {	/* as enum tcp_circuit_reason */
	JUDGE_NONE,
	JUDGE_LOSS,
	JUDGE_CE,
	JUDGE_DELAY,
	JUDGE_SHORTFALL,
	JUDGE_REASONS,
};

/* What was seen since the last judgement */
struct judge_sample {
	u32	ms;
	u64	lost;		/* segments: a slot may last 150 s, at 400 Gbit/s */
	u64	delivered;	/* segments */
	u64	ce;		/* of these, marked */
	u32	rtt_us;		/* smallest smoothed round trip, 0 = none seen */
	u32	rtt_expected;	/* us: the longest that was explained, 0 = none */
	u64	bytes;		/* delivered, on the wire */
	u64	share_ms;	/* segments of window held x ms */
	u64	full_ms;	/* of these, the window was in use */
	u64	local_ms;	/* of these, with a backlog in this host */
	u64	late_ms;	/* of these, the round trip was too long: judge_late() */
	u64	carries;	/* bytes they should carry: judge_carries() */
};

/* What is known of the circuit */
struct judge_circuit {
	u32	threshold;	/* thousandths, 0 = never trips */
	u32	slot_ms;
	u32	window;		/* segments */
	u32	wire;		/* bytes of the user's full segment */
	u64	rate;		/* bytes/s, 0 = unknown */
	u32	rtt_us;		/* smallest round trip that was seen, 0 = none */
};

struct judge {
	struct judge_sample	slot;	/* so far */
	struct judge_sample	loss;	/* of the slot for loss so far */
	u32	bad[JUDGE_REASONS];	/* slots in a row */
	bool	evidence_now;	/* the last judgement ended a slot with evidence */
};

u32 judge_loss(u64 lost, u64 delivered);
bool judge_suspects(const struct judge *j);
bool judge_late(const struct judge_circuit *c, u32 rtt_us);
u32 judge_expected_rtt(const struct judge_circuit *c);
u64 judge_carries(const struct judge_circuit *c, u32 share, u32 ms);
enum judge_reason judge(struct judge *j, const struct judge_sample *seen,
			const struct judge_circuit *c,
			struct judge_sample *evidence);

#endif /* _CIRCUIT_JUDGE_H */

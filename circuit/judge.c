// SPDX-License-Identifier: GPL-2.0
/*
 * The breaker's judgement: see judge.h
 */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "judge.h"

/* Thousandths of all segments, 2^53 at most; 0 where there were none. */
u32 judge_loss(u64 lost, u64 delivered)
{
	u64 all = lost + delivered;

	return all ? div64_u64(1000 * lost, all) : 0;
}

/*
 * What the circuit's own window and rate explain, us; 0 = nothing is known.
 * window <= 2^26, wire < 2^17: the product with 10^6 fits in 64 bits.
 */
u32 judge_expected_rtt(const struct judge_circuit *c)
{
	u64 drain;

	if (!c->rate || !c->rtt_us)
		return 0;
	drain = div64_u64((u64)c->window * c->wire * 1000000, c->rate);
	return min_t(u64, max_t(u64, c->rtt_us, drain), U32_MAX / 4);
}

static void judge_add(struct judge_sample *sum, const struct judge_sample *s)
{
	sum->ms += s->ms;
	sum->lost += s->lost;
	sum->delivered += s->delivered;
	sum->ce += s->ce;
	sum->bytes += s->bytes;
	sum->share_ms += s->share_ms;
	sum->full_ms += s->full_ms;
	sum->local_ms += s->local_ms;
	sum->late_ms += s->late_ms;
	sum->carries += s->carries;
	if (s->rtt_expected > sum->rtt_expected)
		sum->rtt_expected = s->rtt_expected;
	if (s->rtt_us && (!sum->rtt_us || s->rtt_us < sum->rtt_us))
		sum->rtt_us = s->rtt_us;
}

/*
 * Was the path the limit?  At least three quarters of the window were in use,
 * and less than a quarter was held by streams with a backlog in this host.
 */
static bool judge_path_limits(const struct judge_sample *s)
{
	return s->share_ms && 4 * s->full_ms >= 3 * s->share_ms &&
	       4 * s->local_ms < s->share_ms;
}

/* Is a stream's smoothed round trip longer than the circuit explains? */
bool judge_late(const struct judge_circuit *c, u32 rtt_us)
{
	u32 expected = judge_expected_rtt(c);

	return expected && rtt_us > 2 * expected + JUDGE_DELAY_US;
}

static bool judge_delayed(const struct judge_sample *s)
{
	return 4 * s->late_ms >= 3 * s->share_ms;
}

/*
 * Bytes on the wire that @share segments of the window should carry in @ms:
 * their part of the rate, or, if that is less, @share segments in each round
 * trip (a small window is no shortfall); 0 = unknown.  share <= window <= 2^26,
 * rate < 2^37,
 * wire < 2^17, ms < 2^20: no product has more than 63 bits.
 */
u64 judge_carries(const struct judge_circuit *c, u32 share, u32 ms)
{
	u64 by_rate, by_window;

	if (!c->rate || !c->rtt_us || !c->window)
		return 0;
	by_rate = div64_u64(c->rate * min_t(u32, share, c->window), c->window);
	by_window = div64_u64((u64)share * c->wire * 1000000, c->rtt_us);
	return div64_u64(min_t(u64, by_rate, by_window) * ms, 1000);
}

static bool judge_short(const struct judge_sample *s)
{
	return 2 * s->bytes < s->carries;
}

/* Does a whole slot have evidence of @reason? */
static bool judge_bad(const struct judge_sample *s,
		      const struct judge_circuit *c, enum judge_reason reason)
{
	switch (reason) {
	case JUDGE_CE:
		return 1000 * s->ce > c->threshold * s->delivered;
	case JUDGE_DELAY:
		return judge_path_limits(s) && judge_delayed(s);
	case JUDGE_SHORTFALL:
		return judge_path_limits(s) && judge_short(s);
	default:
		return false;
	}
}

/* All reasons but loss; with less than JUDGE_SEGMENTS a slot does not count. */
static enum judge_reason judge_slot(struct judge *j,
				    const struct judge_circuit *c)
{
	enum judge_reason reason, found = JUDGE_NONE;

	if (j->slot.delivered < JUDGE_SEGMENTS)
		return JUDGE_NONE;
	for (reason = JUDGE_CE; reason < JUDGE_REASONS; reason++) {
		if (!judge_bad(&j->slot, c, reason)) {
			j->bad[reason] = 0;
			continue;
		}
		j->evidence_now = true;
		if (++j->bad[reason] >= JUDGE_SLOTS && !found)
			found = reason;
	}
	return found;
}

static enum judge_reason judge_slot_of_loss(struct judge *j,
					    const struct judge_circuit *c)
{
	u32 loss = judge_loss(j->loss.lost, j->loss.delivered);

	if (!j->loss.delivered)
		return JUDGE_NONE;
	if (loss <= c->threshold) {
		j->bad[JUDGE_LOSS] = 0;
		return JUDGE_NONE;
	}
	j->evidence_now = true;
	j->bad[JUDGE_LOSS] += loss > 500 ? 2 : 1;
	return j->bad[JUDGE_LOSS] >= JUDGE_SLOTS ? JUDGE_LOSS : JUDGE_NONE;
}

static bool judge_loss_slot_ended(const struct judge_sample *s,
				  const struct judge_circuit *c)
{
	u32 rtts = JUDGE_LOSS_RTTS * (s->rtt_us / 1000);

	return s->ms >= c->slot_ms && s->ms >= rtts &&
	       s->lost + s->delivered >= JUDGE_LOSS_SEGMENTS;
}

/* Does the last slot of any kind have evidence against the path? */
bool judge_suspects(const struct judge *j)
{
	enum judge_reason reason;

	for (reason = JUDGE_LOSS; reason < JUDGE_REASONS; reason++)
		if (j->bad[reason])
			return true;
	return false;
}

/*
 * Add what was seen, and judge the slots that end with it.  Returns a reason,
 * with the slot's sum in @evidence, if with it there are JUDGE_SLOTS or more in
 * a row; JUDGE_NONE otherwise, also while a slot lasts.
 */
enum judge_reason judge(struct judge *j, const struct judge_sample *seen,
			const struct judge_circuit *c,
			struct judge_sample *evidence)
{
	enum judge_reason reason = JUDGE_NONE;

	if (!c->threshold) {
		memset(j, 0, sizeof(*j));
		return JUDGE_NONE;
	}
	j->evidence_now = false;
	judge_add(&j->slot, seen);
	judge_add(&j->loss, seen);
	if (judge_loss_slot_ended(&j->loss, c)) {
		reason = judge_slot_of_loss(j, c);
		*evidence = j->loss;
		memset(&j->loss, 0, sizeof(j->loss));
	}
	if (j->slot.ms >= c->slot_ms) {
		if (!reason) {
			reason = judge_slot(j, c);
			*evidence = j->slot;
		}
		memset(&j->slot, 0, sizeof(j->slot));
	}
	return reason;
}

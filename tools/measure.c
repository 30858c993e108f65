// SPDX-License-Identifier: GPL-2.0
/*
 * Looks -> measure -> judgement: see measure.h.
 */
#include <string.h>

#include "measure.h"

/* --- looks ----------------------------------------------------------------- */

static bool wants(const struct measure *m, const struct look *l)
{
	if (m->own && l->shaper && l->stats.backlog)
		return true;
	return l->listed ? l->wanting : l->hungry;
}

static void add_module(struct measure *m, const struct look *l)
{
	const struct look *last = &m->last;

	if (l->module != last->module || l->id != last->id || l->delivered < last->delivered ||
	    l->lost < last->lost)
		m->broken |= BROKEN_MODULE;
	else if (l->rate != last->rate)
		m->broken |= BROKEN_RATE;
}

/* Bytes and packets have 64 bits, the others 32. */
static void add_shaper(struct measure *m, const struct look *l)
{
	const struct qdisc_stats *now = &l->stats, *last = &m->last.stats;

	if (l->shaper != m->last.shaper || now->bytes < last->bytes ||
	    now->packets < last->packets)
		m->broken |= BROKEN_SHAPER;
	else if (now->drops < last->drops || now->overlimits < last->overlimits)
		m->broken |= BROKEN_DROPS;
}

void measure_add(struct measure *m, const struct look *l)
{
	if (!m->looks) {
		m->first = *l;
	} else {
		add_module(m, l);
		add_shaper(m, l);
		m->work.acked += l->work.acked;
		m->work.busy += l->work.busy;
		m->work.rwnd += l->work.rwnd;
		m->work.sndbuf += l->work.sndbuf;
	}
	if (l->tripped > m->tripped)
		m->tripped = l->tripped;
	m->wanted += wants(m, l);
	m->looks++;
	m->last = *l;
}

/* --- arithmetic ------------------------------------------------------------ */

static uint64_t per_second(double n, uint64_t us)
{
	return (uint64_t)(n * 1e6 / (double)us);
}

/* Bytes of a segment as a qdisc counts it; of a path with a smaller MTU it is shorter. */
static uint32_t wire_of(const struct measure *m, const struct plan *p)
{
	uint32_t mss = m->last.mss;

	return mss && mss < p->payload ? p->wire - p->payload + mss : p->wire;
}

/* The smallest round trip that a stream has seen is that of the path without a queue. */
static uint64_t window_carries(const struct measure *m, const struct plan *p)
{
	const struct look *l = &m->last;

	return l->min_rtt ? per_second((double)l->window * wire_of(m, p), l->min_rtt) : UINT64_MAX;
}

/* Without --pace fq holds each stream to its part. */
static uint64_t streams_carry(const struct measure *m, const struct circuit *c,
			      const struct plan *p)
{
	if (c->shaper != SHAPER_FQ || p->maxrate == FQ_NO_MAXRATE || !m->last.listed)
		return UINT64_MAX;
	return (uint64_t)m->last.wanting * p->maxrate;
}

static bool reaches(uint64_t rate, uint64_t planned)
{
	return rate >= planned * HELD_PERCENT / 100;
}

/* --- the verdict ----------------------------------------------------------- */

static bool is_counted(const struct look *l)
{
	return l->module || l->shaper || l->listed;
}

static enum reason unknown(const struct measure *m)
{
	if (m->broken & BROKEN_MODULE)
		return REASON_MODULE_ANEW;
	if (m->broken & BROKEN_SHAPER)
		return REASON_SHAPER_ANEW;
	if (m->broken & BROKEN_RATE)
		return REASON_RATE_CHANGED;
	if (m->looks < 2 || m->last.at <= m->first.at || !is_counted(&m->last))
		return REASON_NO_COUNTER;
	return REASON_NONE;
}

static void differences(const struct measure *m, struct judgement *j)
{
	const struct look *a = &m->first, *b = &m->last;

	j->us = b->at - a->at;
	j->delivered = b->delivered - a->delivered;
	j->lost = b->lost - a->lost;
	j->sent = per_second((double)(b->stats.bytes - a->stats.bytes), j->us);
	if (m->broken & BROKEN_DROPS)
		return;
	j->drops = b->stats.drops - a->stats.drops;
	j->overlimits = b->stats.overlimits - a->stats.overlimits;
}

/* What it dropped itself it has not sent. */
static uint64_t by_shaper(const struct measure *m, const struct plan *p,
			  const struct judgement *j)
{
	uint64_t behind = j->lost > j->drops ? j->lost - j->drops : 0;
	uint64_t lost = per_second((double)behind * wire_of(m, p), j->us);

	return j->sent > lost ? j->sent - lost : 0;
}

static uint64_t at_most_sent(const struct measure *m, const struct judgement *j, uint64_t rate)
{
	return m->last.shaper && rate > j->sent ? j->sent : rate;
}

/* @us: in which they were delivered */
static uint64_t by_module(const struct measure *m, const struct plan *p,
			  const struct judgement *j, uint64_t us)
{
	return at_most_sent(m, j, per_second((double)j->delivered * wire_of(m, p), us));
}

/* Data in full segments, as its writers do not say how it was cut */
static uint64_t by_streams(const struct measure *m, const struct plan *p,
			   const struct judgement *j)
{
	uint32_t wire = wire_of(m, p), headers = p->wire - p->payload;
	double sent = (double)m->work.acked * wire / (wire - headers);

	return at_most_sent(m, j, per_second(sent, j->us));
}

/* *@most: with what may not have been reported so far */
static uint64_t achieved(const struct measure *m, const struct plan *p,
			 const struct judgement *j, uint64_t *most)
{
	if (m->last.shaper && (m->own || (!m->last.module && !m->last.listed)))
		return *most = by_shaper(m, p, j);
	if (!m->last.module)
		return *most = by_streams(m, p, j);
	*most = by_module(m, p, j, j->us > 2 * REPORT_US ? j->us - REPORT_US : j->us);
	return by_module(m, p, j, j->us);
}

static bool is_lossy(const struct judgement *j)
{
	return 1000 * j->lost >= LOSS_PER_MILLE * (j->lost + j->delivered) && j->lost;
}

/* More than half of the time in which there was something to send */
static bool is_most(uint64_t us, const struct measure *m)
{
	return us > m->work.busy / 2;
}

/* What the circuit's segments leave of what the shaper sent, more than is missing in all */
static bool others_sent(const struct measure *m, const struct plan *p,
			const struct judgement *j)
{
	uint64_t lost = per_second((double)j->lost * wire_of(m, p), j->us);

	return !m->own && m->last.shaper && reaches(j->sent, j->planned) &&
	       j->sent > j->achieved + lost;
}

/*
 * All that sends is of another algorithm, which may have all of a buffer in flight and so
 * want nothing at any look.
 */
static bool is_carried_elsewhere(const struct measure *m)
{
	return m->last.active && m->last.active_astray == m->last.active;
}

/* Of whatever algorithm: neighbour discovery, say, is no load. */
static bool carries_much(const struct measure *m, const struct plan *p,
			 const struct judgement *j)
{
	return j->achieved >= j->planned / 100 || by_streams(m, p, j) >= j->planned / 100;
}

/* The cause before what it causes: loss also fills the far side's window. */
static enum reason likely(const struct measure *m, const struct circuit *c,
			  const struct plan *p, struct judgement *j)
{
	if (m->tripped || m->last.trips != m->first.trips)
		return REASON_BREAKER;
	if (j->drops)
		return REASON_DROPS;
	if (others_sent(m, p, j))
		return REASON_OTHERS;
	if (m->last.astray || is_carried_elsewhere(m))
		return REASON_ALGORITHM;
	if (is_lossy(j))
		return REASON_LOSS;
	j->most = streams_carry(m, c, p);
	if (!reaches(j->most, j->planned))
		return REASON_STREAMS;
	j->most = m->last.module ? window_carries(m, p) : UINT64_MAX;
	if (!reaches(j->most, j->planned))
		return REASON_WINDOW;
	j->most = 0;
	if (is_most(m->work.rwnd, m))
		return REASON_RWND;
	if (is_most(m->work.sndbuf, m))
		return REASON_SNDBUF;
	return REASON_UNEXPLAINED;
}

static enum verdict verdict_of(const struct measure *m, const struct plan *p,
			       const struct judgement *j, uint64_t most)
{
	if (reaches(most, j->planned))
		return VERDICT_HELD;
	if (100ULL * m->wanted >= (uint64_t)WANTED_PERCENT * m->looks)
		return VERDICT_SHORT;
	if (is_carried_elsewhere(m) && carries_much(m, p, j))
		return VERDICT_SHORT;
	return m->wanted || carries_much(m, p, j) ? VERDICT_LIGHT : VERDICT_IDLE;
}

void measure_judge(const struct measure *m, const struct circuit *c, const struct plan *p,
		   struct judgement *j)
{
	uint64_t most;

	memset(j, 0, sizeof(*j));
	j->planned = c->rate;
	j->reason = unknown(m);
	if (j->reason)
		return;
	differences(m, j);
	j->achieved = achieved(m, p, j, &most);
	j->verdict = verdict_of(m, p, j, most);
	if (j->verdict == VERDICT_SHORT)
		j->reason = likely(m, c, p, j);
}

const char *measure_verdict_name(enum verdict verdict)
{
	static const char * const names[] = {
		[VERDICT_UNKNOWN] = "unknown", [VERDICT_IDLE] = "idle",
		[VERDICT_LIGHT] = "light", [VERDICT_HELD] = "held", [VERDICT_SHORT] = "short",
	};

	return names[verdict];
}

const char *measure_reason_name(enum reason reason)
{
	static const char * const names[] = {
		[REASON_NONE] = "none", [REASON_UNPLANNED] = "unplanned",
		[REASON_MODULE_ANEW] = "circuit_anew", [REASON_SHAPER_ANEW] = "shaper_anew",
		[REASON_RATE_CHANGED] = "rate_changed", [REASON_NO_COUNTER] = "no_counter",
		[REASON_BREAKER] = "breaker", [REASON_DROPS] = "drops",
		[REASON_OTHERS] = "others", [REASON_ALGORITHM] = "algorithm",
		[REASON_LOSS] = "loss", [REASON_STREAMS] = "streams",
		[REASON_WINDOW] = "window", [REASON_RWND] = "receive_window",
		[REASON_SNDBUF] = "send_buffer", [REASON_UNEXPLAINED] = "unexplained",
	};

	return names[reason];
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What several flows to one remote say together: see judge.h.
 *
 * Parallel streams share the hop that they overrun, and each is the others' "other people's
 * traffic": it loses in bursts, but at windows that change as the others' do.  Bytes of such
 * flows (VERDICT_LOSS by REASON_OTHERS) count for an overrun, where OVERRUN_PART of the bytes
 * that lose so are of flows that show it by themselves.  Random loss never does.
 *
 * What held a flow, a share of its time, counts by the bytes that it carried: the control
 * connection of iperf3 or FTP is idle all the time beside one that is not for a moment, and is
 * not half of that remote.  By time alone only where nothing was carried.
 */
#include "judge.h"
#include "permille.h"

#define OVERRUN_PART	4U	/* a quarter */

static uint64_t part_of(uint16_t permille, uint64_t weight)
{
	return weight / 1000 * permille + weight % 1000 * permille / 1000;
}

static void add_parts(struct work *w, const struct judgement *j, uint64_t weight)
{
	w->busy += part_of(j->busy, weight);
	w->rwnd += part_of(j->rwnd, weight);
	w->sndbuf += part_of(j->sndbuf, weight);
	w->app += part_of(j->app, weight);
}

static void add_sums(struct remote_facts *r, const struct judgement *j)
{
	r->sums.us += j->us;
	r->sums.acked += j->acked;
	add_parts(&r->sums, j, j->us);
	add_parts(&r->bytes, j, j->acked);
	r->segs += j->segs;
	r->retrans += j->retrans;
}

/* The path is the same for all flows: each of them may be the one that saw the most of it. */
static void add_path(struct remote_facts *r, const struct judgement *j)
{
	if (j->best_rate > r->best_rate)
		r->best_rate = j->best_rate;
	if (j->min_rtt_us && (!r->min_rtt_us || j->min_rtt_us < r->min_rtt_us))
		r->min_rtt_us = j->min_rtt_us;
	/* each flow has all drops of its device: a sum would count a packet many times */
	if (j->local_drops > r->local_drops)
		r->local_drops = j->local_drops;
}

/* Which has the most bytes; what is not known only if nothing is */
static enum verdict most_bytes(const struct remote_facts *r)
{
	enum verdict v, most = VERDICT_UNKNOWN;

	for (v = VERDICT_UNKNOWN + 1; v < VERDICTS; v++) {
		if (r->flows[v] && (most == VERDICT_UNKNOWN || r->acked[v] > r->acked[most]))
			most = v;
	}
	return most;
}

void remote_add(struct remote_facts *r, const struct judgement *j)
{
	enum verdict v = j->verdict;

	if (!r->flows[v] || j->acked > r->last[v].acked)
		r->last[v] = *j;
	r->flows[v]++;
	r->acked[v] += j->acked;
	if (v == VERDICT_LOSS && j->reason == REASON_OTHERS)
		r->others += j->acked;
	add_sums(r, j);
	add_path(r, j);
}

/* With the streams that it shares its bottleneck with */
static bool overruns(const struct remote_facts *r, enum verdict most)
{
	uint64_t bursts = r->acked[VERDICT_OVERRUN] + r->others;

	return r->flows[VERDICT_OVERRUN] && r->acked[VERDICT_OVERRUN] >= bursts / OVERRUN_PART &&
	       bursts >= r->acked[most];
}

static uint32_t at_most_u32(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

void remote_judge(const struct remote_facts *r, struct judgement *j)
{
	const struct work *w = r->sums.acked ? &r->bytes : &r->sums;
	uint64_t all = r->sums.acked ? r->sums.acked : r->sums.us;
	enum verdict most = most_bytes(r);

	*j = r->last[overruns(r, most) ? VERDICT_OVERRUN : most];
	j->us = r->sums.us;
	j->acked = r->sums.acked;
	j->segs = at_most_u32(r->segs);
	j->retrans = at_most_u32(r->retrans);
	j->local_drops = at_most_u32(r->local_drops);
	j->best_rate = r->best_rate;
	j->min_rtt_us = r->min_rtt_us;
	j->busy = permille(w->busy, all);
	j->rwnd = permille(w->rwnd, all);
	j->sndbuf = permille(w->sndbuf, all);
	j->app = permille(w->app, all);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy: a flow's verdict from its facts, a remote's from those of its flows.
 *
 * Pure: no system call, no clock, no memory of its own.  The model, its constants and their
 * sources are told in judge.c.
 */
#ifndef CTCPD_JUDGE_H
#define CTCPD_JUDGE_H

#include "facts.h"
#include "verdict.h"

void judge_flow(const struct flow_facts *f, struct judgement *j);
/* Whether looks between two polls would tell more: see looks in flows.h */
bool judge_wants_looks(const struct flow_facts *f);

/*
 * A remote: what several flows to it say together.  Its verdict is that with the most bytes;
 * flows of which nothing is known do not count unless there are no others.  See
 * judge_remote.c for those that share a bottleneck with each other.
 */
struct remote_facts {
	uint32_t flows[VERDICTS];	/* flows of each verdict */
	uint64_t acked[VERDICTS];	/* their bytes */
	uint64_t others;		/* bytes of those of VERDICT_LOSS by REASON_OTHERS */
	struct work sums;		/* of all; the parts: us of each flow */
	struct work bytes;		/* the parts: bytes that each flow had acknowledged */
	uint64_t segs, retrans, local_drops;
	uint64_t best_rate;		/* bytes/s, the highest of all flows */
	uint32_t min_rtt_us;		/* the least of all flows, 0 = not known */
	struct judgement last[VERDICTS];	/* the one with the most bytes of each */
};

void remote_add(struct remote_facts *r, const struct judgement *j);
void remote_judge(const struct remote_facts *r, struct judgement *j);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow that a test moves on by what it says, and what the policy says of it.
 */
#ifndef CTCPD_TEST_FLOW_H
#define CTCPD_TEST_FLOW_H

#include <stdio.h>
#include <string.h>

#include "test.h"

#include "ctcpd/judge.h"

#define POLL	5000000U	/* us */
#define LOOK	200000U
#define MSS	1448U
#define RTT	50000U		/* us */

struct flow {
	struct flow_facts facts;
	struct loss_facts loss;
	struct sample before, now;
	struct interval i;
};

static inline void flow_begin(struct flow *f, const char *algorithm)
{
	memset(f, 0, sizeof(*f));
	f->facts.loss = &f->loss;
	snprintf(f->now.conn.algorithm, sizeof(f->now.conn.algorithm), "%s", algorithm);
	f->now.conn.mss = MSS;
	f->now.rtt_us = RTT;
}

/* The next interval: busy all its time, and nothing lost; change it, then add() */
static inline struct interval *next(struct flow *f, uint32_t us, uint32_t segs)
{
	f->before = f->now;
	f->now.at_us += us;
	f->i = (struct interval){
		.before = &f->before, .now = &f->now, .us = us, .busy = us,
		.segs = segs, .acked = (uint64_t)segs * MSS, .delivered = segs,
	};
	return &f->i;
}

static inline void add(struct flow *f)
{
	f->facts.loss = &f->loss;	/* tests return flows by value */
	facts_add(&f->facts, &f->i);
}

/* Past slow start: its window has been cut once */
static inline void flow_begin_cut(struct flow *f, const char *algorithm)
{
	flow_begin(f, algorithm);
	f->now.snd_cwnd = 250;
	f->now.unacked = 250;
	f->now.snd_ssthresh = 200;
}

static inline struct interval *look(struct flow *f, uint32_t segs)
{
	return next(f, LOOK, segs);
}

/* @n looks at that rate; each loses @lost, and leaves that window */
static inline void looks(struct flow *f, unsigned int n, uint32_t segs, uint32_t lost,
			 uint32_t ssthresh)
{
	for (; n; n--) {
		look(f, segs)->retrans = lost;
		if (lost)
			f->now.snd_ssthresh = ssthresh;
		add(f);
	}
}

static inline struct judgement judged(const struct flow *f)
{
	struct flow flow = *f;
	struct judgement j;

	flow.facts.loss = &flow.loss;
	judge_flow(&flow.facts, &j);
	return j;
}

static inline void expect(const struct flow *f, enum verdict v, enum reason r)
{
	struct judgement j = judged(f);

	assert_string_equal(verdict_name(j.verdict), verdict_name(v));
	assert_string_equal(reason_name(j.reason), reason_name(r));
}

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * From counters to observations: see act_observe.h.
 */
#include "act_observe.h"

#define LINK_HEADER	14U	/* bytes: Ethernet, as a qdisc counts */
#define IP4_HEADER	20U
#define IP6_HEADER	40U
#define TCP_HEADER	32U	/* with timestamps */

/* None of what the remote has done since the last poll is missing. */
static bool follows(const struct remote *r, uint64_t epoch)
{
	const struct remote_seen *b = &r->before;

	return b->epoch + 1 == epoch && b->began_us == r->began_us && r->seen_us > b->seen_us &&
	       r->now.acked >= b->acked && r->now.segs >= b->segs &&
	       r->now.retrans >= b->retrans;
}

static void remember(struct remote *r, uint64_t epoch)
{
	r->before = (struct remote_seen){
		.epoch = epoch, .began_us = r->began_us, .seen_us = r->seen_us,
		.acked = r->now.acked, .segs = r->now.segs, .retrans = r->now.retrans,
	};
}

uint64_t act_on_wire(const struct prefix *remote, const struct judgement *j, uint64_t bytes)
{
	uint32_t ip = remote->family == AF_INET ? IP4_HEADER : IP6_HEADER;

	return search_on_wire(bytes, j->mss, LINK_HEADER + ip + TCP_HEADER);
}

static uint64_t on_wire(const struct remote *r, uint64_t bytes)
{
	return act_on_wire(&r->addr, &r->now, bytes);
}

/*
 * What loses may be one of many who share the address, by his own doing or on his own way: where
 * most of what was carried does not share it, what counts is what that lost.
 */
static void leave_out_few(struct observation *o, const struct remote_apart *apart)
{
	if (apart->acked <= apart->of / 2 || apart->segs > o->segs)
		return;
	o->segs = apart->segs;
	o->retrans = apart->retrans;
}

bool act_observe(struct remote *r, uint64_t epoch, int64_t now, struct observation *o)
{
	const struct remote_seen *b = &r->before;
	bool usable;

	/* it had no flow in this poll */
	if (r->seen_us == b->seen_us)
		return false;
	usable = follows(r, epoch);
	*o = (struct observation){
		.at = now, .verdict = r->now.verdict, .us = r->seen_us - b->seen_us,
		.acked = on_wire(r, r->now.acked - b->acked), .segs = r->now.segs - b->segs,
		.retrans = r->now.retrans - b->retrans, .best_rate = on_wire(r, r->now.best_rate),
		.min_rtt_us = r->now.min_rtt_us, .app = r->now.app,
	};
	leave_out_few(o, &r->apart);
	remember(r, epoch);
	return usable;
}

/* Of all the verdict is that with the most bytes, and the share of time is weighted by them. */
void act_observe_add(struct observation *sum, const struct observation *o)
{
	uint64_t both = sum->acked + o->acked;

	if (!sum->us || o->acked > sum->acked)
		sum->verdict = o->verdict;
	if (both)
		sum->app = (uint16_t)(((double)sum->app * (double)sum->acked +
				       (double)o->app * (double)o->acked) / (double)both);
	sum->at = o->at;
	sum->us = o->us > sum->us ? o->us : sum->us;
	sum->acked = both;
	sum->segs += o->segs;
	sum->retrans += o->retrans;
	if (o->best_rate > sum->best_rate)
		sum->best_rate = o->best_rate;
	if (o->min_rtt_us && (!sum->min_rtt_us || o->min_rtt_us < sum->min_rtt_us))
		sum->min_rtt_us = o->min_rtt_us;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is remembered of a flow, interval by interval: that of which judge.h makes a verdict.
 *
 * Pure: no system call, no clock, no memory of its own.
 */
#ifndef CTCPD_FACTS_H
#define CTCPD_FACTS_H

#include "ceiling.h"
#include "delivered.h"
#include "faster.h"
#include "heavy.h"
#include "high.h"
#include "interval.h"
#include "losses.h"
#include "response.h"
#include "spacing.h"
#include "starts.h"

#define ALWAYS	900U	/* thousandths of the time: the clocks tick by jiffies */

/* Where a flow's time went; us but where it says otherwise */
struct work {
	uint64_t us, acked;		/* bytes */
	uint64_t busy, rwnd, sndbuf, app;
	uint64_t queued;		/* with its data in a queue of this host */
};

/*
 * What tells why a flow loses, from its first loss on: more than half of what is remembered, and
 * most lose nothing
 */
struct loss_facts {
	struct series rates;		/* bytes/s, of seconds that the network held, with losses */
	struct losses losses;
	struct spacing threes;		/* of three looks each */
	struct ceiling ceiling;
	struct delivered delivered;
	struct starts starts;
	struct faster faster;
	struct high high;
	struct heavy heavy;
	struct response response;
};

/* What is remembered of a flow; at most 288 bytes, as there may be 50,000 of them. */
struct flow_facts {
	uint64_t us, acked;		/* of all: since it was first seen */
	struct work recent;		/* of the last minutes: what the verdict rests on */
	uint64_t segs, retrans;		/* segments, of all */
	uint64_t lost, lost_local;	/* segments, lately: of these, when a qdisc dropped, too */
	uint64_t recent_segs;
	uint64_t dropped_before;	/* segments, by qdiscs, that are not missed yet */
	uint64_t local_drops;		/* packets, of all */
	double cwnd_us;			/* cwnd x us, of all */
	struct series flights;		/* bytes, rate x rtt of those that the application did */
	uint32_t app_rtt_min, app_rtt_max;	/* us, of the latter */
	uint64_t best_rate;		/* bytes/s */
	uint64_t second_bytes;		/* the second that is being filled */
	uint32_t second_us;
	bool second_is_app : 1, second_lost : 1;
	bool no_wscale : 1;		/* as the latest sample has it */
	uint16_t intervals;		/* 65535: or more */
	uint16_t cuts;			/* intervals with a cut window, none lost or marked */
	uint16_t mss;
	uint32_t cwnd_max;		/* segments */
	uint32_t rtt_us, min_rtt_us, snd_wnd_max, sndbuf_bytes;
	struct loss_facts *loss;	/* its owner's; NULL: it lost nothing, or no memory */
};

/* Whether @i loses and @loss is NULL: it has to point to zeroes before @i is added */
bool facts_want_loss(const struct flow_facts *f, const struct interval *i);
void facts_add(struct flow_facts *f, const struct interval *i);

#endif

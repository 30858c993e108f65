/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Achieved against planned rate of a circuit, by differences of the kernel's counters.
 *
 *	look		what the kernel tells of a circuit at one moment
 *	measure		what lies between the first look and the last, added up look by look
 *	judgement	how that stands to the plan, and what follows from it
 *
 * Nothing here reads or writes anything else: measure_read.c takes the looks.
 *
 *  achieved, of layer 2 as the plan counts: where the shaper is the circuit's alone (its
 *	class, or the root of a device that is all the circuit's) what it sent, less what
 *	was lost behind it.  Else the segments that the module has seen delivered, each with
 *	its headers, and no more than the shaper sent, which counts a short segment as what
 *	it is.  Where the module counts nothing, as of H-TCP, the same by what the far sides
 *	have acknowledged to the connections; of one that ends, less what it did after the
 *	look before.  Where the kernel does not list them, what the shaper sent.
 *  wanted: at a look, a connection has a segment or more that TCP may not send yet, or a
 *	program that waited for room in its send buffer since the look before, or the
 *	circuit's own shaper has a backlog.  A window in use is no sign: a program that
 *	writes slowly has data in flight, too.
 *  busy = wanted at WANTED_PERCENT of the looks.  A circuit that is not may carry less than
 *	planned for want of data.
 *	Nor is none a sign where all that sends runs another algorithm than the plan's, whose
 *	window may have room for all of a buffer: such a circuit is short for that reason.
 *  held = at HELD_PERCENT of the planned rate or above it.
 *
 * A stream reports what it delivered each 100 ms (circuit.h: STREAM_REPORT), so that of
 * what the module counts up to that much may be missing at the last look: a circuit is
 * short only if it is even with that.  A counter that goes back belongs to something made
 * anew, and what lies between such looks is not known.  The looks are close together:
 * what is new has no time to count past what the old had.
 */
#ifndef CTCP_MEASURE_H
#define CTCP_MEASURE_H

#include "plan.h"
#include "qdisc.h"

#define WANTED_PERCENT	90U
#define HELD_PERCENT	95U
#define REPORT_US	100000U		/* between two reports of a stream */
#define LOSS_PER_MILLE	1U		/* of the segments: from here on a likely reason */

/* What connections did */
struct stream_work {
	uint64_t acked;			/* bytes of data */
	uint64_t busy, rwnd, sndbuf;	/* us, and of these held by a window, by a buffer */
};

struct look {
	uint64_t at;			/* us */
	bool module;			/* it has the circuit: */
	uint32_t id, window;		/* segments */
	uint32_t hungry, tripped, trips;
	uint64_t rate;			/* bytes/s */
	uint64_t delivered, lost;	/* segments, so far */
	bool shaper;			/* there is one: */
	struct qdisc_stats stats;	/* so far */
	bool listed;			/* the kernel lists its connections: */
	uint32_t streams, wanting;	/* those that wanted to send more */
	uint32_t astray;		/* of these, with another algorithm than the plan's */
	uint32_t active, active_astray;	/* with data in flight since the look before */
	uint32_t min_rtt;		/* us, the smallest of all; 0 = not known */
	uint32_t mss;			/* data in a segment, the largest; 0 = not known */
	struct stream_work work;	/* since the look before */
};

enum broken {
	BROKEN_MODULE	= 1,		/* the circuit was made anew */
	BROKEN_SHAPER	= 2,		/* its shaper was */
	BROKEN_RATE	= 4,		/* its rate was changed */
	BROKEN_DROPS	= 8,		/* that counter passed 2^32; the others did not */
};

struct measure {
	bool own;			/* the shaper is the circuit's alone */
	uint32_t looks, wanted;
	unsigned int broken;
	uint32_t tripped;		/* most users at one look whose breaker was open */
	struct stream_work work;
	struct look first, last;
};

enum verdict {
	VERDICT_UNKNOWN,
	VERDICT_IDLE,
	VERDICT_LIGHT,
	VERDICT_HELD,
	VERDICT_SHORT,
};

/* Why it is not held: of one that is short the most likely. */
enum reason {
	REASON_NONE,
	REASON_UNPLANNED,		/* unknown: */
	REASON_MODULE_ANEW,
	REASON_SHAPER_ANEW,
	REASON_RATE_CHANGED,
	REASON_NO_COUNTER,
	REASON_BREAKER,			/* short: */
	REASON_DROPS,
	REASON_OTHERS,
	REASON_ALGORITHM,
	REASON_LOSS,
	REASON_STREAMS,
	REASON_WINDOW,
	REASON_RWND,
	REASON_SNDBUF,
	REASON_UNEXPLAINED,
};

struct judgement {
	enum verdict verdict;
	enum reason reason;
	uint64_t us;			/* from the first look to the last */
	uint64_t planned, achieved;	/* bytes/s */
	uint64_t sent;			/* bytes/s, by the shaper */
	uint64_t delivered, lost;	/* segments */
	uint32_t drops, overlimits;	/* packets */
	uint64_t most;			/* bytes/s: of REASON_WINDOW and _STREAMS */
};

void measure_add(struct measure *m, const struct look *l);
void measure_judge(const struct measure *m, const struct circuit *c, const struct plan *p,
		   struct judgement *j);
const char *measure_verdict_name(enum verdict verdict);
const char *measure_reason_name(enum reason reason);

#endif

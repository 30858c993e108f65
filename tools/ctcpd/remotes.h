/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The remotes of this host: those that flows lead to now, or led to lately, by address.
 *
 * A remote collects the judgements of its flows while it is visited; when its last flow is
 * gone for VISIT_GAP_US, or after VISIT_MAX_US, the visit ends and is handed on, to the
 * history.  Pure: what time it is the caller says.
 *
 * A visit in which no byte was acknowledged is handed to nobody.  A flow that outlasts a visit
 * goes on in the next one: its verdict rests on all that it has done, the next visit's bytes and
 * time are those since.  So does one whose remote was forgotten, or had to go for others.
 */
#ifndef CTCPD_REMOTES_H
#define CTCPD_REMOTES_H

#include "flows.h"
#include "history.h"
#include "judge.h"

#define VISIT_GAP_US	30000000ULL	/* 30 s */
#define VISIT_MAX_US	3600000000ULL	/* 1 h */
#define REMOTES_MAX	65536U		/* the one visited longest ago goes first */

/* The counters of a remote as act_observe() last saw them */
struct remote_seen {
	uint64_t epoch;			/* of that poll, 0 = never */
	uint64_t began_us, seen_us;	/* CLOCK_BOOTTIME, as the remote had them */
	uint64_t acked;			/* bytes */
	uint32_t segs, retrans;
};

/*
 * Of its flows since the last poll, those that did not lose as all of them together did, though
 * each was long enough for that to show.  Whoever is one of several behind an address loses what he
 * likes, and the others do not.
 */
struct remote_apart {
	uint64_t acked, of;		/* bytes: of these, and of all */
	uint32_t segs, retrans;		/* of these */
};

struct remote {
	struct prefix addr;		/* full length */
	uint32_t flows;			/* now */
	uint64_t began_us, seen_us;	/* CLOCK_BOOTTIME: the visit's first poll, its last */
	struct remote_facts *gone;	/* flows of this visit that have closed; NULL: none has */
	struct judgement now;		/* with those that have not, as of the last poll */
	enum verdict told;		/* what the log said last */
	uint32_t ifindex;
	char algorithm[ALGORITHM_LEN];
	bool paced;			/* a part of this visit was, at least */
	struct remote_apart apart;
	struct remote_seen before;
};

/* Of all flows, as of the last poll */
struct remotes_sums {
	uint32_t flows_of[VERDICTS];	/* that have not closed */
	/* bytes, segments: of these, and of all that have closed since the daemon began */
	uint64_t acked, segs, retrans;
};

struct remotes;			/* remotes.c */

typedef int (*remote_fn)(struct remote *r, void *data);

struct remotes *remotes_new(void);
void remotes_free(struct remotes *rs);
/*
 * One poll: begin, each flow (also the closed ones), end; @done gets visits that ended.  A poll
 * that has failed is not ended: what closed in it counts all the same.
 */
void remotes_begin(struct remotes *rs, uint64_t now_us);
int remotes_flow(struct remotes *rs, const struct flow *f, bool closed);
int remotes_end(struct remotes *rs, uint64_t now_us, remote_fn done, void *data);
int remotes_finish(struct remotes *rs, remote_fn done, void *data);	/* all visits end */
int remotes_each(struct remotes *rs, remote_fn each, void *data);
struct remote *remotes_find(struct remotes *rs, const struct prefix *addr);
uint32_t remotes_count(const struct remotes *rs);
const struct remotes_sums *remotes_sums(const struct remotes *rs);
/* How many.  One with flows that go on is a new one with the next poll. */
uint32_t remotes_forget(struct remotes *rs, const struct prefix *p);

#endif

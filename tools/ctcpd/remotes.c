// SPDX-License-Identifier: GPL-2.0
/*
 * The remotes of this host: see remotes.h.
 *
 * What flows say together is 1 KiB and more for a remote (struct remote_facts), so that there
 * is one only where a flow has closed; those that have not are put together one remote after
 * the other when the poll ends, from a list of judgements that all remotes share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "recent.h"

#include "remotes.h"

#define NONE		UINT32_MAX
#define TELLING		5U	/* segments that a flow would lose, if it lost as all do */
#define PPM		1000000ULL

/* One flow's judgement of this poll */
struct judged {
	struct judgement judgement;
	struct flow_counts since;	/* the last poll */
	uint32_t next;		/* of the same remote, NONE = it is the last */
};

/* What several flows did together */
struct sums {
	uint64_t us, acked, segs, retrans;
};

struct entry {
	struct remote remote;		/* the first: one is the other */
	struct recent_node node;
	struct sums gone;		/* of the visit's flows that have closed */
	struct sums there;		/* of those that have not, as of the last poll */
	struct sums before;		/* of both, before this visit began: not of this one */
	uint64_t poll;			/* the last one that it had a flow in */
	uint32_t first;			/* of its flows in that one */
	uint32_t flows;
	bool begins;			/* no poll has ended since the entry was made */
};

struct remotes {
	struct recent entries;
	uint64_t poll, now_us;
	uint32_t n_judged;
	struct judged *judged;
	struct remotes_sums sums;
	uint64_t acked, segs, retrans;	/* of flows that have closed */
};

struct remotes *remotes_new(void)
{
	struct remotes *rs = calloc(1, sizeof(*rs));

	if (rs)
		recent_init(&rs->entries);
	return rs;
}

static struct entry *entry_of(struct recent_node *node)
{
	return (struct entry *)((char *)node - offsetof(struct entry, node));
}

static void let_go(struct remotes *rs, struct entry *en)
{
	recent_remove(&rs->entries, &en->node);
	free(en->remote.gone);
	free(en);
}

void remotes_free(struct remotes *rs)
{
	if (!rs)
		return;
	while (recent_oldest(&rs->entries))
		let_go(rs, entry_of(recent_oldest(&rs->entries)));
	recent_free(&rs->entries);
	free(rs->judged);
	free(rs);
}

/* --- a poll ----------------------------------------------------------------------- */

void remotes_begin(struct remotes *rs, uint64_t now_us)
{
	rs->poll++;
	rs->now_us = now_us;
	rs->n_judged = 0;
}

/* NULL: no memory */
static struct entry *new_entry(struct remotes *rs, const struct prefix *addr)
{
	struct entry *en = calloc(1, sizeof(*en));

	if (!en)
		return NULL;
	en->remote.addr = *addr;
	en->remote.began_us = rs->now_us;
	en->begins = true;
	en->node.key = &en->remote.addr;
	en->node.len = sizeof(en->remote.addr);
	if (!recent_add(&rs->entries, &en->node))
		return en;
	free(en);
	return NULL;
}

static struct entry *entry_for(struct remotes *rs, const struct prefix *addr)
{
	struct recent_node *node = recent_find(&rs->entries, addr, sizeof(*addr));
	struct entry *en = node ? entry_of(node) : new_entry(rs, addr);

	if (en && en->poll != rs->poll) {
		en->poll = rs->poll;
		en->first = NONE;
		en->flows = 0;
	}
	return en;
}

static void add_to(struct sums *s, const struct judgement *j)
{
	s->us += j->us;
	s->acked += j->acked;
	s->segs += j->segs;
	s->retrans += j->retrans;
}

/* A flow that has closed: counted for good */
static int add_gone(struct remotes *rs, struct entry *en, const struct judgement *j)
{
	if (!en->remote.gone)
		en->remote.gone = calloc(1, sizeof(*en->remote.gone));
	if (!en->remote.gone)
		return -ENOMEM;
	remote_add(en->remote.gone, j);
	add_to(&en->gone, j);
	rs->acked += j->acked;
	rs->segs += j->segs;
	rs->retrans += j->retrans;
	return 0;
}

static struct flow_counts since_last(const struct flow *f)
{
	return (struct flow_counts){
		.acked = f->polled.acked - f->before.acked,
		.segs = f->polled.segs - f->before.segs,
		.retrans = f->polled.retrans - f->before.retrans,
	};
}

static int add_judged(struct remotes *rs, struct entry *en, const struct flow *f,
		      const struct judgement *j)
{
	struct judged *list = grown(rs->judged, rs->n_judged, sizeof(*list));

	if (!list)
		return -ENOMEM;
	rs->judged = list;
	list[rs->n_judged] = (struct judged){
		.judgement = *j, .since = since_last(f), .next = en->first,
	};
	en->first = rs->n_judged++;
	en->flows++;
	return 0;
}

int remotes_flow(struct remotes *rs, const struct flow *f, bool closed)
{
	struct entry *en = entry_for(rs, &f->last.conn.peer);
	struct judgement j;

	if (!en)
		return -ENOMEM;
	en->remote.seen_us = rs->now_us;
	en->remote.ifindex = f->ifindex ?: en->remote.ifindex;
	memcpy(en->remote.algorithm, f->last.conn.algorithm, sizeof(en->remote.algorithm));
	judge_flow(&f->facts, &j);
	/* the remote was forgotten under a flow that went on, or evicted */
	if (en->begins && f->first_us < en->remote.began_us)
		add_to(&en->before, &j);
	return closed ? add_gone(rs, en, &j) : add_judged(rs, en, f, &j);
}

/* --- its end ---------------------------------------------------------------------- */

static void add_to_sums(struct remotes *rs, const struct judgement *j)
{
	rs->sums.flows_of[j->verdict]++;
	rs->sums.acked += j->acked;
	rs->sums.segs += j->segs;
	rs->sums.retrans += j->retrans;
}

static uint64_t this_visit(uint64_t gone, uint64_t there, uint64_t before)
{
	return gone + there > before ? gone + there - before : 0;
}

static uint32_t at_most_u32(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/*
 * The verdict and its evidence are those of the flows that it rests on; what flows add up to is
 * of this visit.  The rate is that of all of them together, over the visit.
 */
static void set_sums(struct entry *en)
{
	const struct sums *gone = &en->gone, *there = &en->there, *before = &en->before;
	struct judgement *j = &en->remote.now;
	uint64_t us = en->remote.seen_us - en->remote.began_us;

	j->us = this_visit(gone->us, there->us, before->us);
	j->acked = this_visit(gone->acked, there->acked, before->acked);
	j->segs = at_most_u32(this_visit(gone->segs, there->segs, before->segs));
	j->retrans = at_most_u32(this_visit(gone->retrans, there->retrans, before->retrans));
	if (us)
		j->rate = (uint64_t)((double)j->acked * 1e6 / (double)us);
}

/* @part: parts per million of all segments that were sent again */
static bool is_apart(const struct flow_counts *c, uint64_t part)
{
	uint64_t expected = c->segs * part / PPM;

	return expected >= TELLING && (uint64_t)c->retrans * TELLING <= expected;
}

/* Of flows that are there: one that has just closed is not among them */
static void set_apart(const struct remotes *rs, struct entry *en)
{
	struct remote_apart *apart = &en->remote.apart;
	uint64_t segs = 0, retrans = 0;
	uint32_t i;

	*apart = (struct remote_apart){ 0 };
	for (i = en->first; i != NONE; i = rs->judged[i].next) {
		apart->of += rs->judged[i].since.acked;
		segs += rs->judged[i].since.segs;
		retrans += rs->judged[i].since.retrans;
	}
	for (i = en->first; i != NONE && segs; i = rs->judged[i].next) {
		const struct flow_counts *c = &rs->judged[i].since;

		if (!is_apart(c, retrans * PPM / segs))
			continue;
		apart->acked += c->acked;
		apart->segs += c->segs;
		apart->retrans += c->retrans;
	}
}

/* What all flows of this visit say, as of this poll */
static void judge(struct remotes *rs, struct entry *en)
{
	struct remote_facts facts = { 0 };
	uint32_t i;

	if (en->remote.gone)
		facts = *en->remote.gone;
	en->there = (struct sums){ 0 };
	for (i = en->first; i != NONE; i = rs->judged[i].next) {
		const struct judgement *j = &rs->judged[i].judgement;

		add_to_sums(rs, j);
		add_to(&en->there, j);
		remote_add(&facts, j);
	}
	remote_judge(&facts, &en->remote.now);
	set_sums(en);
	set_apart(rs, en);
}

/* The next visit begins with the flows that are there. */
static void turn_over(struct remotes *rs, struct entry *en)
{
	struct remote *r = &en->remote;

	free(r->gone);
	r->gone = NULL;
	r->paced = false;
	r->began_us = rs->now_us;
	r->seen_us = rs->now_us;
	en->gone = (struct sums){ 0 };
	en->before = en->there;
	set_sums(en);
}

static int hand_on(struct entry *en, remote_fn done, void *data)
{
	return en->remote.now.acked ? done(&en->remote, data) : 0;
}

static int end_one(struct remotes *rs, struct entry *en, remote_fn done, void *data)
{
	struct remote *r = &en->remote;
	bool seen = en->poll == rs->poll;
	int rc;

	if (seen)
		judge(rs, en);
	r->flows = seen ? en->flows : 0;
	en->begins = false;
	if (!r->flows && rs->now_us - r->seen_us >= VISIT_GAP_US) {
		rc = hand_on(en, done, data);
		let_go(rs, en);
		return rc;
	}
	if (!r->flows || rs->now_us - r->began_us < VISIT_MAX_US)
		return 0;
	rc = hand_on(en, done, data);
	turn_over(rs, en);
	return rc;
}

/* All visits are ended that are to end, also behind a @done that has failed. */
static int end_all(struct remotes *rs, remote_fn done, void *data)
{
	struct recent_node *node, *next;
	int rc = 0, one;

	for (node = recent_oldest(&rs->entries); node; node = next) {
		next = TAILQ_NEXT(node, by_use);
		one = end_one(rs, entry_of(node), done, data);
		rc = rc ?: one;
	}
	return rc;
}

/* The one visited longest ago: its visit ends, and it is forgotten. */
static int end_oldest(struct remotes *rs, remote_fn done, void *data)
{
	struct entry *en = entry_of(recent_oldest(&rs->entries));
	int rc = hand_on(en, done, data);

	let_go(rs, en);
	return rc;
}

int remotes_end(struct remotes *rs, uint64_t now_us, remote_fn done, void *data)
{
	int rc, one;

	rs->now_us = now_us;
	rs->sums = (struct remotes_sums){
		.acked = rs->acked, .segs = rs->segs, .retrans = rs->retrans
	};
	rc = end_all(rs, done, data);
	while (rs->entries.n > REMOTES_MAX) {
		one = end_oldest(rs, done, data);
		rc = rc ?: one;
	}
	return rc;
}

int remotes_finish(struct remotes *rs, remote_fn done, void *data)
{
	int rc = 0, one;

	while (recent_oldest(&rs->entries)) {
		one = end_oldest(rs, done, data);
		rc = rc ?: one;
	}
	return rc;
}

/* --- what is asked ---------------------------------------------------------------- */

int remotes_each(struct remotes *rs, remote_fn each, void *data)
{
	struct recent_node *node;
	int rc = 0;

	TAILQ_FOREACH(node, &rs->entries.order, by_use) {
		rc = each(&entry_of(node)->remote, data);
		if (rc)
			break;
	}
	return rc;
}

struct remote *remotes_find(struct remotes *rs, const struct prefix *addr)
{
	struct recent_node *node = recent_peek(&rs->entries, addr, sizeof(*addr));

	return node ? &entry_of(node)->remote : NULL;
}

uint32_t remotes_count(const struct remotes *rs)
{
	return rs->entries.n;
}

const struct remotes_sums *remotes_sums(const struct remotes *rs)
{
	return &rs->sums;
}

uint32_t remotes_forget(struct remotes *rs, const struct prefix *p)
{
	struct recent_node *node, *next;
	uint32_t n = 0;

	for (node = recent_oldest(&rs->entries); node; node = next) {
		next = TAILQ_NEXT(node, by_use);
		if (!prefix_holds(p, &entry_of(node)->remote.addr))
			continue;
		let_go(rs, entry_of(node));
		n++;
	}
	return n;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * From observations to searches, and from what they decide to what is wanted.
 */
#include <stdlib.h>
#include <string.h>

#include "act_inside.h"
#include "act_observe.h"

#define PPM 1000000ULL

/* --- what is decided ------------------------------------------------------ */

static void not_stood_down(struct acting *e)
{
	free(e->stood_down);
	e->stood_down = NULL;
}

static uint32_t part_of(uint64_t retrans, uint64_t segs)
{
	return segs ? (uint32_t)(retrans * PPM / segs) : 0;
}

/* As it was when it was decided: what is taken back, or kept, begins to count anew. */
static void note_parts(struct acting *e, const struct search *was, const struct observation *o)
{
	const struct tally *base = e->search.base.n ? &e->search.base : &was->base;
	const struct tally *proof = &e->search.proof;
	uint64_t retrans = was->now.retrans, segs = was->now.segs;

	/* what was tried last may have lost: of what is kept that says nothing */
	if (e->search.state == SEARCH_KEPT && proof->n) {
		retrans = proof->retrans;
		segs = proof->segs;
	} else if (o && was->rate && o->paced == was->rate) {
		retrans += o->retrans;
		segs += o->segs;
	}
	e->before = part_of(base->retrans, base->segs);
	e->after = part_of(retrans, segs);
}

static void want(struct act *a, struct acting *e, const struct search *was)
{
	if (acting_is_subnet(e) && was->rate && !e->search.rate)
		act_want_hosts(a, e);
	else
		act_want(a, e);
}

void act_decide(struct act *a, struct acting *e, const struct decision *d,
		const struct search *was, const struct observation *o, int64_t now)
{
	if (e->search.state != SEARCH_TAKEN_BACK)
		not_stood_down(e);
	e->dirty |= was->state != e->search.state;
	if (d->action == SEARCH_NOTHING && d->reason == SEARCH_NO_REASON)
		return;
	e->dirty = true;
	e->reason = d->reason;
	e->since = now;
	e->gone = d->reason == SEARCH_FORGOTTEN;
	note_parts(e, was, o);
	want(a, e, was);
	if (e->gone ? e->force : d->action == SEARCH_NOTHING)
		act_tell_state(a, e);
	else if (d->action == SEARCH_PACE && !was->rate && !act_acts(a))
		act_tell_would(a, e);
}

/* --- standing down -------------------------------------------------------- */

static bool stand_down_one(struct act *a, struct acting *e, const char *why, int64_t now)
{
	bool was = e->search.rate || !e->stood_down;

	if (was)
		search_stand_down(&e->search, now);
	not_stood_down(e);
	e->stood_down = strndup(why, STOOD_DOWN_TEXT - 1);
	e->reason = SEARCH_NO_REASON;
	e->since = now;
	e->dirty = true;
	act_want(a, e);
	return was;
}

/* Its hosts do not come back in its place: what is somebody's there has them in it. */
bool act_stand_down(struct act *a, struct acting *e, const char *why, int64_t now)
{
	struct acting *host, *next;
	bool was;

	if (acting_is_active(e)) {
		act_table_each(&a->table, host, next)
			if (host != e && host->search.rate && host->ifindex == e->ifindex &&
			    prefix_holds(&e->to, &host->to))
				stand_down_one(a, host, why, now);
	}
	was = stand_down_one(a, e, why, now);
	return was;
}

/* --- observations --------------------------------------------------------- */

static void observe(struct act *a, struct acting *e, struct observation *o, int64_t now)
{
	const struct search was = e->search;
	struct decision d;

	o->paced = e->force;
	o->mixed = e->changed == a->epoch;
	if (o->min_rtt_us)
		e->rtt_us = o->min_rtt_us;
	search_observe(&e->search, o, (uint32_t)a->config->min_rtt_us, &d);
	e->aged = true;
	act_table_used(&a->table, e);
	act_decide(a, e, &d, &was, o, now);
	if (a->subnets && !acting_is_subnet(e))
		act_active(a, e, o);
}

/*
 * In two polls one after the other: of flows by several ways the last one read decides.  A flow
 * without a route is still of the device that it had, also where that is gone.
 */
static void follow_device(struct act *a, struct acting *e, const struct remote *r)
{
	int ifindex = (int)r->ifindex;

	if (!r->flows || !ifindex || ifindex == e->ifindex) {
		e->elsewhere = 0;
	} else if (e->ifindex && e->elsewhere != ifindex) {
		e->elsewhere = ifindex;
	} else if (act_device(a, ifindex)) {
		e->search.settling = e->search.rate != 0;
		act_device_moved(a, e, ifindex);
	}
}

static bool is_near(const struct act *a, const struct remote *r)
{
	return r->now.min_rtt_us && r->now.min_rtt_us < a->config->min_rtt_us;
}

static struct acting *search_for(struct act *a, const struct remote *r, int64_t now)
{
	struct acting *e = act_table_find(&a->table, &r->addr);

	if (e || r->now.verdict != VERDICT_OVERRUN || !r->flows || !r->ifindex || is_near(a, r))
		return e;
	return act_table_add(&a->table, &r->addr, now);
}

/* A host that its subnet has the place of stays one of those that are known. */
static void host_is_seen(struct act *a, const struct remote *r, const struct observation *o)
{
	struct acting *host = act_table_find(&a->table, &r->addr);

	if (!host)
		return;
	search_seen(&host->search, o);
	host->aged = true;
	act_table_used(&a->table, host);
}

void act_remote(struct act *a, struct remote *r, int64_t now)
{
	struct observation o;
	bool seen = act_observe(r, a->epoch, now, &o);
	struct acting *e = act_subnet_of(a, &r->addr, (int)r->ifindex);

	if (e) {
		r->paced |= e->force != 0;
		if (seen) {
			act_observe_add(&e->sum, &o);
			e->stranger |= act_is_stranger(a, r, &o);
			host_is_seen(a, r, &o);
		}
		return;
	}
	e = search_for(a, r, now);
	if (!e)
		return;
	follow_device(a, e, r);
	r->paced |= r->flows && e->force;
	if (seen)
		observe(a, e, &o, now);
}

/* Back to its hosts, of which that one is none: what it takes it shows unpaced */
static void veto(struct act *a, struct acting *subnet, int64_t now)
{
	const struct search was = subnet->search;
	struct decision d;

	search_veto(&subnet->search, now, &d);
	subnet->together = 0;
	act_decide(a, subnet, &d, &was, NULL, now);
}

void act_subnets(struct act *a, int64_t now)
{
	struct acting *e, *next;

	if (!a->table.subnets)
		return;
	act_table_each(&a->table, e, next) {
		struct observation sum = e->sum;
		bool stranger = e->stranger;

		e->sum = (struct observation){ 0 };
		e->stranger = false;
		if (!acting_is_active(e))
			continue;
		if (stranger)
			veto(a, e, now);
		else if (sum.us)
			observe(a, e, &sum, now);
	}
}

void act_tick(struct act *a, int64_t now)
{
	struct acting *e, *next;
	struct decision d;
	struct search was;

	act_table_each(&a->table, e, next) {
		if (e->gone)
			continue;
		was = e->search;
		search_tick(&e->search, now, &d);
		act_decide(a, e, &d, &was, NULL, now);
		if (e->search.rate)
			act_device_back(a, e);
		/* there may be room by now */
		if (e->search.rate && !e->wants_by)
			act_want(a, e);
		e->due |= e->aged;
	}
}

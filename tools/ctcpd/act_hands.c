// SPDX-License-Identifier: GPL-2.0
/*
 * From the set that is wanted to what the kernel has, and what to do where that fails.
 *
 * All that has changed by one kind of hands goes in one batch, which is made or not.  What made it
 * fail is taken out, with its device where that is it, and the rest is tried again at once, TRIES
 * times.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act_inside.h"
#include "grow.h"
#include "out.h"

#define TRIES		16U	/* in one poll */
#define STEP_MAX	1024U	/* changes of one batch: some tenths of a second */

/* --- what is in force ----------------------------------------------------- */

static uint64_t rate_by(const struct act_hands *h, const struct acting *e)
{
	const struct pace *p = paced_get(&h->now, e->ifindex, &e->to);

	return p ? p->rate : 0;
}

/* HANDS_NONE: by none; of several the lowest is what is seen of it */
enum hands_kind act_forced_by(const struct act *a, const struct acting *e)
{
	enum hands_kind by = HANDS_NONE;
	uint64_t rate, least = UINT64_MAX;
	int k;

	for (k = 0; k < HANDS_KINDS; k++) {
		rate = rate_by(&a->by[k], e);
		if (!rate || rate >= least)
			continue;
		least = rate;
		by = k;
	}
	return by;
}

/* That of the device which its flows leave by */
void act_note_force(struct act *a, struct acting *e)
{
	enum hands_kind by = act_forced_by(a, e);
	uint64_t rate = by == HANDS_NONE ? 0 : rate_by(&a->by[by], e);

	if (rate == e->force)
		return;
	e->force = rate;
	e->changed = a->epoch;
}

void act_force(struct act *a, struct act_hands *h, const struct pace *p)
{
	struct acting *e = act_table_any(&a->table, &p->to);

	if (p->rate)
		paced_set(&h->now, p);
	else
		paced_clear(&h->now, p->ifindex, &p->to);
	if (e)
		act_note_force(a, e);
}

uint32_t act_in_force(const struct act *a)
{
	uint32_t n = 0;
	int k;

	for (k = 0; k < HANDS_KINDS; k++)
		n += a->by[k].now.n;
	return n;
}

void act_device_is_free(struct act *a, struct act_hands *h, int ifindex)
{
	struct acting *e, *next;

	paced_clear_device(&h->now, ifindex);
	act_table_each(&a->table, e, next)
		if (e->ifindex == ifindex)
			act_note_force(a, e);
}

/* --- what one cannot have -------------------------------------------------- */

/* More than its device carries: no rate is as good as that one. */
static void refuse_rate(struct act *a, struct act_hands *h, const struct pace *p,
			const char *why, int64_t now)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (!e || !e->force) {
		act_leave(a, h, p, false, why, now);
		return;
	}
	e->search.state = SEARCH_KEPT;
	e->search.upward = false;
	e->search.rate = e->force;
	if (e->search.low < e->force)
		e->search.low = e->force;
	e->search.probes++;
	e->reason = SEARCH_PROBE_IN_VAIN;
	e->since = now;
	e->dirty = true;
	act_want(a, e);
}

/* True: the rest of them may be tried again */
static bool failed_at(struct act *a, struct act_hands *h, const struct pace *p,
		      const struct hands_result *r, int rc, const char *why, int64_t now)
{
	switch (rc) {
	case -EAGAIN:
	case -EALREADY:
	case -EACCES:
		act_failed_whole(a, h, rc, why);
		return false;
	case -EPERM:
		act_leave(a, h, p, r->device, why, now);
		return true;
	case -EOPNOTSUPP:
		act_device_unfit(a, p->ifindex, h - a->by, why);
		if (!p->rate)
			act_wait_for_device(a, h, p->ifindex);
		return true;
	case -ENODEV:
	case -ENETDOWN:
		act_wait_for_device(a, h, p->ifindex);
		return true;
	case -ERANGE:
		refuse_rate(a, h, p, why, now);
		return true;
	default:
		act_failed(a, h, rc, why);
		act_wait_for(a, h, p);
		return true;
	}
}

/* --- a step --------------------------------------------------------------- */

static bool waits(struct act *a, const struct pace *p)
{
	const struct acting *e = act_table_find(&a->table, &p->to);
	uint32_t i;

	if (e && e->waits == a->step)
		return true;
	for (i = 0; i < a->n_devices; i++)
		if (a->devices[i].ifindex == p->ifindex)
			return a->devices[i].waits == a->step;
	return false;
}

/* Taken back by these before others have it, it would be paced by none where they cannot. */
static bool is_to_come(const struct act *a, const struct act_hands *h, const struct pace *p)
{
	int k;

	if (p->rate || !act_acts(a))
		return false;
	for (k = 0; k < HANDS_KINDS; k++) {
		const struct act_hands *other = &a->by[k];

		if (other != h && paced_get(&other->want, p->ifindex, &p->to) &&
		    !paced_get(&other->now, p->ifindex, &p->to))
			return true;
	}
	return false;
}

/* *@list: freed by the caller; how many */
static uint32_t changes(struct act *a, struct act_hands *h, struct pace **list)
{
	static const struct paced none;
	const struct paced *then = act_acts(a) ? &h->want : &none;
	uint32_t i, n, kept = 0;

	if (paced_step(&h->now, then, UINT32_MAX, list, &n))
		return 0;
	for (i = 0; i < n && kept < STEP_MAX; i++) {
		bool held = is_to_come(a, h, &(*list)[i]);

		h->holds |= held;
		if (!held && !waits(a, &(*list)[i]))
			(*list)[kept++] = (*list)[i];
	}
	return kept;
}

/*
 * Where a subnet has taken its place, other hands have it at the same rate, or it has been told as
 * forgotten or left alone, nothing is said.
 */
static void tell_change(struct act *a, const struct pace *p)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (!e || a->mode != MODE_ACT || (e->stood_down && !e->search.rate))
		return;
	if (p->rate && p->ifindex == e->ifindex && !e->was && act_gone_tells(a, e))
		return;
	if (p->ifindex != e->ifindex || (e->force == e->was && !e->moved))
		return;
	if (e->force == e->was)
		act_tell_moved(a, e);
	else if (e->force || !act_subnet_of(a, &e->to, e->ifindex))
		act_tell_rate(a, e, e->was);
}

/* Where it had that by the device which its flows left by before, that */
static void note_was(const struct act_hands *h, struct acting *e, const struct pace *p)
{
	const struct pace *is = paced_get(&h->now, p->ifindex, &p->to);

	if (p->ifindex == e->ifindex || !is || is->rate <= e->was)
		return;
	e->was = is->rate;
	e->moved = true;
}

static void took(struct act *a, struct act_hands *h, const struct pace *list, uint32_t n)
{
	struct acting *e;
	uint32_t i;

	for (i = 0; i < n; i++) {
		e = act_table_find(&a->table, &list[i].to);
		if (!e)
			continue;
		e->was = e->force;
		e->moved = false;
	}
	for (i = 0; i < n; i++) {
		e = act_table_find(&a->table, &list[i].to);
		if (e)
			note_was(h, e, &list[i]);
	}
	for (i = 0; i < n; i++) {
		act_force(a, h, &list[i]);
		if (list[i].rate)
			act_device_paced(a, list[i].ifindex);
	}
	for (i = 0; i < n; i++)
		tell_change(a, &list[i]);
	a->totals.paced_changes += n;
	act_went_well(a, h);
}

/* True: once more */
static bool try_step(struct act *a, struct act_hands *h, const struct pace *list, uint32_t n,
		     int64_t now)
{
	struct hands_result r = { .at = HANDS_NOBODY };
	struct err e = { "" };
	int rc = h->hands.ops->apply(&h->hands, list, n, a->one_lock, &r, &e);

	act_busy_note(a, h, rc, e.text);
	act_say_notes(a, &r);
	if (!rc) {
		took(a, h, list, n);
		return true;
	}
	if (r.at < n)
		return failed_at(a, h, &list[r.at], &r, rc, e.text, now);
	act_failed_whole(a, h, rc, e.text);
	return false;
}

static void step_by(struct act *a, struct act_hands *h, int64_t now)
{
	unsigned int tries = TRIES;
	struct pace *list;
	bool again = true;
	uint32_t n;

	h->holds = false;
	while (again && tries--) {
		n = changes(a, h, &list);
		again = n && try_step(a, h, list, n, now);
		free(list);
	}
}

/* What an earlier run paced, and this process could not lock: another one may have by now. */
static void retry_lock(struct act *a)
{
	struct err e = { "" };
	int k, rc = act_lock_anew(a, &e);

	if (!rc)
		return;
	for (k = 0; k < HANDS_KINDS; k++) {
		struct act_hands *h = &a->by[k];

		if (h->now.n && rc == -EBUSY)
			act_not_ours(a, h);
		else if (h->now.n)
			act_cannot_take_back(a, h, e.text);
	}
}

static bool may_step(const struct act *a)
{
	return a->lock >= 0 && (a->mode != MODE_ACT || !a->unable[0]);
}

void act_step(struct act *a, int64_t now)
{
	int k;

	if (a->lock < 0 && a->mode == MODE_OBSERVE && act_in_force(a))
		retry_lock(a);
	if (!may_step(a))
		return;
	for (k = 0; k < HANDS_KINDS; k++)
		if (a->by[k].known && may_step(a))
			step_by(a, &a->by[k], now);
	/* the later ones have it by now, perhaps */
	for (k = 0; k < HANDS_KINDS; k++)
		if (a->by[k].known && a->by[k].holds && may_step(a))
			step_by(a, &a->by[k], now);
}

/* Also where nothing may be changed at present: what is paced goes on, by whoever has it. */
void act_hands_tick(struct act *a)
{
	int k;

	for (k = 0; k < HANDS_KINDS; k++) {
		struct act_hands *h = &a->by[k];
		struct err e = { "" };
		int rc = h->hands.ops->tick(&h->hands, &e);

		if (rc)
			act_failed_whole(a, h, rc, e.text);
	}
}

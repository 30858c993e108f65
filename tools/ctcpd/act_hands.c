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
#define LET_GO_MAX	16U	/* in one poll: a run each, of some tens of milliseconds */
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

static void device_is_free(struct act *a, struct act_hands *h, int ifindex)
{
	struct acting *e, *next;

	paced_clear_device(&h->now, ifindex);
	act_table_each(&a->table, e, next)
		if (e->ifindex == ifindex)
			act_note_force(a, e);
}

/* --- what waits for the next poll ----------------------------------------- */

static void wait_for_device(struct act *a, struct act_hands *h, int ifindex)
{
	struct act_device *d = act_device(a, ifindex);

	if (d)
		d->waits = a->step;
	else
		device_is_free(a, h, ifindex);
}

static void wait_for(struct act *a, struct act_hands *h, const struct pace *p)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (e)
		e->waits = a->step;
	else
		wait_for_device(a, h, p->ifindex);
}

/* --- standing down -------------------------------------------------------- */

/* -errno: it is tried again with the next poll */
static int let_go(struct act *a, struct act_hands *h, const struct pace *p, bool device)
{
	struct pace none = *p;
	struct hands_result r;
	struct err e = { "" };
	int rc;

	if (a->let_goes >= LET_GO_MAX)
		return -EAGAIN;
	a->let_goes++;
	rc = h->hands.ops->let_go(&h->hands, p, device, &r, &e);
	if (rc) {
		log_say(a->log, LOG_DEBUG, "what somebody changed is let go of later: %s", e.text);
		return rc;
	}
	none.rate = 0;
	if (device)
		device_is_free(a, h, p->ifindex);
	else
		act_force(a, h, &none);
	return 0;
}

static void leaves(struct act_leaving *l, const struct acting *e)
{
	int64_t s = e->search.again - e->search.seen;

	if (!l->n || s < l->least_s)
		l->least_s = s;
	if (!l->n || s > l->most_s)
		l->most_s = s;
	l->n++;
}

static void stand_down_device(struct act *a, int ifindex, const char *why, int64_t now)
{
	struct act_leaving l = { 0 };
	struct acting *e, *next;

	act_table_each(&a->table, e, next)
		if (!e->gone && e->ifindex == ifindex && (e->search.rate || e->force) &&
		    act_stand_down(a, e, why, now))
			leaves(&l, e);
	if (l.n)
		act_tell_left_device(a, ifindex, &l, why);
}

/* Somebody else's: it is let go of, where it is ours so far */
static void stand_down(struct act *a, struct act_hands *h, const struct pace *p, bool device,
		       const char *why, int64_t now)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (device)
		stand_down_device(a, p->ifindex, why, now);
	else if (e && act_stand_down(a, e, why, now))
		act_tell_left(a, e, why);
	if (!h->hands.ops->let_go || !paced_get(&h->now, p->ifindex, &p->to) ||
	    !let_go(a, h, p, device))
		return;
	if (device)
		wait_for_device(a, h, p->ifindex);
	else
		wait_for(a, h, p);
}

/* --- what cannot be done -------------------------------------------------- */

/* Whoever may instead has all that is pinned: act_unlock() */
static void close_all(struct act *a)
{
	int k;

	for (k = 0; k < HANDS_KINDS; k++)
		a->by[k].hands.ops->close(&a->by[k].hands);
}

/* The first of a poll: what comes behind it is mostly the same */
static void hinder(struct act *a, const struct act_hands *h, const char *why)
{
	if (!a->hindered[0])
		snprintf(a->hindered, sizeof(a->hindered), "pacing by %s cannot be changed: %.700s",
			 h->hands.ops->name, why);
}

static void cannot_take_back(struct act *a, const struct act_hands *h, const char *why)
{
	hinder(a, h, why);
	log_state(a->log, LOG_ERR, h->hands.ops->name, "stays",
		  "what is paced cannot be taken back, though mode = observe: %.700s; %s", why,
		  h->hands.ops->by_hand);
}

static void cannot(struct act *a, const char *why)
{
	if (!a->unable[0])
		log_state(a->log, LOG_ERR, "act", why,
			  "pacing can be neither set nor taken back, though mode = act: %s", why);
	out_copy(a->unable, sizeof(a->unable), why);
	close_all(a);
	act_unlock(a);
}

static void failed(struct act *a, const struct act_hands *h, int rc, const char *why)
{
	char state[24];

	snprintf(state, sizeof(state), "failed %d", -rc);
	a->totals.failed += a->failed != a->step;
	a->failed = a->step;
	hinder(a, h, why);
	log_state(a->log, LOG_ERR, h->hands.ops->name, state,
		  "pacing by %s cannot be changed: %s; what is paced stays so, and it is tried again with each poll",
		  h->hands.ops->name, why);
}

/* What an administrator began is his to end. */
static void waits_for_him(struct act *a, const struct act_hands *h, const char *why)
{
	hinder(a, h, why);
	log_state(a->log, LOG_WARNING, h->hands.ops->name, "waits", "pacing stays as it is: %s",
		  why);
}

static void went_well(struct act *a, const struct act_hands *h)
{
	const char *subject = h->hands.ops->name;

	if (!log_is_new(&a->log->said, subject))
		log_state(a->log, LOG_NOTICE, subject, "well", "pacing by %s can be changed again",
			  subject);
}

/* Of all, not of one */
static void failed_whole(struct act *a, const struct act_hands *h, int rc, const char *why)
{
	if ((rc == -EACCES || rc == -EPERM) && a->mode == MODE_OBSERVE)
		cannot_take_back(a, h, why);
	else if (rc == -EACCES || rc == -EPERM)
		cannot(a, why);
	else if (rc == -EALREADY)
		waits_for_him(a, h, why);
	else if (rc != -EAGAIN)
		failed(a, h, rc, why);
}

/* More than its device carries: no rate is as good as that one. */
static void refuse_rate(struct act *a, struct act_hands *h, const struct pace *p,
			const char *why, int64_t now)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (!e || !e->force) {
		stand_down(a, h, p, false, why, now);
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
		failed_whole(a, h, rc, why);
		return false;
	case -EPERM:
		stand_down(a, h, p, r->device, why, now);
		return true;
	case -EOPNOTSUPP:
		act_device_unfit(a, p->ifindex, h - a->by, why);
		if (!p->rate)
			wait_for_device(a, h, p->ifindex);
		return true;
	case -ENODEV:
	case -ENETDOWN:
		wait_for_device(a, h, p->ifindex);
		return true;
	case -ERANGE:
		refuse_rate(a, h, p, why, now);
		return true;
	default:
		failed(a, h, rc, why);
		wait_for(a, h, p);
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
 * Where a subnet has taken its place, other hands are to, or it has been told as forgotten or
 * left alone, nothing is said.
 */
static void tell_change(struct act *a, const struct act_hands *h, const struct pace *p)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (!e || a->mode != MODE_ACT || (e->stood_down && !e->search.rate))
		return;
	if (!p->rate && e->wants_by == p->ifindex && &a->by[e->wants_hands] != h)
		return;
	if (p->rate && p->ifindex == e->ifindex && !e->was && act_gone_tells(a, e))
		return;
	if (p->ifindex == e->ifindex && e->force == e->was)
		act_tell_moved(a, e);
	else if (p->ifindex == e->ifindex && (e->force || !act_subnet_of(a, &e->to, e->ifindex)))
		act_tell_rate(a, e, e->was);
}

/* Where it had that by the device which its flows left by before, that */
static void note_was(const struct act_hands *h, struct acting *e, const struct pace *p)
{
	const struct pace *is = paced_get(&h->now, p->ifindex, &p->to);

	if (p->ifindex != e->ifindex && is && is->rate > e->was)
		e->was = is->rate;
}

static void took(struct act *a, struct act_hands *h, const struct pace *list, uint32_t n)
{
	struct acting *e;
	uint32_t i;

	for (i = 0; i < n; i++) {
		e = act_table_find(&a->table, &list[i].to);
		if (e)
			e->was = e->force;
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
		tell_change(a, h, &list[i]);
	a->totals.paced_changes += n;
	went_well(a, h);
}

static void say_notes(struct act *a, const struct hands_result *r)
{
	unsigned int i;

	for (i = 0; i < r->notes.n; i++)
		log_state(a->log, LOG_NOTICE, r->notes.text[i], "said", "%s", r->notes.text[i]);
}

/* True: once more */
static bool try_step(struct act *a, struct act_hands *h, const struct pace *list, uint32_t n,
		     int64_t now)
{
	struct hands_result r = { .at = HANDS_NOBODY };
	struct err e = { "" };
	int rc = h->hands.ops->apply(&h->hands, list, n, a->one_lock, &r, &e);

	act_busy_note(a, h, rc, e.text);
	say_notes(a, &r);
	if (!rc) {
		took(a, h, list, n);
		return true;
	}
	if (r.at < n)
		return failed_at(a, h, &list[r.at], &r, rc, e.text, now);
	failed_whole(a, h, rc, e.text);
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

/* One that observes, and has nothing to take back, is in nobody's way. */
static void unlock_if_done(struct act *a)
{
	if (a->mode == MODE_OBSERVE && !act_in_force(a))
		act_unlock(a);
}

static bool may_step(const struct act *a)
{
	return a->lock >= 0 && (a->mode != MODE_ACT || !a->unable[0]);
}

void act_step(struct act *a, int64_t now)
{
	int k;

	if (!may_step(a))
		return;
	for (k = 0; k < HANDS_KINDS; k++)
		if (a->by[k].known && may_step(a))
			step_by(a, &a->by[k], now);
	/* the later ones have it by now, perhaps */
	for (k = 0; k < HANDS_KINDS; k++)
		if (a->by[k].known && a->by[k].holds && may_step(a))
			step_by(a, &a->by[k], now);
	unlock_if_done(a);
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
			failed_whole(a, h, rc, e.text);
	}
}

/* --- what there is -------------------------------------------------------- */

/* One that was killed between kernel and history has its rate from the kernel. */
static void resume(struct search *s, uint64_t rate, int64_t now)
{
	uint64_t kept = s->state == SEARCH_KEPT ? s->rate : 0;
	uint64_t proved = kept ? s->low : 0;

	if (s->rate == rate || s->state == SEARCH_TAKEN_BACK)
		return;
	s->settling = true;
	s->rate = rate;
	if (!s->seen) {
		s->state = SEARCH_KEPT;
		s->low = rate;
		s->seen = now;
		s->counted = now;
		return;
	}
	s->state = SEARCH_TRYING;
	s->upward = proved && rate > proved;
	s->low = s->upward ? proved : 0;
	s->high = kept > rate ? kept : 0;
	s->step = rate / 20 + 1;
}

struct knowing {
	struct act *act;
	struct act_hands *hands;
	int64_t now;
};

static int know_one(const struct hand *h, void *data)
{
	const struct knowing *k = data;
	struct act *a = k->act;
	struct acting *e;

	if (h->state == HAND_GONE)
		return 0;
	e = act_takes(a, &h->pace.to) ? act_table_add(&a->table, &h->pace.to, k->now) : NULL;
	if (e) {
		e->rtt_us = e->rtt_us ?: h->pace.rtt_us;
		resume(&e->search, h->pace.rate, k->now);
		e->dirty = true;
		act_device_moved(a, e, h->pace.ifindex);
	}
	act_force(a, k->hands, &h->pace);
	return 0;
}

/* An earlier run that was cut short is taken back; it makes the folder of the lock, too. */
static int recover(struct act *a, struct act_hands *h, struct err *e)
{
	struct hands_result r = { .at = HANDS_NOBODY };
	int rc = h->hands.ops->apply(&h->hands, NULL, 0, a->one_lock, &r, e);

	say_notes(a, &r);
	return rc ?: act_lock(a, e);
}

bool act_is_known(const struct act *a)
{
	int k;

	for (k = 0; k < HANDS_KINDS; k++)
		if (!a->by[k].known)
			return false;
	return true;
}

void act_unknow(struct act *a)
{
	int k;

	for (k = 0; k < HANDS_KINDS; k++)
		a->by[k].known = false;
}

static const char *what_they_pace(const struct act_hands *h, char subject[32])
{
	snprintf(subject, 32, "what %s pace", h->hands.ops->name);
	return subject;
}

/* Not held back for a minute: it is not looked for again. */
static void say_known(struct act *a, const struct act_hands *h)
{
	char subject[32];

	what_they_pace(h, subject);
	if (log_is_new(&a->log->said, subject))
		return;
	log_say(a->log, LOG_NOTICE, "%s can be looked at again", subject);
	log_forget(&a->log->said, subject);
}

/* Whoever observes is told, and asks again by and by. */
static void say_unknown(struct act *a, struct act_hands *h, const char *why)
{
	char subject[32];

	snprintf(h->unknown, sizeof(h->unknown),
		 "what an earlier run may have paced by %s cannot be looked at: %.700s",
		 h->hands.ops->name, why);
	log_state(a->log, LOG_WARNING, what_they_pace(h, subject), "unknown",
		  "what an earlier run may have paced stays%s, as it cannot be looked at: %.700s; %s",
		  a->mode == MODE_ACT ? ", and nothing is paced anew" : "", why,
		  h->hands.ops->by_hand);
}

/*
 * Whoever observes as a user of his own may often not see what is pinned.  Where no ctcpd has
 * paced since the machine was booted, that is nothing.
 */
static void know_by(struct act *a, struct act_hands *h, bool was_locked, int64_t now)
{
	struct knowing k = { a, h, now };
	struct err e = { "" };
	int rc = a->mode == MODE_ACT ? recover(a, h, &e) : 0;

	rc = rc ?: h->hands.ops->look(&h->hands, know_one, &k, &e);
	act_busy_note(a, h, rc, e.text);
	if (rc == -EOPNOTSUPP && !was_locked)
		rc = 0;
	h->known = !rc;
	h->unknown[0] = 0;
	if (!rc)
		say_known(a, h);
	else if (rc == -EOPNOTSUPP || (rc != -EAGAIN && a->mode != MODE_ACT))
		say_unknown(a, h, e.text);
	else if (a->mode == MODE_ACT)
		failed_whole(a, h, rc, e.text);
}

/*
 * In `observe` nothing of ours is expected, and often it may not even be asked.  What another
 * daemon paces is its own, whatever the mode of this one.
 */
void act_know(struct act *a, int64_t now)
{
	bool was_locked = act_is_known(a) || act_was_locked();
	struct err e = { "" };
	int k, rc = act_lock(a, &e);

	if (rc == -EBUSY && a->mode == MODE_ACT)
		cannot(a, e.text);
	if (rc == -EBUSY)
		return;
	for (k = 0; k < HANDS_KINDS && !(a->mode == MODE_ACT && a->unable[0]); k++)
		if (!a->by[k].known)
			know_by(a, &a->by[k], was_locked, now);
	unlock_if_done(a);
}

/* --- what has become of it ------------------------------------------------ */

struct looking {
	struct act *act;
	struct act_hands *hands;
	struct hand *changed;
	uint32_t n;
};

static int look_one(const struct hand *h, void *data)
{
	struct looking *l = data;
	struct act *a = l->act;
	struct acting *e = act_table_find(&a->table, &h->pace.to);
	const struct pace *p = paced_get(&l->hands->now, h->pace.ifindex, &h->pace.to);
	struct hand *list;

	if (e)
		e->told = a->look;
	if (h->state == HAND_SET && (!p || p->rate != h->pace.rate))
		act_force(a, l->hands, &h->pace);
	if (h->state != HAND_CHANGED)
		return 0;
	list = grown(l->changed, l->n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	l->changed = list;
	list[l->n++] = *h;
	return 0;
}

/* What all of a device have in common is one thing that was changed. */
static void changed(const struct looking *l, int64_t now)
{
	int last = 0;
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		const struct hand *h = &l->changed[i];

		if (h->device && h->pace.ifindex == last)
			continue;
		last = h->device ? h->pace.ifindex : last;
		stand_down(l->act, l->hands, &h->pace, h->device, h->why, now);
	}
}

#define LET_GO	"an administrator set up his own there, or took it away"

static bool is_missing(const struct looking *l, const struct acting *e, int ifindex)
{
	return !e->gone && e->told != l->act->look && e->ifindex == ifindex &&
	       paced_get(&l->hands->now, ifindex, &e->to);
}

static bool any_missing(const struct looking *l, int ifindex)
{
	struct acting *e, *next;

	act_table_each(&l->act->table, e, next)
		if (is_missing(l, e, ifindex))
			return true;
	return false;
}

/* False: that is not known at present, and is asked again with the next look. */
static bool why_missing(const struct looking *l, int ifindex, struct err *why)
{
	struct hands *h = &l->hands->hands;
	int rc = h->ops->unrecorded ? h->ops->unrecorded(h, ifindex, why) : 0;

	if (!rc)
		err_set(why, 0, LET_GO);
	return !rc || rc == -EPERM;
}

/* Of one device: all that is not told of any more */
static void missing_on(const struct looking *l, int ifindex, int64_t now)
{
	struct acting *e, *next, *last = NULL;
	struct act_leaving left = { 0 };
	struct act *a = l->act;
	struct err why = { "" };

	if (!any_missing(l, ifindex) || !why_missing(l, ifindex, &why))
		return;
	act_table_each(&a->table, e, next) {
		if (!is_missing(l, e, ifindex))
			continue;
		paced_clear(&l->hands->now, ifindex, &e->to);
		act_note_force(a, e);
		if (!act_stand_down(a, e, why.text, now))
			continue;
		last = e;
		leaves(&left, e);
	}
	if (left.n == 1)
		act_tell_left(a, last, why.text);
	else if (left.n)
		act_tell_left_device(a, ifindex, &left, why.text);
}

static void missing(const struct looking *l, int64_t now)
{
	const struct act *a = l->act;
	uint32_t i;

	for (i = 0; i < a->n_devices; i++)
		missing_on(l, a->devices[i].ifindex, now);
}

static void look_by(struct act *a, struct act_hands *h, int64_t now)
{
	struct looking l = { .act = a, .hands = h };
	struct err e = { "" };
	int rc;

	a->look++;
	rc = h->hands.ops->look(&h->hands, look_one, &l, &e);
	act_busy_note(a, h, rc, e.text);
	if (!rc) {
		changed(&l, now);
		missing(&l, now);
	} else {
		failed_whole(a, h, rc, e.text);
	}
	free(l.changed);
}

void act_look(struct act *a, int64_t now)
{
	int k;

	for (k = 0; k < HANDS_KINDS; k++)
		if (a->by[k].known && a->by[k].now.n && act_acts(a))
			look_by(a, &a->by[k], now);
}

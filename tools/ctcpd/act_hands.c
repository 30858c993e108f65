// SPDX-License-Identifier: GPL-2.0
/*
 * From the set that is wanted to what the kernel has, and what to do where that fails.
 *
 * All that has changed goes in one batch, which is made or not.  What made it fail is taken out,
 * with its device where that is it, and the rest is tried again at once, TRIES times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "act_inside.h"
#include "grow.h"
#include "hands_class.h"
#include "out.h"

#define TRIES		16U	/* in one poll */
#define LET_GO_MAX	16U	/* in one poll: a run each, of some tens of milliseconds */
#define STEP_MAX	1024U	/* changes of one batch: some tenths of a second */

/* --- what is in force ----------------------------------------------------- */

/* That of the device which its flows leave by */
static void note_force(struct act *a, struct acting *e)
{
	const struct pace *p = paced_get(&a->now, e->ifindex, &e->to);
	uint64_t rate = p ? p->rate : 0;

	if (rate == e->force)
		return;
	e->force = rate;
	e->changed = a->epoch;
}

void act_force(struct act *a, const struct pace *p)
{
	struct acting *e = act_table_any(&a->table, &p->to);

	if (p->rate)
		paced_set(&a->now, p);
	else
		paced_clear(&a->now, p->ifindex, &p->to);
	if (e)
		note_force(a, e);
}

static void device_is_free(struct act *a, int ifindex)
{
	struct acting *e, *next;

	paced_clear_device(&a->now, ifindex);
	act_table_each(&a->table, e, next)
		if (e->ifindex == ifindex)
			note_force(a, e);
}

/* --- what waits for the next poll ----------------------------------------- */

static void wait_for_device(struct act *a, int ifindex)
{
	struct act_device *d = act_device(a, ifindex);

	if (d)
		d->waits = a->step;
	else
		paced_clear_device(&a->now, ifindex);
}

static void wait_for(struct act *a, const struct pace *p)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (e)
		e->waits = a->step;
	else
		wait_for_device(a, p->ifindex);
}

/* --- standing down -------------------------------------------------------- */

/* -errno: it is tried again with the next poll */
static int let_go(struct act *a, const struct pace *p, bool device)
{
	struct pace none = *p;
	struct hands_result r;
	struct err e = { "" };
	int rc;

	if (a->let_goes >= LET_GO_MAX)
		return -EAGAIN;
	a->let_goes++;
	rc = hands_let_go(p, device, &r, &e);
	if (rc) {
		log_say(a->log, LOG_DEBUG, "what somebody changed is let go of later: %s", e.text);
		return rc;
	}
	none.rate = 0;
	if (device)
		device_is_free(a, p->ifindex);
	else
		act_force(a, &none);
	return 0;
}

static void stand_down_device(struct act *a, int ifindex, const char *why, int64_t now)
{
	struct acting *e, *next;
	uint32_t n = 0;

	act_table_each(&a->table, e, next)
		if (!e->gone && e->ifindex == ifindex && (e->search.rate || e->force))
			n += act_stand_down(a, e, why, now);
	if (n)
		act_tell_left_device(a, ifindex, n, why);
}

/* Somebody else's: it is let go of, where it is ours so far */
static void stand_down(struct act *a, const struct pace *p, bool device, const char *why,
		       int64_t now)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (device)
		stand_down_device(a, p->ifindex, why, now);
	else if (e && act_stand_down(a, e, why, now))
		act_tell_left(a, e, why);
	if (!paced_get(&a->now, p->ifindex, &p->to) || !let_go(a, p, device))
		return;
	if (device)
		wait_for_device(a, p->ifindex);
	else
		wait_for(a, p);
}

/* --- what cannot be done -------------------------------------------------- */

static void cannot(struct act *a, const char *why)
{
	if (a->mode == MODE_OBSERVE) {
		log_state(a->log, LOG_ERR, "act", "stays",
			  "what is paced cannot be taken back, though mode = observe: %s", why);
		return;
	}
	if (!a->unable[0])
		log_state(a->log, LOG_ERR, "act", why,
			  "pacing can be neither set nor taken back, though mode = act: %s", why);
	out_copy(a->unable, sizeof(a->unable), why);
	act_unlock(a);
}

static void failed(struct act *a, int rc, const char *why)
{
	char state[24];

	snprintf(state, sizeof(state), "failed %d", -rc);
	a->totals.failed += a->failed != a->step;
	a->failed = a->step;
	log_state(a->log, LOG_ERR, "hands", state,
		  "pacing cannot be changed: %s; it is tried again with each poll", why);
}

static void went_well(struct act *a)
{
	if (!log_is_new(&a->log->said, "hands"))
		log_state(a->log, LOG_NOTICE, "hands", "well", "pacing can be changed again");
}

/* Of all, not of one */
static void failed_whole(struct act *a, int rc, const char *why)
{
	if (rc == -EACCES || rc == -EPERM)
		cannot(a, why);
	else if (rc == -EALREADY)
		log_state(a->log, LOG_WARNING, "hands", "waits", "pacing stays as it is: %s", why);
	else if (rc != -EAGAIN)
		failed(a, rc, why);
}

/* More than its device carries: no rate is as good as that one. */
static void refuse_rate(struct act *a, const struct pace *p, const char *why, int64_t now)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (!e || !e->force) {
		stand_down(a, p, false, why, now);
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
static bool failed_at(struct act *a, const struct pace *p, const struct hands_result *r, int rc,
		      const char *why, int64_t now)
{
	switch (rc) {
	case -EAGAIN:
	case -EALREADY:
	case -EACCES:
		failed_whole(a, rc, why);
		return false;
	case -EPERM:
		stand_down(a, p, r->device, why, now);
		return true;
	case -EOPNOTSUPP:
		act_device_unfit(a, p->ifindex, why);
		if (!p->rate)
			wait_for_device(a, p->ifindex);
		return true;
	case -ENODEV:
	case -ENETDOWN:
		wait_for_device(a, p->ifindex);
		return true;
	case -ERANGE:
		refuse_rate(a, p, why, now);
		return true;
	default:
		failed(a, rc, why);
		wait_for(a, p);
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

/* *@list: freed by the caller; how many */
static uint32_t changes(struct act *a, struct pace **list)
{
	static const struct paced none;
	const struct paced *then = act_acts(a) ? &a->want : &none;
	uint32_t i, n, kept = 0;

	if (paced_step(&a->now, then, UINT32_MAX, list, &n))
		return 0;
	for (i = 0; i < n && kept < STEP_MAX; i++)
		if (!waits(a, &(*list)[i]))
			(*list)[kept++] = (*list)[i];
	return kept;
}

/* Where a subnet has taken its place, or it has been told as forgotten, nothing is said. */
static void tell_change(struct act *a, const struct pace *p)
{
	const struct acting *e = act_table_find(&a->table, &p->to);

	if (!e || a->mode != MODE_ACT)
		return;
	if (p->ifindex == e->ifindex && e->force == e->was)
		act_tell_moved(a, e);
	else if (p->ifindex == e->ifindex && (e->force || !act_subnet_of(a, &e->to, e->ifindex)))
		act_tell_rate(a, e, e->was);
}

static void took(struct act *a, const struct pace *list, uint32_t n)
{
	struct acting *e;
	uint32_t i;

	for (i = 0; i < n; i++) {
		e = act_table_find(&a->table, &list[i].to);
		if (e)
			e->was = e->force;
	}
	for (i = 0; i < n; i++)
		act_force(a, &list[i]);
	for (i = 0; i < n; i++)
		tell_change(a, &list[i]);
	a->totals.paced_changes += n;
	went_well(a);
}

static void say_notes(struct act *a, const struct hands_result *r)
{
	unsigned int i;

	for (i = 0; i < r->notes.n; i++)
		log_state(a->log, LOG_NOTICE, r->notes.text[i], "said", "%s", r->notes.text[i]);
}

/* True: once more */
static bool try_step(struct act *a, const struct pace *list, uint32_t n, int64_t now)
{
	struct hands_result r = { .at = HANDS_NOBODY };
	struct err e = { "" };
	int rc = hands_apply(list, n, a->one_lock, &r, &e);

	say_notes(a, &r);
	if (!rc) {
		took(a, list, n);
		return true;
	}
	if (r.at < n)
		return failed_at(a, &list[r.at], &r, rc, e.text, now);
	failed_whole(a, rc, e.text);
	return false;
}

void act_step(struct act *a, int64_t now)
{
	unsigned int tries = TRIES;
	struct pace *list;
	bool again = true;
	uint32_t n;

	if (!a->known || a->lock < 0 || (a->mode == MODE_ACT && a->unable[0]))
		return;
	while (again && tries--) {
		n = changes(a, &list);
		again = n && try_step(a, list, n, now);
		free(list);
	}
	if (a->mode == MODE_OBSERVE && !a->now.n)
		act_unlock(a);
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
	act_force(a, &h->pace);
	return 0;
}

/* An earlier run that was cut short is taken back; it makes the folder of the lock, too. */
static int recover(struct act *a, struct err *e)
{
	struct hands_result r = { .at = HANDS_NOBODY };
	int rc = hands_apply(NULL, 0, a->one_lock, &r, e);

	say_notes(a, &r);
	return rc ?: act_lock(a, e);
}

/*
 * In `observe` nothing of ours is expected, and often it may not even be asked.  What another
 * daemon paces is its own, whatever the mode of this one.
 */
void act_know(struct act *a, int64_t now)
{
	struct knowing k = { a, now };
	struct err e = { "" };
	int rc = act_lock(a, &e);

	if (rc == -EBUSY && a->mode == MODE_ACT)
		cannot(a, e.text);
	if (rc == -EBUSY)
		return;
	rc = a->mode == MODE_ACT ? recover(a, &e) : 0;
	rc = rc ?: hands_look(know_one, &k, &e);
	if (a->mode == MODE_OBSERVE && (rc || !a->now.n))
		act_unlock(a);
	if (!rc)
		a->known = true;
	else if (a->mode == MODE_ACT)
		failed_whole(a, rc, e.text);
	else if (rc != -EAGAIN)
		log_state(a->log, LOG_WARNING, "know", "unknown",
			  "what an earlier run may have paced stays, as it cannot be looked at: %s",
			  e.text);
}

/* --- what has become of it ------------------------------------------------ */

struct looking {
	struct act *act;
	struct hand *changed;
	uint32_t n;
};

static int look_one(const struct hand *h, void *data)
{
	struct looking *l = data;
	struct act *a = l->act;
	struct acting *e = act_table_find(&a->table, &h->pace.to);
	const struct pace *p = paced_get(&a->now, h->pace.ifindex, &h->pace.to);
	struct hand *list;

	if (e)
		e->told = a->look;
	if (h->state == HAND_SET && (!p || p->rate != h->pace.rate))
		act_force(a, &h->pace);
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
static void changed(struct act *a, const struct looking *l, int64_t now)
{
	int last = 0;
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		const struct hand *h = &l->changed[i];

		if (h->device && h->pace.ifindex == last)
			continue;
		last = h->device ? h->pace.ifindex : last;
		stand_down(a, &h->pace, h->device, h->why, now);
	}
}

#define LET_GO	"an administrator set up his own there, or took it away"

/* Of one device: all that the state of ctcp-setup does not tell of any more */
static void missing_on(struct act *a, int ifindex, int64_t now)
{
	struct acting *e, *next, *last = NULL;
	uint32_t n = 0;

	act_table_each(&a->table, e, next) {
		if (e->gone || e->told == a->look || e->ifindex != ifindex ||
		    !paced_clear(&a->now, ifindex, &e->to))
			continue;
		note_force(a, e);
		if (!act_stand_down(a, e, LET_GO, now))
			continue;
		last = e;
		n++;
	}
	if (n == 1)
		act_tell_left(a, last, LET_GO);
	else if (n)
		act_tell_left_device(a, ifindex, n, LET_GO);
}

static void missing(struct act *a, int64_t now)
{
	uint32_t i;

	for (i = 0; i < a->n_devices; i++)
		missing_on(a, a->devices[i].ifindex, now);
}

void act_look(struct act *a, int64_t now)
{
	struct looking l = { .act = a };
	struct err e = { "" };
	int rc;

	if (!a->known || !act_acts(a) || !a->now.n)
		return;
	a->look++;
	rc = hands_look(look_one, &l, &e);
	if (!rc) {
		changed(a, &l, now);
		missing(a, now);
	} else {
		failed_whole(a, rc, e.text);
	}
	free(l.changed);
}

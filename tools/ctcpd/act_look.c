// SPDX-License-Identifier: GPL-2.0
/*
 * What has become of it by the next poll: somebody may have changed what is ours, or taken it
 * back.
 */
#include <errno.h>
#include <stdlib.h>

#include "act_inside.h"
#include "grow.h"

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
		act_leave(l->act, l->hands, &h->pace, h->device, h->why, now);
	}
}

#define TAKEN_AWAY	"an administrator set up his own there, or took it away"

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
		err_set(why, 0, TAKEN_AWAY);
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
		act_leaving_add(&left, e);
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
		act_failed_whole(a, h, rc, e.text);
	}
	free(l.changed);
}

/* --- in `observe` --------------------------------------------------------- */

static void note_all(struct act *a)
{
	struct acting *e, *next;

	act_table_each(&a->table, e, next)
		act_note_force(a, e);
}

void act_not_ours(struct act *a, struct act_hands *h)
{
	paced_free(&h->now);
	h->known = false;
	note_all(a);
}

static int still_there(const struct hand *h, void *data)
{
	return h->state == HAND_GONE ? 0 : paced_set(data, &h->pace);
}

/* What this process may not take back, somebody may by hand. */
static void look_whether_it_stays(struct act *a, struct act_hands *h)
{
	struct paced now = { 0 };
	struct err e = { "" };

	if (h->hands.ops->look(&h->hands, still_there, &now, &e)) {
		paced_free(&now);
		return;
	}
	paced_free(&h->now);
	h->now = now;
	note_all(a);
	if (now.n)
		return;
	log_say(a->log, LOG_NOTICE, "what an earlier run paced by %s has been taken back",
		h->hands.ops->name);
	log_forget(&a->log->said, h->hands.ops->name);
}

void act_look(struct act *a, int64_t now)
{
	int k;

	for (k = 0; k < HANDS_KINDS; k++) {
		struct act_hands *h = &a->by[k];

		if (!h->known || !h->now.n)
			continue;
		if (act_acts(a))
			look_by(a, h, now);
		else if (a->mode == MODE_OBSERVE && a->lock < 0)
			look_whether_it_stays(a, h);
	}
}

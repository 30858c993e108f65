// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel has of ours when the daemon starts: an earlier run may have paced.
 */
#include <errno.h>
#include <stdio.h>

#include "act_inside.h"

/* If an earlier run was killed between kernel and history, the kernel's rate counts. */
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

/* Take back an earlier run that was cut short; this makes the folder of the lock, too. */
static int recover(struct act *a, struct act_hands *h, struct err *e)
{
	struct hands_result r = { .at = HANDS_NOBODY };
	int rc = h->hands.ops->apply(&h->hands, NULL, 0, a->one_lock, &r, e);

	act_say_notes(a, &r);
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

/* Said at once, not held back for a minute: this is not looked at again. */
static void say_known(struct act *a, const struct act_hands *h)
{
	char subject[32];

	what_they_pace(h, subject);
	if (log_is_new(&a->log->said, subject))
		return;
	log_say(a->log, LOG_NOTICE, "%s can be looked at again", subject);
	log_forget(&a->log->said, subject);
}

/* Logged in `observe`, too, where the daemon tries again later. */
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
 * A daemon that observes as a user of its own often may not see what is pinned.  If no ctcpd has
 * paced since the machine was booted, nothing is.
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
	else if (rc == -EOPNOTSUPP || rc == -ESTALE || (rc != -EAGAIN && a->mode != MODE_ACT))
		say_unknown(a, h, e.text);
	else if (a->mode == MODE_ACT)
		act_failed_whole(a, h, rc, e.text);
}

/*
 * In `observe` nothing of ours is expected, and often the daemon may not even look.  What another
 * daemon paces belongs to that one, whatever the mode of this one.
 */
void act_know(struct act *a, int64_t now)
{
	bool was_locked = act_is_known(a) || act_was_locked();
	struct err e = { "" };
	int k, rc = act_lock(a, &e);

	if (rc == -EBUSY && a->mode == MODE_ACT)
		act_cannot(a, e.text);
	if (rc == -EBUSY)
		return;
	for (k = 0; k < HANDS_KINDS && !(a->mode == MODE_ACT && a->unable[0]); k++)
		if (!a->by[k].known)
			know_by(a, &a->by[k], was_locked, now);
	act_unlock_if_done(a);
}

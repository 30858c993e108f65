// SPDX-License-Identifier: GPL-2.0
/*
 * What is done about hands that cannot change anything, and what is told of it.
 */
#include <errno.h>
#include <stdio.h>

#include "act_inside.h"
#include "out.h"

/* Another process, which may, goes on with what is pinned. */
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

void act_cannot_take_back(struct act *a, const struct act_hands *h, const char *why)
{
	hinder(a, h, why);
	log_state(a->log, LOG_ERR, h->hands.ops->name, "stays",
		  "what is paced cannot be taken back, though mode = observe: %.700s; %s", why,
		  h->hands.ops->by_hand);
}

void act_cannot(struct act *a, const char *why)
{
	if (!a->unable[0])
		log_state(a->log, LOG_ERR, "act", why,
			  "pacing can be neither set nor taken back, though mode = act: %s", why);
	out_copy(a->unable, sizeof(a->unable), why);
	close_all(a);
	act_unlock(a);
}

void act_failed(struct act *a, const struct act_hands *h, int rc, const char *why)
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

/* What an administrator began is for an administrator to end. */
static void waits_for_administrator(struct act *a, const struct act_hands *h, const char *why)
{
	hinder(a, h, why);
	log_state(a->log, LOG_WARNING, h->hands.ops->name, "waits", "pacing stays as it is: %s",
		  why);
}

void act_went_well(struct act *a, const struct act_hands *h)
{
	const char *subject = h->hands.ops->name;

	if (!log_is_new(&a->log->said, subject))
		log_state(a->log, LOG_NOTICE, subject, "well", "pacing by %s can be changed again",
			  subject);
}

/* A change as a whole */
void act_failed_whole(struct act *a, const struct act_hands *h, int rc, const char *why)
{
	if ((rc == -EACCES || rc == -EPERM) && a->mode == MODE_OBSERVE)
		act_cannot_take_back(a, h, why);
	else if (rc == -EACCES || rc == -EPERM)
		act_cannot(a, why);
	else if (rc == -EALREADY)
		waits_for_administrator(a, h, why);
	else if (rc != -EAGAIN)
		act_failed(a, h, rc, why);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What is left as it is: for this poll, where the kernel cannot now, or for good, where somebody
 * else has changed it.
 */
#include <errno.h>

#include "act_inside.h"

#define LET_GO_MAX	16U	/* in one poll: a run each, of some tens of milliseconds */

/* --- what waits for the next poll ----------------------------------------- */

void act_wait_for_device(struct act *a, struct act_hands *h, int ifindex)
{
	struct act_device *d = act_device(a, ifindex);

	if (d)
		d->waits = a->step;
	else
		act_device_is_free(a, h, ifindex);
}

void act_wait_for(struct act *a, struct act_hands *h, const struct pace *p)
{
	struct acting *e = act_table_find(&a->table, &p->to);

	if (e)
		e->waits = a->step;
	else
		act_wait_for_device(a, h, p->ifindex);
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
		act_device_is_free(a, h, p->ifindex);
	else
		act_force(a, h, &none);
	return 0;
}

void act_leaving_add(struct act_leaving *l, const struct acting *e)
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
			act_leaving_add(&l, e);
	if (l.n)
		act_tell_left_device(a, ifindex, &l, why);
}

void act_leave(struct act *a, struct act_hands *h, const struct pace *p, bool device,
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
		act_wait_for_device(a, h, p->ifindex);
	else
		act_wait_for(a, h, p);
}

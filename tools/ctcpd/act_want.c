// SPDX-License-Identifier: GPL-2.0
/*
 * From searches to the set that is wanted, kept up to date one search after the other: with
 * 500 paced remotes a poll without a change costs nothing here.
 */
#include <errno.h>
#include <stdlib.h>

#include "act_inside.h"

bool acting_is_active(const struct acting *e)
{
	return acting_is_subnet(e) && !e->gone && e->search.rate;
}

struct acting *act_subnet_of(const struct act *a, const struct prefix *addr, int ifindex)
{
	struct prefix subnet;
	struct acting *e;

	if (!a->table.subnets)
		return NULL;
	subnet = paced_subnet(addr);
	e = act_table_find(&a->table, &subnet);
	return e && acting_is_active(e) && e->ifindex == ifindex ? e : NULL;
}

static struct pace pace_of(const struct acting *e)
{
	return (struct pace){
		.to = e->to, .ifindex = e->ifindex, .rate = e->search.rate, .rtt_us = e->rtt_us,
	};
}

/* By which hands; HANDS_NONE = it is not */
static enum hands_kind wanted_of(struct act *a, const struct acting *e)
{
	if (e->gone || !e->search.rate || !e->ifindex)
		return HANDS_NONE;
	if (!acting_is_subnet(e) && act_subnet_of(a, &e->to, e->ifindex))
		return HANDS_NONE;
	return act_device_by(a, e->ifindex);
}

static void note_wanted(struct acting *e, enum hands_kind by)
{
	bool is = by != HANDS_NONE;

	e->wants = is ? e->search.rate : 0;
	e->wants_by = is ? e->ifindex : 0;
	e->wants_hands = by;
}

static bool is_host_of(const struct acting *e, const struct acting *subnet)
{
	return !acting_is_subnet(e) && e->ifindex == subnet->ifindex &&
	       prefix_holds(&subnet->to, &e->to);
}

static void change_want(struct act *a, struct acting *e)
{
	struct pace one = pace_of(e);
	enum hands_kind by = wanted_of(a, e);
	bool stays = e->wants_by == one.ifindex && e->wants_hands == by;
	int rc;

	if (by != HANDS_NONE && stays && e->wants == one.rate)
		return;
	if (e->wants_by && !stays)
		paced_clear(&a->by[e->wants_hands].want, e->wants_by, &e->to);
	if (by != HANDS_NONE) {
		rc = paced_set(&a->by[by].want, &one);
		a->crowded += rc == -ENOSPC;
		by = rc ? HANDS_NONE : by;
	}
	note_wanted(e, by);
}

/*
 * Of a subnet that was read from the history, or whose device is back, hosts go first.  Where
 * there are PACED_MAX, or is no memory, it goes without, and its next change tries again.
 */
void act_want(struct act *a, struct acting *e)
{
	struct acting *host, *next;

	if (acting_is_active(e) && e->ifindex && !e->wants_by)
		act_table_each(&a->table, host, next)
			if (is_host_of(host, e))
				change_want(a, host);
	change_want(a, e);
}

void act_want_device(struct act *a, int ifindex)
{
	struct acting *e, *next;

	act_table_each(&a->table, e, next)
		if (e->ifindex == ifindex)
			act_want(a, e);
}

/* 0, or as paced_merge() */
int act_want_subnet(struct act *a, struct acting *subnet)
{
	struct pace one = pace_of(subnet);
	enum hands_kind by = act_device_by(a, subnet->ifindex);
	struct acting *e, *next;
	int rc = by == HANDS_NONE ? -EPERM : paced_merge(&a->by[by].want, &one);

	if (rc)
		return rc;
	note_wanted(subnet, by);
	act_table_each(&a->table, e, next)
		if (is_host_of(e, subnet))
			note_wanted(e, HANDS_NONE);
	return 0;
}

/* Each as before, but that it has to show anew what it takes. */
void act_want_hosts(struct act *a, struct acting *subnet)
{
	struct acting *e, *next;

	act_want(a, subnet);
	act_table_each(&a->table, e, next) {
		if (!is_host_of(e, subnet))
			continue;
		e->search.settling = e->search.rate != 0;
		act_want(a, e);
	}
}

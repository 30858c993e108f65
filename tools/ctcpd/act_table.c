// SPDX-License-Identifier: GPL-2.0
/*
 * The table of searches: see act_table.h.
 */
#include <stdlib.h>
#include <string.h>

#include "act_table.h"
#include "paced.h"

#define LOOK_MAX 64U	/* entries that are looked at to find one to drop */

void act_table_init(struct act_table *t)
{
	memset(t, 0, sizeof(*t));
	recent_init(&t->all);
	act_nets_init(&t->nets);
}

bool acting_is_subnet(const struct acting *e)
{
	return e->to.len < (e->to.family == AF_INET ? 32U : 128U);
}

void act_table_drop(struct act_table *t, struct acting *e)
{
	act_nets_leave(&t->nets, e);
	t->subnets -= acting_is_subnet(e);
	recent_remove(&t->all, &e->node);
	free(e->stood_down);
	free(e);
}

void act_table_free(struct act_table *t)
{
	while (recent_oldest(&t->all))
		act_table_drop(t, (struct acting *)recent_oldest(&t->all));
	recent_free(&t->all);
	act_nets_free(&t->nets);
}

void act_table_again(struct act_table *t)
{
	t->full = false;
	t->refused = 0;
	act_nets_again(&t->nets);
}

struct acting *act_table_any(const struct act_table *t, const struct prefix *to)
{
	return (struct acting *)recent_peek(&t->all, to, sizeof(*to));
}

struct acting *act_table_find(const struct act_table *t, const struct prefix *to)
{
	struct acting *e = act_table_any(t, to);

	return e && !e->gone ? e : NULL;
}

void act_table_used(struct act_table *t, struct acting *e)
{
	recent_find(&t->all, &e->to, sizeof(e->to));
}

/* An entry seen later than @now is in use: search_tick() follows a clock that was set back. */
bool acting_is_silent(const struct acting *e, int64_t now)
{
	return now - e->search.seen >= IDLE_S;
}

static bool is_idle(const struct acting *e, int64_t now, const void *unused)
{
	(void)unused;
	return !e->search.rate && !e->force && acting_is_silent(e, now);
}

/* Whether @to's networks have room; a full one drops an idle entry of its own */
static bool has_room(struct act_table *t, const struct prefix *to, int64_t now)
{
	struct act_net *net;
	struct acting *e;

	while ((net = act_nets_full(&t->nets, to))) {
		e = net->full == t->nets.poll ? NULL :
		    act_net_silent_longest(net, now, is_idle, NULL);
		if (!e) {
			act_nets_refuse(&t->nets, net);
			return false;
		}
		act_table_drop(t, e);
	}
	return true;
}

/* Move entries that are in use behind the others, so that the next look does not meet them. */
static bool make_room(struct act_table *t, int64_t now)
{
	unsigned int i;

	for (i = 0; i < LOOK_MAX && recent_oldest(&t->all); i++) {
		struct acting *e = (struct acting *)recent_oldest(&t->all);

		if (is_idle(e, now, NULL)) {
			act_table_drop(t, e);
			return true;
		}
		act_table_used(t, e);
	}
	t->full = true;
	return false;
}

static struct acting *new_one(struct act_table *t, const struct prefix *to)
{
	struct acting *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->to = *to;
	e->node.key = &e->to;
	e->node.len = sizeof(e->to);
	if (!act_nets_join(&t->nets, e)) {
		free(e);
		return NULL;
	}
	if (recent_add(&t->all, &e->node)) {
		act_nets_leave(&t->nets, e);
		free(e);
		return NULL;
	}
	t->subnets += acting_is_subnet(e);
	return e;
}

/* Reuse a forgotten entry: reset its search, but keep what it records of kernel and history. */
static struct acting *again(struct acting *e)
{
	memset(&e->search, 0, sizeof(e->search));
	free(e->stood_down);
	e->stood_down = NULL;
	e->reason = SEARCH_NO_REASON;
	e->since = 0;
	e->together = 0;
	e->gone = false;
	e->dirty = true;
	return e;
}

struct acting *act_table_add(struct act_table *t, const struct prefix *to, int64_t now)
{
	struct acting *e = act_table_any(t, to);

	if (e)
		return e->gone ? again(e) : e;
	if (!has_room(t, to, now))
		return NULL;
	if (t->all.n >= ACTINGS_MAX && (t->full || !make_room(t, now))) {
		t->refused++;
		return NULL;
	}
	return new_one(t, to);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Room for searches that wait: when the table is full, a network has as many as it may, or
 * PACED_MAX are paced, forget what was silent for longest.  If that comes back, its search begins
 * anew; what is in use stays.
 */
#include "act_inside.h"

#define ROOM_MAX 16U	/* that are forgotten in one poll */

/* Keep a host whose subnet is paced in its place: once forgotten, it would return as a stranger. */
static bool may_go(const struct acting *e, int64_t now, const void *data)
{
	const struct act *a = data;

	return !e->gone && e->search.rate && !acting_is_subnet(e) && acting_is_silent(e, now) &&
	       !act_subnet_of(a, &e->to, e->ifindex);
}

/* NULL if all are in use */
static struct acting *silent_longest(struct act *a, bool wanted, int64_t now)
{
	struct acting *e, *next, *first = NULL;

	act_table_each(&a->table, e, next)
		if (may_go(e, now, a) && (!wanted || e->wants_by) &&
		    (!first || e->search.seen < first->search.seen))
			first = e;
	return first;
}

/* Entries that are being forgotten, but stay until hands and the history have released them */
static uint32_t going(struct act *a)
{
	struct acting *e, *next;
	uint32_t n = 0;

	act_table_each(&a->table, e, next)
		n += e->gone;
	return n;
}

static bool has_one_going(const struct act_net *net)
{
	const struct acting *e;

	TAILQ_FOREACH(e, &net->searches, in_net[net->level])
		if (e->gone)
			return true;
	return false;
}

static void let_go(struct act *a, struct acting *e, int64_t now)
{
	e->gone = true;
	act_want(a, e);
	act_tell_room(a, e, now);
}

/* Forget @n entries, at most ROOM_MAX; @wanted: only of those that are to be paced */
static void let_some_go(struct act *a, uint32_t n, bool wanted, int64_t now)
{
	struct acting *e;

	n = n < ROOM_MAX ? n : ROOM_MAX;
	while (n-- && (e = silent_longest(a, wanted, now)))
		let_go(a, e, now);
}

/* Forget one entry of each full network that has found another one, and none of other networks. */
static void let_go_of_nets(struct act *a, int64_t now)
{
	struct act_nets *ns = &a->table.nets;
	struct recent_node *node;
	uint32_t n = 0;

	if (!ns->refused)
		return;
	TAILQ_FOREACH(node, &ns->all.order, by_use) {
		const struct act_net *net = (const struct act_net *)node;
		struct acting *e;

		if (net->full != ns->poll || has_one_going(net))
			continue;
		e = act_net_silent_longest(net, now, may_go, a);
		if (!e)
			continue;
		let_go(a, e, now);
		if (++n == ROOM_MAX)
			break;
	}
	ns->refused = false;
}

void act_make_room(struct act *a, int64_t now)
{
	uint32_t go;

	let_some_go(a, a->crowded, true, now);
	go = a->table.refused ? going(a) : 0;
	if (a->table.refused > go)
		let_some_go(a, a->table.refused - go, false, now);
	let_go_of_nets(a, now);
	a->crowded = 0;
}

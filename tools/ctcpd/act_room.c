// SPDX-License-Identifier: GPL-2.0
/*
 * Room for those that wait: where the table is full, or PACED_MAX are paced, what was silent for
 * longest is forgotten.  It is found again as it was at first; what is in use stays.
 */
#include "act_inside.h"

#define ROOM_MAX 16U	/* that go in one poll */

/* NULL: all of them are in use */
static struct acting *silent_longest(struct act *a, bool wanted, int64_t now)
{
	struct acting *e, *next, *first = NULL;

	act_table_each(&a->table, e, next)
		if (!e->gone && e->search.rate && !acting_is_subnet(e) &&
		    (!wanted || e->wants_by) && acting_is_silent(e, now) &&
		    (!first || e->search.seen < first->search.seen))
			first = e;
	return first;
}

/* @n of them; of those that are to be paced if @wanted */
static void let_go(struct act *a, uint32_t n, bool wanted, int64_t now)
{
	struct acting *e;

	n = n < ROOM_MAX ? n : ROOM_MAX;
	while (n-- && (e = silent_longest(a, wanted, now))) {
		e->gone = true;
		act_want(a, e);
		act_tell_room(a, e, now);
	}
}

void act_make_room(struct act *a, int64_t now)
{
	let_go(a, a->crowded, true, now);
	let_go(a, a->table.refused, false, now);
	a->crowded = 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes: the plan against what the kernel has.
 *
 * A want says what an item should be.  Most sysctls are wants of "at least":
 * a larger value of the machine's stays.  changes_make() asks the backend what
 * is there, looks into the journals what of it is ours, and yields the changes
 * still needed and the journal as it must be before the first of them.
 */
#ifndef CTCP_CHANGES_H
#define CTCP_CHANGES_H

#include "item.h"
#include "journal.h"
#include "plan.h"
#include "route.h"

enum rule {
	RULE_EXACT,	/* this value */
	RULE_AT_LEAST,	/* up to three numbers, each at least this */
	RULE_NOT_ZERO,	/* this value in place of 0 */
	RULE_HAS_WORD,	/* a list that contains this word */
	RULE_ROUTE,	/* the route there, with our metrics */
};

struct want {
	enum item_kind kind;
	enum rule rule;
	bool optional;			/* absent or read-only here: a note */
	char name[ITEM_NAME];
	char value[ITEM_VALUE];
	const struct route_want *route;	/* RULE_ROUTE */
};

#define WANTS_MAX 20

struct wants {
	uint32_t n;
	struct want list[WANTS_MAX];
};

struct change {
	enum item_kind kind;
	char name[ITEM_NAME];
	char from[ITEM_VALUE];
	char to[ITEM_VALUE];
};

/* Another circuit's record that takes over what one of ours would restore. */
struct moved {
	struct journal *owner;
	struct record *record;
	char before[ITEM_VALUE];		/* its own, if ours stays after all */
};

struct changes {
	uint32_t n;
	struct change list[RECORDS_MAX];
	struct journal journal;			/* as it must be before the first */
	uint32_t n_moved;
	struct moved moved[RECORDS_MAX];	/* their journals change, too */
};

void wants_make(const struct circuit *c, const struct facts *f,
		const struct plan *p, const struct route_want *route, bool own_netns,
		struct wants *w);
int want_target(const struct want *w, const char *base, char target[ITEM_VALUE],
		struct err *e);
int changes_make(const struct wants *w, struct backend *b, struct journals *js,
		 const char *netns, const struct circuit *c, struct changes *ch,
		 struct notes *notes, struct err *e);

#endif

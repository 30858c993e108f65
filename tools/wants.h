/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wants: what one circuit needs of each item.
 *
 * Most sysctls are wants of "at least": a larger value of the machine's stays.
 */
#ifndef CTCP_WANTS_H
#define CTCP_WANTS_H

#include "item.h"
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
	int ifindex;			/* of the device that the item is bound to, 0 = none */
	char name[ITEM_NAME];
	char value[ITEM_VALUE];
	const struct route_want *route;	/* RULE_ROUTE */
};

/* Of --shaper htb: the circuit's class, and that of all else on the device. */
struct place {
	uint32_t classid;		/* minor */
	struct rest rest;
};

#define WANTS_MAX (23 + 2 * TO_MAX)

struct wants {
	uint32_t n;
	struct want list[WANTS_MAX];
};

void wants_shared(const struct circuit *c, const struct plan *p, struct wants *w);
void wants_own(const struct circuit *c, const struct facts *f, const struct plan *p,
	       const struct place *place, const struct route_want *routes, bool own_netns,
	       struct wants *w);
void wants_add_breaker(const struct circuit *c, struct wants *w);
int want_target(const struct want *w, const char *base, char target[ITEM_VALUE],
		struct err *e);

#endif

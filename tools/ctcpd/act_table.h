/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The searches that there are: by prefix, each with the device that its flows leave by.
 *
 * Bounded, as remotes decide how many there are: of ACTINGS_MAX one that is not paced and was not
 * observed for IDLE_S makes room; else there is none for a new one.  So it is of those of one
 * network (act_nets.h): one party has a whole /64, or many of them, and would have all of the
 * table.
 */
#ifndef CTCPD_ACT_TABLE_H
#define CTCPD_ACT_TABLE_H

#include "act_nets.h"
#include "hands.h"
#include "history_search.h"
#include "recent.h"

#define ACTINGS_MAX	SEARCHES_MAX
#define IDLE_S		3600

struct acting {
	struct recent_node node;	/* the first: one is the other */
	struct act_net *net[NET_LEVELS];	/* that which it is in, NULL = none ... */
	TAILQ_ENTRY(acting) in_net[NET_LEVELS];	/* with others */
	struct prefix to;		/* of full length, or a subnet */
	int ifindex;			/* 0 = its device is gone */
	char dev[IFNAMSIZ];
	char saved[IFNAMSIZ];		/* under which the history has it, "" = it has not */
	struct search search;
	enum search_reason reason;	/* of its last change */
	int64_t since;			/* s, CLOCK_REALTIME, of that */
	char *stood_down;		/* what somebody else has there; NULL = nobody */
	uint64_t force, was;		/* bytes/s, as the kernel has it, and had it before */
	uint64_t changed;		/* the epoch in which that became so */
	uint64_t wants;			/* bytes/s, as the set that is wanted has it ... */
	int wants_by;			/* ... by that device, 0 = it has not ... */
	enum hands_kind wants_hands;	/* ... and these hands */
	uint32_t rtt_us;
	int elsewhere;			/* another device that flows left by in the last poll */
	uint64_t together;		/* of a subnet: bytes/s that hosts took at one time */
	struct observation sum;		/* of a subnet: of this poll */
	bool stranger;			/* ...: a host had much to send that is none of them */
	uint32_t before, after;		/* parts per million sent again, when it was decided */
	uint64_t waits;			/* the step that goes on without it */
	uint64_t told;			/* the last look that had it */
	bool dirty, due, aged;		/* to be saved now, behind those, some time */
	bool moved;			/* what it had before is by another device */
	bool away;			/* it was paced when its device went, and not since */
	bool gone;			/* forgotten, but by the history */
};

struct act_table {
	struct recent all;
	struct act_nets nets;
	uint32_t refused;		/* for which there was no room, since act_table_again() */
	uint32_t subnets;		/* of them */
	bool full;			/* as it was found lately: act_table_again() */
};

void act_table_init(struct act_table *t);
void act_table_free(struct act_table *t);
void act_table_again(struct act_table *t);
/* NULL: none; one that is gone is none */
struct acting *act_table_find(const struct act_table *t, const struct prefix *to);
struct acting *act_table_any(const struct act_table *t, const struct prefix *to);
/* Also one that is gone, which is there again.  NULL: no room, or no memory */
struct acting *act_table_add(struct act_table *t, const struct prefix *to, int64_t now);
void act_table_used(struct act_table *t, struct acting *e);
void act_table_drop(struct act_table *t, struct acting *e);

/* Neither seen for long, nor by a clock that is right */
bool acting_is_silent(const struct acting *e, int64_t now);
bool acting_is_subnet(const struct acting *e);
/* Each, also those that are gone; @e may be dropped meanwhile */
#define act_table_each(t, e, next) \
	for (e = (struct acting *)TAILQ_FIRST(&(t)->all.order); \
	     e && (next = (struct acting *)TAILQ_NEXT(&e->node, by_use), 1); e = next)

#endif

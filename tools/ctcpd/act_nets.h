/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Searches by the network that they are in, so that one party has no more than its part of all.
 *
 * Nobody can tell which networks belong to one party.  As a rule a party gets an IPv4 /24, or an
 * IPv6 /48 with all its /64s.  So a search counts for its paced_subnet(), which has NET_MAX at
 * most, and of IPv6 for its /48, too, which has SITE_MAX: a 32nd part of ACTINGS_MAX, a 16th of
 * PACED_MAX.
 */
#ifndef CTCPD_ACT_NETS_H
#define CTCPD_ACT_NETS_H

#include <stdbool.h>

#include "circuit.h"
#include "recent.h"

#define NET_MAX		64U
#define SITE_MAX	256U
#define SITE_IP6	48U		/* bits */
#define NET_LEVELS	2U

struct acting;				/* act_table.h */

/* Searches of one network, the latest last */
struct act_net {
	struct recent_node node;	/* the first: one is the other */
	struct prefix to;
	unsigned int level;		/* 0 = a subnet, 1 = a site */
	uint32_t n;
	uint64_t full;			/* the poll in which it was found so, 0 = never */
	TAILQ_HEAD(, acting) searches;
};

struct act_nets {
	struct recent all;
	uint64_t poll;			/* as act_nets_again() counts them, from 1 on */
	bool refused;			/* one was full in this one */
};

void act_nets_init(struct act_nets *ns);
void act_nets_free(struct act_nets *ns);
void act_nets_again(struct act_nets *ns);
/* False: no memory; it is in none of them */
bool act_nets_join(struct act_nets *ns, struct acting *e);
void act_nets_leave(struct act_nets *ns, struct acting *e);
/* That which has as many as it may, the larger first; NULL: there is room for @to in each */
struct act_net *act_nets_full(const struct act_nets *ns, const struct prefix *to);
/* Nothing of it makes room: nor is it looked for again in this poll */
void act_nets_refuse(struct act_nets *ns, struct act_net *net);
/* Of those that @may go the one that was silent for longest; NULL: none may */
struct acting *act_net_silent_longest(const struct act_net *net, int64_t now,
				      bool (*may)(const struct acting *e, int64_t now,
						  const void *data),
				      const void *data);

#endif

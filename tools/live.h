/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Live circuits: those of this network namespace as the kernel tells of them at
 * this moment, with what their sockets do; and a namespace's totals.
 *
 * An automatic circuit is one that the connections to a peer share of
 * themselves; the kernel shows these to CAP_NET_ADMIN only.
 *
 * live_parse() and totals_parse(): -EBADMSG, not one of these messages.  lives_read():
 * -EPROTONOSUPPORT, as genl.h has it.
 */
#ifndef CTCP_LIVE_H
#define CTCP_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "circuit.h"
#include "err.h"
#include "genl.h"
#include "object.h"

/* What a breaker saw when it tripped; reason 0 = it never has. */
struct evidence {
	uint32_t reason;		/* enum tcp_circuit_reason */
	uint32_t uid;			/* whose sockets */
	uint32_t ms;
	uint32_t segments;		/* lost and delivered */
	uint32_t lost, ce;		/* segments */
	uint32_t rtt, rtt_expected;	/* us */
	uint64_t rate;			/* bytes/s delivered */
	uint32_t threshold;		/* thousandths */
	uint32_t window, window_cut;	/* segments, before and after */
};

struct live {
	struct object object;
	struct prefix peer;		/* of an automatic circuit */
	bool no_object;
	bool of_user;			/* one user's, by net.ipv4.tcp_circuit_fcwnd_max */
	uint32_t id, uid;
	uint32_t ifindex;		/* of the outgoing device, which may be gone; 0 = any */
	uint32_t sockets, hungry;	/* that share it; with an equal share each */
	uint32_t cwnd_total;		/* segments, of all its sockets */
	uint32_t breaker;		/* enum tcp_circuit_breaker */
	uint32_t tripped_users;		/* whose window is cut */
	uint32_t trips;			/* of all users, so far */
	uint64_t delivered, lost, ce;	/* segments */
	uint32_t cause;			/* of an event: enum tcp_circuit_cause */
	struct evidence evidence;	/* of the last trip */
};

struct lives {
	uint32_t n;
	bool sorted;		/* lives_sort(), and none has come or gone since */
	struct live *list;
};

/* Of the namespace; the kernel's order of TCP_CIRCUIT_STATS_A_*. */
struct totals {
	uint32_t circuits, circuits_max, prefixes, prefixes_max, peers, peers_max;
	uint32_t kept, kept_max;
	uint64_t memory, opened, reno, restored, timeouts, recoveries, trips, resets;
	uint64_t no_memory;
};

int live_parse(const struct nlmsghdr *nlh, struct live *l);
void live_free(struct live *l);
const char *live_name(const struct live *l, char *buf, size_t len);
int totals_parse(const struct nlmsghdr *nlh, struct totals *t);

int lives_add(struct lives *ls, const struct live *l);
int lives_read(struct lives *ls, struct err *e);
void lives_free(struct lives *ls);
void lives_sort(struct lives *ls);	/* for whoever looks for many */
struct live *lives_find(const struct lives *ls, const char *name);
const struct prefix *lives_clash(const struct lives *ls, const struct object *o,
				 const struct live **with);
uint32_t lives_tripped(const struct lives *ls);
int lives_reset(struct genl *g, const char *name, const struct prefix *peer, int ifindex,
		struct err *e);
int totals_read(struct genl *g, struct totals *t, struct err *e);

#endif

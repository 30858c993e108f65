/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of the kernel's notifications may tell of a circuit that is not as it was set up,
 * and when it is time to look.
 *
 * A host's routes and devices change all the time, and a look reads all that the circuits
 * have: only a prefix, a device or a name of theirs is a reason.  While something cannot be
 * set again anything may be what it waits for.
 *
 * A burst is looked at once: 100 ms after its last message, 500 ms after its first at the
 * latest, which leaves half a second of the one in which all is set again.
 */
#ifndef CTCP_INTEREST_H
#define CTCP_INTEREST_H

#include <libmnl/libmnl.h>

#include "state.h"

#define QUIET_US	100000
#define BURST_US	500000

/*
 * A link that was down or without a carrier.  A network manager takes the addresses of one
 * that has none, and with them go routes.
 */
struct down {
	int ifindex;
	bool still;
};

struct interest {
	uint32_t n_prefixes, n_names, n_links;
	struct prefix *prefixes;		/* sorted */
	char (*names)[TCP_CIRCUIT_NAME_LEN];	/* sorted */
	int *links;				/* sorted; indexes of devices */
	bool all;				/* of them */
	struct down *down;			/* of them, those that were so meanwhile */
	uint32_t n_down;
};

int interest_learn(struct interest *in, const struct state *st);
void interest_add_link(struct interest *in, int ifindex);
void interest_sort(struct interest *in);
bool interest_hears(struct interest *in, const struct nlmsghdr *nlh);
bool interest_in_circuit(const struct interest *in, const char *name);
void interest_is_up(struct interest *in, int ifindex);
void interest_lost(struct interest *in);
bool interest_was_down(const struct interest *in, int ifindex);
void interest_free(struct interest *in);

struct burst {
	uint64_t first, last;	/* us, 0 = nothing was heard */
};

void burst_heard(struct burst *b, uint64_t now);
uint64_t burst_due(const struct burst *b);

#endif

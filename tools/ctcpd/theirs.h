/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What administrators have: the circuits of ctcp-setup's state, also those of a run under way,
 * and the circuits that the module has, whoever set them up.  Hands that leave qdiscs alone, and
 * so meet nothing of that (hands_by_socket.c), ask here whose a remote is.
 */
#ifndef CTCPD_THEIRS_H
#define CTCPD_THEIRS_H

#include "live.h"
#include "paced.h"
#include "state.h"

/* A prefix of a circuit's */
struct claim {
	struct prefix to;
	const char *circuit;
	uint32_t ifindex;	/* by which device, 0 = any */
	bool module;		/* it was found in the module */
};

/*
 * In order, so that a remote is looked up in it: with each poll there are thousands to be, beside
 * thousands of circuits.
 */
struct theirs {
	struct state state;
	struct lives lives;
	uint32_t n_claims, n_devices;
	struct claim *claims;
	const struct member **devices;	/* a circuit of each */
	bool used[2][129];		/* lengths of IPv4's and of IPv6's */
};

int theirs_read(struct theirs *t, struct err *e);
/* Of what is in @t->state and @t->lives.  -ENOMEM */
int theirs_sort(struct theirs *t);
void theirs_free(struct theirs *t);

/*
 * -EPERM: a device with a circuit of the state is an administrator's (*@device), and so is a
 * prefix that overlaps one of a circuit, by whatever device.  A module circuit that names a device
 * says nothing of other devices.
 */
int theirs_check(const struct theirs *t, const struct pace *one, const char *dev, bool *device,
		 struct err *e);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Notifications of the kernel: a socket of its own, which is asked nothing.  hear_take()
 * takes one datagram that has come; @lost is set where one did not fit or was damaged.
 *
 * Once one did not fit, the kernel drops all that comes until the last one that had fitted
 * is read, and says so no more (NETLINK_S_CONGESTED): whoever looked at what there is in
 * between would miss what comes then.  So hear_read() goes on with a new socket, to which
 * each message counts from then on; what it returns with @lost is a moment to look at all.
 */
#ifndef CTCP_HEAR_H
#define CTCP_HEAR_H

#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>

#include "nl.h"

struct hear {
	struct nl nl;
	const int *groups;	/* RTNLGRP_*, the caller's */
	int n;
};

uint64_t hear_clock(void);
int hear_open(struct hear *h, const int *groups, int n, struct err *e);
void hear_close(struct hear *h);
int hear_fd(const struct hear *h);
int hear_read(struct hear *h, mnl_cb_t each, void *data, bool *lost, struct err *e);
int hear_take(struct nl *nl, mnl_cb_t each, void *data, bool *lost, struct err *e);

#endif

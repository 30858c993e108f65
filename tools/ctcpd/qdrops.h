/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that the qdiscs of this host's devices dropped, by rtnetlink: so that what we lose
 * at home is not held against the network.
 *
 * Of a device the drops are those of its root and of whatever is below it, each counted once;
 * not those of what comes in, and not clsact's.  Where a packet is of several segments (GSO),
 * it is one.  Counters are 32 bits and wrap.  What counts is the difference between the last
 * two reads; a device or qdisc that was not there at the first of these counts nothing.
 * qdrops_take() is qdrops_read() of messages that the caller has.
 */
#ifndef CTCPD_QDROPS_H
#define CTCPD_QDROPS_H

#include <stdbool.h>
#include <stdint.h>

#include "nl.h"

struct qdrops;			/* qdrops.c */

struct qdrops *qdrops_new(void);	/* NULL: no memory */
void qdrops_free(struct qdrops *q);
int qdrops_take(struct qdrops *q, const void *messages, size_t len);
int qdrops_read(struct qdrops *q, struct nl *route, struct err *e);
/* What each device dropped since the read before, where it dropped something */
int qdrops_each(const struct qdrops *q, int (*each)(uint32_t ifindex, uint32_t n, void *data),
		void *data);
/* The last read had it */
bool qdrops_has(const struct qdrops *q, uint32_t ifindex);

#endif

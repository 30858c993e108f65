/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guests: classes and filters of somebody else's on our root htb.  They are told of,
 * and never touched.
 */
#ifndef CTCP_GUESTS_H
#define CTCP_GUESTS_H

#include "diff.h"
#include "nl.h"

#define GUEST_TEXT 96	/* "filter pref 7 u32 handle 0x80000800" */

typedef int (*guest_fn)(const char *kind, const char *guest, void *data);

/* @each: 0 or -errno; @dev has an htb of ours */
int guests_each(struct nl *nl, struct diff *d, const char *dev, int ifindex, guest_fn each,
		void *data, struct err *e);

/* Before the diff ends: a root with guests stays, unless forced. */
int guests_hold(struct nl *nl, struct diff *d, struct err *e);

#endif

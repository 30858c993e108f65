/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Facts about the device and the host, and the way to the far side.  -ENODEV: there is no
 * such device; link_index() is 0 then.
 */
#ifndef CTCP_LINK_H
#define CTCP_LINK_H

#include "nl.h"
#include "plan.h"
#include "route.h"

int facts_read(struct nl *nl, const char *dev, struct facts *f, struct err *e);
int link_set_txqlen(const char *dev, uint32_t packets, struct err *e);
int link_index(const char *dev);
bool link_is_up(const char *dev);
int link_above(int ifindex, char above[IFNAMSIZ], struct err *e);
void link_own_name(char dev[IFNAMSIZ]);
int route_next_hop(struct nl *nl, const struct facts *f, struct route_want *want,
		   struct err *e);

#endif

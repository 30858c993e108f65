/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The attributes of a route's message, for the parts that route.h is made of.
 */
#ifndef CTCP_ROUTE_ATTR_H
#define CTCP_ROUTE_ATTR_H

#include <linux/rtnetlink.h>

#include "route.h"

static inline struct rtmsg *route_head(const struct route *r)
{
	return (struct rtmsg *)r->raw;
}

#define for_each_route_attr(attr, r) \
	for ((attr) = (const struct nlattr *)((r)->raw + NLMSG_ALIGN(sizeof(struct rtmsg))); \
	     mnl_attr_ok(attr, (int)((r)->raw + (r)->len - (const unsigned char *)(attr))); \
	     (attr) = mnl_attr_next(attr))

/* NULL, or 0: it has none. */
const struct nlattr *route_attr(const struct route *r, uint16_t type);
const struct nlattr *route_metric(const struct route *r, uint16_t type);
uint32_t route_attr_u32(const struct route *r, uint16_t type);
/* An attribute of the route's own family; false, and @addr empty, if there is none. */
bool route_addr(const struct route *r, uint16_t type, struct prefix *addr);
bool route_same_attr(const struct nlattr *a, const struct nlattr *b);
uint32_t route_usual_priority(const struct route *r);
uint32_t route_priority(const struct route *r);
/* By the same next hop and of the same metric, whatever else they carry */
bool route_same_way(const struct route *a, const struct route *b);

/* -EMSGSIZE: larger than an item has room for */
int route_take(struct route *r, const struct nlmsghdr *nlh, struct err *e);
void route_put_addr(struct nlmsghdr *nlh, uint16_t type, const struct prefix *p);
/* All of the metrics @old but the one that a circuit sets: @congctl, NULL = none. */
void route_put_metrics(struct nlmsghdr *nlh, const struct nlattr *old, const char *congctl);

#endif

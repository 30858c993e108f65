/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The route that leads traffic to a circuit: `congctl circuit`, or `congctl htcp`
 * (guarantee.h).  It carries no window, which any other algorithm would obey, too.
 *
 * A route is kept as the payload of its rtnetlink message (struct rtmsg and
 * attributes), so that one that was there before comes back as it was, with
 * whatever else it carried.  In an item it is "absent" or that in hex.
 *
 * One that was not there before carries a protocol of its own, as each routing daemon has
 * one (ip-route(8), /etc/iproute2/rt_protos): whoever flushes its own leaves ours.
 */
#ifndef CTCP_ROUTE_H
#define CTCP_ROUTE_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>

#include "circuit.h"
#include "err.h"
#include "item.h"
#include "nl.h"

#define ROUTE_PROTOCOL	199	/* tools/ctcp.conf names it */
#define ROUTE_RAW	((ITEM_VALUE - 1) / 2 & ~3)	/* bytes that fit in an item, aligned */

struct route {
	size_t len;			/* 0 = absent */
	unsigned char raw[ROUTE_RAW] __attribute__((aligned(4)));
};

/* What the plan wants of a route, and how a new one would leave. */
struct route_want {
	struct prefix to;
	struct prefix gateway;		/* family 0 = as of @like */
	struct route like;		/* what covers @to today; len 0 = nothing */
	bool via;			/* the gateway was asked for: it wins */
	const char *congctl;		/* circuit, or what a path without its guarantee gets */
	int ifindex;
	char dev[IFNAMSIZ];
};

int route_build(const struct route_want *want, const struct route *base,
		struct route *out, struct err *e);
uint32_t route_mtu(const struct route *r);
bool route_has_congctl(const struct route *r, const char *name);
uint32_t route_table(const struct route *r);
int route_ifindex(const struct route *r);
bool route_is_local(const struct route *r);
bool route_gateway(const struct route *r, struct prefix *gateway);
bool route_source(const struct route *r, struct prefix *source);
bool route_covers(const struct route *want, const struct route *have);
bool route_is(const struct route *a, const struct route *b);
const char *route_congctl(const struct route *r);
bool route_may_be_ours(const struct route *r);
int route_without_congctl(const struct route *r, struct route *out, struct err *e);
struct nlmsghdr *route_message(void *buf, int type, const struct route *route);

void route_to_text(const struct route *route, char text[ITEM_VALUE]);
int route_from_text(const char *text, struct route *route);
bool route_text_equal(const char *a, const char *b);
bool route_text_without_congctl(const char *now, const char *ours, const char *congctl);
bool route_text_same_way(const char *a, const char *b);
bool route_text_comes_before(const char *a, const char *b);
bool route_text_same_metric(const char *a, const char *b);
void route_text_describe(const char *name, const char *text, char *buf, size_t len);
void route_selector(const struct route *route, const char *dev, char *buf, size_t len);
int route_command(const struct route *route, const char *dev, char *buf, size_t len);

int route_read(struct nl *nl, const struct prefix *to, struct route *route,
	       struct err *e);
/*
 * Each of the main table, with @all also those that no lookup finds, and of several next hops
 * each as a route of its own (IPv6); @each: 0 or -errno
 */
int route_each(struct nl *nl, int family, bool all,
	       int (*each)(const struct prefix *to, const struct route *r, void *data),
	       void *data, struct err *e);
int route_lookup(struct nl *nl, const struct prefix *to, const struct prefix *from,
		 unsigned int flags, struct route *route, struct err *e);
int route_covering(struct nl *nl, const struct prefix *to, struct route *route, struct err *e);
int route_find(struct nl *nl, const struct prefix *to, const struct route *like,
	       struct route *found, struct err *e);
int route_write(struct nl *nl, const struct prefix *to, const struct route *from,
		const struct route *route, struct err *e);

#endif

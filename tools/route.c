// SPDX-License-Identifier: GPL-2.0
/*
 * Routes: what they carry, built, compared.
 *
 * RTAX_CC_ALGO is a string among numbers and libnl-route has no place for it,
 * so the message is made here.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "route.h"
#include "route_attr.h"

const struct nlattr *route_attr(const struct route *r, uint16_t type)
{
	const struct nlattr *attr;

	for_each_route_attr(attr, r)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

uint32_t route_attr_u32(const struct route *r, uint16_t type)
{
	const struct nlattr *attr = route_attr(r, type);

	return attr && !mnl_attr_validate(attr, MNL_TYPE_U32) ? mnl_attr_get_u32(attr) : 0;
}

struct nlmsghdr *route_message(void *buf, int type, const struct route *route)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = (uint16_t)type;
	memcpy(mnl_nlmsg_put_extra_header(nlh, route->len), route->raw, route->len);
	return nlh;
}

int route_take(struct route *r, const struct nlmsghdr *nlh, struct err *e)
{
	size_t len = mnl_nlmsg_get_payload_len(nlh);

	if (len > sizeof(r->raw))
		return err_set(e, -EMSGSIZE, "the route's message is %zu bytes, more than %zu",
			       len, sizeof(r->raw));
	memcpy(r->raw, mnl_nlmsg_get_payload(nlh), len);
	r->len = len;
	return 0;
}


void route_put_metrics(struct nlmsghdr *nlh, const struct nlattr *old, const char *congctl)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, RTA_METRICS);
	uint32_t start = nlh->nlmsg_len;
	const struct nlattr *attr;

	if (old) {
		mnl_attr_for_each_nested(attr, old) {
			uint16_t type = mnl_attr_get_type(attr);

			if (type != RTAX_CC_ALGO)
				mnl_attr_put(nlh, type, mnl_attr_get_payload_len(attr),
					     mnl_attr_get_payload(attr));
		}
	}
	if (congctl)
		mnl_attr_put_strz(nlh, RTAX_CC_ALGO, congctl);
	if (nlh->nlmsg_len > start)
		mnl_attr_nest_end(nlh, nest);
	else
		mnl_attr_nest_cancel(nlh, nest);
}

void route_put_addr(struct nlmsghdr *nlh, uint16_t type, const struct prefix *p)
{
	if (p->family)
		mnl_attr_put(nlh, type, p->family == AF_INET ? 4 : 16, p->addr);
}

/* How the route that covers this one leaves: next hop, source, labels. */
static void put_like(struct nlmsghdr *nlh, const struct route_want *want)
{
	const struct nlattr *attr;

	route_put_addr(nlh, RTA_GATEWAY, &want->gateway);
	for_each_route_attr(attr, &want->like) {
		switch (mnl_attr_get_type(attr)) {
		case RTA_GATEWAY:
			if (want->gateway.family)
				break;
			/* fall through */
		case RTA_VIA:
		case RTA_PREFSRC:
		case RTA_PREF:
		case RTA_FLOW:
		case RTA_ENCAP_TYPE:
		case RTA_ENCAP:
			mnl_attr_put(nlh, attr->nla_type, mnl_attr_get_payload_len(attr),
				     mnl_attr_get_payload(attr));
		}
	}
}

/* As `ip route replace` would make it, but for whose it is. */
static void put_new(struct nlmsghdr *nlh, const struct route_want *want)
{
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	const struct route *like = &want->like;

	rtm->rtm_family = (unsigned char)want->to.family;
	rtm->rtm_dst_len = (unsigned char)want->to.len;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_protocol = ROUTE_PROTOCOL;
	rtm->rtm_type = RTN_UNICAST;
	if (want->to.family == AF_INET && !want->gateway.family &&
	    !route_attr(like, RTA_GATEWAY) && !route_attr(like, RTA_VIA))
		rtm->rtm_scope = RT_SCOPE_LINK;
	if (like->len)
		rtm->rtm_flags = route_head(like)->rtm_flags & RTNH_F_ONLINK;
	route_put_addr(nlh, RTA_DST, &want->to);
	put_like(nlh, want);
	mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)want->ifindex);
}

/* A copy of @base, by another gateway or device where one was asked for. */
static void put_copy(struct nlmsghdr *nlh, const struct route_want *want,
		     const struct route *base)
{
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	const struct nlattr *attr;

	*rtm = *route_head(base);
	if (want->via && rtm->rtm_family == AF_INET)
		rtm->rtm_scope = RT_SCOPE_UNIVERSE;
	for_each_route_attr(attr, base) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == RTA_METRICS ||
		    (want->via && (type == RTA_GATEWAY || type == RTA_OIF || type == RTA_VIA ||
				   type == RTA_PREFSRC)))
			continue;
		mnl_attr_put(nlh, type, mnl_attr_get_payload_len(attr),
			     mnl_attr_get_payload(attr));
	}
	if (!want->via)
		return;
	route_put_addr(nlh, RTA_GATEWAY, &want->gateway);
	mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)want->ifindex);
}

/* To an address of this host */
bool route_is_local(const struct route *r)
{
	return route_head(r)->rtm_type == RTN_LOCAL;
}

static int one_to_many(const struct prefix *to, struct err *e)
{
	char text[64];

	return err_set(e, -EINVAL,
		       "--to: %s is multicast or broadcast, where TCP has no peer; it should be addresses of the far side",
		       format_prefix(text, sizeof(text), to));
}

/* A route that is there may be one that cannot lead to a circuit. */
static int check_base(const struct route_want *want, const struct route *base,
		      struct err *e)
{
	const struct nlattr *attr = route_attr(base, RTA_CACHEINFO);
	const struct rta_cacheinfo *info;
	char to[64];

	format_prefix(to, sizeof(to), &want->to);
	if (route_is_local(base))
		return err_set(e, -EINVAL,
			       "--to: %s is an address of this host; it should be one of the far side",
			       to);
	if (route_head(base)->rtm_type == RTN_BROADCAST)
		return one_to_many(&want->to, e);
	if (route_head(base)->rtm_type != RTN_UNICAST)
		return err_set(e, -EINVAL, "--to: the route to %s is not unicast; remove it first",
			       to);
	if (route_attr(base, RTA_MULTIPATH) || route_attr(base, RTA_NH_ID))
		return err_set(e, -EINVAL,
			       "--to: the route to %s has several next hops, a nexthop object, or more attributes than can be kept; a circuit is one path",
			       to);
	info = attr && mnl_attr_get_payload_len(attr) >= sizeof(*info) ?
		mnl_attr_get_payload(attr) : NULL;
	if (info && info->rta_expires)
		return err_set(e, -EINVAL,
			       "--to: the route to %s expires, a router announced it; add one of your own first",
			       to);
	if (!want->via && route_attr_u32(base, RTA_OIF) != (uint32_t)want->ifindex)
		return err_set(e, -EINVAL,
			       "--to: the route to %s does not leave by %s; --via GATEWAY would move it",
			       to, want->dev);
	return 0;
}

/* TCP has no peer there; the kernel takes a route, and tells another in a lookup. */
static bool is_one_to_many(const struct prefix *p)
{
	static const unsigned char broadcast[4] = { 255, 255, 255, 255 };

	if (p->family == AF_INET6)
		return p->len >= 8 && p->addr[0] == 0xff;
	return (p->len >= 4 && p->addr[0] >> 4 == 0xe) ||
	       (p->len == 32 && !memcmp(p->addr, broadcast, sizeof(broadcast)));
}

static int check_to(const struct prefix *to, struct err *e)
{
	return is_one_to_many(to) ? one_to_many(to, e) : 0;
}

int route_build(const struct route_want *want, const struct route *base,
		struct route *out, struct err *e)
{
	const struct nlattr *metrics = route_attr(base->len ? base : &want->like, RTA_METRICS);
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	int rc = check_to(&want->to, e);

	if (!rc && base->len)
		rc = check_base(want, base, e);
	if (rc)
		return rc;
	if (base->len)
		put_copy(nlh, want, base);
	else
		put_new(nlh, want);
	route_put_metrics(nlh, metrics, want->congctl);
	return route_take(out, nlh, e);
}

const struct nlattr *route_metric(const struct route *r, uint16_t type)
{
	const struct nlattr *metrics = route_attr(r, RTA_METRICS), *attr;

	if (!metrics)
		return NULL;
	mnl_attr_for_each_nested(attr, metrics)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

/* The route's own MTU, 0 = the device's. */
uint32_t route_mtu(const struct route *r)
{
	const struct nlattr *attr = route_metric(r, RTAX_MTU);

	return attr && !mnl_attr_validate(attr, MNL_TYPE_U32) ? mnl_attr_get_u32(attr) : 0;
}

/* NULL: it carries none. */
const char *route_congctl(const struct route *r)
{
	const struct nlattr *attr = route_metric(r, RTAX_CC_ALGO);

	return attr && !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) ? mnl_attr_get_str(attr) :
								     NULL;
}

bool route_has_congctl(const struct route *r, const char *name)
{
	const char *has = route_congctl(r);

	return has && !strcmp(has, name);
}

/* Every route of a circuit, as long as the kernel tells its congctl, and some of others */
bool route_may_be_ours(const struct route *r)
{
	return route_head(r)->rtm_protocol == ROUTE_PROTOCOL || route_congctl(r);
}

uint32_t route_table(const struct route *r)
{
	return route_attr(r, RTA_TABLE) ? route_attr_u32(r, RTA_TABLE) : route_head(r)->rtm_table;
}

/* 0 if it names no device. */
int route_ifindex(const struct route *r)
{
	return route_attr(r, RTA_OIF) ? (int)route_attr_u32(r, RTA_OIF) : 0;
}

bool route_addr(const struct route *r, uint16_t type, struct prefix *addr)
{
	const struct nlattr *attr = route_attr(r, type);
	size_t bytes = route_head(r)->rtm_family == AF_INET ? 4 : 16;

	memset(addr, 0, sizeof(*addr));
	if (!attr || mnl_attr_get_payload_len(attr) != bytes)
		return false;
	addr->family = route_head(r)->rtm_family;
	addr->len = 8 * (unsigned int)bytes;
	memcpy(addr->addr, mnl_attr_get_payload(attr), bytes);
	return true;
}

bool route_gateway(const struct route *r, struct prefix *gateway)
{
	return route_addr(r, RTA_GATEWAY, gateway);
}

bool route_source(const struct route *r, struct prefix *source)
{
	return route_addr(r, RTA_PREFSRC, source);
}

bool route_same_attr(const struct nlattr *a, const struct nlattr *b)
{
	return mnl_attr_get_type(a) == mnl_attr_get_type(b) &&
	       mnl_attr_get_payload_len(a) == mnl_attr_get_payload_len(b) &&
	       !memcmp(mnl_attr_get_payload(a), mnl_attr_get_payload(b),
		       mnl_attr_get_payload_len(a));
}

static bool nested_in(const struct nlattr *some, const struct nlattr *all)
{
	const struct nlattr *a, *b;

	mnl_attr_for_each_nested(a, some) {
		bool found = false;

		mnl_attr_for_each_nested(b, all)
			found |= route_same_attr(a, b);
		if (!found)
			return false;
	}
	return true;
}

static bool same_metrics(const struct route *a, const struct route *b)
{
	const struct nlattr *ma = route_attr(a, RTA_METRICS), *mb = route_attr(b, RTA_METRICS);

	if (!ma || !mb)
		return !ma && !mb;
	return nested_in(ma, mb) && nested_in(mb, ma);
}

/* What the kernel takes where nothing is said: 0, of IPv6 IP6_RT_PRIO_USER */
uint32_t route_usual_priority(const struct route *r)
{
	return route_head(r)->rtm_family == AF_INET ? 0 : 1024;
}

uint32_t route_priority(const struct route *r)
{
	return route_attr_u32(r, RTA_PRIORITY) ?: route_usual_priority(r);
}

static bool same_optional(const struct route *a, const struct route *b, uint16_t type)
{
	const struct nlattr *x = route_attr(a, type), *y = route_attr(b, type);

	return x && y ? route_same_attr(x, y) : !x && !y;
}

bool route_same_way(const struct route *a, const struct route *b)
{
	return route_priority(a) == route_priority(b) && same_optional(a, b, RTA_GATEWAY) &&
	       same_optional(a, b, RTA_VIA) && same_optional(a, b, RTA_OIF) &&
	       same_optional(a, b, RTA_MULTIPATH) && same_optional(a, b, RTA_NH_ID);
}

/*
 * Metrics must be the same; of the rest, all that was asked for.  The kernel
 * adds what nobody asked for (table, preference, an IPv6 priority).
 */
bool route_covers(const struct route *want, const struct route *have)
{
	const struct rtmsg *w, *h;
	const struct nlattr *a, *b;

	if (!want->len || !have->len)
		return want->len == have->len;
	w = route_head(want);
	h = route_head(have);
	if (w->rtm_family != h->rtm_family || w->rtm_dst_len != h->rtm_dst_len ||
	    w->rtm_tos != h->rtm_tos || w->rtm_protocol != h->rtm_protocol ||
	    w->rtm_scope != h->rtm_scope || w->rtm_type != h->rtm_type ||
	    (w->rtm_flags ^ h->rtm_flags) & RTNH_F_ONLINK || !same_metrics(want, have))
		return false;
	for_each_route_attr(a, want) {
		uint16_t type = mnl_attr_get_type(a);

		/* ::/0 and 0.0.0.0/0 are said by length, with or without RTA_DST */
		if (type == RTA_METRICS || (type == RTA_DST && !w->rtm_dst_len))
			continue;
		b = route_attr(have, type);
		if (!b || !route_same_attr(a, b))
			return false;
	}
	return true;
}

/*
 * One and the same: what was asked for and what the kernel has of it, either way round.  A
 * metric, next hop or source that only one of them has tells two of one prefix apart.
 */
bool route_is(const struct route *a, const struct route *b)
{
	if (a->len && b->len && !(route_same_way(a, b) && same_optional(a, b, RTA_PREFSRC)))
		return false;
	return route_covers(a, b) || route_covers(b, a);
}

/* As the kernel shows @r while it has no such algorithm */
int route_without_congctl(const struct route *r, struct route *out, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	const struct nlattr *attr;

	*rtm = *route_head(r);
	for_each_route_attr(attr, r)
		if (mnl_attr_get_type(attr) != RTA_METRICS)
			mnl_attr_put(nlh, attr->nla_type, mnl_attr_get_payload_len(attr),
				     mnl_attr_get_payload(attr));
	route_put_metrics(nlh, route_attr(r, RTA_METRICS), NULL);
	return route_take(out, nlh, e);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Routes: read and written.
 *
 * Main table only, no source prefix, no TOS: what `ip route replace PREFIX` would touch.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "route.h"
#include "route_attr.h"

/*
 * Somebody else's route may have more next hops than an item has room for.  Keep what
 * names it, and an empty RTA_MULTIPATH: it is never taken for ours, never written.
 */
static int take_name_of(struct route *r, const struct nlmsghdr *nlh, struct err *e)
{
	const struct nlattr *attr;
	union nl_request copy = { 0 };
	struct nlmsghdr *out = mnl_nlmsg_put_header(&copy);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(out, sizeof(*rtm));

	*rtm = *(const struct rtmsg *)mnl_nlmsg_get_payload(nlh);
	mnl_attr_for_each(attr, nlh, sizeof(*rtm)) {
		switch (mnl_attr_get_type(attr)) {
		case RTA_DST:
		case RTA_TABLE:
		case RTA_PRIORITY:
			mnl_attr_put(out, attr->nla_type, mnl_attr_get_payload_len(attr),
				     mnl_attr_get_payload(attr));
		}
	}
	mnl_attr_put(out, RTA_MULTIPATH, 0, NULL);
	return route_take(r, out, e);
}

static int take_answer(struct route *r, const struct nlmsghdr *nlh, struct err *e)
{
	if (mnl_nlmsg_get_payload_len(nlh) > sizeof(r->raw))
		return take_name_of(r, nlh, e);
	return route_take(r, nlh, e);
}

struct search {
	const struct prefix *to;
	const struct route *like;	/* this one, NULL = the one that is used */
	struct route *found;
	struct err *e;
	int rc;
};

static bool is_wanted(const struct rtmsg *rtm, const struct prefix *to)
{
	return rtm->rtm_family == to->family && rtm->rtm_dst_len == to->len &&
	       !rtm->rtm_src_len && !rtm->rtm_tos && rtm->rtm_table == RT_TABLE_MAIN &&
	       !(rtm->rtm_flags & RTM_F_CLONED);
}

/*
 * What a dump has and a new route may not: flags that tell the link's state
 * (fib_create_info() refuses them), and the cache's clock.
 */
static void normalise(struct route *r)
{
	const struct nlattr *attr, *info = route_attr(r, RTA_CACHEINFO);
	const struct rta_cacheinfo *ci;
	unsigned char out[ROUTE_RAW];
	size_t len = NLMSG_ALIGN(sizeof(struct rtmsg));
	bool expires;

	route_head(r)->rtm_flags &= RTNH_F_ONLINK | RTNH_F_PERVASIVE;
	ci = info ? mnl_attr_get_payload(info) : NULL;
	expires = ci && mnl_attr_get_payload_len(info) >= sizeof(*ci) && ci->rta_expires;
	memcpy(out, r->raw, len);
	for_each_route_attr(attr, r) {
		size_t n = MNL_ALIGN(attr->nla_len);

		if (mnl_attr_get_type(attr) == RTA_CACHEINFO && !expires)
			continue;
		memcpy(out + len, attr, n);
		len += n;
	}
	memcpy(r->raw, out, len);
	r->len = len;
}

/* Looked at before it is copied: a stranger's route may be larger than ours. */
static bool same_destination(const struct nlmsghdr *nlh, const struct prefix *to)
{
	size_t bytes = to->family == AF_INET ? 4 : 16;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct rtmsg))
		if (mnl_attr_get_type(attr) == RTA_DST)
			return mnl_attr_get_payload_len(attr) == bytes &&
			       !memcmp(mnl_attr_get_payload(attr), to->addr, bytes);
	return !to->len;
}

/* --- several next hops ------------------------------------------------------ */

static void put_attrs(struct nlmsghdr *to, const void *from, size_t len)
{
	const struct nlattr *attr;

	mnl_attr_for_each_payload(from, len)
		if (mnl_attr_get_type(attr) != RTA_MULTIPATH)
			mnl_attr_put(to, attr->nla_type, mnl_attr_get_payload_len(attr),
				     mnl_attr_get_payload(attr));
}

/* By @hop, with all that is told of them together, which is what the first of them has */
static int take_hop(struct route *one, const struct nlmsghdr *nlh, const struct rtnexthop *hop)
{
	const struct rtmsg *all = mnl_nlmsg_get_payload(nlh);
	struct nlmsghdr *out;
	union nl_request copy = { 0 };
	struct err unused = { "" };
	struct rtmsg *rtm;
	int rc;

	if (nlh->nlmsg_len > sizeof(copy) - sizeof(*hop))
		return -EMSGSIZE;
	out = mnl_nlmsg_put_header(&copy);
	rtm = mnl_nlmsg_put_extra_header(out, sizeof(*rtm));
	*rtm = *all;
	rtm->rtm_flags |= hop->rtnh_flags & RTNH_F_ONLINK;
	put_attrs(out, mnl_nlmsg_get_payload_offset(nlh, sizeof(*rtm)),
		  mnl_nlmsg_get_payload_len(nlh) - MNL_ALIGN(sizeof(*rtm)));
	put_attrs(out, RTNH_DATA(hop), hop->rtnh_len - sizeof(*hop));
	mnl_attr_put_u32(out, RTA_OIF, (uint32_t)hop->rtnh_ifindex);
	rc = route_take(one, out, &unused);
	if (!rc)
		normalise(one);
	return rc;
}

/*
 * Of IPv6 each next hop is a route of its own, which was added and is deleted alone, and all
 * of one metric are told of as one: ours is still there where somebody has appended his.
 */
static int each_hop(const struct nlmsghdr *nlh, int (*each)(const struct route *r, void *data),
		    void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *hops = NULL;
	const struct rtnexthop *hop;
	struct route one;
	int left, rc = 0;

	mnl_attr_for_each(attr, nlh, sizeof(*rtm))
		if (mnl_attr_get_type(attr) == RTA_MULTIPATH)
			hops = attr;
	if (!hops || rtm->rtm_family != AF_INET6)
		return 0;
	left = mnl_attr_get_payload_len(hops);
	for (hop = mnl_attr_get_payload(hops);
	     !rc && left >= (int)sizeof(*hop) && RTNH_OK(hop, left);
	     left -= (int)RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop))
		if (!take_hop(&one, nlh, hop))
			rc = each(&one, data);
	return rc;
}

/* --- all of a table --------------------------------------------------------- */

/* Of several with one prefix, the one that is used: the lowest metric */
static int is_it(const struct route *r, void *data)
{
	struct search *s = data;

	if (s->like && !route_is(r, s->like))
		return 0;
	if (!s->found->len ||
	    route_attr_u32(r, RTA_PRIORITY) < route_attr_u32(s->found, RTA_PRIORITY))
		*s->found = *r;
	return 0;
}

static int on_route(const struct nlmsghdr *nlh, void *data)
{
	struct search *s = data;
	struct route r = { 0 };

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct rtmsg) ||
	    !is_wanted(mnl_nlmsg_get_payload(nlh), s->to) || !same_destination(nlh, s->to))
		return MNL_CB_OK;
	s->rc = take_answer(&r, nlh, s->e);
	if (s->rc)
		return MNL_CB_ERROR;
	normalise(&r);
	is_it(&r, s);
	if (s->like)
		each_hop(nlh, is_it, s);
	return MNL_CB_OK;
}

static int dump_main(struct nl *nl, int family, mnl_cb_t each, void *data, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct rtmsg *rtm;

	nlh->nlmsg_type = RTM_GETROUTE;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	rtm->rtm_family = (unsigned char)family;
	rtm->rtm_table = RT_TABLE_MAIN;
	return nlm_dump(nl, nlh, each, data, e);
}

static int dump_route(struct nl *nl, const struct prefix *to, const struct route *like,
		      struct route *route, struct err *e)
{
	struct search s = { .to = to, .like = like, .found = route, .e = e };
	int rc;

	memset(route, 0, sizeof(*route));
	rc = dump_main(nl, to->family, on_route, &s, e);
	if (rc == -ENOENT && !s.rc)	/* no route was ever in that table */
		rc = 0;
	return s.rc ? s.rc : rc;
}

struct route_walk {
	int (*each)(const struct prefix *to, const struct route *r, void *data);
	void *data;
	struct prefix to;	/* of the one at hand */
	bool all;	/* also those whose next hop is dead, and each hop of several */
};

static bool is_walked(const struct rtmsg *rtm, const struct route_walk *walk)
{
	const struct prefix to = { .family = walk->to.family, .len = rtm->rtm_dst_len };

	return is_wanted(rtm, &to) && (walk->all || !(rtm->rtm_flags & RTNH_F_DEAD));
}

static int walk_one(const struct route *r, void *data)
{
	const struct route_walk *walk = data;

	return walk->each(&walk->to, r, walk->data);
}

static int on_walk(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	struct err unused = { "" };
	struct route_walk *walk = data;
	int family = walk->to.family, rc;
	struct route r;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*rtm) || !is_walked(rtm, walk))
		return MNL_CB_OK;
	rc = take_answer(&r, nlh, &unused);
	if (!rc) {
		normalise(&r);
		route_addr(&r, RTA_DST, &walk->to);
		walk->to.family = family;
		walk->to.len = rtm->rtm_dst_len;
		rc = walk_one(&r, walk);
	}
	if (!rc && walk->all)
		rc = each_hop(nlh, walk_one, walk);
	errno = -rc;
	return rc ? MNL_CB_ERROR : MNL_CB_OK;
}

int route_each(struct nl *nl, int family, bool all,
	       int (*each)(const struct prefix *to, const struct route *r, void *data),
	       void *data, struct err *e)
{
	struct route_walk walk = {
		.each = each, .data = data, .to.family = family, .all = all,
	};
	int rc = dump_main(nl, family, on_walk, &walk, e);

	return rc == -ENOENT ? 0 : rc;	/* no route was ever in that table */
}

static int on_answer(const struct nlmsghdr *nlh, void *data)
{
	struct search *s = data;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct rtmsg))
		return MNL_CB_OK;
	s->rc = take_answer(s->found, nlh, s->e);
	if (!s->rc)
		normalise(s->found);
	return s->rc ? MNL_CB_ERROR : MNL_CB_OK;
}

/*
 * What the kernel takes to the address @to, from @from unless that is NULL; with
 * RTM_F_FIB_MATCH the route as it stands in its table.
 */
int route_lookup(struct nl *nl, const struct prefix *to, const struct prefix *from,
		 unsigned int flags, struct route *route, struct err *e)
{
	struct search s = { .found = route, .e = e };
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct rtmsg *rtm;
	int rc;

	memset(route, 0, sizeof(*route));
	nlh->nlmsg_type = RTM_GETROUTE;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	rtm->rtm_family = (unsigned char)to->family;
	/* IPv4 tells the table only if asked, IPv6 always and refuses to be asked */
	rtm->rtm_flags = to->family == AF_INET ? flags | RTM_F_LOOKUP_TABLE : flags;
	rtm->rtm_dst_len = to->family == AF_INET ? 32 : 128;
	route_put_addr(nlh, RTA_DST, to);
	if (from) {
		rtm->rtm_src_len = rtm->rtm_dst_len;
		route_put_addr(nlh, RTA_SRC, from);
	}
	rc = nlm_get(nl, nlh, on_answer, &s, e);
	return s.rc ? s.rc : rc;
}

static bool is_to(const struct route *r, const struct prefix *to)
{
	const struct nlattr *dst = route_attr(r, RTA_DST);
	size_t bytes = to->family == AF_INET ? 4 : 16;

	return dst ? mnl_attr_get_payload_len(dst) == bytes &&
		     !memcmp(mnl_attr_get_payload(dst), to->addr, bytes) : !to->len;
}

/*
 * The route to @to by a lookup of an address in it, whose cost does not grow with the
 * table as a dump's does.  False: the answer does not tell.  It tells where it is that
 * route, and where it is none or one that covers @to: then there is none whose next hop
 * is up, and route_write() refuses one that is down.
 */
static bool lookup_route(struct nl *nl, const struct prefix *to, struct route *route)
{
	struct prefix inside = prefix_middle(to);
	const struct rtmsg *rtm = route_head(route);
	struct err unused = { "" };
	int rc = route_lookup(nl, &inside, NULL, RTM_F_FIB_MATCH, route, &unused);

	if (rc == -ENETUNREACH) {
		memset(route, 0, sizeof(*route));
		return true;
	}
	if (rc || !route->len || rtm->rtm_table != RT_TABLE_MAIN || rtm->rtm_tos ||
	    rtm->rtm_src_len || rtm->rtm_dst_len > to->len)
		return false;
	if (rtm->rtm_dst_len == to->len)
		return is_to(route, to);
	memset(route, 0, sizeof(*route));
	return true;
}

/* Of several with one prefix the one that is used; absent if there is none. */
int route_read(struct nl *nl, const struct prefix *to, struct route *route,
	       struct err *e)
{
	return lookup_route(nl, to, route) ? 0 : dump_route(nl, to, NULL, route, e);
}

/* 1: @like is among those to @to, used or not, in @found as the kernel has it; 0: it is not */
int route_find(struct nl *nl, const struct prefix *to, const struct route *like,
	       struct route *found, struct err *e)
{
	return dump_route(nl, to, like, found, e) ?: found->len > 0;
}

struct covering {
	const struct prefix *to;
	unsigned int len;	/* of the one in @found */
	struct route *found;
};

/* The longest prefix, and of several the one that is used */
static int is_covering(const struct prefix *to, const struct route *r, void *data)
{
	struct covering *c = data;

	if (to->len >= c->to->len || !prefix_holds(to, c->to) ||
	    (c->found->len && (to->len < c->len || (to->len == c->len &&
			       route_priority(r) >= route_priority(c->found)))))
		return 0;
	c->len = to->len;
	*c->found = *r;
	return 0;
}

/* What covers @to, whether or not there is a route to that itself; absent if nothing does. */
int route_covering(struct nl *nl, const struct prefix *to, struct route *route, struct err *e)
{
	struct covering c = { .to = to, .found = route };

	memset(route, 0, sizeof(*route));
	return route_each(nl, to->family, false, is_covering, &c, e);
}

static int route_delete(struct nl *nl, const struct route *route, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	const struct nlattr *attr;

	nlh->nlmsg_type = RTM_DELROUTE;
	*(struct rtmsg *)mnl_nlmsg_put_extra_header(nlh, sizeof(struct rtmsg)) = *route_head(route);
	for_each_route_attr(attr, route)
		/* empty: take_name_of() */
		if (mnl_attr_get_type(attr) != RTA_MULTIPATH || mnl_attr_get_payload_len(attr))
			mnl_attr_put(nlh, attr->nla_type, mnl_attr_get_payload_len(attr),
				     mnl_attr_get_payload(attr));
	return nlm_talk(nl, nlh, e);
}

/* That very one, which may be gone by now, and not another to its prefix that is used */
static int remove_route(struct nl *nl, const struct route *route, struct err *e)
{
	int rc = route->len ? route_delete(nl, route, e) : 0;

	return rc == -ESRCH ? 0 : rc;
}

static int new_route(struct nl *nl, const struct route *route, unsigned int flags, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = route_message(&req, RTM_NEWROUTE, route);

	nlh->nlmsg_flags = (uint16_t)(NLM_F_CREATE | flags);
	return nlm_talk(nl, nlh, e);
}

/* The kernel has it already, also behind another. */
static bool is_there(struct nl *nl, const struct prefix *to, const struct route *route)
{
	struct err unused = { "" };
	struct route found;

	return route_find(nl, to, route, &found, &unused) == 1;
}

/* In the place of the one that is used, at once; where it is there behind it, the other goes. */
static int replace_used(struct nl *nl, const struct prefix *to, const struct route *from,
			const struct route *route, struct err *e)
{
	int rc = new_route(nl, route, NLM_F_REPLACE, e);

	return rc == -EEXIST && is_there(nl, to, route) ? remove_route(nl, from, e) : rc;
}

/* In the place of one that is not used: the kernel would replace the first of its metric. */
static int replace_behind(struct nl *nl, const struct prefix *to, const struct route *from,
			  const struct route *route, struct err *e)
{
	unsigned int flags = route_head(route)->rtm_family == AF_INET ? NLM_F_APPEND : 0;
	int rc = remove_route(nl, from, e) ?: new_route(nl, route, flags, e);

	return rc == -EEXIST && is_there(nl, to, route) ? 0 : rc;
}

/* @from becomes @route; either may be absent. */
int route_write(struct nl *nl, const struct prefix *to, const struct route *from,
		const struct route *route, struct err *e)
{
	struct route used;
	int rc;

	if (!route->len)
		return remove_route(nl, from, e);
	/* one that a lookup does not find, as its next hop is down, is somebody's */
	if (!from->len)
		return new_route(nl, route, NLM_F_EXCL, e);
	rc = route_read(nl, to, &used, e);
	if (rc)
		return rc;
	if (used.len && route_is(&used, from))
		return replace_used(nl, to, from, route, e);
	return replace_behind(nl, to, from, route, e);
}

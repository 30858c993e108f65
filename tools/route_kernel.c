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
	if (s->like && !route_is(&r, s->like))
		return MNL_CB_OK;
	/* of several with one prefix, the one that is used: the lowest metric */
	if (!s->found->len ||
	    route_attr_u32(&r, RTA_PRIORITY) < route_attr_u32(s->found, RTA_PRIORITY))
		*s->found = r;
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
	int family;
	bool dead;	/* also those whose next hop is dead, which a lookup does not find */
};

static bool is_walked(const struct rtmsg *rtm, const struct route_walk *walk)
{
	const struct prefix to = { .family = walk->family, .len = rtm->rtm_dst_len };

	return is_wanted(rtm, &to) && (walk->dead || !(rtm->rtm_flags & RTNH_F_DEAD));
}

static int on_walk(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct route_walk *walk = data;
	struct err unused = { "" };
	struct prefix to;
	struct route r;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*rtm) || !is_walked(rtm, walk))
		return MNL_CB_OK;
	errno = -take_answer(&r, nlh, &unused);
	if (errno)
		return MNL_CB_ERROR;
	normalise(&r);
	route_addr(&r, RTA_DST, &to);
	to.family = walk->family;
	to.len = rtm->rtm_dst_len;
	errno = -walk->each(&to, &r, walk->data);
	return errno ? MNL_CB_ERROR : MNL_CB_OK;
}

int route_each(struct nl *nl, int family, bool dead,
	       int (*each)(const struct prefix *to, const struct route *r, void *data),
	       void *data, struct err *e)
{
	struct route_walk walk = {
		.each = each, .data = data, .family = family, .dead = dead,
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

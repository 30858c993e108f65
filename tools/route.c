// SPDX-License-Identifier: GPL-2.0
/*
 * Routes: read, built, compared, written.
 *
 * RTAX_CC_ALGO is a string among numbers and libnl-route has no place for it,
 * so the message is made here.  Main table only, no source prefix, no TOS:
 * what `ip route replace PREFIX` would touch.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/icmpv6.h>
#include <linux/rtnetlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "route.h"

static struct rtmsg *route_head(const struct route *r)
{
	return (struct rtmsg *)r->raw;
}

static const struct nlattr *first_attr(const struct route *r)
{
	return (const struct nlattr *)(r->raw + NLMSG_ALIGN(sizeof(struct rtmsg)));
}

#define for_each_route_attr(attr, r) \
	for ((attr) = first_attr(r); \
	     mnl_attr_ok(attr, (int)((r)->raw + (r)->len - (const unsigned char *)(attr))); \
	     (attr) = mnl_attr_next(attr))

static const struct nlattr *find_attr(const struct route *r, uint16_t type)
{
	const struct nlattr *attr;

	for_each_route_attr(attr, r)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static uint32_t attr_u32(const struct route *r, uint16_t type)
{
	const struct nlattr *attr = find_attr(r, type);

	return attr && !mnl_attr_validate(attr, MNL_TYPE_U32) ? mnl_attr_get_u32(attr) : 0;
}

struct nlmsghdr *route_message(void *buf, int type, const struct route *route)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = (uint16_t)type;
	memcpy(mnl_nlmsg_put_extra_header(nlh, route->len), route->raw, route->len);
	return nlh;
}

static int take_message(struct route *r, const struct nlmsghdr *nlh, struct err *e)
{
	size_t len = mnl_nlmsg_get_payload_len(nlh);

	if (len > sizeof(r->raw))
		return err_set(e, -EMSGSIZE, "the route's message is %zu bytes, more than %zu",
			       len, sizeof(r->raw));
	memcpy(r->raw, mnl_nlmsg_get_payload(nlh), len);
	r->len = len;
	return 0;
}

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
	return take_message(r, out, e);
}

static int take_answer(struct route *r, const struct nlmsghdr *nlh, struct err *e)
{
	if (mnl_nlmsg_get_payload_len(nlh) > sizeof(r->raw))
		return take_name_of(r, nlh, e);
	return take_message(r, nlh, e);
}

/* All of the old metrics but the one that a circuit sets. */
static void put_metrics(struct nlmsghdr *nlh, const struct nlattr *old, const char *congctl)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, RTA_METRICS);
	const struct nlattr *attr;

	if (old) {
		mnl_attr_for_each_nested(attr, old) {
			uint16_t type = mnl_attr_get_type(attr);

			if (type != RTAX_CC_ALGO)
				mnl_attr_put(nlh, type, mnl_attr_get_payload_len(attr),
					     mnl_attr_get_payload(attr));
		}
	}
	mnl_attr_put_strz(nlh, RTAX_CC_ALGO, congctl);
	mnl_attr_nest_end(nlh, nest);
}

static void put_addr(struct nlmsghdr *nlh, uint16_t type, const struct prefix *p)
{
	if (p->family)
		mnl_attr_put(nlh, type, p->family == AF_INET ? 4 : 16, p->addr);
}

/* How the route that covers this one leaves: next hop, source, labels. */
static void put_like(struct nlmsghdr *nlh, const struct route_want *want)
{
	const struct nlattr *attr;

	put_addr(nlh, RTA_GATEWAY, &want->gateway);
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
	    !find_attr(like, RTA_GATEWAY) && !find_attr(like, RTA_VIA))
		rtm->rtm_scope = RT_SCOPE_LINK;
	if (like->len)
		rtm->rtm_flags = route_head(like)->rtm_flags & RTNH_F_ONLINK;
	put_addr(nlh, RTA_DST, &want->to);
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
	put_addr(nlh, RTA_GATEWAY, &want->gateway);
	mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)want->ifindex);
}

/* A route that is there may be one that cannot lead to a circuit. */
static int check_base(const struct route_want *want, const struct route *base,
		      struct err *e)
{
	const struct nlattr *attr = find_attr(base, RTA_CACHEINFO);
	const struct rta_cacheinfo *info;
	char to[64];

	format_prefix(to, sizeof(to), &want->to);
	if (route_head(base)->rtm_type != RTN_UNICAST)
		return err_set(e, -EINVAL, "--to: the route to %s is not unicast; remove it first",
			       to);
	if (find_attr(base, RTA_MULTIPATH) || find_attr(base, RTA_NH_ID))
		return err_set(e, -EINVAL,
			       "--to: the route to %s has several next hops, a nexthop object, or more attributes than can be kept; a circuit is one path",
			       to);
	info = attr && mnl_attr_get_payload_len(attr) >= sizeof(*info) ?
		mnl_attr_get_payload(attr) : NULL;
	if (info && info->rta_expires)
		return err_set(e, -EINVAL,
			       "--to: the route to %s expires, a router announced it; add one of your own first",
			       to);
	if (!want->via && attr_u32(base, RTA_OIF) != (uint32_t)want->ifindex)
		return err_set(e, -EINVAL,
			       "--to: the route to %s does not leave by %s; --via GATEWAY would move it",
			       to, want->dev);
	return 0;
}

int route_build(const struct route_want *want, const struct route *base,
		struct route *out, struct err *e)
{
	const struct nlattr *metrics = find_attr(base->len ? base : &want->like, RTA_METRICS);
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	int rc;

	if (base->len) {
		rc = check_base(want, base, e);
		if (rc)
			return rc;
		put_copy(nlh, want, base);
	} else {
		put_new(nlh, want);
	}
	put_metrics(nlh, metrics, want->congctl);
	return take_message(out, nlh, e);
}

static const struct nlattr *find_metric(const struct route *r, uint16_t type)
{
	const struct nlattr *metrics = find_attr(r, RTA_METRICS), *attr;

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
	const struct nlattr *attr = find_metric(r, RTAX_MTU);

	return attr && !mnl_attr_validate(attr, MNL_TYPE_U32) ? mnl_attr_get_u32(attr) : 0;
}

bool route_has_congctl(const struct route *r, const char *name)
{
	const struct nlattr *attr = find_metric(r, RTAX_CC_ALGO);

	return attr && !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) &&
	       !strcmp(mnl_attr_get_str(attr), name);
}

uint32_t route_table(const struct route *r)
{
	return find_attr(r, RTA_TABLE) ? attr_u32(r, RTA_TABLE) : route_head(r)->rtm_table;
}

/* 0 if it names no device. */
int route_ifindex(const struct route *r)
{
	return find_attr(r, RTA_OIF) ? (int)attr_u32(r, RTA_OIF) : 0;
}

/* An attribute of the route's own family; false, and @addr empty, if there is none. */
static bool route_addr(const struct route *r, uint16_t type, struct prefix *addr)
{
	const struct nlattr *attr = find_attr(r, type);
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

static bool same_attr(const struct nlattr *a, const struct nlattr *b)
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
			found |= same_attr(a, b);
		if (!found)
			return false;
	}
	return true;
}

static bool same_metrics(const struct route *a, const struct route *b)
{
	const struct nlattr *ma = find_attr(a, RTA_METRICS), *mb = find_attr(b, RTA_METRICS);

	if (!ma || !mb)
		return !ma && !mb;
	return nested_in(ma, mb) && nested_in(mb, ma);
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
		b = find_attr(have, type);
		if (!b || !same_attr(a, b))
			return false;
	}
	return true;
}

static const char hex_digits[] = "0123456789abcdef";

void route_to_text(const struct route *route, char text[ITEM_VALUE])
{
	size_t i;

	if (!route->len)
		strcpy(text, "absent");
	for (i = 0; i < route->len; i++) {
		text[2 * i] = hex_digits[route->raw[i] >> 4];
		text[2 * i + 1] = hex_digits[route->raw[i] & 15];
	}
	if (i)
		text[2 * i] = 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int route_from_text(const char *text, struct route *route)
{
	size_t i, n = strlen(text);

	memset(route, 0, sizeof(*route));
	if (!strcmp(text, "absent"))
		return 0;
	if (n % 2 || n / 2 > sizeof(route->raw) || n / 2 < sizeof(struct rtmsg))
		return -EINVAL;
	for (i = 0; i < n / 2; i++) {
		int hi = hex_digit(text[2 * i]), lo = hex_digit(text[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return -EINVAL;
		route->raw[i] = (unsigned char)(hi << 4 | lo);
	}
	route->len = n / 2;
	return 0;
}

bool route_text_equal(const char *a, const char *b)
{
	struct route ra, rb;

	if (!strcmp(a, "absent") || !strcmp(b, "absent"))
		return !strcmp(a, b);
	if (route_from_text(a, &ra) || route_from_text(b, &rb))
		return false;
	return route_covers(&ra, &rb) || route_covers(&rb, &ra);
}

/* The same, but that it has no congctl where @ours has this one. */
bool route_text_without_congctl(const char *now, const char *ours, const char *congctl)
{
	struct route a, b, with;
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct rtmsg *rtm;
	const struct nlattr *attr;
	struct err unused = { "" };

	if (route_from_text(now, &a) || route_from_text(ours, &b) || !a.len || !b.len ||
	    find_metric(&a, RTAX_CC_ALGO) || !route_has_congctl(&b, congctl))
		return false;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	*rtm = *route_head(&a);
	for_each_route_attr(attr, &a)
		if (mnl_attr_get_type(attr) != RTA_METRICS)
			mnl_attr_put(nlh, attr->nla_type, mnl_attr_get_payload_len(attr),
				     mnl_attr_get_payload(attr));
	put_metrics(nlh, find_attr(&a, RTA_METRICS), congctl);
	return !take_message(&with, nlh, &unused) &&
	       (route_covers(&with, &b) || route_covers(&b, &with));
}

static bool same_optional(const struct route *a, const struct route *b, uint16_t type)
{
	const struct nlattr *x = find_attr(a, type), *y = find_attr(b, type);

	return x && y ? same_attr(x, y) : !x && !y;
}

/* What the kernel takes where nothing is said: 0, of IPv6 IP6_RT_PRIO_USER. */
static uint32_t priority(const struct route *r)
{
	uint32_t value = attr_u32(r, RTA_PRIORITY);

	return value || route_head(r)->rtm_family == AF_INET ? value : 1024;
}

/* By the same next hop, whatever else they carry; one that is absent leads nowhere else. */
bool route_text_same_way(const char *a, const char *b)
{
	struct route ra, rb;

	if (route_from_text(a, &ra) || route_from_text(b, &rb))
		return false;
	if (!ra.len || !rb.len)
		return true;
	return route_head(&ra)->rtm_type == route_head(&rb)->rtm_type &&
	       priority(&ra) == priority(&rb) && same_optional(&ra, &rb, RTA_GATEWAY) &&
	       same_optional(&ra, &rb, RTA_VIA) && same_optional(&ra, &rb, RTA_OIF) &&
	       same_optional(&ra, &rb, RTA_MULTIPATH) && same_optional(&ra, &rb, RTA_NH_ID);
}

/* Of two with one prefix: is it the one that is used?  The lower metric */
bool route_text_comes_before(const struct route *r, const char *other)
{
	struct route o;

	return route_from_text(other, &o) ||
	       attr_u32(r, RTA_PRIORITY) < attr_u32(&o, RTA_PRIORITY);
}

struct text {
	char *at;
	size_t left;
};

static void add(struct text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->at, t->left, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= t->left)
		n = t->left ? (int)t->left - 1 : 0;
	t->at += n;
	t->left -= (size_t)n;
}

static void add_addr(struct text *t, const char *word, const struct route *r,
		     uint16_t type)
{
	const struct nlattr *attr = find_attr(r, type);
	size_t bytes = route_head(r)->rtm_family == AF_INET ? 4 : 16;
	char addr[INET6_ADDRSTRLEN];

	if (!attr || mnl_attr_get_payload_len(attr) != bytes)
		return;
	inet_ntop(route_head(r)->rtm_family, mnl_attr_get_payload(attr), addr, sizeof(addr));
	add(t, " %s %s", word, addr);
}

static uint32_t metric_locks(const struct nlattr *metrics)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, metrics)
		if (mnl_attr_get_type(attr) == RTAX_LOCK && !mnl_attr_validate(attr, MNL_TYPE_U32))
			return mnl_attr_get_u32(attr);
	return 0;
}

/*
 * One metric as `ip route` takes it; false if it does not.  Of a round trip a
 * number without a unit is the kernel's own; rto_min is ms, and ip locks it unasked.
 */
static bool add_metric(struct text *t, uint16_t type, uint32_t value, bool locked)
{
	static const char * const names[] = {
		[RTAX_MTU] = "mtu", [RTAX_WINDOW] = "window", [RTAX_SSTHRESH] = "ssthresh",
		[RTAX_CWND] = "cwnd", [RTAX_ADVMSS] = "advmss",
		[RTAX_RTT] = "rtt", [RTAX_RTTVAR] = "rttvar",
		[RTAX_REORDERING] = "reordering", [RTAX_HOPLIMIT] = "hoplimit",
		[RTAX_INITCWND] = "initcwnd", [RTAX_INITRWND] = "initrwnd",
		[RTAX_QUICKACK] = "quickack",
	};

	if (type == RTAX_RTO_MIN) {
		add(t, " rto_min %ums", value);
		return locked;
	}
	if (type >= sizeof(names) / sizeof(names[0]) || !names[type])
		return false;
	add(t, " %s%s %u", names[type], locked ? " lock" : "", value);
	return true;
}

/* Returns false if there is one that `ip route` does not take. */
static bool add_metrics(struct text *t, const struct nlattr *metrics)
{
	uint32_t locks = metric_locks(metrics);
	const struct nlattr *attr;
	bool all = true;

	mnl_attr_for_each_nested(attr, metrics) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type > RTAX_MAX) {
			all = false;
			continue;
		}
		if (type == RTAX_CC_ALGO && !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
			add(t, " congctl%s %s", locks >> type & 1 ? " lock" : "",
			    mnl_attr_get_str(attr));
		else if (type == RTAX_LOCK || mnl_attr_validate(attr, MNL_TYPE_U32))
			all &= type == RTAX_LOCK;
		else
			all &= add_metric(t, type, mnl_attr_get_u32(attr), locks >> type & 1);
		locks &= ~(1U << type);
	}
	/* a lock of a metric that has no value */
	return all && !locks;
}

static void add_pref(struct text *t, const struct route *r)
{
	const struct nlattr *attr = find_attr(r, RTA_PREF);
	uint8_t pref = attr && !mnl_attr_validate(attr, MNL_TYPE_U8) ? mnl_attr_get_u8(attr) : 0;

	if (pref == ICMPV6_ROUTER_PREF_HIGH)
		add(t, " pref high");
	else if (pref == ICMPV6_ROUTER_PREF_LOW)
		add(t, " pref low");
}

/*
 * The arguments of `ip route replace` that make this route; 0 if they say all
 * of it, 1 if it has something that they do not.
 */
int route_command(const struct route *route, const char *dev, char *buf, size_t len)
{
	const struct rtmsg *rtm = route_head(route);
	struct text t = { buf, len };
	const struct nlattr *attr;
	struct prefix to;
	char text[64];
	int partial = 0;

	route_addr(route, RTA_DST, &to);
	to.family = rtm->rtm_family;
	to.len = rtm->rtm_dst_len;
	add(&t, "%s", format_prefix(text, sizeof(text), &to));
	add_addr(&t, "via", route, RTA_GATEWAY);
	add(&t, " dev %s%s", dev, rtm->rtm_flags & RTNH_F_ONLINK ? " onlink" : "");
	add_addr(&t, "src", route, RTA_PREFSRC);
	if (find_attr(route, RTA_PRIORITY))
		add(&t, " metric %u", attr_u32(route, RTA_PRIORITY));
	if (rtm->rtm_protocol != RTPROT_BOOT)
		add(&t, " proto %u", rtm->rtm_protocol);
	if (rtm->rtm_family == AF_INET &&
	    rtm->rtm_scope != (find_attr(route, RTA_GATEWAY) ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK))
		add(&t, " scope %u", rtm->rtm_scope);
	add_pref(&t, route);
	for_each_route_attr(attr, route) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == RTA_METRICS)
			partial |= !add_metrics(&t, attr);
		else if (type == RTA_VIA || type == RTA_ENCAP || type == RTA_FLOW)
			partial = 1;
	}
	return partial;
}

void route_text_describe(const char *name, const char *text, char *buf, size_t len)
{
	struct route r;
	struct text t = { buf, len };
	const struct nlattr *metrics;

	if (route_from_text(text, &r) || !r.len) {
		snprintf(buf, len, "absent");
		return;
	}
	add(&t, "%s", name);
	add_addr(&t, "via", &r, RTA_GATEWAY);
	metrics = find_attr(&r, RTA_METRICS);
	if (metrics)
		add_metrics(&t, metrics);
}

struct search {
	const struct prefix *to;
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
	const struct nlattr *attr, *info = find_attr(r, RTA_CACHEINFO);
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
	/* of several with one prefix, the one that is used: the lowest metric */
	if (!s->found->len ||
	    attr_u32(&r, RTA_PRIORITY) < attr_u32(s->found, RTA_PRIORITY))
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

static int dump_route(struct nl *nl, const struct prefix *to, struct route *route,
		      struct err *e)
{
	struct search s = { .to = to, .found = route, .e = e };
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
};

/* A lookup does not find one whose next hop is dead. */
static bool is_walked(const struct rtmsg *rtm, int family)
{
	const struct prefix to = { .family = family, .len = rtm->rtm_dst_len };

	return is_wanted(rtm, &to) && !(rtm->rtm_flags & RTNH_F_DEAD);
}

static int on_walk(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct route_walk *walk = data;
	struct err unused = { "" };
	struct prefix to;
	struct route r;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*rtm) || !is_walked(rtm, walk->family))
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

int route_each(struct nl *nl, int family,
	       int (*each)(const struct prefix *to, const struct route *r, void *data),
	       void *data, struct err *e)
{
	struct route_walk walk = { .each = each, .data = data, .family = family };
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
	put_addr(nlh, RTA_DST, to);
	if (from) {
		rtm->rtm_src_len = rtm->rtm_dst_len;
		put_addr(nlh, RTA_SRC, from);
	}
	rc = nlm_get(nl, nlh, on_answer, &s, e);
	return s.rc ? s.rc : rc;
}

static bool is_to(const struct route *r, const struct prefix *to)
{
	const struct nlattr *dst = find_attr(r, RTA_DST);
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
	return lookup_route(nl, to, route) ? 0 : dump_route(nl, to, route, e);
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

/* An absent @route deletes the one there. */
int route_write(struct nl *nl, const struct prefix *to, const struct route *route,
		struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh;
	struct route now;
	int rc = route_read(nl, to, &now, e);

	if (rc)
		return rc;
	if (!route->len)
		return now.len ? route_delete(nl, &now, e) : 0;
	nlh = route_message(&req, RTM_NEWROUTE, route);
	/* one that a lookup does not find, as its next hop is down, is somebody's */
	nlh->nlmsg_flags = (uint16_t)(NLM_F_CREATE | (now.len ? NLM_F_REPLACE : NLM_F_EXCL));
	return nlm_talk(nl, nlh, e);
}

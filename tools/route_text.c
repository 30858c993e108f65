// SPDX-License-Identifier: GPL-2.0
/*
 * A route as an item has it, and as a person and `ip route` do.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/icmpv6.h>
#include <linux/rtnetlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "route.h"
#include "route_attr.h"

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
	return route_is(&ra, &rb);
}

/* The same, but that it has no congctl where @ours has this one. */
bool route_text_without_congctl(const char *now, const char *ours, const char *congctl)
{
	struct route a, b, without;
	struct err unused = { "" };

	return !route_from_text(now, &a) && !route_from_text(ours, &b) && a.len && b.len &&
	       route_has_congctl(&b, congctl) && !route_without_congctl(&b, &without, &unused) &&
	       route_is(&a, &without);
}

/* By the same next hop, whatever else they carry; one that is absent leads nowhere else. */
bool route_text_same_way(const char *a, const char *b)
{
	struct route ra, rb;

	if (route_from_text(a, &ra) || route_from_text(b, &rb))
		return false;
	if (!ra.len || !rb.len)
		return true;
	return route_head(&ra)->rtm_type == route_head(&rb)->rtm_type && route_same_way(&ra, &rb);
}

/* Of two with one prefix: is @a used before @b?  False if one is absent. */
bool route_text_comes_before(const char *a, const char *b)
{
	struct route ra, rb;

	return !route_from_text(a, &ra) && !route_from_text(b, &rb) && ra.len && rb.len &&
	       route_priority(&ra) < route_priority(&rb);
}

bool route_text_same_metric(const char *a, const char *b)
{
	struct route ra, rb;

	return !route_from_text(a, &ra) && !route_from_text(b, &rb) && ra.len && rb.len &&
	       route_priority(&ra) == route_priority(&rb);
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
	const struct nlattr *attr = route_attr(r, type);
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
	const struct nlattr *attr = route_attr(r, RTA_PREF);
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
	if (route_attr(route, RTA_PRIORITY))
		add(&t, " metric %u", route_attr_u32(route, RTA_PRIORITY));
	if (rtm->rtm_protocol != RTPROT_BOOT)
		add(&t, " proto %u", rtm->rtm_protocol);
	if (rtm->rtm_family == AF_INET &&
	    rtm->rtm_scope != (route_attr(route, RTA_GATEWAY) ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK))
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

/* The arguments of `ip route del` behind its prefix that name this one alone. */
void route_selector(const struct route *route, const char *dev, char *buf, size_t len)
{
	struct text t = { buf, len };

	add(&t, "dev %s", dev);
	if (route->len && route_priority(route) != route_usual_priority(route))
		add(&t, " metric %u", route_priority(route));
	if (route->len)
		add(&t, " proto %u", route_head(route)->rtm_protocol);
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
	if (route_priority(&r) != route_usual_priority(&r))
		add(&t, " metric %u", route_priority(&r));
	metrics = route_attr(&r, RTA_METRICS);
	if (metrics)
		add_metrics(&t, metrics);
}

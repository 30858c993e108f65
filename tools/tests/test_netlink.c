// SPDX-License-Identifier: GPL-2.0
/*
 * Our netlink messages against those of tc and ip, attribute by attribute.
 *
 * The command lines given to tc and ip are those that --dry-run prints for the
 * same change, so this also holds them to do the same.  Declared differences:
 *  - tc sends a rate table for tbf (TCA_TBF_RTAB), ours none, as the link layer
 *    is named;
 *  - tc's ticks are of whole microseconds and, past 2^32 bytes/s, of a wrong
 *    rate, which does no harm as the kernel takes TCA_TBF_BURST instead;
 *  - ip sends congctl without its final NUL.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#include "captured.h"
#include "print.h"
#include "qdisc.h"
#include "route.h"

#define TICKS_OF_1_US 16	/* of 64 ns, rounded up */

/* What qdisc.c would send; its parts are the same functions. */
static struct nlmsghdr *our_qdisc(void *buf, const struct qdisc *q, uint32_t parent,
				  uint32_t handle, const char *kind,
				  void (*put)(struct nlmsghdr *nlh, const struct qdisc *q))
{
	struct nlmsghdr *nlh = qdisc_message(buf, RTM_NEWQDISC, LO_INDEX, parent, handle, kind);
	struct nlattr *nest;

	nlh->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
	if (put) {
		nest = mnl_attr_nest_start(nlh, TCA_OPTIONS);
		put(nlh, q);
		mnl_attr_nest_end(nlh, nest);
	}
	return nlh;
}

/* tc's own bucket: from the 32 bits of the rate, in whole microseconds. */
static void check_tc_ticks(const struct qdisc *q, uint32_t theirs_is)
{
	uint32_t want = tbf_ticks(q->rate > UINT32_MAX ? UINT32_MAX : q->rate, q->burst);
	uint32_t apart = want > theirs_is ? want - theirs_is : theirs_is - want;

	if (apart > TICKS_OF_1_US)
		print_error("rate %lu burst %u: ticks %u, tc %u\n", (unsigned long)q->rate,
			    q->burst, want, theirs_is);
	assert_true(apart <= TICKS_OF_1_US);
}

static void same_tbf_options(const struct qdisc *q, const struct nlattr *a,
			     const struct nlattr *b)
{
	const struct tc_tbf_qopt *pa, *pb;
	const struct nlattr *attr;

	pa = mnl_attr_get_payload(find_nested(a, TCA_TBF_PARMS));
	pb = mnl_attr_get_payload(find_nested(b, TCA_TBF_PARMS));
	assert_int_equal(pa->rate.rate, pb->rate.rate);
	assert_int_equal(pa->rate.linklayer, pb->rate.linklayer);
	assert_int_equal(pa->rate.overhead, pb->rate.overhead);
	assert_int_equal(pa->rate.mpu, pb->rate.mpu);
	assert_int_equal(pa->limit, pb->limit);
	assert_int_equal(pa->peakrate.rate, pb->peakrate.rate);
	assert_int_equal(pa->mtu, pb->mtu);
	assert_int_equal(pa->buffer, tbf_ticks(q->rate, q->burst));
	check_tc_ticks(q, pb->buffer);
	mnl_attr_for_each_nested(attr, b) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type != TCA_TBF_PARMS && type != TCA_TBF_RTAB)
			same_bytes(find_nested(a, type), attr);
	}
	mnl_attr_for_each_nested(attr, a)
		assert_non_null(find_nested(b, mnl_attr_get_type(attr)));
}

static void test_tbf(void **state)
{
	static const struct qdisc cases[] = {
		{ .state = QDISC_TBF, .rate = 500000000, .burst = 100000, .limit = 16900782 },
		{ .state = QDISC_TBF, .rate = 1000, .burst = 69644, .limit = 69644 },
		{ .state = QDISC_TBF, .rate = 312500000, .burst = 69644, .limit = 3028 },
		{ .state = QDISC_TBF, .rate = 77760000, .burst = 1514, .limit = 4294967295 },
		{ .state = QDISC_TBF, .rate = 4294967295, .burst = 858993, .limit = 100000000 },
		{ .state = QDISC_TBF, .rate = 4294967296, .burst = 858993, .limit = 100000000 },
		{ .state = QDISC_TBF, .rate = 12500000000, .burst = 2500000, .limit = 162500648 },
		{ .state = QDISC_TBF, .rate = 125000000000, .burst = 25000000,
		  .limit = 4000000000 },
	};
	char text[ITEM_VALUE], line[512];
	union nl_request ours;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		our_qdisc(&ours, &cases[i], TC_H_ROOT, OUR_HANDLE, "tbf", tbf_put);
		qdisc_format(&cases[i], text, sizeof(text));
		dry_run_line(ITEM_QDISC, "lo", text, line, sizeof(line));
		if (!capture(line))
			skip();
		same_tc_head(&ours.hdr, &theirs.hdr);
		same_tbf_options(&cases[i], find(&ours.hdr, sizeof(struct tcmsg), TCA_OPTIONS),
				 find(&theirs.hdr, sizeof(struct tcmsg), TCA_OPTIONS));
	}
}

static void same_flat(const struct nlattr *a, const struct nlattr *b)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, a)
		same_bytes(attr, find_nested(b, mnl_attr_get_type(attr)));
	mnl_attr_for_each_nested(attr, b)
		same_bytes(find_nested(a, mnl_attr_get_type(attr)), attr);
}

static void test_fq(void **state)
{
	static const struct qdisc cases[] = {
		{ .state = QDISC_FQ, .maxrate = 500000000, .limit = 11163, .flow_limit = 11163 },
		{ .state = QDISC_FQ, .maxrate = 1428571428, .limit = 25759578,
		  .flow_limit = 735988 },
		{ .state = QDISC_FQ, .maxrate = 1, .limit = 10000, .flow_limit = 100 },
	};
	char text[ITEM_VALUE], line[512];
	union nl_request ours;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		our_qdisc(&ours, &cases[i], TC_H_ROOT, OUR_HANDLE, "fq", fq_put);
		qdisc_format(&cases[i], text, sizeof(text));
		dry_run_line(ITEM_QDISC, "lo", text, line, sizeof(line));
		if (!capture(line))
			skip();
		same_tc_head(&ours.hdr, &theirs.hdr);
		same_flat(find(&ours.hdr, sizeof(struct tcmsg), TCA_OPTIONS),
			  find(&theirs.hdr, sizeof(struct tcmsg), TCA_OPTIONS));
	}
}

/* A root mq and an fq under each of its two queues: three lines, three messages. */
static void test_mq(void **state)
{
	const struct qdisc q = {
		.state = QDISC_MQ, .queues = 2, .maxrate = 500000000, .limit = 11163,
		.flow_limit = 11163,
	};
	char text[ITEM_VALUE], lines[1024], *line, *save;
	union nl_request ours;
	uint32_t n = 0;

	(void)state;
	qdisc_format(&q, text, sizeof(text));
	dry_run_line(ITEM_QDISC, "lo", text, lines, sizeof(lines));
	for (line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!capture(line))
			skip();
		if (!n)
			our_qdisc(&ours, &q, TC_H_ROOT, OUR_HANDLE, "mq", NULL);
		else
			our_qdisc(&ours, &q, OUR_HANDLE | n, (OUR_MAJOR + n) << 16, "fq", fq_put);
		same_tc_head(&ours.hdr, &theirs.hdr);
		n++;
	}
	assert_int_equal(n, 3);
}

/* What tbf and fq say back is what was said. */
static void test_read_back(void **state)
{
	struct qdisc tbf = { .state = QDISC_TBF, .rate = 12500000000, .burst = 2500000,
			     .limit = 162500648 }, got = { .state = QDISC_TBF };
	struct qdisc fq = { .state = QDISC_FQ, .maxrate = 5, .limit = 6, .flow_limit = 7 };
	union nl_request req;

	(void)state;
	our_qdisc(&req, &tbf, TC_H_ROOT, OUR_HANDLE, "tbf", tbf_put);
	tbf_get(find(&req.hdr, sizeof(struct tcmsg), TCA_OPTIONS), &got);
	assert_int_equal(got.rate, tbf.rate);
	assert_int_equal(got.limit, tbf.limit);
	assert_int_equal(got.burst, tbf.burst);
	assert_int_equal(got.ticks, 3125);	/* 200 us / 64 ns */
	memset(&got, 0, sizeof(got));
	our_qdisc(&req, &fq, TC_H_ROOT, OUR_HANDLE, "fq", fq_put);
	fq_get(find(&req.hdr, sizeof(struct tcmsg), TCA_OPTIONS), &got);
	assert_int_equal(got.maxrate, 5);
	assert_int_equal(got.limit, 6);
	assert_int_equal(got.flow_limit, 7);
}

/* Rates as they are typed, not the bytes/s of the journal. */
static void test_qdisc_describe(void **state)
{
	static const struct {
		const char *text, *is;
	} rows[] = {
		{ "default", "default" },
		{ "foreign htb 1:", "foreign htb 1:" },
		{ "tbf rate 500000000 burst 100000 limit 16900782",
		  "tbf rate 4gbit burst 100000 limit 16900782 bytes" },
		{ "tbf rate 500000000 ticks 3125 limit 5",
		  "tbf rate 4gbit burst 100000 limit 5 bytes" },
		{ "tbf rate 125000000000 ticks 4294967295 limit 4294967295",
		  "tbf rate 1tbit burst 34359738360000 limit 4294967295 bytes" },
		{ "fq maxrate 125000000 limit 7 flow_limit 5",
		  "fq, each stream 1gbit, 5 packets each, 7 in all" },
		{ "mq queues 4 fq maxrate 4294967295 limit 7 flow_limit 5",
		  "mq of fq, each stream as paced, 5 packets each, 7 in all" },
	};
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		qdisc_text_describe(rows[i].text, text, sizeof(text));
		assert_string_equal(text, rows[i].is);
	}
}

static void test_qdisc_equal(void **state)
{
	(void)state;
	/* 2487500 bytes at 12.5e9 bytes/s are 199 us, 3109.4 ticks */
	assert_true(qdisc_text_equal("tbf rate 12500000000 burst 2487500 limit 5",
				     "tbf rate 12500000000 ticks 3109 limit 5"));
	assert_true(qdisc_text_equal("tbf rate 12500000000 burst 2487500 limit 5",
				     "tbf rate 12500000000 ticks 3110 limit 5"));
	assert_false(qdisc_text_equal("tbf rate 12500000000 burst 2487500 limit 5",
				      "tbf rate 12500000000 ticks 3111 limit 5"));
	assert_false(qdisc_text_equal("tbf rate 12500000000 burst 2487500 limit 5",
				      "tbf rate 12500000001 ticks 3109 limit 5"));
	assert_false(qdisc_text_equal("tbf rate 12500000000 burst 2487500 limit 5",
				      "tbf rate 12500000000 ticks 3109 limit 6"));
	assert_false(qdisc_text_equal("default", "tbf rate 1 ticks 1 limit 1"));
	assert_true(qdisc_text_equal("default", "default"));
	assert_false(qdisc_text_equal("foreign tbf 5:", "foreign tbf 6:"));
	assert_false(qdisc_text_equal("nonsense", "nonsense"));
}

/* Past 2^32 packets the kernel tells them twice, the first cut short. */
static void test_stats(void **state)
{
	const struct { uint64_t bytes; uint32_t packets; } basic = { 1ULL << 50, 7 };
	const uint64_t packets = (3ULL << 32) + 7;
	struct qdisc_stats s = { 0 };
	union nl_request req;
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct nlattr *nest = mnl_attr_nest_start(nlh, TCA_STATS2);

	(void)state;
	mnl_attr_put(nlh, TCA_STATS_BASIC, sizeof(basic), &basic);
	mnl_attr_nest_end(nlh, nest);
	stats_get(nest, &s);
	assert_int_equal(s.bytes, 1ULL << 50);
	assert_int_equal(s.packets, 7);
	mnl_attr_put(nlh, 8 /* TCA_STATS_PKT64 */, sizeof(packets), &packets);
	mnl_attr_nest_end(nlh, nest);
	stats_get(nest, &s);
	assert_int_equal(s.packets, packets);
}

static void same_metrics(const struct nlattr *a, const struct nlattr *b)
{
	const struct nlattr *cc = find_nested(a, RTAX_CC_ALGO), *other;

	other = find_nested(b, RTAX_CC_ALGO);
	assert_non_null(other);
	assert_int_equal(strncmp(mnl_attr_get_payload(cc), mnl_attr_get_payload(other),
				 strlen(CC_NAME)), 0);
	mnl_attr_for_each_nested(other, b) {
		assert_non_null(find_nested(a, mnl_attr_get_type(other)));
		if (mnl_attr_get_type(other) != RTAX_CC_ALGO)
			same_bytes(find_nested(a, mnl_attr_get_type(other)), other);
	}
	mnl_attr_for_each_nested(other, a)
		assert_non_null(find_nested(b, mnl_attr_get_type(other)));
}

static void same_route(const struct nlmsghdr *a, const struct nlmsghdr *b)
{
	const struct rtmsg *ra = mnl_nlmsg_get_payload(a), *rb = mnl_nlmsg_get_payload(b);
	const struct nlattr *attr;

	assert_int_equal(a->nlmsg_type, b->nlmsg_type);
	assert_int_equal(ra->rtm_family, rb->rtm_family);
	assert_int_equal(ra->rtm_dst_len, rb->rtm_dst_len);
	assert_int_equal(ra->rtm_src_len, rb->rtm_src_len);
	assert_int_equal(ra->rtm_tos, rb->rtm_tos);
	assert_int_equal(ra->rtm_table, rb->rtm_table);
	assert_int_equal(ra->rtm_protocol, rb->rtm_protocol);
	assert_int_equal(ra->rtm_scope, rb->rtm_scope);
	assert_int_equal(ra->rtm_type, rb->rtm_type);
	assert_int_equal(ra->rtm_flags, rb->rtm_flags);
	mnl_attr_for_each(attr, a, sizeof(*ra)) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == RTA_METRICS)
			same_metrics(attr, find(b, sizeof(*rb), type));
		else
			same_bytes(attr, find(b, sizeof(*rb), type));
	}
	mnl_attr_for_each(attr, b, sizeof(*rb))
		assert_non_null(find(a, sizeof(*ra), mnl_attr_get_type(attr)));
}

struct route_case {
	const char *to, *gateway;
};

/* The route of the line captured last, as if the kernel had told of it. */
static void captured_route(struct route *r)
{
	memset(r, 0, sizeof(*r));
	r->len = mnl_nlmsg_get_payload_len(&theirs.hdr);
	assert_true(r->len <= sizeof(r->raw));
	memcpy(r->raw, mnl_nlmsg_get_payload(&theirs.hdr), r->len);
}

static void route_case_want(const struct route_case *rc, struct route_want *w)
{
	struct err e;

	memset(w, 0, sizeof(*w));
	w->ifindex = LO_INDEX;
	w->congctl = CC_NAME;
	strcpy(w->dev, "lo");
	assert_int_equal(parse_prefix(rc->to, &w->to, &e), 0);
	if (rc->gateway)
		assert_int_equal(parse_address(rc->gateway, &w->gateway), 0);
}

static void test_route(void **state)
{
	static const struct route_case cases[] = {
		{ "192.0.2.0/24", NULL },
		{ "192.0.2.0/24", "198.51.100.1" },
		{ "192.0.2.1", "198.51.100.1" },
		{ "2001:db8::/32", NULL },
		{ "2001:db8::/32", "fe80::1" },
	};
	const struct route none = { 0 };
	char text[ITEM_VALUE], line[512];
	union nl_request ours;
	struct route_want w;
	struct route r;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		route_case_want(&cases[i], &w);
		assert_int_equal(route_build(&w, &none, &r, &e), 0);
		route_message(&ours, RTM_NEWROUTE, &r);
		route_to_text(&r, text);
		dry_run_line(ITEM_ROUTE, cases[i].to, text, line, sizeof(line));
		/* a window would be for other algorithms, too */
		assert_null(strstr(line, "initcwnd"));
		if (!capture(line))
			skip();
		same_route(&ours.hdr, &theirs.hdr);
		assert_int_equal(theirs.hdr.nlmsg_flags & (NLM_F_CREATE | NLM_F_REPLACE),
				 NLM_F_CREATE | NLM_F_REPLACE);
	}
}

/* A new one leaves as the one that covers it, and --dry-run says so in full. */
static void test_route_like(void **state)
{
	static const struct {
		const char *line, *to, *says;
	} cases[] = {
		{ "ip route replace 192.0.0.0/16 via 198.51.100.1 dev lo src 198.51.100.7"
		  " metric 7 mtu lock 1400 advmss 1200 rto_min 40ms initcwnd 9 congctl lock reno",
		  "192.0.2.0/24",
		  "via 198.51.100.1 dev lo src 198.51.100.7 proto 199 mtu lock 1400 advmss 1200"
		  " rto_min 40ms initcwnd 9 congctl lock circuit" },
		{ "ip route replace 192.0.0.0/16 via 198.51.100.1 dev lo onlink rtt lock 3ms rttvar 5",
		  "192.0.2.0/24", "via 198.51.100.1 dev lo onlink proto 199 rtt lock 24 rttvar 5" },
		{ "ip route replace 192.0.0.0/16 dev lo src 198.51.100.7 hoplimit lock 9",
		  "192.0.2.0/24", "dev lo src 198.51.100.7 proto 199 hoplimit lock 9" },
		{ "ip route replace 2001:db8::/32 via fe80::1 dev lo pref high mtu 1400",
		  "2001:db8:1::/48", "via fe80::1 dev lo proto 199 pref high mtu 1400" },
		{ "ip route replace 2001:db8::/32 via fe80::1 dev lo onlink pref low",
		  "2001:db8:1::/48", "via fe80::1 dev lo onlink proto 199 pref low" },
	};
	const struct route none = { 0 };
	char text[ITEM_VALUE], line[512];
	union nl_request ours;
	struct route_want w;
	struct route r;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct route_case rc = { cases[i].to, NULL };

		route_case_want(&rc, &w);
		if (!capture(cases[i].line))
			skip();
		captured_route(&w.like);
		assert_int_equal(route_build(&w, &none, &r, &e), 0);
		route_message(&ours, RTM_NEWROUTE, &r);
		route_to_text(&r, text);
		dry_run_line(ITEM_ROUTE, cases[i].to, text, line, sizeof(line));
		assert_non_null(strstr(line, cases[i].says));
		assert_true(capture(line));
		same_route(&ours.hdr, &theirs.hdr);
	}
}

/* Of what ip cannot say, the line says that it is not all. */
static void test_route_partial(void **state)
{
	static const struct route_case rc = { "192.0.2.0/24", NULL };
	char line[512];
	struct route_want w;
	struct route base, r;
	struct err e;

	(void)state;
	route_case_want(&rc, &w);
	if (!capture("ip route replace 192.0.2.0/24 dev lo features ecn"))
		skip();
	captured_route(&base);
	assert_int_equal(route_build(&w, &base, &r, &e), 0);
	assert_int_equal(route_command(&r, "lo", line, sizeof(line)), 1);
	assert_true(capture("ip route replace 192.0.2.0/24 dev lo mtu lock 1400"));
	captured_route(&base);
	assert_int_equal(route_build(&w, &base, &r, &e), 0);
	assert_int_equal(route_command(&r, "lo", line, sizeof(line)), 0);
}

/* One that was there, as ip would have made it, keeps all else it had. */
static void test_route_copy(void **state)
{
	static const struct route_case rc = { "192.0.2.0/24", NULL };
	static const char line_before[] =
		"ip route replace 192.0.2.0/24 via 198.51.100.1 dev lo"
		" src 198.51.100.7 metric 7 mtu 1400 initcwnd 20";
	char text[ITEM_VALUE], line[512];
	union nl_request ours;
	struct route_want w;
	struct route base, r;
	struct err e;

	(void)state;
	if (!capture(line_before))
		skip();
	captured_route(&base);
	route_case_want(&rc, &w);
	assert_int_equal(route_build(&w, &base, &r, &e), 0);
	route_message(&ours, RTM_NEWROUTE, &r);
	route_to_text(&r, text);
	dry_run_line(ITEM_ROUTE, rc.to, text, line, sizeof(line));
	assert_non_null(strstr(line, "mtu 1400 initcwnd 20"));
	assert_non_null(strstr(line, "metric 7"));
	assert_true(capture(line));
	same_route(&ours.hdr, &theirs.hdr);
	assert_false(route_covers(&base, &r));
	assert_true(route_has_congctl(&r, "circuit"));
	/* and by another gateway where one is asked for */
	assert_int_equal(parse_address("198.51.100.2", &w.gateway), 0);
	w.via = true;
	assert_int_equal(route_build(&w, &base, &r, &e), 0);
	route_text_describe("x", "absent", line, sizeof(line));
	route_to_text(&r, text);
	route_text_describe("192.0.2.0/24", text, line, sizeof(line));
	assert_non_null(strstr(line, "via 198.51.100.2"));
}

static void test_route_refused(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{ "ip route replace 192.0.2.0/24 nexthop via 198.51.100.1 nexthop via 198.51.100.2",
		  "several next hops" },
		{ "ip route replace blackhole 192.0.2.0/24", "not unicast" },
		{ "ip route replace broadcast 192.0.2.0/24 dev lo", "multicast or broadcast" },
	};
	static const struct route_case rc = { "192.0.2.0/24", NULL };
	struct route base, r;
	struct route_want w;
	struct err e;
	size_t i;

	(void)state;
	route_case_want(&rc, &w);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!capture(cases[i].line))
			skip();
		captured_route(&base);
		assert_int_equal(route_build(&w, &base, &r, &e), -EINVAL);
		assert_non_null(strstr(e.text, cases[i].says));
	}
	w.ifindex = 7;
	assert_true(capture("ip route replace 192.0.2.0/24 dev lo"));
	captured_route(&base);
	assert_int_equal(route_build(&w, &base, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "does not leave by lo"));
}

static void test_route_text(void **state)
{
	static const char * const bad[] = { "", "0", "zz", "00", "absent ", "0A" };
	struct route r;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(route_from_text(bad[i], &r), -EINVAL);
	assert_int_equal(route_from_text("absent", &r), 0);
	assert_int_equal(r.len, 0);
	assert_true(route_text_equal("absent", "absent"));
	assert_false(route_text_equal("absent", "020800000304fd010000000000000000"));
}

/* Of two routes to one prefix that differ in what one of them has alone */
static void test_route_two(void **state)
{
	/* 10.79.0.0/16 via 10.78.0.254 proto static */
	static const char via[] =
		"02100000fe04000100000000080001000a4f0000080005000a4e00fe";
	static const char via_in_main[] =
		"02100000fe04000100000000080001000a4f0000080005000a4e00fe08000f00fe000000";
	static const char * const others[] = {
		/* metric 100; src 10.78.0.1; on the link */
		"02100000fe04000100000000080001000a4f0000080005000a4e00fe0800060064000000",
		"02100000fe04000100000000080001000a4f0000080005000a4e00fe080007000a4e0001",
		"02100000fe04000100000000080001000a4f0000",
	};
	/* ::/0, also of metric 1024, and via fd78::fe */
	static const char link6[] = "0a000000fe040001000000000800040002000000";
	static const char usual6[] = "0a000000fe0400010000000008000400020000000800060000040000";
	static const char via6[] =
		"0a000000fe04000100000000080004000200000014000500fd7800000000000000000000000000fe";
	size_t i;

	(void)state;
	assert_true(route_text_equal(via, via_in_main));
	assert_true(route_text_equal(via_in_main, via));
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		assert_false(route_text_equal(via, others[i]));
		assert_false(route_text_equal(others[i], via));
	}
	assert_true(route_text_equal(link6, usual6));
	assert_false(route_text_equal(link6, via6));
	assert_false(route_text_equal(via6, link6));
}

/* That of a path without its guarantee; and hidden by a kernel that has lost it */
static void test_route_htcp(void **state)
{
	const struct route_case rc = { "192.0.2.0/24", "198.51.100.1" };
	char ours[ITEM_VALUE], now[ITEM_VALUE], line[512];
	struct route none = { 0 }, r;
	struct route_want w;
	struct err e;

	(void)state;
	route_case_want(&rc, &w);
	w.congctl = "htcp";
	assert_int_equal(route_build(&w, &none, &r, &e), 0);
	assert_true(route_has_congctl(&r, "htcp"));
	assert_false(route_has_congctl(&r, CC_NAME));
	route_to_text(&r, ours);
	dry_run_line(ITEM_ROUTE, rc.to, ours, line, sizeof(line));
	assert_non_null(strstr(line, "congctl htcp"));
	if (!capture("ip route replace 192.0.2.0/24 via 198.51.100.1 dev lo proto 199"))
		skip();
	captured_route(&r);
	route_to_text(&r, now);
	assert_true(route_text_without_congctl(now, ours, "htcp"));
	assert_false(route_text_without_congctl(now, ours, CC_NAME));
	assert_false(route_text_without_congctl(ours, ours, "htcp"));
}

/* A destination that is not an address of the family is not read as one. */
static void test_route_short(void **state)
{
	char text[ITEM_VALUE], line[512];
	struct route r = { .len = sizeof(r.raw) };
	struct rtmsg *rtm = (struct rtmsg *)r.raw;
	struct nlattr *dst = (struct nlattr *)(r.raw + sizeof(r.raw) - sizeof(*dst));
	struct nlattr *rest = (struct nlattr *)(rtm + 1);

	(void)state;
	rtm->rtm_family = AF_INET6;
	rtm->rtm_dst_len = 32;
	rtm->rtm_protocol = RTPROT_BOOT;
	rest->nla_type = RTA_PAD;
	rest->nla_len = (uint16_t)((char *)dst - (char *)rest);
	dst->nla_type = RTA_DST;
	dst->nla_len = sizeof(*dst);
	route_to_text(&r, text);
	assert_int_equal(route_from_text(text, &r), 0);
	assert_int_equal(route_command(&r, "lo", line, sizeof(line)), 0);
	assert_string_equal(line, "::/32 dev lo");
}

static int count(const struct nlmsghdr *nlh, void *data)
{
	(void)nlh;
	++*(int *)data;
	return MNL_CB_OK;
}

/* Lengths that are longer than what came, also where an int would be negative. */
static void test_lengths(void **state)
{
	static const uint32_t bad[] = { 0, 15, 17, 33, INT32_MAX, 0x80000000U, UINT32_MAX };
	struct nlmsghdr messages[2] = { { .nlmsg_len = 16 }, { .nlmsg_len = 16 } };
	int n = 0;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(messages); i++)
		messages[i].nlmsg_type = RTM_NEWROUTE;
	assert_int_equal(nlm_each(messages, sizeof(messages), count, &n), MNL_CB_OK);
	assert_int_equal(n, 2);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		messages[1].nlmsg_len = bad[i];
		assert_int_equal(nlm_each(messages, sizeof(messages), count, &n), MNL_CB_ERROR);
		assert_int_equal(errno, EBADMSG);
	}
	assert_int_equal(nlm_each(messages, 15, count, &n), MNL_CB_ERROR);
	assert_int_equal(n, 2);
}

static void test_kind(void **state)
{
	static const struct {
		const char *is, *kind;
	} rows[] = {
		{ "fq_codel", "fq_codel" }, { "", "as it was" }, { "a b", "a?b" },
		{ "a\nb\377", "a?b?" }, { "longer than sixteen", "longer?than?six" },
	};
	union nl_request req;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char kind[16] = "as it was";

		mnl_attr_put_strz(mnl_nlmsg_put_header(&req), TCA_KIND, rows[i].is);
		kind_get(mnl_nlmsg_get_payload(&req.hdr), kind);
		assert_string_equal(kind, rows[i].kind);
	}
}

static void test_has_word(void **state)
{
	(void)state;
	assert_true(has_word("reno cubic", "cubic"));
	assert_true(has_word("cubic_x cubic", "cubic"));
	assert_false(has_word("cubic_x", "cubic"));
	assert_false(has_word("reno cubic", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tbf),
		cmocka_unit_test(test_fq),
		cmocka_unit_test(test_mq),
		cmocka_unit_test(test_read_back),
		cmocka_unit_test(test_qdisc_describe),
		cmocka_unit_test(test_qdisc_equal),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_route),
		cmocka_unit_test(test_route_htcp),
		cmocka_unit_test(test_route_like),
		cmocka_unit_test(test_route_partial),
		cmocka_unit_test(test_route_copy),
		cmocka_unit_test(test_route_refused),
		cmocka_unit_test(test_route_text),
		cmocka_unit_test(test_route_two),
		cmocka_unit_test(test_route_short),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_kind),
		cmocka_unit_test(test_has_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

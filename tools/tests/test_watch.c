// SPDX-License-Identifier: GPL-2.0
/*
 * What watch decides: about an item that is not as set up, with a clock of the test's; which
 * notifications matter; when a burst is over.
 */
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
/* behind that one, which it knows of */
#include <linux/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#include "busy.h"
#include "interest.h"
#include "ledger.h"
#include "restore.h"
#include "route.h"
#include "said.h"

#define S 1000000ULL		/* us */
#define START (1000 * S)
#define UP (IFF_UP | IFF_LOWER_UP)

static const struct drift route = { .kind = ITEM_ROUTE, .name = "10.0.0.0/8", .is = "absent" };

/* One look at which nothing but @d, NULL = nothing, is not as set up. */
static enum verdict look(struct ledger *l, const struct drift *d, bool commanded, uint64_t now)
{
	enum verdict v = VERDICT_KNOWN;

	ledger_begin(l);
	if (d) {
		v = ledger_judge(l, d, now);
		assert_int_equal(ledger_note(l, d, v, now), 0);
		if (v == VERDICT_RESTORE)
			ledger_restored(l, d);
	}
	ledger_end(l, commanded, now);
	return v;
}

/* --- commands --------------------------------------------------------------- */

/* A file system may give the number of a file that is gone to the next, within the second. */
static void test_is_left(void **state)
{
	struct watch_look k = { .path = "/tmp/ctcp-watch-XXXXXX" };
	int fd = mkstemp(k.path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &k.state), 0);
	close(fd);
	assert_true(restore_is_left(&k));
	k.state.st_ctim.tv_nsec ^= 1;
	assert_false(restore_is_left(&k));
	k.state.st_ctim.tv_nsec ^= 1;
	k.state.st_ctim.tv_sec--;
	assert_false(restore_is_left(&k));
	k.state.st_ctim.tv_sec++;
	k.state.st_ino++;
	assert_false(restore_is_left(&k));
	k.state.st_ino--;
	assert_true(restore_is_left(&k));
	assert_int_equal(unlink(k.path), 0);
	assert_false(restore_is_left(&k));
}

/* --- another at work ------------------------------------------------------- */

/* Once of each that is at work for ten seconds, and not of a row of short ones. */
static void test_busy(void **state)
{
	static const struct {
		uint64_t at;
		const char *pid;
		bool says;
	} rows[] = {
		{ 0, "1", false }, { 9, "1", false }, { 10, "1", true }, { 11, "1", false },
		{ 30, "1", false }, { 31, "2", false }, { 40, "2", false }, { 41, "2", true },
		{ 42, NULL, false }, { 43, "2", false }, { 52, "2", false }, { 53, "2", true },
	};
	struct busy b = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(busy_is_to_say(&b, rows[i].pid, START + rows[i].at * S),
				 rows[i].says);
}

static void test_busy_text(void **state)
{
	struct busy b = { 0 };
	char text[512], pid[40];

	(void)state;
	snprintf(b.pid, sizeof(b.pid), "%d", getpid());
	snprintf(pid, sizeof(pid), "process %d (", getpid());
	assert_non_null(strstr(busy_text(&b, text, sizeof(text)), pid));
	assert_non_null(strstr(text, "test_watch"));
	strcpy(b.pid, "unknown");
	assert_non_null(strstr(busy_text(&b, text, sizeof(text)),
			       "process unknown (which is not seen here) has held"));
}

/* --- the rule of three ----------------------------------------------------- */

static void test_three_times(void **state)
{
	static const struct {
		uint64_t at[4];
		enum verdict v[4];
	} rows[] = {
		{ { 0, 1, 2, 3 },
		  { VERDICT_RESTORE, VERDICT_RESTORE, VERDICT_LEAVE, VERDICT_KNOWN } },
		{ { 0, 30, 59, 500 },
		  { VERDICT_RESTORE, VERDICT_RESTORE, VERDICT_LEAVE, VERDICT_KNOWN } },
		{ { 0, 30, 60, 61 },
		  { VERDICT_RESTORE, VERDICT_RESTORE, VERDICT_RESTORE, VERDICT_LEAVE } },
		{ { 0, 31, 62, 93 },
		  { VERDICT_RESTORE, VERDICT_RESTORE, VERDICT_RESTORE, VERDICT_RESTORE } },
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ledger l = { 0 };

		for (k = 0; k < ARRAY_SIZE(rows[i].at); k++) {
			uint64_t now = START + rows[i].at[k] * S;

			assert_int_equal(look(&l, &route, false, now), rows[i].v[k]);
			/* our own change is heard, too */
			if (rows[i].v[k] == VERDICT_RESTORE)
				assert_int_equal(look(&l, NULL, false, now + 1), VERDICT_KNOWN);
		}
		ledger_free(&l);
	}
}

static void leave(struct ledger *l)
{
	look(l, &route, false, START);
	look(l, &route, false, START + 1);
	assert_int_equal(look(l, &route, false, START + 2), VERDICT_LEAVE);
}

/* Only a command that sets it ends that: neither time, nor whoever puts it back. */
static void test_left(void **state)
{
	struct ledger l = { 0 };

	(void)state;
	leave(&l);
	assert_int_equal(look(&l, NULL, false, START + 100 * S), VERDICT_KNOWN);
	assert_int_equal(look(&l, &route, false, START + 200 * S), VERDICT_KNOWN);
	/* a command that did not set this one */
	assert_int_equal(look(&l, &route, true, START + 300 * S), VERDICT_KNOWN);
	assert_int_equal(look(&l, &route, false, START + 301 * S), VERDICT_KNOWN);
	assert_int_equal(look(&l, NULL, true, START + 400 * S), VERDICT_KNOWN);
	assert_int_equal(look(&l, &route, false, START + 401 * S), VERDICT_RESTORE);
	ledger_free(&l);
	/* at once, too */
	leave(&l);
	look(&l, NULL, true, START + 3);
	assert_int_equal(look(&l, &route, false, START + 4), VERDICT_RESTORE);
	assert_int_equal(look(&l, &route, false, START + 5), VERDICT_RESTORE);
	assert_int_equal(look(&l, &route, false, START + 6), VERDICT_LEAVE);
	ledger_free(&l);
}

/* Each item has its own count, and nothing is kept of one that has been quiet. */
static void test_items(void **state)
{
	struct drift other = route;
	struct ledger l = { 0 };
	char name[32];
	int i;

	(void)state;
	other.name = "10.1.0.0/16";
	leave(&l);
	assert_int_equal(look(&l, &other, false, START + 3), VERDICT_RESTORE);
	other.kind = ITEM_QDISC;
	assert_int_equal(look(&l, &other, false, START + 4), VERDICT_RESTORE);
	/* the same on a device that was made anew */
	other = route;
	other.ifindex = 9;
	assert_int_equal(look(&l, &other, false, START + 5), VERDICT_RESTORE);
	assert_int_equal(l.n, 4);
	look(&l, NULL, false, START + 100 * S);
	assert_int_equal(l.n, 1);
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "10.%d.0.0/16", i);
		other.name = name;
		assert_int_equal(look(&l, &other, false, START + 101 * S), VERDICT_RESTORE);
	}
	assert_int_equal(l.n, 101);
	look(&l, NULL, true, START + 300 * S);
	assert_int_equal(l.n, 0);
	ledger_free(&l);
}

/* A link that flaps is nobody who undoes anything. */
static void test_excused(void **state)
{
	struct drift flap = route;
	struct ledger l = { 0 };
	int i;

	(void)state;
	flap.excused = true;
	for (i = 0; i < 10; i++)
		assert_int_equal(look(&l, &flap, false, START + (uint64_t)i), VERDICT_RESTORE);
	assert_int_equal(look(&l, &route, false, START + 20), VERDICT_RESTORE);
	assert_int_equal(look(&l, &route, false, START + 21), VERDICT_RESTORE);
	assert_int_equal(look(&l, &flap, false, START + 22), VERDICT_RESTORE);
	assert_int_equal(look(&l, &route, false, START + 23), VERDICT_LEAVE);
	ledger_free(&l);
}

/* What the kernel refuses is tried again with each look, and counts and is said once. */
static void test_refused(void **state)
{
	struct ledger l = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 10; i++) {
		ledger_begin(&l);
		assert_int_equal(ledger_judge(&l, &route, START), VERDICT_RESTORE);
		assert_int_equal(ledger_note(&l, &route, VERDICT_RESTORE, START), 0);
		assert_int_equal(ledger_refused(&l, &route), i == 0);
		ledger_end(&l, false, START);
	}
	assert_int_equal(look(&l, &route, false, START + 1), VERDICT_RESTORE);
	assert_int_equal(look(&l, &route, false, START + 2), VERDICT_RESTORE);
	assert_int_equal(look(&l, &route, false, START + 3), VERDICT_LEAVE);
	ledger_free(&l);
}

/* What stays is said for each value that it has. */
static void test_said(void **state)
{
	struct drift d = { .kind = ITEM_QDISC, .name = "eth1", .is = "foreign cake 1:",
			   .stays = true };
	struct ledger l = { 0 };

	(void)state;
	assert_int_equal(look(&l, &d, false, START), VERDICT_SAY);
	assert_int_equal(look(&l, &d, false, START + 1), VERDICT_KNOWN);
	d.is = "foreign pfifo 2:";
	assert_int_equal(look(&l, &d, false, START + 2), VERDICT_SAY);
	look(&l, NULL, false, START + 3);
	assert_int_equal(look(&l, &d, false, START + 4), VERDICT_SAY);
	d.is = "default";
	d.stays = false;
	assert_int_equal(look(&l, &d, false, START + 5), VERDICT_RESTORE);
	ledger_free(&l);
}

/* A device may have any name: what is said of it is plain, and none of it is dropped. */
static void test_said_plain(void **state)
{
	struct circuit c = { .dev = "e\377\0011", .name = "lhc" };
	const struct change of_class = {
		.kind = ITEM_CLASS, .name = "e\377\0011 c7c0:1", .from = "absent", .to = "absent",
	};
	const struct change of_circuit = {
		.kind = ITEM_CIRCUIT, .name = "lhc", .from = "absent",
		.to = "window=9 prefixes=192.0.2.0/24 dev=e\377\0011",
	};
	static const char json[] =
		"\"dev\":\"e??1\",\"item\":\"class\",\"name\":\"e??1 c7c0:1\"";
	struct says s = { 0 };

	(void)state;
	say_change(&s, "restored", &c, &of_class, NULL);
	say_change(&s, "restored", &c, &of_circuit, NULL);
	assert_int_equal(s.n, 2);
	assert_non_null(strstr(s.list[0].text, " restored lhc class e??1 c7c0:1: "));
	assert_non_null(strstr(s.list[0].json, json));
	assert_non_null(strstr(s.list[1].text, "absent -> window=9 "));
	assert_non_null(strstr(s.list[1].text, " dev=e??1"));
	says_free(&s);
}

/* --- what may be set again ------------------------------------------------- */

static void route_of(const char *gateway, uint32_t ifindex, uint32_t metric, uint8_t protocol,
		     bool congctl, char text[ITEM_VALUE])
{
	char buf[1024] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	struct prefix to, via;
	struct route r = { 0 };
	struct err e;

	assert_int_equal(parse_prefix("10.0.0.0/8", &to, &e), 0);
	rtm->rtm_family = AF_INET;
	rtm->rtm_dst_len = 8;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_protocol = protocol;
	rtm->rtm_type = RTN_UNICAST;
	mnl_attr_put(nlh, RTA_DST, 4, to.addr);
	if (gateway) {
		assert_int_equal(parse_address(gateway, &via), 0);
		mnl_attr_put(nlh, RTA_GATEWAY, 4, via.addr);
	}
	mnl_attr_put_u32(nlh, RTA_OIF, ifindex);
	if (metric)
		mnl_attr_put_u32(nlh, RTA_PRIORITY, metric);
	if (congctl) {
		struct nlattr *nest = mnl_attr_nest_start(nlh, RTA_METRICS);

		mnl_attr_put_strz(nlh, RTAX_CC_ALGO, "circuit");
		mnl_attr_nest_end(nlh, nest);
	}
	r.len = mnl_nlmsg_get_payload_len(nlh);
	memcpy(r.raw, mnl_nlmsg_get_payload(nlh), r.len);
	route_to_text(&r, text);
}

static void test_stays(void **state)
{
	static const char tbf[] = "tbf rate 125000000 burst 3000 limit 100000";
	char ours[ITEM_VALUE], theirs[ITEM_VALUE];
	struct change c = {
		.kind = ITEM_QDISC, .name = "eth1", .from = "default", .to = tbf,
	};

	(void)state;
	assert_null(drift_stays(&c));
	c.from = "tbf rate 1 burst 3000 limit 100000";
	assert_null(drift_stays(&c));
	c.from = "mq unfinished";
	assert_null(drift_stays(&c));
	c.from = "foreign cake 8001:";
	assert_non_null(strstr(drift_stays(&c), "somebody else's"));
	route_of("10.1.1.1", 7, 0, 199, true, ours);
	c = (struct change){
		.kind = ITEM_ROUTE, .name = "10.0.0.0/8", .from = "absent", .to = ours,
	};
	assert_null(drift_stays(&c));
	c.from = theirs;
	route_of("10.1.1.1", 7, 0, RTPROT_DHCP, false, theirs);
	assert_null(drift_stays(&c));
	route_of("10.1.1.2", 7, 0, 199, true, theirs);
	assert_non_null(strstr(drift_stays(&c), "another way"));
	c.shadowed = true;
	assert_non_null(strstr(drift_stays(&c), "is used before it"));
	c.shadowed = false;
	route_of(NULL, 7, 0, 199, true, theirs);
	assert_non_null(drift_stays(&c));
	route_of("10.1.1.1", 8, 0, 199, true, theirs);
	assert_non_null(drift_stays(&c));
	route_of("10.1.1.1", 7, 5, 199, true, theirs);
	assert_non_null(drift_stays(&c));
	c = (struct change){
		.kind = ITEM_SYSCTL, .name = "net.ipv4.tcp_sack", .from = "0", .to = "1",
	};
	assert_null(drift_stays(&c));
}

/* --- notifications --------------------------------------------------------- */

static void circuits(struct interest *in)
{
	struct circuit c = { .name = "lhc", .dev = "eth1", .n_to = 2 };
	struct state st = { 0 };
	struct err e;

	assert_int_equal(parse_prefix("10.0.0.0/8", &c.to[0], &e), 0);
	assert_int_equal(parse_prefix("fd80::/32", &c.to[1], &e), 0);
	assert_non_null(state_add(&st, &c, 7));
	memcpy(c.name, "ska", 4);
	c.n_to = 1;
	assert_int_equal(parse_prefix("10.9.0.0/16", &c.to[0], &e), 0);
	assert_non_null(state_add(&st, &c, 7));
	assert_int_equal(interest_learn(in, &st), 0);
	interest_add_link(in, 7);
	interest_add_link(in, 7);
	interest_add_link(in, 3);
	interest_sort(in);
	state_free(&st);
}

static bool hears_route(struct interest *in, const char *to, uint8_t table)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	struct prefix p;
	struct err e;

	assert_int_equal(parse_prefix(to, &p, &e), 0);
	nlh->nlmsg_type = RTM_DELROUTE;
	rtm->rtm_family = (unsigned char)p.family;
	rtm->rtm_dst_len = (unsigned char)p.len;
	rtm->rtm_table = table;
	mnl_attr_put(nlh, RTA_DST, p.family == AF_INET ? 4 : 16, p.addr);
	return interest_hears(in, nlh);
}

static bool hears_link(struct interest *in, uint16_t type, int ifindex, unsigned int flags)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));

	nlh->nlmsg_type = type;
	ifi->ifi_index = ifindex;
	ifi->ifi_flags = flags;
	return interest_hears(in, nlh);
}

static bool hears_tc(struct interest *in, uint16_t type, int ifindex, uint32_t parent,
		     uint32_t handle)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));

	nlh->nlmsg_type = type;
	tcm->tcm_ifindex = ifindex;
	tcm->tcm_parent = parent;
	tcm->tcm_handle = handle;
	return interest_hears(in, nlh);
}

static bool hears_qdisc(struct interest *in, int ifindex)
{
	return hears_tc(in, RTM_DELQDISC, ifindex, TC_H_ROOT, 0);
}

static void test_below_root(void **state)
{
	const uint32_t root = 0xc7c00000, ingress = 0xffff0000;
	struct interest in = { 0 };

	(void)state;
	circuits(&in);
	assert_true(hears_tc(&in, RTM_DELTCLASS, 3, root, root | 1));
	assert_true(hears_tc(&in, RTM_NEWTCLASS, 3, TC_H_ROOT, root | 1));
	assert_false(hears_tc(&in, RTM_NEWTCLASS, 3, 0x10000, 0x10001));
	assert_true(hears_tc(&in, RTM_DELTFILTER, 3, root, 0xb8302a13));
	assert_true(hears_tc(&in, RTM_NEWTFILTER, 3, root, 1));
	assert_false(hears_tc(&in, RTM_NEWTFILTER, 3, ingress, root));
	assert_false(hears_tc(&in, RTM_DELTFILTER, 4, root, 1));
	assert_false(hears_tc(&in, RTM_DELTCLASS, 4, root, root | 1));
	interest_free(&in);
}

static void test_interest(void **state)
{
	struct interest in = { 0 };
	char cut[64] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(cut);

	(void)state;
	assert_false(hears_route(&in, "10.0.0.0/8", RT_TABLE_MAIN));
	assert_false(hears_qdisc(&in, 7));
	circuits(&in);
	assert_true(hears_route(&in, "10.0.0.0/8", RT_TABLE_MAIN));
	assert_true(hears_route(&in, "10.9.0.0/16", RT_TABLE_MAIN));
	assert_true(hears_route(&in, "fd80::/32", RT_TABLE_MAIN));
	assert_false(hears_route(&in, "10.0.0.0/9", RT_TABLE_MAIN));
	assert_false(hears_route(&in, "10.0.0.0/8", 100));
	assert_false(hears_route(&in, "0.0.0.0/0", RT_TABLE_MAIN));
	assert_true(hears_qdisc(&in, 3));
	assert_false(hears_qdisc(&in, 4));
	assert_true(interest_in_circuit(&in, "ska"));
	assert_false(interest_in_circuit(&in, "sk"));
	nlh->nlmsg_type = RTM_NEWROUTE;
	assert_false(interest_hears(&in, nlh));
	/* while something is missing, all */
	in.all = true;
	assert_true(hears_route(&in, "0.0.0.0/0", RT_TABLE_MAIN));
	assert_true(hears_link(&in, RTM_NEWLINK, 9, IFF_UP));
	interest_free(&in);
}

/* Remembered until a look has found its circuits in order, which the caller says. */
static void test_down(void **state)
{
	struct interest in = { 0 };

	(void)state;
	circuits(&in);
	assert_true(hears_link(&in, RTM_NEWLINK, 7, UP));
	assert_false(interest_was_down(&in, 7));
	assert_true(hears_link(&in, RTM_NEWLINK, 7, 0));
	assert_true(hears_link(&in, RTM_NEWLINK, 7, 0));
	assert_true(hears_link(&in, RTM_NEWLINK, 7, UP));
	assert_true(interest_was_down(&in, 7));
	assert_int_equal(in.n_down, 1);
	circuits(&in);
	assert_true(interest_was_down(&in, 7));
	assert_true(hears_link(&in, RTM_DELLINK, 3, UP));
	assert_true(interest_was_down(&in, 3));
	assert_false(hears_link(&in, RTM_NEWLINK, 9, 0));
	assert_false(interest_was_down(&in, 9));
	/* another's that stays down excuses nothing of this one */
	interest_is_up(&in, 7);
	assert_false(interest_was_down(&in, 7));
	assert_true(interest_was_down(&in, 3));
	/* nor does one that is gone, whose number nobody has any more */
	interest_is_up(&in, 3);
	assert_false(interest_was_down(&in, 3));
	interest_free(&in);
}

/*
 * Up without a carrier: a manager may take its addresses at once or some seconds later, and
 * a look in between must not end the excuse.
 */
static void test_carrier(void **state)
{
	struct interest in = { 0 };

	(void)state;
	circuits(&in);
	assert_true(hears_link(&in, RTM_NEWLINK, 7, IFF_UP));
	assert_true(interest_was_down(&in, 7));
	interest_is_up(&in, 7);
	assert_true(interest_was_down(&in, 7));
	assert_true(hears_link(&in, RTM_NEWLINK, 7, UP));
	assert_true(interest_was_down(&in, 7));
	interest_is_up(&in, 7);
	assert_false(interest_was_down(&in, 7));
	interest_free(&in);
}

/* What was not heard may have been a link that went down and came up: nobody is blamed. */
static void test_lost(void **state)
{
	struct interest in = { 0 };

	(void)state;
	circuits(&in);
	assert_true(hears_link(&in, RTM_NEWLINK, 7, 0));
	interest_lost(&in);
	assert_true(interest_was_down(&in, 3));
	assert_true(interest_was_down(&in, 7));
	assert_false(interest_was_down(&in, 9));
	interest_is_up(&in, 3);
	interest_is_up(&in, 7);
	assert_int_equal(in.n_down, 0);
	interest_free(&in);
}

/* 100 ms after the last, 500 ms after the first at the latest. */
static void test_burst(void **state)
{
	struct burst b = { 0 };
	uint64_t t;

	(void)state;
	assert_true(burst_due(&b) == UINT64_MAX);
	burst_heard(&b, START);
	assert_true(burst_due(&b) == START + 100000);
	burst_heard(&b, START + 90000);
	assert_true(burst_due(&b) == START + 190000);
	for (t = 0; t < 1000000; t += 50000)
		burst_heard(&b, START + t);
	assert_true(burst_due(&b) == START + 500000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_left),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_busy_text),
		cmocka_unit_test(test_three_times),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_excused),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_said),
		cmocka_unit_test(test_said_plain),
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_interest),
		cmocka_unit_test(test_below_root),
		cmocka_unit_test(test_down),
		cmocka_unit_test(test_carrier),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_burst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

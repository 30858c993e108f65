// SPDX-License-Identifier: GPL-2.0
/*
 * Classes and filters: their text, which class a circuit has, the priorities and
 * handles of filters, and our messages against those of tc.
 *
 * Declared differences: tc sends rate tables (TCA_HTB_RTAB, TCA_HTB_CTAB) with the cell
 * size they are for, ours none, as the link layer is named; its ticks are of whole
 * microseconds and, past 2^32 bytes/s, of a wrong rate.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>

#include "captured.h"
#include "filter.h"
#include "htb.h"
#include "state.h"

#define TICKS_OF_1_US 16	/* of 64 ns, rounded up */
#define MBIT 125000ULL
#define GBIT 125000000ULL

/* --- text ------------------------------------------------------------------ */

static void test_class_names(void **state)
{
	static const char * const bad[] = {
		"", "eth1", "eth1 c7c0", "eth1 c7c0:", "eth1 c7c0:0", "eth1 c7c1:1", "eth1 c7c0:1x",
		"eth1 c7c0:10000", "eth1 c7c0:1 ",
	};
	char name[CLASS_NAME];
	uint32_t minor = 0;
	size_t i;

	(void)state;
	assert_string_equal(class_name(name, sizeof(name), "eth1", 0xffff), "eth1 c7c0:ffff");
	assert_int_equal(class_minor(name, &minor), 0);
	assert_int_equal(minor, 0xffff);
	assert_int_equal(class_minor("c7c0:1f", &minor), 0);
	assert_int_equal(minor, 0x1f);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(class_minor(bad[i], &minor), -EINVAL);
}

/* Each has a number of its own below the root's. */
static void test_leaf_handles(void **state)
{
	static unsigned char seen[1 << 16];
	uint32_t minor, handle;

	(void)state;
	seen[OUR_MAJOR] = 1;
	for (minor = 1; minor <= CLASS_MINOR_MAX; minor++) {
		handle = class_leaf_handle(minor);
		assert_int_equal(TC_H_MIN(handle), 0);
		assert_true(handle >> 16);
		assert_int_equal(seen[handle >> 16]++, 0);
	}
}

static void test_class_text(void **state)
{
	static const char * const texts[] = {
		"absent", "unfinished", "rate 125000000 burst 69644 quantum 69644 limit 1626036",
		"rate 125000000 ticks 8705 quantum 69644 limit 1626036",
		"rate 125000000000 burst 25000000 quantum 69644",
		"other rate 125000000 ceil 250000000 quantum 60000 leaf fq",
	};
	static const char * const bad[] = {
		"", "rate 1", "rate 1 burst 2 quantum 3 limit", "rate 1 burst 2 quantum 3 x",
		"nothing",
	};
	struct htb_class c;
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(class_parse(texts[i], &c), 0);
		class_format(&c, text, sizeof(text));
		assert_string_equal(text, texts[i]);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(class_parse(bad[i], &c), -EINVAL);
}

/* 69644 bytes at 125e6 bytes/s are 557152 ns, 8705.5 ticks. */
static void test_class_equal(void **state)
{
	static const char ours[] = "rate 125000000 burst 69644 quantum 69644 limit 9";
	static const struct {
		const char *other;
		bool equal;
	} rows[] = {
		{ "rate 125000000 ticks 8705 quantum 69644 limit 9", true },
		{ "rate 125000000 ticks 8706 quantum 69644 limit 9", false },
		{ "rate 125000001 ticks 8705 quantum 69644 limit 9", false },
		{ "rate 125000000 ticks 8705 quantum 69643 limit 9", false },
		{ "rate 125000000 ticks 8705 quantum 69644 limit 8", false },
		{ "rate 125000000 ticks 8705 quantum 69644", false },
		{ "rate 125000000 burst 69645 quantum 69644 limit 9", false },
		{ "other rate 125000000 ceil 125000000 quantum 69644 leaf fq", false },
		{ "absent", false },
	};
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(class_text_equal(ours, rows[i].other), rows[i].equal);
	class_text_describe(rows[0].other, text, sizeof(text));
	assert_string_equal(text, "rate 1gbit burst 69640 quantum 69644 limit 9 bytes");
	class_text_describe(rows[7].other, text, sizeof(text));
	assert_string_equal(text, "rate 1gbit ceil 1gbit quantum 69644 with fq");
}

static void test_filter_text(void **state)
{
	static const char * const texts[] = { "absent", "unfinished", "other", "class c7c0:1f" };
	static const char * const bad[] = {
		"", "class", "class 1", "class c7c1:1", "class c7c0:0",
	};
	struct filter f;
	char text[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(filter_parse(texts[i], &f), 0);
		filter_format(&f, text, sizeof(text));
		assert_string_equal(text, texts[i]);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(filter_parse(bad[i], &f), -EINVAL);
}

/* --- priorities and handles ------------------------------------------------ */

static struct prefix prefix(const char *text)
{
	struct prefix p;
	struct err e = { "" };

	assert_int_equal(parse_prefix(text, &p, &e), 0);
	return p;
}

/* One for each family, length and tag; the longer comes first. */
static void test_priorities(void **state)
{
	static unsigned char seen[1 << 16];
	struct prefix p = { 0 };
	uint32_t prio, longer;
	int tagged;

	(void)state;
	p = prefix("192.0.2.0/24");
	assert_int_equal(filter_prio(&p, false), 108);
	p = prefix("2001:db8::/32");
	assert_int_equal(filter_prio(&p, true), 1296);
	for (tagged = 0; tagged < 2; tagged++) {
		for (p.family = AF_INET; p.family; p.family = p.family == AF_INET ? AF_INET6 : 0) {
			unsigned int most = p.family == AF_INET ? 32 : 128;

			for (p.len = most, longer = 0; p.len <= most; p.len--) {
				prio = filter_prio(&p, tagged);
				assert_true(prio > longer && prio < sizeof(seen));
				assert_int_equal(seen[prio]++, 0);
				longer = prio;
			}
		}
	}
	assert_int_equal(seen[99], 0);
}

/* IPv4's are unique in a priority, and none is 0, which would be all of them. */
static void test_handles(void **state)
{
	static const struct {
		const char *to;
		uint32_t handle;
	} rows[] = {
		{ "0.0.0.0/0", 1 }, { "128.0.0.0/1", 2 }, { "0.0.0.0/1", 1 },
		{ "192.0.2.0/24", 0xc00003 }, { "255.255.255.254/31", 0x80000000 },
		{ "192.0.2.1", 0xc0000201 }, { "0.0.0.0/32", UINT32_MAX },
	};
	struct prefix p, q;
	unsigned int n, k;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		p = prefix(rows[i].to);
		assert_int_equal(filter_tries(&p), 1);
		assert_int_equal(filter_handle(&p, 0), rows[i].handle);
	}
	/* setup_htb.sh has these two on one device */
	p = prefix("fd81:0:caef:11df::/64");
	q = prefix("fd81:0:9047:5c3a::/64");
	assert_int_equal(filter_handle(&p, 0), filter_handle(&q, 0));
	assert_int_not_equal(filter_handle(&p, 1), filter_handle(&q, 1));
	p = prefix("2001:db8::/32");
	q = prefix("2001:db9::/32");
	assert_int_equal(filter_tries(&p), FILTER_TRIES);
	for (n = 0; n < FILTER_TRIES; n++) {
		assert_true(filter_handle(&p, n));
		assert_int_not_equal(filter_handle(&p, n), filter_handle(&q, n));
		for (k = 0; k < n; k++)
			assert_int_not_equal(filter_handle(&p, n), filter_handle(&p, k));
	}
}

/* --- which class ----------------------------------------------------------- */

static struct circuit circuit(const char *name, const char *dev, const char *to)
{
	struct circuit c = CIRCUIT_DEFAULTS;
	struct err e;

	snprintf(c.name, sizeof(c.name), "%s", name);
	snprintf(c.dev, sizeof(c.dev), "%s", dev);
	assert_int_equal(parse_to(to, &c, &e), 0);
	c.rate = GBIT;
	c.rtt_us = 1000;
	c.shaper = SHAPER_HTB;
	return c;
}

/* Its class's minor; 0: refused */
static uint32_t insert(struct state *st, const struct circuit *c, int ifindex)
{
	struct err e;
	uint32_t at;

	return state_insert(st, c, ifindex, &at, &e) ? 0 : st->circuits[at].classid;
}

static void test_class_ids(void **state)
{
	struct circuit a = circuit("a", "eth1", "192.0.2.1"), b = circuit("b", "eth1", "192.0.2.2");
	struct circuit c = circuit("c", "eth1", "192.0.2.3"), d = circuit("d", "eth2", "192.0.2.4");
	struct circuit none = circuit("n", "eth1", "192.0.2.5");
	struct state st = { 0 };

	(void)state;
	none.shaper = SHAPER_NONE;
	assert_int_equal(insert(&st, &a, 7), 1);
	assert_int_equal(insert(&st, &b, 7), 2);
	assert_int_equal(insert(&st, &none, 7), 0);
	assert_int_equal(insert(&st, &d, 8), 1);
	state_settle(&st);
	/* changed it keeps its own, also where a smaller one is free */
	st.circuits[0].standing = REMOVING;
	st.circuits[1].standing = REMOVING;
	assert_int_equal(insert(&st, &b, 7), 2);
	/* that of one which goes is not taken in the same run */
	assert_int_equal(insert(&st, &c, 7), 3);
	state_settle(&st);
	assert_int_equal(insert(&st, &a, 7), 1);
	/* nor that of one whose class had to be left */
	assert_non_null(state_add_base(&st, ITEM_CLASS, "eth1 c7c0:4", 7, "absent"));
	none = circuit("o", "eth1", "192.0.2.6");
	assert_int_equal(insert(&st, &none, 7), 5);
	state_free(&st);
}

/* All that there are; one that goes makes room. */
static void test_class_ids_end(void **state)
{
	struct circuit c = circuit("a", "eth1", "192.0.2.1");
	struct state st = { 0 };
	uint32_t i, at;
	struct err e;

	(void)state;
	for (i = 1; i <= CLASS_MINOR_MAX; i++) {
		struct member *m;

		snprintf(c.name, sizeof(c.name), "c%u", i);
		m = state_add(&st, &c, 7);
		assert_non_null(m);
		m->classid = i;
		m->circuit.to[0].addr[2] = (unsigned char)(i >> 8);
		m->circuit.to[0].addr[3] = (unsigned char)i;
	}
	c = circuit("more", "eth1", "198.51.100.1");
	assert_int_equal(state_insert(&st, &c, 7, &at, &e), -ENOSPC);
	assert_non_null(strstr(e.text, "eth1 has 65534 circuits with a class"));
	st.n_circuits--;
	st.circuits[100].standing = REMOVING;
	assert_int_equal(insert(&st, &c, 7), 101);
	state_free(&st);
}

static void test_beside(void **state)
{
	struct circuit a = circuit("a", "eth1", "192.0.2.1"), b = circuit("b", "eth1", "192.0.2.2");
	struct state st = { 0 };
	uint32_t at;
	struct err e;

	(void)state;
	assert_int_equal(insert(&st, &a, 7), 1);
	b.shaper = SHAPER_TBF;
	assert_int_equal(state_insert(&st, &b, 7, &at, &e), -EEXIST);
	assert_non_null(strstr(e.text, "tbf of b would hold both to one rate"));
	b.shaper = SHAPER_HTB;
	b.rest = GBIT;
	assert_int_equal(insert(&st, &b, 7), 2);
	a = circuit("c", "eth1", "192.0.2.3");
	a.rest = 2 * GBIT;
	assert_int_equal(state_insert(&st, &a, 7, &at, &e), -EEXIST);
	assert_non_null(strstr(e.text, "--rest: 2gbit is not the 1gbit that circuit b says"));
	state_free(&st);
}

/* What is left, what is said, and at least enough for a login. */
static void test_rest(void **state)
{
	struct circuit a = circuit("a", "eth1", "192.0.2.1"), b = circuit("b", "eth1", "192.0.2.2");
	struct circuit none = circuit("n", "eth1", "192.0.2.3");
	struct state st = { 0 };

	(void)state;
	none.shaper = SHAPER_NONE;
	insert(&st, &a, 7);
	insert(&st, &b, 7);
	insert(&st, &none, 7);
	assert_int_equal(state_rest(&st, 0, 10000 * MBIT), 8 * GBIT);
	assert_int_equal(state_rest(&st, 0, 2000 * MBIT), 1250000);
	assert_int_equal(state_rest(&st, 0, 100 * MBIT), 125000);
	assert_int_equal(state_rest(&st, 0, 0), 1000 * GBIT);
	st.circuits[1].circuit.rest = GBIT;
	assert_int_equal(state_rest(&st, 0, 10000 * MBIT), GBIT);
	state_free(&st);
}

/* A class line belongs to the circuit behind it, and to that alone. */
static void test_state_text(void **state)
{
	static const char * const bad[] = {
		"class c7c0:1\nclass c7c0:2\n", "class c7c0:ffff\n", "class c7c0:0\n", "class 1\n",
		"class c7c0:1 x\n",
	};
	struct circuit a = circuit("a", "eth1", "192.0.2.1"), none = a;
	struct state st = { 0 }, back;
	char *text, *line, wrong[2048];
	struct err e = { "" };
	size_t i, len;

	(void)state;
	a.rest = GBIT;
	none.shaper = SHAPER_NONE;
	snprintf(none.name, sizeof(none.name), "n");
	assert_int_equal(insert(&st, &a, 7), 1);
	assert_non_null(state_add(&st, &none, 7));
	st.circuits[0].classid = 0x1f;
	assert_int_equal(state_format(&st, "b", &text, &len), 0);
	line = strstr(text, "class c7c0:1f\n");
	assert_non_null(line);
	assert_int_equal(state_parse(text, len, "b", &back, &e), 0);
	assert_int_equal(back.circuits[0].classid, 0x1f);
	assert_int_equal(back.circuits[0].circuit.rest, GBIT);
	assert_int_equal(back.circuits[1].classid, 0);
	state_free(&back);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(wrong, sizeof(wrong), "%.*s%s%s", (int)(line - text), text, bad[i],
			 line + strlen("class c7c0:1f\n"));
		assert_int_equal(state_parse(wrong, strlen(wrong), "b", &back, &e), -EBADMSG);
	}
	snprintf(wrong, sizeof(wrong), "%.*s%s", (int)(line - text), text,
		 line + strlen("class c7c0:1f\n"));
	assert_int_equal(state_parse(wrong, strlen(wrong), "b", &back, &e), -EBADMSG);
	free(text);
	state_free(&st);
}

static void test_moves_with_device(void **state)
{
	struct device_now now[] = { { 9, "eth9" }, { 7, "wan0" } }, gone = { 7, "" };
	struct state st = { 0 };

	(void)state;
	assert_non_null(state_add_base(&st, ITEM_CLASS, "eth1 c7c0:1", 7, "absent"));
	assert_non_null(state_add_base(&st, ITEM_FILTER, "eth1 2001:db8::/32", 7, "absent"));
	assert_non_null(state_add_base(&st, ITEM_QDISC, "eth9", 9, "default"));
	assert_int_equal(state_devices_are(&st, now, 2), 0);
	assert_string_equal(st.base[0].name, "wan0 c7c0:1");
	assert_string_equal(st.base[1].name, "wan0 2001:db8::/32");
	assert_int_equal(state_devices_are(&st, &gone, 1), 0);
	assert_int_equal(st.n_base, 1);
	assert_int_equal(st.gone, 2);
	assert_string_equal(st.base[0].name, "eth9");
	state_free(&st);
}

/* --- messages -------------------------------------------------------------- */

static void same_rate(const struct tc_ratespec *a, const struct tc_ratespec *b)
{
	assert_int_equal(a->rate, b->rate);
	assert_int_equal(a->linklayer, b->linklayer);
	assert_int_equal(a->overhead, b->overhead);
	assert_int_equal(a->mpu, b->mpu);
}

static void check_ticks(const struct htb_class *c, uint32_t ours, uint32_t theirs_is)
{
	uint32_t want = tbf_ticks(c->rate > UINT32_MAX ? UINT32_MAX : c->rate, c->burst);

	assert_int_equal(ours, tbf_ticks(c->rate, c->burst));
	/* of the whole rate in newer versions of tc */
	assert_true(llabs((long long)want - theirs_is) <= TICKS_OF_1_US ||
		    llabs((long long)ours - theirs_is) <= TICKS_OF_1_US);
}

static void same_class_options(const struct htb_class *c, const struct nlattr *a,
			       const struct nlattr *b)
{
	const struct tc_htb_opt *pa, *pb;
	const struct nlattr *attr;

	pa = mnl_attr_get_payload(find_nested(a, TCA_HTB_PARMS));
	pb = mnl_attr_get_payload(find_nested(b, TCA_HTB_PARMS));
	same_rate(&pa->rate, &pb->rate);
	same_rate(&pa->ceil, &pb->ceil);
	assert_int_equal(pa->quantum, pb->quantum);
	assert_int_equal(pa->prio, pb->prio);
	check_ticks(c, pa->buffer, pb->buffer);
	check_ticks(c, pa->cbuffer, pb->cbuffer);
	mnl_attr_for_each_nested(attr, b) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type != TCA_HTB_PARMS && type != TCA_HTB_RTAB && type != TCA_HTB_CTAB)
			same_bytes(find_nested(a, type), attr);
	}
	mnl_attr_for_each_nested(attr, a)
		assert_non_null(find_nested(b, mnl_attr_get_type(attr)));
}

static const struct nlattr *options(const struct nlmsghdr *nlh)
{
	return find(nlh, sizeof(struct tcmsg), TCA_OPTIONS);
}

static void check_leaf(const struct htb_class *c, uint32_t minor, const char *line)
{
	union nl_request ours;

	assert_true(capture(line));
	leaf_message(&ours, RTM_NEWQDISC, LO_INDEX, minor);
	ours.hdr.nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
	leaf_put(&ours.hdr, c->limit);
	same_tc_head(&ours.hdr, &theirs.hdr);
	same_bytes(options(&ours.hdr), options(&theirs.hdr));
}

static void test_class(void **state)
{
	static const struct {
		struct htb_class c;
		uint32_t minor;
	} cases[] = {
		{ { .rate = GBIT, .burst = 69644, .quantum = 69644, .limit = 1626036 }, 1 },
		{ { .rate = 1000, .burst = 69644, .quantum = 1514, .limit = 69644 }, 0xfffe },
		{ { .rate = 77760000, .burst = 1514, .quantum = 200000, .limit = UINT32_MAX },
		  0xc7c0 },
		{ { .rate = 4294967295, .burst = 858993, .quantum = 69644, .limit = 9000 }, 16 },
		{ { .rate = 4294967296, .burst = 858993, .quantum = 69644, .limit = 9000 }, 17 },
		{ { .rate = 12500000000, .burst = 2500000, .quantum = 69644, .limit = 162500648 },
		  2 },
		{ { .rate = 125000000000, .burst = 25000000, .quantum = 69644 }, CLASS_REST },
	};
	char name[CLASS_NAME], text[ITEM_VALUE], lines[1024], *line, *save;
	union nl_request ours;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct htb_class c = cases[i].c;

		c.state = CLASS_OURS;
		class_format(&c, text, sizeof(text));
		dry_run_line(ITEM_CLASS, class_name(name, sizeof(name), "lo", cases[i].minor), text,
			     lines, sizeof(lines));
		line = strtok_r(lines, "\n", &save);
		if (!capture(line))
			skip();
		class_message(&ours, RTM_NEWTCLASS, LO_INDEX, cases[i].minor);
		ours.hdr.nlmsg_flags = NLM_F_CREATE;
		class_put(&ours.hdr, &c);
		same_tc_head(&ours.hdr, &theirs.hdr);
		same_class_options(&c, options(&ours.hdr), options(&theirs.hdr));
		line = strtok_r(NULL, "\n", &save);
		assert_int_equal(!line, !c.limit);
		if (line)
			check_leaf(&c, cases[i].minor, line);
	}
}

static void test_class_gone(void **state)
{
	union nl_request ours;
	char line[256];

	(void)state;
	dry_run_line(ITEM_CLASS, "lo c7c0:1f", "absent", line, sizeof(line));
	if (!capture(line))
		skip();
	class_message(&ours, RTM_DELTCLASS, LO_INDEX, 0x1f);
	assert_int_equal(ours.hdr.nlmsg_type, theirs.hdr.nlmsg_type);
	assert_int_equal(((struct tcmsg *)mnl_nlmsg_get_payload(&theirs.hdr))->tcm_handle,
			 OUR_HANDLE | 0x1f);
}

static void test_root(void **state)
{
	const struct qdisc q = { .state = QDISC_HTB, .defcls = CLASS_REST };
	struct qdisc got = { .state = QDISC_HTB };
	char text[ITEM_VALUE], line[512];
	union nl_request ours;
	struct nlmsghdr *nlh;
	struct nlattr *nest;

	(void)state;
	nlh = qdisc_message(&ours, RTM_NEWQDISC, LO_INDEX, TC_H_ROOT, OUR_HANDLE, "htb");
	nlh->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
	nest = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	htb_put(nlh, &q);
	mnl_attr_nest_end(nlh, nest);
	htb_get(options(&ours.hdr), &got);
	assert_int_equal(got.defcls, CLASS_REST);
	qdisc_format(&q, text, sizeof(text));
	assert_string_equal(text, "htb default ffff");
	assert_int_equal(qdisc_parse(text, &got), 0);
	assert_int_equal(got.defcls, CLASS_REST);
	dry_run_line(ITEM_QDISC, "lo", text, line, sizeof(line));
	if (!capture(line))
		skip();
	same_tc_head(&ours.hdr, &theirs.hdr);
	same_bytes(find_nested(options(&ours.hdr), TCA_HTB_INIT),
		   find_nested(options(&theirs.hdr), TCA_HTB_INIT));
}

/* What tc does not send at all where it is 0 the kernel takes as 0. */
static void same_flower(const struct nlattr *a, const struct nlattr *b)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, b)
		same_bytes(find_nested(a, mnl_attr_get_type(attr)), attr);
	mnl_attr_for_each_nested(attr, a)
		if (mnl_attr_get_type(attr) != TCA_FLOWER_FLAGS)
			same_bytes(attr, find_nested(b, mnl_attr_get_type(attr)));
}

static void check_filter(const struct prefix *to, bool tagged, uint32_t minor, const char *line)
{
	union nl_request ours;
	struct flower fl;

	assert_true(capture(line));
	filter_message(&ours, RTM_NEWTFILTER, LO_INDEX, to, tagged, filter_handle(to, 0));
	ours.hdr.nlmsg_flags = NLM_F_CREATE;
	filter_put(&ours.hdr, to, tagged, minor);
	same_tc_head(&ours.hdr, &theirs.hdr);
	same_flower(options(&ours.hdr), options(&theirs.hdr));
	/* and read back it is what it was */
	assert_int_equal(flower_parse(&theirs.hdr, &fl), 0);
	assert_true(flower_is(&fl, to, tagged));
	assert_false(flower_is(&fl, to, !tagged));
	assert_int_equal(fl.classid, OUR_HANDLE | minor);
}

static void test_filter(void **state)
{
	static const char * const to[] = {
		"192.0.2.0/24", "192.0.2.1", "0.0.0.0/0", "128.0.0.0/1", "2001:db8::/32",
		"2001:db8::1", "::/0", "2001:db8:0:0:8000::/65",
	};
	char name[ITEM_NAME], text[64], lines[1024], *save;
	size_t i;

	(void)state;
	if (!capture("tc qdisc replace dev lo root bfifo"))
		skip();
	for (i = 0; i < ARRAY_SIZE(to); i++) {
		struct prefix p = prefix(to[i]);

		snprintf(name, sizeof(name), "lo %s", format_prefix(text, sizeof(text), &p));
		dry_run_line(ITEM_FILTER, name, "class c7c0:1f", lines, sizeof(lines));
		check_filter(&p, false, 0x1f, strtok_r(lines, "\n", &save));
		check_filter(&p, true, 0x1f, strtok_r(NULL, "\n", &save));
		assert_null(strtok_r(NULL, "\n", &save));
	}
}

/* The tagged one goes first, so that without the other there is none. */
static void test_filter_gone(void **state)
{
	struct prefix p = prefix("192.0.2.0/24");
	char lines[512], *line, *save;
	union nl_request ours;
	int tagged;

	(void)state;
	dry_run_line(ITEM_FILTER, "lo 192.0.2.0/24", "absent", lines, sizeof(lines));
	line = strtok_r(lines, "\n", &save);
	for (tagged = 1; tagged >= 0; tagged--, line = strtok_r(NULL, "\n", &save)) {
		if (!capture(line))
			skip();
		filter_message(&ours, RTM_DELTFILTER, LO_INDEX, &p, tagged, filter_handle(&p, 0));
		same_tc_head(&ours.hdr, &theirs.hdr);
	}
	assert_null(line);
}

/* Whatever else is in it makes it somebody's. */
static void test_flower_other(void **state)
{
	static const char * const lines[] = {
		"dst_ip 192.0.2.0/24 ip_proto tcp classid c7c0:1",
		"dst_ip 192.0.2.0/25 classid c7c0:1", "src_ip 192.0.2.0/24 classid c7c0:1",
		"dst_ip 192.0.2.0/24 classid 1:1",
		"dst_ip 192.0.2.0/24 action drop",
	};
	struct prefix p = prefix("192.0.2.0/24");
	struct flower fl;
	char line[256];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		snprintf(line, sizeof(line),
			 "tc filter add dev lo parent c7c0: protocol ip pref 108 handle 5 flower %s",
			 lines[i]);
		if (!capture(line))
			skip();
		assert_int_equal(flower_parse(&theirs.hdr, &fl), 0);
		assert_false(flower_is(&fl, &p, false));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class_names),
		cmocka_unit_test(test_leaf_handles),
		cmocka_unit_test(test_class_text),
		cmocka_unit_test(test_class_equal),
		cmocka_unit_test(test_filter_text),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_class_ids),
		cmocka_unit_test(test_class_ids_end),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_state_text),
		cmocka_unit_test(test_moves_with_device),
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_class_gone),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_filter_gone),
		cmocka_unit_test(test_flower_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

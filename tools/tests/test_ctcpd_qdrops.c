// SPDX-License-Identifier: GPL-2.0
/*
 * Drops of qdiscs, of messages as the kernel sends them, some with other numbers in them.
 */
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "test.h"

#include "ctcpd/qdrops.h"
#include "ctcpd_captured.h"
#include "qdisc.h"

static union {
	struct nlmsghdr hdr;
	char space[32768];
} dump;

static size_t used;
static struct qdrops *q;

static int setup(void **state)
{
	(void)state;
	used = 0;
	q = qdrops_new();
	return q ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	qdrops_free(q);
	return 0;
}

static void read_all(void)
{
	assert_int_equal(qdrops_take(q, dump.space, used), 0);
	used = 0;
}

struct drops_of {
	uint32_t ifindex, n;
};

static int is_of(uint32_t ifindex, uint32_t n, void *data)
{
	struct drops_of *of = data;

	assert_true(n > 0);	/* one that dropped nothing is not told of */
	if (ifindex != of->ifindex)
		return 0;
	of->n = n;
	return 1;
}

static uint32_t drops_of(uint32_t ifindex)
{
	struct drops_of of = { .ifindex = ifindex };

	qdrops_each(q, is_of, &of);
	return of.n;
}

static void put_captured(const void *bytes, size_t len, uint32_t more)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)(dump.space + used);
	const struct nlattr *attr, *inner;

	memcpy(nlh, bytes, len);
	used += len;
	mnl_attr_for_each(attr, nlh, sizeof(struct tcmsg)) {
		if (mnl_attr_get_type(attr) != TCA_STATS2)
			continue;
		mnl_attr_for_each_nested(inner, attr)
			if (mnl_attr_get_type(inner) == TCA_STATS_QUEUE)
				((struct gnet_stats_queue *)mnl_attr_get_payload(inner))->drops +=
					more;
	}
}

static void put(int ifindex, uint32_t parent, uint32_t handle, const char *kind, uint32_t drops)
{
	const struct gnet_stats_queue stats = { .drops = drops };
	struct nlmsghdr *nlh = qdisc_message(dump.space + used, RTM_NEWQDISC, ifindex, parent,
					     handle, kind);
	struct nlattr *nest = mnl_attr_nest_start(nlh, TCA_STATS2);

	mnl_attr_put(nlh, TCA_STATS_QUEUE, sizeof(stats), &stats);
	mnl_attr_nest_end(nlh, nest);
	used += nlh->nlmsg_len;
}

#define ROOT TC_H_ROOT

static void test_captured_mq(void **state)
{
	(void)state;
	put_captured(qdisc_mq, sizeof(qdisc_mq), 0);
	put_captured(qdisc_tbf, sizeof(qdisc_tbf), 0);
	put_captured(qdisc_pfifo, sizeof(qdisc_pfifo), 0);
	read_all();
	assert_int_equal(drops_of(2), 0);
	put_captured(qdisc_mq, sizeof(qdisc_mq), 30);
	put_captured(qdisc_tbf, sizeof(qdisc_tbf), 20);
	put_captured(qdisc_pfifo, sizeof(qdisc_pfifo), 10);
	read_all();
	assert_int_equal(drops_of(2), 30);
	assert_int_equal(drops_of(1), 0);
	assert_true(qdrops_has(q, 2));
	assert_false(qdrops_has(q, 1));
	read_all();
	assert_false(qdrops_has(q, 2));
	assert_int_equal(drops_of(2), 0);
}

/* A default mq has handle 0, as its children have. */
static void put_default_mq(uint32_t all, uint32_t a, uint32_t b)
{
	put(2, ROOT, 0, "mq", all);
	put(2, 1, 0, "fq_codel", a);
	put(2, 2, 0, "fq_codel", b);
}

static void test_default_mq(void **state)
{
	(void)state;
	put_default_mq(10, 4, 6);
	read_all();
	put_default_mq(15, 8, 7);
	read_all();
	assert_int_equal(drops_of(2), 5);
}

/* A child drops after its mq was dumped: once, now or at the next read. */
static void test_race(void **state)
{
	(void)state;
	put_default_mq(10, 4, 6);
	read_all();
	put_default_mq(10, 4, 9);
	read_all();
	assert_int_equal(drops_of(2), 3);
	put_default_mq(13, 4, 9);
	read_all();
	assert_int_equal(drops_of(2), 0);
	put_default_mq(14, 5, 9);
	read_all();
	assert_int_equal(drops_of(2), 1);
}

/* htb counts what its leaves refuse, and what has no class; not what a netem takes and loses. */
static void put_htb(uint32_t own, uint32_t bfifo, uint32_t netem)
{
	put(2, ROOT, 0x10000, "htb", own);
	put(2, 0x10001, 0x20000, "bfifo", bfifo);
	put(2, 0x10002, 0x30000, "netem", netem);
}

static void test_htb(void **state)
{
	(void)state;
	put_htb(100, 70, 10);
	read_all();
	put_htb(110, 80, 10);
	read_all();
	assert_int_equal(drops_of(2), 10);
	put_htb(115, 80, 10);		/* direct */
	read_all();
	assert_int_equal(drops_of(2), 5);
	put_htb(115, 80, 60);		/* lost in netem: 60 below, of 15 that htb has counted */
	read_all();
	assert_int_equal(drops_of(2), 45);
}

static void test_deep(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		put(2, ROOT, 0x10000, "htb", i ? 3 : 0);
		put(2, 0x10001, 0x20000, "prio", i ? 3 : 0);
		put(2, 0x20001, 0x30000, "tbf", i ? 3 : 0);
		put(2, 0x30001, 0x40000, "bfifo", i ? 3 : 0);
		put(3, ROOT, 0x10000, "pfifo_fast", i ? 7 : 0);
		read_all();
	}
	assert_int_equal(drops_of(2), 3);
	assert_int_equal(drops_of(3), 7);
}

static void test_wraps(void **state)
{
	(void)state;
	put(2, ROOT, 0x10000, "tbf", UINT32_MAX - 4);
	read_all();
	put(2, ROOT, 0x10000, "tbf", 5);
	read_all();
	assert_int_equal(drops_of(2), 10);
}

static void test_new(void **state)
{
	(void)state;
	put(2, ROOT, 0x10000, "tbf", 1000);
	read_all();
	assert_int_equal(drops_of(2), 0);
	put(2, ROOT, 0x10000, "fq", 5000);	/* another kind */
	put(3, ROOT, 0x10000, "tbf", 400);	/* another device */
	read_all();
	assert_int_equal(drops_of(2), 0);
	assert_int_equal(drops_of(3), 0);
	put(2, ROOT, 0x10000, "fq", 10);	/* the same once more: it begins at 0 */
	put(3, ROOT, 0x20000, "tbf", 900);	/* another handle */
	read_all();
	assert_int_equal(drops_of(2), 0);
	assert_int_equal(drops_of(3), 0);
	put(2, ROOT, 0x10000, "fq", 11);
	read_all();
	assert_int_equal(drops_of(2), 1);
	assert_int_equal(drops_of(3), 0);
}

/* An mq of which a child was replaced tells less than before. */
static void test_replaced_child(void **state)
{
	(void)state;
	put_default_mq(100, 60, 40);
	read_all();
	put_default_mq(120, 70, 50);
	read_all();
	assert_int_equal(drops_of(2), 20);
	put(2, ROOT, 0, "mq", 50);
	put(2, 1, 0x70000, "fq", 0);
	put(2, 2, 0, "fq_codel", 50);
	read_all();
	assert_int_equal(drops_of(2), 0);
	put(2, ROOT, 0, "mq", 53);
	put(2, 1, 0x70000, "fq", 2);
	put(2, 2, 0, "fq_codel", 51);
	read_all();
	assert_int_equal(drops_of(2), 3);
}

static void test_ingress(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		put(2, ROOT, 0x10000, "tbf", i ? 2 : 0);
		put(2, TC_H_INGRESS, 0xffff0000, "clsact", i ? 50 : 0);
		read_all();
	}
	assert_int_equal(drops_of(2), 2);
}

static int note_one(uint32_t ifindex, uint32_t n, void *data)
{
	uint32_t *seen = data;

	assert_true(ifindex < 4);
	seen[ifindex] += n;
	return 0;
}

static int end_it(uint32_t ifindex, uint32_t n, void *data)
{
	(void)ifindex;
	(void)n;
	(void)data;
	return -EINTR;
}

static void test_each(void **state)
{
	uint32_t seen[4] = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		put(1, ROOT, 0, "noqueue", 0);
		put(2, ROOT, 0x10000, "tbf", i ? 2 : 0);
		put(3, ROOT, 0x10000, "tbf", i ? 9 : 0);
		read_all();
	}
	assert_int_equal(qdrops_each(q, note_one, seen), 0);
	assert_int_equal(seen[1], 0);
	assert_int_equal(seen[2], 2);
	assert_int_equal(seen[3], 9);
	assert_int_equal(qdrops_each(q, end_it, NULL), -EINTR);
}

/* What no kernel sends: a qdisc below itself, or below each other, is no root's */
static void test_loops(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		put(2, ROOT, 0x10000, "htb", i ? 1 : 0);
		put(2, 0x20001, 0x20000, "htb", i ? 5 : 0);
		put(2, 0x40001, 0x30000, "htb", i ? 5 : 0);
		put(2, 0x30001, 0x40000, "htb", i ? 5 : 0);
		put(2, 0x90001, 0x50000, "htb", i ? 5 : 0);
		read_all();
	}
	assert_int_equal(drops_of(2), 1);
}

static void test_cut_short(void **state)
{
	(void)state;
	put(2, ROOT, 0x10000, "tbf", 1);
	read_all();
	put(2, ROOT, 0x10000, "tbf", 4);
	assert_int_equal(qdrops_take(q, dump.space, used - 1), -EBADMSG);
	read_all();
	assert_int_equal(drops_of(2), 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_captured_mq), TEST(test_default_mq), TEST(test_race), TEST(test_htb),
		TEST(test_deep), TEST(test_wraps), TEST(test_new), TEST(test_replaced_child),
		TEST(test_ingress), TEST(test_each), TEST(test_loops), TEST(test_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What is read of devices that stand on others: by which one routes leave, and whose wire
 * they take.  The devices are the test's own, as no kernel has all of these kinds.
 */
#include <errno.h>
#include <net/if.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <string.h>

#include "test.h"

#include "link.h"

#define DEVICES 4

static const struct device {
	const char *name, *kind;
	int below, master;
} *devices;

int __wrap_rtnl_link_get_kernel(struct nl_sock *sk, int ifindex, const char *name,
				struct rtnl_link **link);
int __wrap_rtnl_link_get_kernel(struct nl_sock *sk, int ifindex, const char *name,
				struct rtnl_link **link)
{
	const struct device *d = devices;
	int i;

	(void)sk;
	for (i = 1; i <= DEVICES && d->name; i++, d++)
		if (ifindex ? ifindex == i : !strcmp(name, d->name))
			break;
	if (i > DEVICES || !d->name)
		return -NLE_OBJ_NOTFOUND;
	*link = rtnl_link_alloc();
	assert_non_null(*link);
	rtnl_link_set_ifindex(*link, i);
	rtnl_link_set_name(*link, d->name);
	if (d->kind)
		rtnl_link_set_type(*link, d->kind);
	if (d->below)
		rtnl_link_set_link(*link, d->below);
	if (d->master)
		rtnl_link_set_master(*link, d->master);
	return 0;
}

/* What libnl does not know: nothing of it is told of. */
int __wrap_nlm_get(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void *data,
		   struct err *e);
int __wrap_nlm_get(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void *data,
		   struct err *e)
{
	(void)nl;
	(void)req;
	(void)each;
	(void)data;
	(void)e;
	return 0;
}

static void read_facts(const char *dev, struct facts *f)
{
	struct nl nl = { .protocol = NETLINK_ROUTE };
	struct err e = { "" };

	assert_int_equal(facts_read(&nl, dev, f, &e), 0);
}

/* A kind that sends by the device below takes its wire. */
static void test_wire(void **state)
{
	static const struct {
		const char *kind;
		bool takes;
	} rows[] = {
		{ "vlan", true }, { "macvlan", true }, { "macvtap", true }, { "ipvlan", true },
		{ "ipvtap", true }, { "veth", false }, { "vxlan", false }, { "gre", false },
	};
	struct facts f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct device list[DEVICES] = {
			{ .name = "wire0" },
			{ .name = "top0", .kind = rows[i].kind, .below = 1 },
			{ .name = "vlan0", .kind = "vlan", .below = 2 },
		};

		devices = list;
		read_facts("top0", &f);
		assert_string_equal(f.kind, rows[i].kind);
		assert_string_equal(f.wire, rows[i].takes ? "wire0" : "top0");
		assert_int_equal(f.wire_ifindex, rows[i].takes ? 1 : 2);
		assert_string_equal(f.parent, rows[i].takes ? "wire0" : "");
		assert_int_equal(f.has_speed, rows[i].takes);
		read_facts("vlan0", &f);
		assert_string_equal(f.parent, "top0");
		assert_string_equal(f.wire, rows[i].takes ? "wire0" : "top0");
		assert_string_equal(f.wire_kind, rows[i].takes ? "" : rows[i].kind);
	}
}

static void leaves_by(const struct device *list, const char *out, int ifindex)
{
	struct facts f;

	devices = list;
	read_facts("port0", &f);
	assert_string_equal(f.master, "top0");
	assert_string_equal(f.master_kind, list[1].kind);
	assert_string_equal(f.out, out);
	assert_int_equal(f.out_ifindex, ifindex);
}

/* Routes leave by the bridge, bond or team above its ports, not by a master of another kind. */
static void test_way_out(void **state)
{
	static const struct {
		const char *kind;
		bool leaves;
	} rows[] = {
		{ "bridge", true }, { "bond", true }, { "team", true }, { "vrf", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct device list[DEVICES] = {
			{ .name = "port0", .master = 2 },
			{ .name = "top0", .kind = rows[i].kind },
			{ .name = "br0", .kind = "bridge" },
		};

		leaves_by(list, rows[i].leaves ? "top0" : "port0", rows[i].leaves ? 2 : 1);
		list[1].master = 3;
		leaves_by(list, "br0", 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire),
		cmocka_unit_test(test_way_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

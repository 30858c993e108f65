// SPDX-License-Identifier: GPL-2.0
/*
 * What administrators have, of which ctcpd paces nothing: circuits of the state by device and by
 * prefix, circuits of the module's.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

#include "ctcpd/theirs.h"
#include "units.h"

static struct prefix prefix(const char *text)
{
	struct prefix p;
	struct err e;

	assert_int_equal(parse_prefix(text, &p, &e), 0);
	return p;
}

static void add_member(struct theirs *t, const char *dev, int ifindex, const char *to, bool ctcpd)
{
	struct circuit c = CIRCUIT_DEFAULTS;

	strcpy(c.dev, dev);
	strcpy(c.name, "lhc");
	c.rate = 10 * MBIT;
	c.ctcpd = ctcpd;
	if (to)
		c.to[c.n_to++] = prefix(to);
	assert_non_null(state_add(&t->state, &c, ifindex));
}

static void add_live(struct theirs *t, const char *to, uint32_t ifindex, bool automatic)
{
	struct live l = { .object.name = "ska", .ifindex = ifindex, .no_object = automatic };
	struct prefix p = prefix(to);

	assert_int_equal(object_add_prefix(&l.object, &p), 0);
	assert_int_equal(lives_add(&t->lives, &l), 0);
}

/* Of a remote by eth1, which is device 2; @why NULL: it is nobody's */
static void assert_whose(struct theirs *t, const char *to, bool device, const char *why)
{
	struct pace one = { .to = prefix(to), .ifindex = 2, .rate = MBIT };
	struct err e = { "" };
	bool all = !device;

	t->n_claims = 0;
	t->n_devices = 0;
	assert_int_equal(theirs_sort(t), 0);
	assert_int_equal(theirs_check(t, &one, "eth1", &all, &e), why ? -EPERM : 0);
	assert_string_equal(e.text, why ?: "");
	assert_int_equal(all, device);
}

static void nobodys(void **state)
{
	struct theirs t = { 0 };

	(void)state;
	assert_whose(&t, "192.0.2.7", false, NULL);
	/* the daemon's own, and a circuit of another device and prefix */
	add_member(&t, "eth1", 2, "192.0.2.7", true);
	add_member(&t, "eth2", 3, "198.51.100.0/24", false);
	add_member(&t, "eth3", 4, NULL, false);
	assert_whose(&t, "192.0.2.7", false, NULL);
	assert_whose(&t, "2001:db8::7", false, NULL);
	theirs_free(&t);
}

static void of_a_device(void **state)
{
	static const char why[] = "eth1 has circuit lhc, which an administrator set up";
	struct theirs t = { 0 };

	(void)state;
	add_member(&t, "eth1", 2, "198.51.100.0/24", false);
	assert_whose(&t, "192.0.2.7", true, why);
	theirs_free(&t);
	/* renamed since it was set up; made anew under its name */
	add_member(&t, "old0", 2, NULL, false);
	assert_whose(&t, "192.0.2.7", true, why);
	theirs_free(&t);
	add_member(&t, "eth1", 1, NULL, false);
	assert_whose(&t, "192.0.2.7", true, why);
	theirs_free(&t);
}

static void of_a_prefix(void **state)
{
	struct theirs t = { 0 };

	(void)state;
	add_member(&t, "eth2", 3, "192.0.2.0/25", false);
	assert_whose(&t, "192.0.2.7", false,
		     "circuit lhc, which an administrator set up, covers 192.0.2.7");
	/* a subnet, of which a part is his */
	assert_whose(&t, "192.0.2.0/24", false,
		     "circuit lhc, which an administrator set up, covers a part of 192.0.2.0/24");
	assert_whose(&t, "192.0.2.128", false, NULL);
	theirs_free(&t);
}

/* Beside many others, before and behind them in order, and of the other family */
static void among_many(void **state)
{
	static const char why[] = "circuit lhc, which an administrator set up, covers 10.7.0.9";
	struct theirs t = { 0 };
	char to[64];
	int i;

	(void)state;
	for (i = 0; i < 500; i++) {
		snprintf(to, sizeof(to), "10.%d.%d.0/24", 2 * (i / 100), i % 100);
		add_live(&t, to, i % 2 ? 3 : 0, false);
		snprintf(to, sizeof(to), "2001:db8:%x::/48", i);
		add_live(&t, to, 0, false);
	}
	assert_whose(&t, "10.7.0.9", false, NULL);
	assert_whose(&t, "10.0.0.9", false,
		     "circuit ska, which is set up in the module, covers 10.0.0.9");
	/* those by eth1's neighbour are passed, in search of one that is not */
	assert_whose(&t, "10.0.1.0/24", false, NULL);
	assert_whose(&t, "10.0.0.0/23", false,
		     "circuit ska, which is set up in the module, covers a part of 10.0.0.0/23");
	assert_whose(&t, "10.0.1.0/25", false, NULL);
	add_live(&t, "10.0.1.0/24", 2, false);
	assert_whose(&t, "10.0.1.0/25", false,
		     "circuit ska, which is set up in the module, covers 10.0.1.0/25");
	add_member(&t, "eth2", 3, "10.7.0.0/16", false);
	assert_whose(&t, "10.7.0.9", false, why);
	assert_whose(&t, "2001:db8:ff::9", false,
		     "circuit ska, which is set up in the module, covers 2001:db8:ff::9");
	assert_whose(&t, "2001:db8:fff::9", false, NULL);
	theirs_free(&t);
	add_member(&t, "eth2", 3, "0.0.0.0/0", false);
	assert_whose(&t, "10.7.0.9", false, why);
	assert_whose(&t, "2001:db8::9", false, NULL);
	theirs_free(&t);
}

/* Of several devices, one after the other */
static void of_several_devices(void **state)
{
	struct theirs t = { 0 };

	(void)state;
	add_member(&t, "eth0", 1, NULL, false);
	add_member(&t, "eth2", 3, "198.51.100.0/25", false);
	add_member(&t, "eth2", 3, "198.51.100.128/25", false);
	assert_whose(&t, "192.0.2.7", false, NULL);
	assert_int_equal(t.n_devices, 2);
	add_member(&t, "eth1", 2, NULL, false);
	assert_whose(&t, "192.0.2.7", true, "eth1 has circuit lhc, which an administrator set up");
	theirs_free(&t);
}

static void of_the_module(void **state)
{
	static const char why[] =
		"circuit ska, which is set up in the module, covers 2001:db8::7";
	struct theirs t = { 0 };

	(void)state;
	add_live(&t, "2001:db8::/64", 0, false);
	assert_whose(&t, "2001:db8::7", false, why);
	assert_whose(&t, "2001:db8:0:1::7", false, NULL);
	theirs_free(&t);
	add_live(&t, "2001:db8::/64", 2, false);
	assert_whose(&t, "2001:db8::7", false, why);
	theirs_free(&t);
	/* by another device; what connections share of themselves */
	add_live(&t, "2001:db8::/64", 3, false);
	add_live(&t, "2001:db8::/64", 0, true);
	assert_whose(&t, "2001:db8::7", false, NULL);
	theirs_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobodys),
		cmocka_unit_test(of_a_device),
		cmocka_unit_test(of_a_prefix),
		cmocka_unit_test(of_the_module),
		cmocka_unit_test(among_many),
		cmocka_unit_test(of_several_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Circuits of one wire against what it carries: the last rate that is admitted and the
 * first that is not, by speed and by uplink, over VLANs, and who is named.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "admit.h"

#define MBIT	125000ULL
#define GBIT	125000000ULL
#define ETH	2	/* eth1 */
#define V5	10	/* eth1.5 */
#define V6	9	/* eth1.6 */
#define OTHER	3	/* eth2 */

#define MANY	8

static struct circuit circuits[MANY];
static struct load list[MANY];
static uint32_t n;
static struct err e;
static const struct circuit *named;

static struct circuit *put(const char *name, int ifindex, uint64_t rate, bool added)
{
	struct circuit *c = &circuits[n];
	struct load *l = &list[n++];

	*c = (struct circuit){ .rate = rate };
	snprintf(c->name, sizeof(c->name), "%s", name);
	*l = (struct load){ .circuit = c, .ifindex = ifindex, .added = added };
	l->wire = ifindex == OTHER ? OTHER : ETH;
	l->wire_name = ifindex == OTHER ? "eth2" : "eth1";
	return c;
}

/* With this speed of both wires; the list is given in its order each time. */
static int ask(uint64_t speed)
{
	struct load copy[MANY];
	uint32_t i;

	for (i = 0; i < n; i++)
		list[i].speed = speed;
	memcpy(copy, list, sizeof(copy));
	e.text[0] = 0;
	named = NULL;
	return admit(copy, n, &named, &e);
}

static void refused(uint64_t speed, const char *says)
{
	assert_int_equal(ask(speed), -ERANGE);
	if (!strstr(e.text, says))
		fail_msg("expected \"%s\", got \"%s\"", says, e.text);
}

static int empty(void **state)
{
	(void)state;
	n = 0;
	return 0;
}

static void test_device(void **state)
{
	struct circuit *d;

	(void)state;
	put("o", OTHER, 9 * GBIT, false);
	put("c", ETH, 6 * GBIT, true);
	assert_int_equal(ask(9 * GBIT), 0);
	refused(5999 * MBIT, "with circuit c those on eth1 have 6gbit, more than the 5.999gbit that it carries");
	assert_int_equal(ask(0), 0);
	list[1].added = false;
	d = put("d", ETH, 4 * GBIT, true);
	assert_int_equal(ask(10 * GBIT), 0);
	refused(9999 * MBIT, "with circuit d those on eth1 have 10gbit, more than");
	d->overbook = true;
	assert_int_equal(ask(9999 * MBIT), 0);
	/* a run that adds nothing there refuses nothing */
	d->overbook = false;
	list[2].added = false;
	assert_int_equal(ask(9999 * MBIT), 0);
}

/* All VLANs of one parent together, and circuits on the parent itself; of another not. */
static void test_vlans(void **state)
{
	(void)state;
	put("five", V5, 4 * GBIT, false);
	put("eth", ETH, 2 * GBIT, false);
	put("o", OTHER, 4 * GBIT, false);
	put("six", V6, 4 * GBIT, true);
	assert_int_equal(ask(10 * GBIT), 0);
	refused(9999 * MBIT,
		"--rate: with circuit six those on eth1 and what sits on it have 10gbit, more than the 9.999gbit that it carries; less, or --overbook");
}

/* The first of the list is named, wherever its device's number puts it. */
static void test_named(void **state)
{
	(void)state;
	put("five", V5, 6 * GBIT, true)->overbook = true;
	put("one", V5, 6 * GBIT, true);
	put("two", V6, 6 * GBIT, true);
	refused(10 * GBIT, "with circuit one those");
	assert_ptr_equal(named, &circuits[1]);
}

/* Of several that a run adds, the one that does not fit beside those before it. */
static void test_last_drop(void **state)
{
	(void)state;
	put("three", V6, 3 * GBIT, false);
	put("six", V5, 6 * GBIT, true);
	put("two", ETH, 2 * GBIT, true);
	put("one", V5, 1 * GBIT, true);
	refused(10 * GBIT, "with circuit two those");
	assert_ptr_equal(named, &circuits[2]);
	circuits[2].rate = 0;
	assert_int_equal(ask(10 * GBIT), 0);
	assert_null(named);
	circuits[0].rate = 11 * GBIT;
	refused(10 * GBIT, "with circuit six those");
}

static void test_uplink(void **state)
{
	struct circuit *a, *b;

	(void)state;
	a = put("a", V5, 4 * GBIT, false);
	b = put("b", V6, 4 * GBIT, true);
	a->uplink = 8 * GBIT;
	assert_int_equal(ask(100 * GBIT), 0);
	a->uplink = 7999 * MBIT;
	refused(100 * GBIT, "more than the 7.999gbit of its uplink; less, or --overbook");
	refused(0, "more than the 7.999gbit of its uplink");
	/* a port slower than its uplink */
	refused(5 * GBIT, "more than the 5gbit that it carries");
	/* one for a wire */
	b->uplink = 8 * GBIT;
	assert_int_equal(ask(0), -EEXIST);
	assert_ptr_equal(named, b);
	assert_string_equal(e.text,
			    "--uplink: 8gbit of circuit b is not the 7.999gbit that circuit a states for eth1");
	list[0].added = true;
	list[1].added = false;
	assert_int_equal(ask(0), -EEXIST);
	assert_non_null(strstr(e.text, "7.999gbit of circuit a is not the 8gbit that circuit b"));
	a->uplink = 8 * GBIT;
	assert_int_equal(ask(0), 0);
	/* another wire's is its own */
	put("o", OTHER, GBIT, true)->uplink = GBIT;
	assert_int_equal(ask(0), 0);
}

/* --rest of each device once. */
static void test_rest(void **state)
{
	struct circuit *a;

	(void)state;
	a = put("a", ETH, GBIT, false);
	put("b", ETH, GBIT, true);
	put("c", V5, GBIT, false);
	a->rest = GBIT;
	circuits[1].rest = GBIT;
	assert_int_equal(ask(4 * GBIT), 0);
	refused(3999 * MBIT,
		"--rest: 1gbit beside the 3gbit of the circuits on eth1 and what sits on it is more than the 3.999gbit that it carries");
	circuits[2].rest = GBIT;
	assert_int_equal(ask(5 * GBIT), 0);
	refused(4999 * MBIT, "--rest: 2gbit beside");
}

static void test_capacity(void **state)
{
	(void)state;
	assert_int_equal(wire_capacity(0, 0), 0);
	assert_int_equal(wire_capacity(5, 0), 5);
	assert_int_equal(wire_capacity(0, 5), 5);
	assert_int_equal(wire_capacity(4, 5), 4);
	assert_int_equal(wire_capacity(6, 5), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_device, empty),
		cmocka_unit_test_setup(test_vlans, empty),
		cmocka_unit_test_setup(test_named, empty),
		cmocka_unit_test_setup(test_last_drop, empty),
		cmocka_unit_test_setup(test_uplink, empty),
		cmocka_unit_test_setup(test_rest, empty),
		cmocka_unit_test(test_capacity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

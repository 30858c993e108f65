// SPDX-License-Identifier: GPL-2.0
/*
 * Many circuits at once fit, or do not, as one after the other would, and have the same
 * classes; and an order of a list is that of its words.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "fits.h"
#include "htb.h"
#include "order.h"

#define LISTS		3000	/* random ones */
#define STANDING_MAX	5	/* circuits that are there before */
#define COMING_MAX	5

static struct circuit circuit_of(const char *name, const char *dev, enum shaper shaper,
				 const char *to)
{
	struct circuit c = CIRCUIT_DEFAULTS;
	struct err e;

	snprintf(c.name, sizeof(c.name), "%s", name);
	snprintf(c.dev, sizeof(c.dev), "%s", dev);
	c.rate = 1250000;
	c.rtt_us = 10000;
	c.shaper = shaper;
	assert_int_equal(parse_to(to, &c, &e), 0);
	return c;
}

static unsigned int below(unsigned int n)
{
	return (unsigned int)rand() % n;
}

/* Of few words, so that many are in each other's way */
static struct circuit any_circuit(void)
{
	static const char * const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	static const char * const devs[] = { "eth1", "eth1", "eth1", "eth2" };
	static const char * const to[] = {
		"10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.3.0/24", "10.2.0.0/16",
		"10.1.2.3,2001:db8::/32", "192.0.2.0/24", "198.51.100.0/24", "2001:db8:1::/48",
		"2001:db8::1,192.0.2.9", "203.0.113.0/25", "203.0.113.128/25", "0.0.0.0/0",
	};
	struct circuit c = circuit_of(names[below(8)], devs[below(4)],
				      below(8) ? SHAPER_HTB : SHAPER_TBF, to[below(13)]);

	c.overbook = !below(3);
	c.rest = below(4) ? 0 : 1000000 * (1 + below(2));
	return c;
}

static void add(struct state *st, const struct circuit *c, enum standing standing,
		uint32_t classid)
{
	struct member *m = state_add(st, c, c->dev[3] - '0');

	assert_non_null(m);
	m->standing = standing;
	m->classid = c->shaper == SHAPER_HTB ? classid : 0;
}

/* What was there: some of it goes. */
static void any_list(struct state *st)
{
	uint32_t i, n = below(STANDING_MAX + 1), at;
	struct err e;

	for (i = 0; i < n; i++) {
		struct circuit c = any_circuit();

		if (state_insert(st, &c, c.dev[3] - '0', &at, &e))
			continue;
		st->circuits[at].standing = STANDING;
	}
	for (i = 0; i < st->n_circuits; i++)
		if (!below(3))
			st->circuits[i].standing = REMOVING;
}

static void copy_list(struct state *to, const struct state *from)
{
	uint32_t i;

	for (i = 0; i < from->n_circuits; i++)
		add(to, &from->circuits[i].circuit, from->circuits[i].standing,
		    from->circuits[i].classid);
}

static void same_lists(const struct state *a, const struct state *b)
{
	uint32_t i;

	assert_int_equal(a->n_circuits, b->n_circuits);
	for (i = 0; i < a->n_circuits; i++) {
		assert_string_equal(a->circuits[i].circuit.name, b->circuits[i].circuit.name);
		assert_int_equal(a->circuits[i].classid, b->circuits[i].classid);
	}
}

static bool one_list(void)
{
	struct state single = { 0 }, many = { 0 };
	uint32_t i, n = 1 + below(COMING_MAX), at, first;
	struct err why = { "" }, why_all = { "" };
	int rc = 0;

	any_list(&single);
	copy_list(&many, &single);
	first = single.n_circuits;
	for (i = 0; i < n; i++) {
		struct circuit c = any_circuit();

		add(&many, &c, ADDING, 0);
		if (!rc)
			rc = state_insert(&single, &c, c.dev[3] - '0', &at, &why);
	}
	assert_int_equal(state_insert_all(&many, &at, &why_all), rc);
	assert_string_equal(why_all.text, why.text);
	if (rc)
		assert_int_equal(at, first + (single.n_circuits - first));
	else
		same_lists(&single, &many);
	state_free(&single);
	state_free(&many);
	return !rc;
}

/* Why @c does not fit beside @other, as it stands or in the same file */
static void assert_misfit(const struct circuit *other, enum standing standing,
			  const struct circuit *c, const char *why)
{
	struct state st = { 0 };
	struct err e = { "" };
	uint32_t at;

	add(&st, other, standing, 0);
	assert_int_equal(state_insert(&st, c, c->dev[3] - '0', &at, &e), -EEXIST);
	assert_string_equal(e.text, why);
	state_free(&st);
}

/* What a refusal advises can be typed where it is read. */
static void test_advice(void **unused)
{
	struct circuit a = circuit_of("a", "eth1", SHAPER_TBF, "10.1.0.0/16");
	struct circuit b = circuit_of("b", "eth1", SHAPER_HTB, "10.2.0.0/16"), bare = a;

	(void)unused;
#define BOTH "eth1 has circuit a, and tbf of a would hold both to one rate; "
	assert_misfit(&a, STANDING, &b,
		      BOTH "ctcp-setup change a --shaper none --pace holds it by the module, --shaper htb by a class of its own");
	assert_misfit(&a, ADDING, &b,
		      BOTH "--shaper none --pace holds it by the module, --shaper htb by a class of its own");
	a.n_to = 0;
	assert_misfit(&a, STANDING, &b,
		      BOTH "ctcp-setup change a --shaper none --pace holds it by the module");
	a.guarantee = GUARANTEE_NONE;
	assert_misfit(&a, STANDING, &b,
		      BOTH "ctcp-setup change a --to PREFIX --shaper htb holds it by a class of its own");
#undef BOTH
	strcpy(b.name, "a");
	strcpy(b.dev, "eth2");
	assert_misfit(&a, STANDING, &b,
		      "circuit a is that of another device already, eth1; give this one another name");
	strcpy(a.name, "eth2");
	strcpy(bare.dev, "eth2");
	bare.name[0] = 0;
	assert_misfit(&a, STANDING, &bare,
		      "circuit eth2 is that of another device already, eth1; --name gives this one another name");
}

static void test_random(void **unused)
{
	int i, fit = 0;

	(void)unused;
	srand(1);
	for (i = 0; i < LISTS; i++)
		fit += one_list();
	/* of both kinds there are enough to have shown something */
	assert_in_range(fit, LISTS / 10, LISTS * 9 / 10);
}

/* 64 in place of 64 others, on two devices, which they share out by turns */
static void test_same_classes(void **unused)
{
	struct state st = { 0 };
	char name[16], to[32];
	uint32_t i, at;
	struct err e;

	(void)unused;
	for (i = 0; i < 256; i++) {
		struct circuit c;

		snprintf(name, sizeof(name), "c%u", i % 128);
		snprintf(to, sizeof(to), "10.0.%u.%u", i / 128, i % 128);
		c = circuit_of(name, i % 2 ? "eth1" : "eth2", SHAPER_HTB, to);
		add(&st, &c, i < 128 ? REMOVING : ADDING, i < 128 ? 1000 + i : 0);
	}
	assert_int_equal(state_insert_all(&st, &at, &e), 0);
	for (i = 128; i < 256; i++)
		assert_int_equal(st.circuits[i].classid, 1000 + i - 128);
	state_free(&st);
}

static void test_no_class_left(void **unused)
{
	struct state st = { 0 };
	char name[16], to[32];
	uint32_t i, at;
	struct err e;

	(void)unused;
	for (i = 0; i <= CLASS_MINOR_MAX; i++) {
		struct circuit c;

		snprintf(name, sizeof(name), "c%u", i);
		snprintf(to, sizeof(to), "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
		c = circuit_of(name, "eth1", SHAPER_HTB, to);
		add(&st, &c, ADDING, 0);
	}
	assert_int_equal(state_insert_all(&st, &at, &e), -ENOSPC);
	assert_int_equal(at, CLASS_MINOR_MAX);
	assert_non_null(strstr(e.text, "has 65534 circuits with a class"));
	state_free(&st);
}

static void test_order(void **unused)
{
	static const char * const words[] = { "m", "b", "z", "a", "b" };
	struct state st = { 0 };
	struct order o;
	uint32_t i;

	(void)unused;
	for (i = 0; i < 5; i++) {
		struct circuit c = circuit_of(words[i], "eth1", SHAPER_HTB, "10.0.0.1");

		add(&st, &c, STANDING, 0);
	}
	assert_int_equal(order_by_name(&o, &st), 0);
	assert_int_equal(order_find(&o, "a"), 0);
	assert_int_equal(o.at[0], 3);
	assert_int_equal(order_find(&o, "b"), 1);
	assert_int_equal(o.at[1], 1);
	assert_int_equal(o.at[2], 4);
	assert_int_equal(order_find(&o, "z"), 4);
	assert_int_equal(order_find(&o, "zz"), NOWHERE);
	assert_int_equal(order_find(&o, ""), NOWHERE);
	order_free(&o);
	state_free(&st);
	assert_int_equal(order_by_name(&o, &st), 0);
	assert_int_equal(order_find(&o, "a"), NOWHERE);
	order_free(&o);
}

/* Those of a device stand together, as they stand in the list. */
static void test_order_device(void **unused)
{
	static const char * const devs[] = { "eth2", "eth1", "eth3", "eth1", "eth10" };
	struct state st = { 0 };
	struct order o;
	char name[8];
	uint32_t i;

	(void)unused;
	for (i = 0; i < 5; i++) {
		struct circuit c;

		snprintf(name, sizeof(name), "c%u", i);
		c = circuit_of(name, devs[i], SHAPER_HTB, "10.0.0.1");
		add(&st, &c, i == 3 ? REMOVING : STANDING, 0);
	}
	assert_int_equal(order_by_device(&o, &st), 0);
	i = order_device(&o, "eth1");
	assert_ptr_equal(order_on(&o, i, "eth1"), &st.circuits[1]);
	assert_ptr_equal(order_on(&o, i + 1, "eth1"), &st.circuits[3]);
	assert_null(order_on(&o, i + 2, "eth1"));
	assert_ptr_equal(order_on(&o, order_device(&o, "eth3"), "eth3"), &st.circuits[2]);
	assert_null(order_on(&o, order_device(&o, "eth4"), "eth4"));
	assert_null(order_on(&o, order_device(&o, "a"), "a"));
	order_free(&o);
	assert_int_equal(order_by_name(&o, &st), 0);
	assert_true(order_has(&o, "c2"));
	assert_false(order_has(&o, "c3"));
	assert_false(order_has(&o, "c9"));
	order_free(&o);
	state_free(&st);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_same_classes),
		cmocka_unit_test(test_no_class_left),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_device),
	};

	return cmocka_run_group_tests_name("circuits that fit beside each other", tests, NULL,
					   NULL);
}

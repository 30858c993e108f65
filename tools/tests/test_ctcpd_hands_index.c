// SPDX-License-Identifier: GPL-2.0
/*
 * Members by device and prefix: those that pace, each found, and how much is compared for it.
 */
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "ctcpd/hands_index.h"

#define PACED	500U		/* of ours, by two devices in turn */
#define ALL	1000U		/* with an administrator's */

static struct prefix address(uint32_t n)
{
	return (struct prefix){ AF_INET, 32, { 10, (uint8_t)(n >> 16), (uint8_t)(n >> 8),
					       (uint8_t)n } };
}

/* The nth of ours; in no order, as remotes come in none */
static struct pace paced(uint32_t n)
{
	return (struct pace){ .to = address(n * 2654435761U >> 8), .ifindex = 2 + (int)(n % 2) };
}

static void add(struct state *st, uint32_t n, const struct pace *p, bool ours)
{
	struct circuit c = CIRCUIT_DEFAULTS;
	struct member *m;

	snprintf(c.name, sizeof(c.name), "%s%u", ours ? "ctcpd-" : "c", n);
	c.ctcpd = ours;
	c.to[0] = p->to;
	c.n_to = 1;
	m = state_add(st, &c, p->ifindex);
	assert_non_null(m);
	m->standing = STANDING;
}

/* Each of ours beside one of an administrator's, of the same prefix by another device */
static void fill(struct state *st)
{
	uint32_t i;

	memset(st, 0, sizeof(*st));
	for (i = 0; i < PACED; i++) {
		struct pace p = paced(i);

		add(st, i, &p, true);
		p.ifindex = 9;
		add(st, i, &p, false);
	}
	assert_int_equal(st->n_circuits, ALL);
}

static void each_is_found(void **state)
{
	struct hands_index x;
	struct state st;
	uint32_t i;

	(void)state;
	fill(&st);
	assert_int_equal(hands_index_make(&x, &st), 0);
	assert_int_equal(x.n, PACED);
	for (i = 0; i < PACED; i++) {
		struct pace p = paced(i);

		assert_int_equal(hands_index_find(&x, &p), 2 * i);
		p.ifindex = 5 - p.ifindex;
		assert_int_equal(hands_index_find(&x, &p), HANDS_NO_MEMBER);
		p.ifindex = 9;
		assert_int_equal(hands_index_find(&x, &p), HANDS_NO_MEMBER);
		p = paced(i);
		p.to.len = 24;
		assert_int_equal(hands_index_find(&x, &p), HANDS_NO_MEMBER);
	}
	hands_index_free(&x);
	state_free(&st);
}

/* Walked, a batch of 500 compares 500 times up to 1000; log2(500) is 9 */
static void is_not_walked(void **state)
{
	struct hands_index x;
	struct state st;
	uint32_t i;

	(void)state;
	fill(&st);
	assert_int_equal(hands_index_make(&x, &st), 0);
	for (i = 0; i < PACED; i++) {
		struct pace p = paced(i);

		hands_index_find(&x, &p);
	}
	print_message("%u of %u circuits: %llu comparisons\n", PACED, ALL,
		      (unsigned long long)x.compared);
	if (x.compared > PACED * 9)
		fail_msg("expected at most %u comparisons, got %llu", PACED * 9,
			 (unsigned long long)x.compared);
	hands_index_free(&x);
	state_free(&st);
}

static void what_goes_is_not_there(void **state)
{
	struct pace p = paced(7);
	struct hands_index x;
	struct state st;

	(void)state;
	fill(&st);
	st.circuits[14].standing = REMOVING;
	assert_int_equal(hands_index_make(&x, &st), 0);
	assert_int_equal(hands_index_find(&x, &p), HANDS_NO_MEMBER);
	hands_index_free(&x);
	state_free(&st);
	memset(&st, 0, sizeof(st));
	assert_int_equal(hands_index_make(&x, &st), 0);
	assert_int_equal(hands_index_find(&x, &p), HANDS_NO_MEMBER);
	hands_index_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found),
		cmocka_unit_test(is_not_walked),
		cmocka_unit_test(what_goes_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

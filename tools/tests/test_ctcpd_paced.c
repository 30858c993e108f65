// SPDX-License-Identifier: GPL-2.0
/*
 * The set of what is paced: each address has one rate at most, whatever is done to it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "ctcpd/paced.h"
#include "units.h"

static struct prefix prefix(const char *text)
{
	struct prefix p;
	struct err e;

	assert_int_equal(parse_prefix(text, &p, &e), 0);
	return p;
}

static struct pace pace(int ifindex, const char *to, uint64_t mbit)
{
	return (struct pace){ .to = prefix(to), .ifindex = ifindex, .rate = mbit * MBIT };
}

static int set(struct paced *p, int ifindex, const char *to, uint64_t mbit)
{
	const struct pace one = pace(ifindex, to, mbit);

	return paced_set(p, &one);
}

/* mbit/s at which an address is paced, 0 = not */
static uint64_t rate(const struct paced *p, int ifindex, const char *addr)
{
	const struct prefix a = prefix(addr);
	const struct pace *one = paced_find(p, ifindex, &a);

	return one ? one->rate / MBIT : 0;
}

static void test_set(void **state)
{
	struct paced p = { 0 };
	struct prefix gone = prefix("192.0.2.7");

	(void)state;
	assert_int_equal(set(&p, 3, "192.0.2.7", 900), 0);
	assert_int_equal(set(&p, 3, "198.51.100.0/24", 100), 0);
	assert_int_equal(set(&p, 3, "2001:db8::7", 50), 0);
	assert_int_equal(set(&p, 4, "192.0.2.7", 10), 0);
	assert_int_equal(rate(&p, 3, "192.0.2.7"), 900);
	assert_int_equal(rate(&p, 4, "192.0.2.7"), 10);
	assert_int_equal(rate(&p, 5, "192.0.2.7"), 0);
	assert_int_equal(rate(&p, 3, "192.0.2.8"), 0);
	assert_int_equal(rate(&p, 3, "198.51.100.0"), 100);
	assert_int_equal(rate(&p, 3, "198.51.100.255"), 100);
	assert_int_equal(rate(&p, 3, "198.51.101.0"), 0);
	assert_int_equal(rate(&p, 3, "2001:db8::7"), 50);
	assert_int_equal(set(&p, 3, "192.0.2.7", 800), 0);
	assert_int_equal(rate(&p, 3, "192.0.2.7"), 800);
	assert_int_equal(p.n, 4);
	assert_true(paced_clear(&p, 3, &gone));
	assert_false(paced_clear(&p, 3, &gone));
	assert_int_equal(rate(&p, 3, "192.0.2.7"), 0);
	assert_int_equal(rate(&p, 4, "192.0.2.7"), 10);
	paced_clear_device(&p, 3);
	assert_int_equal(p.n, 1);
	paced_free(&p);
}

static void test_refused(void **state)
{
	struct pace bad = pace(3, "192.0.2.7", 1);
	struct paced p = { 0 };

	(void)state;
	assert_int_equal(set(&p, 3, "198.51.100.0/24", 100), 0);
	assert_int_equal(set(&p, 3, "198.51.100.7", 50), -EEXIST);
	assert_int_equal(set(&p, 3, "198.51.0.0/16", 50), -EEXIST);
	assert_int_equal(set(&p, 3, "198.51.100.0/25", 50), -EEXIST);
	assert_int_equal(set(&p, 3, "0.0.0.0/0", 50), -EEXIST);
	assert_int_equal(set(&p, 3, "198.51.101.0/24", 50), 0);
	bad.rate = RATE_MIN - 1;
	assert_int_equal(paced_set(&p, &bad), -EINVAL);
	bad.rate = RATE_MAX + 1;
	assert_int_equal(paced_set(&p, &bad), -EINVAL);
	bad.rate = RATE_MAX;
	bad.ifindex = 0;
	assert_int_equal(paced_set(&p, &bad), -EINVAL);
	bad.ifindex = 3;
	bad.to.family = 0;
	assert_int_equal(paced_set(&p, &bad), -EINVAL);
	paced_free(&p);
}

/* Room for 4096, in any order, each found; one more is refused. */
static void test_many(void **state)
{
	struct paced p = { 0 };
	char to[32];
	uint32_t i;

	(void)state;
	for (i = 0; i < PACED_MAX; i++) {
		uint32_t k = i * 2654435761U % PACED_MAX;	/* odd: each once */

		snprintf(to, sizeof(to), "10.%u.%u.1", k / 256, k % 256);
		assert_int_equal(set(&p, 3 + (int)(k % 2), to, k + 1), 0);
	}
	assert_int_equal(set(&p, 3, "192.0.2.7", 1), -ENOSPC);
	for (i = 0; i < PACED_MAX; i++) {
		snprintf(to, sizeof(to), "10.%u.%u.1", i / 256, i % 256);
		assert_int_equal(rate(&p, 3 + (int)(i % 2), to), i + 1);
		assert_int_equal(rate(&p, 4 - (int)(i % 2), to), 0);
	}
	paced_free(&p);
}

static void test_merge(void **state)
{
	const struct pace subnet = pace(3, "192.0.2.0/24", 850);
	const struct prefix in = prefix("192.0.2.200"), in6 = prefix("2001:db8::7");
	struct prefix of = paced_subnet(&in), of6 = paced_subnet(&in6);
	const struct pace back[] = { pace(3, "192.0.2.1", 900), pace(3, "192.0.2.9", 910) };
	const struct pace alien = pace(3, "192.0.3.1", 900);
	struct paced p = { 0 };

	(void)state;
	assert_true(prefix_equal(&of, &subnet.to));
	assert_int_equal(of6.len, 64);
	set(&p, 3, "192.0.2.1", 900);
	set(&p, 3, "192.0.2.9", 910);
	set(&p, 4, "192.0.2.5", 100);
	set(&p, 3, "192.0.1.255", 1);
	set(&p, 3, "192.0.3.0", 2);
	assert_int_equal(paced_merge(&p, &subnet), -EPERM);
	assert_int_equal(p.n, 5);
	set(&p, 3, "192.0.2.255", 905);
	assert_int_equal(paced_merge(&p, &subnet), 0);
	assert_int_equal(p.n, 4);
	assert_int_equal(rate(&p, 3, "192.0.2.77"), 850);
	assert_int_equal(rate(&p, 3, "192.0.1.255"), 1);
	assert_int_equal(rate(&p, 3, "192.0.3.0"), 2);
	assert_int_equal(rate(&p, 4, "192.0.2.5"), 100);
	assert_int_equal(paced_split(&p, 3, &subnet.to, &alien, 1), -EINVAL);
	assert_int_equal(paced_split(&p, 5, &subnet.to, NULL, 0), -ENOENT);
	assert_int_equal(rate(&p, 3, "192.0.2.77"), 850);
	assert_int_equal(paced_split(&p, 3, &subnet.to, back, 2), 0);
	assert_int_equal(rate(&p, 3, "192.0.2.77"), 0);
	assert_int_equal(rate(&p, 3, "192.0.2.9"), 910);
	assert_int_equal(p.n, 5);
	paced_free(&p);
}

/* Each step made leads from the one to the other, and none is left. */
static void test_step(void **state)
{
	struct paced now = { 0 }, then = { 0 };
	struct pace *list;
	uint32_t i, n;

	(void)state;
	set(&now, 3, "192.0.2.1", 900);
	set(&now, 3, "192.0.2.2", 900);
	set(&now, 3, "198.51.100.1", 5);
	set(&then, 3, "192.0.2.0/24", 850);
	set(&then, 3, "198.51.100.1", 5);
	set(&then, 4, "198.51.100.1", 6);
	then.list[1].rtt_us = 4711;		/* alone no change */
	assert_int_equal(paced_step(&now, &then, UINT32_MAX, &list, &n), 0);
	assert_int_equal(n, 4);
	for (i = 0; i < n; i++) {
		assert_int_equal(!list[i].rate, i < 2);
		if (list[i].rate)
			assert_int_equal(paced_set(&now, &list[i]), 0);
		else
			assert_true(paced_clear(&now, list[i].ifindex, &list[i].to));
	}
	free(list);
	assert_int_equal(paced_step(&now, &then, UINT32_MAX, &list, &n), 0);
	assert_int_equal(n, 0);
	free(list);
	paced_clear_device(&then, 3);
	assert_int_equal(paced_step(&now, &then, 1, &list, &n), 0);
	assert_int_equal(n, 1);
	free(list);
	paced_free(&now);
	paced_free(&then);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

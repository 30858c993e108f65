// SPDX-License-Identifier: GPL-2.0
/*
 * Longest match, against a search through all keys
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../circuit/match.h"
#include "../random.h"

#define KEYS	400
#define PEERS	20000

uint64_t random_state;

static struct match_key keys[KEYS];
static struct match_shapes shapes[2];

static bool bit(const u8 *addr, unsigned int n)
{
	return addr[n / 8] >> (7 - n % 8) & 1;
}

/* Bit by bit, as the words of the uapi header have it */
static bool matches(const struct match_key *key, const struct match_key *peer)
{
	unsigned int n;

	if (key->family != peer->family ||
	    (key->ifindex && key->ifindex != peer->ifindex) ||
	    (key->mark && key->mark != peer->mark))
		return false;
	for (n = 0; n < key->len; n++)
		if (bit(key->addr, n) != bit(peer->addr, n))
			return false;
	return true;
}

static int rank(const struct match_key *key)
{
	return key->len * 4 + !!key->ifindex * 2 + !!key->mark;
}

static int best_of_all(const struct match_key *peer)
{
	int i, best = -1;

	for (i = 0; i < KEYS; i++)
		if (matches(&keys[i], peer) && rank(&keys[i]) > best)
			best = rank(&keys[i]);
	return best;
}

static bool has_key(const struct match_key *key)
{
	int i;

	for (i = 0; i < KEYS; i++)
		if (!memcmp(&keys[i], key, sizeof(*key)))
			return true;
	return false;
}

/* As circuit_match() goes through the shapes */
static int best_by_shapes(const struct match_key *peer)
{
	const struct match_shapes *used = &shapes[peer->family == 6];
	int shape = MATCH_SHAPES;
	struct match_key key;

	while ((shape = match_below(used, shape)) >= 0)
		if (match_project(peer, shape, &key) && has_key(&key))
			return rank(&key);
	return -1;
}

/* Few different bits, so that prefixes lie in each other */
static void random_peer(struct match_key *key)
{
	unsigned int i;

	memset(key, 0, sizeof(*key));
	key->family = below(2) ? 4 : 6;
	key->len = match_bits(key->family);
	for (i = 0; i < key->len / 8; i++)
		key->addr[i] = below(8) ? 0 : below(256);
	key->ifindex = 1 + below(3);
	key->mark = below(3);
}

static void random_key(struct match_key *key)
{
	struct match_key peer;
	unsigned int len;

	do {
		random_peer(&peer);
		if (below(2))
			peer.ifindex = 0;
		if (below(2))
			peer.mark = 0;
		len = below(match_bits(peer.family) + 1);
	} while (!match_project(&peer, len << 2 | (peer.ifindex ? MATCH_DEVICE : 0) |
				(peer.mark ? MATCH_MARK : 0), key));
}

static void longest_wins(void **state)
{
	struct match_key peer;
	int i, found = 0;

	(void)state;
	seed_random(1);
	for (i = 0; i < KEYS; i++) {
		random_key(&keys[i]);
		match_count(&shapes[keys[i].family == 6], match_shape(&keys[i]));
	}
	for (i = 0; i < PEERS; i++) {
		random_peer(&peer);
		assert_int_equal(best_by_shapes(&peer), best_of_all(&peer));
		found += best_of_all(&peer) >= 0;
	}
	assert_true(found > PEERS / 10);
	for (i = 0; i < KEYS; i++)
		match_discount(&shapes[keys[i].family == 6], match_shape(&keys[i]));
	assert_int_equal(match_below(&shapes[0], MATCH_SHAPES), -1);
	assert_int_equal(match_below(&shapes[1], MATCH_SHAPES), -1);
}

static void every_shape_is_found(void **state)
{
	struct match_shapes one;
	int shape;

	(void)state;
	for (shape = 0; shape < MATCH_SHAPES; shape++) {
		memset(&one, 0, sizeof(one));
		match_count(&one, shape);
		match_count(&one, shape);
		assert_int_equal(match_below(&one, MATCH_SHAPES), shape);
		assert_int_equal(match_below(&one, shape), -1);
		match_discount(&one, shape);
		assert_int_equal(match_below(&one, MATCH_SHAPES), shape);
		match_discount(&one, shape);
		assert_int_equal(match_below(&one, MATCH_SHAPES), -1);
	}
}

static void tails(void **state)
{
	u8 addr[16] = { 192, 0, 2, 128 };
	u8 full[16];

	(void)state;
	memset(full, 0xff, sizeof(full));
	assert_true(match_tail_is_zero(addr, 32));
	assert_true(match_tail_is_zero(addr, 25));
	assert_false(match_tail_is_zero(addr, 24));
	assert_false(match_tail_is_zero(addr, 0));
	assert_true(match_tail_is_zero(full, 128));
	assert_false(match_tail_is_zero(full, 127));
}

/* A longer prefix is more specific than any selector, a device than a mark. */
static void order(void **state)
{
	struct match_key key = { .len = 24, .family = 4 }, longer = key;

	(void)state;
	assert_int_equal(match_bits(4), 32);
	assert_int_equal(match_bits(6), 128);
	assert_int_equal(match_shape(&key), 24 << 2);
	key.mark = 5;
	assert_int_equal(match_shape(&key), 24 << 2 | MATCH_MARK);
	key.ifindex = 3;
	longer.len = 25;
	assert_true(match_shape(&longer) > match_shape(&key));
	key.mark = 0;
	longer.len = 24;
	longer.mark = 5;
	assert_true(match_shape(&key) > match_shape(&longer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_wins),
		cmocka_unit_test(every_shape_is_found),
		cmocka_unit_test(tails),
		cmocka_unit_test(order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

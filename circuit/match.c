// SPDX-License-Identifier: GPL-2.0
/*
 * Longest match: see match.h
 */

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/string.h>

#include "match.h"

unsigned int match_bits(u32 family)
{
	return family == 4 ? 32 : 128;
}

static void match_mask(u8 addr[16], unsigned int len)
{
	unsigned int byte = len / 8;

	if (byte >= 16)
		return;
	addr[byte] &= (u8)(0xff00 >> (len % 8));
	memset(addr + byte + 1, 0, 15 - byte);
}

/* Has @addr no bit set behind its first @len? */
bool match_tail_is_zero(const u8 addr[16], unsigned int len)
{
	u8 masked[16];

	memcpy(masked, addr, sizeof(masked));
	match_mask(masked, len);
	return !memcmp(masked, addr, sizeof(masked));
}

unsigned int match_shape(const struct match_key *key)
{
	return key->len << 2 | (key->ifindex ? MATCH_DEVICE : 0) |
	       (key->mark ? MATCH_MARK : 0);
}

/*
 * The key of @shape that @peer, a full address with device and mark, would match;
 * false: none, it has no such selector.
 */
bool match_project(const struct match_key *peer, unsigned int shape,
		   struct match_key *key)
{
	*key = *peer;
	key->len = shape >> 2;
	match_mask(key->addr, key->len);
	if (!(shape & MATCH_DEVICE))
		key->ifindex = 0;
	if (!(shape & MATCH_MARK))
		key->mark = 0;
	return match_shape(key) == shape;
}

/* The most specific shape in use below @shape, -1 if there is none. */
int match_below(const struct match_shapes *shapes, int shape)
{
	int word;
	u64 bits;

	if (shape <= 0)
		return -1;
	word = (shape - 1) / 64;
	bits = READ_ONCE(shapes->used[word]) & (~0ULL >> (63 - (shape - 1) % 64));
	while (!bits) {
		if (!word--)
			return -1;
		bits = READ_ONCE(shapes->used[word]);
	}
	return word * 64 + fls64(bits) - 1;
}

void match_count(struct match_shapes *shapes, unsigned int shape)
{
	if (shapes->count[shape]++)
		return;
	WRITE_ONCE(shapes->used[shape / 64],
		   shapes->used[shape / 64] | 1ULL << (shape % 64));
}

void match_discount(struct match_shapes *shapes, unsigned int shape)
{
	if (--shapes->count[shape])
		return;
	WRITE_ONCE(shapes->used[shape / 64],
		   shapes->used[shape / 64] & ~(1ULL << (shape % 64)));
}

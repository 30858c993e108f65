/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Longest match: which key a circuit has, and in which order keys are tried
 *
 * All keys lie in one hash table.  Keys with the same family, prefix length and
 * selectors have one shape.  A lookup masks the peer by each shape in use, the
 * most specific first: one probe for each shape, not for each key.  (Tuple space
 * search: Srinivasan, Suri and Varghese, "Packet Classification using Tuple Space
 * Search", SIGCOMM 1999.)
 *
 * Of two matches the longer prefix wins; of two as long, that with a device, then
 * that with a mark.
 *
 * Arithmetic alone: also compiled in user space, by its unit test.
 */
#ifndef _CIRCUIT_MATCH_H
#define _CIRCUIT_MATCH_H

#include <linux/types.h>

#define MATCH_MARK	1U	/* a selector: the socket's mark */
#define MATCH_DEVICE	2U	/* a selector: the outgoing device */
#define MATCH_SHAPES	((128 + 1) * 4)
#define MATCH_WORDS	((MATCH_SHAPES + 63) / 64)

/* Without holes: compared and hashed as bytes. */
struct match_key {
	u8	addr[16];	/* network order; IPv4: the first four */
	u32	ifindex;	/* 0: any outgoing device */
	u32	mark;		/* 0: any mark */
	u32	len;		/* prefix length, 0..32 or 128 */
	u32	family;		/* 4 or 6 */
};

/* The shapes in use by the keys of one family */
struct match_shapes {
	u64	used[MATCH_WORDS];	/* a bit a shape; read without a lock */
	u32	count[MATCH_SHAPES];	/* keys of it */
};

unsigned int match_bits(u32 family);
bool match_tail_is_zero(const u8 addr[16], unsigned int len);
unsigned int match_shape(const struct match_key *key);
bool match_project(const struct match_key *peer, unsigned int shape,
		   struct match_key *key);
int match_below(const struct match_shapes *shapes, int shape);
void match_count(struct match_shapes *shapes, unsigned int shape);
void match_discount(struct match_shapes *shapes, unsigned int shape);

#endif /* _CIRCUIT_MATCH_H */

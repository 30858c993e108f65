/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that is written piece by piece: what there is most of in a run with many circuits,
 * and what printf() would take most of its time for.
 *
 * Into a buffer of the caller's, as much as there is room for, always with a NUL behind
 * it; or into one that grows, which the caller frees.  @used counts what had no room, too,
 * as snprintf() returns it.
 */
#ifndef CTCP_OUT_H
#define CTCP_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct out {
	char *text;
	size_t used, room;
	bool grows;
	bool failed;	/* out of memory */
};

static inline struct out out_to(char *buf, size_t len)
{
	if (len)
		*buf = 0;
	return (struct out){ .text = buf, .room = len };
}

void out_begin(struct out *o, size_t n);
void out_bytes(struct out *o, const char *s, size_t n);
void out_number(struct out *o, uint64_t n);
void out_hex(struct out *o, uint32_t n);
void out_word(struct out *o, const char *word);

static inline void out_text(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

/* "rate=500000000": a key, as it stands before the number, and that */
static inline void out_pair(struct out *o, const char *key, uint64_t n)
{
	out_text(o, key);
	out_number(o, n);
}

/* Nothing where it is 0 */
static inline void out_pair_unless_0(struct out *o, const char *key, uint64_t n)
{
	if (n)
		out_pair(o, key, n);
}

/* As much of it as there is room for */
static inline void out_copy(char *buf, size_t len, const char *s)
{
	struct out o = out_to(buf, len);

	out_text(&o, s);
}

static inline bool out_fits(const struct out *o)
{
	return o->used < o->room;
}

#endif

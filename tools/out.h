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

void out_bytes(struct out *o, const char *s, size_t n);
void out_number(struct out *o, uint64_t n);
void out_hex(struct out *o, uint32_t n);
void out_word(struct out *o, const char *word);

static inline void out_text(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

static inline bool out_fits(const struct out *o)
{
	return o->used < o->room;
}

#endif

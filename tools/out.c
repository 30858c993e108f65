// SPDX-License-Identifier: GPL-2.0
/*
 * Text that is written piece by piece: see out.h.
 */
#include <stdlib.h>

#include "out.h"

#define GROWS_FROM 4096U	/* bytes */

static bool set_room(struct out *o, size_t room)
{
	char *more = realloc(o->text, room);

	o->failed = !more;
	if (more) {
		o->text = more;
		o->room = room;
	}
	return more;
}

static bool make_room(struct out *o, size_t n)
{
	size_t room = o->room ?: GROWS_FROM;

	if (!o->grows || o->failed)
		return false;
	while (room - o->used <= n)
		room *= 2;
	return set_room(o, room);
}

/* Text that grows begins with room for @n bytes, or more than that. */
void out_begin(struct out *o, size_t n)
{
	*o = (struct out){ .grows = true };
	set_room(o, n > GROWS_FROM ? n : GROWS_FROM);
}

/* With a NUL behind it */
void out_bytes(struct out *o, const char *s, size_t n)
{
	bool fits = o->used + n < o->room || make_room(o, n);

	if (o->used < o->room) {
		size_t some = fits ? n : o->room - o->used - 1;

		memcpy(o->text + o->used, s, some);
		o->text[o->used + some] = 0;
	}
	o->used += n;
}

void out_number(struct out *o, uint64_t n)
{
	char digits[20], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + n % 10);
	} while (n /= 10);
	out_bytes(o, p, (size_t)(digits + sizeof(digits) - p));
}

void out_hex(struct out *o, uint32_t n)
{
	char digits[8], *p = digits + sizeof(digits);

	do {
		*--p = "0123456789abcdef"[n & 15];
	} while (n >>= 4);
	out_bytes(o, p, (size_t)(digits + sizeof(digits) - p));
}

/* A word of a line (words.h), with a blank before it. */
void out_word(struct out *o, const char *word)
{
	size_t n = strcspn(word, " \"\\");

	if (n && *word != '#' && !word[n]) {
		out_bytes(o, " ", 1);
		out_bytes(o, word, n);
		return;
	}
	out_bytes(o, " \"", 2);
	for (; *word; word += n) {
		if (*word == '"' || *word == '\\')
			out_bytes(o, "\\", 1);
		n = 1 + strcspn(word + 1, "\"\\");
		out_bytes(o, word, n);
	}
	out_bytes(o, "\"", 1);
}

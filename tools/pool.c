// SPDX-License-Identifier: GPL-2.0
/*
 * Many short texts that all go at once: see pool.h.
 */
#include <stdlib.h>
#include <string.h>

#include "pool.h"

#define BLOCK	65536U	/* bytes of text; a longer one has a block of its own */

struct pool_block {
	struct pool_block *before;
	size_t room;
	char text[];
};

static int add_block(struct pool *p, size_t n)
{
	size_t room = n > BLOCK ? n : BLOCK;
	struct pool_block *b = malloc(sizeof(*b) + room);

	if (!b)
		return -1;
	b->before = p->last;
	b->room = room;
	p->last = b;
	p->used = 0;
	return 0;
}

const char *pool_text(struct pool *p, const char *text)
{
	size_t n = strlen(text) + 1;
	char *to;

	if ((!p->last || n > p->last->room - p->used) && add_block(p, n))
		return NULL;
	to = p->last->text + p->used;
	p->used += n;
	return memcpy(to, text, n);
}

void pool_free(struct pool *p)
{
	struct pool_block *b;

	while ((b = p->last)) {
		p->last = b->before;
		free(b);
	}
	p->used = 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many short texts that all go at once: none is freed alone, so that whoever has one may
 * keep it as long as the pool lasts.
 */
#ifndef CTCP_POOL_H
#define CTCP_POOL_H

#include <stddef.h>

struct pool_block;

struct pool {
	struct pool_block *last;
	size_t used;		/* of it */
};

/* NULL: out of memory */
const char *pool_text(struct pool *p, const char *text);
void pool_free(struct pool *p);

#endif

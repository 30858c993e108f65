/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Things by a key of bytes, in the order of their last use, so that what is bounded can let
 * go of what nobody has used for longest.
 *
 * The node is a part of the caller's thing, which lasts until recent_remove(); the key
 * lies in the thing, too.
 */
#ifndef CTCPD_RECENT_H
#define CTCPD_RECENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct recent_node {
	const void *key;
	size_t len;			/* of it, bytes */
	uint32_t hash;
	struct recent_node *next;	/* of its chain */
	TAILQ_ENTRY(recent_node) by_use;
};

TAILQ_HEAD(recent_order, recent_node);

struct recent {
	uint32_t seed;			/* of its hashes */
	uint32_t n, chains;		/* chains: a power of two; 0 = none so far */
	struct recent_node **table;
	struct recent_order order;	/* the one used longest ago first */
};

void recent_init(struct recent *r);
/* The table alone: things are the caller's, who frees them by recent_oldest() */
void recent_free(struct recent *r);
/* Used now.  NULL: there is none */
struct recent_node *recent_find(struct recent *r, const void *key, size_t len);
/* As it is; whoever only looks uses nothing */
struct recent_node *recent_peek(const struct recent *r, const void *key, size_t len);
/* A new key, which the node has already; used now.  -ENOMEM */
int recent_add(struct recent *r, struct recent_node *node);
void recent_remove(struct recent *r, struct recent_node *node);

static inline struct recent_node *recent_oldest(const struct recent *r)
{
	return TAILQ_FIRST(&r->order);
}

#endif

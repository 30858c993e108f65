// SPDX-License-Identifier: GPL-2.0
/*
 * Things by key and by their last use: see recent.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "recent.h"

#define CHAINS_LEAST 64U

/*
 * FNV-1a, its upper bits in its lower ones, too.  Remotes choose their addresses: which of them
 * share a chain is another thing in each table.
 */
static uint32_t hash_of(const struct recent *r, const void *key, size_t len)
{
	const unsigned char *p = key, *end = p + len;
	uint32_t hash = 2166136261U ^ r->seed;

	for (; p < end; p++)
		hash = (hash ^ *p) * 16777619U;
	return hash ^ hash >> 15;
}

void recent_init(struct recent *r)
{
	memset(r, 0, sizeof(*r));
	/* early in a boot there is none yet: then it is as good as no seed */
	if (getrandom(&r->seed, sizeof(r->seed), GRND_NONBLOCK) != sizeof(r->seed))
		r->seed = 0;
	TAILQ_INIT(&r->order);
}

void recent_free(struct recent *r)
{
	free(r->table);
	recent_init(r);
}

struct recent_node *recent_peek(const struct recent *r, const void *key, size_t len)
{
	uint32_t hash = hash_of(r, key, len);
	struct recent_node *n = r->chains ? r->table[hash & (r->chains - 1)] : NULL;

	while (n && (n->hash != hash || n->len != len || memcmp(n->key, key, len)))
		n = n->next;
	return n;
}

struct recent_node *recent_find(struct recent *r, const void *key, size_t len)
{
	struct recent_node *n = recent_peek(r, key, len);

	if (n && TAILQ_NEXT(n, by_use)) {
		TAILQ_REMOVE(&r->order, n, by_use);
		TAILQ_INSERT_TAIL(&r->order, n, by_use);
	}
	return n;
}

static void chain(struct recent *r, struct recent_node *n)
{
	struct recent_node **at = &r->table[n->hash & (r->chains - 1)];

	n->next = *at;
	*at = n;
}

/* So that chains have one thing or two; one that finds no memory stays as it is. */
static int make_room(struct recent *r)
{
	uint32_t chains = r->chains ? 2 * r->chains : CHAINS_LEAST;
	struct recent_node **table, *n;

	if (r->n < r->chains)
		return 0;
	table = calloc(chains, sizeof(struct recent_node *));
	if (!table)
		return r->chains ? 0 : -ENOMEM;
	free(r->table);
	r->table = table;
	r->chains = chains;
	TAILQ_FOREACH(n, &r->order, by_use)
		chain(r, n);
	return 0;
}

int recent_add(struct recent *r, struct recent_node *node)
{
	if (make_room(r))
		return -ENOMEM;
	node->hash = hash_of(r, node->key, node->len);
	chain(r, node);
	TAILQ_INSERT_TAIL(&r->order, node, by_use);
	r->n++;
	return 0;
}

void recent_remove(struct recent *r, struct recent_node *node)
{
	struct recent_node **at = &r->table[node->hash & (r->chains - 1)];

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	TAILQ_REMOVE(&r->order, node, by_use);
	r->n--;
}

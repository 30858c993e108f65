// SPDX-License-Identifier: GPL-2.0
/*
 * The order in which circuits change: see diff_order.h.
 *
 * Topological (Kahn 1962), as they stand in the list where nothing else decides.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit.h"
#include "diff_order.h"
#include "map.h"
#include "object.h"
#include "pool.h"

/* One circuit's change */
struct node {
	struct object from, to;
	uint32_t at;		/* in the diff's list */
	uint32_t waits;		/* for how many prefixes of others */
	uint32_t first;		/* of those that wait for it, in edges; NONE = none */
	bool done;
	bool stepped;		/* it is gone for a while */
};

struct edge {
	uint32_t node, next;
};

#define NONE UINT32_MAX

struct graph {
	uint32_t n, n_edges, n_order;
	struct node *nodes;
	struct edge *edges;
	struct map givers;	/* node, from 1 on, by the prefix that it gives up */
	struct pool keys;
	uint32_t *order;	/* nodes; one that is stepped over stands there twice */
};

static void graph_free(struct graph *g)
{
	uint32_t i;

	for (i = 0; i < g->n; i++) {
		object_free(&g->nodes[i].from);
		object_free(&g->nodes[i].to);
	}
	map_free(&g->givers);
	pool_free(&g->keys);
	free(g->nodes);
	free(g->edges);
	free(g->order);
}

/* A prefix is a circuit's together with its device and its mark. */
static const char *prefix_key(char key[128], const struct object *o, uint32_t i)
{
	char text[64];

	snprintf(key, 128, "%s %s %u", format_prefix(text, sizeof(text), &o->prefixes[i]), o->dev,
		 o->mark);
	return key;
}

static bool has_prefix(const struct object *o, const char *key)
{
	char own[128];
	uint32_t i;

	for (i = 0; i < o->n; i++)
		if (!strcmp(prefix_key(own, o, i), key))
			return true;
	return false;
}

static bool is_circuit(const struct change *c)
{
	return c->kind == ITEM_CIRCUIT && strcmp(c->to, "absent");
}

/* absent is a circuit without a prefix. */
static int read_object(const char *text, struct object *o)
{
	memset(o, 0, sizeof(*o));
	return strcmp(text, "absent") ? object_parse(text, o) : 0;
}

static int add_nodes(struct graph *g, const struct diff *d)
{
	uint32_t i;
	int rc = 0;

	g->nodes = calloc((size_t)d->n + 1, sizeof(*g->nodes));
	for (i = 0; g->nodes && i < d->n && !rc; i++) {
		struct node *n = &g->nodes[g->n];

		if (!is_circuit(&d->list[i]))
			continue;
		n->at = i;
		n->first = NONE;
		g->n++;
		rc = read_object(d->list[i].from, &n->from) ?: read_object(d->list[i].to, &n->to);
	}
	return g->nodes ? rc : -ENOMEM;
}

static int add_givers(struct graph *g)
{
	char key[128];
	uint32_t i, k;
	int rc = 0;

	for (i = 0; i < g->n; i++) {
		const struct node *n = &g->nodes[i];

		for (k = 0; k < n->from.n && !rc; k++) {
			const char *own;

			if (has_prefix(&n->to, prefix_key(key, &n->from, k)))
				continue;
			own = pool_text(&g->keys, key);
			rc = own ? map_set(&g->givers, own, (void *)(uintptr_t)(i + 1)) : -ENOMEM;
		}
	}
	return rc;
}

static void add_edge(struct graph *g, uint32_t giver, uint32_t taker)
{
	g->edges[g->n_edges] = (struct edge){ taker, g->nodes[giver].first };
	g->nodes[giver].first = g->n_edges++;
	g->nodes[taker].waits++;
}

static int add_edges(struct graph *g)
{
	size_t prefixes = 1;
	char key[128];
	uint32_t i, k;

	for (i = 0; i < g->n; i++)
		prefixes += g->nodes[i].to.n;
	g->edges = calloc(prefixes, sizeof(*g->edges));
	if (!g->edges)
		return -ENOMEM;
	for (i = 0; i < g->n; i++) {
		for (k = 0; k < g->nodes[i].to.n; k++) {
			uintptr_t giver = (uintptr_t)map_get(&g->givers,
							     prefix_key(key, &g->nodes[i].to, k));

			if (giver && giver - 1 != i)
				add_edge(g, (uint32_t)giver - 1, i);
		}
	}
	return 0;
}

/* What waits for its prefixes waits no more. */
static void give(struct graph *g, uint32_t i)
{
	uint32_t e;

	for (e = g->nodes[i].first; e != NONE; e = g->edges[e].next)
		g->nodes[g->edges[e].node].waits--;
	g->nodes[i].first = NONE;
	g->order[g->n_order++] = i;
}

/* Of those that wait for each other the first is gone for a while. */
static bool step_over(struct graph *g)
{
	uint32_t i;

	for (i = 0; i < g->n; i++) {
		if (g->nodes[i].done || g->nodes[i].first == NONE)
			continue;
		g->nodes[i].stepped = true;
		give(g, i);
		return true;
	}
	return false;
}

static int sort_nodes(struct graph *g)
{
	uint32_t left = g->n, i, before;

	g->order = calloc(2 * (size_t)g->n + 1, sizeof(*g->order));
	if (!g->order)
		return -ENOMEM;
	while (left) {
		before = left;
		for (i = 0; i < g->n; i++) {
			if (g->nodes[i].done || g->nodes[i].waits)
				continue;
			g->nodes[i].done = true;
			give(g, i);
			left--;
		}
		if (left == before && !step_over(g))
			return -EINVAL;
	}
	return 0;
}

/* The lists of a diff that are to take the place of its own */
struct ordered {
	uint32_t n;
	struct change *list;
	struct item **of;
};

static void put(struct ordered *o, const struct diff *d, uint32_t at)
{
	o->list[o->n] = d->list[at];
	o->of[o->n++] = d->of[at];
}

static void put_circuit(struct ordered *o, struct diff *d, struct node *node)
{
	put(o, d, node->at);
	if (!node->stepped)
		return;
	note(d->notes, "circuit %s is gone for a moment, as circuits take prefixes of each other",
	     d->list[node->at].name);
	o->list[o->n - 1].step = true;
	o->list[o->n - 1].to = "absent";
	d->list[node->at].from = "absent";	/* when its turn comes again */
	node->stepped = false;
}

/* The changes of circuits in their new order, in the places that they had together */
static int place(struct graph *g, struct diff *d)
{
	size_t room = (size_t)d->n + g->n_order + 1;
	struct ordered o = {
		.list = calloc(room, sizeof(*o.list)), .of = calloc(room, sizeof(struct item *)),
	};
	uint32_t i, next = 0, places = 0;

	if (!o.list || !o.of) {
		free(o.list);
		free(o.of);
		return -ENOMEM;
	}
	for (i = 0; i < d->n; i++) {
		if (!is_circuit(&d->list[i])) {
			put(&o, d, i);
			continue;
		}
		put_circuit(&o, d, &g->nodes[g->order[next++]]);
		for (places++; places == g->n && next < g->n_order; next++)
			put_circuit(&o, d, &g->nodes[g->order[next]]);
	}
	free(d->list);
	free(d->of);
	d->list = o.list;
	d->of = o.of;
	d->n = o.n;
	return 0;
}

/* Most runs move no prefix from one circuit to another. */
static int sort_graph(struct graph *g, struct diff *d)
{
	int rc = add_nodes(g, d) ?: add_givers(g);

	if (rc || !g->givers.n)
		return rc;
	rc = add_edges(g);
	if (rc || !g->n_edges)
		return rc;
	return sort_nodes(g) ?: place(g, d);
}

int diff_order(struct diff *d, struct err *e)
{
	struct graph g = { 0 };
	int rc = sort_graph(&g, d);

	graph_free(&g);
	return rc ? err_set(e, rc, "the circuits' changes cannot be put in order: %s",
			    strerror(-rc)) : 0;
}

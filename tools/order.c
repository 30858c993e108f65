// SPDX-License-Identifier: GPL-2.0
/*
 * A list in another order: see order.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

static int as_they_stand(uint32_t p, uint32_t q)
{
	return p < q ? -1 : p > q;
}

static int by_name(const void *a, const void *b, void *data)
{
	const struct member *list = data;
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

	return strcmp(list[p].circuit.name, list[q].circuit.name) ?: as_they_stand(p, q);
}

static int by_device(const void *a, const void *b, void *data)
{
	const struct member *list = data;
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

	return strcmp(list[p].circuit.dev, list[q].circuit.dev) ?: as_they_stand(p, q);
}

static int make(struct order *o, const struct state *st,
		int (*compare)(const void *a, const void *b, void *data))
{
	uint32_t i;

	o->st = st;
	o->n = st->n_circuits;
	o->at = malloc(((size_t)o->n + 1) * sizeof(*o->at));
	if (!o->at)
		return -ENOMEM;
	for (i = 0; i < o->n; i++)
		o->at[i] = i;
	qsort_r(o->at, o->n, sizeof(*o->at), compare, st->circuits);
	return 0;
}

int order_by_name(struct order *o, const struct state *st)
{
	return make(o, st, by_name);
}

int order_by_device(struct order *o, const struct state *st)
{
	return make(o, st, by_device);
}

void order_free(struct order *o)
{
	free(o->at);
	o->at = NULL;
}

const struct member *order_member(const struct order *o, uint32_t i)
{
	return &o->st->circuits[o->at[i]];
}

/* A circuit that does not go */
bool order_has(const struct order *o, const char *name)
{
	uint32_t i = order_find(o, name);

	for (; i < o->n && !strcmp(order_member(o, i)->circuit.name, name); i++)
		if (member_is_there(order_member(o, i)))
			return true;
	return false;
}

static const char *name_of(const struct member *m)
{
	return m->circuit.name;
}

static const char *device_of(const struct member *m)
{
	return m->circuit.dev;
}

/* The first whose @of is @text or behind it; o->n: none is. */
static uint32_t first_from(const struct order *o, const char *text,
			   const char *(*of)(const struct member *m))
{
	uint32_t low = 0, high = o->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(of(order_member(o, middle)), text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t order_find(const struct order *o, const char *name)
{
	uint32_t i = first_from(o, name, name_of);

	return i < o->n && !strcmp(order_member(o, i)->circuit.name, name) ? i : NOWHERE;
}

uint32_t order_device(const struct order *o, const char *dev)
{
	return first_from(o, dev, device_of);
}

const struct member *order_on(const struct order *o, uint32_t i, const char *dev)
{
	return i < o->n && !strcmp(order_member(o, i)->circuit.dev, dev) ? order_member(o, i) :
									     NULL;
}

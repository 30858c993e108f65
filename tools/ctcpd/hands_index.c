// SPDX-License-Identifier: GPL-2.0
/*
 * Members by device and prefix: see hands_index.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hands_index.h"

struct hands_place {
	struct prefix to;
	int ifindex;
	uint32_t at;		/* in st->circuits, which may move when one is added */
};

static int by_place(const void *a, const void *b)
{
	const struct hands_place *x = a, *y = b;

	if (x->ifindex != y->ifindex)
		return x->ifindex < y->ifindex ? -1 : 1;
	return prefix_compare(&x->to, &y->to);
}

static bool paces(const struct member *m)
{
	return member_is_there(m) && m->circuit.ctcpd && m->circuit.n_to == 1;
}

int hands_index_make(struct hands_index *x, const struct state *st)
{
	uint32_t i;

	memset(x, 0, sizeof(*x));
	x->list = calloc((size_t)st->n_circuits + 1, sizeof(*x->list));
	if (!x->list)
		return -ENOMEM;
	for (i = 0; i < st->n_circuits; i++) {
		const struct member *m = &st->circuits[i];

		if (paces(m))
			x->list[x->n++] = (struct hands_place){
				.to = m->circuit.to[0], .ifindex = m->ifindex, .at = i,
			};
	}
	qsort(x->list, x->n, sizeof(*x->list), by_place);
	return 0;
}

void hands_index_free(struct hands_index *x)
{
	free(x->list);
	memset(x, 0, sizeof(*x));
}

uint32_t hands_index_find(struct hands_index *x, const struct pace *one)
{
	const struct hands_place key = { .to = one->to, .ifindex = one->ifindex };
	uint32_t low = 0, high = x->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = by_place(&key, &x->list[middle]);

		x->compared++;
		if (!order)
			return x->list[middle].at;
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return HANDS_NO_MEMBER;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The circuits of a list, sorted by name or by device, for whoever looks at many at once.
 * An order holds for as long as the list does not change.
 */
#ifndef CTCP_ORDER_H
#define CTCP_ORDER_H

#include "state.h"

#define NOWHERE UINT32_MAX

struct order {
	const struct state *st;
	uint32_t n;
	uint32_t *at;	/* places in the list; those that are equal as they stand there */
};

/* 0 or -ENOMEM; order_free() in either case */
int order_by_name(struct order *o, const struct state *st);
int order_by_device(struct order *o, const struct state *st);
void order_free(struct order *o);

const struct member *order_member(const struct order *o, uint32_t i);

/* By name: the first in o->at that has it, NOWHERE = none */
uint32_t order_find(const struct order *o, const char *name);
bool order_has(const struct order *o, const char *name);

/* By device: where those of @dev begin, if there are any, and the @i-th, NULL = another's */
uint32_t order_device(const struct order *o, const char *dev);
const struct member *order_on(const struct order *o, uint32_t i, const char *dev);

#endif

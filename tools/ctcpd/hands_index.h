/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The members of the state that pace, by device and prefix: sorted once for a batch.
 *
 * Pure.  A batch asks for each of up to some hundreds of remotes among as many members and more;
 * walked for each, 500 among 1000 circuits are half a million comparisons of a prefix.
 */
#ifndef CTCPD_HANDS_INDEX_H
#define CTCPD_HANDS_INDEX_H

#include "paced.h"
#include "state.h"

#define HANDS_NO_MEMBER	UINT32_MAX

struct hands_place;

struct hands_index {
	struct hands_place *list;
	uint32_t n;
	uint64_t compared;	/* by hands_index_find(), so far */
};

/* As they are then: what is added later is not in it.  -ENOMEM */
int hands_index_make(struct hands_index *x, const struct state *st);
void hands_index_free(struct hands_index *x);
/* Of st->circuits, that which paces so, or HANDS_NO_MEMBER */
uint32_t hands_index_find(struct hands_index *x, const struct pace *one);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts by name: the answers of a whole table of the kernel, to be found again.
 */
#ifndef CTCP_MAP_H
#define CTCP_MAP_H

#include <stdint.h>

#include "pool.h"

struct map_entry;

struct map {
	uint32_t n, slots;	/* slots: a power of two, at least twice n; 0 = none so far */
	struct map_entry *table;
	struct pool texts;
};

/* What was there under that name goes.  -ENOMEM */
int map_set(struct map *m, const char *name, const char *value);
/* NULL: there is none */
const char *map_get(const struct map *m, const char *name);
void map_free(struct map *m);

uint32_t text_hash(const char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known by a name, of thousands.  Names and values are the caller's, and last as
 * long as the map.
 */
#ifndef CTCP_MAP_H
#define CTCP_MAP_H

#include <stdint.h>

struct map_entry;

struct map {
	uint32_t n, slots;	/* slots: a power of two, n is at most 3/4 of it; 0 = none so far */
	struct map_entry *table;
};

/* So that @n more need no memory.  -ENOMEM, also of more than 2^29 */
int map_room(struct map *m, uint32_t n);
/* In place of what was there under that name.  -ENOMEM */
int map_set(struct map *m, const char *name, void *value);
/* NULL: there is none */
void *map_get(const struct map *m, const char *name);
void map_free(struct map *m);

#endif

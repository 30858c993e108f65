// SPDX-License-Identifier: GPL-2.0
/*
 * What is known by a name: see map.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

#define SLOTS_LEAST 64U
#define MAP_MOST (1U << 29)

struct map_entry {
	uint32_t hash;
	const char *name;	/* NULL: the slot is free */
	void *value;
};

/* FNV-1a, its upper bits in its lower ones, too */
static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261U;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619U;
	return hash ^ hash >> 15;
}

/* The slot that has it, or where it would be */
static struct map_entry *slot_of(const struct map *m, uint32_t hash, const char *name)
{
	uint32_t i = hash & (m->slots - 1);

	while (m->table[i].name &&
	       (m->table[i].hash != hash || strcmp(m->table[i].name, name)))
		i = (i + 1) & (m->slots - 1);
	return &m->table[i];
}

int map_room(struct map *m, uint32_t n)
{
	struct map bigger = *m;
	uint32_t i;

	if (n > MAP_MOST - m->n)
		return -ENOMEM;
	if (4 * (m->n + n) <= 3 * (uint64_t)m->slots)
		return 0;
	if (!m->slots)
		bigger.slots = SLOTS_LEAST;
	while (4 * (m->n + n) > 3 * (uint64_t)bigger.slots)
		bigger.slots *= 2;
	bigger.table = calloc(bigger.slots, sizeof(*bigger.table));
	if (!bigger.table)
		return -ENOMEM;
	for (i = 0; i < m->slots; i++)
		if (m->table[i].name)
			*slot_of(&bigger, m->table[i].hash, m->table[i].name) = m->table[i];
	free(m->table);
	*m = bigger;
	return 0;
}

int map_set(struct map *m, const char *name, void *value)
{
	uint32_t hash = hash_of(name);
	struct map_entry *entry;

	if (map_room(m, 1))
		return -ENOMEM;
	entry = slot_of(m, hash, name);
	m->n += !entry->name;
	*entry = (struct map_entry){ .hash = hash, .name = name, .value = value };
	return 0;
}

void *map_get(const struct map *m, const char *name)
{
	return m->slots ? slot_of(m, hash_of(name), name)->value : NULL;
}

void map_free(struct map *m)
{
	free(m->table);
	memset(m, 0, sizeof(*m));
}

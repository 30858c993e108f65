// SPDX-License-Identifier: GPL-2.0
/*
 * Slots of what is paced by sockets: see pace_slots.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pace_slots.h"
#include "units.h"

#define MAPPED_BITS	96U

_Static_assert(PACE_SLOTS >= 2 * PACED_MAX, "all may go while as many come");
/* for the kernel's program and for this one */
_Static_assert(sizeof(struct pace_slot) == 80 && sizeof(struct pace_key) == 28, "other layouts");
_Static_assert(PACE_LEAST >= RATE_MIN, "a socket would have less than any remote");

/* --- keys ------------------------------------------------------------------ */

static bool is_mapped(const struct prefix *p)
{
	static const unsigned char mapped[12] = { [10] = 0xff, 0xff };

	return p->family == AF_INET6 && p->len >= MAPPED_BITS &&
	       !memcmp(p->addr, mapped, sizeof(mapped));
}

int pace_key_of(const struct pace *one, struct pace_key *key)
{
	const struct prefix *to = &one->to;
	bool mapped = is_mapped(to);
	unsigned int len = mapped ? to->len - MAPPED_BITS : to->len;

	memset(key, 0, sizeof(*key));
	if (one->ifindex <= 0 || (to->family != AF_INET && to->family != AF_INET6))
		return -EINVAL;
	key->family = mapped ? AF_INET : (uint32_t)to->family;
	if (len > (key->family == AF_INET ? 32 : 128))
		return -EINVAL;
	key->bits = PACE_KEY_BITS(len);
	key->ifindex = (uint32_t)one->ifindex;
	if (mapped)
		memcpy(key->addr, to->addr + 12, 4);
	else
		memcpy(key->addr, to->addr, key->family == AF_INET ? 4 : 16);
	return 0;
}

struct pace pace_of_slot(const struct pace_slot *slot)
{
	struct pace one = {
		.to = { .family = (int)slot->key.family,
			.len = slot->key.bits - PACE_KEY_BITS(0) },
		.ifindex = (int)slot->key.ifindex, .rate = slot->rate, .rtt_us = slot->rtt_us,
	};

	memcpy(one.to.addr, slot->key.addr, sizeof(one.to.addr));
	return one;
}

/* --- from the slots to a list ---------------------------------------------- */

/* A slot that is used, or one of the list, by its key */
struct entry {
	struct pace_key key;
	uint32_t i;
};

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct pace_key));
}

static uint32_t collect_used(const struct pace_slot *slots, struct entry *used)
{
	uint32_t i, n = 0;

	for (i = 0; i < PACE_SLOTS; i++)
		if (!pace_slot_is_free(&slots[i]))
			used[n++] = (struct entry){ slots[i].key, i };
	qsort(used, n, sizeof(*used), compare);
	return n;
}

static int check_one(const struct pace *one, struct pace_key *key, struct err *e)
{
	if (pace_key_of(one, key))
		return err_set(e, -EINVAL, "device %d and family %d are no prefix of a device",
			       one->ifindex, one->to.family);
	if (one->rate && (one->rate < RATE_MIN || one->rate > RATE_MAX))
		return err_set(e, -ERANGE, "a rate of %llu bytes/s is not from %llu to %llu",
			       (unsigned long long)one->rate, RATE_MIN, RATE_MAX);
	return 0;
}

static int collect_wanted(const struct pace *list, uint32_t n, struct entry *wanted, uint32_t *at,
			  struct err *e)
{
	char text[64];
	uint32_t i;
	int rc;

	for (i = 0; i < n; i++) {
		wanted[i].i = i;
		rc = check_one(&list[i], &wanted[i].key, e);
		if (rc) {
			*at = i;
			return rc;
		}
	}
	qsort(wanted, n, sizeof(*wanted), compare);
	for (i = 1; i < n; i++) {
		if (compare(&wanted[i - 1], &wanted[i]))
			continue;
		*at = wanted[i].i;
		return err_set(e, -EEXIST, "%s is in the list twice",
			       format_prefix(text, sizeof(text), &list[*at].to));
	}
	return 0;
}

static void add(struct pace_edits *edits, enum pace_edit_kind kind, uint32_t slot,
		const struct entry *wanted)
{
	edits->list[edits->n++] = (struct pace_edit){
		.kind = kind, .slot = slot, .at = wanted->i, .key = wanted->key,
	};
}

static void edit_used(struct pace_edits *edits, const struct pace_slot *slots, uint32_t slot,
		      const struct entry *wanted, uint64_t rate)
{
	uint64_t was = slots[slot].rate;

	if (was == rate)
		return;
	add(edits, !rate ? PACE_DROP : was ? PACE_RATE : PACE_ADD, slot, wanted);
}

static int edit_new(struct pace_edits *edits, const struct pace_slot *slots, uint32_t *free_slot,
		    const struct entry *wanted, struct err *e)
{
	while (*free_slot < PACE_SLOTS && !pace_slot_is_free(&slots[*free_slot]))
		(*free_slot)++;
	if (*free_slot == PACE_SLOTS)
		return err_set(e, -ENOSPC, "no more than %u prefixes can be paced by sockets",
			       PACE_SLOTS);
	add(edits, PACE_ADD, (*free_slot)++, wanted);
	return 0;
}

/* Both in order of their keys, so that one walk finds what is there */
static int walk(const struct pace_slot *slots, const struct pace *list, uint32_t n,
		struct entry *used, const struct entry *wanted, struct pace_edits *edits,
		uint32_t *at, struct err *e)
{
	uint32_t i, free_slot = 0, n_used = collect_used(slots, used), u = 0;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		uint64_t rate = list[wanted[i].i].rate;

		while (u < n_used && compare(&used[u], &wanted[i]) < 0)
			u++;
		*at = wanted[i].i;
		if (u < n_used && !compare(&used[u], &wanted[i]))
			edit_used(edits, slots, used[u].i, &wanted[i], rate);
		else if (rate)
			rc = edit_new(edits, slots, &free_slot, &wanted[i], e);
	}
	return rc;
}

int pace_edits_make(const struct pace_slot slots[PACE_SLOTS], const struct pace *list, uint32_t n,
		    struct pace_edits *edits, uint32_t *at, struct err *e)
{
	struct entry *used = calloc(PACE_SLOTS, sizeof(*used));
	struct entry *wanted = calloc(n + 1, sizeof(*wanted));
	int rc = -ENOMEM;

	edits->n = 0;
	edits->list = calloc(n + 1, sizeof(*edits->list));
	if (!used || !wanted || !edits->list) {
		err_set(e, rc, "out of memory");
		goto out;
	}
	rc = collect_wanted(list, n, wanted, at, e);
	if (!rc)
		rc = walk(slots, list, n, used, wanted, edits, at, e);
out:
	free(used);
	free(wanted);
	if (rc) {
		free(edits->list);
		*edits = (struct pace_edits){ 0 };
	}
	return rc;
}

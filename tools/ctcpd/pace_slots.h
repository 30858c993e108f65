/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slots of what is paced by sockets (pace_slot.h): keys of prefixes, and what leads from the
 * slots that there are to what a list of changes asks for.
 *
 * Pure: no system call.
 */
#ifndef CTCPD_PACE_SLOTS_H
#define CTCPD_PACE_SLOTS_H

#include "pace_slot.h"
#include "paced.h"

enum pace_edit_kind {
	PACE_ADD,	/* a free slot, or one that was going, and a key in the trie */
	PACE_RATE,	/* another rate, in place */
	PACE_DROP,	/* the key goes; the slot is free once no socket has it */
};

struct pace_edit {
	enum pace_edit_kind kind;
	uint32_t slot;
	uint32_t at;		/* in the list */
	struct pace_key key;
};

struct pace_edits {
	uint32_t n;
	struct pace_edit *list;
};

/* Of a mapped prefix (::ffff:192.0.2.0/120) that of IPv4.  -EINVAL: no prefix, no device */
int pace_key_of(const struct pace *one, struct pace_key *key);
struct pace pace_of_slot(const struct pace_slot *slot);

static inline bool pace_slot_is_free(const struct pace_slot *slot)
{
	return !slot->key.family;
}

/*
 * What is as asked for already has no edit, so that the same again does nothing.  *@at: what in
 * the list is at fault.  -EINVAL, -ERANGE: no prefix, device or rate; -EEXIST: it is in the list
 * twice; -ENOSPC: no slot is free; -ENOMEM.  The caller frees edits->list.
 */
int pace_edits_make(const struct pace_slot slots[PACE_SLOTS], const struct pace *list, uint32_t n,
		    struct pace_edits *edits, uint32_t *at, struct err *e);

#endif

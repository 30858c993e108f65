/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on purpose, in the test binary ctcp-setup-faulty alone: it dies by
 * SIGKILL after its Nth change (CTCP_DIE_AT=N) or fails it (CTCP_FAIL_AT=N).
 * Counted from 1, over what apply, rollback and undo change.
 */
#ifndef CTCP_FAULT_H
#define CTCP_FAULT_H

#include "item.h"

#ifdef CTCP_FAULT_INJECT
int faulty_set(struct backend *b, enum item_kind kind, const char *name,
	       const char *value, struct err *e);
#else
static inline int faulty_set(struct backend *b, enum item_kind kind,
			     const char *name, const char *value, struct err *e)
{
	return b->set(b, kind, name, value, e);
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on purpose, in the test binary ctcp-setup-faulty alone: it dies by
 * SIGKILL after its Nth change (CTCP_DIE_AT=N) or fails it (CTCP_FAIL_AT=N).
 * Counted from 1, over what apply, rollback and undo change.  CTCP_DEAF_AT=N: the Nth
 * answer of the kernel is not received, and stays in its socket.
 */
#ifndef CTCP_FAULT_H
#define CTCP_FAULT_H

#include <sys/socket.h>

#include "item.h"

#ifdef CTCP_FAULT_INJECT
ssize_t faulty_recv(int fd, void *buf, size_t len, int flags);
int faulty_set(struct backend *b, enum item_kind kind, const char *name,
	       const char *value, struct err *e);
#else
static inline ssize_t faulty_recv(int fd, void *buf, size_t len, int flags)
{
	return recv(fd, buf, len, flags);
}

static inline int faulty_set(struct backend *b, enum item_kind kind,
			     const char *name, const char *value, struct err *e)
{
	return b->set(b, kind, name, value, e);
}
#endif

#endif

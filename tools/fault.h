/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on purpose, in the test binary ctcp-setup-faulty alone: it dies by
 * SIGKILL after its Nth change (CTCP_DIE_AT=N) or fails it (CTCP_FAIL_AT=N).
 * Counted from 1, over what apply, rollback and undo change.  CTCP_DEAF_AT=N: the Nth
 * answer of the kernel is not received, and stays in its socket.  What --confirm-within does
 * before the first change counts, too, and the process that holds its timer is spared.
 * CTCP_HOLD=SECONDS: adopt has each duplicate of a socket for so long.
 * CTCP_COUNT: at its end it tells how many answers of netlink it received, and how often it
 * looked a device or a sysctl's file up (which is how it finds the module).
 */
#ifndef CTCP_FAULT_H
#define CTCP_FAULT_H

#include <linux/netlink.h>
#include <sys/socket.h>

#include "item.h"

#ifdef CTCP_FAULT_INJECT
ssize_t faulty_recv(int fd, void *buf, size_t len, int flags, struct sockaddr_nl *from);
int faulty_recvmmsg(int fd, struct mmsghdr *list, unsigned int n, int flags);
int faulty_set(struct backend *b, enum item_kind kind, const char *name,
	       const char *from, const char *value, struct err *e);
int faulty_step(const char *name, struct err *e);
void faulty_end(void);
void faulty_look(void);
void faulty_hold(void);
#else
static inline ssize_t faulty_recv(int fd, void *buf, size_t len, int flags,
				  struct sockaddr_nl *from)
{
	socklen_t size = sizeof(*from);

	return recvfrom(fd, buf, len, flags, (struct sockaddr *)from, &size);
}

static inline int faulty_recvmmsg(int fd, struct mmsghdr *list, unsigned int n, int flags)
{
	return recvmmsg(fd, list, n, flags, NULL);
}

static inline int faulty_set(struct backend *b, enum item_kind kind,
			     const char *name, const char *from, const char *value,
			     struct err *e)
{
	return b->set(b, kind, name, from, value, e);
}

static inline int faulty_step(const char *name, struct err *e)
{
	(void)name;
	(void)e;
	return 0;
}

static inline void faulty_end(void)
{
}

static inline void faulty_look(void)
{
}

static inline void faulty_hold(void)
{
}
#endif

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on purpose: see fault.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault.h"

#ifdef CTCP_FAULT_INJECT
static int number(const char *name)
{
	const char *s = getenv(name);

	return s ? atoi(s) : 0;
}

static int changes, answers, looks;

static void tell_counts(void)
{
	fprintf(stderr, "answers=%d looks=%d\n", answers, looks);
}

void faulty_look(void)
{
	if (!looks++ && getenv("CTCP_COUNT"))
		atexit(tell_counts);
}

/* Between two changes. */
int faulty_step(const char *name, struct err *e)
{
	if (++changes == number("CTCP_FAIL_AT"))
		return err_set(e, -EIO, "%s: failed on purpose", name);
	if (changes == number("CTCP_DIE_AT"))
		raise(SIGKILL);
	return 0;
}

void faulty_hold(void)
{
	sleep((unsigned int)number("CTCP_HOLD"));
}

void faulty_end(void)
{
	unsetenv("CTCP_FAIL_AT");
	unsetenv("CTCP_DIE_AT");
	unsetenv("CTCP_DEAF_AT");
}

int faulty_set(struct backend *b, enum item_kind kind, const char *name,
	       const char *from, const char *value, struct err *e)
{
	int rc;

	if (++changes == number("CTCP_FAIL_AT"))
		return err_set(e, -EIO, "%s: failed on purpose", name);
	rc = b->set(b, kind, name, from, value, e);
	if (changes == number("CTCP_DIE_AT"))
		raise(SIGKILL);
	return rc;
}

ssize_t faulty_recv(int fd, void *buf, size_t len, int flags, struct sockaddr_nl *from)
{
	socklen_t size = sizeof(*from);

	if (++answers == number("CTCP_DEAF_AT")) {
		fprintf(stderr, "deaf on purpose\n");
		errno = ENOBUFS;
		return -1;
	}
	return recvfrom(fd, buf, len, flags, (struct sockaddr *)from, &size);
}

/* One at a time, as each counts. */
int faulty_recvmmsg(int fd, struct mmsghdr *list, unsigned int n, int flags)
{
	struct iovec *to = list->msg_hdr.msg_iov;
	ssize_t len;

	(void)n;
	len = faulty_recv(fd, to->iov_base, to->iov_len, flags & ~MSG_WAITFORONE,
			  list->msg_hdr.msg_name);
	if (len < 0)
		return -1;
	list->msg_len = (unsigned int)len;
	return 1;
}
#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Notifications of the kernel: see hear.h.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "hear.h"

#define HEAR_BUFFER (4 << 20)	/* bytes; some ten thousand routes that change at once */

/* us, which nobody sets */
uint64_t hear_clock(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

int hear_open(struct hear *h, const int *groups, int n, struct err *e)
{
	int rc = nlm_open(&h->nl, NETLINK_ROUTE, e), size = HEAR_BUFFER, i, fd;

	h->groups = groups;
	h->n = n;
	if (rc)
		return rc;
	fd = hear_fd(h);
	/* past the machine's limit with CAP_NET_ADMIN there, else up to it */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	for (i = 0; i < n; i++) {
		int group = groups[i];

		if (mnl_socket_setsockopt(h->nl.sock, NETLINK_ADD_MEMBERSHIP, &group,
					  sizeof(group)))
			return err_set(e, -errno,
				       "cannot subscribe to the kernel's notifications: %s",
				       strerror(errno));
	}
	return 0;
}

void hear_close(struct hear *h)
{
	nlm_close(&h->nl);
}

int hear_fd(const struct hear *h)
{
	return mnl_socket_get_fd(h->nl.sock);
}

/* What has come, which must be something.  *@lost: some of it did not fit. */
int hear_take(struct nl *nl, mnl_cb_t each, void *data, bool *lost, struct err *e)
{
	char buf[65536];
	ssize_t n = nlm_hear(nl, buf, sizeof(buf), 0);

	/* ENOSPC: one that is longer than any of a kind that matters here */
	*lost = n < 0 && (errno == ENOBUFS || errno == ENOSPC);
	if (n < 0 && !*lost && errno != EINTR && errno != EAGAIN)
		return err_set(e, -errno, "no more notifications from the kernel: %s",
			       strerror(errno));
	if (n > 0 && nlm_each(buf, (size_t)n, each, data) < 0)
		*lost = true;
	return 0;
}

int hear_read(struct hear *h, mnl_cb_t each, void *data, bool *lost, struct err *e)
{
	int rc = hear_take(&h->nl, each, data, lost, e);

	if (rc || !*lost)
		return rc;
	hear_close(h);
	return hear_open(h, h->groups, h->n, e);
}

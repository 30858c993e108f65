// SPDX-License-Identifier: GPL-2.0
/*
 * Wait for devices: see appear.h.
 *
 * The kernel tells of each link that comes or changes (RTNLGRP_LINK).  Heard first and
 * looked at then, nothing is missed, and nothing is asked again before it may have changed.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "appear.h"
#include "hear.h"

/* What they say does not matter, only that there was something. */
static int on_link(const struct nlmsghdr *nlh, void *data)
{
	(void)nlh;
	(void)data;
	return MNL_CB_OK;
}

static int wait_until(struct hear *links, uint64_t deadline, appear_fn is_there,
		      const void *data, struct err *e)
{
	struct pollfd fd = { .events = POLLIN };
	struct timespec left;
	bool lost;
	int rc = 0;

	while (!rc && !is_there(data)) {
		uint64_t now = hear_clock();

		if (now >= deadline)
			return 0;
		left.tv_sec = (time_t)((deadline - now) / 1000000);
		left.tv_nsec = (long)((deadline - now) % 1000000 * 1000);
		fd.fd = hear_fd(links);
		if (ppoll(&fd, 1, &left, NULL) > 0)
			rc = hear_read(links, on_link, NULL, &lost, e);
	}
	return rc;
}

int appear_wait(appear_fn is_there, const void *data, uint64_t us, struct err *e)
{
	static const int groups[] = { RTNLGRP_LINK };
	uint64_t deadline = hear_clock() + us;
	struct hear links;
	int rc = hear_open(&links, groups, 1, e);

	if (!rc)
		rc = wait_until(&links, deadline, is_there, data, e);
	hear_close(&links);
	return rc;
}

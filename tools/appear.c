// SPDX-License-Identifier: GPL-2.0
/*
 * Wait until the devices of all circuits are there and up, or the time is over.
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
#include "link.h"

static bool all_are_up(const struct state *wanted)
{
	uint32_t i;

	for (i = 0; i < wanted->n_circuits; i++)
		if (!link_is_up(wanted->circuits[i].circuit.dev))
			return false;
	return true;
}

static bool one_is_up(const struct state *wanted, enum standing standing)
{
	uint32_t i;

	for (i = 0; i < wanted->n_circuits; i++)
		if (wanted->circuits[i].standing == standing &&
		    link_is_up(wanted->circuits[i].circuit.dev))
			return true;
	return false;
}

/* What they say does not matter, only that there was something. */
static int on_link(const struct nlmsghdr *nlh, void *data)
{
	(void)nlh;
	(void)data;
	return MNL_CB_OK;
}

/* What is waited for */
struct awaited {
	const struct state *wanted;
	bool any;
	enum standing standing;
};

static bool is_there(const struct awaited *a)
{
	return a->any ? one_is_up(a->wanted, a->standing) : all_are_up(a->wanted);
}

static int wait_until(struct hear *links, uint64_t deadline, const struct awaited *a,
		      struct err *e)
{
	struct pollfd fd = { .events = POLLIN };
	struct timespec left;
	bool lost;
	int rc = 0;

	while (!rc && !is_there(a)) {
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

static int wait_for(const struct awaited *a, uint64_t us, struct err *e)
{
	static const int groups[] = { RTNLGRP_LINK };
	uint64_t deadline = hear_clock() + us;
	struct hear links;
	int rc = hear_open(&links, groups, 1, e);

	if (!rc)
		rc = wait_until(&links, deadline, a, e);
	hear_close(&links);
	return rc;
}

/* 0: time to apply, which says what is still missing. */
int appear_wait(const struct state *wanted, uint64_t us, struct err *e)
{
	const struct awaited a = { .wanted = wanted };

	return wait_for(&a, us, e);
}

int appear_wait_any(const struct state *wanted, enum standing standing, uint64_t us,
		    struct err *e)
{
	const struct awaited a = { .wanted = wanted, .any = true, .standing = standing };

	return wait_for(&a, us, e);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs share that set hands by command: ctcpd_hands.c, ctcpd_hands_bpf.c.
 */
#ifndef TESTS_HANDS_COMMAND_H
#define TESTS_HANDS_COMMAND_H

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctcpd/hands_class.h"
#include "units.h"

#define LIST_MAX 1024U

static const char * const states[] = {
	[HAND_SET] = "set", [HAND_CHANGED] = "changed", [HAND_DOWN] = "down", [HAND_GONE] = "gone",
};

/* For tests to match; strerrorname_np() is not in glibc 2.31, which is built with too. */
static inline const char *errno_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{ EPERM, "EPERM" }, { ENOENT, "ENOENT" }, { EIO, "EIO" }, { EAGAIN, "EAGAIN" },
		{ ENOMEM, "ENOMEM" }, { EACCES, "EACCES" }, { EBUSY, "EBUSY" },
		{ EEXIST, "EEXIST" }, { ENODEV, "ENODEV" }, { EINVAL, "EINVAL" },
		{ ENOSPC, "ENOSPC" }, { EROFS, "EROFS" }, { ERANGE, "ERANGE" },
		{ EALREADY, "EALREADY" }, { EOPNOTSUPP, "EOPNOTSUPP" },
	};
	size_t i = 0;

	while (i < sizeof(names) / sizeof(*names) && names[i].err != err)
		i++;
	return i < sizeof(names) / sizeof(*names) ? names[i].name : strerror(err);
}

static inline int index_of(const char *dev)
{
	return *dev == '#' ? atoi(dev + 1) : (int)if_nametoindex(dev);
}

static inline int parse_one(char **words, bool rated, struct pace *one, struct err *e)
{
	uint64_t rtt = 0;
	int rc;

	memset(one, 0, sizeof(*one));
	one->ifindex = index_of(words[0]);
	rc = parse_prefix(words[1], &one->to, e);
	if (!rc && rated && strcmp(words[2], "0"))
		rc = parse_rate(words[2], &one->rate, e);
	if (!rc && rated)
		rc = parse_time(words[3], &rtt, e);
	one->rtt_us = (uint32_t)rtt;
	return rc;
}

static inline void tell(const struct hands_result *r, int rc)
{
	uint32_t i;

	printf("result rc=%d changed=%u at=%d device=%d\n", rc, r->changed, (int)r->at, r->device);
	for (i = 0; i < r->notes.n; i++)
		printf("note %s\n", r->notes.text[i]);
}

static inline int print_hand(const struct hand *h, void *unused)
{
	char to[64];

	(void)unused;
	printf("hand name=%s dev=%s index=%d to=%s rate=%llu state=%s device=%d why=%s\n", h->name,
	       h->dev, h->pace.ifindex, format_prefix(to, sizeof(to), &h->pace.to),
	       (unsigned long long)h->pace.rate * 8, states[h->state], h->device, h->why);
	return 0;
}

#endif

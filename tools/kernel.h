/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backend that is the running kernel: items by netlink, sysctl and module; set() reads
 * back what it set, -EIO: the kernel has something else (item.h has the other errors).
 */
#ifndef CTCP_KERNEL_H
#define CTCP_KERNEL_H

#include <net/if.h>

#include "genl.h"
#include "item.h"
#include "known.h"
#include "nl.h"
#include "route.h"

struct kernel {
	struct backend backend;
	struct nl nl;
	struct genl genl;
	const char *has_congctl;	/* of routes that are posted: the kernel has it */
	struct known known;	/* until something is set */
	struct {
		char name[IFNAMSIZ];
		int index;
	} device;		/* asked for last, of many items that go at once */
	bool no_module;		/* when those were begun */
};

int kernel_open(struct kernel *k, struct err *e);
void kernel_ahead(struct kernel *k, void (*ask)(void *data), void *data);
void kernel_ahead_end(struct kernel *k);
int kernel_route(struct kernel *k, const struct prefix *to, struct route *r, struct err *e);
void kernel_know(struct kernel *k, uint32_t routes);
void kernel_know_device(struct kernel *k, const char *dev, int ifindex);
bool kernel_has_module(const struct kernel *k);
void kernel_close(struct kernel *k);

#endif

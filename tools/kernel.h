/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backend that is the running kernel: items by netlink, sysctl and module; set() reads
 * back what it set, -EIO: the kernel has something else (item.h has the other errors).
 */
#ifndef CTCP_KERNEL_H
#define CTCP_KERNEL_H

#include "genl.h"
#include "item.h"
#include "nl.h"

struct kernel {
	struct backend backend;
	struct nl nl;
	struct genl genl;
};

int kernel_open(struct kernel *k, struct err *e);
void kernel_ahead(struct kernel *k, void (*ask)(void *data), void *data);
void kernel_ahead_end(struct kernel *k);
void kernel_close(struct kernel *k);

#endif

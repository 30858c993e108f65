/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backend that is the running kernel: items by netlink, sysctl and module.
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
void kernel_close(struct kernel *k);

#endif

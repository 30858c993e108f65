/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values under /proc/sys, of the network namespace this process is in: one line, its words
 * with single blanks between.  -errno is open(2)'s, read(2)'s or write(2)'s.
 *
 * sysctl_exists(): false only where the kernel says that it is not there; where it says
 * nothing, whoever reads it next learns why.
 */
#ifndef CTCP_SYSCTL_H
#define CTCP_SYSCTL_H

#include <stdbool.h>

#include "err.h"
#include "item.h"

int sysctl_get(const char *name, char value[ITEM_VALUE], struct err *e);
int sysctl_set(const char *name, const char *value, struct err *e);
bool sysctl_exists(const char *name);
int sysctl_writable(const char *name, bool *writable, struct err *e);

#endif

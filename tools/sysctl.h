/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values under /proc/sys, of the network namespace this process is in: one line, its words
 * with single blanks between.  -errno is open(2)'s, read(2)'s or write(2)'s.
 */
#ifndef CTCP_SYSCTL_H
#define CTCP_SYSCTL_H

#include <stdbool.h>

#include "err.h"
#include "item.h"

int sysctl_get(const char *name, char value[ITEM_VALUE], struct err *e);
int sysctl_set(const char *name, const char *value, struct err *e);
bool sysctl_exists(const char *name);
bool sysctl_writable(const char *name);

#endif

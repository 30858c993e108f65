/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion controls that the kernel has.
 */
#ifndef CTCP_CONGCTL_H
#define CTCP_CONGCTL_H

#include <stdbool.h>

#include "err.h"

bool congctl_is_here(const char *name);
int congctl_need(const char *name, struct err *e);

#endif

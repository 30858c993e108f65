/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel module, loaded and removed as modprobe does, without a fork.  module_remove():
 * -EBUSY, -EAGAIN: it is in use.
 */
#ifndef CTCP_KMOD_H
#define CTCP_KMOD_H

#include <stdbool.h>

#include "err.h"

bool module_is_known(const char *name);
int module_load(const char *name, struct err *e);
int module_remove(const char *name, struct err *e);

#endif

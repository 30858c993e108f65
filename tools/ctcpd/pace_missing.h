/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What pacing by sockets needs of the process, the kernel and the machine, asked before the
 * kernel refuses with no more than a number.
 */
#ifndef CTCPD_PACE_MISSING_H
#define CTCPD_PACE_MISSING_H

#include <stddef.h>

#include "err.h"

/* -EACCES: a capability */
int pace_missing_rights(struct err *e);
/* -EOPNOTSUPP: BTF, or a bpffs below which to pin */
int pace_missing_here(struct err *e);
/* Where the hierarchy of cgroup v2 is mounted.  -EOPNOTSUPP: nowhere */
int pace_cgroup_root(char *dir, size_t len, struct err *e);

#endif

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
/*
 * Of a map of marks, by its descriptor: whether a socket can have one.  -EOPNOTSUPP: the kernel has
 * no memory for that, which it takes without waiting (kernel/bpf/bpf_local_storage.c:
 * bpf_selem_alloc()).  As of Linux 7.3 it never has on a processor that cannot exchange two words
 * at once (mm/slub.c: kmalloc_nolock()), and the program that asks there is told of nothing.
 */
int pace_missing_marks(int marks, struct err *e);
/* Where the hierarchy of cgroup v2 is mounted.  -EOPNOTSUPP: nowhere */
int pace_cgroup_root(char *dir, size_t len, struct err *e);

#endif

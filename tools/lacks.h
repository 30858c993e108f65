/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kinds of qdisc and classifier that a kernel may be built without, or whose modules may not be
 * installed.
 *
 * net/sched/sch_api.c: qdisc_create(), net/sched/cls_api.c: tcf_proto_lookup_ops(): the kernel
 * runs modprobe for one that it does not have, and answers -ENOENT if it has none after that.
 */
#ifndef CTCP_LACKS_H
#define CTCP_LACKS_H

#include "err.h"

/* As the names of their modules begin */
#define LACKS_QDISC		"sch"
#define LACKS_CLASSIFIER	"cls"

/*
 * @rc: the answer to one that was to be made; @why: the kernel's words, to which the module and
 * its option are added.  -EOPNOTSUPP in place of -ENOENT, and any other as it is
 */
int lacks_kind(int rc, const char *family, const char *kind, struct err *why);

#endif

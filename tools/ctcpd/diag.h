/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of the TCP sockets of this network namespace, read by sock_diag(7).
 *
 * The kernel filters: established sockets (and those that close and still have data to
 * send), with INET_DIAG_INFO, CONG and SKMEMINFO, none of the loopback's.  diag_all() reads
 * all of them by one dump; diag_one() asks for one by its identity, which costs the kernel a
 * hash lookup.
 *
 * diag_all(): -ENOENT, -EPROTONOSUPPORT or -EOPNOTSUPP, the kernel lists none; what @each returns
 * ends it.
 * diag_one(): -ENOENT, it is gone; one whose state is none of those above is told all the same,
 * with its last counters.  sample_parse(): -EBADMSG, and @at_us is 0.
 */
#ifndef CTCPD_DIAG_H
#define CTCPD_DIAG_H

#include "nl.h"
#include "sample.h"

typedef int (*sample_fn)(const struct sample *s, void *data);

struct diag {
	struct nl nl;
};

int diag_open(struct diag *d, struct err *e);
void diag_close(struct diag *d);
int diag_all(struct diag *d, sample_fn each, void *data, struct err *e);
int diag_one(struct diag *d, const struct conn *who, struct sample *s, struct err *e);
uint64_t diag_clock(void);
bool diag_sends(const struct conn *c);	/* in one of the states that diag_all() lists */
int sample_parse(const struct nlmsghdr *nlh, struct sample *s);

#endif

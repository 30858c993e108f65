/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP connections of this network namespace, as sock_diag(7) tells of them: those that
 * may still have something to send.
 *
 * conn_parse(): -EBADMSG, not a connection.  conns_read(): -ENOENT or -EPROTONOSUPPORT, the
 * kernel lists none; what @each returns ends it.  conn_device(): 0, no way leads there.
 */
#ifndef CTCP_CONN_H
#define CTCP_CONN_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "circuit.h"
#include "err.h"
#include "nl.h"

#define ALGORITHM_LEN	16	/* TCP_CA_NAME_MAX */

struct conn {
	struct prefix peer, local;	/* a v4-mapped one is IPv4 */
	uint16_t peer_port, local_port;
	uint8_t state;			/* TCP_ESTABLISHED, ... */
	uint32_t ifindex;		/* of the device that it is bound to, 0 = none */
	uint32_t mark, uid;
	uint32_t inode;			/* 0: no process has it */
	uint64_t cookie;		/* no two sockets have one */
	char algorithm[ALGORITHM_LEN];
	bool mptcp;			/* a subflow */
	/* of tcp_info: */
	uint32_t min_rtt;		/* us, 0 = not known */
	uint32_t mss;			/* data in a segment */
	uint32_t unsent;		/* bytes that it has and may not send yet */
	uint64_t acked;			/* bytes */
	uint64_t busy, rwnd, sndbuf;	/* us with data, held by a window, by its buffer */
};

typedef int (*conn_fn)(const struct conn *c, void *data);

void conn_info(const void *info, size_t len, struct conn *c);
int conn_parse(const struct nlmsghdr *nlh, struct conn *c);
int conns_read(conn_fn each, void *data, struct err *e);
/* @why: of a dump that failed with @rc; a sentence for it in @e */
int conns_error(int rc, const struct err *why, struct err *e);
uint32_t conn_device(struct nl *nl, const struct conn *c);

#endif

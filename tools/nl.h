/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink over libmnl, with the kernel's own error text.
 *
 * libnl-3 carries links here; it has a 32-bit tbf rate, no fq, no string metrics,
 * in Debian 11 no lookup of a route, and drops the extended acknowledgement, so
 * that qdiscs, routes and circuits go this way.
 *
 * Each asks and waits for the whole answer: -errno is the kernel's, with its own words in
 * the sentence; -EBADMSG is an answer that is cut short, -ENOBUFS one that was lost.  The
 * socket is opened anew after it.  @each gets every message, as mnl_cb_run() does it:
 * MNL_CB_OK to go on, MNL_CB_ERROR with errno to end.
 *
 * What another than the kernel has sent is dropped.
 *
 * nlm_is_own(): a notification of what this process asked for.  The kernel tells all who
 * listen of a qdisc or class that somebody merely asks for, as of one that was made.
 *
 * nlm_not_known(): @rc and a sentence, of a change that is unanswered and that nothing takes
 * back: @what may have come true, @command of ctcp-setup shows it.
 */
#ifndef CTCP_NL_H
#define CTCP_NL_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "err.h"

struct nl {
	struct mnl_socket *sock;	/* NULL: to be opened with the next request */
	int protocol;			/* NETLINK_ROUTE, NETLINK_GENERIC */
	uint32_t seq;
	struct ahead *ahead;		/* ahead.h; NULL: nothing is asked ahead */
	struct post *post;		/* NULL: each change is waited for */
	bool unanswered;		/* what became of the last change, nobody knows */
};

/*
 * One message to build in place, in cleared space: libmnl leaves what it pads attributes with
 * as it was, and two questions are the same if their bytes are (ahead.c).  Ours are all well
 * under 2 KiB.
 */
union nl_request {
	char space[4096];	/* the first, so that "= { 0 }" clears all of it */
	struct nlmsghdr hdr;
};

int nlm_open(struct nl *nl, int protocol, struct err *e);
void nlm_close(struct nl *nl);
bool nlm_is_own(const struct nlmsghdr *nlh);
int nlm_not_known(int rc, const char *what, const char *command, struct err *e);
int nlm_talk(struct nl *nl, struct nlmsghdr *req, struct err *e);
int nlm_get(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void *data,
	    struct err *e);
ssize_t nlm_hear(const struct nl *nl, void *buf, size_t len, int flags);
int nlm_each(const void *buf, size_t len, mnl_cb_t each, void *data);
int nlm_dump(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void *data,
	     struct err *e);

/* For link.c: the kernel's words alone come to this socket. */
int nlm_connect(int fd);

/* For ahead.c and post.c: a socket that is open, datagrams, how a request ended */
#define NLM_DATAGRAMS	16	/* at once, at most */
int nlm_ready(struct nl *nl, struct err *e);
int nlm_receive(struct nl *nl, struct iovec *to, unsigned int n);
int nlm_error(const struct nlmsghdr *nlh, const char **why);

#endif

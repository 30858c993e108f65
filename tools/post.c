// SPDX-License-Identifier: GPL-2.0
/*
 * Changes that are sent without waiting for each: see ahead.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ahead.h"

#define POSTED_AT_ONCE	16384	/* bytes, some hundred changes */

struct post {
	struct nl *first;
	size_t used;
	char buf[POSTED_AT_ONCE];
};

int post_begin(struct nl *nl, struct nl *first, struct err *e)
{
	nl->post = calloc(1, sizeof(*nl->post));
	if (!nl->post)
		return err_set(e, -ENOMEM, "out of memory");
	nl->post->first = first;
	return nlm_ready(nl, e);
}

void post_end(struct nl *nl)
{
	free(nl->post);
	nl->post = NULL;
}

/* Failures alone are told, and are found again by reading. */
static void drop_answers(struct nl *nl)
{
	char buf[8192];
	ssize_t n;

	do
		n = recv(mnl_socket_get_fd(nl->sock), buf, sizeof(buf), MSG_DONTWAIT);
	while (n >= 0 || errno == EINTR || errno == ENOBUFS);
}

int post_flush(struct nl *nl, struct err *e)
{
	struct post *p = nl->post;
	int rc = p->first ? post_flush(p->first, e) : 0;

	if (rc || !p->used)
		return rc;
	if (mnl_socket_sendto(nl->sock, p->buf, p->used) < 0)
		rc = err_set(e, -errno, "cannot send to the kernel: %s", strerror(errno));
	p->used = 0;
	drop_answers(nl);
	return rc;
}

int post_add(struct nl *nl, const struct nlmsghdr *req, struct err *e)
{
	size_t len = MNL_ALIGN(req->nlmsg_len);
	struct post *p = nl->post;
	struct nlmsghdr *nlh;
	int rc = 0;

	if (len > sizeof(p->buf) - p->used)
		rc = post_flush(nl, e);
	if (rc)
		return rc;
	nlh = (struct nlmsghdr *)(p->buf + p->used);
	memcpy(nlh, req, req->nlmsg_len);
	nlh->nlmsg_flags |= NLM_F_REQUEST;
	nlh->nlmsg_seq = ++nl->seq;
	p->used += len;
	return 0;
}

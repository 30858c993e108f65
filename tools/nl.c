// SPDX-License-Identifier: GPL-2.0
/*
 * Send one request, wait for its acknowledgement or its dump.
 *
 * NETLINK_EXT_ACK (kernel commit 2d4bc93368f5) makes the kernel say in words
 * what it refused; NETLINK_CAP_ACK keeps our own message out of its answer.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "nl.h"

#ifndef NETLINK_GET_STRICT_CHK
#define NETLINK_GET_STRICT_CHK 12
#endif

/* @protocol: NETLINK_ROUTE, NETLINK_GENERIC */
int nlm_open(struct nl *nl, int protocol, struct err *e)
{
	int one = 1, rc;

	nl->seq = 0;
	nl->sock = mnl_socket_open2(protocol, SOCK_CLOEXEC);
	if (!nl->sock || mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		rc = -errno;
		nlm_close(nl);
		return err_set(e, rc, "cannot open a netlink socket: %s", strerror(-rc));
	}
	/* Older kernels know less; each of these only refines an answer. */
	mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->sock, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	return 0;
}

void nlm_close(struct nl *nl)
{
	if (nl->sock)
		mnl_socket_close(nl->sock);
	nl->sock = NULL;
}

/* The text behind an error message, or what errno says. */
static const char *ext_ack_text(const struct nlmsghdr *nlh, int error)
{
	const struct nlmsgerr *msg = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*msg);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return strerror(error);
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += msg->msg.nlmsg_len - sizeof(struct nlmsghdr);
	mnl_attr_for_each(attr, nlh, skip)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
		    !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
			return mnl_attr_get_str(attr);
	return strerror(error);
}

struct wait {
	mnl_cb_t each;
	void *data;
	struct err *e;
	int rc;
};

static int on_message(const struct nlmsghdr *nlh, void *data)
{
	struct wait *w = data;

	return w->each ? w->each(nlh, w->data) : MNL_CB_OK;
}

static int on_error(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *msg = mnl_nlmsg_get_payload(nlh);
	struct wait *w = data;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*msg)) {
		w->rc = err_set(w->e, -EBADMSG, "the kernel's answer is cut short");
		return MNL_CB_STOP;
	}
	w->rc = msg->error;
	if (w->rc)
		err_set(w->e, w->rc, "%s", ext_ack_text(nlh, -w->rc));
	return MNL_CB_STOP;
}

static int on_done(const struct nlmsghdr *nlh, void *data)
{
	(void)nlh;
	(void)data;
	return MNL_CB_STOP;
}

static int nlm_wait(struct nl *nl, struct wait *w)
{
	static mnl_cb_t control[] = {
		[NLMSG_ERROR] = on_error,
		[NLMSG_DONE] = on_done,
	};
	unsigned int portid = mnl_socket_get_portid(nl->sock);
	char buf[32768];
	ssize_t n;
	int rc;

	do {
		n = mnl_socket_recvfrom(nl->sock, buf, sizeof(buf));
		if (n < 0 && errno == EINTR) {
			rc = MNL_CB_OK;
			continue;
		}
		if (n < 0)
			return err_set(w->e, -errno, "no answer from the kernel: %s",
				       strerror(errno));
		rc = mnl_cb_run2(buf, (size_t)n, nl->seq, portid, on_message, w, control, 4);
	} while (rc > MNL_CB_STOP);
	if (rc < 0 && !w->rc)
		return err_set(w->e, -errno, "the kernel's answer is not understood: %s",
			       strerror(errno));
	return w->rc;
}

static int nlm_send(struct nl *nl, struct nlmsghdr *req, struct wait *w)
{
	req->nlmsg_seq = ++nl->seq;
	if (mnl_socket_sendto(nl->sock, req, req->nlmsg_len) < 0)
		return err_set(w->e, -errno, "cannot send to the kernel: %s", strerror(errno));
	return nlm_wait(nl, w);
}

/* On failure @e holds the kernel's words alone; the caller says what it did. */
int nlm_talk(struct nl *nl, struct nlmsghdr *req, struct err *e)
{
	struct wait w = { .e = e };

	req->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	return nlm_send(nl, req, &w);
}

/* One object: its answer, then the acknowledgement. */
int nlm_get(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void *data,
	    struct err *e)
{
	struct wait w = { .each = each, .data = data, .e = e };

	req->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	return nlm_send(nl, req, &w);
}

int nlm_dump(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void *data,
	     struct err *e)
{
	struct wait w = { .each = each, .data = data, .e = e };

	req->nlmsg_flags |= NLM_F_REQUEST | NLM_F_DUMP;
	return nlm_send(nl, req, &w);
}

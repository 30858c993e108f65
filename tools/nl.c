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
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ahead.h"
#include "fault.h"

#define ANSWER_LEAST	32768	/* bytes; a link of 300 alternative names has more */

#ifndef NETLINK_GET_STRICT_CHK
#define NETLINK_GET_STRICT_CHK 12
#endif

#define OWN_PORTS	32	/* the last of this process; a look of watch has six */

static uint32_t own[OWN_PORTS];
static unsigned int n_own;

bool nlm_is_own(const struct nlmsghdr *nlh)
{
	unsigned int i;

	for (i = 0; i < OWN_PORTS; i++)
		if (nlh->nlmsg_pid && own[i] == nlh->nlmsg_pid)
			return true;
	return false;
}

/*
 * Whoever has CAP_NET_ADMIN in a network namespace, as its owner has, may write to any netlink
 * socket there, and say what the kernel says.  To one that is connected to the kernel only the
 * kernel can write (netlink_getsockbyportid()), except for what is multicast, and what was on
 * its way; who reads drops that by its sender.
 */
int nlm_connect(int fd)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	char byte;

	if (connect(fd, (const struct sockaddr *)&kernel, sizeof(kernel)))
		return -errno;
	while (recv(fd, &byte, sizeof(byte), MSG_DONTWAIT) >= 0 || errno == ENOBUFS)
		;
	return 0;
}

static int open_socket(struct nl *nl, struct err *e)
{
	int one = 1, rc;

	nl->sock = mnl_socket_open2(nl->protocol, SOCK_CLOEXEC);
	if (!nl->sock || mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) < 0)
		rc = -errno;
	else
		rc = nlm_connect(mnl_socket_get_fd(nl->sock));
	if (rc) {
		nlm_close(nl);
		return err_set(e, rc, "cannot open a netlink socket: %s", strerror(-rc));
	}
	own[n_own++ % OWN_PORTS] = mnl_socket_get_portid(nl->sock);
	/* Older kernels know less; each of these only refines an answer. */
	mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->sock, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	return 0;
}

/* @protocol: NETLINK_ROUTE, NETLINK_GENERIC */
int nlm_open(struct nl *nl, int protocol, struct err *e)
{
	nl->protocol = protocol;
	nl->seq = 0;
	nl->ahead = NULL;
	nl->post = NULL;
	nl->unanswered = false;
	return open_socket(nl, e);
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
	/* our own message stands there, unless its length is not that of one */
	if (skip > mnl_nlmsg_get_payload_len(nlh))
		return strerror(error);
	mnl_attr_for_each(attr, nlh, skip)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
		    !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) && *mnl_attr_get_str(attr))
			return mnl_attr_get_str(attr);
	return strerror(error);
}

struct wait {
	mnl_cb_t each;
	void *data;
	struct err *e;
	int rc;
	bool sent;
	bool whole;	/* the answer was read to its end */
	char *buf;	/* of a datagram */
	size_t room;
};

static int on_message(const struct nlmsghdr *nlh, void *data)
{
	struct wait *w = data;

	return w->each ? w->each(nlh, w->data) : MNL_CB_OK;
}

/* 0, or an errno, negated (include/linux/err.h: MAX_ERRNO) */
static bool is_error(int error)
{
	return error <= 0 && error >= -4095;
}

/* Of an NLMSG_ERROR: 0, or -errno and the kernel's words, which live as long as @nlh */
int nlm_error(const struct nlmsghdr *nlh, const char **why)
{
	const struct nlmsgerr *msg = mnl_nlmsg_get_payload(nlh);

	*why = "the kernel's answer is cut short";
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*msg) || !is_error(msg->error))
		return -EBADMSG;
	if (msg->error)
		*why = ext_ack_text(nlh, -msg->error);
	return msg->error;
}

static int on_error(const struct nlmsghdr *nlh, void *data)
{
	struct wait *w = data;
	const char *why;

	w->whole = true;
	w->rc = nlm_error(nlh, &why);
	if (w->rc)
		err_set(w->e, w->rc, "%s", why);
	return MNL_CB_STOP;
}

/* A dump that fails in its midst says so in its last message. */
static int on_done(const struct nlmsghdr *nlh, void *data)
{
	struct wait *w = data;
	int error = 0;

	w->whole = true;
	if (mnl_nlmsg_get_payload_len(nlh) >= sizeof(error))
		memcpy(&error, mnl_nlmsg_get_payload(nlh), sizeof(error));
	if (!is_error(error))
		w->rc = err_set(w->e, -EBADMSG, "the kernel's answer is cut short");
	else if (error)
		w->rc = err_set(w->e, error, "%s", strerror(-error));
	return MNL_CB_STOP;
}

static int make_room(struct wait *w, size_t bytes)
{
	char *buf;

	if (bytes <= w->room)
		return 0;
	buf = realloc(w->buf, bytes);
	if (!buf)
		return -ENOMEM;
	w->buf = buf;
	w->room = bytes;
	return 0;
}

/* The kernel alone has port 0. */
static bool is_kernel(const struct sockaddr_nl *from)
{
	return !from->nl_pid;
}

/* Bytes of the next datagram of the kernel's, which stays there, or -errno */
static ssize_t next_length(int fd)
{
	struct sockaddr_nl from;
	ssize_t n;

	for (;;) {
		memset(&from, 0, sizeof(from));
		n = faulty_recv(fd, NULL, 0, MSG_PEEK | MSG_TRUNC, &from);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n >= 0 && is_kernel(&from))
			return n;
		if (n >= 0)
			recv(fd, NULL, 0, MSG_DONTWAIT);
	}
}

/* One datagram, of any size; its bytes, or -errno */
static ssize_t receive(struct nl *nl, struct wait *w)
{
	ssize_t n = next_length(mnl_socket_get_fd(nl->sock));
	int rc;

	if (n < 0)
		return n;
	rc = make_room(w, n > ANSWER_LEAST ? (size_t)n : ANSWER_LEAST);
	if (rc)
		return rc;
	do
		n = mnl_socket_recvfrom(nl->sock, w->buf, w->room);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/*
 * Is each message within the datagram?  libmnl compares lengths as int, so that one of
 * 2^31 bytes and more is to it less than any (mnl_nlmsg_ok()).
 */
static bool is_whole(const char *buf, size_t len)
{
	struct nlmsghdr head;
	size_t n;

	for (; len; buf += n, len -= n) {
		if (len < sizeof(head))
			return false;
		memcpy(&head, buf, sizeof(head));
		if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > len)
			return false;
		n = NLMSG_ALIGN((size_t)head.nlmsg_len);
		n = n < len ? n : len;
	}
	return true;
}

int nlm_ready(struct nl *nl, struct err *e)
{
	return nl->sock ? 0 : open_socket(nl, e);
}

/*
 * At least one datagram, and as many of the @n as have come; their lengths in @to, 0 of one that
 * is not the kernel's.  How many, or -errno; -EBADMSG: one is larger than its room, or not whole
 * messages.
 */
int nlm_receive(struct nl *nl, struct iovec *to, unsigned int n)
{
	struct sockaddr_nl from[NLM_DATAGRAMS] = { 0 };
	struct mmsghdr list[NLM_DATAGRAMS] = { 0 };
	int got, i;

	if (n > NLM_DATAGRAMS)
		n = NLM_DATAGRAMS;
	for (i = 0; i < (int)n; i++) {
		list[i].msg_hdr.msg_name = &from[i];
		list[i].msg_hdr.msg_namelen = sizeof(from[i]);
		list[i].msg_hdr.msg_iov = &to[i];
		list[i].msg_hdr.msg_iovlen = 1;
	}
	do
		got = faulty_recvmmsg(mnl_socket_get_fd(nl->sock), list, n,
				      MSG_WAITFORONE | MSG_TRUNC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	for (i = 0; i < got; i++) {
		if (!is_kernel(&from[i]))
			list[i].msg_len = 0;
		if (list[i].msg_len > to[i].iov_len ||
		    !is_whole(to[i].iov_base, list[i].msg_len))
			return -EBADMSG;
		to[i].iov_len = list[i].msg_len;
	}
	return got;
}

/*
 * A datagram that nobody asked for; -1 and errno, EINTR also where it is not the kernel's,
 * ENOSPC where it is longer than @len.
 */
ssize_t nlm_hear(const struct nl *nl, void *buf, size_t len, int flags)
{
	struct sockaddr_nl from = { 0 };
	socklen_t size = sizeof(from);
	ssize_t n = recvfrom(mnl_socket_get_fd(nl->sock), buf, len, flags | MSG_TRUNC,
			     (struct sockaddr *)&from, &size);

	if (n < 0)
		return n;
	if (is_kernel(&from) && (size_t)n <= len)
		return n;
	errno = is_kernel(&from) ? ENOSPC : EINTR;
	return -1;
}

/* Messages that nobody asked for; MNL_CB_ERROR as from @each, or -EBADMSG in errno. */
int nlm_each(const void *buf, size_t len, mnl_cb_t each, void *data)
{
	if (!is_whole(buf, len)) {
		errno = EBADMSG;
		return MNL_CB_ERROR;
	}
	return mnl_cb_run(buf, len, 0, 0, each, data);
}

static int nlm_wait(struct nl *nl, struct wait *w)
{
	static mnl_cb_t control[] = {
		[NLMSG_ERROR] = on_error,
		[NLMSG_DONE] = on_done,
	};
	unsigned int portid = mnl_socket_get_portid(nl->sock);
	ssize_t n;
	int rc;

	do {
		n = receive(nl, w);
		if (n < 0)
			return err_set(w->e, (int)n, "no answer from the kernel: %s",
				       strerror((int)-n));
		if (!is_whole(w->buf, (size_t)n))
			return err_set(w->e, -EBADMSG, "the kernel's answer is cut short");
		rc = mnl_cb_run2(w->buf, (size_t)n, nl->seq, portid, on_message, w, control, 4);
	} while (rc > MNL_CB_STOP);
	if (rc < 0 && !w->rc)
		return err_set(w->e, -errno, "the kernel's answer is not understood: %s",
			       strerror(errno));
	return w->rc;
}

/*
 * What was not read of an answer stays in the socket, and whoever asks next would
 * read it: he has a new socket.
 */
static int nlm_send(struct nl *nl, struct nlmsghdr *req, struct wait *w)
{
	int rc = nlm_ready(nl, w->e);

	if (rc)
		return rc;
	req->nlmsg_seq = ++nl->seq;
	if (mnl_socket_sendto(nl->sock, req, req->nlmsg_len) < 0)
		return err_set(w->e, -errno, "cannot send to the kernel: %s", strerror(errno));
	w->sent = true;
	rc = nlm_wait(nl, w);
	free(w->buf);
	if (!w->whole)
		nlm_close(nl);
	return rc;
}

/* On failure @e holds the kernel's words alone; the caller says what it did. */
int nlm_talk(struct nl *nl, struct nlmsghdr *req, struct err *e)
{
	struct wait w = { .e = e };
	int rc;

	if (nl->post)
		return post_add(nl, req, e);
	req->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	rc = nlm_send(nl, req, &w);
	nl->unanswered = w.sent && !w.whole;
	return rc;
}

int nlm_not_known(int rc, const char *what, const char *command, struct err *e)
{
	return err_set(e, rc, "the kernel has not answered (%s): whether %s is not known, ctcp-setup %s tells",
		       strerror(-rc), what, command);
}

/* One object: its answer, then the acknowledgement. */
int nlm_get(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void *data,
	    struct err *e)
{
	struct wait w = { .each = each, .data = data, .e = e };
	int rc;

	req->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	rc = nl->ahead ? ahead_get(nl, req, each, data, e) : 1;
	return rc == 1 ? nlm_send(nl, req, &w) : rc;
}

int nlm_dump(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void *data,
	     struct err *e)
{
	struct wait w = { .each = each, .data = data, .e = e };

	if (nl->ahead && ahead_asks(nl))
		return err_set(e, -EINPROGRESS, "a dump is not asked ahead");
	req->nlmsg_flags |= NLM_F_REQUEST | NLM_F_DUMP;
	return nlm_send(nl, req, &w);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Answers that are asked for before they are needed: see ahead.h.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ahead.h"
#include "grow.h"

#define ASKED_AT_ONCE	32	/* of up to 4 KiB each with its answer, within rmem_default */
#define DATAGRAM	65536	/* bytes */

struct answer {
	struct nlmsghdr *req;	/* as asked for, but without a sequence number */
	bool asked, known;
	int rc;
	char *why;		/* the kernel's words */
	char *messages;
	size_t len;
};

struct ahead {
	void *tree;
	struct answer **queue;	/* to be asked */
	uint32_t n;
	bool serving;
};

static int compare(const void *a, const void *b)
{
	const struct nlmsghdr *x = ((const struct answer *)a)->req;
	const struct nlmsghdr *y = ((const struct answer *)b)->req;

	if (x->nlmsg_len != y->nlmsg_len)
		return x->nlmsg_len < y->nlmsg_len ? -1 : 1;
	return memcmp(x, y, x->nlmsg_len);
}

static void answer_free(void *data)
{
	struct answer *a = data;

	free(a->req);
	free(a->why);
	free(a->messages);
	free(a);
}

int ahead_begin(struct nl *nl, struct err *e)
{
	nl->ahead = calloc(1, sizeof(*nl->ahead));
	return nl->ahead ? 0 : err_set(e, -ENOMEM, "out of memory");
}

void ahead_end(struct nl *nl)
{
	if (!nl->ahead)
		return;
	tdestroy(nl->ahead->tree, answer_free);
	free(nl->ahead->queue);
	free(nl->ahead);
	nl->ahead = NULL;
}

void ahead_serve(struct nl *nl)
{
	nl->ahead->serving = true;
}

bool ahead_asks(const struct nl *nl)
{
	return !nl->ahead->serving;
}

/* --- take down -------------------------------------------------------------- */

static struct nlmsghdr *copy_of(const struct nlmsghdr *req)
{
	struct nlmsghdr *copy = calloc(1, MNL_ALIGN(req->nlmsg_len));

	if (!copy)
		return NULL;
	memcpy(copy, req, req->nlmsg_len);
	copy->nlmsg_seq = 0;
	copy->nlmsg_pid = 0;
	return copy;
}

static int queue_answer(struct ahead *ah, struct answer *a)
{
	struct answer **more = grown(ah->queue, ah->n, sizeof(struct answer *));

	if (!more)
		return -ENOMEM;
	ah->queue = more;
	ah->queue[ah->n++] = a;
	return 0;
}

static int take_down(struct ahead *ah, const struct nlmsghdr *req)
{
	struct answer *a = calloc(1, sizeof(*a));

	if (a)
		a->req = copy_of(req);
	if (!a || !a->req || queue_answer(ah, a)) {
		if (a)
			answer_free(a);
		return -ENOMEM;
	}
	if (tsearch(a, &ah->tree, compare))
		return 0;
	ah->n--;
	answer_free(a);
	return -ENOMEM;
}

static int replay(const struct answer *a, mnl_cb_t each, void *data, struct err *e)
{
	if (a->len && mnl_cb_run(a->messages, a->len, 0, 0, each, data) < 0)
		return err_set(e, -errno, "the kernel's answer is not understood: %s",
			       strerror(errno));
	return a->rc ? err_set(e, a->rc, "%s", a->why ?: strerror(-a->rc)) : 0;
}

int ahead_get(struct nl *nl, const struct nlmsghdr *req, mnl_cb_t each, void *data,
	      struct err *e)
{
	struct answer key = { .req = copy_of(req) }, **found;
	struct ahead *ah = nl->ahead;

	if (!key.req)
		return err_set(e, -ENOMEM, "out of memory");
	found = tfind(&key, &ah->tree, compare);
	free(key.req);
	if (found && (*found)->known)
		return replay(*found, each, data, e);
	if (ah->serving || (found && (*found)->asked))
		return 1;
	if (!found && take_down(ah, req))
		return err_set(e, -ENOMEM, "out of memory");
	return err_set(e, -EINPROGRESS, "asked ahead");
}

/* --- ask -------------------------------------------------------------------- */

static int send_some(struct nl *nl, struct answer **list, uint32_t n)
{
	char buf[DATAGRAM];
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)(buf + used);
		size_t len = MNL_ALIGN(list[i]->req->nlmsg_len);

		if (len > sizeof(buf) - used)
			return -EMSGSIZE;
		memcpy(nlh, list[i]->req, len);
		nlh->nlmsg_seq = nl->seq + 1 + i;
		/* they are answered in order: where the last is, all are */
		if (i + 1 < n)
			nlh->nlmsg_flags &= (uint16_t)~NLM_F_ACK;
		list[i]->asked = true;
		used += len;
	}
	return mnl_socket_sendto(nl->sock, buf, used) < 0 ? -errno : 0;
}

static int keep_message(struct answer *a, const struct nlmsghdr *nlh)
{
	size_t len = MNL_ALIGN(nlh->nlmsg_len);
	char *more = realloc(a->messages, a->len + len);

	if (!more)
		return -ENOMEM;
	memcpy(more + a->len, nlh, nlh->nlmsg_len);
	a->messages = more;
	a->len += len;
	return 0;
}

static int keep_end(struct answer *a, const struct nlmsghdr *nlh)
{
	const char *why;

	a->rc = nlm_error(nlh, &why);
	if (a->rc) {
		a->why = strdup(why);
		if (!a->why)
			return -ENOMEM;
	}
	a->known = true;
	return 0;
}

/* The messages of a datagram, to whose request each belongs */
static int keep(struct nl *nl, struct answer **list, uint32_t n, const struct iovec *from)
{
	const struct nlmsghdr *nlh;
	int left = (int)from->iov_len, rc = 0;

	for (nlh = from->iov_base; !rc && mnl_nlmsg_ok(nlh, left);
	     nlh = mnl_nlmsg_next(nlh, &left)) {
		uint32_t at = nlh->nlmsg_seq - nl->seq - 1;

		if (at >= n || list[at]->known)
			continue;
		rc = nlh->nlmsg_type == NLMSG_ERROR ? keep_end(list[at], nlh) :
						      keep_message(list[at], nlh);
	}
	return rc;
}

static int receive_some(struct nl *nl, struct answer **list, uint32_t n)
{
	static char buf[NLM_DATAGRAMS][DATAGRAM];
	struct iovec to[NLM_DATAGRAMS];
	int got, i, rc = 0;

	for (i = 0; i < NLM_DATAGRAMS; i++)
		to[i] = (struct iovec){ .iov_base = buf[i], .iov_len = sizeof(buf[i]) };
	got = nlm_receive(nl, to, NLM_DATAGRAMS);
	for (i = 0; i < got && !rc; i++)
		rc = keep(nl, list, n, &to[i]);
	return got < 0 ? got : rc;
}

static int ask_some(struct nl *nl, struct answer **list, uint32_t n)
{
	int rc = send_some(nl, list, n);
	uint32_t i;

	while (!rc && !list[n - 1]->known)
		rc = receive_some(nl, list, n);
	for (i = 0; i < n && !rc; i++)
		list[i]->known = true;
	nl->seq += n;
	return rc;
}

void ahead_ask(struct nl *nl, uint32_t *n)
{
	struct ahead *ah = nl->ahead;
	struct err unused = { "" };
	uint32_t i, some;
	int rc = nlm_ready(nl, &unused);

	for (i = 0; i < ah->n && !rc; i += some) {
		some = ah->n - i < ASKED_AT_ONCE ? ah->n - i : ASKED_AT_ONCE;
		rc = ask_some(nl, ah->queue + i, some);
	}
	/* what is still to come is not to be read as the answer to another request */
	if (rc)
		nlm_close(nl);
	for (i = 0; i < ah->n; i++)
		ah->queue[i]->asked = true;
	*n = ah->n;
	ah->n = 0;
}

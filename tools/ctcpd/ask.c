// SPDX-License-Identifier: GPL-2.0
/*
 * The client's side of the control socket: see control.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "out.h"

#include "control.h"

#define ANSWER_S	10		/* the daemon may be in the midst of a poll */
#define ANSWER_MOST	(64U << 20)	/* bytes */

static int not_answered(struct err *e)
{
	return err_set(e, -ETIMEDOUT, "the daemon has not answered within %d s", ANSWER_S);
}

static int no_daemon(const char *file, int code, struct err *e)
{
	if (code == EACCES || code == EPERM)
		return err_set(e, -code, "only root and the daemon's own user may ask at %s", file);
	if (code == ENOENT || code == ECONNREFUSED)
		return err_set(e, -code,
			       "no daemon answers at %s: is it running? systemctl status ctcpd",
			       file);
	return err_set(e, -code, "%s cannot be asked: %s", file, strerror(code));
}

static int set_patience(int fd)
{
	struct timeval patience = { .tv_sec = ANSWER_S };

	/* connect() waits as long as send() may */
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

static int reach(const char *file, int *fd, struct err *e)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int rc;

	if (strlen(file) >= sizeof(to.sun_path))
		return err_set(e, -ENAMETOOLONG, "\"%.40s...\" is no name for a socket: 1 to %zu bytes",
			       file, sizeof(to.sun_path) - 1);
	strcpy(to.sun_path, file);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd >= 0 && !set_patience(*fd) && !connect(*fd, (struct sockaddr *)&to, sizeof(to)))
		return 0;
	/* EAGAIN: its queue of connections has been full for so long */
	rc = errno == EAGAIN ? not_answered(e) : no_daemon(file, errno, e);
	if (*fd >= 0)
		close(*fd);
	return rc;
}

static int put(int fd, const json_t *question, struct err *e)
{
	char *text = json_dumps(question, JSON_COMPACT);
	size_t len = text ? strlen(text) : 0;
	int rc = 0;

	if (!text)
		return err_set(e, -ENOMEM, "no memory for the question");
	text[len++] = '\n';	/* in place of the NUL */
	if (send(fd, text, len, MSG_NOSIGNAL) != (ssize_t)len)
		rc = err_set(e, -EPIPE, "the daemon does not take the question: %s",
			     strerror(errno));
	free(text);
	return rc;
}

/* Bytes of it, 0: it has ended; or -errno */
static ssize_t get_some(int fd, char *buf, size_t room, uint64_t until_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now = control_ms();
	int rc = poll(&p, 1, now < until_ms ? (int)(until_ms - now) : 0);
	ssize_t n;

	if (rc < 0)
		return -errno;
	if (!rc)
		return -ETIMEDOUT;
	n = recv(fd, buf, room, 0);
	return n < 0 ? -errno : n;
}

/* All that comes until the daemon closes its end */
static int get(int fd, struct out *o, struct err *e)
{
	uint64_t until_ms = control_ms() + ANSWER_S * 1000;
	char buf[65536];
	ssize_t n;

	for (;;) {
		n = get_some(fd, buf, sizeof(buf), until_ms);
		if (n == -EINTR)
			continue;
		if (n == -ETIMEDOUT)
			return not_answered(e);
		if (n < 0)
			return err_set(e, (int)n, "the daemon's answer is lost: %s",
				       strerror((int)-n));
		if (!n)
			return 0;
		out_bytes(o, buf, (size_t)n);
		if (o->failed || o->used > ANSWER_MOST)
			return err_set(e, -EFBIG, "no memory for the daemon's answer");
	}
}

/* What it says of itself: an answer, or why there is none */
static int understand(const char *text, json_t **answer, struct err *e)
{
	json_t *all = json_loads(text, 0, NULL), *said;
	const char *why;
	int code, rc;

	said = json_object_get(all, "answer");
	if (json_is_true(json_object_get(all, "ok")) && said) {
		*answer = json_incref(said);
		rc = 0;
	} else if (!json_unpack(all, "{s:i, s:s}", "errno", &code, "error", &why) && code > 0) {
		rc = err_set(e, -code, "%s", why);
	} else {
		rc = err_set(e, -EBADMSG, "the daemon's answer is not understood: \"%.60s\"", text);
	}
	json_decref(all);
	return rc;
}

int control_ask(const char *file, json_t *question, json_t **answer, struct err *e)
{
	struct out o;
	int fd = -1, rc;

	*answer = NULL;
	rc = reach(file, &fd, e);
	if (rc)
		return rc;
	out_begin(&o, 0);
	rc = put(fd, question, e);
	rc = rc ?: get(fd, &o, e);
	rc = rc ?: understand(o.text ?: "", answer, e);
	free(o.text);
	close(fd);
	return rc;
}

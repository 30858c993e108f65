// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's side of the control socket: see control.h; ask.c is the other one.
 *
 * An epoll of its own has the listening socket, the clients, and a timer that ticks while there
 * are any.  Nothing here blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "holder.h"

#define REST_MOST	(1U << 20)	/* bytes behind a question that are read */
#define TICK_MS		250U	/* how late a client may be dropped */
#define EVENTS		(CONTROL_CLIENTS + 2)

struct client {
	int fd;				/* -1: this place is free */
	uint64_t until_ms;
	size_t got, len, sent;		/* of the question; of the answer */
	size_t rest;			/* behind the question */
	char *answer;			/* NULL: the question is not whole so far */
	char question[CONTROL_QUESTION];
};

struct control {
	char file[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int epoll, listen, timer, lock;
	bool bound;			/* the file is ours to remove */
	uint32_t n;
	struct client clients[CONTROL_CLIENTS];
};

uint64_t control_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- clients -------------------------------------------------------------------- */

static int watch(struct control *c, int op, int fd, uint32_t events, void *what)
{
	struct epoll_event ev = { .events = events, .data.ptr = what };

	return epoll_ctl(c->epoll, op, fd, &ev) ? -errno : 0;
}

static void tick(struct control *c, bool on)
{
	const struct timespec t = { .tv_nsec = on ? TICK_MS * 1000000L : 0 };
	const struct itimerspec every = { .it_interval = t, .it_value = t };

	timerfd_settime(c->timer, 0, &every, NULL);
}

static void drop(struct control *c, struct client *cl)
{
	close(cl->fd);
	free(cl->answer);
	cl->answer = NULL;
	cl->fd = -1;
	c->n--;
	if (c->n == CONTROL_CLIENTS - 1)
		watch(c, EPOLL_CTL_MOD, c->listen, EPOLLIN, &c->listen);
	if (!c->n)
		tick(c, false);
}

static void take(struct control *c, int fd)
{
	struct client *cl = c->clients;

	while (cl->fd >= 0)
		cl++;
	*cl = (struct client){ .fd = fd, .until_ms = control_ms() + CONTROL_MS };
	if (!c->n++)
		tick(c, true);
	if (c->n == CONTROL_CLIENTS)
		watch(c, EPOLL_CTL_MOD, c->listen, 0, &c->listen);
	if (watch(c, EPOLL_CTL_ADD, fd, EPOLLIN, cl))
		drop(c, cl);
}

static void take_all(struct control *c)
{
	while (c->n < CONTROL_CLIENTS) {
		int fd = accept4(c->listen, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		take(c, fd);
	}
}

static void send_more(struct control *c, struct client *cl)
{
	ssize_t n = send(cl->fd, cl->answer + cl->sent, cl->len - cl->sent, MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		drop(c, cl);
		return;
	}
	cl->sent += (size_t)n;
	cl->until_ms = control_ms() + CONTROL_MS;
	if (cl->sent < cl->len)
		return;
	/* its end is the answer's; the socket is closed when the client has closed its own */
	if (shutdown(cl->fd, SHUT_WR) || watch(c, EPOLL_CTL_MOD, cl->fd, EPOLLIN, cl))
		drop(c, cl);
}

static bool is_answered(const struct client *cl)
{
	return cl->answer && cl->sent == cl->len;
}

static void hear_rest(struct control *c, struct client *cl)
{
	char rest[CONTROL_QUESTION];
	ssize_t n = recv(cl->fd, rest, sizeof(rest), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		cl->rest += (size_t)n;
	if (n <= 0 || cl->rest > REST_MOST)
		drop(c, cl);
}

/* --- questions ------------------------------------------------------------------ */

static json_t *failure(int rc, const struct err *e)
{
	return json_pack("{s:b, s:i, s:s}", "ok", 0, "errno", -rc, "error", e->text);
}

static json_t *too_long(void)
{
	struct err e;
	int rc = err_set(&e, -E2BIG,
			 "a question has at most %u bytes, and this one has more",
			 CONTROL_QUESTION);

	return failure(rc, &e);
}

static json_t *ask(const struct client *cl, control_fn answer, void *data)
{
	json_error_t why;
	json_t *question = json_loadb(cl->question, cl->got, JSON_REJECT_DUPLICATES, &why);
	json_t *said = NULL, *all;
	struct err e = { "" };
	int rc;

	if (!json_is_object(question))
		rc = err_set(&e, -EBADMSG, "the question is no JSON object: %s",
			     question ? "it is another thing" : why.text);
	else
		rc = answer(question, &said, data, &e);
	json_decref(question);
	if (rc)
		return failure(rc, &e);
	all = json_pack("{s:b, s:o}", "ok", 1, "answer", said);
	return all;
}

/* Takes @all over.  Where there is no memory for the answer there is none. */
static void reply(struct control *c, struct client *cl, json_t *all)
{
	cl->answer = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	if (!cl->answer || watch(c, EPOLL_CTL_MOD, cl->fd, EPOLLOUT, cl)) {
		drop(c, cl);
		return;
	}
	cl->len = strlen(cl->answer);
	cl->answer[cl->len++] = '\n';	/* in place of the NUL */
	cl->until_ms = control_ms() + CONTROL_MS;
	send_more(c, cl);
}

static void hear(struct control *c, struct client *cl, control_fn answer, void *data)
{
	ssize_t n = recv(cl->fd, cl->question + cl->got, sizeof(cl->question) - cl->got, 0);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c, cl);
		return;
	}
	end = memchr(cl->question + cl->got, '\n', (size_t)n);
	cl->got += (size_t)n;
	if (!end && cl->got < sizeof(cl->question))
		return;
	if (end)
		cl->got = (size_t)(end - cl->question);
	reply(c, cl, end ? ask(cl, answer, data) : too_long());
}

static void drop_late(struct control *c)
{
	uint64_t ticks, now = control_ms();
	struct client *cl;

	if (read(c->timer, &ticks, sizeof(ticks)) < 0)
		return;
	for (cl = c->clients; cl < c->clients + CONTROL_CLIENTS; cl++)
		if (cl->fd >= 0 && now >= cl->until_ms)
			drop(c, cl);
}

static void serve_client(struct control *c, struct client *cl, uint32_t events,
			 control_fn answer, void *data)
{
	/* an earlier event of the same wait has dropped it */
	if (cl->fd < 0)
		return;
	if (is_answered(cl))
		hear_rest(c, cl);
	else if (events & (EPOLLERR | EPOLLHUP))
		drop(c, cl);
	else if (cl->answer)
		send_more(c, cl);
	else
		hear(c, cl, answer, data);
}

/*
 * The timer is the last: a client that it drops leaves its place to none that another event of
 * this wait is about, as new ones come after all that.
 */
void control_serve(struct control *c, control_fn answer, void *data)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(c->epoll, events, EVENTS, 0), i;
	bool ticked = false, more = false;

	for (i = 0; i < n; i++) {
		void *what = events[i].data.ptr;

		ticked |= what == &c->timer;
		more |= what == &c->listen;
		if (what != &c->timer && what != &c->listen)
			serve_client(c, what, events[i].events, answer, data);
	}
	if (ticked)
		drop_late(c);
	if (more)
		take_all(c);
}

int control_fd(const struct control *c)
{
	return c->epoll;
}

/* --- the socket ------------------------------------------------------------------ */

/* The folder, where it is missing: not those above it */
static int make_folder(const char *file, struct err *e)
{
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char *slash;

	strcpy(dir, file);
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return 0;
	*slash = 0;
	if (!mkdir(dir, 0755) || errno == EEXIST)
		return 0;
	return err_set(e, -errno,
		       "the folder %s of the control socket cannot be made: %s; be root, or name another place by --socket",
		       dir, strerror(errno));
}

static int refuse_second(const struct control *c, struct err *e)
{
	char pid[PID_LEN];

	if (holder_of_lock(c->lock, pid))
		return err_set(e, -EADDRINUSE, "another ctcpd answers at %s already, process %s",
			       c->file, pid);
	return err_set(e, -EADDRINUSE, "another ctcpd answers at %s already", c->file);
}

static int lock(struct control *c, struct err *e)
{
	char file[sizeof(c->file) + 8];

	snprintf(file, sizeof(file), "%s.lock", c->file);
	c->lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (c->lock < 0)
		return err_set(e, -errno, "%s cannot be opened: %s; be root, or name another place by --socket",
			       file, strerror(errno));
	if (!flock(c->lock, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return refuse_second(c, e);
	return err_set(e, -errno, "%s cannot be locked: %s", file, strerror(errno));
}

/* What one that was killed has left; never a file of another kind. */
static int remove_stale(const char *file, struct err *e)
{
	struct stat st;

	if (lstat(file, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, -EEXIST, "%s is there, and is no socket; move it away", file);
	if (unlink(file) && errno != ENOENT)
		return err_set(e, -errno, "the old socket %s cannot be removed: %s", file,
			       strerror(errno));
	return 0;
}

/* The mode before bind(): the file has never another. */
static int open_socket(struct control *c, struct err *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	strcpy(at.sun_path, c->file);
	c->listen = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->listen < 0 || fchmod(c->listen, 0600))
		return err_set(e, -errno, "no control socket: %s", strerror(errno));
	if (bind(c->listen, (struct sockaddr *)&at, sizeof(at)))
		return err_set(e, -errno, "the control socket %s cannot be made: %s", c->file,
			       strerror(errno));
	c->bound = true;
	if (listen(c->listen, 64))
		return err_set(e, -errno, "nobody can ask at %s: %s", c->file, strerror(errno));
	return 0;
}

static int open_epoll(struct control *c, struct err *e)
{
	int rc;

	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (c->epoll < 0 || c->timer < 0)
		return err_set(e, -errno, "no epoll for the control socket: %s", strerror(errno));
	rc = watch(c, EPOLL_CTL_ADD, c->listen, EPOLLIN, &c->listen);
	if (!rc)
		rc = watch(c, EPOLL_CTL_ADD, c->timer, EPOLLIN, &c->timer);
	return rc ? err_set(e, rc, "no epoll for the control socket: %s", strerror(-rc)) : 0;
}

static int open_all(struct control *c, struct err *e)
{
	int rc = make_folder(c->file, e);

	rc = rc ?: lock(c, e);
	rc = rc ?: remove_stale(c->file, e);
	rc = rc ?: open_socket(c, e);
	return rc ?: open_epoll(c, e);
}

struct control *control_listen(const char *file, int *rc, struct err *e)
{
	struct control *c = calloc(1, sizeof(*c));
	uint32_t i;

	if (!c) {
		*rc = err_set(e, -ENOMEM, "no memory for the control socket");
		return NULL;
	}
	c->epoll = -1;
	c->listen = -1;
	c->timer = -1;
	c->lock = -1;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		c->clients[i].fd = -1;
	if (strlen(file) >= sizeof(c->file) || !*file) {
		*rc = err_set(e, -ENAMETOOLONG, "\"%.40s...\" is no name for a socket: 1 to %zu bytes",
			      file, sizeof(c->file) - 1);
	} else {
		strcpy(c->file, file);
		*rc = open_all(c, e);
	}
	if (!*rc)
		return c;
	control_close(c);
	return NULL;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* FILE.lock stays: whoever removed it could take it from the next one. */
void control_close(struct control *c)
{
	uint32_t i;

	if (!c)
		return;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		if (c->clients[i].fd >= 0)
			drop(c, &c->clients[i]);
	if (c->bound)
		unlink(c->file);
	close_fd(c->listen);
	close_fd(c->timer);
	close_fd(c->epoll);
	close_fd(c->lock);
	free(c);
}

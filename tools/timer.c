// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of a change that waits for confirmation: see timer.h.
 *
 * A process that has nothing in common with the one that made the change: not its session,
 * terminal, folder, files or lock.  It waits for the deadline, or for the state to tell of
 * this change no longer, which ends it.  At the deadline it takes the change back, and does
 * not give up: what keeps it from that, as a full disk, is tried again.
 *
 * SIGTERM, by which a service manager ends what a session left behind, means now: nobody
 * would be there at the deadline.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "revert.h"
#include "timer.h"

#define TIMER_NAME	"ctcp-confirm"	/* as ps shows it */
#define READY_FD	(STDERR_FILENO + 1)
#define LOOK_S		1	/* how often it looks whether the change still waits */
#define RETRY_MAX_S	60

static volatile sig_atomic_t told_to_end;

static void on_term(int unused)
{
	(void)unused;
	told_to_end = 1;
}

/* --- at the deadline ------------------------------------------------------- */

/* With the lock, so that a run under way ends first. */
static int take_back(const struct confirm *c, struct revert *r, struct err *e)
{
	struct store lock;
	int rc = store_open(&lock, e);

	*r = (struct revert){ .only = c };
	if (rc)
		return rc;
	rc = store_lock(&lock, e);
	r->lock = lock.lock;
	if (!rc)
		rc = revert(r, e);
	store_close(&lock);
	return rc;
}

static void report(const struct confirm *c, const struct revert *r)
{
	char whose[CONFIRM_TEXT];
	unsigned int i;

	if (r->none)
		return;
	syslog(LOG_NOTICE, "%s was not confirmed %s and is taken back", confirm_whose(c, whose),
	       told_to_end ? "when its timer was told to end" : "in time");
	for (i = 0; i < r->notes.n; i++)
		syslog(LOG_WARNING, "%s", r->notes.text[i]);
}

/* A reason is logged once. */
static void go_back(const struct confirm *c)
{
	struct err e = { "" }, said = { "" };
	unsigned int wait = 1;
	struct revert r;
	int rc;

	while ((rc = take_back(c, &r, &e)) && rc != -EBADMSG) {
		if (strcmp(e.text, said.text))
			syslog(LOG_ERR, "the change that was not confirmed is to be taken back: %s; this is tried again",
			       e.text);
		said = e;
		/* a lock that is held is let go of in a moment */
		if (rc == -EALREADY)
			continue;
		sleep(wait);
		wait = wait * 2 < RETRY_MAX_S ? wait * 2 : RETRY_MAX_S;
	}
	if (rc)
		syslog(LOG_ERR, "the change that was not confirmed cannot be taken back: %s",
		       e.text);
	else
		report(c, &r);
}

/* --- until then ------------------------------------------------------------ */

/* Read without the lock; a state that cannot be read now may be at the deadline. */
static bool still_waits(const struct confirm *c)
{
	struct state st = { 0 };
	struct err unused = { "" };
	struct store s;
	bool waits = true;

	if (store_open(&s, &unused))
		return true;
	if (!store_read(&s, &st, &unused))
		waits = confirm_equal(&st.confirm, c);
	state_free(&st);
	store_close(&s);
	return waits;
}

/* A file is replaced and not written to. */
static bool is_as_it_was(const char *path, struct stat *was)
{
	struct stat now = { 0 };
	bool same;

	if (stat(path, &now))
		now.st_ino = 0;
	same = now.st_ino == was->st_ino && now.st_ctim.tv_sec == was->st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == was->st_ctim.tv_nsec;
	*was = now;
	return same;
}

/* False: it need not be taken back any more. */
static bool wait_for_deadline(int timer, const char *path, const struct confirm *c)
{
	const struct timespec look = { .tv_sec = LOOK_S };
	struct pollfd fd = { .fd = timer, .events = POLLIN };
	struct stat was = { .st_ino = (ino_t)-1 };	/* no file's, nor that of none */
	sigset_t none;

	sigemptyset(&none);
	while (!told_to_end) {
		if (ppoll(&fd, 1, &look, &none) > 0)
			return true;
		if (!is_as_it_was(path, &was) && !still_waits(c))
			return false;
	}
	return true;
}

static int open_timer(const struct confirm *c)
{
	const struct itimerspec at = {
		.it_value.tv_sec = (time_t)(c->deadline / 1000000000),
		.it_value.tv_nsec = (long)(c->deadline % 1000000000),
	};
	int fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);

	if (fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* --- the process ----------------------------------------------------------- */

/* SIGTERM only while it waits: what is begun is finished. */
static void set_signals(void)
{
	struct sigaction term = { .sa_handler = on_term };
	sigset_t set;

	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigaction(SIGTERM, &term, NULL);
}

/* For Linux before 5.9.  RLIMIT_NOFILE may have been lowered since a file was opened. */
static int close_one_by_one(int from)
{
	DIR *list = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!list)
		return -errno;
	while ((entry = readdir(list))) {
		int fd = atoi(entry->d_name);

		if (fd >= from && fd != dirfd(list))
			close(fd);
	}
	return closedir(list) ? -errno : 0;
}

static int close_from(int from)
{
	return syscall(__NR_close_range, from, ~0U, 0) ? close_one_by_one(from) : 0;
}

/* All files of the caller's but @ready, the lock among them. */
static int leave_files(int ready)
{
	int null = open("/dev/null", O_RDWR), fd;

	if (null < 0 || chdir("/"))
		return -errno;
	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			return -errno;
	if (ready != READY_FD && dup2(ready, READY_FD) < 0)
		return -errno;
	return close_from(READY_FD + 1);
}

/* @path: of the state, which may have been told by way of the folder the caller was in. */
static int keep_path(const struct store *s, char path[320])
{
	char *dir = realpath(s->dir, NULL);
	struct store absolute;
	struct err unused = { "" };
	int rc = !dir || setenv("CTCP_RUNDIR", dir, 1) ? -errno : 0;

	if (!rc)
		rc = store_open(&absolute, &unused);
	if (!rc)
		store_path(&absolute, path, 320);
	free(dir);
	return rc;
}

static void __attribute__((noreturn)) serve(const struct store *s, const struct confirm *c,
					    int ready)
{
	char path[320];
	int timer = -1, rc = keep_path(s, path);

	if (!rc)
		rc = leave_files(ready);
	if (!rc) {
		ready = READY_FD;
		timer = open_timer(c);
		rc = timer < 0 ? -errno : 0;
	}
	if (write(ready, &rc, sizeof(rc)) != sizeof(rc) || rc)
		_exit(1);
	close(ready);
	prctl(PR_SET_NAME, TIMER_NAME);
	faulty_end();
	openlog("ctcp-setup", LOG_PID, LOG_DAEMON);
	if (wait_for_deadline(timer, path, c))
		go_back(c);
	_exit(0);
}

/* A child of init, so that nobody who waits for children meets it. */
static void __attribute__((noreturn)) leave_parent(const struct store *s,
						   const struct confirm *c, int ready)
{
	pid_t pid;
	int rc;

	set_signals();
	setsid();
	pid = fork();
	if (!pid)
		serve(s, c, ready);
	rc = -errno;
	if (pid < 0 && write(ready, &rc, sizeof(rc)) < 0)
		_exit(1);
	_exit(0);
}

/* Its answer, or that there is none. */
static int hear(int ready, pid_t pid)
{
	int rc = -ECHILD;
	ssize_t n;

	do
		n = read(ready, &rc, sizeof(rc));
	while (n < 0 && errno == EINTR);
	waitpid(pid, NULL, 0);
	return n == sizeof(rc) ? rc : -ECHILD;
}

/* It waits when this returns. */
int timer_start(const struct store *s, const struct confirm *c, struct err *e)
{
	int ready[2], rc = pipe2(ready, O_CLOEXEC) ? -errno : 0;
	pid_t pid;

	if (!rc) {
		pid = fork();
		if (!pid)
			leave_parent(s, c, ready[1]);
		rc = pid < 0 ? -errno : 0;
		close(ready[1]);
		if (!rc)
			rc = hear(ready[0], pid);
		close(ready[0]);
	}
	if (rc)
		err_set(e, rc, "nothing was changed, as --confirm-within has no process for its timer: %s",
			strerror(-rc));
	return rc;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Only one ctcpd of a network namespace changes what is paced: it holds a lock on a file beside
 * ctcp-setup's state for as long as it may pace, and the kernel releases that lock when it exits.
 * If somebody removes the file, another daemon could lock a new one, so each poll checks that the
 * file is still there.
 *
 * The file is removed when nothing is paced any more: to a daemon that observes as a user of its
 * own, and may not see what is pinned, its absence says that nothing is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act_inside.h"
#include "holder.h"
#include "store.h"

#define LOCK_TRIES	8U	/* its holder may remove the file: then lock the new one */

static bool is_removed(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_nlink;
}

/* @pid: "" if it is not known */
static int anothers(const char pid[PID_LEN], struct err *e)
{
	return err_set(e, -EBUSY, "another ctcpd paces%s%s", *pid ? ", process " : "", pid);
}

/* Of another user's file we can only tell whether it is locked. */
static int cannot_open(const char *path, int code, struct err *e)
{
	char pid[PID_LEN];
	struct stat st;

	if (code == EACCES && !stat(path, &st) && holder_of_file(&st, pid))
		return anothers(pid, e);
	return err_set(e, -code, "cannot open %s: %s", path, strerror(code));
}

static int cannot_lock(const char *path, int fd, int code, struct err *e)
{
	char pid[PID_LEN] = "";

	if (code != EWOULDBLOCK)
		return err_set(e, -code, "cannot lock %s: %s", path, strerror(code));
	holder_of_lock(fd, pid);
	return anothers(pid, e);
}

static int lock_once(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600), rc;

	if (fd < 0)
		return cannot_open(path, errno, e);
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	rc = cannot_lock(path, fd, errno, e);
	close(fd);
	return rc;
}

static int lock(const char *path, struct err *e)
{
	unsigned int tries = LOCK_TRIES;
	int fd = lock_once(path, e);

	while (fd >= 0 && is_removed(fd)) {
		close(fd);
		fd = --tries ? lock_once(path, e) :
			       err_set(e, -EAGAIN, "%s is removed as often as it is locked", path);
	}
	return fd;
}

static void path_of(const struct store *s, char *path, size_t len)
{
	snprintf(path, len, "%s/ctcpd-%s.lock", s->dir, s->netns);
}

int act_lock(struct act *a, struct err *e)
{
	struct store s;
	char path[320];
	int rc;

	if (a->lock >= 0)
		return 0;
	rc = store_open(&s, e);
	if (!rc) {
		path_of(&s, path, sizeof(path));
		a->lock = lock(path, e);
		rc = a->lock < 0 ? a->lock : 0;
	}
	store_close(&s);
	return rc;
}

int act_lock_anew(struct act *a, struct err *e)
{
	struct store s;
	int rc = act_lock(a, e);

	if (rc != -ENOENT)
		return rc;
	rc = store_open(&s, e);
	if (!rc)
		rc = store_make_dir(&s, e);
	store_close(&s);
	return rc ?: act_lock(a, e);
}

bool act_lock_is_removed(const struct act *a)
{
	return a->lock >= 0 && is_removed(a->lock);
}

bool act_was_locked(void)
{
	struct store s;
	struct err unsaid;
	char path[320];
	bool was = true;

	if (!store_open(&s, &unsaid)) {
		path_of(&s, path, sizeof(path));
		was = !access(path, F_OK) || errno != ENOENT;
	}
	store_close(&s);
	return was;
}

void act_unlock(struct act *a)
{
	if (a->lock >= 0)
		close(a->lock);
	a->lock = -1;
}

/* Remove the lock file, unless another file has taken its place. */
static void remove_file(const struct act *a, const char *path)
{
	struct stat ours, there;

	if (!fstat(a->lock, &ours) && !stat(path, &there) && ours.st_ino == there.st_ino &&
	    ours.st_dev == there.st_dev)
		unlink(path);
}

/* A BPF program that is loaded may still pace sockets that are to be released. */
static bool is_loaded(const struct act *a)
{
	int k = 0;

	while (k < HANDS_KINDS && !a->by[k].hands.bpf)
		k++;
	return k < HANDS_KINDS;
}

bool act_is_done(const struct act *a)
{
	return !act_in_force(a) && act_is_known(a) && !is_loaded(a);
}

void act_unlock_for_good(struct act *a)
{
	struct store s;
	struct err unsaid;
	char path[320];

	if (a->lock >= 0 && !store_open(&s, &unsaid)) {
		path_of(&s, path, sizeof(path));
		remove_file(a, path);
		store_close(&s);
	}
	act_unlock(a);
}

void act_unlock_if_done(struct act *a)
{
	/* a later tick unloads what is loaded */
	if (a->mode != MODE_OBSERVE || act_in_force(a) || is_loaded(a))
		return;
	if (act_is_done(a))
		act_unlock_for_good(a);
	else
		act_unlock(a);
}

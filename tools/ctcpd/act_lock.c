// SPDX-License-Identifier: GPL-2.0
/*
 * One ctcpd of a network namespace changes what is paced: beside the state of ctcp-setup lies a
 * file that it has locked for as long as it may, which it cannot forget to give back.  Where
 * somebody removes that file the next daemon would lock another one, so that it is looked at with
 * each poll.
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

static int lock(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600), rc;
	char pid[PID_LEN] = "";

	if (fd < 0)
		return err_set(e, -errno, "cannot open %s: %s", path, strerror(errno));
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (rc != -EBUSY)
		err_set(e, rc, "cannot lock %s: %s", path, strerror(-rc));
	else if (holder_of_lock(fd, pid))
		err_set(e, rc, "another ctcpd paces, process %s", pid);
	else
		err_set(e, rc, "another ctcpd paces");
	close(fd);
	return rc;
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

bool act_lock_is_removed(const struct act *a)
{
	struct stat st;

	return a->lock >= 0 && !fstat(a->lock, &st) && !st.st_nlink;
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

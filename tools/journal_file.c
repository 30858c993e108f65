// SPDX-License-Identifier: GPL-2.0
/*
 * Journals on disk: /run/ctcp-setup/NAMESPACE.DEVICE, or below CTCP_RUNDIR.
 *
 * A file is written beside its place, made durable, and renamed into it; so
 * there is the old journal or the new one, and never half of either.  /run is
 * empty after a boot, as is the kernel's state that the journals tell of.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "journal.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71	/* Linux 5.14 */
#endif

#define RUN_DIR		"/run/ctcp-setup"
#define LOCK_NAME	"lock"
#define LOCK_WAIT_MS	5000
#define LOCK_POLL_MS	20
#define JOURNAL_MAX	(1 << 20)	/* bytes; ours are a few KiB */

/* A cookie is never used again before the next boot; an inode may be. */
int netns_key(char key[NETNS_KEY])
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;
	uint64_t cookie;
	socklen_t len = sizeof(cookie);
	struct stat st;

	if (fd < 0)
		return -errno;
	rc = getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len);
	close(fd);
	if (!rc) {
		snprintf(key, NETNS_KEY, "c%" PRIu64, cookie);
		return 0;
	}
	if (stat("/proc/self/ns/net", &st))
		return -errno;
	snprintf(key, NETNS_KEY, "i%" PRIu64, (uint64_t)st.st_ino);
	return 0;
}

const char *journals_dir(void)
{
	const char *dir = getenv("CTCP_RUNDIR");

	return dir && *dir ? dir : RUN_DIR;
}

static int lock_busy(int fd, struct err *e)
{
	char pid[16] = "";
	ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

	pid[n > 0 ? n : 0] = 0;
	pid[strcspn(pid, "\n")] = 0;
	return err_set(e, -EBUSY,
		       "another ctcp-setup has been at work for %d s, process %s; wait for it or end it",
		       LOCK_WAIT_MS / 1000, pid[0] ? pid : "unknown");
}

static int wait_for_lock(int fd, struct err *e)
{
	const struct timespec poll = { .tv_nsec = LOCK_POLL_MS * 1000000L };
	int waited;

	for (waited = 0; flock(fd, LOCK_EX | LOCK_NB); waited += LOCK_POLL_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set(e, -errno, "cannot lock the journals: %s",
				       strerror(errno));
		if (waited >= LOCK_WAIT_MS)
			return lock_busy(fd, e);
		nanosleep(&poll, NULL);
	}
	return 0;
}

/* One lock for all namespaces: circuits of two may share the module. */
int journals_lock(struct journals *js, struct err *e)
{
	char path[300];
	int rc;

	if (mkdir(js->dir, 0755) && errno != EEXIST)
		return err_set(e, -errno, "cannot make %s for the journal: %s", js->dir,
			       strerror(errno));
	snprintf(path, sizeof(path), "%s/" LOCK_NAME, js->dir);
	js->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (js->lock < 0)
		return err_set(e, -errno, "cannot open %s: %s", path, strerror(errno));
	/* whoever can open it can hold it for ever; it may be of an older version */
	if (fchmod(js->lock, 0600))
		return err_set(e, -errno, "cannot close %s to others: %s", path, strerror(errno));
	rc = wait_for_lock(js->lock, e);
	if (rc)
		return rc;
	/* who holds it is for the next one's message only */
	if (ftruncate(js->lock, 0) || dprintf(js->lock, "%d\n", getpid()) < 0)
		return 0;
	return 0;
}

static char *read_file(int dir, const char *name, size_t *len)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= JOURNAL_MAX)
		text = malloc((size_t)st.st_size + 1);
	if (text) {
		n = read(fd, text, (size_t)st.st_size);
		*len = n < 0 ? 0 : (size_t)n;
	}
	close(fd);
	return text;
}

static int damaged(const struct journals *js, const char *name, struct err *e)
{
	return err_set(e, -EBADMSG,
		       "the journal %s/%s is damaged and nothing of it was used; set back by hand what it names, then delete it",
		       js->dir, name);
}

/* 0 also for one that was removed since the folder was listed: nothing locks a reader. */
static int read_one(struct journals *js, int dir, const char *name, struct err *e)
{
	struct journal *j = malloc(sizeof(*j)), **list;
	char expected[NETNS_KEY + IFNAMSIZ + 1];
	char *text;
	size_t len;
	int rc;

	list = realloc(js->list, (js->n + 1) * sizeof(*list));
	if (list)
		js->list = list;
	errno = 0;
	text = read_file(dir, name, &len);
	if (!text && errno == ENOENT) {
		rc = 0;
		goto out;
	}
	if (!j || !list || !text) {
		rc = err_set(e, -EIO, "cannot read the journal %s/%s", js->dir, name);
		goto out;
	}
	rc = journal_parse(text, len, j);
	snprintf(expected, sizeof(expected), "%s.%s", j->netns, j->circuit.dev);
	if (rc || strcmp(expected, name)) {
		rc = damaged(js, name, e);
		goto out;
	}
	js->list[js->n++] = j;
	free(text);
	return 0;
out:
	free(text);
	free(j);
	return rc;
}

/* No directory: no circuit yet. */
int journals_read(struct journals *js, struct err *e)
{
	DIR *dir = opendir(js->dir);
	struct dirent *entry;
	int rc = 0;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return err_set(e, -errno, "cannot read %s: %s", js->dir, strerror(errno));
	while (!rc && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, LOCK_NAME))
			continue;
		rc = read_one(js, dirfd(dir), entry->d_name, e);
	}
	closedir(dir);
	return rc;
}

void journals_free(struct journals *js)
{
	uint32_t i;

	for (i = 0; i < js->n; i++)
		free(js->list[i]);
	free(js->list);
	if (js->lock >= 0)
		close(js->lock);
	memset(js, 0, sizeof(*js));
	js->lock = -1;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

static int write_beside(const char *path, const char *text, size_t len)
{
	int fd, rc;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, len);
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

int journal_write(const struct journals *js, const struct journal *j, struct err *e)
{
	char path[320], beside[320];
	char *text;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "%s/%s.%s", js->dir, j->netns, j->circuit.dev);
	snprintf(beside, sizeof(beside), "%s/.%s.%s", js->dir, j->netns, j->circuit.dev);
	rc = journal_format(j, &text, &len);
	if (rc)
		return err_set(e, rc, "cannot write the journal: out of memory");
	rc = write_beside(beside, text, len);
	free(text);
	if (!rc && rename(beside, path))
		rc = -errno;
	if (rc) {
		unlink(beside);
		return err_set(e, rc, "cannot write the journal %s: %s", path, strerror(-rc));
	}
	rc = sync_dir(js->dir);
	return rc ? err_set(e, rc, "cannot sync %s: %s", js->dir, strerror(-rc)) : 0;
}

int journal_remove(const struct journals *js, const struct journal *j, struct err *e)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/%s.%s", js->dir, j->netns, j->circuit.dev);
	if (unlink(path) && errno != ENOENT)
		return err_set(e, -errno, "cannot remove the journal %s: %s", path,
			       strerror(errno));
	return sync_dir(js->dir);
}

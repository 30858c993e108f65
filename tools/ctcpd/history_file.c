// SPDX-License-Identifier: GPL-2.0
/*
 * The history's file: where it is, whose it is, its lock, and where a damaged one goes.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history_db.h"
#include "holder.h"
#include "replace.h"

#define ASIDE_MAX	3	/* damaged files that are kept */
#define SUFFIX_LEN	32	/* of ".damaged.3-journal" and the like */

static void folder_of(const char *path, char dir[PATH_MAX])
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(dir, PATH_MAX, "%s", dirname(copy));
}

/* What the service's StateDirectory= does, where no service manager does it */
static int make_folder(const char *file, struct err *e)
{
	char dir[PATH_MAX];

	folder_of(file, dir);
	if (mkdir(dir, 0700) && errno != EEXIST)
		return err_set(e, -errno, "cannot make %s, the folder of the history: %s", dir,
			       strerror(errno));
	return 0;
}

/* Whoever may write there could put a file or a log of their own in place of ours */
static int check_folder(const char *path, struct err *e)
{
	char dir[PATH_MAX];
	struct stat st;

	folder_of(path, dir);
	if (stat(dir, &st))
		return err_set(e, -errno, "cannot look at %s, the folder of the history: %s", dir,
			       strerror(errno));
	if (st.st_uid && st.st_uid != geteuid())
		return err_set(e, -EPERM,
			       "%s, the folder of the history, is user %u's; it must be root's or of the user that ctcpd runs as, %u",
			       dir, st.st_uid, geteuid());
	if (st.st_mode & 022)
		return err_set(e, -EPERM,
			       "%s, the folder of the history, can be written to by others, by its mode %04o; chmod go-w %s",
			       dir, st.st_mode & 07777, dir);
	return 0;
}

static int check_file(int fd, const char *file, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_set(e, -errno, "cannot look at the history %s: %s", file,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "the history %s is not a regular file; name another",
			       file);
	if (st.st_uid != geteuid())
		return err_set(e, -EPERM,
			       "the history %s is user %u's; it must be of the user that ctcpd runs as, %u",
			       file, st.st_uid, geteuid());
	/* it tells whom this host talks to */
	if (st.st_mode & 077 && fchmod(fd, 0600))
		return err_set(e, -errno, "cannot make the history %s private: %s", file,
			       strerror(errno));
	return 0;
}

/* A device or a pipe is not opened: that alone may do something */
static int check_kind(const char *file, struct err *e)
{
	struct stat st;

	if (stat(file, &st))
		return errno == ENOENT ? make_folder(file, e) : 0;
	if (S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, "the history %s is a folder; name a file in it", file);
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "the history %s is not a regular file; name another",
			       file);
	return 0;
}

/* Through a link whose file is not there yet the kernel makes that file */
static int open_file(const char *file, struct err *e)
{
	int fd = open(file, O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : err_set(e, -errno, "cannot open the history %s: %s", file,
				      strerror(errno));
}

/* The file is there then, and empty if it was not: so the log lies beside it, not the link */
int history_find(struct history *h, const char *file, struct err *e)
{
	int rc, fd;

	if (!*file || strlen(file) >= sizeof(h->path) - SUFFIX_LEN)
		return err_set(e, -EINVAL, "the history \"%.64s\" is not the name of a file",
			       file);
	/* of the link, before it is followed */
	rc = check_kind(file, e) ?: check_folder(file, e);
	if (rc)
		return rc;
	fd = open_file(file, e);
	if (fd < 0)
		return fd;
	rc = check_file(fd, file, e);
	if (!rc && !realpath(file, h->path))
		rc = err_set(e, -errno, "cannot find the history %s: %s", file, strerror(errno));
	close(fd);
	if (!rc && strlen(h->path) >= sizeof(h->path) - SUFFIX_LEN)
		rc = err_set(e, -ENAMETOOLONG, "the history %.64s... has too long a name", file);
	return rc ?: check_folder(h->path, e);
}

static int is_held(const struct history *h, int fd, struct err *e)
{
	char pid[PID_LEN];

	if (holder_of_lock(fd, pid))
		return err_set(e, -EBUSY, "the history %s is another ctcpd's, process %s",
			       h->path, pid);
	return err_set(e, -EBUSY, "the history %s is another ctcpd's", h->path);
}

/* The file stays: who removes a lock's file takes it from whoever has just opened it */
int history_lock(struct history *h, struct err *e)
{
	char name[PATH_MAX + SUFFIX_LEN];
	int fd, rc = 0;

	snprintf(name, sizeof(name), "%s.lock", h->path);
	fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(e, -errno, "cannot open %s, the lock of the history: %s", name,
			       strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB))
		rc = errno == EWOULDBLOCK ? is_held(h, fd, e) :
		     err_set(e, -errno, "cannot lock %s: %s", name, strerror(errno));
	if (rc)
		close(fd);
	else
		h->lock = fd;
	return rc;
}

static void aside_name(const struct history *h, int i, const char *suffix,
		       char name[PATH_MAX + SUFFIX_LEN])
{
	char number[16] = "";

	if (i > 1)
		snprintf(number, sizeof(number), ".%d", i);
	snprintf(name, PATH_MAX + SUFFIX_LEN, "%s.damaged%s%s", h->path, number, suffix);
}

/* The first that is free, else the last */
static int free_slot(const struct history *h)
{
	char name[PATH_MAX + SUFFIX_LEN];
	struct stat st;
	int i;

	for (i = 1; i < ASIDE_MAX; i++) {
		aside_name(h, i, "", name);
		if (lstat(name, &st) && errno == ENOENT)
			break;
	}
	return i;
}

static int move_aside(const struct history *h, int slot, const char *suffix)
{
	char from[PATH_MAX + SUFFIX_LEN], to[PATH_MAX + SUFFIX_LEN];

	snprintf(from, sizeof(from), "%s%s", h->path, suffix);
	aside_name(h, slot, suffix, to);
	if (!rename(from, to))
		return 0;
	if (errno != ENOENT)
		return -errno;
	/* a log that is left there of an earlier one must not be taken for this one's */
	return unlink(to) && errno != ENOENT ? -errno : 0;
}

/*
 * @e says why, and then also where it is now.  The logs first: one that stays would be played
 * into the file that is begun anew.
 */
int history_set_aside(const struct history *h, struct err *e)
{
	static const char *const suffixes[] = { "-wal", "-journal", "-shm", "" };
	char dir[PATH_MAX], name[PATH_MAX + SUFFIX_LEN];
	int slot = free_slot(h), rc = 0;
	struct err why;
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]) && !rc; i++)
		rc = move_aside(h, slot, suffixes[i]);
	folder_of(h->path, dir);
	rc = rc ?: sync_dir(dir);
	if (rc)
		return err_set(e, rc, "the history %s is damaged, and cannot be set aside: %s",
			       h->path, strerror(-rc));
	aside_name(h, slot, "", name);
	why = *e;
	err_set(e, 0, "%.400s; it is %.240s now, and a new one is begun", why.text, name);
	return 0;
}

/* SQLite would make it with mode 0644, and gives the log the mode of the file */
int history_create(const struct history *h, struct err *e)
{
	int fd = open(h->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(e, -errno, "cannot make the history %s: %s", h->path,
			       strerror(errno));
	close(fd);
	return 0;
}

int history_know_file(struct history *h, struct err *e)
{
	struct stat st;

	if (stat(h->path, &st))
		return err_set(e, -errno, "cannot look at the history %s: %s", h->path,
			       strerror(errno));
	h->dev = st.st_dev;
	h->ino = st.st_ino;
	return 0;
}

/* Removed, or another put in its place: what is written goes where nobody finds it */
bool history_is_moved(const struct history *h)
{
	struct stat st;

	if (stat(h->path, &st))
		return errno == ENOENT;
	return st.st_dev != h->dev || st.st_ino != h->ino;
}

/* Of a file that is not there any more: it would be played into the one that is */
void history_drop_log(const struct history *h)
{
	char name[PATH_MAX + SUFFIX_LEN];

	snprintf(name, sizeof(name), "%s-wal", h->path);
	unlink(name);
}

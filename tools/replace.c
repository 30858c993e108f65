// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are replaced as a whole: see replace.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"

int write_all(int fd, const char *text, size_t len)
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

int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

/* On disk with this mode, whoever made it */
static int fill(int fd, mode_t mode, const char *text, size_t len)
{
	int rc = write_all(fd, text, len);

	if (!rc && (fchmod(fd, mode) || fsync(fd)))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

static int put(const char *path, mode_t mode, const char *text, size_t len)
{
	char beside[PATH_MAX + 16];
	int fd, rc;

	/* of a name that nobody has: the folder is not ours */
	snprintf(beside, sizeof(beside), "%s.XXXXXX", path);
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fill(fd, mode, text, len);
	if (!rc && rename(beside, path))
		rc = -errno;
	if (rc)
		unlink(beside);
	return rc;
}

static mode_t mode_of_new(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/*
 * The new file is the caller's: it must not be setuid, and whom another user let write to his
 * may not write to it.
 */
static mode_t mode_after(const struct stat *old)
{
	return old->st_mode & (old->st_uid == geteuid() ? 0777 : 0755);
}

/* By a link that was changed meanwhile it is another file: -ESTALE */
static int find_path(const char *name, const struct stat *old, char path[PATH_MAX])
{
	struct stat st;

	if (!realpath(name, path) || stat(path, &st))
		return -errno;
	return st.st_dev == old->st_dev && st.st_ino == old->st_ino ? 0 : -ESTALE;
}

/*
 * Where it is, if it is there, and its mode.  realpath(3) reads links itself; whether one may
 * be followed, the kernel says when it opens the file (fs.protected_symlinks).
 */
static int find(const char *name, char path[PATH_MAX], mode_t *mode)
{
	int fd = open(name, O_PATH | O_CLOEXEC), rc;
	struct stat st;

	*mode = mode_of_new();
	if (fd < 0) {
		snprintf(path, PATH_MAX, "%s", name);
		return errno == ENOENT ? 0 : -errno;
	}
	rc = fstat(fd, &st) ? -errno : find_path(name, &st, path);
	close(fd);
	if (rc)
		return rc;
	*mode = mode_after(&st);
	return S_ISREG(st.st_mode) ? 0 : -EEXIST;
}

/* As one is that the kernel does not let us follow */
static bool is_foreign_link(const char *name)
{
	struct stat st;

	return !lstat(name, &st) && S_ISLNK(st.st_mode) && st.st_uid != geteuid();
}

int replace_file(const char *name, const char *text, size_t len, struct err *e)
{
	char path[PATH_MAX];
	mode_t mode;
	int rc = find(name, path, &mode);

	if (rc == -EACCES && is_foreign_link(name))
		return err_set(e, rc,
			       "%s is another user's link in a folder where all may write, and is not followed; name the file itself",
			       name);
	if (rc == -EEXIST)
		return err_set(e, rc, "%s is not a file, and is not replaced by one", name);
	if (!rc)
		rc = put(path, mode, text, len);
	if (rc)
		return err_set(e, rc, "cannot write %s, which is as it was: %s", name,
			       strerror(-rc));
	rc = sync_dir(dirname(path));
	return rc ? err_set(e, rc, "%s is written, but may be as it was after a crash: %s", name,
			    strerror(-rc)) : 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Sysctls by name: net.ipv4.tcp_rmem is /proc/sys/net/ipv4/tcp_rmem.
 *
 * In a namespace that is not the machine's own some are absent (tcp_mem) and
 * some can only be read (rmem_max): the mode of the file says which.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "sysctl.h"

static void sysctl_path(const char *name, char path[128])
{
	char *p;

	snprintf(path, 128, "/proc/sys/%s", name);
	for (p = path; *p; p++)
		if (*p == '.')
			*p = '/';
}

/* Blanks and tabs between words become one blank, the line's end nothing. */
static void one_blank(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (!strchr(" \t\n", *s))
			*to++ = *s;
		else if (s[1] && !strchr(" \t\n", s[1]))
			*to++ = ' ';
	}
	*to = 0;
}

int sysctl_get(const char *name, char value[ITEM_VALUE], struct err *e)
{
	char path[128];
	ssize_t n;
	int fd;

	sysctl_path(name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "cannot read %s: %s", name, strerror(errno));
	n = read(fd, value, ITEM_VALUE - 1);
	if (n < 0)
		err_set(e, (int)(n = -errno), "cannot read %s: %s", name, strerror(errno));
	close(fd);
	if (n < 0)
		return (int)n;
	value[n] = 0;
	one_blank(value);
	return 0;
}

int sysctl_set(const char *name, const char *value, struct err *e)
{
	char path[128];
	ssize_t n;
	int fd;

	sysctl_path(name, path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "cannot set %s: %s", name, strerror(errno));
	n = write(fd, value, strlen(value));
	if (n < 0)
		err_set(e, (int)(n = -errno), "%s: the kernel refuses \"%s\": %s", name, value,
			strerror(errno));
	close(fd);
	return n < 0 ? (int)n : 0;
}

bool sysctl_exists(const char *name)
{
	char path[128];

	faulty_look();
	sysctl_path(name, path);
	return !access(path, F_OK) || (errno != ENOENT && errno != ENOTDIR);
}

/* By the table's mode and not by who asks, so that --dry-run needs no root. */
int sysctl_writable(const char *name, bool *writable, struct err *e)
{
	char path[128];
	struct stat st;

	sysctl_path(name, path);
	if (stat(path, &st))
		return err_set(e, -errno, "cannot look at %s: %s", name, strerror(errno));
	*writable = st.st_mode & 0200;
	return 0;
}

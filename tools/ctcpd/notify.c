// SPDX-License-Identifier: GPL-2.0
/*
 * What systemd is told: see notify.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "notify.h"

/* The address's length; 0: it is none that this can send to */
static socklen_t address_of(const char *name, struct sockaddr_un *to)
{
	size_t len = strlen(name);

	if ((*name != '/' && *name != '@') || len < 2 || len >= sizeof(to->sun_path))
		return 0;
	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(to->sun_path, name, len);
	if (*name == '@')
		to->sun_path[0] = 0;	/* and none behind it: the length ends the name */
	else
		len++;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

/* Never waits: a systemd that does not read must not hold the loop. */
int notify(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to;
	socklen_t len;
	int fd, rc = 0;

	if (!name)
		return 0;
	len = address_of(name, &to);
	if (!len)
		return -EAFNOSUPPORT;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (struct sockaddr *)&to, len) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* WATCHDOG_PID is there where it is meant for one process of several. */
uint64_t notify_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t us;
	char *end;

	if (!usec || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	errno = 0;
	us = strtoull(usec, &end, 10);
	return errno || *end || us == UINT64_MAX ? 0 : us / 2;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sock.h: what the tests' programs do with a socket, and die of when it fails
 */
#ifndef SELFTESTS_SOCK_H
#define SELFTESTS_SOCK_H

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/tcp_circuit.h>

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(errno));
	exit(1);
}

static inline void set_algorithm(int fd, const char *name)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)))
		die("TCP_CONGESTION");
}

static inline struct tcp_info tcp_info_of(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("TCP_INFO");
	return info;
}

#endif

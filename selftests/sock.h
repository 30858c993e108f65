/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sock.h: what the tests' programs do with sockets, and how they die when it fails
 */
#ifndef SELFTESTS_SOCK_H
#define SELFTESTS_SOCK_H

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/tcp_circuit.h>

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(errno));
	exit(1);
}

/* Of a clock that only goes forward */
static inline long clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* -1: stay who we are.  All capabilities go with root's uid. */
static inline void become_user(long uid)
{
	if (uid >= 0 && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
		die("setuid");
}

/*
 * An address to bind or connect to, IPv4's or IPv6's as @text has it, this one with
 * "%DEVICE" where it is link-local; @port in network byte order.  Its length; 0: @text
 * is no address.
 */
static inline socklen_t socket_address(const char *text, uint16_t port,
				       struct sockaddr_in6 *address)
{
	struct sockaddr_in *a4 = (void *)address;
	const char *scope = strchrnul(text, '%');
	char bare[INET6_ADDRSTRLEN];

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &a4->sin_addr) == 1) {
		a4->sin_family = AF_INET;
		a4->sin_port = port;
		return sizeof(*a4);
	}
	snprintf(bare, sizeof(bare), "%.*s", (int)(scope - text), text);
	if (inet_pton(AF_INET6, bare, &address->sin6_addr) == 1) {
		address->sin6_family = AF_INET6;
		address->sin6_port = port;
		if (*scope)
			address->sin6_scope_id = if_nametoindex(scope + 1);
		return sizeof(*address);
	}
	errno = EINVAL;
	return 0;
}

static inline void set_algorithm(int fd, const char *name)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)))
		die("TCP_CONGESTION");
}

/* close() then sends a RST and leaves nothing that waits for a FIN. */
static inline void reset_on_close(int fd)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static inline struct tcp_info tcp_info_of(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("TCP_INFO");
	return info;
}

/* false, with errno: the socket is not circuit's; @info is all zero then. */
static inline bool get_circuit_info(int fd, struct tcp_circuit_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !getsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_INFO, info, &len);
}

#endif

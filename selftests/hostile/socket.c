// SPDX-License-Identifier: GPL-2.0
/*
 * One socket: open it, connect it, ask for a window on it, drop it
 */
#include <poll.h>

#include "hostile.h"

#ifndef TCP_TX_DELAY
#define TCP_TX_DELAY	37
#endif

/* The @i-th address from @text on */
struct sockaddr_in address_of(const char *text, int i, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(port) };

	if (inet_pton(AF_INET, text, &to.sin_addr) != 1) {
		errno = EINVAL;
		die(text);
	}
	to.sin_addr.s_addr = htonl(ntohl(to.sin_addr.s_addr) + i);
	return to;
}

/* The @i-th one; bound, if -b says so */
int new_socket(const struct options *o, int i)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct sockaddr_in from;

	if (fd < 0)
		die("socket");
	if (*o->algorithm)
		set_algorithm(fd, o->algorithm);
	if (o->bind) {
		from = address_of(o->bind, i, 0);
		if (bind(fd, (void *)&from, sizeof(from)))
			die("bind");
	}
	return fd;
}

void start_connecting(int fd, const struct sockaddr_in *to)
{
	if (connect(fd, (void *)to, sizeof(*to)) && errno != EINPROGRESS)
		die("connect");
}

/* Die unless @fd connects within a minute.  The caller has set errno to 0. */
void await_connected(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	int err = 0;
	socklen_t len = sizeof(err);

	if (poll(&pfd, 1, 60000) <= 0)
		errno = ETIMEDOUT;
	else if (!getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		errno = err;
	if (errno)
		die("connect");
}

void connect_now(int fd, const struct sockaddr_in *to)
{
	start_connecting(fd, to);
	errno = 0;
	await_connected(fd);
}

/* End the connection; the socket can be connected again. */
void disconnect(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	if (connect(fd, &none, sizeof(none)))
		die("disconnect");
}

int listen_at(const struct options *o, int port)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
				   .sin_port = htons(port) };
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (*o->algorithm)
		set_algorithm(listener, o->algorithm);
	if (bind(listener, (void *)&any, sizeof(any)) || listen(listener, 1024))
		die("listen");
	return listener;
}

/* Close by a reset: neither data nor a FIN is left to wait for a path. */
void drop(int fd)
{
	reset_on_close(fd);
	close(fd);
}

/* Ask for the window of -w, if one is given; a refusal is counted. */
void ask(int fd, const struct options *o, struct seen *seen)
{
	if (!o->ask || !setsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND,
				   &o->ask, sizeof(o->ask)))
		return;
	if (errno != EPERM)
		die("TCP_CIRCUIT_FCWND");
	seen->refused++;
}

/* All zero where the socket is not circuit's */
struct tcp_circuit_info circuit_info_of(int fd)
{
	struct tcp_circuit_info info;

	if (!get_circuit_info(fd, &info) && errno != ENOPROTOOPT)
		die("TCP_CIRCUIT_INFO");
	return info;
}

/*
 * Every packet leaves @us later.  On 7.x a change on an established connection also moves
 * srtt_us by the difference, and forgets the smallest round trip.
 */
void delay_departure(int fd, int us)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_TX_DELAY, &us, sizeof(us)))
		die("TCP_TX_DELAY");
}

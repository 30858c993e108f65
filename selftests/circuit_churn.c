// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_churn: short connections that end in every way, and their server
 *
 *	circuit_churn serve PORT
 *	circuit_churn connect [-s SEED] [-n CONNECTIONS] PORT NOWHERE ADDRESS...
 *
 * The server reads what comes and closes when its peer has, sometimes sooner,
 * with data unread.  The client takes an address at random, asks for a window, a
 * rate or an id or for none, sends up to 40 kB, changes its algorithm back and
 * forth, and ends by FIN, by RST, in mid-transfer, or in SYN_SENT (to NOWHERE, which
 * does not answer).  It prints how many there were of each.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "random.h"
#include "sock.h"

#define CLIENTS_MAX	256	/* that the server has open at once */
#define BYTES_MAX	40000
#define PATIENCE_MS	500

static unsigned int whole, reset, abandoned, killed, refused, options_taken;

/* --- the server -------------------------------------------------------------- */

static struct pollfd open_fds[CLIENTS_MAX + 1];
static int open_count;

static void server_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (open_count > CLIENTS_MAX) {
		close(fd);
		return;
	}
	open_fds[open_count].fd = fd;
	open_fds[open_count++].events = POLLIN;
}

/* One in thirty is closed with whatever is still to be read. */
static void server_read(int i)
{
	static char data[65536];
	ssize_t n = recv(open_fds[i].fd, data, sizeof(data), 0);

	if (n > 0 && below(30))
		return;
	if (n < 0 && errno == EAGAIN)
		return;
	close(open_fds[i].fd);
	open_fds[i] = open_fds[--open_count];
}

static int serve(int port)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
				    .sin6_port = htons(port) };
	int one = 1, listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (void *)&any, sizeof(any)) || listen(listener, 128))
		die("listen");
	open_fds[0].fd = listener;
	open_fds[0].events = POLLIN;
	open_count = 1;
	while (poll(open_fds, open_count, -1) > 0) {
		for (int i = open_count - 1; i > 0; i--)
			if (open_fds[i].revents)
				server_read(i);
		if (open_fds[0].revents)
			server_accept(listener);
	}
	return 1;
}

/* --- the client -------------------------------------------------------------- */

static void use(int fd, const char *algorithm)
{
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, algorithm,
		   strlen(algorithm));
}

static void ask(int fd, int option, uint64_t value, socklen_t len)
{
	options_taken += !setsockopt(fd, SOL_TCP_CIRCUIT, option, &value, len);
}

static void ask_something(int fd)
{
	if (!below(3))
		ask(fd, TCP_CIRCUIT_FCWND, 1 + below(200), sizeof(uint32_t));
	if (!below(3))
		ask(fd, TCP_CIRCUIT_RATE, 1000000 + below(100000000),
		    sizeof(uint64_t));
	if (!below(3))
		ask(fd, TCP_CIRCUIT_ID, below(5), sizeof(uint32_t));
}

static socklen_t address(const char *text, int port, struct sockaddr_in6 *to)
{
	struct sockaddr_in *a4 = (void *)to;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, text, &a4->sin_addr) == 1) {
		a4->sin_family = AF_INET;
		a4->sin_port = htons(port);
		return sizeof(*a4);
	}
	if (inet_pton(AF_INET6, text, &to->sin6_addr) != 1)
		die(text);
	to->sin6_family = AF_INET6;
	to->sin6_port = htons(port);
	return sizeof(*to);
}

static bool wait_for(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	return poll(&pfd, 1, PATIENCE_MS) == 1;
}

static bool connected(int fd)
{
	int err = 0;
	socklen_t len = sizeof(err);

	return wait_for(fd, POLLOUT) &&
	       !getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) && !err;
}

/* Some of the data, and something else in between; false: it is dead. */
static bool some_data(int fd)
{
	static char data[BYTES_MAX];
	int bytes = 1 + below(BYTES_MAX);

	while (bytes > 0) {
		ssize_t n = send(fd, data, bytes, 0);

		if (n < 0 && (errno != EAGAIN || !wait_for(fd, POLLOUT)))
			return false;
		if (n > 0)
			bytes -= n;
		if (!below(8))
			use(fd, below(3) ? "circuit" : "reno");
		if (!below(8))
			ask_something(fd);
	}
	return true;
}

static void by_reset(int fd)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	reset++;
}

/* By FIN, when the peer has closed, too; or without waiting for it. */
static void by_fin(int fd)
{
	char end;

	shutdown(fd, SHUT_WR);
	if (below(4))
		wait_for(fd, POLLIN);
	if (recv(fd, &end, 1, 0) == 0)
		whole++;
}

static void one(const char *nowhere, char **addresses, int n, int port)
{
	bool to_nowhere = !below(20);
	struct sockaddr_in6 to;
	socklen_t len = address(to_nowhere ? nowhere : addresses[below(n)],
				port, &to);
	int fd = socket(to.sin6_family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die("socket");
	if (below(4))
		use(fd, "circuit");
	ask_something(fd);
	if (connect(fd, (void *)&to, len) && errno != EINPROGRESS) {
		refused++;
	} else if (to_nowhere) {
		if (below(2))
			use(fd, "circuit");
		ask_something(fd);
		abandoned++;
	} else if (!connected(fd)) {
		refused++;
	} else if (!some_data(fd)) {
		killed++;
	} else if (below(3)) {
		by_fin(fd);
	} else if (below(2)) {
		by_reset(fd);
	}
	close(fd);
}

static int connect_many(unsigned int n, int port, const char *nowhere,
			char **addresses, int count)
{
	for (unsigned int i = 0; i < n; i++)
		one(nowhere, addresses, count, port);
	printf("connections=%u whole=%u reset=%u abandoned=%u killed=%u refused=%u options=%u\n",
	       n, whole, reset, abandoned, killed, refused, options_taken);
	return 0;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	unsigned int n = 1000;
	uint64_t seed = 1;
	int opt;

	optind = 2;
	while (argc > 1 && (opt = getopt(argc, argv, "s:n:")) != -1) {
		switch (opt) {
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'n': n = strtoul(optarg, NULL, 0); break;
		default: return 2;
		}
	}
	seed_random(seed);
	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(command, "serve") && argc - optind == 1)
		return serve(atoi(argv[optind]));
	if (!strcmp(command, "connect") && argc - optind >= 3)
		return connect_many(n, atoi(argv[optind]), argv[optind + 1],
				    argv + optind + 2, argc - optind - 2);
	fprintf(stderr, "usage: circuit_churn serve PORT\n"
		"       circuit_churn connect [-s SEED] [-n CONNECTIONS] PORT NOWHERE ADDRESS...\n");
	return 2;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_connects: connections one after the other, and how long they take
 *
 *	circuit_connects [-C ALG] [-s SKIP] N ADDRESS PORT
 *
 * Both ends are its own: each connection is made, accepted, and reset, and the first
 * SKIP are not counted.  Prints one line of NAME=value: how many there were, how long
 * they took by the clock, and the circuit of the last one.  Both ends have the
 * algorithm ALG.
 */
#include <getopt.h>

#include "sock.h"

static long long clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int stream_socket(const struct sockaddr_in6 *address, const char *algorithm)
{
	int fd = socket(address->sin6_family, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket");
	if (algorithm)
		set_algorithm(fd, algorithm);
	return fd;
}

static int listen_at(const struct sockaddr_in6 *address, socklen_t len,
		     const char *algorithm)
{
	int one = 1, fd = stream_socket(address, algorithm);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const void *)address, len) || listen(fd, 1))
		die("listen");
	return fd;
}

/* One connection, and its circuit in @info */
static void connect_once(int listener, const struct sockaddr_in6 *address, socklen_t len,
			 const char *algorithm, struct tcp_circuit_info *info)
{
	int fd = stream_socket(address, algorithm), accepted;

	if (connect(fd, (const void *)address, len))
		die("connect");
	accepted = accept(listener, NULL, NULL);
	if (accepted < 0)
		die("accept");
	if (info)
		get_circuit_info(fd, info);
	reset_on_close(fd);
	close(fd);
	close(accepted);
}

static int usage(void)
{
	fprintf(stderr, "usage: circuit_connects [-C ALG] [-s SKIP] N ADDRESS PORT\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct tcp_circuit_info info = { 0 };
	const char *algorithm = NULL;
	struct sockaddr_in6 address;
	long i, n, skip = 0;
	long long began = 0;
	int opt, listener;
	socklen_t len;

	while ((opt = getopt(argc, argv, "C:s:")) != -1) {
		switch (opt) {
		case 'C': algorithm = optarg; break;
		case 's': skip = atol(optarg); break;
		default: return usage();
		}
	}
	if (argc - optind != 3)
		return usage();
	n = atol(argv[optind]);
	len = socket_address(argv[optind + 1], htons(atoi(argv[optind + 2])), &address);
	if (!len)
		die(argv[optind + 1]);
	listener = listen_at(&address, len, algorithm);
	for (i = -skip; i < n; i++) {
		if (i == 0)
			began = clock_ns();
		connect_once(listener, &address, len, algorithm, NULL);
	}
	began = clock_ns() - began;
	connect_once(listener, &address, len, algorithm, &info);
	printf("connections=%ld ns=%lld circuit=%s\n", n, began, info.tci_name);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * ctcpd_sockets: many connections that stay
 *
 *	ctcpd_sockets serve PORT
 *	ctcpd_sockets connect [-s SENDERS] [-q] N FIRST REMOTES PORT
 *
 * connect opens N connections in turn to REMOTES IPv4 addresses from FIRST on.  Each sends a
 * byte at once (-q: none does), so that it is a flow.  Once all are there it prints
 * n=N, and from then on SENDERS of them send 1000 bytes each tenth of a second, until the
 * program is killed.  serve accepts and reads all there is.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "sock.h"

#define EVENTS	256
#define SERVERS	8	/* processes that accept from one port */

/*
 * How many sockets a process may have, beside what else it has open: where only
 * CAP_SYS_RESOURCE raises that, several processes share the work.
 */
static long sockets_each(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		die("getrlimit");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
	return limit.rlim_max > 1000064 ? 1000000 : (long)limit.rlim_max - 64;
}

/* Ends with the one that made it */
static bool become_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return !pid;
}

static long number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || n < 0 || n > 1000000) {
		fprintf(stderr, "ctcpd_sockets: %s: not a number up to 1000000\n", text);
		exit(2);
	}
	return n;
}

/* --- serve ------------------------------------------------------------------ */

static void watch(int set, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
		die("epoll_ctl");
}

static int listener(uint16_t port)
{
	const struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	if (bind(fd, (const void *)&any, sizeof(any)) || listen(fd, 4096))
		die("listen");
	return fd;
}

static void accept_all(int set, int from)
{
	int fd;

	while ((fd = accept4(from, NULL, NULL, SOCK_NONBLOCK)) >= 0)
		watch(set, fd);
	if (errno != EAGAIN && errno != ECONNABORTED)
		die("accept");
}

static void drain(int fd)
{
	static char data[65536];
	ssize_t n;

	while ((n = read(fd, data, sizeof(data))) > 0)
		;
	if (!n || errno != EAGAIN)
		close(fd);
}

static void serve(uint16_t port)
{
	struct epoll_event events[EVENTS];
	int set, from, n, i;

	for (i = 1; i < SERVERS && !become_child(); i++)
		;
	sockets_each();
	set = epoll_create1(0);
	from = listener(port);
	if (set < 0)
		die("epoll_create");
	watch(set, from);
	for (;;) {
		n = epoll_wait(set, events, EVENTS, -1);
		for (i = 0; i < n; i++) {
			if (events[i].data.fd == from)
				accept_all(set, from);
			else
				drain(events[i].data.fd);
		}
	}
}

/* --- connect ---------------------------------------------------------------- */

static int connect_to(uint32_t address, uint16_t port, bool quiet)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(address),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket");
	if (connect(fd, (const void *)&to, sizeof(to)))
		die("connect");
	if (!quiet && write(fd, "x", 1) != 1)
		die("write");
	return fd;
}

static void send_some(const int *fds, long senders)
{
	static const char data[1000];
	long i;

	for (i = 0; i < senders; i++)
		if (send(fds[i], data, sizeof(data), MSG_DONTWAIT) < 0 && errno != EAGAIN)
			die("send");
}

struct many {
	uint32_t first;
	long n, remotes, senders;
	uint16_t port;
	bool quiet;
};

/* Those from @begin to @end; a byte to @ready once they are there */
static void keep_some(const struct many *m, long begin, long end, int ready)
{
	long senders = m->senders * end / m->n - m->senders * begin / m->n;
	long n = end - begin, i;
	int *fds = calloc((size_t)n, sizeof(*fds));

	if (!fds)
		die("calloc");
	for (i = 0; i < n; i++)
		fds[i] = connect_to(m->first + (uint32_t)((begin + i) % m->remotes), m->port,
				    m->quiet);
	if (write(ready, "x", 1) != 1)
		die("write");
	for (;; usleep(100000))
		send_some(fds, senders);
}

static void keep_many(const struct many *m)
{
	long each = sockets_each(), begin;
	int ready[2];
	char byte;

	if (pipe(ready))
		die("pipe");
	for (begin = 0; begin < m->n; begin += each)
		if (become_child())
			keep_some(m, begin, begin + each < m->n ? begin + each : m->n, ready[1]);
	close(ready[1]);
	for (begin = 0; begin < m->n; begin += each)
		if (read(ready[0], &byte, 1) != 1)
			die("a process that connects");
	printf("n=%ld\n", m->n);
	fflush(stdout);
	pause();
}

static int usage(void)
{
	fprintf(stderr,
		"usage: ctcpd_sockets serve PORT\n"
		"       ctcpd_sockets connect [-s SENDERS] [-q] N FIRST REMOTES PORT\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct many m = { 0 };
	struct in_addr first;
	int opt;

	if (argc == 3 && !strcmp(argv[1], "serve"))
		serve((uint16_t)number(argv[2]));
	if (argc < 2 || strcmp(argv[1], "connect"))
		return usage();
	while ((opt = getopt(argc - 1, argv + 1, "s:q")) != -1) {
		if (opt == 's')
			m.senders = number(optarg);
		else if (opt == 'q')
			m.quiet = true;
		else
			return usage();
	}
	argv += 1 + optind;
	if (argc - 1 - optind != 4 || inet_pton(AF_INET, argv[1], &first) != 1)
		return usage();
	m.n = number(argv[0]);
	m.first = ntohl(first.s_addr);
	m.remotes = number(argv[2]);
	m.port = (uint16_t)number(argv[3]);
	if (!m.n || !m.remotes || m.senders > m.n)
		return usage();
	keep_many(&m);
}

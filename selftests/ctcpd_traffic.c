// SPDX-License-Identifier: GPL-2.0
/*
 * ctcpd_traffic: transfers that are limited by what a test wants them limited by
 *
 *	ctcpd_traffic serve [-r RCVBUF] [-q US] [-a BYTES] PORT
 *	ctcpd_traffic send  [-C ALGORITHM] [-s SNDBUF] [-t MS] [-n BYTES]
 *			    [-b BYTES -p MS] [-w BYTES -a BYTES] ADDRESS PORT
 *
 * The server reads all that comes over each of its connections, what came each millisecond
 * at once (to be woken by each packet is what a virtual-time machine spends its time on):
 *	-r	SO_RCVBUF, which bounds the window that it offers
 *	-q	pause after each READ bytes, of all connections together
 *	-a	answers by one byte for each so many that it has read
 * and prints a line when one has ended: port=N (the peer's) bytes=N.
 *
 * The sender writes as much as the socket takes:
 *	-t, -n	for so long, so many bytes (whichever ends first), then waits
 *		END_MS for the peer to have read it all, and resets the connection
 *	-b -p	writes -b bytes every -p ms, and has nothing to send in between; what a
 *		period leaves over is written in the next
 *	-w -a	has at most -w bytes that no answer has acknowledged, each answer being
 *		for -a bytes: a channel's window, as OpenSSH's
 * and prints a line: port=N (its own) bytes=N retrans=N (segments) busy=N rwnd=N sndbuf=N
 * (us of its life with data under way; of these, held by the peer's window, by its own
 * buffer).
 */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>

#include "sock.h"

#define READ		65536
#define CONNECTIONS	64
#define BATCH_US	1000
#define END_MS		5000

struct options {
	const char	*algorithm;	/* TCP_CONGESTION, NULL = leave */
	int		rcvbuf, sndbuf;	/* 0 = leave */
	int		read_us;	/* after each read of the server */
	long long	answer;		/* bytes for one byte of answer, 0 = none */
	long		ms;		/* to send, 0 = no end */
	long long	bytes;		/* to send, 0 = no end */
	long long	burst;		/* bytes each period, 0 = all the time */
	long		period_ms;
	long long	window;		/* bytes without an answer, 0 = no limit */
};

static char buffer[READ];

/* --- serve ----------------------------------------------------------------------- */

struct connection {
	int		fd;
	uint16_t	port;
	long long	bytes, answered;
};

static int listen_on(const struct options *o, const char *port)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6, .sin6_port = htons(atoi(port))
	};
	int fd = socket(AF_INET6, SOCK_STREAM, 0), on = 1;

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (o->rcvbuf && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &o->rcvbuf, sizeof(o->rcvbuf)))
		die("SO_RCVBUF");
	if (bind(fd, (void *)&any, sizeof(any)) || listen(fd, CONNECTIONS))
		die(port);
	return fd;
}

static bool answers(struct connection *c, long long unit)
{
	while (c->bytes - c->answered >= unit) {
		if (send(c->fd, "a", 1, MSG_NOSIGNAL) != 1)
			return false;
		c->answered += unit;
	}
	return true;
}

/* False: the connection has ended */
static bool serve_some(const struct options *o, struct connection *c)
{
	ssize_t n = read(c->fd, buffer, sizeof(buffer));

	if (n <= 0)
		return false;
	c->bytes += n;
	if (o->answer && !answers(c, o->answer))
		return false;
	if (o->read_us)
		usleep((int64_t)o->read_us * n / READ);
	return true;
}

static struct connection take(int listener)
{
	struct sockaddr_in6 peer;
	socklen_t len = sizeof(peer);
	int on = 1;
	struct connection c = { .fd = accept(listener, (void *)&peer, &len) };

	if (c.fd < 0)
		die("accept");
	setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c.port = ntohs(peer.sin6_port);
	return c;
}

static void end(const struct connection *c)
{
	printf("port=%u bytes=%lld\n", c->port, c->bytes);
	fflush(stdout);
	close(c->fd);
}

static void serve(const struct options *o, const char *port)
{
	struct pollfd polled[CONNECTIONS + 1] = { { .fd = listen_on(o, port), .events = POLLIN } };
	struct connection open[CONNECTIONS];
	int n = 0;

	for (;;) {
		for (int i = 0; i < n; i++)
			polled[i + 1] = (struct pollfd){ .fd = open[i].fd, .events = POLLIN };
		polled[0].events = n < CONNECTIONS ? POLLIN : 0;
		if (poll(polled, n + 1, -1) < 0)
			die("poll");
		/* From the last on: the one that ended is replaced by one seen already */
		for (int i = n - 1; i >= 0; i--) {
			if (polled[i + 1].revents && !serve_some(o, &open[i])) {
				end(&open[i]);
				open[i] = open[--n];
			}
		}
		if (polled[0].revents)
			open[n++] = take(polled[0].fd);
		usleep(BATCH_US);
	}
}

/* --- send ------------------------------------------------------------------------ */

struct sender {
	int		fd;
	long		began;		/* ms */
	long long	bytes;		/* written */
	long long	credit;		/* bytes of the window that are left */
	bool		ended;		/* by the peer */
};

static int connected(const struct options *o, const char *address, const char *port)
{
	struct sockaddr_in6 peer;
	socklen_t len = socket_address(address, htons(atoi(port)), &peer);
	int fd;

	if (!len)
		die(address);
	fd = socket(peer.sin6_family, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket");
	if (o->algorithm)
		set_algorithm(fd, o->algorithm);
	if (o->sndbuf && setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &o->sndbuf, sizeof(o->sndbuf)))
		die("SO_SNDBUF");
	if (connect(fd, (void *)&peer, len))
		die(address);
	return fd;
}

/* Bytes that may be written now, and how long to wait for more, ms; -1: until an answer */
static long long allowed(const struct options *o, const struct sender *s, long now, int *wait)
{
	long long most = READ;
	long ago = now - s->began;

	*wait = o->ms ? o->ms - ago : -1;
	if (o->bytes && o->bytes - s->bytes < most)
		most = o->bytes - s->bytes;
	if (o->window && s->credit < most)
		most = s->credit;
	if (o->burst) {
		long long due = (ago / o->period_ms + 1) * o->burst - s->bytes;
		long next = o->period_ms - ago % o->period_ms;

		if (due < most)
			most = due;
		if (*wait < 0 || next < *wait)
			*wait = next;
	}
	return most;
}

static void take_answers(const struct options *o, struct sender *s)
{
	ssize_t n = recv(s->fd, buffer, sizeof(buffer), MSG_DONTWAIT);

	if (n > 0)
		s->credit += n * o->answer;
	else if (!n || errno != EAGAIN)
		s->ended = true;
}

static void send_some(const struct options *o, struct sender *s, long now)
{
	struct pollfd polled = { .fd = s->fd, .events = POLLIN };
	long long most;
	ssize_t n;
	int wait;

	most = allowed(o, s, now, &wait);
	if (most > 0)
		polled.events |= POLLOUT;
	if (poll(&polled, 1, wait) < 0)
		die("poll");
	if (polled.revents & (POLLIN | POLLHUP | POLLERR))
		take_answers(o, s);
	if (!s->ended && polled.revents & POLLOUT) {
		n = send(s->fd, buffer, most, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			s->bytes += n;
			s->credit -= n;
		} else if (errno != EAGAIN) {
			s->ended = true;
		}
	}
}

static bool over(const struct options *o, const struct sender *s, long now)
{
	return s->ended || (o->ms && now - s->began >= o->ms) ||
	       (o->bytes && s->bytes >= o->bytes);
}

/* Until the peer has read all and closed, but for END_MS at most */
static void drain(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	long until = clock_ms() + END_MS, left;

	shutdown(fd, SHUT_WR);
	while ((left = until - clock_ms()) > 0 && poll(&polled, 1, left) > 0)
		if (read(fd, buffer, sizeof(buffer)) <= 0)
			break;
}

static void send_all(const struct options *o, const char *address, const char *port)
{
	struct sender s = { .fd = connected(o, address, port), .credit = o->window };
	struct sockaddr_in6 own;
	socklen_t len = sizeof(own);
	struct tcp_info info;

	getsockname(s.fd, (void *)&own, &len);
	s.began = clock_ms();
	for (long now = s.began; !over(o, &s, now); now = clock_ms())
		send_some(o, &s, now);
	drain(s.fd);
	info = tcp_info_of(s.fd);
	printf("port=%u bytes=%lld retrans=%u busy=%llu rwnd=%llu sndbuf=%llu\n",
	       ntohs(own.sin6_port), s.bytes, info.tcpi_total_retrans, info.tcpi_busy_time,
	       info.tcpi_rwnd_limited, info.tcpi_sndbuf_limited);
	reset_on_close(s.fd);
	close(s.fd);
}

/* --- words ----------------------------------------------------------------------- */

static void usage(void)
{
	fprintf(stderr, "ctcpd_traffic serve [-r RCVBUF] [-q US] [-a BYTES] PORT\n"
		"ctcpd_traffic send [-C ALGORITHM] [-s SNDBUF] [-t MS] [-n BYTES]\n"
		"	[-b BYTES -p MS] [-w BYTES -a BYTES] ADDRESS PORT\n");
	exit(2);
}

static struct options options_of(int argc, char **argv)
{
	struct options o = { 0 };
	int c;

	while ((c = getopt(argc, argv, "C:r:s:q:a:t:n:b:p:w:")) != -1) {
		switch (c) {
		case 'C': o.algorithm = optarg; break;
		case 'r': o.rcvbuf = atoi(optarg); break;
		case 's': o.sndbuf = atoi(optarg); break;
		case 'q': o.read_us = atoi(optarg); break;
		case 'a': o.answer = atoll(optarg); break;
		case 't': o.ms = atol(optarg); break;
		case 'n': o.bytes = atoll(optarg); break;
		case 'b': o.burst = atoll(optarg); break;
		case 'p': o.period_ms = atol(optarg); break;
		case 'w': o.window = atoll(optarg); break;
		default: usage();
		}
	}
	if (!o.burst != !o.period_ms || (o.window && o.answer <= 0))
		usage();
	return o;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct options o = options_of(argc - !!*what, argv + !!*what);
	char **rest;

	signal(SIGPIPE, SIG_IGN);
	rest = argv + !!*what + optind;
	if (!strcmp(what, "serve") && rest[0] && !rest[1])
		serve(&o, rest[0]);
	else if (!strcmp(what, "send") && rest[0] && rest[1] && !rest[2])
		send_all(&o, rest[0], rest[1]);
	else
		usage();
	return 0;
}

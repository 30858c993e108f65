// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_streams: several streams of one circuit at once
 *
 *	circuit_streams [options] ADDRESS[,ADDRESS]... PORT
 *
 * N connections send as fast as they can for a while, from one process, to one
 * address after the other, by one device of -D after the other.  Every few
 * milliseconds the windows of those with data outstanding are added up.  Prints one
 * line of NAME=value:
 *
 *	bytes		acknowledged, all streams but the quiet, in the measured
 *			time
 *	jain		Jain's fairness of these, in ten-thousandths: (sum x)^2 /
 *			(n sum x^2), 10000 = even (Jain, Chiu, Hawe, 1984)
 *	sum_max		largest sum of windows seen, segments, and of how many
 *			streams it was (sum_streams)
 *	total_max	largest tci_cwnd_total seen, segments
 *	settle_ms	from the start of the last stream until all windows were
 *			alike, but for what the division leaves: at most n
 *			segments; -1: never
 *	retrans		segments sent again, all streams
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "sock.h"

#define STREAMS_MAX	1024
#define WORDS_MAX	64
#define CHUNK		(64 * 1024)

struct options {
	int		streams;
	int		first;		/* these start at once ... */
	int		later_ms;	/* ... the others so much later */
	int		stop_ms;	/* the later ones stop then, 0 = at the end */
	int		warm_ms;	/* not measured */
	int		time_ms;	/* measured */
	int		sample_ms;
	long		uid;		/* of the process and its sockets, -1 = leave */
	int		quiet;		/* the last ones send 100 bytes each 5 ms */
	char		*devices;	/* SO_BINDTODEVICE by turns, NULL = leave */
};

struct stream {
	int		fd;
	bool		sends;
	uint64_t	before;		/* bytes acknowledged before measuring */
	uint64_t	bytes;
};

struct seen {
	uint32_t	sum_max, sum_streams, total_max;
	long		settle_ms;
};

static struct stream streams[STREAMS_MAX];

static uint32_t total(int fd)
{
	struct tcp_circuit_info info;

	if (!get_circuit_info(fd, &info))
		die("TCP_CIRCUIT_INFO");
	return info.tci_cwnd_total;
}

static void bind_to_device(int fd, const char *device)
{
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)))
		die(device);
}

/* @device: NULL = any */
static int connect_to(const char *address, const char *device, int port)
{
	struct sockaddr_in6 to;
	socklen_t len = socket_address(address, htons(port), &to);
	int fd;

	if (!len)
		die(address);
	fd = socket(to.sin6_family, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket");
	set_algorithm(fd, "circuit");
	if (device)
		bind_to_device(fd, device);
	if (connect(fd, (void *)&to, len))
		die("connect");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* How many @words there are in @list, NULL: none */
static int split(char *list, const char *words[WORDS_MAX])
{
	char *word = list ? strtok(list, ",") : NULL;
	int n = 0;

	for (; word && n < WORDS_MAX; word = strtok(NULL, ","))
		words[n++] = word;
	return n;
}

/* To one address of @list after the other */
static void connect_all(const struct options *o, char *list, int port)
{
	const char *addresses[WORDS_MAX], *devices[WORDS_MAX];
	int n_addresses = split(list, addresses);
	int n_devices = split(o->devices, devices), i;

	for (i = 0; i < o->streams && n_addresses; i++)
		streams[i].fd = connect_to(addresses[i % n_addresses],
					   n_devices ? devices[i % n_devices] : NULL,
					   port);
}

static void start(int ep, struct stream *s)
{
	struct epoll_event ev = { .events = EPOLLOUT, .data.ptr = s };

	s->sends = true;
	if (epoll_ctl(ep, EPOLL_CTL_ADD, s->fd, &ev))
		die("epoll_ctl");
}

static void stop(int ep, struct stream *s)
{
	s->sends = false;
	epoll_ctl(ep, EPOLL_CTL_DEL, s->fd, NULL);
}

static void feed(int ep)
{
	static char chunk[CHUNK];
	struct epoll_event events[64];
	int i, n = epoll_wait(ep, events, 64, 1);

	for (i = 0; i < n; i++) {
		struct stream *s = events[i].data.ptr;

		if (send(s->fd, chunk, sizeof(chunk), 0) < 0 && errno != EAGAIN)
			die("send");
	}
}

/* Of those with data outstanding; the sum may be at most the window and n. */
static void sample(int n, struct seen *seen, long since_start)
{
	uint32_t sum = 0, active = 0, least = ~0U, most = 0, all;
	int i;

	for (i = 0; i < n; i++) {
		struct tcp_info info = tcp_info_of(streams[i].fd);

		if (!info.tcpi_unacked)
			continue;
		sum += info.tcpi_snd_cwnd;
		active++;
		if (info.tcpi_snd_cwnd < least)
			least = info.tcpi_snd_cwnd;
		if (info.tcpi_snd_cwnd > most)
			most = info.tcpi_snd_cwnd;
	}
	if (sum > seen->sum_max) {
		seen->sum_max = sum;
		seen->sum_streams = active;
	}
	all = total(streams[0].fd);
	if (all > seen->total_max)
		seen->total_max = all;
	if (active == (uint32_t)n && most - least <= (uint32_t)n &&
	    since_start >= 0 && seen->settle_ms < 0)
		seen->settle_ms = since_start;
}

static void whisper(const struct stream *s, int n)
{
	static const char few[100];

	for (; n; n--, s++)
		if (send(s->fd, few, sizeof(few), 0) < 0 && errno != EAGAIN)
			die("send");
}

static void report(int n, const struct seen *seen)
{
	double sum = 0, squares = 0;
	uint64_t bytes = 0, retrans = 0;
	int i;

	for (i = 0; i < n; i++) {
		sum += streams[i].bytes;
		squares += (double)streams[i].bytes * streams[i].bytes;
		bytes += streams[i].bytes;
		retrans += tcp_info_of(streams[i].fd).tcpi_total_retrans;
	}
	printf("bytes=%llu jain=%d sum_max=%u sum_streams=%u total_max=%u settle_ms=%ld retrans=%llu\n",
	       (unsigned long long)bytes,
	       squares ? (int)(10000 * sum * sum / n / squares) : 0,
	       seen->sum_max, seen->sum_streams, seen->total_max,
	       seen->settle_ms, (unsigned long long)retrans);
}

static void measure(int n, bool begin)
{
	int i;

	for (i = 0; i < n; i++) {
		uint64_t acked = tcp_info_of(streams[i].fd).tcpi_bytes_acked;

		if (begin)
			streams[i].before = acked;
		else
			streams[i].bytes = acked - streams[i].before;
	}
}

static void run(const struct options *o)
{
	struct seen seen = { .settle_ms = -1 };
	int ep = epoll_create1(0), bulk = o->streams - o->quiet, i;
	long begin = clock_ms(), last = 0, spoke = 0, t;
	bool later = false, measured = false, stopped = false;

	for (i = 0; i < o->first && i < bulk; i++)
		start(ep, &streams[i]);
	while ((t = clock_ms() - begin) < o->warm_ms + o->time_ms) {
		if (!later && t >= o->later_ms) {
			for (; i < bulk; i++)
				start(ep, &streams[i]);
			later = true;
		}
		if (o->stop_ms && !stopped && t >= o->stop_ms) {
			for (i = o->first; i < bulk; i++)
				stop(ep, &streams[i]);
			stopped = true;
		}
		if (!measured && t >= o->warm_ms) {
			measure(o->streams, true);
			measured = true;
		}
		if (t - spoke >= 5) {
			whisper(&streams[bulk], o->quiet);
			spoke = t;
		}
		feed(ep);
		if (t - last >= o->sample_ms) {
			sample(bulk, &seen, t - o->later_ms);
			last = t;
		}
	}
	measure(o->streams, false);
	report(bulk, &seen);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: circuit_streams [-n STREAMS] [-f FIRST] [-l LATER_MS] [-s STOP_MS] [-w WARM_MS] [-t TIME_MS]\n"
		"                       [-p SAMPLE_MS] [-u UID] [-q QUIET] [-D DEVICE[,DEVICE]...]\n"
		"                       ADDRESS[,ADDRESS]... PORT\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct options o = { .streams = 1, .first = STREAMS_MAX,
			     .time_ms = 1000, .sample_ms = 5, .uid = -1 };
	int opt;

	while ((opt = getopt(argc, argv, "n:f:l:s:w:t:p:u:q:D:")) != -1) {
		switch (opt) {
		case 'n': o.streams = atoi(optarg); break;
		case 'f': o.first = atoi(optarg); break;
		case 'l': o.later_ms = atoi(optarg); break;
		case 's': o.stop_ms = atoi(optarg); break;
		case 'w': o.warm_ms = atoi(optarg); break;
		case 't': o.time_ms = atoi(optarg); break;
		case 'p': o.sample_ms = atoi(optarg); break;
		case 'u': o.uid = atol(optarg); break;
		case 'q': o.quiet = atoi(optarg); break;
		case 'D': o.devices = optarg; break;
		default: return usage();
		}
	}
	if (argc - optind != 2 || o.streams < 1 || o.streams > STREAMS_MAX ||
	    o.quiet < 0 || o.quiet >= o.streams)
		return usage();
	signal(SIGPIPE, SIG_IGN);
	become_user(o.uid);
	connect_all(&o, argv[optind], atoi(argv[optind + 1]));
	run(&o);
	return 0;
}

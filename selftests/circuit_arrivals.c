// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_arrivals: which packets came, and when
 *
 * Each packet that a connected socket sends by IPv4 has a number of its own, also when
 * it is sent again: the identification in its IP header, one more than that of the one
 * before.  So a packet that never came is a number that is missing, a packet that was
 * overtaken is a smaller number behind a larger one, and two runs of the same streams
 * can be held against each other packet by packet.
 *
 *	capture FILE DEVICE	a line for each packet with payload that comes in:
 *				ADDRESS NUMBER BYTES US, the time since the full second
 *				in which the first one came; until SIGTERM
 *	send [-g GAP_US] [-t MS] ADDRESS[,ADDRESS]... PORT
 *				a datagram to each address, each GAP_US
 *	compare FROM_MS UNTIL_MS BEFORE AFTER
 *				two captures: what of BEFORE came in that time, and how it
 *				came in AFTER
 *	stream FROM_MS UNTIL_MS FILE
 *				a capture of one stream: what was lost, the longest gap
 *
 * A stream is all that goes to one address.
 */
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <signal.h>
#include <stdint.h>

#include "sock.h"

#define STREAMS_MAX	64
#define PACKET_BYTES	1400
#define UDP_HEADER	8
#define SNAPLEN		128
#define BUFFER_BYTES	(64 << 20)

/* --- capture --------------------------------------------------------------------- */

static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	(void)sig;
	ended = 1;
}

/* Without SA_RESTART, so that the signal ends a receive that waits */
static void end_by_term(void)
{
	const struct sigaction action = { .sa_handler = on_term };

	if (sigaction(SIGTERM, &action, NULL))
		die("sigaction");
}

static int packet_socket(const char *device)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex(device),
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP)), on = 1, room = BUFFER_BYTES;

	if (fd < 0)
		die("socket");
	if (!at.sll_ifindex || bind(fd, (void *)&at, sizeof(at)))
		die(device);
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		die("setsockopt");
	return fd;
}

static int64_t us_of(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	struct timespec ts;

	if (!c || c->cmsg_type != SCM_TIMESTAMPNS)
		die("no time stamp");
	memcpy(&ts, CMSG_DATA(c), sizeof(ts));
	return ts.tv_sec * INT64_C(1000000) + ts.tv_nsec / 1000;
}

/* Bytes of a packet behind its headers; 0: the packet belongs to no stream. */
static int payload(const struct iphdr *ip, int seen)
{
	const int headers = ip->ihl * 4;
	const struct tcphdr *tcp = (const void *)((const char *)ip + headers);

	if (ip->protocol == IPPROTO_UDP)
		return ntohs(ip->tot_len) - headers - UDP_HEADER;
	if (ip->protocol != IPPROTO_TCP || seen < headers + (int)sizeof(*tcp))
		return 0;
	return ntohs(ip->tot_len) - headers - tcp->doff * 4;
}

/* A packet that this program missed would count as lost. */
static void check_missed(int fd)
{
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);

	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		die("PACKET_STATISTICS");
	errno = ENOBUFS;
	if (stats.tp_drops)
		die("packets went by unseen");
}

static int capture(const char *file, const char *device)
{
	int fd = packet_socket(device);
	FILE *out = fopen(file, "w");
	int64_t begin = 0;

	if (!out)
		die(file);
	end_by_term();
	while (!ended) {
		union {
			struct iphdr ip;
			char bytes[SNAPLEN];
		} packet;
		char control[256], address[INET_ADDRSTRLEN];
		struct sockaddr_ll from;
		struct iovec iov = { &packet, sizeof(packet) };
		struct msghdr msg = {
			.msg_name = &from, .msg_namelen = sizeof(from),
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		int n = (int)recvmsg(fd, &msg, 0);
		int64_t us;

		if (n < 0 && errno != EINTR)
			die("recvmsg");
		if (n < (int)sizeof(packet.ip) || from.sll_pkttype == PACKET_OUTGOING ||
		    payload(&packet.ip, n) <= 0)
			continue;
		us = us_of(&msg);
		if (!begin)
			begin = us - us % 1000000;
		inet_ntop(AF_INET, &packet.ip.daddr, address, sizeof(address));
		fprintf(out, "%s %u %d %" PRId64 "\n", address, ntohs(packet.ip.id),
			payload(&packet.ip, n), us - begin);
	}
	check_missed(fd);
	if (fclose(out))
		die(file);
	return 0;
}

/* --- send ------------------------------------------------------------------------ */

static int connected(const char *address, int port)
{
	struct sockaddr_in6 to;
	socklen_t len = socket_address(address, htons(port), &to);
	int fd = len ? socket(to.sin6_family, SOCK_DGRAM, 0) : -1;

	if (fd < 0 || connect(fd, (void *)&to, len))
		die(address);
	return fd;
}

/* Sleep until a time of the clock, so that a late wakeup does not delay those after it. */
static void wait_until(struct timespec *at, long gap_us)
{
	at->tv_nsec += gap_us % 1000000 * 1000;
	at->tv_sec += gap_us / 1000000 + at->tv_nsec / 1000000000;
	at->tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL);
}

/*
 * send() reports the ICMP error of an earlier datagram (nobody listened) and then sends nothing:
 * try again.  ENOBUFS is a datagram that a qdisc dropped; the far end will miss it.
 */
static void datagram(int fd)
{
	static const char bytes[PACKET_BYTES];

	while (send(fd, bytes, sizeof(bytes), 0) < 0)
		if (errno != ECONNREFUSED)
			break;
}

static int send_datagrams(long gap_us, long ms, char *list, int port)
{
	int fds[STREAMS_MAX], n = 0, i;
	struct timespec at;
	long end = clock_ms() + ms;
	char *address;

	for (address = strtok(list, ","); address && n < STREAMS_MAX; address = strtok(NULL, ","))
		fds[n++] = connected(address, port);
	clock_gettime(CLOCK_MONOTONIC, &at);
	while (clock_ms() < end) {
		for (i = 0; i < n; i++)
			datagram(fds[i]);
		wait_until(&at, gap_us);
	}
	return 0;
}

/* --- what was captured ------------------------------------------------------------- */

struct packet {
	uint32_t	number;		/* from the stream's first one on */
	int32_t		bytes;
	int64_t		us;
};

struct stream {
	char		address[INET_ADDRSTRLEN];
	uint16_t	last;		/* identification */
	uint32_t	number;		/* that of it */
	size_t		n, room;
	struct packet	*packets;
};

struct captured {
	int		n;
	struct stream	streams[STREAMS_MAX];
};

static struct stream *stream_of(struct captured *c, const char *address)
{
	int i;

	for (i = 0; i < c->n; i++)
		if (!strcmp(c->streams[i].address, address))
			return &c->streams[i];
	if (c->n == STREAMS_MAX) {
		errno = E2BIG;
		die("streams");
	}
	snprintf(c->streams[c->n].address, INET_ADDRSTRLEN, "%s", address);
	return &c->streams[c->n++];
}

/*
 * A packet has 16 bits of its number, which is near the last one's.  Start at 2^16, so that
 * a packet which the first one overtook has a positive number, too.
 */
static void add(struct stream *s, uint16_t id, int32_t bytes, int64_t us)
{
	if (!s->n) {
		s->last = id;
		s->number = 1 << 16;
	}
	s->number += (uint32_t)(int16_t)(id - s->last);
	s->last = id;
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->packets = realloc(s->packets, s->room * sizeof(*s->packets));
		if (!s->packets)
			die("realloc");
	}
	s->packets[s->n++] = (struct packet){ s->number, bytes, us };
}

static void read_file(struct captured *c, const char *file)
{
	FILE *in = fopen(file, "r");
	char address[INET_ADDRSTRLEN];
	unsigned int id;
	int64_t us;
	int bytes;

	if (!in)
		die(file);
	while (fscanf(in, "%15s %u %d %" SCNd64, address, &id, &bytes, &us) == 4)
		add(stream_of(c, address), (uint16_t)id, bytes, us);
	if (!feof(in) || ferror(in)) {
		errno = EBADMSG;
		die(file);
	}
	fclose(in);
}

static int by_number(const void *a, const void *b)
{
	const struct packet *p = a, *q = b;

	return p->number < q->number ? -1 : p->number > q->number;
}

/* Bytes of packets that arrived after one sent later, from @from_us until @until_us */
static int64_t overtaken(const struct stream *s, int64_t from_us, int64_t until_us)
{
	uint32_t most = 0;
	int64_t bytes = 0;
	size_t i;

	for (i = 0; i < s->n && s->packets[i].us <= until_us; i++) {
		if (s->packets[i].number < most && s->packets[i].us >= from_us)
			bytes += s->packets[i].bytes;
		if (s->packets[i].number > most)
			most = s->packets[i].number;
	}
	return bytes;
}

static void sort(struct stream *s)
{
	qsort(s->packets, s->n, sizeof(*s->packets), by_number);
}

static const struct packet *find(const struct stream *s, uint32_t number)
{
	const struct packet key = { .number = number };

	return bsearch(&key, s->packets, s->n, sizeof(key), by_number);
}

/* --- compare ---------------------------------------------------------------------- */

struct compared {
	uint64_t	packets, lost;
	int64_t		reordered, later_us;
	char		latest[INET_ADDRSTRLEN];	/* to whom */
	int64_t		latest_at_us;
};

static void compare_stream(struct stream *before, struct stream *after, int64_t from_us,
			   int64_t until_us, struct compared *all)
{
	size_t i;

	all->reordered += overtaken(after, from_us, until_us);
	sort(before);
	sort(after);
	for (i = 0; i < before->n; i++) {
		const struct packet *b = &before->packets[i], *a;

		if (b->us < from_us || b->us > until_us)
			continue;
		all->packets++;
		a = find(after, b->number);
		if (!a) {
			all->lost++;
		} else if (a->us - b->us > all->later_us) {
			all->later_us = a->us - b->us;
			all->latest_at_us = a->us;
			memcpy(all->latest, before->address, sizeof(all->latest));
		}
	}
}

static int compare(int64_t from_ms, int64_t until_ms, const char *before, const char *after)
{
	static struct captured a, b;
	struct compared all = { .latest = "-" };
	int i;

	read_file(&b, before);
	read_file(&a, after);
	for (i = 0; i < b.n; i++)
		compare_stream(&b.streams[i], stream_of(&a, b.streams[i].address),
			       from_ms * 1000, until_ms * 1000, &all);
	printf("streams=%d packets=%" PRIu64 " lost=%" PRIu64 " reordered=%" PRId64
	       " later_us=%" PRId64 " latest=%s at_us=%" PRId64 "\n",
	       b.n, all.packets, all.lost, all.reordered, all.later_us, all.latest,
	       all.latest_at_us);
	return 0;
}

/* --- stream -------------------------------------------------------------------------- */

/* Missing numbers between the first and the last packet that arrived in that time */
static uint64_t missing(const struct stream *s, int64_t from_us, int64_t until_us)
{
	uint32_t least = UINT32_MAX, most = 0;
	uint64_t lost = 0, n;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->packets[i].us < from_us || s->packets[i].us > until_us)
			continue;
		if (s->packets[i].number < least)
			least = s->packets[i].number;
		if (s->packets[i].number > most)
			most = s->packets[i].number;
	}
	for (n = least; n < most; n++)
		lost += !find(s, (uint32_t)n);
	return lost;
}

static int64_t longest_gap(const struct stream *s, int64_t from_us, int64_t until_us)
{
	int64_t last = from_us, gap = 0;
	size_t i;

	for (i = 0; i < s->n && s->packets[i].us <= until_us; i++) {
		if (s->packets[i].us < from_us)
			continue;
		if (s->packets[i].us - last > gap)
			gap = s->packets[i].us - last;
		last = s->packets[i].us;
	}
	return until_us - last > gap ? until_us - last : gap;
}

static int stream(int64_t from_ms, int64_t until_ms, const char *file)
{
	const int64_t from_us = from_ms * 1000, until_us = until_ms * 1000;
	static struct captured c;
	struct stream *s = &c.streams[0];
	int64_t gap, reordered;

	read_file(&c, file);
	if (c.n != 1) {
		errno = EINVAL;
		die("not one stream");
	}
	gap = longest_gap(s, from_us, until_us);
	reordered = overtaken(s, from_us, until_us);
	sort(s);
	printf("packets=%zu lost=%" PRIu64 " gap_us=%" PRId64 " reordered=%" PRId64 "\n", s->n,
	       missing(s, from_us, until_us), gap, reordered);
	return 0;
}

/* --- words ------------------------------------------------------------------------ */

static int usage(void)
{
	fprintf(stderr,
		"usage: circuit_arrivals capture FILE DEVICE\n"
		"       circuit_arrivals send [-g GAP_US] [-t MS] ADDRESS[,ADDRESS]... PORT\n"
		"       circuit_arrivals compare FROM_MS UNTIL_MS BEFORE AFTER\n"
		"       circuit_arrivals stream FROM_MS UNTIL_MS FILE\n");
	return 2;
}

static int send_main(int argc, char **argv)
{
	long gap_us = 10000, ms = 1000;
	int opt;

	while ((opt = getopt(argc, argv, "g:t:")) != -1) {
		switch (opt) {
		case 'g': gap_us = atol(optarg); break;
		case 't': ms = atol(optarg); break;
		default: return usage();
		}
	}
	if (argc - optind != 2 || gap_us < 1)
		return usage();
	return send_datagrams(gap_us, ms, argv[optind], atoi(argv[optind + 1]));
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "capture"))
		return capture(argv[2], argv[3]);
	if (argc > 3 && !strcmp(argv[1], "send"))
		return send_main(argc - 1, argv + 1);
	if (argc == 6 && !strcmp(argv[1], "compare"))
		return compare(atol(argv[2]), atol(argv[3]), argv[4], argv[5]);
	if (argc == 5 && !strcmp(argv[1], "stream"))
		return stream(atol(argv[2]), atol(argv[3]), argv[4]);
	return usage();
}

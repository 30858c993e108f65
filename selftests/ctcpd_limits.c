// SPDX-License-Identifier: GPL-2.0
/*
 * ctcpd_limits: connections of an application that has pacing rates of its own, by command
 *
 *	ctcpd_limits connect ADDRESS PORT
 *	ctcpd_limits programs NAME
 *	ctcpd_limits detach FILE
 *
 * connect reads a command from each line of its input, carries it out, and answers with a line of
 * NAME=value.  Connections have the numbers 0, 1, 2 ... in the order in which they are opened.
 *
 *	open [RATE]	one more, with this SO_MAX_PACING_RATE from the beginning
 *	max I RATE	SO_MAX_PACING_RATE, bytes/s; -1: none
 *	send I		from now on as much as it takes
 *	quiet I		no more of that
 *	close I
 *	show I
 *
 * Each answers for that connection with max (SO_MAX_PACING_RATE, -1: none), pacing (what TCP
 * paces at), sent (bytes), mss.  programs prints how many BPF programs of that name there are;
 * detach ends the link that is pinned there.
 */
#include <linux/bpf.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#include "sock.h"

#define CONNECTIONS	64
#define CHUNK		(64 * 1024)

#ifndef SO_MAX_PACING_RATE
#define SO_MAX_PACING_RATE 47
#endif

struct connection {
	int fd;
	bool sends;
};

static struct connection all[CONNECTIONS];
static int n;

static void set_max(int fd, long rate)
{
	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)))
		die("SO_MAX_PACING_RATE");
}

static void open_one(const char *address, uint16_t port, long rate)
{
	struct sockaddr_in6 to;
	socklen_t len = socket_address(address, port, &to);
	int fd = socket(to.sin6_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (n == CONNECTIONS || !len || fd < 0)
		die(address);
	if (rate)
		set_max(fd, rate);
	if (connect(fd, (struct sockaddr *)&to, len))
		die("connect");
	all[n++].fd = fd;
}

static void show(int i)
{
	struct tcp_info ti = { 0 };
	socklen_t len = sizeof(ti), rate_len = sizeof(long);
	long rate = 0;

	if (getsockopt(all[i].fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &rate_len) ||
	    getsockopt(all[i].fd, IPPROTO_TCP, TCP_INFO, &ti, &len))
		die("getsockopt");
	printf("connection=%d max=%ld pacing=%lld sent=%llu mss=%u\n", i, rate,
	       (long long)ti.tcpi_pacing_rate, (unsigned long long)ti.tcpi_bytes_sent,
	       ti.tcpi_snd_mss);
	fflush(stdout);
}

static void obey(const char *line, const char *address, uint16_t port)
{
	char verb[8] = "";
	long i = 0, rate = 0;

	if (sscanf(line, "%7s %ld %ld", verb, &i, &rate) < 1)
		return;
	if (!strcmp(verb, "open")) {
		open_one(address, port, i);
		i = n - 1;
	}
	if (i < 0 || i >= n) {
		fprintf(stderr, "ctcpd_limits: %s: there is no such connection\n", line);
		exit(2);
	}
	if (!strcmp(verb, "max"))
		set_max(all[i].fd, rate);
	else if (!strcmp(verb, "send"))
		all[i].sends = true;
	else if (!strcmp(verb, "quiet"))
		all[i].sends = false;
	show((int)i);
	if (!strcmp(verb, "close")) {
		close(all[i].fd);
		all[i] = (struct connection){ .fd = -1 };
	}
}

static void send_some(int fd)
{
	static char chunk[CHUNK];

	if (send(fd, chunk, sizeof(chunk), MSG_DONTWAIT) < 0 && errno != EAGAIN)
		die("send");
}

static int run(const char *address, uint16_t port)
{
	struct pollfd fds[CONNECTIONS + 1] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	char line[128];
	int i;

	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		for (i = 0; i < n; i++)
			fds[i + 1] = (struct pollfd){ .fd = all[i].sends ? all[i].fd : -1,
						      .events = POLLOUT };
		if (poll(fds, (nfds_t)n + 1, -1) < 0)
			die("poll");
		for (i = 0; i < n; i++)
			if (fds[i + 1].revents)
				send_some(all[i].fd);
		if (!fds[0].revents)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		obey(line, address, port);
	}
}

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static bool is_called(uint32_t id, const char *name)
{
	union bpf_attr attr = { .prog_id = id };
	struct bpf_prog_info info = { 0 };
	int fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr), rc;

	if (fd < 0)
		return false;
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (unsigned long)&info;
	rc = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	close(fd);
	return !rc && !strcmp(info.name, name);
}

static int programs(const char *name)
{
	union bpf_attr attr = { .start_id = 0 };
	int found = 0;

	while (!bpf(BPF_PROG_GET_NEXT_ID, &attr)) {
		uint32_t id = attr.next_id;

		found += is_called(id, name);
		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
	}
	if (errno != ENOENT)
		die("BPF_PROG_GET_NEXT_ID");
	printf("programs=%d\n", found);
	return 0;
}

static int detach(const char *file)
{
	union bpf_attr attr = { .pathname = (unsigned long)file };
	int fd = bpf(BPF_OBJ_GET, &attr);

	if (fd < 0)
		die(file);
	memset(&attr, 0, sizeof(attr));
	attr.link_detach.link_fd = (uint32_t)fd;
	if (bpf(BPF_LINK_DETACH, &attr))
		die("BPF_LINK_DETACH");
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 4 && !strcmp(argv[1], "connect"))
		return run(argv[2], htons((uint16_t)atoi(argv[3])));
	if (argc == 3 && !strcmp(argv[1], "programs"))
		return programs(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "detach"))
		return detach(argv[2]);
	fprintf(stderr, "usage: ctcpd_limits connect ADDRESS PORT | programs NAME | detach FILE\n");
	return 2;
}

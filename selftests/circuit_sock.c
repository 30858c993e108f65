// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_sock: the two ends of a test's connection
 *
 *	circuit_sock serve [options] PORT
 *	circuit_sock send  [options] ADDRESS PORT
 *
 * The sender looks at its own window (TCP_INFO, TCP_CIRCUIT_INFO) at every turn
 * of its loop and prints one line of NAME=value when all it sent is
 * acknowledged: cwnd_min and cwnd_max are the smallest and the largest window
 * seen, which shows a window that moved for one round trip, too.
 *
 * It sends a pattern.  A server that verifies (-v) prints how many bytes of a
 * connection arrived, and how many of them differ from the pattern.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sock.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif

#define CHUNK	(256 * 1024)
#define PERIOD	251	/* bytes of the pattern, prime: segments never repeat it */

struct options {
	const char	*algorithm;	/* TCP_CONGESTION, NULL = leave */
	const char	*later;		/* TCP_CONGESTION in mid-transfer */
	const char	*accepted;	/* TCP_CONGESTION of what a server accepted */
	long		early_window;	/* FCWND before connect() or listen() */
	long		late_window;	/* FCWND after connect() or accept() */
	long long	bytes;		/* to send, or to send back from a server */
	int		idle_ms;	/* pause, then the same bytes once more */
	int		hold_ms;	/* stay connected after the last ACK */
	long		max_pacing;	/* SO_MAX_PACING_RATE, 0 = leave, -1 = 0 */
	int		rcvbuf;		/* SO_RCVBUF of a listener, 0 = leave */
	int		sndbuf;		/* SO_SNDBUF before connect(), 0 = leave */
	int		clamp;		/* TCP_WINDOW_CLAMP of what it accepted, 0 = leave */
	int		listener_clamp;	/* that of the listener */
	const char	*signed_peer;	/* TCP_MD5SIG with this peer, NULL = with none */
	int		mark;		/* SO_MARK, 0 = leave */
	int		linger;		/* s of SO_LINGER, 0 = leave */
	int		pause_ms;	/* of a server's reader, after each CHUNK */
	long		uid;		/* of the process and its sockets, -1 = leave */
	bool		quiet_start;	/* print "ready" and wait for a line */
	bool		fill;		/* fill the send buffer before late_window */
	bool		greet;		/* a server sends a line as soon as it has accepted */
	bool		fast_open;	/* data in the SYN, given or taken */
	bool		mptcp;		/* not TCP alone */
	bool		verify;		/* a server compares what it drains */
};

struct seen {
	uint32_t	cwnd_min, cwnd_max;
	uint32_t	state_max;	/* highest tcpi_ca_state: 3 recovery, 4 loss */
	uint32_t	silence_ms;	/* longest time since data were sent */
	long long	sent;		/* bytes */
};

static char pattern[CHUNK + PERIOD];	/* CHUNK bytes from any phase on */

static void make_pattern(void)
{
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = i % PERIOD;
}

static void set_window(int fd, long window)
{
	uint32_t fcwnd = window;

	if (window >= 0 && setsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND,
				      &fcwnd, sizeof(fcwnd)))
		die("TCP_CIRCUIT_FCWND");
}

static void set_clamp(int fd, int clamp)
{
	if (clamp && setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp,
				sizeof(clamp)))
		die("TCP_WINDOW_CLAMP");
}

/* Segments to and from @peer are signed; unsigned ones from it are dropped. */
static void set_md5(int fd, const char *peer)
{
	struct tcp_md5sig md5 = { .tcpm_keylen = 3, .tcpm_key = "key" };
	struct sockaddr_in6 address;

	if (!peer)
		return;
	if (!socket_address(peer, 0, &address))
		die(peer);
	memcpy(&md5.tcpm_addr, &address, sizeof(address));
	if (setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &md5, sizeof(md5)))
		die("TCP_MD5SIG");
}

static void set_max_pacing(int fd, long asked)
{
	unsigned int rate = asked < 0 ? 0 : (unsigned int)asked;

	if (asked && setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate,
				sizeof(rate)))
		die("SO_MAX_PACING_RATE");
}

static void set_mark(int fd, int mark)
{
	if (mark && setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)))
		die("SO_MARK");
}

static void set_linger(int fd, int seconds)
{
	struct linger linger = { .l_onoff = 1, .l_linger = seconds };

	if (seconds && setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)))
		die("SO_LINGER");
}

/* Leaving root's uid drops all capabilities. */
static void become(long uid)
{
	if (uid >= 0 && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
		die("setuid");
}

static void look(int fd, struct seen *seen)
{
	struct tcp_info info = tcp_info_of(fd);

	if (info.tcpi_snd_cwnd < seen->cwnd_min)
		seen->cwnd_min = info.tcpi_snd_cwnd;
	if (info.tcpi_snd_cwnd > seen->cwnd_max)
		seen->cwnd_max = info.tcpi_snd_cwnd;
	if (info.tcpi_ca_state > seen->state_max)
		seen->state_max = info.tcpi_ca_state;
	if (info.tcpi_last_data_sent > seen->silence_ms)
		seen->silence_ms = info.tcpi_last_data_sent;
}

static void report_circuit(const struct tcp_circuit_info *ci)
{
	printf(" fcwnd=%u source=%u asked=%u restored=%u losses=%u recoveries=%u rate=%llu burst=%u",
	       ci->tci_fcwnd, ci->tci_source, ci->tci_asked, ci->tci_restored,
	       ci->tci_losses, ci->tci_recoveries,
	       (unsigned long long)ci->tci_rate, ci->tci_burst);
	printf(" share=%u id=%u sockets=%u hungry=%u total=%u breaker=%u trips=%u circuit=%s",
	       ci->tci_cwnd_share, ci->tci_id, ci->tci_sockets, ci->tci_hungry,
	       ci->tci_cwnd_total, ci->tci_breaker, ci->tci_trips,
	       ci->tci_name);
}

/*
 * SIOCOUTQ and TCP_INFO's window are read without the socket's lock: another CPU may
 * still be processing the last ACK.  TCP_CIRCUIT_INFO takes the lock, so it comes first.
 */
static void report(int fd, const struct seen *seen)
{
	struct tcp_circuit_info ci = { 0 };
	socklen_t ci_len = sizeof(ci), name_len = sizeof(ci.tci_name);
	bool is_circuit = !getsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_INFO, &ci,
				      &ci_len);
	struct tcp_info ti = tcp_info_of(fd);
	char algorithm[sizeof(ci.tci_name)] = "";

	printf("cwnd=%u cwnd_min=%u cwnd_max=%u state_max=%u retrans=%u delivered_ce=%u silence_ms=%u pacing=%llu",
	       ti.tcpi_snd_cwnd, seen->cwnd_min, seen->cwnd_max,
	       seen->state_max, ti.tcpi_total_retrans, ti.tcpi_delivered_ce,
	       seen->silence_ms, (unsigned long long)ti.tcpi_pacing_rate);
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, algorithm, &name_len))
		die("TCP_CONGESTION");
	printf(" algorithm=%s", algorithm);
	if (is_circuit)
		report_circuit(&ci);
	printf("\n");
	fflush(stdout);
}

static int unacked(int fd)
{
	int bytes = 0;

	if (ioctl(fd, SIOCOUTQ, &bytes))
		die("SIOCOUTQ");
	return bytes;
}

/* After a reset or a timeout, what is not acknowledged never will be. */
static void die_if_dead(int fd, short events)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (!(events & (POLLERR | POLLHUP)))
		return;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	errno = err ?: ECONNRESET;
	die("connection");
}

/* Send, looking at the window each millisecond and after each write. */
static void send_all(int fd, long long bytes, const char *later,
		     struct seen *seen)
{
	struct pollfd pfd = { .fd = fd };
	long long left = bytes;

	while (left > 0 || unacked(fd) > 0) {
		size_t want = left < CHUNK ? left : CHUNK;
		ssize_t done = want ? send(fd, pattern + seen->sent % PERIOD,
					   want, MSG_DONTWAIT) : 0;

		/* EINPROGRESS: the connection is not there yet (fast_open) */
		if (done < 0 && errno != EAGAIN && errno != EINTR &&
		    errno != EINPROGRESS)
			die("send");
		if (done > 0) {
			left -= done;
			seen->sent += done;
		}
		if (later && left < bytes / 2) {
			set_algorithm(fd, later);
			later = NULL;
			seen->cwnd_min = ~0U;
			seen->cwnd_max = 0;
		}
		look(fd, seen);
		pfd.events = left > 0 ? POLLOUT : 0;
		if (done <= 0 && poll(&pfd, 1, 1) > 0)
			die_if_dead(fd, pfd.revents);
	}
}

static void transfer(int fd, const struct options *o)
{
	struct seen seen = { .cwnd_min = ~0U };

	look(fd, &seen);
	send_all(fd, o->bytes, o->later, &seen);
	if (o->idle_ms) {
		usleep(o->idle_ms * 1000);
		look(fd, &seen);
		send_all(fd, o->bytes, NULL, &seen);
	}
	report(fd, &seen);
	if (o->hold_ms)
		usleep(o->hold_ms * 1000);
}

/* Fast Open: connect() waits for the first write, which goes with the SYN. */
static void set_fast_open(int fd, int option, int value)
{
	if (setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value)))
		die("Fast Open");
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/*
 * Fill the send buffer, have a child sleep until there is room, ask for a window,
 * and print how long it slept after that: the window has to wake it, not the next
 * ACK.  The parent cannot tell whether the child sleeps already, so it waits 100 ms.
 */
static void ask_when_full(int fd, const struct options *o)
{
	static char chunk[CHUNK];
	long long asked;
	int status;

	while (send(fd, chunk, sizeof(chunk), MSG_DONTWAIT) > 0)
		;
	if (fork() == 0) {
		struct pollfd pfd = { .fd = fd, .events = POLLOUT };

		_exit(poll(&pfd, 1, 20000) != 1);
	}
	usleep(100 * 1000);
	asked = now_ms();
	set_window(fd, o->late_window);
	if (wait(&status) < 0 || status)
		die("poll");
	printf("room_ms=%lld\n", now_ms() - asked);
}

static int protocol(const struct options *o)
{
	return o->mptcp ? IPPROTO_MPTCP : IPPROTO_TCP;
}

static int connect_to(const char *address, int port, const struct options *o)
{
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6,
				   .sin6_port = htons(port) };
	struct sockaddr_in a4 = { .sin_family = AF_INET,
				  .sin_port = htons(port) };
	bool v6 = inet_pton(AF_INET6, address, &a6.sin6_addr) == 1;
	int fd;

	if (!v6 && inet_pton(AF_INET, address, &a4.sin_addr) != 1) {
		errno = EINVAL;
		die(address);
	}
	fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, protocol(o));
	if (fd < 0)
		die("socket");
	if (o->algorithm)
		set_algorithm(fd, o->algorithm);
	set_window(fd, o->early_window);
	set_max_pacing(fd, o->max_pacing);
	set_mark(fd, o->mark);
	set_linger(fd, o->linger);
	set_md5(fd, o->signed_peer);
	if (o->fast_open)
		set_fast_open(fd, TCP_FASTOPEN_CONNECT, 1);
	if (o->sndbuf && setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &o->sndbuf,
				    sizeof(o->sndbuf)))
		die("SO_SNDBUF");
	if (v6 ? connect(fd, (void *)&a6, sizeof(a6))
	       : connect(fd, (void *)&a4, sizeof(a4)))
		die("connect");
	if (o->fill)
		ask_when_full(fd, o);
	else
		set_window(fd, o->late_window);
	return fd;
}

static int run_send(const char *address, int port, const struct options *o)
{
	int fd = connect_to(address, port, o);

	if (o->quiet_start) {
		printf("ready\n");
		fflush(stdout);
		if (getchar() == EOF)
			return 1;
	}
	transfer(fd, o);
	close(fd);
	return 0;
}

static void drain(int fd, int pause_ms)
{
	static char chunk[CHUNK];

	while (recv(fd, chunk, sizeof(chunk), MSG_TRUNC) > 0)
		if (pause_ms)
			usleep(pause_ms * 1000);
}

static void verify(int fd)
{
	static char chunk[CHUNK];
	long long bytes = 0, wrong = 0;
	ssize_t done;

	while ((done = recv(fd, chunk, sizeof(chunk), 0)) > 0) {
		for (ssize_t i = 0; i < done; i++)
			wrong += chunk[i] != pattern[(bytes + i) % PERIOD];
		bytes += done;
	}
	printf("bytes=%lld wrong=%lld\n", bytes, wrong);
	fflush(stdout);
}

static int listen_at(int port, const struct options *o)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
				    .sin6_port = htons(port) };
	int one = 1, listener = socket(AF_INET6, SOCK_STREAM, protocol(o));

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (o->algorithm)
		set_algorithm(listener, o->algorithm);
	set_window(listener, o->early_window);
	if (o->rcvbuf && setsockopt(listener, SOL_SOCKET, SO_RCVBUF,
				    &o->rcvbuf, sizeof(o->rcvbuf)))
		die("SO_RCVBUF");
	set_clamp(listener, o->listener_clamp);
	set_md5(listener, o->signed_peer);
	if (o->fast_open)
		set_fast_open(listener, TCP_FASTOPEN, 16);
	if (bind(listener, (void *)&any, sizeof(any)) || listen(listener, 1024))
		die("listen");
	return listener;
}

static void set_accepted(int fd, const struct options *o)
{
	set_clamp(fd, o->clamp);
	if (o->greet && send(fd, "hello\n", 6, 0) != 6)
		die("send");
	if (o->accepted)
		set_algorithm(fd, o->accepted);
	set_window(fd, o->late_window);
}

/*
 * Send what the options say, then drain, and die with @server: when path and peer have
 * gone, no FIN would ever come, and the socket would hold the module.
 */
static _Noreturn void serve_one(int fd, pid_t server, const struct options *o)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		die("PR_SET_PDEATHSIG");
	if (getppid() != server)
		_exit(1);
	if (o->bytes)
		transfer(fd, o);
	if (o->verify)
		verify(fd);
	else
		drain(fd, o->pause_ms);
	_exit(0);
}

/* Serve each connection in a process of its own. */
static int run_serve(int port, const struct options *o)
{
	int listener = listen_at(port, o);
	pid_t server = getpid();

	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			die("accept");
		set_accepted(fd, o);
		if (fork() == 0) {
			close(listener);
			serve_one(fd, server, o);
		}
		close(fd);
	}
}

static int usage(void)
{
	fprintf(stderr,
		"usage: circuit_sock serve [-C ALG] [-A ALG_AFTER_ACCEPT] [-w FCWND] [-W FCWND_AFTER_ACCEPT]\n"
		"                          [-n BYTES] [-B RCVBUF] [-c CLAMP] [-l LISTENER_CLAMP] [-K SIGNED_PEER] [-p PAUSE_MS] [-u UID] [-F] [-P] [-g] [-v] PORT\n"
		"       circuit_sock send [-C ALG] [-L LATER_ALG] [-w FCWND] [-W FCWND_AFTER_CONNECT]\n"
		"                         [-n BYTES] [-i IDLE_MS] [-k KEEP_MS] [-M MAX_PACING] [-S SNDBUF] [-m MARK] [-s LINGER_S] [-u UID]\n"
		"                         [-K SIGNED_PEER] [-F] [-P] [-f] [-r] ADDRESS PORT\n");
	return 2;
}

/* The index of the first word that is no option, or -1 */
static int parse(int argc, char **argv, struct options *o)
{
	int opt;

	while ((opt = getopt(argc, argv, "C:A:L:w:W:n:i:k:M:B:S:c:l:K:m:p:s:u:FPfgrv")) != -1) {
		switch (opt) {
		case 'C': o->algorithm = optarg; break;
		case 'A': o->accepted = optarg; break;
		case 'L': o->later = optarg; break;
		case 'w': o->early_window = atol(optarg); break;
		case 'W': o->late_window = atol(optarg); break;
		case 'n': o->bytes = atoll(optarg); break;
		case 'i': o->idle_ms = atoi(optarg); break;
		case 'k': o->hold_ms = atoi(optarg); break;
		case 'M': o->max_pacing = atol(optarg); break;
		case 'B': o->rcvbuf = atoi(optarg); break;
		case 'S': o->sndbuf = atoi(optarg); break;
		case 'c': o->clamp = atoi(optarg); break;
		case 'l': o->listener_clamp = atoi(optarg); break;
		case 'K': o->signed_peer = optarg; break;
		case 'm': o->mark = strtoul(optarg, NULL, 0); break;
		case 'p': o->pause_ms = atoi(optarg); break;
		case 's': o->linger = atoi(optarg); break;
		case 'u': o->uid = atol(optarg); break;
		case 'F': o->fast_open = true; break;
		case 'P': o->mptcp = true; break;
		case 'f': o->fill = true; break;
		case 'g': o->greet = true; break;
		case 'r': o->quiet_start = true; break;
		case 'v': o->verify = true; break;
		default: return -1;
		}
	}
	return optind;
}

int main(int argc, char **argv)
{
	struct options o = { .early_window = -1, .late_window = -1,
			     .uid = -1 };
	const char *command;
	int first;

	if (argc < 2)
		return usage();
	command = *++argv;
	first = parse(--argc, argv, &o);
	if (first < 0)
		return usage();
	argc -= first;
	argv += first;
	signal(SIGPIPE, SIG_IGN);
	make_pattern();
	become(o.uid);
	if (argc == 1 && !strcmp(command, "serve"))
		return run_serve(atoi(argv[0]), &o);
	if (argc == 2 && !strcmp(command, "send"))
		return run_send(argv[0], atoi(argv[1]), &o);
	return usage();
}

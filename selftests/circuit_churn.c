// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_churn: short connections that end in every way, their server, and the
 * circuits that they belong to meanwhile
 *
 *	circuit_churn serve PORT
 *	circuit_churn connect [-s SEED] [-n CONNECTIONS] [-u UID] PORT NOWHERE ADDRESS...
 *	circuit_churn circuits [-s SEED]
 *	circuit_churn watch
 *	circuit_churn add [-n CIRCUITS]
 *	circuit_churn left
 *
 * The server reads what comes and closes when its peer has, sometimes sooner,
 * with data unread.  The client takes an address at random, asks for a window or
 * none, a pace, a mark, sends up to 40 kB, changes its algorithm back and
 * forth, and ends by FIN, by RST, in mid-transfer, or in SYN_SENT (to NOWHERE, which
 * does not answer).  It prints how many there were of each.
 *
 * "circuits" adds, replaces, removes, queries and resets circuits at random until it
 * is told to end (SIGTERM); then it removes its own and prints what it did.  "watch"
 * counts their events until SIGTERM.  "add" makes CIRCUITS of them, "left" resets all
 * breakers and prints the number of circuits in the namespace.
 */
#include <fcntl.h>
#include <getopt.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>

#include "nl.h"
#include "random.h"
#include "sock.h"

#define CLIENTS_MAX	256	/* that the server has open at once */
#define BYTES_MAX	40000
#define PATIENCE_MS	500
#define MARKS		3	/* of sockets and circuits, 0: none */

uint64_t random_state;

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

/* One read in thirty closes the connection with the rest unread. */
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

static void ask(int fd, int level, int option, uint32_t value)
{
	options_taken += !setsockopt(fd, level, option, &value, sizeof(value));
}

static void ask_something(int fd)
{
	if (!below(3))
		ask(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND, below(200));
	if (!below(6))
		ask(fd, SOL_SOCKET, SO_MAX_PACING_RATE,
		    below(4) ? 1000000 + below(100000000) : ~0U);
	if (!below(6))
		ask(fd, SOL_SOCKET, SO_MARK, below(MARKS));
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

/* Send some data, and do something else in between; false: the connection is dead. */
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
	reset_on_close(fd);
	reset++;
}

/* End by FIN; three times of four wait until the peer has closed, too. */
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
	const char *address = to_nowhere ? nowhere : addresses[below(n)];
	struct sockaddr_in6 to;
	socklen_t len = socket_address(address, htons(port), &to);
	int fd;

	if (!len)
		die(address);
	fd = socket(to.sin6_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
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

/* --- circuits ---------------------------------------------------------------- */

#define NAMES		12	/* of circuits that come and go one by one */
#define CROWD		300	/* that come and go together */

static struct nl nl;
static struct nl_message message;
static volatile sig_atomic_t told_to_end;
static unsigned int added, replaced, removed, refused_changes, queries, resets;
static unsigned int unexpected;

static void end(int signal)
{
	(void)signal;
	told_to_end = 1;
}

static void open_netlink(void)
{
	int err = nl_open(&nl, TCP_CIRCUIT_GENL_NAME);

	errno = -err;
	if (err)
		die("the family tcp_circuit");
}

/* Expected, since other processes add and remove circuits and set ceilings at the same time */
static bool foreseen(int err)
{
	return err == -EEXIST || err == -ENOENT ||
	       (err == -EPERM && strstr(nl.text, "ceiling"));
}

static int talk(nl_handler handler, void *arg)
{
	int err = nl_talk(&nl, &message, handler, arg);

	if (err && !foreseen(err)) {
		unexpected++;
		printf("unexpected: %s (%s)\n", strerror(-err), nl.text);
	}
	return err;
}

/* @n different prefixes, of this test's peers and of hosts that are not there */
static void put_some_prefixes(int n)
{
	static const char *const some[] = {
		"10.77.2.1/32", "10.77.2.0/24", "10.77.1.1/32", "10.77.0.0/16",
		"10.0.0.0/8", "0.0.0.0/0", "192.0.2.0/24", "10.77.9.9/32",
		"fd77:2::1/128", "fd77:2::/64", "fd77:1::/64", "fd00::/8",
		"::/0", "2001:db8::/32",
	};
	const int count = sizeof(some) / sizeof(*some);

	for (int i = below(count); n > 0; n--, i = (i + 1) % count)
		nl_put_prefix_text(&message, some[i]);
}

static void put_name(const char *prefix, unsigned int i)
{
	char name[TCP_CIRCUIT_NAME_LEN];

	snprintf(name, sizeof(name), "%s%u", prefix, i);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, name);
}

static void change_one(void)
{
	bool only_new = !below(3);
	int err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_NEW,
		 only_new ? NLM_F_CREATE | NLM_F_EXCL :
		 below(3) ? NLM_F_CREATE : NLM_F_REPLACE);
	put_name("churn", below(NAMES));
	put_some_prefixes(1 + below(3));
	nl_put_u32(&message, TCP_CIRCUIT_A_WINDOW, 1 + below(2000));
	if (below(2))
		nl_put_u64(&message, TCP_CIRCUIT_A_RATE,
			   1000000 + below(1000000000));
	if (!below(3))
		nl_put_u32(&message, TCP_CIRCUIT_A_MARK, 1 + below(MARKS - 1));
	if (!below(4))
		nl_put_u32(&message, TCP_CIRCUIT_A_IFINDEX,
			   if_nametoindex(below(4) ? "eth1" : "lo"));
	err = talk(NULL, NULL);
	if (err)
		refused_changes++;
	else if (only_new)
		added++;
	else
		replaced++;
}

static int remove_one(const char *prefix, unsigned int i)
{
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_DEL, 0);
	put_name(prefix, i);
	return talk(NULL, NULL);
}

static int count(const struct nlmsghdr *answer, void *arg)
{
	unsigned int *n = arg;

	*n += !!nl_find(answer, TCP_CIRCUIT_A_ID);
	return 0;
}

static unsigned int dump(void)
{
	unsigned int n = 0;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	talk(count, &n);
	return n;
}

static void put_peer(void)
{
	static const char *const peers[] = { "10.77.2.1", "10.77.1.1",
					     "fd77:2::1", "192.0.2.7" };

	nl_put_address(&message, TCP_CIRCUIT_A_ADDRESS, peers[below(4)]);
}

static void query(void)
{
	switch (below(4)) {
	case 0:
		dump();
		break;
	case 1:
		nl_begin(&nl, &message, TCP_CIRCUIT_CMD_STATS, 0);
		talk(NULL, NULL);
		break;
	case 2:
		nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, 0);
		put_name("churn", below(NAMES));
		talk(NULL, NULL);
		break;
	default:
		nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, 0);
		put_peer();
		talk(NULL, NULL);
	}
	queries++;
}

static void reset_some(void)
{
	int what = below(3);

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_RESET, 0);
	if (what == 1)
		put_name("churn", below(NAMES));
	if (what == 2)
		put_peer();
	if (!talk(NULL, NULL))
		resets++;
}

/* Add @n circuits, so many that tables grow, each of an address that no host has. */
static void add_crowd(const char *prefix, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		unsigned char address[4] = { 10, 200 + (i >> 16), i >> 8, i };

		nl_begin(&nl, &message, TCP_CIRCUIT_CMD_NEW, NLM_F_CREATE);
		put_name(prefix, i);
		nl_put_prefix(&message, address, sizeof(address), 32);
		nl_put_u32(&message, TCP_CIRCUIT_A_WINDOW, 100);
		added += !talk(NULL, NULL);
	}
}

static void remove_crowd(const char *prefix, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		removed += !remove_one(prefix, i);
}

static int churn_circuits(void)
{
	open_netlink();
	while (!told_to_end) {
		switch (below(100)) {
		case 0: add_crowd("crowd", CROWD); break;
		case 1: remove_crowd("crowd", CROWD); break;
		case 2 ... 9: reset_some(); break;
		case 10 ... 29: query(); break;
		case 30 ... 49:
			removed += !remove_one("churn", below(NAMES));
			break;
		default: change_one();
		}
		usleep(below(5000));
	}
	remove_crowd("crowd", CROWD);
	remove_crowd("churn", NAMES);
	printf("added=%u replaced=%u removed=%u refused=%u queries=%u resets=%u unexpected=%u\n",
	       added, replaced, removed, refused_changes, queries, resets,
	       unexpected);
	return 0;
}

static int add_circuits(unsigned int n)
{
	open_netlink();
	add_crowd("added", n);
	printf("added=%u unexpected=%u\n", added, unexpected);
	return added != n;
}

static int count_left(void)
{
	open_netlink();
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_RESET, 0);
	talk(NULL, NULL);
	printf("%u\n", dump());
	return unexpected > 0;
}

/* Count events; be slow at times, so that the kernel has to drop some. */
static int watch(void)
{
	static char event[NL_ANSWER_MAX];
	struct timeval second = { .tv_sec = 1 };
	unsigned int events = 0, overruns = 0;
	int err;

	open_netlink();
	setsockopt(nl.fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	err = nl_join(&nl, TCP_CIRCUIT_MCGRP_EVENTS);
	errno = -err;
	if (err)
		die(TCP_CIRCUIT_MCGRP_EVENTS);
	while (!told_to_end) {
		ssize_t n = recv(nl.fd, event, sizeof(event), 0);

		events += n > 0;
		overruns += n < 0 && errno == ENOBUFS;
		if (!below(100))
			usleep(200000);
	}
	printf("events=%u overruns=%u\n", events, overruns);
	return 0;
}

/* --- all of it --------------------------------------------------------------- */

static int usage(void)
{
	fprintf(stderr, "usage: circuit_churn serve PORT\n"
		"       circuit_churn connect [-s SEED] [-n CONNECTIONS] [-u UID] PORT NOWHERE ADDRESS...\n"
		"       circuit_churn circuits [-s SEED]\n"
		"       circuit_churn watch\n"
		"       circuit_churn add [-n CIRCUITS]\n"
		"       circuit_churn left\n");
	return 2;
}

/* Without SA_RESTART, so that SIGTERM interrupts the call that waits */
static void heed_signals(void)
{
	struct sigaction action = { .sa_handler = end };

	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &action, NULL);
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	unsigned int n = 1000;
	uint64_t seed = 1;
	uid_t user = 0;
	int opt;

	optind = 2;
	while (argc > 1 && (opt = getopt(argc, argv, "s:n:u:")) != -1) {
		switch (opt) {
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'n': n = strtoul(optarg, NULL, 0); break;
		case 'u': user = strtoul(optarg, NULL, 0); break;
		default: return usage();
		}
	}
	argc -= optind;
	argv += optind;
	seed_random(seed);
	if (user && setuid(user))
		die("setuid");
	if (!strcmp(command, "serve") && argc == 1)
		return serve(atoi(argv[0]));
	if (!strcmp(command, "connect") && argc >= 3) {
		signal(SIGPIPE, SIG_IGN);
		return connect_many(n, atoi(argv[0]), argv[1], argv + 2,
				    argc - 2);
	}
	heed_signals();
	if (!strcmp(command, "circuits") && !argc)
		return churn_circuits();
	if (!strcmp(command, "watch") && !argc)
		return watch();
	if (!strcmp(command, "add") && !argc)
		return add_circuits(n);
	if (!strcmp(command, "left") && !argc)
		return count_left();
	return usage();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * sockopt_abi: the matrix of the socket options, state by state
 *
 * Runs in a namespace with a loopback device, as root, circuit loaded, the
 * namespace's fcwnd at NETNS_FCWND and its fcwnd_max at 0.  Every call that
 * has to fail must give its errno and leave the socket's answer to
 * TCP_CIRCUIT_INFO as it was.  TAP on stdout.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/tcp_circuit.h>

#define NETNS_FCWND	60U
#define NOBODY		65534
#define MAX_LEN		64

enum family { V4, V6, MAPPED, FAMILIES };

static const char *const family_name[] = { "IPv4", "IPv6", "v4-mapped" };

static int points, failures;

/* one point of TAP: @bad is what was wrong, empty when nothing was */
static void point(const char *family, const char *what, const char *bad)
{
	points++;
	if (*bad)
		failures++;
	printf("%sok %d - %s: %s\n", *bad ? "not " : "", points, family, what);
	if (*bad)
		printf("# %s\n", bad);
	fflush(stdout);
}

static void bail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static const char *error_name(int err)
{
	switch (err) {
	case 0: return "success";
	case EINVAL: return "EINVAL";
	case EPERM: return "EPERM";
	case EFAULT: return "EFAULT";
	case ENOPROTOOPT: return "ENOPROTOOPT";
	default: return strerror(err);
	}
}

/* --- sockets in each state ----------------------------------------------- */

static int new_socket(enum family family)
{
	int fd = socket(family == V4 ? AF_INET : AF_INET6, SOCK_STREAM, 0);

	if (fd < 0)
		bail("socket");
	return fd;
}

static void use(int fd, const char *algorithm)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, algorithm,
		       strlen(algorithm)))
		bail(algorithm);
}

static socklen_t loopback(enum family family, uint16_t port,
			  struct sockaddr_storage *out)
{
	struct sockaddr_in *a4 = (void *)out;
	struct sockaddr_in6 *a6 = (void *)out;

	memset(out, 0, sizeof(*out));
	if (family == V4) {
		a4->sin_family = AF_INET;
		a4->sin_port = port;
		a4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(*a4);
	}
	a6->sin6_family = AF_INET6;
	a6->sin6_port = port;
	inet_pton(AF_INET6, family == V6 ? "::1" : "::ffff:127.0.0.1",
		  &a6->sin6_addr);
	return sizeof(*a6);
}

static void start_listening(int fd, enum family family)
{
	struct sockaddr_storage any;
	socklen_t len = loopback(family, 0, &any);

	if (bind(fd, (void *)&any, len) || listen(fd, 8))
		bail("listen");
}

static void connect_to(int fd, int listener)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);

	if (getsockname(listener, (void *)&addr, &len) ||
	    connect(fd, (void *)&addr, len))
		bail("connect");
}

static int accept_from(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		bail("accept");
	return fd;
}

/* --- the options ---------------------------------------------------------- */

static int set(int fd, const void *value, socklen_t len)
{
	return setsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND, value, len) ?
		errno : 0;
}

static int set_window(int fd, uint32_t window)
{
	return set(fd, &window, sizeof(window));
}

static uint32_t get_window(int fd)
{
	uint32_t window = 0;
	socklen_t len = sizeof(window);

	if (getsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND, &window, &len) ||
	    len != sizeof(window))
		return UINT32_MAX;
	return window;
}

static struct tcp_circuit_info get_info(int fd)
{
	struct tcp_circuit_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0xff, sizeof(info));
	if (getsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_INFO, &info, &len))
		info.tci_source = UINT32_MAX;
	return info;
}

static uint32_t kernel_window(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		bail("TCP_INFO");
	return info.tcpi_snd_cwnd;
}

static bool same_info(int fd, const struct tcp_circuit_info *before)
{
	struct tcp_circuit_info now = get_info(fd);

	return !memcmp(&now, before, sizeof(now));
}

/* --- what a good call does ------------------------------------------------ */

static void good_values(int fd, const char *who, const char *state,
			bool connected)
{
	static const uint32_t values[] = { 1, 2, 77, 100000,
					   TCP_CIRCUIT_FCWND_LIMIT };
	char what[80], bad[160] = "";
	struct tcp_circuit_info info;

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		int err = set_window(fd, values[i]);

		info = get_info(fd);
		if (err || get_window(fd) != values[i] ||
		    info.tci_asked != values[i] ||
		    info.tci_source != TCP_CIRCUIT_SOURCE_SOCKET ||
		    (connected && kernel_window(fd) != values[i]))
			snprintf(bad, sizeof(bad),
				 "set %u: %s, get %u, asked %u, source %u, snd_cwnd %u",
				 values[i], error_name(err), get_window(fd),
				 info.tci_asked, info.tci_source,
				 kernel_window(fd));
	}
	snprintf(what, sizeof(what), "%s: windows 1 to the limit hold", state);
	point(who, what, bad);

	*bad = '\0';
	set_window(fd, 0);
	info = get_info(fd);
	if (info.tci_fcwnd != NETNS_FCWND || info.tci_asked ||
	    info.tci_source != TCP_CIRCUIT_SOURCE_NETNS ||
	    (connected && kernel_window(fd) != NETNS_FCWND))
		snprintf(bad, sizeof(bad),
			 "expected %u from source 3; got %u from %u",
			 NETNS_FCWND, info.tci_fcwnd, info.tci_source);
	snprintf(what, sizeof(what), "%s: 0 gives the namespace's window", state);
	point(who, what, bad);
}

/* --- what a bad call does ------------------------------------------------- */

static void every_set_length(int fd, const char *who, const char *state)
{
	struct tcp_circuit_info before = get_info(fd);
	char what[80], bad[160] = "";
	uint32_t buffer[MAX_LEN / 4 + 1] = { 55 };

	for (socklen_t len = 0; len <= MAX_LEN; len++) {
		int err;

		if (len == sizeof(uint32_t))
			continue;
		err = set(fd, buffer, len);
		if (err != EINVAL || !same_info(fd, &before))
			snprintf(bad, sizeof(bad),
				 "length %u: expected EINVAL and no change, got %s",
				 len, error_name(err));
	}
	snprintf(what, sizeof(what), "%s: set with every wrong length", state);
	point(who, what, bad);
}

/* With length @len the kernel writes @len bytes, @size at most, no more. */
static void every_get_length(int fd, const char *who, const char *state,
			     int option, socklen_t least, socklen_t size)
{
	unsigned char whole[MAX_LEN + 8], part[MAX_LEN + 8];
	socklen_t whole_len = MAX_LEN;
	char what[80], bad[160] = "";

	if (getsockopt(fd, SOL_TCP_CIRCUIT, option, whole, &whole_len) ||
	    whole_len != size)
		snprintf(bad, sizeof(bad), "length 64: expected %u, got %u",
			 size, whole_len);
	for (socklen_t len = 0; len <= MAX_LEN; len++) {
		socklen_t want = len < size ? len : size, got = len;
		int err;

		memset(part, 0xa5, sizeof(part));
		err = getsockopt(fd, SOL_TCP_CIRCUIT, option, part, &got) ?
			errno : 0;
		if (len < least ? err != EINVAL || got != len || part[0] != 0xa5
				: err || got != want ||
				  memcmp(part, whole, want) ||
				  part[want] != 0xa5)
			snprintf(bad, sizeof(bad), "length %u: got %s, %u bytes",
				 len, error_name(err), got);
	}
	snprintf(what, sizeof(what), "%s: get 0x%x with every length", state,
		 option);
	point(who, what, bad);
}

static void bad_pointers(int fd, const char *who, const char *state)
{
	struct tcp_circuit_info before = get_info(fd);
	void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	socklen_t len = sizeof(uint32_t);
	char what[80], bad[160] = "";
	int set_err = set(fd, none, len), null_err = set(fd, NULL, len);
	int get_err = 0, len_err = 0;

	if (getsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_INFO, none, &len))
		get_err = errno;
	if (getsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_INFO, &before, none))
		len_err = errno;
	if (set_err != EFAULT || null_err != EFAULT || get_err != EFAULT ||
	    len_err != EFAULT || !same_info(fd, &before))
		snprintf(bad, sizeof(bad),
			 "expected four times EFAULT and no change, got %s %s %s %s",
			 error_name(set_err), error_name(null_err),
			 error_name(get_err), error_name(len_err));
	snprintf(what, sizeof(what), "%s: bad pointers", state);
	point(who, what, bad);
	munmap(none, 4096);
}

static void bad_values(int fd, const char *who, const char *state)
{
	static const uint32_t values[] = { TCP_CIRCUIT_FCWND_LIMIT + 1,
					   INT32_MAX, 0x80000000, UINT32_MAX };
	struct tcp_circuit_info before = get_info(fd);
	char what[80], bad[160] = "";

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		int err = set_window(fd, values[i]);

		if (err != EINVAL || !same_info(fd, &before))
			snprintf(bad, sizeof(bad),
				 "%u: expected EINVAL and no change, got %s",
				 values[i], error_name(err));
	}
	snprintf(what, sizeof(what), "%s: values out of range", state);
	point(who, what, bad);
}

static void bad_options(int fd, const char *who, const char *state)
{
	char what[80], bad[160] = "";
	uint32_t value = 5;
	socklen_t len = sizeof(value);

	for (int option = TCP_CIRCUIT_FCWND - 1;
	     option <= TCP_CIRCUIT_INFO + 1; option++) {
		int err = setsockopt(fd, SOL_TCP_CIRCUIT, option, &value,
				     sizeof(value)) ? errno : 0;

		if (option != TCP_CIRCUIT_FCWND && err != ENOPROTOOPT)
			snprintf(bad, sizeof(bad), "set 0x%x: got %s", option,
				 error_name(err));
		if (option == TCP_CIRCUIT_FCWND || option == TCP_CIRCUIT_INFO)
			continue;
		err = getsockopt(fd, SOL_TCP_CIRCUIT, option, &value, &len) ?
			errno : 0;
		if (err != ENOPROTOOPT)
			snprintf(bad, sizeof(bad), "get 0x%x: got %s", option,
				 error_name(err));
	}
	set_window(fd, 0);
	snprintf(what, sizeof(what), "%s: no such option", state);
	point(who, what, bad);
}

/* The whole matrix on one socket. */
static void matrix(int fd, enum family family, const char *state,
		   bool connected)
{
	const char *who = family_name[family];

	good_values(fd, who, state, connected);
	set_window(fd, 33);
	every_set_length(fd, who, state);
	every_get_length(fd, who, state, TCP_CIRCUIT_FCWND, 4, 4);
	every_get_length(fd, who, state, TCP_CIRCUIT_INFO, 1,
			 sizeof(struct tcp_circuit_info));
	bad_pointers(fd, who, state);
	bad_values(fd, who, state);
	bad_options(fd, who, state);
}

/* --- inheritance ---------------------------------------------------------- */

static void check_window(const char *who, const char *what, int fd,
			 uint32_t window, uint32_t source)
{
	struct tcp_circuit_info info = get_info(fd);
	char bad[160] = "";

	if (info.tci_fcwnd != window || info.tci_source != source ||
	    kernel_window(fd) != window)
		snprintf(bad, sizeof(bad),
			 "expected %u from source %u; got %u from %u, snd_cwnd %u",
			 window, source, info.tci_fcwnd, info.tci_source,
			 kernel_window(fd));
	point(who, what, bad);
}

static void inherit(enum family family)
{
	const char *who = family_name[family];
	int listener = new_socket(family), client = new_socket(family), child;

	use(listener, "circuit");
	set_window(listener, 41);
	start_listening(listener, family);
	use(client, "circuit");
	set_window(client, 42);
	connect_to(client, listener);
	child = accept_from(listener);
	check_window(who, "a window asked for before connect() holds after it",
		     client, 42, TCP_CIRCUIT_SOURCE_SOCKET);
	check_window(who, "a child inherits its listener's window", child, 41,
		     TCP_CIRCUIT_SOURCE_SOCKET);

	matrix(client, family, "connected", true);
	matrix(child, family, "accepted", true);
	matrix(listener, family, "listening", false);
	close(child);
	close(client);
	close(listener);
}

/* The listener runs circuit because that is the default here. */
static void inherit_default(enum family family)
{
	int listener = new_socket(family), client = new_socket(family), child;
	char name[16] = "";
	socklen_t len = sizeof(name);

	getsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, name, &len);
	if (strcmp(name, "circuit")) {
		point(family_name[family],
		      "a listener by default # SKIP circuit is not the default here",
		      "");
		goto out;
	}
	start_listening(listener, family);
	set_window(listener, 43);
	connect_to(client, listener);
	child = accept_from(listener);
	check_window(family_name[family],
		     "a child of a listener that runs circuit by default inherits",
		     child, 43, TCP_CIRCUIT_SOURCE_SOCKET);
	close(child);
out:
	close(client);
	close(listener);
}

static void reconnect(enum family family)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	int listener = new_socket(family), client = new_socket(family), child;

	start_listening(listener, family);
	use(client, "circuit");
	set_window(client, 44);
	connect_to(client, listener);
	child = accept_from(listener);
	if (connect(client, &nowhere, sizeof(nowhere)))
		bail("disconnect");
	connect_to(client, listener);
	check_window(family_name[family], "connect(AF_UNSPEC) forgets the window",
		     client, NETNS_FCWND, TCP_CIRCUIT_SOURCE_NETNS);
	close(child);
	close(client);
	close(listener);
}

/* --- sockets that are none of ours ---------------------------------------- */

static void not_ours(const char *what, int fd)
{
	struct tcp_circuit_info info;
	socklen_t len = sizeof(info);
	char bad[160] = "";
	int set_err = set_window(fd, 5), get_err = 0;

	if (getsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_INFO, &info, &len))
		get_err = errno;
	if (set_err != ENOPROTOOPT || get_err != ENOPROTOOPT)
		snprintf(bad, sizeof(bad), "expected ENOPROTOOPT, got %s and %s",
			 error_name(set_err), error_name(get_err));
	point("not ours", what, bad);
	close(fd);
}

static void strangers(void)
{
	int fd = new_socket(V4);

	use(fd, "reno");
	not_ours("TCP with reno", fd);
	fd = new_socket(V6);
	use(fd, "reno");
	not_ours("TCP over IPv6 with reno", fd);
	not_ours("UDP", socket(AF_INET, SOCK_DGRAM, 0));
	not_ours("UDP over IPv6", socket(AF_INET6, SOCK_DGRAM, 0));
	not_ours("raw IP of protocol TCP",
		 socket(AF_INET, SOCK_RAW, IPPROTO_TCP));
}

/* --- the unprivileged ------------------------------------------------------ */

static void write_max(const char *value)
{
	FILE *f = fopen("/proc/sys/net/ipv4/tcp_circuit_fcwnd_max", "w");

	if (!f || fputs(value, f) < 0 || fclose(f))
		bail("tcp_circuit_fcwnd_max");
}

/* errno of asking for @window on @fd as nobody */
static int ask_as_nobody(int fd, uint32_t window)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		_exit(set_window(fd, window));
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		bail("a child as nobody");
	return WEXITSTATUS(status);
}

static void nobody_asks(int fd, uint32_t window, int expected)
{
	struct tcp_circuit_info before = get_info(fd);
	char what[80], bad[160] = "";
	int err = ask_as_nobody(fd, window);

	if (err != expected || (err && !same_info(fd, &before)))
		snprintf(bad, sizeof(bad), "expected %s, got %s",
			 error_name(expected), error_name(err));
	snprintf(what, sizeof(what), "%u segments with fcwnd_max %u: %s", window,
		 before.tci_fcwnd_max, error_name(expected));
	point("unprivileged", what, bad);
}

static void unprivileged(void)
{
	int fd = new_socket(V4);

	use(fd, "circuit");
	nobody_asks(fd, NETNS_FCWND, 0);
	nobody_asks(fd, NETNS_FCWND + 1, EPERM);
	nobody_asks(fd, TCP_CIRCUIT_FCWND_LIMIT, EPERM);
	nobody_asks(fd, TCP_CIRCUIT_FCWND_LIMIT + 1, EINVAL);
	nobody_asks(fd, 1, 0);
	nobody_asks(fd, 0, 0);
	write_max("500");
	nobody_asks(fd, 500, 0);
	nobody_asks(fd, 501, EPERM);
	write_max("5");
	nobody_asks(fd, NETNS_FCWND, 0);
	write_max("0");
	close(fd);
}

int main(void)
{
	for (enum family family = V4; family < FAMILIES; family++) {
		int fd = new_socket(family);

		use(fd, "circuit");
		matrix(fd, family, "not connected", false);
		close(fd);
		inherit(family);
		inherit_default(family);
		reconnect(family);
	}
	strangers();
	unprivileged();
	printf("1..%d\n", points);
	return failures || !points;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * sockopt_abi: the matrix of the socket options, state by state
 *
 * Runs in a namespace with a loopback device, as root, circuit loaded, the
 * namespace's fcwnd at NETNS_FCWND, its rate at NETNS_RATE, its fcwnd_max at 0.
 * Every call that has to fail must give its errno and leave the socket's answer
 * to TCP_CIRCUIT_INFO as it was.  TAP on stdout.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <grp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sock.h"

#define NETNS_FCWND	60U
#define NETNS_RATE	1000000ULL
#define NOBODY		65534
#define MAX_LEN		128U	/* more than any option has */

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

/* Programs were built with these; the struct grows only at its end. */
#define AT(field, offset)						\
	static_assert(offsetof(struct tcp_circuit_info, field) == (offset), \
		      #field)
AT(tci_fcwnd, 0);
AT(tci_source, 4);
AT(tci_asked, 8);
AT(tci_fcwnd_max, 12);
AT(tci_snd_cwnd, 16);
AT(tci_restored, 20);
AT(tci_losses, 24);
AT(tci_recoveries, 28);
AT(tci_rate, 32);
AT(tci_id, 40);
AT(tci_state, 44);
AT(tci_part, 48);
AT(tci_burst, 52);
AT(tci_sockets, 56);
AT(tci_hungry, 60);
AT(tci_held, 64);
AT(tci_breaker, 68);
AT(tci_trips, 72);
AT(tci_loss, 76);
AT(tci_delivered, 80);
AT(tci_lost, 88);
static_assert(sizeof(struct tcp_circuit_info) == 96, "struct tcp_circuit_info");
static_assert(TCP_CIRCUIT_FCWND == 0x4354 && TCP_CIRCUIT_RATE == 0x4355 &&
	      TCP_CIRCUIT_INFO == 0x4356 && TCP_CIRCUIT_ID == 0x4357, "options");

static const struct option {
	int		name;
	socklen_t	size;	/* of its value, bytes */
	socklen_t	least;	/* bytes that get wants room for */
	bool		set;	/* can be */
} options[] = {
	{ TCP_CIRCUIT_FCWND, 4, 4, true },
	{ TCP_CIRCUIT_RATE, 8, 8, true },
	{ TCP_CIRCUIT_INFO, sizeof(struct tcp_circuit_info), 1, false },
	{ TCP_CIRCUIT_ID, 4, 4, true },
};

#define OPTIONS_END	(options + sizeof(options) / sizeof(*options))

static int set(int fd, int option, const void *value, socklen_t len)
{
	return setsockopt(fd, SOL_TCP_CIRCUIT, option, value, len) ? errno : 0;
}

static int get(int fd, int option, void *value, socklen_t *len)
{
	return getsockopt(fd, SOL_TCP_CIRCUIT, option, value, len) ? errno : 0;
}

static int set_window(int fd, uint32_t window)
{
	return set(fd, TCP_CIRCUIT_FCWND, &window, sizeof(window));
}

static int set_rate(int fd, uint64_t rate)
{
	return set(fd, TCP_CIRCUIT_RATE, &rate, sizeof(rate));
}

static int set_id(int fd, uint32_t id)
{
	return set(fd, TCP_CIRCUIT_ID, &id, sizeof(id));
}

static uint32_t get_u32(int fd, int option)
{
	uint32_t value = 0;
	socklen_t len = sizeof(value);

	if (get(fd, option, &value, &len) || len != sizeof(value))
		return UINT32_MAX;
	return value;
}

static uint64_t get_rate(int fd)
{
	uint64_t rate = 0;
	socklen_t len = sizeof(rate);

	if (get(fd, TCP_CIRCUIT_RATE, &rate, &len) || len != sizeof(rate))
		return UINT64_MAX;
	return rate;
}

static struct tcp_circuit_info get_info(int fd)
{
	struct tcp_circuit_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0xff, sizeof(info));
	if (get(fd, TCP_CIRCUIT_INFO, &info, &len))
		info.tci_source = UINT32_MAX;
	return info;
}

static uint32_t kernel_window(int fd)
{
	return tcp_info_of(fd).tcpi_snd_cwnd;
}

static bool same_info(int fd, const struct tcp_circuit_info *before)
{
	struct tcp_circuit_info now = get_info(fd);

	return !memcmp(&now, before, sizeof(now));
}

/* What an idle stream may look forward to of a window that it shares */
static uint32_t shared(uint32_t window, uint32_t sockets)
{
	return (window + sockets - 1) / sockets;
}

/* --- what a good call does ------------------------------------------------ */

/* @sockets: that the circuit has, 0 when this one is not connected */
static void good_windows(int fd, const char *who, const char *state,
			 uint32_t sockets)
{
	static const uint32_t values[] = { 1, 2, 77, 100000,
					   TCP_CIRCUIT_FCWND_LIMIT };
	char what[80], bad[160] = "";
	struct tcp_circuit_info info;

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		int err = set_window(fd, values[i]);

		info = get_info(fd);
		if (err || get_u32(fd, TCP_CIRCUIT_FCWND) != values[i] ||
		    info.tci_asked != values[i] ||
		    info.tci_source != TCP_CIRCUIT_SOURCE_SOCKET ||
		    (sockets && kernel_window(fd) != values[i]))
			snprintf(bad, sizeof(bad),
				 "set %u: %s, get %u, asked %u, source %u, snd_cwnd %u",
				 values[i], error_name(err),
				 get_u32(fd, TCP_CIRCUIT_FCWND), info.tci_asked,
				 info.tci_source, kernel_window(fd));
	}
	snprintf(what, sizeof(what), "%s: windows 1 to the limit hold", state);
	point(who, what, bad);
}

/* An idle socket's window is what it may look forward to: it shares. */
static void given_window(int fd, const char *who, const char *state,
			 uint32_t sockets)
{
	char what[80], bad[160] = "";
	struct tcp_circuit_info info;

	set_window(fd, 0);
	info = get_info(fd);
	if (info.tci_fcwnd != NETNS_FCWND || info.tci_asked ||
	    info.tci_source != TCP_CIRCUIT_SOURCE_NETNS ||
	    info.tci_sockets != sockets ||
	    (sockets && kernel_window(fd) != shared(NETNS_FCWND, sockets)))
		snprintf(bad, sizeof(bad),
			 "expected %u from source 3, %u sockets; got %u from %u, %u sockets, snd_cwnd %u",
			 NETNS_FCWND, sockets, info.tci_fcwnd, info.tci_source,
			 info.tci_sockets, kernel_window(fd));
	snprintf(what, sizeof(what), "%s: 0 gives the namespace's window, shared",
		 state);
	point(who, what, bad);
}

static void good_rates(int fd, const char *who, const char *state)
{
	static const uint64_t values[] = { 1, NETNS_RATE + 1, UINT32_MAX + 1ULL,
					   TCP_CIRCUIT_RATE_LIMIT,
					   TCP_CIRCUIT_RATE_UNPACED, 0 };
	char what[80], bad[160] = "";

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		int err = set_rate(fd, values[i]);
		uint64_t want = values[i], got = get_rate(fd);

		if (!want)
			want = NETNS_RATE;
		else if (want == TCP_CIRCUIT_RATE_UNPACED)
			want = 0;
		if (err || got != want || get_info(fd).tci_rate != want)
			snprintf(bad, sizeof(bad),
				 "set %llu: %s; expected %llu, got %llu",
				 (unsigned long long)values[i], error_name(err),
				 (unsigned long long)want,
				 (unsigned long long)got);
	}
	snprintf(what, sizeof(what), "%s: rates 1 to the limit, none, unpaced",
		 state);
	point(who, what, bad);
}

static void good_ids(int fd, const char *who, const char *state,
		     uint32_t sockets)
{
	static const uint32_t values[] = { 1, 77, UINT32_MAX, UINT32_MAX, 0 };
	char what[80], bad[160] = "";

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		int err = set_id(fd, values[i]);
		struct tcp_circuit_info info = get_info(fd);
		uint32_t want = values[i] && sockets ? 1 : sockets;
		uint32_t got;
		socklen_t len = sizeof(got);

		if (err || get(fd, TCP_CIRCUIT_ID, &got, &len) ||
		    got != values[i] || info.tci_id != values[i] ||
		    info.tci_sockets != want)
			snprintf(bad, sizeof(bad),
				 "set %u: %s, get %u, expected %u sockets, got %u",
				 values[i], error_name(err), got, want,
				 info.tci_sockets);
	}
	snprintf(what, sizeof(what), "%s: an id is a circuit of its own", state);
	point(who, what, bad);
}

/* --- what a bad call does ------------------------------------------------- */

static void every_set_length(int fd, const char *who, const char *state,
			     const struct option *o)
{
	struct tcp_circuit_info before = get_info(fd);
	char what[80], bad[160] = "";
	uint32_t buffer[MAX_LEN / 4 + 1] = { 55 };
	int expected = o->set ? EINVAL : ENOPROTOOPT;

	for (socklen_t len = 0; len <= MAX_LEN; len++) {
		int err;

		if (o->set && len == o->size)
			continue;
		err = set(fd, o->name, buffer, len);
		if (err != expected || !same_info(fd, &before))
			snprintf(bad, sizeof(bad),
				 "length %u: expected %s and no change, got %s",
				 len, error_name(expected), error_name(err));
	}
	snprintf(what, sizeof(what), "%s: set 0x%x with every wrong length",
		 state, o->name);
	point(who, what, bad);
}

/* With length @len the kernel writes @len bytes, the option's size at most. */
static void every_get_length(int fd, const char *who, const char *state,
			     const struct option *o)
{
	unsigned char whole[MAX_LEN + 8], part[MAX_LEN + 8];
	socklen_t whole_len = MAX_LEN;
	char what[80], bad[160] = "";

	if (get(fd, o->name, whole, &whole_len) || whole_len != o->size)
		snprintf(bad, sizeof(bad), "length %u: expected %u, got %u",
			 MAX_LEN, o->size, whole_len);
	for (socklen_t len = 0; len <= MAX_LEN; len++) {
		socklen_t want = len < o->size ? len : o->size, got = len;
		int err;

		memset(part, 0xa5, sizeof(part));
		err = get(fd, o->name, part, &got);
		if (len < o->least ?
		    err != EINVAL || got != len || part[0] != 0xa5 :
		    err || got != want || memcmp(part, whole, want) ||
		    part[want] != 0xa5)
			snprintf(bad, sizeof(bad), "length %u: got %s, %u bytes",
				 len, error_name(err), got);
	}
	snprintf(what, sizeof(what), "%s: get 0x%x with every length", state,
		 o->name);
	point(who, what, bad);
}

static void bad_pointers(int fd, const char *who, const char *state,
			 const struct option *o)
{
	struct tcp_circuit_info before = get_info(fd), info;
	void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	socklen_t len = o->size;
	char what[80], bad[160] = "";
	int expected = o->set ? EFAULT : ENOPROTOOPT;
	int set_err = set(fd, o->name, none, len);
	int null_err = set(fd, o->name, NULL, len);
	int get_err = get(fd, o->name, none, &len);
	int len_err = get(fd, o->name, &info, none);

	if (set_err != expected || null_err != expected || get_err != EFAULT ||
	    len_err != EFAULT || !same_info(fd, &before))
		snprintf(bad, sizeof(bad),
			 "expected twice %s, twice EFAULT and no change, got %s %s %s %s",
			 error_name(expected), error_name(set_err),
			 error_name(null_err), error_name(get_err),
			 error_name(len_err));
	snprintf(what, sizeof(what), "%s: bad pointers for 0x%x", state, o->name);
	point(who, what, bad);
	munmap(none, 4096);
}

static void bad_windows(int fd, const char *who, const char *state)
{
	static const uint32_t values[] = { TCP_CIRCUIT_FCWND_LIMIT + 1,
					   TCP_CIRCUIT_WINDOW_LIMIT, INT32_MAX,
					   0x80000000, UINT32_MAX };
	struct tcp_circuit_info before = get_info(fd);
	char what[80], bad[160] = "";

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		int err = set_window(fd, values[i]);

		if (err != EINVAL || !same_info(fd, &before))
			snprintf(bad, sizeof(bad),
				 "%u: expected EINVAL and no change, got %s",
				 values[i], error_name(err));
	}
	snprintf(what, sizeof(what), "%s: windows out of range", state);
	point(who, what, bad);
}

static void bad_rates(int fd, const char *who, const char *state)
{
	static const uint64_t values[] = { TCP_CIRCUIT_RATE_LIMIT + 1,
					   INT64_MAX, 1ULL << 63,
					   TCP_CIRCUIT_RATE_UNPACED - 1 };
	struct tcp_circuit_info before = get_info(fd);
	char what[80], bad[160] = "";

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		int err = set_rate(fd, values[i]);

		if (err != EINVAL || !same_info(fd, &before))
			snprintf(bad, sizeof(bad),
				 "%llu: expected EINVAL and no change, got %s",
				 (unsigned long long)values[i], error_name(err));
	}
	snprintf(what, sizeof(what), "%s: rates out of range", state);
	point(who, what, bad);
}

static bool is_option(int name)
{
	for (const struct option *o = options; o < OPTIONS_END; o++)
		if (o->name == name)
			return true;
	return false;
}

static void bad_options(int fd, const char *who, const char *state)
{
	struct tcp_circuit_info before = get_info(fd);
	char what[80], bad[160] = "";

	for (int name = TCP_CIRCUIT_FCWND - 4; name <= TCP_CIRCUIT_ID + 4;
	     name++) {
		uint64_t value = 5;
		socklen_t len = sizeof(value);
		int set_err, get_err;

		if (is_option(name))
			continue;
		set_err = set(fd, name, &value, sizeof(uint32_t));
		get_err = get(fd, name, &value, &len);
		if (set_err != ENOPROTOOPT || get_err != ENOPROTOOPT ||
		    !same_info(fd, &before))
			snprintf(bad, sizeof(bad),
				 "0x%x: expected ENOPROTOOPT and no change, got %s and %s",
				 name, error_name(set_err), error_name(get_err));
	}
	snprintf(what, sizeof(what), "%s: no such option", state);
	point(who, what, bad);
}

/* The whole matrix on one socket. */
static void matrix(int fd, enum family family, const char *state,
		   uint32_t sockets)
{
	const char *who = family_name[family];

	good_windows(fd, who, state, sockets);
	given_window(fd, who, state, sockets);
	good_rates(fd, who, state);
	good_ids(fd, who, state, sockets);
	set_window(fd, 33);
	for (const struct option *o = options; o < OPTIONS_END; o++) {
		every_set_length(fd, who, state, o);
		every_get_length(fd, who, state, o);
		bad_pointers(fd, who, state, o);
	}
	bad_windows(fd, who, state);
	bad_rates(fd, who, state);
	bad_options(fd, who, state);
}

/* --- inheritance ---------------------------------------------------------- */

/* @fd: a socket that is idle; @sockets: that share its window */
static void check_window(const char *who, const char *what, int fd,
			 uint32_t window, uint32_t source, uint32_t sockets)
{
	struct tcp_circuit_info info = get_info(fd);
	char bad[160] = "";

	if (info.tci_fcwnd != window || info.tci_source != source ||
	    kernel_window(fd) != shared(window, sockets))
		snprintf(bad, sizeof(bad),
			 "expected %u from source %u, snd_cwnd %u; got %u from %u, snd_cwnd %u",
			 window, source, shared(window, sockets),
			 info.tci_fcwnd, info.tci_source, kernel_window(fd));
	point(who, what, bad);
}

static void check_rate_id(const char *who, const char *what, int fd,
			  uint64_t rate, uint32_t id)
{
	struct tcp_circuit_info info = get_info(fd);
	char bad[160] = "";

	if (info.tci_rate != rate || info.tci_id != id || info.tci_sockets != 1)
		snprintf(bad, sizeof(bad),
			 "expected %llu bytes/s, id %u of 1 socket; got %llu, id %u of %u",
			 (unsigned long long)rate, id,
			 (unsigned long long)info.tci_rate, info.tci_id,
			 info.tci_sockets);
	point(who, what, bad);
}

static void inherit(enum family family)
{
	const char *who = family_name[family];
	int listener = new_socket(family), client = new_socket(family), child;

	set_algorithm(listener, "circuit");
	set_window(listener, 41);
	set_rate(listener, 4100000);
	set_id(listener, 4);
	start_listening(listener, family);
	set_algorithm(client, "circuit");
	set_window(client, 42);
	set_rate(client, 4200000);
	set_id(client, 5);
	connect_to(client, listener);
	child = accept_from(listener);
	check_window(who, "a window asked for before connect() holds after it",
		     client, 42, TCP_CIRCUIT_SOURCE_SOCKET, 1);
	check_rate_id(who, "rate and id asked for before connect() hold after it",
		      client, 4200000, 5);
	check_window(who, "a child inherits its listener's window", child, 41,
		     TCP_CIRCUIT_SOURCE_SOCKET, 1);
	check_rate_id(who, "a child inherits its listener's rate and id", child,
		      4100000, 4);

	set_id(client, 0);
	set_id(child, 0);
	matrix(client, family, "connected", 2);
	matrix(child, family, "accepted", 2);
	matrix(listener, family, "listening", 0);
	close(child);
	close(client);
	close(listener);
}

/* The listener runs circuit because that is the default here. */
static void inherit_default(enum family family)
{
	int listener = new_socket(family), client = new_socket(family), child;
	const char *who = family_name[family];
	char name[16] = "", bad[80] = "";
	socklen_t len = sizeof(name);

	getsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, name, &len);
	if (strcmp(name, "circuit"))
		snprintf(bad, sizeof(bad), "expected circuit, got %s", name);
	point(who, "circuit is the default", bad);
	start_listening(listener, family);
	set_window(listener, 43);
	connect_to(client, listener);
	child = accept_from(listener);
	check_window(who,
		     "a child of a listener that runs circuit by default inherits",
		     child, 43, TCP_CIRCUIT_SOURCE_SOCKET, 1);
	close(child);
	close(client);
	close(listener);
}

/* The child closes first, so that the client is alone in its circuit. */
static void reconnect(enum family family)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	int listener = new_socket(family), client = new_socket(family);
	const char *who = family_name[family];
	char bad[80] = "";

	start_listening(listener, family);
	set_algorithm(client, "circuit");
	set_window(client, 44);
	set_rate(client, 4400000);
	set_id(client, 44);
	connect_to(client, listener);
	close(accept_from(listener));
	if (connect(client, &nowhere, sizeof(nowhere)))
		bail("disconnect");
	if (get_info(client).tci_sockets)
		snprintf(bad, sizeof(bad), "expected none, got one of %u",
			 get_info(client).tci_sockets);
	point(who, "connect(AF_UNSPEC) leaves the circuit", bad);
	connect_to(client, listener);
	check_window(who, "connect(AF_UNSPEC) forgets the window", client,
		     NETNS_FCWND, TCP_CIRCUIT_SOURCE_NETNS, 1);
	*bad = '\0';
	if (get_rate(client) != NETNS_RATE || get_info(client).tci_id)
		snprintf(bad, sizeof(bad), "got %llu bytes/s, id %u",
			 (unsigned long long)get_rate(client),
			 get_info(client).tci_id);
	point(who, "connect(AF_UNSPEC) forgets rate and id", bad);
	close(accept_from(listener));
	close(client);
	close(listener);
}

/* --- sockets that are none of ours ---------------------------------------- */

static void not_ours(const char *what, int fd)
{
	char bad[160] = "";

	for (const struct option *o = options; o < OPTIONS_END; o++) {
		unsigned char value[MAX_LEN] = { 5 };
		socklen_t len = o->size;
		int set_err = set(fd, o->name, value, o->size);
		int get_err = get(fd, o->name, value, &len);

		if (set_err != ENOPROTOOPT || get_err != ENOPROTOOPT)
			snprintf(bad, sizeof(bad),
				 "0x%x: expected ENOPROTOOPT, got %s and %s",
				 o->name, error_name(set_err),
				 error_name(get_err));
	}
	point("not ours", what, bad);
	close(fd);
}

static void strangers(void)
{
	int fd = new_socket(V4);

	set_algorithm(fd, "reno");
	not_ours("TCP with reno", fd);
	fd = new_socket(V6);
	set_algorithm(fd, "reno");
	not_ours("TCP over IPv6 with reno", fd);
	not_ours("UDP", socket(AF_INET, SOCK_DGRAM, 0));
	not_ours("UDP over IPv6", socket(AF_INET6, SOCK_DGRAM, 0));
	not_ours("raw IP of protocol TCP",
		 socket(AF_INET, SOCK_RAW, IPPROTO_TCP));
}

/* --- the unprivileged ------------------------------------------------------ */

static void write_sysctl(const char *name, const char *value)
{
	char path[80];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", name);
	f = fopen(path, "w");
	if (!f || fputs(value, f) < 0 || fclose(f))
		bail(name);
}

/* errno of asking for @value on @fd as nobody */
static int ask_as_nobody(int fd, int option, uint64_t value)
{
	socklen_t len = option == TCP_CIRCUIT_RATE ? sizeof(uint64_t)
						   : sizeof(uint32_t);
	uint32_t small = value;
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		_exit(set(fd, option, len == sizeof(small) ?
			  (void *)&small : (void *)&value, len));
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		bail("a child as nobody");
	return WEXITSTATUS(status);
}

static void nobody_asks(int fd, int option, uint64_t value, int expected)
{
	struct tcp_circuit_info before = get_info(fd);
	char what[100], bad[160] = "";
	int err = ask_as_nobody(fd, option, value);

	if (err != expected || (err && !same_info(fd, &before)))
		snprintf(bad, sizeof(bad), "expected %s, got %s",
			 error_name(expected), error_name(err));
	snprintf(what, sizeof(what), "0x%x of %llu with fcwnd_max %u: %s",
		 option, (unsigned long long)value, before.tci_fcwnd_max,
		 error_name(expected));
	point("unprivileged", what, bad);
}

static void windows_of_nobody(int fd)
{
	nobody_asks(fd, TCP_CIRCUIT_FCWND, NETNS_FCWND, 0);
	nobody_asks(fd, TCP_CIRCUIT_FCWND, NETNS_FCWND + 1, EPERM);
	nobody_asks(fd, TCP_CIRCUIT_FCWND, TCP_CIRCUIT_FCWND_LIMIT, EPERM);
	nobody_asks(fd, TCP_CIRCUIT_FCWND, TCP_CIRCUIT_FCWND_LIMIT + 1, EINVAL);
	nobody_asks(fd, TCP_CIRCUIT_FCWND, 1, 0);
	nobody_asks(fd, TCP_CIRCUIT_FCWND, 0, 0);
	write_sysctl("tcp_circuit_fcwnd_max", "500");
	nobody_asks(fd, TCP_CIRCUIT_FCWND, 500, 0);
	nobody_asks(fd, TCP_CIRCUIT_FCWND, 501, EPERM);
	write_sysctl("tcp_circuit_fcwnd_max", "5");
	nobody_asks(fd, TCP_CIRCUIT_FCWND, NETNS_FCWND, 0);
	write_sysctl("tcp_circuit_fcwnd_max", "0");
}

static void rates_of_nobody(int fd)
{
	nobody_asks(fd, TCP_CIRCUIT_RATE, NETNS_RATE, 0);
	nobody_asks(fd, TCP_CIRCUIT_RATE, NETNS_RATE + 1, EPERM);
	nobody_asks(fd, TCP_CIRCUIT_RATE, TCP_CIRCUIT_RATE_LIMIT, EPERM);
	nobody_asks(fd, TCP_CIRCUIT_RATE, TCP_CIRCUIT_RATE_LIMIT + 1, EINVAL);
	nobody_asks(fd, TCP_CIRCUIT_RATE, TCP_CIRCUIT_RATE_UNPACED, EPERM);
	nobody_asks(fd, TCP_CIRCUIT_RATE, 1, 0);
	nobody_asks(fd, TCP_CIRCUIT_RATE, 0, 0);
	write_sysctl("tcp_circuit_rate", "0");
	nobody_asks(fd, TCP_CIRCUIT_RATE, TCP_CIRCUIT_RATE_LIMIT, 0);
	nobody_asks(fd, TCP_CIRCUIT_RATE, TCP_CIRCUIT_RATE_UNPACED, 0);
	nobody_asks(fd, TCP_CIRCUIT_RATE, TCP_CIRCUIT_RATE_LIMIT + 1, EINVAL);
	write_sysctl("tcp_circuit_rate", "1000000");
}

static void unprivileged(void)
{
	int fd = new_socket(V4);

	set_algorithm(fd, "circuit");
	windows_of_nobody(fd);
	rates_of_nobody(fd);
	nobody_asks(fd, TCP_CIRCUIT_ID, 6, 0);
	nobody_asks(fd, TCP_CIRCUIT_ID, UINT32_MAX, 0);
	nobody_asks(fd, TCP_CIRCUIT_ID, 0, 0);
	close(fd);
}

int main(void)
{
	for (enum family family = V4; family < FAMILIES; family++) {
		int fd = new_socket(family);

		set_algorithm(fd, "circuit");
		matrix(fd, family, "not connected", 0);
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

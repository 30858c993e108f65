// SPDX-License-Identifier: GPL-2.0
/*
 * sockopt_abi: the matrix of the socket options, state by state
 *
 * Runs in a namespace with a loopback device, as root, circuit loaded and its
 * default, its fcwnd at NETNS_FCWND, its fcwnd_max and the module's fcwnd at 0, no
 * circuit configured.  Every call that has to fail must give its errno and leave
 * the socket's answer to TCP_CIRCUIT_INFO as it was.  TAP on stdout.
 */
#include <assert.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "nl.h"
#include "sock.h"
#include "tap.h"

#define NETNS_FCWND	60U
#define NOBODY		65534
#define MAX_LEN		192U	/* more than any option has */

enum family { V4, V6, MAPPED, FAMILIES };

static const char *const family_name[] = { "IPv4", "IPv6", "v4-mapped" };

/* @bad says what was wrong; it is empty when nothing was. */
static void point(const char *family, const char *what, const char *bad)
{
	char line[300];

	snprintf(line, sizeof(line), "%s: %s", family, what);
	tap_point(line, bad);
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
		tap_bail("socket");
	return fd;
}

static void start_listening(int fd, enum family family)
{
	static const char *const loopback[] = {
		[V4] = "127.0.0.1", [V6] = "::1", [MAPPED] = "::ffff:127.0.0.1",
	};
	struct sockaddr_in6 any;
	socklen_t len = socket_address(loopback[family], 0, &any);

	if (bind(fd, (void *)&any, len) || listen(fd, 8))
		tap_bail("listen");
}

static void connect_to(int fd, int listener)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);

	if (getsockname(listener, (void *)&addr, &len) ||
	    connect(fd, (void *)&addr, len))
		tap_bail("connect");
}

static int accept_from(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		tap_bail("accept");
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
AT(tci_snd_cwnd, 12);
AT(tci_restored, 16);
AT(tci_losses, 20);
AT(tci_recoveries, 24);
AT(tci_state, 28);
AT(tci_cwnd_share, 32);
AT(tci_burst, 36);
AT(tci_rate, 40);
AT(tci_id, 48);
AT(tci_sockets, 52);
AT(tci_hungry, 56);
AT(tci_cwnd_total, 60);
AT(tci_breaker, 64);
AT(tci_reason, 68);
AT(tci_trips, 72);
AT(tci_loss, 76);
AT(tci_delivered, 80);
AT(tci_lost, 88);
AT(tci_name, 96);
static_assert(sizeof(struct tcp_circuit_info) == 128, "struct tcp_circuit_info");
static_assert(TCP_CIRCUIT_FCWND == 0x4354 && TCP_CIRCUIT_INFO == 0x4356,
	      "options");

static const struct option {
	int		name;
	socklen_t	size;	/* of its value, bytes */
	socklen_t	least;	/* bytes of room that get needs */
	bool		set;	/* can be */
} options[] = {
	{ TCP_CIRCUIT_FCWND, 4, 4, true },
	{ TCP_CIRCUIT_INFO, sizeof(struct tcp_circuit_info), 1, false },
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

static uint32_t get_u32(int fd, int option)
{
	uint32_t value = 0;
	socklen_t len = sizeof(value);

	if (get(fd, option, &value, &len) || len != sizeof(value))
		return UINT32_MAX;
	return value;
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

/* The share of @window that an idle stream of so many would get */
static uint32_t shared(uint32_t window, uint32_t sockets)
{
	return (window + sockets - 1) / sockets;
}

/* --- what a good call does ------------------------------------------------ */

/* @sockets: number in the circuit, 0 when this one is not connected */
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

/* The window of an idle socket is the share that it would get. */
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
			 "expected %u from source %d, %u sockets; got %u from %u, %u sockets, snd_cwnd %u",
			 NETNS_FCWND, TCP_CIRCUIT_SOURCE_NETNS, sockets,
			 info.tci_fcwnd, info.tci_source,
			 info.tci_sockets, kernel_window(fd));
	snprintf(what, sizeof(what), "%s: 0 gives the namespace's window, shared",
		 state);
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

static bool is_option(int name)
{
	for (const struct option *o = options; o < OPTIONS_END; o++)
		if (o->name == name)
			return true;
	return false;
}

/* Set and get of each length must give ENOPROTOOPT; false: one did not. */
static bool no_such_option(int fd, int name, char *bad, size_t size)
{
	unsigned char value[64] = { 5 };

	for (socklen_t len = 0; len <= sizeof(value); len++) {
		socklen_t room = len;
		int set_err = set(fd, name, value, len);
		int get_err = get(fd, name, value, &room);

		if (set_err == ENOPROTOOPT && get_err == ENOPROTOOPT)
			continue;
		snprintf(bad, size,
			 "0x%x, length %u: expected ENOPROTOOPT, got %s and %s",
			 name, len, error_name(set_err), error_name(get_err));
		return false;
	}
	return true;
}

/* Names beside ours, and the two options of earlier versions: rate and id */
static void bad_options(int fd, const char *who, const char *state)
{
	struct tcp_circuit_info before = get_info(fd);
	char what[80], bad[160] = "";

	for (int name = TCP_CIRCUIT_FCWND - 4; name <= TCP_CIRCUIT_INFO + 4;
	     name++)
		if (!is_option(name) && no_such_option(fd, name, bad, sizeof(bad)) &&
		    !same_info(fd, &before))
			snprintf(bad, sizeof(bad), "0x%x changed something", name);
	snprintf(what, sizeof(what), "%s: no such option", state);
	point(who, what, bad);
	*bad = '\0';
	no_such_option(fd, 0x4355, bad, sizeof(bad));
	no_such_option(fd, 0x4357, bad, sizeof(bad));
	snprintf(what, sizeof(what), "%s: TCP_CIRCUIT_RATE and _ID are gone", state);
	point(who, what, bad);
}

/* The whole matrix on one socket. */
static void matrix(int fd, enum family family, const char *state,
		   uint32_t sockets)
{
	const char *who = family_name[family];

	good_windows(fd, who, state, sockets);
	given_window(fd, who, state, sockets);
	set_window(fd, 33);
	for (const struct option *o = options; o < OPTIONS_END; o++) {
		every_set_length(fd, who, state, o);
		every_get_length(fd, who, state, o);
		bad_pointers(fd, who, state, o);
	}
	bad_windows(fd, who, state);
	bad_options(fd, who, state);
}

/* --- inheritance ---------------------------------------------------------- */

/* @fd: an idle socket; @sockets: number that share its window */
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

static void inherit(enum family family)
{
	const char *who = family_name[family];
	int listener = new_socket(family), client = new_socket(family), child;

	set_algorithm(listener, "circuit");
	set_window(listener, 41);
	start_listening(listener, family);
	set_algorithm(client, "circuit");
	set_window(client, 42);
	connect_to(client, listener);
	child = accept_from(listener);
	check_window(who, "a window asked for before connect() holds after it",
		     client, 42, TCP_CIRCUIT_SOURCE_SOCKET, 1);
	check_window(who, "a child inherits its listener's window", child, 41,
		     TCP_CIRCUIT_SOURCE_SOCKET, 1);
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

/* The first child closes first, so that no socket is left in the client's circuit. */
static void reconnect(enum family family)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	int listener = new_socket(family), client = new_socket(family);
	const char *who = family_name[family];
	char bad[80] = "";

	start_listening(listener, family);
	set_algorithm(client, "circuit");
	set_window(client, 44);
	connect_to(client, listener);
	close(accept_from(listener));
	if (connect(client, &nowhere, sizeof(nowhere)))
		tap_bail("disconnect");
	if (get_info(client).tci_sockets)
		snprintf(bad, sizeof(bad), "expected none, got one of %u",
			 get_info(client).tci_sockets);
	point(who, "connect(AF_UNSPEC) leaves the circuit", bad);
	connect_to(client, listener);
	check_window(who, "connect(AF_UNSPEC) forgets the window", client,
		     NETNS_FCWND, TCP_CIRCUIT_SOURCE_NETNS, 2);
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

/* --- circuits --------------------------------------------------------------- */

#define OBJECT_WINDOW	200U
#define OBJECT_RATE	12500000ULL	/* bytes/s */

static struct nl nl;

static void talk(const struct nl_message *m)
{
	int err = nl_talk(&nl, m, NULL, NULL);

	errno = -err;
	if (err)
		tap_bail(*nl.text ? nl.text : "netlink");
}

/* A circuit with all addresses of the loopback device */
static void new_object(uint32_t window, uint64_t rate)
{
	static struct nl_message m;

	nl_begin(&nl, &m, TCP_CIRCUIT_CMD_NEW, NLM_F_CREATE);
	nl_put_string(&m, TCP_CIRCUIT_A_NAME, "loopback");
	nl_put_prefix_text(&m, "127.0.0.0/8");
	nl_put_prefix_text(&m, "::1");
	nl_put_u32(&m, TCP_CIRCUIT_A_WINDOW, window);
	if (rate)
		nl_put_u64(&m, TCP_CIRCUIT_A_RATE, rate);
	talk(&m);
}

static void del_object(void)
{
	static struct nl_message m;

	nl_begin(&nl, &m, TCP_CIRCUIT_CMD_DEL, 0);
	nl_put_string(&m, TCP_CIRCUIT_A_NAME, "loopback");
	talk(&m);
}

/* Whether @fd, one of two sockets in the circuit, has this window and says so of the circuit */
static bool is_of(int fd, const char *name, uint32_t window, uint32_t source,
		  uint64_t rate)
{
	struct tcp_circuit_info info = get_info(fd);

	return info.tci_fcwnd == window && info.tci_source == source &&
	       info.tci_rate == rate && !strcmp(info.tci_name, name) &&
	       info.tci_id && info.tci_sockets == 2 &&
	       kernel_window(fd) == shared(window, 2);
}

/* Live sockets follow the table when they next send: a byte each way. */
static void exchange(int a, int b)
{
	char byte = 0;

	if (send(a, &byte, 1, 0) != 1 || recv(b, &byte, 1, 0) != 1 ||
	    send(b, &byte, 1, 0) != 1 || recv(a, &byte, 1, 0) != 1)
		tap_bail("a byte each way");
}

static void belongs_to(const char *who, const char *what, int fd,
		       const char *name, uint32_t window, uint32_t source,
		       uint64_t rate)
{
	struct tcp_circuit_info info;
	char bad[250] = "";

	for (int tries = 0; tries < 200; tries++) {
		if (is_of(fd, name, window, source, rate))
			break;
		usleep(10000);
	}
	info = get_info(fd);
	if (!is_of(fd, name, window, source, rate))
		snprintf(bad, sizeof(bad),
			 "expected '%s' of 2 sockets, %u from source %u, %llu bytes/s, snd_cwnd %u; got '%.31s' (id %u) of %u, %u from %u, %llu, snd_cwnd %u",
			 name, window, source, (unsigned long long)rate,
			 shared(window, 2), info.tci_name, info.tci_id,
			 info.tci_sockets, info.tci_fcwnd, info.tci_source,
			 (unsigned long long)info.tci_rate, kernel_window(fd));
	point(who, what, bad);
}

static void objects(enum family family)
{
	int listener = new_socket(family), client = new_socket(family), child;
	const char *who = family_name[family];

	new_object(OBJECT_WINDOW, OBJECT_RATE);
	start_listening(listener, family);
	connect_to(client, listener);
	child = accept_from(listener);
	exchange(client, child);
	belongs_to(who, "a new connection has its circuit's window and rate",
		   client, "loopback", OBJECT_WINDOW,
		   TCP_CIRCUIT_SOURCE_CIRCUIT, OBJECT_RATE);
	belongs_to(who, "so has what was accepted", child, "loopback",
		   OBJECT_WINDOW, TCP_CIRCUIT_SOURCE_CIRCUIT, OBJECT_RATE);
	set_window(client, 77);
	check_window(who, "the administrator's option comes before the circuit",
		     client, 77, TCP_CIRCUIT_SOURCE_SOCKET, 1);
	set_window(client, 0);
	new_object(OBJECT_WINDOW / 2, 0);
	exchange(client, child);
	belongs_to(who, "the circuit was replaced: a live connection follows",
		   client, "loopback", OBJECT_WINDOW / 2,
		   TCP_CIRCUIT_SOURCE_CIRCUIT, 0);
	del_object();
	exchange(client, child);
	belongs_to(who, "and it was removed: the namespace's window again",
		   client, "", NETNS_FCWND, TCP_CIRCUIT_SOURCE_NETNS, 0);
	new_object(OBJECT_WINDOW, 0);
	exchange(client, child);
	belongs_to(who, "one is made: a live connection belongs to it", client,
		   "loopback", OBJECT_WINDOW, TCP_CIRCUIT_SOURCE_CIRCUIT, 0);
	del_object();
	close(child);
	close(client);
	close(listener);
}

/* --- the unprivileged ------------------------------------------------------ */

static void write_sysctl(const char *name, const char *value)
{
	char path[80];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", name);
	f = fopen(path, "w");
	if (!f || fputs(value, f) < 0 || fclose(f))
		tap_bail(name);
}

/* Sockets made meanwhile belong to @user; leaving uid 0 drops the effective capabilities. */
static void become(uid_t user)
{
	if (seteuid(user))
		tap_bail("seteuid");
}

static int ask_as_nobody(int fd, uint32_t window)
{
	int err;

	become(NOBODY);
	err = set_window(fd, window);
	become(0);
	return err;
}

static void nobody_asks(int fd, const char *state, uint32_t window, int expected)
{
	struct tcp_circuit_info before = get_info(fd), after;
	char what[100], bad[160] = "";
	int err = ask_as_nobody(fd, window);

	after = get_info(fd);
	if (err != expected || (err && !same_info(fd, &before)))
		snprintf(bad, sizeof(bad), "expected %s, got %s",
			 error_name(expected), error_name(err));
	else if (!err && (after.tci_asked != window ||
			  after.tci_source == TCP_CIRCUIT_SOURCE_SOCKET))
		snprintf(bad, sizeof(bad),
			 "expected %u asked and no window of its own; got %u, source %u",
			 window, after.tci_asked, after.tci_source);
	snprintf(what, sizeof(what), "%s: asks for %u: %s", state, window,
		 error_name(expected));
	point("unprivileged", what, bad);
}

/* A bound does not change the circuit's window; it cuts this socket's share. */
static void bounded(int fd, const char *what, uint32_t fcwnd, uint32_t source,
		    uint32_t snd_cwnd)
{
	struct tcp_circuit_info info = get_info(fd);
	char bad[160] = "";

	if (info.tci_fcwnd != fcwnd || info.tci_source != source ||
	    kernel_window(fd) != snd_cwnd ||
	    get_u32(fd, TCP_CIRCUIT_FCWND) != fcwnd)
		snprintf(bad, sizeof(bad),
			 "expected %u from source %u, snd_cwnd %u; got %u (get: %u) from %u, snd_cwnd %u",
			 fcwnd, source, snd_cwnd, info.tci_fcwnd,
			 get_u32(fd, TCP_CIRCUIT_FCWND), info.tci_source,
			 kernel_window(fd));
	point("unprivileged", what, bad);
}

/* Out of range is EINVAL for any user: the range is checked before the privilege. */
static void out_of_range(int fd, const char *state)
{
	nobody_asks(fd, state, TCP_CIRCUIT_FCWND_LIMIT + 1, EINVAL);
	nobody_asks(fd, state, UINT32_MAX, EINVAL);
}

static void before_connect(int fd)
{
	const char *state = "not connected";

	nobody_asks(fd, state, 1, 0);
	nobody_asks(fd, state, NETNS_FCWND + 1, 0);
	nobody_asks(fd, state, TCP_CIRCUIT_FCWND_LIMIT, 0);
	out_of_range(fd, state);
}

static void in_a_circuit(int fd)
{
	const char *state = "a circuit of 60";

	bounded(fd, "too much asked before connect() is cut by it", NETNS_FCWND,
		TCP_CIRCUIT_SOURCE_NETNS, shared(NETNS_FCWND, 2));
	nobody_asks(fd, state, NETNS_FCWND, 0);
	bounded(fd, "all of it is no more than a share", NETNS_FCWND,
		TCP_CIRCUIT_SOURCE_NETNS, shared(NETNS_FCWND, 2));
	nobody_asks(fd, state, NETNS_FCWND + 1, EPERM);
	nobody_asks(fd, state, TCP_CIRCUIT_FCWND_LIMIT, EPERM);
	out_of_range(fd, state);
	nobody_asks(fd, state, 5, 0);
	bounded(fd, "5 bound its share", NETNS_FCWND, TCP_CIRCUIT_SOURCE_NETNS, 5);
	nobody_asks(fd, state, 0, 0);
	bounded(fd, "0 takes that back", NETNS_FCWND, TCP_CIRCUIT_SOURCE_NETNS,
		shared(NETNS_FCWND, 2));
	write_sysctl("tcp_circuit_fcwnd_max", "500");
	nobody_asks(fd, "... and fcwnd_max 500", NETNS_FCWND + 1, EPERM);
	write_sysctl("tcp_circuit_fcwnd_max", "0");
}

/* The kernel refuses one to a process in a chroot, as in the virtual-time machine: leave it. */
static int enter_user_namespace(void)
{
	int mounts = open("/proc/self/ns/mnt", O_RDONLY);

	if (mounts < 0 || setns(mounts, CLONE_NEWNS))
		return -1;
	return unshare(CLONE_NEWUSER);
}

/* Compares what was set and what gives the window: all else may change by itself. */
static bool same_settings(int fd, const struct tcp_circuit_info *before)
{
	struct tcp_circuit_info now = get_info(fd);

	return now.tci_fcwnd == before->tci_fcwnd && now.tci_source == before->tci_source &&
	       now.tci_asked == before->tci_asked && now.tci_id == before->tci_id;
}

/* Capabilities in a user namespace of one's own do not apply to this network. */
static void king_of_nothing(int fd)
{
	struct tcp_circuit_info before = get_info(fd);
	char bad[160] = "";
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (enter_user_namespace())
			_exit(255);
		_exit(set_window(fd, NETNS_FCWND + 1));
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 255)
		tap_bail("a user namespace");
	if (WEXITSTATUS(status) != EPERM || !same_settings(fd, &before))
		snprintf(bad, sizeof(bad), "expected EPERM and no change, got %s%s",
			 error_name(WEXITSTATUS(status)),
			 same_settings(fd, &before) ? "" : " and a change");
	point("unprivileged", "root of another user namespace asks for 61: EPERM",
	      bad);
}

/* User nobody may give up the window that root set, but neither keep nor enlarge it. */
static void roots_gift(int fd)
{
	const char *state = "a window of root's";

	set_window(fd, 1000);
	nobody_asks(fd, state, 1001, EPERM);
	nobody_asks(fd, state, NETNS_FCWND + 1, EPERM);
	nobody_asks(fd, state, 17, 0);
	bounded(fd, "instead of root's, a bound", NETNS_FCWND,
		TCP_CIRCUIT_SOURCE_NETNS, 17);
	set_window(fd, 1000);
	nobody_asks(fd, state, 0, 0);
	bounded(fd, "root's given back", NETNS_FCWND, TCP_CIRCUIT_SOURCE_NETNS,
		shared(NETNS_FCWND, 2));
}

static void without_any(int fd)
{
	const char *state = "nothing gives a window";
	char bad[80] = "";

	nobody_asks(fd, state, 1, EPERM);
	nobody_asks(fd, state, 0, 0);
	out_of_range(fd, state);
	write_sysctl("tcp_circuit_fcwnd_max", "500");
	nobody_asks(fd, "fcwnd_max 500", 501, EPERM);
	nobody_asks(fd, "fcwnd_max 500", 500, 0);
	bounded(fd, "fcwnd_max gives it", 500, TCP_CIRCUIT_SOURCE_USER, 500);
	nobody_asks(fd, "fcwnd_max 500", 0, 0);
	if (get_info(fd).tci_source != TCP_CIRCUIT_SOURCE_NONE)
		snprintf(bad, sizeof(bad), "expected no source, got %u",
			 get_info(fd).tci_source);
	point("unprivileged", "given back: nothing gives a window", bad);
}

static void connections_of_nobody(void)
{
	int listener = new_socket(V4), client, child;

	set_algorithm(listener, "reno");	/* its children share nothing */
	start_listening(listener, V4);
	become(NOBODY);
	client = new_socket(V4);
	become(0);
	before_connect(client);
	connect_to(client, listener);
	child = accept_from(listener);
	set_algorithm(child, "circuit");	/* the second of the circuit */
	exchange(client, child);
	in_a_circuit(client);
	king_of_nothing(client);
	roots_gift(client);
	set_algorithm(child, "reno");
	write_sysctl("tcp_circuit_fcwnd", "0");
	without_any(client);
	write_sysctl("tcp_circuit_fcwnd_max", "0");
	write_sysctl("tcp_circuit_fcwnd", "60");
	close(child);
	close(client);
	close(listener);
}

#define GIFTED	8	/* sockets of one user to one peer */

/* Each socket asks for all of fcwnd_max; together they get it once. */
static void gift_is_shared(void)
{
	int listener = new_socket(V4), client[GIFTED], child[GIFTED];
	struct tcp_circuit_info info;
	uint32_t sum = 0, errors = 0;
	char bad[160] = "";

	write_sysctl("tcp_circuit_fcwnd", "0");
	write_sysctl("tcp_circuit_fcwnd_max", "400");
	set_algorithm(listener, "reno");
	start_listening(listener, V4);
	become(NOBODY);
	for (int i = 0; i < GIFTED; i++) {
		client[i] = new_socket(V4);
		if (i % 2)
			errors += !!set_window(client[i], 400);
		connect_to(client[i], listener);
		child[i] = accept_from(listener);
		if (i % 2 == 0)
			errors += !!set_window(client[i], 400);
	}
	become(0);
	for (int i = 0; i < GIFTED; i++) {
		exchange(client[i], child[i]);
		sum += kernel_window(client[i]);
	}
	info = get_info(client[0]);
	if (errors || sum > 400 + GIFTED || info.tci_sockets != GIFTED ||
	    info.tci_source != TCP_CIRCUIT_SOURCE_USER || info.tci_fcwnd != 400)
		snprintf(bad, sizeof(bad),
			 "expected 400 from 6 of %d sockets, no errors; got %u from %u of %u, windows' sum %u, %u errors",
			 GIFTED, info.tci_fcwnd, info.tci_source,
			 info.tci_sockets, sum, errors);
	point("unprivileged", "fcwnd_max is one window for all of a user's sockets",
	      bad);
	for (int i = 0; i < GIFTED; i++) {
		close(client[i]);
		close(child[i]);
	}
	close(listener);
	write_sysctl("tcp_circuit_fcwnd_max", "0");
	write_sysctl("tcp_circuit_fcwnd", "60");
}

/* Accepted sockets inherit the listener's bound. */
static void inherit_bound(void)
{
	int listener = new_socket(V4), client = new_socket(V4), child;

	nobody_asks(listener, "a listener to be", 7, 0);
	start_listening(listener, V4);
	nobody_asks(listener, "listening", 8, 0);
	set_algorithm(client, "reno");
	connect_to(client, listener);
	child = accept_from(listener);
	bounded(child, "a child inherits its listener's bound", NETNS_FCWND,
		TCP_CIRCUIT_SOURCE_NETNS, 8);
	close(child);
	close(client);
	close(listener);
}

static void unprivileged(void)
{
	connections_of_nobody();
	gift_is_shared();
	inherit_bound();
}

int main(void)
{
	if (nl_open(&nl, TCP_CIRCUIT_GENL_NAME))
		tap_bail("the family tcp_circuit");
	for (enum family family = V4; family < FAMILIES; family++) {
		int fd = new_socket(family);

		set_algorithm(fd, "circuit");
		matrix(fd, family, "not connected", 0);
		close(fd);
		inherit(family);
		inherit_default(family);
		reconnect(family);
		objects(family);
	}
	strangers();
	unprivileged();
	return tap_finish();
}

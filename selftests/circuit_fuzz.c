// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_fuzz: random calls on a pool of sockets, and what must hold after each
 *
 *	circuit_fuzz [-s SEED] [-n CALLS] [-k]
 *
 * Runs as root in a namespace of its own with the loopback up, circuit loaded,
 * netem and ss at hand.  The same seed gives the same calls.  A call is one of
 * the table actions[]; a quarter of them is done as nobody.  The calls come in
 * phases: a storm, in which the loopback loses most of what a few steady streams
 * send and the breaker trips; one with a steady window; and one in which nothing
 * is steady.  Circuits come and go in all of them; in the first two each has the
 * steady window.  What must hold:
 *
 *	every answer	tci_fcwnd in 1..TCP_CIRCUIT_WINDOW_LIMIT, or 0 where nothing
 *			gives a window; the kernel's window of a socket in a circuit
 *			in 1..TCP_CIRCUIT_FCWND_LIMIT; share <= total
 *	a failed call	changes nothing; errno is one the header names
 *	a good one	holds, and gave nobody more than the header allows
 *	a circuit	is what was asked for last; nobody changes any
 *	a socket	that has looked belongs to the longest match
 *	sysctls		within their bounds, whatever was written
 *	steady window	(also in a storm) total <= window + sockets + the ten of those
 *			whose breaker has tripped
 *	tripped		a stream that has looked holds no more than the breaker left
 *	end of a phase	all sockets closed, all circuits removed: none is left
 *
 * Prints NAME=value for the number of calls, of those that succeeded, of changed
 * circuits, of looks at a window that was cut, of connections and of trips, and of
 * broken rules, each of which is described in a line "broken: ...".
 */
#include <fcntl.h>
#include <getopt.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "nl.h"
#include "random.h"
#include "rules.h"
#include "sock.h"

#define SOCKETS		24
#define NOBODY		65534
#define PHASE		6000	/* calls */
#define STREAMS		4	/* of a storm, beside the pool */
#define STORM_LOSS	60	/* % */
#define COUNTED		1000000000	/* segments: no circuit here carries more */
#define SLOW		1000000	/* bytes/s: what has a pace below may never end */
#define ROOM		8192	/* bytes of a caller's buffer, before a guard page */
#define ESTABLISHED	1	/* tcpi_state, of the kernel's own header */
#define CLOSED		7
#define CUT_MOST	10	/* segments that a breaker leaves at most */
#define SYSCTLS		"/proc/sys/net/ipv4/tcp_circuit_"
#define PARAMETER	"/sys/module/tcp_circuit/parameters/fcwnd"

enum kind { FREE, PLAIN, LISTENER, CONNECTED };
enum phase { STORM, STEADY, ANYTHING, PHASES };

static struct {
	int	fd;
	int	family;		/* AF_INET, AF_INET6; mapped: AF_INET6 to a v4 */
	enum kind	kind;
	struct tcp_circuit_info	last;	/* of what was asked, as it was last seen */
	bool	known;		/* last holds */
} pool[SOCKETS];

static struct {
	const char		*name;
	unsigned long long	least, most;
} const sysctls[] = {
	{ "fcwnd", 0, TCP_CIRCUIT_WINDOW_LIMIT },
	{ "breaker", 0, 1000 },
	{ "breaker_ms", 500, 600000 },
	{ "fcwnd_max", 0, TCP_CIRCUIT_FCWND_LIMIT },
	{ "breaker_quiet", 0, 604800 },
};

/* The first of them that a phase of this kind leaves to chance */
static const unsigned int unsteady[PHASES] = {
	[STORM] = 3, [STEADY] = 1, [ANYTHING] = 0,
};

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static struct {
	int	from, to;	/* fds; -1: none */
} streams[STREAMS];

static struct nl nl;
static struct nl_message message;
static uint64_t calls, good, cut, changes;
static uint64_t opened, trips;		/* the namespace's counters */
static enum phase phase;
static uint32_t steady;		/* the namespace's window in this phase, or 0 */
static bool orphans_die;	/* by ss -K, in this kernel */
static bool nobody;		/* for a hundred calls now and then */
static int sysctl_fd[16];	/* one for each of sysctls[] */
static char *room, *no_page;	/* ROOM bytes up to a page that cannot be touched */

/* --- chance ------------------------------------------------------------------ */

/* Ends of ranges, and what is beside them */
static uint64_t value(void)
{
	static const uint64_t ends[] = {
		0, 1, 2, 10, 60, 1000, 65536, TCP_CIRCUIT_FCWND_LIMIT,
		TCP_CIRCUIT_WINDOW_LIMIT, INT32_MAX, UINT32_MAX,
		TCP_CIRCUIT_RATE_LIMIT, INT64_MAX, UINT64_MAX, 125000000,
	};

	switch (below(4)) {
	case 0: return ends[below(COUNT(ends))] + below(3) - 1;
	case 1: return ends[below(COUNT(ends))];
	case 2: return chance() >> below(64);
	default: return below(200);
	}
}

/* --- rules ------------------------------------------------------------------- */

static void check_counts(const struct tcp_circuit_info *i)
{
	/* Beside the window, those share so much whose breaker has tripped. */
	uint32_t more = i->tci_sockets + CUT_MOST;

	if (i->tci_cwnd_share > i->tci_cwnd_total)
		rule("share %u of %u", i->tci_cwnd_share, i->tci_cwnd_total);
	if (i->tci_cwnd_total > TCP_CIRCUIT_WINDOW_LIMIT + more)
		rule("total %u by %u", i->tci_cwnd_total, i->tci_sockets);
	if (i->tci_delivered > COUNTED || i->tci_lost > COUNTED)
		rule("%llu delivered, %llu lost",
		     (unsigned long long)i->tci_delivered,
		     (unsigned long long)i->tci_lost);
	if (i->tci_hungry > i->tci_sockets)
		rule("%u hungry of %u", i->tci_hungry, i->tci_sockets);
	if (steady && i->tci_cwnd_total > steady + more)
		rule("total %u by %u of a window of %u", i->tci_cwnd_total,
		     i->tci_sockets, steady);
}

static void check_info(const struct tcp_circuit_info *i)
{
	bool none = i->tci_source == TCP_CIRCUIT_SOURCE_NONE;

	if (none != !i->tci_fcwnd || i->tci_fcwnd > TCP_CIRCUIT_WINDOW_LIMIT)
		rule("tci_fcwnd %u from source %u", i->tci_fcwnd, i->tci_source);
	/* Without a circuit it is dead or not connected: another one's window. */
	if (i->tci_sockets && (i->tci_snd_cwnd < 1 ||
			       i->tci_snd_cwnd > TCP_CIRCUIT_FCWND_LIMIT))
		rule("tci_snd_cwnd %u", i->tci_snd_cwnd);
	if (i->tci_source > TCP_CIRCUIT_SOURCE_USER ||
	    i->tci_state > TCP_CIRCUIT_STREAM_HUNGRY ||
	    i->tci_breaker > TCP_CIRCUIT_BREAKER_TRIPPED ||
	    i->tci_reason > TCP_CIRCUIT_REASON_SHORTFALL)
		rule("source %u, state %u, breaker %u, reason %u",
		     i->tci_source, i->tci_state, i->tci_breaker,
		     i->tci_reason);
	if (!i->tci_id != !i->tci_sockets)
		rule("id %u of a circuit of %u", i->tci_id, i->tci_sockets);
	check_counts(i);
}

/* What the socket says of itself; false: circuit does not run it. */
static bool look(int slot, struct tcp_circuit_info *info)
{
	pool[slot].known = pool[slot].kind != FREE &&
			   get_circuit_info(pool[slot].fd, info);
	if (!pool[slot].known)
		return false;
	check_info(info);
	pool[slot].last = *info;
	return true;
}

static void check_socket(int slot)
{
	struct tcp_circuit_info info;

	look(slot, &info);
}

static int state_of(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) ?
		-1 : info.tcpi_state;
}

/* Of one that was made to look at its window between the two; a dead one does not. */
static void check_cut(int fd, const struct tcp_circuit_info *before,
		      const struct tcp_circuit_info *after)
{
	uint32_t most = after->tci_fcwnd / 10;

	if (state_of(fd) == CLOSED || !after->tci_sockets ||
	    before->tci_trips != after->tci_trips ||
	    before->tci_breaker != TCP_CIRCUIT_BREAKER_TRIPPED ||
	    after->tci_breaker != TCP_CIRCUIT_BREAKER_TRIPPED)
		return;
	most = most < 1 ? 1 : most > CUT_MOST ? CUT_MOST : most;
	cut++;
	if (after->tci_snd_cwnd > most)
		rule("tripped: %u segments, at most %u of %u", after->tci_snd_cwnd,
		     most, after->tci_fcwnd);
}

/* --- files ------------------------------------------------------------------- */

static ssize_t write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY), err;
	ssize_t done;

	if (fd < 0)
		bail(path);
	done = write(fd, text, len);
	err = errno;
	close(fd);
	errno = err;
	return done;
}

static size_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	size_t len = 0;
	ssize_t done;

	if (fd < 0)
		bail(path);
	while (len < size - 1 &&
	       (done = read(fd, text + len, size - 1 - len)) > 0)
		len += done;
	text[len] = '\0';
	close(fd);
	return len;
}

static unsigned long long read_number(const char *path)
{
	char text[64];

	read_file(path, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

static void write_number(const char *path, unsigned long long number)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%llu", number);

	if (write_file(path, text, len) != len)
		bail(path);
}

/* --- sockets ----------------------------------------------------------------- */

static void use(int fd, const char *algorithm)
{
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, algorithm,
		   strlen(algorithm));
}

static void drop(int slot)
{
	if (pool[slot].kind == FREE)
		return;
	reset_on_close(pool[slot].fd);
	close(pool[slot].fd);
	pool[slot].kind = FREE;
	pool[slot].fd = -1;
}

static void put(int slot, int fd, int family, enum kind kind)
{
	drop(slot);
	if (fd < 0)
		return;
	pool[slot].fd = fd;
	pool[slot].family = family;
	pool[slot].known = false;
	pool[slot].kind = kind;
}

/* One of ours; always the same for the same seed */
static int any_socket(void)
{
	int slot = below(SOCKETS);

	for (int i = 0; i < SOCKETS; i++, slot = (slot + 1) % SOCKETS)
		if (pool[slot].kind != FREE)
			return slot;
	put(slot, socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), AF_INET,
	    PLAIN);
	return slot;
}

static int find_kind(enum kind kind)
{
	int slot = below(SOCKETS);

	for (int i = 0; i < SOCKETS; i++, slot = (slot + 1) % SOCKETS)
		if (pool[slot].kind == kind)
			return slot;
	return -1;
}

static bool do_open(void)
{
	int family = below(2) ? AF_INET : AF_INET6;
	int slot = below(SOCKETS);

	put(slot, socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0), family, PLAIN);
	if (pool[slot].kind != FREE && below(4))
		use(pool[slot].fd, "circuit");
	return pool[slot].kind != FREE;
}

/*
 * What waits for a pace of a byte a second is sent long after the end of the phase,
 * and what is closed already is not in every kernel ended by ss -K.
 */
static bool may_linger(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
	       (!info.tcpi_notsent_bytes || info.tcpi_pacing_rate >= SLOW);
}

static bool do_close(void)
{
	int slot = any_socket();

	if (below(2) || !may_linger(pool[slot].fd))
		drop(slot);
	close(pool[slot].fd);
	pool[slot].kind = FREE;
	pool[slot].fd = -1;
	return true;
}

static bool do_listen(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	int slot = any_socket(), fd = pool[slot].fd;

	if (pool[slot].kind != PLAIN || pool[slot].family != AF_INET6)
		return false;
	if (bind(fd, (void *)&any, sizeof(any)) || listen(fd, 8))
		return false;
	pool[slot].kind = LISTENER;
	return true;
}

static socklen_t address(int family, uint16_t port, struct sockaddr_in6 *a6)
{
	const char *mapped = family == AF_INET ? "" : "::ffff:";
	char text[32];

	snprintf(text, sizeof(text), "%s127.0.0.%u", mapped, 1 + below(3));
	if (family == AF_INET6 && below(2))
		return socket_address("::1", port, a6);
	return socket_address(text, port, a6);
}

/* To a listener of the pool; on loopback it is accepted at once. */
static bool do_connect(void)
{
	int listener = find_kind(LISTENER), slot = find_kind(PLAIN);
	struct sockaddr_in6 to, own;
	socklen_t len = sizeof(own);
	int fd;

	if (listener < 0 || slot < 0)
		return do_open() && do_listen();
	if (getsockname(pool[listener].fd, (void *)&own, &len))
		bail("getsockname");
	len = address(pool[slot].family, own.sin6_port, &to);
	connect(pool[slot].fd, (void *)&to, len);
	pool[slot].known = false;	/* a refused one forgets */
	pool[slot].kind = CONNECTED;
	fd = accept4(pool[listener].fd, NULL, NULL, SOCK_NONBLOCK);
	if (fd >= 0)
		put(below(SOCKETS), fd, AF_INET6, CONNECTED);
	return fd >= 0;
}

static bool do_disconnect(void)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	int slot = any_socket();

	if (connect(pool[slot].fd, &nowhere, sizeof(nowhere)))
		return false;
	pool[slot].known = false;
	pool[slot].kind = PLAIN;
	return true;
}

static bool do_send(void)
{
	static char data[30000];
	int slot = any_socket();

	return send(pool[slot].fd, data, below(sizeof(data)),
		    MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

static bool do_receive(void)
{
	static char data[1 << 20];
	int slot = find_kind(CONNECTED);

	return slot >= 0 && recv(pool[slot].fd, data, sizeof(data),
				 MSG_DONTWAIT | MSG_TRUNC) > 0;
}

static bool do_shutdown(void)
{
	int slot = any_socket();

	pool[slot].known = false;	/* ... as does one that listened */
	return !shutdown(pool[slot].fd, below(3));
}

static bool do_algorithm(void)
{
	static const char *const names[] = { "circuit", "circuit", "reno",
					     "cubic", "bbr", "circui", "" };
	int slot = any_socket(), i = below(COUNT(names));

	/* When root names one that it has not got, the kernel runs modprobe. */
	if (i >= 5 && !nobody && below(400))
		i = 0;
	use(pool[slot].fd, names[i]);
	pool[slot].known = false;
	return true;
}

/* Options that meet ours in the kernel */
static bool do_neighbour(void)
{
	static const struct {
		int	level, name;
	} others[] = {
		{ SOL_SOCKET, SO_MAX_PACING_RATE }, { SOL_SOCKET, SO_SNDBUF },
		{ SOL_SOCKET, SO_RCVBUF }, { SOL_SOCKET, SO_PRIORITY },
		{ IPPROTO_TCP, TCP_WINDOW_CLAMP }, { IPPROTO_TCP, TCP_MAXSEG },
		{ IPPROTO_TCP, TCP_NODELAY }, { IPPROTO_TCP, TCP_CORK },
		{ IPPROTO_TCP, TCP_QUICKACK }, { IPPROTO_IP, IP_TOS },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT }, { IPPROTO_IP, IP_MTU_DISCOVER },
		{ IPPROTO_IPV6, IPV6_ADDRFORM }, { IPPROTO_TCP, TCP_USER_TIMEOUT },
	};
	int slot = any_socket(), i = below(COUNT(others)), err;
	uint64_t v = value();

	if (others[i].name == IPV6_ADDRFORM)
		v = AF_INET;
	err = setsockopt(pool[slot].fd, others[i].level, others[i].name, &v,
			 below(2) ? 4 : 8);
	if (others[i].name == IPV6_ADDRFORM && !err)
		pool[slot].family = AF_INET;
	if (!below(8))
		check_socket(slot);
	return !err;
}

/* --- circuits ----------------------------------------------------------------- */

/* Each has the same prefixes always, of which no two are alike. */
static struct object {
	const char	*name;
	struct {
		int		family;
		const char	*address;
		uint8_t		len;
	} prefixes[2];
	uint32_t	mark;		/* no socket here has one */
	bool		in_storms;	/* none of the storm's streams belongs to it */
	bool		there;
	uint32_t	window;
	uint64_t	rate;
} objects[] = {
	{ .name = "host1", .prefixes = { { AF_INET, "127.0.0.1", 32 } } },
	{ .name = "host2", .prefixes = { { AF_INET, "127.0.0.2", 32 } },
	  .in_storms = true },
	{ .name = "v6", .prefixes = { { AF_INET6, "::1", 128 } },
	  .in_storms = true },
	{ .name = "net", .prefixes = { { AF_INET, "127.0.0.0", 8 },
				       { AF_INET6, "::", 64 } } },
	{ .name = "all", .prefixes = { { AF_INET, "0.0.0.0", 0 },
				       { AF_INET6, "::", 0 } } },
	{ .name = "marked", .prefixes = { { AF_INET, "127.0.0.1", 32 },
					  { AF_INET6, "::1", 128 } },
	  .mark = 7, .in_storms = true },
};

#define OBJECTS_END	(objects + COUNT(objects))

static bool prefix_holds(const struct object *o, int i, int family,
			 const unsigned char *address)
{
	unsigned char prefix[16];
	int len = o->prefixes[i].len;

	if (o->prefixes[i].family != family)
		return false;
	inet_pton(family, o->prefixes[i].address, prefix);
	if (memcmp(prefix, address, len / 8))
		return false;
	return !(len % 8) ||
	       !((prefix[len / 8] ^ address[len / 8]) >> (8 - len % 8));
}

/* Name of the circuit that has the longest prefix of this address; "": none has. */
static const char *longest_match(int family, const unsigned char *address)
{
	const char *best = "";
	int longest = -1;

	for (struct object *o = objects; o < OBJECTS_END; o++)
		for (int i = 0; i < 2; i++) {
			if (!o->there || o->mark ||
			    o->prefixes[i].len <= longest ||
			    !prefix_holds(o, i, family, address))
				continue;
			longest = o->prefixes[i].len;
			best = o->name;
		}
	return best;
}

static const char *longest_match_of(int fd)
{
	struct sockaddr_in6 a6;
	socklen_t len = sizeof(a6);

	if (getpeername(fd, (void *)&a6, &len))
		return "";
	if (a6.sin6_family == AF_INET)
		return longest_match(AF_INET, (void *)
				     &((struct sockaddr_in *)&a6)->sin_addr);
	if (IN6_IS_ADDR_V4MAPPED(&a6.sin6_addr))
		return longest_match(AF_INET, a6.sin6_addr.s6_addr + 12);
	return longest_match(AF_INET6, a6.sin6_addr.s6_addr);
}

static struct object *any_object(void)
{
	for (;;) {
		struct object *o = objects + below(COUNT(objects));

		if (phase != STORM || o->in_storms)
			return o;
	}
}

static int talk(nl_handler handler, void *arg)
{
	int err = -nl_talk(&nl, &message, handler, arg);

	if (err && err != EEXIST && err != ENOENT && err != EPERM &&
	    err != EINVAL && err != ERANGE)
		rule("netlink: %s (%s)", strerror(err), nl.text);
	if (err && err != EPERM && err != ENOENT && !*nl.text)
		rule("netlink: %s, and no word why", strerror(err));
	return err;
}

static void put_prefixes(const struct object *o)
{
	unsigned char address[16];

	for (int i = 0; i < 2 && o->prefixes[i].address; i++) {
		size_t size = nl_parse_address(o->prefixes[i].address, address);

		nl_put_prefix(&message, address, size, o->prefixes[i].len);
	}
}

static bool is_window(uint64_t v)
{
	return v >= 1 && v <= TCP_CIRCUIT_WINDOW_LIMIT;
}

/* What has to come of it; 1: some error, the kernel's choice */
static int error_of_new(const struct object *o, uint16_t flags, uint32_t window,
			uint64_t rate)
{
	if (nobody)
		return -EPERM;
	if (!is_window(window) || rate > TCP_CIRCUIT_RATE_LIMIT)
		return 1;
	if (o->there && flags & NLM_F_EXCL)
		return -EEXIST;
	if (!o->there && !(flags & NLM_F_CREATE))
		return -ENOENT;
	return 0;
}

/* A rate that lets a phase come to its end; in a storm none, as it would calm it */
static uint64_t some_rate(void)
{
	uint64_t rate = value();

	if (phase == STORM || below(2))
		return 0;
	return rate < SLOW ? SLOW + rate : rate;
}

static bool do_new(void)
{
	static const uint16_t flags[] = { NLM_F_CREATE, NLM_F_REPLACE,
					  NLM_F_CREATE | NLM_F_EXCL,
					  NLM_F_CREATE | NLM_F_REPLACE };
	struct object *o = any_object();
	uint16_t flag = flags[below(COUNT(flags))];
	uint32_t window = steady && below(8) ? steady : value();
	uint64_t rate = some_rate();
	int expected, err;

	if (steady && is_window(window))
		window = steady;
	expected = error_of_new(o, flag, window, rate);
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_NEW, flag);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
	put_prefixes(o);
	nl_put_u32(&message, TCP_CIRCUIT_A_WINDOW, window);
	if (rate || below(2))
		nl_put_u64(&message, TCP_CIRCUIT_A_RATE, rate);
	if (o->mark)
		nl_put_u32(&message, TCP_CIRCUIT_A_MARK, o->mark);
	err = talk(NULL, NULL);
	if (expected > 0 ? !err : err != -expected)
		rule("new %s, flags 0x%x, window %u, rate %llu: %s (%s)",
		     o->name, flag, window, (unsigned long long)rate,
		     strerror(err), nl.text);
	if (err)
		return false;
	o->there = true;
	o->window = window;
	o->rate = rate;
	changes++;
	return true;
}

static bool do_del(void)
{
	struct object *o = any_object();
	int expected = nobody ? EPERM : o->there ? 0 : ENOENT, err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_DEL, 0);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
	err = talk(NULL, NULL);
	if (err != expected)
		rule("del %s: %s (expected %s)", o->name, strerror(err),
		     strerror(expected));
	if (!err)
		o->there = false;
	changes += !err;
	return !err;
}

static const struct object *object_of(const struct nlmsghdr *answer)
{
	const struct nlattr *name = nl_find(answer, TCP_CIRCUIT_A_NAME);

	for (struct object *o = objects; name && o < OBJECTS_END; o++)
		if (!strcmp(o->name, nl_data(name)))
			return o;
	return NULL;
}

/* One circuit, as GET shows it; *@arg: how many there were */
static int check_circuit(const struct nlmsghdr *answer, void *arg)
{
	const struct object *o = object_of(answer);
	bool auto_made = nl_find(answer, TCP_CIRCUIT_A_AUTO);
	uint32_t sockets = nl_number_of(answer, TCP_CIRCUIT_A_SOCKETS);
	uint32_t total = nl_number_of(answer, TCP_CIRCUIT_A_CWND_TOTAL);
	uint64_t lost = nl_number_of(answer, TCP_CIRCUIT_A_LOST);
	int *count = arg;

	++*count;
	if (!auto_made && (!o || !o->there))
		rule("there is a circuit that was not made");
	if (auto_made && nobody)
		rule("nobody is shown a peer");
	if (o && (nl_number_of(answer, TCP_CIRCUIT_A_WINDOW) != o->window ||
		  nl_number_of(answer, TCP_CIRCUIT_A_RATE) != o->rate))
		rule("%s has %llu segments, %llu bytes/s", o->name,
		     (unsigned long long)nl_number_of(answer, TCP_CIRCUIT_A_WINDOW),
		     (unsigned long long)nl_number_of(answer, TCP_CIRCUIT_A_RATE));
	if (nl_number_of(answer, TCP_CIRCUIT_A_HUNGRY) > sockets ||
	    nl_number_of(answer, TCP_CIRCUIT_A_DELIVERED) > COUNTED ||
	    lost > COUNTED || total > TCP_CIRCUIT_WINDOW_LIMIT + sockets ||
	    (!sockets && total))
		rule("%s: total %u by %u sockets, %llu lost",
		     o ? o->name : "a peer's", total, sockets,
		     (unsigned long long)lost);
	return 0;
}

/* How many there are, each checked */
static int circuits(void)
{
	int count = 0, err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	err = talk(check_circuit, &count);
	if (err)
		rule("dump: %s (%s)", strerror(err), nl.text);
	return count;
}

static bool do_get_name(void)
{
	struct object *o = any_object();
	int expected = o->there ? 0 : ENOENT, count = 0, err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, 0);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
	err = talk(check_circuit, &count);
	if (err != expected || count != !err)
		rule("get %s: %s (expected %s), %d answers", o->name,
		     strerror(err), strerror(expected), count);
	return !err;
}

static int keep_name(const struct nlmsghdr *answer, void *arg)
{
	const struct object *o = object_of(answer);
	const char **name = arg;

	*name = o ? o->name : "";
	return 0;
}

/* Of the loopback's addresses, and one that no socket here is connected to */
static int put_address(unsigned char *address)
{
	static const char *const text[] = { "127.0.0.1", "127.0.0.2",
					    "127.0.0.3", "::1", "192.0.2.1",
					    "2001:db8::1" };
	const char *one = text[below(COUNT(text))];
	size_t size = nl_parse_address(one, address);

	nl_put(&message, TCP_CIRCUIT_A_ADDRESS, address, size);
	return size == 4 ? AF_INET : AF_INET6;
}

/* By address: the longest match, or what a peer's sockets share, or nothing */
static bool do_get_address(void)
{
	const char *name = "", *expected;
	unsigned char address[16];
	int err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, 0);
	expected = longest_match(put_address(address), address);
	err = talk(keep_name, &name);
	if (strcmp(name, expected) || (*expected && err) ||
	    (err && err != ENOENT && err != EPERM))
		rule("get by address: %s, '%s' (expected '%s')", strerror(err),
		     name, expected);
	return !err;
}

static bool do_reset(void)
{
	struct object *o = any_object();
	unsigned char address[16];
	int what = below(3), err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_RESET, 0);
	if (what == 0)
		nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
	if (what == 1)
		put_address(address);
	err = talk(NULL, NULL);
	if (nobody ? err != EPERM :
	    what == 0 ? err != (o->there ? 0 : ENOENT) :
	    err && (what == 2 || err != ENOENT))
		rule("reset %d: %s", what, strerror(err));
	return !err;
}

static int keep_stats(const struct nlmsghdr *answer, void *arg)
{
	uint32_t there = 0;

	(void)arg;
	for (struct object *o = objects; o < OBJECTS_END; o++)
		there += o->there;
	if (nl_number_of(answer, TCP_CIRCUIT_STATS_A_CIRCUITS) != there)
		rule("%llu circuits counted, %u were made", (unsigned long long)
		     nl_number_of(answer, TCP_CIRCUIT_STATS_A_CIRCUITS), there);
	if (nl_number_of(answer, TCP_CIRCUIT_STATS_A_TRIPS) < trips)
		rule("fewer trips than before");
	trips = nl_number_of(answer, TCP_CIRCUIT_STATS_A_TRIPS);
	opened = nl_number_of(answer, TCP_CIRCUIT_STATS_A_OPENED);
	return 0;
}

static bool do_stats(void)
{
	int err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_STATS, 0);
	err = talk(keep_stats, NULL);
	if (err && !nobody)
		rule("stats: %s", strerror(err));
	return !err;
}

/* One of another prefix than those, whatever bit of it is changed */
static struct object stranger = {
	.name = "stranger", .prefixes = { { AF_INET, "198.51.100.0", 24 } },
};

static int keep_stranger(const struct nlmsghdr *answer, void *arg)
{
	const struct nlattr *name = nl_find(answer, TCP_CIRCUIT_A_NAME);

	if (name && !nl_find(answer, TCP_CIRCUIT_A_AUTO) && !object_of(answer))
		snprintf(arg, TCP_CIRCUIT_NAME_LEN, "%s",
			 (const char *)nl_data(name));
	return 0;
}

static void remove_stranger(void)
{
	char name[TCP_CIRCUIT_NAME_LEN] = "";

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	talk(keep_stranger, name);
	if (!*name)
		return;
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_DEL, 0);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, name);
	if (talk(NULL, NULL))
		rule("del %s: %s", name, nl.text);
	changes++;
}

/* A good message but for one bit, or its end; the kernel says no, or takes it. */
static bool do_broken(void)
{
	size_t from = NLMSG_HDRLEN + GENL_HDRLEN, at;
	bool taken;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_NEW + below(5), NLM_F_CREATE);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, stranger.name);
	put_prefixes(&stranger);
	nl_put_u32(&message, TCP_CIRCUIT_A_WINDOW, 1 + below(1000));
	nl_put_u64(&message, TCP_CIRCUIT_A_RATE, below(1 << 30));
	at = from + below(message.header.nlmsg_len - from);
	if (below(2))
		message.bytes[at] ^= 1 << below(8);
	else
		message.header.nlmsg_len = at;
	taken = !nl_talk(&nl, &message, NULL, NULL);
	if (taken && !nobody)
		remove_stranger();
	return taken;
}

static bool do_netlink(void)
{
	switch (below(12)) {
	case 0: case 1: case 2: return do_new();
	case 3: case 4: return do_del();
	case 5: return circuits() > 0;
	case 6: return do_get_name();
	case 7: case 8: return do_get_address();
	case 9: return do_reset();
	case 10: return do_stats();
	default: return do_broken();
	}
}

static void remove_all(void)
{
	for (struct object *o = objects; o < OBJECTS_END; o++) {
		nl_begin(&nl, &message, TCP_CIRCUIT_CMD_DEL, 0);
		nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
		if (o->there && talk(NULL, NULL))
			rule("del %s: %s", o->name, nl.text);
		o->there = false;
	}
}

static void reset_all(void)
{
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_RESET, 0);
	if (talk(NULL, NULL))
		rule("reset: %s", nl.text);
}

/* --- our options -------------------------------------------------------------- */

static int option(void)
{
	switch (below(8)) {
	case 0: return TCP_CIRCUIT_FCWND - 4 + below(12);
	case 1: return chance();
	case 2: case 3: return TCP_CIRCUIT_INFO;
	default: return TCP_CIRCUIT_FCWND;
	}
}

static bool is_ours(int name)
{
	return name == TCP_CIRCUIT_FCWND || name == TCP_CIRCUIT_INFO;
}

/* Options that there were once */
static bool is_gone(int name)
{
	return name == 0x4355 || name == 0x4357;
}

/* Where the caller's value is: most often in memory of its own, with its right
 * size or another, sometimes across or behind its end.
 */
static char *pointer(socklen_t len)
{
	switch (below(16)) {
	case 0: return NULL;
	case 1: return no_page;
	case 2: return no_page - below(16);
	case 3: return (char *)(uintptr_t)chance();
	case 4: return room + below(ROOM);
	default: return no_page - (len < ROOM ? len : ROOM);
	}
}

static socklen_t length(int name)
{
	switch (below(8)) {
	case 0: return below(129);
	case 1: return below(16) ? below(ROOM) : chance();
	default: return name == TCP_CIRCUIT_INFO ? 1 + below(160) : 4;
	}
}

static bool errno_is_named(int err)
{
	return err == EINVAL || err == EPERM || err == EFAULT ||
	       err == ENOPROTOOPT;
}

/* A call that worked: does it hold, and was nobody allowed it? */
static void check_set(int fd, const struct tcp_circuit_info *after, uint32_t v)
{
	bool own = after->tci_source == TCP_CIRCUIT_SOURCE_SOCKET;

	if (v != after->tci_asked)
		rule("asked for %u, got %u", v, after->tci_asked);
	if (!nobody && (own != !!v || (v && after->tci_fcwnd != v)))
		rule("root asked for %u: %u from source %u", v,
		     after->tci_fcwnd, after->tci_source);
	if (nobody && own)
		rule("nobody was given %u for himself", after->tci_fcwnd);
	if (state_of(fd) != ESTABLISHED)
		return;
	if (nobody && v > after->tci_fcwnd)
		rule("nobody was given %u segments of %u", v, after->tci_fcwnd);
	if (strcmp(after->tci_name, longest_match_of(fd)))
		rule("a socket of '%.31s' where the longest match is '%s'",
		     after->tci_name, longest_match_of(fd));
}

static bool do_set(void)
{
	int slot = any_socket(), name = option(), err;
	struct tcp_circuit_info before, after;
	bool had = pool[slot].known || look(slot, &after);
	socklen_t len = length(name);
	char *p = pointer(len);
	uint64_t v = value();

	before = pool[slot].last;
	memset(no_page - 16, below(256), 16);
	memcpy(no_page - (len < 8 ? len : 8), &v, len < 8 ? len : 8);
	err = setsockopt(pool[slot].fd, SOL_TCP_CIRCUIT, name, p, len) ? errno
								       : 0;
	if (err && is_ours(name) && !errno_is_named(err))
		rule("set 0x%x: %s", name, strerror(err));
	if (is_gone(name) && !err)
		rule("set 0x%x, which is gone", name);
	if (!err && is_ours(name) && !had)
		rule("set 0x%x on a socket that is none of ours", name);
	if (!had || !look(slot, &after))
		return !err;
	if (err && before.tci_asked != after.tci_asked)
		rule("set 0x%x failed (%s) and changed something", name,
		     strerror(err));
	if (!err && p == no_page - len && name == TCP_CIRCUIT_FCWND) {
		check_set(pool[slot].fd, &after, v);
		if (before.tci_id == after.tci_id)
			check_cut(pool[slot].fd, &before, &after);
	}
	return !err;
}

static bool do_get(void)
{
	int slot = any_socket(), fd = pool[slot].fd, name = option(), err;
	socklen_t len = length(name), got = len;
	char *p = pointer(len);

	memset(room, 0xa5, ROOM);
	err = getsockopt(fd, SOL_TCP_CIRCUIT, name, p,
			 below(32) ? &got : (socklen_t *)no_page) ? errno : 0;
	if (is_gone(name) && !err)
		rule("get 0x%x, which is gone", name);
	if (!is_ours(name))
		return !err;
	if (err && !errno_is_named(err))
		rule("get 0x%x: %s", name, strerror(err));
	if (!err && (got > len || got > sizeof(struct tcp_circuit_info)))
		rule("get 0x%x: %u of %u bytes", name, got, len);
	for (char *c = room; !err && c < no_page; c++)
		if ((c < p || c >= p + got) && *c != (char)0xa5)
			rule("get 0x%x wrote at %td of %u bytes", name, c - p,
			     got);
	return !err;
}

/* --- files that are ours ------------------------------------------------------ */

static void look_at_sysctl(int i, const char *text)
{
	char now[64] = "";
	unsigned long long v;

	if (pread(sysctl_fd[i], now, sizeof(now) - 1, 0) <= 0)
		bail(sysctls[i].name);
	v = strtoull(now, NULL, 10);
	if (v < sysctls[i].least || v > sysctls[i].most)
		rule("%s is %llu after '%s'", sysctls[i].name, v, text);
}

static bool do_sysctl(void)
{
	int i = unsteady[phase] + below(COUNT(sysctls) - unsteady[phase]);
	char text[64];
	ssize_t done;
	int len;

	if (below(8))
		len = snprintf(text, sizeof(text), "%lld",
			       (long long)(below(2) ? value() : sysctls[i].most -
					   below(3) + 1));
	else
		len = snprintf(text, sizeof(text), "%llx\t -%u",
			       (unsigned long long)value(), below(9));
	done = pwrite(sysctl_fd[i], text, below(8) ? len : (int)below(64), 0);
	look_at_sysctl(i, text);
	return done > 0;
}

static bool do_parameter(void)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%lld", (long long)value());
	bool done;

	if (steady || nobody)
		return false;
	done = write_file(PARAMETER, text, len) > 0;
	if (read_number(PARAMETER) > TCP_CIRCUIT_WINDOW_LIMIT)
		rule("the parameter is %llu after '%s'", read_number(PARAMETER),
		     text);
	return done;
}

/* --- all of it ---------------------------------------------------------------- */

static const struct {
	bool		(*call)(void);
	unsigned int	weight;
} actions[] = {
	{ do_set, 27 }, { do_get, 24 }, { do_send, 8 }, { do_receive, 4 },
	{ do_connect, 5 }, { do_algorithm, 6 }, { do_neighbour, 5 },
	{ do_open, 4 }, { do_close, 3 }, { do_sysctl, 3 }, { do_disconnect, 3 },
	{ do_shutdown, 1 }, { do_listen, 1 }, { do_netlink, 4 }, { do_parameter, 1 },
};

static void act(void)
{
	unsigned int at = below(100);

	for (size_t i = 0; i < COUNT(actions); i++) {
		if (at < actions[i].weight) {
			good += actions[i].call();
			return;
		}
		at -= actions[i].weight;
	}
}

/* --- the loopback -------------------------------------------------------------- */

static void set_mtu(int mtu)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_mtu = mtu };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFMTU, &lo))
		bail("mtu of lo");
	close(fd);
}

/* tc qdisc replace dev lo root netem limit 10000 loss @percent %, without a fork */
static void set_loss(unsigned int percent)
{
	struct {
		struct nlmsghdr		head;
		struct tcmsg		tc;
		struct nlattr		kind;
		char			name[8];
		struct nlattr		options;
		struct tc_netem_qopt	netem;
	} ask = {
		.head = { sizeof(ask), RTM_NEWQDISC, NLM_F_REQUEST | NLM_F_ACK |
			  NLM_F_CREATE | NLM_F_REPLACE },
		.tc = { .tcm_ifindex = if_nametoindex("lo"),
			.tcm_parent = TC_H_ROOT },
		.kind = { sizeof(ask.kind) + sizeof(ask.name), TCA_KIND },
		.name = "netem",
		.options = { sizeof(ask.options) + sizeof(ask.netem), TCA_OPTIONS },
		.netem = { .limit = 10000, .loss = UINT32_MAX / 100 * percent },
	};
	struct {
		struct nlmsghdr	head;
		struct nlmsgerr	err;
		char		more[256];
	} answer = { .err.error = -EIO };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) != sizeof(ask) ||
	    recv(fd, &answer, sizeof(answer), 0) < 0)
		bail("netlink");
	errno = -answer.err.error;
	if (errno)
		bail("netem on lo");
	close(fd);
}

/* --- streams of a storm, which nobody else closes ----------------------------- */

static int circuit_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		bail("socket");
	use(fd, "circuit");
	return fd;
}

static void close_streams(void)
{
	for (int i = 0; i < STREAMS; i++) {
		reset_on_close(streams[i].from);
		close(streams[i].from);
		close(streams[i].to);
		streams[i].from = -1;
		streams[i].to = -1;
	}
}

static void open_streams(void)
{
	struct sockaddr_in a4 = { .sin_family = AF_INET };
	int listener = circuit_socket();
	socklen_t len = sizeof(a4);

	a4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (void *)&a4, len) || listen(listener, STREAMS) ||
	    getsockname(listener, (void *)&a4, &len))
		bail("a listener");
	for (int i = 0; i < STREAMS; i++) {
		streams[i].from = circuit_socket();
		if (connect(streams[i].from, (void *)&a4, len))
			bail("connect");
		streams[i].to = accept(listener, NULL, NULL);
		if (streams[i].to < 0)
			bail("accept");
	}
	close(listener);
}

/* As much as goes out; then each looks at its window. */
static void blow(void)
{
	static char data[1 << 20];
	struct tcp_circuit_info before, after;
	uint32_t none = 0;

	for (int i = 0; i < STREAMS; i++) {
		int fd = streams[i].from;

		send(fd, data, sizeof(data) / 8, MSG_DONTWAIT | MSG_NOSIGNAL);
		while (recv(streams[i].to, data, sizeof(data),
			    MSG_DONTWAIT | MSG_TRUNC) > 0)
			;
		if (!get_circuit_info(fd, &before) ||
		    setsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND, &none,
			       sizeof(none)) || !get_circuit_info(fd, &after))
			bail("a stream");
		check_info(&after);
		check_cut(fd, &before, &after);
	}
}

/* --- phases -------------------------------------------------------------------- */

static void begin_storm(void)
{
	write_number(SYSCTLS "breaker", 1 + below(500));
	write_number(SYSCTLS "breaker_quiet", below(2) ? 300 : 1);
	set_mtu(1500);
	open_streams();
	set_loss(STORM_LOSS);
}

static void begin_phase(void)
{
	static const int mtus[] = { 65536, 9000, 1500 };

	phase = turn / PHASE % PHASES;
	steady = 0;
	set_mtu(mtus[below(COUNT(mtus))]);
	set_loss(phase == STORM ? 0 : 3);
	if (phase == ANYTHING)
		return;
	steady = 1 + below(2000);
	write_number(SYSCTLS "fcwnd", steady);
	write_number(SYSCTLS "breaker", 1 + below(100));
	write_number(SYSCTLS "breaker_ms", 500);
	if (phase == STORM)
		begin_storm();
}

/*
 * All are closed, those of the pool by RST, on a loopback that loses nothing any
 * more.  What was closed before and heard nothing of that still has timers of up
 * to TCP_RTO_MAX (120 s) to wait for; where the kernel knows how (-k), ss -K ends it.
 */
static void end_phase(void)
{
	int left = 0;

	remove_all();
	set_loss(0);
	if (phase == STORM)
		close_streams();
	for (int slot = 0; slot < SOCKETS; slot++)
		drop(slot);
	for (int tries = 0; tries < 3000; tries++) {
		reset_all();
		left = circuits();
		if (!left)
			return;
		if (orphans_die && tries % 500 == 60 &&
		    system("ss -tK >/dev/null 2>&1"))
			bail("ss -K");
		usleep(tries < 20 ? 10000 : 100000);
	}
	rule("%d circuits left, all sockets closed", left);
}

static void become(bool wanted)
{
	if (nobody != wanted && seteuid(wanted ? NOBODY : 0))
		bail("seteuid");
	nobody = wanted;
}

/* Time passes; in a storm more, for the breaker to see what is lost. */
static void pass_time(void)
{
	if (phase == STORM) {
		blow();
		usleep(40000 + below(40000));
	} else {
		usleep(2000 + below(40000));
	}
}

static void run(void)
{
	for (turn = 0; turn < calls; turn++) {
		if (turn % PHASE == 0)
			begin_phase();
		if (turn % 128 == 0) {
			become(!below(4));
			pass_time();
		}
		act();
		if (turn % 2048 == 0)
			for (int slot = 0; slot < SOCKETS; slot++)
				check_socket(slot);
		if (turn % PHASE == PHASE - 1 || turn == calls - 1) {
			become(false);
			end_phase();
		}
	}
}

static void open_sysctls(void)
{
	char path[80];

	for (size_t i = 0; i < COUNT(sysctls); i++) {
		snprintf(path, sizeof(path), SYSCTLS "%s", sysctls[i].name);
		sysctl_fd[i] = open(path, O_RDWR);
		if (sysctl_fd[i] < 0)
			bail(path);
	}
}

static void make_room(void)
{
	room = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		bail("mmap");
	no_page = room + ROOM;
	if (mprotect(no_page, ROOM, PROT_NONE))
		bail("mprotect");
}

int main(int argc, char **argv)
{
	int opt;

	seed = 1;
	calls = 1000000;
	while ((opt = getopt(argc, argv, "s:n:k")) != -1) {
		switch (opt) {
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'n': calls = strtoull(optarg, NULL, 0); break;
		case 'k': orphans_die = true; break;
		default: return 2;
		}
	}
	seed_random(seed);
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < SOCKETS; i++)
		pool[i].fd = -1;
	if (nl_open(&nl, TCP_CIRCUIT_GENL_NAME))
		bail("the family tcp_circuit");
	make_room();
	open_sysctls();
	run();
	do_stats();
	printf("seed=%llu calls=%llu good=%llu changes=%llu cut=%llu opened=%llu trips=%llu broken=%llu\n",
	       (unsigned long long)seed, (unsigned long long)calls,
	       (unsigned long long)good, (unsigned long long)changes,
	       (unsigned long long)cut, (unsigned long long)opened,
	       (unsigned long long)trips, (unsigned long long)broken);
	return broken > 0;
}

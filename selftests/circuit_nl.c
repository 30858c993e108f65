// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_nl: the generic netlink family "tcp_circuit" by hand
 *
 *	circuit_nl new [create|replace|excl|both] NAME [prefix P]... [window N]
 *		       [rate BYTES_PER_S] [ifindex I | dev D] [mark M] [flags F]
 *	circuit_nl del NAME...
 *	circuit_nl get NAME
 *	circuit_nl match ADDRESS [ifindex I | dev D] [mark M]
 *	circuit_nl dump
 *	circuit_nl reset [NAME|ADDRESS]
 *	circuit_nl stats
 *	circuit_nl fill N [of P] [del]
 *	circuit_nl monitor [COUNT [MS]]
 *	circuit_nl gone
 *
 * Sends what it is told, also what the kernel must refuse: an attribute that is
 * not named is not there.  Prints one line of NAME=value for each circuit and each
 * event, numbers as the kernel's enums have them.  What the kernel refuses goes to
 * stderr as "ERRNO: the kernel's words", and the exit status is 1.
 *
 * new without a word creates or replaces.  fill makes the circuits c0 to cN-1, each
 * of P addresses (1) from 10.200.0.0 on, or deletes them, and prints how many it has.
 * monitor prints "ready" once it is subscribed, then events until there were COUNT
 * (0: no end) or MS have passed.  gone tells all who listen, as the kernel would, that the
 * family is gone.
 */
#include <net/if.h>
#include <poll.h>

#include "nl.h"
#include "sock.h"

#define FILL_FIRST	0x0ac80000U	/* 10.200.0.0 */
#define FILL_WINDOW	100

static struct nl nl;
static struct nl_message message;

/* --- what is sent */

static void begin(uint8_t cmd, uint16_t flags)
{
	nl_begin(&nl, &message, cmd, flags);
}

static void put(int type, const void *data, size_t len)
{
	if (!nl_put(&message, type, data, len))
		die("message");
}

static void put_u32(int type, uint32_t value)
{
	put(type, &value, sizeof(value));
}

static void put_string(int type, const char *value)
{
	put(type, value, strlen(value) + 1);
}

static void put_prefix(const char *text)
{
	if (!nl_put_prefix_text(&message, text))
		die(text);
}

static void put_address(const char *text)
{
	if (!nl_put_address(&message, TCP_CIRCUIT_A_ADDRESS, text))
		die(text);
}

static void put_device(const char *name)
{
	unsigned int ifindex = if_nametoindex(name);

	if (!ifindex)
		die(name);
	put_u32(TCP_CIRCUIT_A_IFINDEX, ifindex);
}

static void put_rate(const char *text)
{
	uint64_t rate = strtoull(text, NULL, 0);

	put(TCP_CIRCUIT_A_RATE, &rate, sizeof(rate));
}

struct name {
	int		value;
	const char	*name;
};

static bool put_word(const char *word, const char *value)
{
	static const struct name numbers[] = {
		{ TCP_CIRCUIT_A_WINDOW, "window" },
		{ TCP_CIRCUIT_A_IFINDEX, "ifindex" },
		{ TCP_CIRCUIT_A_MARK, "mark" },
		{ TCP_CIRCUIT_A_FLAGS, "flags" },
		{ 0, NULL },
	};
	const struct name *n;

	for (n = numbers; n->name; n++) {
		if (strcmp(word, n->name))
			continue;
		put_u32(n->value, strtoul(value, NULL, 0));
		return true;
	}
	if (!strcmp(word, "prefix"))
		put_prefix(value);
	else if (!strcmp(word, "rate"))
		put_rate(value);
	else if (!strcmp(word, "dev"))
		put_device(value);
	else
		return false;
	return true;
}

/* Pairs of word and value, all of @argv */
static bool put_words(int argc, char **argv)
{
	for (; argc >= 2; argc -= 2, argv += 2)
		if (!put_word(argv[0], argv[1]))
			return false;
	return argc == 0;
}

/* --- what comes back */

static void print_address(const struct nlattr *nla)
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (nla)
		inet_ntop(nl_len(nla) == 4 ? AF_INET : AF_INET6, nl_data(nla),
			  text, sizeof(text));
	printf("%s", text);
}

static void print_prefixes(const struct nlmsghdr *h)
{
	const char *comma = "";
	const struct nlattr *a;

	printf(" prefixes=");
	nl_for_each(a, nl_attrs(h), nl_end(h)) {
		if (nl_type(a) != TCP_CIRCUIT_A_PREFIX)
			continue;
		printf("%s", comma);
		print_address(nl_find_in(a, TCP_CIRCUIT_PREFIX_A_ADDRESS));
		printf("/%llu", (unsigned long long)
		       nl_number(nl_find_in(a, TCP_CIRCUIT_PREFIX_A_LEN)));
		comma = ",";
	}
}

static void print_number(const char *name, const struct nlattr *a)
{
	printf(" %s=%llu", name, (unsigned long long)nl_number(a));
}

/* Those that are not there are 0. */
static void print_numbers(const struct nlmsghdr *h, const struct name *names)
{
	for (; names->name; names++)
		print_number(names->name, nl_find(h, names->value));
}

/* Those that are there */
static void print_found(const struct nlmsghdr *h, const struct name *names)
{
	for (; names->name; names++)
		if (nl_find(h, names->value))
			print_number(names->name, nl_find(h, names->value));
}

static void print_evidence(const struct nlattr *nest)
{
	static const struct name names[] = {
		{ TCP_CIRCUIT_EVIDENCE_A_REASON, "reason" },
		{ TCP_CIRCUIT_EVIDENCE_A_UID, "uid" },
		{ TCP_CIRCUIT_EVIDENCE_A_MS, "ms" },
		{ TCP_CIRCUIT_EVIDENCE_A_SEGMENTS, "segments" },
		{ TCP_CIRCUIT_EVIDENCE_A_LOST, "ev_lost" },
		{ TCP_CIRCUIT_EVIDENCE_A_CE, "ev_ce" },
		{ TCP_CIRCUIT_EVIDENCE_A_RTT, "rtt" },
		{ TCP_CIRCUIT_EVIDENCE_A_RTT_EXPECTED, "rtt_expected" },
		{ TCP_CIRCUIT_EVIDENCE_A_RATE, "ev_rate" },
		{ TCP_CIRCUIT_EVIDENCE_A_THRESHOLD, "threshold" },
		{ TCP_CIRCUIT_EVIDENCE_A_WINDOW, "ev_window" },
		{ TCP_CIRCUIT_EVIDENCE_A_WINDOW_CUT, "window_cut" },
		{ 0, NULL },
	};
	const struct name *n;

	for (n = names; n->name; n++)
		if (nl_find_in(nest, n->value))
			print_number(n->name, nl_find_in(nest, n->value));
}

/* What only events, and circuits of a certain kind, have */
static void print_rest(const struct nlmsghdr *h)
{
	static const struct name names[] = {
		{ TCP_CIRCUIT_A_UID, "owner" },
		{ TCP_CIRCUIT_A_CAUSE, "cause" },
		{ 0, NULL },
	};
	const struct nlattr *address = nl_find(h, TCP_CIRCUIT_A_ADDRESS);
	const struct nlattr *evidence = nl_find(h, TCP_CIRCUIT_A_EVIDENCE);

	if (address) {
		printf(" address=");
		print_address(address);
	}
	print_found(h, names);
	if (evidence)
		print_evidence(evidence);
}

static int print_circuit(const struct nlmsghdr *h, void *arg)
{
	static const struct name names[] = {
		{ TCP_CIRCUIT_A_WINDOW, "window" },
		{ TCP_CIRCUIT_A_RATE, "rate" },
		{ TCP_CIRCUIT_A_IFINDEX, "ifindex" },
		{ TCP_CIRCUIT_A_MARK, "mark" },
		{ TCP_CIRCUIT_A_FLAGS, "flags" },
		{ TCP_CIRCUIT_A_SOCKETS, "sockets" },
		{ TCP_CIRCUIT_A_HUNGRY, "hungry" },
		{ TCP_CIRCUIT_A_CWND_TOTAL, "cwnd_total" },
		{ TCP_CIRCUIT_A_BREAKER, "breaker" },
		{ TCP_CIRCUIT_A_TRIPPED_USERS, "tripped_users" },
		{ TCP_CIRCUIT_A_TRIPS, "trips" },
		{ TCP_CIRCUIT_A_DELIVERED, "delivered" },
		{ TCP_CIRCUIT_A_LOST, "lost" },
		{ TCP_CIRCUIT_A_CE, "ce" },
		{ 0, NULL },
	};
	const struct nlattr *name = nl_find(h, TCP_CIRCUIT_A_NAME);

	(void)arg;
	printf("name=%.*s", name ? (int)nl_len(name) : 0,
	       name ? (const char *)nl_data(name) : "");
	print_number("id", nl_find(h, TCP_CIRCUIT_A_ID));
	printf(" auto=%d", !!nl_find(h, TCP_CIRCUIT_A_AUTO));
	print_prefixes(h);
	print_numbers(h, names);
	print_rest(h);
	printf("\n");
	return 0;
}

static int print_stats(const struct nlmsghdr *h, void *arg)
{
	static const struct name names[] = {
		{ TCP_CIRCUIT_STATS_A_CIRCUITS, "circuits" },
		{ TCP_CIRCUIT_STATS_A_CIRCUITS_MAX, "circuits_max" },
		{ TCP_CIRCUIT_STATS_A_PREFIXES, "prefixes" },
		{ TCP_CIRCUIT_STATS_A_PREFIXES_MAX, "prefixes_max" },
		{ TCP_CIRCUIT_STATS_A_PEERS, "peers" },
		{ TCP_CIRCUIT_STATS_A_PEERS_MAX, "peers_max" },
		{ TCP_CIRCUIT_STATS_A_KEPT, "kept" },
		{ TCP_CIRCUIT_STATS_A_KEPT_MAX, "kept_max" },
		{ TCP_CIRCUIT_STATS_A_MEMORY, "memory" },
		{ TCP_CIRCUIT_STATS_A_OPENED, "opened" },
		{ TCP_CIRCUIT_STATS_A_RENO, "reno" },
		{ TCP_CIRCUIT_STATS_A_RESTORED, "restored" },
		{ TCP_CIRCUIT_STATS_A_TIMEOUTS, "timeouts" },
		{ TCP_CIRCUIT_STATS_A_RECOVERIES, "recoveries" },
		{ TCP_CIRCUIT_STATS_A_TRIPS, "trips" },
		{ TCP_CIRCUIT_STATS_A_RESETS, "resets" },
		{ TCP_CIRCUIT_STATS_A_NO_MEMORY, "no_memory" },
		{ 0, NULL },
	};

	(void)arg;
	printf("stats:");
	print_numbers(h, names);
	printf("\n");
	return 0;
}

static void print_event(const struct nlmsghdr *h)
{
	static const struct name names[] = {
		{ TCP_CIRCUIT_CMD_ADDED_NTF, "added" },
		{ TCP_CIRCUIT_CMD_CHANGED_NTF, "changed" },
		{ TCP_CIRCUIT_CMD_REMOVED_NTF, "removed" },
		{ TCP_CIRCUIT_CMD_TRIPPED_NTF, "tripped" },
		{ TCP_CIRCUIT_CMD_CLOSED_NTF, "closed" },
		{ 0, NULL },
	};
	const struct name *n = names;

	while (n->name && n->value != nl_command(h))
		n++;
	printf("event=%s ", n->name ?: "?");
	print_circuit(h, NULL);
	fflush(stdout);
}

/* --- errors */

/* strerrorname_np() is younger than the oldest library this is built with. */
static const char *errno_name(int err)
{
	static const struct name names[] = {
		{ EPERM, "EPERM" }, { ENOENT, "ENOENT" }, { E2BIG, "E2BIG" },
		{ ENOMEM, "ENOMEM" }, { EACCES, "EACCES" }, { EBUSY, "EBUSY" },
		{ EEXIST, "EEXIST" }, { ENODEV, "ENODEV" }, { EINVAL, "EINVAL" },
		{ ENOSPC, "ENOSPC" }, { ERANGE, "ERANGE" },
		{ EMSGSIZE, "EMSGSIZE" }, { EOPNOTSUPP, "EOPNOTSUPP" },
		{ ENOBUFS, "ENOBUFS" }, { EAFNOSUPPORT, "EAFNOSUPPORT" },
		{ EADDRINUSE, "EADDRINUSE" }, { EADDRNOTAVAIL, "EADDRNOTAVAIL" },
		{ 0, NULL },
	};
	const struct name *n = names;

	while (n->name && n->value != err)
		n++;
	return n->name ?: strerror(err);
}

static _Noreturn void refused(int err)
{
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", errno_name(-err), nl.text);
	exit(1);
}

static void talk(nl_handler handler)
{
	int err = nl_talk(&nl, &message, handler, NULL);

	if (err)
		refused(err);
}

/* --- commands */

static bool flags_of(const char *word, uint16_t *flags)
{
	static const struct name modes[] = {
		{ NLM_F_CREATE, "create" },
		{ NLM_F_REPLACE, "replace" },
		{ NLM_F_CREATE | NLM_F_EXCL, "excl" },
		{ NLM_F_CREATE | NLM_F_REPLACE, "both" },
		{ 0, NULL },
	};
	const struct name *m;

	for (m = modes; m->name; m++) {
		if (strcmp(word, m->name))
			continue;
		*flags = m->value;
		return true;
	}
	return false;
}

static bool cmd_new(int argc, char **argv)
{
	uint16_t flags = NLM_F_CREATE;

	if (argc && flags_of(*argv, &flags)) {
		argc--;
		argv++;
	}
	if (!argc)
		return false;
	begin(TCP_CIRCUIT_CMD_NEW, flags);
	put_string(TCP_CIRCUIT_A_NAME, *argv);
	if (!put_words(argc - 1, argv + 1))
		return false;
	talk(NULL);
	return true;
}

static bool named(uint8_t cmd, int argc, char **argv, nl_handler handler)
{
	if (argc != 1)
		return false;
	begin(cmd, 0);
	put_string(TCP_CIRCUIT_A_NAME, *argv);
	talk(handler);
	return true;
}

static bool cmd_del(int argc, char **argv)
{
	if (!argc)
		return false;
	for (; argc; argc--, argv++)
		named(TCP_CIRCUIT_CMD_DEL, 1, argv, NULL);
	return true;
}

static bool cmd_get(int argc, char **argv)
{
	return named(TCP_CIRCUIT_CMD_GET, argc, argv, print_circuit);
}

static bool cmd_match(int argc, char **argv)
{
	if (!argc)
		return false;
	begin(TCP_CIRCUIT_CMD_GET, 0);
	put_address(*argv);
	if (!put_words(argc - 1, argv + 1))
		return false;
	talk(print_circuit);
	return true;
}

static bool cmd_dump(int argc, char **argv)
{
	(void)argv;
	if (argc)
		return false;
	begin(TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	talk(print_circuit);
	return true;
}

static bool cmd_reset(int argc, char **argv)
{
	uint8_t address[16];

	if (argc > 1)
		return false;
	begin(TCP_CIRCUIT_CMD_RESET, 0);
	if (argc && nl_parse_address(*argv, address))
		put_address(*argv);
	else if (argc)
		put_string(TCP_CIRCUIT_A_NAME, *argv);
	talk(NULL);
	return true;
}

static bool cmd_stats(int argc, char **argv)
{
	(void)argv;
	if (argc)
		return false;
	begin(TCP_CIRCUIT_CMD_STATS, 0);
	talk(print_stats);
	return true;
}

static void fill_one(uint32_t i, uint32_t prefixes, bool del)
{
	char name[TCP_CIRCUIT_NAME_LEN];
	uint32_t j, address;

	if (del)
		begin(TCP_CIRCUIT_CMD_DEL, 0);
	else
		begin(TCP_CIRCUIT_CMD_NEW, NLM_F_CREATE | NLM_F_EXCL);
	snprintf(name, sizeof(name), "c%u", i);
	put_string(TCP_CIRCUIT_A_NAME, name);
	for (j = 0; !del && j < prefixes; j++) {
		address = htonl(FILL_FIRST + i * prefixes + j);
		nl_put_prefix(&message, &address, sizeof(address), 32);
	}
	if (!del)
		put_u32(TCP_CIRCUIT_A_WINDOW, FILL_WINDOW);
	talk(NULL);
}

static uint32_t filled;

/* Also when the kernel has had enough */
static void print_filled(void)
{
	printf("filled=%u\n", filled);
}

static bool cmd_fill(int argc, char **argv)
{
	bool of = argc >= 3 && !strcmp(argv[1], "of");
	bool del = argc > 1 && !strcmp(argv[argc - 1], "del");
	uint32_t n, prefixes;

	if (argc != 1 + 2 * of + del)
		return false;
	n = strtoul(*argv, NULL, 0);
	prefixes = of ? strtoul(argv[2], NULL, 0) : 1;
	atexit(print_filled);
	for (; filled < n; filled++)
		fill_one(filled, prefixes, del);
	return true;
}

/*
 * In virtual time it may not run before all has happened: hundreds of events wait then, of
 * about a kilobyte of memory each.
 */
static void subscribe(void)
{
	static const int room = 8 << 20;
	int err = nl_join(&nl, TCP_CIRCUIT_MCGRP_EVENTS);

	if (err)
		refused(err);
	if (setsockopt(nl.fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) && errno != EPERM)
		die("SO_RCVBUFFORCE");
	printf("ready\n");
	fflush(stdout);
}

/* How many events there were */
static long take_events(void)
{
	static char buf[NL_ANSWER_MAX];
	ssize_t len = recv(nl.fd, buf, sizeof(buf), 0);
	struct nlmsghdr *h = (void *)buf;
	long n = 0;

	if (len < 0 && errno == ENOBUFS) {
		printf("overrun\n");
		fflush(stdout);
		return 0;
	}
	if (len < 0)
		die("recv");
	for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len), n++)
		print_event(h);
	return n;
}

static bool cmd_monitor(int argc, char **argv)
{
	long count = argc > 0 ? atol(argv[0]) : 0, seen = 0;
	long until = argc > 1 ? clock_ms() + atol(argv[1]) : 0;
	struct pollfd pfd = { .fd = nl.fd, .events = POLLIN };

	if (argc > 2)
		return false;
	subscribe();
	while (!count || seen < count) {
		long left = until ? until - clock_ms() : -1;

		if (until && left <= 0)
			break;
		if (poll(&pfd, 1, left) > 0)
			seen += take_events();
	}
	return true;
}

/* Without a flag to say so it asks the kernel for nothing. */
static bool cmd_gone(int argc, char **argv)
{
	struct sockaddr_nl all = {
		.nl_family = AF_NETLINK,
		.nl_groups = 1U << (GENL_ID_CTRL - 1),	/* the controller's only group */
	};

	(void)argv;
	if (argc)
		return false;
	begin(CTRL_CMD_DELFAMILY, 0);
	message.header.nlmsg_type = GENL_ID_CTRL;
	message.header.nlmsg_flags = 0;
	put_string(CTRL_ATTR_FAMILY_NAME, TCP_CIRCUIT_GENL_NAME);
	if (sendto(nl.fd, &message, message.header.nlmsg_len, 0, (void *)&all, sizeof(all)) < 0)
		die("sendto");
	return true;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: circuit_nl new [create|replace|excl|both] NAME [prefix P]... [window N] [rate BYTES_PER_S]\n"
		"                      [ifindex I | dev D] [mark M] [flags F]\n"
		"       circuit_nl del NAME...\n"
		"       circuit_nl get NAME\n"
		"       circuit_nl match ADDRESS [ifindex I | dev D] [mark M]\n"
		"       circuit_nl dump\n"
		"       circuit_nl reset [NAME|ADDRESS]\n"
		"       circuit_nl stats\n"
		"       circuit_nl fill N [of P] [del]\n"
		"       circuit_nl monitor [COUNT [MS]]\n"
		"       circuit_nl gone\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool (*fn)(int argc, char **argv);
	} commands[] = {
		{ "new", cmd_new }, { "del", cmd_del }, { "get", cmd_get },
		{ "match", cmd_match }, { "dump", cmd_dump },
		{ "reset", cmd_reset }, { "stats", cmd_stats },
		{ "fill", cmd_fill }, { "monitor", cmd_monitor },
		{ "gone", cmd_gone },
	};
	size_t i;
	int err;

	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		err = nl_open(&nl, TCP_CIRCUIT_GENL_NAME);
		if (err)
			refused(err);
		return commands[i].fn(argc - 2, argv + 2) ? 0 : usage();
	}
	return usage();
}

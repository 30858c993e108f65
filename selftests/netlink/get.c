// SPDX-License-Identifier: GPL-2.0
/*
 * GET: the longest match, automatic circuits, and a dump while the table changes
 */
#include <sched.h>

#include "../sock.h"
#include "test.h"

#define MANY	500	/* circuits: several answers of a dump */

void check_match(void)
{
	static const struct {
		const char *what, *words, *name;
	} rows[] = {
		{ "no prefix but all", "address=203.0.113.1", "all" },
		{ "/8", "address=10.9.9.9", "eight" },
		{ "/16", "address=10.1.9.9", "sixteen" },
		{ "/24", "address=10.1.2.9", "twentyfour" },
		{ "/32", "address=10.1.2.3", "host" },
		{ "/32 is one host", "address=10.1.2.4", "twentyfour" },
		{ "IPv6 is not IPv4", "address=::10.1.2.3", "none" },
		{ "IPv6 /32", "address=2001:db8:9::1", "six" },
		{ "IPv6 /128", "address=2001:db8::1", "sixhost" },
		{ "no IPv6 prefix", "address=2001:db9::1", "none" },
		{ "with a mark", "address=10.1.9.9 mark=7", "marked" },
		{ "with another mark", "address=10.1.9.9 mark=8", "sixteen" },
		{ "longer goes before marked", "address=10.1.2.9 mark=7",
		  "twentyfour" },
		{ "by a device", "address=10.1.9.9 ifindex=1", "byloop" },
		{ "by another device", "address=10.1.9.9 ifindex=2", "sixteen" },
		{ "device goes before mark", "address=10.1.9.9 ifindex=1 mark=7",
		  "byloop" },
		{ "both", "address=10.2.9.9 ifindex=1 mark=7", "both" },
		{ "both want both", "address=10.2.9.9 ifindex=1", "eight" },
	};
	static const char *const names[] = {
		"all", "eight", "sixteen", "twentyfour", "host", "six",
		"sixhost", "marked", "byloop", "both",
	};

	make("name=all prefix=0.0.0.0/0 window=1");
	make("name=eight prefix=10.0.0.0/8 window=2");
	make("name=sixteen prefix=10.1.0.0/16 window=3");
	make("name=twentyfour prefix=10.1.2.0/24 prefix=10.3.2.0/24 window=4");
	make("name=host prefix=10.1.2.3/32 window=5");
	make("name=six prefix=2001:db8::/32 window=6");
	make("name=sixhost prefix=2001:db8::1/128 window=7");
	make("name=marked prefix=10.1.0.0/16 mark=7 window=8");
	make("name=byloop prefix=10.1.0.0/16 ifindex=1 window=9");
	make("name=both prefix=10.2.0.0/16 ifindex=1 mark=7 window=10");
	for (size_t i = 0; i < COUNT(rows); i++)
		same_name(rows[i].what, rows[i].name, name_of(rows[i].words));
	drop("host");
	same_name("the next match when it has gone", "twentyfour",
		  name_of("address=10.1.2.3"));
	make("name=host prefix=10.1.2.3/32 window=5");
	for (size_t i = 0; i < COUNT(names); i++)
		drop(names[i]);
	same_name("none is left", "none", name_of("address=10.1.2.3"));
}

/* --- automatic circuits ------------------------------------------------------- */

/* netlink.sh has added both to the loopback device; their first four bytes are the same. */
#define PEER4	"address=10.77.2.1"
#define PEER6	"address=a4d:201::"

/* A listener, a connection to it and the other end of that */
static void connect_to_peer6(int fds[3])
{
	struct sockaddr_in6 address;
	socklen_t len = socket_address("a4d:201::", 0, &address);

	for (int i = 0; i < 2; i++)
		fds[i] = socket(AF_INET6, SOCK_STREAM, 0);
	if (bind(fds[0], (void *)&address, len) || listen(fds[0], 1) ||
	    getsockname(fds[0], (void *)&address, &len) ||
	    connect(fds[1], (void *)&address, len))
		bail("a connection to a4d:201::");
	fds[2] = accept(fds[0], NULL, NULL);
}

void check_automatic(void)
{
	int fds[3];

	connect_to_peer6(fds);
	same_name("an IPv6 peer's circuit", "", name_of(PEER6));
	same_name("an IPv4 peer's of the same first bytes: not the IPv6 peer's", "none",
		  name_of(PEER4));
	for (int i = 2; i >= 0; i--)
		close(fds[i]);
	for (int i = 0; i < 200 && strcmp(name_of(PEER6), "none"); i++)
		usleep(100000);
	same_name("an IPv6 peer's circuit when its sockets have gone", "none", name_of(PEER6));
}

/* --- a dump while the table changes ------------------------------------------- */

static void make_number(int i)
{
	char words[100];

	snprintf(words, sizeof(words), "name=c%d prefix=10.50.%d.%d/32 window=10",
		 i, i / 256, i % 256);
	make(words);
}

static void drop_number(int i)
{
	char name[16];

	snprintf(name, sizeof(name), "c%d", i);
	drop(name);
}

struct census {
	uint8_t	seen[2 * MANY];		/* times */
	int	parts;
	bool	interrupted;		/* the table has changed meanwhile */
};

static void count_answer(struct census *c, const struct nlmsghdr *h)
{
	const struct nlattr *name = nl_find(h, TCP_CIRCUIT_A_NAME);
	int i = name ? atoi((const char *)nl_data(name) + 1) : -1;

	if (i >= 0 && i < 2 * MANY)
		c->seen[i]++;
}

/* One recv() of a dump; false: that was its end. */
static bool count_part(struct nl *dumper, struct census *c)
{
	static char part[NL_ANSWER_MAX]
		__attribute__((aligned(__alignof__(struct nlmsghdr))));
	int left = recv(dumper->fd, part, sizeof(part), 0);

	if (left <= 0)
		bail("dump");
	c->parts++;
	for (struct nlmsghdr *h = (void *)part; NLMSG_OK(h, left);
	     h = NLMSG_NEXT(h, left)) {
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
			return false;
		c->interrupted |= h->nlmsg_flags & NLM_F_DUMP_INTR;
		count_answer(c, h);
	}
	return true;
}

/*
 * After each part some go and some come.  Who was there all the time is told once;
 * who came or went at most once.
 */
void check_changing_dump(void)
{
	static struct census c;
	struct nl dumper;
	int gone = 0, come = MANY, missed = 0, twice = 0;

	for (int i = 0; i < MANY; i++)
		make_number(i);
	if (nl_open(&dumper, TCP_CIRCUIT_GENL_NAME))
		bail("a second socket");
	nl_begin(&dumper, &message, GET, NLM_F_DUMP);
	if (nl_send(&dumper, &message))
		bail("dump");
	while (count_part(&dumper, &c)) {
		for (int i = 0; i < 10 && gone < MANY; i++, gone += 2)
			drop_number(gone);
		for (int i = 0; i < 10 && come < 2 * MANY; i++)
			make_number(come++);
	}
	close(dumper.fd);
	for (int i = 0; i < 2 * MANY; i++) {
		missed += i < MANY && (i % 2 || i >= gone) && !c.seen[i];
		twice += c.seen[i] > 1;
	}
	same("a dump in several parts", 1, c.parts > 3);
	same("missed in a dump, though there all the time", 0, missed);
	same("twice in a dump", 0, twice);
	for (int i = 0; i < come; i++)
		if (i >= MANY || i % 2 || i >= gone)
			drop_number(i);
}

/* --- what makes streams look at the table again ------------------------------- */

static void write_quiet_time(const char *seconds)
{
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_circuit_breaker_quiet", "w");

	if (!file || fputs(seconds, file) < 0 || fclose(file))
		bail("net.ipv4.tcp_circuit_breaker_quiet");
}

static void write_here(void)
{
	write_quiet_time("301");
	write_quiet_time("300");
}

static void write_elsewhere(void)
{
	if (unshare(CLONE_NEWNET))
		bail("unshare");
	write_here();
}

static void nothing(void)
{
}

/* A dump tells that the table's generation has changed since its last part. */
static bool generation_changes(void (*meanwhile)(void))
{
	static struct census c;
	struct nl dumper;

	memset(&c, 0, sizeof(c));
	if (nl_open(&dumper, TCP_CIRCUIT_GENL_NAME))
		bail("a second socket");
	nl_begin(&dumper, &message, GET, NLM_F_DUMP);
	if (nl_send(&dumper, &message))
		bail("dump");
	while (count_part(&dumper, &c))
		in_child(meanwhile);
	close(dumper.fd);
	return c.interrupted;
}

/* All streams of a namespace look up their circuit with each new generation. */
void check_generation(void)
{
	for (int i = 0; i < MANY; i++)
		make_number(i);
	same("nothing is written: a new generation", 0, generation_changes(nothing));
	same("a sysctl is written: a new generation", 1, generation_changes(write_here));
	same("another namespace's sysctl is written: a new generation", 0,
	     generation_changes(write_elsewhere));
	for (int i = 0; i < MANY; i++)
		drop_number(i);
}

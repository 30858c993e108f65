// SPDX-License-Identifier: GPL-2.0
/*
 * NEW: what is taken, what the flags of the message make of it, how many prefixes
 * and circuits there may be
 */
#include "test.h"

/* --- what is taken ------------------------------------------------------------ */

static const char *const good[] = {
	"name=x prefix=0.0.0.0/0 window=1",
	"name=x prefix=::/0 window=67108864",
	"name=x prefix=0.0.0.0/0 prefix=::/0 window=10",
	"name=x prefix=198.51.100.7/32 window=10",
	"name=x prefix=2001:db8:1::7/128 window=10",
	"name=x prefix=198.51.100.6/31 window=10",
	"name=x rate=0" REST,
	"name=x rate=125000000000" REST,
	"name=x mark=0xffffffff" REST,
	"name=x ifindex=1" REST,
	"name=x flags=1" REST,
	"name=x flags=2" REST,
	"name=x flags=3" REST,
	"name=x flags=0" REST,
	"name=abcdefghijklmnopqrstuvwxyz01234" REST,
	"name=~!@#$%^&*()_+{}:\"<>?,./;'" REST,
	"name=1" REST,
	"window=10 prefix=198.51.100.0/24 name=x",
};

void check_good(void)
{
	char what[200], name[64];

	for (size_t i = 0; i < COUNT(good); i++) {
		snprintf(what, sizeof(what), "taken: %s", good[i]);
		same_error(what, 0, request(NEW, NLM_F_CREATE, good[i]));
		if (sscanf(strstr(good[i], "name="), "name=%63s", name) == 1)
			drop(name);
	}
}

/* The answer has what the request said, and the state of one that is new. */
void check_answer(void)
{
	static struct answers a;

	make("name=wave prefix=192.0.2.0/24 prefix=2001:db8::/32 window=1000 rate=125000000 ifindex=1 mark=7 flags=2");
	same_error("get by name", 0, get("name=wave", &a));
	same("one answer", 1, a.count);
	same("its window", 1000, nl_number(found(&a, TCP_CIRCUIT_A_WINDOW)));
	same("its rate", 125000000, nl_number(found(&a, TCP_CIRCUIT_A_RATE)));
	same("its device", 1, nl_number(found(&a, TCP_CIRCUIT_A_IFINDEX)));
	same("its mark", 7, nl_number(found(&a, TCP_CIRCUIT_A_MARK)));
	same("its flags", 2, nl_number(found(&a, TCP_CIRCUIT_A_FLAGS)));
	same("it is an object", 0, !!found(&a, TCP_CIRCUIT_A_AUTO));
	same("its id is there", 1, !!nl_number(found(&a, TCP_CIRCUIT_A_ID)));
	same("its sockets", 0, nl_number(found(&a, TCP_CIRCUIT_A_SOCKETS)));
	same("they are told", 1, !!found(&a, TCP_CIRCUIT_A_SOCKETS));
	same("its breaker is closed", 0,
	     nl_number(found(&a, TCP_CIRCUIT_A_BREAKER)));
	drop("wave");
}

/* All eight: who exists, and what the message's flags make of it */
static void check_mode(uint16_t flags, bool exists)
{
	int expected = 0, err;
	char what[100];

	/* The same two bits are NLM_F_DUMP, and nothing of new can be dumped. */
	if ((flags & NLM_F_DUMP) == NLM_F_DUMP)
		expected = EOPNOTSUPP;
	else if (!(flags & (NLM_F_CREATE | NLM_F_REPLACE)))
		expected = EINVAL;
	else if (exists && (flags & NLM_F_EXCL))
		expected = EEXIST;
	else if (!exists && !(flags & NLM_F_CREATE))
		expected = ENOENT;
	if (exists)
		make("name=x prefix=198.51.100.0/24 window=10");
	snprintf(what, sizeof(what), "%s%s%s%s: %s",
		 flags & NLM_F_CREATE ? "create " : "",
		 flags & NLM_F_REPLACE ? "replace " : "",
		 flags & NLM_F_EXCL ? "excl " : "", flags ? "" : "no flag ",
		 exists ? "there is one" : "there is none");
	err = request(NEW, flags, "name=x prefix=203.0.113.0/24 window=20");
	same_error(what, expected, err);
	same_name("who has the old prefix", exists && err ? "x" : "none",
		  name_of("address=198.51.100.1"));
	same_name("who has the new one", err ? "none" : "x",
		  name_of("address=203.0.113.1"));
	if (exists || !err)
		drop("x");
}

void check_modes(void)
{
	for (int i = 0; i < 8; i++) {
		uint16_t flags = (i & 1 ? NLM_F_CREATE : 0) |
				 (i & 2 ? NLM_F_REPLACE : 0) |
				 (i & 4 ? NLM_F_EXCL : 0);

		check_mode(flags, false);
		check_mode(flags, true);
	}
}

/* --- many prefixes ------------------------------------------------------------ */

/* @n prefixes from @first on; but for the first, IPv6, whose are the longest */
static void begin_many(const char *name, uint16_t flags, uint32_t first, int n)
{
	uint32_t window = 10;

	nl_begin(&nl, &message, NEW, flags);
	put(TCP_CIRCUIT_A_NAME, name, strlen(name) + 1);
	put(TCP_CIRCUIT_A_WINDOW, &window, sizeof(window));
	for (int i = 0; i < n; i++) {
		uint32_t word = htonl(first + i);
		uint8_t v6[16] = { 0x20, 0x01, 0x0d, 0xb8, 1 };	/* 2001:db8:100:: */

		if (i) {
			memcpy(v6 + 12, &word, 4);
			nl_put_prefix(&message, v6, 16, 128);
		} else {
			nl_put_prefix(&message, &word, 4, 32);
		}
	}
}

static int new_many(const char *name, uint16_t flags, uint32_t first, int n)
{
	begin_many(name, flags, first, n);
	return -nl_talk(&nl, &message, NULL, NULL);
}

/*
 * The kernel's first answer on a socket that has received nothing yet is one page,
 * for it knows of no larger buffer.  A second circuit behind the first
 */
static void check_first_dump(int most)
{
	static struct answers a;
	struct nl fresh = { .family = nl.family }, old = nl;

	fresh.fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	make("name=behind prefix=192.0.2.0/24 window=10");
	nl = fresh;
	same_error("a dump that is its socket's first request", 0, try_dump(&a));
	same("all of them in it", most + 1, count_prefixes(&a));
	close(nl.fd);
	nl = old;
	drop("behind");
}

void check_prefixes(void)
{
	static struct answers a, b;
	const int most = TCP_CIRCUIT_PREFIXES_MAX;
	const uint32_t first = 0x0a010000;
	int err;

	same_error("as many prefixes as a circuit may have", 0,
		   new_many("many", NLM_F_CREATE, first, most));
	same_error("all of them are told", 0, get("name=many", &a));
	same("so many", most, count_prefixes(&a));
	err = new_many("more", NLM_F_CREATE, first + 1000, most + 1);
	same_error("one more", E2BIG, err);
	same("and why", 1, !!nl.text[0]);
	err = new_many("many", NLM_F_REPLACE, first + 1000, most + 1);
	same_error("one more, by replacing", E2BIG, err);
	get("name=many", &b);
	same("it has those that it had", 1, equal_answers(&a, &b));
	same_error("all others instead", 0,
		   new_many("many", NLM_F_REPLACE, first + 1000, most));
	same_name("an old one", "none", name_of("address=10.1.0.0"));
	same_name("a new one", "many", name_of("address=10.1.3.232"));
	same_name("the last of the old", "none",
		  name_of("address=2001:db8:100::a01:7f"));
	same_name("the last of the new", "many",
		  name_of("address=2001:db8:100::a01:467"));
	dump(&a);
	same("in a dump", most, count_prefixes(&a));
	check_first_dump(most);
	drop("many");
}

/* --- a full table ------------------------------------------------------------- */

static int new_number(unsigned int i, uint16_t flags, int prefixes)
{
	char name[16];

	snprintf(name, sizeof(name), "f%u", i);
	return new_many(name, flags, 0x0b000000 + i * 256, prefixes);
}

static void drop_filled(unsigned int n)
{
	char name[16];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		drop(name);
	}
}

void check_full(void)
{
	unsigned int most = stat_of(TCP_CIRCUIT_STATS_A_CIRCUITS_MAX), n = 0;
	int err = 0;

	while (n <= most && !(err = new_number(n, NLM_F_CREATE, 1)))
		n++;
	same("circuits until it is full", most, n);
	same_error("and then", ENOSPC, err);
	same("and why", 1, !!nl.text[0]);
	same("stats: circuits", most, stat_of(TCP_CIRCUIT_STATS_A_CIRCUITS));
	same_error("replace when it is full", 0,
		   new_number(0, NLM_F_REPLACE | NLM_F_CREATE, 2));
	drop("f1");
	same_error("one has gone: there is room", 0,
		   new_number(1, NLM_F_CREATE, 1));
	drop_filled(n);
}

/* Each with as many prefixes as it may have */
void check_full_of_prefixes(void)
{
	unsigned int most = stat_of(TCP_CIRCUIT_STATS_A_PREFIXES_MAX), n = 0;
	const int each = TCP_CIRCUIT_PREFIXES_MAX;
	int err = 0;

	while (n <= most / each && !(err = new_number(n, NLM_F_CREATE, each)))
		n++;
	same("prefixes until it is full", most / each * each, n * each);
	same_error("and then", ENOSPC, err);
	same("and why", 1, !!nl.text[0]);
	same("stats: prefixes", most, stat_of(TCP_CIRCUIT_STATS_A_PREFIXES));
	same_error("all others instead, when it is full", 0,
		   new_many("f0", NLM_F_REPLACE, 0x0a000000, each));
	drop_filled(n);
}

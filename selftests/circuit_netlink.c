// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_netlink: the netlink family "tcp_circuit", request by request
 *
 * Runs as root in a namespace of its own with the loopback up, circuit loaded, the
 * namespace's tcp_circuit_fcwnd at NETNS_FCWND and its ceiling_circuits small
 * enough to reach.  Each request that has to fail must give its errno and a reason,
 * and leave the table as it was, byte by byte.  TAP on stdout.
 *
 * A request is written as words: ATTRIBUTE[:FORM]=VALUE, or a number for an
 * attribute that is not known.  Without a form it is as it should be; u8, u16, u32,
 * u64: a number of that size; raw: a text without NUL; hex: these bytes; flag:
 * nothing.  prefix=ADDRESS/LENGTH is a nest as it should be; prefix[ begins one, flat[
 * one without NLA_F_NESTED, ] ends it.
 */
#include <arpa/inet.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "nl.h"
#include "sock.h"

#define NETNS_FCWND	60U
#define NOBODY		65534
#define MANY		500		/* circuits: several answers of a dump */

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static struct nl nl;
static struct nl_message message;
static int points, failures;

/* --- TAP ---------------------------------------------------------------------- */

/* @bad is what was wrong, empty when nothing was */
static void point(const char *what, const char *bad)
{
	points++;
	if (*bad)
		failures++;
	printf("%sok %d - %s\n", *bad ? "not " : "", points, what);
	if (*bad)
		printf("# %s\n", bad);
	fflush(stdout);
}

static void bail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void same(const char *what, uint64_t expected, uint64_t got)
{
	char bad[96] = "";

	if (expected != got)
		snprintf(bad, sizeof(bad), "expected %llu, got %llu",
			 (unsigned long long)expected, (unsigned long long)got);
	point(what, bad);
}

/* @err: 0 or an errno, of the last request */
static void same_error(const char *what, int expected, int err)
{
	char bad[400] = "";

	if (expected != err)
		snprintf(bad, sizeof(bad), "expected %s, got %s (%s)",
			 expected ? strerror(expected) : "success",
			 err ? strerror(err) : "success", nl.text);
	point(what, bad);
}

static void same_name(const char *what, const char *expected, const char *got)
{
	char bad[160] = "";

	if (strcmp(expected, got))
		snprintf(bad, sizeof(bad), "expected \"%s\", got \"%s\"",
			 expected, got);
	point(what, bad);
}

/* --- requests, from words ----------------------------------------------------- */

static const struct attribute {
	const char	*name;
	int		type;
	const char	*form;		/* as it should be */
} attributes[] = {
	{ "name", TCP_CIRCUIT_A_NAME, "text" },
	{ "prefix", TCP_CIRCUIT_A_PREFIX, "prefix" },
	{ "window", TCP_CIRCUIT_A_WINDOW, "u32" },
	{ "rate", TCP_CIRCUIT_A_RATE, "u64" },
	{ "ifindex", TCP_CIRCUIT_A_IFINDEX, "u32" },
	{ "mark", TCP_CIRCUIT_A_MARK, "u32" },
	{ "flags", TCP_CIRCUIT_A_FLAGS, "u32" },
	{ "address", TCP_CIRCUIT_A_ADDRESS, "address" },
}, in_prefix[] = {
	{ "address", TCP_CIRCUIT_PREFIX_A_ADDRESS, "address" },
	{ "len", TCP_CIRCUIT_PREFIX_A_LEN, "u8" },
};

static void put(int type, const void *data, size_t len)
{
	if (nl_put(&message, type, data, len))
		return;
	errno = EMSGSIZE;
	bail("request");
}

static size_t parse_address(const char *text, void *address)
{
	if (inet_pton(AF_INET, text, address) == 1)
		return 4;
	if (inet_pton(AF_INET6, text, address) == 1)
		return 16;
	errno = EINVAL;
	bail(text);
	return 0;
}

static void put_prefix(const void *address, size_t size, uint8_t len)
{
	size_t nest = nl_nest(&message, TCP_CIRCUIT_A_PREFIX);

	put(TCP_CIRCUIT_PREFIX_A_ADDRESS, address, size);
	put(TCP_CIRCUIT_PREFIX_A_LEN, &len, sizeof(len));
	nl_nest_end(&message, nest);
}

static void put_prefix_text(const char *text)
{
	char address[INET6_ADDRSTRLEN + 1];
	const char *slash = strchr(text, '/');
	uint8_t bytes[16];
	size_t size;

	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	size = parse_address(address, bytes);
	put_prefix(bytes, size, atoi(slash + 1));
}

static void put_hex(int type, const char *text)
{
	uint8_t bytes[64];
	unsigned int byte;
	size_t len = 0;

	while (len < sizeof(bytes) && sscanf(text + 2 * len, "%2x", &byte) == 1)
		bytes[len++] = byte;
	put(type, bytes, len);
}

static void put_value(int type, const char *form, const char *text)
{
	uint64_t number = strtoull(text, NULL, 0);
	uint8_t address[16];

	/* Little endian, as all machines of the lab are */
	if (!strcmp(form, "u8"))
		put(type, &number, 1);
	else if (!strcmp(form, "u16"))
		put(type, &number, 2);
	else if (!strcmp(form, "u32"))
		put(type, &number, 4);
	else if (!strcmp(form, "u64"))
		put(type, &number, 8);
	else if (!strcmp(form, "text"))
		put(type, text, strlen(text) + 1);
	else if (!strcmp(form, "raw"))
		put(type, text, strlen(text));
	else if (!strcmp(form, "hex"))
		put_hex(type, text);
	else if (!strcmp(form, "flag"))
		put(type, NULL, 0);
	else if (!strcmp(form, "address"))
		put(type, address, parse_address(text, address));
	else
		put_prefix_text(text);
}

static void put_word(char *word, const struct attribute *known, size_t n)
{
	char *text = strchr(word, '='), *form;
	int type = atoi(word);
	const char *usual = "u32";

	*text++ = '\0';
	form = strchr(word, ':');
	if (form)
		*form++ = '\0';
	for (size_t i = 0; i < n; i++) {
		if (strcmp(word, known[i].name))
			continue;
		type = known[i].type;
		usual = known[i].form;
	}
	put_value(type, form ?: usual, text);
}

static void put_words(const char *words)
{
	char copy[512], *save, *word;
	size_t nest = 0;

	snprintf(copy, sizeof(copy), "%s", words);
	for (word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		if (!strcmp(word, "prefix[")) {
			nest = nl_nest(&message, TCP_CIRCUIT_A_PREFIX);
		} else if (!strcmp(word, "flat[")) {
			nest = message.header.nlmsg_len;
			put(TCP_CIRCUIT_A_PREFIX, NULL, 0);
		} else if (!strcmp(word, "]")) {
			nl_nest_end(&message, nest);
			nest = 0;
		} else if (nest) {
			put_word(word, in_prefix, COUNT(in_prefix));
		} else {
			put_word(word, attributes, COUNT(attributes));
		}
	}
}

/* 0 or an errno; why is in nl.text */
static int request(uint8_t cmd, uint16_t flags, const char *words)
{
	nl_begin(&nl, &message, cmd, flags);
	put_words(words);
	return -nl_talk(&nl, &message, NULL, NULL);
}

static void must(uint8_t cmd, uint16_t flags, const char *words)
{
	errno = request(cmd, flags, words);
	if (errno) {
		printf("# %s\n", nl.text);
		bail(words);
	}
}

static void make(const char *words)
{
	must(TCP_CIRCUIT_CMD_NEW, NLM_F_CREATE, words);
}

static void drop(const char *name)
{
	char words[80];

	snprintf(words, sizeof(words), "name=%s", name);
	must(TCP_CIRCUIT_CMD_DEL, 0, words);
}

/* --- what the kernel has ------------------------------------------------------ */

/* Answers of a request, behind one another */
struct answers {
	char	bytes[1 << 20];
	size_t	len;
	int	count;
};

static int keep(const struct nlmsghdr *h, void *arg)
{
	struct answers *a = arg;
	size_t len = nl_end(h) - nl_attrs(h);

	if (a->len + len > sizeof(a->bytes))
		return -ENOBUFS;
	memcpy(a->bytes + a->len, nl_attrs(h), len);
	a->len += len;
	a->count++;
	return 0;
}

/* 0 or an errno */
static int try_dump(struct answers *a)
{
	a->len = 0;
	a->count = 0;
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	return -nl_talk(&nl, &message, keep, a);
}

static void dump(struct answers *a)
{
	errno = try_dump(a);
	if (errno)
		bail("dump");
}

static bool equal_answers(const struct answers *a, const struct answers *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/* 0 or an errno */
static int get(const char *words, struct answers *a)
{
	a->len = 0;
	a->count = 0;
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, 0);
	put_words(words);
	return -nl_talk(&nl, &message, keep, a);
}

/* In the answer to a get of one */
static const struct nlattr *found(const struct answers *a, int type)
{
	const struct nlattr *at;

	nl_for_each(at, a->bytes, a->bytes + a->len)
		if (nl_type(at) == type)
			return at;
	return NULL;
}

/* The name of what get gives, or why it gives none */
static const char *name_of(const char *words)
{
	static struct answers a;
	int err = get(words, &a);

	if (err)
		return err == ENOENT ? "none" : strerror(err);
	return found(&a, TCP_CIRCUIT_A_NAME) ?
	       nl_data(found(&a, TCP_CIRCUIT_A_NAME)) : "";
}

static int keep_stats(const struct nlmsghdr *h, void *arg)
{
	uint64_t *stats = arg;

	for (int i = 1; i <= TCP_CIRCUIT_STATS_A_MAX; i++)
		stats[i] = nl_number_of(h, i);
	return 0;
}

static uint64_t stat(int type)
{
	uint64_t stats[TCP_CIRCUIT_STATS_A_MAX + 1] = { 0 };

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_STATS, 0);
	errno = -nl_talk(&nl, &message, keep_stats, stats);
	if (errno)
		bail("stats");
	return stats[type];
}

/* --- refusals ----------------------------------------------------------------- */

#define NEW	TCP_CIRCUIT_CMD_NEW
#define DEL	TCP_CIRCUIT_CMD_DEL
#define GET	TCP_CIRCUIT_CMD_GET
#define RESET	TCP_CIRCUIT_CMD_RESET
#define STATS	TCP_CIRCUIT_CMD_STATS
#define WHERE	" prefix=192.0.2.0/24"
#define REST	" prefix=198.51.100.0/24 window=10"

/*
 * The table has "wave" of 192.0.2.0/24 and 2001:db8::/32, and "sat" of 192.0.2.0/24
 * with mark 7.  @err EINVAL: or ERANGE, as the core's own checks have it.
 */
static const struct refusal {
	const char	*what;
	uint8_t		cmd;
	uint16_t	flags;
	const char	*words;
	int		err;
} refusals[] = {
	/* Something is missing */
	{ "new: nothing", NEW, NLM_F_CREATE, "", EINVAL },
	{ "new: no name", NEW, NLM_F_CREATE, REST, EINVAL },
	{ "new: no prefix", NEW, NLM_F_CREATE, "name=x window=10", EINVAL },
	{ "new: no window", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24", EINVAL },
	{ "new: replace without a prefix", NEW, NLM_F_REPLACE,
	  "name=wave window=10", EINVAL },
	{ "new: replace without a window", NEW, NLM_F_REPLACE,
	  "name=wave" WHERE, EINVAL },
	{ "new: a prefix of nothing", NEW, NLM_F_CREATE,
	  "name=x prefix[ ] window=10", EINVAL },
	{ "new: a prefix without an address", NEW, NLM_F_CREATE,
	  "name=x prefix[ len=24 ] window=10", EINVAL },
	{ "new: a prefix without a length", NEW, NLM_F_CREATE,
	  "name=x prefix[ address=198.51.100.0 ] window=10", EINVAL },
	{ "del: no name", DEL, 0, "", EINVAL },
	{ "get: nothing", GET, 0, "", EINVAL },

	/* The name */
	{ "name: no byte", NEW, NLM_F_CREATE, "name:flag=" REST, EINVAL },
	{ "name: empty", NEW, NLM_F_CREATE, "name=" REST, EINVAL },
	{ "name: without NUL", NEW, NLM_F_CREATE, "name:raw=x" REST, EINVAL },
	{ "name: 32 bytes and NUL", NEW, NLM_F_CREATE,
	  "name=abcdefghijklmnopqrstuvwxyz012345" REST, EINVAL },
	{ "name: 32 bytes without NUL", NEW, NLM_F_CREATE,
	  "name:raw=abcdefghijklmnopqrstuvwxyz012345" REST, EINVAL },
	{ "name: a blank in it", NEW, NLM_F_CREATE,
	  "name:hex=61206200" REST, EINVAL },
	{ "name: a blank", NEW, NLM_F_CREATE, "name:hex=2000" REST, EINVAL },
	{ "name: a tab", NEW, NLM_F_CREATE, "name=a\tb" REST, EINVAL },
	{ "name: a line's end", NEW, NLM_F_CREATE, "name=a\n" REST, EINVAL },
	{ "name: a control byte", NEW, NLM_F_CREATE, "name=\001" REST, EINVAL },
	{ "name: an escape", NEW, NLM_F_CREATE, "name=\033[m" REST, EINVAL },
	{ "name: a rubout", NEW, NLM_F_CREATE, "name=a\177" REST, EINVAL },
	{ "name: not ASCII", NEW, NLM_F_CREATE, "name=\303\251" REST, EINVAL },
	{ "del: a name too long", DEL, 0,
	  "name=abcdefghijklmnopqrstuvwxyz012345", EINVAL },
	{ "del: a name without NUL", DEL, 0, "name:raw=wave", EINVAL },
	{ "get: a name without NUL", GET, 0, "name:raw=wave", EINVAL },
	{ "reset: a name without NUL", RESET, 0, "name:raw=wave", EINVAL },

	/* Prefixes */
	{ "prefix: no nest", NEW, NLM_F_CREATE,
	  "name=x prefix:u32=1 window=10", EINVAL },
	{ "prefix: a nest not marked as one", NEW, NLM_F_CREATE,
	  "name=x flat[ address=198.51.100.0 len=24 ] window=10", EINVAL },
	{ "prefix: an address of 3 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:hex=c63364 len=24 ] window=10", EINVAL },
	{ "prefix: an address of 5 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:hex=c633640000 len=24 ] window=10", EINVAL },
	{ "prefix: an address of 8 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:u64=0 len=24 ] window=10", EINVAL },
	{ "prefix: an address of 17 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:hex=0102030405060708090a0b0c0d0e0f1011 len=8 ] window=10",
	  EINVAL },
	{ "prefix: an address of no byte", NEW, NLM_F_CREATE,
	  "name=x prefix[ address:flag= len=0 ] window=10", EINVAL },
	{ "prefix: a length of 4 bytes", NEW, NLM_F_CREATE,
	  "name=x prefix[ address=198.51.100.0 len:u32=24 ] window=10", EINVAL },
	{ "prefix: a length of no byte", NEW, NLM_F_CREATE,
	  "name=x prefix[ address=198.51.100.0 len:flag= ] window=10", EINVAL },
	{ "prefix: IPv4/33", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/33 window=10", EINVAL },
	{ "prefix: IPv4/128", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/128 window=10", EINVAL },
	{ "prefix: IPv6/129", NEW, NLM_F_CREATE,
	  "name=x prefix=2001:db8:1::/129 window=10", EINVAL },
	{ "prefix: IPv6/255", NEW, NLM_F_CREATE,
	  "name=x prefix=2001:db8:1::/255 window=10", EINVAL },
	{ "prefix: IPv4, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.1/24 window=10", EINVAL },
	{ "prefix: IPv4/31, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.1/31 window=10", EINVAL },
	{ "prefix: IPv4/0, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=128.0.0.0/0 window=10", EINVAL },
	{ "prefix: IPv6, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=2001:db8:1::1/48 window=10", EINVAL },
	{ "prefix: IPv6/127, a bit behind it", NEW, NLM_F_CREATE,
	  "name=x prefix=2001:db8:1::1/127 window=10", EINVAL },
	{ "prefix: v4-mapped", NEW, NLM_F_CREATE,
	  "name=x prefix=::ffff:198.51.100.0/120 window=10", EINVAL },
	{ "prefix: all that is v4-mapped", NEW, NLM_F_CREATE,
	  "name=x prefix=::ffff:0.0.0.0/96 window=10", EINVAL },
	{ "prefix: an attribute that is not known", NEW, NLM_F_CREATE,
	  "name=x prefix[ address=198.51.100.0 len=24 3=1 ] window=10", EINVAL },
	{ "prefix: the second is wrong", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 prefix=203.0.113.9/24 window=10", EINVAL },
	{ "prefix: twice", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 prefix=203.0.113.0/24 prefix=198.51.100.0/24 window=10",
	  EINVAL },
	{ "prefix: another circuit's", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 prefix=2001:db8::/32 window=10", EEXIST },
	{ "prefix: another circuit's, with that mark", NEW, NLM_F_CREATE,
	  "name=x mark=7 window=10" WHERE, EEXIST },
	{ "prefix: another circuit's, by replacing", NEW, NLM_F_REPLACE,
	  "name=wave prefix=198.51.100.0/24 mark=7 window=10" WHERE, EEXIST },
	{ "prefix: another circuit's, by either", NEW,
	  NLM_F_REPLACE | NLM_F_CREATE, "name=sat window=10" WHERE, EEXIST },

	/* Numbers */
	{ "window: 0", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window=0", EINVAL },
	{ "window: one more than the limit", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window=67108865", EINVAL },
	{ "window: 2^32 - 1", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window=0xffffffff", EINVAL },
	{ "window: short", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window:u16=10", EINVAL },
	{ "window: long", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window:u64=10", EINVAL },
	{ "window: of no byte", NEW, NLM_F_CREATE,
	  "name=x prefix=198.51.100.0/24 window:flag=", EINVAL },
	{ "rate: one more than the limit", NEW, NLM_F_CREATE,
	  "name=x rate=125000000001" REST, EINVAL },
	{ "rate: 2^64 - 1", NEW, NLM_F_CREATE,
	  "name=x rate=0xffffffffffffffff" REST, EINVAL },
	{ "rate: short", NEW, NLM_F_CREATE, "name=x rate:u32=1" REST, EINVAL },
	{ "rate: of no byte", NEW, NLM_F_CREATE, "name=x rate:flag=" REST, EINVAL },
	{ "ifindex: no such device", NEW, NLM_F_CREATE,
	  "name=x ifindex=0x7fffffff" REST, ENODEV },
	{ "ifindex: 0", NEW, NLM_F_CREATE, "name=x ifindex=0" REST, EINVAL },
	{ "ifindex: negative", NEW, NLM_F_CREATE,
	  "name=x ifindex=0x80000000" REST, EINVAL },
	{ "ifindex: short", NEW, NLM_F_CREATE, "name=x ifindex:u8=1" REST, EINVAL },
	{ "mark: 0", NEW, NLM_F_CREATE, "name=x mark=0" REST, EINVAL },
	{ "mark: long", NEW, NLM_F_CREATE, "name=x mark:u64=1" REST, EINVAL },
	{ "flags: unknown", NEW, NLM_F_CREATE, "name=x flags=4" REST, EINVAL },
	{ "flags: unknown beside a known one", NEW, NLM_F_CREATE,
	  "name=x flags=0x80000002" REST, EINVAL },
	{ "flags: short", NEW, NLM_F_CREATE, "name=x flags:u16=2" REST, EINVAL },

	/* What is no business of this request */
	{ "new: an attribute that is not known", NEW, NLM_F_CREATE,
	  "name=x 99=1" REST, EINVAL },
	{ "new: the first that is not known", NEW, NLM_F_CREATE,
	  "name=x 24=1" REST, EINVAL },
	{ "new: attribute 0", NEW, NLM_F_CREATE, "name=x 0=1" REST, EINVAL },
	{ "new: an id", NEW, NLM_F_CREATE, "name=x 9=1" REST, EINVAL },
	{ "new: auto", NEW, NLM_F_CREATE, "name=x 10:flag=" REST, EINVAL },
	{ "new: a breaker", NEW, NLM_F_CREATE, "name=x 14=0" REST, EINVAL },
	{ "new: a cause", NEW, NLM_F_CREATE, "name=x 21=1" REST, EINVAL },
	{ "new: a uid", NEW, NLM_F_CREATE, "name=x 23=0" REST, EINVAL },
	{ "new: an address", NEW, NLM_F_CREATE,
	  "name=x address=198.51.100.1" REST, EINVAL },
	{ "del: a window", DEL, 0, "name=wave window=10", EINVAL },
	{ "get: a window", GET, 0, "name=wave window=10", EINVAL },
	{ "reset: a window", RESET, 0, "name=wave window=10", EINVAL },
	{ "stats: a name", STATS, 0, "name=wave", EINVAL },

	/* Who is asked for */
	{ "get: an address of 5 bytes", GET, 0, "address:hex=c000020000", EINVAL },
	{ "get: an address of no byte", GET, 0, "address:flag=", EINVAL },
	{ "get: an address of 17 bytes", GET, 0,
	  "address:hex=0102030405060708090a0b0c0d0e0f1011", EINVAL },
	{ "get: a v4-mapped address", GET, 0, "address=::ffff:192.0.2.1", EINVAL },
	{ "get: a device alone", GET, 0, "ifindex=1", EINVAL },
	{ "get: a mark alone", GET, 0, "mark=7", EINVAL },
	{ "get: no such name", GET, 0, "name=wav", ENOENT },
	{ "get: no such address", GET, 0, "address=198.51.100.1", ENOENT },
	{ "del: no such name", DEL, 0, "name=waves", ENOENT },
	{ "reset: no such name", RESET, 0, "name=x", ENOENT },
	{ "reset: no such address", RESET, 0, "address=198.51.100.1", ENOENT },
	{ "reset: an address of 5 bytes", RESET, 0, "address:hex=c000020000",
	  EINVAL },

	/* Flags of the message, beside those in modes() */
	{ "new: neither create nor replace", NEW, 0, "name=x" REST, EINVAL },
	{ "new: there is one", NEW, NLM_F_CREATE | NLM_F_EXCL,
	  "name=wave" REST, EEXIST },
	{ "new: there is none", NEW, NLM_F_REPLACE, "name=x" REST, ENOENT },
};

static bool as_expected(int expected, int err)
{
	return err == expected || (expected == EINVAL && err == ERANGE);
}

static void refuse(const struct refusal *r, const struct answers *before,
		   struct answers *after)
{
	int err = request(r->cmd, r->flags, r->words);
	char bad[400] = "";

	if (!as_expected(r->err, err))
		snprintf(bad, sizeof(bad), "expected %s, got %s (%s)",
			 strerror(r->err), err ? strerror(err) : "success",
			 nl.text);
	else if (!nl.text[0])
		snprintf(bad, sizeof(bad), "%s, but not a word why",
			 strerror(err));
	dump(after);
	if (!equal_answers(before, after))
		snprintf(bad, sizeof(bad), "refused, but the table has changed");
	point(r->what, bad);
}

/* Of the table that refusals[] are about */
static void make_two(void)
{
	make("name=wave prefix=192.0.2.0/24 prefix=2001:db8::/32 window=1000 rate=125000000");
	make("name=sat prefix=192.0.2.0/24 mark=7 window=2000");
}

static void drop_two(void)
{
	drop("wave");
	drop("sat");
}

static bool event_waits(void)
{
	struct pollfd pfd = { .fd = nl.fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

static void check_refusals(void)
{
	static struct answers before, after;

	make_two();
	dump(&before);
	for (size_t i = 0; i < COUNT(refusals); i++)
		refuse(&refusals[i], &before, &after);
	drop_two();
}

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

static void check_good(void)
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
static void check_answer(void)
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

static void check_modes(void)
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
			put_prefix(v6, 16, 128);
		} else {
			put_prefix(&word, 4, 32);
		}
	}
}

static int new_many(const char *name, uint16_t flags, uint32_t first, int n)
{
	begin_many(name, flags, first, n);
	return -nl_talk(&nl, &message, NULL, NULL);
}

static int count_prefixes(const struct answers *a)
{
	const struct nlattr *at;
	int n = 0;

	nl_for_each(at, a->bytes, a->bytes + a->len)
		n += nl_type(at) == TCP_CIRCUIT_A_PREFIX;
	return n;
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

static void check_prefixes(void)
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

/* --- the longest match -------------------------------------------------------- */

static void check_match(void)
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
		count_answer(c, h);
	}
	return true;
}

/*
 * After each part some go and some come.  Who was there all the time is told once;
 * who came or went at most once.
 */
static void check_changing_dump(void)
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

/* --- events ------------------------------------------------------------------- */

/* The next one's command, and what it says; 0: none */
static int next_event(struct nl *listener, struct answers *a)
{
	static char bytes[NL_ANSWER_MAX]
		__attribute__((aligned(__alignof__(struct nlmsghdr))));
	struct pollfd pfd = { .fd = listener->fd, .events = POLLIN };
	struct nlmsghdr *h = (void *)bytes;

	a->len = 0;
	a->count = 0;
	if (poll(&pfd, 1, 500) <= 0 ||
	    recv(listener->fd, bytes, sizeof(bytes), 0) <= 0)
		return 0;
	keep(h, a);
	return nl_command(h);
}

static void check_events(void)
{
	static struct answers event, circuit;
	struct nl listener;

	if (nl_open(&listener, TCP_CIRCUIT_GENL_NAME))
		bail("a second socket");
	same_error("subscribe", 0, -nl_join(&listener, TCP_CIRCUIT_MCGRP_EVENTS));
	make_two();
	get("name=wave", &circuit);
	same("event: added", TCP_CIRCUIT_CMD_ADDED_NTF,
	     next_event(&listener, &event));
	same("event: added, as get has it", 1, equal_answers(&event, &circuit));
	same("event: the second", TCP_CIRCUIT_CMD_ADDED_NTF,
	     next_event(&listener, &event));
	must(NEW, NLM_F_REPLACE, "name=wave prefix=192.0.2.0/25 window=7 flags=2");
	get("name=wave", &circuit);
	same("event: changed", TCP_CIRCUIT_CMD_CHANGED_NTF,
	     next_event(&listener, &event));
	same("event: changed, as get has it now", 1,
	     equal_answers(&event, &circuit));
	request(NEW, NLM_F_CREATE, "name=wave mark=0" WHERE);
	request(NEW, NLM_F_REPLACE, "name=wave mark=7 window=9" WHERE);
	request(DEL, 0, "name=x");
	drop("wave");
	same("event: removed, and none for what was refused",
	     TCP_CIRCUIT_CMD_REMOVED_NTF, next_event(&listener, &event));
	same("event: removed, as it was", 1, equal_answers(&event, &circuit));
	must(RESET, 0, "");
	drop("sat");
	same("event: the second removed, and none of a reset of nothing",
	     TCP_CIRCUIT_CMD_REMOVED_NTF, next_event(&listener, &event));
	same("event: no more", 0, next_event(&listener, &event));
	close(listener.fd);
}

/* --- who may ------------------------------------------------------------------ */

/* Points of a child count as ours. */
struct tally {
	int	points, failures;
};

static void in_child(void (*run)(void))
{
	struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	if (tally == MAP_FAILED)
		bail("mmap");
	fflush(stdout);
	if (fork() == 0) {
		run();
		tally->points = points;
		tally->failures = failures;
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		bail("a child");
	points = tally->points;
	failures = tally->failures;
	munmap(tally, sizeof(*tally));
}

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		bail("setuid");
}

static void open_again(void)
{
	if (nl_open(&nl, TCP_CIRCUIT_GENL_NAME))
		bail("a socket of one's own");
}

static void try_changes(const char *who)
{
	static const struct {
		const char *what, *words;
		uint8_t cmd;
	} rows[] = {
		{ "create", "name=x" REST, NEW },
		{ "replace", "name=wave" REST, NEW },
		{ "del", "name=wave", DEL },
		{ "reset of one", "name=wave", RESET },
		{ "reset of all", "", RESET },
	};
	char what[100];

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(what, sizeof(what), "%s: %s", who, rows[i].what);
		same_error(what, EPERM,
			   request(rows[i].cmd,
				   rows[i].cmd == NEW ? NLM_F_CREATE : 0,
				   rows[i].words));
	}
}

/* Objects are no secret; who talks to whom is. */
static void as_nobody(void)
{
	static struct answers a;

	become_nobody();
	open_again();
	try_changes("a user");
	same_error("a user: events", EPERM,
		   -nl_join(&nl, TCP_CIRCUIT_MCGRP_EVENTS));
	dump(&a);
	same("a user: circuits in a dump, none of them auto", 2, a.count);
	same_name("a user: get by name", "wave", name_of("name=wave"));
	same_name("a user: get by address", "wave", name_of("address=192.0.2.1"));
	same_name("a user: get of a peer of others", "none",
		  name_of("address=127.0.0.1"));
	same("a user: stats", 2, stat(TCP_CIRCUIT_STATS_A_CIRCUITS));
}

static void with_roots_socket(void)
{
	open_again();
	become_nobody();
	same_error("a user, by root's socket: del", EPERM,
		   request(DEL, 0, "name=wave"));
}

/* In a chroot, as the lab's machine lives in, nobody has a user namespace. */
static void leave_chroot(void)
{
	if (chdir("/") || chroot("/tmp"))
		bail("chroot");
	for (int i = 0; i < 16; i++)
		if (chdir(".."))
			bail("chdir");
	if (chroot("."))
		bail("chroot");
}

/* A user's own namespace is the user's own. */
static void in_own_namespace(void)
{
	leave_chroot();
	become_nobody();
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		point("a user's own namespace # SKIP this kernel lets users have none",
		      "");
		return;
	}
	open_again();
	same_error("a user, in a namespace of his own: create", 0,
		   request(NEW, NLM_F_CREATE, "name=wave" REST));
	same_error("a user, in a namespace of his own: events", 0,
		   -nl_join(&nl, TCP_CIRCUIT_MCGRP_EVENTS));
	drop("wave");
}

/* Both ends of a connection by the loopback, circuit's */
static void connect_pair(int ends[2])
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(to);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	set_algorithm(ends[0], "circuit");
	if (bind(listener, (void *)&to, sizeof(to)) || listen(listener, 1) ||
	    getsockname(listener, (void *)&to, &len) ||
	    connect(ends[0], (void *)&to, sizeof(to)))
		bail("connect");
	ends[1] = accept(listener, NULL, NULL);
	close(listener);
}

/* Nothing of it waits for a FIN. */
static void reset(int fd)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

/* Of the prefix in @a, when that is 127.0.0.1's, bits */
static uint64_t peer_length(const struct answers *a)
{
	const struct nlattr *prefix = found(a, TCP_CIRCUIT_A_PREFIX), *address;

	address = prefix ? nl_find_in(prefix, TCP_CIRCUIT_PREFIX_A_ADDRESS) : NULL;
	if (!address || nl_len(address) != 4 ||
	    memcmp(nl_data(address), "\177\0\0\1", 4))
		return 0;
	return nl_number(nl_find_in(prefix, TCP_CIRCUIT_PREFIX_A_LEN));
}

static void check_auto(void)
{
	static struct answers a;

	same_error("get of a peer without an object", 0,
		   get("address=127.0.0.1", &a));
	same("it is auto", 1, !!found(&a, TCP_CIRCUIT_A_AUTO));
	same("it has a prefix", 1, count_prefixes(&a));
	same("its peer's", 32, peer_length(&a));
	same("its sockets, both ends", 2,
	     nl_number(found(&a, TCP_CIRCUIT_A_SOCKETS)));
	same("its window", NETNS_FCWND,
	     nl_number(found(&a, TCP_CIRCUIT_A_WINDOW)));
	dump(&a);
	same("a dump has it", 3, a.count);
}

static void check_privileges(void)
{
	static struct answers before, after;
	int ends[2];

	make_two();
	connect_pair(ends);
	check_auto();
	dump(&before);
	in_child(as_nobody);
	in_child(with_roots_socket);
	dump(&after);
	same("nothing of it was done", 1, equal_answers(&before, &after));
	in_child(in_own_namespace);
	reset(ends[0]);
	reset(ends[1]);
	drop_two();
}

/* --- namespaces --------------------------------------------------------------- */

static void in_another_namespace(void)
{
	static struct answers a;

	if (unshare(CLONE_NEWNET))
		bail("unshare");
	open_again();
	dump(&a);
	same("another namespace has none of it", 0, a.count);
	same_error("the same name and prefixes are free there", 0,
		   request(NEW, NLM_F_CREATE | NLM_F_EXCL,
			   "name=wave prefix=192.0.2.0/24 window=5"));
	same_error("what is not there cannot be removed", ENOENT,
		   request(DEL, 0, "name=sat"));
	must(RESET, 0, "");
}

static void check_namespaces(void)
{
	static struct answers before, after;
	struct nl listener;

	make_two();
	dump(&before);
	if (nl_open(&listener, TCP_CIRCUIT_GENL_NAME) ||
	    nl_join(&listener, TCP_CIRCUIT_MCGRP_EVENTS))
		bail("a second socket");
	in_child(in_another_namespace);
	dump(&after);
	same("another namespace's changes are none here", 1,
	     equal_answers(&before, &after));
	same("and its events are not heard here", 0,
	     next_event(&listener, &after));
	close(listener.fd);
	drop_two();
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

static void check_full(void)
{
	unsigned int most = stat(TCP_CIRCUIT_STATS_A_CIRCUITS_MAX), n = 0;
	int err = 0;

	while (n <= most && !(err = new_number(n, NLM_F_CREATE, 1)))
		n++;
	same("circuits until it is full", most, n);
	same_error("and then", ENOSPC, err);
	same("and why", 1, !!nl.text[0]);
	same("stats: circuits", most, stat(TCP_CIRCUIT_STATS_A_CIRCUITS));
	same_error("replace when it is full", 0,
		   new_number(0, NLM_F_REPLACE | NLM_F_CREATE, 2));
	drop("f1");
	same_error("one has gone: there is room", 0,
		   new_number(1, NLM_F_CREATE, 1));
	drop_filled(n);
}

/* Each with as many prefixes as it may have */
static void check_full_of_prefixes(void)
{
	unsigned int most = stat(TCP_CIRCUIT_STATS_A_PREFIXES_MAX), n = 0;
	const int each = TCP_CIRCUIT_PREFIXES_MAX;
	int err = 0;

	while (n <= most / each && !(err = new_number(n, NLM_F_CREATE, each)))
		n++;
	same("prefixes until it is full", most / each * each, n * each);
	same_error("and then", ENOSPC, err);
	same("and why", 1, !!nl.text[0]);
	same("stats: prefixes", most, stat(TCP_CIRCUIT_STATS_A_PREFIXES));
	same_error("all others instead, when it is full", 0,
		   new_many("f0", NLM_F_REPLACE, 0x0a000000, each));
	drop_filled(n);
}

int main(void)
{
	uint64_t memory;

	if (nl_open(&nl, TCP_CIRCUIT_GENL_NAME))
		bail(TCP_CIRCUIT_GENL_NAME);
	memory = stat(TCP_CIRCUIT_STATS_A_MEMORY);
	check_refusals();
	check_good();
	check_answer();
	check_modes();
	check_prefixes();
	check_match();
	check_changing_dump();
	check_events();
	check_privileges();
	check_namespaces();
	check_full();
	check_full_of_prefixes();
	same("nothing is left: circuits", 0, stat(TCP_CIRCUIT_STATS_A_CIRCUITS));
	same("nothing is left: prefixes", 0, stat(TCP_CIRCUIT_STATS_A_PREFIXES));
	same("nothing is left: memory", memory, stat(TCP_CIRCUIT_STATS_A_MEMORY));
	same("an answer nobody asked for", 0, event_waits());
	printf("1..%d\n", points);
	return failures || !points;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_nlfuzz: random messages to the netlink family "tcp_circuit"
 *
 *	circuit_nlfuzz [-s SEED] [-n MESSAGES]
 *
 * Runs as root in a namespace of its own, circuit loaded, no circuit there.  The
 * same seed gives the same messages.  Half of them are as they should be, of a few
 * names and prefixes; the other half were, until one to three things were done to
 * them: an attribute dropped, added, made shorter, longer, empty, another or one of
 * no type at all; nests opened, closed and cut wrong; bytes changed; the message cut
 * off; other commands, versions and flags.  What must hold:
 *
 *	a refusal	(of a sample) leaves the table as it was, byte by byte
 *	every message	that asks for it is acknowledged, once
 *	now and then	all circuits have a name, a window, prefixes as the header
 *			says, no two the same prefix; STATS counts as many
 *	at the end	when all were removed: nothing is left, no byte of memory
 *
 * Prints NAME=value for messages, those that were done, those refused, and broken
 * rules, each of which is described in a line "broken: ...".
 */
#include <ctype.h>
#include <getopt.h>

#include "nl.h"
#include "random.h"
#include "rules.h"

#define NAMES		64
#define PREFIXES	500	/* that are to be had */
#define SAMPLE		64	/* messages between two looks at what a refusal left */
#define CENSUS		5000	/* messages between two looks at everything */
#define TABLE_MAX	(1 << 20)	/* bytes of all circuits */

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

uint64_t random_state, seed, turn, broken;

static struct nl nl, listener;
static struct nl_message message;
static uint64_t done, refused;

struct table {
	char	bytes[TABLE_MAX];
	size_t	len;
};

/* @err: 0 or -errno */
static void need(int err, const char *what)
{
	errno = -err;
	if (err)
		bail(what);
}

/* --- messages as they should be ------------------------------------------- */

static void put_name(void)
{
	char name[TCP_CIRCUIT_NAME_LEN];

	snprintf(name, sizeof(name), "fuzz%u", below(NAMES));
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, name);
}

/* One of PREFIXES, of lengths from 0 on; no bits behind it */
static void put_prefix(void)
{
	uint32_t which = below(PREFIXES);
	uint8_t address[16] = { 0x20, 0x01, 0x0d, 0xb8 };
	bool v6 = which % 2;
	uint8_t bits = v6 ? 48 : 16, len = bits;

	if (!v6)
		address[0] = 10;
	address[v6 ? 4 : 1] = which / 2;
	if (which % 16 < 2) {
		memset(address, 0, sizeof(address));
		len = 0;
	}
	nl_put_prefix(&message, address, v6 ? 16 : 4, len);
}

static void put_selectors(void)
{
	if (!below(8))
		nl_put_u32(&message, TCP_CIRCUIT_A_IFINDEX, 1);
	if (!below(4))
		nl_put_u32(&message, TCP_CIRCUIT_A_MARK, 1 + below(8));
}

static void put_address(void)
{
	uint8_t address[16] = { 10, below(256), 1, 1 };

	if (below(2)) {
		memcpy(address, "\x20\x01\x0d\xb8", 4);
		address[4] = below(256);
		nl_put(&message, TCP_CIRCUIT_A_ADDRESS, address, 16);
	} else {
		nl_put(&message, TCP_CIRCUIT_A_ADDRESS, address, 4);
	}
}

static void make_new(void)
{
	static const uint16_t flags[] = {
		NLM_F_CREATE, NLM_F_CREATE | NLM_F_EXCL, NLM_F_REPLACE,
		NLM_F_CREATE | NLM_F_REPLACE,
	};
	uint32_t prefixes = 1 + (below(16) ? below(4) :
				 below(TCP_CIRCUIT_PREFIXES_MAX + 2));

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_NEW, flags[below(COUNT(flags))]);
	put_name();
	nl_put_u32(&message, TCP_CIRCUIT_A_WINDOW,
		   below(8) ? 1 + below(1000) : TCP_CIRCUIT_WINDOW_LIMIT);
	while (prefixes--)
		put_prefix();
	put_selectors();
	if (below(2))
		nl_put_u64(&message, TCP_CIRCUIT_A_RATE,
			   chance() % (TCP_CIRCUIT_RATE_LIMIT + 1));
	if (!below(4))
		nl_put_u32(&message, TCP_CIRCUIT_A_FLAGS, below(4));
}

static void make_del(void)
{
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_DEL, 0);
	put_name();
}

static void make_get(void)
{
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, 0);
	if (below(2))
		put_name();
	else
		put_address();
	put_selectors();
}

static void make_dump(void)
{
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
}

static void make_reset(void)
{
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_RESET, 0);
	switch (below(3)) {
	case 0: put_name(); break;
	case 1: put_address(); break;
	}
}

static void make_stats(void)
{
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_STATS, 0);
}

static void make(void)
{
	switch (below(32)) {
	case 0 ... 17: make_new(); break;
	case 18 ... 23: make_del(); break;
	case 24 ... 27: make_get(); break;
	case 28 ... 29: make_reset(); break;
	case 30: make_stats(); break;
	case 31: make_dump(); break;
	}
}

/* --- what is done to them ------------------------------------------------- */

static size_t attrs_begin(void)
{
	return NLMSG_HDRLEN + GENL_HDRLEN;
}

/* Any attribute, also one in a nest; NULL: there is none. */
static struct nlattr *any_attr(void)
{
	const char *from = message.bytes + attrs_begin();
	const char *end = message.bytes + message.header.nlmsg_len;
	const struct nlattr *a, *found = NULL, *in;
	uint32_t n = 0;

	nl_for_each(a, from, end)
		if (!below(++n))
			found = a;
	if (found && nl_type(found) == TCP_CIRCUIT_A_PREFIX && below(4)) {
		n = 0;
		end = (const char *)found + found->nla_len;
		in = NULL;
		nl_for_each(a, nl_data(found), end)
			if (!below(++n))
				in = a;
		if (in)
			found = in;
	}
	return (struct nlattr *)found;
}

/* Where none is, the next thing is done instead. */
static void drop_attr(void)
{
	struct nlattr *a = any_attr();
	size_t len, behind;

	if (!a)
		return;
	len = NLA_ALIGN(a->nla_len);
	behind = message.bytes + message.header.nlmsg_len - (char *)a;
	if (len > behind)
		return;
	memmove(a, (char *)a + len, behind - len);
	message.header.nlmsg_len -= len;
}

static void add_attr(void)
{
	uint8_t bytes[64];
	uint32_t len = below(sizeof(bytes) + 1);

	for (uint32_t i = 0; i < len; i++)
		bytes[i] = chance() >> 32;
	nl_put(&message, below(8) ? below(TCP_CIRCUIT_A_MAX + 4) :
	       chance() >> 48, bytes, len);
}

/* Its length alone: what is behind it is taken for more of it, or for another. */
static void wrong_length(void)
{
	static const uint16_t lengths[] = { 0, 1, 3, 4, 5, 6, 8, 12, 20, 37, 0xffff };
	struct nlattr *a = any_attr();

	if (!a)
		return;
	if (below(2))
		a->nla_len = lengths[below(COUNT(lengths))];
	else
		a->nla_len += (int)below(9) - 4;
}

/* The whole of it with another length */
static void resize_attr(void)
{
	struct nlattr *a = any_attr();
	uint8_t bytes[300] = { 0 };
	uint32_t len = below(below(4) ? 20 : sizeof(bytes));
	int type;

	if (!a || a->nla_len < NLA_HDRLEN)
		return;
	type = a->nla_type;
	memcpy(bytes, nl_data(a), nl_len(a) < len ? nl_len(a) : len);
	nl_put(&message, type, bytes, len);
}

static void wrong_type(void)
{
	struct nlattr *a = any_attr();

	if (!a)
		return;
	switch (below(4)) {
	case 0: a->nla_type ^= NLA_F_NESTED; break;
	case 1: a->nla_type ^= NLA_F_NET_BYTEORDER; break;
	case 2: a->nla_type = below(TCP_CIRCUIT_A_MAX + 2); break;
	case 3: a->nla_type = chance() >> 48; break;
	}
}

static void wrong_byte(void)
{
	size_t len = message.header.nlmsg_len - attrs_begin();

	if (len)
		message.bytes[attrs_begin() + below(len)] ^= 1 << below(8);
}

/* A value at one of the ends */
static void wrong_value(void)
{
	static const uint64_t ends[] = {
		0, 1, 32, 33, 128, 129, 255, INT32_MAX, UINT32_MAX,
		TCP_CIRCUIT_WINDOW_LIMIT + 1ULL, TCP_CIRCUIT_RATE_LIMIT + 1,
		INT64_MAX, UINT64_MAX,
	};
	struct nlattr *a = any_attr();
	uint64_t value = ends[below(COUNT(ends))];

	if (a && a->nla_len > NLA_HDRLEN)
		memcpy((char *)a + NLA_HDRLEN, &value,
		       nl_len(a) < 8 ? nl_len(a) : 8);
}

static void cut_off(void)
{
	size_t len = message.header.nlmsg_len - attrs_begin();

	if (len)
		message.header.nlmsg_len = attrs_begin() + below(len);
}

static void nest_too_deep(void)
{
	size_t nest[8];

	for (size_t i = 0; i < COUNT(nest); i++)
		nest[i] = nl_nest(&message, below(2) ? TCP_CIRCUIT_A_PREFIX :
				  below(TCP_CIRCUIT_A_MAX + 1));
	put_prefix();
	for (size_t i = 0; i < COUNT(nest); i++)
		nl_nest_end(&message, nest[COUNT(nest) - 1 - i]);
}

static void wrong_header(void)
{
	struct genlmsghdr *g = NLMSG_DATA(&message.header);

	switch (below(4)) {
	case 0: g->cmd = below(TCP_CIRCUIT_CMD_MAX + 3); break;
	case 1: g->version = chance() >> 32; break;
	case 2: g->reserved = chance() >> 32; break;
	case 3:	message.header.nlmsg_flags ^= 1 << below(12); break;
	}
}

static void spoil(void)
{
	static void (*const ways[])(void) = {
		drop_attr, add_attr, wrong_length, resize_attr, wrong_type,
		wrong_byte, wrong_value, cut_off, nest_too_deep, wrong_header,
	};
	uint32_t times = 1 + below(3);

	while (times--)
		ways[below(COUNT(ways))]();
}

/* --- answers -------------------------------------------------------------- */

struct outcome {
	int	acks, err;	/* of the last ack, 0 or an errno */
	int	answers;
};

static void take(const struct nlmsghdr *h, struct outcome *o)
{
	int err = 0;

	if (h->nlmsg_type == NLMSG_ERROR) {
		o->acks++;
		o->err = -((struct nlmsgerr *)NLMSG_DATA(h))->error;
	} else if (h->nlmsg_type == NLMSG_DONE) {
		memcpy(&err, NLMSG_DATA(h), sizeof(err));
		o->acks++;
		o->err = err < 0 ? -err : 0;
	} else {
		o->answers++;
	}
}

/* The kernel answers before sendto() returns, but for the later parts of a dump. */
static void take_all(struct outcome *o)
{
	static char answer[NL_ANSWER_MAX]
		__attribute__((aligned(__alignof__(struct nlmsghdr))));
	ssize_t got;

	while ((got = recv(nl.fd, answer, sizeof(answer), MSG_DONTWAIT)) > 0) {
		int left = got;

		for (struct nlmsghdr *h = (void *)answer; NLMSG_OK(h, left);
		     h = NLMSG_NEXT(h, left))
			if (h->nlmsg_seq == nl.seq)
				take(h, o);
	}
}

static void hear_events(void)
{
	static char event[NL_ANSWER_MAX];

	while (recv(listener.fd, event, sizeof(event), MSG_DONTWAIT) > 0)
		;
}

static struct outcome exchange(void)
{
	bool acked = message.header.nlmsg_flags & NLM_F_ACK &&
		     message.header.nlmsg_flags & NLM_F_REQUEST;
	struct outcome o = { 0 };

	need(nl_send(&nl, &message), "send");
	take_all(&o);
	if (acked && o.acks != 1)
		rule("%d acknowledgements of one message, %d answers", o.acks,
		     o.answers);
	return o;
}

/* --- the table ------------------------------------------------------------ */

static int keep(const struct nlmsghdr *h, void *arg)
{
	struct table *t = arg;
	size_t len = nl_end(h) - (const char *)h;

	if (t->len + NLMSG_ALIGN(len) > sizeof(t->bytes))
		return -ENOBUFS;
	memcpy(t->bytes + t->len, h, len);
	t->len += NLMSG_ALIGN(len);
	return 0;
}

static void read_table(struct table *t)
{
	t->len = 0;
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	need(nl_talk(&nl, &message, keep, t), "dump");
}

/* In host byte order of bytes: as the kernel's own table of them */
struct key {
	uint8_t		address[16];
	uint32_t	size, len, ifindex, mark;
};

static struct key keys[NAMES * TCP_CIRCUIT_PREFIXES_MAX];
static size_t n_keys;

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct key));
}

static bool tail_is_zero(const struct key *k)
{
	for (uint32_t bit = k->len; bit < k->size * 8; bit++)
		if (k->address[bit / 8] & 0x80 >> bit % 8)
			return false;
	return true;
}

static void check_prefix(const struct nlmsghdr *h, const struct nlattr *nest)
{
	const struct nlattr *address = nl_find_in(nest, TCP_CIRCUIT_PREFIX_A_ADDRESS);
	struct key *k = &keys[n_keys];

	if (n_keys == COUNT(keys)) {
		rule("more prefixes than %u names may have", NAMES);
		return;
	}
	memset(k, 0, sizeof(*k));
	k->size = address ? nl_len(address) : 0;
	k->len = nl_number(nl_find_in(nest, TCP_CIRCUIT_PREFIX_A_LEN));
	k->ifindex = nl_number_of(h, TCP_CIRCUIT_A_IFINDEX);
	k->mark = nl_number_of(h, TCP_CIRCUIT_A_MARK);
	if ((k->size != 4 && k->size != 16) || k->len > k->size * 8) {
		rule("a prefix of %u bytes, length %u", k->size, k->len);
		return;
	}
	memcpy(k->address, nl_data(address), k->size);
	if (!tail_is_zero(k))
		rule("a prefix with bits behind it");
	n_keys++;
}

static void check_name(const struct nlattr *name)
{
	const char *text = name ? nl_data(name) : "";
	size_t len = name ? strnlen(text, nl_len(name)) : 0;

	if (!len || len >= TCP_CIRCUIT_NAME_LEN || len == nl_len(name))
		rule("a name of %zu bytes", len);
	for (size_t i = 0; i < len; i++)
		if (!isascii(text[i]) || !isgraph(text[i]))
			rule("a name with byte %d", text[i]);
}

static void check_circuit(const struct nlmsghdr *h)
{
	uint64_t window = nl_number_of(h, TCP_CIRCUIT_A_WINDOW);
	const struct nlattr *a;
	size_t before = n_keys;

	check_name(nl_find(h, TCP_CIRCUIT_A_NAME));
	if (window < 1 || window > TCP_CIRCUIT_WINDOW_LIMIT)
		rule("a window of %llu", (unsigned long long)window);
	if (nl_number_of(h, TCP_CIRCUIT_A_RATE) > TCP_CIRCUIT_RATE_LIMIT)
		rule("a rate beyond the limit");
	nl_for_each(a, nl_attrs(h), nl_end(h))
		if (nl_type(a) == TCP_CIRCUIT_A_PREFIX)
			check_prefix(h, a);
	if (n_keys == before || n_keys - before > TCP_CIRCUIT_PREFIXES_MAX)
		rule("%zu prefixes", n_keys - before);
}

/* Everything that is there */
static void check_table(void)
{
	uint64_t stats[TCP_CIRCUIT_STATS_A_MAX + 1];
	static struct table t;
	uint32_t circuits = 0;
	int left;

	read_table(&t);
	need(nl_read_stats(&nl, stats), "stats");
	left = t.len;
	n_keys = 0;
	for (struct nlmsghdr *h = (void *)t.bytes; NLMSG_OK(h, left);
	     h = NLMSG_NEXT(h, left)) {
		check_circuit(h);
		circuits++;
	}
	qsort(keys, n_keys, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < n_keys; i++)
		if (!compare_keys(&keys[i - 1], &keys[i]))
			rule("one prefix of two circuits");
	if (stats[TCP_CIRCUIT_STATS_A_CIRCUITS] != circuits ||
	    stats[TCP_CIRCUIT_STATS_A_PREFIXES] != n_keys)
		rule("stats: %llu circuits, %llu prefixes; there are %u and %zu",
		     (unsigned long long)stats[TCP_CIRCUIT_STATS_A_CIRCUITS],
		     (unsigned long long)stats[TCP_CIRCUIT_STATS_A_PREFIXES],
		     circuits, n_keys);
}

/* --- a run ---------------------------------------------------------------- */

static bool same_table(const struct table *a, const struct table *b)
{
	const struct nlmsghdr *x = (const void *)a->bytes;
	const struct nlmsghdr *y = (const void *)b->bytes;
	int left = a->len;

	if (a->len != b->len)
		return false;
	for (; NLMSG_OK(x, left); x = NLMSG_NEXT(x, left)) {
		if (x->nlmsg_len != y->nlmsg_len ||
		    memcmp(nl_attrs(x), nl_attrs(y), nl_end(x) - nl_attrs(x)))
			return false;
		y = (const void *)((const char *)y + NLMSG_ALIGN(y->nlmsg_len));
	}
	return true;
}

static void one(void)
{
	static struct table before, after;
	bool sample = turn % SAMPLE == 0;
	struct outcome o;

	if (sample)
		read_table(&before);
	make();
	if (below(2))
		spoil();
	o = exchange();
	if (o.err)
		refused++;
	else
		done++;
	if (!sample || !o.err)
		return;
	read_table(&after);
	if (!same_table(&before, &after))
		rule("refused (%s), but the table has changed", strerror(o.err));
}

static void remove_all(void)
{
	static struct table t;
	int left, err;

	read_table(&t);
	left = t.len;
	for (struct nlmsghdr *h = (void *)t.bytes; NLMSG_OK(h, left);
	     h = NLMSG_NEXT(h, left)) {
		const struct nlattr *name = nl_find(h, TCP_CIRCUIT_A_NAME);

		nl_begin(&nl, &message, TCP_CIRCUIT_CMD_DEL, 0);
		nl_put(&message, TCP_CIRCUIT_A_NAME, nl_data(name), nl_len(name));
		err = nl_talk(&nl, &message, NULL, NULL);
		if (err)
			rule("removing what is there: %s", strerror(-err));
	}
}

static void run(uint64_t messages)
{
	uint64_t before[TCP_CIRCUIT_STATS_A_MAX + 1];
	uint64_t after[TCP_CIRCUIT_STATS_A_MAX + 1];

	need(nl_read_stats(&nl, before), "stats");
	for (turn = 1; turn <= messages; turn++) {
		one();
		if (turn % SAMPLE == 0)
			hear_events();
		if (turn % CENSUS == 0)
			check_table();
	}
	turn--;
	check_table();
	remove_all();
	need(nl_read_stats(&nl, after), "stats");
	for (int i = TCP_CIRCUIT_STATS_A_CIRCUITS;
	     i <= TCP_CIRCUIT_STATS_A_MEMORY; i++)
		if (before[i] != after[i])
			rule("stats %d: %llu before, %llu when all were removed",
			     i, (unsigned long long)before[i],
			     (unsigned long long)after[i]);
}

int main(int argc, char **argv)
{
	uint64_t messages = 20000;
	int opt;

	seed = 1;
	while ((opt = getopt(argc, argv, "s:n:")) != -1) {
		switch (opt) {
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'n': messages = strtoull(optarg, NULL, 0); break;
		default:
			fprintf(stderr, "usage: circuit_nlfuzz [-s SEED] [-n MESSAGES]\n");
			return 2;
		}
	}
	seed_random(seed);
	need(nl_open(&nl, TCP_CIRCUIT_GENL_NAME), TCP_CIRCUIT_GENL_NAME);
	need(nl_open(&listener, TCP_CIRCUIT_GENL_NAME), TCP_CIRCUIT_GENL_NAME);
	need(nl_join(&listener, TCP_CIRCUIT_MCGRP_EVENTS), "events");
	run(messages);
	printf("messages=%llu done=%llu refused=%llu broken=%llu\n",
	       (unsigned long long)turn, (unsigned long long)done,
	       (unsigned long long)refused, (unsigned long long)broken);
	return broken != 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Requests from words, and what the kernel answers
 *
 * A word is ATTRIBUTE[:FORM]=VALUE, or a number for an attribute that is not known.
 * Without a form it is as it should be; u8, u16, u32, u64: a number of that size;
 * raw: a text without NUL; hex: these bytes; flag: nothing.  prefix=ADDRESS/LENGTH is
 * a nest as it should be; prefix[ begins one, flat[ one without NLA_F_NESTED, ] ends
 * it.
 */
#include "test.h"

struct nl nl;
struct nl_message message;

/* --- requests ----------------------------------------------------------------- */

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

void put(int type, const void *data, size_t len)
{
	if (!nl_put(&message, type, data, len))
		bail("request");
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
	bool put_it = true;

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
		put_it = nl_put_address(&message, type, text);
	else
		put_it = nl_put_prefix_text(&message, text);
	if (!put_it)
		bail(text);
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
int request(uint8_t cmd, uint16_t flags, const char *words)
{
	nl_begin(&nl, &message, cmd, flags);
	put_words(words);
	return -nl_talk(&nl, &message, NULL, NULL);
}

void must(uint8_t cmd, uint16_t flags, const char *words)
{
	errno = request(cmd, flags, words);
	if (errno) {
		printf("# %s\n", nl.text);
		bail(words);
	}
}

void make(const char *words)
{
	must(TCP_CIRCUIT_CMD_NEW, NLM_F_CREATE, words);
}

void drop(const char *name)
{
	char words[80];

	snprintf(words, sizeof(words), "name=%s", name);
	must(TCP_CIRCUIT_CMD_DEL, 0, words);
}

/* Of the table that refusals[] are about */
void make_two(void)
{
	make("name=wave prefix=192.0.2.0/24 prefix=2001:db8::/32 window=1000 rate=125000000");
	make("name=sat prefix=192.0.2.0/24 mark=7 window=2000");
}

void drop_two(void)
{
	drop("wave");
	drop("sat");
}

/* --- what the kernel has ------------------------------------------------------ */

int keep(const struct nlmsghdr *h, void *arg)
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
int try_dump(struct answers *a)
{
	a->len = 0;
	a->count = 0;
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	return -nl_talk(&nl, &message, keep, a);
}

void dump(struct answers *a)
{
	errno = try_dump(a);
	if (errno)
		bail("dump");
}

bool equal_answers(const struct answers *a, const struct answers *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/* 0 or an errno */
int get(const char *words, struct answers *a)
{
	a->len = 0;
	a->count = 0;
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, 0);
	put_words(words);
	return -nl_talk(&nl, &message, keep, a);
}

/* In the answer to a get of one */
const struct nlattr *found(const struct answers *a, int type)
{
	const struct nlattr *at;

	nl_for_each(at, a->bytes, a->bytes + a->len)
		if (nl_type(at) == type)
			return at;
	return NULL;
}

/* The name of what get gives, or why it gives none */
const char *name_of(const char *words)
{
	static struct answers a;
	int err = get(words, &a);

	if (err)
		return err == ENOENT ? "none" : strerror(err);
	return found(&a, TCP_CIRCUIT_A_NAME) ?
	       nl_data(found(&a, TCP_CIRCUIT_A_NAME)) : "";
}

int count_prefixes(const struct answers *a)
{
	const struct nlattr *at;
	int n = 0;

	nl_for_each(at, a->bytes, a->bytes + a->len)
		n += nl_type(at) == TCP_CIRCUIT_A_PREFIX;
	return n;
}

uint64_t stat_of(int type)
{
	uint64_t stats[TCP_CIRCUIT_STATS_A_MAX + 1] = { 0 };

	errno = -nl_read_stats(&nl, stats);
	if (errno)
		bail("stats");
	return stats[type];
}

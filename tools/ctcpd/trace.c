// SPDX-License-Identifier: GPL-2.0
/*
 * Samples as lines, and back: see trace.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "trace.h"
#include "words.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define VERSION_WORDS "# ctcpd trace "
#define QUOTED 33	/* bytes of a line that is quoted, with the NUL */

/* A number of a line: where it is kept, and the most that it may be */
struct field {
	const char *key;
	size_t offset;
	unsigned int bytes;
	uint64_t max;
};

#define PLACE(type, member)	offsetof(type, member), sizeof(((type *)0)->member)
#define NUMBER(key, member)	{ key, PLACE(struct sample, member), UINT64_MAX }
#define SAME(member)		NUMBER(#member, member)
#define FLAG(key, member)	{ key, PLACE(struct sample, member), 1 }

static const struct field sample_fields[] = {
	NUMBER("at", at_us), SAME(known), NUMBER("state", conn.state),
	NUMBER("ifindex", conn.ifindex), NUMBER("mark", conn.mark), NUMBER("uid", conn.uid),
	NUMBER("inode", conn.inode), FLAG("mptcp", conn.mptcp),
	NUMBER("min_rtt", conn.min_rtt), NUMBER("mss", conn.mss), NUMBER("unsent", conn.unsent),
	NUMBER("acked", conn.acked), NUMBER("busy", conn.busy), NUMBER("rwnd", conn.rwnd),
	NUMBER("sndbuf_limited", conn.sndbuf),
	SAME(ca_state), SAME(snd_wscale), FLAG("has_wscale", has_wscale),
	FLAG("app_limited", app_limited), SAME(rtt_us), SAME(rttvar_us), SAME(rto_us),
	SAME(snd_cwnd), SAME(snd_ssthresh), SAME(unacked), SAME(lost), SAME(retrans),
	SAME(sacked), SAME(reordering), SAME(reord_seen), SAME(snd_wnd), SAME(total_retrans),
	SAME(segs_out), SAME(data_segs_out), SAME(delivered), SAME(delivered_ce),
	SAME(dsack_dups), SAME(bytes_sent), SAME(bytes_retrans), SAME(delivery_rate),
	SAME(pacing_rate), SAME(max_pacing_rate), SAME(sndbuf), SAME(wmem_queued),
	SAME(wmem_alloc),
};

static const struct field drops_fields[] = {
	{ "at", PLACE(struct trace_line, at_us), UINT64_MAX },
	{ "ifindex", PLACE(struct trace_line, ifindex), UINT64_MAX },
	{ "n", PLACE(struct trace_line, drops), UINT64_MAX },
};

static const struct field leaves_fields[] = {
	{ "ifindex", PLACE(struct trace_line, ifindex), UINT64_MAX },
};

/* --- write ----------------------------------------------------------------- */

static uint64_t field_get(const struct field *f, const void *from)
{
	const char *p = (const char *)from + f->offset;

	switch (f->bytes) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return *(const uint16_t *)p;
	case 4:
		return *(const uint32_t *)p;
	}
	return *(const uint64_t *)p;
}

static void put_end(struct out *o, const char *key, const struct prefix *p, uint16_t port)
{
	char addr[INET6_ADDRSTRLEN];
	bool six = p->family == AF_INET6;

	out_text(o, key);
	out_bytes(o, "[", six);
	out_text(o, format_addr(addr, sizeof(addr), p));
	out_bytes(o, "]", six);
	out_pair(o, ":", port);
}

static void put_cookie(struct out *o, uint64_t cookie)
{
	char text[24];

	snprintf(text, sizeof(text), "cookie=%llx", (unsigned long long)cookie);
	out_text(o, text);
}

static void put_algorithm(struct out *o, const char *algorithm)
{
	char word[ALGORITHM_LEN + 4];

	snprintf(word, sizeof(word), "cc=%s", algorithm);
	if (*algorithm)
		out_word(o, word);
}

size_t trace_sample(const struct sample *s, char line[TRACE_LINE])
{
	struct out o = out_to(line, TRACE_LINE);
	size_t i;

	put_cookie(&o, s->conn.cookie);
	put_end(&o, " peer=", &s->conn.peer, s->conn.peer_port);
	if (s->conn.local.family)
		put_end(&o, " local=", &s->conn.local, s->conn.local_port);
	put_algorithm(&o, s->conn.algorithm);
	for (i = 0; i < ARRAY_SIZE(sample_fields); i++) {
		uint64_t n = field_get(&sample_fields[i], s);

		if (!n)
			continue;
		out_text(&o, " ");
		out_text(&o, sample_fields[i].key);
		out_pair(&o, "=", n);
	}
	return o.used;
}

size_t trace_drops(uint64_t at_us, uint32_t ifindex, uint32_t n, char line[TRACE_LINE])
{
	struct out o = out_to(line, TRACE_LINE);

	out_pair(&o, "drops at=", at_us);
	out_pair(&o, " ifindex=", ifindex);
	out_pair(&o, " n=", n);
	return o.used;
}

size_t trace_leaves(uint64_t cookie, uint32_t ifindex, char line[TRACE_LINE])
{
	struct out o = out_to(line, TRACE_LINE);

	out_text(&o, "leaves ");
	put_cookie(&o, cookie);
	out_pair(&o, " ifindex=", ifindex);
	return o.used;
}

size_t trace_gone(uint64_t cookie, char line[TRACE_LINE])
{
	struct out o = out_to(line, TRACE_LINE);

	out_text(&o, "gone ");
	put_cookie(&o, cookie);
	return o.used;
}

/* --- read ------------------------------------------------------------------ */

/* Digits and nothing else; strtoull() takes blanks and signs as well */
static int parse_number(const char *text, int base, uint64_t max, uint64_t *n)
{
	const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";
	char *end;

	if (!*text || text[strspn(text, digits)])
		return -EBADMSG;
	errno = 0;
	*n = strtoull(text, &end, base);
	return errno || *n > max ? -ERANGE : 0;
}

/* The most that @f's place holds */
static uint64_t field_max(const struct field *f)
{
	uint64_t room = UINT64_MAX >> (64 - 8 * f->bytes);

	return room < f->max ? room : f->max;
}

static int field_set(const struct field *f, const char *text, void *to)
{
	char *p = (char *)to + f->offset;
	uint64_t n;
	int rc = parse_number(text, 10, field_max(f), &n);

	if (rc)
		return rc;
	switch (f->bytes) {
	case 1:
		*(uint8_t *)p = (uint8_t)n;
		break;
	case 2:
		*(uint16_t *)p = (uint16_t)n;
		break;
	case 4:
		*(uint32_t *)p = (uint32_t)n;
		break;
	default:
		*(uint64_t *)p = n;
	}
	return 0;
}

/* 192.0.2.1:5001, [2001:db8::1]:5001 */
static int parse_end(char *text, struct prefix *p, uint16_t *port)
{
	char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t number;

	if (!n || parse_number(colon + 1, 10, UINT16_MAX, &number))
		return -EBADMSG;
	*colon = 0;
	if (*text == '[' && text[n - 1] == ']') {
		text[n - 1] = 0;
		text++;
	} else if (strchr(text, ':')) {
		return -EBADMSG;
	}
	*port = (uint16_t)number;
	return parse_address(text, p) ? -EBADMSG : 0;
}

static int parse_algorithm(const char *text, struct conn *c)
{
	if (!*text || strlen(text) >= sizeof(c->algorithm) || !text_is_plain(text))
		return -EBADMSG;
	strcpy(c->algorithm, text);
	return 0;
}

static int parse_field(const struct field *list, size_t n, const char *key, const char *value,
		       void *to)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].key, key))
			return field_set(&list[i], value, to);
	return -ENOKEY;
}

static int sample_word(const char *key, char *value, struct trace_line *t)
{
	struct conn *c = &t->sample.conn;

	if (!strcmp(key, "cookie"))
		return parse_number(value, 16, UINT64_MAX, &c->cookie);
	if (!strcmp(key, "peer"))
		return parse_end(value, &c->peer, &c->peer_port);
	if (!strcmp(key, "local"))
		return parse_end(value, &c->local, &c->local_port);
	if (!strcmp(key, "cc"))
		return parse_algorithm(value, c);
	return parse_field(sample_fields, ARRAY_SIZE(sample_fields), key, value, &t->sample);
}

static int drops_word(const char *key, char *value, struct trace_line *t)
{
	return parse_field(drops_fields, ARRAY_SIZE(drops_fields), key, value, t);
}

static int leaves_word(const char *key, char *value, struct trace_line *t)
{
	if (!strcmp(key, "cookie"))
		return parse_number(value, 16, UINT64_MAX, &t->sample.conn.cookie);
	return parse_field(leaves_fields, ARRAY_SIZE(leaves_fields), key, value, t);
}

static int wrong_word(int rc, const char *word, struct err *e)
{
	const char *why = rc == -ENOKEY ? "no such key" : rc == -ERANGE ? "out of range" :
			  "not a value of this key";

	return err_set(e, -EBADMSG, "\"%s\": %s", word, why);
}

static int each_word(char **words, int (*take)(const char *key, char *value,
					       struct trace_line *t),
		     struct trace_line *t, struct err *e)
{
	char word[TRACE_LINE];
	int rc = 0;

	for (; *words && !rc; words++) {
		char *value = strchr(*words, '=');

		if (!value)
			return err_set(e, -EBADMSG, "\"%s\" is not key=value", *words);
		strcpy(word, *words);
		*value++ = 0;
		rc = take(*words, value, t);
		if (rc)
			rc = wrong_word(rc, word, e);
	}
	return rc;
}

static int parse_sample(char **words, struct trace_line *t, struct err *e)
{
	int rc = each_word(words, sample_word, t, e);

	if (rc)
		return rc;
	if (!t->sample.conn.cookie || !t->sample.conn.peer.family || !t->sample.at_us)
		return err_set(e, -EBADMSG, "a sample has at=, cookie= and peer=");
	t->kind = TRACE_SAMPLE;
	return 0;
}

static int parse_drops(char **words, struct trace_line *t, struct err *e)
{
	int rc = each_word(words, drops_word, t, e);

	if (!rc && !t->ifindex)
		return err_set(e, -EBADMSG, "drops have ifindex=");
	t->kind = TRACE_DROPS;
	return rc;
}

static int parse_leaves(char **words, struct trace_line *t, struct err *e)
{
	int rc = each_word(words, leaves_word, t, e);

	if (!rc && (!t->ifindex || !t->sample.conn.cookie))
		return err_set(e, -EBADMSG, "leaves has cookie= and ifindex=");
	t->kind = TRACE_LEAVES;
	return rc;
}

static int parse_gone(char **words, struct trace_line *t, struct err *e)
{
	int rc = each_word(words, leaves_word, t, e);

	if (!rc && (t->ifindex || !t->sample.conn.cookie))
		return err_set(e, -EBADMSG, "gone has cookie= alone");
	t->kind = TRACE_GONE;
	return rc;
}

static int parse_comment(const char *line, struct err *e)
{
	const char *version = line + strlen(VERSION_WORDS);

	if (strncmp(line, VERSION_WORDS, strlen(VERSION_WORDS)) || !strcmp(version, "1"))
		return 0;
	return err_set(e, -EBADMSG, "\"%s\": a trace of another version than 1", line);
}

static int parse_words(char **words, struct trace_line *t, struct err *e)
{
	if (!strcmp(words[0], "drops"))
		return parse_drops(words + 1, t, e);
	if (!strcmp(words[0], "leaves"))
		return parse_leaves(words + 1, t, e);
	if (!strcmp(words[0], "gone"))
		return parse_gone(words + 1, t, e);
	return parse_sample(words, t, e);
}

int trace_parse(const char *line, struct trace_line *t, struct err *e)
{
	char *words[WORDS_MAX + 1], copy[TRACE_LINE];
	size_t len = strcspn(line, "\n");
	char head[QUOTED];
	int n;

	memset(t, 0, sizeof(*t));
	text_copy(head, sizeof(head), line);
	if (len >= sizeof(copy))
		return err_set(e, -EBADMSG, "\"%s...\": a line of more than %d bytes", head,
			       TRACE_LINE - 1);
	if (line[len] && line[len + 1])
		return err_set(e, -EBADMSG, "\"%s...\": more than a line", head);
	memcpy(copy, line, len);
	copy[len] = 0;
	if (!text_is_plain(copy))
		return err_set(e, -EBADMSG, "a line with control characters, or not of UTF-8");
	if (*copy == '#')
		return parse_comment(copy, e);
	n = words_split(copy, words);
	if (n == -E2BIG)
		return err_set(e, -EBADMSG, "\"%s...\": more than %d words", head, WORDS_MAX);
	if (n < 0)
		return err_set(e, -EBADMSG, "\"%s...\": a quotation mark is not closed", head);
	return n ? parse_words(words, t, e) : 0;
}

/* --- files ----------------------------------------------------------------- */

int trace_read(FILE *in, trace_fn each, void *data, struct err *e)
{
	struct trace_line t;
	struct err why;
	char *line = NULL;
	size_t room = 0;
	uint64_t number;
	ssize_t n;
	int rc = 0;

	for (number = 1; !rc && (n = getline(&line, &room, in)) >= 0; number++) {
		if (strlen(line) != (size_t)n)
			rc = err_set(&why, -EBADMSG, "a line with a NUL");
		else
			rc = trace_parse(line, &t, &why);
		if (rc)
			err_set(e, rc, "line %llu: %s", (unsigned long long)number, why.text);
		else if (t.kind != TRACE_NOTHING)
			rc = each(&t, data, e);
	}
	if (!rc && ferror(in))
		rc = err_set(e, -EIO, "cannot read the trace: %s", strerror(EIO));
	free(line);
	return rc;
}

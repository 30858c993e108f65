// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's configuration: see config.h.
 *
 * One table has every key: how its value is read, and how it is written.  libinih parses; it
 * tells its handler no line and of a wrong line only the number, so the lines go to it from
 * a text in memory, counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "circuit.h"
#include "near.h"
#include "text.h"
#include "units.h"

#include "config.h"
#include "listen.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define FILE_MOST	65536U	/* bytes: nobody writes more */
#define WORD_TEXT	80	/* bytes of a bad word that are quoted, with the NUL */
#define QUOTED_TEXT	160	/* ... with what stands for those that are no text */
#define MS		1000ULL	/* us */
#define S		1000000ULL
#define HOUR		(3600 * S)
#define DAY		(24 * HOUR)

/* --- keys --------------------------------------------------------------------- */

static int read_mode(const char *what, const char *value, struct config *c, struct err *e)
{
	if (strcmp(value, "observe") && strcmp(value, "act"))
		return err_set(e, -EINVAL, "%s: \"%s\" is no mode; observe and act are", what,
			       value);
	c->mode = !strcmp(value, "act") ? MODE_ACT : MODE_OBSERVE;
	return 0;
}

static void put_mode(const struct config *c, char buf[CONFIG_VALUE])
{
	out_copy(buf, CONFIG_VALUE, c->mode == MODE_ACT ? "act" : "observe");
}

static int read_yes(const char *what, const char *value, bool *yes, struct err *e)
{
	if (strcmp(value, "no") && strcmp(value, "yes"))
		return err_set(e, -EINVAL, "%s: \"%s\" is neither no nor yes", what, value);
	*yes = !strcmp(value, "yes");
	return 0;
}

static int read_one_lock(const char *what, const char *value, struct config *c, struct err *e)
{
	return read_yes(what, value, &c->one_lock, e);
}

static void put_one_lock(const struct config *c, char buf[CONFIG_VALUE])
{
	out_copy(buf, CONFIG_VALUE, c->one_lock ? "yes" : "no");
}

static int read_subnets(const char *what, const char *value, struct config *c, struct err *e)
{
	return read_yes(what, value, &c->subnets, e);
}

static void put_subnets(const struct config *c, char buf[CONFIG_VALUE])
{
	out_copy(buf, CONFIG_VALUE, c->subnets ? "yes" : "no");
}

static int read_poll(const char *what, const char *value, struct config *c, struct err *e)
{
	return parse_span(what, value, S, 60 * S, &c->poll_us, e);
}

static void put_poll(const struct config *c, char buf[CONFIG_VALUE])
{
	format_span(buf, CONFIG_VALUE, c->poll_us);
}

/* 0: none */
static int span_or_none(const char *what, const char *value, uint64_t min_us, uint64_t *us,
			struct err *e)
{
	struct err why;
	int rc;

	if (!strcmp(value, "none")) {
		*us = 0;
		return 0;
	}
	rc = parse_span(what, value, min_us, S, us, &why);
	return rc ? err_set(e, rc, "%.700s, or none", why.text) : 0;
}

static int read_look(const char *what, const char *value, struct config *c, struct err *e)
{
	return span_or_none(what, value, 50 * MS, &c->look_us, e);
}

static void put_look(const struct config *c, char buf[CONFIG_VALUE])
{
	if (c->look_us)
		format_span(buf, CONFIG_VALUE, c->look_us);
	else
		out_copy(buf, CONFIG_VALUE, "none");
}

static int read_min_rtt(const char *what, const char *value, struct config *c, struct err *e)
{
	return span_or_none(what, value, 1, &c->min_rtt_us, e);
}

static void put_min_rtt(const struct config *c, char buf[CONFIG_VALUE])
{
	if (c->min_rtt_us)
		format_span(buf, CONFIG_VALUE, c->min_rtt_us);
	else
		out_copy(buf, CONFIG_VALUE, "none");
}

static int read_file(const char *what, const char *value, struct config *c, struct err *e)
{
	if (*value && *value != '/')
		return err_set(e, -EINVAL,
			       "%s: \"%s\" is no absolute path; write e.g. /var/lib/ctcpd/history.db, or nothing to keep none",
			       what, value);
	if (strlen(value) >= sizeof(c->history))
		return err_set(e, -ENAMETOOLONG, "%s: \"%.40s...\" has more than %zu bytes", what,
			       value, sizeof(c->history) - 1);
	out_copy(c->history, sizeof(c->history), value);
	return 0;
}

static void put_file(const struct config *c, char buf[CONFIG_VALUE])
{
	out_copy(buf, CONFIG_VALUE, c->history);
}

/* Below a megabyte SQLite's own pages would be most of it. */
static int read_size(const char *what, const char *value, struct config *c, struct err *e)
{
	uint64_t bytes;
	int rc = parse_size(what, value, &bytes, e);

	if (rc == -ERANGE || (!rc && bytes < 1U << 20))
		rc = err_set(e, -ERANGE, "%s: \"%s\" is out of range; from 1mb to 4294967295b",
			     what, value);
	if (!rc)
		c->limits.bytes = bytes;
	return rc;
}

static void put_size(const struct config *c, char buf[CONFIG_VALUE])
{
	format_size(buf, CONFIG_VALUE, c->limits.bytes);
}

static int read_visits(const char *what, const char *value, struct config *c, struct err *e)
{
	return parse_count(what, value, 100, 10000000, &c->limits.visits, e);
}

static void put_visits(const struct config *c, char buf[CONFIG_VALUE])
{
	snprintf(buf, CONFIG_VALUE, "%u", c->limits.visits);
}

static int read_keep(const char *what, const char *value, struct config *c, struct err *e)
{
	uint64_t us;
	int rc = parse_span(what, value, HOUR, 366 * DAY, &us, e);

	if (!rc)
		c->limits.keep_s = us / S;
	return rc;
}

static void put_keep(const struct config *c, char buf[CONFIG_VALUE])
{
	format_span(buf, CONFIG_VALUE, c->limits.keep_s * S);
}

/* ADDRESS:PORT or [ADDRESS]:PORT */
static int read_listen(const char *what, const char *value, struct config *c, struct err *e)
{
	struct listen unused;
	struct err why;

	if (strlen(value) >= sizeof(c->metrics))
		return err_set(e, -EINVAL, "%s: \"%.60s...\" is too long for an address with a port",
			       what, value);
	if (*value && listen_parse(value, &unused, &why))
		return err_set(e, -EINVAL, "%s: %s; nothing is to be silent", what, why.text);
	out_copy(c->metrics, sizeof(c->metrics), value);
	return 0;
}

static void put_listen(const struct config *c, char buf[CONFIG_VALUE])
{
	out_copy(buf, CONFIG_VALUE, c->metrics);
}

/* @name is "SECTION.KEY", and KEY alone in the first section */
static const struct key {
	const char *section, *name;
	int (*read)(const char *what, const char *value, struct config *c, struct err *e);
	void (*put)(const struct config *c, char buf[CONFIG_VALUE]);
} keys[] = {
	{ "ctcpd", "mode", read_mode, put_mode },
	{ "ctcpd", "one-lock", read_one_lock, put_one_lock },
	{ "ctcpd", "subnets", read_subnets, put_subnets },
	{ "ctcpd", "poll", read_poll, put_poll },
	{ "ctcpd", "look", read_look, put_look },
	{ "ctcpd", "min-rtt", read_min_rtt, put_min_rtt },
	{ "history", "history.file", read_file, put_file },
	{ "history", "history.size", read_size, put_size },
	{ "history", "history.visits", read_visits, put_visits },
	{ "history", "history.keep", read_keep, put_keep },
	{ "metrics", "metrics.listen", read_listen, put_listen },
};

const char *config_key(unsigned int i)
{
	return i < ARRAY_SIZE(keys) ? keys[i].name : NULL;
}

const char *config_value(const struct config *c, unsigned int i, char buf[CONFIG_VALUE])
{
	keys[i].put(c, buf);
	return buf;
}

/* The key alone, as it stands in its section */
static const char *word_of(const struct key *k)
{
	const char *dot = strchr(k->name, '.');

	return dot ? dot + 1 : k->name;
}

void config_defaults(struct config *c)
{
	*c = (struct config){
		.mode = MODE_OBSERVE,
		.poll_us = 5 * S,
		.look_us = 200 * MS,
		.min_rtt_us = MS,
		.history = "/var/lib/ctcpd/history.db",
		.limits = { .bytes = 64U << 20, .visits = 200000, .keep_s = 14 * DAY / S },
	};
}

/* --- a file ------------------------------------------------------------------- */

struct reading {
	const char *file;
	const char *next;	/* of its text: the line that libinih gets next */
	int line;		/* that it has got, from 1 on */
	int bad;		/* the first wrong line, 0 = none so far */
	bool given[ARRAY_SIZE(keys)];
	struct config *c;
	struct err *e;
};

/* What is wrong with this line; the first one is told. */
static void is_wrong(struct reading *r, const struct err *why)
{
	if (r->bad)
		return;
	r->bad = r->line;
	err_set(r->e, -EINVAL, "%s, line %d: %s", r->file, r->line, why->text);
}

/* The section that has such a key; NULL: none has */
static const char *section_of(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(word, word_of(&keys[i])))
			return keys[i].section;
	return NULL;
}

static int misplaced_key(const char *section, const char *word, const char *belongs,
			 struct err *e)
{
	if (!*section)
		return err_set(e, -EINVAL,
			       "\"%s\" stands before the first section; %s is a key of [%s]",
			       word, word, belongs);
	return err_set(e, -EINVAL, "\"%s\" is no key of [%s]; %s is a key of [%s]", word, section,
		       word, belongs);
}

static int unknown_key(const char *section, const char *word, struct err *e)
{
	unsigned int best = 3, far;
	const char *near = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		far = strcmp(section, keys[i].section) ? UINT_MAX :
		      word_distance(word, word_of(&keys[i]));
		if (far >= best)
			continue;
		best = far;
		near = word_of(&keys[i]);
	}
	return err_set(e, -EINVAL, "\"%.*s\" is no key of [%s]; %s%s%s", WORD_TEXT, word, section,
		       near ? "did you mean " : "ctcpd.conf(5) has them all", near ?: "",
		       near ? "?" : "");
}

/* -EINVAL: there is none */
static int find_key(const char *section, const char *word, struct err *e)
{
	const char *belongs;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(section, keys[i].section) && !strcmp(word, word_of(&keys[i])))
			return (int)i;
	belongs = section_of(word);
	if (belongs)
		return misplaced_key(section, word, belongs, e);
	if (!*section)
		return err_set(e, -EINVAL, "\"%.*s\" stands before the first section; [ctcpd] comes first",
			       WORD_TEXT, word);
	return unknown_key(section, word, e);
}

/* What is no text as \xNN each; as much as there is room for, and "..." */
static const char *quoted(const char *s, size_t n, char buf[QUOTED_TEXT])
{
	struct out o = out_to(buf, QUOTED_TEXT);
	char one[8];
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)s[i];

		if (o.used + sizeof("\\xNN...") > QUOTED_TEXT) {
			out_text(&o, "...");
			break;
		}
		snprintf(one, sizeof(one), byte < ' ' || byte >= 0x7f ? "\\x%02x" : "%c", byte);
		out_text(&o, one);
	}
	return buf;
}

/* As it is quoted most keys refuse it, and say what would be right. */
static int no_text(const struct key *k, const char *word, const char *value, struct err *e)
{
	struct config unused;
	char text[QUOTED_TEXT];
	int rc;

	config_defaults(&unused);
	rc = k->read(word, quoted(value, strlen(value), text), &unused, e);
	return rc ?: err_set(e, -EILSEQ,
			     "%s: \"%s\" has bytes that are no text; UTF-8 without control characters is right",
			     word, text);
}

static int read_key(struct reading *r, const char *section, const char *word, const char *value,
		    struct err *e)
{
	int i = find_key(section, word, e);

	if (i < 0)
		return i;
	if (r->given[i])
		return err_set(e, -EEXIST, "%s is given a second time; once is right", word);
	r->given[i] = true;
	if (!text_is_plain(value))
		return no_text(&keys[i], word, value, e);
	return keys[i].read(word, value, r->c, e);
}

/* libinih's handler: 0 is a wrong line */
static int on_key(void *data, const char *section, const char *word, const char *value)
{
	struct reading *r = data;
	struct err why;

	if (!read_key(r, section, word, value, &why))
		return 1;
	is_wrong(r, &why);
	return 0;
}

/* libinih reads nothing behind a section's name. */
static void check_behind(struct reading *r, const char *s, const char *end)
{
	struct err why;

	s += strspn(s, " \t\r");
	if (s >= end || *s == ';' || *s == '#')
		return;
	err_set(&why, -EINVAL, "\"%.*s\" stands behind a section; a key has a line of its own",
		(int)(end - s < WORD_TEXT ? end - s : WORD_TEXT), s);
	is_wrong(r, &why);
}

/* libinih tells nobody of a section, and of one without keys nobody would hear. */
static void check_section(struct reading *r, const char *line, size_t n)
{
	const char *end = memchr(line, ']', n);
	struct err why;
	size_t i;

	if (*line != '[' || !end)
		return;
	check_behind(r, end + 1, line + n);
	line++;
	n = (size_t)(end - line);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (strlen(keys[i].section) == n && !memcmp(keys[i].section, line, n))
			return;
	err_set(&why, -EINVAL, "[%.*s] is no section; [ctcpd], [history] and [metrics] are",
		(int)(n < WORD_TEXT ? n : WORD_TEXT), line);
	is_wrong(r, &why);
}

/*
 * libinih's reader, as fgets().  Without the blanks at its beginning, which would make it a
 * part of the value above; and never a part of a line for a whole one.
 */
static char *next_line(char *buf, int room, void *data)
{
	struct reading *r = data;
	struct err why;
	size_t n, skip;

	if (!*r->next)
		return NULL;
	r->line++;
	n = strcspn(r->next, "\n");
	skip = strspn(r->next, " \t");
	skip = skip < n ? skip : n;
	check_section(r, r->next + skip, n - skip);
	if (n - skip + 2 > (size_t)room) {
		err_set(&why, -E2BIG, "\"%.40s...\" has more than %d bytes", r->next + skip,
			room - 2);
		is_wrong(r, &why);
		skip = n;
	}
	memcpy(buf, r->next + skip, n - skip);
	memcpy(buf + n - skip, "\n", 2);
	r->next += n + (r->next[n] == '\n');
	return buf;
}

/* The line that libinih could make nothing of */
static void no_syntax(struct reading *r, const char *text, int line)
{
	struct err why;
	int i;

	for (i = 1; i < line; i++)
		text += strcspn(text, "\n") + 1;
	text += strspn(text, " \t");
	err_set(&why, -EINVAL, "\"%.*s\" is neither a [section] nor a key = value",
		(int)strcspn(text, "\n"), text);
	r->bad = 0;
	r->line = line;
	is_wrong(r, &why);
}

static int read_text(const char *file, const char *text, struct config *c, struct err *e)
{
	struct reading r = { .file = file, .next = text, .c = c, .e = e };
	int line = ini_parse_stream(next_line, &r, on_key, &r);

	if (line < 0)
		return err_set(e, -ENOMEM, "%s cannot be read: no memory", file);
	if (line && (!r.bad || line < r.bad))
		no_syntax(&r, text, line);
	return r.bad ? -EINVAL : 0;
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

static int check_kind(const char *file, const struct stat *st, struct err *e)
{
	if (S_ISREG(st->st_mode))
		return 0;
	return err_set(e, S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL,
		       "%s is %s; a configuration is a regular file", file, kind_of(st->st_mode));
}

static int cannot_open(const char *file, struct err *e)
{
	return err_set(e, -errno, "%s cannot be opened: %s", file, strerror(errno));
}

/*
 * -errno.  A device is not even opened, as that alone may do something.  O_NONBLOCK is for a FIFO
 * that takes the file's place in between: nobody need ever write to it.
 */
static int open_file(const char *file, struct err *e)
{
	struct stat st;
	int fd, rc;

	if (stat(file, &st))
		return cannot_open(file, e);
	rc = check_kind(file, &st, e);
	if (rc)
		return rc;
	fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return cannot_open(file, e);
	rc = fstat(fd, &st) ? cannot_open(file, e) : check_kind(file, &st, e);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* The line that has it; @text has @n bytes */
static int has_nul(const char *file, const char *text, size_t n, const char *nul, struct err *e)
{
	const char *begin = text, *end = text + n, *p;
	char line[QUOTED_TEXT];
	int at = 1;

	for (p = text; p < nul; p++) {
		if (*p != '\n')
			continue;
		begin = p + 1;
		at++;
	}
	p = memchr(nul, '\n', (size_t)(end - nul)) ?: end;
	return err_set(e, -EILSEQ,
		       "%s, line %d: \"%s\" has bytes that are no text; UTF-8 without control characters is right",
		       file, at, quoted(begin, (size_t)(p - begin), line));
}

/* All of it, into @text of FILE_MOST + 1 bytes */
static int load(FILE *f, const char *file, char *text, struct err *e)
{
	size_t n = fread(text, 1, FILE_MOST + 1, f);
	const char *nul;

	if (ferror(f))
		return err_set(e, -errno, "%s cannot be read: %s", file, strerror(errno));
	if (n > FILE_MOST)
		return err_set(e, -EFBIG, "%s has more than %u bytes: is it a configuration?", file,
			       FILE_MOST);
	nul = memchr(text, 0, n);
	if (nul)
		return has_nul(file, text, n, nul, e);
	text[n] = 0;
	return 0;
}

static int read_open(int fd, const char *file, struct config *c, struct err *e)
{
	FILE *f = fdopen(fd, "r");
	char *text = malloc(FILE_MOST + 1);
	int rc;

	rc = f && text ? load(f, file, text, e) : err_set(e, -ENOMEM, "%s: no memory", file);
	rc = rc ?: read_text(file, text, c, e);
	free(text);
	if (f)
		fclose(f);
	else
		close(fd);
	return rc;
}

int config_read(const char *file, bool must_be_there, struct config *c, struct err *e)
{
	struct config read;
	int fd = open_file(file, e), rc = 0;

	config_defaults(&read);
	if (fd >= 0)
		rc = read_open(fd, file, &read, e);
	else if (fd != -ENOENT || must_be_there)
		rc = fd;
	if (!rc)
		*c = read;
	return rc;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/tcp_circuit read and written: see live.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "item.h"
#include "live.h"

#define WORDS_MAX 32	/* in a line: what is known, and room for what is not */

enum column {
	PEER, ID, WINDOW, HELD, SOCKETS, STREAMS, RATE, DELIVERED, LOST, TRIPS, STATE,
	COLUMNS,
};

static const char * const column_names[COLUMNS] = {
	"peer", "id", "window", "held", "sockets", "streams", "rate", "delivered", "lost",
	"trips", "state",
};

/* How many there are in @line, which is cut up; WORDS_MAX is too many. */
static size_t split(char *line, char *words[WORDS_MAX])
{
	char *save, *word = strtok_r(line, " \t", &save);
	size_t n = 0;

	while (word && n < WORDS_MAX) {
		words[n++] = word;
		word = strtok_r(NULL, " \t", &save);
	}
	return n;
}

/* How many columns there are, 0 = not ours. */
static size_t parse_header(char *line)
{
	char *words[WORDS_MAX];
	size_t n = split(line, words), i;

	if (n < COLUMNS || n == WORDS_MAX)
		return 0;
	for (i = 0; i < COLUMNS; i++)
		if (strcmp(words[i], column_names[i]))
			return 0;
	return n;
}

static bool parse_number(const char *s, uint64_t *out)
{
	*out = 0;
	if (!*s)
		return false;
	for (; *s; s++)
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, (uint64_t)(*s - '0'), out))
			return false;
	return true;
}

static bool parse_who(const char *s, struct prefix *peer)
{
	memset(peer, 0, sizeof(*peer));
	return !strcmp(s, "*") || !parse_address(s, peer);
}

static bool parse_state(const char *s, bool *tripped)
{
	*tripped = !strcmp(s, "tripped");
	return *tripped || !strcmp(s, "closed");
}

static int parse_circuit(char *line, size_t columns, struct live *l)
{
	uint64_t * const numbers[COLUMNS] = {
		[ID] = &l->id, [WINDOW] = &l->window, [HELD] = &l->held,
		[SOCKETS] = &l->sockets, [STREAMS] = &l->streams, [RATE] = &l->rate,
		[DELIVERED] = &l->delivered, [LOST] = &l->lost, [TRIPS] = &l->trips,
	};
	char *words[WORDS_MAX];
	size_t i;

	if (split(line, words) != columns || !parse_who(words[PEER], &l->peer) ||
	    !parse_state(words[STATE], &l->tripped))
		return -EBADMSG;
	for (i = ID; i <= TRIPS; i++)
		if (!parse_number(words[i], numbers[i]))
			return -EBADMSG;
	return 0;
}

static struct live *add_live(struct lives *ls)
{
	struct live *more = ls->list;

	/* at 0, 1, 2, 4, 8...: twice the room */
	if (!(ls->n & (ls->n - 1)))
		more = realloc(ls->list, sizeof(*more) * (ls->n ? 2 * (size_t)ls->n : 1));
	if (!more)
		return NULL;
	ls->list = more;
	return &more[ls->n++];
}

static int parse_lines(char *text, struct lives *ls)
{
	char *line = strsep(&text, "\n");
	size_t columns = parse_header(line);
	struct live *l;
	int rc = 0;

	if (!columns)
		return -EBADMSG;
	/* behind the last line's end there is an empty rest */
	while (!rc && (line = strsep(&text, "\n")) && text) {
		l = add_live(ls);
		rc = l ? parse_circuit(line, columns, l) : -ENOMEM;
	}
	return rc;
}

/* -EBADMSG: cut short, or not of this kind; @ls is empty then. */
int live_parse(const char *text, size_t len, struct lives *ls)
{
	char *copy;
	int rc;

	memset(ls, 0, sizeof(*ls));
	if (!len || text[len - 1] != '\n' || memchr(text, 0, len))
		return -EBADMSG;
	copy = strndup(text, len);
	if (!copy)
		return -ENOMEM;
	rc = parse_lines(copy, ls);
	free(copy);
	if (rc)
		lives_free(ls);
	return rc;
}

/* *@text is the caller's to free. */
static int read_all(FILE *in, char **text, size_t *len)
{
	FILE *out = open_memstream(text, len);
	char part[4096];
	size_t n;
	int rc;

	if (!out)
		return -ENOMEM;
	while ((n = fread(part, 1, sizeof(part), in)) > 0)
		fwrite(part, 1, n, out);
	rc = ferror(in) ? -EIO : 0;
	return fclose(out) ? -ENOMEM : rc;
}

/* -ENOENT: no such file; @ls is empty then. */
int lives_read(struct lives *ls, struct err *e)
{
	FILE *in = fopen(LIVE_FILE, "re");
	char *text = NULL;
	size_t len;
	int rc;

	memset(ls, 0, sizeof(*ls));
	if (!in && errno == ENOENT)
		return err_set(e, -ENOENT,
			       "there is no %s: module %s is not loaded, or older than this ctcp-setup, %s; modprobe %s",
			       LIVE_FILE, MODULE_NAME, CTCP_VERSION, MODULE_NAME);
	if (!in)
		return err_set(e, -errno, "cannot read %s: %s", LIVE_FILE, strerror(errno));
	rc = read_all(in, &text, &len);
	fclose(in);
	if (!rc)
		rc = live_parse(text, len, ls);
	free(text);
	if (rc == -EBADMSG)
		return err_set(e, rc,
			       "%s is not as this ctcp-setup reads it: is module %s of its version, %s?",
			       LIVE_FILE, MODULE_NAME, CTCP_VERSION);
	return rc ? err_set(e, rc, "cannot read %s: %s", LIVE_FILE, strerror(-rc)) : 0;
}

/* Resets the breakers of this namespace, or those to @peer unless its family is 0. */
int lives_reset(const struct prefix *peer, struct err *e)
{
	int fd = open(LIVE_FILE, O_WRONLY | O_CLOEXEC), rc = 0;
	char word[80] = "reset", addr[64];

	if (peer->family)
		snprintf(word, sizeof(word), "reset %s", format_addr(addr, sizeof(addr), peer));
	if (fd < 0 || write(fd, word, strlen(word)) < 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	if (rc == -EPERM || rc == -EACCES)
		return err_set(e, rc,
			       "\"%s\" needs CAP_NET_ADMIN in the user namespace that owns this network namespace",
			       word);
	return rc ? err_set(e, rc, "%s: the kernel refuses \"%s\": %s", LIVE_FILE, word,
			    strerror(-rc)) : 0;
}

void lives_free(struct lives *ls)
{
	free(ls->list);
	memset(ls, 0, sizeof(*ls));
}

/* Of this address; of any if @peer's family is 0. */
static bool is_to(const struct live *l, const struct prefix *peer)
{
	return !peer->family || prefix_holds(peer, &l->peer);
}

uint32_t lives_tripped(const struct lives *ls, const struct prefix *peer)
{
	uint32_t i, n = 0;

	for (i = 0; i < ls->n; i++)
		n += ls->list[i].tripped && is_to(&ls->list[i], peer);
	return n;
}

bool lives_know(const struct lives *ls, const struct prefix *peer)
{
	uint32_t i;

	for (i = 0; i < ls->n; i++)
		if (is_to(&ls->list[i], peer))
			return true;
	return false;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The state as text, and back: see state.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "guarantee.h"
#include "htb.h"
#include "state.h"
#include "units.h"
#include "words.h"

#define STATE_VERSION "1"

static const char * const verbs[] = {
	[STANDING] = "add",
	[ADDING] = "adding",
	[REMOVING] = "removing",
	[TRIAL] = "trial",
	[BEFORE] = "before",
};

/* --- format ---------------------------------------------------------------- */

static void print_sizes(FILE *out, const struct circuit *c)
{
	if (c->multiple != 1300)
		fprintf(out, " --multiple %u.%03u", c->multiple / 1000, c->multiple % 1000);
	if (c->streams != 1)
		fprintf(out, " --streams %u", c->streams);
	if (c->mss)
		fprintf(out, " --mss %u", c->mss);
	if (c->burst)
		fprintf(out, " --burst %" PRIu64, c->burst);
	if (c->limit)
		fprintf(out, " --limit %" PRIu64, c->limit);
}

/* What `ctcp-setup add` takes; what the bare command has by default is said. */
void circuit_print(FILE *out, const struct circuit *c)
{
	char text[64], to[TO_TEXT];
	int i;

	word_print(out, c->name);
	fprintf(out, " --rate %s", format_rate(text, sizeof(text), c->rate));
	fprintf(out, " --rtt %s", format_time(text, sizeof(text), c->rtt_us));
	if (c->n_to)
		fprintf(out, " --to %s", format_to(to, sizeof(to), c));
	for (i = 0; i < 2; i++)
		if (c->via[i].family)
			fprintf(out, " --via %s", format_addr(text, sizeof(text), &c->via[i]));
	print_sizes(out, c);
	if (c->rest)
		fprintf(out, " --rest %s", format_rate(text, sizeof(text), c->rest));
	if (c->uplink)
		fprintf(out, " --uplink %s", format_rate(text, sizeof(text), c->uplink));
	if (c->loss)
		fprintf(out, " --loss %s", format_loss(text, sizeof(text), c->loss));
	if (c->guarantee != GUARANTEE_FULL)
		fprintf(out, " --guarantee %s", guarantee_name(c->guarantee));
	if (c->prefer != PREFER_UNSAID)
		fprintf(out, " --prefer %s", prefer_name(c->prefer));
	fprintf(out, " --shaper %s", shaper_name(c->shaper));
	/* who chooses the shaper chooses that, too */
	if (c->shaper != SHAPER_AUTO)
		fputs(c->pace ? " --pace" : " --unpaced", out);
	fprintf(out, "%s%s%s%s", c->early_window ? " --early-window" : "",
		c->default_cc ? " --default-cc" : "", c->overbook ? " --overbook" : "",
		c->dev[0] == '-' ? " --" : "");
	word_print(out, c->dev);
	fputc('\n', out);
}

static void print_base(FILE *out, const struct base *b)
{
	fprintf(out, "base %s", item_kind_name(b->kind));
	word_print(out, b->name);
	fprintf(out, " %d before", b->ifindex);
	word_print(out, b->before);
	fputs(" ours", out);
	word_print(out, b->ours);
	if (b->next) {
		fputs(" next", out);
		word_print(out, b->next);
	}
	fputc('\n', out);
}

static void print_circuits(FILE *out, const struct state *st)
{
	const struct member *m, *last = NULL;
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++, last = m) {
		m = &st->circuits[i];
		if (!last || last->ifindex != m->ifindex ||
		    strcmp(last->circuit.dev, m->circuit.dev)) {
			fputs("device", out);
			word_print(out, m->circuit.dev);
			fprintf(out, " %d\n", m->ifindex);
		}
		if (m->classid)
			fprintf(out, "class %x:%x\n", OUR_MAJOR, m->classid);
		fputs(verbs[m->standing], out);
		circuit_print(out, &m->circuit);
	}
}

static void print_confirm(FILE *out, const struct confirm *c)
{
	fprintf(out, "confirm %" PRIu64 " by %u", c->deadline, c->uid);
	word_print(out, c->user);
	fprintf(out, " pid %d tty", c->pid);
	word_print(out, c->tty);
	fputs(" command", out);
	word_print(out, c->command);
	fprintf(out, "%s\n", c->reverting ? " reverting" : "");
}

/* @boot: of the machine's run, after which nothing of this is so any more. */
int state_format(const struct state *st, const char *boot, char **text, size_t *len)
{
	FILE *out = open_memstream(text, len);
	uint32_t i;

	if (!out)
		return -ENOMEM;
	fprintf(out, "ctcp-setup " STATE_VERSION " boot %s\n", boot);
	if (st->confirm.deadline)
		print_confirm(out, &st->confirm);
	print_circuits(out, st);
	/* the module is the machine's and not the namespace's */
	for (i = 0; i < st->n_base; i++)
		if (st->base[i].kind != ITEM_MODULE)
			print_base(out, &st->base[i]);
	fputs("end\n", out);
	if (fclose(out)) {
		free(*text);
		return -ENOMEM;
	}
	return 0;
}

/* --- parse ----------------------------------------------------------------- */

struct parser {
	struct state *st;
	const char *boot;
	char dev[IFNAMSIZ];	/* of the last device line */
	int ifindex;
	uint32_t classid;	/* of a class line, for the next circuit */
	unsigned int line;
	bool begun, other_boot, ended;
	bool file;		/* of circuits, that a person wrote */
	struct err why;
};

static bool parse_index(const char *s, int *index)
{
	uint32_t n;
	struct err unused = { "" };

	if (parse_count("index", s, 0, INT32_MAX, &n, &unused))
		return false;
	*index = (int)n;
	return true;
}

static int parse_head(struct parser *p, int n, char **words)
{
	if (n != 4 || strcmp(words[0], "ctcp-setup") || strcmp(words[1], STATE_VERSION) ||
	    strcmp(words[2], "boot"))
		return -EBADMSG;
	p->begun = true;
	p->other_boot = strcmp(words[3], p->boot);
	return 0;
}

static int parse_device(struct parser *p, int n, char **words)
{
	if (n != 3 || !dev_is_valid(words[1]) || !parse_index(words[2], &p->ifindex))
		return -EBADMSG;
	memset(p->dev, 0, sizeof(p->dev));
	memcpy(p->dev, words[1], strlen(words[1]));
	return 0;
}

static int parse_class(struct parser *p, int n, char **words)
{
	return n == 2 && !p->classid && !class_minor(words[1], &p->classid) &&
	       p->classid <= CLASS_MINOR_MAX ? 0 : -EBADMSG;
}

/*
 * In a state the device is that of the line above, which may have any name that the kernel
 * takes, whatever it was called when the circuit was set up.
 */
static int parse_words(struct parser *p, int n, char **words, struct args *a)
{
	int rc;

	if (p->file)
		return args_parse(n, words, TAKES_CIRCUIT | TAKES_NAME | TAKES_DEV,
				  &circuit_added, a, &p->why);
	if (strcmp(words[n - 1], p->dev))
		return -EBADMSG;
	words[n - 1] = NULL;
	rc = args_parse(n - 1, words, TAKES_CIRCUIT | TAKES_NAME, &circuit_added, a, &p->why);
	memcpy(a->circuit.dev, p->dev, sizeof(p->dev));
	return rc;
}

/* add NAME OPTION... DEV */
static int parse_circuit(struct parser *p, int n, char **words, enum standing standing)
{
	struct member *m;
	struct args a = { 0 };
	bool htb;
	int rc;

	if ((standing == TRIAL || standing == BEFORE) && !p->st->confirm.deadline)
		return err_set(&p->why, -EBADMSG, "no confirm line stands before it");
	rc = parse_words(p, n, words, &a);
	args_free(&a);
	if (rc || a.dry_run || a.help || a.version)
		return -EBADMSG;
	if (!a.name[0]) {
		err_set(&p->why, -EBADMSG, "add needs a name, e.g. add lhc --rate 4gbit --rtt 26ms eth1");
		return -EBADMSG;
	}
	memcpy(a.circuit.name, a.name, sizeof(a.name));
	if (circuit_check(&a.circuit, &p->why))
		return -EBADMSG;
	/* in a state all is said */
	if (!p->file && a.circuit.shaper == SHAPER_AUTO)
		return -EBADMSG;
	htb = a.circuit.shaper == SHAPER_HTB;
	if (!p->file && htb != !!p->classid)
		return -EBADMSG;
	m = state_add(p->st, &a.circuit, p->ifindex);
	if (!m)
		return -ENOMEM;
	m->standing = standing;
	m->classid = p->classid;
	p->classid = 0;
	return 0;
}

/* base KIND NAME INDEX before V ours V [next V] */
static int parse_base(struct parser *p, int n, char **words)
{
	enum item_kind kind;
	struct base *b;
	int index;

	if ((n != 8 && n != 10) || item_kind_parse(words[1], &kind) || kind == ITEM_MODULE ||
	    !parse_index(words[3], &index) || strcmp(words[4], "before") ||
	    strcmp(words[6], "ours") || (n == 10 && strcmp(words[8], "next")) ||
	    strlen(words[2]) >= ITEM_NAME || !item_name_is(kind, words[2]) ||
	    strlen(words[5]) >= ITEM_VALUE ||
	    strlen(words[7]) >= ITEM_VALUE || (n == 10 && strlen(words[9]) >= ITEM_VALUE))
		return -EBADMSG;
	b = state_add_base(p->st, kind, words[2], index, words[5]);
	if (!b || text_set(&b->ours, words[7]) || text_set(&b->next, n == 10 ? words[9] : NULL))
		return -ENOMEM;
	return 0;
}

static bool parse_deadline(const char *s, uint64_t *ns)
{
	char *end;

	if (*s < '1' || *s > '9')
		return false;
	errno = 0;
	*ns = strtoull(s, &end, 10);
	return !errno && !*end;
}

static bool take_word(char *to, size_t len, const char *word)
{
	size_t n = strlen(word);

	if (n >= len)
		return false;
	memcpy(to, word, n + 1);
	return true;
}

/* confirm NS by UID USER pid N tty TTY command C [reverting] */
static int parse_confirm(struct parser *p, int n, char **words)
{
	struct confirm *c = &p->st->confirm;
	struct err unused = { "" };

	if (c->deadline || p->st->n_circuits || (n != 11 && n != 12) ||
	    strcmp(words[2], "by") || strcmp(words[5], "pid") || strcmp(words[7], "tty") ||
	    strcmp(words[9], "command") || (n == 12 && strcmp(words[11], "reverting")))
		return -EBADMSG;
	if (!parse_deadline(words[1], &c->deadline) || !parse_index(words[6], &c->pid) ||
	    parse_count("uid", words[3], 0, UINT32_MAX, &c->uid, &unused) ||
	    !take_word(c->user, sizeof(c->user), words[4]) ||
	    !take_word(c->tty, sizeof(c->tty), words[8]) ||
	    !take_word(c->command, sizeof(c->command), words[10]))
		return -EBADMSG;
	c->reverting = n == 12;
	return 0;
}

/* A # begins a comment where a word could begin. */
static void cut_comment(char *line)
{
	char *p = line;

	while ((p = strchr(p, '#')) && p != line && p[-1] != ' ')
		p++;
	if (p)
		*p = 0;
}

/* What is between a begin and an end is a whole list; a list need not have them. */
static int parse_mark(struct parser *p, bool ends)
{
	if (ends ? !p->begun : p->begun || p->st->n_circuits)
		return err_set(&p->why, -EBADMSG, ends ? "there is an end and no begin" :
			       "begin is for the first line of all");
	p->begun = true;
	p->ended = ends;
	return 0;
}

static int parse_file_line(struct parser *p, char *line)
{
	char *words[WORDS_MAX + 1];
	int n;

	while (strchr(line, '\t'))
		*strchr(line, '\t') = ' ';
	cut_comment(line);
	n = words_split(line, words);
	if (!n)
		return 0;
	if (n < 0)
		return err_set(&p->why, -EBADMSG, "a quotation mark is not closed, or there are more than %d words",
			       WORDS_MAX);
	if (p->ended)
		return err_set(&p->why, -EBADMSG, "there is a \"%s\" behind the end", words[0]);
	if (n == 1 && (!strcmp(words[0], "begin") || !strcmp(words[0], "end")))
		return parse_mark(p, !strcmp(words[0], "end"));
	if (strcmp(words[0], "add"))
		return err_set(&p->why, -EBADMSG,
			       "\"%s\" is not add NAME OPTION... DEV, which is all that a line may be but for begin and end",
			       words[0]);
	return parse_circuit(p, n, words, ADDING);
}

static int parse_line(struct parser *p, char *line)
{
	char *words[WORDS_MAX + 1];
	int n = words_split(line, words);
	unsigned int i;

	if (n <= 0 || p->ended)
		return -EBADMSG;
	if (!p->begun)
		return parse_head(p, n, words);
	if (!strcmp(words[0], "device"))
		return parse_device(p, n, words);
	if (!strcmp(words[0], "class"))
		return parse_class(p, n, words);
	if (!strcmp(words[0], "base"))
		return parse_base(p, n, words);
	if (!strcmp(words[0], "confirm"))
		return parse_confirm(p, n, words);
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(words[0], verbs[i]))
			return parse_circuit(p, n, words, (enum standing)i);
	p->ended = n == 1 && !strcmp(words[0], "end");
	return p->ended ? 0 : -EBADMSG;
}

/* Each line ends with a newline, and there is no NUL in it. */
static int parse_lines(struct parser *p, char *text, size_t len)
{
	char *line = text, *end;
	int rc = 0;

	if (memchr(text, 0, len))
		return -EBADMSG;
	while (!rc && line < text + len) {
		p->line++;
		end = memchr(line, '\n', (size_t)(text + len - line));
		if (!end)
			return -EBADMSG;
		*end = 0;
		rc = p->file ? parse_file_line(p, line) : parse_line(p, line);
		line = end + 1;
	}
	if (!rc && p->file && p->begun && !p->ended)
		err_set(&p->why, -EBADMSG,
			"there is a begin and no end behind it: the file was cut short");
	return rc ? rc : p->ended || (p->file && !p->begun) ? 0 : -EBADMSG;
}

/* A file that a person wrote: its last line may lack a newline.  Into @st, as ADDING. */
int circuits_parse(const char *text, size_t len, struct state *st, struct err *e)
{
	struct parser p = { .st = st, .file = true };
	char *copy = malloc(len + 2);
	int rc;

	memset(st, 0, sizeof(*st));
	if (!copy)
		return err_set(e, -ENOMEM, "out of memory");
	memcpy(copy, text, len);
	if (len && copy[len - 1] != '\n')
		copy[len++] = '\n';
	rc = parse_lines(&p, copy, len);
	if (rc == -EBADMSG)
		err_set(e, rc, "line %u: %s", p.line,
			p.why.text[0] ? p.why.text : "there is a NUL in it");
	else if (rc)
		err_set(e, rc, "out of memory");
	free(copy);
	if (rc)
		state_free(st);
	return rc;
}

/* -EBADMSG: @e has the line that is wrong; @st is empty then, as after another boot. */
int state_parse(const char *text, size_t len, const char *boot, struct state *st,
		struct err *e)
{
	struct parser p = { .st = st, .boot = boot };
	char *copy = malloc(len + 1);
	int rc;

	memset(st, 0, sizeof(*st));
	if (!copy)
		return err_set(e, -ENOMEM, "out of memory");
	memcpy(copy, text, len);
	rc = parse_lines(&p, copy, len);
	free(copy);
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory");
	else if (rc)
		err_set(e, rc, "line %u is not one of a state%s%s", p.line,
			p.why.text[0] ? ": " : "", p.why.text);
	if (rc || p.other_boot)
		state_free(st);
	return rc;
}

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
#include "heap.h"
#include "htb.h"
#include "out.h"
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

/* " --option", and the value behind it */
static void put(struct out *o, const char *option, const char *value)
{
	out_text(o, option);
	out_text(o, value);
}

static void put_rate(struct out *o, const char *option, uint64_t rate)
{
	char text[64];

	if (rate)
		put(o, option, format_rate(text, sizeof(text), rate));
}

static void put_sizes(struct out *o, const struct circuit *c)
{
	char text[32];

	if (c->multiple != 1300) {
		snprintf(text, sizeof(text), "%u.%03u", c->multiple / 1000, c->multiple % 1000);
		put(o, " --multiple ", text);
	}
	out_pair_unless_0(o, " --streams ", c->streams == 1 ? 0 : c->streams);
	out_pair_unless_0(o, " --mss ", c->mss);
	out_pair_unless_0(o, " --burst ", c->burst);
	out_pair_unless_0(o, " --limit ", c->limit);
}

/* Where its traffic goes, and by which gateway of each family */
static void put_far_side(struct out *o, const struct circuit *c)
{
	char text[64];
	uint32_t i;

	for (i = 0; i < c->n_to; i++) {
		out_text(o, i ? "," : " --to ");
		prefix_put(o, &c->to[i]);
	}
	for (i = 0; i < 2; i++)
		if (c->via[i].family)
			put(o, " --via ", format_addr(text, sizeof(text), &c->via[i]));
}

static void put_kind(struct out *o, const struct circuit *c)
{
	char text[32];

	if (c->loss)
		put(o, " --loss ", format_loss(text, sizeof(text), c->loss));
	if (c->guarantee != GUARANTEE_FULL)
		put(o, " --guarantee ", guarantee_name(c->guarantee));
	if (c->prefer != PREFER_UNSAID)
		put(o, " --prefer ", prefer_name(c->prefer));
	put(o, " --shaper ", shaper_name(c->shaper));
	/* who chooses the shaper chooses that, too */
	if (c->shaper != SHAPER_AUTO)
		out_text(o, c->pace ? " --pace" : " --unpaced");
}

/* What `ctcp-setup add` takes; what the bare command has by default is said. */
void circuit_put(struct out *o, const struct circuit *c)
{
	char text[64];

	out_word(o, c->name);
	put(o, " --rate ", format_rate(text, sizeof(text), c->rate));
	put(o, " --rtt ", format_time(text, sizeof(text), c->rtt_us));
	put_far_side(o, c);
	put_sizes(o, c);
	put_rate(o, " --rest ", c->rest);
	put_rate(o, " --uplink ", c->uplink);
	put_kind(o, c);
	out_text(o, c->early_window ? " --early-window" : "");
	out_text(o, c->default_cc ? " --default-cc" : "");
	out_text(o, c->overbook ? " --overbook" : "");
	out_text(o, c->dev[0] == '-' ? " --" : "");
	out_word(o, c->dev);
	out_bytes(o, "\n", 1);
}

/* As the same words would be printed. */
bool circuit_is_same(const struct circuit *a, const struct circuit *b)
{
	struct out oa = { .grows = true }, ob = { .grows = true };
	bool same = !memcmp(a, b, sizeof(*a));

	if (same)
		return true;
	circuit_put(&oa, a);
	circuit_put(&ob, b);
	same = !oa.failed && !ob.failed && !strcmp(oa.text, ob.text);
	free(oa.text);
	free(ob.text);
	return same;
}

static void put_base(struct out *o, const struct base *b)
{
	put(o, "base ", item_kind_name(b->kind));
	out_word(o, b->name);
	out_bytes(o, " ", 1);
	out_number(o, (uint64_t)b->ifindex);
	out_text(o, " before");
	out_word(o, b->before);
	out_text(o, " ours");
	out_word(o, b->ours);
	if (b->next) {
		out_text(o, " next");
		out_word(o, b->next);
	}
	out_bytes(o, "\n", 1);
}

/* None until it is set up there: the next run, too, is to see that it begins anew. */
static int index_of(const struct member *m)
{
	return m->anew ? 0 : m->ifindex;
}

static void put_device(struct out *o, const struct member *m)
{
	out_text(o, "device");
	out_word(o, m->circuit.dev);
	out_bytes(o, " ", 1);
	out_number(o, (uint64_t)index_of(m));
	out_bytes(o, "\n", 1);
}

static void put_circuits(struct out *o, const struct state *st)
{
	const struct member *m, *last = NULL;
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++, last = m) {
		m = &st->circuits[i];
		if (!last || index_of(last) != index_of(m) ||
		    strcmp(last->circuit.dev, m->circuit.dev))
			put_device(o, m);
		if (m->classid) {
			out_text(o, "class ");
			classid_put(o, m->classid);
			out_bytes(o, "\n", 1);
		}
		out_text(o, m->circuit.bare ? "bare\n" : "");
		out_text(o, m->circuit.ctcpd ? "ctcpd\n" : "");
		out_text(o, verbs[m->standing]);
		circuit_put(o, &m->circuit);
	}
}

static void put_confirm(struct out *o, const struct confirm *c)
{
	char text[64];

	snprintf(text, sizeof(text), "confirm %" PRIu64 " by %u", c->deadline, c->uid);
	out_text(o, text);
	out_word(o, c->user);
	snprintf(text, sizeof(text), " pid %d tty", c->pid);
	out_text(o, text);
	out_word(o, c->tty);
	out_text(o, " command");
	out_word(o, c->command);
	out_text(o, c->reverting ? " reverting\n" : "\n");
}

/* @boot: of the machine's run, after which nothing of this is so any more. */
int state_format(const struct state *st, const char *boot, char **text, size_t *len)
{
	/* most lines are shorter */
	size_t room = 128 * ((size_t)st->n_circuits + st->n_base);
	struct out o;
	uint32_t i;

	heap_expect(room);
	out_begin(&o, room);
	put(&o, "ctcp-setup " STATE_VERSION " boot ", boot);
	out_bytes(&o, "\n", 1);
	if (st->confirm.deadline)
		put_confirm(&o, &st->confirm);
	put_circuits(&o, st);
	/* the module is the machine's and not the namespace's */
	for (i = 0; i < st->n_base; i++)
		if (st->base[i].kind != ITEM_MODULE)
			put_base(&o, &st->base[i]);
	out_text(&o, "end\n");
	*text = o.text;
	*len = o.used;
	if (!o.failed)
		return 0;
	free(o.text);
	*text = NULL;
	return -ENOMEM;
}

/* --- parse ----------------------------------------------------------------- */

struct parser {
	struct state *st;
	const char *boot;
	char dev[IFNAMSIZ];	/* of the last device line */
	int ifindex;
	uint32_t classid;	/* of a class line, for the next circuit */
	bool bare;		/* of a bare line, likewise */
	bool ctcpd;		/* of a line that says whose it is */
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

static int parse_bare(struct parser *p, int n)
{
	if (n != 1 || p->bare)
		return -EBADMSG;
	p->bare = true;
	return 0;
}

static int parse_ctcpd(struct parser *p, int n)
{
	if (n != 1 || p->ctcpd)
		return -EBADMSG;
	p->ctcpd = true;
	return 0;
}

/* Nothing but a class, in the place that a class line gives it */
static bool may_be_ctcpds(const struct circuit *c)
{
	return c->shaper == SHAPER_HTB && !c->pace && !c->default_cc && !c->early_window &&
	       c->guarantee == GUARANTEE_FULL && !c->rest && !c->uplink;
}

/*
 * In a state the device is that of the line above, which may have any name that the kernel
 * takes, whatever it was called when the circuit was set up.
 */
static int parse_words(struct parser *p, int n, char **words, struct args *a)
{
	int rc;

	if (p->file)
		return args_parse(n, words, TAKES_CIRCUIT | TAKES_NAME | TAKES_DEV | TAKES_LINE,
				  &circuit_added, a, &p->why);
	if (strcmp(words[n - 1], p->dev))
		return -EBADMSG;
	words[n - 1] = NULL;
	rc = args_parse(n - 1, words, TAKES_CIRCUIT | TAKES_NAME | TAKES_LINE, &circuit_added, a,
			&p->why);
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
	if (rc)
		return -EBADMSG;
	if (!a.name[0] || !a.circuit.dev[0])
		return err_set(&p->why, -EBADMSG,
			       "%sadd needs a name and a device, e.g. add lhc --rate 4gbit --rtt 26ms eth1",
			       a.name[0] ? "which device? " : "");
	memcpy(a.circuit.name, a.name, sizeof(a.name));
	if (circuit_check(&a.circuit, &p->why))
		return -EBADMSG;
	/* in a state all is said */
	if (!p->file && a.circuit.shaper == SHAPER_AUTO)
		return -EBADMSG;
	htb = a.circuit.shaper == SHAPER_HTB;
	if (!p->file && htb != !!p->classid)
		return -EBADMSG;
	if (p->ctcpd && (p->bare || !may_be_ctcpds(&a.circuit)))
		return -EBADMSG;
	m = state_add(p->st, &a.circuit, p->ifindex);
	if (!m)
		return -ENOMEM;
	m->standing = standing;
	m->classid = p->classid;
	m->circuit.bare = p->bare;
	m->circuit.ctcpd = p->ctcpd;
	p->classid = 0;
	p->bare = false;
	p->ctcpd = false;
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
	b = state_room_for_base(p->st);
	if (!b)
		return -ENOMEM;
	*b = (struct base){
		.kind = kind, .name = words[2], .ifindex = index, .before = words[5],
		.ours = words[7], .next = n == 10 ? words[9] : NULL,
	};
	p->st->n_base++;
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
	if (!strcmp(words[0], "bare"))
		return parse_bare(p, n);
	if (!strcmp(words[0], "ctcpd"))
		return parse_ctcpd(p, n);
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

	end = memchr(text, 0, len);
	if (end) {
		for (p->line = 1; line < end; line++)
			p->line += *line == '\n';
		return err_set(&p->why, -EBADMSG, "there is a NUL in it");
	}
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
	char *copy;
	int rc;

	/* a line of 80 bytes is a struct member, in a list that has twice its room at times */
	heap_expect(12 * len);
	copy = malloc(len + 2);
	memset(st, 0, sizeof(*st));
	if (!copy)
		return err_set(e, -ENOMEM, "out of memory");
	memcpy(copy, text, len);
	if (len && copy[len - 1] != '\n')
		copy[len++] = '\n';
	rc = parse_lines(&p, copy, len);
	if (rc == -EBADMSG)
		err_set(e, rc, "line %u: %s", p.line, p.why.text);
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
	st->text = copy;
	rc = parse_lines(&p, copy, len);
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory");
	else if (rc)
		err_set(e, rc, "line %u is not one of a state%s%s", p.line,
			p.why.text[0] ? ": " : "", p.why.text);
	if (rc || p.other_boot)
		state_free(st);
	return rc;
}

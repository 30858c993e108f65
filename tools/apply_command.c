// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup apply FILE and diff FILE: the list is that of a file.
 *
 * What is alike stays as it is; what differs, or is new, or is not in the file, alone
 * is changed.  The whole file is read and held against itself before that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "appear.h"
#include "command.h"
#include "hear.h"
#include "link.h"
#include "order.h"
#include "out.h"
#include "print.h"

#define FILE_MAX (64UL << 20)	/* bytes; 60,000 circuits have some 10 MB */

static int read_all(FILE *in, char **text, size_t *len)
{
	size_t room = 1 << 16;
	char *more;

	*len = 0;
	*text = malloc(room);
	while (*text && !feof(in) && !ferror(in)) {
		*len += fread(*text + *len, 1, room - *len, in);
		if (*len < room)
			continue;
		if (room >= FILE_MAX)
			return -EFBIG;
		room *= 2;
		more = realloc(*text, room);
		if (!more)
			free(*text);
		*text = more;
	}
	return !*text ? -ENOMEM : ferror(in) ? -errno : 0;
}

static int read_file(const char *name, struct state *wanted, struct err *e)
{
	FILE *in = strcmp(name, "-") ? fopen(name, "re") : stdin;
	struct err why = { "" };
	char *text = NULL;
	size_t len = 0;
	int rc;

	if (!in)
		return err_set(e, -errno, "cannot read %s: %s", name, strerror(errno));
	rc = read_all(in, &text, &len);
	if (rc)
		err_set(e, rc, "cannot read %s: %s", name, strerror(-rc));
	if (in != stdin)
		fclose(in);
	if (!rc && !len)
		rc = err_set(e, -ENODATA,
			     "%s is empty, as one that could not be written; undo --all, or a file with a comment, takes all circuits away",
			     name);
	if (!rc) {
		rc = circuits_parse(text, len, wanted, &why);
		if (rc)
			err_set(e, rc, "%s, %s", name, why.text);
	}
	free(text);
	return rc;
}

/* Why a circuit of the file is left out for now (--partial) */
struct later {
	enum { NOT_LEFT, NO_DEVICE, REFUSED } left;
	bool said;
	char *why;
};

struct file {
	struct state wanted;	/* REMOVING: as it is, so that nothing is to be done for it */
	struct order names, devices;
	/* of --partial, NULL without: */
	struct later *later;		/* of each circuit */
	struct member *as_read;		/* without what a run has chosen for it */
	uint32_t n_later;		/* not as the file says, because they are left out */
	uint32_t refused;		/* so far */
	char culprit[TCP_CIRCUIT_NAME_LEN];	/* for whom the last run failed, "" = nobody */
};

/* As the same words would be printed. */
static bool is_same(const struct circuit *a, const struct circuit *b)
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

static bool is_alone(const struct order *devices, const char *dev)
{
	uint32_t first = order_device(devices, dev);

	return order_on(devices, first, dev) && !order_on(devices, first + 1, dev);
}

/* Which shaper the file does not name stays as it was chosen, if the device's others let it. */
static void keep_shaper(const struct member *m, const struct order *devices, struct circuit *c)
{
	if (c->shaper != SHAPER_AUTO || strcmp(c->dev, m->circuit.dev) ||
	    (!circuit_shares(&m->circuit) && !is_alone(devices, c->dev)))
		return;
	c->shaper = m->circuit.shaper;
	c->pace = m->circuit.pace;
}

/* Circuits that the file has as they are stand on; the others of the list go. */
static void keep_same(struct state *st, struct file *file)
{
	uint32_t i, at;

	for (i = 0; i < st->n_circuits; i++) {
		struct member *m = &st->circuits[i], *w;

		at = order_find(&file->names, m->circuit.name);
		w = at == NOWHERE ? NULL : &file->wanted.circuits[file->names.at[at]];
		if (w && w->standing == REMOVING)
			continue;	/* left out */
		if (w)
			keep_shaper(m, &file->devices, &w->circuit);
		if (w && is_same(&w->circuit, &m->circuit))
			w->standing = REMOVING;	/* nothing to do for it */
		else
			m->standing = REMOVING;
	}
}

/* The others of the file come; each device is asked for once where they stand together. */
static int add_others(struct state *st, const struct state *wanted, struct err *e)
{
	const char *dev = "";
	struct member *m;
	uint32_t i;
	int index = 0;

	for (i = 0; i < wanted->n_circuits; i++) {
		const struct circuit *c = &wanted->circuits[i].circuit;

		if (wanted->circuits[i].standing == REMOVING)
			continue;
		if (strcmp(dev, c->dev))
			index = link_index(c->dev);
		dev = c->dev;
		m = state_add(st, c, index);
		if (!m)
			return err_set(e, -ENOMEM, "out of memory");
		m->standing = ADDING;
	}
	return 0;
}

/* Whoever stands as the file says has what there is to do for it done. */
static void say_later(struct session *s, struct file *file)
{
	const struct member *m;
	uint32_t i;

	file->n_later = 0;
	for (i = 0; file->later && i < file->wanted.n_circuits; i++) {
		struct later *l = &file->later[i];

		if (l->left == NOT_LEFT)
			continue;
		m = state_find(&s->state, file->as_read[i].circuit.name);
		if (m && is_same(&m->circuit, &file->as_read[i].circuit))
			continue;
		file->n_later++;
		if (l->said)
			continue;
		l->said = true;
		fprintf(stderr, "note: %s: it is left out for now\n", l->why);
	}
}

static int edit(struct session *s, struct file *file, struct err *e)
{
	struct state *st = &s->state;
	struct err why = { "" };
	uint32_t at;
	int rc;

	say_later(s, file);
	keep_same(st, file);
	rc = site_choose_all(&s->kernel.nl, st, &file->wanted, &s->chosen, e);
	if (!rc)
		rc = add_others(st, &file->wanted, e);
	if (rc)
		return rc;
	rc = state_insert_all(st, &at, &why);
	if (rc && at < st->n_circuits)
		return err_set(e, rc, "circuit %s: %s", st->circuits[at].circuit.name, why.text);
	return rc ? err_set(e, rc, "%s", why.text) : 0;
}

/* Said of a file: two lines of one name are a mistake that no order makes right. */
static int check_names(const struct order *names, struct err *e)
{
	uint32_t i;

	for (i = 1; i < names->n; i++)
		if (!strcmp(order_member(names, i - 1)->circuit.name,
			    order_member(names, i)->circuit.name))
			return err_set(e, -EEXIST, "%s is the name of two circuits of the file",
				       order_member(names, i)->circuit.name);
	return 0;
}

static int report(const struct session *s, uint32_t circuits, bool changed, struct err *e)
{
	json_t *root;

	if (s->args->json) {
		root = json_pack("{s:i, s:b, s:o, s:o, s:o, s:o}", "circuits", (int)circuits,
				 "applied", changed, "chosen", json_notes(&s->chosen.notes),
				 "changes", json_changes(&s->diff), "confirm",
				 json_confirm(changed ? &s->state.confirm : &s->waits), "notes",
				 json_notes(&s->notes));
		return print_json(stdout, root, e);
	}
	if (s->args->quiet)
		return 0;
	printf("%u circuit%s\n", circuits, circuits == 1 ? "" : "s");
	print_chosen(stdout, &s->chosen.notes, false);
	print_changes(stdout, &s->diff);
	if (changed)
		print_begun(&s->state.confirm);
	return 0;
}

/* A circuit that is the only one whose trouble this is; what they share is everybody's. */
static void find_culprit(const struct session *s, char culprit[TCP_CIRCUIT_NAME_LEN])
{
	const struct change *c = s->outcome.refused;
	const char *name = s->culprit;

	if (c && c->circuit != NOBODY && item_goes_with_many(c->kind))
		name = s->state.circuits[c->circuit].circuit.name;
	snprintf(culprit, TCP_CIRCUIT_NAME_LEN, "%s", name);
}

static int run_apply(struct session *s, void *data, struct err *e)
{
	struct file *file = data;
	int rc = s->args->dry_run ? session_preview(s, e) : session_lock(s, e);

	if (!rc)
		rc = edit(s, file, e);
	if (!rc && s->cut_short)
		note(&s->trouble,
		     "an earlier run was cut short; what it had changed is taken back first");
	s->diff.whole = true;
	if (!rc)
		rc = session_diff(s, e);
	if (!rc && s->args->dry_run) {
		print_chosen(stdout, &s->chosen.notes, true);
		return print_commands(stdout, &s->diff, e);
	}
	if (!rc)
		rc = session_commit(s, ALL_OR_NONE, e);
	if (rc) {
		find_culprit(s, file->culprit);
		return rc;
	}
	session_release(s);
	print_notes(stderr, &s->trouble);
	return report(s, file->wanted.n_circuits, true, e);
}

static int run_diff(struct session *s, void *data, struct err *e)
{
	struct file *file = data;
	int rc = session_peek(s, e);

	if (!rc)
		rc = edit(s, file, e);
	if (!rc)
		rc = session_diff(s, e);
	if (!rc)
		rc = report(s, file->wanted.n_circuits, false, e);
	if (rc || !s->diff.n)
		return rc;
	return err_set(e, -EBADE, "%u difference%s from %s; ctcp-setup apply makes it so",
		       s->diff.n, s->diff.n == 1 ? "" : "s", s->args->file);
}

/* --- what can be set up ---------------------------------------------------- */

#define REFUSED_MAX	16		/* circuits that are tried without, one after the other */
#define RETRY_US	5000000		/* what was refused is tried again: nothing tells of it */

static void leave_out(struct later *l, int left, const char *why)
{
	if (l->left == NOT_LEFT)
		l->why = strdup(why);
	if (l->why)
		l->left = left;
}

/* The list for the next run: what is left out is as it is. */
static void take_list(struct file *file)
{
	uint32_t i;

	for (i = 0; i < file->wanted.n_circuits; i++) {
		file->wanted.circuits[i] = file->as_read[i];
		if (file->later[i].left != NOT_LEFT)
			file->wanted.circuits[i].standing = REMOVING;
	}
}

static void leave_missing(struct file *file)
{
	uint32_t i;

	for (i = 0; i < file->wanted.n_circuits; i++) {
		const struct circuit *c = &file->as_read[i].circuit;
		struct later *l = &file->later[i];
		char why[160];

		free(l->why);
		l->why = NULL;
		l->left = NOT_LEFT;
		if (link_is_up(c->dev))
			continue;
		snprintf(why, sizeof(why), link_index(c->dev) ? "circuit %s: %s is down" :
			 "circuit %s: there is no device %s", c->name, c->dev);
		leave_out(l, NO_DEVICE, why);
	}
}

/*
 * The one that a run failed for, and where there are many of them those of its device, too.
 * False: there is none, or it has been left out already.
 */
static bool leave_culprit(struct file *file, const struct err *e)
{
	uint32_t at = file->culprit[0] ? order_find(&file->names, file->culprit) : NOWHERE, i;
	bool named = !strncmp(e->text, "circuit ", strlen("circuit "));
	const char *dev;
	char why[600];

	if (at == NOWHERE || file->later[file->names.at[at]].left != NOT_LEFT)
		return false;
	snprintf(why, sizeof(why), "%s%s%s%.500s", named ? "" : "circuit ",
		 named ? "" : file->culprit, named ? "" : ": ", e->text);
	leave_out(&file->later[file->names.at[at]], REFUSED, why);
	dev = file->as_read[file->names.at[at]].circuit.dev;
	for (i = 0; ++file->refused > REFUSED_MAX && i < file->wanted.n_circuits; i++)
		if (!strcmp(file->as_read[i].circuit.dev, dev))
			leave_out(&file->later[i], REFUSED, why);
	return true;
}

static int apply_those(const struct args *a, struct file *file, struct err *e)
{
	int rc;

	leave_missing(file);
	file->refused = 0;
	do {
		take_list(file);
		file->culprit[0] = 0;
		rc = session_run(a, run_apply, file, e);
	} while (rc && leave_culprit(file, e));
	return rc;
}

/* Until something may have changed for one that is left out; 1: the time is over. */
static int wait_for_more(struct file *file, uint64_t deadline, struct err *e)
{
	uint64_t now = hear_clock(), until = deadline;
	uint32_t i;
	int rc;

	for (i = 0; i < file->wanted.n_circuits; i++) {
		file->wanted.circuits[i].standing =
			file->later[i].left == NO_DEVICE ? ADDING : STANDING;
		if (file->later[i].left == REFUSED && now + RETRY_US < until)
			until = now + RETRY_US;
	}
	if (now >= deadline)
		return 1;
	rc = appear_wait_any(&file->wanted, ADDING, until - now, e);
	return rc ? rc : hear_clock() >= deadline;
}

static int apply_partly(const struct args *a, struct file *file, struct err *e)
{
	uint64_t deadline = hear_clock() + a->wait_us;
	uint32_t n = file->wanted.n_circuits;
	int rc, over;

	file->later = calloc((size_t)n + 1, sizeof(*file->later));
	file->as_read = calloc((size_t)n + 1, sizeof(*file->as_read));
	if (!file->later || !file->as_read)
		return err_set(e, -ENOMEM, "out of memory");
	memcpy(file->as_read, file->wanted.circuits, n * sizeof(*file->as_read));
	do {
		rc = apply_those(a, file, e);
		over = rc || !file->n_later || a->dry_run ? 1 : wait_for_more(file, deadline, e);
	} while (!over);
	if (rc || over < 0)
		return rc ?: over;
	if (!file->n_later)
		return 0;
	return err_set(e, -EUCLEAN,
		       "%u of %u circuits are left out, see the notes; the same command again sets up those that can be then",
		       file->n_later, n);
}

static void file_free(struct file *file)
{
	uint32_t i;

	for (i = 0; file->later && i < file->wanted.n_circuits; i++)
		free(file->later[i].why);
	free(file->later);
	free(file->as_read);
	order_free(&file->names);
	order_free(&file->devices);
	state_free(&file->wanted);
}

static int with_file(const struct args *a, session_fn run, struct err *e)
{
	struct file file = { 0 };
	int rc = read_file(a->file, &file.wanted, e);

	if (!rc && (order_by_name(&file.names, &file.wanted) ||
		    order_by_device(&file.devices, &file.wanted)))
		rc = err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		rc = check_names(&file.names, e);
	if (!rc && a->wait_us && !a->partial)
		rc = appear_wait(&file.wanted, a->wait_us, e);
	if (!rc)
		rc = a->partial ? apply_partly(a, &file, e) : session_run(a, run, &file, e);
	file_free(&file);
	return rc;
}

int command_apply(const struct args *a, struct err *e)
{
	int rc = a->dry_run ? 0 :
		 need_net_admin(", or with --dry-run to see what it would do", e);

	return rc ? rc : with_file(a, run_apply, e);
}

int command_diff(const struct args *a, struct err *e)
{
	return with_file(a, run_diff, e);
}

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
#include "guarantee.h"
#include "hear.h"
#include "link.h"
#include "order.h"
#include "partial.h"
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

/* One without circuits has a comment at least, or begin and end. */
static bool is_blank(const char *text, size_t len)
{
	while (len && text[len - 1] && strchr(" \t\n", text[len - 1]))
		len--;
	return !len;
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
	if (!rc && is_blank(text, len))
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

struct file {
	struct state wanted;	/* REMOVING: as it is, so that nothing is to be done for it */
	struct order names, devices;
	struct partial partial;	/* of --partial, else empty */
	char failed_for[TCP_CIRCUIT_NAME_LEN];	/* circuit of the last run, "" = none */
	bool failed_for_device;		/* and all others on its device */
};

static bool is_alone(const struct order *devices, const char *dev)
{
	uint32_t first = order_device(devices, dev);

	return order_on(devices, first, dev) && !order_on(devices, first + 1, dev);
}

/* The module's pacing, which the circuit of the file, of H-TCP, cannot have */
static bool is_lost(const struct circuit *had, const struct circuit *c)
{
	return had->shaper == SHAPER_NONE && had->pace && circuit_is_htcp(c);
}

/* Which shaper the file does not name stays as it was chosen, if the device's others let it. */
static void keep_shaper(const struct member *m, const struct order *devices, struct circuit *c)
{
	if (c->shaper != SHAPER_AUTO || strcmp(c->dev, m->circuit.dev) ||
	    (!circuit_shares(&m->circuit) && !is_alone(devices, c->dev)) ||
	    is_lost(&m->circuit, c))
		return;
	c->shaper = m->circuit.shaper;
	c->pace = m->circuit.pace && !circuit_is_htcp(c);
}

/* Circuits that the file has as they are stand on; the others of the list go, but ctcpd's. */
static void keep_same(struct state *st, struct file *file)
{
	uint32_t i, at;

	for (i = 0; i < st->n_circuits; i++) {
		struct member *m = &st->circuits[i], *w;

		if (m->circuit.ctcpd)
			continue;
		at = order_find(&file->names, m->circuit.name);
		w = at == NOWHERE ? NULL : &file->wanted.circuits[file->names.at[at]];
		m->left_out = w && w->standing == REMOVING;
		if (m->left_out)
			continue;
		if (w)
			keep_shaper(m, &file->devices, &w->circuit);
		if (w && circuit_is_same(&w->circuit, &m->circuit))
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

static int edit(struct session *s, struct file *file, struct err *e)
{
	struct state *st = &s->state;
	struct err why = { "" };
	uint32_t at;
	int rc;

	partial_say(&file->partial, st);
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

/* @changed: and it was done */
static int report_json(const struct session *s, uint32_t circuits, bool changed, struct err *e)
{
	json_t *root, *commands = json_array();
	int rc = s->args->dry_run ? json_commands(commands, &s->diff, e) : 0;

	if (rc) {
		json_decref(commands);
		return rc;
	}
	root = json_pack("{s:i, s:b, s:o, s:o, s:o, s:o}", "circuits", (int)circuits,
			 "applied", changed, "chosen", json_notes(&s->chosen.notes),
			 "changes", json_changes(&s->diff), "confirm",
			 json_confirm(changed ? &s->state.confirm : &s->waits), "notes",
			 json_notes(&s->notes));
	if (s->args->dry_run)
		json_object_set(root, "commands", commands);
	json_decref(commands);
	return print_json(stdout, root, e);
}

static int report(const struct session *s, uint32_t circuits, bool changed, struct err *e)
{
	if (s->args->json)
		return report_json(s, circuits, changed, e);
	if (s->args->quiet)
		return 0;
	printf("%u circuit%s\n", circuits, circuits == 1 ? "" : "s");
	print_chosen(stdout, &s->chosen.notes, false);
	print_changes(stdout, &s->diff, changed);
	if (changed) {
		print_begun(&s->state.confirm);
		print_notes(stdout, &s->notes);
	}
	return 0;
}

/* As shell commands, with the notes beside them */
static int report_dry(const struct session *s, uint32_t circuits, struct err *e)
{
	if (s->args->json)
		return report_json(s, circuits, false, e);
	print_chosen(stdout, &s->chosen.notes, true);
	if (!s->args->quiet)
		print_notes(stderr, &s->notes);
	return print_commands(stdout, &s->diff, e);
}

/*
 * A circuit that is the only one whose trouble this is, or that of its device; what they share
 * else is everybody's.
 */
static const char *failed_for(const struct session *s)
{
	const struct change *c = s->outcome.refused;
	const struct item *it = s->diff.foreign;
	uint32_t circuit = NOBODY;

	if (it)
		circuit = it->circuit;
	else if (c && item_goes_with_many(c->kind))
		circuit = c->circuit;
	return circuit == NOBODY ? s->failed_for : s->state.circuits[circuit].circuit.name;
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
	if (!rc && s->args->dry_run)
		return report_dry(s, file->wanted.n_circuits, e);
	if (!rc)
		rc = session_commit(s, ALL_OR_NONE, e);
	if (rc) {
		snprintf(file->failed_for, sizeof(file->failed_for), "%s", failed_for(s));
		file->failed_for_device = s->diff.foreign && s->diff.foreign->kind == ITEM_QDISC;
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

/* False: that one is left out already, or it failed for none. */
static bool leave_out(struct file *file, const struct err *e)
{
	uint32_t at = file->failed_for[0] ? order_find(&file->names, file->failed_for) : NOWHERE;

	return at != NOWHERE && partial_refused(&file->partial, file->names.at[at],
						file->failed_for_device, e->text);
}

static int apply_those(const struct args *a, struct file *file, struct err *e)
{
	int rc;

	partial_begin_run(&file->partial);
	do {
		partial_list(&file->partial, &file->wanted);
		file->failed_for[0] = 0;
		file->failed_for_device = false;
		rc = session_run(a, run_apply, file, e);
	} while (rc && leave_out(file, e));
	return rc;
}

static int apply_partly(const struct args *a, struct file *file, struct err *e)
{
	uint64_t deadline = hear_clock() + a->wait_us;
	const struct partial *p = &file->partial;
	int rc = partial_open(&file->partial, &file->wanted, e), over = rc;

	while (!rc && !over) {
		rc = apply_those(a, file, e);
		over = rc || !p->n_out || a->dry_run ? 1 : partial_wait(p, deadline, e);
	}
	if (rc || over < 0)
		return rc ?: over;
	if (!p->n_out)
		return 0;
	return err_set(e, -EUCLEAN,
		       "%u of %u circuits are left out, see the notes; the same command again sets up those that can be then",
		       p->n_out, p->n);
}

static bool all_are_up(const void *data)
{
	const struct state *wanted = data;
	uint32_t i;

	for (i = 0; i < wanted->n_circuits; i++)
		if (!link_is_up(wanted->circuits[i].circuit.dev))
			return false;
	return true;
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
		rc = appear_wait(all_are_up, &file.wanted, a->wait_us, e);
	if (!rc)
		rc = a->partial ? apply_partly(a, &file, e) : session_run(a, run, &file, e);
	partial_close(&file.partial);
	order_free(&file.names);
	order_free(&file.devices);
	state_free(&file.wanted);
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

// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup --rate R --rtt T DEV, add and change: one circuit of the list is set.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "link.h"
#include "print.h"

static int report_json(const struct session *s, const struct circuit *c,
		       const struct plan *plan, struct err *e)
{
	json_t *root = json_plan(c, plan), *commands = json_array();
	int rc = s->args->dry_run ? json_commands(commands, &s->diff, e) : 0;

	if (rc) {
		json_decref(commands);
		json_decref(root);
		return rc;
	}

	if (s->chosen.notes.n)
		json_object_set_new(root, "reason", json_string(s->chosen.choice.reason));
	json_object_set_new(root, "applied", json_boolean(!s->args->dry_run));
	json_object_set_new(root, "changes", json_changes(&s->diff));
	json_object_set_new(root, "confirm", json_confirm(&s->state.confirm));
	if (s->args->dry_run)
		json_object_set(root, "commands", commands);
	json_decref(commands);
	json_object_set_new(root, "notes", json_notes(&s->notes));
	json_object_set_new(root, "trouble", json_notes(&s->trouble));
	return print_json(stdout, root, e);
}

static int report(const struct session *s, const struct circuit *c, const struct plan *plan,
		  struct err *e)
{
	int rc = 0;

	if (s->args->json)
		return report_json(s, c, plan, e);
	if (s->args->dry_run) {
		print_chosen(stdout, &s->chosen.notes, true);
		rc = print_commands(stdout, &s->diff, e);
	} else if (!s->args->quiet) {
		print_head(stdout, c);
		print_plan(stdout, c, plan);
		print_chosen(stdout, &s->chosen.notes, false);
		print_changes(stdout, &s->diff, true);
		print_begun(&s->state.confirm);
	}
	print_notes(stderr, &s->trouble);
	if (!s->args->quiet)
		print_notes(s->args->dry_run ? stderr : stdout, &s->notes);
	return rc;
}

/* The list is edited: planned, made so, and told of the circuit @at. */
static int set(struct session *s, uint32_t at, struct err *e)
{
	struct circuit c = s->state.circuits[at].circuit;
	struct plan plan;
	int rc;

	if (s->cut_short)
		note(&s->trouble,
		     "an earlier run was cut short; what it had changed is taken back first");
	s->diff.whole = true;
	rc = session_diff(s, e);
	if (rc)
		return rc;
	plan = s->planned[at].plan;
	if (!s->args->dry_run) {
		rc = session_commit(s, ALL_OR_NONE, e);
		if (rc)
			return rc;
		session_check_routes(s, &c);
		session_release(s);
	}
	return report(s, &c, &plan, e);
}

typedef int (*edit_fn)(struct session *s, uint32_t *at, struct err *e);

static int run(struct session *s, void *data, struct err *e)
{
	const edit_fn *edit = data;
	uint32_t at = 0;
	int rc = s->args->dry_run ? session_preview(s, e) : session_lock(s, e);

	if (!rc)
		rc = (*edit)(s, &at, e);
	return rc ? rc : set(s, at, e);
}

/* A command that sets one circuit: it differs in what it does to the list. */
static int set_one(const struct args *a, edit_fn edit, struct err *e)
{
	int rc = a->dry_run ? 0 :
		 need_net_admin(", or with --dry-run to see what it would do", e);

	return rc ? rc : session_run(a, run, &edit, e);
}

static int replace(struct session *s, uint32_t *at, struct err *e)
{
	struct circuit c = s->args->circuit;
	struct state others = { 0 };	/* it takes the place of what is there */
	int rc = site_choose_one(&s->kernel.nl, &others, &c, &s->chosen, e);

	return rc ? rc : state_replace(&s->state, &c, link_index(c.dev), at, e);
}

int command_setup(const struct args *a, struct err *e)
{
	return set_one(a, replace, e);
}

static int add(struct session *s, uint32_t *at, struct err *e)
{
	struct circuit c = s->args->circuit;

	int rc;

	memcpy(c.name, s->args->name, sizeof(c.name));
	rc = site_choose_one(&s->kernel.nl, &s->state, &c, &s->chosen, e);
	return rc ? rc : state_insert(&s->state, &c, link_index(c.dev), at, e);
}

int command_add(const struct args *a, struct err *e)
{
	return set_one(a, add, e);
}

/* The options once more, over what the circuit has. */
static int change(struct session *s, uint32_t *at, struct err *e)
{
	struct member *m = state_find(&s->state, s->args->name);
	struct args over;
	int ifindex, rc;

	if (!m)
		return err_set(e, -ENOENT, "there is no circuit %s; ctcp-setup list lists them",
			       s->args->name);
	if (m->circuit.ctcpd)
		return err_set(e, -EPERM,
			       "circuit %s is ctcpd's, which sets its rate; ctcp-setup del %s ends it",
			       m->circuit.name, m->circuit.name);
	ifindex = m->ifindex;
	rc = args_parse(s->args->argc, s->args->argv,
			TAKES_CIRCUIT | TAKES_JSON | TAKES_QUIET | TAKES_NAME | TAKES_CONFIRM,
			&m->circuit, &over, e);
	args_free(&over);
	if (!rc)
		rc = circuit_check(&over.circuit, e);
	if (rc)
		return rc;
	m->standing = REMOVING;
	rc = site_choose_one(&s->kernel.nl, &s->state, &over.circuit, &s->chosen, e);
	return rc ? rc : state_insert(&s->state, &over.circuit, ifindex, at, e);
}

int command_change(const struct args *a, struct err *e)
{
	return set_one(a, change, e);
}

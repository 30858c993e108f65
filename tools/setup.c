// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup --rate R --rtt T DEV: circuit -> plan -> changes -> applied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "command.h"
#include "print.h"
#include "undo.h"

/* A run that was killed left its journal "applying": first back, then anew. */
static int recover(struct session *s, struct err *e)
{
	struct journal *j = journals_find(&s->journals, s->netns, s->args->circuit.dev);
	struct undo_result result;
	int rc;

	if (!j || !j->applying)
		return 0;
	note(&s->trouble,
	     "an earlier run on %s was cut short; what it had changed was taken back first",
	     j->circuit.dev);
	rc = undo_circuit(&s->journals, j, &s->kernel.backend, false, &result, &s->trouble, e);
	if (!rc && result.left)
		rc = err_set(e, -EBUSY,
			     "an earlier run on %s was cut short and cannot be taken back whole, see the notes; ctcp-setup undo --force %s does it anyway",
			     j->circuit.dev, j->circuit.dev);
	if (rc)
		return rc;
	if (!j->n)
		j->circuit.dev[0] = 0;	/* its file is gone: found no more */
	return 0;
}

static int json_commands(const struct session *s, json_t *list, struct err *e)
{
	char *text = NULL, *line, *save;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (!out)
		return err_set(e, -ENOMEM, "cannot print: out of memory");
	rc = print_commands(out, &s->args->circuit, &s->changes, e);
	fclose(out);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		json_array_append_new(list, json_string(line));
	free(text);
	return rc;
}

static int report_json(const struct session *s, struct err *e)
{
	json_t *root = json_plan(&s->args->circuit, &s->plan), *commands = json_array();
	int rc = s->args->dry_run ? json_commands(s, commands, e) : 0;

	if (rc) {
		json_decref(commands);
		json_decref(root);
		return rc;
	}

	json_object_set_new(root, "applied", json_boolean(!s->args->dry_run));
	json_object_set_new(root, "changes", json_changes(&s->changes));
	if (s->args->dry_run)
		json_object_set(root, "commands", commands);
	json_decref(commands);
	json_object_set_new(root, "notes", json_notes(&s->notes));
	json_object_set_new(root, "trouble", json_notes(&s->trouble));
	return print_json(stdout, root, e);
}

static int report(const struct session *s, struct err *e)
{
	int rc = 0;

	if (s->args->json)
		return report_json(s, e);
	if (s->args->dry_run) {
		rc = print_commands(stdout, &s->args->circuit, &s->changes, e);
	} else if (!s->args->quiet) {
		print_plan(stdout, &s->args->circuit, &s->plan);
		print_changes(stdout, &s->changes);
	}
	print_notes(stderr, &s->trouble);
	if (!s->args->quiet)
		print_notes(s->args->dry_run ? stderr : stdout, &s->notes);
	return rc;
}

static bool anything_to_do(struct session *s)
{
	struct journal *old = journals_find(&s->journals, s->netns, s->args->circuit.dev);

	return s->changes.n || s->changes.n_moved || !old || old->applying || old->undone ||
	       old->n != s->changes.journal.n ||
	       !circuit_equal(&old->circuit, &s->args->circuit);
}

static int run(struct session *s, struct err *e)
{
	const struct args *a = s->args;
	int rc;

	rc = a->dry_run ? journals_read(&s->journals, e) : session_lock(s, e);
	if (!rc && !a->dry_run)
		rc = recover(s, e);
	if (!rc)
		rc = session_changes(s, &a->circuit, e);
	if (!rc && !a->dry_run && anything_to_do(s))
		rc = apply_changes(&s->changes, &s->kernel.backend, &s->journals, &s->trouble, e);
	if (rc)
		return rc;
	if (!a->dry_run)
		session_check_route(s, &a->circuit);
	return report(s, e);
}

int command_setup(const struct args *a, struct err *e)
{
	struct session *s;
	int rc;

	if (!a->dry_run) {
		rc = need_net_admin(", or with --dry-run to see what it would do", e);
		if (rc)
			return rc;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	rc = session_open(s, a, e);
	if (!rc)
		rc = session_plan(s, &a->circuit, e);
	if (!rc)
		rc = run(s, e);
	if (rc)
		print_notes(stderr, &s->trouble);
	session_close(s);
	free(s);
	return rc;
}

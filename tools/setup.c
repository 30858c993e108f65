// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup --rate R --rtt T DEV: circuit -> plan -> diff -> commit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "link.h"
#include "print.h"

/* Read and planned; nothing is changed yet. */
static int look(struct session *s, struct plan *plan, struct err *e)
{
	uint32_t asked = 0;
	int rc = state_replace(&s->state, &s->args->circuit, link_index(s->args->circuit.dev),
			       &asked, e);

	if (!rc && s->cut_short)
		note(&s->trouble,
		     "an earlier run was cut short; what it had changed is taken back first");
	if (!rc)
		rc = session_diff(s, &s->state.circuits[asked], e);
	if (!rc)
		*plan = s->planned[asked].plan;
	return rc;
}

static int json_commands(const struct session *s, json_t *list, struct err *e)
{
	char *text = NULL, *line, *save;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (!out)
		return err_set(e, -ENOMEM, "cannot print: out of memory");
	rc = print_commands(out, &s->args->circuit, &s->diff, e);
	fclose(out);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		json_array_append_new(list, json_string(line));
	free(text);
	return rc;
}

static int report_json(const struct session *s, const struct plan *plan, struct err *e)
{
	json_t *root = json_plan(&s->args->circuit, plan), *commands = json_array();
	int rc = s->args->dry_run ? json_commands(s, commands, e) : 0;

	if (rc) {
		json_decref(commands);
		json_decref(root);
		return rc;
	}

	json_object_set_new(root, "applied", json_boolean(!s->args->dry_run));
	json_object_set_new(root, "changes", json_changes(&s->diff));
	if (s->args->dry_run)
		json_object_set(root, "commands", commands);
	json_decref(commands);
	json_object_set_new(root, "notes", json_notes(&s->notes));
	json_object_set_new(root, "trouble", json_notes(&s->trouble));
	return print_json(stdout, root, e);
}

static int report(const struct session *s, const struct plan *plan, struct err *e)
{
	int rc = 0;

	if (s->args->json)
		return report_json(s, plan, e);
	if (s->args->dry_run) {
		rc = print_commands(stdout, &s->args->circuit, &s->diff, e);
	} else if (!s->args->quiet) {
		print_head(stdout, &s->args->circuit);
		print_plan(stdout, &s->args->circuit, plan);
		print_changes(stdout, &s->diff);
	}
	print_notes(stderr, &s->trouble);
	if (!s->args->quiet)
		print_notes(s->args->dry_run ? stderr : stdout, &s->notes);
	return rc;
}

static int run(struct session *s, struct err *e)
{
	const struct args *a = s->args;
	struct plan plan;
	int rc;

	rc = a->dry_run ? session_read(s, e) : session_lock(s, e);
	if (!rc)
		rc = look(s, &plan, e);
	if (!rc && !a->dry_run)
		rc = session_commit(s, false, e);
	if (rc)
		return rc;
	if (!a->dry_run)
		session_check_route(s, &a->circuit);
	return report(s, &plan, e);
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
		rc = run(s, e);
	if (rc)
		print_notes(stderr, &s->trouble);
	session_close(s);
	free(s);
	return rc;
}

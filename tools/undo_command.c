// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup undo DEV | --all and del NAME: the list without these circuits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "print.h"

/* Whose circuits go, NULL = all. */
static const char *whose(const struct args *a)
{
	return a->all ? NULL : a->name[0] ? a->name : a->circuit.dev;
}

static void report(const struct session *s)
{
	uint32_t gone = s->diff.gone + s->state.gone, left = s->diff.left + s->outcome.failed;

	printf("%s: %u restored", whose(s->args) ?: "all", s->outcome.changed);
	if (s->diff.already)
		printf(", %u as before already", s->diff.already);
	if (gone)
		printf(", %u gone", gone);
	if (s->outcome.in_use)
		printf(", %u in use", s->outcome.in_use);
	if (left)
		printf(", %u left alone", left);
	printf("\n");
}

/* A circuit by its name, or all that a word names.  *@any: there is one. */
static int drop(struct session *s, bool *any, struct err *e)
{
	struct member *m;

	if (!s->args->name[0])
		return state_drop(&s->state, whose(s->args), any, e);
	m = state_find(&s->state, s->args->name);
	if (!m)
		return err_set(e, -ENOENT, "there is no circuit %s; ctcp-setup list lists them",
			       s->args->name);
	m->standing = REMOVING;
	*any = true;
	return 0;
}

/* What earlier ones had to leave is tried again. */
static int run(struct session *s, void *unused, struct err *e)
{
	const char *dev = whose(s->args);
	uint32_t left;
	bool any = false;
	int rc;

	(void)unused;
	rc = session_lock(s, e);
	if (rc)
		return rc;
	rc = drop(s, &any, e);
	if (rc)
		return rc;
	any |= s->cut_short;
	s->diff.force = s->args->force;
	rc = session_diff(s, e);
	if (!rc)
		rc = session_commit(s, GO_ON, e);
	session_release(s);
	left = s->diff.left + s->outcome.failed;
	if (!rc && !s->args->quiet && !any && !s->outcome.changed && !left)
		printf("%s: nothing to undo\n", dev ?: "all");
	else if (!rc && !s->args->quiet)
		report(s);
	if (!rc && !s->args->quiet)
		print_begun(&s->state.confirm);
	if (rc || left || !s->args->quiet)
		print_notes(rc || left ? stderr : stdout, &s->notes);
	if (!rc && !left && !s->args->quiet)
		print_notes(stdout, &s->trouble);
	if (!rc && left)
		rc = err_set(e, -EBUSY,
			     "%s: %u setting%s not as before, see the notes; undo --force sets what someone else changed",
			     dev ?: "all", left, left > 1 ? "s are" : " is");
	return rc;
}

int command_undo(const struct args *a, struct err *e)
{
	int rc = need_net_admin("", e);

	return rc ? rc : session_run(a, run, NULL, e);
}

int command_del(const struct args *a, struct err *e)
{
	return command_undo(a, e);
}

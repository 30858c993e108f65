// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup undo DEV: the list without the circuits of this device.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "print.h"

static void report(const struct session *s)
{
	uint32_t gone = s->diff.gone + s->state.gone, left = s->diff.left + s->outcome.failed;

	printf("%s: %u restored", s->args->circuit.dev, s->outcome.changed);
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

/* What earlier ones had to leave is tried again. */
static int run(struct session *s, struct err *e)
{
	const char *dev = s->args->circuit.dev;
	uint32_t left;
	bool any;
	int rc;

	rc = session_lock(s, e);
	if (rc)
		return rc;
	any = state_drop(&s->state, dev) || s->cut_short;
	s->diff.force = s->args->force;
	rc = session_diff(s, NULL, e);
	if (!rc)
		rc = session_commit(s, true, e);
	left = s->diff.left + s->outcome.failed;
	if (!rc && !s->args->quiet && !any && !s->outcome.changed && !left)
		printf("%s: nothing to undo\n", dev);
	else if (!rc && !s->args->quiet)
		report(s);
	print_notes(rc || left ? stderr : stdout, &s->notes);
	print_notes(rc || left ? stderr : stdout, &s->trouble);
	if (!rc && left)
		rc = err_set(e, -EBUSY,
			     "%s: %u of its settings are not as before, see the notes; undo --force sets what someone else changed",
			     dev, left);
	return rc;
}

int command_undo(const struct args *a, struct err *e)
{
	struct session *s;
	int rc = need_net_admin("", e);

	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	rc = session_open(s, a, e);
	if (!rc)
		rc = run(s, e);
	session_close(s);
	free(s);
	return rc;
}

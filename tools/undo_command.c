// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup undo DEV.
 */
#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "print.h"
#include "undo.h"

static void report(const char *dev, const struct undo_result *r)
{
	printf("%s: %u restored", dev, r->restored);
	if (r->already)
		printf(", %u as before already", r->already);
	if (r->handed)
		printf(", %u kept for another circuit", r->handed);
	if (r->gone)
		printf(", %u gone", r->gone);
	if (r->in_use)
		printf(", %u in use", r->in_use);
	if (r->left)
		printf(", %u left alone", r->left);
	printf("\n");
}

static int run(struct session *s, struct err *e)
{
	const char *dev = s->args->circuit.dev;
	struct undo_result result = { 0 };
	struct journal *j;
	int rc;

	rc = session_lock(s, e);
	if (rc)
		return rc;
	j = journals_find(&s->journals, s->netns, dev);
	if (j)
		rc = undo_circuit(&s->journals, j, &s->kernel.backend, s->args->force, &result,
				  &s->notes, e);
	if (rc)
		return rc;
	undo_rests(&s->journals, &s->kernel.backend, j, &result, &s->notes);
	if (!s->args->quiet && !j && !result.restored)
		printf("%s: nothing to undo\n", dev);
	else if (!s->args->quiet)
		report(dev, &result);
	print_notes(result.left ? stderr : stdout, &s->notes);
	return result.left ? err_set(e, -EBUSY,
				     "%s: %u of its settings are not as before, see the notes; undo --force sets what someone else changed",
				     dev, result.left) : 0;
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

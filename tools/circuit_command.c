// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup circuit set|del|list: circuits without a plan, as the kernel has
 * them.  Not in the state: what is set here stays until it is deleted here.
 */
#include <errno.h>
#include <stdio.h>

#include "command.h"
#include "object.h"
#include "print.h"

static int list(struct err *e)
{
	struct lives all;
	uint32_t i;
	int rc = lives_read(&all, e);

	for (i = 0; !rc && i < all.n; i++) {
		if (all.list[i].no_object)
			continue;
		object_print_words(stdout, &all.list[i].object);
		printf("\n");
	}
	lives_free(&all);
	return rc;
}

/* One of the state is changed here all the same: --dry-run prints such commands. */
static int say_planned(struct session *s, void *unused, struct err *e)
{
	const char *name = s->args->object.name;
	int rc = session_read(s, e);

	(void)unused;
	if (!rc && state_find(&s->state, name))
		note(&s->trouble,
		     "circuit %s is one that ctcp-setup has set up: verify tells what differs now, ctcp-setup change %s sets it again",
		     name, name);
	print_notes(stderr, &s->trouble);
	return rc;
}

static int change(const struct args *a, struct err *e)
{
	struct genl g;
	char what[80];
	int rc = genl_open(&g, e);

	if (!rc && a->verb == CIRCUIT_SET)
		rc = object_set(&g, &a->object, e);
	else if (!rc)
		rc = object_del(&g, a->object.name, e);
	genl_close(&g);
	if (rc == -ENOENT && a->verb == CIRCUIT_DEL)
		return err_set(e, rc, "there is no circuit %s; ctcp-setup circuit list names those there are",
			       a->object.name);
	snprintf(what, sizeof(what), "circuit %s is %s", a->object.name,
		 a->verb == CIRCUIT_SET ? "set" : "removed");
	return rc && g.nl.unanswered ? nlm_not_known(rc, what, "circuit list", e) : rc;
}

int command_circuit(const struct args *a, struct err *e)
{
	struct err unused = { "" };
	int rc;

	if (a->verb == CIRCUIT_LIST)
		return list(e);
	rc = need_net_admin("", e);
	if (!rc)
		rc = change(a, e);
	if (!rc)
		session_run(a, say_planned, NULL, &unused);
	return rc;
}

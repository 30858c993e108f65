// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup confirm and cancel: the end of a change that waits for confirmation.
 *
 * Any administrator may: the one who made it may have lost the way in.
 */
#include <errno.h>
#include <stdio.h>

#include "command.h"
#include "print.h"
#include "revert.h"

static int report(const struct session *s, bool confirmed, struct err *e)
{
	char whose[CONFIRM_TEXT];
	json_t *root;

	if (s->args->json) {
		root = json_confirm(&s->waits);
		json_object_set_new(root, "confirmed", json_boolean(confirmed));
		return print_json(stdout, root, e);
	}
	if (!s->args->quiet)
		printf("%s is %s\n", confirm_whose(&s->waits, whose),
		       confirmed ? "confirmed" : "taken back");
	return 0;
}

static int nothing_waits(const struct session *s, struct err *e)
{
	char whose[CONFIRM_TEXT];

	if (!s->waits.deadline)
		return err_set(e, -ENOENT, "no change waits for confirmation");
	return err_set(e, -ENOENT,
		       "no change waits for confirmation: %s was cut short; ctcp-setup cancel, or the next command that changes anything, takes it back",
		       confirm_whose(&s->waits, whose));
}

/* *@left: items that did not come back */
static int go_back(struct session *s, uint32_t *left, struct err *e)
{
	struct revert r = { .lock = s->store.lock };
	int rc = revert(&r, e);

	session_release(s);
	print_notes(stderr, &r.notes);
	*left = r.left;
	return rc;
}

static int too_late(struct session *s, struct err *e)
{
	char whose[CONFIRM_TEXT];
	uint32_t left;
	int rc = go_back(s, &left, e);

	if (rc)
		return rc;
	return err_set(e, -ETIMEDOUT, "too late: %s was not confirmed in time and is taken back",
		       confirm_whose(&s->waits, whose));
}

static int run_confirm(struct session *s, void *unused, struct err *e)
{
	int rc = session_hold(s, e);

	(void)unused;
	if (rc)
		return rc;
	if (!s->state.confirm.deadline)
		return nothing_waits(s, e);
	if (confirm_is_over(&s->state.confirm, boottime_ns()))
		return too_late(s, e);
	state_confirm(&s->state);
	rc = store_prepare(&s->store, &s->state, e);
	session_release(s);
	return rc ? rc : report(s, true, e);
}

int command_confirm(const struct args *a, struct err *e)
{
	int rc = need_net_admin("", e);

	return rc ? rc : session_run(a, run_confirm, NULL, e);
}

static int run_cancel(struct session *s, void *unused, struct err *e)
{
	uint32_t left = 0;
	int rc = session_hold(s, e);

	(void)unused;
	if (rc)
		return rc;
	if (!s->waits.deadline)
		return nothing_waits(s, e);
	rc = go_back(s, &left, e);
	if (!rc && left)
		rc = err_set(e, -EBUSY, "taken back but for %u of its settings, see the notes",
			     left);
	return rc ? rc : report(s, false, e);
}

int command_cancel(const struct args *a, struct err *e)
{
	int rc = need_net_admin("", e);

	return rc ? rc : session_run(a, run_cancel, NULL, e);
}

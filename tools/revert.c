// SPDX-License-Identifier: GPL-2.0
/*
 * The way back from a change that waits for confirmation: the list of before is
 * what is wanted, and the rest is what any command does (diff.h, commit.h).
 *
 * Only that nothing stops it: neither what cannot be planned any more, nor what somebody put
 * there meanwhile, nor what the kernel refuses, nor a full disk.  The state then tells of
 * the change still, and the way back is gone once more, which changes nothing in the kernel.
 */
#include <errno.h>
#include <stddef.h>

#include "revert.h"
#include "session.h"

/* Circuits of before that cannot be set up now, and are not, though their device is there */
static uint32_t not_planned(const struct session *s)
{
	uint32_t i, n = 0;

	for (i = 0; i < s->state.n_circuits; i++)
		n += s->state.circuits[i].standing == ADDING && s->planned[i].rc &&
		     s->planned[i].rc != -ENODEV;
	return n;
}

static int go_back(struct session *s, struct revert *r, struct err *e)
{
	int rc = session_read(s, e);

	r->left = 0;
	r->none = !rc && r->only && !confirm_equal(&s->waits, r->only);
	if (rc || r->none)
		return rc;
	state_revert(&s->state);
	rc = session_diff(s, e);
	if (!rc) {
		r->left = not_planned(s);
		rc = session_commit(s, AT_ANY_COST, e);
	}
	r->left += s->diff.left + s->outcome.failed;
	notes_add(&r->notes, &s->notes);
	notes_add(&r->notes, &s->trouble);
	return rc;
}

static int run(struct session *s, void *data, struct err *e)
{
	struct revert *r = data;
	int rc;

	s->reverting = true;
	s->store.lock = r->lock;
	rc = go_back(s, r, e);
	s->store.lock = -1;
	return rc;
}

/* A session of its own within the one, if any, that holds the lock. */
int revert(struct revert *r, struct err *e)
{
	static const struct args none;

	return session_run(&none, run, r, e);
}

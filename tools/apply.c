// SPDX-License-Identifier: GPL-2.0
/*
 * Journal, change, journal again.
 *
 * The journal is complete on disk, marked "applying", before the first change;
 * when all are made it is written again as "applied", without what was only
 * needed on the way.  If anything fails the changes made are taken back in
 * reverse and the journal of before is put back in its place.
 *
 * Where a record of ours leaves its stack, what it would restore is in the journal of
 * the one above before it leaves ours, and in ours again before it leaves that one:
 * killed between the two, either restores it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apply.h"
#include "fault.h"

/*
 * What is as it was is not written: who may not load a module may not remove it either.
 * An item that is not there, as of an older module, has nothing to take back.
 */
static int take_back(const struct change *c, struct backend *b, struct err *e)
{
	char now[ITEM_VALUE];
	struct err unused;
	int rc = b->get(b, c->kind, c->name, now, &unused);

	if (rc == -ENOENT || (!rc && item_equal(c->kind, c->name, now, c->from)))
		return 0;
	return faulty_set(b, c->kind, c->name, c->from, e);
}

/* False if something would not go back. */
static bool rollback(const struct changes *ch, uint32_t made, struct backend *b,
		     struct notes *notes)
{
	const struct change *c;
	bool back = true;
	struct err e;
	int rc;

	while (made-- > 0) {
		c = &ch->list[made];
		rc = take_back(c, b, &e);
		if (rc)
			note(notes, "while going back: %s", e.text);
		back &= rc >= 0;
	}
	return back;
}

/* Without what is back where it was and that nobody else counts on. */
static void settle(struct journal *j, struct journals *js)
{
	uint32_t i, n = 0;

	for (i = 0; i < j->n; i++) {
		struct record *r = &j->records[i];

		r->prior[0] = 0;
		if (!strcmp(r->before, r->after) &&
		    !item_is_shared(js, j->netns, j->circuit.dev, r->kind, r->name))
			continue;
		if (n != i)
			j->records[n] = *r;
		n++;
	}
	j->n = n;
	j->applying = false;
}

static int restore_journal(const struct journal *old, const struct changes *ch,
			   struct journals *js, struct err *e)
{
	return old ? journal_write(js, old, e) : journal_remove(js, &ch->journal, e);
}

static int write_moved(const struct changes *ch, struct journals *js, struct err *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < ch->n_moved && !rc; i++)
		rc = journal_write(js, ch->moved[i].owner, e);
	return rc;
}

static int restore_moved(struct changes *ch, struct journals *js, struct err *e)
{
	uint32_t i;

	for (i = 0; i < ch->n_moved; i++)
		memcpy(ch->moved[i].record->before, ch->moved[i].before,
		       sizeof(ch->moved[i].before));
	return write_moved(ch, js, e);
}

/* A change that fails may have been half made: it is taken back, too. */
static int make_changes(struct changes *ch, struct backend *b, uint32_t *made,
			struct err *e)
{
	int rc = 0;

	for (*made = 0; *made < ch->n && rc >= 0; ++*made) {
		const struct change *c = &ch->list[*made];

		rc = faulty_set(b, c->kind, c->name, c->to, e);
	}
	return rc < 0 ? rc : 0;
}

int apply_changes(struct changes *ch, struct backend *b, struct journals *js,
		  struct notes *notes, struct err *e)
{
	struct journal *old = journals_find(js, ch->journal.netns, ch->journal.circuit.dev);
	struct err later;
	uint32_t made;
	int rc;

	rc = write_moved(ch, js, e);
	if (!rc)
		rc = journal_write(js, &ch->journal, e);
	if (rc)
		goto err_moved;
	rc = make_changes(ch, b, &made, e);
	if (rc)
		goto err_changes;
	settle(&ch->journal, js);
	rc = journal_write(js, &ch->journal, e);
	if (rc)
		goto err_changes;
	return 0;
err_changes:
	if (!rollback(ch, made, b, notes)) {
		note(notes, "the journal is kept: ctcp-setup undo %s tries again",
		     ch->journal.circuit.dev);
		return rc;
	}
	if (restore_journal(old, ch, js, &later)) {
		note(notes, "%s", later.text);
		return rc;
	}
err_moved:
	if (restore_moved(ch, js, &later))
		note(notes, "%s", later.text);
	return rc;
}

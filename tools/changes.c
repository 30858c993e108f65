// SPDX-License-Identifier: GPL-2.0
/*
 * Wants, the kernel and the journals -> changes: see changes.h.
 *
 * For each want: what is there (now), what was there before any of ours
 * (base, from the journal, else now), and what base becomes (target).  Working
 * from base and not from now makes a second run with other numbers end where a
 * first run with those numbers would have.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "changes.h"
#include "qdisc.h"

struct job {
	const struct wants *wants;
	struct backend *b;
	struct journals *js;
	struct journal *own;		/* NULL = no circuit here yet */
	struct changes *ch;
	struct notes *notes;
	struct err *e;
	uint32_t seq;			/* the next */
	char elsewhere[256];		/* what only the machine's own namespace has */
};

static void set_text(char to[ITEM_VALUE], const char *from)
{
	if (to != from)
		snprintf(to, ITEM_VALUE, "%s", from);
}

static int add_change(struct job *job, enum item_kind kind, const char *name,
		      const char *from, const char *to)
{
	struct change *c = &job->ch->list[job->ch->n];

	if (job->ch->n == RECORDS_MAX)
		return err_set(job->e, -E2BIG, "more than %d changes", RECORDS_MAX);
	job->ch->n++;
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	snprintf(c->name, sizeof(c->name), "%s", name);
	set_text(c->from, from);
	set_text(c->to, to);
	return 0;
}

static struct record *add_record(struct job *job, enum item_kind kind,
				 const char *name)
{
	struct journal *j = &job->ch->journal;
	struct record *r = &j->records[j->n];

	if (j->n == RECORDS_MAX) {
		err_set(job->e, -E2BIG, "more than %d items", RECORDS_MAX);
		return NULL;
	}
	j->n++;
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	snprintf(r->name, sizeof(r->name), "%s", name);
	return r;
}

/* A circuit of this name that another device's journal, or none, tells of. */
static int check_circuit(struct job *job, const struct want *w, const char *now)
{
	const struct journal *j = &job->ch->journal;
	char set[300] = "";

	if (item_is_shared(job->js, j->netns, j->circuit.dev, w->kind, w->name))
		return err_set(job->e, -EEXIST,
			       "circuit %s is that of another device already, ctcp-setup show tells which; --name gives this one another name",
			       w->name);
	if (!strcmp(now, "absent"))
		return 0;
	snprintf(set, sizeof(set), "%.250s", now);
	return err_set(job->e, -EEXIST,
		       "there is a circuit %s that no journal tells of, %s; ctcp-setup circuit del %s would clear the way, --name gives this one another name",
		       w->name, set, w->name);
}

/* Somebody's qdisc is never replaced, nor is one of ours without a journal. */
static int check_foreign(struct job *job, const struct want *w, const char *now,
			 bool have_record)
{
	struct qdisc q;

	if (w->kind == ITEM_CIRCUIT && !have_record)
		return check_circuit(job, w, now);
	if (w->kind != ITEM_QDISC || qdisc_parse(now, &q) || q.state == QDISC_DEFAULT)
		return 0;
	if (q.state == QDISC_FOREIGN)
		return err_set(job->e, -EEXIST,
			       "%s has a root qdisc of somebody else's, %s %x:; tc qdisc del dev %s root would clear the way",
			       w->name, q.kind, q.handle >> 16, w->name);
	if (!have_record)
		return err_set(job->e, -EEXIST,
			       "%s has a qdisc %x: that no journal tells of; tc qdisc del dev %s root would clear the way",
			       w->name, OUR_MAJOR, w->name);
	return 0;
}

/*
 * Take @r out of its stack: the one above restores what @r would have.  Each of our
 * records once, so there is room.
 */
static void unstack(struct job *job, struct record *r, struct record *above,
		    struct journal *owner)
{
	struct moved *m = &job->ch->moved[job->ch->n_moved++];

	m->owner = owner;
	m->record = above;
	set_text(m->before, above->before);
	set_text(above->before, r->before);
}

/* As journalled where that is what is there: `tbf ... burst`, not `... ticks`. */
static const char *as_journalled(const struct record *r, const char *now)
{
	return r && item_equal(r->kind, r->name, now, r->after) ? r->after : now;
}

static int keep_record(struct job *job, const struct record *old)
{
	struct record *r = add_record(job, old->kind, old->name);

	if (!r)
		return -E2BIG;
	*r = *old;
	r->prior[0] = 0;
	return 0;
}

/* An item that other circuits need too is claimed even if it is right as it is. */
static int want_fresh(struct job *job, const struct want *w, const char *now)
{
	struct journal *j = &job->ch->journal;
	char target[ITEM_VALUE];
	struct record *r;
	bool right;
	int rc;

	rc = want_target(w, now, target, job->e);
	if (rc)
		return rc;
	right = item_equal(w->kind, w->name, now, target);
	if (right && !item_is_shared(job->js, j->netns, j->circuit.dev, w->kind, w->name))
		return 0;
	r = add_record(job, w->kind, w->name);
	if (!r)
		return -E2BIG;
	r->seq = job->seq++;
	set_text(r->before, now);
	/* another circuit's, perhaps: it may hand us its before while we are not done */
	set_text(r->prior, now);
	set_text(r->after, right ? now : target);
	return right ? 0 : add_change(job, w->kind, w->name, now, target);
}

/*
 * Ours already.  A value that is neither ours nor wanted was changed by
 * somebody, and is set again; one that does as well is left to them.
 */
static int want_ours(struct job *job, const struct want *w, struct record *old,
		     const char *now)
{
	char target[ITEM_VALUE], as_is[ITEM_VALUE];
	struct record *r;
	int rc;

	rc = want_target(w, old->before, target, job->e);
	if (!rc)
		rc = want_target(w, now, as_is, job->e);
	if (rc)
		return rc;
	if (item_equal(w->kind, w->name, now, target) ||
	    (item_equal(w->kind, w->name, now, as_is) &&
	     !item_equal(w->kind, w->name, now, old->after) && w->rule == RULE_AT_LEAST)) {
		rc = keep_record(job, old);
		if (!rc && item_equal(w->kind, w->name, now, target))
			set_text(job->ch->journal.records[job->ch->journal.n - 1].after, target);
		return rc;
	}
	r = add_record(job, w->kind, w->name);
	if (!r)
		return -E2BIG;
	r->seq = old->seq;
	set_text(r->before, old->before);
	set_text(r->prior, now);
	set_text(r->after, target);
	return add_change(job, w->kind, w->name, now, target);
}

static int want_one(struct job *job, const struct want *w, const char *now)
{
	struct record *old = job->own ? record_find(job->own, w->kind, w->name) : NULL;
	struct journal *owner = NULL;
	struct record *above;
	char as_is[ITEM_VALUE];
	int rc;

	rc = check_foreign(job, w, now, old);
	if (rc)
		return rc;
	above = old ? record_above(job->js, job->own, old, &owner) : NULL;
	if (!old)
		return want_fresh(job, w, now);
	if (!above)
		return want_ours(job, w, old, as_journalled(old, now));
	rc = want_target(w, now, as_is, job->e);
	if (rc)
		return rc;
	if (item_equal(w->kind, w->name, now, as_is))
		return keep_record(job, old);
	unstack(job, old, above, owner);
	return want_fresh(job, w, now);
}

static bool is_wanted(const struct wants *w, const struct record *r)
{
	uint32_t i;

	for (i = 0; i < w->n; i++)
		if (record_is(r, w->list[i].kind, w->list[i].name))
			return true;
	return false;
}

/* An item of an earlier run that this one does not need goes back. */
static int give_back(struct job *job, struct record *old)
{
	struct journal *owner = NULL;
	struct record *above = record_above(job->js, job->own, old, &owner);
	char now[ITEM_VALUE], text[ITEM_VALUE];
	struct record *r;
	int rc;

	if (above) {
		unstack(job, old, above, owner);
		return 0;
	}
	rc = job->b->get(job->b, old->kind, old->name, now, job->e);
	if (rc == -ENOENT || rc == -ENODEV || item_equal(old->kind, old->name, now, old->before))
		return 0;
	if (rc)
		return rc;
	if (!item_equal(old->kind, old->name, now, old->after)) {
		note(job->notes, "%s is %s, which is not ours: left alone", old->name,
		     item_describe(old->kind, old->name, now, text, sizeof(text)));
		return 0;
	}
	r = add_record(job, old->kind, old->name);
	if (!r)
		return -E2BIG;
	r->seq = old->seq;
	set_text(r->before, old->before);
	set_text(r->prior, old->after);
	set_text(r->after, old->before);
	return add_change(job, old->kind, old->name, old->after, old->before);
}

static int give_back_unwanted(struct job *job)
{
	uint32_t i;
	int rc = 0;

	for (i = job->own ? job->own->n : 0; i-- > 0 && !rc; )
		if (!is_wanted(job->wants, &job->own->records[i]))
			rc = give_back(job, &job->own->records[i]);
	return rc;
}

static void say_elsewhere(struct job *job, const struct want *w, const char *value)
{
	size_t used = strlen(job->elsewhere);

	snprintf(job->elsewhere + used, sizeof(job->elsewhere) - used, "%s%s = %s",
		 used ? ", " : "", w->name, value);
}

/* 0: @now holds it; 1: not to be had here, which is said. */
static int read_item(struct job *job, const struct want *w, char now[ITEM_VALUE])
{
	int rc = job->b->get(job->b, w->kind, w->name, now, job->e);
	char target[ITEM_VALUE];

	if (rc == -ENOENT && w->optional) {
		say_elsewhere(job, w, w->value);
		return 1;
	}
	if (rc == -EROFS) {
		rc = want_target(w, now, target, job->e);
		if (rc || item_equal(w->kind, w->name, now, target))
			return rc ? rc : 1;
		if (!w->optional)
			return err_set(job->e, -EROFS,
				       "%s is %s and can only be read in this network namespace; it should be %s",
				       w->name, now, target);
		say_elsewhere(job, w, target);
		return 1;
	}
	return rc;
}

int changes_make(const struct wants *w, struct backend *b, struct journals *js,
		 const char *netns, const struct circuit *c, struct changes *ch,
		 struct notes *notes, struct err *e)
{
	struct job job = {
		.wants = w, .b = b, .js = js, .ch = ch, .notes = notes, .e = e,
		.own = journals_find(js, netns, c->dev), .seq = next_seq(js),
	};
	char now[ITEM_VALUE];
	uint32_t i;
	int rc;

	memset(ch, 0, sizeof(*ch));
	snprintf(ch->journal.netns, sizeof(ch->journal.netns), "%s", netns);
	ch->journal.circuit = *c;
	ch->journal.applying = true;
	rc = give_back_unwanted(&job);
	for (i = 0; i < w->n && !rc; i++) {
		rc = read_item(&job, &w->list[i], now);
		if (!rc)
			rc = want_one(&job, &w->list[i], now);
		else if (rc == 1)
			rc = 0;
	}
	if (job.elsewhere[0])
		note(notes, "set in the machine's own network namespace, not here, at least: %s",
		     job.elsewhere);
	return rc;
}

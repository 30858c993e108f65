// SPDX-License-Identifier: GPL-2.0
/*
 * Undo: each record of the journal in reverse.
 *
 * An item that has our value, of this run or of one that was cut short, goes
 * back; one that has its value of before is done; any other value is
 * somebody's, and stays unless forced.  Each step may be taken twice, so undo
 * itself may be killed at any point and run again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "object.h"
#include "undo.h"

enum outcome {
	RESTORED,
	ALREADY,
	HANDED,
	GONE,
	IN_USE,
	LEFT,
};

struct job {
	struct journals *js;
	struct journal *j;
	struct backend *b;
	bool force;
	bool dev_gone;		/* nothing has its name any more */
	struct notes *notes;
	struct err *e;
};

static bool is_ours(const struct job *job, const struct record *r, const char *now)
{
	/* our mq, cut short before all of its queues were filled */
	if (r->kind == ITEM_QDISC && !strcmp(now, "mq unfinished"))
		return true;
	/* a circuit stays when its device goes, or is renamed */
	if (r->kind == ITEM_CIRCUIT)
		return object_is(now, r->after, job->dev_gone) ||
		       object_is(now, r->prior, job->dev_gone);
	return item_equal(r->kind, r->name, now, r->after) ||
	       (r->prior[0] && item_equal(r->kind, r->name, now, r->prior));
}

static enum outcome leave(struct job *job, const struct record *r, const char *now)
{
	char a[256], b[256];

	note(job->notes,
	     "%s %s is \"%s\", which is not ours: left alone; undo --force would make it \"%s\"",
	     item_kind_name(r->kind), r->name,
	     item_describe(r->kind, r->name, now, a, sizeof(a)),
	     item_describe(r->kind, r->name, r->before, b, sizeof(b)));
	return LEFT;
}

/* One that the kernel refuses does not keep the others from going back. */
static void restore(struct job *job, const struct record *r, enum outcome *out)
{
	int rc = faulty_set(job->b, r->kind, r->name, r->before, job->e);

	if (rc == 1)
		note(job->notes, "%s; a later undo removes it", job->e->text);
	else if (rc)
		note(job->notes, "%s", job->e->text);
	*out = rc == 1 ? IN_USE : rc ? LEFT : RESTORED;
}

/*
 * A namespace may be gone and its journal not, which nothing tells for certain: so
 * whoever waits for the module is told who else has it.
 */
static void say_who_else(struct job *job, const struct record *r)
{
	uint32_t i;

	for (i = 0; i < job->js->n && r->kind == ITEM_MODULE; i++) {
		struct journal *other = job->js->list[i];

		if (strcmp(other->netns, job->j->netns) && !other->undone &&
		    record_find(other, r->kind, r->name))
			note(job->notes,
			     "module %s stays for %s in another network namespace; if that one is gone: rm %s/%s.%s && modprobe -r %s",
			     r->name, other->circuit.dev, job->js->dir, other->netns,
			     other->circuit.dev, r->name);
	}
}

/*
 * Qdisc and routes are known by the device's name alone, and are not found again; of a
 * circuit the kernel tells under which name the device goes on.
 */
static void say_renamed(struct job *job, const struct record *r, const char *now)
{
	struct object o;

	if (!job->dev_gone || r->kind != ITEM_CIRCUIT || object_parse(now, &o))
		return;
	if (o.dev[0] && o.dev[0] != '#')
		note(job->notes,
		     "%s is called %s now, and a shaper on it is not found by its old name: tc qdisc del dev %s root removes it",
		     job->j->circuit.dev, o.dev, o.dev);
	object_free(&o);
}

static int undo_record(struct job *job, const struct record *r, enum outcome *out)
{
	struct journal *owner = NULL;
	struct record *above = record_above(job->js, job->j, r, &owner);
	char now[ITEM_VALUE];
	int rc;

	say_who_else(job, r);
	if (above) {
		memcpy(above->before, r->before, sizeof(above->before));
		*out = HANDED;
		return journal_write(job->js, owner, job->e);
	}
	rc = job->b->get(job->b, r->kind, r->name, now, job->e);
	if (rc == -ENODEV || rc == -ENOENT) {
		*out = GONE;
		return 0;
	}
	if (rc) {
		note(job->notes, "%s", job->e->text);
		*out = LEFT;
		return 0;
	}
	*out = ALREADY;
	if (item_equal(r->kind, r->name, now, r->before))
		return 0;
	if (r->kind == ITEM_ROUTE && job->dev_gone) {
		*out = GONE;
		return 0;
	}
	if (is_ours(job, r, now) || job->force) {
		say_renamed(job, r, now);
		restore(job, r, out);
	} else {
		*out = leave(job, r, now);
	}
	return 0;
}

static void count(struct undo_result *result, enum outcome out)
{
	uint32_t * const counter[] = {
		[RESTORED] = &result->restored,
		[ALREADY] = &result->already,
		[HANDED] = &result->handed,
		[GONE] = &result->gone,
		[IN_USE] = &result->in_use,
		[LEFT] = &result->left,
	};

	++*counter[out];
}

/* What was left stays in the journal, and the module in use for a later undo. */
static int keep(struct job *job, const bool keeps[RECORDS_MAX],
		const struct undo_result *result)
{
	struct journal *j = job->j;
	uint32_t i, n = 0;

	for (i = 0; i < j->n; i++) {
		if (!keeps[i])
			continue;
		if (n != i)
			j->records[n] = j->records[i];
		n++;
	}
	j->n = n;
	if (!n)
		return journal_remove(job->js, j, job->e);
	if (!result->left) {
		j->applying = false;
		j->undone = true;
	}
	return journal_write(job->js, j, job->e);
}

/* On an error the journal stays whole. */
int undo_circuit(struct journals *js, struct journal *j, struct backend *b,
		 bool force, struct undo_result *result, struct notes *notes,
		 struct err *e)
{
	struct job job = { .js = js, .j = j, .b = b, .force = force, .notes = notes, .e = e };
	char now[ITEM_VALUE];
	bool keeps[RECORDS_MAX] = { false };
	enum outcome out = ALREADY;
	uint32_t i;
	int rc;

	memset(result, 0, sizeof(*result));
	job.dev_gone = b->get(b, ITEM_QDISC, j->circuit.dev, now, e) == -ENODEV;
	for (i = j->n; i-- > 0; ) {
		rc = undo_record(&job, &j->records[i], &out);
		if (rc)
			return rc;
		keeps[i] = out == LEFT || out == IN_USE;
		count(result, out);
	}
	return keep(&job, keeps, result);
}

/*
 * Circuits undone but for the module, which was in use then, of any namespace: the
 * module is the machine's.  @but: just tried.
 */
void undo_rests(struct journals *js, struct backend *b, const struct journal *but,
		struct undo_result *result, struct notes *notes)
{
	struct undo_result rest;
	struct notes unused = { 0 };
	struct err e;
	uint32_t i;

	for (i = 0; i < js->n; i++) {
		if (js->list[i] == but || !js->list[i]->undone)
			continue;
		if (undo_circuit(js, js->list[i], b, false, &rest, &unused, &e))
			note(notes, "%s", e.text);
		else
			result->restored += rest.restored;
	}
}

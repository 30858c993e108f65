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
#include "undo.h"

enum outcome {
	RESTORED,
	ALREADY,
	HANDED,
	GONE,
	LEFT,
};

struct job {
	struct journals *js;
	struct journal *j;
	struct backend *b;
	bool force;
	bool dev_gone;		/* and its qdisc and routes with it */
	struct notes *notes;
	struct err *e;
};

static bool is_ours(const struct record *r, const char *now)
{
	/* our mq, cut short before all of its queues were filled */
	if (r->kind == ITEM_QDISC && !strcmp(now, "mq unfinished"))
		return true;
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

	if (rc)
		note(job->notes, "%s", job->e->text);
	*out = rc == 1 ? GONE : rc ? LEFT : RESTORED;
}

static int undo_record(struct job *job, const struct record *r, enum outcome *out)
{
	struct journal *owner = NULL;
	struct record *above = record_above(job->js, job->j, r, &owner);
	char now[ITEM_VALUE];
	int rc;

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
	if (rc)
		return rc;
	*out = ALREADY;
	if (item_equal(r->kind, r->name, now, r->before))
		return 0;
	if (r->kind == ITEM_ROUTE && job->dev_gone) {
		*out = GONE;
		return 0;
	}
	if (is_ours(r, now) || job->force)
		restore(job, r, out);
	else
		*out = leave(job, r, now);
	return 0;
}

static void count(struct undo_result *result, enum outcome out)
{
	uint32_t * const counter[] = {
		[RESTORED] = &result->restored,
		[ALREADY] = &result->already,
		[HANDED] = &result->handed,
		[GONE] = &result->gone,
		[LEFT] = &result->left,
	};

	++*counter[out];
}

/*
 * What was left stays in the journal, for undo --force.  On an error the
 * journal stays whole.
 */
int undo_circuit(struct journals *js, struct journal *j, struct backend *b,
		 bool force, struct undo_result *result, struct notes *notes,
		 struct err *e)
{
	struct job job = { .js = js, .j = j, .b = b, .force = force, .notes = notes, .e = e };
	char now[ITEM_VALUE];
	bool left[RECORDS_MAX] = { false };
	enum outcome out = ALREADY;
	uint32_t i, n = 0;
	int rc;

	memset(result, 0, sizeof(*result));
	job.dev_gone = b->get(b, ITEM_QDISC, j->circuit.dev, now, e) == -ENODEV;
	for (i = j->n; i-- > 0; ) {
		rc = undo_record(&job, &j->records[i], &out);
		if (rc)
			return rc;
		left[i] = out == LEFT;
		count(result, out);
	}
	if (!result->left)
		return journal_remove(js, j, e);
	for (i = 0; i < j->n; i++) {
		if (!left[i])
			continue;
		if (n != i)
			j->records[n] = j->records[i];
		n++;
	}
	j->n = n;
	return journal_write(js, j, e);
}

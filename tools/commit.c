// SPDX-License-Identifier: GPL-2.0
/*
 * State, change, state again.
 *
 * Before the first change the whole state is on disk, with the target of each item, and
 * after the last once more without the targets.  If anything fails the changes made are
 * taken back in reverse, and the earlier file is restored.  If the command is killed in
 * between, the next one that changes anything finds on disk what it needs, and goes back
 * to the earlier list before it makes its own changes.
 */
#include <errno.h>
#include <string.h>

#include "commit.h"
#include "fault.h"

struct job {
	struct diff *d;
	struct store *store;
	struct notes *notes;
	struct outcome *out;
	enum resolve resolve;
	bool had_module;	/* we loaded it before this run */
};

/* Somebody undid what the state has: the item is set again, and the state does not change. */
static bool is_undone(const struct diff *d, const struct item *it)
{
	const struct base *b = item_base(d, it);

	return d->restore && b && !b->next &&
	       item_equal(it->kind, it->name, b->ours, it->target);
}

static int prepare_item(struct diff *d, struct item *it)
{
	struct state *st = d->state;
	struct base *b;
	int rc = 0;

	if (it->base == NOBODY) {
		if (!state_add_base(st, it->kind, it->name, it->ifindex, it->before))
			return -ENOMEM;
		it->base = st->n_base - 1;
		it->fresh = true;
	}
	b = item_base(d, it);
	b->ifindex = it->ifindex;
	/* an item of somebody else's stays theirs if the run ends before it changes it */
	if (it->fresh || item_is_ours(d, it))
		rc = state_text(st, &b->ours, it->now);
	return rc ?: state_text(st, &b->next, it->target);
}

/* Give each item that changes a base, with what it is and what it will be. */
static int prepare(struct diff *d, struct err *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < d->n && !rc; i++)
		if (!is_undone(d, d->of[i]))
			rc = prepare_item(d, d->of[i]);
	return rc ? err_set(e, rc, "out of memory") : 0;
}

/* Note on disk that we load the module, for the whole machine, before it is loaded. */
static int keep_module(struct job *job, bool keep, struct err *e)
{
	return store_keep_module(job->store, keep, e);
}

/* Note which load of it is ours; unless all has to succeed, go on if that fails. */
static int know_module(struct job *job, struct err *e)
{
	int rc = store_know_module(job->store, e);

	return job->resolve == ALL_OR_NONE ? rc : 0;
}

/* The kernel's errors for a route whose device or gateway is gone */
static bool leads_nowhere(int rc)
{
	return rc == -ENODEV || rc == -ENETDOWN || rc == -ENETUNREACH || rc == -EHOSTUNREACH ||
	       rc == -EINVAL;
}

/*
 * Without us the earlier route would have gone with its device: do not restore it, but
 * remove ours all the same.
 */
static int go_without(struct job *job, uint32_t i, struct err *e)
{
	struct change *c = &job->d->list[i];
	struct item *it = job->d->of[i];
	struct base *b = item_base(job->d, it);

	note(job->notes, "%.300s: what it led by is gone, so that it does not come back",
	     e->text);
	it->target = "absent";
	b->before = "absent";
	c->to = it->target;
	return faulty_set(job->d->backend, c->kind, c->name, c->from, c->to, e);
}

static int set_item(struct job *job, uint32_t i, struct err *e)
{
	const struct change *c = &job->d->list[i];
	int rc = faulty_set(job->d->backend, c->kind, c->name, c->from, c->to, e);

	return c->kind == ITEM_ROUTE && c->circuit == NOBODY && leads_nowhere(rc) ?
	       go_without(job, i, e) : rc;
}

static int make(struct job *job, uint32_t i, struct err *e)
{
	const struct change *c = &job->d->list[i];
	bool loads = c->kind == ITEM_MODULE && strcmp(c->to, "absent");
	int rc = loads ? keep_module(job, true, e) : 0;

	if (!rc || job->resolve == AT_ANY_COST)
		rc = set_item(job, i, e);
	if (!rc && loads)
		rc = know_module(job, e);
	if (rc == 1) {
		note(job->notes, "%s; a later undo removes it", e->text);
		job->out->in_use++;
		return 0;
	}
	if (rc && job->resolve != ALL_OR_NONE) {
		/* an earlier step that only removed it for a moment does not count */
		job->d->of[i]->made = false;
		note(job->notes, "%s", e->text);
		job->out->failed++;
		return diff_text(job->d, &job->d->of[i]->why, e->text);
	}
	if (rc) {
		job->out->refused = c;
		return rc;
	}
	job->d->of[i]->made = true;
	job->out->changed++;
	return 0;
}

/* --- many ------------------------------------------------------------------ */

/* Number of changes from @first on to make at once, 0 = too few for that */
static uint32_t count_many(const struct diff *d, uint32_t first)
{
	uint32_t n = 0;

	while (first + n < d->n && n < MANY_AT_ONCE &&
	       item_goes_with_many(d->list[first + n].kind))
		n++;
	return d->backend->many && n >= d->backend->many ? n : 0;
}

static void look_ahead(struct diff *d, uint32_t first, uint32_t n)
{
	struct item_ref list[MANY_AT_ONCE];
	uint32_t i;

	for (i = 0; i < n; i++)
		list[i] = (struct item_ref){ d->list[first + i].kind, d->list[first + i].name };
	d->backend->ahead(d->backend, list, n);
}

static int post_many(struct diff *d, uint32_t first, uint32_t n, struct err *e)
{
	const struct change *c = &d->list[first];
	struct backend *b = d->backend;
	int rc = 0, flushed;
	struct err why;

	look_ahead(d, first, n);
	for (; n && !rc; c++, n--)
		rc = faulty_step(c->name, e) ?: b->post(b, c->kind, c->name, c->from, c->to, e);
	flushed = b->flush(b, &why);
	return rc ? rc : flushed ? err_set(e, flushed, "%s", why.text) : 0;
}

static bool is_made(const struct change *c, struct backend *b)
{
	char now[ITEM_VALUE];
	struct err unused = { "" };

	return !b->get(b, c->kind, c->name, now, &unused) &&
	       item_became(b, c->kind, c->name, c->from, c->to, now, &unused) == 1;
}

/* Find out which of these changes the kernel has made. */
static void find_made(struct job *job, uint32_t first, uint32_t n)
{
	struct diff *d = job->d;
	uint32_t i;

	look_ahead(d, first, n);
	for (i = first; i < first + n; i++) {
		d->of[i]->made = false;
		if (!is_made(&d->list[i], d->backend))
			continue;
		d->of[i]->made = true;
		job->out->changed++;
	}
	d->backend->ahead(d->backend, NULL, 0);
}

/* Make the others one by one, which shows why one cannot be made. */
static int make_many(struct job *job, uint32_t first, uint32_t n, struct err *e)
{
	int rc = post_many(job->d, first, n, e);
	uint32_t i;

	if (rc && job->resolve == ALL_OR_NONE)
		return rc;
	find_made(job, first, n);
	for (i = first, rc = 0; i < first + n && !rc; i++)
		if (!job->d->of[i]->made)
			rc = make(job, i, e);
	return rc;
}

/* --- back ------------------------------------------------------------------ */

/*
 * Do not write what is as it was: a user who may not load a module may not remove it either.
 * An item that is not there, as with an older module, has nothing to take back.
 */
static int take_back(const struct change *c, struct backend *b, struct err *e)
{
	char now[ITEM_VALUE];
	struct err unused = { "" };
	int rc = b->get(b, c->kind, c->name, now, &unused);

	if (rc == -ENOENT || (!rc && item_equal(c->kind, c->name, now, c->from)) ||
	    b->find(b, c->kind, c->name, c->from, now, &unused) == 1)
		return 0;
	/* restore what is gone beside whatever has its name now */
	return faulty_set(b, c->kind, c->name, strcmp(c->to, "absent") ? c->to : c->from, c->from,
			  e);
}

/* False if something could not be taken back: the state on disk stays as it is. */
static bool rollback(struct job *job, uint32_t tried)
{
	bool back = true, module = false;
	struct err e = { "" };
	int rc;

	while (tried-- > 0) {
		const struct change *c = &job->d->list[tried];

		rc = take_back(c, job->d->backend, &e);
		if (rc)
			note(job->notes, "while going back: %s", e.text);
		back &= rc >= 0;
		module |= c->kind == ITEM_MODULE && rc;
	}
	if (!job->had_module && !module)
		keep_module(job, false, &e);
	if (back && store_restore(job->store, &e)) {
		note(job->notes, "while going back: %s", e.text);
		back = false;
	}
	return back;
}

/* --- forth ----------------------------------------------------------------- */

/*
 * An item that is as it was before, or went with its device, needs no base any more, unless
 * the change waits for confirmation: the way back, perhaps with a full disk, needs the base.
 */
static int settle_item(struct diff *d, struct item *it)
{
	bool waits = d->state->confirm.deadline && !d->state->confirm.reverting;
	struct base *b = item_base(d, it);
	bool gone = !it->now && it->circuit == NOBODY;

	if (b && d->restore && it->fresh && !it->made) {
		base_clear(b);
		return 0;
	}
	if (!b || it->left || (it->held && !it->made))
		return 0;
	/* keep the base of a held item: a circuit that cannot be planned now may want it */
	if (gone || (!waits && !it->held &&
		     item_equal(it->kind, it->name, it->target, b->before))) {
		base_clear(b);
		return 0;
	}
	b->ifindex = it->ifindex;
	b->next = NULL;
	return state_text(d->state, &b->ours, it->target);
}

/* Changes that were not made keep the base that was prepared. */
static int settle(struct job *job, struct err *e)
{
	struct diff *d = job->d;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < d->n; i++)
		d->of[i]->left |= !d->of[i]->made;
	for (i = 0; i < d->n_items && !rc; i++)
		rc = settle_item(d, d->items[i]);
	state_pack_base(d->state);
	state_settle(d->state);
	return rc ? err_set(e, -ENOMEM, "out of memory") : 0;
}

/* The note is of a load that is gone: somebody else has loaded the present module. */
static int drop_stale_note(struct job *job, struct err *e)
{
	if (!job->d->no_module)
		note(job->notes,
		     "module %s is left loaded: it is not the one that ctcp-setup had loaded, somebody has loaded it since; modprobe -r %s removes it",
		     MODULE_NAME, MODULE_NAME);
	return keep_module(job, false, e);
}

/* After undo the note goes with the module; after a run cut short, note its load here. */
static int settle_module(struct job *job, struct err *e)
{
	struct state *st = job->d->state;
	uint32_t i;

	for (i = 0; i < st->n_base; i++)
		if (st->base[i].kind == ITEM_MODULE)
			return job->store->knows_load ? 0 : know_module(job, e);
	if (job->store->stale_module && !st->n_circuits)
		return drop_stale_note(job, e);
	return job->had_module ? keep_module(job, false, e) : 0;
}

static int run(struct job *job, uint32_t *tried, struct err *e)
{
	struct diff *d = job->d;
	uint32_t n;
	int rc = 0;

	for (*tried = 0; *tried < d->n && !rc; *tried += n ?: 1) {
		n = count_many(d, *tried);
		rc = n ? make_many(job, *tried, n, e) : make(job, *tried, e);
	}
	if (!rc)
		rc = settle(job, e);
	if (!rc)
		rc = store_write(job->store, d->state, e);
	return rc ? rc : settle_module(job, e);
}

/* Say that changes were made: a mere failure would mean that the machine is as it was. */
static void say_made(int rc, struct err *e)
{
	struct err why = *e;

	err_set(e, rc, "%.600s; what was set is taken back all the same, but the state still has it: the same command again ends it",
		why.text);
}

/* Write the targets to disk; @always: also if nothing of the kernel will change. */
int commit_prepare(struct diff *d, struct store *s, bool always, struct err *e)
{
	int rc = prepare(d, e);

	if (!rc && (d->n || always))
		rc = store_prepare(s, d->state, e);
	return rc;
}

/* Only if this succeeds does the state on disk match @d's state. */
int commit_make(struct diff *d, struct store *s, enum resolve resolve, struct outcome *out,
		struct notes *notes, struct err *e)
{
	struct job job = {
		.d = d, .store = s, .notes = notes, .out = out, .resolve = resolve,
		.had_module = s->has_module,
	};
	uint32_t tried = 0;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = run(&job, &tried, e);
	/* a full disk is no reason to set again what undo has taken back */
	if (rc && resolve == ALL_OR_NONE)
		rollback(&job, tried);
	else if (rc && tried)
		say_made(rc, e);
	return rc;
}

int commit(struct diff *d, struct store *s, enum resolve resolve, struct outcome *out,
	   struct notes *notes, struct err *e)
{
	int rc = commit_prepare(d, s, false, e);

	/* the earlier state has what each item was and what was set: enough to go back */
	if (rc && (resolve == ALL_OR_NONE || rc == -ENOMEM))
		return rc;
	if (rc && resolve == GO_ON)
		note(notes, "%s", e->text);
	return commit_make(d, s, resolve, out, notes, e);
}

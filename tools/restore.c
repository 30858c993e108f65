// SPDX-License-Identifier: GPL-2.0
/*
 * One look of watch: see restore.h.
 *
 * First without the lock, which is what most looks come to: nothing is to be done.  What a
 * command does meanwhile may look like a difference then, so that whatever there is to do
 * is looked at again, and done, with the lock.
 *
 * What is not locked is also not written: the state tells what shall be, and to make the
 * kernel so changes nothing of it (commit.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "hear.h"
#include "restore.h"
#include "session.h"

#define WAITS "a change waits for confirmation, so that nothing is restored"
#define LEFT "undone 3 times within 60 s, so that it is left until ctcp-setup sets it"

static const struct circuit *circuit_of(const struct session *s, const struct change *c)
{
	return c->circuit == NOBODY ? NULL : &s->state.circuits[c->circuit].circuit;
}

/* Why this one is not set again, NULL = it is */
static const char *why_it_stays(const struct watch_look *k, const struct change *c)
{
	const char *why = drift_stays(c);

	if (why)
		return why;
	if (k->args->say)
		return "not restored, as of --say";
	return k->waits ? WAITS : NULL;
}

static struct drift drift_of(const struct watch_look *k, const struct change *c)
{
	return (struct drift){
		.kind = c->kind, .ifindex = c->ifindex, .name = c->name, .is = c->from,
		.stays = why_it_stays(k, c),
		.excused = c->kind == ITEM_ROUTE && interest_was_down(&k->interest, c->ifindex),
	};
}

/* --- what there is --------------------------------------------------------- */

static struct stat file_now(const struct watch_look *k)
{
	struct stat now = { 0 };

	if (stat(k->path, &now))
		now.st_ino = 0;
	return now;
}

/* A file is replaced and not written to. */
static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* No command has run since the last look. */
bool restore_is_left(const struct watch_look *k)
{
	struct stat now = file_now(k);

	return is_same_file(&now, &k->state);
}

/* The first time nothing is known. */
static void look_at_file(struct watch_look *k, const struct session *s)
{
	struct stat was = k->state;

	store_path(&s->store, k->path, sizeof(k->path));
	k->state = file_now(k);
	k->commanded |= !is_same_file(&was, &k->state);
}

/* A run that was cut short is made good once, as what the kernel refuses stays so. */
static bool is_to_recover(const struct watch_look *k, const struct session *s)
{
	return s->cut_short && k->commanded && !k->args->say && !k->waits;
}

/* Classes and filters are below a root of ours, and there is none: its own line says why. */
static bool is_rootless(const struct watch_look *k, const struct change *c)
{
	uint32_t i;

	if (c->kind != ITEM_CLASS && c->kind != ITEM_FILTER)
		return false;
	for (i = 0; i < k->n_rootless; i++)
		if (k->rootless[i] == c->ifindex)
			return true;
	return false;
}

/* A leftover of no circuit is of such a run, or one that undo left. */
static bool concerns(const struct watch_look *k, const struct session *s,
		     const struct change *c)
{
	return (c->circuit != NOBODY || is_to_recover(k, s)) && !is_rootless(k, c);
}

/* Where there is no memory, the kernel refuses what is below them. */
static void find_rootless(struct watch_look *k, const struct session *s, uint64_t now)
{
	uint32_t i;
	int *list;

	k->n_rootless = 0;
	for (i = 0; i < s->diff.n; i++) {
		const struct change *c = &s->diff.list[i];
		struct drift d = drift_of(k, c);

		if (c->kind != ITEM_QDISC ||
		    (concerns(k, s, c) && ledger_judge(&k->ledger, &d, now) == VERDICT_RESTORE))
			continue;
		list = grown(k->rootless, k->n_rootless, sizeof(*list));
		if (!list)
			return;
		k->rootless = list;
		list[k->n_rootless++] = c->ifindex;
	}
}

/* What cannot be set again at present, as its device is down; said once. */
static void judge_circuits(struct watch_look *k, const struct session *s, uint64_t now)
{
	uint32_t i;

	k->interest.all = false;
	for (i = 0; i < s->state.n_circuits; i++) {
		const char *name = s->state.circuits[i].circuit.name;
		struct drift d = {
			.kind = ITEM_KINDS, .name = name, .stays = true,
			.is = planned_why(&s->planned[i]),
		};
		enum verdict v;

		if (!s->planned[i].rc)
			continue;
		k->interest.all = true;
		v = ledger_judge(&k->ledger, &d, now);
		k->due |= v == VERDICT_SAY;
		if (k->locked && !ledger_note(&k->ledger, &d, v, now) && v == VERDICT_SAY)
			say_text(&k->says, "blocked", name, d.is);
	}
}

/* Links by which the circuits leave; that one was down is over once its circuits are looked at. */
static void learn_links(struct interest *in, const struct member *m, const struct planned *p)
{
	interest_add_link(in, m->ifindex);
	if (p->facts->out_ifindex != m->ifindex)
		interest_add_link(in, p->facts->out_ifindex);
	if (p->rc)
		return;
	interest_is_up(in, m->ifindex);
	interest_is_up(in, p->facts->out_ifindex);
}

static void learn(struct watch_look *k, const struct session *s)
{
	uint32_t i;

	if (interest_learn(&k->interest, &s->state)) {
		k->interest.all = true;
		return;
	}
	for (i = 0; i < s->state.n_circuits; i++)
		learn_links(&k->interest, &s->state.circuits[i], &s->planned[i]);
	interest_sort(&k->interest);
	k->interest.all |= k->refused;
	k->circuits = s->state.n_circuits;
}

/* --- without the lock ------------------------------------------------------ */

static void peek(struct watch_look *k, const struct session *s)
{
	uint64_t now = hear_clock();
	uint32_t i;

	find_rootless(k, s, now);
	k->due |= is_to_recover(k, s);
	k->due |= confirm_is_over(&s->state.confirm, boottime_ns());
	for (i = 0; i < s->diff.n && !k->due; i++) {
		struct drift d = drift_of(k, &s->diff.list[i]);

		k->due = concerns(k, s, &s->diff.list[i]) &&
			 ledger_judge(&k->ledger, &d, now) != VERDICT_KNOWN;
	}
	judge_circuits(k, s, now);
}

/* Nothing was to be done: what was open is as set up, what was said is so still. */
static void settle(struct watch_look *k, const struct session *s)
{
	uint64_t now = hear_clock();
	uint32_t i;

	ledger_begin(&k->ledger);
	for (i = 0; i < s->diff.n; i++) {
		struct drift d = drift_of(k, &s->diff.list[i]);

		if (concerns(k, s, &s->diff.list[i]))
			ledger_note(&k->ledger, &d, VERDICT_KNOWN, now);
	}
	k->locked = true;	/* as if: all of it is known */
	judge_circuits(k, s, now);
	ledger_end(&k->ledger, k->commanded, now);
	k->commanded = false;
	learn(k, s);
}

static int run_peek(struct session *s, void *data, struct err *e)
{
	struct watch_look *k = data;
	int rc;

	k->busy = store_is_locked(&s->store, k->pid);
	if (k->busy)
		return 0;
	look_at_file(k, s);
	rc = session_read(s, e);
	if (rc)
		return rc;
	k->waits = s->state.confirm.deadline;
	k->confirm_us = k->waits ? confirm_left_us(&s->state.confirm, boottime_ns()) : 0;
	rc = session_restore(s, e);
	if (rc)
		return rc;
	peek(k, s);
	if (!k->due)
		settle(k, s);
	return 0;
}

/* --- with it --------------------------------------------------------------- */

static void say_left(struct watch_look *k, const struct session *s, const struct change *c,
		     enum verdict v)
{
	if (v == VERDICT_SAY)
		say_change(&k->says, "differs", circuit_of(s, c), c, why_it_stays(k, c));
	else if (v == VERDICT_LEAVE)
		say_change(&k->says, "left", circuit_of(s, c), c, LEFT);
}

/* The diff has nothing but what is to be set again. */
static int choose(struct watch_look *k, struct session *s, struct err *e)
{
	struct diff *d = &s->diff;
	uint64_t now = hear_clock();
	uint32_t i, n = 0;

	find_rootless(k, s, now);
	for (i = 0; i < d->n; i++) {
		struct drift drift = drift_of(k, &d->list[i]);
		enum verdict v = concerns(k, s, &d->list[i]) ?
				 ledger_judge(&k->ledger, &drift, now) : VERDICT_KNOWN;

		if (concerns(k, s, &d->list[i]) && ledger_note(&k->ledger, &drift, v, now))
			return err_set(e, -ENOMEM, "out of memory");
		say_left(k, s, &d->list[i], v);
		d->of[i]->left = v != VERDICT_RESTORE;
		if (v != VERDICT_RESTORE)
			continue;
		d->list[n] = d->list[i];
		d->of[n++] = d->of[i];
	}
	d->n = n;
	return 0;
}

static void report(struct watch_look *k, const struct session *s)
{
	uint32_t i;

	for (i = 0; i < s->diff.n; i++) {
		const struct change *c = &s->diff.list[i];
		const struct item *it = s->diff.of[i];
		struct drift d = drift_of(k, c);

		if (it->made) {
			say_change(&k->says, "restored", circuit_of(s, c), c, NULL);
			ledger_restored(&k->ledger, &d);
			continue;
		}
		k->refused = true;
		if (ledger_refused(&k->ledger, &d))
			say_change(&k->says, "refused", circuit_of(s, c), c, it->why);
	}
}

/* A run that was cut short is made good as by any command that changes something. */
static int restore(struct watch_look *k, struct session *s, struct err *e)
{
	int rc;

	if (k->args->say || k->waits || (!s->diff.n && !is_to_recover(k, s)))
		return 0;
	if (is_to_recover(k, s))
		say_text(&k->says, "recovered", NULL,
			 "an earlier run was cut short; what it had changed is taken back");
	rc = session_commit(s, GO_ON, e);
	report(k, s);
	/* said by report() */
	s->trouble.n = 0;
	return rc;
}

/* As a change that nobody confirmed in time. */
static void say_trouble(struct watch_look *k, struct session *s)
{
	uint32_t i;

	for (i = 0; i < s->trouble.n; i++)
		say_text(&k->says, "recovered", NULL, s->trouble.text[i]);
	s->trouble.n = 0;
}

static int run_locked(struct session *s, void *data, struct err *e)
{
	struct watch_look *k = data;
	int rc = session_lock_waiting(s, &k->waits, e);

	say_trouble(k, s);
	if (rc)
		return rc;
	k->locked = true;
	look_at_file(k, s);
	k->confirm_us = k->waits ? confirm_left_us(&s->state.confirm, boottime_ns()) : 0;
	rc = session_restore(s, e);
	ledger_begin(&k->ledger);
	if (!rc)
		rc = choose(k, s, e);
	if (rc)
		return rc;
	judge_circuits(k, s, hear_clock());
	rc = restore(k, s, e);
	ledger_end(&k->ledger, k->commanded, hear_clock());
	look_at_file(k, s);
	k->commanded = false;
	learn(k, s);
	return rc;
}

/* What is to be said is in @k->says, also if this fails. */
int restore_look(struct watch_look *k, struct err *e)
{
	static const struct args none;
	int rc;

	k->due = false;
	k->locked = false;
	k->refused = false;
	rc = session_run(&none, run_peek, k, e);
	if (rc || k->busy || !k->due)
		return rc;
	return session_run(&none, run_locked, k, e);
}

void restore_free(struct watch_look *k)
{
	ledger_free(&k->ledger);
	interest_free(&k->interest);
	says_free(&k->says);
	free(k->rootless);
}

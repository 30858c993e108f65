// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup show: the circuits of this namespace, what their qdiscs and sockets
 * did, others' circuits, the peers that have one of themselves, and where the
 * kernel is no longer as planned.
 *
 * Drift is what a second run would change: the plan is made again from the
 * circuit of the state and held against the kernel.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "htb.h"
#include "print.h"
#include "qdisc.h"
#include "session_plan.h"
#include "sysctl.h"
#include "units.h"

static void print_stats(const struct member *m, const struct qdisc *q,
			const struct qdisc_stats *st)
{
	if (m->classid)
		printf("  class    %x:%x", OUR_MAJOR, m->classid);
	else
		printf("  qdisc    %s", q->kind);
	printf(", sent %" PRIu64 " bytes %" PRIu64
	       " packets, %u dropped, %u over rate, backlog %u bytes %u packets\n",
	       st->bytes, st->packets, st->drops, st->overlimits, st->backlog,
	       st->qlen);
}

/* The class that it has counts nothing where it is gone; a root there always is. */
static bool has_shaper(const struct member *m, const struct qdisc *q)
{
	return !m->classid || q->state == QDISC_HTB;
}

static json_t *json_stats(const struct qdisc *q, const struct qdisc_stats *st)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "kind", q->kind,
			 "sent_bytes", (json_int_t)st->bytes,
			 "sent_packets", (json_int_t)st->packets,
			 "drops", (json_int_t)st->drops, "overlimits", (json_int_t)st->overlimits,
			 "backlog_bytes", (json_int_t)st->backlog,
			 "backlog_packets", (json_int_t)st->qlen);
}

/* One that the state tells of */
static bool is_planned(const struct session *s, const struct live *l)
{
	return !l->no_object && order_find(&s->names, l->object.name) != NOWHERE;
}

/* Of the circuit @c as the kernel has it, if it has it. */
static void show_live(const struct session *s, const struct circuit *c)
{
	const struct live *l = lives_find(&s->lives, circuit_name(c));

	if (l)
		print_live(stdout, l);
}

/* Circuits of others, and with @peers those that peers have of themselves. */
static void show_kind(const struct session *s, bool peers, const char *head)
{
	uint32_t i, n = 0;

	for (i = 0; i < s->lives.n; i++) {
		const struct live *l = &s->lives.list[i];

		if (l->no_object != peers || is_planned(s, l))
			continue;
		if (!n++)
			printf("%s:\n", head);
		print_live(stdout, l);
	}
}

static json_t *json_kind(const struct session *s, bool peers)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < s->lives.n; i++) {
		const struct live *l = &s->lives.list[i];

		if (l->no_object == peers && !is_planned(s, l))
			json_array_append_new(list, json_live(l));
	}
	return list;
}

/* What is no circuit's of ours, and the namespace's totals if there is a module. */
static int show_others(struct session *s, json_t *list, struct err *e)
{
	json_t *circuits, *peers;
	struct totals t;
	int rc = totals_read(&s->kernel.genl, &t, e);
	bool known = !rc;

	if (is_not_answered(rc))
		return rc;
	if (!list) {
		show_kind(s, false, "other circuits");
		show_kind(s, true, "other peers");
		if (known)
			print_totals(stdout, &t);
		return 0;
	}
	circuits = json_kind(s, false);
	peers = json_kind(s, true);
	if (known)
		json_array_append_new(list, json_pack("{s:n,s:O,s:O,s:o}", "dev", "circuits",
						      circuits, "peers", peers, "totals",
						      json_totals(&t)));
	json_decref(circuits);
	json_decref(peers);
	return 0;
}

/* How the kernel is not as set up. */
static uint32_t show_drift(const struct session *s, uint32_t n)
{
	uint32_t first = diff_first(&s->diff, n), i;
	const struct change *c;
	char line[DRIFT_TEXT];

	for (i = first; (c = diff_change(&s->diff, n, i)); i++)
		printf("  drift    %s\n", drift_text(c, line, sizeof(line)));
	return i - first;
}

/* What is comes before what was planned, which reads as a fact where it is one. */
static void show_text(struct session *s, uint32_t n, const struct err *trouble,
		      const struct qdisc *q, const struct qdisc_stats *stats)
{
	const struct circuit *c = &s->state.circuits[n].circuit;

	print_head(stdout, c);
	if (trouble->text[0]) {
		printf("  drift    %s\n", trouble->text);
	} else {
		if (show_drift(s, n))
			printf("  planned, and in part not so:\n");
		print_plan(stdout, c, &s->planned[n].plan);
		if (has_shaper(&s->state.circuits[n], q))
			print_stats(&s->state.circuits[n], q, stats);
	}
	show_live(s, c);
}

static json_t *show_json(struct session *s, uint32_t n, const struct err *trouble,
			 const struct qdisc *q, const struct qdisc_stats *stats)
{
	const struct circuit *c = &s->state.circuits[n].circuit;
	const struct live *l = lives_find(&s->lives, circuit_name(c));
	json_t *root, *drift = json_array();
	const struct change *change;
	char line[DRIFT_TEXT];
	uint32_t i;

	if (trouble->text[0]) {
		root = json_pack("{s:o, s:s, s:I, s:I}", "dev", json_plain(c->dev),
				 "name", circuit_name(c), "rate_bit_s", (json_int_t)(c->rate * 8),
				 "rtt_us", (json_int_t)c->rtt_us);
		if (c->ctcpd)
			json_object_set_new(root, "owner", json_string("ctcpd"));
		json_array_append_new(drift, json_string(trouble->text));
	} else {
		const uint32_t minor = s->state.circuits[n].classid;
		char id[CLASS_NAME];

		root = json_plan(c, &s->planned[n].plan);
		snprintf(id, sizeof(id), "%x:%x", OUR_MAJOR, minor);
		if (minor)
			json_object_set_new(root, "class", json_string(id));
		json_object_set_new(root, "qdisc", has_shaper(&s->state.circuits[n], q) ?
				    json_stats(q, stats) : json_null());
	}
	for (i = diff_first(&s->diff, n); !trouble->text[0] &&
	     (change = diff_change(&s->diff, n, i)); i++)
		json_array_append_new(drift,
				      json_string(drift_text(change, line, sizeof(line))));
	json_object_set_new(root, "circuit", l ? json_live(l) : json_null());
	json_object_set_new(root, "drift", drift);
	return root;
}

static bool has_drift(const struct session *s, uint32_t n, const struct err *trouble)
{
	return trouble->text[0] || diff_change(&s->diff, n, diff_first(&s->diff, n));
}

/* How many, and how many of them are not as set up */
struct shown {
	uint32_t circuits, drifted;
};

/*
 * A device that is gone or a circuit that no longer fits is drift, and no reason not to
 * show the rest; what could not be asked is neither.
 */
static int show_one(struct session *s, uint32_t n, json_t *list, struct shown *shown,
		    struct err *e)
{
	const struct planned *p = &s->planned[n];
	struct err trouble = { "" }, why = { "" };
	struct qdisc_stats stats = { 0 };
	struct qdisc q = { 0 };
	int rc;

	if (is_not_answered(p->rc))
		return cannot_plan(s, n, e);
	if (p->rc) {
		err_set(&trouble, p->rc, "%s", planned_why(p));
	} else {
		rc = session_shaper(s, n, &q, &stats, &why);
		if (is_not_answered(rc))
			return err_set(e, rc, "%s", why.text);
		/* that there is none is no error */
		if (rc)
			trouble = why;
	}
	if (list)
		json_array_append_new(list, show_json(s, n, &trouble, &q, &stats));
	else
		show_text(s, n, &trouble, &q, &stats);
	shown->circuits++;
	shown->drifted += has_drift(s, n, &trouble);
	return 0;
}

/* --- many ------------------------------------------------------------------ */

static void ask_shaper(struct session *s, uint32_t i)
{
	struct qdisc_stats stats;
	struct err unused;
	struct qdisc q;

	session_shaper(s, i, &q, &stats, &unused);
}

static int show_all(struct session *s, json_t *list, struct shown *shown, struct err *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < s->state.n_circuits && !rc; i++) {
		if (i % MANY_AT_ONCE == 0)
			session_ahead(s, i, session_shows, ask_shaper);
		if (session_shows(s, i))
			rc = show_one(s, i, list, shown, e);
	}
	kernel_ahead_end(&s->kernel);
	return rc;
}

/* A circuit that no state tells of, by its name */
static int show_named(const struct session *s, const char *name, json_t *list, struct err *e)
{
	const struct live *l = lives_find(&s->lives, name);

	if (!l)
		return err_set(e, -ENOENT,
			       "there is no circuit %s, nor one on a device of that name; ctcp-setup show lists those there are",
			       name);
	if (list) {
		json_array_append_new(list, json_pack("{s:n, s:s, s:o}", "dev", "name", name,
						      "circuit", json_live(l)));
		return 0;
	}
	printf("not set up by ctcp-setup:\n");
	print_live(stdout, l);
	return 0;
}

/* A module that is not there is no reason not to show the rest. */
static int read_lives(struct session *s, struct err *e)
{
	int rc = sysctl_exists(FCWND_SYSCTL) ? lives_read(&s->lives, e) : 0;

	lives_sort(&s->lives);
	return rc;
}

static void show_waiting(const struct session *s, json_t *list)
{
	if (!list)
		print_waiting(&s->waits, false);
	else if (s->waits.deadline)
		json_array_append_new(list, json_pack("{s:n, s:o}", "dev", "confirm",
						      json_confirm(&s->waits)));
}

static int show_circuits(struct session *s, json_t *list, struct shown *shown, struct err *e)
{
	const char *dev = s->args->circuit.dev;
	int rc = read_lives(s, e);

	if (!rc)
		rc = session_look(s, e);
	if (rc)
		return rc;
	show_waiting(s, list);
	rc = show_all(s, list, shown, e);
	if (rc)
		return rc;
	if (dev[0])
		return shown->circuits ? 0 : show_named(s, dev, list, e);
	if (!list && !shown->circuits)
		printf("no circuit in this network namespace\n");
	return show_others(s, list, e);
}

static int run(struct session *s, void *unused, struct err *e)
{
	json_t *list = s->args->json ? json_array() : NULL;
	struct shown shown = { 0 };
	int rc = show_circuits(s, list, &shown, e);

	(void)unused;
	if (rc) {
		json_decref(list);
		return rc;
	}
	if (list)
		rc = print_json(stdout, list, e);
	if (rc || !shown.drifted)
		return rc;
	return err_set(e, -EBADE,
		       "%u circuit%s not as set up; ctcp-setup verify lists the differences",
		       shown.drifted, shown.drifted == 1 ? " is" : "s are");
}

int command_show(const struct args *a, struct err *e)
{
	return session_run(a, run, NULL, e);
}

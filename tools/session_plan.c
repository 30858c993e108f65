// SPDX-License-Identifier: GPL-2.0
/*
 * Facts -> plans of all circuits of a session: see session_plan.h.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "admit.h"
#include "heap.h"
#include "link.h"
#include "session_plan.h"
#include "units.h"

static const struct facts nothing;	/* of a device that was not looked at */

/* It has its numbers, or @rc and why it has none; without memory for why, that is why. */
void planned_set(struct session *s, uint32_t i, int rc, const struct err *why)
{
	struct planned *p = &s->planned[i];

	p->rc = rc;
	p->why = rc ? pool_text(&s->why, why->text) : NULL;
}

const char *planned_why(const struct planned *p)
{
	return p->rc ? p->why ?: "out of memory" : "";
}

static int by_index(const void *a, const void *b)
{
	const struct facts *x = a, *y = b;

	return x->ifindex < y->ifindex ? -1 : x->ifindex > y->ifindex;
}

static void forget(void *unused)
{
	(void)unused;
}

/* The device's facts, where they were read for another of its circuits: in @known */
static const struct facts *known_facts(void *const *known, int ifindex)
{
	const struct facts key = { .ifindex = ifindex };
	const struct facts *const *found = ifindex ? tfind(&key, known, by_index) : NULL;

	return found ? *found : NULL;
}

/* Into @facts; also where that fails, what was read until then */
static int read_facts(struct session *s, const char *dev, void **known,
		      const struct facts **facts, struct err *e)
{
	struct device *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return err_set(e, -ENOMEM, "out of memory");
	d->next = s->devices;
	s->devices = d;
	*facts = &d->facts;
	rc = facts_read(&s->kernel.nl, dev, &d->facts, e);
	/* without memory it is read again */
	if (!rc && d->facts.ifindex)
		tsearch(&d->facts, known, by_index);
	return rc;
}

/* Only of what this command asks for it is told what the plan decided. */
static void plan_one(struct session *s, uint32_t i, bool asked, void **known)
{
	const struct circuit *c = &s->state.circuits[i].circuit;
	struct notes *notes = asked && !s->reverting ? &s->notes : NULL;
	const struct facts *facts = known_facts(known, s->state.circuits[i].ifindex);
	struct planned *p = &s->planned[i];
	struct err why = { "" };
	int rc = 0;

	if (facts)
		p->facts = facts;
	else
		rc = read_facts(s, c->dev, known, &p->facts, &why);
	if (!rc)
		rc = plan_check_device(c, p->facts, notes, &why);
	if (!rc)
		rc = plan_make(c, p->facts, &p->plan, notes, &why);
	planned_set(s, i, rc, &why);
}

/* Which of several it is, is said where it is not the one that the command names. */
int cannot_plan(struct session *s, uint32_t i, struct err *e)
{
	const struct planned *p = &s->planned[i];

	if (!is_not_answered(p->rc))
		out_copy(s->failed_for, sizeof(s->failed_for),
			 s->state.circuits[i].circuit.name);
	if (!s->args->file && s->state.circuits[i].standing == ADDING)
		return err_set(e, p->rc, "%s", planned_why(p));
	return err_set(e, p->rc, "circuit %s: %s", s->state.circuits[i].circuit.name,
		       planned_why(p));
}

/* What cannot be done as it was asked for is an error. */
bool is_strict(const struct session *s)
{
	return !s->diff.look && !s->diff.restore && !s->reverting;
}

/* The question failed, which says nothing of the circuit that it was asked for. */
bool is_not_answered(int rc)
{
	switch (rc) {
	case -EIO:
	case -EINTR:
	case -EBADMSG:
	case -ENOBUFS:
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
		return true;
	default:
		return false;
	}
}

/* Its device or the way through it is not there: it is not in force, whatever was set up. */
static bool is_nowhere(int rc)
{
	return rc == -ENODEV || rc == -ENETDOWN || rc == -ENETUNREACH;
}

/*
 * Of a circuit that stands what holds for longer does not keep the others from going on, but
 * for one of a file, which would be said to be in force.
 */
bool stops(const struct session *s, uint32_t i)
{
	const struct member *m = &s->state.circuits[i];
	int rc = s->planned[i].rc;

	return rc && is_strict(s) && (m->standing == ADDING || is_not_answered(rc) ||
				      (s->args->file && !m->left_out &&
				       (m->anew || is_nowhere(rc))));
}

/* One that cannot be planned takes nothing of its wire; the daemon's reserve nothing. */
static int admit_all(struct session *s, struct err *e)
{
	struct load *list = calloc(s->state.n_circuits + 1, sizeof(*list));
	const struct circuit *refused = NULL;
	uint32_t i, n = 0;
	int rc;

	if (!list)
		return err_set(e, -ENOMEM, "out of memory");
	for (i = 0; i < s->state.n_circuits; i++) {
		const struct member *m = &s->state.circuits[i];
		const struct facts *f = s->planned[i].facts;

		if (m->standing == REMOVING || !f->ifindex || m->circuit.ctcpd)
			continue;
		list[n++] = (struct load){
			.circuit = &m->circuit, .ifindex = f->ifindex, .wire = f->wire_ifindex,
			.wire_name = f->wire, .speed = f->speed_mbit * MBIT,
			.added = m->standing == ADDING,
		};
	}
	rc = admit(list, n, &refused, e);
	if (refused)
		out_copy(s->failed_for, sizeof(s->failed_for), refused->name);
	free(list);
	return rc;
}

static int plan_each(struct session *s, void **known, struct err *e)
{
	uint32_t i;

	for (i = 0; i < s->state.n_circuits; i++) {
		if (s->state.circuits[i].standing == REMOVING || session_is_aside(s, i))
			continue;
		plan_one(s, i, s->state.circuits[i].standing == ADDING, known);
		if (stops(s, i))
			return cannot_plan(s, i, e);
	}
	return 0;
}

/* For what is added: its plan, items and their texts, and its part of the state */
static void expect_added(const struct state *st)
{
	uint32_t i, n = 0;

	for (i = 0; i < st->n_circuits; i++)
		n += st->circuits[i].standing == ADDING;
	heap_expect(1200 * (size_t)n);
}

int plan_all(struct session *s, struct err *e)
{
	void *known = NULL;
	uint32_t i;
	int rc;

	expect_added(&s->state);
	s->planned = calloc(s->state.n_circuits + 1, sizeof(*s->planned));
	if (!s->planned || order_by_name(&s->names, &s->state))
		return err_set(e, -ENOMEM, "out of memory");
	for (i = 0; i < s->state.n_circuits; i++)
		s->planned[i].facts = &nothing;
	rc = plan_each(s, &known, e);
	tdestroy(known, forget);
	return rc || !is_strict(s) ? rc : admit_all(s, e);
}

/* Pages of all circuits: tcp_mem has room for their sum. */
uint64_t need_of_all(const struct session *s)
{
	uint64_t need = 0;
	uint32_t i;

	for (i = 0; i < s->state.n_circuits; i++)
		if (s->state.circuits[i].standing != REMOVING && !s->planned[i].rc)
			need += s->planned[i].plan.need;
	return need;
}

void plan_free(struct session *s)
{
	struct device *next;

	for (; s->devices; s->devices = next) {
		next = s->devices->next;
		free(s->devices);
	}
	free(s->planned);
	pool_free(&s->why);
	order_free(&s->names);
}

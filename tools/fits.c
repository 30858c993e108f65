// SPDX-License-Identifier: GPL-2.0
/*
 * Does a circuit fit beside the others of the list?  See fits.h.
 *
 * One is held against each of the others.  Many at once are sorted, by name, by prefix
 * and by device, so that those that may be in each other's way are neighbours.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fits.h"
#include "guarantee.h"
#include "order.h"
#include "units.h"

static bool holds(const struct prefix *a, const struct prefix *b)
{
	return a->family == b->family && a->len <= b->len && prefix_holds(a, b);
}

static int check_name(const struct circuit *c, const struct member *m, struct err *e)
{
	if (strcmp(circuit_name(c), m->circuit.name))
		return 0;
	if (m->circuit.ctcpd && !c->ctcpd)
		return err_set(e, -EEXIST,
			       "circuit %s is ctcpd's, by which it paces a remote; give this one another name",
			       m->circuit.name);
	if (strcmp(c->dev, m->circuit.dev))
		return err_set(e, -EEXIST,
			       "circuit %s is that of another device already, %s; %s another name",
			       m->circuit.name, m->circuit.dev,
			       c->name[0] ? "give this one" : "--name gives this one");
	return err_set(e, -EEXIST, "%s has a circuit %s already; ctcp-setup change %s changes it",
		       m->circuit.dev, m->circuit.name, m->circuit.name);
}

/* The route to a prefix is one; a part of another's prefix is a mistake, or meant. */
static int check_prefix(const struct prefix *p, bool overbook, const struct member *m,
			const struct prefix *other, struct err *e)
{
	char to[64], its[64];

	if (prefix_equal(p, other))
		return err_set(e, -EEXIST,
			       "--to: %s is that of circuit %s on %s already; ctcp-setup undo %s first",
			       format_prefix(to, sizeof(to), p), m->circuit.name, m->circuit.dev,
			       m->circuit.name);
	if (!overbook && (holds(p, other) || holds(other, p)))
		return err_set(e, -EEXIST,
			       "--to: %s overlaps %s of circuit %s; with --overbook the longer prefix has its own",
			       format_prefix(to, sizeof(to), p),
			       format_prefix(its, sizeof(its), other), m->circuit.name);
	return 0;
}

static int check_prefixes(const struct circuit *c, const struct member *m, struct err *e)
{
	uint32_t i, k;
	int rc = 0;

	/* without a route: a remote may be reached by two devices, and paced on each */
	if (c->ctcpd && m->circuit.ctcpd && strcmp(c->dev, m->circuit.dev))
		return 0;
	for (i = 0; i < c->n_to; i++)
		for (k = 0; k < m->circuit.n_to && !rc; k++)
			rc = check_prefix(&c->to[i], c->overbook, m, &m->circuit.to[k], e);
	return rc;
}

/* What several say of the device's one class for all else must be one thing. */
static int check_rest(const struct circuit *c, const struct circuit *other, struct err *e)
{
	char rate[32], its[32];

	if (!c->rest || !other->rest || c->rest == other->rest)
		return 0;
	return err_set(e, -EEXIST, "--rest: %s is not the %s that circuit %s says for all of %s",
		       format_rate(rate, sizeof(rate), c->rest),
		       format_rate(its, sizeof(its), other->rest), other->name, c->dev);
}

/* What leaves room for others; a class is found by its prefix, and the module paces no H-TCP. */
static const char *sharing(const struct circuit *c)
{
	if (circuit_is_htcp(c))
		return c->n_to ? "--shaper htb holds it by a class of its own" :
				 "--to PREFIX --shaper htb holds it by a class of its own";
	return c->n_to ?
		"--shaper none --pace holds it by the module, --shaper htb by a class of its own" :
		"--shaper none --pace holds it by the module";
}

/* A tbf or fq of ours is sized for one circuit and holds all that leaves by the device. */
static int check_shaper(const struct circuit *c, const struct member *m, struct err *e)
{
	bool other = !circuit_shares(&m->circuit);
	const struct circuit *held = other ? &m->circuit : c;
	char change[32 + TCP_CIRCUIT_NAME_LEN] = "";

	if (strcmp(c->dev, m->circuit.dev))
		return 0;
	if (circuit_shares(held))
		return check_rest(c, &m->circuit, e);
	if (other && m->standing != ADDING)
		snprintf(change, sizeof(change), "ctcp-setup change %s ", m->circuit.name);
	return err_set(e, -EEXIST,
		       "%s has circuit %s, and %s of %s would hold both to one rate; %s%s",
		       c->dev, m->circuit.name, shaper_name(held->shaper), circuit_name(held),
		       change, sharing(held));
}

static int beside(const struct circuit *c, const struct member *m, struct err *e)
{
	return check_name(c, m, e) ?: check_prefixes(c, m, e) ?: check_shaper(c, m, e);
}

/* Beside the first @n of the list */
static int fits_first(const struct state *st, uint32_t n, const struct circuit *c,
		      struct err *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		if (member_is_there(&st->circuits[i]))
			rc = beside(c, &st->circuits[i], e);
	return rc;
}

int fits(const struct state *st, const struct circuit *c, struct err *e)
{
	return fits_first(st, st->n_circuits, c, e);
}

/* --- all ------------------------------------------------------------------- */

/* The first of the list that does not fit beside one before it */
struct misfit {
	const struct state *st;
	uint32_t at;
};

/* The one that was added later is held against the other. */
static void consider(struct misfit *f, uint32_t a, uint32_t b)
{
	uint32_t later = a > b ? a : b, earlier = a > b ? b : a;
	const struct member *m = &f->st->circuits[later];
	struct err unused = { "" };

	if (m->standing == ADDING && later < f->at &&
	    beside(&m->circuit, &f->st->circuits[earlier], &unused))
		f->at = later;
}

static int fit_names(struct misfit *f)
{
	uint32_t i, first = NOWHERE;
	struct order order;
	int rc = order_by_name(&order, f->st);

	for (i = 0; !rc && i < order.n; i++) {
		const struct member *m = order_member(&order, i);

		if (!member_is_there(m))
			continue;
		if (first != NOWHERE && !strcmp(f->st->circuits[first].circuit.name,
						m->circuit.name))
			consider(f, order.at[i], first);
		else
			first = order.at[i];
	}
	order_free(&order);
	return rc;
}

struct held_prefix {
	struct prefix prefix;
	uint32_t at;
};

static int by_prefix(const void *a, const void *b)
{
	const struct held_prefix *p = a, *q = b;
	int order = prefix_compare(&p->prefix, &q->prefix);

	return order ? order : p->at < q->at ? -1 : 1;
}

static struct held_prefix *list_prefixes(const struct state *st, uint32_t *n)
{
	struct held_prefix *list;
	size_t all = 0;
	uint32_t i, k;

	for (i = 0; i < st->n_circuits; i++)
		all += st->circuits[i].circuit.n_to;
	list = malloc((all + 1) * sizeof(*list));
	*n = 0;
	for (i = 0; list && i < st->n_circuits; i++)
		for (k = 0; member_is_there(&st->circuits[i]) &&
		     k < st->circuits[i].circuit.n_to; k++)
			list[(*n)++] = (struct held_prefix){ st->circuits[i].circuit.to[k], i };
	if (list)
		qsort(list, *n, sizeof(*list), by_prefix);
	return list;
}

#define NESTED_MAX	129	/* lengths of a prefix, 0 to 128 */

/* In their order a prefix comes behind all that hold it, and these hold each other. */
static int fit_prefixes(struct misfit *f)
{
	const struct held_prefix *outer[NESTED_MAX];
	uint32_t i, k, n, depth = 0;
	struct held_prefix *list = list_prefixes(f->st, &n);

	if (!list)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct held_prefix *p = &list[i];

		while (depth && !holds(&outer[depth - 1]->prefix, &p->prefix))
			depth--;
		for (k = 0; k < depth; k++)
			consider(f, p->at, outer[k]->at);
		if (!depth || !prefix_equal(&outer[depth - 1]->prefix, &p->prefix))
			outer[depth++] = p;
	}
	free(list);
	return 0;
}

/* Of the circuits of a device so far: any, one that shares it with none, one with --rest */
struct on_device {
	uint32_t first, alone, rest;
};

static void fit_device(struct misfit *f, struct on_device *on, uint32_t at)
{
	const struct circuit *c = &f->st->circuits[at].circuit;

	if (on->first != NOWHERE)
		consider(f, at, on->first);
	else
		on->first = at;
	if (on->alone != NOWHERE)
		consider(f, at, on->alone);
	else if (!circuit_shares(c))
		on->alone = at;
	if (on->rest != NOWHERE)
		consider(f, at, on->rest);
	else if (c->rest)
		on->rest = at;
}

static int fit_devices(struct misfit *f)
{
	static const struct on_device nobody = { NOWHERE, NOWHERE, NOWHERE };
	struct on_device on = nobody;
	const char *dev = "";
	struct order order;
	uint32_t i;
	int rc = order_by_device(&order, f->st);

	for (i = 0; !rc && i < order.n; i++) {
		const struct member *m = order_member(&order, i);

		if (strcmp(dev, m->circuit.dev))
			on = nobody;
		dev = m->circuit.dev;
		if (member_is_there(m))
			fit_device(f, &on, order.at[i]);
	}
	order_free(&order);
	return rc;
}

int fits_all(const struct state *st, uint32_t *at, struct err *e)
{
	struct misfit f = { .st = st, .at = st->n_circuits };
	int rc = fit_names(&f) ?: fit_prefixes(&f) ?: fit_devices(&f);

	*at = f.at;
	if (rc)
		return err_set(e, rc, "out of memory");
	return f.at < st->n_circuits ? fits_first(st, f.at, &st->circuits[f.at].circuit, e) : 0;
}

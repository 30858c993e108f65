// SPDX-License-Identifier: GPL-2.0
/*
 * Rates of circuits against the wires that carry them: see admit.h.
 *
 * Sums hold: 65,534 circuits of 1.25e11 bytes/s each are less than 2^53.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admit.h"
#include "units.h"

/* What one wire is asked for. */
struct demand {
	uint64_t rates, rests;		/* bytes/s */
	uint64_t speed;			/* of the wire, 0 = not known */
	bool asked;			/* by a circuit that may be refused */
	const struct load *rester;	/* a circuit with --rest */
	const struct load *stater;	/* one with --uplink */
	bool stacked;			/* a device above it has a circuit */
};

/* In the order of the list of circuits */
static int by_place(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	return x->circuit < y->circuit ? -1 : x->circuit > y->circuit;
}

/* The circuits of a wire stand together, of it those of a device, in the order of the list. */
static int by_wire(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	if (x->wire != y->wire)
		return x->wire < y->wire ? -1 : 1;
	if (x->ifindex != y->ifindex)
		return x->ifindex < y->ifindex ? -1 : 1;
	return by_place(a, b);
}

static bool may_be_refused(const struct load *l)
{
	return l->added && !l->circuit->overbook;
}

/* 0 = neither is known */
uint64_t wire_capacity(uint64_t speed, uint64_t uplink)
{
	if (!speed || !uplink)
		return speed ?: uplink;
	return speed < uplink ? speed : uplink;
}

static int check_uplink(const struct load *l, const struct load *stater,
			const struct circuit **refused, struct err *e)
{
	const struct load *named = l->added ? l : stater, *other = l->added ? stater : l;
	char rate[32], its[32];

	if (l->circuit->uplink == stater->circuit->uplink || !named->added)
		return 0;
	*refused = named->circuit;
	return err_set(e, -EEXIST,
		       "--uplink: %s of circuit %s is not the %s that circuit %s states for %s",
		       format_rate(rate, sizeof(rate), named->circuit->uplink),
		       circuit_name(named->circuit),
		       format_rate(its, sizeof(its), other->circuit->uplink),
		       circuit_name(other->circuit), l->wire_name);
}

static int add_load(struct demand *d, const struct load *l, const struct circuit **refused,
		    struct err *e)
{
	const struct circuit *c = l->circuit;

	d->rates += c->rate;
	d->stacked |= l->ifindex != l->wire;
	d->asked |= may_be_refused(l);
	if (!d->speed)
		d->speed = l->speed;
	/* those of a device that say it say the same */
	if (c->rest && (!d->rester || d->rester->ifindex != l->ifindex)) {
		d->rests += c->rest;
		d->rester = l;
	}
	if (c->uplink && d->stater)
		return check_uplink(l, d->stater, refused, e);
	if (c->uplink)
		d->stater = l;
	return 0;
}

/* The first, in the order of the list, that has no room beside what is not to be refused */
static const struct load *first_without_room(struct load *wire, uint32_t n,
					     const struct demand *d, uint64_t most)
{
	uint32_t i, first = 0;
	uint64_t sum = d->rests;

	for (i = 0; i < n; i++)
		if (!may_be_refused(&wire[i]))
			sum += wire[i].circuit->rate;
	qsort(wire, n, sizeof(*wire), by_place);
	for (i = 0; i < n; i++) {
		if (!may_be_refused(&wire[i]))
			continue;
		first = i;
		sum += wire[i].circuit->rate;
		if (sum > most)
			break;
	}
	return &wire[first];
}

static int refuse(const struct demand *d, const struct load *l, uint64_t most, bool by_uplink,
		  struct err *e)
{
	const char *above = d->stacked ? " and what sits on it" : "";
	const char *carries = by_uplink ? "of its uplink" : "that it carries";
	char sum[32], rest[32], limit[32];

	format_rate(sum, sizeof(sum), d->rates);
	format_rate(limit, sizeof(limit), most);
	if (d->rates > most)
		return err_set(e, -ERANGE,
			       "--rate: with circuit %s those on %s%s have %s, more than the %s %s; less, or --overbook",
			       circuit_name(l->circuit), l->wire_name, above, sum, limit, carries);
	return err_set(e, -ERANGE,
		       "--rest: %s beside the %s of the circuits on %s%s is more than the %s %s; less, or --overbook",
		       format_rate(rest, sizeof(rest), d->rests), sum, l->wire_name, above, limit,
		       carries);
}

static int admit_wire(struct load *wire, uint32_t n, const struct circuit **refused,
		      struct err *e)
{
	uint64_t uplink, most;
	struct demand d = { 0 };
	const struct load *l;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		rc = add_load(&d, &wire[i], refused, e);
	if (rc || !d.asked)
		return rc;
	uplink = d.stater ? d.stater->circuit->uplink : 0;
	most = wire_capacity(d.speed, uplink);
	if (!most || d.rates + d.rests <= most)
		return 0;
	l = first_without_room(wire, n, &d, most);
	*refused = l->circuit;
	return refuse(&d, l, most, uplink && most == uplink, e);
}

/* Circuits are told apart by where they are in memory. */
int admit(struct load *list, uint32_t n, const struct circuit **refused, struct err *e)
{
	uint32_t i, end;
	int rc = 0;

	qsort(list, n, sizeof(*list), by_wire);
	for (i = 0; i < n && !rc; i = end) {
		for (end = i + 1; end < n && list[end].wire == list[i].wire; end++)
			;
		rc = admit_wire(&list[i], end - i, refused, e);
	}
	return rc;
}

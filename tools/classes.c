// SPDX-License-Identifier: GPL-2.0
/*
 * Which class each circuit of --shaper htb has: see classes.h.
 */
#include <errno.h>
#include <string.h>

#include "classes.h"
#include "htb.h"
#include "order.h"

/* One bit for each minor number. */
struct minors {
	unsigned char bits[(CLASS_REST + 1) / 8];
};

static void take(struct minors *m, uint32_t minor)
{
	m->bits[minor / 8] |= (unsigned char)(1 << minor % 8);
}

/* The smallest from *@next on, where the next one is looked for; 0 = none */
static uint32_t take_free(struct minors *m, uint32_t *next)
{
	for (; *next <= CLASS_MINOR_MAX; ++*next) {
		if (m->bits[*next / 8] & 1 << *next % 8)
			continue;
		take(m, *next);
		return *next;
	}
	return 0;
}

static void take_circuits(const struct state *st, const char *dev, bool there_alone,
			  struct minors *m)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++)
		if (!strcmp(st->circuits[i].circuit.dev, dev) &&
		    (!there_alone || member_is_there(&st->circuits[i])))
			take(m, st->circuits[i].classid);
}

/* Classes that were left because somebody had changed them are still there. */
static void take_left(const struct state *st, int ifindex, struct minors *m)
{
	uint32_t i, minor;

	for (i = 0; i < st->n_base; i++)
		if (st->base[i].kind == ITEM_CLASS && st->base[i].ifindex == ifindex &&
		    !class_minor(st->base[i].name, &minor))
			take(m, minor);
}

/* Those of a device that are taken, with or without the circuits that go */
struct taken {
	struct minors all, there;
	uint32_t next, next_there;	/* none below is free */
};

static void taken_read(struct taken *t, const struct state *st, const struct member *m)
{
	memset(t, 0, sizeof(*t));
	t->next = 1;
	t->next_there = 1;
	take_circuits(st, m->circuit.dev, false, &t->all);
	take_left(st, m->ifindex, &t->all);
	take_circuits(st, m->circuit.dev, true, &t->there);
}

/* That of one which goes in the same run is taken where there is no other. */
static int give(struct taken *t, struct member *m, struct err *e)
{
	m->classid = take_free(&t->all, &t->next);
	if (m->classid)
		take(&t->there, m->classid);
	else
		m->classid = take_free(&t->there, &t->next_there);
	if (m->classid)
		return 0;
	return err_set(e, -ENOSPC,
		       "%s has %u circuits with a class, all that an htb takes; --shaper none needs none",
		       m->circuit.dev, CLASS_MINOR_MAX);
}

/* --- one ------------------------------------------------------------------- */

static bool had(const struct member *old, const struct member *m)
{
	return old != m && old->classid && old->ifindex == m->ifindex &&
	       !strcmp(old->circuit.name, m->circuit.name);
}

int class_give(const struct state *st, struct member *m, struct err *e)
{
	struct taken taken;
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		if (had(&st->circuits[i], m)) {
			m->classid = st->circuits[i].classid;
			return 0;
		}
	}
	taken_read(&taken, st, m);
	return give(&taken, m, e);
}

/* --- all ------------------------------------------------------------------- */

static bool wants_class(const struct member *m)
{
	return m->standing == ADDING && m->circuit.shaper == SHAPER_HTB && !m->classid;
}

/* Those that have one until now keep it. */
static int keep_classes(struct state *st)
{
	struct order order;
	uint32_t i, k;
	int rc = order_by_name(&order, st);

	for (i = 0; !rc && i < order.n; i++) {
		struct member *m = &st->circuits[order.at[i]];

		for (k = order_find(&order, m->circuit.name);
		     wants_class(m) && k < order.n &&
		     !strcmp(order_member(&order, k)->circuit.name, m->circuit.name); k++)
			if (had(order_member(&order, k), m))
				m->classid = order_member(&order, k)->classid;
	}
	order_free(&order);
	return rc;
}

/* By device, as all of one are taken from the same. */
static int give_new(struct state *st, uint32_t *at, struct err *e)
{
	struct taken taken;
	struct order order;
	const char *dev = "";
	uint32_t i;
	int rc = order_by_device(&order, st);

	if (rc)
		err_set(e, rc, "out of memory");
	for (i = 0; !rc && i < order.n; i++) {
		struct member *m = &st->circuits[order.at[i]];

		if (!wants_class(m))
			continue;
		if (strcmp(dev, m->circuit.dev))
			taken_read(&taken, st, m);
		dev = m->circuit.dev;
		*at = order.at[i];
		rc = give(&taken, m, e);
	}
	order_free(&order);
	return rc;
}

int class_give_all(struct state *st, uint32_t *at, struct err *e)
{
	*at = st->n_circuits;
	return keep_classes(st) ? err_set(e, -ENOMEM, "out of memory") : give_new(st, at, e);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Device + circuits -> shaper.  The rules and their sources are in choose.h.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "choose.h"
#include "guarantee.h"
#include "units.h"

/* One more circuit of the device; @c: one that is chosen for names no shaper. */
void site_count(struct site *s, const struct circuit *c)
{
	s->rate += c->rate;
	s->circuits++;
	s->in_classes += c->shaper == SHAPER_HTB;
	s->unshaped += c->shaper == SHAPER_NONE;
}

static void take(struct choice *choice, enum shaper shaper, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void take(struct choice *choice, enum shaper shaper, const char *fmt, ...)
{
	va_list ap;

	choice->shaper = shaper;
	choice->pace = shaper == SHAPER_NONE;
	va_start(ap, fmt);
	vsnprintf(choice->reason, sizeof(choice->reason), fmt, ap);
	va_end(ap);
}

static const char *spaced_by(const struct site *s)
{
	return s->fq ? "the fq there spaces the packets" : "TCP's own timers space the packets";
}

static bool has_own_vlan(const struct site *s, const struct circuit *c)
{
	return s->vlan && !s->foreign && !c->n_to && s->circuits == 1 && c->rate < LOCK_RATE;
}

/* A root qdisc would be one lock for more than that carries, or for several queues. */
static bool lock_is_too_small(const struct site *s, struct choice *choice)
{
	char rate[32];

	if (s->speed_mbit * MBIT >= LOCK_RATE)
		take(choice, SHAPER_NONE,
		     "%s carries %s, and from 20gbit on a root qdisc is one lock too many; %s",
		     s->dev, format_rate(rate, sizeof(rate), s->speed_mbit * MBIT), spaced_by(s));
	else if (s->rate >= LOCK_RATE)
		take(choice, SHAPER_NONE,
		     "the circuits of %s have %s, and from 20gbit on a root qdisc is one lock too many; %s",
		     s->dev, format_rate(rate, sizeof(rate), s->rate), spaced_by(s));
	else if (s->tx_queues > 1)
		take(choice, SHAPER_NONE,
		     "%s has %u queues, and a root qdisc would be one lock for all of them; %s",
		     s->dev, s->tx_queues, spaced_by(s));
	else
		return false;
	return true;
}

/* Of one queue that one lock is enough for. */
static void choose_for_queue(const struct site *s, struct choice *choice)
{
	if (s->foreign)
		take(choice, SHAPER_NONE, "the root qdisc of %s, %s, is somebody's and stays; %s",
		     s->dev, s->root, spaced_by(s));
	else if (s->unshaped)
		take(choice, SHAPER_NONE, "no class holds the other circuits of %s either; %s",
		     s->dev, spaced_by(s));
	else if (s->circuits == 1)
		take(choice, SHAPER_NONE,
		     "the circuit is alone on %s, whose queue need not change for it; %s",
		     s->dev, spaced_by(s));
	else if (s->circuits > CLASSES_QUICK)
		take(choice, SHAPER_NONE,
		     "%s has %u circuits, and more than %u classes take the kernel long to make; %s",
		     s->dev, s->circuits, CLASSES_QUICK, spaced_by(s));
	else if (!s->classes)
		take(choice, SHAPER_NONE,
		     "the modules sch_htb and cls_flower are not known here, so %s can have no classes; %s",
		     s->dev, spaced_by(s));
	else
		take(choice, SHAPER_HTB,
		     "%u circuits share the one queue of %s, and a class holds all that leaves to its prefixes",
		     s->circuits, s->dev);
}

/* The module holds the rate of a circuit's connections alone. */
static void choose_for_htcp(const struct site *s, const struct circuit *c, struct choice *choice)
{
	if (c->n_to)
		take(choice, SHAPER_HTB,
		     "the path gets H-TCP, whose rate a class of %s holds and the module does not",
		     s->dev);
	else
		take(choice, SHAPER_TBF,
		     "the path gets H-TCP, whose rate one bucket of %s holds and the module does not",
		     s->dev);
}

void choose_shaper(const struct site *s, const struct circuit *c, struct choice *choice)
{
	if (has_own_vlan(s, c))
		take(choice, SHAPER_TBF, "the circuit has %s for itself: one bucket, no classes",
		     s->dev);
	else if (circuit_is_htcp(c))
		choose_for_htcp(s, c, choice);
	else if (!c->n_to)
		take(choice, SHAPER_NONE,
		     "without --to no class of %s would be found; %s", s->dev, spaced_by(s));
	else if (s->in_classes && s->circuits <= CLASSES_QUICK)
		take(choice, SHAPER_HTB,
		     "other circuits of %s have classes, and its root is one lock already", s->dev);
	else if (!lock_is_too_small(s, choice))
		choose_for_queue(s, choice);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that went while something was paced on them: the log has when they went and when what
 * was paced there is again, in a line each, as their searches go on as they were.
 *
 * What has come to be paced by another device meanwhile, was taken back or forgotten is not
 * waited for.
 */
#include <stdio.h>
#include <string.h>

#include "act_inside.h"
#include "grow.h"

static struct act_gone *find(const struct act *a, const char *dev)
{
	uint32_t i;

	for (i = 0; i < a->n_gone; i++)
		if (!strcmp(a->gone[i].dev, dev))
			return &a->gone[i];
	return NULL;
}

/* NULL: no memory */
static struct act_gone *find_or_add(struct act *a, const char *dev)
{
	struct act_gone *more = find(a, dev);

	if (more)
		return more;
	more = grown(a->gone, a->n_gone, sizeof(*more));
	if (!more)
		return NULL;
	a->gone = more;
	more += a->n_gone++;
	memset(more, 0, sizeof(*more));
	memcpy(more->dev, dev, sizeof(more->dev));
	return more;
}

void act_gone_begin(struct act *a, const char dev[IFNAMSIZ], uint32_t n)
{
	if (!n || !find_or_add(a, dev))
		return;
	log_say(a->log, LOG_WARNING, "%s is gone: %u remote%s not paced until it is back", dev, n,
		n > 1 ? "s are" : " is");
}

static void take_back(struct act *a, const struct act_gone *g, int ifindex)
{
	struct acting *e, *next;

	act_table_each(&a->table, e, next) {
		if (e->ifindex || strcmp(e->dev, g->dev))
			continue;
		e->search.settling = e->search.rate != 0;
		act_device_moved(a, e, ifindex);
	}
}

/* Also of remotes that nothing is sent to at present */
void act_gone_follow(struct act *a)
{
	uint32_t i;

	for (i = 0; i < a->n_gone; i++) {
		struct act_gone *g = &a->gone[i];
		int ifindex = (int)if_nametoindex(g->dev);

		g->back = ifindex != 0;
		if (ifindex)
			take_back(a, g, ifindex);
	}
}

/* By the device of before: with the others, at the end of the poll */
bool act_gone_tells(struct act *a, struct acting *e)
{
	if (!e->away)
		return false;
	if (!find(a, e->dev)) {
		e->away = false;
		act_tell_moved(a, e);
	}
	return true;
}

/* --- what is still waited for ----------------------------------------------- */

static void count_one(struct act *a, struct acting *e)
{
	struct act_gone *g = find(a, e->dev);

	if (e->gone || !e->search.rate || !g || a->mode != MODE_ACT)
		e->away = false;
	else if (e->force)
		g->again++;
	else if (!g->back || e->wants)
		g->missing++;
}

static void count(struct act *a)
{
	struct acting *e, *next;
	uint32_t i;

	for (i = 0; i < a->n_gone; i++) {
		a->gone[i].again = 0;
		a->gone[i].missing = 0;
	}
	act_table_each(&a->table, e, next)
		if (e->away)
			count_one(a, e);
}

static void forget(struct act *a, struct act_gone *g)
{
	struct acting *e, *next;

	act_table_each(&a->table, e, next)
		if (e->away && !strcmp(e->dev, g->dev))
			e->away = false;
	*g = a->gone[--a->n_gone];
}

static void say_back(struct act *a, const struct act_gone *g)
{
	if (g->again)
		log_say(a->log, LOG_NOTICE, "%s is back: %u remote%s paced again", g->dev,
			g->again, g->again > 1 ? "s are" : " is");
}

void act_gone_end(struct act *a)
{
	uint32_t i = 0;

	if (!a->n_gone)
		return;
	count(a);
	while (i < a->n_gone) {
		struct act_gone *g = &a->gone[i];

		if (g->missing) {
			i++;
			continue;
		}
		say_back(a, g);
		forget(a, g);
	}
}

uint32_t act_gone_count(const struct act *a)
{
	uint32_t i, n = 0;

	for (i = 0; i < a->n_gone; i++)
		n += !a->gone[i].back;
	return n;
}

int act_gone_each(const struct act *a, pacing_device_fn each, void *data)
{
	char why[80];
	uint32_t i;
	int rc = 0;

	for (i = 0; i < a->n_gone && !rc; i++) {
		const struct act_gone *g = &a->gone[i];
		const struct pacing_device p = { .dev = g->dev, .hands = "", .why = why };

		snprintf(why, sizeof(why), "it is gone, and %u remote%s paced again once it is back",
			 g->missing, g->missing > 1 ? "s are" : " is");
		rc = g->back ? 0 : each(&p, data);
	}
	return rc;
}

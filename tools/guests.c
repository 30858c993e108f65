// SPDX-License-Identifier: GPL-2.0
/*
 * Classes and filters of somebody else's on our root: see guests.h.
 *
 * Ours are those that the state or a circuit tells of; each of the rest is a guest.
 */
#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "filter.h"
#include "guests.h"
#include "htb.h"

struct search {
	struct diff *d;
	const char *dev;
	guest_fn each;
	void *data;
};

static int on_class(uint32_t classid, void *data)
{
	const struct search *s = data;
	char name[ITEM_NAME], text[GUEST_TEXT];

	class_name(name, sizeof(name), s->dev, TC_H_MIN(classid));
	if (diff_find(s->d, ITEM_CLASS, name))
		return 0;
	snprintf(text, sizeof(text), "class %s", strchr(name, ' ') + 1);
	return s->each("class", text, s->data);
}

/* u32 tells of its hash tables, too, which hold no key (cls_u32.c: TC_U32_KEY()). */
static bool is_table(const struct flower *fl)
{
	return !strcmp(fl->kind, "u32") && !(fl->handle & 0xfffff);
}

static int on_filter(const struct flower *fl, void *data)
{
	const struct search *s = data;
	char name[ITEM_NAME], text[GUEST_TEXT];

	if (is_table(fl))
		return 0;
	if (fl->to.family && flower_is(fl, &fl->to, fl->tagged)) {
		filter_name(name, sizeof(name), s->dev, &fl->to);
		if (diff_find(s->d, ITEM_FILTER, name))
			return 0;
	}
	snprintf(text, sizeof(text), "filter pref %u %s handle 0x%x", TC_H_MAJ(fl->info) >> 16,
		 fl->kind, fl->handle);
	return s->each("filter", text, s->data);
}

int guests_each(struct nl *nl, struct diff *d, const char *dev, int ifindex, guest_fn each,
		void *data, struct err *e)
{
	struct search s = { .d = d, .dev = dev, .each = each, .data = data };
	int rc = class_each(nl, ifindex, on_class, &s, e);

	return rc ? rc : filter_each(nl, ifindex, on_filter, &s, e);
}

/* --- a root that stays ----------------------------------------------------- */

struct count {
	uint32_t n;
	char first[GUEST_TEXT];
};

static int count_one(const char *kind, const char *guest, void *data)
{
	struct count *c = data;

	(void)kind;
	if (!c->n++)
		snprintf(c->first, sizeof(c->first), "%s", guest);
	return 0;
}

/* With its room for a queue, and the class of all else. */
static void hold_root(struct diff *d, const char *dev)
{
	char name[ITEM_NAME];
	struct item *items[] = {
		diff_find(d, ITEM_QDISC, dev),
		diff_find(d, ITEM_TXQLEN, dev),
		diff_find(d, ITEM_CLASS, class_name(name, sizeof(name), dev, CLASS_REST)),
	};
	size_t i;

	for (i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		if (items[i])
			items[i]->held = true;
	d->left++;
}

static bool is_htb(const struct diff *d, const struct item *it)
{
	const struct base *b = item_base(d, it);
	struct qdisc q;

	return b && !qdisc_parse(b->ours, &q) && q.state == QDISC_HTB;
}

static int check_root(struct nl *nl, struct diff *d, const struct item *it, struct err *e)
{
	struct count c = { 0 };
	int rc = guests_each(nl, d, it->name, it->ifindex, count_one, &c, e);

	if (rc || !c.n)
		return rc;
	note(d->notes,
	     "the root of %s stays, with the class for all else: somebody else has %s on it%s; undo --force would remove that, too",
	     it->name, c.first, c.n > 1 ? ", and more" : "");
	hold_root(d, it->name);
	return 0;
}

int guests_hold(struct nl *nl, struct diff *d, struct err *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < d->n_items && !rc && !d->force; i++) {
		struct item *it = d->items[i];

		if (it->kind == ITEM_QDISC && it->circuit == NOBODY && !it->aside && is_htb(d, it))
			rc = check_root(nl, d, it, e);
	}
	return rc;
}

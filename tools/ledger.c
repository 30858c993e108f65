// SPDX-License-Identifier: GPL-2.0
/*
 * What watch does about an item that is not as it was set up: see ledger.h.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "ledger.h"

static int text_set(char **to, const char *from)
{
	char *copy = from ? strdup(from) : NULL;

	if (from && !copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

/* --- entries --------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct ledger_entry *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->ifindex != y->ifindex)
		return x->ifindex < y->ifindex ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct ledger_entry *find(const struct ledger *l, const struct drift *d)
{
	const struct ledger_entry key = {
		.kind = d->kind, .ifindex = d->ifindex, .name = (char *)d->name,
	};
	struct ledger_entry **found = tfind(&key, &l->tree, compare);

	return found ? *found : NULL;
}

static void entry_free(struct ledger_entry *en)
{
	free(en->name);
	free(en->is);
	free(en);
}

/* NULL: out of memory.  Room doubles at powers of two, so one that was forgotten costs none. */
static struct ledger_entry *add(struct ledger *l, const struct drift *d)
{
	struct ledger_entry **list = grown(l->list, l->n, sizeof(*list));
	struct ledger_entry *en = calloc(1, sizeof(*en));

	if (list)
		l->list = list;
	if (!en || !list || text_set(&en->name, d->name)) {
		free(en);
		return NULL;
	}
	en->kind = d->kind;
	en->ifindex = d->ifindex;
	if (!tsearch(en, &l->tree, compare)) {
		entry_free(en);
		return NULL;
	}
	list[l->n++] = en;
	return en;
}

static void forget(void *unused)
{
	(void)unused;
}

void ledger_free(struct ledger *l)
{
	uint32_t i;

	tdestroy(l->tree, forget);
	for (i = 0; i < l->n; i++)
		entry_free(l->list[i]);
	free(l->list);
	memset(l, 0, sizeof(*l));
}

/* --- verdicts -------------------------------------------------------------- */

/* Of those that are remembered, how many are not too long ago. */
static unsigned int undone_lately(const struct ledger_entry *en, uint64_t now)
{
	unsigned int i, n = 0;

	for (i = 0; en && i < UNDONE_TIMES; i++)
		n += en->undone[i] && now - en->undone[i] < UNDONE_WITHIN;
	return n;
}

/* What ledger_note() will take down. */
enum verdict ledger_judge(const struct ledger *l, const struct drift *d, uint64_t now)
{
	const struct ledger_entry *en = find(l, d);

	if (en && en->left)
		return VERDICT_KNOWN;
	if (d->stays)
		return en && en->is && !strcmp(en->is, d->is) ? VERDICT_KNOWN : VERDICT_SAY;
	/* what the kernel refused is tried again, and was undone but once */
	if ((en && en->is) || d->excused)
		return VERDICT_RESTORE;
	return undone_lately(en, now) + 1 >= UNDONE_TIMES ? VERDICT_LEAVE : VERDICT_RESTORE;
}

/* The oldest gives way. */
static void note_undone(struct ledger_entry *en, uint64_t now)
{
	memmove(&en->undone[0], &en->undone[1], sizeof(en->undone) - sizeof(en->undone[0]));
	en->undone[UNDONE_TIMES - 1] = now;
}

int ledger_note(struct ledger *l, const struct drift *d, enum verdict v, uint64_t now)
{
	struct ledger_entry *en = find(l, d) ?: add(l, d);

	if (!en)
		return -ENOMEM;
	en->seen = true;
	if (v == VERDICT_KNOWN)
		return 0;
	if (v != VERDICT_SAY && !en->is && !d->excused)
		note_undone(en, now);
	en->left = v == VERDICT_LEAVE;
	return text_set(&en->is, d->is);
}

void ledger_restored(struct ledger *l, const struct drift *d)
{
	struct ledger_entry *en = find(l, d);

	if (!en)
		return;
	text_set(&en->is, NULL);
	en->told = false;
}

/* True the first time: it is to be said. */
bool ledger_refused(struct ledger *l, const struct drift *d)
{
	struct ledger_entry *en = find(l, d);
	bool told = en && en->told;

	if (en)
		en->told = true;
	return !told;
}

/* --- a look at all items --------------------------------------------------- */

void ledger_begin(struct ledger *l)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		l->list[i]->seen = false;
}

/* Items of which no drift was noted are as set up; by a command, if there was one. */
void ledger_end(struct ledger *l, bool commanded, uint64_t now)
{
	uint32_t i, n = 0;

	for (i = 0; i < l->n; i++) {
		struct ledger_entry *en = l->list[i];

		if (!en->seen) {
			text_set(&en->is, NULL);
			en->told = false;
			if (commanded && en->left) {
				en->left = false;
				memset(en->undone, 0, sizeof(en->undone));
			}
		}
		if (en->seen || en->left || undone_lately(en, now)) {
			l->list[n++] = en;
			continue;
		}
		tdelete(en, &l->tree, compare);
		entry_free(en);
	}
	l->n = n;
}

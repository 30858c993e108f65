// SPDX-License-Identifier: GPL-2.0
/*
 * What apply --partial leaves out: see partial.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "appear.h"
#include "hear.h"
#include "link.h"
#include "partial.h"

#define REFUSED_MAX	16		/* circuits that are tried without, one after the other */
#define RETRY_US	5000000		/* what was refused is tried again: nothing tells of it */

enum left {
	NOT_LEFT,
	NO_DEVICE,
	REFUSED,
	BESIDE,			/* on the device of one that is refused */
};

struct left_out {
	enum left left;
	bool said;
	char *why;
};

int partial_open(struct partial *p, const struct state *file, struct err *e)
{
	size_t size = file->n_circuits * sizeof(*p->as_read);
	struct member *as_read = malloc(size + 1);

	p->n = file->n_circuits;
	p->list = calloc((size_t)p->n + 1, sizeof(*p->list));
	p->as_read = as_read;
	if (!p->list || !as_read)
		return err_set(e, -ENOMEM, "out of memory");
	if (size)
		memcpy(as_read, file->circuits, size);
	return 0;
}

void partial_close(struct partial *p)
{
	uint32_t i;

	for (i = 0; p->list && i < p->n; i++)
		free(p->list[i].why);
	free(p->list);
	free((void *)p->as_read);
}

static void leave_out(struct left_out *l, enum left left, const char *why)
{
	if (l->left != NOT_LEFT)
		return;
	l->why = strdup(why);
	if (l->why)
		l->left = left;
}

void partial_begin_run(struct partial *p)
{
	uint32_t i;

	p->refused = 0;
	for (i = 0; i < p->n; i++) {
		const struct circuit *c = &p->as_read[i].circuit;
		struct left_out *l = &p->list[i];
		char why[160];

		free(l->why);
		l->why = NULL;
		l->left = NOT_LEFT;
		if (link_is_up(c->dev))
			continue;
		snprintf(why, sizeof(why), link_index(c->dev) ? "circuit %s: %s is down" :
			 "circuit %s: there is no device %s", c->name, c->dev);
		leave_out(l, NO_DEVICE, why);
	}
}

/* A text that names a circuit is of that one, also where it is why another is left out. */
static void refuse(struct partial *p, uint32_t i, enum left left, const char *text)
{
	bool named = !strncmp(text, "circuit ", strlen("circuit "));
	char why[600];

	snprintf(why, sizeof(why), "%s%s%s%.500s", named ? "" : "circuit ",
		 named ? "" : p->as_read[i].circuit.name, named ? "" : ": ", text);
	leave_out(&p->list[i], left, why);
}

/* Where there are many of them, those of its device, too: each costs a run. */
bool partial_refused(struct partial *p, uint32_t i, bool device, const char *text)
{
	uint32_t k;

	if (p->list[i].left != NOT_LEFT)
		return false;
	refuse(p, i, REFUSED, text);
	p->refused++;
	device |= p->refused > REFUSED_MAX;
	for (k = 0; device && k < p->n; k++)
		if (!strcmp(p->as_read[k].circuit.dev, p->as_read[i].circuit.dev))
			refuse(p, k, BESIDE, text);
	return p->list[i].left != NOT_LEFT;
}

void partial_list(const struct partial *p, struct state *wanted)
{
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		wanted->circuits[i] = p->as_read[i];
		if (p->list[i].left != NOT_LEFT)
			wanted->circuits[i].standing = REMOVING;
	}
}

/* Not of one that stands as the file says, and is left out for another of its device */
void partial_say(struct partial *p, struct state *now)
{
	const struct member *m;
	uint32_t i;

	p->n_out = 0;
	for (i = 0; p->list && i < p->n; i++) {
		struct left_out *l = &p->list[i];

		if (l->left == NOT_LEFT)
			continue;
		m = state_find(now, p->as_read[i].circuit.name);
		if (m && l->left == BESIDE &&
		    circuit_is_same(&m->circuit, &p->as_read[i].circuit))
			continue;
		p->n_out++;
		if (!l->said)
			fprintf(stderr, "note: %s: it is left out for now\n", l->why);
		l->said = true;
	}
}

static bool one_has_come(const void *data)
{
	const struct partial *p = data;
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (p->list[i].left == NO_DEVICE && link_is_up(p->as_read[i].circuit.dev))
			return true;
	return false;
}

int partial_wait(const struct partial *p, uint64_t deadline, struct err *e)
{
	uint64_t now = hear_clock(), until = deadline;
	uint32_t i;
	int rc;

	if (now >= deadline)
		return 1;
	for (i = 0; i < p->n; i++)
		if (p->list[i].left > NO_DEVICE && now + RETRY_US < until)
			until = now + RETRY_US;
	rc = appear_wait(one_has_come, p, until - now, e);
	return rc ? rc : hear_clock() >= deadline;
}

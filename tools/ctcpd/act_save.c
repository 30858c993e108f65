// SPDX-License-Identifier: GPL-2.0
/*
 * Searches to the history and from it.
 *
 * A change is written in the poll that made it, behind the kernel: killed in between, what the
 * kernel has counts.  What is only counted is written once a minute.  What cannot be written stays
 * dirty, and is tried again with each poll.
 */
#include <stdlib.h>
#include <string.h>

#include "act_inside.h"
#include "out.h"

#define ROWS_MAX	512U	/* of one poll */
#define AHEAD_S		(14 * 86400LL)	/* what was taken back waits no longer */

/* --- from it -------------------------------------------------------------- */

struct loading {
	struct act *act;
	int64_t now;
};

static void take(struct act *a, struct acting *e, const struct search_row *row)
{
	e->search = row->search;
	e->reason = row->reason;
	e->since = row->since;
	out_copy(e->dev, sizeof(e->dev), row->dev);
	memcpy(e->saved, e->dev, sizeof(e->saved));
	if (row->stood_down[0] && row->search.state == SEARCH_TAKEN_BACK)
		e->stood_down = strdup(row->stood_down);
	act_device_back(a, e);
}

/*
 * Nothing that ctcpd writes lies so far ahead of the clock, or of what the clock was when it was
 * written: that of a host that begins in 1970 is behind all of them.
 */
static bool is_of_its_time(const struct search *s, int64_t now)
{
	int64_t last = (s->seen > now ? s->seen : now) + AHEAD_S;

	return s->again <= last && s->counted <= last && s->day <= last &&
	       s->floor_until <= last;
}

/* What is known already stays: of what was saved by two devices the latest, too. */
static int load_one(const struct search_row *row, void *data)
{
	const struct loading *l = data;
	struct act *a = l->act;
	struct acting *e;

	if (act_table_find(&a->table, &row->to) || !act_takes(a, &row->to) ||
	    !is_of_its_time(&row->search, l->now))
		return 0;
	e = act_table_add(&a->table, &row->to, l->now);
	if (e)
		take(a, e, row);
	return 0;
}

void act_load(struct act *a, int64_t now)
{
	struct loading l = { a, now };
	struct acting *e, *next;
	struct err unsaid;

	/* also what it has was of another file, perhaps; the state of the keep tells failures */
	act_table_each(&a->table, e, next)
		e->dirty = true;
	keep_searches(a->keep, load_one, &l, &unsaid);
	a->anew = a->keep->anew;
}

/* --- to it ---------------------------------------------------------------- */

static void fill(struct search_row *row, const struct acting *e)
{
	*row = (struct search_row){
		.to = e->to, .since = e->since, .reason = e->reason, .search = e->search,
	};
	memcpy(row->dev, e->dev, sizeof(row->dev));
	if (e->stood_down)
		out_copy(row->stood_down, sizeof(row->stood_down), e->stood_down);
}

/* Of a subnet that is not taken as one there is nothing to keep. */
static bool is_worth(const struct acting *e)
{
	return !e->gone && (!acting_is_subnet(e) || e->search.state != SEARCH_WATCHING);
}

struct batch {
	struct search_row rows[SEARCH_ROWS];
	struct acting *of[SEARCH_ROWS];
	uint32_t n, total;
};

/* What the history has of it, by the name that the device had then */
static bool remove_old(struct act *a, struct acting *e, struct batch *b, int64_t now)
{
	if (!e->saved[0] || (is_worth(e) && !strcmp(e->saved, e->dev)))
		return true;
	if (keep_delete_search(a->keep, &e->to, e->saved, now))
		return false;
	e->saved[0] = 0;
	b->total++;
	return true;
}

static void is_saved(struct acting *e)
{
	e->dirty = false;
	e->due = false;
	e->aged = false;
}

static bool write_batch(struct act *a, struct batch *b, int64_t now)
{
	uint32_t i;

	if (b->n && keep_put_searches(a->keep, b->rows, b->n, now))
		return false;
	for (i = 0; i < b->n; i++) {
		struct acting *e = b->of[i];

		memcpy(e->saved, e->dev, sizeof(e->saved));
		is_saved(e);
	}
	b->total += b->n;
	b->n = 0;
	return true;
}

/* False: the history does not take it */
static bool save_one(struct act *a, struct acting *e, struct batch *b, int64_t now)
{
	if (!remove_old(a, e, b, now))
		return false;
	if (!is_worth(e)) {
		is_saved(e);
		return true;
	}
	fill(&b->rows[b->n], e);
	b->of[b->n++] = e;
	return b->n < SEARCH_ROWS || write_batch(a, b, now);
}

static void drop_gone(struct act *a)
{
	struct acting *e, *next;

	act_table_each(&a->table, e, next)
		if (e->gone && !e->force && !e->saved[0])
			act_table_drop(&a->table, e);
}

static bool is_changed(const struct acting *e)
{
	return e->dirty || (e->gone && e->saved[0]);
}

static bool is_due(const struct acting *e)
{
	return e->due;
}

static bool is_aged(const struct acting *e)
{
	return e->aged;
}

/* Of those that @are so.  False: the history does not take them */
static bool save_those(struct act *a, bool (*are)(const struct acting *e), bool all,
		       struct batch *b, int64_t now)
{
	struct acting *e, *next;
	bool goes = true;

	act_table_each(&a->table, e, next) {
		if (!goes || (b->total >= ROWS_MAX && !all))
			break;
		if (are(e))
			goes = save_one(a, e, b, now);
	}
	return goes && write_batch(a, b, now);
}

/*
 * @all: also what is only counted, and however many they are.  What has changed comes first: of
 * what is only counted there is more in a minute than is written in one.
 */
void act_save(struct act *a, bool all, int64_t now)
{
	struct batch *b = calloc(1, sizeof(*b));
	bool goes = b && save_those(a, is_changed, all, b, now);

	goes = goes && save_those(a, all ? is_aged : is_due, all, b, now);
	if (goes && !b->total)
		keep_put_searches(a->keep, NULL, 0, now);
	free(b);
	drop_gone(a);
}

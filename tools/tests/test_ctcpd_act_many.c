// SPDX-License-Identifier: GPL-2.0
/*
 * 500 paced remotes: what they cost the hands and the history, and that a restart has them all.
 */
#include "ctcpd_world.h"
#include "ctcpd/history_db.h"

#define PER_NET	50U	/* of a /24: below NET_MAX */

/* So far */
struct cost {
	uint32_t batches, settings, looks;	/* of the hands */
	uint32_t rows;				/* of the history */
};

static void add_many(struct world *w, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		remote(w, (uint8_t)(i / PER_NET), (uint8_t)(i % PER_NET + 1), (10 + i % 7) * MB);
}

static uint32_t rows_written(const struct world *w)
{
	return (uint32_t)sqlite3_total_changes(w->keep.history->db);
}

static struct cost cost_of(const struct world *w)
{
	return (struct cost){
		.batches = w->batches, .settings = w->settings, .looks = w->looks,
		.rows = rows_written(w),
	};
}

/* One poll: a look and a batch at most, and no more rows and lines than one poll may have */
static void cheap_poll(struct world *w, uint32_t n)
{
	const struct cost was = cost_of(w);
	uint32_t lines = said(w, "\n");
	struct cost is;

	poll_one(w, true);
	is = cost_of(w);
	assert_in_range(is.looks - was.looks, 0, 1);
	assert_in_range(is.batches - was.batches, 0, 1);
	assert_in_range(is.settings - was.settings, 0, n);
	assert_in_range(is.rows - was.rows, 0, n + 16);
	assert_in_range(said(w, "\n") - lines, 0, ACT_LINES + 1);
}

static void cheap_polls(struct world *w, uint32_t n, uint32_t polls)
{
	while (polls--)
		cheap_poll(w, n);
}

static int count_kept(const struct pacing *p, void *data)
{
	uint32_t *n = data;

	*n += p->rate && p->search->state == SEARCH_KEPT;
	return 0;
}

static void assert_all_kept(struct world *w, uint32_t n)
{
	const struct act_totals *t = act_totals(w->act);
	uint32_t i, told = 0;
	int64_t rows;
	struct err e;

	assert_int_equal(t->searches, n);
	assert_int_equal(t->paced, n);
	assert_int_equal(t->kept, n);
	assert_int_equal(w->kernel.n, n);
	for (i = 0; i < n; i++)
		assert_in_range(rate_of(w, &w->sims[i]), w->sims[i].takes / 100 * 98,
				w->sims[i].takes);
	assert_int_equal(act_each(w->act, count_kept, &told), 0);
	assert_int_equal(told, n);
	assert_int_equal(db_number(w->keep.history, "SELECT count(*) FROM search", &rows, &e), 0);
	assert_int_equal(rows, n);
}

static struct cost cost_of_many(struct world *w, uint32_t n)
{
	add_many(w, n);
	cheap_polls(w, n, 200);
	assert_all_kept(w, n);
	return cost_of(w);
}

/* Until all are kept: in as many batches as half of them, and with twice the rows and changes */
static void five_hundred(void **state)
{
	struct cost half, whole;
	void *other = NULL;

	half = cost_of_many(*state, 250);
	assert_int_equal(remove_world(state), 0);
	assert_int_equal(make_world(&other), 0);
	*state = other;
	whole = cost_of_many(other, 500);
	assert_in_range(whole.batches, 1, half.batches + half.batches / 4);
	assert_in_range(whole.looks, 1, half.looks + 1);
	assert_in_range(whole.settings, 500, half.settings * 2 + half.settings / 4);
	assert_in_range(whole.rows, 500, half.rows * 2 + half.rows / 4);
}

/* What was only counted is written once a minute, and nothing is set that is as it should be. */
static void five_hundred_are_quiet(void **state)
{
	struct world *w = *state;
	struct cost was, is;
	uint32_t i;

	add_many(w, 500);
	cheap_polls(w, 500, 200);
	was = cost_of(w);
	polls(w, 36);
	is = cost_of(w);
	assert_int_equal(is.batches - was.batches, 0);
	assert_in_range(is.rows - was.rows, 500, 4 * 500);
	for (i = 0; i < w->n; i++)
		w->sims[i].idle = true;
	polls(w, 13);
	was = cost_of(w);
	polls(w, 240);
	is = cost_of(w);
	assert_int_equal(is.batches - was.batches, 0);
	assert_int_equal(is.settings - was.settings, 0);
	assert_int_equal(is.looks - was.looks, 240);
	assert_in_range(is.rows - was.rows, 0, 500);
	assert_all_kept(w, 500);
}

/* The next one, with a history or without, has all of them, and sets none twice. */
static void five_hundred_outlive_restarts(void **state)
{
	struct world *w = *state;
	uint32_t settings, lines;
	struct stat st;

	add_many(w, 500);
	cheap_polls(w, 500, 200);
	settings = w->settings;
	lines = said(w, ": paced at");
	restart(w);
	assert_all_kept(w, 500);
	end(w, false);
	strcpy(w->config.history, w->place->file);
	begin(w);
	assert_all_kept(w, 500);
	end(w, true);
	assert_int_equal(stat(w->place->file, &st), 0);
	assert_in_range(st.st_size, 1, 1 << 20);
	assert_int_equal(unlink(w->place->file), 0);
	begin(w);
	cheap_polls(w, 500, 5);
	assert_all_kept(w, 500);
	assert_int_equal(w->settings, settings);
	assert_int_equal(said(w, ": paced at"), lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(five_hundred),
		TEST(five_hundred_are_quiet),
		TEST(five_hundred_outlive_restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

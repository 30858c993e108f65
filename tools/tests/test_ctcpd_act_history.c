// SPDX-License-Identifier: GPL-2.0
/*
 * Searches in the history: what is saved when, and what of it is taken.
 */
#include "ctcpd_world.h"
#include "ctcpd/history_db.h"

static uint32_t kept_rows(struct world *w)
{
	struct history *h = open_place(w->place, w->now);
	uint32_t n = 0;
	int64_t rows;
	struct err e;

	assert_int_equal(db_number(h, "SELECT count(*) FROM search", &rows, &e), 0);
	n = (uint32_t)rows;
	history_close(h);
	return n;
}

/* It can be written neither, as if the disk was full, and goes on pacing */
static void history_comes_later(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	end(w, true);
	snprintf(w->config.history, sizeof(w->config.history), "%s/no/such/history.db",
		 w->place->dir);
	begin(w);
	settle_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_true(acting_of(w, s)->dirty);
	assert_false(keep_ok(&w->keep));
	keep_flush(&w->keep, w->now);
	assert_said(w, "the history is not written", 1);
	snprintf(w->config.history, sizeof(w->config.history), "%s", w->place->file);
	keep_change(&w->keep, &w->config, w->now);
	polls(w, 1);
	assert_false(acting_of(w, s)->dirty);
	end(w, true);
	assert_int_equal(kept_rows(w), 1);
}

/* A full table that is counted each minute keeps nothing that was set from being written */
static void changes_are_saved_first(void **state)
{
	struct world *w = *state;
	struct acting *e, *next;
	uint32_t i, due = 0;

	add_kept(w, 3000, 0, 60);
	act_table_each(&w->act->table, e, next) {
		strcpy(e->dev, "eth9");
		e->dirty = false;
		e->aged = true;
	}
	act_tick(w->act, w->now);
	e = (struct acting *)TAILQ_LAST(&w->act->table.all.order, recent_order);
	e->dirty = true;
	act_save(w->act, false, w->now);
	assert_false(e->dirty);
	act_table_each(&w->act->table, e, next)
		due += e->due;
	assert_in_range(due, 3000 - 512 - SEARCH_ROWS, 3000 - 512 + SEARCH_ROWS);
	for (i = 0; i < 6; i++)
		act_save(w->act, false, w->now);
	end(w, false);
	assert_int_equal(kept_rows(w), 3000);
}

static void history_begun_anew(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	remote(w, 2, 8, 100 * MB);
	rate = settled_rate(w, s);
	assert_int_equal(unlink(w->place->file), 0);
	keep_flush(&w->keep, w->now);
	polls(w, 1);
	end(w, false);
	assert_int_equal(kept_rows(w), 2);
	strcpy(w->config.history, w->place->file);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.rate, rate);
}

/* Nothing that was only counted is older than a minute, and what was set is there at once */
static void killed(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	find_all(w);
	end(w, false);
	assert_int_equal(kept_rows(w), 1);
	strcpy(w->config.history, w->place->file);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_TRYING);
	assert_int_equal(acting_of(w, s)->search.rate, rate_of(w, s));
	assert_int_equal(acting_of(w, s)->search.base.n, 10);
}

/* Who has written there would have it not tried, or kept, for ever; a clock of 1970 is none such */
static void history_of_times_to_come(void **state)
{
	static const char * const fields[] = { "again", "counted", "day", "floor-until" };
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	int64_t now;
	char sql[160];
	size_t i;

	settle_all(w);
	now = w->now;
	paced_clear_device(&w->kernel, 1);
	paced_clear_device(&w->state, 1);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		strcpy(w->config.history, w->place->file);
		end(w, i == 0);
		snprintf(sql, sizeof(sql), "UPDATE search SET search = 'kept rate=%llu seen=%lld %s=%lld'",
			 100 * MB, (long long)now, fields[i], (long long)(now + 15 * DAY));
		run_sql(w->place->file, sql);
		strcpy(w->config.history, w->place->file);
		begin(w);
		assert_null(act_table_find(&w->act->table, &s->remote.addr));
	}
	snprintf(sql, sizeof(sql), "UPDATE search SET search = 'kept rate=%llu seen=%lld counted=%lld'",
		 100 * MB, (long long)now, (long long)now);
	end(w, false);
	run_sql(w->place->file, sql);
	strcpy(w->config.history, w->place->file);
	w->now = 4711;
	begin(w);
	assert_int_equal(acting_of(w, s)->search.rate, 100 * MB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(history_comes_later),
		TEST(changes_are_saved_first),
		TEST(history_begun_anew),
		TEST(history_of_times_to_come),
		TEST(killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

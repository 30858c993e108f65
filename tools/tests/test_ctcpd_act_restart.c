// SPDX-License-Identifier: GPL-2.0
/*
 * What outlives a restart, and which of two daemons paces.
 */
#include "ctcpd_world.h"
#include "ctcpd/run.h"

/* --- restarts ------------------------------------------------------------- */

static void restart_sets_nothing(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct search before;
	uint32_t settings, lines;

	settle_all(w);
	before = acting_of(w, s)->search;
	settings = w->settings;
	lines = said(w, "\n");
	restart(w);
	assert_memory_equal(&acting_of(w, s)->search, &before, sizeof(before));
	polls(w, 5);
	assert_int_equal(w->settings, settings);
	assert_int_equal(said(w, "\n"), lines);
	assert_int_equal(acting_of(w, s)->reason, SEARCH_PROVED);
	assert_int_not_equal(acting_of(w, s)->since, 0);
}

static void killed_while_it_is_tried(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	find_all(w);
	rate = rate_of(w, s);
	/* behind the kernel, before the history */
	end(w, false);
	w->kernel.list[0].rate = 90 * MB;
	w->state.list[0].rate = 90 * MB;
	strcpy(w->config.history, w->place->file);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.rate, 90 * MB);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_TRYING);
	assert_true(acting_of(w, s)->search.settling);
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 90 * MB);
	assert_int_not_equal(rate, 90 * MB);
	settle_all(w);
	assert_in_range(rate_of(w, s), 98 * MB, 99 * MB);
}

/* As if the history did not yet have the probe */
static void killed_while_it_probes(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate, proved;

	rate = settled_rate(w, s);
	proved = acting_of(w, s)->search.low;
	end(w, true);
	w->kernel.list[0].rate = proved + proved / 20 + 1;
	w->state.list[0].rate = w->kernel.list[0].rate;
	strcpy(w->config.history, w->place->file);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_TRYING);
	assert_int_equal(acting_of(w, s)->search.low, proved);
	settle_all(w);
	assert_int_equal(acting_of(w, s)->search.low, proved);
	assert_int_equal(rate_of(w, s), rate);
}

static void history_lost(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	rate = settled_rate(w, s);
	end(w, true);
	assert_int_equal(unlink(w->place->file), 0);
	begin(w);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_KEPT);
	assert_int_equal(acting_of(w, s)->search.rate, rate);
	polls(w, 20);
	assert_int_equal(rate_of(w, s), rate);
}

static void reboot(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	rate = settled_rate(w, s);
	end(w, true);
	paced_clear_device(&w->kernel, 1);
	paced_clear_device(&w->state, 1);
	begin(w);
	s->idle = true;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), rate);
}

static void look_comes_later(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t settings;

	settle_all(w);
	settings = w->settings;
	end(w, true);
	w->look_rc = -EAGAIN;
	begin(w);
	polls(w, 2);
	assert_int_equal(w->settings, settings);
	w->look_rc = 0;
	polls(w, 2);
	assert_int_equal(w->settings, settings);
	assert_int_equal(acting_of(w, s)->force, rate_of(w, s));
}

/* --- two daemons ---------------------------------------------------------- */

/* Another socket, and another history */
struct second {
	struct config config;
	struct keep keep;
	struct act *act;
};

static void second_begin(struct second *b, struct world *w, enum mode mode)
{
	struct err e = { "" };

	b->config = w->config;
	b->config.history[0] = 0;
	b->config.mode = mode;
	keep_open(&b->keep, &b->config, &w->log, w->now);
	b->act = act_begin(&b->config, &w->log, &b->keep, w->now, &e);
	assert_non_null(b->act);
}

static void second_end(struct second *b, int64_t now)
{
	act_end(b->act);
	keep_close(&b->keep, now);
}

static bool is_refused(const struct second *b)
{
	return strstr(act_totals(b->act)->unable, "another ctcpd paces");
}

/* Polled, asked to forget and told to do the other thing, it changes nothing of the first one's */
static void leaves_alone(struct second *b, struct world *w, struct sim *s)
{
	const bool acts = b->config.mode == MODE_ACT;
	const uint64_t rate = rate_of(w, s);

	act_poll(b->act, NULL, false, w->us, w->now + 61);
	act_forget(b->act, &s->remote.addr, w->now + 61);
	assert_int_equal(rate_of(w, s), rate);
	assert_false(act_totals(b->act)->acts);
	assert_int_equal(is_refused(b), acts);
	b->config.mode = acts ? MODE_OBSERVE : MODE_ACT;
	act_reload(b->act, w->now + 61);
	assert_int_equal(rate_of(w, s), rate);
	b->config.mode = MODE_ACT;
	act_reload(b->act, w->now + 61);
	assert_true(is_refused(b));
}

static void another_daemon(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct second b;

	settle_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
	second_begin(&b, w, MODE_OBSERVE);
	leaves_alone(&b, w, s);
	second_end(&b, w->now);
	second_begin(&b, w, MODE_ACT);
	leaves_alone(&b, w, s);
	second_end(&b, w->now);
	/* to one log, which says once what stays so */
	assert_said(w, "though mode = act: another ctcpd paces", 1);
}

/* It is taken anew; where another daemon was first that one paces, until it ends. */
static void lock_is_removed(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct second b;
	uint64_t rate;

	rate = settled_rate(w, s);
	assert_true(lock_file(w, "rm \"$f\""));
	polls(w, 1);
	assert_int_equal(act_totals(w->act)->paced, 1);
	second_begin(&b, w, MODE_ACT);
	assert_true(is_refused(&b));
	second_end(&b, w->now);
	assert_true(lock_file(w, "rm \"$f\""));
	second_begin(&b, w, MODE_ACT);
	assert_false(is_refused(&b));
	polls(w, 1);
	assert_non_null(strstr(act_totals(w->act)->unable, "another ctcpd paces"));
	assert_int_equal(rate_of(w, s), rate);
	second_end(&b, w->now);
	polls(w, 13);
	assert_true(act_totals(w->act)->acts);
	assert_int_equal(rate_of(w, s), rate);
	assert_said(w, "left alone", 0);
}

/* Whoever may not look takes its absence for nothing. */
static void lock_goes_with_the_last(void **state)
{
	struct world *w = *state;

	assert_true(has_lock_file(w));
	end(w, true);
	assert_false(has_lock_file(w));
	begin(w);
	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	end(w, true);
	assert_true(has_lock_file(w));
	w->config.mode = MODE_OBSERVE;
	w->pinned_rc = -EOPNOTSUPP;
	begin(w);
	polls(w, 1);
	assert_int_equal(w->kernel.n, 0);
	assert_true(has_lock_file(w));
	w->pinned_rc = 0;
	polls(w, 13);
	assert_false(has_lock_file(w));
}

/* The one that had it removes it between open() and flock(). */
static void lock_is_another_file(void **state)
{
	struct world *w = *state;
	struct second b;

	end(w, true);
	w->removes = 3;
	begin(w);
	assert_int_equal(w->removes, 0);
	assert_false(act_lock_is_removed(w->act));
	second_begin(&b, w, MODE_ACT);
	assert_true(is_refused(&b));
	second_end(&b, w->now);
	/* not without end */
	end(w, true);
	w->removes = 1000;
	begin(w);
	assert_int_equal(w->act->lock, -EAGAIN);
	w->removes = 0;
	polls(w, 1);
	assert_true(w->act->lock >= 0);
	/* that of the next one stays, where somebody has removed ours */
	assert_true(lock_file(w, "rm \"$f\""));
	second_begin(&b, w, MODE_ACT);
	end(w, true);
	assert_true(has_lock_file(w));
	second_end(&b, w->now);
}

static void another_daemon_takes_over(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct second b;
	uint64_t rate;

	rate = settled_rate(w, s);
	second_begin(&b, w, MODE_ACT);
	assert_true(is_refused(&b));
	end(w, true);
	act_poll(b.act, NULL, false, w->us, w->now + 200);
	act_poll(b.act, NULL, false, w->us, w->now + 205);
	assert_true(act_totals(b.act)->acts);
	assert_int_equal(act_totals(b.act)->paced, 1);
	assert_int_equal(rate_of(w, s), rate);
	b.config.mode = MODE_OBSERVE;
	act_reload(b.act, w->now + 210);
	assert_int_equal(rate_of(w, s), 0);
	/* one that has nothing to take back is in nobody's way */
	begin(w);
	assert_true(act_totals(w->act)->acts);
	second_end(&b, w->now);
}

/* --- in `observe`, and without the lock ------------------------------------- */

#define STAYS	"pacing by classes cannot be changed: "
#define BY_HAND	"as root, ctcp-setup show tells what is ctcpd's, and ctcp-setup undo DEV takes back all on DEV"

/* A folder in place of the file that is to be locked: this process may not, whoever runs it. */
static void observes_what_stays(struct world *w)
{
	settle_all(w);
	end(w, true);
	assert_true(lock_file(w, "rm \"$f\" && mkdir \"$f\""));
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 30);
}

static void may_again(const struct world *w)
{
	assert_true(lock_file(w, "rmdir \"$f\""));
}

static void stays_and_is_told(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	observes_what_stays(w);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(act_totals(w->act)->paced, 1);
	assert_non_null(strstr(act_totals(w->act)->hindered, STAYS));
	assert_said(w, BY_HAND, 1);
	assert_said(w, "has been taken back", 0);
	/* it is not known to be gone where it cannot be looked for */
	w->look_rc = -EACCES;
	polls(w, 3);
	assert_int_equal(act_totals(w->act)->paced, 1);
	w->look_rc = 0;
	/* by hand */
	paced_clear_device(&w->kernel, 1);
	paced_clear_device(&w->state, 1);
	polls(w, 3);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_string_equal(act_totals(w->act)->hindered, "");
	assert_said(w, "what an earlier run paced by classes has been taken back", 1);
}

/* Some of it by hand, and of another rate, and the rest as soon as it may */
static void stays_until_it_may(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 50 * MB);

	observes_what_stays(w);
	paced_clear(&w->kernel, 1, &other->remote.addr);
	paced_clear(&w->state, 1, &other->remote.addr);
	w->kernel.list[0].rate = 70 * MB;
	w->state.list[0].rate = 70 * MB;
	polls(w, 1);
	assert_int_equal(act_totals(w->act)->paced, 1);
	assert_int_equal(acting_of(w, s)->force, 70 * MB);
	assert_int_equal(acting_of(w, other)->force, 0);
	may_again(w);
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_string_equal(act_totals(w->act)->hindered, "");
}

/* One that may has begun meanwhile: what is paced is its own. */
static void stays_and_is_anothers(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct second b;

	observes_what_stays(w);
	may_again(w);
	second_begin(&b, w, MODE_ACT);
	polls(w, 14);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_string_equal(act_totals(w->act)->hindered, "");
	assert_said(w, "has been taken back", 0);
	second_end(&b, w->now);
	/* it ends, and leaves it */
	polls(w, 13);
	assert_int_equal(rate_of(w, s), 0);
}

/* Another user's file: that it is locked can be seen. */
static void may_not_open_the_lock(void **state)
{
	const bool root = !geteuid();
	struct world *w = *state;
	struct second b;

	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(chmod(w->place->dir, 0755), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	else
		assert_true(lock_file(w, "chmod 0 \"$f\""));
	second_begin(&b, w, MODE_OBSERVE);
	act_poll(b.act, NULL, false, w->us, w->now + 61);
	if (root)
		assert_int_equal(seteuid(0), 0);
	else
		assert_true(lock_file(w, "chmod 600 \"$f\""));
	assert_int_equal(act_totals(b.act)->paced, 0);
	assert_string_equal(act_totals(b.act)->hindered, "");
	assert_said(w, "cannot be taken back", 0);
	second_end(&b, w->now);
}

/* Its folder was removed, and what is pinned elsewhere is not. */
static void stays_without_a_folder(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	char none[128];

	settle_all(w);
	end(w, true);
	snprintf(none, sizeof(none), "%s/none", w->place->dir);
	setenv("CTCP_RUNDIR", none, 1);
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 2);
	assert_int_equal(rate_of(w, s), 0);
	assert_string_equal(act_totals(w->act)->hindered, "");
	assert_said(w, "cannot be taken back", 0);
	end(w, true);
	assert_int_equal(rmdir(none), 0);
}

/* Which sees nothing of ours, or cannot look */
static void observer_is_in_nobodys_way(void **state)
{
	struct world *w = *state;

	assert_true(w->act->lock >= 0);
	end(w, true);
	w->config.mode = MODE_OBSERVE;
	w->look_rc = -EAGAIN;
	begin(w);
	assert_int_equal(w->act->lock, -1);
	end(w, true);
	w->look_rc = 0;
	begin(w);
	assert_int_equal(w->act->lock, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(restart_sets_nothing),
		TEST(killed_while_it_is_tried),
		TEST(killed_while_it_probes),
		TEST(history_lost),
		TEST(reboot),
		TEST(look_comes_later),
		TEST(another_daemon),
		TEST(lock_goes_with_the_last),
		TEST(lock_is_another_file),
		TEST(another_daemon_takes_over),
		TEST(lock_is_removed),
		TEST(stays_and_is_told),
		TEST(stays_until_it_may),
		TEST(stays_and_is_anothers),
		TEST(stays_without_a_folder),
		TEST(may_not_open_the_lock),
		TEST(observer_is_in_nobodys_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * mode = observe, there and back: what is only told, and what an earlier run has left paced.
 */
#include "ctcpd_world.h"

static void observe_sets_nothing(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;

	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	w->applies = 0;
	settle_all(w);
	assert_int_equal(w->applies + w->let_goes, 0);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(p.rate, 0);
	assert_in_range(p.would, 799 * MB / 10, 80 * MB);
	assert_false(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "");
	assert_said(w, "192.0.2.7: would be paced at 640mbit: it is overrun", 1);
	restart(w);
	settle_all(w);
	assert_said(w, "would be paced", 1);
}

static void there_and_back(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	rate = settled_rate(w, s);
	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_said(w, "mode = observe: 1 remotes or subnets are not paced any more\n", 1);
	polls(w, 5);
	assert_int_equal(rate_of(w, s), 0);
	w->config.mode = MODE_ACT;
	act_reload(w->act, w->now);
	assert_int_equal(rate_of(w, s), rate);
}

/* A ctcp-setup is at work when the mode becomes another: with the next poll */
static void taken_back_later(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	find_all(w);
	w->config.mode = MODE_OBSERVE;
	refuse(w, NULL, 0, -EAGAIN, false);
	act_reload(w->act, w->now);
	assert_int_not_equal(rate_of(w, s), 0);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
}

static void begun_in_observe_behind_act(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	find_all(w);
	end(w, false);
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(observe_sets_nothing),
		TEST(there_and_back),
		TEST(taken_back_later),
		TEST(begun_in_observe_behind_act),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Hands that fail: what cannot be set or taken back, or not now, and what is told of it.
 */
#include "ctcpd_world.h"

/* What is under /run cannot be written to: what is paced stays so, and nothing new is paced. */
static void cannot_keep_a_change(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *new;
	uint64_t rate;

	rate = settled_rate(w, s);
	assert_string_equal(act_totals(w->act)->hindered, "");
	refuse(w, NULL, 0, -ENOSPC, false);
	new = remote(w, 2, 8, 50 * MB);
	polls(w, 20);
	assert_int_equal(rate_of(w, s), rate);
	assert_int_equal(rate_of(w, new), 0);
	assert_true(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "");
	assert_string_equal(act_totals(w->act)->hindered,
			    "pacing by classes cannot be changed: refused -28");
	assert_said(w, "refused -28; what is paced stays so, and it is tried again", 1);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_not_equal(rate_of(w, new), 0);
	assert_string_equal(act_totals(w->act)->hindered, "");
}

/* It has no lock, and so changes nothing: it does not say that it acts. */
static void begins_where_nothing_can_be_kept(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	char none[128];
	uint64_t rate;

	rate = settled_rate(w, s);
	end(w, true);
	snprintf(none, sizeof(none), "%s/none", w->place->dir);
	setenv("CTCP_RUNDIR", none, 1);
	refuse(w, NULL, 0, -EROFS, false);
	begin(w);
	polls(w, 5);
	assert_false(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable,
			    "pacing by classes cannot be changed: refused -30");
	assert_int_equal(rate_of(w, s), rate);
	assert_said(w, "pacing by classes cannot be changed: refused -30; what is paced", 1);
	/* with the next poll, not the next minute */
	setenv("CTCP_RUNDIR", w->place->dir, 1);
	w->n_refusals = 0;
	polls(w, 1);
	assert_true(act_totals(w->act)->acts);
	assert_int_equal(act_totals(w->act)->paced, 1);
	assert_int_equal(rate_of(w, s), rate);
}

/* Of nothing it does not act for a moment: another ctcp-setup is at work */
static void begins_beside_one_at_work(void **state)
{
	struct world *w = *state;

	end(w, true);
	refuse(w, NULL, 0, -EAGAIN, false);
	begin(w);
	assert_true(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->hindered, "");
	w->n_refusals = 0;
	refuse(w, NULL, 0, -EALREADY, false);
	polls(w, 1);
	assert_true(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->hindered,
			    "pacing by classes cannot be changed: refused -114");
}

static void unfit_device(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	struct pacing p;

	other->remote.ifindex = 2;
	w->fit_device = 1;
	w->fit_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_said(w,
		    "nothing is paced on eth1: it has 8 queues; there is no BTF; with one-lock = yes it is paced by classes\n",
		    1);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_in_range(p.would, 799 * MB / 10, 80 * MB);
	assert_int_equal(act_totals(w->act)->stood_down, 0);
	/* its operator allows one lock */
	w->config.one_lock = true;
	act_reload(w->act, w->now);
	polls(w, 1);
	assert_int_not_equal(rate_of(w, s), 0);
}

static void device_becomes_fit(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	refuse(w, NULL, 1, -EOPNOTSUPP, false);
	w->fit_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_int_equal(rate_of(w, s), 0);
	w->n_refusals = 0;
	w->fit_rc = 0;
	polls(w, 13);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_said(w, "on eth1 remotes can be paced by classes now", 1);
}

static void not_now(void **state)
{
	const int codes[] = { -EAGAIN, -EALREADY, -ENETDOWN, -ENODEV };
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	uint32_t i;

	other->remote.ifindex = 2;
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		refuse(w, NULL, 1, codes[i], false);
		polls(w, 13);
		assert_int_equal(rate_of(w, s), 0);
		/* a device that is down is no reason for others; who is at work is */
		assert_int_equal(rate_of(w, other) != 0, i >= 2);
		w->n_refusals = 0;
		polls(w, 1);
		assert_int_not_equal(rate_of(w, s), 0);
		assert_int_not_equal(rate_of(w, other), 0);
		act_forget(w->act, &s->remote.addr, w->now);
		act_forget(w->act, &other->remote.addr, w->now);
	}
	assert_int_equal(act_totals(w->act)->failed, 0);
	assert_said(w, "pacing stays as it is", 1);
	assert_said(w, "left alone", 0);
}

/* One at work for longer than it takes, and the next that is, each once */
static void somebody_hangs(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t i;

	settle_all(w);
	for (i = 1; i <= 2; i++) {
		w->look_rc = -EAGAIN;
		refuse(w, NULL, 0, -EAGAIN, false);
		polls(w, 11);
		assert_said(w, "pacing stays as it is", i - 1);
		polls(w, 90);
		assert_said(w, "pacing stays as it is, for 55 s by now: cannot look\n", i);
		assert_said(w, "pacing goes on", i - 1);
		w->look_rc = 0;
		w->n_refusals = 0;
		polls(w, 3);
		assert_said(w, "pacing goes on: what held it up lasted 505 s\n", i);
	}
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(act_totals(w->act)->failed, 0);
}

/* Those that are at work now and then, for a poll each, are no trouble. */
static void many_are_at_work(void **state)
{
	struct world *w = *state;
	uint32_t i;

	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	for (i = 0; i < 30; i++) {
		w->look_rc = i % 4 ? -EAGAIN : 0;
		polls(w, 1);
	}
	assert_said(w, "pacing stays as it is", 0);
	assert_said(w, "pacing goes on", 0);
}

/* Nothing is paced as yet, so that nothing is looked at */
static void somebody_hangs_before(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	refuse(w, NULL, 0, -EAGAIN, false);
	find_all(w);
	polls(w, 12);
	assert_said(w, "pacing stays as it is, for 55 s by now: refused", 1);
	w->n_refusals = 0;
	polls(w, 1);
	assert_said(w, "pacing goes on", 1);
	assert_int_not_equal(rate_of(w, s), 0);
	end(w, true);
	w->look_rc = -EAGAIN;
	begin(w);
	polls(w, 12);
	assert_said(w, "pacing stays as it is, for 55 s by now: cannot look", 1);
}

static void may_not(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	refuse(w, NULL, 0, -EACCES, false);
	settle_all(w);
	assert_int_equal(w->kernel.n, 0);
	assert_false(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "refused -13");
	assert_said(w, "neither set nor taken back, though mode = act: refused -13", 1);
	w->n_refusals = 0;
	polls(w, 14);
	assert_true(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "");
	assert_int_not_equal(rate_of(w, s), 0);
}

static void may_not_from_the_beginning(void **state)
{
	struct world *w = *state;

	end(w, true);
	refuse(w, NULL, 0, -EACCES, false);
	begin(w);
	assert_false(act_totals(w->act)->acts);
	assert_string_equal(act_totals(w->act)->unable, "refused -13");
	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	assert_said(w, "would be paced at 640mbit", 1);
}

#define BY_HAND	"as root, ctcp-setup show tells what is ctcpd's, and ctcp-setup undo DEV takes back all on DEV, circuits included\n"

/* Begun without the privilege behind one that paced */
static void may_not_look(void **state)
{
	struct world *w = *state;

	end(w, true);
	w->look_rc = -EACCES;
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 30);
	assert_said(w, "what an earlier run may have paced stays, as it cannot be looked at: cannot look; "
		    BY_HAND, 1);
	assert_string_equal(act_totals(w->act)->hindered,
			    "what an earlier run may have paced by classes cannot be looked at: cannot look");
	w->look_rc = 0;
	polls(w, 30);
	assert_string_equal(act_totals(w->act)->hindered, "");
}

static void may_not_take_back(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	settle_all(w);
	refuse(w, NULL, 0, -EACCES, false);
	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	polls(w, 30);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_string_equal(act_totals(w->act)->hindered,
			    "pacing by classes cannot be changed: refused -13");
	assert_said(w, "what is paced cannot be taken back, though mode = observe: refused -13; "
		    BY_HAND, 1);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), 0);
}

static void one_fails(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 50 * MB);

	refuse(w, &s->remote.addr, 0, -ENOMEM, false);
	polls(w, 11);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_int_equal(act_totals(w->act)->failed, 1);
	polls(w, 12);
	assert_int_equal(act_totals(w->act)->failed, 13);
	assert_said(w, "pacing by classes cannot be changed: refused -12", 1);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_not_equal(rate_of(w, s), 0);
}

/* More than the device carries: what was kept stays */
static void rate_is_refused(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t first;

	find_all(w);
	first = rate_of(w, s);
	refuse(w, &s->remote.addr, 0, -ERANGE, false);
	settle_all(w);
	assert_int_equal(rate_of(w, s), first);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_KEPT);
	assert_said(w, "left alone", 0);
}

/* The next probe is: what was proved stays so, and what is kept a margin below it. */
static void probe_is_refused(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate, proved;

	rate = settled_rate(w, s);
	proved = acting_of(w, s)->search.low;
	assert_in_range(rate, proved / 1000 * 989, proved / 1000 * 991);
	refuse(w, &s->remote.addr, 0, -ERANGE, false);
	polls(w, 3600 / POLL_S + 1);
	assert_int_equal(acting_of(w, s)->search.probes, 1);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_KEPT);
	assert_int_equal(acting_of(w, s)->search.low, proved);
	assert_int_equal(rate_of(w, s), rate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cannot_keep_a_change),
		TEST(begins_where_nothing_can_be_kept),
		TEST(begins_beside_one_at_work),
		TEST(unfit_device),
		TEST(device_becomes_fit),
		TEST(not_now),
		TEST(somebody_hangs),
		TEST(many_are_at_work),
		TEST(somebody_hangs_before),
		TEST(may_not),
		TEST(may_not_from_the_beginning),
		TEST(may_not_look),
		TEST(may_not_take_back),
		TEST(one_fails),
		TEST(rate_is_refused),
		TEST(probe_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts of a subnet that are taken as one, and what ends that.
 */
#include "ctcpd_world.h"

/* Each takes alone what all of them share, and was found when the others were silent */
static void find_shared(struct world *w, struct sim **hosts, uint32_t n)
{
	uint32_t i, k;

	w->config.subnets = true;
	act_reload(w->act, w->now);
	for (i = 0; i < n; i++)
		hosts[i] = remote(w, 2, (uint8_t)(i + 1), 100 * MB);
	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++)
			hosts[k]->idle = k != i;
		settle_all(w);
		assert_int_equal(acting_of(w, hosts[i])->search.state, SEARCH_KEPT);
	}
	for (i = 0; i < n; i++) {
		hosts[i]->shares = 99 * MB;
		hosts[i]->gentle = true;
		hosts[i]->idle = false;
	}
}

static void subnet_as_one(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	struct prefix subnet;
	uint32_t settings;
	struct pacing p;
	uint64_t rate;

	find_shared(w, hosts, 4);
	rate = rate_of(w, hosts[0]);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
	assert_int_equal(w->batch, 5);
	subnet = paced_subnet(&hosts[0]->remote.addr);
	assert_int_equal(paced_get(&w->kernel, 1, &subnet)->rate, rate);
	assert_said(w, "192.0.2.0/24: paced at", 1);
	assert_said(w, "not paced any more", 0);
	assert_true(act_find(w->act, &hosts[3]->remote.addr, &p));
	assert_true(prefix_equal(&p.to, &subnet));
	assert_int_equal(act_totals(w->act)->paced, 1);
	polls(w, 2);
	assert_true(hosts[2]->remote.paced);
	/* what the subnet carries is what its hosts do together */
	settle_all(w);
	assert_true(act_find(w->act, &hosts[3]->remote.addr, &p));
	assert_int_equal(p.search->state, SEARCH_KEPT);
	end(w, true);
	/* hosts come first when they are read, as the latest */
	run_sql(w->place->file, "UPDATE search SET stamp = stamp + bits");
	begin(w);
	settings = w->settings;
	polls(w, 3);
	assert_int_equal(w->settings, settings);
	assert_int_equal(w->kernel.n, 1);
	assert_true(act_find(w->act, &hosts[3]->remote.addr, &p));
	assert_true(prefix_equal(&p.to, &subnet));
}

/* As long as they send, its hosts are known, and make no room */
static void hosts_of_a_subnet_stay(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	uint32_t i;

	find_shared(w, hosts, 4);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
	w->now += 13 * DAY;
	polls(w, 2);
	assert_int_equal(acting_of(w, hosts[0])->search.seen, w->now);
	w->now += 2 * DAY;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 1);
	assert_said(w, "not paced any more", 0);
	for (i = 0; i < 4; i++) {
		assert_int_not_equal(acting_of(w, hosts[i])->search.rate, 0);
		hosts[i]->idle = true;
	}
	w->now += 2 * IDLE_S;
	polls(w, 1);
	w->act->table.refused = 4;
	act_make_room(w->act, w->now);
	assert_said(w, "to make room", 0);
}

/* It carries less than one of them did: back to hosts, as they were */
static void subnet_taken_back(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	uint64_t rates[4];
	uint32_t i;

	find_shared(w, hosts, 4);
	for (i = 0; i < 4; i++)
		rates[i] = rate_of(w, hosts[i]);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
	for (i = 0; i < 4; i++)
		hosts[i]->shares = 20 * MB;
	polls(w, 6);
	assert_int_equal(w->kernel.n, 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(rate_of(w, hosts[i]), rates[i]);
	assert_said(w, "192.0.2.0/24: not paced any more: pacing does not help", 1);
	polls(w, 50);
	assert_int_equal(w->kernel.n, 4);
}

/* Each has a port of its own of that speed */
static void hosts_that_share_nothing(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	uint32_t i;

	find_shared(w, hosts, 4);
	for (i = 0; i < 4; i++)
		hosts[i]->shares = 0;
	polls(w, 20);
	assert_int_equal(w->kernel.n, 4);
}

/*
 * Three hosts of one party, which show the same and take turns, and a fourth of somebody else's.
 * @takes: bytes/s, of the fourth
 */
static struct sim *beside_three(struct world *w, struct sim **three, uint64_t takes)
{
	struct sim *fourth;

	find_shared(w, three, 3);
	fourth = remote(w, 2, 99, takes);
	fourth->gentle = true;
	return fourth;
}

static void assert_never_paced(struct world *w, const struct sim *s, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		polls(w, 1);
		if (rate_of(w, s))
			fail_msg("expected no rate, got %llu after %u polls",
				 (unsigned long long)rate_of(w, s), i);
	}
}

/* A test that tests nothing else: without the fourth they are paced as one */
static void three_are_enough(void **state)
{
	struct world *w = *state;
	struct sim *three[3];

	find_shared(w, three, 3);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
}

static void a_faster_one_is_a_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *fast = beside_three(w, three, 500 * MB);
	struct prefix subnet = paced_subnet(&fast->remote.addr);
	struct pacing p;

	assert_never_paced(w, fast, 50);
	/* nor when it is looked at anew */
	w->now += 3600;
	assert_never_paced(w, fast, 50);
	assert_int_equal(w->kernel.n, 3);
	/* and that is told of the subnet */
	assert_true(act_find(w->act, &subnet, &p));
	assert_int_equal(p.reason, SEARCH_VETO);
}

/* It was there, and is as long as the daemon remembers it: silent now */
static void a_silent_one_is_a_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *fast = beside_three(w, three, 500 * MB);

	/* alone, and an hour before it comes again */
	three[0]->idle = true;
	three[1]->idle = true;
	three[2]->idle = true;
	polls(w, 5);
	fast->idle = true;
	w->now += 3600;
	three[0]->idle = false;
	three[1]->idle = false;
	three[2]->idle = false;
	polls(w, 50);
	assert_int_equal(w->kernel.n, 3);
	fast->idle = false;
	assert_never_paced(w, fast, 50);
}

/* By a visit that the history has, of days ago: what is there of it now is nothing */
static void one_of_the_history_is_a_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *fast;
	struct visit v = visit_number(1, w->now);

	v.remote = host(2, 99);
	v.judgement.verdict = VERDICT_CLEAN;
	v.judgement.best_rate = 500 * MB;
	keep_visit(&w->keep, &v, w->now);
	keep_flush(&w->keep, w->now);
	find_shared(w, three, 3);
	w->now += 13 * DAY - 3600;
	polls(w, 20);
	assert_int_equal(w->kernel.n, 3);
	fast = remote(w, 2, 99, 500 * MB);
	fast->gentle = true;
	assert_never_paced(w, fast, 20);
}

/* What it lost, or may have, says nothing: it is no veto, and no rate. */
static void one_that_loses_is_no_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3];
	struct visit v = visit_number(1, w->now);

	v.remote = host(2, 99);
	v.judgement.best_rate = 500 * MB;
	v.judgement.verdict = VERDICT_OVERRUN;
	keep_visit(&w->keep, &v, w->now);
	v.judgement.verdict = VERDICT_UNKNOWN;
	keep_visit(&w->keep, &v, w->now);
	/* nor is one of another subnet */
	v.judgement.verdict = VERDICT_CLEAN;
	v.remote = host(3, 99);
	keep_visit(&w->keep, &v, w->now);
	keep_flush(&w->keep, w->now);
	find_shared(w, three, 3);
	polls(w, 2);
	assert_int_equal(w->kernel.n, 1);
}

/*
 * One that nobody has seen before comes into the subnet that is paced as one, and takes less than
 * the rate: it is held for two polls, and then for two an hour later, two, four, ... hours later.
 */
static void a_late_one_ends_it(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *late = beside_three(w, three, 50 * MB);
	uint32_t i, k, held = 0;

	late->idle = true;
	polls(w, 10);
	assert_int_equal(w->kernel.n, 1);
	late->idle = false;
	polls(w, 3);
	assert_int_equal(rate_of(w, late), 0);
	assert_int_equal(w->kernel.n, 3);
	assert_said(w, "192.0.2.0/24: not paced any more: a host of it takes more, or has much", 1);
	for (i = 0; i < 24; i++) {
		w->now += 3600 - 5 * POLL_S;
		for (k = 0; k < 5; k++) {
			polls(w, 1);
			held += rate_of(w, late) != 0;
		}
	}
	/* after 1, 2, 4 and 8 h more; the next would be after 16 */
	if (held > 4 * 3)
		fail_msg("expected at most 12 polls of a day in which it is held, got %u", held);
	assert_true(held);
}

/* One that has hardly anything to send is not held by what the others take */
static void a_quiet_one_is_no_veto(void **state)
{
	struct world *w = *state;
	struct sim *three[3], *quiet = beside_three(w, three, MB);

	quiet->remote.now.app = 900;
	polls(w, 20);
	assert_int_equal(w->kernel.n, 1);
}

/* They fake, as one, that they lose at any rate: what was theirs before is the least for all */
static void what_they_lose_lowers_nothing(void **state)
{
	struct world *w = *state;
	struct sim *three[3];
	uint64_t rate;
	uint32_t i;

	find_shared(w, three, 3);
	polls(w, 2);
	rate = rate_of(w, three[0]);
	assert_int_equal(w->kernel.n, 1);
	for (i = 0; i < 3; i++) {
		three[i]->gentle = false;
		three[i]->shares = 0;
		three[i]->takes = 20 * MB;
	}
	for (i = 0; i < 100; i++) {
		polls(w, 1);
		if (w->kernel.n == 1 && w->kernel.list[0].rate < rate / 100 * 98)
			fail_msg("expected 98%% of %llu at least, got %llu",
				 (unsigned long long)rate,
				 (unsigned long long)w->kernel.list[0].rate);
	}
	assert_int_not_equal(w->kernel.n, 1);
}

/* Whoever has three addresses would slow down the others: not by default */
static void subnets_are_not_asked_for(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];

	assert_false(w->config.subnets);
	find_shared(w, hosts, 4);
	w->config.subnets = false;
	act_reload(w->act, w->now);
	polls(w, 50);
	assert_int_equal(w->kernel.n, 4);
	assert_int_equal(w->act->table.subnets, 0);
	assert_int_equal(w->act->n_active, 0);
}

/* By a reload, by a restart, and by one that finds no history either */
static void subnets_are_turned_off(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];
	uint64_t rates[4];
	uint32_t i, k;

	find_shared(w, hosts, 4);
	for (i = 0; i < 4; i++)
		rates[i] = rate_of(w, hosts[i]);
	for (k = 0; k < 3; k++) {
		w->config.subnets = true;
		act_reload(w->act, w->now);
		polls(w, 2);
		assert_int_equal(w->kernel.n, 1);
		w->config.subnets = false;
		if (k) {
			end(w, true);
			if (k == 2)
				assert_int_equal(unlink(w->place->file), 0);
			begin(w);
			polls(w, 1);
		} else {
			act_reload(w->act, w->now);
		}
		assert_int_equal(w->kernel.n, k < 2 ? 4 : 0);
		for (i = 0; i < 4 && k < 2; i++)
			assert_int_equal(rate_of(w, hosts[i]), rates[i]);
	}
}

static void subnet_changed_by_hand(void **state)
{
	struct world *w = *state;
	struct sim *hosts[4];

	find_shared(w, hosts, 4);
	polls(w, 2);
	w->changed[w->n_changed++] = paced_subnet(&hosts[0]->remote.addr);
	polls(w, 20);
	assert_int_equal(w->state.n, 0);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_said(w, "192.0.2.0/24: not paced by ctcpd, and left alone", 1);
	assert_said(w, "left alone", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(subnet_as_one),
		TEST(hosts_of_a_subnet_stay),
		TEST(subnet_taken_back),
		TEST(hosts_that_share_nothing),
		TEST(three_are_enough),
		TEST(a_faster_one_is_a_veto),
		TEST(a_silent_one_is_a_veto),
		TEST(one_of_the_history_is_a_veto),
		TEST(one_that_loses_is_no_veto),
		TEST(a_late_one_ends_it),
		TEST(a_quiet_one_is_no_veto),
		TEST(what_they_lose_lowers_nothing),
		TEST(subnets_are_not_asked_for),
		TEST(subnets_are_turned_off),
		TEST(subnet_changed_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

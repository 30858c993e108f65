// SPDX-License-Identifier: GPL-2.0
/*
 * Bounds of the table of searches: what makes room for what.
 */
#include "ctcpd_world.h"

/* Of those that are paced the one that was silent for longest makes room, if it was so for long */
static void paced_makes_room(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct prefix first = number(4000);

	add_kept(w, PACED_MAX, 2, 60);
	act_table_find(&w->act->table, &first)->search.seen -= 30;
	find_all(w);
	polls(w, 13);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_equal(w->act->by[HANDS_CLASSES].want.n, PACED_MAX);
	assert_said(w, "to make room", 0);
	w->now += IDLE_S;
	polls(w, 14);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_null(act_table_any(&w->act->table, &first));
	assert_null(paced_get(&w->kernel, 2, &first));
	assert_int_equal(w->kernel.n, PACED_MAX);
	assert_said(w, "10.0.62.32: forgotten, as nothing was seen of it for 1 h, to make room", 1);
	assert_said(w, "to make room", 1);
}

/* So it is of the table, where all are kept: by a device that is gone */
static void kept_make_room(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct prefix first = number(4000);

	add_kept(w, ACTINGS_MAX, 0, 7200);
	act_table_find(&w->act->table, &first)->search.seen -= 30;
	polls(w, 3);
	assert_null(act_table_any(&w->act->table, &first));
	acting_of(w, s);
	assert_said(w, "to make room", 1);
}

/* A clock that is set back by some seconds makes none of them go that are in use. */
static void clock_steps_back(void **state)
{
	struct acting e = { .search.seen = NOW };
	struct world *w = *state;

	assert_false(acting_is_silent(&e, NOW - 1));
	assert_false(acting_is_silent(&e, NOW + IDLE_S - 1));
	assert_true(acting_is_silent(&e, NOW + IDLE_S));
	remote(w, 2, 7, 100 * MB);
	add_kept(w, PACED_MAX, 2, 0);
	find_all(w);
	/* the next tick is some polls away */
	w->act->ticked = w->now - 50;
	w->now -= 40;
	polls(w, 1);
	assert_said(w, "to make room", 0);
	assert_int_equal(w->act->by[HANDS_CLASSES].want.n, PACED_MAX);
}

/* There is room a day later: nothing is sent to it, so that nothing else tries again */
static void paced_when_there_is_room(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pace p = { .ifindex = 2, .rate = MB };
	uint32_t i;

	for (i = 0; i < PACED_MAX; i++) {
		p.to = number(i);
		assert_int_equal(paced_set(&w->act->by[HANDS_CLASSES].want, &p), 0);
	}
	find_all(w);
	assert_int_not_equal(acting_of(w, s)->search.rate, 0);
	assert_int_equal(rate_of(w, s), 0);
	s->idle = true;
	paced_clear_device(&w->act->by[HANDS_CLASSES].want, 2);
	polls(w, 13);
	assert_int_equal(rate_of(w, s), acting_of(w, s)->search.rate);
}

/* 64 that are in use keep out no others than those of their subnet, and for an hour */
static void subnet_is_bounded(void **state)
{
	struct prefix p = { AF_INET6, 128, { 0x20, 1, 0xd, 0xb8 } }, net = paced_subnet(&p);
	struct act_table t;
	uint32_t i;

	(void)state;
	act_table_init(&t);
	for (i = 0; i < 5000; i++) {
		struct acting *e;

		p.addr[14] = (uint8_t)(i >> 8);
		p.addr[15] = (uint8_t)i;
		e = act_table_add(&t, &p, NOW);
		assert_int_equal(!!e, i < 64);
		if (e)
			e->search.seen = NOW;
	}
	assert_non_null(act_table_add(&t, &net, NOW));
	p.addr[7] = 1;
	assert_non_null(act_table_add(&t, &p, NOW));
	assert_int_equal(t.all.n, 66);
	/* two subnets, and the site that has both */
	assert_int_equal(t.nets.all.n, 3);
	p.addr[7] = 0;
	act_table_again(&t);
	assert_non_null(act_table_add(&t, &p, NOW + IDLE_S));
	assert_int_equal(t.all.n, 66);
	while (recent_oldest(&t.all))
		act_table_drop(&t, (struct acting *)recent_oldest(&t.all));
	assert_int_equal(t.nets.all.n, 0);
	act_table_free(&t);
}

/* Host 1 of the nth subnet of 2001:db8:@site::/48 */
static struct prefix of_site(uint8_t site, uint32_t n)
{
	return (struct prefix){ AF_INET6, 128, { 0x20, 1, 0xd, 0xb8, 0, site, (uint8_t)(n >> 8),
						 (uint8_t)n, 0, 0, 0, 0, 0, 0, 0, 1 } };
}

/* How many of @n subnets of a site, a host each, find room */
static uint32_t add_site(struct act_table *t, uint8_t site, uint32_t n, int64_t now)
{
	uint32_t i, found = 0;

	act_table_again(t);
	for (i = 0; i < n; i++) {
		struct prefix p = of_site(site, i);
		struct acting *e = act_table_add(t, &p, now);

		if (!e)
			continue;
		found++;
		e->search.seen = now - SITE_MAX + i;
	}
	return found;
}

/* One party has 65536 subnets, and would have all of the table; of another there is room */
static void site_is_bounded(void **state)
{
	struct prefix p = of_site(1, 0);
	struct act_table t;

	(void)state;
	act_table_init(&t);
	assert_int_equal(add_site(&t, 1, 60000, NOW), 256);
	assert_int_equal(add_site(&t, 2, 10, NOW), 10);
	assert_int_equal(t.all.n, 266);
	/* an hour later the one that was silent for longest goes, and no more than one for one */
	act_table_find(&t, &p)->search.seen = NOW;
	p = of_site(1, 300);
	act_table_again(&t);
	assert_non_null(act_table_add(&t, &p, NOW + IDLE_S));
	assert_int_equal(t.all.n, 266);
	p = of_site(1, 0);
	assert_non_null(act_table_find(&t, &p));
	p = of_site(1, 1);
	assert_null(act_table_find(&t, &p));
	p = of_site(2, 0);
	assert_non_null(act_table_find(&t, &p));
	act_table_free(&t);
}

/* Those of IPv4 have no site: a party has a /24 as a rule, and its neighbours are others */
static void ip4_has_no_site(void **state)
{
	struct act_table t;
	struct prefix p;
	uint32_t i;

	(void)state;
	act_table_init(&t);
	for (i = 0; i < 1024; i++) {
		p = number(i);
		assert_non_null(act_table_add(&t, &p, NOW));
	}
	assert_int_equal(t.nets.all.n, 1024 / 64);
	act_table_free(&t);
}

static uint32_t gone(const struct world *w)
{
	struct acting *e, *next;
	uint32_t n = 0;

	act_table_each(&w->act->table, e, next)
		n += e->gone;
	return n;
}

/* What goes makes room when hands can take it back: until then no other does */
static void one_goes_while_hands_wait(void **state)
{
	struct world *w = *state;
	struct sim *s;

	add_kept(w, NET_MAX, 2, 2 * IDLE_S);
	polls(w, 1);
	assert_int_equal(w->kernel.n, NET_MAX);
	refuse(w, NULL, 0, -EAGAIN, false);
	s = remote(w, 2, 7, 100 * MB);
	s->remote.addr = number(0);
	s->remote.addr.addr[3] = 200;
	polls(w, 10);
	assert_int_equal(gone(w), 1);
	/* so it is of the table */
	w->act->table.refused = 1;
	act_make_room(w->act, w->now);
	assert_int_equal(gone(w), 1);
	w->n_refusals = 0;
	polls(w, 2);
	acting_of(w, s);
	assert_int_equal(gone(w), 0);
	assert_said(w, "to make room", 1);
}

/*
 * A party that has all that it may, paced and silent, pays for a new one with its own; whoever
 * was silent for longer, but is of another, stays.
 */
static void site_pays_for_its_own(void **state)
{
	struct world *w = *state;
	struct prefix p = of_site(1, 7);
	struct sim *s;
	uint32_t i;

	w->config.min_rtt_us = 1000;
	for (i = 0; i < SITE_MAX; i++) {
		struct prefix one = of_site(1, i);
		struct acting *e = act_table_add(&w->act->table, &one, w->now);

		e->search = (struct search){ .state = SEARCH_KEPT, .rate = MB, .low = MB };
		e->search.seen = w->now - 2 * IDLE_S;
		e->search.counted = e->search.seen;
		e->ifindex = 1;
		act_want(w->act, e);
	}
	act_table_find(&w->act->table, &p)->search.seen -= 30;
	add_kept(w, 1, 2, 3 * IDLE_S);
	s = remote(w, 2, 7, 100 * MB);
	s->remote.addr = of_site(1, 4711);
	polls(w, 3);
	acting_of(w, s);
	assert_null(act_table_any(&w->act->table, &p));
	assert_int_equal(w->act->table.all.n, SITE_MAX + 1);
	assert_said(w, "2001:db8:1:7::1: forgotten, as nothing was seen of it for 2 h, to make room",
		    1);
	assert_said(w, "to make room", 1);
}

static void table_is_bounded(void **state)
{
	struct act_table t;
	struct prefix p;
	uint32_t i, k;

	(void)state;
	act_table_init(&t);
	for (i = 0; i < ACTINGS_MAX; i++) {
		p = number(i);
		act_table_add(&t, &p, NOW)->search.seen = NOW;
	}
	/* all of them are in use: a poll of 65536 others finds no room */
	for (k = 0; k < 3; k++) {
		act_table_again(&t);
		for (i = 0; i < REMOTES_MAX; i++) {
			p = number(1000000 + i);
			assert_null(act_table_add(&t, &p, NOW + 60));
		}
	}
	assert_int_equal(t.all.n, ACTINGS_MAX);
	/* an hour later those that are not paced make room */
	p = number(4711);
	act_table_find(&t, &p)->force = MB;
	act_table_again(&t);
	for (i = 0; i < REMOTES_MAX; i++) {
		p = number(1000000 + i);
		if (!act_table_add(&t, &p, NOW + IDLE_S))
			continue;
		act_table_find(&t, &p)->search.seen = NOW + IDLE_S;
	}
	assert_int_equal(t.all.n, ACTINGS_MAX);
	p = number(4711);
	assert_non_null(act_table_find(&t, &p));
	p = number(1000000 + ACTINGS_MAX - 2);
	assert_non_null(act_table_find(&t, &p));
	p = number(0);
	assert_null(act_table_find(&t, &p));
	act_table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_bounded),
		cmocka_unit_test(subnet_is_bounded),
		cmocka_unit_test(site_is_bounded),
		cmocka_unit_test(ip4_has_no_site),
		TEST(paced_makes_room),
		TEST(kept_make_room),
		TEST(clock_steps_back),
		TEST(site_pays_for_its_own),
		TEST(one_goes_while_hands_wait),
		TEST(paced_when_there_is_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

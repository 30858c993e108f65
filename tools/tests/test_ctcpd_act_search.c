// SPDX-License-Identifier: GPL-2.0
/*
 * What is found of what was polled: observations, and the search from there to a rate that is kept.
 */
#include "ctcpd_world.h"

/* --- observations --------------------------------------------------------- */

static struct remote counters(uint64_t seen_us, uint64_t acked, uint32_t segs, uint32_t retrans)
{
	struct remote r = { .addr = host(2, 7), .began_us = 1000, .seen_us = seen_us };

	r.now.acked = acked;
	r.now.segs = segs;
	r.now.retrans = retrans;
	r.now.mss = 1448;
	r.now.app = 17;
	r.now.verdict = VERDICT_OVERRUN;
	r.now.best_rate = 1448000;
	r.now.min_rtt_us = 4711;
	return r;
}

static void next(struct remote *r, uint64_t seen_us, uint64_t acked, uint32_t segs,
		 uint32_t retrans)
{
	struct remote_seen before = r->before;

	*r = counters(seen_us, acked, segs, retrans);
	r->before = before;
}

static void differences(void **state)
{
	struct remote r = counters(1000, 1448000, 1000, 10);
	struct observation o;

	(void)state;
	assert_false(act_observe(&r, 1, NOW, &o));
	next(&r, 6000, 1448000 + 14480, 1010, 13);
	assert_true(act_observe(&r, 2, NOW + 5, &o));
	assert_int_equal(o.at, NOW + 5);
	assert_int_equal(o.us, 5000);
	/* ten segments, each with 14 + 20 + 32 bytes of headers */
	assert_int_equal(o.acked, 15140);
	assert_int_equal(o.segs, 10);
	assert_int_equal(o.retrans, 3);
	assert_int_equal(o.best_rate, 1514000);
	assert_int_equal(o.app, 17);
	assert_int_equal(o.min_rtt_us, 4711);
	assert_int_equal(o.verdict, VERDICT_OVERRUN);
	assert_int_equal(o.paced, 0);
	r.addr.family = AF_INET6;
	next(&r, 7000, 1448000 + 2 * 14480, 1020, 13);
	r.addr.family = AF_INET6;
	assert_true(act_observe(&r, 3, NOW + 5, &o));
	assert_int_equal(o.acked, 15340);
}

/* Of flows of which most lost nothing; where they carried less than half, all count */
static void few_do_not_count(void **state)
{
	struct remote r = counters(1000, 1448000, 1000, 10);
	struct observation o;

	(void)state;
	act_observe(&r, 1, NOW, &o);
	next(&r, 6000, 1448000 + 14480, 1010, 13);
	r.apart = (struct remote_apart){ .acked = 8000, .of = 14480, .segs = 6, .retrans = 1 };
	assert_true(act_observe(&r, 2, NOW + 5, &o));
	assert_int_equal(o.acked, 15140);
	assert_int_equal(o.segs, 6);
	assert_int_equal(o.retrans, 1);
	next(&r, 11000, 1448000 + 2 * 14480, 1020, 16);
	r.apart = (struct remote_apart){ .acked = 7240, .of = 14480, .segs = 5, .retrans = 0 };
	assert_true(act_observe(&r, 3, NOW + 10, &o));
	assert_int_equal(o.segs, 10);
	assert_int_equal(o.retrans, 3);
}

static void nothing_to_compare_with(void **state)
{
	struct remote r = counters(1000, 1000, 10, 1);
	struct observation o;

	(void)state;
	assert_false(act_observe(&r, 5, NOW, &o));
	/* no flow in this poll, and then one */
	assert_false(act_observe(&r, 6, NOW, &o));
	next(&r, 3000, 2000, 20, 1);
	assert_false(act_observe(&r, 7, NOW, &o));
	next(&r, 4000, 3000, 30, 1);
	assert_true(act_observe(&r, 8, NOW, &o));
	/* another visit */
	next(&r, 5000, 4000, 40, 1);
	r.began_us = 4500;
	assert_false(act_observe(&r, 9, NOW, &o));
	next(&r, 6000, 4100, 41, 1);
	r.began_us = 4500;
	assert_true(act_observe(&r, 10, NOW, &o));
	assert_int_equal(o.segs, 1);
	/* counters that went back */
	next(&r, 7000, 4200, 40, 1);
	r.began_us = 4500;
	assert_false(act_observe(&r, 11, NOW, &o));
}

static void hosts_add_up(void **state)
{
	const struct observation a = { .at = 1, .verdict = VERDICT_CLEAN, .us = 5000,
		.acked = 3000, .segs = 30, .retrans = 1, .best_rate = 10, .min_rtt_us = 900,
		.app = 100 };
	const struct observation b = { .at = 1, .verdict = VERDICT_OVERRUN, .us = 4000,
		.acked = 9000, .segs = 90, .retrans = 2, .best_rate = 5, .min_rtt_us = 700,
		.app = 500 };
	struct observation sum = { 0 };

	(void)state;
	act_observe_add(&sum, &a);
	act_observe_add(&sum, &b);
	assert_int_equal(sum.us, 5000);
	assert_int_equal(sum.acked, 12000);
	assert_int_equal(sum.segs, 120);
	assert_int_equal(sum.retrans, 3);
	assert_int_equal(sum.verdict, VERDICT_OVERRUN);
	assert_int_equal(sum.best_rate, 10);
	assert_int_equal(sum.min_rtt_us, 700);
	assert_int_equal(sum.app, 400);
}

/* --- found, paced, kept --------------------------------------------------- */

/* Ten polls that say it, behind the first, which is compared with nothing */
static void found_after_ten(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	polls(w, 10);
	assert_int_equal(rate_of(w, s), 0);
	assert_false(s->remote.paced);
	polls(w, 1);
	/* the best that was carried */
	assert_in_range(rate_of(w, s), 799 * MB / 10, 80 * MB);
	polls(w, 1);
	assert_true(s->remote.paced);
	assert_said(w, "192.0.2.7: paced at 640mbit: it is overrun; the best rate", 1);
	assert_said(w, "; 1% resent\n", 1);
}

static void keeps_what_it_takes(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	const struct act_totals *t;
	struct pacing p;

	settle_all(w);
	assert_in_range(rate_of(w, s), 98 * MB, 99 * MB);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(p.search->state, SEARCH_KEPT);
	assert_int_equal(p.rate, rate_of(w, s));
	assert_int_equal(p.would, 0);
	assert_string_equal(p.dev, "eth1");
	t = act_totals(w->act);
	assert_true(t->acts);
	assert_int_equal(t->paced, 1);
	assert_int_equal(t->kept, 1);
	assert_int_equal(t->searches, 1);
	assert_int_equal(t->paced_changes, w->settings);
	assert_said(w, "hardly retransmits; 1% resent before, 0% now", 1);
	/* a line for each rate that was set, and one that it is kept */
	assert_in_range(said(w, "192.0.2.7: "), w->settings, w->settings + 1);
	polls(w, 20);
	assert_in_range(said(w, "192.0.2.7: "), w->settings, w->settings + 1);
}

/* One user of an address loses for hours: the others have the rate that was found. */
static void one_of_many_loses(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;
	uint32_t i;

	rate = settled_rate(w, s);
	assert_in_range(rate, 98 * MB, 99 * MB);
	s->loser = true;
	for (i = 0; i < 100; i++) {
		polls(w, 1);
		if (rate_of(w, s) < rate)
			fail_msg("expected no less than %llu, got %llu after %u polls",
				 (unsigned long long)rate, (unsigned long long)rate_of(w, s), i);
	}
}

static void others_are_left(void **state)
{
	struct world *w = *state;
	struct sim *near = remote(w, 2, 7, 100 * MB), *nowhere = remote(w, 2, 8, 100 * MB);
	struct pacing p;

	near->remote.now.min_rtt_us = 999;
	nowhere->remote.ifindex = 0;
	settle_all(w);
	assert_int_equal(w->kernel.n, 0);
	assert_false(act_find(w->act, &near->remote.addr, &p));
	assert_false(act_find(w->act, &nowhere->remote.addr, &p));
	assert_int_equal(act_totals(w->act)->searches, 0);
}

/* A poll that failed is none; what changed in it makes the interval mixed */
static void failed_polls(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct acting *e;

	find_all(w);
	e = acting_of(w, s);
	polls(w, 1);
	assert_int_equal(e->search.now.n, 1);
	poll_one(w, false);
	poll_one(w, true);
	assert_int_equal(e->search.now.n, 2);
	e->changed = w->act->epoch;
	poll_one(w, true);
	assert_int_equal(e->search.now.n, 2);
	poll_one(w, true);
	assert_int_not_equal(rate_of(w, s), 80 * MB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences),
		cmocka_unit_test(nothing_to_compare_with),
		cmocka_unit_test(few_do_not_count),
		cmocka_unit_test(hosts_add_up),
		TEST(found_after_ten),
		TEST(keeps_what_it_takes),
		TEST(others_are_left),
		TEST(one_of_many_loses),
		TEST(failed_polls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

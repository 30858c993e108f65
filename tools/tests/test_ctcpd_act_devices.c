// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that go, come back, are renamed, and remotes that move to another one.
 */
#include "ctcpd_world.h"

static void device_goes_and_comes(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;
	uint32_t lines;
	uint64_t rate;

	rate = settled_rate(w, s);
	lines = said(w, "paced at");
	w->devices[0][0] = 0;
	paced_clear_device(&w->kernel, 1);
	s->idle = true;
	polls(w, 3);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(p.ifindex, 0);
	assert_int_equal(p.rate, 0);
	assert_int_equal(p.search->state, SEARCH_KEPT);
	assert_string_equal(p.dev, "eth1");
	assert_string_equal(p.unfit, "it is gone");
	assert_said(w, "eth1 is gone: 1 remote is not paced until it is back", 1);
	assert_device(w, "eth1", "", "it is gone, and 1 remote is paced again once it is back");
	assert_int_equal(act_totals(w->act)->unfit, 1);
	strcpy(w->devices[2], "eth1");
	s->remote.ifindex = 3;
	s->idle = false;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), rate);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	assert_said(w, "left alone", 0);
	polls(w, 3);
	assert_said(w, " is gone:", 1);
	assert_said(w, "eth1 is back: 1 remote is paced again", 1);
	assert_said(w, "paced at", lines);
}

static struct sim *two_on_a_device_that_goes(struct world *w)
{
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 3, 8, 100 * MB);

	settle_all(w);
	s->idle = true;
	w->devices[0][0] = 0;
	paced_clear_device(&w->kernel, 1);
	polls(w, 3);
	assert_said(w, "eth1 is gone: 2 remotes are not paced until it is back", 1);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_ptr_equal(other, s + 1);
	return s;
}

/* One is sent to, the other is not.  A flow without a route is still of the device of before. */
static void device_is_back_for_all(void **state)
{
	struct world *w = *state;
	struct sim *s = two_on_a_device_that_goes(w);
	uint32_t lines = said(w, "paced at");

	strcpy(w->devices[2], "eth1");
	refuse(w, NULL, 3, -ENETDOWN, false);
	assert_int_equal(act_totals(w->act)->unfit, 1);
	polls(w, 3);
	assert_said(w, "eth1 is back", 0);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	w->n_refusals = 0;
	polls(w, 1);
	assert_said(w, "eth1 is back: 2 remotes are paced again", 1);
	polls(w, 3);
	assert_non_null(paced_get(&w->kernel, 3, &s[0].remote.addr));
	assert_non_null(paced_get(&w->kernel, 3, &s[1].remote.addr));
	assert_said(w, "eth1 is back", 1);
	assert_said(w, "paced at", lines);
	assert_said(w, "not paced any more", 0);
}

/* What has found another way, or is forgotten, does not come back with it. */
static void device_is_back_for_none(void **state)
{
	struct world *w = *state;
	struct sim *s = two_on_a_device_that_goes(w);

	s[1].remote.ifindex = 2;
	polls(w, 3);
	assert_said(w, "it is overrun", 2);
	assert_said(w, "on eth2 now, by which it is reached", 1);
	act_forget(w->act, &s[0].remote.addr, w->now);
	polls(w, 1);
	assert_int_equal(act_devices_each(w->act, device_is,
					  &(struct pacing_device){ .dev = "eth1" }), 0);
	strcpy(w->devices[2], "eth1");
	polls(w, 13);
	assert_said(w, "eth1 is back", 0);
	assert_null(paced_get(&w->kernel, 3, &s[0].remote.addr));
	assert_null(paced_get(&w->kernel, 3, &s[1].remote.addr));
	assert_non_null(paced_get(&w->kernel, 2, &s[1].remote.addr));
}

/* Nothing has been sent to it meanwhile */
static void device_comes_by_its_name(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	settle_all(w);
	s->idle = true;
	w->devices[0][0] = 0;
	polls(w, 3);
	strcpy(w->devices[2], "eth1");
	polls(w, 13);
	assert_non_null(paced_get(&w->kernel, 3, &s->remote.addr));
}

static void renamed(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;

	settle_all(w);
	strcpy(w->devices[0], "wan0");
	polls(w, 3);
	assert_said(w, "eth1 is called wan0 now: 1 remote stays paced there", 1);
	assert_said(w, "is called", 1);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.dev, "wan0");
	restart(w);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.dev, "wan0");
	assert_int_equal(p.search->state, SEARCH_KEPT);
}

static void moves_to_another_device(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	rate = settled_rate(w, s);
	s->remote.ifindex = 2;
	polls(w, 1);
	assert_non_null(paced_get(&w->kernel, 1, &s->remote.addr));
	polls(w, 1);
	assert_int_equal(w->batch, 2);
	assert_null(paced_get(&w->kernel, 1, &s->remote.addr));
	assert_int_equal(paced_get(&w->kernel, 2, &s->remote.addr)->rate, rate);
	assert_said(w, "on eth2 now", 1);
	assert_said(w, "not paced any more", 0);
	assert_string_equal(acting_of(w, s)->dev, "eth2");
}

static int is_not_paced(const struct pacing *p, void *data)
{
	uint32_t *n = data;

	assert_int_equal(p->rate, 0);
	assert_string_equal(p->hands, "");
	++*n;
	return 0;
}

/* By the new one it is not paced until that can be set; what it has by the old one is no rate */
static void moves_while_hands_wait(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;
	uint32_t n = 0;
	uint64_t rate;

	rate = settled_rate(w, s);
	refuse(w, NULL, 0, -EALREADY, false);
	s->remote.ifindex = 2;
	polls(w, 3);
	assert_int_equal(paced_get(&w->kernel, 1, &s->remote.addr)->rate, rate);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(is_not_paced(&p, &n), 0);
	assert_int_equal(act_each(w->act, is_not_paced, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	w->n_refusals = 0;
	polls(w, 1);
	assert_null(paced_get(&w->kernel, 1, &s->remote.addr));
	assert_int_equal(paced_get(&w->kernel, 2, &s->remote.addr)->rate, rate);
	assert_said(w, "on eth2 now", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(device_goes_and_comes),
		TEST(device_is_back_for_all),
		TEST(device_is_back_for_none),
		TEST(device_comes_by_its_name),
		TEST(renamed),
		TEST(moves_to_another_device),
		TEST(moves_while_hands_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Windows against losses: what chance may hit, and which losses are too many for it.
 */
#include <linux/tcp.h>
#include <math.h>
#include <stdlib.h>

#include "ctcpd_flow.h"
#include "test.h"

#include "ctcpd/judge.h"
#include "ctcpd/response.h"

static struct flow with_window(const char *algorithm, uint32_t cwnd, uint32_t rtt_us)
{
	struct flow f;

	flow_begin(&f, algorithm);
	f.now.snd_cwnd = cwnd;
	f.now.snd_ssthresh = cwnd;
	f.now.rtt_us = rtt_us;
	return f;
}

/* Losses that go with a million segments at that window */
static double allowed(const char *algorithm, uint32_t cwnd, uint32_t rtt_us)
{
	struct flow f = with_window(algorithm, cwnd, rtt_us);
	struct response r = { .settled = true };

	next(&f, LOOK, 1000000);
	f.before = f.now;
	response_add(&r, &f.i);
	return r.allowed;
}

static void near(double got, double expected)
{
	if (fabs(got - expected) > expected / 1000)
		fail_msg("expected %g, got %g", expected, got);
}

/* W = sqrt(1.5 / p), and W = 1.054 (rtt / p)^0.75 where that is more */
static void test_allowed(void **state)
{
	(void)state;
	near(allowed("reno", 10, 100000), 15000);
	near(allowed("reno", 100, 100000), 150);
	near(allowed("reno", 1, 100000), 1000000);
	near(allowed("cubic", 10, 1000), 15000);
	near(allowed("cubic", 200, 100000), 1e5 * pow(1.054 / 200, 4 / 3.0));
	near(allowed("cubic", 200, 1000), 37.5);
	near(allowed("cubic", 1, 300000), 1000000);
	/* of others nothing is known */
	near(allowed("htcp", 200, 100000), 1000000);
	near(allowed("bbr", 200, 100000), 1000000);
}

/* Of two samples the mean: a window of 10 and one of 30 are one of 20 */
static void test_mean(void **state)
{
	struct flow f = with_window("reno", 10, RTT);
	struct response r = { .settled = true };

	(void)state;
	next(&f, LOOK, 1000000);
	f.now.snd_cwnd = 30;
	response_add(&r, &f.i);
	near(r.allowed, 3750);
}

static void lose(struct response *r, struct flow *f, uint32_t us)
{
	next(f, us, 1000)->retrans = 9;
	f->i.dsack_dups = 2;
	response_add(r, &f->i);
}

/* What was sent again for nothing was not lost; not the first cut, nor a poll, nor no window */
static void test_counted(void **state)
{
	struct flow f = with_window("reno", 10, RTT);
	struct response r = { 0 };

	(void)state;
	lose(&r, &f, LOOK);
	assert_true(r.lost == 7);
	near(r.allowed, 15);
	lose(&r, &f, LOOK_MOST_US);
	assert_true(r.lost == 14);
	lose(&r, &f, LOOK_MOST_US + 1);
	assert_true(r.lost == 14);
	f.now.snd_ssthresh = INFINITE_SSTHRESH;
	lose(&r, &f, LOOK);
	assert_true(r.lost == 14);
	f.now.snd_ssthresh = 10;
	f.now.snd_cwnd = 0;
	lose(&r, &f, LOOK);
	assert_true(r.lost == 14);
	near(r.allowed, 30);
	response_age(&r);
	assert_true(r.lost == 7);
	near(r.allowed, 15);
}

/* What is two minutes old counts for half, in a flow's facts, too. */
static void test_age(void **state)
{
	struct flow f = with_window("reno", 10, RTT);

	(void)state;
	next(&f, LOOK, 1000)->retrans = 8;
	add(&f);
	assert_true(f.loss.response.lost == 8);
	next(&f, 120000000, 1000);
	add(&f);
	next(&f, LOOK, 0);
	add(&f);
	assert_true(f.loss.response.lost == 4);
	near(f.loss.response.allowed, 7.5);
}

/* D-SACKs of what one look sent again come in the next, which sends nothing again. */
static void test_late_dsack(void **state)
{
	struct flow f = with_window("reno", 10, RTT);
	struct response r = { 0 };

	(void)state;
	lose(&r, &f, LOOK);
	next(&f, LOOK, 1000)->dsack_dups = 6;
	response_add(&r, &f.i);
	assert_true(r.lost == 1);
	next(&f, LOOK, 1000)->dsack_dups = 6;
	response_add(&r, &f.i);
	assert_true(r.lost == 0);
}

/* Behind slow start each cut leaves less than the one before, and a recovery lasts for looks. */
static void test_settles(void **state)
{
	struct flow f = with_window("reno", 1000, RTT);
	struct response r = { 0 };
	uint32_t ssthresh;

	(void)state;
	for (ssthresh = 500; ssthresh > 100; ssthresh /= 2) {
		next(&f, LOOK, 1000)->retrans = 9;
		f.now.snd_ssthresh = ssthresh;
		f.now.ca_state = TCP_CA_Recovery;
		response_add(&r, &f.i);
		lose(&r, &f, LOOK);	/* of the same recovery */
		f.now.ca_state = TCP_CA_Open;
		next(&f, LOOK, 1000);
		response_add(&r, &f.i);
	}
	assert_true(r.lost == 0);
	assert_true(r.allowed == 0);
	f.now.snd_ssthresh++;
	lose(&r, &f, LOOK);
	assert_true(r.lost == 7);
}

static void test_against_chance(void **state)
{
	struct response r = { .lost = 160, .allowed = 100 };

	(void)state;
	assert_true(response_against_chance(&r) == 0);
	r.lost = 320;	/* twice what is granted to the model */
	near(response_against_chance(&r), 320 * log(2) - 160);
	r = (struct response){ .lost = 10 };
	assert_true(response_against_chance(&r) == 0);	/* nothing was sent */
}

/*
 * Ten losses in each look at the ceiling of its rate, as even as chance leaves them: with a
 * window of 10 of 1000 segments that is chance, with one of 20 it is not.
 */
static struct flow at_ceiling(const char *algorithm, uint32_t cwnd)
{
	static const uint32_t lost[] = { 14, 15, 13, 6, 5, 7, 10, 10 };
	struct flow f = with_window(algorithm, cwnd, 5000);
	unsigned int i;

	f.now.snd_wnd = 1 << 20;
	f.now.unacked = cwnd;
	for (i = 0; i < 80; i++) {
		next(&f, LOOK, 1000)->retrans = lost[i % ARRAY_SIZE(lost)];
		f.now.snd_ssthresh = 7 + i * 7 % 23;	/* at any window */
		add(&f);
	}
	return f;
}

static void test_verdict(void **state)
{
	struct flow f = at_ceiling("reno", 10);

	(void)state;
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
	f = at_ceiling("reno", 20);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	f = at_ceiling("htcp", 20);
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
}

/* One of four that are asked: 9.2 + ln 4 is 10.6. */
static void test_one_of_four(void **state)
{
	struct flow f = at_ceiling("htcp", 20);

	(void)state;
	f.loss.response.allowed = 10.2F;
	f.loss.response.lost = 38;
	near(response_against_chance(&f.loss.response), 10.437);
	expect(&f, VERDICT_UNKNOWN, REASON_FEW_LOSSES);
	f.loss.response.lost = 39;
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_late_dsack),
		cmocka_unit_test(test_settles),
		cmocka_unit_test(test_against_chance),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_one_of_four),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

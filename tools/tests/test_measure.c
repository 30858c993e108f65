// SPDX-License-Identifier: GPL-2.0
/*
 * What follows from two looks at a circuit's counters: the verdict, the likely reason, and
 * counters that went back; and how it is told.
 */
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "conn.h"
#include "print.h"

#define RATE	125000000ULL	/* bytes/s: 1 gbit */
#define WIRE	1514U
#define SECOND	1000000ULL
#define FULL	82562U		/* segments of WIRE in a second */

static const struct circuit circuit = {
	.dev = "eth1", .name = "lhc", .rate = RATE, .rtt_us = 26000, .multiple = 1300,
	.streams = 1, .shaper = SHAPER_NONE, .pace = true, .n_to = 1,
};

static const struct plan plan = {
	.wire = WIRE, .payload = 1448, .fcwnd = 2791, .limit = 4225574,
};

/* At second @s, with the rate in thousandths of what was planned, by both counters */
static struct look look(unsigned int s, unsigned int permille)
{
	struct look l = {
		.at = 100 * SECOND + s * SECOND, .module = true, .id = 3, .window = 2791,
		.rate = RATE, .hungry = 1, .delivered = 1000 + (uint64_t)FULL * s * permille / 1000,
		.lost = 7, .shaper = true, .listed = true, .streams = 2, .wanting = 1,
		.min_rtt = 26000, .mss = 1448, .work = { .busy = SECOND },
	};

	l.stats.bytes = 5000 + RATE * s * permille / 1000;
	l.stats.packets = 10 + l.delivered;
	l.stats.drops = 5;
	return l;
}

/* Six looks, a second apart */
static struct measure measure(unsigned int permille)
{
	struct measure m = { 0 };
	unsigned int s;

	for (s = 0; s <= 5; s++) {
		struct look l = look(s, permille);

		measure_add(&m, &l);
	}
	return m;
}

static struct judgement judge(const struct measure *m)
{
	struct judgement j;

	measure_judge(m, &circuit, &plan, &j);
	return j;
}

static void is(const struct measure *m, enum verdict verdict, enum reason reason)
{
	struct judgement j = judge(m);

	assert_string_equal(measure_verdict_name(j.verdict), measure_verdict_name(verdict));
	assert_string_equal(measure_reason_name(j.reason), measure_reason_name(reason));
}

static void near(uint64_t got, uint64_t want)
{
	assert_in_range(got, want - want / 1000, want + want / 1000);
}

/* --- verdicts --------------------------------------------------------------- */

static void test_held(void **state)
{
	struct measure m = measure(1000);
	struct judgement j = judge(&m);

	(void)state;
	is(&m, VERDICT_HELD, REASON_NONE);
	assert_int_equal(j.us, 5 * SECOND);
	assert_int_equal(j.planned, RATE);
	near(j.achieved, RATE);
	near(j.sent, RATE);
	assert_int_equal(j.delivered, 5 * FULL);
	/* what they were before the first look is nobody's business */
	assert_int_equal(j.lost, 0);
	assert_int_equal(j.drops, 0);
	assert_int_equal(m.looks, 6);
	assert_int_equal(m.wanted, 6);
}

/* Of what the module counts the last 100 ms may be missing: 2 % of 5 s. */
static void test_threshold(void **state)
{
	struct measure m = measure(950);

	(void)state;
	is(&m, VERDICT_HELD, REASON_NONE);
	m = measure(932);
	m.last.shaper = false;
	is(&m, VERDICT_HELD, REASON_NONE);
	m = measure(929);
	m.last.shaper = false;
	is(&m, VERDICT_SHORT, REASON_UNEXPLAINED);
	/* a shaper counts each packet as it leaves, also one that others use */
	m = measure(932);
	is(&m, VERDICT_SHORT, REASON_UNEXPLAINED);
	m = measure(949);
	m.own = true;
	is(&m, VERDICT_SHORT, REASON_UNEXPLAINED);
	m = measure(951);
	m.own = true;
	is(&m, VERDICT_HELD, REASON_NONE);
}

static void test_not_busy(void **state)
{
	struct measure m = measure(0);

	(void)state;
	m.wanted = 0;
	is(&m, VERDICT_IDLE, REASON_NONE);
	m.wanted = 1;
	is(&m, VERDICT_LIGHT, REASON_NONE);
	m = measure(300);
	m.wanted = 0;
	is(&m, VERDICT_LIGHT, REASON_NONE);
	m.looks = 20;
	m.wanted = 17;
	is(&m, VERDICT_LIGHT, REASON_NONE);
	m.wanted = 18;
	is(&m, VERDICT_SHORT, REASON_UNEXPLAINED);
	/* one that wants nothing more may be at its rate */
	m = measure(1000);
	m.wanted = 0;
	is(&m, VERDICT_HELD, REASON_NONE);
}

/* What is wanted: unsent data; a backlog where it is the circuit's; else the module's word. */
static void test_wanted(void **state)
{
	static const struct {
		bool listed, own;
		uint32_t wanting, hungry, backlog, wanted;
	} rows[] = {
		{ true, false, 1, 0, 0, 1 },
		{ true, false, 0, 1, 0, 0 },	/* data in flight is not enough */
		{ true, false, 0, 0, 9000, 0 },
		{ true, true, 0, 0, 9000, 1 },
		{ false, false, 0, 1, 0, 1 },
		{ false, false, 0, 0, 0, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct measure m = { .own = rows[i].own };
		struct look l = look(0, 1000);

		l.listed = rows[i].listed;
		l.wanting = rows[i].wanting;
		l.hungry = rows[i].hungry;
		l.stats.backlog = rows[i].backlog;
		measure_add(&m, &l);
		assert_int_equal(m.wanted, rows[i].wanted);
	}
}

/* --- what is achieved ------------------------------------------------------- */

/* Short segments are each counted by the module, the shaper counts their bytes. */
static void test_achieved(void **state)
{
	struct measure m = measure(1000);
	struct judgement j;

	(void)state;
	m.last.stats.bytes = m.first.stats.bytes + RATE;
	j = judge(&m);
	near(j.achieved, RATE / 5);
	/* where the path has a smaller MTU a segment has less in it */
	m = measure(500);
	m.last.shaper = false;
	m.first.shaper = false;
	m.last.mss = 724;
	j = judge(&m);
	near(j.achieved, RATE / 2 * (WIRE - 724) / WIRE);
	/* without the module, what was acknowledged, in a shaper that others use, too */
	m = measure(1000);
	m.first.module = false;
	m.last.module = false;
	m.last.delivered = m.first.delivered;
	m.work.acked = RATE / WIRE * 1448;
	j = judge(&m);
	near(j.achieved, RATE / 5);
	is(&m, VERDICT_SHORT, REASON_OTHERS);
	m.work.acked = 6 * RATE;
	j = judge(&m);
	near(j.achieved, RATE);
	m.work.acked = RATE / WIRE * 1448;
	m.last.shaper = false;
	j = judge(&m);
	near(j.achieved, RATE / 5);
	/* where the kernel does not list connections either, what the shaper sent */
	m = measure(500);
	m.first.module = false;
	m.last.module = false;
	m.last.delivered = m.first.delivered;
	m.last.listed = false;
	j = judge(&m);
	near(j.achieved, RATE / 2);
	is(&m, VERDICT_SHORT, REASON_UNEXPLAINED);
	/* what was lost behind its own shaper did not arrive */
	m = measure(1000);
	m.own = true;
	m.last.lost += FULL;
	j = judge(&m);
	near(j.achieved, RATE - RATE / 5);
	is(&m, VERDICT_SHORT, REASON_LOSS);
	/* neither counts it */
	m.first.module = false;
	m.last.module = false;
	m.first.shaper = false;
	m.last.shaper = false;
	m.last.listed = false;
	is(&m, VERDICT_UNKNOWN, REASON_NO_COUNTER);
}

/* A day at the highest rate, and the shortest time */
static void test_range(void **state)
{
	struct circuit c = circuit;
	struct measure m = measure(0);
	struct judgement j;

	(void)state;
	c.rate = 125000000000ULL;
	m.last.at = m.first.at + 86400 * SECOND;
	m.last.delivered = m.first.delivered + c.rate / WIRE * 86400;
	m.last.stats.bytes = m.first.stats.bytes + c.rate * 86400;
	measure_judge(&m, &c, &plan, &j);
	near(j.achieved, c.rate);
	assert_int_equal(j.verdict, VERDICT_HELD);
	m.last.at = m.first.at + 1;
	m.last.delivered = m.first.delivered;
	measure_judge(&m, &c, &plan, &j);
	assert_int_equal(j.achieved, 0);
	m.last.at = m.first.at;
	is(&m, VERDICT_UNKNOWN, REASON_NO_COUNTER);
}

/* --- reasons ---------------------------------------------------------------- */

static void test_reasons(void **state)
{
	struct circuit c = circuit;
	struct plan p = plan;
	struct judgement j;
	struct measure m;

	(void)state;
	m = measure(500);
	m.work.sndbuf = m.work.busy / 2 + 1;
	is(&m, VERDICT_SHORT, REASON_SNDBUF);
	m.work.rwnd = m.work.busy / 2;
	is(&m, VERDICT_SHORT, REASON_SNDBUF);
	m.work.rwnd++;
	is(&m, VERDICT_SHORT, REASON_RWND);
	/* 2791 segments in 26 ms are 1.3 times the rate, in 36 ms 0.94 */
	m.last.min_rtt = 35000;
	is(&m, VERDICT_SHORT, REASON_RWND);
	m.last.min_rtt = 36000;
	is(&m, VERDICT_SHORT, REASON_WINDOW);
	near(judge(&m).most, 2791ULL * WIRE * 1000 / 36);
	/* fq holds each of eight to its part, and one sends */
	c.shaper = SHAPER_FQ;
	c.streams = 8;
	p.maxrate = (uint32_t)(RATE / 8);
	measure_judge(&m, &c, &p, &j);
	assert_int_equal(j.reason, REASON_STREAMS);
	assert_int_equal(j.most, RATE / 8);
	m.last.wanting = 8;
	measure_judge(&m, &c, &p, &j);
	assert_int_equal(j.reason, REASON_WINDOW);
	p.maxrate = FQ_NO_MAXRATE;
	m.last.wanting = 1;
	measure_judge(&m, &c, &p, &j);
	assert_int_equal(j.reason, REASON_WINDOW);
	/* one of a thousand */
	m.last.lost = m.first.lost + 5 * FULL / 2 / 1000 - 1;
	is(&m, VERDICT_SHORT, REASON_WINDOW);
	m.last.lost += 2;
	is(&m, VERDICT_SHORT, REASON_LOSS);
	m.last.astray = 1;
	is(&m, VERDICT_SHORT, REASON_ALGORITHM);
	m.last.stats.bytes = m.first.stats.bytes + 5 * RATE;
	is(&m, VERDICT_SHORT, REASON_OTHERS);
	m.last.stats.drops++;
	is(&m, VERDICT_SHORT, REASON_DROPS);
	m.last.trips++;
	is(&m, VERDICT_SHORT, REASON_BREAKER);
	m.last.trips--;
	m.tripped = 1;
	is(&m, VERDICT_SHORT, REASON_BREAKER);
}

/* What runs another algorithm may want nothing while it is far below the rate. */
static void test_carried_elsewhere(void **state)
{
	struct measure m = measure(500);

	(void)state;
	m.wanted = 0;
	m.last.active = 2;
	m.last.active_astray = 2;
	is(&m, VERDICT_SHORT, REASON_ALGORITHM);
	m.last.active_astray = 1;
	is(&m, VERDICT_LIGHT, REASON_NONE);
	m = measure(1000);
	m.last.active = 1;
	m.last.active_astray = 1;
	is(&m, VERDICT_HELD, REASON_NONE);
	/* less than a hundredth of the rate is no load */
	m = measure(9);
	m.wanted = 0;
	m.last.active = 1;
	m.last.active_astray = 1;
	is(&m, VERDICT_IDLE, REASON_NONE);
}

/* A breaker that was open at any look */
static void test_breaker(void **state)
{
	struct measure m = measure(10);
	struct look l = look(6, 10);

	(void)state;
	l.tripped = 2;
	measure_add(&m, &l);
	l = look(7, 10);
	measure_add(&m, &l);
	is(&m, VERDICT_SHORT, REASON_BREAKER);
}

/* --- counters that go back -------------------------------------------------- */

static void again(void (*change)(struct look *l), enum verdict verdict, enum reason reason)
{
	struct measure m = measure(500);
	struct look l = look(6, 500);

	change(&l);
	measure_add(&m, &l);
	is(&m, verdict, reason);
	/* what follows goes on from there, and what lies between stays unknown */
	l.at += SECOND;
	l.delivered += FULL;
	l.stats.bytes += RATE;
	l.stats.packets += FULL;
	measure_add(&m, &l);
	is(&m, verdict, reason);
}

static void nothing(struct look *l) { (void)l; }
static void other_id(struct look *l) { l->id++; }
static void delivered_back(struct look *l) { l->delivered = 5; }
static void lost_back(struct look *l) { l->lost--; }
static void other_rate(struct look *l) { l->rate /= 2; }
static void bytes_back(struct look *l) { l->stats.bytes = 60; }
static void packets_back(struct look *l) { l->stats.packets = 1; }

static void no_module(struct look *l)
{
	l->module = false;
}

static void no_shaper(struct look *l)
{
	l->shaper = false;
}

static void test_anew(void **state)
{
	(void)state;
	again(nothing, VERDICT_SHORT, REASON_UNEXPLAINED);
	again(other_id, VERDICT_UNKNOWN, REASON_MODULE_ANEW);
	again(delivered_back, VERDICT_UNKNOWN, REASON_MODULE_ANEW);
	again(lost_back, VERDICT_UNKNOWN, REASON_MODULE_ANEW);
	again(no_module, VERDICT_UNKNOWN, REASON_MODULE_ANEW);
	again(other_rate, VERDICT_UNKNOWN, REASON_RATE_CHANGED);
	again(bytes_back, VERDICT_UNKNOWN, REASON_SHAPER_ANEW);
	again(packets_back, VERDICT_UNKNOWN, REASON_SHAPER_ANEW);
	again(no_shaper, VERDICT_UNKNOWN, REASON_SHAPER_ANEW);
}

/* That of drops has 32 bits; the rate is known all the same. */
static void test_wrapped(void **state)
{
	struct measure m = measure(1000);
	struct look l = look(6, 1000);
	struct judgement j;

	(void)state;
	l.stats.drops = 0;
	measure_add(&m, &l);
	j = judge(&m);
	assert_int_equal(j.verdict, VERDICT_HELD);
	assert_int_equal(j.drops, 0);
	assert_int_equal(m.broken, BROKEN_DROPS);
}

/* --- print ------------------------------------------------------------------ */

static char *row(const struct measure *m)
{
	struct judgement j = judge(m);
	const struct measured one = { &circuit, &plan, m, &j, "" };
	char *got = NULL;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	print_measured(out, 7, &one);
	fclose(out);
	return got;
}

static void row_is(const struct measure *m, const char *want)
{
	char *got = row(m);

	assert_string_equal(got, want);
	free(got);
}

static void test_rows(void **state)
{
	struct measure m = measure(1000);

	(void)state;
	row_is(&m,
	       "lhc           1gbit       1gbit    125 MB/s  100.0   100%        0      0%  held\n");
	m = measure(423);
	m.last.lost += 5000;
	row_is(&m,
	       "lhc           1gbit     423mbit  52.87 MB/s   42.3   100%        0   2.78%  short: 2.78% of the segments were lost behind the shaper\n");
	m.broken = BROKEN_SHAPER;
	row_is(&m,
	       "lhc           1gbit           -           -      -      -        -       -  unknown: its shaper came, went, or was made anew meanwhile\n");
	m = measure(0);
	m.wanted = 0;
	m.broken = BROKEN_DROPS;
	row_is(&m,
	       "lhc           1gbit        0bit   0 bytes/s    0.0     0%        -      0%  idle: nothing wanted to send\n");
	m = measure(100);
	m.wanted = 2;
	row_is(&m,
	       "lhc           1gbit     100mbit   12.5 MB/s   10.0    33%        0      0%  light: wanted to send more at 2 of 6 looks only\n");
}

static void why_is(const struct measure *m, const char *want)
{
	struct judgement j = judge(m);
	const struct measured one = { &circuit, &plan, m, &j, "" };
	char why[WHY_TEXT];

	assert_string_equal(measured_why(&one, why, sizeof(why)), want);
}

static void test_why(void **state)
{
	struct measure m = measure(500);

	(void)state;
	why_is(&m, "no counter of this host tells why; the path may carry less, or a processor be busy");
	m.work.rwnd = m.work.busy * 3 / 4;
	why_is(&m, "the far side's receive window held its streams for 75% of the time");
	m.last.min_rtt = 62000;
	why_is(&m, "2791 segments of window carry 545.2mbit at a round trip of 62ms; --rtt says 26ms");
	m.last.wanting = 3;
	m.last.astray = 2;
	why_is(&m, "2 of 3 streams run another algorithm than circuit; ctcp-setup adopt lhc gives it to them");
	m.last.astray = 0;
	m.last.active = 2;
	m.last.active_astray = 2;
	why_is(&m, "its streams run another algorithm than circuit; ctcp-setup adopt lhc gives it to them");
	m.last.stats.bytes = m.first.stats.bytes + 5 * RATE;
	why_is(&m, "other traffic has 500mbit of what the shaper on eth1 sends");
	m.last.stats.drops = 6;
	why_is(&m, "the shaper on eth1 dropped 1 packet");
	m.tripped = 1;
	why_is(&m, "a breaker tripped, and is closed again");
	m.last.tripped = 1;
	why_is(&m, "the breaker has cut the window of 1 user; ctcp-setup reset lhc gives it back");
}

static void number_is(const json_t *root, const char *key, json_int_t want)
{
	const json_t *got = json_object_get(root, key);

	assert_non_null(got);
	assert_true(json_is_integer(got));
	assert_int_equal(json_integer_value(got), want);
}

static void test_json(void **state)
{
	static const char * const counters[] = {
		"achieved_bit_s", "duration_us", "delivered_segments", "lost_segments",
		"shaper_bit_s", "drops", "backlog_bytes", "streams", "min_rtt_us",
	};
	struct measure m = measure(1000);
	struct judgement j = judge(&m);
	const struct measured one = { &circuit, &plan, &m, &j, "no such device" };
	json_t *got = json_measured(&one);
	size_t i;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(got, "verdict")), "held");
	assert_true(json_is_null(json_object_get(got, "reason")));
	assert_true(json_is_null(json_object_get(got, "why")));
	number_is(got, "planned_bit_s", 1000000000);
	number_is(got, "achieved_bit_s", (json_int_t)j.achieved * 8);
	number_is(got, "duration_us", 5000000);
	number_is(got, "looks", 6);
	number_is(got, "delivered_segments", 5 * FULL);
	number_is(got, "drops", 0);
	number_is(got, "min_rtt_us", 26000);
	assert_true(json_is_false(json_object_get(got, "shaper_own")));
	json_decref(got);
	/* what is not known is null */
	j = (struct judgement){ .planned = RATE, .reason = REASON_UNPLANNED };
	got = json_measured(&one);
	assert_string_equal(json_string_value(json_object_get(got, "verdict")), "unknown");
	assert_string_equal(json_string_value(json_object_get(got, "reason")), "unplanned");
	assert_string_equal(json_string_value(json_object_get(got, "why")), "no such device");
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		assert_true(json_is_null(json_object_get(got, counters[i])));
	json_decref(got);
}

/* --- tcp_info --------------------------------------------------------------- */

static void test_info(void **state)
{
	struct tcp_info ti = {
		.tcpi_min_rtt = 26000, .tcpi_snd_mss = 1448, .tcpi_notsent_bytes = 70000,
		.tcpi_bytes_acked = 1ULL << 40, .tcpi_busy_time = 5000000,
		.tcpi_rwnd_limited = 4000000, .tcpi_sndbuf_limited = 300,
	};
	char longer[sizeof(ti) + 64] = { 0 };
	struct conn c = { 0 };

	(void)state;
	memcpy(longer, &ti, sizeof(ti));
	conn_info(longer, sizeof(longer), &c);
	assert_int_equal(c.min_rtt, 26000);
	assert_int_equal(c.mss, 1448);
	assert_int_equal(c.unsent, 70000);
	assert_true(c.acked == 1ULL << 40);
	assert_int_equal(c.busy, 5000000);
	assert_int_equal(c.rwnd, 4000000);
	assert_int_equal(c.sndbuf, 300);
	/* an older kernel's ends before these */
	conn_info(&ti, offsetof(struct tcp_info, tcpi_busy_time), &c);
	assert_int_equal(c.min_rtt, 26000);
	assert_int_equal(c.busy, 0);
	assert_int_equal(c.sndbuf, 0);
	ti.tcpi_min_rtt = UINT32_MAX;
	conn_info(&ti, sizeof(ti), &c);
	assert_int_equal(c.min_rtt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_not_busy),
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_achieved),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_carried_elsewhere),
		cmocka_unit_test(test_breaker),
		cmocka_unit_test(test_anew),
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_info),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

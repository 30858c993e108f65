// SPDX-License-Identifier: GPL-2.0
/*
 * The policy: each verdict from made-up intervals, each constant of judge.c just below and
 * just above it, which of two causes comes first, chance against other losses, and what
 * several flows say of a remote.
 */
#include <linux/tcp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctcpd_flow.h"
#include "test.h"

#include "ctcpd/judge.h"

#define UNCUT	0x7fffffffU	/* ssthresh before the first loss */

/* --- a flow that a test moves on by what it says --------------------------- */

static void begin(struct flow *f, const char *algorithm)
{
	flow_begin(f, algorithm);
	f->now.conn.min_rtt = RTT;
	f->now.snd_cwnd = 1000;
	f->now.unacked = 1000;
	f->now.snd_wnd = 8000000;
	f->now.snd_ssthresh = UNCUT;
	f->now.delivery_rate = 12500000;
}

static void same_name(enum verdict got, enum verdict wanted)
{
	assert_string_equal(verdict_name(got), verdict_name(wanted));
}

/* @n polls of a flow that sends 10 Mbit/s, all of them alike but for what @change does */
static void polls(struct flow *f, unsigned int n, void (*change)(struct interval *i))
{
	for (; n; n--) {
		next(f, POLL, 4300);
		if (change)
			change(&f->i);
		add(f);
	}
}

/* --- too little ------------------------------------------------------------ */

static void test_first_sample(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	expect(&f, VERDICT_UNKNOWN, REASON_FIRST_SAMPLE);
	assert_false(judge_wants_looks(&f.facts));
	polls(&f, 1, NULL);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);
}

static void test_tiny(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	next(&f, POLL, 300)->acked = 999999;
	add(&f);
	expect(&f, VERDICT_UNKNOWN, REASON_TINY);
	next(&f, POLL, 0)->acked = 1;
	add(&f);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);

	begin(&f, "cubic");
	next(&f, POLL, 299)->acked = 9000000;
	add(&f);
	expect(&f, VERDICT_UNKNOWN, REASON_TINY);
	next(&f, POLL, 1)->acked = 0;
	add(&f);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);
}

/* However much it loses: of a tiny flow nothing is said, and nobody looks at it. */
static void test_tiny_lossy(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	next(&f, POLL, 299)->retrans = 150;
	add(&f);
	expect(&f, VERDICT_UNKNOWN, REASON_TINY);
	assert_false(judge_wants_looks(&f.facts));
}

static void test_brief(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	next(&f, 1999999, 100000);
	add(&f);
	expect(&f, VERDICT_UNKNOWN, REASON_BRIEF);
	next(&f, 1, 0);
	add(&f);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);
}

/* --- held by an end -------------------------------------------------------- */

static void rwnd_half(struct interval *i)
{
	i->rwnd = i->us / 2;
}

static void rwnd_less(struct interval *i)
{
	i->rwnd = i->us / 2 - 5000;
}

static void sndbuf_half(struct interval *i)
{
	i->sndbuf = i->us / 2;
	((struct sample *)i->now)->app_limited = true;
}

static void sndbuf_less(struct interval *i)
{
	i->sndbuf = i->us / 2 - 5000;
}

static void idle_half(struct interval *i)
{
	i->busy = i->us / 2;
}

static void idle_less(struct interval *i)
{
	i->busy = i->us / 2 + 5000;
}

static void test_ends(void **state)
{
	static const struct {
		void (*change)(struct interval *i);
		enum verdict verdict;
		enum reason reason;
	} rows[] = {
		{ rwnd_half, VERDICT_REMOTE_WINDOW, REASON_TIME },
		{ rwnd_less, VERDICT_CLEAN, REASON_NO_LOSS },
		{ sndbuf_half, VERDICT_SEND_BUFFER, REASON_TIME },
		{ sndbuf_less, VERDICT_CLEAN, REASON_NO_LOSS },
		{ idle_half, VERDICT_APPLICATION, REASON_TIME },
		{ idle_less, VERDICT_CLEAN, REASON_NO_LOSS },
	};
	struct flow f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(&f, "cubic");
		polls(&f, 6, rows[i].change);
		expect(&f, rows[i].verdict, rows[i].reason);
	}
}

/* Time with data that the sender's rate sample calls app-limited is the application's, but
 * for what the kernel says a window or a buffer held.
 */
static void test_shares(void **state)
{
	struct judgement j;
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	f.now.app_limited = true;
	next(&f, POLL, 4000);
	f.i.busy = 4000000;
	f.i.rwnd = 1000000;
	f.i.sndbuf = 500000;
	add(&f);
	j = judged(&f);
	assert_int_equal(j.busy, 800);
	assert_int_equal(j.rwnd, 200);
	assert_int_equal(j.sndbuf, 100);
	assert_int_equal(j.app, 700);
	assert_int_equal(j.us, POLL);
	assert_int_equal(j.acked, 4000 * MSS);
	assert_int_equal(j.rate, 4000 * MSS / 5);
	assert_int_equal(j.best_rate, 12500000);
	assert_int_equal(j.cwnd_mean, 1000);
	assert_int_equal(j.snd_wnd_max, 8000000);
}

/* --- a window of the application's own ------------------------------------- */

/* App-limited polls with so many segments each, at so long a round trip; 0 ends the list */
struct written {
	uint32_t segs, rtt;
};

static void write_all(struct flow *f, const struct written *w)
{
	begin(f, "cubic");
	f->now.app_limited = true;
	for (; w->segs; w++) {
		f->now.rtt_us = w->rtt;
		next(f, POLL, w->segs);
		f->now.rtt_us = w->rtt;
		add(f);
	}
}

static void test_own_window(void **state)
{
	static const struct written same[] = {
		{ 5000, RTT }, { 5000, RTT }, { 5000, RTT }, { 5000, RTT }, { 0, 0 }
	};
	/* the longer the way, the slower: 250 segments in flight */
	static const struct written window[] = {
		{ 25000, RTT }, { 12500, 2 * RTT }, { 16667, 75000 }, { 20000, 62500 }, { 0, 0 }
	};
	static const struct written rate[] = {
		{ 5000, RTT }, { 5000, 2 * RTT }, { 5000, 75000 }, { 5000, 62500 }, { 0, 0 }
	};
	static const struct written uneven[] = {
		{ 5000, RTT }, { 9000, RTT }, { 2000, RTT }, { 7000, RTT }, { 0, 0 }
	};
	/* a rate of its own over a way that changes by a tenth: the product does, too */
	static const struct written tenth[] = {
		{ 5000, RTT }, { 5000, 51700 }, { 5000, 53400 }, { 5000, 55100 }, { 0, 0 }
	};
	struct flow f;

	(void)state;
	write_all(&f, same);
	expect(&f, VERDICT_APP_WINDOW, REASON_FLIGHT);
	write_all(&f, window);
	expect(&f, VERDICT_APP_WINDOW, REASON_FLIGHT);
	write_all(&f, rate);
	expect(&f, VERDICT_APPLICATION, REASON_TIME);
	write_all(&f, uneven);
	expect(&f, VERDICT_APPLICATION, REASON_TIME);
	write_all(&f, tenth);
	expect(&f, VERDICT_APPLICATION, REASON_TIME);
}

static void idle_tenth(struct interval *i)
{
	((struct sample *)i->now)->app_limited = true;
	i->busy = i->us * 9 / 10;
}

static void idle_more(struct interval *i)
{
	((struct sample *)i->now)->app_limited = true;
	i->busy = i->us * 9 / 10 - 5000;
}

/* With nothing in flight for a tenth of the time it is no window that it waits for. */
static void test_own_window_idle(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	polls(&f, 4, idle_tenth);
	expect(&f, VERDICT_APP_WINDOW, REASON_FLIGHT);
	begin(&f, "cubic");
	polls(&f, 4, idle_more);
	expect(&f, VERDICT_APPLICATION, REASON_TIME);
}

/* Nor does the kernel's flag decide alone: nothing waits, and the window has room. */
static void test_hidden_flag(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "bbr");
	f.now.unacked = 10;
	polls(&f, 4, NULL);
	expect(&f, VERDICT_APP_WINDOW, REASON_FLIGHT);

	begin(&f, "bbr");
	f.now.unacked = 1010;
	f.now.sacked = 6;
	f.now.lost = 5;
	f.now.retrans = 1;
	polls(&f, 4, NULL);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);	/* 1000 in flight: a full window */
	f.now.lost = 6;
	polls(&f, 8, NULL);
	expect(&f, VERDICT_APP_WINDOW, REASON_FLIGHT);

	begin(&f, "bbr");
	f.now.unacked = 10;
	f.now.conn.unsent = MSS;
	polls(&f, 4, NULL);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);
}

/* --- a path, round by round ------------------------------------------------ */

/*
 * A sender whose window grows by a segment in each round trip and is cut by @cut when
 * something is lost: by chance, of each segment; or as the bottleneck has room for @room.
 */
struct path {
	double chance;
	uint32_t room;		/* segments in flight, 0 = any number */
	double others;		/* how much of the room other people may take, anew each second */
	bool heedless;		/* the window stays: BBR, for one */
	uint32_t rtt;		/* us, a divisor of LOOK */
	unsigned short seed[3];
	uint32_t cwnd, now_room;
	struct flow f;
};

static void open_path(struct path *p, unsigned int seed, const char *algorithm)
{
	p->seed[0] = (unsigned short)seed;
	p->seed[1] = 4711;
	p->seed[2] = 17;
	p->cwnd = 60;
	p->now_room = p->room;
	begin(&p->f, algorithm);
	p->f.now.rtt_us = p->rtt;
	if (!p->heedless)
		p->f.now.snd_ssthresh = 40;
}

static uint32_t by_chance(struct path *p, uint32_t segs)
{
	uint32_t lost = 0;

	for (; segs; segs--)
		lost += erand48(p->seed) < p->chance;
	return lost;
}

static uint32_t one_round(struct path *p)
{
	uint32_t lost = by_chance(p, p->cwnd);

	if (p->room && p->cwnd > p->now_room)
		lost += p->cwnd - p->now_room;
	p->f.i.segs += p->cwnd;
	p->f.i.retrans += lost;
	p->f.i.acked += (uint64_t)(p->cwnd - lost) * MSS;
	if (p->heedless)
		return lost;
	if (lost) {
		p->f.now.snd_ssthresh = p->cwnd / 2 > 2 ? p->cwnd / 2 : 2;
		p->cwnd = p->f.now.snd_ssthresh;
	} else {
		p->cwnd++;
	}
	return lost;
}

/* So many looks of 200 ms */
static void run_path(struct path *p, unsigned int looks)
{
	unsigned int i, round;

	for (i = 0; i < looks; i++) {
		if (p->others > 0 && i % 5 == 0)
			p->now_room = (uint32_t)(p->room * (1 - p->others * erand48(p->seed)));
		next(&p->f, LOOK, 0);
		for (round = 0; round < LOOK / p->rtt; round++)
			one_round(p);
		p->f.now.snd_cwnd = p->cwnd;
		p->f.now.unacked = p->cwnd;
		add(&p->f);
	}
}

#define SEEDS	300U

/* Whatever the chance: never an overrun, and loss where there is enough to tell. */
static void test_chance(void **state)
{
	static const uint32_t rtts[] = { 2000, 10000, 50000, 200000 };
	unsigned int seed, told = 0;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		struct path p = {
			.chance = 0.01 * pow(0.001, seed % 30 / 29.0), .rtt = rtts[seed % 4],
		};
		enum verdict v;

		open_path(&p, seed, "reno");
		run_path(&p, 200);
		v = judged(&p.f).verdict;
		if (v == VERDICT_OVERRUN)
			fail_msg("seed %u, loss %g, rtt %u us: an overrun by chance", seed,
				 p.chance, p.rtt);
		told += v == VERDICT_LOSS;
	}
	assert_in_range(told, SEEDS * 6 / 10, SEEDS);
}

/* BBR's window is the path's: each loss is by chance all the same. */
static void test_chance_heedless(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		struct path p = {
			.chance = 0.01 * pow(0.1, seed % 30 / 29.0), .rtt = 20000,
			.heedless = true,
		};

		open_path(&p, seed, "bbr");
		run_path(&p, 200);
		same_name(judged(&p.f).verdict, VERDICT_LOSS);
		assert_int_equal(judged(&p.f).reason, REASON_RANDOM);
	}
}

/* The bottleneck has the same room each time, and loses a little by chance besides. */
static void test_overrun(void **state)
{
	static const uint32_t rtts[] = { 2000, 10000, 50000, 100000 };
	unsigned int seed;

	(void)state;
	for (seed = 0; seed < 40; seed++) {
		struct path p = {
			.room = 20 + 4 * (seed / 4), .rtt = rtts[seed % 4],
			.chance = seed % 2 ? 0 : 0.00002,
		};

		open_path(&p, seed, "reno");
		run_path(&p, 250);
		same_name(judged(&p.f).verdict, VERDICT_OVERRUN);
	}
}

/* Room that other people leave, more or less: it is not the receiver's. */
static void test_others(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 0; seed < 40; seed++) {
		struct path p = { .room = 150, .others = 0.8, .rtt = 20000 };

		open_path(&p, seed, "cubic");
		run_path(&p, 200);
		same_name(judged(&p.f).verdict, VERDICT_LOSS);
	}
}

/* --- senders that do not heed loss ----------------------------------------- */

/* Looks, of which each tenth loses @lost; the rate of second number s is rate(s) */
static void probe(struct flow *f, unsigned int looks, uint32_t lost, uint32_t (*rate)(uint32_t s))
{
	unsigned int i;

	for (i = 0; i < looks; i++) {
		next(f, LOOK, rate(i / 5));
		f->i.retrans = i % 10 ? 0 : lost;
		add(f);
	}
}

/* The highest rate comes first, so that no loss is behind it */
static uint32_t falling(uint32_t s)
{
	return 1300 - 100 * (s % 7);
}

static uint32_t steady(uint32_t s)
{
	return 1000 + s % 2;
}

static uint32_t changing(uint32_t s)
{
	return 700 + 100 * (s % 7);
}

static void test_bursts(void **state)
{
	struct judgement j;
	struct flow f;

	(void)state;
	begin(&f, "bbr");
	probe(&f, 100, 30, steady);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	j = judged(&f);
	assert_int_equal(j.levels, 0);
	assert_in_range(j.dispersion, 2000, 3000);
	begin(&f, "bbr");
	probe(&f, 100, 30, changing);
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
	/* the same number, a few in each look */
	begin(&f, "bbr");
	probe(&f, 100, 0, steady);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);
}

/* A tenth of its time the peer's window holds it: such a look is not asked for a ceiling. */
static void hide_ceiling(struct interval *i)
{
	i->rwnd = i->us / 10;
}

/* Ten seconds that lose, of rates @step apart: two of three lie within six steps, of 1000 + 5 */
static struct flow at_rates(uint32_t step)
{
	struct flow f;
	unsigned int i;

	begin(&f, "bbr");
	for (i = 0; i < 100; i++) {
		next(&f, LOOK, 1000 + step * (i / 10 * 3 % 10))->retrans = i % 10 ? 0 : 30;
		hide_ceiling(&f.i);
		add(&f);
	}
	return f;
}

/* 5.7 % is one rate, 6.3 is not. */
static void test_one_rate(void **state)
{
	struct flow f = at_rates(10);

	(void)state;
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	f = at_rates(11);
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

/* What is acknowledged waits for a hole to be filled; what is delivered does not. */
static void test_delivered(void **state)
{
	struct flow f;
	unsigned int i;

	(void)state;
	begin(&f, "bbr");
	for (i = 0; i < 100; i++) {
		next(&f, LOOK, 1000)->retrans = i % 10 ? 0 : 30;
		f.i.acked = i / 5 % 3 ? 0 : 3000 * MSS;
		hide_ceiling(&f.i);
		add(&f);
	}
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
}

/* The rate of seconds that the application leaves idle, or that lose nothing, is not asked. */
static void test_pauses(void **state)
{
	struct flow f;
	unsigned int i;

	(void)state;
	begin(&f, "bbr");
	for (i = 0; i < 200; i++) {
		next(&f, LOOK, i / 5 % 4 == 3 ? 1000 : 100 + i)->retrans = i % 20 == 15 ? 30 : 0;
		f.i.busy = i / 5 % 4 ? LOOK : LOOK / 2;
		hide_ceiling(&f.i);
		add(&f);
	}
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
}

static void test_regular(void **state)
{
	struct flow f;
	unsigned int i;

	(void)state;
	begin(&f, "circuit");
	for (i = 0; i < 60; i++) {
		next(&f, LOOK, 1000)->retrans = 10;
		f.now.snd_ssthresh = f.now.snd_cwnd;	/* says nothing of a loss */
		add(&f);
	}
	expect(&f, VERDICT_OVERRUN, REASON_REGULAR);
	assert_int_equal(judged(&f).levels, 0);
}

/* Half of a queue that drops early leaves 0.6 of chance's variance, which is not regular. */
static void test_half_regular(void **state)
{
	unsigned short seed[3] = { 4, 7, 11 };
	struct judgement j;
	struct flow f;
	unsigned int i;

	(void)state;
	begin(&f, "circuit");
	for (i = 0; i < 600; i++) {
		next(&f, LOOK, 1000)->retrans = 7 + 3 * (nrand48(seed) % 3);
		f.i.delivered = 0;
		f.now.snd_ssthresh = f.now.snd_cwnd;
		add(&f);
	}
	j = judged(&f);
	assert_in_range(j.dispersion, 55, 65);
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
}

/* Losses that our own device's queue delays are no receiver's: it takes what we can send. */
static void test_own_device(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "bbr");
	f.now.wmem_alloc = 2 * MSS + 1;
	probe(&f, 100, 30, steady);
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
	begin(&f, "bbr");
	f.now.wmem_alloc = 2 * MSS;
	probe(&f, 100, 30, steady);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	begin(&f, "bbr");	/* a driver that is slow to tell: half a millisecond's worth */
	f.now.pacing_rate = 125000000;
	f.now.wmem_alloc = 125000000 / 2048;
	probe(&f, 100, 30, steady);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	begin(&f, "bbr");
	f.now.pacing_rate = 125000000;
	f.now.wmem_alloc = 125000000 / 2048 + 1;
	probe(&f, 100, 30, steady);
	expect(&f, VERDICT_LOSS, REASON_OTHERS);
}

/* --- what is dropped here -------------------------------------------------- */

/* @n looks with so many lost, and so many drops of the device in the look before that */
static void drop(struct flow *f, unsigned int n, uint32_t lost, uint32_t drops)
{
	for (; n; n--) {
		next(f, LOOK, 500)->local_drops = drops;
		add(f);
		next(f, LOOK, 500)->retrans = lost;
		add(f);
	}
}

static void test_dropped_here(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "bbr");	/* a dropped packet may be two segments */
	drop(&f, 10, 4, 1);
	expect(&f, VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE);
	assert_int_equal(judged(&f).local_drops, 10);
	begin(&f, "bbr");
	drop(&f, 10, 5, 1);
	assert_int_not_equal(judged(&f).verdict, VERDICT_LOCAL_DROPS);
	begin(&f, "bbr");	/* or more, at a higher rate: three here */
	f.now.pacing_rate = 3 * MSS * 1024;
	drop(&f, 10, 5, 1);
	expect(&f, VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE);
	begin(&f, "bbr");	/* and over a short round trip: 32 KiB of 1448 bytes at 1000 us */
	f.now.conn.min_rtt = 1000;
	drop(&f, 10, 44, 1);
	expect(&f, VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE);
	begin(&f, "bbr");
	f.now.conn.min_rtt = 1000;
	drop(&f, 10, 46, 1);
	assert_int_not_equal(judged(&f).verdict, VERDICT_LOCAL_DROPS);
	begin(&f, "bbr");	/* but no more than half of a window */
	f.now.conn.min_rtt = 1000;
	f.now.snd_cwnd = 20;
	drop(&f, 10, 20, 1);
	expect(&f, VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE);
	begin(&f, "bbr");
	f.now.conn.min_rtt = 1000;
	f.now.snd_cwnd = 20;
	drop(&f, 10, 21, 1);
	assert_int_not_equal(judged(&f).verdict, VERDICT_LOCAL_DROPS);
	begin(&f, "bbr");	/* the least round trip is not known */
	f.now.conn.min_rtt = 0;
	drop(&f, 10, 5, 1);
	assert_int_not_equal(judged(&f).verdict, VERDICT_LOCAL_DROPS);
	begin(&f, "bbr");	/* never more than 45 */
	f.now.pacing_rate = UINT64_MAX;
	f.now.conn.min_rtt = 1;
	drop(&f, 10, 91, 1);
	assert_int_not_equal(judged(&f).verdict, VERDICT_LOCAL_DROPS);
	begin(&f, "bbr");	/* three segments are what it takes */
	drop(&f, 1, 2, 2);
	drop(&f, 9, 0, 0);
	assert_int_not_equal(judged(&f).verdict, VERDICT_LOCAL_DROPS);
}

/* Dropped long before: of other flows */
static void test_dropped_before(void **state)
{
	struct flow f;
	int i;

	(void)state;
	begin(&f, "bbr");
	for (i = 0; i < 10; i++) {
		next(&f, LOOK, 500)->local_drops = 100;
		add(&f);
		next(&f, LOOK, 500);
		add(&f);
		next(&f, LOOK, 500)->retrans = 4;
		add(&f);
	}
	assert_int_not_equal(judged(&f).verdict, VERDICT_LOCAL_DROPS);
}

static void cut(struct interval *i, uint32_t drops)
{
	i->local_drops = drops;
	((struct sample *)i->now)->snd_ssthresh--;
}

/* What a full qdisc refuses is sent later, and nothing is lost; the window is cut. */
static void test_cut_here(void **state)
{
	struct flow f;
	int i;

	(void)state;
	begin(&f, "cubic");
	f.now.snd_ssthresh = 500;
	cut(next(&f, POLL, 5000), 5);
	add(&f);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);
	assert_true(judge_wants_looks(&f.facts));
	cut(next(&f, POLL, 5000), 5);
	add(&f);
	expect(&f, VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE);

	begin(&f, "cubic");	/* by a mark of ECN's, by HyStart, or with no drop here */
	f.now.snd_ssthresh = 500;
	for (i = 0; i < 5; i++) {
		cut(next(&f, POLL, 5000), 5);
		f.i.delivered_ce = 1;
		add(&f);
		cut(next(&f, POLL, 5000), 0);
		add(&f);
	}
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);
	begin(&f, "cubic");
	next(&f, POLL, 5000)->local_drops = 5;
	f.now.snd_ssthresh = 400;
	add(&f);
	polls(&f, 5, NULL);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);

	begin(&f, "bbr");	/* no ssthresh, but it is in that state */
	f.now.ca_state = TCP_CA_CWR;
	for (i = 0; i < 3; i++) {
		next(&f, POLL, 5000)->local_drops = 5;
		add(&f);
	}
	expect(&f, VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE);
}

/* --- several causes -------------------------------------------------------- */

/* Bursts of a steady rate, with so much of the time held by the peer's window */
static void both(struct flow *f, uint32_t rwnd_permille)
{
	unsigned int i;

	begin(f, "bbr");
	for (i = 0; i < 100; i++) {
		next(f, LOOK, 1000)->retrans = i % 10 ? 0 : 30;
		f->i.rwnd = LOOK / 1000 * rwnd_permille;
		add(f);
	}
}

static void test_precedence(void **state)
{
	struct flow f;

	(void)state;
	both(&f, 0);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	both(&f, 750);
	expect(&f, VERDICT_OVERRUN, REASON_BURSTS);
	assert_int_equal(judged(&f).rwnd, 750);
	both(&f, 755);
	expect(&f, VERDICT_REMOTE_WINDOW, REASON_TIME);
}

/* What we drop ourselves comes first: it would look like an overrun. */
static void test_local_first(void **state)
{
	struct flow f;
	unsigned int i;

	(void)state;
	begin(&f, "bbr");
	for (i = 0; i < 100; i++) {
		next(&f, LOOK, 1000)->retrans = i % 10 ? 0 : 30;
		f.i.local_drops = i % 10 ? 0 : 15;
		add(&f);
	}
	expect(&f, VERDICT_LOCAL_DROPS, REASON_DROPPED_HERE);
}

/* An end that holds a flow for most of its time comes before the loss that it meets, too. */
static void test_loss_second(void **state)
{
	struct path p = { .chance = 0.001, .rtt = 20000 };
	struct flow *f = &p.f;
	int i;

	(void)state;
	open_path(&p, 1, "cubic");
	run_path(&p, 100);
	expect(f, VERDICT_LOSS, REASON_RANDOM);
	for (i = 0; i < 6; i++) {
		next(f, POLL, 5000)->rwnd = POLL;
		add(f);
	}
	expect(f, VERDICT_REMOTE_WINDOW, REASON_TIME);
}

/* --- losses, counted ------------------------------------------------------- */

static void test_spurious(void **state)
{
	struct interval i = { .retrans = 5, .dsack_dups = 2 };

	(void)state;
	assert_int_equal(losses_of(&i), 3);
	i.dsack_dups = 6;
	assert_int_equal(losses_of(&i), 0);
}

/* No memory for what tells why: nothing is said of it. */
static void test_no_loss_facts(void **state)
{
	struct flow_facts facts = { 0 };
	struct judgement j;
	struct flow f;
	unsigned int k;

	(void)state;
	begin(&f, "reno");
	f.now.snd_ssthresh = 300;
	for (k = 0; k < 200; k++) {
		next(&f, LOOK, 1000)->retrans = k % 9 ? 0 : 30;
		facts_add(&facts, &f.i);
	}
	judge_flow(&facts, &j);
	assert_int_equal(j.verdict, VERDICT_UNKNOWN);
	assert_int_equal(j.reason, REASON_FEW_LOSSES);
}

static void test_few(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	next(&f, POLL, 5000)->retrans = 2;
	f.now.snd_ssthresh = 300;
	add(&f);
	expect(&f, VERDICT_UNKNOWN, REASON_FEW_LOSSES);
	assert_true(judge_wants_looks(&f.facts));
	next(&f, POLL, 5000)->retrans = 1;
	f.now.snd_ssthresh = 200;
	add(&f);
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
}

/* Three at once, and two more, in a minute: of so few that is no burst, but chance. */
static void test_sparse(void **state)
{
	static const uint32_t windows[] = { 350, 380, 400 };
	unsigned int i, n = 0;
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	f.now.snd_ssthresh = 300;
	for (i = 0; i < 300; i++) {
		next(&f, LOOK, 1000);
		if (i % 100 == 50) {
			f.i.retrans = n ? 1 : 3;
			f.now.snd_ssthresh = windows[n++];
		}
		add(&f);
	}
	expect(&f, VERDICT_LOSS, REASON_RANDOM);
	assert_in_range(judged(&f).dispersion, 200, 240);
	assert_int_equal(judged(&f).levels, 3);
}

/* One of a million and fewer: nobody is slowed by that */
static void test_little(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	next(&f, POLL, 1999999)->retrans = 2;
	add(&f);
	expect(&f, VERDICT_UNKNOWN, REASON_FEW_LOSSES);
	begin(&f, "cubic");
	next(&f, POLL, 2000001)->retrans = 2;
	add(&f);
	expect(&f, VERDICT_CLEAN, REASON_LITTLE_LOSS);
}

/* The cut at the end of slow start is none of the windows that are compared. */
static void test_slow_start(void **state)
{
	struct flow f;
	int i;

	(void)state;
	begin(&f, "cubic");
	next(&f, LOOK, 5000)->retrans = 2000;
	f.now.snd_ssthresh = 700;
	add(&f);
	assert_int_equal(judged(&f).levels, 0);
	for (i = 1; i <= 3; i++) {
		next(&f, LOOK, 1000)->retrans = 1;
		f.now.snd_ssthresh = 350;
		add(&f);
		assert_int_equal(judged(&f).levels, i);
	}
	assert_in_range(judged(&f).dispersion, 0, 100);	/* nor is that burst in it */
	/* the same loss, still being repaired */
	next(&f, LOOK, 1000)->retrans = 1;
	f.now.ca_state = TCP_CA_Recovery;
	add(&f);
	assert_int_equal(judged(&f).levels, 4);
	next(&f, LOOK, 1000)->retrans = 1;
	add(&f);
	assert_int_equal(judged(&f).levels, 4);
	next(&f, LOOK, 1000)->retrans = 1;
	f.now.ca_state = TCP_CA_Loss;
	f.now.snd_ssthresh = 175;
	add(&f);
	assert_int_equal(judged(&f).levels, 5);
}

/* @ssthresh: what the cut has left; at no rate that could be a ceiling */
static void lose(struct flow *f, uint32_t us, uint32_t lost, uint32_t ssthresh)
{
	next(f, us, 1000)->retrans = lost;
	f->i.delivered = 0;
	f->now.snd_ssthresh = ssthresh;
	add(f);
}

/* Looks that lose nothing */
static void clean_looks(struct flow *f, unsigned int n)
{
	for (; n; n--) {
		next(f, LOOK, 1000);
		add(f);
	}
}

/* A look that loses, whose window was @cwnd before, and one that does not */
static void meet_with(struct flow *f, uint32_t cwnd, uint32_t ssthresh, uint32_t us, uint32_t lost)
{
	f->now.snd_cwnd = cwnd;
	lose(f, us, lost, ssthresh);
	clean_looks(f, 1);
}

static void meet(struct flow *f, uint32_t cwnd, uint32_t ssthresh, uint32_t us)
{
	meet_with(f, cwnd, ssthresh, us, 10);
}

/* What meets the tail of a burst is what the first cut has left, which is no window of its own. */
static void test_second_cut(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	f.now.snd_ssthresh = 300;
	meet(&f, 190, 133, LOOK);
	lose(&f, LOOK, 3, 132);
	lose(&f, LOOK, 25, 93);
	assert_int_equal(judged(&f).levels, 2);
	/* not the same burst: clean looks are between them, or it is another share */
	meet(&f, 190, 133, LOOK);
	meet(&f, 133, 93, LOOK);
	assert_int_equal(judged(&f).levels, 4);
	lose(&f, LOOK, 3, 133);
	lose(&f, LOOK, 3, 90);
	assert_int_equal(judged(&f).levels, 6);
	/* the tail of a burst comes up to three round trips later */
	begin(&f, "cubic");
	f.now.snd_ssthresh = 300;
	f.now.rtt_us = 2 * LOOK;
	meet(&f, 190, 133, LOOK);
	clean_looks(&f, 5);
	lose(&f, LOOK, 25, 93);		/* six looks without a cut */
	assert_int_equal(judged(&f).levels, 1);
	clean_looks(&f, 7);
	lose(&f, LOOK, 25, 65);
	assert_int_equal(judged(&f).levels, 2);
	/* nor is the same window once more, of a few segments */
	begin(&f, "reno");
	f.now.snd_ssthresh = 3;
	for (unsigned int i = 0; i < 4; i++)
		lose(&f, LOOK, 3, 3);
	assert_int_equal(judged(&f).levels, 4);
}

/* A window that the peer holds, or the send buffer, for a tenth of the time meets all alike. */
static void test_held_window(void **state)
{
	uint64_t tenth = LOOK / 10;
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	f.now.snd_ssthresh = 300;
	for (unsigned int i = 0; i < 20; i++) {
		next(&f, LOOK, 1000)->retrans = 1;
		f.i.rwnd = i / 5 == 0 ? tenth : i / 5 == 1 ? tenth - 1 : i / 5 == 2 ? tenth / 2 : 0;
		f.i.sndbuf = i / 5 == 2 ? tenth / 2 : i / 5 == 3 ? tenth : 0;
		f.now.snd_ssthresh = 300 + i % 2;
		add(&f);
	}
	assert_int_equal(judged(&f).levels, 5);
}

/* 20 losses of windows of two sizes by turns, which count as alike: one in how many, as a log */
static double chance_of_alike(const char *algorithm, uint32_t ssthresh, uint32_t cwnd,
			      uint32_t one, uint32_t other)
{
	struct losses_say say;
	struct flow f;

	begin(&f, algorithm);
	f.now.snd_ssthresh = ssthresh;
	f.now.snd_cwnd = cwnd;
	for (unsigned int i = 0; i < 20; i++)
		lose(&f, LOOK, 1, i % 2 ? other : one);
	losses_say(&f.loss.losses, &say);
	assert_int_equal(say.levels, 20);
	return say.chance;
}

/* Reno's windows of 6 and 7 segments lie in a range of two: that is 16 and 20 of 20. */
static void test_rounded(void **state)
{
	const double said = log(20) + 19 * log(1.2 * 2 / 7) + log(5);

	(void)state;
	assert_true(fabs(chance_of_alike("reno", 8, 13, 6, 7) - said) < 0.001);
}

/* Of large windows that are all alike: no nearer than half of a per cent */
static void test_alike(void **state)
{
	const double said = log(20) + 19 * log(2.5 * 0.005) + log(5);

	(void)state;
	assert_true(fabs(chance_of_alike("cubic", 1400, 1400, 1000, 1000) - said) < 0.001);
}

/* Two cuts in one look, told by the window before it, are one: of 190 CUBIC leaves 133, then 93 */
static void test_two_cuts_in_a_look(void **state)
{
	static const struct {
		const char *algorithm;
		uint32_t cwnd, once, twice, us;
		bool alike;
	} rows[] = {
		{ "cubic", 190, 133, 93, LOOK, true },
		{ "cubic", 190, 133, 93, POLL, false },	/* it may have grown, and been cut, since */
		{ "reno", 190, 95, 47, LOOK, true },
		{ "htcp", 190, 133, 93, LOOK, false },	/* its share varies */
		{ "cubic", 190, 133, 114, LOOK, false },	/* a smaller window, not two cuts */
	};
	struct flow f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(&f, rows[i].algorithm);
		f.now.snd_ssthresh = 300;
		meet(&f, rows[i].cwnd, rows[i].once, LOOK);
		meet(&f, rows[i].cwnd, rows[i].twice, rows[i].us);
		assert_int_equal(judged(&f).levels, 2);
		if (rows[i].alike)
			assert_in_range(judged(&f).spread, 0, 15);
		else
			assert_in_range(judged(&f).spread, 100, 1000);
	}
	/* idle in between, the window may have shrunk without a loss */
	begin(&f, "cubic");
	f.now.snd_ssthresh = 300;
	meet(&f, 190, 133, LOOK);
	f.now.snd_cwnd = 190;
	next(&f, LOOK, 1000)->retrans = 10;
	f.i.busy = LOOK / 2;
	f.now.unacked = 0;	/* now again, so that it is no start */
	f.now.snd_ssthresh = 93;
	add(&f);
	assert_in_range(judged(&f).spread, 100, 1000);
	/* still in recovery, the window before is not what met the loss */
	begin(&f, "cubic");
	f.now.snd_ssthresh = 300;
	meet(&f, 190, 133, LOOK);
	f.now.ca_state = TCP_CA_Recovery;
	meet(&f, 190, 93, LOOK);
	assert_in_range(judged(&f).spread, 100, 1000);
}

/* Windows of two segments are alike by rounding; others' bursts may be all that there is. */
static void test_two_segments(void **state)
{
	static const struct {
		uint32_t window;
		enum verdict verdict;
	} rows[] = { { 2, VERDICT_LOSS }, { 4, VERDICT_LOSS }, { 6, VERDICT_OVERRUN } };
	struct flow f;
	size_t i, k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		begin(&f, "htcp");
		f.now.conn.min_rtt = RTT / 2;	/* a queue that evens its rate */
		f.now.snd_ssthresh = 100;
		for (i = 0; i < 100; i++) {
			next(&f, LOOK, 700 + 97 * (i / 5) % 400)->retrans = i % 10 ? 0 : 40;
			if (i % 10 == 0)
				f.now.snd_ssthresh = rows[k].window;
			hide_ceiling(&f.i);
			f.i.rwnd /= 2;
			add(&f);
		}
		assert_int_equal(judged(&f).levels, 10);
		assert_int_equal(judged(&f).spread, 0);
		same_name(judged(&f).verdict, rows[k].verdict);
	}
}

static uint32_t uneven(uint32_t s)
{
	return 1000 + 20 * (s % 7);
}

/*
 * Losses that come nearly in twos may be chance that changes; where the rate of the seconds is the
 * same all the same, they are what is too much.
 */
static void test_small_bursts(void **state)
{
	static const uint32_t windows[] = { 100, 110, 118 };
	static const struct {
		const char *algorithm;
		uint32_t (*rate)(uint32_t s);
		uint16_t levels;
		enum verdict verdict;
	} rows[] = {
		{ "htcp", steady, 3, VERDICT_OVERRUN },
		{ "htcp", uneven, 3, VERDICT_LOSS },
		{ "bbr", steady, 0, VERDICT_LOSS },	/* its rate heeds no loss */
	};
	struct flow f;
	unsigned int i, k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		begin(&f, rows[k].algorithm);
		f.now.conn.min_rtt = RTT / 2;	/* a queue that evens its rate */
		f.now.snd_ssthresh = 120;
		f.now.ca_state = TCP_CA_Recovery;
		for (i = 0; i < 400; i++) {
			next(&f, LOOK, rows[k].rate(i / 5))->retrans = i % 6 < 3 ? 20 : 33;
			if (i && i % 100 == 0)
				f.now.snd_ssthresh = windows[i / 100 - 1];
			add(&f);
		}
		assert_int_equal(judged(&f).levels, rows[k].levels);
		assert_in_range(judged(&f).dispersion, 151, 199);
		same_name(judged(&f).verdict, rows[k].verdict);
	}
}

/* Windows that met @bursts bursts of @lost each, @apart of one another, and single losses */
static void run_bursts(struct flow *f, unsigned int bursts, uint32_t lost, uint32_t apart,
		       uint32_t us)
{
	uint32_t single = 250;
	unsigned int i;

	begin(f, "htcp");
	f->now.snd_ssthresh = 300;
	for (i = 0; i < bursts; i++) {
		meet_with(f, 220, 175 + i % 2 * apart, us, lost);
		f->now.snd_cwnd = single;
		lose(f, LOOK, 1, 60 + 41 * i % 90);
		single += single / 4;	/* no window is the largest for long */
		probe(f, 18, 0, falling);
	}
}

/* A window at which it loses bursts is where something is full, whatever it loses in between. */
static void test_bursts_at_one_window(void **state)
{
	static const struct {
		unsigned int bursts;
		uint32_t lost, apart, us;
		enum verdict verdict;
	} rows[] = {
		{ 6, 10, 2, LOOK, VERDICT_OVERRUN },
		{ 5, 10, 2, LOOK, VERDICT_LOSS },	/* too few */
		{ 6, 4, 2, LOOK, VERDICT_LOSS },	/* no bursts */
		{ 6, 10, 30, LOOK, VERDICT_LOSS },	/* not the same */
		{ 6, 10, 2, 2 * LOOK, VERDICT_OVERRUN },
		{ 6, 10, 2, POLL, VERDICT_LOSS },	/* in seconds they may come one by one */
	};
	struct flow f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		run_bursts(&f, rows[i].bursts, rows[i].lost, rows[i].apart, rows[i].us);
		same_name(judged(&f).verdict, rows[i].verdict);
	}
}

static void idle_most(struct interval *i)
{
	i->busy = i->us / 10;
}

/* After some minutes what a flow does counts for more than what it did. */
static void test_age(void **state)
{
	struct flow f;

	(void)state;
	begin(&f, "cubic");
	polls(&f, 200, idle_most);
	expect(&f, VERDICT_APPLICATION, REASON_TIME);
	polls(&f, 40, NULL);
	expect(&f, VERDICT_CLEAN, REASON_NO_LOSS);
	assert_int_equal(judged(&f).us, 240ULL * POLL);
	assert_int_equal(judged(&f).acked, 240ULL * 4300 * MSS);
}

/* More than 32 bits of a long flow */
static void test_large(void **state)
{
	struct judgement j;
	struct flow f;
	int i;

	(void)state;
	begin(&f, "cubic");
	for (i = 0; i < 3; i++) {
		next(&f, POLL, 2000000000);
		f.i.retrans = 2000000000;
		f.i.local_drops = UINT32_MAX;
		add(&f);
	}
	j = judged(&f);
	assert_int_equal(j.segs, UINT32_MAX);
	assert_int_equal(j.retrans, UINT32_MAX);
	assert_int_equal(j.local_drops, UINT32_MAX);
	assert_int_equal(j.acked, 6000000000ULL * MSS);
}

/* --- series ---------------------------------------------------------------- */

static struct series series_of(const double *list, unsigned int n)
{
	struct series s = { 0 };
	unsigned int i;

	for (i = 0; i < n; i++)
		series_add(&s, list[i]);
	return s;
}

static void test_series(void **state)
{
	static const double list[] = { 100, 300, 102, 101, 104 };
	static const double alike[] = { 101, 103, 102, 102, 103 };
	struct series s = series_of(list, 1);
	unsigned int i;
	double chance;

	(void)state;
	assert_true(series_width(&s, FOUR_OF_FIVE) == 0);
	s = series_of(list, 5);
	assert_true(series_median(&s) == 102);
	assert_true(fabs(series_width(&s, FOUR_OF_FIVE) - 4 / 102.0) < 0.000001);
	series_add(&s, 98);
	assert_true(fabs(series_width(&s, TWO_OF_THREE) - 4 / 102.0) < 0.000001);
	s = series_of(list, 5);
	/* 5 x 4 choices, and three times 4 / 102 x 2.5; or, at the least, 0.5 x 2.5; of two */
	chance = log(20) + 3 * log(10 / 102.0) + log(2);
	assert_true(fabs(series_chance(&s, 2.5, 0, 0.005) - chance) < 0.00001);
	assert_true(series_chance(&s, 2.5, 0, 0.5) == 0);
	s = series_of(alike, 5);	/* all are rarer than four of them */
	chance = log(5) + 4 * log(5 / 102.0) + log(2);
	assert_true(fabs(series_chance(&s, 2.5, 0, 0.005) - chance) < 0.00001);
	/* whole segments: 101 to 103 are three of them, not two */
	chance = log(5) + 4 * log(7.5 / 102.0) + log(2);
	assert_true(fabs(series_chance(&s, 2.5, 1 / 102.0, 0.005) - chance) < 0.00001);
	assert_true(isinf(series_width(&(struct series){ .n = 2 }, FOUR_OF_FIVE)));
	for (i = 0; i < SERIES_MAX; i++)	/* the oldest go */
		series_add(&s, 7);
	assert_true(series_median(&s) == 7);
	assert_true(series_width(&s, FOUR_OF_FIVE) == 0);
	assert_int_equal(s.n, SERIES_MAX);
}

/* --- remotes --------------------------------------------------------------- */

static void add_flow(struct remote_facts *r, enum verdict v, enum reason why, uint64_t acked)
{
	struct judgement j = {
		.verdict = v, .reason = why, .acked = acked, .us = 1000000, .segs = 3000000000U,
		.retrans = 10, .busy = 1000, .rwnd = v == VERDICT_REMOTE_WINDOW ? 800 : 0,
	};

	remote_add(r, &j);
}

static void remote_is(const struct remote_facts *r, enum verdict v)
{
	struct judgement j;

	remote_judge(r, &j);
	same_name(j.verdict, v);
}

static void test_remote(void **state)
{
	struct remote_facts r = { 0 };
	struct judgement j;

	(void)state;
	remote_is(&r, VERDICT_UNKNOWN);
	add_flow(&r, VERDICT_UNKNOWN, REASON_TINY, 5000);
	remote_is(&r, VERDICT_UNKNOWN);
	add_flow(&r, VERDICT_CLEAN, REASON_NO_LOSS, 100);
	remote_is(&r, VERDICT_CLEAN);
	add_flow(&r, VERDICT_REMOTE_WINDOW, REASON_TIME, 101);
	remote_is(&r, VERDICT_REMOTE_WINDOW);
	add_flow(&r, VERDICT_CLEAN, REASON_LITTLE_LOSS, 1);
	remote_is(&r, VERDICT_REMOTE_WINDOW);
	add_flow(&r, VERDICT_CLEAN, REASON_LITTLE_LOSS, 1);
	remote_judge(&r, &j);
	assert_int_equal(j.reason, REASON_NO_LOSS);	/* of the largest flow */
	assert_int_equal(j.acked, 5203);
	assert_int_equal(j.us, 5000000);
	assert_int_equal(j.segs, UINT32_MAX);
	assert_int_equal(j.retrans, 50);
	assert_int_equal(j.busy, 1000);
	assert_int_equal(j.rwnd, 15);	/* 800 of 101 bytes among 5203 */
	assert_int_equal(r.flows[VERDICT_CLEAN], 3);
}

/* A control connection has nothing to send all the time, and carries nothing. */
static void test_remote_with_an_idle_flow(void **state)
{
	const struct judgement control = { .verdict = VERDICT_UNKNOWN, .acked = 500,
					   .us = 5000000, .app = 1000 };
	const struct judgement bulk = { .verdict = VERDICT_OVERRUN, .acked = 6000000,
					.us = 5000000, .app = 20, .busy = 980 };
	struct remote_facts r = { 0 }, idle = { 0 };
	struct judgement j;

	(void)state;
	remote_add(&r, &control);
	remote_add(&r, &bulk);
	remote_judge(&r, &j);
	assert_int_equal(j.app, 20);
	assert_int_equal(j.busy, 979);
	assert_int_equal(j.us, 10000000);

	/* of what nobody carried there is time alone */
	j = (struct judgement){ .verdict = VERDICT_APPLICATION, .us = 3000000, .app = 1000 };
	remote_add(&idle, &j);
	j = (struct judgement){ .verdict = VERDICT_UNKNOWN, .us = 1000000 };
	remote_add(&idle, &j);
	remote_judge(&idle, &j);
	assert_int_equal(j.app, 750);
}

/* Of the path the flow that saw the most of it, not the one with the most bytes */
static void test_remote_path(void **state)
{
	static const struct judgement of[] = {
		{ .verdict = VERDICT_CLEAN, .acked = 900, .best_rate = 10, .min_rtt_us = 50000 },
		{ .verdict = VERDICT_CLEAN, .acked = 100, .best_rate = 70, .min_rtt_us = 0 },
		{ .verdict = VERDICT_APPLICATION, .acked = 5, .best_rate = 3,
		  .min_rtt_us = 20000, .local_drops = 10 },
		/* each flow has all drops of the device that they share */
		{ .verdict = VERDICT_APPLICATION, .acked = 4, .local_drops = 8 },
	};
	struct remote_facts r = { 0 };
	struct judgement j;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(of); i++)
		remote_add(&r, &of[i]);
	remote_judge(&r, &j);
	same_name(j.verdict, VERDICT_CLEAN);
	assert_int_equal(j.best_rate, 70);
	assert_int_equal(j.min_rtt_us, 20000);
	assert_int_equal(j.local_drops, 10);
}

/* Parallel streams: one shows it, to the others it is other people's traffic. */
static void test_parallel(void **state)
{
	struct remote_facts r = { 0 };

	(void)state;
	add_flow(&r, VERDICT_OVERRUN, REASON_SAME_WINDOW, 100);
	add_flow(&r, VERDICT_LOSS, REASON_OTHERS, 300);
	remote_is(&r, VERDICT_OVERRUN);
	add_flow(&r, VERDICT_LOSS, REASON_OTHERS, 4);
	remote_is(&r, VERDICT_LOSS);

	memset(&r, 0, sizeof(r));
	add_flow(&r, VERDICT_OVERRUN, REASON_SAME_WINDOW, 100);
	add_flow(&r, VERDICT_LOSS, REASON_RANDOM, 101);
	remote_is(&r, VERDICT_LOSS);

	memset(&r, 0, sizeof(r));
	add_flow(&r, VERDICT_OVERRUN, REASON_SAME_WINDOW, 100);
	add_flow(&r, VERDICT_LOSS, REASON_OTHERS, 50);
	add_flow(&r, VERDICT_APPLICATION, REASON_TIME, 150);
	remote_is(&r, VERDICT_OVERRUN);
	add_flow(&r, VERDICT_APPLICATION, REASON_TIME, 1);
	remote_is(&r, VERDICT_APPLICATION);
}

/* --- names ----------------------------------------------------------------- */

static void test_names(void **state)
{
	static const char * const names[VERDICTS] = {
		"unknown", "overrun", "remote-window", "send-buffer", "application",
		"application-window", "loss", "local-drops", "clean",
	};
	int i;

	(void)state;
	for (i = 0; i < VERDICTS; i++) {
		assert_string_equal(verdict_name(i), names[i]);
		assert_int_equal(verdict_of_name(names[i]), i);
		assert_true(strlen(verdict_text(i)) > 5);
	}
	assert_int_equal(verdict_of_name("overruns"), -1);
	assert_string_equal(verdict_name(VERDICTS), "unknown");
	assert_string_equal(verdict_text(VERDICTS), verdict_text(VERDICT_UNKNOWN));
	for (i = REASON_NONE + 1; i < REASONS; i++) {
		assert_true(strlen(reason_name(i)) > 2);
		assert_true(strlen(reason_text(i)) > 5);
	}
	assert_string_equal(reason_name(REASONS), "");
	assert_string_equal(reason_text(REASONS), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_sample),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_tiny_lossy),
		cmocka_unit_test(test_brief),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_own_window),
		cmocka_unit_test(test_own_window_idle),
		cmocka_unit_test(test_hidden_flag),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_chance_heedless),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_one_rate),
		cmocka_unit_test(test_delivered),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_regular),
		cmocka_unit_test(test_half_regular),
		cmocka_unit_test(test_own_device),
		cmocka_unit_test(test_dropped_here),
		cmocka_unit_test(test_dropped_before),
		cmocka_unit_test(test_cut_here),
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_local_first),
		cmocka_unit_test(test_loss_second),
		cmocka_unit_test(test_spurious),
		cmocka_unit_test(test_no_loss_facts),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_slow_start),
		cmocka_unit_test(test_second_cut),
		cmocka_unit_test(test_held_window),
		cmocka_unit_test(test_rounded),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_two_cuts_in_a_look),
		cmocka_unit_test(test_two_segments),
		cmocka_unit_test(test_small_bursts),
		cmocka_unit_test(test_bursts_at_one_window),
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_remote),
		cmocka_unit_test(test_remote_with_an_idle_flow),
		cmocka_unit_test(test_remote_path),
		cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The breaker's judgement: what trips, when, and what never does
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "../../circuit/judge.h"

#define TICK_MS	100

/* 1 Gbit/s, 50 ms, 1.3 x BDP, as ctcp-setup sizes it */
static const struct judge_circuit gigabit = {
	.threshold = 100,
	.slot_ms = 500,
	.window = 5367,
	.wire = 1514,
	.rate = 125000000,
	.rtt_us = 50000,
};

/* A tick in which all is well at full rate */
static struct judge_sample well(const struct judge_circuit *c)
{
	return (struct judge_sample){
		.ms = TICK_MS,
		.delivered = c->rate / c->wire * TICK_MS / 1000,
		.bytes = c->rate * TICK_MS / 1000,
		.rtt_us = judge_expected_rtt(c),
		.share_ms = (u64)c->window * TICK_MS,
		.full_ms = (u64)c->window * TICK_MS,
		.carries = judge_carries(c, c->window, TICK_MS),
	};
}

/* ms until ticks like @s trip, for @reason; 0: not within a minute */
static u32 trips_in(const struct judge_circuit *c, struct judge_sample s,
		    enum judge_reason reason)
{
	struct judge_sample evidence = { 0 };
	struct judge j = { 0 };
	enum judge_reason found;
	u32 ms;

	for (ms = TICK_MS; ms <= 60000; ms += TICK_MS) {
		found = judge(&j, &s, c, &evidence);
		if (!found)
			continue;
		assert_int_equal(found, reason);
		return ms;
	}
	return 0;
}

static void lose(struct judge_sample *s, u32 thousandths)
{
	u32 all = s->delivered;

	s->lost = (u64)all * thousandths / 1000;
	s->delivered = all - s->lost;
}

static void loss(void **state)
{
	struct judge_sample s = well(&gigabit);

	(void)state;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	lose(&s, 50);
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	s = well(&gigabit);
	lose(&s, 110);
	assert_int_equal(trips_in(&gigabit, s, JUDGE_LOSS), 2000);
	/* the threshold itself is borne */
	s.delivered = 9000;
	s.lost = 1000;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	s.lost = 1010;
	s.delivered = 8990;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_LOSS), 2000);
	s = well(&gigabit);
	lose(&s, 500);	/* no more than half */
	s.lost = s.delivered;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_LOSS), 2000);
	s = well(&gigabit);
	s.rtt_us = 60000;
	lose(&s, 600);	/* counts twice */
	assert_int_equal(trips_in(&gigabit, s, JUDGE_LOSS), 1000);
}

/* 20 segments a tick: a slot lasts until there are 256. */
static void rare_segments(void **state)
{
	const struct judge_sample s = {
		.ms = TICK_MS, .delivered = 16, .lost = 4, .rtt_us = 10000,
	};

	(void)state;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_LOSS), 4 * 13 * TICK_MS);
}

static void off(void **state)
{
	struct judge_circuit c = gigabit;
	struct judge_sample s = well(&c);

	(void)state;
	c.threshold = 0;
	lose(&s, 900);
	s.ce = s.delivered;
	s.rtt_us = 10000000;
	assert_int_equal(trips_in(&c, s, JUDGE_NONE), 0);
}

/* A burst is in one slot, an outage delivers nothing. */
static void short_loss(void **state)
{
	struct judge_sample good = well(&gigabit), bad = good, evidence;
	struct judge_sample outage = { .ms = TICK_MS, .lost = 300 };
	struct judge j = { 0 };
	int i, round;

	(void)state;
	lose(&bad, 400);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 5; i++)
			assert_int_equal(judge(&j, &bad, &gigabit, &evidence),
					 JUDGE_NONE);
		for (i = 0; i < 10; i++)
			assert_int_equal(judge(&j, &good, &gigabit, &evidence),
					 JUDGE_NONE);
	}
	for (i = 0; i < 30; i++)
		assert_int_equal(judge(&j, &outage, &gigabit, &evidence), JUDGE_NONE);
	assert_false(judge_suspects(&j));
}

/*
 * A rate ten times too high: nine tenths are lost.  Wherever in a slot that begins,
 * it is over within 1.5 s.
 */
static void ten_times(void **state)
{
	struct judge_sample good = well(&gigabit), bad = good, evidence;
	int before, i;

	(void)state;
	lose(&bad, 900);
	for (before = 0; before < 10; before++) {
		struct judge j = { 0 };

		for (i = 0; i < before; i++)
			assert_int_equal(judge(&j, &good, &gigabit, &evidence),
					 JUDGE_NONE);
		for (i = TICK_MS; i <= 1500; i += TICK_MS)
			if (judge(&j, &bad, &gigabit, &evidence))
				break;
		assert_in_range(i, 1, 1500);
		assert_true(judge_loss(evidence.lost, evidence.delivered) > 500);
	}
}

/* 12 Mbit/s x 600 ms: a slot of loss lasts five round trips. */
static void satellite(void **state)
{
	const struct judge_circuit c = {
		.threshold = 100, .slot_ms = 500, .window = 773, .wire = 1514,
		.rate = 1500000, .rtt_us = 600000,
	};
	struct judge_sample s = well(&c);

	(void)state;
	assert_int_equal(trips_in(&c, s, JUDGE_NONE), 0);
	lose(&s, 90);
	s.full_ms = 0;
	assert_int_equal(trips_in(&c, s, JUDGE_NONE), 0);
	lose(&s, 300);
	assert_int_equal(s.rtt_us / 1000, 780);	/* its window takes longer than 600 */
	assert_int_equal(trips_in(&c, s, JUDGE_LOSS), 4 * 5 * 780);
}

static void marks(void **state)
{
	struct judge_sample s = well(&gigabit);

	(void)state;
	s.ce = s.delivered / 20;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	s.ce = s.delivered / 5;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_CE), 2000);
	/* the threshold itself is borne; of what was delivered, however much is lost */
	s.delivered = 8000;
	s.ce = 800;
	s.lost = 400;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	s.ce = 810;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_CE), 2000);
}

/* @n slots of half a second like @s, none of which trips */
static void slots(struct judge *j, struct judge_sample s, u32 n)
{
	struct judge_sample evidence;

	s.ms = gigabit.slot_ms;
	while (n--)
		assert_int_equal(judge(j, &s, &gigabit, &evidence), JUDGE_NONE);
}

/* A good slot between bad ones begins anew. */
static void in_a_row(void **state)
{
	struct judge_sample good = well(&gigabit), bad = good;
	struct judge j = { 0 };
	int round;

	(void)state;
	bad.ce = bad.delivered;
	for (round = 0; round < 3; round++) {
		assert_false(judge_suspects(&j));
		slots(&j, bad, JUDGE_SLOTS - 1);
		assert_true(judge_suspects(&j));
		slots(&j, good, 1);
	}
}

/* Of less than 32 segments nothing is concluded, all of them marked. */
static void few(void **state)
{
	struct judge_sample s = { .delivered = 31, .ce = 31 };
	struct judge j = { 0 };

	(void)state;
	slots(&j, s, 20);
	assert_false(judge_suspects(&j));
	s.delivered = 32;
	slots(&j, s, 1);
	assert_true(judge_suspects(&j));
}

/* Of a slot's ticks the smallest round trip counts, and the longest that was explained. */
static void sums(void **state)
{
	static const u32 rtt_us[] = { 70000, 0, 50000, 60000, 80000 };
	static const u32 expected[] = { 10, 30, 20, 5, 0 };
	struct judge_sample s = well(&gigabit), evidence = { 0 };
	struct judge j = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 5; i++) {
		s.rtt_us = rtt_us[i];
		s.rtt_expected = expected[i];
		s.late_ms = i;
		judge(&j, &s, &gigabit, &evidence);
	}
	assert_int_equal(evidence.rtt_us, 50000);
	assert_int_equal(evidence.rtt_expected, 30);
	assert_int_equal(evidence.ms, 500);
	assert_int_equal(evidence.late_ms, 0 + 1 + 2 + 3 + 4);
}

/* Rerouted onto 100 Mbit/s with a second of buffer: nothing is lost. */
static struct judge_sample deep_buffer(void)
{
	struct judge_sample s = well(&gigabit);

	s.delivered /= 10;
	s.bytes /= 10;
	s.rtt_us = 650000;
	s.late_ms = judge_late(&gigabit, s.rtt_us) ? s.share_ms : 0;
	return s;
}

static void delay(void **state)
{
	struct judge_circuit unknown = gigabit;
	struct judge_sample s = deep_buffer();

	(void)state;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_DELAY), 2000);

	unknown.rate = 0;
	assert_false(judge_late(&unknown, s.rtt_us));
	assert_int_equal(judge_carries(&unknown, unknown.window, TICK_MS), 0);
	s.late_ms = 0;
	s.carries = 0;
	assert_int_equal(trips_in(&unknown, s, JUDGE_NONE), 0);
	s = deep_buffer();
	/* A stream that trickles beside takes no weight from the one that fills. */
	s.share_ms += s.share_ms / 100;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_DELAY), 2000);

	/* A receiver that reads slowly, an application that pauses */
	s = deep_buffer();
	s.full_ms = 0;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	/* A local shaper that holds less than the rate */
	s.full_ms = s.share_ms;
	s.local_ms = s.share_ms;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	/* Late, or in use, for less than three quarters */
	s = deep_buffer();
	s.late_ms = s.share_ms * 70 / 100;
	s.carries = 0;		/* a shortfall it is, too */
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	s = deep_buffer();
	s.full_ms = s.share_ms * 70 / 100;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	/* Twice what the window explains, and 5 ms, are not too long. */
	assert_int_equal(judge_expected_rtt(&gigabit), 65005);
	assert_false(judge_late(&gigabit, 2 * 65005 + 5000));
	assert_true(judge_late(&gigabit, 2 * 65005 + 5001));
	/* A path of twice the round trip is no queue. */
	s = well(&gigabit);
	assert_false(judge_late(&gigabit, 100000));
	s.bytes = s.bytes * 65 / 100;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
}

static void shortfall(void **state)
{
	struct judge_circuit small = gigabit;
	struct judge_sample s = well(&gigabit);

	(void)state;
	s.bytes = s.bytes * 40 / 100;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_SHORTFALL), 2000);
	s.bytes = s.bytes * 140 / 100;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
	/* A window that is merely small: 0.3 of rate x round trip */
	small.window = gigabit.window * 3 / 13;
	s = well(&small);
	s.bytes = s.bytes * 30 / 100;
	assert_int_equal(trips_in(&small, s, JUDGE_NONE), 0);
	/* Of a part of the window no more is expected than of that part. */
	s = well(&gigabit);
	s.share_ms /= 4;
	s.full_ms /= 4;
	s.carries = judge_carries(&gigabit, gigabit.window / 4, TICK_MS);
	s.bytes /= 4;
	assert_int_equal(trips_in(&gigabit, s, JUDGE_NONE), 0);
}

static void extremes(void **state)
{
	const struct judge_circuit c = {
		.threshold = 1000, .slot_ms = 150000, .window = 67108864,
		.wire = 65536, .rate = 125000000000ULL, .rtt_us = 600000,
	};
	struct judge_sample s = {
		.ms = 600000, .lost = U32_MAX / 2, .delivered = U32_MAX / 2,
		.rtt_us = 600000, .bytes = 125000000000ULL * 600,
		.share_ms = 67108864ULL * 600000,
		.full_ms = 67108864ULL * 600000,
	}, evidence;
	struct judge j = { 0 };

	(void)state;
	assert_int_equal(judge(&j, &s, &c, &evidence), JUDGE_NONE);
	assert_int_equal(evidence.lost, U32_MAX / 2);
	assert_int_equal(evidence.share_ms, 67108864ULL * 600000);
	assert_int_equal(judge_loss(0, 0), 0);
	assert_int_equal(judge_loss(U32_MAX, U32_MAX), 500);
	assert_int_equal(judge_loss(U32_MAX, 0), 1000);
	assert_true(judge_expected_rtt(&c) >= 35000000);
}

/*
 * 400 Gbit/s in slots of 150 s, which is 600000 of breaker_ms: 4.95e9 segments of 1514
 * bytes, of which 2 % are lost.  32 bits would have held 561 million of them.
 */
static void long_slots(void **state)
{
	const struct judge_circuit c = {
		.threshold = 100, .slot_ms = 150000, .window = 67108864, .wire = 1514,
	};
	const struct judge_sample tick = {
		.ms = 100, .lost = 66000, .delivered = 3234000, .ce = 66000,
		.rtt_us = 50000,
	};
	struct judge_sample evidence;
	struct judge j = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 6001; i++)
		assert_int_equal(judge(&j, &tick, &c, &evidence), JUDGE_NONE);
	assert_int_equal(evidence.lost, 99000000);
	assert_int_equal(evidence.delivered, 4851000000ULL);
	assert_int_equal(evidence.ce, 99000000);
	assert_false(judge_suspects(&j));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_slots),
		cmocka_unit_test(loss),
		cmocka_unit_test(rare_segments),
		cmocka_unit_test(off),
		cmocka_unit_test(short_loss),
		cmocka_unit_test(ten_times),
		cmocka_unit_test(satellite),
		cmocka_unit_test(marks),
		cmocka_unit_test(in_a_row),
		cmocka_unit_test(few),
		cmocka_unit_test(sums),
		cmocka_unit_test(delay),
		cmocka_unit_test(shortfall),
		cmocka_unit_test(extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

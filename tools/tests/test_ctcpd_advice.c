// SPDX-License-Identifier: GPL-2.0
/*
 * What a path needs, against numbers computed by hand, and the sentences of each verdict.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "ctcpd/advice.h"
#include "ctcpd/need.h"
#include "text.h"
#include "units.h"

#define GBIT	125000000ULL	/* bytes/s */

static void test_need(void **state)
{
	static const struct {
		uint64_t rate, rtt_us;
		struct need want;
	} rows[] = {
		/* 1.25e9 x 0.0002 s */
		{ 10 * GBIT, 200, { .bdp = 250000, .window = 250000, .buffer = 500000,
		  .streams = 1 } },
		{ 10 * GBIT, 1000, { .bdp = 1250000, .window = 1250000, .buffer = 2500000,
		  .streams = 1 } },
		/* the paper's sample report */
		{ 10 * GBIT, 100000, { .bdp = 125000000, .window = 125000000, .buffer = 250000000,
		  .streams = 1 } },
		{ 10 * GBIT, 300000, { .bdp = 375000000, .window = 375000000, .buffer = 750000000,
		  .streams = 1 } },
		/* 1.25e10 x 0.1 = 1.25e9, more than 65535 x 2^14 = 1073725440 */
		{ 100 * GBIT, 100000, { .bdp = 1250000000, .window = 1073725440,
		  .buffer = 2147450880, .streams = 2 } },
		/* 5e10 x 0.6 = 3e10; / 1073725440 = 27.94 */
		{ 400 * GBIT, 600000, { .bdp = 30000000000, .window = 1073725440,
		  .buffer = 2147450880, .streams = 28 } },
		/* both at their ends: 1.25e11 x 10 = 1.25e12; / 1073725440 = 1164.2 */
		{ UINT64_MAX, UINT64_MAX, { .bdp = 1250000000000, .window = 1073725440,
		  .buffer = 2147450880, .streams = 1165 } },
		/* 1000 bytes/s x 1 us, rounded up */
		{ 0, 0, { .bdp = 1, .window = 1, .buffer = 2, .streams = 1 } },
		/* 1.25e9 x 1 us = 1250 */
		{ 10 * GBIT, 1, { .bdp = 1250, .window = 1250, .buffer = 2500, .streams = 1 } },
	};
	struct need n;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		need_of(rows[i].rate, rows[i].rtt_us, &n);
		assert_int_equal(n.bdp, rows[i].want.bdp);
		assert_int_equal(n.window, rows[i].want.window);
		assert_int_equal(n.buffer, rows[i].want.buffer);
		assert_int_equal(n.streams, rows[i].want.streams);
		assert_true(n.buffer <= INT_MAX);
	}
}

static void test_window_rate(void **state)
{
	(void)state;
	assert_int_equal(window_rate(65535, 100000), 655350);
	assert_int_equal(window_rate(125000000, 100000), 10 * GBIT);
	assert_int_equal(window_rate(UINT32_MAX, 1), 4294967295000000);
	assert_int_equal(window_rate(65535, 0), 0);
}

/* The paper's card of 2012: 1 of 22,000 packets, 9000-byte MTU (mss 8948) */
static void test_mathis(void **state)
{
	(void)state;
	/* 8948 / 0.1 s x sqrt(22000) = 89480 x 148.324 = 13272030 bytes/s */
	assert_in_range(mathis_rate(8948, 100000, 1.0 / 22000), 13272000, 13272100);
	/* 1448 / 0.05 x 100 = 2896000 */
	assert_in_range(mathis_rate(1448, 50000, 0.0001), 2895999, 2896000);
	assert_int_equal(mathis_rate(1448, 50000, 0), UINT64_MAX);
	assert_int_equal(mathis_rate(1448, 0, 0.0001), UINT64_MAX);
	assert_int_equal(mathis_rate(UINT32_MAX, 1, 0.000000000001), RATE_MAX);
	/* 10 Gbit/s, 100 ms: 125000000 / 1448 = 86326 segments; 1 / 86326^2 = 1.342e-10 */
	assert_true(fabs(1e10 * mathis_loss(1448, 100000, 10 * GBIT) - 1.342) < 0.001);
	/* less than a segment in flight */
	assert_true(mathis_loss(1448, 1, 1000) == 1);
	assert_true(mathis_loss(0, 100000, GBIT) > 0);
}

/* --- sentences ------------------------------------------------------------- */

static const struct place nowhere;

static const struct place there = {
	.remote = "192.0.2.7", .dev = "eth1", .qdisc = "pfifo_fast", .algorithm = "cubic",
	.rate = 10 * GBIT, .tcp_wmem = WMEM_DEFAULT, .flows = 1,
};

/* 100 ms, 3 MB of receive window: 30 MB/s */
static const struct judgement windowed = {
	.verdict = VERDICT_REMOTE_WINDOW, .reason = REASON_TIME, .us = 60000000,
	.acked = 1800000000, .segs = 1243094, .busy = 1000, .rwnd = 870, .rate = 30000000,
	.best_rate = 31000000, .mss = 1448, .rtt_us = 101000, .min_rtt_us = 100000,
	.snd_wnd_max = 3145728, .sndbuf_bytes = 4194304,
};

static bool says(const struct advice *a, const char *part)
{
	unsigned int i;

	for (i = 0; i < a->n; i++)
		if (strstr(a->text[i], part))
			return true;
	return false;
}

static void print_advice(const struct advice *a)
{
	unsigned int i;

	for (i = 0; i < a->n; i++)
		print_error("  %s\n", a->text[i]);
	for (i = 0; i < a->n_settings; i++)
		print_error("  %s = %s\n", a->settings[i].name, a->settings[i].value);
}

static void assert_says(const struct advice *a, const char *part)
{
	if (!says(a, part)) {
		print_error("does not say \"%s\":\n", part);
		print_advice(a);
	}
	assert_true(says(a, part));
}

static void assert_setting(const struct advice *a, bool here, const char *name, const char *value)
{
	unsigned int i;

	for (i = 0; i < a->n_settings; i++) {
		if (strcmp(a->settings[i].name, name))
			continue;
		assert_string_equal(a->settings[i].value, value);
		assert_int_equal(a->settings[i].here, here);
		return;
	}
	print_error("does not set %s:\n", name);
	print_advice(a);
	fail();
}

/* What the paper's report asks for at 10 Gbit/s and 100 ms, as twice the window */
static void test_remote_window(void **state)
{
	struct advice a;

	(void)state;
	advise(&windowed, &there, &a);
	assert_says(&a, "held it for 87% of the time: 3.146 MB at most");
	assert_says(&a, "carries 251.7mbit (31.46 MB/s) at a round trip of 100ms");
	assert_says(&a, "For 10gbit (1.25 GB/s) the receive window must have 125 MB.");
	assert_says(&a, "SO_RCVBUF");
	assert_says(&a, "125000000 bytes at least");
	assert_setting(&a, false, "net.ipv4.tcp_rmem", "4096 131072 250000000");
	assert_setting(&a, false, "net.core.rmem_max", "250000000");
	assert_setting(&a, false, "net.ipv4.tcp_window_scaling", "1");
	assert_setting(&a, false, "net.ipv4.tcp_moderate_rcvbuf", "1");
	assert_false(says(&a, "RFC 7323"));
	assert_false(says(&a, "own settings are enough"));
}

/* The rate to be had: of our wire, else 10 Gbit/s, else what was seen */
static void test_target(void **state)
{
	struct judgement j = windowed;
	struct place p = there;
	struct advice a;

	(void)state;
	p.rate = GBIT;
	advise(&j, &p, &a);
	assert_setting(&a, false, "net.ipv4.tcp_rmem", "4096 131072 25000000");
	p.rate = 0;
	advise(&j, &p, &a);
	assert_setting(&a, false, "net.ipv4.tcp_rmem", "4096 131072 250000000");
	j.best_rate = 20 * GBIT;
	advise(&j, &p, &a);
	assert_setting(&a, false, "net.ipv4.tcp_rmem", "4096 131072 500000000");
	p.rate = 400 * GBIT;
	j.min_rtt_us = 600000;
	advise(&j, &p, &a);
	assert_setting(&a, false, "net.ipv4.tcp_rmem", "4096 131072 2147450880");
	assert_says(&a, "in each of 28 connections");
}

/* Never less than what Linux has anyway */
static void test_near_remote(void **state)
{
	struct judgement j = windowed;
	struct advice a;

	(void)state;
	j.rtt_us = 210;
	j.min_rtt_us = 200;
	j.snd_wnd_max = 65535;
	j.rate = 300000000;
	j.best_rate = 300000000;
	advise(&j, &there, &a);
	assert_setting(&a, false, "net.ipv4.tcp_rmem", "4096 131072 6291456");
	assert_says(&a, "own settings are enough");
	assert_says(&a, "250000 bytes at least");
}

static void test_no_window_scale(void **state)
{
	struct judgement j = windowed;
	struct advice a;

	(void)state;
	j.no_wscale = true;
	j.snd_wnd_max = 65535;
	j.rate = 640000;
	advise(&j, &there, &a);
	assert_says(&a, "no window scale (RFC 7323)");
	assert_says(&a, "65.53 kB at most, which carries 5.243mbit (655.4 kB/s)");
	assert_setting(&a, false, "net.ipv4.tcp_window_scaling", "1");
}

/* 125 MB of window, and 30 MB/s of 1.25 GB/s are read */
static void test_slow_reader(void **state)
{
	struct judgement j = windowed;
	struct advice a;

	(void)state;
	j.snd_wnd_max = 125000000;
	advise(&j, &there, &a);
	assert_says(&a, "it is large enough");
	assert_says(&a, "takes its data no faster");
	assert_int_equal(a.n_settings, 0);
	/* busy for a fortieth of the time: 1.2 GB/s then, which is all of the window */
	j.busy = 25;
	advise(&j, &there, &a);
	assert_false(says(&a, "takes its data no faster"));
	/* nor where the window is not known */
	j = windowed;
	j.snd_wnd_max = 0;
	advise(&j, &there, &a);
	assert_false(says(&a, "takes its data no faster"));
	assert_setting(&a, false, "net.core.rmem_max", "250000000");
}

static void test_send_buffer(void **state)
{
	struct judgement j = windowed;
	struct place p = there;
	struct advice a;

	(void)state;
	j.verdict = VERDICT_SEND_BUFFER;
	j.rwnd = 0;
	j.sndbuf = 912;
	advise(&j, &p, &a);
	assert_says(&a, "held it for 91% of the time: 4194304 bytes");
	assert_says(&a, "carry 167.8mbit (20.97 MB/s)");	/* 2097152 bytes / 0.1 s */
	assert_setting(&a, true, "net.ipv4.tcp_wmem", "4096 16384 250000000");
	assert_setting(&a, true, "net.core.wmem_max", "250000000");
	assert_false(says(&a, "SO_SNDBUF"));
	/* the kernel would give more: the application has asked for so little */
	p.tcp_wmem = 300000000;
	advise(&j, &p, &a);
	assert_says(&a, "has set SO_SNDBUF");
	assert_says(&a, "125000000 bytes at least");
	assert_int_equal(a.n_settings, 0);
}

static void test_app_window(void **state)
{
	struct judgement j = windowed;
	struct advice a;

	(void)state;
	j.verdict = VERDICT_APP_WINDOW;
	j.rate = 20971520;	/* 2 MiB in 100 ms */
	advise(&j, &there, &a);
	assert_says(&a, "keeps about 2.097 MB in flight");
	assert_says(&a, "OpenSSH's channel ends at 2 MiB: HPN-SSH");
	assert_says(&a, "60 fill 10gbit");	/* 125000000 / 2097152 = 59.6 */
	/* of three connections, each of which has a window of 1 MB */
	j.rate = 30000000;
	j.flight = 1000000;
	advise(&j, &there, &a);
	assert_says(&a, "keeps about 1 MB in flight and no more, which carries 80mbit (10 MB/s)");
	assert_says(&a, "125 fill 10gbit");
}

static void test_loss(void **state)
{
	struct judgement j = windowed;
	struct place p = there;
	struct advice a;

	(void)state;
	j.verdict = VERDICT_LOSS;
	j.segs = 1000000;
	j.retrans = 100;
	advise(&j, &p, &a);
	assert_says(&a, "0.01% of the segments were lost");
	assert_says(&a, "Reno has about 11.58mbit (1.448 MB/s) (Mathis)");
	assert_says(&a, "no more than 1.34e-08% may be lost");
	assert_int_equal(a.n_settings, 0);
	strcpy(p.algorithm, "reno");
	advise(&j, &p, &a);
	assert_setting(&a, true, "net.ipv4.tcp_congestion_control", "htcp");
}

static void test_local_drops(void **state)
{
	static const struct {
		const char *kind, *says;
	} rows[] = {
		{ "pfifo_fast", "txqueuelen" }, { "pfifo", "paces" }, { "bfifo", "paces" },
		{ "fq", "flow_limit" }, { "fq_codel", "on purpose" }, { "codel", "on purpose" },
		{ "cake", "on purpose" }, { "tbf", "3100000 bytes" }, { "htb", "3100000 bytes" },
		{ "mq", "each transmit queue" },
	};
	struct judgement j = windowed;
	struct place p = there;
	struct advice a;
	size_t i;

	(void)state;
	j.verdict = VERDICT_LOCAL_DROPS;
	j.local_drops = 4711;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		strcpy(p.qdisc, rows[i].kind);
		advise(&j, &p, &a);
		assert_says(&a, "dropped 4711 packets itself before they left by eth1");
		assert_says(&a, rows[i].says);
		assert_says(&a, "tc -s qdisc show dev eth1");
	}
	advise(&j, &nowhere, &a);
	assert_says(&a, "tc -s qdisc show dev DEV");
}

static void test_overrun(void **state)
{
	struct judgement j = windowed;
	struct place p = there;
	struct advice a;

	(void)state;
	j.verdict = VERDICT_OVERRUN;
	j.rate = 37500000;		/* 300 mbit */
	j.best_rate = 117700000;	/* 941.6 mbit */
	j.segs = 1000000;
	j.retrans = 31000;
	advise(&j, &p, &a);
	assert_says(&a, "was seen to take 941.6mbit (117.7 MB/s) at most, and had 300mbit (37.5 MB/s)");
	assert_says(&a, "3.1% of the segments");
	/* 95 % of 941600 kbit/s is 894520, in three digits 894000 */
	assert_says(&a,
		    "no more than 894mbit (111.8 MB/s) it should lose little; a policer's own rate may be lower.");
	assert_says(&a, "SO_MAX_PACING_RATE of 111750000 bytes/s.");
	assert_says(&a,
		    "ctcp-setup add NAME --to 192.0.2.7 --rate 894mbit --rtt 100ms --guarantee none eth1");
	assert_false(says(&a, "ctcpd then"));
	p.acts = true;
	advise(&j, &p, &a);
	assert_says(&a, "--guarantee none eth1");
	assert_says(&a, "ctcpd then leaves all of eth1 to the administrator");
	/* by ctcpd already: such a circuit would end that */
	p.paced = true;
	advise(&j, &p, &a);
	assert_false(says(&a, "ctcp-setup"));
	assert_false(says(&a, "ctcpd then"));
	assert_says(&a, "SO_MAX_PACING_RATE of 111750000 bytes/s.");
	p.acts = false;
	p.paced = false;
	/* ctcp-setup finds no way to it */
	strcpy(p.remote, "fe80::1");
	advise(&j, &p, &a);
	assert_false(says(&a, "ctcp-setup"));
	assert_says(&a, "SO_MAX_PACING_RATE of 111750000 bytes/s.");
	strcpy(p.remote, "2001:db8::7");
	advise(&j, &p, &a);
	assert_says(&a, "ctcp-setup add NAME --to 2001:db8::7 --rate");
	p.flows = 4;
	advise(&j, &p, &a);
	assert_says(&a, "SO_MAX_PACING_RATE of 27937500 bytes/s, for each of its connections.");
	/* a class is no way for 40 gbit, nor where the device is not known */
	j.best_rate = 40 * GBIT;
	advise(&j, &p, &a);
	assert_false(says(&a, "ctcp-setup"));
	j.best_rate = 0;
	advise(&j, &nowhere, &a);
	assert_false(says(&a, "ctcp-setup"));
	assert_says(&a, "no more than 285mbit");
}

/* What ctcpd-s line says is what ctcp-setup takes. */
static void test_rates_parse(void **state)
{
	static const uint64_t rates[] = { 1100, 123456, 98765432, 2499999999 };
	struct judgement j = windowed;
	struct advice a;
	struct err e;
	size_t i;

	(void)state;
	j.verdict = VERDICT_OVERRUN;
	j.rate = 0;
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		const char *line = NULL;
		char rate[32], rtt[32];
		unsigned int n;
		int words;
		uint64_t value;

		j.best_rate = rates[i];
		advise(&j, &there, &a);
		for (n = 0; n < a.n; n++)
			line = strstr(a.text[n], " --rate ") ?: line;
		assert_non_null(line);
		words = sscanf(line, " --rate %31s --rtt %31s", rate, rtt);
		assert_int_equal(words, 2);
		assert_int_equal(parse_rate(rate, &value, &e), 0);
		assert_in_range(value, rates[i] * 94 / 100, rates[i] * 95 / 100);
		assert_int_equal(parse_time(rtt, &value, &e), 0);
		assert_int_equal(value, 100000);
	}
}

static void test_others(void **state)
{
	struct judgement j = { .verdict = VERDICT_UNKNOWN };
	struct advice a;

	(void)state;
	advise(&j, &nowhere, &a);
	assert_says(&a, "Too little was seen to tell: it sent too little");
	j.reason = REASON_FIRST_SAMPLE;
	advise(&j, &nowhere, &a);
	assert_says(&a, reason_text(REASON_FIRST_SAMPLE));
	j.verdict = VERDICT_APPLICATION;
	j.app = 640;
	advise(&j, &nowhere, &a);
	assert_says(&a, "nothing to send for 64% of the time");
	j.verdict = VERDICT_CLEAN;
	advise(&j, &nowhere, &a);
	assert_says(&a, "Nothing is to be changed");
}

/*
 * All of it at its ends and at 0: no sentence is cut off, none has a number that is none, and
 * the sanitizers have something to see.
 */
static void test_extremes(void **state)
{
	struct place most = { .rate = UINT64_MAX, .tcp_wmem = UINT32_MAX, .flows = UINT32_MAX };
	struct judgement all, none = { 0 };
	struct advice a;
	unsigned int v, i;

	(void)state;
	memset(&all, 0xff, sizeof(all));
	all.reason = REASON_RANDOM;
	memset(most.remote, 'f', sizeof(most.remote) - 1);
	memset(most.dev, '\a', sizeof(most.dev) - 1);
	strcpy(most.qdisc, "htb");
	strcpy(most.algorithm, "reno");
	for (v = 0; v < 4 * VERDICTS; v++) {
		struct judgement j = v % 2 ? all : none;

		j.no_wscale = false;
		j.verdict = v / 4;
		advise(&j, v % 4 < 2 ? &most : &nowhere, &a);
		assert_true(a.n < ADVICE_MAX);
		for (i = 0; i < a.n; i++) {
			assert_true(strlen(a.text[i]) < ADVICE_TEXT - 1);
			assert_true(text_is_plain(a.text[i]));
			assert_null(strstr(a.text[i], "nan"));
			assert_null(strstr(a.text[i], "inf "));
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_need),
		cmocka_unit_test(test_window_rate),
		cmocka_unit_test(test_mathis),
		cmocka_unit_test(test_remote_window),
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_near_remote),
		cmocka_unit_test(test_no_window_scale),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_send_buffer),
		cmocka_unit_test(test_app_window),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_local_drops),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_rates_parse),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

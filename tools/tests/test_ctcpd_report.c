// SPDX-License-Identifier: GPL-2.0
/*
 * Status, report and why: their JSON, of remotes and of a history that is really there, and the
 * text that is made of it.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

#include "ctcpd_told.h"

#include "ctcpd/answers.h"
#include "ctcpd/places.h"
#include "ctcpd/report.h"
#include "json.h"
#include "text.h"

#define NOW	1790000000	/* s */

static const struct judgement windowed = {
	.verdict = VERDICT_REMOTE_WINDOW, .reason = REASON_TIME, .us = 60000000,
	.acked = 1800000000, .segs = 1000000, .retrans = 100, .local_drops = 3, .busy = 1000,
	.rwnd = 870, .sndbuf = 20, .app = 5, .rate = 30000000, .best_rate = 31000000,
	.cwnd_max = 3000, .cwnd_mean = 2500, .mss = 1448, .rtt_us = 101000,
	.min_rtt_us = 100000, .snd_wnd_max = 3145728, .sndbuf_bytes = 4194304,
	.dispersion = 1250, .even = 3, .levels = 7, .spread = 21,
	.high = 931, .excess = 1107, .rate_dispersion = 128, .even_rate = 57,
};

static struct prefix address(const char *text)
{
	struct prefix p;

	assert_int_equal(parse_address(text, &p), 0);
	return p;
}

static void assert_real(const json_t *o, const char *key, double want)
{
	double d = json_number_value(json_object_get(o, key)) - want;

	assert_true(json_is_number(json_object_get(o, key)) && fabs(d) < 0.000001);
}

/* --- parts ------------------------------------------------------------------------- */

static void test_judgement(void **state)
{
	json_t *j = judgement_json(&windowed);

	(void)state;
	assert_string_equal(word(j, "verdict"), "remote-window");
	assert_string_equal(word(j, "text"), verdict_text(VERDICT_REMOTE_WINDOW));
	assert_string_equal(word(j, "reason"), "time");
	assert_string_equal(word(j, "why"), reason_text(REASON_TIME));
	assert_int_equal(number(j, "duration_us"), 60000000);
	assert_int_equal(number(j, "acked_bytes"), 1800000000);
	assert_int_equal(number(j, "sent_segments"), 1000000);
	assert_int_equal(number(j, "retransmitted_segments"), 100);
	assert_int_equal(number(j, "local_drops_packets"), 3);
	assert_int_equal(number(j, "rate_bytes_s"), 30000000);
	assert_int_equal(number(j, "best_rate_bytes_s"), 31000000);
	assert_real(j, "busy_share", 1);
	assert_real(j, "receive_window_share", 0.87);
	assert_real(j, "send_buffer_share", 0.02);
	assert_real(j, "application_share", 0.005);
	assert_int_equal(number(j, "cwnd_max_segments"), 3000);
	assert_int_equal(number(j, "cwnd_mean_segments"), 2500);
	assert_int_equal(number(j, "mss_bytes"), 1448);
	assert_int_equal(number(j, "rtt_us"), 101000);
	assert_int_equal(number(j, "min_rtt_us"), 100000);
	assert_int_equal(number(j, "receive_window_max_bytes"), 3145728);
	assert_int_equal(number(j, "send_buffer_bytes"), 4194304);
	assert_true(json_is_true(json_object_get(j, "window_scale")));
	assert_real(j, "loss_dispersion", 12.5);
	assert_real(j, "loss_evenness", 0.03);
	assert_int_equal(number(j, "loss_windows"), 7);
	assert_real(j, "loss_windows_spread", 0.021);
	assert_real(j, "loss_at_large_windows", 9.31);
	assert_real(j, "loss_excess", 11.07);
	assert_real(j, "rate_dispersion", 1.28);
	assert_real(j, "rate_evenness", 0.57);
	json_decref(j);
}

/* Not known is null, and no 0 that somebody adds up */
static void test_unknown(void **state)
{
	static const char * const keys[] = {
		"reason", "why", "best_rate_bytes_s", "cwnd_max_segments", "cwnd_mean_segments",
		"mss_bytes", "rtt_us", "min_rtt_us", "receive_window_max_bytes",
		"send_buffer_bytes", "loss_dispersion", "loss_evenness", "loss_windows_spread",
		"loss_at_large_windows", "loss_excess", "rate_dispersion", "rate_evenness",
	};
	static const struct judgement none;
	json_t *j = judgement_json(&none);
	size_t i;

	(void)state;
	assert_string_equal(word(j, "verdict"), "unknown");
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		assert_true(json_is_null(json_object_get(j, keys[i])));
	json_decref(j);
}

/* JSON's integers end at 2^63. */
static void test_largest(void **state)
{
	struct judgement most = windowed;
	json_t *j;

	(void)state;
	most.acked = UINT64_MAX;
	most.rate = UINT64_MAX;
	j = judgement_json(&most);
	assert_int_equal(number(j, "acked_bytes"), INT64_MAX);
	assert_int_equal(number(j, "rate_bytes_s"), INT64_MAX);
	json_decref(j);
}

/* --- answers ----------------------------------------------------------------------- */

struct host {
	char folder[PATH_MAX];
	struct config config;
	struct log log;
	struct keep keep;
	struct remotes *remotes;
	struct poll_totals totals;
	struct asked asked;
};

static void begin(struct host *h)
{
	memset(h, 0, sizeof(*h));
	snprintf(h->folder, sizeof(h->folder), "%s/report.XXXXXX", TEST_DIR);
	assert_non_null(mkdtemp(h->folder));
	config_defaults(&h->config);
	assert_true((size_t)snprintf(h->config.history, sizeof(h->config.history),
				     "%s/history.db", h->folder) < sizeof(h->config.history));
	log_open(&h->log, false);
	h->log.quiet = true;
	keep_open(&h->keep, &h->config, &h->log, NOW);
	h->remotes = remotes_new();
	assert_non_null(h->remotes);
	h->totals = (struct poll_totals){ .polls = 7, .history_ok = true, .flows = 2,
					  .remotes = 2, .flows_of = { [VERDICT_CLEAN] = 2 },
					  .acked = 5000000, .segs = 4000, .retrans = 40 };
	h->asked = (struct asked){ .totals = &h->totals, .remotes = h->remotes,
				   .keep = &h->keep, .config = &h->config };
}

static void end(struct host *h)
{
	char command[PATH_MAX + 16];

	keep_close(&h->keep, NOW);
	remotes_free(h->remotes);
	log_close(&h->log);
	snprintf(command, sizeof(command), "rm -r '%s'", h->folder);
	assert_int_equal(system(command), 0);
}

/* An earlier visit, @ago seconds */
static void visited(struct host *h, const char *remote, const struct judgement *j,
		    int64_t ago)
{
	struct visit v = { .remote = address(remote), .began = NOW - ago - 60,
			   .ended = NOW - ago, .flows = 4, .algorithm = "cubic",
			   .dev = "gone0", .judgement = *j };

	keep_visit(&h->keep, &v, NOW);
	keep_flush(&h->keep, NOW);
	assert_true(keep_ok(&h->keep));
}

/* Flows that lead there now, and have sent nothing that tells */
static void visits_now(struct host *h, const char * const *to, unsigned int n)
{
	unsigned int i;

	remotes_begin(h->remotes, 1000000);
	for (i = 0; i < n; i++) {
		struct flow f = { .last.conn = { .peer = address(to[i]), .cookie = i + 1,
						 .algorithm = "reno" } };

		f.first_us = 1000000;
		f.facts.us = 1000000;
		f.facts.acked = 1000 * (i + 1);
		f.facts.recent = (struct work){ .us = 1000000, .acked = f.facts.acked };
		assert_int_equal(remotes_flow(h->remotes, &f, false), 0);
	}
	assert_int_equal(remotes_end(h->remotes, 1000000, NULL, NULL), 0);
}

static json_t *report(struct host *h)
{
	struct err e = { "" };
	json_t *answer;

	assert_int_equal(answer_report(&h->asked, &answer, &e), 0);
	return answer;
}

static const json_t *row(const json_t *answer, const char *list, const char *remote)
{
	const json_t *r;
	size_t i;

	json_array_foreach(json_object_get(answer, list), i, r)
		if (!strcmp(word(r, "remote"), remote))
			return r;
	return NULL;
}

static void test_status(void **state)
{
	static const char * const to[] = { "192.0.2.7", "2001:db8::7" };
	struct err e;
	struct host h;
	json_t *answer;
	char *text;

	(void)state;
	begin(&h);
	h.totals.flows_left_out = 5;
	visits_now(&h, to, 2);
	assert_int_equal(answer_status(&h.asked, &answer, &e), 0);
	assert_int_equal(number(answer, "polls"), 7);
	assert_int_equal(number(json_object_get(answer, "flows_of"), "clean"), 2);
	assert_int_equal(number(json_object_get(answer, "flows_of"), "overrun"), 0);
	assert_int_equal(number(answer, "remotes_left_out"), 0);
	/* most bytes first */
	assert_string_equal(word(json_array_get(json_object_get(answer, "remotes_now"), 0),
				 "remote"), "2001:db8::7");
	assert_int_equal(number(row(answer, "remotes_now", "192.0.2.7"), "flows"), 1);
	text = printed(status_print, answer);
	assert_has(text, "polls     7, of which 0 failed");
	assert_has(text, "5 MB acknowledged, 1% of the segments sent again; this host dropped 0 packets\n");
	assert_int_equal(number(answer, "flows_left_out"), 5);
	assert_has(text, "flows     2: 2 clean\n          5 more are left out");
	assert_has(text, "\n192.0.2.7        1  ");
	assert_has(text, "unknown\n");
	free(text);
	json_decref(answer);
	end(&h);
}

static void assert_status(json_t *answer, const char *part)
{
	char *text = printed(status_print, answer);

	assert_has(text, part);
	free(text);
}

static void set_word(json_t *o, const char *key, const char *value)
{
	json_object_set_new(o, key, json_string(value));
}

/* Why the history cannot be written, what that costs; and where none is kept, that */
static void test_status_history(void **state)
{
	struct err e;
	struct host h;
	json_t *answer;

	(void)state;
	begin(&h);
	assert_int_equal(answer_status(&h.asked, &answer, &e), 0);
	assert_true(json_is_null(json_object_get(answer, "history_error")));
	assert_status(answer, "\nhistory   can be written; 0 writes failed\n");
	json_decref(answer);
	/* the last poll met no trouble, what came behind it did */
	h.keep.failed = 3;
	h.keep.rc = err_set(&h.keep.why, -ENOSPC, "the disk is full");
	assert_int_equal(answer_status(&h.asked, &answer, &e), 0);
	assert_string_equal(word(answer, "history_error"), "the disk is full");
	json_object_set_new(answer, "visits_waiting", json_integer(5));
	json_object_set_new(answer, "visits_lost", json_integer(1));
	assert_status(answer, "\nhistory   cannot be written: the disk is full; 3 writes failed; visits that wait: 5, that were lost: 1\n");
	json_object_set_new(answer, "config", json_object());
	set_word(json_object_get(answer, "config"), "history.file", "");
	assert_status(answer, "\nhistory   none is kept\n");
	json_decref(answer);
	/* and the other way: there is room again */
	h.totals.history_ok = false;
	h.keep.rc = 0;
	assert_int_equal(answer_status(&h.asked, &answer, &e), 0);
	assert_status(answer, "\nhistory   can be written; 3 writes failed\n");
	json_decref(answer);
	end(&h);
}

/* Whoever reloaded it and looks what has come of it is told. */
static void test_status_config(void **state)
{
	json_t *answer = json_object();
	char *text = printed(status_print, answer);

	(void)state;
	assert_null(strstr(text, "config"));
	free(text);
	set_word(answer, "config_error", "/etc/ctcpd.conf, line 3: \"mod\" is no key");
	assert_status(answer, "config    as it was before the last reload, which was refused: /etc/ctcpd.conf, line 3: \"mod\" is no key\n");
	json_decref(answer);
}

/* Two remotes of the history that something can be done about, and two of which not */
static void test_report(void **state)
{
	struct judgement overrun = windowed, clean = windowed;
	const json_t *r, *s;
	struct host h;
	json_t *answer;
	char *text;

	(void)state;
	overrun.verdict = VERDICT_OVERRUN;
	overrun.acked = 1;
	clean.verdict = VERDICT_CLEAN;
	begin(&h);
	visited(&h, "192.0.2.7", &windowed, 3600);
	visited(&h, "192.0.2.8", &clean, 3600);
	visited(&h, "2001:db8::9", &overrun, 7200);
	visited(&h, "192.0.2.7", &clean, 60);	/* as many bytes, one later */
	answer = report(&h);
	assert_int_equal(json_array_size(json_object_get(answer, "remotes")), 2);
	assert_int_equal(number(json_object_get(answer, "remotes_of"), "remote-window"), 1);
	assert_int_equal(number(json_object_get(answer, "remotes_of"), "clean"), 1);
	assert_int_equal(number(json_object_get(answer, "remotes_of"), "overrun"), 1);
	assert_true(json_is_null(json_object_get(answer, "history_error")));
	r = json_array_get(json_object_get(answer, "remotes"), 0);
	assert_string_equal(word(r, "remote"), "192.0.2.7");
	assert_true(json_is_false(json_object_get(r, "visited")));
	assert_string_equal(word(r, "algorithm"), "cubic");
	assert_string_equal(word(json_object_get(r, "judgement"), "verdict"), "remote-window");
	assert_int_equal(number(json_object_get(r, "earlier"), "visits"), 2);
	assert_int_equal(number(json_object_get(r, "earlier"), "acked_bytes"), 3600000000);
	assert_true(json_array_size(json_object_get(r, "advice")) >= 2);
	s = json_array_get(json_object_get(r, "settings"), 0);
	assert_string_equal(word(s, "host"), "remote");
	assert_string_equal(word(s, "name"), "net.ipv4.tcp_rmem");
	assert_string_equal(word(s, "value"), "4096 131072 250000000");
	assert_non_null(row(answer, "remotes", "2001:db8::9"));
	/* no command names a device that is gone */
	text = printed(report_print, answer);
	assert_has(text, "remotes, by what limits them: 1 overrun, 1 remote-window, 1 clean\n");
	assert_has(text, "\n192.0.2.7: limited by the peer's receive window; ");
	assert_has(text, "at 240mbit (30 MB/s), at best 248mbit (31 MB/s); round trip 100ms");
	assert_has(text, "87% held by the receive window");
	assert_has(text, "  of the remote, in /etc/sysctl.d:\n    net.ipv4.tcp_rmem = 4096 131072 250000000\n");
	assert_null(strstr(text, "of this host, in"));
	assert_null(strstr(text, "gone0"));
	free(text);
	json_decref(answer);
	end(&h);
}

/* A remote that is visited, and of which too little is known yet, is as it was. */
static void test_report_now(void **state)
{
	static const char * const to[] = { "192.0.2.7", "192.0.2.10" };
	const struct prefix fine = address("192.0.2.10");
	const json_t *r;
	struct host h;
	json_t *answer;

	(void)state;
	begin(&h);
	visited(&h, "192.0.2.7", &windowed, 3600);
	visits_now(&h, to, 2);
	remotes_find(h.remotes, &fine)->now.verdict = VERDICT_CLEAN;
	answer = report(&h);
	assert_int_equal(json_array_size(json_object_get(answer, "remotes")), 1);
	r = row(answer, "remotes", "192.0.2.7");
	assert_non_null(r);
	assert_true(json_is_true(json_object_get(r, "visited")));
	assert_int_equal(number(json_object_get(answer, "remotes_of"), "remote-window"), 1);
	assert_int_equal(number(json_object_get(answer, "remotes_of"), "clean"), 1);
	assert_int_equal(number(json_object_get(answer, "remotes_of"), "unknown"), 0);
	json_decref(answer);
	end(&h);
}

static void test_report_nothing(void **state)
{
	struct host h;
	json_t *answer;
	char *text;

	(void)state;
	begin(&h);
	answer = report(&h);
	text = printed(report_print, answer);
	assert_string_equal(text, "remotes, by what limits them: none\n"
			    "nothing is to be changed, at either end\n");
	free(text);
	json_decref(answer);
	end(&h);
}

static json_t *why(struct host *h, const char *remote, int want, struct err *e)
{
	json_t *question = json_pack("{s:s, s:s}", "command", "why", "remote", remote);
	json_t *answer = NULL;
	int rc = answer_why(&h->asked, question, &answer, e);

	if (rc != want)
		print_error("why %s: %d (%s)\n", remote, rc, rc ? e->text : "");
	assert_int_equal(rc, want);
	json_decref(question);
	return answer;
}

/* Of a history that cannot be opened nobody says that there is nothing in it. */
static void test_no_history(void **state)
{
	static const char * const to[] = { "192.0.2.7" };
	struct err e = { "" };
	struct host h;
	json_t *answer;
	char *text;

	(void)state;
	begin(&h);
	assert_int_equal(chmod(h.folder, 0777), 0);
	h.config.limits.visits = 1000;	/* so that it is opened again */
	keep_change(&h.keep, &h.config, NOW);
	visits_now(&h, to, 1);
	answer = report(&h);
	assert_non_null(strstr(word(answer, "history_error"), "0777"));
	text = printed(report_print, answer);
	assert_null(strstr(text, "at either end"));
	assert_non_null(strstr(text, "the history could not be read: "));
	free(text);
	json_decref(answer);
	answer = why(&h, "192.0.2.7", 0, &e);
	assert_non_null(strstr(word(answer, "history_error"), "0777"));
	json_decref(answer);
	assert_null(why(&h, "192.0.2.8", -ENOENT, &e));
	assert_non_null(strstr(e.text, "0777"));
	end(&h);
}

static void test_why(void **state)
{
	static const char * const to[] = { "192.0.2.7" };
	struct err e = { "" };
	struct host h;
	json_t *answer;
	char *text;
	int i;

	(void)state;
	begin(&h);
	for (i = 30; i > 0; i--)
		visited(&h, "192.0.2.7", &windowed, 3600 * i);
	visits_now(&h, to, 1);
	answer = why(&h, "192.0.2.7", 0, &e);
	assert_int_equal(json_array_size(json_object_get(answer, "visits")), WHY_VISITS);
	/* newest first */
	assert_int_equal(number(json_array_get(json_object_get(answer, "visits"), 0),
				"ended_s"), NOW - 3600);
	assert_int_equal(number(json_object_get(answer, "earlier"), "visits"), 30);
	assert_string_equal(word(json_object_get(answer, "now"), "algorithm"), "reno");
	json_decref(answer);
	answer = why(&h, "::ffff:192.0.2.7", 0, &e);
	assert_string_equal(word(json_object_get(answer, "now"), "remote"), "192.0.2.7");
	assert_int_equal(number(json_object_get(answer, "earlier"), "visits"), 30);
	/* as it was: of now too little is known */
	assert_has(json_string_value(json_array_get(json_object_get(answer, "advice"), 0)),
		   "The receive window held it");
	text = printed(why_print, answer);
	assert_has(text, "192.0.2.7: not known");
	assert_has(text, "  1 flow now, by reno\n");
	assert_has(text, "  earlier: 30 visits, 54 GB, 0.01% sent again");
	assert_has(text, "30 remote-window\n  as it was then:\n  - The receive window");
	assert_has(text, "net.core.rmem_max = 250000000");
	assert_has(text, "visit of");
	free(text);
	json_decref(answer);
	end(&h);
}

/* The loopback is there in any namespace, and has no rate. */
static void test_places(void **state)
{
	struct places ps;
	struct place p = { 0 };
	char dev[IFNAMSIZ];

	(void)state;
	places_open(&ps);
	places_fill(&ps, "lo", &p);
	assert_string_equal(p.dev, "lo");
	assert_true(*p.qdisc);
	assert_int_equal(p.rate, 0);
	assert_true(p.tcp_wmem > 4096);
	memset(&p, 0, sizeof(p));
	places_fill(&ps, "lo", &p);
	places_fill(&ps, "gone0", &p);
	assert_string_equal(p.dev, "lo");
	assert_int_equal(ps.n, 2);
	places_close(&ps);
	assert_string_equal(places_device(if_nametoindex("lo"), dev), "lo");
	assert_string_equal(places_device(0, dev), "");
	assert_string_equal(places_device(INT32_MAX, dev), "");
}

static void test_why_not(void **state)
{
	struct err e = { "" };
	struct host h;
	json_t *answer;
	char *text;

	(void)state;
	begin(&h);
	assert_null(why(&h, "192.0.2.9", -ENOENT, &e));
	assert_has(e.text, "nothing is known of 192.0.2.9");
	assert_null(why(&h, "dtn.example.org", -EINVAL, &e));
	assert_has(e.text, "\"remote\": \"dtn.example.org\" is not an address; write e.g.");
	assert_null(why(&h, "", -EINVAL, &e));
	visited(&h, "192.0.2.9", &windowed, 60);
	answer = why(&h, "192.0.2.9", 0, &e);
	assert_true(json_is_null(json_object_get(answer, "now")));
	text = printed(why_print, answer);
	assert_has(text, "no flow leads there now, nor did lately\n");
	free(text);
	json_decref(answer);
	end(&h);
}

/* --- text -------------------------------------------------------------------------- */

static void (* const prints[])(FILE *out, const json_t *answer) = {
	status_print, report_print, why_print,
};

/* What another version, or somebody else, answers: nothing of it crashes. */
static void test_other_json(void **state)
{
	static const char * const answers[] = {
		"{}", "[]", "null", "7", "\"text\"", "{\"remotes\": 7, \"remotes_now\": {}}",
		"{\"remotes\": [7, null, {}, []], \"remotes_now\": [7, null, {}, []]}",
		"{\"remotes\": [{\"judgement\": 7, \"advice\": 7, \"settings\": [7, {}]}]}",
		"{\"now\": 7, \"visits\": [7, {}], \"earlier\": [], \"advice\": [7, null]}",
		"{\"now\": {}, \"polls\": -1, \"history_error\": 7, \"remotes_left_out\": -9}",
		"{\"visits\": [{\"began_s\": 9223372036854775807}], \"earlier\": {\"last_s\": 1}}",
	};
	size_t i, p;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		json_t *answer = json_loads(answers[i], JSON_DECODE_ANY, NULL);

		assert_non_null(answer);
		for (p = 0; p < ARRAY_SIZE(prints); p++)
			free(printed(prints[p], answer));
		json_decref(answer);
	}
}

/* No string of an answer moves the cursor. */
static void test_terminal(void **state)
{
#define BAD "\\u001b[2J\\u0007\\u009b"
	static const char bad[] =
		"{\"history_error\": \"" BAD "\", \"advice\": [\"" BAD "\"], \"settings\": ["
		"{\"host\": \"remote\", \"name\": \"" BAD "\", \"value\": \"" BAD "\"}],"
		"\"pacing\": {\"state\": \"" BAD "\", \"why\": \"" BAD "\", \"device\": \"" BAD
		"\", \"to\": \"" BAD "\", \"of_subnet\": true, \"rate_bytes_s\": 1},"
		"\"paced\": [{\"to\": \"" BAD "\", \"state\": \"" BAD "\"}],"
		"\"now\": {\"remote\": \"" BAD "\", \"algorithm\": \"" BAD "\","
		" \"judgement\": {\"text\": \"" BAD "\", \"why\": \"" BAD "\"}},"
		"\"visits\": [{\"judgement\": {\"verdict\": \"" BAD "\"}}],"
		"\"remotes\": [{\"remote\": \"" BAD "\", \"judgement\": {\"text\": \"" BAD "\"}}],"
		"\"remotes_now\": [{\"remote\": \"" BAD "\", \"judgement\": {\"verdict\": \"" BAD
		"\"}}]}";
	json_t *answer = json_loads(bad, 0, NULL);
	char *text, *line;
	size_t p;

	(void)state;
	assert_non_null(answer);
	for (p = 0; p < ARRAY_SIZE(prints); p++) {
		text = printed(prints[p], answer);
		assert_has(text, "?[2J?");
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(text_is_plain(line));
		free(text);
	}
	json_decref(answer);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judgement),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_status_history),
		cmocka_unit_test(test_status_config),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_report_now),
		cmocka_unit_test(test_report_nothing),
		cmocka_unit_test(test_no_history),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_why_not),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_other_json),
		cmocka_unit_test(test_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

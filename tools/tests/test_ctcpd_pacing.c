// SPDX-License-Identifier: GPL-2.0
/*
 * What is told of pacing: its JSON, in status, report and why, and the text that is made of it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test.h"

#include "ctcpd_act_fake.h"
#include "ctcpd_told.h"

#include "ctcpd/answers.h"
#include "ctcpd/pacings.h"
#include "ctcpd/report.h"
#include "json.h"
#include "units.h"

#define NOW	1790000000	/* s: 2026-09-21 14:13 UTC */
#define US	1000000ULL

/* 300 Mbit/s and 1 % before, 900 Mbit/s and 0.01 % since it is kept */
static const struct search kept = {
	.state = SEARCH_KEPT, .rate = 920 * MBIT,
	.base = { .n = 10, .us = 50 * US, .acked = 50 * 300 * MBIT, .segs = 1000000,
		  .retrans = 10000 },
	.proof = { .n = 3, .us = 15 * US, .acked = 15 * 900 * MBIT, .segs = 1000000,
		   .retrans = 100 },
};

static struct pacing pacing(const char *to, const struct search *s)
{
	struct pacing p = { .ifindex = 2, .dev = "eth1", .search = s, .rate = s->rate,
			    .reason = SEARCH_PROVED, .since = NOW, .stood_down = "",
			    .hands = "classes", .unfit = "" };
	struct err e;

	assert_int_equal(parse_prefix(to, &p.to, &e), 0);
	return p;
}

static void assert_null_at(const json_t *o, const char *key)
{
	if (!json_is_null(json_object_get(o, key)))
		print_error("\"%s\" is not null\n", key);
	assert_true(json_is_null(json_object_get(o, key)));
}

/* --- of one ------------------------------------------------------------------------- */

static void test_json(void **state)
{
	struct pacing p = pacing("192.0.2.7/32", &kept);
	json_t *j = pacing_json(&p, true), *part;
	double off;

	(void)state;
	assert_string_equal(word(j, "to"), "192.0.2.7");
	assert_true(json_is_false(json_object_get(j, "of_subnet")));
	assert_string_equal(word(j, "device"), "eth1");
	assert_string_equal(word(j, "paced_by"), "classes");
	assert_null_at(j, "unfit");
	assert_string_equal(word(j, "state"), "kept");
	assert_string_equal(word(j, "reason"), "proved");
	assert_string_equal(word(j, "why"), search_reason_text(SEARCH_PROVED));
	assert_int_equal(number(j, "rate_bytes_s"), 920 * MBIT);
	assert_int_equal(number(j, "wanted_rate_bytes_s"), 920 * MBIT);
	assert_null_at(j, "would_rate_bytes_s");
	assert_int_equal(number(j, "since_s"), NOW);
	assert_null_at(j, "again_s");
	assert_null_at(j, "stood_down");
	part = json_object_get(j, "before");
	assert_int_equal(number(part, "intervals"), 10);
	assert_int_equal(number(part, "duration_us"), 50 * US);
	assert_int_equal(number(part, "carried_bytes"), 50 * 300 * MBIT);
	assert_int_equal(number(part, "rate_bytes_s"), 300 * MBIT);
	assert_int_equal(number(part, "sent_segments"), 1000000);
	assert_int_equal(number(part, "retransmitted_segments"), 10000);
	off = json_number_value(json_object_get(part, "resent_share")) - 0.01;
	assert_true(fabs(off) < 0.000001);
	/* what it is kept for: search.now begins anew when it is */
	assert_int_equal(number(json_object_get(j, "after"), "rate_bytes_s"), 900 * MBIT);
	json_decref(j);
}

/* The manual page without its backslashes */
static void read_manual(char *text, size_t room)
{
	FILE *in = fopen(TOOLS_DIR "/man/ctcpd.8", "r");
	size_t len = 0;
	int c;

	assert_non_null(in);
	while ((c = fgetc(in)) != EOF)
		if (c != '\\' && len + 1 < room)
			text[len++] = (char)c;
	assert_false(ferror(in));
	fclose(in);
	text[len] = 0;
}

/* A program has one word for each sentence, and ctcpd(8) has all of them */
static void test_json_reasons(void **state)
{
	struct pacing p = pacing("192.0.2.7", &kept);
	static char manual[1 << 17];
	char quoted[40];
	int r;

	(void)state;
	read_manual(manual, sizeof(manual));
	for (r = SEARCH_NO_REASON + 1; r < SEARCH_REASONS; r++) {
		json_t *j;

		p.reason = (enum search_reason)r;
		j = pacing_json(&p, true);
		assert_string_equal(word(j, "reason"), search_reason_name(p.reason));
		assert_string_equal(word(j, "why"), search_reason_text(p.reason));
		snprintf(quoted, sizeof(quoted), "\"%s\"", word(j, "reason"));
		if (!strstr(manual, quoted))
			fail_msg("expected %s in ctcpd(8), got none", quoted);
		json_decref(j);
	}
}

/* While it is tried, what the rate has carried so far; taken back, nothing of either */
static void test_json_states(void **state)
{
	struct search s = kept;
	struct pacing p = pacing("2001:db8::/64", &s);
	json_t *j;

	(void)state;
	s.state = SEARCH_TRYING;
	s.now = (struct tally){ .n = 1, .us = 5 * US, .acked = 5 * 400 * MBIT, .segs = 9 };
	j = pacing_json(&p, true);
	assert_string_equal(word(j, "to"), "2001:db8::/64");
	assert_true(json_is_true(json_object_get(j, "of_subnet")));
	assert_int_equal(number(json_object_get(j, "after"), "rate_bytes_s"), 400 * MBIT);
	json_decref(j);
	s = (struct search){ .state = SEARCH_TAKEN_BACK, .again = NOW + 86400 };
	p = pacing("192.0.2.7", &s);
	p.dev[0] = 0;
	p.hands = "";
	p.unfit = "eth1 has 8 queues";
	p.since = 0;
	p.reason = SEARCH_NO_REASON;
	p.stood_down = "eth1 has a root qdisc tbf";
	j = pacing_json(&p, true);
	assert_int_equal(number(j, "again_s"), NOW + 86400);
	assert_string_equal(word(j, "stood_down"), "eth1 has a root qdisc tbf");
	assert_null_at(j, "device");
	assert_null_at(j, "paced_by");
	assert_string_equal(word(j, "unfit"), "eth1 has 8 queues");
	assert_null_at(j, "rate_bytes_s");
	assert_null_at(j, "wanted_rate_bytes_s");
	assert_null_at(j, "since_s");
	assert_null_at(j, "reason");
	assert_null_at(j, "why");
	assert_null_at(j, "before");
	assert_null_at(j, "after");
	json_decref(j);
	s.state = SEARCH_WATCHING;
	j = pacing_json(&p, true);
	assert_null_at(j, "again_s");
	json_decref(j);
}

/* What why prints of it, where it acts unless @p would be paced, of an answer without all else */
static char *told(const struct pacing *p)
{
	json_t *answer = json_pack("{s:o}", "pacing", pacing_json(p, !p->would));
	char *text = printed(why_print, answer);

	json_decref(answer);
	return text;
}

static void assert_told(const struct pacing *p, const char *part)
{
	char *text = told(p);

	assert_has(text, part);
	free(text);
}

static void test_text_paced(void **state)
{
	struct search s = kept;
	struct pacing p = pacing("192.0.2.7", &s);

	(void)state;
	assert_told(&p, "\n  paced at 920mbit (115 MB/s) on eth1, by a class; kept since 2026-09-21 14:13: it carries at least 98% of what it did before, and hardly retransmits\n"
		    "    before: 300mbit (37.5 MB/s), 1% sent again; at this rate: 900mbit (112.5 MB/s), 0.01% sent again\n");
	p.hands = "sockets";
	assert_told(&p, "\n  paced at 920mbit (115 MB/s) on eth1, by sockets; kept since");
	p = pacing("192.0.2.0/24", &s);
	s.state = SEARCH_TRYING;
	p.reason = SEARCH_OVERRUN;
	p.since = 0;
	assert_told(&p, "paced at 920mbit (115 MB/s) on eth1, as all of 192.0.2.0/24, by a class; being tried: it is overrun; the best rate that it took is tried\n"
		    "    before: 300mbit (37.5 MB/s), 1% sent again\n");
	p.rate = 0;
	assert_told(&p, "  not paced at present; 920mbit (115 MB/s) is to be set on eth1, as all of 192.0.2.0/24; the log says why, unless its device is down or ctcp-setup is at work\n"
		    "    before: ");
	p.unfit = "eth1 has 8 queues";
	assert_told(&p, "  not paced, as nothing can be paced on eth1, as all of 192.0.2.0/24: eth1 has 8 queues\n");
	p.unfit = "";
	p.would = 800 * MBIT;
	assert_told(&p, "  not paced; mode = act would begin at 800mbit (100 MB/s) on eth1, as all of 192.0.2.0/24\n    before: ");
}

static void test_text_not_paced(void **state)
{
	struct search s = { .state = SEARCH_TAKEN_BACK, .again = NOW + 86400 };
	struct pacing p = pacing("192.0.2.7", &s);
	char *text;

	(void)state;
	p.reason = SEARCH_NO_HELP;
	assert_told(&p, "  not paced; taken back at 2026-09-21 14:13: pacing does not help it; not tried again before 2026-09-22 14:13\n");
	p.stood_down = "eth1 has a root qdisc tbf";
	assert_told(&p, "  not paced by ctcpd, which leaves it alone: eth1 has a root qdisc tbf; looked at again after 2026-09-22 14:13\n");
	s = (struct search){ .base = { .n = 1, .us = 1, .segs = 1, .retrans = 1 } };
	p = pacing("192.0.2.7", &s);
	text = told(&p);
	assert_has(text, "  not paced; it was overrun in 1 interval so far, and more are needed before a rate is tried\n");
	assert_null(strstr(text, "before:"));
	free(text);
}

/* --- answers ------------------------------------------------------------------------ */

struct host {
	struct config config;
	struct log log;
	struct keep keep;
	struct remotes *remotes;
	struct poll_totals totals;
	struct fake_act act;
	struct asked asked;
};

static void begin(struct host *h)
{
	memset(h, 0, sizeof(*h));
	config_defaults(&h->config);
	h->config.history[0] = 0;
	log_open(&h->log, false);
	h->log.quiet = true;
	keep_open(&h->keep, &h->config, &h->log, NOW);
	h->remotes = remotes_new();
	assert_non_null(h->remotes);
	h->act.totals = (struct act_totals){ .acts = true, .unable = "", .hindered = "" };
	h->asked = (struct asked){ .totals = &h->totals, .remotes = h->remotes, .keep = &h->keep,
				   .config = &h->config, .act = fake_act(&h->act) };
}

static void end(struct host *h)
{
	keep_close(&h->keep, NOW);
	remotes_free(h->remotes);
	log_close(&h->log);
}

/* One flow to each; the last has the most bytes */
static void visits_now(struct host *h, const char * const *to, unsigned int n)
{
	unsigned int i;

	remotes_begin(h->remotes, US);
	for (i = 0; i < n; i++) {
		struct flow f = { .last.conn = { .cookie = i + 1, .algorithm = "cubic" } };

		assert_int_equal(parse_address(to[i], &f.last.conn.peer), 0);
		f.first_us = US;
		f.facts.us = US;
		f.facts.acked = 1000 * (i + 1);
		f.facts.recent = (struct work){ .us = US, .acked = f.facts.acked };
		assert_int_equal(remotes_flow(h->remotes, &f, false), 0);
	}
	assert_int_equal(remotes_end(h->remotes, US, NULL, NULL), 0);
}

static const json_t *row(const json_t *answer, const char *list, const char *key,
			 const char *name)
{
	const json_t *r;
	size_t i;

	json_array_foreach(json_object_get(answer, list), i, r)
		if (!strcmp(word(r, key), name))
			return r;
	fail_msg("no %s in %s", name, list);
	return NULL;
}

static json_t *status(struct host *h)
{
	struct err e = { "" };
	json_t *answer;

	assert_int_equal(answer_status(&h->asked, &answer, &e), 0);
	return answer;
}

static void assert_status(struct host *h, const char *part)
{
	json_t *answer = status(h);
	char *text = printed(status_print, answer);

	assert_has(text, part);
	free(text);
	json_decref(answer);
}

static void assert_not_status(struct host *h, const char *part)
{
	json_t *answer = status(h);
	char *text = printed(status_print, answer);

	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, text);
	free(text);
	json_decref(answer);
}

static void test_totals(void **state)
{
	struct search s = { .state = SEARCH_TRYING, .rate = 10 * MBIT };
	struct host h;
	json_t *answer;
	const json_t *t;

	(void)state;
	begin(&h);
	h.act.totals = (struct act_totals){ .searches = 9, .paced = 3, .trying = 1, .kept = 2,
					    .paced_by = { 1, 2 },
					    .taken_back = 4, .stood_down = 1,
					    .paced_changes = 17, .failed = 1, .acts = true,
					    .unable = "", .hindered = "" };
	answer = status(&h);
	t = json_object_get(answer, "pacing");
	assert_string_equal(word(t, "state"), "acts");
	assert_null_at(t, "why");
	assert_null_at(t, "changes_error");
	assert_int_equal(number(t, "searches"), 9);
	assert_int_equal(number(t, "paced"), 3);
	assert_int_equal(number(json_object_get(t, "paced_by"), "classes"), 1);
	assert_int_equal(number(json_object_get(t, "paced_by"), "sockets"), 2);
	assert_int_equal(json_array_size(json_object_get(t, "devices")), 0);
	assert_int_equal(number(t, "trying"), 1);
	assert_int_equal(number(t, "kept"), 2);
	assert_int_equal(number(t, "taken_back"), 4);
	assert_int_equal(number(t, "stood_down"), 1);
	assert_int_equal(number(t, "would_pace"), 0);
	assert_int_equal(number(t, "rate_changes"), 17);
	assert_int_equal(number(t, "polls_failed"), 1);
	json_decref(answer);
	assert_status(&h, "\npacing    acts: 3 paced (1 being tried, 2 kept; 1 by classes, 2 by sockets), 4 taken back, 1 left alone; 17 changes of a rate, 1 poll failed to make them\n");
	h.act.totals.hindered = "pacing by classes cannot be changed: the disk is full";
	answer = status(&h);
	assert_string_equal(word(json_object_get(answer, "pacing"), "changes_error"),
			    h.act.totals.hindered);
	json_decref(answer);
	assert_status(&h, " 1 poll failed to make them\n          pacing by classes cannot be changed: the disk is full; what is paced stays so, and it is tried again\n");
	h.act.totals.unable = "CAP_NET_ADMIN is not there";
	assert_not_status(&h, "the disk is full");
	h.act.totals.hindered = "";
	assert_status(&h, "\npacing    cannot act, though mode = act: CAP_NET_ADMIN is not there\n          3 paced");
	h.act.totals = (struct act_totals){ .unable = "", .hindered = "" };
	h.act.list[h.act.n++] = pacing("192.0.2.7", &s);
	h.act.list[0].rate = 0;
	h.act.list[0].would = 10 * MBIT;
	assert_status(&h, "\npacing    observes; 1 remote would be paced by mode = act\n");
	h.act.totals.paced = 1;
	assert_status(&h, " would be paced by mode = act; 1 still paced, to be taken back\n");
	h.act.totals.acts = true;
	answer = status(&h);
	assert_int_equal(number(json_object_get(answer, "pacing"), "would_pace"), 0);
	json_decref(answer);
	h.asked.act = NULL;
	answer = status(&h);
	assert_null_at(answer, "pacing");
	json_decref(answer);
	end(&h);
}

/* Also while it observes: which hands a device has, and why these, or none */
static void test_devices(void **state)
{
	const struct pacing_device devices[] = {
		{ "eth1", "classes", "" },
		{ "eth2", "sockets", "eth2 has 8 queues" },
		{ "eth3", "", "eth3 is a bridge" },
	};
	struct host h;
	json_t *answer;
	const json_t *d;
	char *text;

	(void)state;
	begin(&h);
	memcpy(h.act.devices, devices, sizeof(devices));
	h.act.n_devices = 3;
	answer = status(&h);
	d = json_object_get(json_object_get(answer, "pacing"), "devices");
	assert_int_equal(json_array_size(d), 3);
	assert_string_equal(word(json_array_get(d, 0), "device"), "eth1");
	assert_string_equal(word(json_array_get(d, 0), "paced_by"), "classes");
	assert_null_at(json_array_get(d, 0), "why");
	assert_string_equal(word(json_array_get(d, 1), "paced_by"), "sockets");
	assert_null_at(json_array_get(d, 2), "paced_by");
	assert_string_equal(word(json_array_get(d, 2), "why"), "eth3 is a bridge");
	text = printed(status_print, answer);
	assert_has(text, " failed to make them\n"
		   "          eth2: by sockets: eth2 has 8 queues\n"
		   "          eth3: nothing is paced: eth3 is a bridge\n");
	assert_null(strstr(text, "eth1"));
	free(text);
	json_decref(answer);
	h.act.totals.acts = false;
	assert_status(&h, "pacing    observes; 0 remotes would be paced by mode = act\n"
			  "          eth2: by sockets: eth2 has 8 queues\n");
	end(&h);
}

/* Each remote has its own, or its subnet's; the column is there only where it is needed. */
static void test_status(void **state)
{
	static const char * const to[] = { "198.51.100.1", "192.0.2.7", "192.0.2.9" };
	struct search tried = { .state = SEARCH_TRYING, .rate = 10 * MBIT };
	struct host h;
	json_t *answer;
	char *text;

	(void)state;
	begin(&h);
	visits_now(&h, to, 3);
	answer = status(&h);
	text = printed(status_print, answer);
	assert_null(strstr(text, "best        paced"));
	free(text);
	json_decref(answer);
	h.act.list[h.act.n++] = pacing("192.0.2.7", &kept);
	h.act.list[h.act.n++] = pacing("192.0.2.0/24", &tried);
	answer = status(&h);
	assert_null_at(row(answer, "remotes_now", "remote", "198.51.100.1"), "pacing");
	assert_string_equal(word(json_object_get(row(answer, "remotes_now", "remote",
						     "192.0.2.9"), "pacing"), "to"),
			    "192.0.2.0/24");
	text = printed(status_print, answer);
	assert_has(text, "\nremote        flows       acked        rate        best        paced       rtt   resent");
	assert_has(text, "\n192.0.2.9         1        3 kB      24kbit           -      10mbit?         -       0%");
	assert_has(text, "\n192.0.2.7         1        2 kB      16kbit           -      920mbit         -       0%");
	assert_has(text, "\n198.51.100.1      1        1 kB       8kbit           -            -         -       0%");
	free(text);
	json_decref(answer);
	h.act.list[1].rate = 0;
	h.act.list[1].would = 10 * MBIT;
	/* it acts, and yet that one is not paced: its device is down, say */
	assert_status(&h, "           -            -         -       0%     0%     0%     0%     0%  unknown\n192.0.2.7");
	h.act.totals.acts = false;
	assert_status(&h, "           -     (10mbit)         -");
	end(&h);
}

static void assert_place(struct host *h, bool acts, bool paced)
{
	struct place p = { .acts = !acts, .paced = !paced };
	struct prefix to;

	assert_int_equal(parse_address("192.0.2.7", &to), 0);
	answer_place(&h->asked, &to, &p);
	assert_int_equal(p.acts, acts);
	assert_int_equal(p.paced, paced);
}

/* Whether what an administrator might do about a remote is done, or begun, by ctcpd */
static void test_place(void **state)
{
	struct search s = { .state = SEARCH_WATCHING };
	struct host h;

	(void)state;
	begin(&h);
	assert_place(&h, true, false);
	h.act.list[h.act.n++] = pacing("192.0.2.7", &s);
	assert_place(&h, true, true);
	h.act.list[0].unfit = "eth1 has 8 queues";
	assert_place(&h, true, false);
	h.act.list[0].unfit = "";
	s.state = SEARCH_TAKEN_BACK;
	assert_place(&h, true, false);
	h.act.list[0].rate = 10 * MBIT;
	assert_place(&h, true, true);
	h.act.totals.acts = false;
	assert_place(&h, false, false);
	h.act.totals.unable = "pacing needs CAP_NET_ADMIN";
	assert_place(&h, true, true);
	h.asked.act = NULL;
	assert_place(&h, false, false);
	end(&h);
}

static void test_report(void **state)
{
	struct search watched = { .base = { .n = 1 } };
	struct search tried = { .state = SEARCH_TRYING, .rate = 10 * MBIT };
	struct err e = { "" };
	struct host h;
	json_t *answer;
	char *text;

	(void)state;
	begin(&h);
	h.act.list[h.act.n++] = pacing("2001:db8::/64", &tried);
	h.act.list[0].hands = "sockets";
	h.act.list[h.act.n++] = pacing("192.0.2.8", &watched);
	h.act.list[h.act.n++] = pacing("192.0.2.7", &kept);
	h.act.totals.paced = 2;
	assert_int_equal(answer_report(&h.asked, &answer, &e), 0);
	assert_int_equal(json_array_size(json_object_get(answer, "paced")), 2);
	assert_string_equal(word(json_array_get(json_object_get(answer, "paced"), 0), "to"),
			    "192.0.2.7");
	row(answer, "paced", "to", "2001:db8::/64");
	assert_int_equal(number(answer, "paced_left_out"), 0);
	assert_int_equal(number(json_object_get(answer, "pacing"), "paced"), 2);
	text = printed(report_print, answer);
	assert_has(text, "\npacing: acts: 2 paced (0 being tried");
	assert_has(text, "\npaced                   at  by           before       at it    resent     at it  state    since\n"
		   "192.0.2.7          920mbit  classes     300mbit     900mbit        1%     0.01%  kept     2026-09-21 14:13\n"
		   "2001:db8::/64      10mbit?  sockets           -           -         -         -  trying   2026-09-21 14:13\n");
	free(text);
	json_decref(answer);
	h.act.fails = -ENOMEM;
	assert_int_equal(answer_report(&h.asked, &answer, &e), -ENOMEM);
	assert_int_equal(answer_status(&h.asked, &answer, &e), -ENOMEM);
	end(&h);
}

static json_t *why(struct host *h, const char *remote, int want)
{
	json_t *question = json_pack("{s:s}", "remote", remote), *answer = NULL;
	struct err e = { "" };

	assert_int_equal(answer_why(&h->asked, question, &answer, &e), want);
	json_decref(question);
	return answer;
}

static bool advises(const json_t *o, const char *part)
{
	const json_t *line;
	size_t i;

	json_array_foreach(json_object_get(o, "advice"), i, line)
		if (strstr(json_string_value(line), part))
			return true;
	return false;
}

/* Of report and why: a class of an administrator's, and what ctcpd does then */
static void assert_advice(struct host *h, bool class, bool leaves)
{
	struct err e = { "" };
	json_t *answer = why(h, "192.0.2.7", 0);
	const json_t *r;

	assert_int_equal(advises(answer, "ctcp-setup add NAME --to 192.0.2.7"), class);
	assert_int_equal(advises(answer, "ctcpd then leaves all of lo"), leaves);
	json_decref(answer);
	assert_int_equal(answer_report(&h->asked, &answer, &e), 0);
	r = row(answer, "remotes", "remote", "192.0.2.7");
	assert_int_equal(advises(r, "ctcp-setup add NAME --to 192.0.2.7"), class);
	assert_int_equal(advises(r, "ctcpd then leaves all of lo"), leaves);
	json_decref(answer);
}

/* What it paces itself is not to be paced by an administrator's circuit, too. */
static void test_advice(void **state)
{
	static const char * const to[] = { "192.0.2.7" };
	struct remote *r;
	struct prefix addr;
	struct host h;

	(void)state;
	begin(&h);
	visits_now(&h, to, 1);
	assert_int_equal(parse_address(to[0], &addr), 0);
	r = remotes_find(h.remotes, &addr);
	r->ifindex = if_nametoindex("lo");
	r->now.verdict = VERDICT_OVERRUN;
	r->now.best_rate = 100 * MBIT;
	r->now.rtt_us = 20000;
	r->now.min_rtt_us = 20000;
	assert_advice(&h, true, true);
	h.act.totals.acts = false;
	assert_advice(&h, true, false);
	h.act.totals.acts = true;
	h.act.list[h.act.n++] = pacing("192.0.2.7", &kept);
	assert_advice(&h, false, false);
	end(&h);
}

/* Also of a remote of which nothing else is known: its search outlasts its visits. */
static void test_why(void **state)
{
	static const char * const to[] = { "192.0.2.9" };
	struct host h;
	json_t *answer;
	char *text;

	(void)state;
	begin(&h);
	assert_null(why(&h, "192.0.2.7", -ENOENT));
	h.act.list[h.act.n++] = pacing("192.0.2.7", &kept);
	answer = why(&h, "192.0.2.7", 0);
	assert_string_equal(word(json_object_get(answer, "pacing"), "to"), "192.0.2.7");
	text = printed(why_print, answer);
	assert_has(text, "no flow leads there now, nor did lately\n  paced at 920mbit");
	free(text);
	json_decref(answer);
	visits_now(&h, to, 1);
	answer = why(&h, "192.0.2.9", 0);
	assert_null_at(answer, "pacing");
	json_decref(answer);
	h.asked.act = NULL;
	assert_null(why(&h, "192.0.2.7", -ENOENT));
	end(&h);
}

/* A visit says whether it was paced. */
static void test_visit(void **state)
{
	struct visit v = { .began = NOW, .ended = NOW, .paced = true };
	json_t *j, *answer;
	char *text;

	(void)state;
	assert_int_equal(parse_address("192.0.2.7", &v.remote), 0);
	j = visit_json(&v);
	assert_true(json_is_true(json_object_get(j, "paced")));
	answer = json_pack("{s:[o]}", "visits", j);
	text = printed(why_print, answer);
	assert_has(text, "  unknown, paced\n");
	free(text);
	json_decref(answer);
	v.paced = false;
	j = visit_json(&v);
	assert_true(json_is_false(json_object_get(j, "paced")));
	json_decref(j);
}

/* --- what others answer ---------------------------------------------------------------- */

static void test_other_json(void **state)
{
	static const char * const bad[] = {
		"7", "[]", "\"text\"", "{}", "{\"state\": 7, \"before\": 7, \"after\": []}",
		"{\"rate_bytes_s\": -1, \"device\": 7, \"why\": [], \"of_subnet\": 7}",
		"{\"state\": \"new\", \"rate_bytes_s\": 9223372036854775807, \"since_s\": 1}",
		"{\"state\": \"kept\", \"rate_bytes_s\": 1, \"before\": {\"rate_bytes_s\": 1}}",
	};
	char text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		json_t *answer;

		snprintf(text, sizeof(text),
			 "{\"pacing\": %s, \"paced\": [%s], \"paced_left_out\": 2, \"remotes_now\": [{\"pacing\": %s}], \"remotes\": [{\"pacing\": %s}]}",
			 bad[i], bad[i], bad[i], bad[i]);
		answer = json_loads(text, 0, NULL);
		assert_non_null(answer);
		free(printed(status_print, answer));
		free(printed(report_print, answer));
		free(printed(why_print, answer));
		json_decref(answer);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_reasons),
		cmocka_unit_test(test_json_states),
		cmocka_unit_test(test_text_paced),
		cmocka_unit_test(test_text_not_paced),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_visit),
		cmocka_unit_test(test_other_json),
	};

	/* times are told as the host's people have them */
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

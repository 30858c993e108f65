// SPDX-License-Identifier: GPL-2.0
/*
 * What the daemon answered, as text: see report.h.
 *
 * It reads JSON that may be another version's: what is not there is "-", 0, or left out.
 * Rates are in bits, and where they stand alone in bytes, too.
 */
#include <stdint.h>
#include <string.h>

#include "advice.h"
#include "json.h"
#include "text.h"
#include "units.h"

#include "cells.h"
#include "pacing_text.h"
#include "report.h"

/* "overruns its receiver, ...; it loses ..." */
static void put_verdict(FILE *out, const json_t *judgement)
{
	char text[SENTENCE_TEXT], why[SENTENCE_TEXT];

	cell_word(judgement, "text", text, sizeof(text));
	cell_word(judgement, "why", why, sizeof(why));
	fprintf(out, "%s%s%s", text, strcmp(why, "-") ? "; " : "", strcmp(why, "-") ? why : "");
}

/* "1 overrun, 2 clean"; "none" */
static void put_counts(FILE *out, const json_t *of)
{
	bool any = false;
	int v;

	for (v = 0; v < VERDICTS; v++) {
		uint64_t n = cell_number(of, verdict_name(v));

		if (n)
			fprintf(out, "%s%llu %s", any ? ", " : "", (unsigned long long)n,
				verdict_name(v));
		any |= n > 0;
	}
	fputs(any ? "\n" : "none\n", out);
}

static void put_left_out(FILE *out, const json_t *answer)
{
	uint64_t n = cell_number(answer, "remotes_left_out");

	if (n)
		fprintf(out, "and %llu more, with fewer bytes\n", (unsigned long long)n);
}

/* --- status ------------------------------------------------------------------------ */

/* Of one that is not kept everything could be written. */
static bool keeps_none(const json_t *a)
{
	const json_t *config = json_object_get(a, "config");
	const char *file = json_string_value(json_object_get(config, "history.file"));

	return file && !*file;
}

/* Visits that wait are all that a history which cannot be written costs so far. */
static void put_history(FILE *out, const json_t *a)
{
	bool ok = json_is_true(json_object_get(a, "history_ok"));
	char why[SENTENCE_TEXT];

	if (keeps_none(a)) {
		fputs("history   none is kept\n", out);
		return;
	}
	fprintf(out, "history   %s", ok ? "can be written; " : "cannot be written");
	if (!ok)
		fprintf(out, ": %s; ", cell_word(a, "history_error", why, sizeof(why)));
	cell_put_number(out, cell_number(a, "history_failed"), "write");
	fputs(" failed", out);
	if (!ok)
		fprintf(out, "; visits that wait: %llu, that were lost: %llu",
			(unsigned long long)cell_number(a, "visits_waiting"),
			(unsigned long long)cell_number(a, "visits_lost"));
	fputc('\n', out);
}

/* The file as it is now is not what is in force. */
static void put_config(FILE *out, const json_t *a)
{
	char why[SENTENCE_TEXT];

	if (json_is_string(json_object_get(a, "config_error")))
		fprintf(out, "config    as it was before the last reload, which was refused: %s\n",
			cell_word(a, "config_error", why, sizeof(why)));
}

static void put_totals(FILE *out, const json_t *a)
{
	char bytes[ROUGH_TEXT], cpu[ROUGH_TEXT];

	fprintf(out, "polls     %llu, of which %llu failed; the last took %s of processor time\n",
		(unsigned long long)cell_number(a, "polls"),
		(unsigned long long)cell_number(a, "polls_failed"),
		format_time(cpu, sizeof(cpu), cell_number(a, "poll_cpu_us")));
	fprintf(out, "sent      %s acknowledged, %.3g%% of the segments sent again; this host dropped ",
		cell_amount(a, "acked_bytes", bytes), cell_resent(a));
	cell_put_number(out, cell_number(a, "local_drops_packets"), "packet");
	fputc('\n', out);
	put_history(out, a);
	fprintf(out, "flows     %llu: ", (unsigned long long)cell_number(a, "flows"));
	put_counts(out, json_object_get(a, "flows_of"));
	if (cell_number(a, "flows_left_out"))
		fprintf(out, "          %llu more are left out: there are too many\n",
			(unsigned long long)cell_number(a, "flows_left_out"));
	fprintf(out, "remotes   %llu: ", (unsigned long long)cell_number(a, "remotes"));
	put_counts(out, json_object_get(a, "remotes_of"));
}

/* @paced: with the column */
static void put_remote(FILE *out, int width, bool paced, const json_t *r)
{
	const json_t *j = json_object_get(r, "judgement");
	char bytes[ROUGH_TEXT], bits[ROUGH_TEXT], best[ROUGH_TEXT], time[ROUGH_TEXT];
	char addr[WORD_TEXT], verdict[WORD_TEXT], at[PACED_CELL];

	fprintf(out, "%-*s  %5llu  %10s  %10s  %10s  ", width,
		cell_word(r, "remote", addr, sizeof(addr)),
		(unsigned long long)cell_number(r, "flows"), cell_amount(j, "acked_bytes", bytes),
		cell_rate(j, "rate_bytes_s", bits), cell_rate(j, "best_rate_bytes_s", best));
	if (paced)
		fprintf(out, "%11s  ", pacing_cell(json_object_get(r, "pacing"), at));
	fprintf(out, "%8s  %6.3g%%  %4.0f%%  %4.0f%%  %4.0f%%  %4.0f%%  %s\n",
		cell_rtt(j, time), cell_resent(j), cell_percent(j, "busy_share"),
		cell_percent(j, "receive_window_share"), cell_percent(j, "send_buffer_share"),
		cell_percent(j, "application_share"),
		cell_word(j, "verdict", verdict, sizeof(verdict)));
}

static void put_head(FILE *out, int width, bool paced)
{
	fprintf(out, "\n%-*s  %5s  %10s  %10s  %10s  ", width, "remote", "flows", "acked", "rate",
		"best");
	if (paced)
		fprintf(out, "%11s  ", "paced");
	fprintf(out, "%8s  %7s  %5s  %5s  %5s  %5s  verdict\n", "rtt", "resent", "busy", "rwnd",
		"sndbf", "app");
}

void status_print(FILE *out, const json_t *answer)
{
	const json_t *list = json_object_get(answer, "remotes_now"), *r;
	int width = cell_width(list, "remote", 6);
	bool paced = pacing_any(list);
	size_t i;

	put_config(out, answer);
	put_totals(out, answer);
	pacing_put_totals(out, "pacing    ", json_object_get(answer, "pacing"));
	if (!json_array_size(list))
		return;
	put_head(out, width, paced);
	json_array_foreach(list, i, r)
		put_remote(out, width, paced, r);
	put_left_out(out, answer);
}

/* --- report ------------------------------------------------------------------------ */

static void put_evidence(FILE *out, const json_t *j)
{
	char had[BOTH_TEXT], best[BOTH_TEXT], time[ROUGH_TEXT], bytes[ROUGH_TEXT];

	fprintf(out, "  %s acknowledged at %s, at best %s; round trip %s, %.3g%% sent again\n",
		cell_amount(j, "acked_bytes", bytes), both(had, cell_number(j, "rate_bytes_s")),
		both(best, cell_number(j, "best_rate_bytes_s")), cell_rtt(j, time), cell_resent(j));
	fprintf(out, "  %.0f%% of the time busy, %.0f%% held by the receive window, %.0f%% by the send buffer, %.0f%% by the application\n",
		cell_percent(j, "busy_share"), cell_percent(j, "receive_window_share"),
		cell_percent(j, "send_buffer_share"), cell_percent(j, "application_share"));
}

static void put_earlier(FILE *out, const json_t *h)
{
	char bytes[ROUGH_TEXT], last[ROUGH_TEXT];

	if (!json_is_object(h))
		return;
	fputs("  earlier: ", out);
	cell_put_number(out, cell_number(h, "visits"), "visit");
	fprintf(out, ", %s, %.3g%% sent again, the last at %s; ",
		cell_amount(h, "acked_bytes", bytes), cell_resent(h),
		cell_when(h, "last_s", last));
	put_counts(out, json_object_get(h, "visits_of"));
}

static void put_settings(FILE *out, const json_t *settings, const char *host, const char *head)
{
	char name[WORD_TEXT], value[WORD_TEXT];
	const json_t *s;
	bool any = false;
	size_t i;

	json_array_foreach(settings, i, s) {
		if (strcmp(json_string_value(json_object_get(s, "host")) ?: "", host))
			continue;
		if (!any)
			fprintf(out, "  %s, in /etc/sysctl.d:\n", head);
		any = true;
		fprintf(out, "    %s = %s\n", cell_word(s, "name", name, sizeof(name)),
			cell_word(s, "value", value, sizeof(value)));
	}
}

static void put_advice(FILE *out, const json_t *o)
{
	const json_t *list = json_object_get(o, "advice"), *settings, *one;
	char text[SENTENCE_TEXT];
	size_t i;

	json_array_foreach(list, i, one)
		fprintf(out, "  - %s\n",
			text_copy(text, sizeof(text), json_string_value(one) ?: ""));
	settings = json_object_get(o, "settings");
	put_settings(out, settings, "remote", "of the remote");
	put_settings(out, settings, "here", "of this host");
}

static void put_history_error(FILE *out, const json_t *answer)
{
	const char *why = json_string_value(json_object_get(answer, "history_error"));
	char text[SENTENCE_TEXT];

	if (why)
		fprintf(out, "the history could not be read: %s\n",
			text_copy(text, sizeof(text), why));
}

static void put_row(FILE *out, const json_t *r)
{
	const json_t *j = json_object_get(r, "judgement");
	char addr[WORD_TEXT];

	fprintf(out, "\n%s: ", cell_word(r, "remote", addr, sizeof(addr)));
	put_verdict(out, j);
	fputc('\n', out);
	put_evidence(out, j);
	pacing_put(out, json_object_get(r, "pacing"));
	put_earlier(out, json_object_get(r, "earlier"));
	put_advice(out, r);
}

static void put_paced(FILE *out, const json_t *answer)
{
	uint64_t n = cell_number(answer, "paced_left_out");

	pacing_put_list(out, json_object_get(answer, "paced"));
	if (n)
		fprintf(out, "and %llu more are paced\n", (unsigned long long)n);
}

void report_print(FILE *out, const json_t *answer)
{
	const json_t *list = json_object_get(answer, "remotes"), *r;
	size_t i;

	fprintf(out, "remotes, by what limits them: ");
	put_counts(out, json_object_get(answer, "remotes_of"));
	pacing_put_totals(out, "pacing: ", json_object_get(answer, "pacing"));
	json_array_foreach(list, i, r)
		put_row(out, r);
	if (!json_array_size(list) && !json_is_string(json_object_get(answer, "history_error")))
		fprintf(out, "nothing is to be changed, at either end\n");
	else if (!json_array_size(list))
		fprintf(out, "nothing is to be changed for those that are visited now\n");
	put_left_out(out, answer);
	put_paced(out, answer);
	put_history_error(out, answer);
}

/* --- why --------------------------------------------------------------------------- */

static void put_visit(FILE *out, const json_t *v)
{
	const json_t *j = json_object_get(v, "judgement");
	char began[ROUGH_TEXT], bytes[ROUGH_TEXT], bits[ROUGH_TEXT], best[ROUGH_TEXT];
	char time[ROUGH_TEXT], verdict[WORD_TEXT];

	fprintf(out, "%-16s  %5llu  %10s  %10s  %10s  %8s  %6.3g%%  %s%s\n",
		cell_when(v, "began_s", began), (unsigned long long)cell_number(v, "flows"),
		cell_amount(j, "acked_bytes", bytes), cell_rate(j, "rate_bytes_s", bits),
		cell_rate(j, "best_rate_bytes_s", best), cell_rtt(j, time), cell_resent(j),
		cell_word(j, "verdict", verdict, sizeof(verdict)),
		json_is_true(json_object_get(v, "paced")) ? ", paced" : "");
}

static void put_visits(FILE *out, const json_t *list)
{
	const json_t *v;
	size_t i;

	if (!json_array_size(list))
		return;
	fprintf(out, "\n%-16s  %5s  %10s  %10s  %10s  %8s  %7s  verdict\n", "visit of", "flows",
		"acked", "rate", "best", "rtt", "resent");
	json_array_foreach(list, i, v)
		put_visit(out, v);
}

static void put_now(FILE *out, const json_t *now)
{
	const json_t *j = json_object_get(now, "judgement");
	char addr[WORD_TEXT], algorithm[WORD_TEXT];

	fprintf(out, "%s: ", cell_word(now, "remote", addr, sizeof(addr)));
	put_verdict(out, j);
	fputs("\n  ", out);
	cell_put_number(out, cell_number(now, "flows"), "flow");
	fprintf(out, " now, by %s\n", cell_word(now, "algorithm", algorithm, sizeof(algorithm)));
	put_evidence(out, j);
}

void why_print(FILE *out, const json_t *answer)
{
	const json_t *now = json_object_get(answer, "now");

	if (json_is_object(now))
		put_now(out, now);
	else
		fprintf(out, "no flow leads there now, nor did lately\n");
	pacing_put(out, json_object_get(answer, "pacing"));
	put_earlier(out, json_object_get(answer, "earlier"));
	if (json_is_object(now) && json_is_false(json_object_get(answer, "advice_is_of_now")))
		fprintf(out, "  as it was then:\n");
	put_advice(out, answer);
	put_visits(out, json_object_get(answer, "visits"));
	put_history_error(out, answer);
}

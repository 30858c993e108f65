// SPDX-License-Identifier: GPL-2.0
/*
 * What an answer has of pacing, as text: see pacing_text.h.
 *
 * The states are words of search_state_name(); one that this version does not know is told as
 * it is.
 */
#include <string.h>

#include "text.h"

#include "advice.h"
#include "pacing_text.h"

static bool is(const json_t *o, const char *key, const char *word)
{
	return !strcmp(json_string_value(json_object_get(o, key)) ?: "", word);
}

static bool has_text(const json_t *o, const char *key)
{
	return json_is_string(json_object_get(o, key));
}

/* --- of all ------------------------------------------------------------------------- */

static void put_counts(FILE *out, const json_t *t)
{
	const json_t *by = json_object_get(t, "paced_by");

	fprintf(out, "%llu paced (%llu being tried, %llu kept; %llu by classes, %llu by sockets), %llu taken back, %llu left alone; ",
		(unsigned long long)cell_number(t, "paced"),
		(unsigned long long)cell_number(t, "trying"),
		(unsigned long long)cell_number(t, "kept"),
		(unsigned long long)cell_number(by, "classes"),
		(unsigned long long)cell_number(by, "sockets"),
		(unsigned long long)cell_number(t, "taken_back"),
		(unsigned long long)cell_number(t, "stood_down"));
	cell_put_number(out, cell_number(t, "rate_changes"), "change");
	fputs(" of a rate, ", out);
	cell_put_number(out, cell_number(t, "polls_failed"), "poll");
	fputs(" failed to make them\n", out);
}

/* What it once paced may still have to be taken back: a ctcp-setup is at work, say. */
static void put_observes(FILE *out, const json_t *t)
{
	uint64_t paced = cell_number(t, "paced");

	fputs("observes; ", out);
	cell_put_number(out, cell_number(t, "would_pace"), "remote");
	fputs(" would be paced by mode = act", out);
	if (paced)
		fprintf(out, "; %llu still paced, to be taken back", (unsigned long long)paced);
	fputc('\n', out);
}

/* Those that are paced otherwise than by classes, or not at all, and why */
static void put_devices(FILE *out, int indent, const json_t *totals)
{
	char name[WORD_TEXT], why[SENTENCE_TEXT];
	const json_t *d;
	size_t i;

	json_array_foreach(json_object_get(totals, "devices"), i, d) {
		if (!has_text(d, "why"))
			continue;
		fprintf(out, "%*s%s: %s: %s\n", indent, "",
			cell_word(d, "device", name, sizeof(name)),
			has_text(d, "paced_by") ? "by sockets" : "nothing is paced",
			cell_word(d, "why", why, sizeof(why)));
	}
}

static void put_doing(FILE *out, int indent, const json_t *totals)
{
	char why[SENTENCE_TEXT], state[WORD_TEXT];

	if (is(totals, "state", "observes")) {
		put_observes(out, totals);
		return;
	}
	if (is(totals, "state", "cannot-act"))
		fprintf(out, "cannot act, though mode = act: %s\n%*s",
			cell_word(totals, "why", why, sizeof(why)), indent, "");
	else
		fprintf(out, "%s: ", cell_word(totals, "state", state, sizeof(state)));
	put_counts(out, totals);
}

/* The kernel goes on with what it has.  Where nothing can be done at all, that is said already. */
static void put_hindered(FILE *out, int indent, const json_t *totals)
{
	char why[SENTENCE_TEXT];

	if (has_text(totals, "changes_error") && !is(totals, "state", "cannot-act"))
		fprintf(out, "%*s%s; what is paced stays so, and it is tried again\n",
			indent, "", cell_word(totals, "changes_error", why, sizeof(why)));
}

void pacing_put_totals(FILE *out, const char *label, const json_t *totals)
{
	int indent = (int)strlen(label);

	if (!json_is_object(totals))
		return;
	fputs(label, out);
	put_doing(out, indent, totals);
	put_hindered(out, indent, totals);
	put_devices(out, indent, totals);
}

/* --- of one ------------------------------------------------------------------------- */

const char *pacing_cell(const json_t *pacing, char buf[PACED_CELL])
{
	char bits[ROUGH_TEXT];

	if (cell_number(pacing, "rate_bytes_s"))
		snprintf(buf, PACED_CELL, "%s%s", cell_rate(pacing, "rate_bytes_s", bits),
			 is(pacing, "state", "trying") ? "?" : "");
	else if (cell_number(pacing, "would_rate_bytes_s"))
		snprintf(buf, PACED_CELL, "(%s)", cell_rate(pacing, "would_rate_bytes_s", bits));
	else
		return "-";
	return buf;
}

bool pacing_any(const json_t *remotes)
{
	const json_t *r;
	size_t i;

	json_array_foreach(remotes, i, r)
		if (json_is_object(json_object_get(r, "pacing")))
			return true;
	return false;
}

static const char *both_of(const json_t *o, const char *key, char buf[BOTH_TEXT])
{
	return both(buf, cell_number(o, key));
}

/* " on eth1, as all of 192.0.2.0/24" */
static void put_where(FILE *out, const json_t *p)
{
	char word[WORD_TEXT];

	if (has_text(p, "device"))
		fprintf(out, " on %s", cell_word(p, "device", word, sizeof(word)));
	if (json_is_true(json_object_get(p, "of_subnet")))
		fprintf(out, ", as all of %s", cell_word(p, "to", word, sizeof(word)));
}

/* ": it carries more than before" */
static void put_why(FILE *out, const json_t *p)
{
	char why[SENTENCE_TEXT];

	if (has_text(p, "why"))
		fprintf(out, ": %s", cell_word(p, "why", why, sizeof(why)));
}

static void put_time(FILE *out, const char *before, const json_t *p, const char *key)
{
	char when[ROUGH_TEXT];

	if (cell_number(p, key))
		fprintf(out, "%s%s", before, cell_when(p, key, when));
}

static void put_paced(FILE *out, const json_t *p)
{
	char rate[BOTH_TEXT], state[WORD_TEXT];

	fprintf(out, "paced at %s", both_of(p, "rate_bytes_s", rate));
	put_where(out, p);
	if (has_text(p, "paced_by"))
		fputs(is(p, "paced_by", "sockets") ? ", by sockets" : ", by a class", out);
	fprintf(out, "; %s", is(p, "state", "trying") ? "being tried" :
		cell_word(p, "state", state, sizeof(state)));
	put_time(out, " since ", p, "since_s");
	put_why(out, p);
}

/* No hands fit its device. */
static void put_unfit(FILE *out, const json_t *p)
{
	char why[SENTENCE_TEXT];

	fputs("not paced, as nothing can be paced", out);
	put_where(out, p);
	fprintf(out, ": %s", cell_word(p, "unfit", why, sizeof(why)));
}

/* A rate that it is to have, and has not: the device is down, say. */
static void put_unset(FILE *out, const json_t *p)
{
	char rate[BOTH_TEXT];

	fprintf(out, "not paced at present; %s is to be set",
		both_of(p, "wanted_rate_bytes_s", rate));
	put_where(out, p);
	fputs("; the log says why, unless its device is down or ctcp-setup is at work", out);
}

static void put_would(FILE *out, const json_t *p)
{
	char rate[BOTH_TEXT];

	fprintf(out, "not paced; mode = act would begin at %s",
		both_of(p, "would_rate_bytes_s", rate));
	put_where(out, p);
}

static void put_watched(FILE *out, const json_t *p)
{
	fputs("not paced; it was overrun in ", out);
	cell_put_number(out, cell_number(json_object_get(p, "before"), "intervals"), "interval");
	fputs(" so far, and more are needed before a rate is tried", out);
}

static void put_left(FILE *out, const json_t *p)
{
	char what[SENTENCE_TEXT];

	fprintf(out, "not paced by ctcpd, which leaves it alone: %s",
		cell_word(p, "stood_down", what, sizeof(what)));
	put_time(out, "; looked at again after ", p, "again_s");
}

static void put_taken_back(FILE *out, const json_t *p)
{
	fputs("not paced; taken back", out);
	put_time(out, " at ", p, "since_s");
	put_why(out, p);
	put_time(out, "; not tried again before ", p, "again_s");
}

static void put_state(FILE *out, const json_t *p)
{
	if (has_text(p, "stood_down"))
		put_left(out, p);
	else if (cell_number(p, "rate_bytes_s"))
		put_paced(out, p);
	else if (has_text(p, "unfit"))
		put_unfit(out, p);
	else if (cell_number(p, "would_rate_bytes_s"))
		put_would(out, p);
	else if (cell_number(p, "wanted_rate_bytes_s"))
		put_unset(out, p);
	else if (is(p, "state", "taken-back"))
		put_taken_back(out, p);
	else
		put_watched(out, p);
}

/* Carried and sent again, before and at the rate in force */
static void put_help(FILE *out, const json_t *p)
{
	const json_t *before = json_object_get(p, "before"), *after = json_object_get(p, "after");
	char rate[BOTH_TEXT];

	if (is(p, "state", "watching") || !json_is_object(before))
		return;
	fprintf(out, "    before: %s, %.3g%% sent again", both_of(before, "rate_bytes_s", rate),
		cell_resent(before));
	if (json_is_object(after))
		fprintf(out, "; at this rate: %s, %.3g%% sent again",
			both_of(after, "rate_bytes_s", rate), cell_resent(after));
	fputc('\n', out);
}

void pacing_put(FILE *out, const json_t *pacing)
{
	if (!json_is_object(pacing))
		return;
	fputs("  ", out);
	put_state(out, pacing);
	fputc('\n', out);
	put_help(out, pacing);
}

/* --- what is paced -------------------------------------------------------------------- */

static const char *resent_cell(const json_t *o, char buf[ROUGH_TEXT])
{
	if (!cell_number(o, "sent_segments"))
		return "-";
	snprintf(buf, ROUGH_TEXT, "%.3g%%", cell_resent(o));
	return buf;
}

static void put_row(FILE *out, int width, const json_t *p)
{
	const json_t *before = json_object_get(p, "before"), *after = json_object_get(p, "after");
	char to[WORD_TEXT], by[WORD_TEXT], state[WORD_TEXT], at[PACED_CELL], when[ROUGH_TEXT];
	char had[ROUGH_TEXT], has[ROUGH_TEXT], lost[ROUGH_TEXT], loses[ROUGH_TEXT];

	fprintf(out, "%-*s  %11s  %-7s  %10s  %10s  %8s  %8s  %-7s  %s\n", width,
		cell_word(p, "to", to, sizeof(to)), pacing_cell(p, at),
		cell_word(p, "paced_by", by, sizeof(by)), cell_rate(before, "rate_bytes_s", had),
		cell_rate(after, "rate_bytes_s", has),
		resent_cell(before, lost), resent_cell(after, loses),
		cell_word(p, "state", state, sizeof(state)),
		cell_number(p, "since_s") ? cell_when(p, "since_s", when) : "-");
}

void pacing_put_list(FILE *out, const json_t *list)
{
	int width = cell_width(list, "to", 5);
	const json_t *p;
	size_t i;

	if (!json_array_size(list))
		return;
	fprintf(out, "\n%-*s  %11s  %-7s  %10s  %10s  %8s  %8s  %-7s  %s\n", width, "paced", "at",
		"by", "before", "at it", "resent", "at it", "state", "since");
	json_array_foreach(list, i, p)
		put_row(out, width, p);
}

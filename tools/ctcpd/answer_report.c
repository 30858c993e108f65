// SPDX-License-Identifier: GPL-2.0
/*
 * What report answers: see answers.h.
 *
 * Each remote is taken as it is now, if that is known, else by what most of its bytes met in
 * the history.  Those that somebody can do something about have a row each; of the others the
 * report has only how many there are of each verdict.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "json.h"

#include "answers.h"
#include "observe.h"
#include "places.h"
#include "report.h"

struct row {
	struct remote_history earlier;
	const struct remote *now;	/* NULL: not visited */
	enum verdict verdict;
};

struct rows {
	const struct asked *asked;
	struct row *list;
	uint32_t n;
	uint32_t of_history;		/* the first of them, by address */
	uint32_t of[VERDICTS];		/* remotes, with those that have no row */
};

static const struct prefix *address(const struct row *r)
{
	return r->now ? &r->now->addr : &r->earlier.remote;
}

static uint64_t bytes(const struct row *r)
{
	return r->earlier.acked + (r->now ? r->now->now.acked : 0);
}

static int by_address(const void *a, const void *b)
{
	return prefix_compare(address(a), address(b));
}

static int by_bytes(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (bytes(x) != bytes(y))
		return bytes(x) < bytes(y) ? 1 : -1;
	return by_address(a, b);
}

/* Below min-rtt nothing is worth a person's time. */
static bool is_left_alone(const struct config *c, const struct remote_history *earlier,
			  const struct remote *now)
{
	if (!c)
		return false;
	if (now)
		return tell_is_left_alone(now, c);
	return earlier->min_rtt_us && earlier->min_rtt_us < c->min_rtt_us;
}

/* One that is visited has a row in any case, so that it is found when its turn comes. */
static int add_row(struct rows *rows, const struct remote_history *earlier,
		   const struct remote *now)
{
	struct row *more, row = { .now = now };

	if (earlier)
		row.earlier = *earlier;
	if (is_left_alone(rows->asked->config, earlier, now))
		return 0;
	row.verdict = now && now->now.verdict != VERDICT_UNKNOWN ? now->now.verdict :
		      earlier_verdict(&row.earlier);
	rows->of[row.verdict]++;
	if (!now && !tell_is_trouble(row.verdict))
		return 0;
	more = grown(rows->list, rows->n, sizeof(row));
	if (!more)
		return -ENOMEM;
	rows->list = more;
	rows->list[rows->n++] = row;
	return 0;
}

static int add_earlier(const struct remote_history *h, void *data)
{
	struct rows *rows = data;

	return add_row(rows, h, remotes_find(rows->asked->remotes, &h->remote));
}

static int add_now(struct remote *r, void *data)
{
	const struct row key = { .now = r };
	struct rows *rows = data;

	if (rows->of_history &&
	    bsearch(&key, rows->list, rows->of_history, sizeof(key), by_address))
		return 0;
	return add_row(rows, NULL, r);
}

static int collect(struct rows *rows, struct err *trouble)
{
	int rc = keep_remotes(rows->asked->keep, 0, add_earlier, rows, trouble);

	if (!rc)
		trouble->text[0] = 0;
	if (rc == -ENOMEM)
		return rc;
	rows->of_history = rows->n;
	if (rows->n)
		qsort(rows->list, rows->n, sizeof(struct row), by_address);
	return remotes_each(rows->asked->remotes, add_now, rows);
}

/* Those that something can be done about, most bytes first; how many */
static uint32_t choose(struct rows *rows)
{
	uint32_t i, n = 0;

	for (i = 0; i < rows->n; i++)
		if (tell_is_trouble(rows->list[i].verdict))
			rows->list[n++] = rows->list[i];
	if (n)
		qsort(rows->list, n, sizeof(struct row), by_bytes);
	return n;
}

/* --- one row ----------------------------------------------------------------------- */

struct wanted {
	enum verdict verdict;
	struct visit visit;
};

static int is_wanted(const struct visit *v, void *data)
{
	struct wanted *w = data;

	if (v->judgement.verdict != w->verdict)
		return 0;
	w->visit = *v;
	return 1;
}

/* What the verdict rests on: the present visit, or the latest that has it */
static bool evidence(const struct rows *rows, const struct row *r, struct wanted *w)
{
	struct err unused;

	w->verdict = r->verdict;
	return keep_each(rows->asked->keep, address(r), 0, is_wanted, w, &unused) == 1;
}

static json_t *row_json(const struct rows *rows, const struct row *r, struct places *ps)
{
	bool is_now = r->now && r->now->now.verdict == r->verdict;
	struct place p = { 0 };
	struct advice a = { 0 };
	struct wanted w = { 0 };
	char dev[IFNAMSIZ];
	json_t *root, *advice;

	if (is_now) {
		w.visit.judgement = r->now->now;
		places_fill(ps, places_device(r->now->ifindex, dev), &p);
		place_remote(&p, &r->now->addr, r->now->algorithm, r->now->flows);
	} else if (evidence(rows, r, &w)) {
		places_fill(ps, w.visit.dev, &p);
		place_remote(&p, address(r), w.visit.algorithm, 0);
	} else {
		return NULL;
	}
	answer_place(rows->asked, address(r), &p);
	advise(&w.visit.judgement, &p, &a);
	advice = advice_json(&a);
	root = json_pack("{s:s, s:b, s:s, s:o, s:o, s:o}", "remote", p.remote,
			 "visited", !!r->now, "algorithm", p.algorithm,
			 "judgement", judgement_json(&w.visit.judgement),
			 "pacing", answer_pacing(rows->asked, address(r)),
			 "earlier", r->earlier.visits ? earlier_json(&r->earlier) : json_null());
	json_object_update(root, advice);
	json_decref(advice);
	return root;
}

static json_t *report(const struct rows *rows, uint32_t n, const struct err *trouble)
{
	uint32_t i, some = n < REPORT_REMOTES ? n : REPORT_REMOTES;
	json_t *list = json_array(), *of = json_object(), *one;
	struct places ps;
	int v;

	places_open(&ps);
	for (i = 0; i < some; i++) {
		one = row_json(rows, &rows->list[i], &ps);
		if (one)
			json_array_append_new(list, one);
	}
	places_close(&ps);
	for (v = 0; v < VERDICTS; v++)
		json_object_set_new(of, verdict_name(v), json_count(rows->of[v]));
	return json_pack("{s:o, s:o, s:o, s:o}", "remotes_of", of, "remotes", list,
			 "remotes_left_out", json_count(n - some),
			 "history_error", *trouble->text ? json_plain(trouble->text) :
					  json_null());
}

/* What is paced: mostly remotes that nobody need do anything about any more */
static int add_paced(const struct asked *a, json_t *root)
{
	json_t *list = json_array();
	struct pacings ps;
	uint32_t i;
	int rc = pacings_make(&ps, a->act);

	json_object_set_new(root, "pacing", answer_totals(a, &ps));
	pacings_keep_paced(&ps);
	for (i = 0; i < ps.n && i < REPORT_REMOTES; i++)
		json_array_append_new(list, pacing_json(&ps.list[i], true));
	json_object_set_new(root, "paced", list);
	json_object_set_new(root, "paced_left_out", json_count(ps.n - i));
	pacings_free(&ps);
	return rc;
}

int answer_report(const struct asked *a, json_t **answer, struct err *e)
{
	struct rows rows = { .asked = a };
	struct err trouble = { "" };
	int rc = collect(&rows, &trouble);

	*answer = rc ? NULL : report(&rows, choose(&rows), &trouble);
	if (*answer && add_paced(a, *answer)) {
		json_decref(*answer);
		*answer = NULL;
	}
	free(rows.list);
	return *answer ? 0 : err_set(e, -ENOMEM, "no memory for the answer");
}

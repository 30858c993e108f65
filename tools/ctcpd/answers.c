// SPDX-License-Identifier: GPL-2.0
/*
 * What status and why answer: see answers.h.
 */
#include <errno.h>
#include <string.h>

#include "json.h"
#include "out.h"

#include "answers.h"
#include "places.h"
#include "ranked.h"
#include "report.h"

static int done(json_t *root, json_t **answer, struct err *e)
{
	*answer = root;
	return root ? 0 : err_set(e, -ENOMEM, "no memory for the answer");
}

int answer_status(const struct asked *a, json_t **answer, struct err *e)
{
	json_t *root = totals_json(a->totals), *list = json_array();
	struct ranked ranked;
	uint32_t i, n;

	if (ranked_make(&ranked, a->remotes)) {
		json_decref(root);
		root = NULL;
	}
	n = ranked.n < STATUS_REMOTES ? ranked.n : STATUS_REMOTES;
	for (i = 0; i < n; i++)
		json_array_append_new(list, remote_json(ranked.list[i]));
	json_object_set_new(root, "remotes_left_out", json_count(ranked.n - n));
	json_object_set_new(root, "remotes_now", list);
	ranked_free(&ranked);
	return done(root, answer, e);
}

/* --- why --------------------------------------------------------------------------- */

struct visits {
	struct remote_history earlier;
	struct visit latest[VERDICTS];	/* of each verdict that @earlier has */
	json_t *list;
};

static int add_visit(const struct visit *v, void *data)
{
	struct visits *vs = data;
	enum verdict verdict = v->judgement.verdict;

	if (!vs->earlier.visits_of[verdict])
		vs->latest[verdict] = *v;
	if (vs->earlier.visits < WHY_VISITS)
		json_array_append_new(vs->list, visit_json(v));
	earlier_add(&vs->earlier, v);
	return 0;
}

/* As it is now, if that is known; else as it was. */
static bool is_of_now(const struct remote *now, const struct visits *vs)
{
	return now && (now->now.verdict != VERDICT_UNKNOWN || !vs->earlier.visits);
}

static json_t *advice_about(const struct remote *now, const struct visits *vs)
{
	const struct visit *v = &vs->latest[earlier_verdict(&vs->earlier)];
	struct place p = { 0 };
	struct advice a = { 0 };
	struct places ps;
	char dev[IFNAMSIZ] = "";

	places_open(&ps);
	if (is_of_now(now, vs)) {
		places_fill(&ps, places_device(now->ifindex, dev), &p);
		place_remote(&p, &now->addr, now->algorithm, now->flows);
		advise(&now->now, &p, &a);
	} else {
		places_fill(&ps, v->dev, &p);
		place_remote(&p, &v->remote, v->algorithm, 0);
		advise(&v->judgement, &p, &a);
	}
	places_close(&ps);
	return advice_json(&a);
}

static json_t *why(const struct remote *now, struct visits *vs, const struct err *trouble)
{
	json_t *advice = advice_about(now, vs);
	json_t *root = json_pack("{s:o, s:o, s:O, s:b, s:o}",
				 "now", now ? remote_json(now) : json_null(),
				 "earlier", vs->earlier.visits ? earlier_json(&vs->earlier) :
					    json_null(),
				 "visits", vs->list,
				 "advice_is_of_now", is_of_now(now, vs),
				 "history_error", *trouble->text ? json_plain(trouble->text) :
						  json_null());

	json_object_update(root, advice);
	json_decref(advice);
	return root;
}

int answer_why(const struct asked *a, const json_t *question, json_t **answer, struct err *e)
{
	const char *asked = json_string_value(json_object_get(question, "remote"));
	struct visits vs = { .list = json_array() };
	struct err trouble = { "" };
	const struct remote *now;
	struct prefix addr;
	int rc;

	if (!asked || parse_address(asked, &addr)) {
		rc = err_set(e, -EINVAL, "\"%.60s\" is no address; write e.g. 192.0.2.7",
			     asked ?: "");
		goto out;
	}
	now = remotes_find(a->remotes, &addr);
	if (!keep_each(a->keep, &addr, 0, add_visit, &vs, &trouble))
		trouble.text[0] = 0;
	if (!now && !vs.earlier.visits && *trouble.text)
		rc = err_set(e, -ENOENT,
			     "no flow to %s is known, and the history could not be read: %.300s",
			     asked, trouble.text);
	else if (!now && !vs.earlier.visits)
		rc = err_set(e, -ENOENT,
			     "nothing is known of %s: it has had no flow that sent since the daemon began, and the history has none",
			     asked);
	else
		rc = done(why(now, &vs, &trouble), answer, e);
out:
	json_decref(vs.list);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What status and why answer: see answers.h.
 */
#include <errno.h>
#include <string.h>

#include "json.h"
#include "out.h"

#include "answers.h"
#include "named.h"
#include "places.h"
#include "ranked.h"
#include "report.h"

static int done(json_t *root, json_t **answer, struct err *e)
{
	*answer = root;
	return root ? 0 : err_set(e, -ENOMEM, "no memory for the answer");
}

json_t *answer_pacing(const struct asked *a, const struct prefix *addr)
{
	struct pacing p;

	if (!a->act || !act_find(a->act, addr, &p))
		return json_null();
	return pacing_json(&p, act_totals(a->act)->acts);
}

/* False for what was taken back, or no hands fit: that is left to the administrator. */
static bool is_ctcpds(const struct pacing *p)
{
	return p->rate || (p->search->state != SEARCH_TAKEN_BACK && !*p->unfit);
}

void answer_place(const struct asked *a, const struct prefix *addr, struct place *p)
{
	const struct act_totals *t = a->act ? act_totals(a->act) : NULL;
	struct pacing pacing;

	p->acts = t && (t->acts || *t->unable);
	p->paced = p->acts && act_find(a->act, addr, &pacing) && is_ctcpds(&pacing);
}

static json_t *remotes_now(const struct asked *a, const struct ranked *ranked)
{
	json_t *list = json_array(), *one;
	uint32_t i;

	for (i = 0; i < ranked->n && i < STATUS_REMOTES; i++) {
		one = remote_json(ranked->list[i]);
		json_object_set_new(one, "pacing", answer_pacing(a, &ranked->list[i]->addr));
		json_array_append_new(list, one);
	}
	return list;
}

static int add_device(const struct pacing_device *d, void *data)
{
	return json_array_append_new(data, pacing_device_json(d)) ? -ENOMEM : 0;
}

json_t *answer_totals(const struct asked *a, const struct pacings *ps)
{
	const struct act_totals *t = a->act ? act_totals(a->act) : NULL;
	json_t *root, *list;

	if (!t)
		return json_null();
	root = pacing_totals_json(t, t->acts ? 0 : ps->would);
	list = json_array();
	if (act_devices_each(a->act, add_device, list)) {
		json_decref(root);
		root = NULL;
	}
	json_object_set_new(root, "devices", list);
	return root;
}

/* The history's state now: a write of searches or a reload may have changed it since the poll. */
static void add_history(json_t *root, const struct keep *k)
{
	json_object_set_new(root, "history_ok", json_boolean(keep_ok(k)));
	json_object_set_new(root, "history_error", keep_ok(k) ? json_null() :
			    json_plain(k->why.text));
	json_object_set_new(root, "history_failed", json_count(k->failed));
}

static json_t *status(const struct asked *a, const struct ranked *ranked,
		      const struct pacings *ps)
{
	uint32_t n = ranked->n < STATUS_REMOTES ? ranked->n : STATUS_REMOTES;
	json_t *root = totals_json(a->totals);

	add_history(root, a->keep);
	json_object_set_new(root, "pacing", answer_totals(a, ps));
	json_object_set_new(root, "remotes_left_out", json_count(ranked->n - n));
	json_object_set_new(root, "remotes_now", remotes_now(a, ranked));
	return root;
}

int answer_status(const struct asked *a, json_t **answer, struct err *e)
{
	struct ranked ranked = { 0 };
	struct pacings ps;
	json_t *root = NULL;

	if (!pacings_make(&ps, a->act) && !ranked_make(&ranked, a->remotes))
		root = status(a, &ranked, &ps);
	ranked_free(&ranked);
	pacings_free(&ps);
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

/* Whether advice is about the present verdict, if that is known, and not about earlier ones */
static bool is_of_now(const struct remote *now, const struct visits *vs)
{
	return now && (now->now.verdict != VERDICT_UNKNOWN || !vs->earlier.visits);
}

static json_t *advice_about(const struct asked *asked, const struct remote *now,
			    const struct visits *vs, const struct prefix *addr)
{
	const struct visit *v = &vs->latest[earlier_verdict(&vs->earlier)];
	struct place p = { 0 };
	struct advice a = { 0 };
	struct places ps;
	char dev[IFNAMSIZ] = "";

	places_open(&ps);
	answer_place(asked, addr, &p);
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

/* Consumes @pacing and @advice. */
static json_t *why(const struct remote *now, struct visits *vs, json_t *pacing, json_t *advice,
		   const struct err *trouble)
{
	json_t *root = json_pack("{s:o, s:o, s:o, s:O, s:b, s:o}",
				 "now", now ? remote_json(now) : json_null(),
				 "earlier", vs->earlier.visits ? earlier_json(&vs->earlier) :
					    json_null(),
				 "pacing", pacing, "visits", vs->list,
				 "advice_is_of_now", is_of_now(now, vs),
				 "history_error", *trouble->text ? json_plain(trouble->text) :
						  json_null());

	json_object_update(root, advice);
	json_decref(advice);
	return root;
}

static int nothing_known(const char *asked, const struct err *trouble, struct err *e)
{
	if (*trouble->text)
		return err_set(e, -ENOENT,
			       "no flow to %s is known, and the history could not be read: %.300s",
			       asked, trouble->text);
	return err_set(e, -ENOENT,
		       "nothing is known of %s: it has had no flow that sent since the daemon began, and the history has none",
		       asked);
}

int answer_why(const struct asked *a, const json_t *question, json_t **answer, struct err *e)
{
	const char *asked = json_string_value(json_object_get(question, "remote"));
	struct visits vs = { .list = json_array() };
	struct err trouble = { "" };
	const struct remote *now;
	struct prefix addr;
	json_t *pacing;
	int rc;

	rc = named_address(asked ?: "", &addr, &trouble);
	if (rc) {
		err_set(e, rc, "\"remote\": %s", trouble.text);
		goto out;
	}
	now = remotes_find(a->remotes, &addr);
	if (!keep_each(a->keep, &addr, 0, add_visit, &vs, &trouble))
		trouble.text[0] = 0;
	pacing = answer_pacing(a, &addr);
	if (!now && !vs.earlier.visits && json_is_null(pacing))
		rc = nothing_known(asked, &trouble, e);
	else
		rc = done(why(now, &vs, pacing, advice_about(a, now, &vs, &addr), &trouble),
			  answer, e);
out:
	json_decref(vs.list);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What the daemon knows, as JSON: see report.h.
 */
#include <string.h>

#include "json.h"

#include "pacings.h"
#include "report.h"

/* NULL where a part could not be made: "o" of NULL frees the others. */
static json_t *unless_0(uint64_t n)
{
	return n ? json_count(n) : json_null();
}

static json_t *unless_empty(const char *s)
{
	return *s ? json_plain(s) : json_null();
}

static json_t *share(uint32_t thousandths)
{
	return json_real(thousandths / 1000.0);
}

static json_t *address_json(const struct prefix *p)
{
	char addr[INET6_ADDRSTRLEN];

	return json_string(format_addr(addr, sizeof(addr), p));
}

/* Takes both over.  Either may be NULL, and then so is what comes of it. */
static json_t *together(json_t *to, json_t *more)
{
	if (to && more && !json_object_update(to, more)) {
		json_decref(more);
		return to;
	}
	json_decref(to);
	json_decref(more);
	return NULL;
}

static json_t *shares_json(const struct judgement *j)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "busy_share", share(j->busy),
			 "receive_window_share", share(j->rwnd),
			 "send_buffer_share", share(j->sndbuf),
			 "application_share", share(j->app));
}

static json_t *windows_json(const struct judgement *j)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
			 "cwnd_max_segments", unless_0(j->cwnd_max),
			 "cwnd_mean_segments", unless_0(j->cwnd_mean),
			 "mss_bytes", unless_0(j->mss), "rtt_us", unless_0(j->rtt_us),
			 "min_rtt_us", unless_0(j->min_rtt_us),
			 "receive_window_max_bytes", unless_0(j->snd_wnd_max),
			 "send_buffer_bytes", unless_0(j->sndbuf_bytes),
			 "window_scale", !j->no_wscale);
}

static json_t *hundredths(uint32_t n)
{
	return json_real(n / 100.0);
}

/*
 * What spacing.c, losses.c, high.c, response.c, heavy.c and delivered.c make of them; not known
 * where nothing was sent again
 */
static json_t *losses_json(const struct judgement *j)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "loss_dispersion", j->retrans ? hundredths(j->dispersion) : json_null(),
			 "loss_evenness", j->retrans ? hundredths(j->even) : json_null(),
			 "loss_windows", json_count(j->levels),
			 "loss_windows_spread", j->levels > 1 ? share(j->spread) : json_null(),
			 "loss_at_large_windows", j->retrans ? hundredths(j->high) : json_null(),
			 "loss_excess", j->retrans ? hundredths(j->excess) : json_null(),
			 "rate_dispersion",
			 j->retrans ? hundredths(j->rate_dispersion) : json_null(),
			 "rate_evenness", j->retrans ? hundredths(j->even_rate) : json_null());
}

json_t *judgement_json(const struct judgement *j)
{
	json_t *root = json_pack("{s:s, s:s, s:o, s:o}", "verdict", verdict_name(j->verdict),
				 "text", verdict_text(j->verdict),
				 "reason", unless_empty(reason_name(j->reason)),
				 "why", unless_empty(reason_text(j->reason)));
	json_t *counts = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
				   "duration_us", json_count(j->us),
				   "acked_bytes", json_count(j->acked),
				   "sent_segments", json_count(j->segs),
				   "retransmitted_segments", json_count(j->retrans),
				   "local_drops_packets", json_count(j->local_drops),
				   "rate_bytes_s", json_count(j->rate),
				   "best_rate_bytes_s", unless_0(j->best_rate));

	root = together(together(root, counts), shares_json(j));
	return together(together(root, windows_json(j)), losses_json(j));
}

json_t *remote_json(const struct remote *r)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "remote", address_json(&r->addr),
			 "flows", json_count(r->flows),
			 "algorithm", unless_empty(r->algorithm),
			 "judgement", judgement_json(&r->now));
}

json_t *visit_json(const struct visit *v)
{
	return json_pack("{s:o, s:I, s:I, s:b, s:o, s:o, s:o, s:o}",
			 "remote", address_json(&v->remote),
			 "began_s", (json_int_t)v->began, "ended_s", (json_int_t)v->ended,
			 "paced", v->paced,
			 "flows", json_count(v->flows),
			 "algorithm", unless_empty(v->algorithm),
			 "device", unless_empty(v->dev),
			 "judgement", judgement_json(&v->judgement));
}

static json_t *verdicts_json(const uint32_t of[VERDICTS])
{
	json_t *root = json_object();
	int v;

	for (v = 0; v < VERDICTS; v++)
		json_object_set_new(root, verdict_name(v), json_count(of[v]));
	return root;
}

json_t *totals_json(const struct poll_totals *t)
{
	json_t *root = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}",
				 "polls", json_count(t->polls),
				 "polls_failed", json_count(t->failed),
				 "poll_cpu_us", json_count(t->cpu_us),
				 "acked_bytes", json_count(t->acked),
				 "sent_segments", json_count(t->segs),
				 "retransmitted_segments", json_count(t->retrans));
	json_t *now = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}",
				"local_drops_packets", json_count(t->local_drops),
				"flows", json_count(t->flows),
				"flows_left_out", json_count(t->flows_left_out),
				"remotes", json_count(t->remotes),
				"flows_of", verdicts_json(t->flows_of),
				"remotes_of", verdicts_json(t->remotes_of));

	return together(root, now);
}

static json_t *setting_json(const struct setting *s)
{
	return json_pack("{s:s, s:s, s:s}", "host", s->here ? "here" : "remote",
			 "name", s->name, "value", s->value);
}

json_t *advice_json(const struct advice *a)
{
	json_t *text = json_array(), *settings = json_array();
	unsigned int i;

	for (i = 0; i < a->n; i++)
		json_array_append_new(text, json_plain(a->text[i]));
	for (i = 0; i < a->n_settings; i++)
		json_array_append_new(settings, setting_json(&a->settings[i]));
	return json_pack("{s:o, s:o}", "advice", text, "settings", settings);
}

json_t *earlier_json(const struct remote_history *h)
{
	json_t *acked = json_object();
	int v;

	for (v = 0; v < VERDICTS; v++)
		json_object_set_new(acked, verdict_name(v), json_count(h->acked_of[v]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}",
			 "visits", json_count(h->visits), "flows", json_count(h->flows),
			 "acked_bytes", json_count(h->acked),
			 "sent_segments", json_count(h->segs),
			 "retransmitted_segments", json_count(h->retrans),
			 "last_s", (json_int_t)h->last,
			 "best_rate_bytes_s", unless_0(h->best_rate),
			 "min_rtt_us", unless_0(h->min_rtt_us),
			 "visits_of", verdicts_json(h->visits_of), "acked_bytes_of", acked);
}

/* --- pacing ------------------------------------------------------------------------ */

static json_t *time_unless_0(int64_t s)
{
	return s > 0 ? json_integer(s) : json_null();
}

/* Bytes are those that a class counts, with all headers: so is the rate that is set. */
static json_t *tally_json(const struct tally *t)
{
	if (!t->n)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "intervals", json_count(t->n),
			 "duration_us", json_count(t->us),
			 "carried_bytes", json_count(t->acked),
			 "rate_bytes_s", json_count(search_goodput(t)),
			 "sent_segments", json_count(t->segs),
			 "retransmitted_segments", json_count(t->retrans),
			 "resent_share", t->segs ? (double)t->retrans / (double)t->segs : 0.0);
}

/* At the rate in force: so far, or what it is kept for */
static const struct tally *after(const struct search *s)
{
	return s->state == SEARCH_KEPT ? &s->proof : &s->now;
}

json_t *pacing_json(const struct pacing *p, bool acts)
{
	const struct search *s = p->search;
	char name[PACING_NAME];
	json_t *root = json_pack("{s:s, s:b, s:o, s:o, s:o, s:s, s:o, s:o, s:o}",
				 "to", pacing_name(p, name), "of_subnet", !pacing_is_host(p),
				 "device", unless_empty(p->dev),
				 "paced_by", unless_empty(p->hands),
				 "unfit", unless_empty(p->unfit),
				 "state", search_state_name(s->state),
				 "rate_bytes_s", unless_0(p->rate),
				 "wanted_rate_bytes_s", unless_0(s->rate),
				 "would_rate_bytes_s", unless_0(acts ? 0 : p->would));
	json_t *told = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
				 "reason", p->reason ? json_string(search_reason_name(p->reason)) :
						       json_null(),
				 "why", unless_empty(search_reason_text(p->reason)),
				 "since_s", time_unless_0(p->since),
				 "again_s", s->state == SEARCH_TAKEN_BACK ?
					    time_unless_0(s->again) : json_null(),
				 "stood_down", unless_empty(p->stood_down),
				 "before", tally_json(&s->base),
				 "after", s->rate ? tally_json(after(s)) : json_null());

	return together(root, told);
}

static const char *does(const struct act_totals *t)
{
	if (*t->unable)
		return "cannot-act";
	return t->acts ? "acts" : "observes";
}

json_t *pacing_device_json(const struct pacing_device *d)
{
	return json_pack("{s:o, s:o, s:o}", "device", unless_empty(d->dev),
			 "paced_by", unless_empty(d->hands),
			 "why", unless_empty(d->why));
}

static json_t *paced_by_json(const struct act_totals *t)
{
	json_t *root = json_object();
	int k;

	for (k = 0; k < HANDS_KINDS; k++)
		json_object_set_new(root, hands_ops(k)->name, json_count(t->paced_by[k]));
	return root;
}

json_t *pacing_totals_json(const struct act_totals *t, uint32_t would)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "state", does(t), "why", unless_empty(t->unable),
			 "changes_error", unless_empty(t->hindered),
			 "searches", json_count(t->searches), "paced", json_count(t->paced),
			 "paced_by", paced_by_json(t),
			 "trying", json_count(t->trying), "kept", json_count(t->kept),
			 "taken_back", json_count(t->taken_back),
			 "stood_down", json_count(t->stood_down),
			 "would_pace", json_count(would),
			 "rate_changes", json_count(t->paced_changes),
			 "polls_failed", json_count(t->failed));
}

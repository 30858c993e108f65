// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics as text: Prometheus' text format 0.0.4.  Base units: seconds, bytes; ratios from 0
 * to 1.  What only grows ends in _total; of a remote nothing does, as its visits end.
 *
 * The names are an interface: ctcpd(8), METRICS, and grafana/ctcpd.json have them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "circuit.h"
#include "out.h"

#include "metrics.h"
#include "pacings.h"
#include "ranked.h"

static void begin(struct out *o, const char *name, const char *type, const char *help)
{
	out_text(o, "# HELP ctcpd_");
	out_text(o, name);
	out_text(o, " ");
	out_text(o, help);
	out_text(o, "\n# TYPE ctcpd_");
	out_text(o, name);
	out_text(o, " ");
	out_text(o, type);
	out_text(o, "\n");
}

/* @scale: of the base unit, 1, 1000 (ratios) or 1000000 (times) */
static void put_value(struct out *o, uint64_t n, uint32_t scale)
{
	char places[16];

	out_text(o, " ");
	out_number(o, n / scale);
	if (scale > 1) {
		snprintf(places, sizeof(places), ".%0*u", scale == 1000 ? 3 : 6,
			 (unsigned int)(n % scale));
		out_text(o, places);
	}
	out_text(o, "\n");
}

static void put_one(struct out *o, const char *name, const char *type, const char *help,
		    uint64_t n, uint32_t scale)
{
	begin(o, name, type, help);
	out_text(o, "ctcpd_");
	out_text(o, name);
	put_value(o, n, scale);
}

void metrics_label(struct out *o, const char *key, const char *value)
{
	out_text(o, key);
	out_text(o, "=\"");
	for (; *value; value++) {
		if (*value == '\n') {
			out_text(o, "\\n");
			continue;
		}
		if (*value == '\\' || *value == '"')
			out_text(o, "\\");
		out_bytes(o, value, 1);
	}
	out_text(o, "\"");
}

static void put_verdicts(struct out *o, const char *name, const char *help,
			 const uint32_t of[VERDICTS])
{
	int v;

	begin(o, name, "gauge", help);
	for (v = 0; v < VERDICTS; v++) {
		out_text(o, "ctcpd_");
		out_text(o, name);
		out_text(o, "{");
		metrics_label(o, "verdict", verdict_name(v));
		out_text(o, "}");
		put_value(o, of[v], 1);
	}
}

static void put_build(struct out *o)
{
	begin(o, "build_info", "gauge", "1; its label tells the version of ctcpd.");
	out_text(o, "ctcpd_build_info{");
	metrics_label(o, "version", CTCP_VERSION);
	out_text(o, "}");
	put_value(o, 1, 1);
}

static void put_totals(struct out *o, const struct poll_totals *t)
{
	put_build(o);
	put_one(o, "polls_total", "counter", "Polls of all TCP sockets.", t->polls, 1);
	put_one(o, "polls_failed_total", "counter", "Polls that failed.", t->failed, 1);
	put_one(o, "poll_cpu_seconds", "gauge", "Processor time of the last poll.", t->cpu_us,
		1000000);
	put_one(o, "flows", "gauge", "TCP flows that send, as of the last poll.", t->flows, 1);
	put_one(o, "flows_left_out", "gauge", "Flows that are too many, as of the last poll.",
		t->flows_left_out, 1);
	put_verdicts(o, "flows_by_verdict", "These, by what limits them.", t->flows_of);
	put_one(o, "remotes", "gauge", "Remotes that flows lead to, or led to lately.",
		t->remotes, 1);
	put_verdicts(o, "remotes_by_verdict", "These, by what limits them.", t->remotes_of);
	put_one(o, "acked_bytes_total", "counter", "Bytes that remotes have acknowledged.",
		t->acked, 1);
	put_one(o, "segments_total", "counter", "Data segments sent, with those sent again.",
		t->segs, 1);
	put_one(o, "retransmitted_segments_total", "counter", "Data segments sent again.",
		t->retrans, 1);
	put_one(o, "local_drops_total", "counter", "Packets that qdiscs of this host dropped.",
		t->local_drops, 1);
	put_one(o, "history_up", "gauge", "1: the history can be written to.", t->history_ok,
		1);
	put_one(o, "history_write_failures_total", "counter",
		"Writes to the history that failed.", t->history_failed, 1);
}

/* --- remotes --------------------------------------------------------------- */

static uint64_t flows_of(const struct remote *r)
{
	return r->flows;
}

static uint64_t rate_of(const struct remote *r)
{
	return r->now.rate;
}

static uint64_t best_rate_of(const struct remote *r)
{
	return r->now.best_rate;
}

static uint64_t acked_of(const struct remote *r)
{
	return r->now.acked;
}

static uint64_t retrans_of(const struct remote *r)
{
	return r->now.segs ? 1000000ULL * r->now.retrans / r->now.segs : 0;
}

static uint64_t min_rtt_of(const struct remote *r)
{
	return r->now.min_rtt_us;
}

static uint64_t busy_of(const struct remote *r)
{
	return r->now.busy;
}

static uint64_t rwnd_of(const struct remote *r)
{
	return r->now.rwnd;
}

static uint64_t sndbuf_of(const struct remote *r)
{
	return r->now.sndbuf;
}

static uint64_t app_of(const struct remote *r)
{
	return r->now.app;
}

static const struct {
	const char *name, *help;
	uint64_t (*of)(const struct remote *r);
	uint32_t scale;
} columns[] = {
	{ "remote_flows", "Flows to it, as of the last poll.", flows_of, 1 },
	{ "remote_acked_bytes", "Bytes that it has acknowledged in this visit.", acked_of, 1 },
	{ "remote_rate_bytes_per_second", "Rate at which it has acknowledged bytes in this visit.",
	  rate_of, 1 },
	{ "remote_best_rate_bytes_per_second", "Highest rate of delivery in this visit.",
	  best_rate_of, 1 },
	{ "remote_retransmit_ratio", "Part of the segments that were sent again in this visit.",
	  retrans_of, 1000000 },
	{ "remote_min_rtt_seconds", "Shortest round trip of this visit.", min_rtt_of, 1000000 },
	{ "remote_busy_ratio", "Part of the time with data to send.", busy_of, 1000 },
	{ "remote_receive_window_ratio", "Part of the time held by its receive window.", rwnd_of,
	  1000 },
	{ "remote_send_buffer_ratio", "Part of the time held by our send buffer.", sndbuf_of,
	  1000 },
	{ "remote_application_ratio", "Part of the time without data to send.", app_of, 1000 },
};

static void put_remote(struct out *o, const char *name, const struct remote *r)
{
	char addr[INET6_ADDRSTRLEN];

	out_text(o, "ctcpd_");
	out_text(o, name);
	out_text(o, "{");
	metrics_label(o, "remote", format_addr(addr, sizeof(addr), &r->addr));
}

static void put_remotes(struct out *o, const struct ranked *l)
{
	size_t c;
	uint32_t i;

	for (c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		begin(o, columns[c].name, "gauge", columns[c].help);
		for (i = 0; i < l->n; i++) {
			put_remote(o, columns[c].name, l->list[i]);
			out_text(o, "}");
			put_value(o, columns[c].of(l->list[i]), columns[c].scale);
		}
	}
	begin(o, "remote_verdict", "gauge", "1; its label tells what limits the remote.");
	for (i = 0; i < l->n; i++) {
		put_remote(o, "remote_verdict", l->list[i]);
		out_text(o, ",");
		metrics_label(o, "verdict", verdict_name(l->list[i]->now.verdict));
		out_text(o, "}");
		put_value(o, 1, 1);
	}
}

/* --- pacing ----------------------------------------------------------------- */

static void put_paced_by(struct out *o, const uint32_t by[HANDS_KINDS])
{
	int k;

	begin(o, "paced_remotes_by_means", "gauge", "Paced remotes, by what paces them.");
	for (k = 0; k < HANDS_KINDS; k++) {
		out_text(o, "ctcpd_paced_remotes_by_means{");
		metrics_label(o, "paced_by", hands_ops(k)->name);
		out_text(o, "}");
		put_value(o, by[k], 1);
	}
}

static void put_act(struct out *o, const struct act_totals *t)
{
	put_one(o, "acts", "gauge", "1: remotes are paced, 0: it observes, or cannot.",
		t->acts && !*t->unable, 1);
	put_one(o, "cannot_act", "gauge", "1: it is to pace remotes, and cannot.", !!*t->unable,
		1);
	put_one(o, "paced_remotes", "gauge", "Remotes, or subnets as one, that are paced.",
		t->paced, 1);
	put_paced_by(o, t->paced_by);
	put_one(o, "unfit_devices", "gauge",
		"Devices on which a remote is to be paced and nothing can be, or that are gone.",
		t->unfit, 1);
	put_one(o, "stood_down_remotes", "gauge",
		"Those that are left alone, as somebody changed or set up what stands there.",
		t->stood_down, 1);
	put_one(o, "rate_changes_total", "counter", "Rates that were set or taken back.",
		t->paced_changes, 1);
	put_one(o, "rate_change_failures_total", "counter",
		"Polls whose rates could not be set or taken back.", t->failed, 1);
}

static void put_searches(struct out *o, const uint32_t of[SEARCH_STATES])
{
	int s;

	begin(o, "searches_by_state", "gauge", "Searches for a remote's rate.");
	for (s = 0; s < SEARCH_STATES; s++) {
		out_text(o, "ctcpd_searches_by_state{");
		metrics_label(o, "state", search_state_name(s));
		out_text(o, "}");
		put_value(o, of[s], 1);
	}
}

/* Those with the highest rates have lines of their own: they carry most. */
static int by_rate(const void *a, const void *b)
{
	const struct pacing *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate < y->rate ? 1 : -1;
	return prefix_compare(&x->to, &y->to);
}

static void put_rates(struct out *o, struct pacings *ps)
{
	uint32_t i, n;
	char name[PACING_NAME];

	pacings_keep_paced(ps);
	if (ps->n)
		qsort(ps->list, ps->n, sizeof(*ps->list), by_rate);
	n = ps->n < METRICS_REMOTES ? ps->n : METRICS_REMOTES;
	put_one(o, "paced_left_out", "gauge",
		"Paced remotes without lines of their own: those with the lowest rates.",
		ps->n - n, 1);
	begin(o, "paced_rate_bytes_per_second", "gauge", "Rate at which a remote is paced.");
	for (i = 0; i < n; i++) {
		out_text(o, "ctcpd_paced_rate_bytes_per_second{");
		metrics_label(o, "remote", pacing_name(&ps->list[i], name));
		out_text(o, ",");
		metrics_label(o, "paced_by", ps->list[i].hands);
		out_text(o, "}");
		put_value(o, ps->list[i].rate, 1);
	}
}

static int put_pacing(struct out *o, const struct act *act)
{
	static const struct act_totals none = { .unable = "", .hindered = "" };
	struct pacings ps;
	int rc = pacings_make(&ps, act);

	put_act(o, act ? act_totals(act) : &none);
	put_searches(o, ps.of);
	put_rates(o, &ps);
	pacings_free(&ps);
	return rc;
}

int metrics_text(const struct poll_totals *t, struct remotes *rs, const struct act *act,
		 char **text, size_t *len)
{
	struct out o = { .grows = true };
	struct ranked l;
	uint32_t all;
	int rc;

	if (ranked_make(&l, rs))
		return -ENOMEM;
	all = l.n;
	if (l.n > METRICS_REMOTES)
		l.n = METRICS_REMOTES;
	put_totals(&o, t);
	put_one(&o, "remotes_left_out", "gauge",
		"Remotes without lines of their own: those with the fewest bytes.", all - l.n, 1);
	put_remotes(&o, &l);
	ranked_free(&l);
	rc = put_pacing(&o, act);
	if (rc || o.failed) {
		free(o.text);
		return -ENOMEM;
	}
	*text = o.text;
	*len = o.used;
	return 0;
}

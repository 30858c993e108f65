// SPDX-License-Identifier: GPL-2.0
/*
 * ctcpd replay: what the policy says of a trace.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "commands.h"
#include "flows.h"
#include "report.h"
#include "trace.h"
#include "units.h"

struct replayer {
	struct flows *flows;
	json_t *list;		/* NULL: text */
};

/* One that has gone stays in the table, so that its verdict is printed with the others. */
static int take_line(const struct trace_line *t, void *data, struct err *e)
{
	struct replayer *r = data;
	int rc = 0;

	if (t->kind == TRACE_SAMPLE)
		rc = flows_feed(r->flows, &t->sample);
	else if (t->kind == TRACE_DROPS)
		rc = flows_drops(r->flows, t->at_us, t->ifindex, t->drops);
	else if (t->kind == TRACE_LEAVES)
		flows_leaves(r->flows, t->sample.conn.cookie, t->ifindex);
	return rc ? err_set(e, rc, "out of memory") : 0;
}

/* --- what comes out -------------------------------------------------------- */

static void print_text(const struct flow *f, const struct judgement *j)
{
	char addr[INET6_ADDRSTRLEN], rate[32];
	const struct conn *c = &f->last.conn;

	printf("%llx %s port %u: %s (%s); busy %u.%u%%, rwnd %u.%u%%, sndbuf %u.%u%%, app %u.%u%%; %s; %u of %u segments sent again\n",
	       (unsigned long long)c->cookie, format_addr(addr, sizeof(addr), &c->peer),
	       c->peer_port, verdict_name(j->verdict), reason_text(j->reason),
	       j->busy / 10, j->busy % 10, j->rwnd / 10, j->rwnd % 10, j->sndbuf / 10,
	       j->sndbuf % 10, j->app / 10, j->app % 10,
	       format_rate(rate, sizeof(rate), j->rate), j->retrans, j->segs);
}

static json_t *flow_json(const struct flow *f, const struct judgement *j)
{
	char addr[INET6_ADDRSTRLEN], cookie[24];
	const struct conn *c = &f->last.conn;

	snprintf(cookie, sizeof(cookie), "%llx", (unsigned long long)c->cookie);
	return json_pack("{s:s, s:s, s:i, s:s, s:o}", "cookie", cookie,
			 "remote", format_addr(addr, sizeof(addr), &c->peer),
			 "port", (int)c->peer_port, "algorithm", c->algorithm,
			 "judgement", judgement_json(j));
}

static int judge_one(const struct flow *f, bool closed, void *data)
{
	struct replayer *r = data;
	struct judgement j;

	(void)closed;
	judge_flow(&f->facts, &j);
	if (!r->list) {
		print_text(f, &j);
		return 0;
	}
	return json_array_append_new(r->list, flow_json(f, &j)) ? -ENOMEM : 0;
}

/* Flows that a trace replaces are told at its end, with all others. */
static int print_flows(struct replayer *r, struct err *e)
{
	int rc = flows_end(r->flows, false, NULL, NULL, judge_one, r);

	if (!rc)
		rc = flows_each(r->flows, judge_one, r);
	if (!rc && r->list) {
		rc = json_dumpf(r->list, stdout, JSON_INDENT(2)) ? -EIO : 0;
		putchar('\n');
	}
	return rc ? err_set(e, rc, "cannot tell of the flows: %s", strerror(-rc)) : 0;
}

static int replay(struct replayer *r, const char *file, struct err *e)
{
	FILE *in = strcmp(file, "-") ? fopen(file, "re") : stdin;
	struct err why = { "" };
	int rc;

	if (!in)
		return err_set(e, -errno, "cannot read \"%s\": %s", file, strerror(errno));
	rc = trace_read(in, take_line, r, &why);
	if (in != stdin)
		fclose(in);
	return rc ? err_set(e, rc, "%s: %s", file, why.text) : print_flows(r, e);
}

int command_replay(const struct options *o, struct err *e)
{
	struct replayer r = { flows_new(), o->json ? json_array() : NULL };
	int rc = -ENOMEM;

	if (r.flows && (r.list || !o->json))
		rc = replay(&r, o->word, e);
	else
		err_set(e, rc, "out of memory");
	json_decref(r.list);
	flows_free(r.flows);
	return rc;
}

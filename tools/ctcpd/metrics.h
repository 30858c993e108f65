/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics for Prometheus: its text format over HTTP (libmicrohttpd), off by default.
 *
 * metrics_text() is pure.  metrics_start() listens where listen_parse() (listen.h) says, and
 * no longer than the daemon lives; it answers GET /metrics with what metrics_set() was given
 * last, and all else by 404 or 405.  Names, labels and units: ctcpd(8), METRICS.
 */
#ifndef CTCPD_METRICS_H
#define CTCPD_METRICS_H

#include "out.h"

#include "remotes.h"

struct act;			/* act.h */
struct metrics;			/* metrics.c */

/* What one poll of the daemon came to */
struct poll_totals {
	uint64_t polls, failed;		/* so far */
	uint32_t flows, remotes;	/* now */
	uint32_t flows_left_out;	/* of the last poll, as there are FLOWS_MAX */
	uint32_t flows_of[VERDICTS], remotes_of[VERDICTS];
	uint64_t acked, segs, retrans;	/* bytes, segments, so far, of all flows */
	uint64_t local_drops;		/* packets, so far */
	uint64_t cpu_us;		/* of the last poll */
	uint64_t history_failed;	/* writes, so far */
	bool history_ok;
};

#define METRICS_REMOTES	50U	/* those with the most bytes have lines of their own */

/* KEY="VALUE", in which \ " and line feed are escaped */
void metrics_label(struct out *o, const char *key, const char *value);
/* @act NULL: nothing is paced.  *@text: malloc()ed.  -ENOMEM */
int metrics_text(const struct poll_totals *t, struct remotes *rs, const struct act *act,
		 char **text, size_t *len);

struct metrics *metrics_start(const char *listen, int *rc, struct err *e);	/* NULL: *rc, e */
void metrics_set(struct metrics *m, char *text, size_t len);	/* takes it over */
bool metrics_is_local(const struct metrics *m);	/* nobody but this host reaches it */
void metrics_stop(struct metrics *m);

#endif

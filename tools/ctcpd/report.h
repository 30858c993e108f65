/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the daemon tells a person or a program: status, report, why.  Pure: from remotes,
 * visits and totals to JSON (jansson), and from that to text.
 *
 * The report is for the owners of the remotes, and for that of this host: advice.h.
 *
 * JSON is in base units, which end each key: bytes, bytes_s (bytes per second), us, s (of
 * CLOCK_REALTIME), segments, packets; parts of a whole are from 0 to 1, and end in _share.
 * What is not known is null, and so is "pacing" of a remote for which no rate is searched.
 * NULL: no memory.  ctcpd(8), JSON, has all keys.
 */
#ifndef CTCPD_REPORT_H
#define CTCPD_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "act.h"
#include "advice.h"
#include "metrics.h"
#include "remotes.h"

json_t *judgement_json(const struct judgement *j);
json_t *remote_json(const struct remote *r);
json_t *visit_json(const struct visit *v);
json_t *totals_json(const struct poll_totals *t);
json_t *advice_json(const struct advice *a);	/* {"advice": [...], "settings": [...]} */
json_t *earlier_json(const struct remote_history *h);
/* @acts: so that it is paced at once, or cannot be */
json_t *pacing_json(const struct pacing *p, bool acts);
json_t *pacing_device_json(const struct pacing_device *d);
/* @would: how many `act` would pace */
json_t *pacing_totals_json(const struct act_totals *t, uint32_t would);

/* The client's side: text from what the daemon answered, whatever that is */
void status_print(FILE *out, const json_t *answer);
void report_print(FILE *out, const json_t *answer);
void why_print(FILE *out, const json_t *answer);

#endif

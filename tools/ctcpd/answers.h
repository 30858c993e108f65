/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What status, report and why answer: JSON as report.h has it, of what the daemon knows now and
 * of what its history has.
 *
 * -ENOENT: nothing is known of that remote; -EINVAL: the question is none; -ENOMEM.  A history
 * that cannot be read, or of status: written, is no error: "history_error" tells of it.
 */
#ifndef CTCPD_ANSWERS_H
#define CTCPD_ANSWERS_H

#include <jansson.h>

#include "act.h"
#include "advice.h"
#include "keep.h"
#include "metrics.h"
#include "pacings.h"
#include "remotes.h"

#define STATUS_REMOTES	1000U	/* those with the most bytes; "remotes_left_out" are more */
#define REPORT_REMOTES	1000U
#define WHY_VISITS	20U	/* the newest */

struct asked {
	const struct poll_totals *totals;
	struct remotes *remotes;
	struct keep *keep;
	const struct config *config;	/* NULL: no remote is left alone */
	const struct act *act;		/* NULL: nothing is known of pacing */
};

/* null: there is no search for its rate */
json_t *answer_pacing(const struct asked *a, const struct prefix *addr);
/* For advice: what is done about it already */
void answer_place(const struct asked *a, const struct prefix *addr, struct place *p);
/* null: nothing is known of pacing */
json_t *answer_totals(const struct asked *a, const struct pacings *ps);
int answer_status(const struct asked *a, json_t **answer, struct err *e);
int answer_report(const struct asked *a, json_t **answer, struct err *e);
/* {"remote": "192.0.2.7"} */
int answer_why(const struct asked *a, const json_t *question, json_t **answer, struct err *e);

/* earlier.c */
void earlier_add(struct remote_history *h, const struct visit *v);
/* That of most of its bytes; unknown only where nothing else was */
enum verdict earlier_verdict(const struct remote_history *h);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * What earlier visits to one remote came to, as history_remotes() has it of all.
 */
#include "answers.h"

void earlier_add(struct remote_history *h, const struct visit *v)
{
	const struct judgement *j = &v->judgement;

	h->remote = v->remote;
	h->visits++;
	h->visits_of[j->verdict]++;
	h->flows += v->flows;
	h->segs += j->segs;
	h->retrans += j->retrans;
	h->acked += j->acked;
	h->acked_of[j->verdict] += j->acked;
	h->us += j->us;
	if (v->ended > h->last)
		h->last = v->ended;
	if (j->best_rate > h->best_rate)
		h->best_rate = j->best_rate;
	if (j->min_rtt_us && (!h->min_rtt_us || j->min_rtt_us < h->min_rtt_us))
		h->min_rtt_us = j->min_rtt_us;
}

enum verdict earlier_verdict(const struct remote_history *h)
{
	enum verdict most = VERDICT_UNKNOWN;
	int v;

	for (v = VERDICT_UNKNOWN + 1; v < VERDICTS; v++)
		if (h->visits_of[v] &&
		    (most == VERDICT_UNKNOWN || h->acked_of[v] > h->acked_of[most]))
			most = v;
	return most;
}

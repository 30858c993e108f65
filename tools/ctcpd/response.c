// SPDX-License-Identifier: GPL-2.0
/*
 * A flow's windows against its losses: see response.h.
 */
#include <math.h>
#include <string.h>

#include "losses.h"
#include "response.h"

/*
 * Losses for each that the response functions allow.  In the lab random loss hit at most 1.13
 * times as many where there were a hundred or more, and 1.6 times with fourteen; of CUBIC it is
 * 1.13 times in the long run, of Reno 0.98 (test_ctcpd_chance.c).
 */
#define MARGIN	1.6

/* The loss of each segment by chance that leaves a window so large; 1: it is not known */
static double loss_for(const struct sample *s, double cwnd)
{
	double reno = 1.5 / (cwnd * cwnd);

	if (!strcmp(s->conn.algorithm, "reno"))
		return fmin(1, reno);
	if (strcmp(s->conn.algorithm, "cubic"))
		return 1;
	/* in segments and seconds; Reno's where that leaves more (RFC 9438, 4.3) */
	return fmin(1, fmax(reno, s->rtt_us / 1e6 * pow(1.054 / cwnd, 4.0 / 3)));
}

/*
 * Slow start leaves a window of any size, which a few cuts, and recoveries longer than a look,
 * bring down to what the losses leave: till then these are too many for it, whatever they are.
 */
static bool has_settled(const struct interval *i)
{
	return losses_begin(i) && i->before->snd_ssthresh < INFINITE_SSTHRESH &&
	       i->now->snd_ssthresh >= i->before->snd_ssthresh;
}

void response_add(struct response *r, const struct interval *i)
{
	double cwnd = (i->before->snd_cwnd + (double)i->now->snd_cwnd) / 2;

	if (!losses_is_look(i) || cwnd < 1)
		return;
	r->settled |= has_settled(i);
	if (!r->settled)
		return;
	/* a D-SACK follows by a round trip, which may be in the next look */
	r->lost = fmaxf(0, r->lost + (float)i->retrans - (float)i->dsack_dups);
	r->allowed += (float)(i->segs * loss_for(i->now, cwnd));
}

void response_age(struct response *r)
{
	r->lost /= 2;
	r->allowed /= 2;
}

double response_against_chance(const struct response *r)
{
	double most = r->allowed * MARGIN;

	return losses_beyond(r->lost, most);
}

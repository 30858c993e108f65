// SPDX-License-Identifier: GPL-2.0
/*
 * Losses of one segment in sixteen, and more, against a flow's mean window: see heavy.h.
 */
#include <math.h>
#include <string.h>

#include "heavy.h"
#include "losses.h"

#define HEAVY	(1 / 16.0F)	/* of the segments: Reno's window is 4.9 then */
#define NEARLY_EACH	0.9F	/* of the looks; other people's traffic pauses */
/*
 * Losses for each that independent ones come to: bursts of k, as of a radio link, cut the window
 * once, and leave k times p W^2.  Of 56 flows in the lab that random loss hit, of 4 to 30 % and
 * over 0.2 to 20 ms, p W^2 was at most 1.43 of Reno, 0.84 of CUBIC and 0.64 of H-TCP.
 */
#define MARGIN	2.25
#define RENO	1.5F
#define HTCP	3.6F	/* over 200 ms; 1.8 over short round trips (htcp_alpha_update()) */
/* At HEAVY, CUBIC's window is Reno's where the round trip is shorter (RFC 9438, 4.3). */
#define FRIENDLY_MOST_US 400000U

static float square_of(const struct sample *s)
{
	if (!strcmp(s->conn.algorithm, "reno"))
		return RENO;
	if (!strcmp(s->conn.algorithm, "cubic"))
		return s->rtt_us <= FRIENDLY_MOST_US ? RENO : 0;
	return strcmp(s->conn.algorithm, "htcp") ? 0 : HTCP;
}

void heavy_add(struct heavy *h, const struct interval *i)
{
	float cwnd = ((float)i->before->snd_cwnd + (float)i->now->snd_cwnd) / 2;
	float square = square_of(i->now);

	/* what arrived out of order, and was sent again, was not lost */
	if (square <= 0 || i->reord || !losses_is_look(i))
		return;
	h->segs += (float)i->segs;
	/* a D-SACK follows by a round trip, which may be in the next look */
	h->lost = fmaxf(0, h->lost + (float)i->retrans - (float)i->dsack_dups);
	h->us += (float)i->us;
	h->window_us += cwnd * (float)i->us;
	h->looks++;
	h->losing += losses_of(i) > 0;
	h->square = fmaxf(h->square, square);
}

void heavy_age(struct heavy *h)
{
	h->segs /= 2;
	h->lost /= 2;
	h->us /= 2;
	h->window_us /= 2;
	h->looks /= 2;
	h->losing /= 2;
}

double heavy_against_chance(const struct heavy *h)
{
	double window, most;

	if (h->square <= 0 || h->us <= 0 || h->lost < HEAVY * h->segs ||
	    (float)h->losing < NEARLY_EACH * (float)h->looks)
		return 0;
	window = fmax(1, (double)h->window_us / h->us);
	most = h->segs * fmin(1, MARGIN * h->square / (window * window));
	return losses_beyond(h->lost, most);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion windows, round trip by round trip: as Linux has them, but for its integers.
 *
 * A path without a queue loses each segment with probability @p, whatever the window, and its
 * round trip never changes.  Of a round trip with a loss, or with several, the window is cut
 * once, as by one recovery; timeouts are not modelled.
 */
#ifndef CTCPD_TEST_WINDOW_H
#define CTCPD_TEST_WINDOW_H

#include <stdbool.h>

#include "ctcpd_draw.h"

struct window {
	double p, rtt;		/* of each segment; seconds */
	uint64_t seed;
	double until;		/* segments up to the next that is lost */
	double cwnd, ssthresh;	/* segments */
	double since;		/* seconds since the last cut */
	struct {
		double max, origin, k;	/* W_max, and where and when its curve is flat */
		double reno;		/* the window that Reno would have */
	} cubic;
	struct {
		double rate;		/* segments in a round trip, smoothed */
		double most, was;	/* ... the most of it since the last cut, and up to it */
		double beta;
		bool steady;		/* it was so at the last cut */
	} htcp;
};

struct algorithm {
	const char *name;
	double (*left)(struct window *w);	/* what a loss leaves of the window */
	double (*more)(struct window *w);	/* what a round trip without one adds */
};

/* --- Reno: RFC 5681 ------------------------------------------------------ */

static inline double reno_left(struct window *w)
{
	return w->cwnd / 2;
}

static inline double reno_more(struct window *w)
{
	(void)w;
	return 1;
}

/* --- CUBIC: RFC 9438, bictcp_update() of tcp_cubic.c --------------------- */

#define CUBIC_BETA	(717.0 / 1024)
#define CUBIC_C		0.4	/* segments / s^3 */

static inline double cubic_left(struct window *w)
{
	double left = w->cwnd * CUBIC_BETA;

	/* fast convergence */
	w->cubic.max = w->cwnd < w->cubic.max ? w->cwnd * (1 + CUBIC_BETA) / 2 : w->cwnd;
	w->cubic.reno = left;
	w->cubic.origin = fmax(w->cubic.max, left);
	w->cubic.k = cbrt((w->cubic.origin - left) / CUBIC_C);
	return left;
}

static inline double cubic_more(struct window *w)
{
	double t = w->since + w->rtt - w->cubic.k, target = w->cubic.origin + CUBIC_C * t * t * t;
	/* by a half at most, and if it were by one in a hundred round trips */
	double more = fmin(w->cwnd / 2, fmax(0.01, target - w->cwnd));

	w->cubic.reno += 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA);
	return fmax(more, w->cubic.reno - w->cwnd);
}

/* --- H-TCP: Leith and Shorten 2004, tcp_htcp.c --------------------------- */

/*
 * Half; four fifths (102 of 128) from the second time on that what it delivers at most is within
 * a fifth of that before the last cut, where the round trip is longer than 10 ms
 */
static inline double htcp_left(struct window *w)
{
	bool same = fabs(w->htcp.most - w->htcp.was) <= 0.2 * w->htcp.was;

	w->htcp.beta = same && w->htcp.steady && w->rtt > 0.01 ? 102.0 / 128 : 0.5;
	w->htcp.steady = same;
	w->htcp.was = w->htcp.most;
	return w->cwnd * w->htcp.beta;
}

static inline void htcp_measure(struct window *w)
{
	if (w->since < 3.5 * w->rtt) {
		w->htcp.rate = w->cwnd;
		w->htcp.most = w->cwnd;
	} else {
		w->htcp.rate = (3 * w->htcp.rate + w->cwnd) / 4;
		w->htcp.most = fmax(w->htcp.most, w->htcp.rate);
	}
}

static inline double htcp_more(struct window *w)
{
	double beyond = fmax(0, w->since - 1), scale = fmin(10, fmax(0.5, 0.1 / w->rtt));
	double factor = fmax(1, (1 + 10 * beyond + beyond * beyond / 4) / scale);

	htcp_measure(w);
	return 2 * (1 - w->htcp.beta) * factor;
}

/* --- a round trip -------------------------------------------------------- */

static const struct algorithm reno = { "reno", reno_left, reno_more };
static const struct algorithm cubic = { "cubic", cubic_left, cubic_more };
static const struct algorithm htcp = { "htcp", htcp_left, htcp_more };

static inline void window_begin(struct window *w, double p, double rtt)
{
	*w = (struct window) {
		.p = p, .rtt = rtt, .seed = 1, .cwnd = 10, .ssthresh = 10, .htcp.beta = 0.5,
		.cubic = { .max = 10, .origin = 10, .reno = 10 },
	};
	w->until = until_lost(&w->seed, p);
}

/* Segments that the round trip loses, of a window of @segs */
static inline uint32_t lost_of_round(struct window *w, double segs)
{
	uint32_t lost = 0;

	for (; w->until <= segs; lost++)
		w->until += until_lost(&w->seed, w->p);
	w->until -= segs;
	return lost;
}

/* Sends a window, and sets the next one; what it lost of that */
static inline uint32_t window_round(struct window *w, const struct algorithm *a)
{
	uint32_t lost = lost_of_round(w, floor(w->cwnd));

	if (lost) {
		w->ssthresh = fmax(2, floor(a->left(w)));
		w->cwnd = w->ssthresh;
		w->since = 0;
		return lost;
	}
	w->cwnd += a->more(w);
	w->since += w->rtt;
	return 0;
}

#endif

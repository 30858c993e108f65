/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How even a flow's rate is that loses much: whether chance could leave it so.  The model is in
 * judge.c.
 *
 * A cell is a second, or a round trip if that is longer: of each its time, and the segments that
 * were delivered and lost.  What is delivered is held against the rate of the cells before it.
 * A look has some segments more or less by where in a round trip it ends, and by BBR's rounds of
 * more and of less.  A second has no more of these, but 2.2 times (the root of five) the standard
 * deviation of chance.
 */
#ifndef CTCPD_DELIVERED_H
#define CTCPD_DELIVERED_H

#include "interval.h"

#define DELIVERED_CELL_US	1000000U

struct delivered {
	float rate;		/* segments/us, of late; 0 = not known */
	float segs, lost, us;	/* sums over all cells, for p and the queue */
	float queued;		/* sum of (rtt - its least) x us */
	float cells;		/* how many are near that rate; as all sums it shrinks by age */
	float squares;		/* sum over these: what is delivered less what the rate would, ^2 */
	float variance;		/* ... and what chance would have that vary by, segments^2 */
	float squares_vary;	/* ... and the variance of @squares by chance, segments^4 */
	uint32_t cell_us;	/* the cell that is being filled; an hour at most */
	uint32_t cell_segs;
	int32_t cell_lost : 28;	/* < 0 by a D-SACK for what an earlier one sent again */
	uint32_t far : 4;	/* cells in a row that are far from that rate */
};

struct delivered_say {
	double dispersion;	/* variance of what is delivered over what chance would leave; 1 */
	double even;		/* -ln of how likely chance puts it so far below; 0: it is not, or
				 * a queue makes it so
				 */
	double queue;		/* segments, the mean, by how far the round trip exceeds its least;
				 * HUGE_VAL: not known
				 */
};

/* @held: by something else than the network, or what it sent again may not have been lost */
void delivered_add(struct delivered *d, const struct interval *i, bool held);
void delivered_say(const struct delivered *d, struct delivered_say *say);

#endif

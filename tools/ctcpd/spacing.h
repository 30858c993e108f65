/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the losses of one flow are spaced: as chance would have them, in bursts, or more evenly.
 * The model is in judge.c.
 *
 * A cell is a time of a round trip or more, and of a given length or more, in which the flow
 * sent CELL_SEGS or more: of each the segments sent and those lost.
 */
#ifndef CTCPD_SPACING_H
#define CTCPD_SPACING_H

#include "interval.h"

/*
 * A retransmission follows its loss by a round trip: in a shorter time it would be counted
 * beside segments that it has nothing to do with.  A look, of 200 ms, makes a cell.
 */
#define CELL_LOOK_US	190000U
/*
 * What is even over the longer run is told from chance by three looks, where a recovery, or a
 * retransmission timeout, of 200 ms, hides it from one.
 */
#define CELL_THREE_US	580000U

struct spacing {
	double squares;			/* sum of lost² / segs, over the cells */
	double segs;			/* sum */
	float lost;			/* sum */
	float inverse;			/* sum of 1 / segs */
	float cells;			/* how many; as all of these it shrinks by age */
	uint32_t cell_us;		/* the cell that is being filled; an hour at most */
	uint32_t cell_segs, cell_lost;
};

struct spacing_say {
	double dispersion;	/* variance of a cell's losses over what chance would give; 1 */
	double bursty;		/* -ln of how likely chance puts it so far above 1, */
	double even;		/* ... and so far below; 0: it is not there */
};

/* @lost of the segments of @i; @least_us: of a cell */
void spacing_add(struct spacing *s, const struct interval *i, uint32_t lost, uint32_t least_us);
/*
 * -ln of how likely, at most, a sum whose mean is 1 and whose variance is 1 / @shape, as of squares
 * by chance, is no more than @dispersion
 */
double spacing_even(double dispersion, double shape);
void spacing_say(const struct spacing *s, struct spacing_say *say);

#endif

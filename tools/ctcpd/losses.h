/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the losses of one flow tell: whether they come independently of one another, and
 * whether they come at one window.  The model is in judge.c.
 *
 * A cell is a time of a round trip or more, and of CELL_US or more, in which the flow sent
 * CELL_SEGS or more: of each the segments sent and those lost.
 */
#ifndef CTCPD_LOSSES_H
#define CTCPD_LOSSES_H

#include "interval.h"
#include "series.h"

#define LOOK_MOST_US	1000000U	/* longer is a poll, in which much may happen */
#define INFINITE_SSTHRESH 0x7fffffffU	/* TCP_INFINITE_SSTHRESH: before the first loss */

struct losses {
	double squares;			/* sum of lost² / segs, over the cells */
	double segs;			/* sum */
	float lost;			/* sum */
	float inverse;			/* sum of 1 / segs */
	float cells;			/* how many; as all of these it shrinks by age */
	uint32_t cell_us;		/* the cell that is being filled; an hour at most */
	uint32_t cell_segs, cell_lost;
	struct series levels;		/* segments: ssthresh after a loss */
	uint32_t bursts : SERIES_MAX;	/* which of @levels met one, a bit for each place */
	uint32_t was_cut : 1;		/* the window, once */
	uint32_t since_cut : 10;	/* and for how long not since, 10 ms; ten seconds at most */
	uint32_t is_reno : 1;		/* its algorithm */
};

struct losses_say {
	double dispersion;	/* variance of a cell's losses over what chance would give; 1 */
	double z;		/* how many standard deviations that is from chance */
	double when;		/* -ln of how likely chance puts it so far from 1 */
	double response;	/* -ln of how likely chance allows such windows (response.h); 0:
				 * not known, or said of some of the losses
				 */
	uint32_t level;		/* segments, median of the windows at loss */
	double width;		/* of the narrowest range that has four of five, / level */
	double chance;		/* ln of how likely chance alone puts them so close, <= 0 */
	uint16_t levels;	/* how many of them */
	uint16_t bursts;	/* ... met a burst of losses */
	double burst_width;	/* of the narrowest range that has two of three of these */
};

uint32_t losses_of(const struct interval *i);
/* Losses that are none of an earlier recovery */
bool losses_begin(const struct interval *i);
/* Up to the first cut of a window that is cut by losses */
bool losses_in_startup(const struct interval *i);
void losses_add(struct losses *l, const struct interval *i);
void losses_say(const struct losses *l, struct losses_say *say);

#endif

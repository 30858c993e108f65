/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the losses of one flow tell: whether they come independently of one another, and
 * whether they come at one window.  The model is in judge.c.
 */
#ifndef CTCPD_LOSSES_H
#define CTCPD_LOSSES_H

#include "interval.h"
#include "series.h"
#include "spacing.h"

#define LOOK_MOST_US	1000000U	/* longer is a poll, in which much may happen */
#define INFINITE_SSTHRESH 0x7fffffffU	/* TCP_INFINITE_SSTHRESH: before the first loss */

struct losses {
	struct spacing looks;
	struct series levels;		/* segments: ssthresh after a loss, but at starts */
	uint32_t bursts : SERIES_MAX;	/* which of @levels met one, a bit for each place */
	uint32_t was_cut : 1;		/* the window, once */
	uint32_t since_cut : 10;	/* and for how long not since, 10 ms; ten seconds at most */
	uint32_t is_reno : 1;		/* its algorithm */
};

struct losses_say {
	struct spacing_say spacing;
	double even;		/* -ln of how likely chance spaces them so evenly, by look or by
				 * three (judge.c); 0: it does, or that is not known
				 */
	double response;	/* -ln of how likely chance allows such windows (response.h); 0:
				 * not known, or said of some of the losses
				 */
	double rate_dispersion;	/* delivered.h; 1: as chance leaves it, or not known */
	double even_rate;	/* ... and -ln of how likely chance has it; 0: it does, or that is
				 * not known
				 */
	double high;		/* -ln of how likely chance has so many of them where the window is
				 * largest (high.h); 0: it does, not known, or there is a queue
				 */
	double heavy;		/* -ln of how likely chance takes so large a part, in nearly each
				 * look, of such windows (heavy.h); 0: it does, or not known
				 */
	uint32_t level;		/* segments, median of the windows at loss */
	double width;		/* of the narrowest range that has four of five, / level */
	double chance;		/* ln of how likely chance alone puts them so close, <= 0 */
	uint16_t levels;	/* how many of them */
	uint16_t bursts;	/* ... met a burst of losses */
	double burst_width;	/* of the narrowest range that has two of three of these */
};

uint32_t losses_of(const struct interval *i);
/* In a recovery, by fast retransmit or by a timeout */
bool losses_in_recovery(const struct sample *s);
/* -ln of how likely chance, which takes @most, takes @lost, at most; 0: it may, or none is known */
double losses_beyond(double lost, double most);
/* Losses that are none of an earlier recovery */
bool losses_begin(const struct interval *i);
/* Up to the first cut of a window that is cut by losses */
bool losses_in_startup(const struct interval *i);
/* Short enough, and late enough, to tell at which window or rate it lost */
bool losses_is_look(const struct interval *i);
/* @at_start: @i is of a start (starts.h) */
void losses_add(struct losses *l, const struct interval *i, bool at_start);
void losses_say(const struct losses *l, struct losses_say *say);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How streams split a window: max-min fairness (Bertsekas and Gallager, "Data
 * Networks", 6.5.2)
 *
 *	idle	nothing to send or unacknowledged, or its peer takes nothing.
 *		Holds nothing.
 *	modest	needs less than its share: a control channel, a slow reader.
 *		Holds what it uses.
 *	hungry	would take more.  The hungry hold equal shares of the rest:
 *
 *			share = (window - shares of the modest) / hungry
 *
 *	waiting	hungry, and holds nothing, because others hold all of the window
 *		or there are more streams than segments.  Sends one segment at a
 *		time, in turn with the others that wait.
 *
 * Arithmetic alone: also compiled in user space, by its unit test.  Windows are
 * in segments, 1..2^26.
 */
#ifndef _CIRCUIT_SPLIT_H
#define _CIRCUIT_SPLIT_H

#include <linux/types.h>

#define SPLIT_SMALL	16U	/* segments: a need up to this is modest */
#define SPLIT_CUT	10U	/* a breaker leaves a tenth at most */
#define SPLIT_CUT_MOST	10U	/* segments that it leaves at most: RFC 6928's ten */

/*
 * The share of each of @hungry streams, or all that the modest leave if none is
 * hungry.  It is rounded up, so that all of the window is used; but rounded
 * down while streams are @waiting for a share, and then 0 if there are more
 * streams than segments.
 */
static inline u32 split_share(u32 window, u32 modest, u32 hungry, u32 waiting)
{
	u32 rest = window > modest ? window - modest : 0;
	u32 each = hungry > 1 ? rest / hungry : rest;

	if (!waiting && (!rest || (hungry > 1 && rest % hungry)))
		each++;
	return each;
}

/* How many of @want segments are left of @window when @total are held. */
static inline u32 split_left(u32 window, u32 total, u32 want)
{
	u32 left = window > total ? window - total : 0;

	return want < left ? want : left;
}

/*
 * The most that a stream may need and stay modest.  One that has @proved to be so
 * by what it had in flight may double what it holds.
 */
static inline u32 split_modest_most(u32 share, u32 held, bool proved)
{
	if (proved)
		return 2 * held;
	return share < SPLIT_SMALL ? share : SPLIT_SMALL;
}

/*
 * What a hungry stream keeps after it has used less than half of its @share for
 * a round trip: twice what it used, but at least SPLIT_SMALL segments or a
 * quarter of the share, whichever is less.  What it used is what was @delivered
 * in that round trip or what is @outstanding at its end, whichever is more; it
 * never had more outstanding than both together, which twice that covers.
 */
static inline u32 split_used(u32 share, u32 delivered, u32 outstanding)
{
	u32 used = delivered > outstanding ? delivered : outstanding;
	u32 least = share / 4 < SPLIT_SMALL ? share / 4 : SPLIT_SMALL;

	if (used > U32_MAX / 2)
		return U32_MAX;
	if (2 * used > least)
		return 2 * used;
	return least ? least : 1;
}

/*
 * ns from one turn of a stream that waits to the next, in a round trip of @rtt ns:
 * together they send what is left of @window beside the shares; a quarter of it at
 * least, so that newcomers need not wait for those who are about to give back.
 */
static inline u64 split_turn_gap(u64 rtt, u32 window, u32 shares)
{
	u32 left = window > shares ? window - shares : 0;
	u32 least = window / 4 + 1;

	return div64_u64(rtt, left > least ? left : least);
}

/* What a breaker leaves of a window. */
static inline u32 split_cut(u32 window)
{
	u32 cut = window / SPLIT_CUT;

	if (cut > SPLIT_CUT_MOST)
		cut = SPLIT_CUT_MOST;
	return cut ? cut : 1;
}

/*
 * A rate is split as the window is, so that all paces add up to the rate.  Each
 * modest stream gets an extra 64th of the rate: paced by its few segments
 * alone, it would hold its next one back for more than a round trip.  All
 * extras together are at most an eighth of what the hungry would have, but at
 * least a segment each.  The hungry share the rest equally; if there are none,
 * the modest share the whole rate.
 */
#define SPLIT_EXTRA		64U
#define SPLIT_EXTRA_ALL		8U

struct split {
	u32	window;		/* segments, at least 1 */
	u32	held;		/* of these, by the modest */
	u32	modest;		/* streams */
	u32	hungry;		/* streams */
};

/* Segments that each modest stream is paced for beyond those it holds */
static inline u32 split_extra(const struct split *p)
{
	u32 rest = p->window > p->held ? p->window - p->held : 0;
	u32 extra = p->window / SPLIT_EXTRA;

	if (p->modest && extra > rest / SPLIT_EXTRA_ALL / p->modest)
		extra = rest / SPLIT_EXTRA_ALL / p->modest;
	return extra ? extra : 1;
}

/* rate <= 2^37, share <= window <= 2^26: the product fits. */
static inline u64 split_rate_modest(u64 rate, const struct split *p, u32 share)
{
	u64 part = (u64)share + split_extra(p);
	u64 all = p->window;

	if (!p->hungry)
		all = (u64)p->held + (u64)p->modest * split_extra(p);
	if (part >= all)
		return rate;
	return div64_u64(rate * part, all);
}

/*
 * Equal, however much of the window has moved so far; except for a stream that still
 * holds more: the others do not have the window yet to use their pace.
 */
static inline u64 split_rate_hungry(u64 rate, const struct split *p, u32 share)
{
	u32 hungry = p->hungry ? p->hungry : 1;
	u64 taken = p->held + (u64)p->modest * split_extra(p);
	u64 rest = p->window > taken ? p->window - taken : 1;
	u64 equal = div64_u64(rate * rest, (u64)p->window * hungry);
	u64 part = div64_u64(rate * (share < p->window ? share : p->window),
			     p->window);

	if (share <= split_share(p->window, p->held, hungry, 0) + hungry)
		return equal;
	return part > equal ? part : equal;
}

#endif /* _CIRCUIT_SPLIT_H */

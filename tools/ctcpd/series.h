/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last values of something that was measured again and again, and how near to each
 * other most of them are.
 *
 * Near is told by most of them, so that a value out of line now and then, as after a timeout,
 * does not hide what the others have in common.
 */
#ifndef CTCPD_SERIES_H
#define CTCPD_SERIES_H

#include <stdint.h>

#define SERIES_MAX	20	/* values */

struct series {
	float list[SERIES_MAX];	/* a ring */
	uint16_t n;		/* of them; SERIES_MAX once it is full */
	uint16_t next;		/* where the next one goes */
};

void series_add(struct series *s, double value);
double series_median(const struct series *s);	/* 0: it is empty */
enum series_most { TWO_OF_THREE, FOUR_OF_FIVE };

/*
 * The narrowest range that has most of them, over the median, infinite where that is 0; 0:
 * fewer than two values
 */
double series_width(const struct series *s, enum series_most most);
/*
 * ln of how likely, at most, chance gives four of five, or more of them, or all, no wider a
 * range; of these the rarest.  Where it puts them most densely, @density of them lie within a
 * range as wide as their median.  Values are rounded to @step, so that 6 and 7 lie in a range
 * of two, and are taken to be no nearer than @least; both are of the median.
 */
double series_chance(const struct series *s, double density, double step, double least);

#endif

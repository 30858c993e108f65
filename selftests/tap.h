/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tap.h: a test program's points, as TAP on stdout
 *
 * Included by one file of a program: the counts are that file's own.
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_points, tap_failures;

/* @bad says what was wrong; it is empty when nothing was. */
static inline void tap_point(const char *what, const char *bad)
{
	tap_points++;
	if (*bad)
		tap_failures++;
	printf("%sok %d - %s\n", *bad ? "not " : "", tap_points, what);
	if (*bad)
		printf("# %s\n", bad);
	fflush(stdout);
}

/* Nothing can be tested any more; errno says why. */
static inline void tap_bail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The plan, and the program's exit status */
static inline int tap_finish(void)
{
	printf("1..%d\n", tap_points);
	return tap_failures || !tap_points;
}

#endif

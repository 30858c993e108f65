// SPDX-License-Identifier: GPL-2.0
/*
 * Words that are near each other: Damerau 1964, without moving a letter twice
 */
#include <stdbool.h>
#include <string.h>

#include "near.h"

#define NEAR_MAX 16	/* letters */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static unsigned int edits(const char *a, const char *b)
{
	unsigned int d[NEAR_MAX + 1][NEAR_MAX + 1], i, k;
	size_t na = strlen(a), nb = strlen(b);

	for (i = 0; i <= na; i++) {
		for (k = 0; k <= nb; k++) {
			if (!i || !k) {
				d[i][k] = i + k;
				continue;
			}
			d[i][k] = least(least(d[i - 1][k], d[i][k - 1]) + 1,
					d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	}
	return d[na][nb];
}

/* delete, del; but not what begins with one letter alike */
static bool begins_with(const char *a, const char *b)
{
	size_t n = strlen(b);

	return n > 1 && !strncmp(a, b, n);
}

unsigned int word_distance(const char *a, const char *b)
{
	if (strlen(a) > NEAR_MAX || strlen(b) > NEAR_MAX)
		return UINT_MAX;
	return begins_with(a, b) || begins_with(b, a) ? 1 : edits(a, b);
}

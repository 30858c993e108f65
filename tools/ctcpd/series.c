// SPDX-License-Identifier: GPL-2.0
/*
 * Values that were measured one after the other: see series.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "series.h"

void series_add(struct series *s, double value)
{
	s->list[s->next] = (float)value;
	s->next = (s->next + 1) % SERIES_MAX;
	if (s->n < SERIES_MAX)
		s->n++;
}

static int ascending(const void *a, const void *b)
{
	const float *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sorted(const struct series *s, float list[SERIES_MAX])
{
	memcpy(list, s->list, sizeof(s->list));
	qsort(list, s->n, sizeof(*list), ascending);
}

double series_median(const struct series *s)
{
	float list[SERIES_MAX];

	if (!s->n)
		return 0;
	sorted(s, list);
	return list[s->n / 2];
}

static unsigned int most_of(const struct series *s, enum series_most most)
{
	return s->n - s->n / (most == TWO_OF_THREE ? 3 : 5);
}

/* The narrowest range that has @k of @n, over the median; @list is sorted */
static double width_of(const float list[SERIES_MAX], unsigned int n, unsigned int k)
{
	double least = list[k - 1] - list[0];
	unsigned int i;

	for (i = 1; i + k <= n; i++)
		least = fmin(least, list[i + k - 1] - list[i]);
	return list[n / 2] > 0 ? least / list[n / 2] : HUGE_VAL;
}

double series_width(const struct series *s, enum series_most most)
{
	float list[SERIES_MAX];

	if (s->n < 2)
		return 0;
	sorted(s, list);
	return width_of(list, s->n, most_of(s, most));
}

/*
 * ln of how likely, at most, chance gives @k of @n values so @near: of all choices of k, and of
 * which of them is the least, each time the other k - 1 fall within the width of that one
 * (a bound as for scan statistics).
 */
static double chance_of(unsigned int n, unsigned int k, double near)
{
	double choices = lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + log(k);

	return choices + (k - 1) * log(near);
}

double series_chance(const struct series *s, double density, double step, double least)
{
	unsigned int n = s->n, first = most_of(s, FOUR_OF_FIVE), k;
	float list[SERIES_MAX];
	double chance = 0;

	if (n < 2)
		return 0;
	sorted(s, list);
	for (k = first; k <= n; k++) {
		double near = fmax(width_of(list, n, k) + step, least);

		chance = fmin(chance, chance_of(n, k, density * near));
	}
	/* the rarest of so many is that much less rare */
	return fmin(0, chance + log(n - first + 1.0));
}

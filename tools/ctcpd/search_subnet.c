// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts of a subnet that are held by one thing: see search.h.
 *
 * That they take alike is no proof: each may have a port of its own of that speed, and then
 * one class for all would hold them to a part of it.  So what they took together is asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "search.h"

static int by_rate(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Rates of those that are kept, in order; how many */
static uint32_t kept_rates(const struct search *const *hosts, uint32_t n, uint64_t *rates)
{
	uint32_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (hosts[i]->state == SEARCH_KEPT)
			rates[kept++] = hosts[i]->rate;
	qsort(rates, kept, sizeof(*rates), by_rate);
	return kept;
}

static bool is_near(uint64_t rate, uint64_t median)
{
	return rate >= median - median / 4 && rate <= median + median / 4;
}

static uint32_t count_near(const uint64_t *rates, uint32_t n, uint64_t median)
{
	uint32_t i, near = 0;

	for (i = 0; i < n; i++)
		near += is_near(rates[i], median);
	return near;
}

bool search_alike(const struct search *const *hosts, uint32_t n, uint64_t together,
		  uint64_t *rate)
{
	uint64_t *rates = calloc((size_t)n + 1, sizeof(*rates)), median;
	uint32_t kept, near;

	if (!rates)
		return false;
	kept = kept_rates(hosts, n, rates);
	median = kept ? rates[kept / 2] : 0;
	near = count_near(rates, kept, median);
	free(rates);
	if (near < SEARCH_ALIKE_MIN || (uint64_t)near * 3 < (uint64_t)kept * 2)
		return false;
	*rate = median;
	return together && together <= median + median / 10;
}

static void add_base(struct tally *to, const struct tally *from)
{
	to->n += from->n;
	to->us += from->us;
	to->acked += from->acked;
	to->segs += from->segs;
	to->retrans += from->retrans;
	to->best = from->best > to->best ? from->best : to->best;
}

/* Before pacing they had together what one of them had, and sent as much again. */
void search_begin_subnet(struct search *s, const struct search *const *hosts, uint32_t n,
			 uint64_t rate, int64_t now)
{
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->state = SEARCH_TRYING;
	s->rate = rate;
	s->step = rate / 20 + 1;
	s->settling = true;
	s->changes = 1;
	s->seen = now;
	s->counted = now;
	s->day = now;
	for (i = 0; i < n; i++) {
		const struct search *h = hosts[i];

		if (h->state == SEARCH_KEPT && is_near(h->rate, rate))
			add_base(&s->base, &h->base);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts of a subnet that are held by one thing: see search.h.
 *
 * That they take alike is no proof: each may have a port of its own of that speed, and then
 * one class for all would hold them to a part of it.  So what they took together is asked for.
 * Nor are those that show it all that there are: whoever has three of them can show what he likes.
 * So what the others were seen to take is a veto, and no rate is below it.
 */
#include <stdlib.h>
#include <string.h>

#include "search.h"

#define NO_WORSE	98U		/* percent */
#define FLOOR_S		(14 * 86400LL)	/* it has to show anew by then what it takes */

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

static bool is_tried(const struct search *const *hosts, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (hosts[i]->state == SEARCH_TRYING)
			return true;
	return false;
}

static uint64_t most_of(const uint64_t *rates, uint32_t n, uint64_t used)
{
	uint64_t most = n ? rates[n - 1] : 0;

	return used > most ? used : most;
}

bool search_alike(const struct search *const *hosts, uint32_t n, uint64_t together, uint64_t used,
		  uint64_t *rate)
{
	uint64_t *rates = calloc((size_t)n + 1, sizeof(*rates)), median, most;
	uint32_t kept, near;

	if (!rates)
		return false;
	kept = kept_rates(hosts, n, rates);
	median = kept ? rates[kept / 2] : 0;
	near = count_near(rates, kept, median);
	most = most_of(rates, kept, used);
	free(rates);
	if (near < SEARCH_ALIKE_MIN || (uint64_t)near * 3 < (uint64_t)kept * 2)
		return false;
	if (most > median + median / 10 || is_tried(hosts, n))
		return false;
	*rate = most;
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
	s->floor = rate / 100 * NO_WORSE;
	s->floor_until = now + FLOOR_S;
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

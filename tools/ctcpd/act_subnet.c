// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts of a subnet that are held by one thing: see search_alike().
 *
 * What several of them took at one time is that of the polls in which at least two were held by
 * the network, and none lost; the most of it is remembered, of the subnet.
 */
#include <stdlib.h>
#include <string.h>

#include "act_inside.h"
#include "grow.h"

#define CHECKS_MAX	16U	/* subnets that are looked at in one poll */

void act_active(struct act *a, struct acting *host, const struct observation *o)
{
	struct active_host *list;

	if (host->search.state != SEARCH_KEPT || host->search.rate != o->paced ||
	    !search_counts(o))
		return;
	list = grown(a->active, a->n_active, sizeof(*list));
	if (!list)
		return;
	a->active = list;
	list[a->n_active++] = (struct active_host){
		.host = host, .subnet = paced_subnet(&host->to),
		.rate = (uint64_t)((double)o->acked * 1e6 / (double)o->us),
		.lost = search_has_lost(&host->search, o->retrans, o->segs),
	};
}

static int by_subnet(const void *x, const void *y)
{
	const struct active_host *a = x, *b = y;

	if (a->host->ifindex != b->host->ifindex)
		return a->host->ifindex < b->host->ifindex ? -1 : 1;
	return prefix_compare(&a->subnet, &b->subnet);
}

static bool is_free(const struct acting *subnet, int64_t now)
{
	return !subnet->search.rate && (subnet->search.state != SEARCH_TAKEN_BACK ||
					now >= subnet->search.again);
}

/* *@hosts: searches that the subnet has there, freed by the caller; how many */
static uint32_t searches_of(struct act *a, const struct acting *subnet, int ifindex,
			    const struct search ***hosts)
{
	struct acting *e, *next;
	uint32_t n = 0;

	*hosts = calloc(a->table.all.n + 1, sizeof(**hosts));
	if (!*hosts)
		return 0;
	act_table_each(&a->table, e, next)
		if (!e->gone && e != subnet && e->ifindex == ifindex &&
		    prefix_holds(&subnet->to, &e->to))
			(*hosts)[n++] = &e->search;
	return n;
}

static void begin(struct act *a, struct acting *subnet, const struct acting *host,
		  const struct search *const *hosts, uint32_t n, uint64_t rate, int64_t now)
{
	const struct search was = subnet->search;

	search_begin_subnet(&subnet->search, hosts, n, rate, now);
	subnet->search.failures = was.failures;
	subnet->ifindex = host->ifindex;
	memcpy(subnet->dev, host->dev, sizeof(subnet->dev));
	subnet->rtt_us = host->rtt_us;
	if (act_want_subnet(a, subnet)) {
		subnet->search = was;
		return;
	}
	subnet->reason = SEARCH_OVERRUN;
	subnet->since = now;
	subnet->dirty = true;
}

static void check(struct act *a, struct acting *subnet, const struct acting *host, int64_t now)
{
	const struct search **hosts;
	uint32_t n = searches_of(a, subnet, host->ifindex, &hosts);
	uint64_t rate;

	if (hosts && search_alike(hosts, n, subnet->together, &rate))
		begin(a, subnet, host, hosts, n, rate, now);
	free(hosts);
}

/* @n of one subnet; whether it was looked at closely */
static bool together(struct act *a, const struct active_host *list, uint32_t n, int64_t now)
{
	uint64_t sum = 0, most = 0;
	struct acting *subnet;
	bool lost = false;
	uint32_t i;

	for (i = 0; i < n; i++) {
		sum += list[i].rate;
		lost |= list[i].lost;
		if (list[i].host->search.rate > most)
			most = list[i].host->search.rate;
	}
	if (n < 2 || lost)
		return false;
	subnet = act_table_add(&a->table, &list[0].subnet, now);
	if (!subnet || !is_free(subnet, now))
		return false;
	subnet->search.seen = now;
	if (sum > subnet->together)
		subnet->together = sum;
	/* search_alike() takes no more than a tenth above the median */
	if (subnet->together > most + most / 10)
		return false;
	check(a, subnet, list[0].host, now);
	return true;
}

void act_merge(struct act *a, int64_t now)
{
	uint32_t i, n, checks = 0;

	if (a->n_active > 1)
		qsort(a->active, a->n_active, sizeof(*a->active), by_subnet);
	for (i = 0; i < a->n_active && checks < CHECKS_MAX; i += n) {
		for (n = 1; i + n < a->n_active && !by_subnet(&a->active[i], &a->active[i + n]);)
			n++;
		checks += together(a, &a->active[i], n, now);
	}
	free(a->active);
	a->active = NULL;
	a->n_active = 0;
}

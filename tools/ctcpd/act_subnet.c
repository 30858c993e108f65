// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts of a subnet that are held by one thing: see search_alike().
 *
 * What several of them took at one time is that of the polls in which at least two were held by
 * the network, and none lost; the most of it is remembered, of the subnet.
 *
 * Of the others in the subnet, of which there is no search that paces them, what they took without
 * loss within USED_S, as remotes that are there and visits of the history have it, is a veto.  One
 * that has no rate of its own, and has data to send for nine tenths of a poll, ends it: within
 * three polls of its coming.
 */
#include <stdlib.h>
#include <string.h>

#include "act_inside.h"
#include "act_observe.h"
#include "grow.h"

#define CHECKS_MAX	16U	/* subnets that are looked at in one poll */
#define USED_S		(14 * 86400LL)

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

/* --- the others ----------------------------------------------------------- */

static bool is_one_of_them(const struct act *a, const struct prefix *addr)
{
	const struct acting *e = act_table_find(&a->table, addr);

	return e && e->search.rate;
}

bool act_is_stranger(const struct act *a, const struct remote *r, const struct observation *o)
{
	return search_is_held(o) && !is_one_of_them(a, &r->addr);
}

struct using {
	const struct act *act;
	const struct acting *subnet;
	uint64_t most;		/* bytes/s */
};

static void uses(struct using *u, const struct prefix *addr, const struct judgement *j)
{
	uint64_t rate;

	if (j->verdict == VERDICT_UNKNOWN || j->verdict == VERDICT_OVERRUN ||
	    j->verdict == VERDICT_LOSS || !prefix_holds(&u->subnet->to, addr) ||
	    is_one_of_them(u->act, addr))
		return;
	rate = act_on_wire(addr, j, j->best_rate);
	if (rate > u->most)
		u->most = rate;
}

static int used_now(struct remote *r, void *data)
{
	uses(data, &r->addr, &r->now);
	return 0;
}

static int used_before(const struct visit *v, void *data)
{
	uses(data, &v->remote, &v->judgement);
	return 0;
}

/* bytes/s: the most that one of them took; a history that cannot be read has none */
static uint64_t used_by_others(struct act *a, struct remotes *rs, const struct acting *subnet,
			       int64_t now)
{
	struct using u = { .act = a, .subnet = subnet };
	struct err unsaid;

	remotes_each(rs, used_now, &u);
	keep_each(a->keep, &subnet->to, now - USED_S, used_before, &u, &unsaid);
	return u.most;
}

/* --- as one --------------------------------------------------------------- */

static void begin(struct act *a, struct acting *subnet, const struct acting *host,
		  const struct search *const *hosts, uint32_t n, uint64_t rate, int64_t now)
{
	const struct search was = subnet->search;

	search_begin_subnet(&subnet->search, hosts, n, rate, now);
	subnet->search.failures = was.failures;
	subnet->ifindex = host->ifindex;
	act_note_force(a, subnet);
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

/* It is looked for in the history, which takes a while: not with each poll */
static void refuse(struct acting *subnet, int64_t now)
{
	struct decision d;

	search_veto(&subnet->search, now, &d);
	subnet->reason = d.reason;
	subnet->since = now;
	subnet->dirty = true;
}

static void check(struct act *a, struct remotes *rs, struct acting *subnet,
		  const struct acting *host, int64_t now)
{
	const struct search **hosts;
	uint32_t n = searches_of(a, subnet, host->ifindex, &hosts);
	uint64_t rate;

	if (hosts && search_alike(hosts, n, subnet->together, 0, &rate)) {
		if (search_alike(hosts, n, subnet->together,
				 used_by_others(a, rs, subnet, now), &rate))
			begin(a, subnet, host, hosts, n, rate, now);
		else
			refuse(subnet, now);
	}
	free(hosts);
}

/* @n of one subnet; whether it was looked at closely */
static bool together(struct act *a, struct remotes *rs, const struct active_host *list,
		     uint32_t n, int64_t now)
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
	check(a, rs, subnet, list[0].host, now);
	return true;
}

void act_merge(struct act *a, struct remotes *rs, int64_t now)
{
	uint32_t i, n, checks = 0;

	if (a->n_active > 1)
		qsort(a->active, a->n_active, sizeof(*a->active), by_subnet);
	for (i = 0; i < a->n_active && checks < CHECKS_MAX; i += n) {
		for (n = 1; i + n < a->n_active && !by_subnet(&a->active[i], &a->active[i + n]);)
			n++;
		checks += together(a, rs, &a->active[i], n, now);
	}
	free(a->active);
	a->active = NULL;
	a->n_active = 0;
}

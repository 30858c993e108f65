// SPDX-License-Identifier: GPL-2.0
/*
 * The set of what is paced: see paced.h.
 *
 * A sorted list: 4096 entries of 48 bytes move within microseconds, and a change of one
 * costs the kernel far more than that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "paced.h"
#include "units.h"

void paced_free(struct paced *p)
{
	free(p->list);
	memset(p, 0, sizeof(*p));
}

static int make_room(struct paced *p, uint32_t n)
{
	struct pace *list;

	if (n <= p->room)
		return 0;
	list = realloc(p->list, (n + 16) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	p->list = list;
	p->room = n + 16;
	return 0;
}

int paced_copy(struct paced *to, const struct paced *from)
{
	int rc = make_room(to, from->n);

	if (rc)
		return rc;
	if (from->n)
		memcpy(to->list, from->list, from->n * sizeof(*from->list));
	to->n = from->n;
	return 0;
}

static int compare(int ifindex, const struct prefix *to, const struct pace *other)
{
	if (ifindex != other->ifindex)
		return ifindex < other->ifindex ? -1 : 1;
	return prefix_compare(to, &other->to);
}

/* The first that is not before it */
static uint32_t place_of(const struct paced *p, int ifindex, const struct prefix *to)
{
	uint32_t low = 0, high = p->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(ifindex, to, &p->list[middle]) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct paced *p, uint32_t at, int ifindex, const struct prefix *to)
{
	return at < p->n && !compare(ifindex, to, &p->list[at]);
}

static bool holds_at(const struct paced *p, uint32_t at, int ifindex, const struct prefix *to)
{
	return at < p->n && p->list[at].ifindex == ifindex &&
	       prefix_holds(&p->list[at].to, to);
}

/* As none holds another, it is the last that begins before it, or at its own address. */
const struct pace *paced_find(const struct paced *p, int ifindex, const struct prefix *addr)
{
	uint32_t at = place_of(p, ifindex, addr);

	if (holds_at(p, at, ifindex, addr))
		return &p->list[at];
	return at && holds_at(p, at - 1, ifindex, addr) ? &p->list[at - 1] : NULL;
}

const struct pace *paced_get(const struct paced *p, int ifindex, const struct prefix *to)
{
	uint32_t at = place_of(p, ifindex, to);

	return is_at(p, at, ifindex, to) ? &p->list[at] : NULL;
}

static bool is_pace(const struct pace *one)
{
	return one->to.family && one->ifindex > 0 && one->rate >= RATE_MIN &&
	       one->rate <= RATE_MAX;
}

/* What it holds stands right behind where it would. */
static bool overlaps(const struct paced *p, uint32_t at, const struct pace *one)
{
	if (paced_find(p, one->ifindex, &one->to))
		return true;
	return at < p->n && p->list[at].ifindex == one->ifindex &&
	       prefix_holds(&one->to, &p->list[at].to);
}

int paced_set(struct paced *p, const struct pace *one)
{
	uint32_t at;

	if (!is_pace(one))
		return -EINVAL;
	at = place_of(p, one->ifindex, &one->to);
	if (is_at(p, at, one->ifindex, &one->to)) {
		p->list[at] = *one;
		return 0;
	}
	if (overlaps(p, at, one))
		return -EEXIST;
	if (p->n == PACED_MAX)
		return -ENOSPC;
	if (make_room(p, p->n + 1))
		return -ENOMEM;
	memmove(&p->list[at + 1], &p->list[at], (p->n - at) * sizeof(*p->list));
	p->list[at] = *one;
	p->n++;
	return 0;
}

/* @n from @at on go. */
static void cut(struct paced *p, uint32_t at, uint32_t n)
{
	if (!n)
		return;
	memmove(&p->list[at], &p->list[at + n], (p->n - at - n) * sizeof(*p->list));
	p->n -= n;
}

bool paced_clear(struct paced *p, int ifindex, const struct prefix *to)
{
	uint32_t at = place_of(p, ifindex, to);
	bool there = is_at(p, at, ifindex, to);

	cut(p, at, there);
	return there;
}

void paced_clear_device(struct paced *p, int ifindex)
{
	uint32_t i = 0, n = 0;

	while (i < p->n && p->list[i].ifindex != ifindex)
		i++;
	while (i + n < p->n && p->list[i + n].ifindex == ifindex)
		n++;
	cut(p, i, n);
}

/* --- subnets --------------------------------------------------------------- */

/* Networks are told apart by these lengths mostly; a remote's true one nobody tells. */
struct prefix paced_subnet(const struct prefix *host)
{
	struct prefix subnet = *host;
	unsigned int len = host->family == AF_INET ? MERGE_IP4 : MERGE_IP6;

	if (subnet.len > len)
		prefix_cut(&subnet, len);
	return subnet;
}

/* Those that a prefix holds stand together, from *@at on. */
static uint32_t count_held(const struct paced *p, int ifindex, const struct prefix *by,
			   uint32_t *at)
{
	uint32_t n = 0;

	*at = place_of(p, ifindex, by);
	while (*at + n < p->n && p->list[*at + n].ifindex == ifindex &&
	       prefix_holds(by, &p->list[*at + n].to))
		n++;
	return n;
}

int paced_merge(struct paced *p, const struct pace *one)
{
	uint32_t at, n;

	if (!is_pace(one))
		return -EINVAL;
	n = count_held(p, one->ifindex, &one->to, &at);
	if (n < MERGE_HOSTS)
		return -EPERM;
	p->list[at] = *one;
	cut(p, at + 1, n - 1);
	return 0;
}

static int check_hosts(const struct prefix *subnet, int ifindex, const struct pace *hosts,
		       uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (hosts[i].ifindex != ifindex || !prefix_holds(subnet, &hosts[i].to) ||
		    !is_pace(&hosts[i]))
			return -EINVAL;
	return 0;
}

int paced_split(struct paced *p, int ifindex, const struct prefix *subnet,
		const struct pace *hosts, uint32_t n)
{
	struct paced next = { 0 };
	uint32_t i;
	int rc = check_hosts(subnet, ifindex, hosts, n);

	if (rc)
		return rc;
	if (!paced_get(p, ifindex, subnet))
		return -ENOENT;
	rc = paced_copy(&next, p);
	if (!rc)
		paced_clear(&next, ifindex, subnet);
	for (i = 0; i < n && !rc; i++)
		rc = paced_set(&next, &hosts[i]);
	if (rc) {
		paced_free(&next);
		return rc;
	}
	paced_free(p);
	*p = next;
	return 0;
}

/* --- from one to another ---------------------------------------------------- */

struct step {
	struct pace *list;
	uint32_t n, most;
};

static void add(struct step *s, const struct pace *one, uint64_t rate)
{
	if (s->n == s->most)
		return;
	s->list[s->n] = *one;
	s->list[s->n++].rate = rate;
}

int paced_step(const struct paced *now, const struct paced *then, uint32_t most,
	       struct pace **list, uint32_t *n)
{
	uint32_t i, room = now->n + then->n;
	struct step s = { .most = most < room ? most : room };

	*list = NULL;
	*n = 0;
	s.list = calloc(s.most + 1, sizeof(*s.list));
	if (!s.list)
		return -ENOMEM;
	for (i = 0; i < now->n; i++)
		if (!paced_get(then, now->list[i].ifindex, &now->list[i].to))
			add(&s, &now->list[i], 0);
	for (i = 0; i < then->n; i++) {
		const struct pace *one = &then->list[i];
		const struct pace *was = paced_get(now, one->ifindex, &one->to);

		if (!was || was->rate != one->rate)
			add(&s, one, one->rate);
	}
	*list = s.list;
	*n = s.n;
	return 0;
}

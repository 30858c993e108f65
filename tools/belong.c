// SPDX-License-Identifier: GPL-2.0
/*
 * Longest match over the circuits that were dumped: see belong.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "belong.h"

#define WITH_MARK	1U
#define WITH_DEVICE	2U

static int by_number(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *a, const void *b)
{
	const struct belong_rule *p = a, *q = b;

	return by_number((uint32_t)p->to.family, (uint32_t)q->to.family) ?:
	       by_number(p->to.len, q->to.len) ?:
	       memcmp(p->to.addr, q->to.addr, sizeof(p->to.addr)) ?:
	       by_number(p->ifindex, q->ifindex) ?: by_number(p->mark, q->mark);
}

static unsigned int shape_of(const struct belong_rule *r)
{
	return r->to.len << 2 | (r->ifindex ? WITH_DEVICE : 0) | (r->mark ? WITH_MARK : 0);
}

static void add(struct rules *rs, const struct prefix *to, const struct live *l)
{
	struct belong_rule *r = &rs->list[rs->n++];

	*r = (struct belong_rule){ *to, l->ifindex, l->object.mark, l };
	rs->used[to->family == AF_INET6][shape_of(r)] = true;
	rs->by_device |= !!l->ifindex;
}

static size_t count_prefixes(const struct lives *ls)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < ls->n; i++)
		n += ls->list[i].object.n;
	return n;
}

/* @ls must live as long; what it has of automatic circuits does not count. */
int rules_make(struct rules *rs, const struct lives *ls)
{
	uint32_t i, k;

	memset(rs, 0, sizeof(*rs));
	rs->list = calloc(count_prefixes(ls) + 1, sizeof(*rs->list));
	if (!rs->list)
		return -ENOMEM;
	for (i = 0; i < ls->n; i++)
		for (k = 0; !ls->list[i].no_object && k < ls->list[i].object.n; k++)
			add(rs, &ls->list[i].object.prefixes[k], &ls->list[i]);
	qsort(rs->list, rs->n, sizeof(*rs->list), compare);
	return 0;
}

void rules_free(struct rules *rs)
{
	free(rs->list);
	memset(rs, 0, sizeof(*rs));
}

/* What a rule of this shape must be; false: the connection has no such selector. */
static bool project(const struct belong_rule *peer, unsigned int shape, struct belong_rule *key)
{
	*key = *peer;
	prefix_cut(&key->to, shape >> 2);
	if (!(shape & WITH_DEVICE))
		key->ifindex = 0;
	if (!(shape & WITH_MARK))
		key->mark = 0;
	return shape_of(key) == shape;
}

/* NULL: none.  @ifindex: of the device by which it leaves, 0 = not known */
const struct live *rules_match(const struct rules *rs, const struct prefix *peer,
			       uint32_t ifindex, uint32_t mark)
{
	const struct belong_rule whole = { *peer, ifindex, mark, NULL };
	const bool *used = rs->used[peer->family == AF_INET6];
	const struct belong_rule *found = NULL;
	unsigned int shape = (peer->len + 1) << 2;
	struct belong_rule key;

	while (!found && shape--)
		if (used[shape] && project(&whole, shape, &key))
			found = bsearch(&key, rs->list, rs->n, sizeof(key), compare);
	return found ? found->circuit : NULL;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * All searches that there are: see pacings.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

#include "pacings.h"

static int add(const struct pacing *p, void *data)
{
	struct pacings *ps = data;
	struct pacing *more = grown(ps->list, ps->n, sizeof(*p));

	if (!more)
		return -ENOMEM;
	ps->list = more;
	ps->list[ps->n++] = *p;
	ps->of[p->search->state]++;
	ps->would += !p->rate && p->would;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct pacing *x = a, *y = b;

	return prefix_compare(&x->to, &y->to);
}

int pacings_make(struct pacings *ps, const struct act *act)
{
	int rc;

	memset(ps, 0, sizeof(*ps));
	rc = act ? act_each(act, add, ps) : 0;
	if (rc)
		pacings_free(ps);
	else if (ps->n)
		qsort(ps->list, ps->n, sizeof(*ps->list), by_address);
	return rc;
}

void pacings_keep_paced(struct pacings *ps)
{
	uint32_t i, n = 0;

	for (i = 0; i < ps->n; i++)
		if (ps->list[i].rate)
			ps->list[n++] = ps->list[i];
	ps->n = n;
}

void pacings_free(struct pacings *ps)
{
	free(ps->list);
	memset(ps, 0, sizeof(*ps));
}

bool pacing_is_host(const struct pacing *p)
{
	return p->to.len == (p->to.family == AF_INET ? 32 : 128);
}

const char *pacing_name(const struct pacing *p, char buf[PACING_NAME])
{
	if (pacing_is_host(p))
		return format_addr(buf, PACING_NAME, &p->to);
	return format_prefix(buf, PACING_NAME, &p->to);
}

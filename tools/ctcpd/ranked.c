// SPDX-License-Identifier: GPL-2.0
/*
 * The remotes by what they were sent: see ranked.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

#include "ranked.h"

static int add(struct remote *r, void *data)
{
	struct ranked *l = data;
	struct remote **more = grown(l->list, l->n, sizeof(struct remote *));

	if (!more)
		return -ENOMEM;
	l->list = more;
	l->list[l->n++] = r;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct remote *x = *(struct remote * const *)a, *y = *(struct remote * const *)b;

	if (x->now.acked != y->now.acked)
		return x->now.acked < y->now.acked ? 1 : -1;
	return prefix_compare(&x->addr, &y->addr);
}

int ranked_make(struct ranked *l, struct remotes *rs)
{
	int rc;

	memset(l, 0, sizeof(*l));
	rc = remotes_each(rs, add, l);
	if (rc)
		ranked_free(l);
	else if (l->n)
		qsort(l->list, l->n, sizeof(struct remote *), compare);
	return rc;
}

void ranked_free(struct ranked *l)
{
	free(l->list);
	memset(l, 0, sizeof(*l));
}

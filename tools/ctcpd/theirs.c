// SPDX-License-Identifier: GPL-2.0
/*
 * What administrators have: see theirs.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "store.h"
#include "theirs.h"

/* --- in order ------------------------------------------------------------- */

static bool *used_of(struct theirs *t, const struct prefix *p)
{
	return t->used[p->family != AF_INET];
}

static int claim(struct theirs *t, const struct prefix *list, uint32_t n, const struct claim *as)
{
	struct claim *more;
	uint32_t i;

	for (i = 0; i < n; i++) {
		more = grown(t->claims, t->n_claims, sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->claims = more;
		more[t->n_claims] = *as;
		more[t->n_claims++].to = list[i];
		used_of(t, &list[i])[list[i].len] = true;
	}
	return 0;
}

/* In the state those of one device are beside each other. */
static int claim_device(struct theirs *t, const struct member *m)
{
	const struct member *last = t->n_devices ? t->devices[t->n_devices - 1] : NULL;
	const struct member **more;

	if (last && last->ifindex == m->ifindex && !strcmp(last->circuit.dev, m->circuit.dev))
		return 0;
	more = grown(t->devices, t->n_devices, sizeof(const struct member *));
	if (!more)
		return -ENOMEM;
	t->devices = more;
	more[t->n_devices++] = m;
	return 0;
}

static int claim_member(struct theirs *t, const struct member *m)
{
	const struct claim as = { .circuit = m->circuit.name };

	if (m->circuit.ctcpd)
		return 0;
	return claim_device(t, m) ?: claim(t, m->circuit.to, m->circuit.n_to, &as);
}

/* One that connections share of themselves is nobody's, and theirs are no sockets of ours. */
static int claim_live(struct theirs *t, const struct live *l)
{
	const struct claim as = {
		.circuit = l->object.name, .ifindex = l->ifindex, .module = true,
	};

	return l->no_object ? 0 : claim(t, l->object.prefixes, l->object.n, &as);
}

static int by_prefix(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	return prefix_compare(&x->to, &y->to);
}

int theirs_sort(struct theirs *t)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < t->state.n_circuits && !rc; i++)
		rc = claim_member(t, &t->state.circuits[i]);
	for (i = 0; i < t->lives.n && !rc; i++)
		rc = claim_live(t, &t->lives.list[i]);
	if (t->n_claims)
		qsort(t->claims, t->n_claims, sizeof(*t->claims), by_prefix);
	return rc;
}

/* --- read ----------------------------------------------------------------- */

static int read_state(struct state *st, struct err *e)
{
	struct store s;
	int rc = store_open(&s, e);

	if (!rc)
		rc = store_read(&s, st, e);
	store_close(&s);
	return rc;
}

int theirs_read(struct theirs *t, struct err *e)
{
	int rc;

	memset(t, 0, sizeof(*t));
	rc = read_state(&t->state, e);
	if (!rc)
		rc = lives_read(&t->lives, e);
	if (!rc || rc == -EPROTONOSUPPORT)
		rc = theirs_sort(t) ? err_set(e, -ENOMEM, "out of memory") : 0;
	if (rc)
		theirs_free(t);
	return rc;
}

void theirs_free(struct theirs *t)
{
	state_free(&t->state);
	lives_free(&t->lives);
	free(t->claims);
	free(t->devices);
	memset(t, 0, sizeof(*t));
}

/* --- whose ---------------------------------------------------------------- */

static const struct member *device_of(const struct theirs *t, int ifindex, const char *dev)
{
	uint32_t i;

	for (i = 0; i < t->n_devices; i++)
		if (t->devices[i]->ifindex == ifindex || !strcmp(t->devices[i]->circuit.dev, dev))
			return t->devices[i];
	return NULL;
}

/* The first that is not before it */
static uint32_t find(const struct theirs *t, const struct prefix *to)
{
	uint32_t low = 0, high = t->n_claims, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (prefix_compare(&t->claims[mid].to, to) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Of those in @in, by that device; in order they are beside each other */
static const struct claim *part_of(const struct theirs *t, const struct prefix *in, int ifindex)
{
	uint32_t i;

	for (i = find(t, in); i < t->n_claims && prefix_holds(in, &t->claims[i].to); i++)
		if (!t->claims[i].ifindex || t->claims[i].ifindex == (uint32_t)ifindex)
			return &t->claims[i];
	return NULL;
}

/* Of those that are just @to, which may be several: by device */
static const struct claim *just(const struct theirs *t, const struct prefix *to, int ifindex)
{
	uint32_t i;

	for (i = find(t, to); i < t->n_claims && prefix_equal(to, &t->claims[i].to); i++)
		if (!t->claims[i].ifindex || t->claims[i].ifindex == (uint32_t)ifindex)
			return &t->claims[i];
	return NULL;
}

static const struct claim *claim_of(const struct theirs *t, const struct pace *one)
{
	const bool *used = t->used[one->to.family != AF_INET];
	const struct claim *c = NULL;
	unsigned int len;

	for (len = 0; len < one->to.len && !c; len++) {
		struct prefix whole = one->to;

		if (!used[len])
			continue;
		prefix_cut(&whole, len);
		c = just(t, &whole, one->ifindex);
	}
	return c ?: part_of(t, &one->to, one->ifindex);
}

/* Of a subnet he may have a part. */
static int refuse(const struct claim *c, const struct prefix *to, struct err *e)
{
	const char *part = prefix_holds(&c->to, to) ? "" : "a part of ";
	bool host = to->len == (to->family == AF_INET ? 32U : 128U);
	char text[64];

	return err_set(e, -EPERM, "circuit %s, which %s, covers %s%s", c->circuit,
		       c->module ? "is set up in the module" : "an administrator set up", part,
		       host ? format_addr(text, sizeof(text), to) :
			      format_prefix(text, sizeof(text), to));
}

int theirs_check(const struct theirs *t, const struct pace *one, const char *dev, bool *device,
		 struct err *e)
{
	const struct member *m = device_of(t, one->ifindex, dev);
	const struct claim *c;

	*device = m;
	if (m)
		return err_set(e, -EPERM, "%s has circuit %s, which an administrator set up", dev,
			       m->circuit.name);
	c = claim_of(t, one);
	return c ? refuse(c, &one->to, e) : 0;
}

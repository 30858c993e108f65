// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of this host, as advice needs them: see places.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "link.h"
#include "out.h"
#include "qdisc.h"
#include "sysctl.h"
#include "units.h"

#include "places.h"

struct device {
	char name[IFNAMSIZ];
	bool there;
	char qdisc[16];		/* the kind of its root, "" = not known */
	uint64_t rate;		/* bytes/s, 0 = not known */
};

static uint32_t read_tcp_wmem(void)
{
	char value[ITEM_VALUE];
	struct err unused;
	unsigned int most;

	if (sysctl_get("net.ipv4.tcp_wmem", value, &unused) ||
	    sscanf(value, "%*u %*u %u", &most) != 1)
		return 0;
	return most;
}

void places_open(struct places *ps)
{
	struct err unused;

	memset(ps, 0, sizeof(*ps));
	ps->open = !nlm_open(&ps->nl, NETLINK_ROUTE, &unused);
	ps->tcp_wmem = read_tcp_wmem();
}

void places_close(struct places *ps)
{
	if (ps->open)
		nlm_close(&ps->nl);
	free(ps->list);
	memset(ps, 0, sizeof(*ps));
}

static const char *kind(const struct qdisc *q)
{
	switch (q->state) {
	case QDISC_TBF:
		return "tbf";
	case QDISC_FQ:
		return "fq";
	case QDISC_MQ:
	case QDISC_UNFINISHED:
		return "mq";
	case QDISC_HTB:
		return "htb";
	default:
		return q->kind;
	}
}

static void read_device(struct places *ps, struct device *d)
{
	struct err unused;
	struct facts f;
	struct qdisc q;

	if (!ps->open || facts_read(&ps->nl, d->name, &f, &unused))
		return;
	d->there = true;
	d->rate = f.speed_mbit * MBIT;
	if (!qdisc_read(&ps->nl, f.ifindex, &q, NULL, &unused))
		out_copy(d->qdisc, sizeof(d->qdisc), kind(&q));
}

/* NULL: no memory */
static const struct device *find(struct places *ps, const char *name)
{
	struct device *more;
	uint32_t i;

	for (i = 0; i < ps->n; i++)
		if (!strcmp(ps->list[i].name, name))
			return &ps->list[i];
	more = grown(ps->list, ps->n, sizeof(*more));
	if (!more)
		return NULL;
	ps->list = more;
	more += ps->n++;
	memset(more, 0, sizeof(*more));
	out_copy(more->name, sizeof(more->name), name);
	read_device(ps, more);
	return more;
}

void places_fill(struct places *ps, const char *dev, struct place *p)
{
	const struct device *d = *dev ? find(ps, dev) : NULL;

	p->tcp_wmem = ps->tcp_wmem;
	if (!d || !d->there)
		return;
	out_copy(p->dev, sizeof(p->dev), d->name);
	out_copy(p->qdisc, sizeof(p->qdisc), d->qdisc);
	p->rate = d->rate;
}

const char *places_device(uint32_t ifindex, char dev[IFNAMSIZ])
{
	if (!ifindex || !if_indextoname(ifindex, dev))
		dev[0] = 0;
	return dev;
}

void place_remote(struct place *p, const struct prefix *addr, const char *algorithm,
		  uint32_t flows)
{
	format_addr(p->remote, sizeof(p->remote), addr);
	out_copy(p->algorithm, sizeof(p->algorithm), algorithm);
	p->flows = flows;
}

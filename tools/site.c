// SPDX-License-Identifier: GPL-2.0
/*
 * What the choice of a shaper needs to know of a device, and the choice: see site.h.
 */
#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "guarantee.h"
#include "kmod.h"
#include "link.h"
#include "order.h"
#include "qdisc.h"
#include "site.h"

/* --- the device ------------------------------------------------------------ */

struct queues {
	int ifindex;
	uint32_t n, fq;		/* qdiscs below the root, and of them fq */
};

static int on_queue(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	struct queues *queues = data;
	const struct nlattr *attr;
	char kind[16] = "";

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*tcm) ||
	    tcm->tcm_ifindex != queues->ifindex || tcm->tcm_parent == TC_H_ROOT ||
	    tcm->tcm_parent == TC_H_INGRESS)
		return MNL_CB_OK;
	queues->n++;
	mnl_attr_for_each(attr, nlh, sizeof(*tcm))
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind_get(attr, kind);
	queues->fq += !strcmp(kind, "fq");
	return MNL_CB_OK;
}

static int read_queues(struct nl *nl, int ifindex, struct site *s, struct err *e)
{
	struct queues queues = { .ifindex = ifindex };
	union nl_request req = { 0 };
	int rc = nlm_dump(nl, qdisc_message(&req, RTM_GETQDISC, ifindex, 0, 0, NULL), on_queue,
			  &queues, e);

	s->fq = queues.n && queues.fq == queues.n;
	return rc;
}

static int read_root(struct nl *nl, int ifindex, struct site *s, struct err *e)
{
	struct qdisc q;
	int rc = qdisc_read(nl, ifindex, &q, NULL, e);

	if (rc)
		return rc;
	memcpy(s->root, q.kind, sizeof(s->root));
	s->foreign = q.state == QDISC_FOREIGN;
	s->fq = !strcmp(s->root, "fq");
	return strcmp(s->root, "mq") ? 0 : read_queues(nl, ifindex, s, e);
}

/* But for its circuits, and whether classes are known, which is asked when they are. */
static int site_read(struct nl *nl, const char *dev, struct site *s, struct err *e)
{
	struct facts f;
	int rc = facts_read(nl, dev, &f, e);

	memset(s, 0, sizeof(*s));
	if (rc)
		return rc;
	memcpy(s->dev, f.dev, sizeof(s->dev));
	s->vlan = !strcmp(f.kind, "vlan");
	s->tx_queues = f.tx_queues;
	s->speed_mbit = f.speed_mbit;
	return read_root(nl, f.ifindex, s, e);
}

/* Where a choice may depend on it alone: libkmod reads its indexes for each answer. */
static void read_classes(struct site *s)
{
	if (s->tx_queues == 1 && s->circuits > 1 && !s->in_classes && !s->unshaped)
		s->classes = module_is_known("sch_htb") && module_is_known("cls_flower");
}

/* --- the choice ------------------------------------------------------------ */

/* The daemon's give way to whichever is chosen for. */
static bool is_counted(const struct member *m)
{
	return m->standing != REMOVING && !m->circuit.ctcpd;
}

static void count_standing(struct site *s, const struct state *st, const char *dev)
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++)
		if (is_counted(&st->circuits[i]) && !strcmp(st->circuits[i].circuit.dev, dev))
			site_count(s, &st->circuits[i].circuit);
}

/* Once for each device, as the circuits of one stand together in most files. */
static void say(struct chosen *chosen, const struct circuit *c, const struct choice *choice)
{
	if (strcmp(chosen->dev, c->dev) || chosen->choice.shaper != choice->shaper)
		note(&chosen->notes, "%s: %s, %s", c->dev, shaper_name(choice->shaper),
		     choice->reason);
	memcpy(chosen->dev, c->dev, sizeof(chosen->dev));
	chosen->choice = *choice;
}

static int check_chosen(struct circuit *c, const struct site *s, struct chosen *chosen,
			struct err *e)
{
	struct err why = { "" };
	struct choice choice;

	choose_shaper(s, c, &choice);
	c->shaper = choice.shaper;
	c->pace = choice.pace;
	say(chosen, c, &choice);
	if (circuit_check(c, &why))
		return err_set(e, -EINVAL, "%.350s, which is chosen: %s", why.text, choice.reason);
	return 0;
}

/* What cannot be told of a device is no error here: that it is not there is said later. */
static void not_chosen(struct circuit *c)
{
	c->shaper = SHAPER_NONE;
	c->pace = !circuit_is_htcp(c);
}

/* @c joins those of @st. */
int site_choose_one(struct nl *nl, const struct state *st, struct circuit *c,
		    struct chosen *chosen, struct err *e)
{
	struct err unused = { "" };
	struct site s;

	if (c->shaper != SHAPER_AUTO)
		return 0;
	if (site_read(nl, c->dev, &s, &unused)) {
		not_chosen(c);
		return 0;
	}
	count_standing(&s, st, c->dev);
	site_count(&s, c);
	read_classes(&s);
	return check_chosen(c, &s, chosen, e);
}

/* Of each device of a list, where many are counted */
static void count_on(struct site *s, const struct order *devices, const char *dev)
{
	uint32_t i = order_device(devices, dev);
	const struct member *m;

	for (; (m = order_on(devices, i, dev)); i++)
		if (is_counted(m))
			site_count(s, &m->circuit);
}

static int choose_all(struct nl *nl, const struct order *there, const struct order *coming,
		      struct state *wanted, struct chosen *chosen, struct err *e)
{
	struct err unused = { "" };
	struct site s = { .dev = "" };
	uint32_t i;
	int rc = 0, known = 0;

	for (i = 0; i < wanted->n_circuits && !rc; i++) {
		struct circuit *c = &wanted->circuits[i].circuit;

		if (wanted->circuits[i].standing == REMOVING || c->shaper != SHAPER_AUTO)
			continue;
		if (strcmp(s.dev, c->dev)) {
			known = !site_read(nl, c->dev, &s, &unused);
			memcpy(s.dev, c->dev, sizeof(s.dev));
			count_on(&s, there, c->dev);
			count_on(&s, coming, c->dev);
			read_classes(&s);
		}
		if (known)
			rc = check_chosen(c, &s, chosen, e);
		else
			not_chosen(c);
	}
	return rc;
}

/* Of a file's circuits those that are to be added, REMOVING else. */
int site_choose_all(struct nl *nl, const struct state *st, struct state *wanted,
		    struct chosen *chosen, struct err *e)
{
	struct order there = { 0 }, coming = { 0 };
	int rc = order_by_device(&there, st) ?: order_by_device(&coming, wanted);

	if (rc)
		err_set(e, rc, "out of memory");
	else
		rc = choose_all(nl, &there, &coming, wanted, chosen, e);
	order_free(&there);
	order_free(&coming);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The root qdisc of a device: read, compared, written.
 *
 * A qdisc with handle 0: is what the kernel attached by itself and deleting
 * ours brings it back; any other handle than ours belongs to somebody.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "htb.h"
#include "qdisc.h"
#include "lacks.h"
#include "units.h"

#define CTCP_TCA_STATS_PKT64 8	/* 5.5; linux/gen_stats.h may be older */

static void fq_format(const struct qdisc *q, char *buf, size_t len)
{
	snprintf(buf, len, "fq maxrate %u limit %u flow_limit %u", q->maxrate, q->limit,
		 q->flow_limit);
}

void qdisc_format(const struct qdisc *q, char *buf, size_t len)
{
	char fq[96];

	switch (q->state) {
	case QDISC_DEFAULT:
		snprintf(buf, len, "default");
		break;
	case QDISC_TBF:
		snprintf(buf, len, "tbf rate %" PRIu64 " %s %u limit %u", q->rate,
			 q->burst ? "burst" : "ticks", q->burst ? q->burst : q->ticks, q->limit);
		break;
	case QDISC_FQ:
		fq_format(q, buf, len);
		break;
	case QDISC_MQ:
		fq_format(q, fq, sizeof(fq));
		snprintf(buf, len, "mq queues %u %s", q->queues, fq);
		break;
	case QDISC_UNFINISHED:
		snprintf(buf, len, "mq unfinished");
		break;
	case QDISC_HTB:
		snprintf(buf, len, "htb default %x", q->defcls);
		break;
	case QDISC_FOREIGN:
		snprintf(buf, len, "foreign %s %x:", q->kind, q->handle >> 16);
		break;
	}
}

static bool parse_tbf(const char *text, struct qdisc *q)
{
	char unit[8];
	uint32_t bucket;

	if (sscanf(text, "tbf rate %" SCNu64 " %7s %u limit %u", &q->rate, unit, &bucket,
		   &q->limit) != 4)
		return false;
	q->state = QDISC_TBF;
	if (!strcmp(unit, "burst"))
		q->burst = bucket;
	else
		q->ticks = bucket;
	return true;
}

static bool parse_fq(const char *text, struct qdisc *q)
{
	if (sscanf(text, "mq queues %u fq maxrate %u limit %u flow_limit %u", &q->queues,
		   &q->maxrate, &q->limit, &q->flow_limit) == 4)
		q->state = QDISC_MQ;
	else if (sscanf(text, "fq maxrate %u limit %u flow_limit %u", &q->maxrate, &q->limit,
			&q->flow_limit) == 3)
		q->state = QDISC_FQ;
	else
		return false;
	return true;
}

int qdisc_parse(const char *text, struct qdisc *q)
{
	memset(q, 0, sizeof(*q));
	if (!strcmp(text, "default"))
		q->state = QDISC_DEFAULT;
	else if (!strcmp(text, "mq unfinished"))
		q->state = QDISC_UNFINISHED;
	else if (sscanf(text, "htb default %x", &q->defcls) == 1)
		q->state = QDISC_HTB;
	else if (sscanf(text, "foreign %15s %x:", q->kind, &q->handle) == 2)
		q->state = QDISC_FOREIGN;
	else if (!parse_tbf(text, q) && !parse_fq(text, q))
		return -EINVAL;
	if (q->state == QDISC_FOREIGN)
		q->handle <<= 16;
	return 0;
}

/* For a person: rates in bit/s as everywhere, sizes with their unit. */
void qdisc_text_describe(const char *text, char *buf, size_t len)
{
	char rate[32];
	struct qdisc q;

	snprintf(buf, len, "%s", text);
	if (qdisc_parse(text, &q))
		return;
	if (q.state == QDISC_TBF) {
		double burst = q.burst ?: (double)q.ticks * TICK_NS * (double)q.rate / 1e9;

		snprintf(buf, len, "tbf rate %s burst %.0f limit %u bytes",
			 format_rate(rate, sizeof(rate), q.rate), burst, q.limit);
	} else if (q.state == QDISC_FQ || q.state == QDISC_MQ) {
		snprintf(buf, len, "%sfq, each stream %s, %u packets each, %u in all",
			 q.state == QDISC_MQ ? "mq of " : "",
			 q.maxrate == UINT32_MAX ? "as paced" :
			 format_rate(rate, sizeof(rate), q.maxrate), q.flow_limit, q.limit);
	}
}

/*
 * Rate and limit to the unit; the bucket to one tick, and for long ones to the
 * 28 bits that the kernel's multiply-and-shift is good for.
 */
static bool tbf_equal(const struct qdisc *a, const struct qdisc *b)
{
	uint32_t ta = a->burst ? tbf_ticks(a->rate, a->burst) : a->ticks;
	uint32_t tb = b->burst ? tbf_ticks(b->rate, b->burst) : b->ticks;
	uint32_t apart = ta > tb ? ta - tb : tb - ta;

	if (a->rate != b->rate || a->limit != b->limit)
		return false;
	if (a->burst && b->burst)
		return a->burst == b->burst;
	return apart <= 1 + (ta >> 28);
}

bool qdisc_text_equal(const char *a, const char *b)
{
	struct qdisc qa, qb;

	if (qdisc_parse(a, &qa) || qdisc_parse(b, &qb) || qa.state != qb.state)
		return false;
	if (qa.state == QDISC_TBF)
		return tbf_equal(&qa, &qb);
	return !strcmp(a, b);
}

struct read_state {
	int ifindex;
	struct qdisc *root;
	struct qdisc_stats *stats;
	bool seen;		/* there is one at the root */
	uint32_t classes;	/* qdiscs under our mq */
	uint32_t matching;	/* of them, fq like the first */
	struct qdisc child;
};

/* One word, as the state has it; that of an unknown kind is as it was. */
void kind_get(const struct nlattr *attr, char kind[16])
{
	char *c;

	if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) || !*mnl_attr_get_str(attr))
		return;
	snprintf(kind, 16, "%s", mnl_attr_get_str(attr));
	for (c = kind; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '?';
}

void stats_get(const struct nlattr *nest, struct qdisc_stats *s)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		const void *p = mnl_attr_get_payload(attr);
		size_t len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) == TCA_STATS_BASIC &&
		    len >= sizeof(struct gnet_stats_basic)) {
			struct gnet_stats_basic basic;

			memcpy(&basic, p, sizeof(basic));
			s->bytes = basic.bytes;
			s->packets = basic.packets;
		} else if (mnl_attr_get_type(attr) == CTCP_TCA_STATS_PKT64 &&
			   len >= sizeof(s->packets)) {
			/* after the other, and only where 32 bits are too few */
			memcpy(&s->packets, p, sizeof(s->packets));
		} else if (mnl_attr_get_type(attr) == TCA_STATS_QUEUE &&
			   len >= sizeof(struct gnet_stats_queue)) {
			const struct gnet_stats_queue *queue = p;

			s->drops = queue->drops;
			s->overlimits = queue->overlimits;
			s->backlog = queue->backlog;
			s->qlen = queue->qlen;
		}
	}
}

static void read_root(const struct tcmsg *tcm, const char *kind,
		      const struct nlattr *options, struct qdisc *q)
{
	snprintf(q->kind, sizeof(q->kind), "%s", kind);
	q->handle = tcm->tcm_handle;
	if (!tcm->tcm_handle) {
		q->state = QDISC_DEFAULT;
	} else if (tcm->tcm_handle == OUR_HANDLE && !strcmp(kind, "tbf") && options) {
		q->state = QDISC_TBF;
		tbf_get(options, q);
	} else if (tcm->tcm_handle == OUR_HANDLE && !strcmp(kind, "fq") && options) {
		q->state = QDISC_FQ;
		fq_get(options, q);
	} else if (tcm->tcm_handle == OUR_HANDLE && !strcmp(kind, "htb") && options) {
		q->state = QDISC_HTB;
		htb_get(options, q);
	} else if (tcm->tcm_handle == OUR_HANDLE && !strcmp(kind, "mq")) {
		q->state = QDISC_UNFINISHED;
	} else {
		q->state = QDISC_FOREIGN;
	}
}

static void read_child(const char *kind, const struct nlattr *options,
		       struct read_state *st)
{
	struct qdisc q = { 0 };

	st->classes++;
	if (strcmp(kind, "fq") || !options)
		return;
	fq_get(options, &q);
	if (!st->matching)
		st->child = q;
	if (q.limit == st->child.limit && q.maxrate == st->child.maxrate &&
	    q.flow_limit == st->child.flow_limit)
		st->matching++;
}

static int on_qdisc(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *options = NULL, *stats = NULL;
	struct read_state *st = data;
	char kind[16] = "?";

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*tcm) || tcm->tcm_ifindex != st->ifindex)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(*tcm)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind_get(attr, kind);
		else if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			options = attr;
		else if (mnl_attr_get_type(attr) == TCA_STATS2)
			stats = attr;
	}
	if (tcm->tcm_parent == TC_H_ROOT) {
		st->seen = true;
		read_root(tcm, kind, options, st->root);
		if (stats && st->stats)
			stats_get(stats, st->stats);
	} else if (TC_H_MAJ(tcm->tcm_parent) == OUR_HANDLE) {
		read_child(kind, options, st);
	}
	return MNL_CB_OK;
}

struct nlmsghdr *qdisc_message(void *buf, int type, int ifindex,
			       uint32_t parent, uint32_t handle, const char *kind)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct tcmsg *tcm;

	nlh->nlmsg_type = (uint16_t)type;
	tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));
	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = ifindex;
	tcm->tcm_parent = parent;
	tcm->tcm_handle = handle;
	if (kind)
		mnl_attr_put_strz(nlh, TCA_KIND, kind);
	return nlh;
}

/*
 * The root alone, whatever there is below it and on other devices.  Kernels before 6.9
 * answer with a notification, which comes to who asks for an echo.
 */
static int ask_root(struct nl *nl, struct read_state *st, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = qdisc_message(&req, RTM_GETQDISC, st->ifindex, TC_H_ROOT, 0, NULL);

	nlh->nlmsg_flags = NLM_F_ECHO;
	return nlm_get(nl, nlh, on_qdisc, st, e);
}

static int ask_all(struct nl *nl, struct read_state *st, struct err *e)
{
	union nl_request req = { 0 };

	return nlm_dump(nl, qdisc_message(&req, RTM_GETQDISC, st->ifindex, 0, 0, NULL), on_qdisc,
			st, e);
}

/* @stats may be NULL.  A device without any root qdisc is down: the default. */
int qdisc_read(struct nl *nl, int ifindex, struct qdisc *q,
	       struct qdisc_stats *stats, struct err *e)
{
	struct read_state st = { .ifindex = ifindex, .root = q, .stats = stats };
	int rc;

	memset(q, 0, sizeof(*q));
	if (stats)
		memset(stats, 0, sizeof(*stats));
	rc = ask_root(nl, &st, e);
	/* of an mq its queues matter, too; and not every root is told of alone */
	if (rc == -ENOENT || rc == -EINVAL ||
	    (!rc && (!st.seen || q->state == QDISC_UNFINISHED)))
		rc = ask_all(nl, &st, e);
	if (rc)
		return rc;
	if (q->state == QDISC_UNFINISHED && st.classes && st.matching == st.classes) {
		q->state = QDISC_MQ;
		q->queues = st.classes;
		q->limit = st.child.limit;
		q->maxrate = st.child.maxrate;
		q->flow_limit = st.child.flow_limit;
	}
	return 0;
}

static const char *our_kind(enum qdisc_state state)
{
	switch (state) {
	case QDISC_TBF:
		return "tbf";
	case QDISC_FQ:
		return "fq";
	case QDISC_HTB:
		return "htb";
	case QDISC_MQ:
	case QDISC_UNFINISHED:
		return "mq";
	default:
		return "";
	}
}

static int send_qdisc(struct nl *nl, struct nlmsghdr *nlh,
		      void (*put)(struct nlmsghdr *nlh, const struct qdisc *q),
		      const struct qdisc *q, struct err *e)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	struct nlattr *nest;
	int rc;

	nlh->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
	if (put) {
		nest = mnl_attr_nest_start(nlh, TCA_OPTIONS);
		put(nlh, q);
		mnl_attr_nest_end(nlh, nest);
	}
	rc = nlm_talk(nl, nlh, e);
	/* below a root, it may be that which is gone */
	return q && tcm->tcm_parent == TC_H_ROOT ?
	       lacks_kind(rc, LACKS_QDISC, our_kind(q->state), e) : rc;
}

static int write_mq(struct nl *nl, int ifindex, const struct qdisc *q, bool have,
		    struct err *e)
{
	union nl_request req = { 0 };
	uint32_t i;
	int rc = 0;

	if (!have)
		rc = send_qdisc(nl, qdisc_message(&req, RTM_NEWQDISC, ifindex, TC_H_ROOT,
						  OUR_HANDLE, "mq"), NULL, NULL, e);
	for (i = 1; i <= q->queues && !rc; i++)
		rc = send_qdisc(nl, qdisc_message(&req, RTM_NEWQDISC, ifindex, OUR_HANDLE | i,
						  (OUR_MAJOR + i) << 16, "fq"), fq_put, q, e);
	return rc;
}

static int delete_root(struct nl *nl, int ifindex, struct err *e)
{
	union nl_request req = { 0 };

	return nlm_talk(nl, qdisc_message(&req, RTM_DELQDISC, ifindex, TC_H_ROOT, 0, NULL), e);
}

/* htb is what it was made as: its default class cannot be changed (sch_htb.c). */
static bool in_place(const struct qdisc *now, const struct qdisc *q)
{
	return our_kind(now->state)[0] && !strcmp(our_kind(now->state), our_kind(q->state)) &&
	       (q->state != QDISC_HTB || now->defcls == q->defcls);
}

static int write_htb(struct nl *nl, int ifindex, const struct qdisc *q, bool have,
		     struct err *e)
{
	union nl_request req = { 0 };

	return have ? 0 : send_qdisc(nl, qdisc_message(&req, RTM_NEWQDISC, ifindex, TC_H_ROOT,
						       OUR_HANDLE, "htb"), htb_put, q, e);
}

/*
 * One of the same kind is changed in place and keeps its packets; one of
 * another kind has to go first, since a handle cannot change its kind.
 */
int qdisc_write(struct nl *nl, int ifindex, const struct qdisc *q, struct err *e)
{
	union nl_request req = { 0 };
	struct qdisc now;
	bool same;
	int rc;

	rc = qdisc_read(nl, ifindex, &now, NULL, e);
	same = in_place(&now, q);
	if (!rc && now.state != QDISC_DEFAULT && !same)
		rc = delete_root(nl, ifindex, e);
	if (rc)
		return rc;
	switch (q->state) {
	case QDISC_DEFAULT:
		return 0;
	case QDISC_TBF:
		return send_qdisc(nl, qdisc_message(&req, RTM_NEWQDISC, ifindex, TC_H_ROOT,
						    OUR_HANDLE, "tbf"), tbf_put, q, e);
	case QDISC_FQ:
		return send_qdisc(nl, qdisc_message(&req, RTM_NEWQDISC, ifindex, TC_H_ROOT,
						    OUR_HANDLE, "fq"), fq_put, q, e);
	case QDISC_HTB:
		return write_htb(nl, ifindex, q, same, e);
	case QDISC_MQ:
		return write_mq(nl, ifindex, q, same, e);
	default:
		return err_set(e, -EINVAL, "not a qdisc of ours");
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The root htb, its classes and the bfifo below each: see htb.h.
 *
 * net/sched/sch_htb.c: the rate comes from TCA_HTB_RATE64 where it passes 32 bits, so
 * does ceil; the link layer is said to be Ethernet, for which no rate table is needed
 * (tc sends one for kernels before 3.8).  The buckets are in ticks alone.  A class that
 * is there is changed in place and keeps its queue (htb_change_class()), and so does
 * its bfifo.  With a quantum of its own nothing is derived from r2q.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "htb.h"
#include "out.h"
#include "units.h"

#define HTB_VERSION	3	/* of the kernel's, since 2.6 */
#define HTB_R2Q		10	/* tc's default, of no effect here */

/* --- names and text -------------------------------------------------------- */

/* "c7c0:1" */
void classid_put(struct out *o, uint32_t minor)
{
	out_hex(o, OUR_MAJOR);
	out_bytes(o, ":", 1);
	out_hex(o, minor);
}

char *class_name(char *buf, size_t len, const char *dev, uint32_t minor)
{
	struct out o = out_to(buf, len);

	out_text(&o, dev);
	out_bytes(&o, " ", 1);
	classid_put(&o, minor);
	return buf;
}

/* Up to four digits; what stands behind them */
static const char *take_hex(const char *s, uint32_t *n)
{
	int i;

	*n = 0;
	for (i = 0; i < 4 && isxdigit((unsigned char)*s); i++, s++)
		*n = *n << 4 | (uint32_t)(*s <= '9' ? *s - '0' : (*s | ' ') - 'a' + 10);
	return s;
}

/* Of "eth1 c7c0:1", or of "c7c0:1". */
int class_minor(const char *name, uint32_t *minor)
{
	const char *blank = strchr(name, ' ');
	uint32_t major;

	name = blank ? blank + 1 : name;
	name = take_hex(name, &major);
	if (major != OUR_MAJOR || *name++ != ':')
		return -EINVAL;
	name = take_hex(name, minor);
	return *name || !*minor ? -EINVAL : 0;
}

/*
 * A number of 16 bits for each class's qdisc, as its class's: but that of c7c0:c7c0
 * would be the root's own.  ffff: is left, where ingress and clsact are if there is one
 * of them: then the kernel refuses the circuit of that class, the 51,136th.
 */
uint32_t class_leaf_handle(uint32_t minor)
{
	return (minor == OUR_MAJOR ? 0xffffU : minor) << 16;
}

void class_format(const struct htb_class *c, char *buf, size_t len)
{
	struct out o = out_to(buf, len);

	switch (c->state) {
	case CLASS_ABSENT:
		snprintf(buf, len, "absent");
		break;
	case CLASS_UNFINISHED:
		snprintf(buf, len, "unfinished");
		break;
	case CLASS_OTHER:
		snprintf(buf, len, "other rate %" PRIu64 " ceil %" PRIu64 " quantum %u leaf %s",
			 c->rate, c->ceil, c->quantum, c->leaf[0] ? c->leaf : "none");
		break;
	case CLASS_OURS:
		out_pair(&o, "rate ", c->rate);
		out_pair(&o, c->burst ? " burst " : " ticks ", c->burst ?: c->ticks);
		out_pair(&o, " quantum ", c->quantum);
		out_pair_unless_0(&o, " limit ", c->limit);
	}
}

static int parse_ours(const char *text, struct htb_class *c)
{
	char unit[8];
	uint32_t bucket;
	int end = 0;

	if (sscanf(text, "rate %" SCNu64 " %7s %u quantum %u%n", &c->rate, unit, &bucket,
		   &c->quantum, &end) != 4)
		return -EINVAL;
	if (text[end] && sscanf(text + end, " limit %u", &c->limit) != 1)
		return -EINVAL;
	c->state = CLASS_OURS;
	c->ceil = c->rate;
	if (!strcmp(unit, "burst"))
		c->burst = bucket;
	else
		c->ticks = bucket;
	return 0;
}

int class_parse(const char *text, struct htb_class *c)
{
	memset(c, 0, sizeof(*c));
	if (!strcmp(text, "absent"))
		return 0;
	if (!strcmp(text, "unfinished")) {
		c->state = CLASS_UNFINISHED;
		return 0;
	}
	if (sscanf(text, "other rate %" SCNu64 " ceil %" SCNu64 " quantum %u leaf %15s", &c->rate,
		   &c->ceil, &c->quantum, c->leaf) == 4) {
		c->state = CLASS_OTHER;
		return 0;
	}
	return parse_ours(text, c);
}

static uint32_t bucket_ticks(const struct htb_class *c)
{
	return c->burst ? tbf_ticks(c->rate, c->burst) : c->ticks;
}

bool class_text_equal(const char *a, const char *b)
{
	struct htb_class ca, cb;

	if (class_parse(a, &ca) || class_parse(b, &cb) || ca.state != cb.state)
		return false;
	if (ca.state != CLASS_OURS)
		return !strcmp(a, b);
	if (ca.burst && cb.burst && ca.burst != cb.burst)
		return false;
	return ca.rate == cb.rate && ca.quantum == cb.quantum && ca.limit == cb.limit &&
	       bucket_ticks(&ca) == bucket_ticks(&cb);
}

/* For a person: rates in bit/s as everywhere. */
void class_text_describe(const char *text, char *buf, size_t len)
{
	char rate[32], limit[32] = "";
	struct htb_class c;
	double burst;

	snprintf(buf, len, "%s", text);
	if (class_parse(text, &c) || (c.state != CLASS_OURS && c.state != CLASS_OTHER))
		return;
	format_rate(rate, sizeof(rate), c.rate);
	if (c.state == CLASS_OTHER) {
		char ceil[32];

		snprintf(buf, len, "rate %s ceil %s quantum %u with %s", rate,
			 format_rate(ceil, sizeof(ceil), c.ceil), c.quantum, c.leaf);
		return;
	}
	if (c.limit)
		snprintf(limit, sizeof(limit), " limit %u", c.limit);
	burst = c.burst ?: (double)c.ticks * TICK_NS * (double)c.rate / 1e9;
	snprintf(buf, len, "rate %s burst %.0f quantum %u%s bytes", rate, burst, c.quantum, limit);
}

/* --- messages -------------------------------------------------------------- */

void htb_put(struct nlmsghdr *nlh, const struct qdisc *q)
{
	const struct tc_htb_glob glob = {
		.version = HTB_VERSION,
		.rate2quantum = HTB_R2Q,
		.defcls = q->defcls,
	};

	mnl_attr_put(nlh, TCA_HTB_INIT, sizeof(glob), &glob);
}

void htb_get(const struct nlattr *options, struct qdisc *q)
{
	const struct tc_htb_glob *glob;
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, options) {
		if (mnl_attr_get_type(attr) != TCA_HTB_INIT ||
		    mnl_attr_get_payload_len(attr) < sizeof(*glob))
			continue;
		glob = mnl_attr_get_payload(attr);
		q->defcls = glob->defcls;
	}
}

struct nlmsghdr *class_message(void *buf, int type, int ifindex, uint32_t minor)
{
	return qdisc_message(buf, type, ifindex, OUR_HANDLE, OUR_HANDLE | minor, "htb");
}

struct nlmsghdr *leaf_message(void *buf, int type, int ifindex, uint32_t minor)
{
	return qdisc_message(buf, type, ifindex, OUR_HANDLE | minor,
			     type == RTM_GETQDISC ? 0 : class_leaf_handle(minor),
			     type == RTM_GETQDISC ? NULL : "bfifo");
}

static void put_rate(struct tc_ratespec *spec, uint64_t rate)
{
	spec->linklayer = TC_LINKLAYER_ETHERNET;
	spec->rate = rate > UINT32_MAX ? UINT32_MAX : (uint32_t)rate;
}

void class_put(struct nlmsghdr *nlh, const struct htb_class *c)
{
	struct tc_htb_opt opt = {
		.buffer = bucket_ticks(c),
		.cbuffer = bucket_ticks(c),
		.quantum = c->quantum,
	};
	struct nlattr *nest = mnl_attr_nest_start(nlh, TCA_OPTIONS);

	put_rate(&opt.rate, c->rate);
	put_rate(&opt.ceil, c->rate);
	if (c->rate > UINT32_MAX) {
		mnl_attr_put_u64(nlh, TCA_HTB_RATE64, c->rate);
		mnl_attr_put_u64(nlh, TCA_HTB_CEIL64, c->rate);
	}
	mnl_attr_put(nlh, TCA_HTB_PARMS, sizeof(opt), &opt);
	mnl_attr_nest_end(nlh, nest);
}

void leaf_put(struct nlmsghdr *nlh, uint32_t limit)
{
	const struct tc_fifo_qopt opt = { .limit = limit };

	mnl_attr_put(nlh, TCA_OPTIONS, sizeof(opt), &opt);
}

/* --- read ------------------------------------------------------------------ */

struct class_found {
	struct htb_class *c;
	struct qdisc_stats *stats;
	uint32_t leaf;		/* handle of what is below it, 0 = the kernel's own */
	bool plain;		/* nothing but what we set */
};

static void get_parms(const struct tc_htb_opt *opt, struct class_found *found)
{
	struct htb_class *c = found->c;

	if (!c->rate)
		c->rate = opt->rate.rate;
	if (!c->ceil)
		c->ceil = opt->ceil.rate;
	c->ticks = opt->buffer;
	c->quantum = opt->quantum;
	found->plain = opt->cbuffer == opt->buffer && !opt->prio && !opt->rate.overhead &&
		       !opt->ceil.overhead && !opt->rate.mpu && !opt->ceil.mpu && !opt->level;
}

static void get_options(const struct nlattr *options, struct class_found *found)
{
	const struct nlattr *attr, *parms = NULL;

	mnl_attr_for_each_nested(attr, options) {
		if (mnl_attr_get_type(attr) == TCA_HTB_RATE64 &&
		    !mnl_attr_validate(attr, MNL_TYPE_U64))
			found->c->rate = mnl_attr_get_u64(attr);
		else if (mnl_attr_get_type(attr) == TCA_HTB_CEIL64 &&
			 !mnl_attr_validate(attr, MNL_TYPE_U64))
			found->c->ceil = mnl_attr_get_u64(attr);
		else if (mnl_attr_get_type(attr) == TCA_HTB_PARMS &&
			 mnl_attr_get_payload_len(attr) >= sizeof(struct tc_htb_opt))
			parms = attr;
	}
	if (parms)
		get_parms(mnl_attr_get_payload(parms), found);
}

/* The root of a tbf has a class for every minor (net/sched/sch_tbf.c: tbf_find()). */
static bool is_htb(const struct nlmsghdr *nlh)
{
	const struct nlattr *attr;
	char kind[16] = "";

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct tcmsg))
		return false;
	mnl_attr_for_each(attr, nlh, sizeof(struct tcmsg))
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind_get(attr, kind);
	return !strcmp(kind, "htb");
}

static int on_class(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	struct class_found *found = data;
	const struct nlattr *attr;

	if (!is_htb(nlh))
		return MNL_CB_OK;
	found->c->state = CLASS_OURS;
	found->leaf = tcm->tcm_info;
	mnl_attr_for_each(attr, nlh, sizeof(*tcm)) {
		if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			get_options(attr, found);
		else if (mnl_attr_get_type(attr) == TCA_STATS2 && found->stats)
			stats_get(attr, found->stats);
	}
	return MNL_CB_OK;
}

static int on_leaf(const struct nlmsghdr *nlh, void *data)
{
	struct htb_class *c = data;
	const struct nlattr *attr, *options = NULL;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct tcmsg))
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(struct tcmsg)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind_get(attr, c->leaf);
		else if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			options = attr;
	}
	if (options && mnl_attr_get_payload_len(options) >= sizeof(struct tc_fifo_qopt))
		c->limit = ((struct tc_fifo_qopt *)mnl_attr_get_payload(options))->limit;
	return MNL_CB_OK;
}

/* Kernels before 6.9 answer with a notification, which comes to who asks for an echo. */
static int get_one(struct nl *nl, struct nlmsghdr *nlh, mnl_cb_t each, void *data,
		   struct err *e)
{
	nlh->nlmsg_flags = NLM_F_ECHO;
	return nlm_get(nl, nlh, each, data, e);
}

/* What is below it is known, where there is something. */
static void judge_class(const struct class_found *found, uint32_t minor)
{
	struct htb_class *c = found->c;

	if (minor != CLASS_REST && !found->leaf)
		c->state = CLASS_UNFINISHED;
	else if (minor != CLASS_REST &&
		 (found->leaf != class_leaf_handle(minor) || strcmp(c->leaf, "bfifo")))
		c->state = CLASS_OTHER;
	if (!found->plain || c->rate != c->ceil)
		c->state = CLASS_OTHER;
}

/* Without a root of ours, or one that has no classes, there is none. */
static bool is_absent(int rc)
{
	return rc == -ENOENT || rc == -EINVAL;
}

/* @stats may be NULL.  One class and what is below it, whatever others there are. */
int class_read(struct nl *nl, int ifindex, uint32_t minor, struct htb_class *c,
	       struct qdisc_stats *stats, struct err *e)
{
	struct class_found found = { .c = c, .stats = stats };
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = class_message(&req, RTM_GETTCLASS, ifindex, minor);
	int rc;

	memset(c, 0, sizeof(*c));
	rc = get_one(nl, nlh, on_class, &found, e);
	if (is_absent(rc))
		return 0;
	if (rc || c->state == CLASS_ABSENT)
		return rc;
	if (minor != CLASS_REST && found.leaf)
		rc = get_one(nl, leaf_message(&req, RTM_GETQDISC, ifindex, minor), on_leaf, c,
			     e);
	judge_class(&found, minor);
	return rc;
}

/* What is below each class, by its minor */
struct leaf {
	bool known;
	char kind[16];
	uint32_t limit;
};

struct walk_all {
	int (*each)(uint32_t minor, const struct htb_class *c, void *data);
	void *data;
	int ifindex;
	struct leaf *leaves;
};

static int on_each_leaf(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	const struct walk_all *walk = data;
	struct htb_class c = { 0 };
	struct leaf *leaf;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*tcm) ||
	    tcm->tcm_ifindex != walk->ifindex || TC_H_MAJ(tcm->tcm_parent) != OUR_HANDLE)
		return MNL_CB_OK;
	on_leaf(nlh, &c);
	leaf = &walk->leaves[TC_H_MIN(tcm->tcm_parent)];
	leaf->known = true;
	leaf->limit = c.limit;
	memcpy(leaf->kind, c.leaf, sizeof(leaf->kind));
	return MNL_CB_OK;
}

static int on_each_class(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	const struct walk_all *walk = data;
	struct htb_class c = { 0 };
	struct class_found found = { .c = &c };
	const struct leaf *leaf;
	uint32_t minor;

	if (!is_htb(nlh) || tcm->tcm_ifindex != walk->ifindex ||
	    TC_H_MAJ(tcm->tcm_handle) != OUR_HANDLE || !TC_H_MIN(tcm->tcm_handle))
		return MNL_CB_OK;
	minor = TC_H_MIN(tcm->tcm_handle);
	leaf = &walk->leaves[minor];
	on_class(nlh, &found);
	if (minor != CLASS_REST && found.leaf) {
		/* what came between the two dumps is not known */
		errno = EAGAIN;
		if (!leaf->known)
			return MNL_CB_ERROR;
		memcpy(c.leaf, leaf->kind, sizeof(c.leaf));
		c.limit = leaf->limit;
	}
	judge_class(&found, minor);
	errno = -walk->each(minor, &c, walk->data);
	return errno ? MNL_CB_ERROR : MNL_CB_OK;
}

int class_read_all(struct nl *nl, int ifindex,
		   int (*each)(uint32_t minor, const struct htb_class *c, void *data),
		   void *data, struct err *e)
{
	struct walk_all walk = { .each = each, .data = data, .ifindex = ifindex };
	union nl_request req = { 0 };
	int rc;

	walk.leaves = calloc(CLASS_REST + 1, sizeof(*walk.leaves));
	if (!walk.leaves)
		return err_set(e, -ENOMEM, "out of memory");
	rc = nlm_dump(nl, qdisc_message(&req, RTM_GETQDISC, ifindex, 0, 0, NULL), on_each_leaf,
		      &walk, e);
	if (!rc)
		rc = nlm_dump(nl, qdisc_message(&req, RTM_GETTCLASS, ifindex, OUR_HANDLE, 0,
						NULL), on_each_class, &walk, e);
	free(walk.leaves);
	return rc;
}

/* --- write ----------------------------------------------------------------- */

static int put_class(struct nl *nl, int ifindex, uint32_t minor, const struct htb_class *c,
		     struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = class_message(&req, RTM_NEWTCLASS, ifindex, minor);

	nlh->nlmsg_flags = NLM_F_CREATE;
	class_put(nlh, c);
	return nlm_talk(nl, nlh, e);
}

static int put_leaf(struct nl *nl, int ifindex, uint32_t minor, uint32_t limit, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = leaf_message(&req, RTM_NEWQDISC, ifindex, minor);

	nlh->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
	leaf_put(nlh, limit);
	return nlm_talk(nl, nlh, e);
}

static int delete_class(struct nl *nl, int ifindex, uint32_t minor, struct err *e)
{
	union nl_request req = { 0 };
	int rc = nlm_talk(nl, class_message(&req, RTM_DELTCLASS, ifindex, minor), e);

	return is_absent(rc) ? 0 : rc;
}

/* A leaf of ours that is right stays untouched; its packets stay in any case. */
int class_write(struct nl *nl, int ifindex, uint32_t minor, const struct htb_class *c,
		struct err *e)
{
	struct htb_class now;
	int rc;

	if (c->state == CLASS_ABSENT)
		return delete_class(nl, ifindex, minor, e);
	if (c->state != CLASS_OURS)
		return err_set(e, -EINVAL, "not a class of ours");
	rc = class_read(nl, ifindex, minor, &now, NULL, e);
	if (!rc)
		rc = put_class(nl, ifindex, minor, c, e);
	if (!rc && c->limit && (now.state != CLASS_OURS || now.limit != c->limit))
		rc = put_leaf(nl, ifindex, minor, c->limit, e);
	return rc;
}

struct class_walk {
	int (*each)(uint32_t classid, void *data);
	void *data;
	int ifindex;
};

static int on_walk(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	const struct class_walk *walk = data;

	if (!is_htb(nlh) || tcm->tcm_ifindex != walk->ifindex ||
	    TC_H_MAJ(tcm->tcm_handle) != OUR_HANDLE)
		return MNL_CB_OK;
	errno = -walk->each(tcm->tcm_handle, walk->data);
	return errno ? MNL_CB_ERROR : MNL_CB_OK;
}

int class_each(struct nl *nl, int ifindex, int (*each)(uint32_t classid, void *data),
	       void *data, struct err *e)
{
	struct class_walk walk = { .each = each, .data = data, .ifindex = ifindex };
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = qdisc_message(&req, RTM_GETTCLASS, ifindex, OUR_HANDLE, 0, NULL);

	return nlm_dump(nl, nlh, on_walk, &walk, e);
}

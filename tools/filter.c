// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of our root htb: see filter.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "filter.h"
#include "htb.h"
#include "lacks.h"
#include "out.h"

#define PRIO_IP4	100U	/* of the longest prefix */
#define PRIO_IP6	200U
#define PRIO_TAGGED	1000U	/* more than without a tag */

static unsigned int full_length(const struct prefix *to)
{
	return to->family == AF_INET ? 32 : 128;
}

uint32_t filter_prio(const struct prefix *to, bool tagged)
{
	uint32_t first = to->family == AF_INET ? PRIO_IP4 : PRIO_IP6;

	return first + full_length(to) - to->len + (tagged ? PRIO_TAGGED : 0);
}

static uint16_t ethertype(const struct prefix *to)
{
	return to->family == AF_INET ? ETH_P_IP : ETH_P_IPV6;
}

/* tcm_info of the kernel: the priority, and the protocol of the packets */
static uint32_t filter_info(const struct prefix *to, bool tagged)
{
	return TC_H_MAKE(filter_prio(to, tagged) << 16,
			 htons(tagged ? ETH_P_8021Q : ethertype(to)));
}

/* --- handles --------------------------------------------------------------- */

unsigned int filter_tries(const struct prefix *to)
{
	return to->family == AF_INET ? 1 : FILTER_TRIES;
}

/* FNV-1a of the address and the number of the try */
static uint32_t hash(const struct prefix *to, unsigned int n)
{
	uint32_t h = 2166136261U ^ n;
	size_t i;

	for (i = 0; i < sizeof(to->addr); i++)
		h = (h ^ to->addr[i]) * 16777619U;
	return h;
}

/*
 * The bits of the prefix plus 1, as handle 0 means none; but a /32 has its bits alone, so that
 * only 0.0.0.0/32, which no host has, would give 0 (filter_handle()).
 */
static uint32_t number(const struct prefix *to)
{
	uint32_t bits;

	memcpy(&bits, to->addr, sizeof(bits));
	bits = to->len ? ntohl(bits) >> (32 - to->len) : 0;
	return to->len == 32 ? bits : bits + 1;
}

uint32_t filter_handle(const struct prefix *to, unsigned int n)
{
	uint32_t handle = to->family == AF_INET ? number(to) : hash(to, n);

	return handle ?: UINT32_MAX;
}

/* --- text ------------------------------------------------------------------ */

char *filter_name(char *buf, size_t len, const char *dev, const struct prefix *to)
{
	struct out o = out_to(buf, len);

	out_text(&o, dev);
	out_bytes(&o, " ", 1);
	prefix_put(&o, to);
	return buf;
}

void filter_format(const struct filter *f, char *buf, size_t len)
{
	static const char * const states[] = {
		[FILTER_ABSENT] = "absent",
		[FILTER_UNFINISHED] = "unfinished",
		[FILTER_OTHER] = "other",
	};
	struct out o = out_to(buf, len);

	if (f->state != FILTER_OURS) {
		out_text(&o, states[f->state]);
		return;
	}
	out_text(&o, "class ");
	classid_put(&o, f->minor);
}

int filter_parse(const char *text, struct filter *f)
{
	memset(f, 0, sizeof(*f));
	if (!strcmp(text, "absent"))
		return 0;
	if (!strcmp(text, "unfinished")) {
		f->state = FILTER_UNFINISHED;
		return 0;
	}
	if (!strcmp(text, "other")) {
		f->state = FILTER_OTHER;
		return 0;
	}
	f->state = FILTER_OURS;
	return strncmp(text, "class ", 6) ? -EINVAL : class_minor(text, &f->minor);
}

/* --- messages -------------------------------------------------------------- */

struct nlmsghdr *filter_message(void *buf, int type, int ifindex, const struct prefix *to,
				bool tagged, uint32_t handle)
{
	struct nlmsghdr *nlh = qdisc_message(buf, type, ifindex, OUR_HANDLE, handle, "flower");
	struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);

	tcm->tcm_info = filter_info(to, tagged);
	return nlh;
}

static void put_mask(struct nlmsghdr *nlh, uint16_t attr, const struct prefix *to)
{
	unsigned char mask[16] = { 0 };
	unsigned int i;

	for (i = 0; i < to->len; i++)
		mask[i / 8] |= (unsigned char)(0x80 >> i % 8);
	mnl_attr_put(nlh, attr, full_length(to) / 8, mask);
}

static void put_address(struct nlmsghdr *nlh, const struct prefix *to)
{
	bool ip4 = to->family == AF_INET;

	mnl_attr_put(nlh, ip4 ? TCA_FLOWER_KEY_IPV4_DST : TCA_FLOWER_KEY_IPV6_DST,
		     full_length(to) / 8, to->addr);
	put_mask(nlh, ip4 ? TCA_FLOWER_KEY_IPV4_DST_MASK : TCA_FLOWER_KEY_IPV6_DST_MASK, to);
}

void filter_put(struct nlmsghdr *nlh, const struct prefix *to, bool tagged, uint32_t minor)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, TCA_OPTIONS);

	mnl_attr_put_u32(nlh, TCA_FLOWER_CLASSID, OUR_HANDLE | minor);
	mnl_attr_put_u16(nlh, TCA_FLOWER_KEY_ETH_TYPE,
			 htons(tagged ? ETH_P_8021Q : ethertype(to)));
	if (tagged)
		mnl_attr_put_u16(nlh, TCA_FLOWER_KEY_VLAN_ETH_TYPE, htons(ethertype(to)));
	if (to->len)
		put_address(nlh, to);
	mnl_attr_put_u32(nlh, TCA_FLOWER_FLAGS, 0);
	mnl_attr_nest_end(nlh, nest);
}

/* --- read ------------------------------------------------------------------ */

/* The length of the mask, -1: it is no mask of a prefix */
static int mask_length(const unsigned char *mask, unsigned int bits)
{
	unsigned int i, n = 0;

	while (n < bits && mask[n / 8] & 0x80 >> n % 8)
		n++;
	for (i = n; i < bits; i++)
		if (mask[i / 8] & 0x80 >> i % 8)
			return -1;
	return (int)n;
}

static void get_address(const struct nlattr *attr, struct flower *fl, int family)
{
	uint16_t n = family == AF_INET ? 4 : 16;

	if (mnl_attr_get_payload_len(attr) != n) {
		fl->plain = false;
		return;
	}
	fl->to.family = family;
	memcpy(fl->to.addr, mnl_attr_get_payload(attr), n);
}

static void get_mask(const struct nlattr *attr, struct flower *fl, unsigned int bits)
{
	int n = mnl_attr_get_payload_len(attr) * 8U == bits ?
		mask_length(mnl_attr_get_payload(attr), bits) : -1;

	if (n < 0)
		fl->plain = false;
	else
		fl->to.len = (unsigned int)n;
}

static int family_of(const struct nlattr *attr)
{
	uint16_t type;

	if (mnl_attr_validate(attr, MNL_TYPE_U16))
		return 0;
	type = ntohs(mnl_attr_get_u16(attr));
	return type == ETH_P_IP ? AF_INET : type == ETH_P_IPV6 ? AF_INET6 : 0;
}

static void get_option(const struct nlattr *attr, struct flower *fl)
{
	switch (mnl_attr_get_type(attr)) {
	case TCA_FLOWER_CLASSID:
		if (!mnl_attr_validate(attr, MNL_TYPE_U32))
			fl->classid = mnl_attr_get_u32(attr);
		break;
	case TCA_FLOWER_KEY_ETH_TYPE:
	case TCA_FLOWER_KEY_VLAN_ETH_TYPE:
		fl->to.family = family_of(attr) ?: fl->to.family;
		break;
	case TCA_FLOWER_KEY_IPV4_DST:
		get_address(attr, fl, AF_INET);
		break;
	case TCA_FLOWER_KEY_IPV6_DST:
		get_address(attr, fl, AF_INET6);
		break;
	case TCA_FLOWER_KEY_IPV4_DST_MASK:
		get_mask(attr, fl, 32);
		break;
	case TCA_FLOWER_KEY_IPV6_DST_MASK:
		get_mask(attr, fl, 128);
		break;
	case TCA_FLOWER_FLAGS:
	case TCA_FLOWER_IN_HW_COUNT:
		break;
	case TCA_FLOWER_ACT:
		/* without actions the kernel sends an empty list, or none */
		fl->plain &= !mnl_attr_get_payload_len(attr);
		break;
	default:
		fl->plain = false;
	}
}

static void get_options(const struct nlmsghdr *nlh, struct flower *fl)
{
	const struct nlattr *attr, *options = NULL;

	mnl_attr_for_each(attr, nlh, sizeof(struct tcmsg))
		if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			options = attr;
	if (!options)
		return;
	mnl_attr_for_each_nested(attr, options) {
		get_option(attr, fl);
	}
}

int flower_parse(const struct nlmsghdr *nlh, struct flower *fl)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	memset(fl, 0, sizeof(*fl));
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*tcm))
		return -EBADMSG;
	fl->info = tcm->tcm_info;
	fl->handle = tcm->tcm_handle;
	fl->plain = true;
	fl->tagged = TC_H_MIN(tcm->tcm_info) == htons(ETH_P_8021Q);
	mnl_attr_for_each(attr, nlh, sizeof(*tcm)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			kind_get(attr, fl->kind);
		else if (mnl_attr_get_type(attr) == TCA_CHAIN &&
			 !mnl_attr_validate(attr, MNL_TYPE_U32))
			fl->plain &= !mnl_attr_get_u32(attr);
	}
	/* the options of other kinds have other types */
	if (!strcmp(fl->kind, "flower"))
		get_options(nlh, fl);
	return 0;
}

/* Whether @fl is the filter of this prefix, in its place; it may lead to any class of ours. */
bool flower_is(const struct flower *fl, const struct prefix *to, bool tagged)
{
	return !strcmp(fl->kind, "flower") && fl->plain && fl->tagged == tagged &&
	       fl->info == filter_info(to, tagged) && prefix_equal(&fl->to, to) &&
	       TC_H_MAJ(fl->classid) == OUR_HANDLE;
}

static int on_flower(const struct nlmsghdr *nlh, void *data)
{
	flower_parse(nlh, data);
	return MNL_CB_OK;
}

/* The kernel's errors if our root, the priority or the handle is not there */
static bool is_absent(int rc)
{
	return rc == -ENOENT || rc == -EINVAL || rc == -EOPNOTSUPP;
}

/* @fl->kind is "" if there is none. */
static int read_one(struct nl *nl, int ifindex, const struct prefix *to, bool tagged,
		    uint32_t handle, struct flower *fl, struct err *e)
{
	union nl_request req = { 0 };
	int rc;

	memset(fl, 0, sizeof(*fl));
	rc = nlm_get(nl, filter_message(&req, RTM_GETTFILTER, ifindex, to, tagged, handle),
		     on_flower, fl, e);
	return is_absent(rc) ? 0 : rc;
}

/* The two filters of one handle, for packets without a VLAN tag and with one */
struct pair {
	struct flower of[2];
};

/* Where many filters are read ahead, ask for both before waiting for either. */
static int read_pair(struct nl *nl, int ifindex, const struct prefix *to, uint32_t handle,
		     struct pair *p, struct err *e)
{
	int rc = read_one(nl, ifindex, to, false, handle, &p->of[0], e), tagged;

	if (rc && rc != -EINPROGRESS)
		return rc;
	tagged = read_one(nl, ifindex, to, true, handle, &p->of[1], e);
	return rc ? rc : tagged;
}

static bool is_free(const struct pair *p)
{
	return !p->of[0].kind[0] && !p->of[1].kind[0];
}

/* The plain filter is ours, whatever the tagged one; or that is, and no plain one is there. */
static bool pair_is_ours(const struct pair *p, const struct prefix *to)
{
	bool plain = flower_is(&p->of[0], to, false), tagged = flower_is(&p->of[1], to, true);

	return plain || (tagged && !p->of[0].kind[0]);
}

static void judge_pair(const struct pair *p, const struct prefix *to, struct filter *f)
{
	f->minor = TC_H_MIN(p->of[0].classid);
	if (p->of[1].kind[0] && !flower_is(&p->of[1], to, true))
		f->state = FILTER_OTHER;
	else if (!p->of[0].kind[0] || !p->of[1].kind[0] ||
		 TC_H_MIN(p->of[1].classid) != f->minor)
		f->state = FILTER_UNFINISHED;
	else
		f->state = FILTER_OURS;
}

/* @f->handle: where it is, perhaps only one of the pair, or where it could be; 0 = nowhere */
int filter_read(struct nl *nl, int ifindex, const struct prefix *to, struct filter *f,
		struct err *e)
{
	unsigned int n, tries = filter_tries(to);
	bool taken = false;
	struct pair p;
	int rc;

	memset(f, 0, sizeof(*f));
	for (n = 0; n < tries; n++) {
		uint32_t handle = filter_handle(to, n);

		rc = read_pair(nl, ifindex, to, handle, &p, e);
		if (rc)
			return rc;
		if (pair_is_ours(&p, to)) {
			f->handle = handle;
			judge_pair(&p, to, f);
			return 0;
		}
		if (is_free(&p) && !f->handle)
			f->handle = handle;
		taken |= !is_free(&p);
	}
	if (taken && !f->handle)
		f->state = FILTER_OTHER;
	return 0;
}

/* --- write ----------------------------------------------------------------- */

static int put_one(struct nl *nl, int ifindex, const struct prefix *to, bool tagged,
		   const struct filter *f, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = filter_message(&req, RTM_NEWTFILTER, ifindex, to, tagged,
					      f->handle);

	nlh->nlmsg_flags = NLM_F_CREATE;
	filter_put(nlh, to, tagged, f->minor);
	return lacks_kind(nlm_talk(nl, nlh, e), LACKS_CLASSIFIER, "flower", e);
}

static int delete_one(struct nl *nl, int ifindex, const struct prefix *to, bool tagged,
		      uint32_t handle, struct err *e)
{
	union nl_request req = { 0 };
	int rc = nlm_talk(nl, filter_message(&req, RTM_DELTFILTER, ifindex, to, tagged, handle),
			  e);

	return is_absent(rc) ? 0 : rc;
}

static int delete_both(struct nl *nl, int ifindex, const struct prefix *to, uint32_t handle,
		       struct err *e)
{
	int rc = delete_one(nl, ifindex, to, true, handle, e);

	return rc ? rc : delete_one(nl, ifindex, to, false, handle, e);
}

/* Replace a filter that is there in one step, so that each packet finds one. */
int filter_write(struct nl *nl, int ifindex, const struct prefix *to, const struct filter *f,
		 struct err *e)
{
	struct filter now, make = *f;
	int rc = filter_read(nl, ifindex, to, &now, e);

	if (rc)
		return rc;
	if (now.state == FILTER_OTHER)
		return err_set(e, -EEXIST, "a filter of somebody else's is in its place");
	if (f->state == FILTER_ABSENT)
		return now.state == FILTER_ABSENT ? 0 :
		       delete_both(nl, ifindex, to, now.handle, e);
	if (f->state != FILTER_OURS)
		return err_set(e, -EINVAL, "not a filter of ours");
	make.handle = now.handle;
	rc = put_one(nl, ifindex, to, false, &make, e);
	return rc ? rc : put_one(nl, ifindex, to, true, &make, e);
}

struct flower_walk {
	int (*each)(const struct flower *fl, void *data);
	void *data;
	int ifindex;
};

static int on_walk(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	const struct flower_walk *walk = data;
	struct flower fl;

	/* a priority without a handle is the table of its filters */
	if (flower_parse(nlh, &fl) || !fl.handle || tcm->tcm_ifindex != walk->ifindex)
		return MNL_CB_OK;
	errno = -walk->each(&fl, walk->data);
	return errno ? MNL_CB_ERROR : MNL_CB_OK;
}

/* Each filter of the root. */
int filter_each(struct nl *nl, int ifindex, int (*each)(const struct flower *fl, void *data),
		void *data, struct err *e)
{
	struct flower_walk walk = { .each = each, .data = data, .ifindex = ifindex };
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = qdisc_message(&req, RTM_GETTFILTER, ifindex, OUR_HANDLE, 0, NULL);

	return nlm_dump(nl, nlh, on_walk, &walk, e);
}

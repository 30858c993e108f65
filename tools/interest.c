// SPDX-License-Identifier: GPL-2.0
/*
 * Which notifications matter, and when it is time to look: see interest.h.
 */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
/* behind that one, which it knows of */
#include <linux/if.h>
#include <stdlib.h>
#include <string.h>

#include "interest.h"
#include "qdisc.h"

#define CARRIES (IFF_UP | IFF_LOWER_UP)

static int compare_prefixes(const void *a, const void *b)
{
	const struct prefix *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->addr, y->addr, x->family == AF_INET ? 4 : 16);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int compare_links(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static void clear(struct interest *in)
{
	free(in->prefixes);
	free(in->names);
	free(in->links);
	in->prefixes = NULL;
	in->names = NULL;
	in->links = NULL;
	in->n_prefixes = 0;
	in->n_names = 0;
	in->n_links = 0;
}

void interest_free(struct interest *in)
{
	clear(in);
	free(in->down);
	memset(in, 0, sizeof(*in));
}

static int make_room(struct interest *in, const struct state *st)
{
	size_t prefixes = 1, i;

	for (i = 0; i < st->n_circuits; i++)
		prefixes += st->circuits[i].circuit.n_to;
	in->prefixes = calloc(prefixes, sizeof(*in->prefixes));
	in->names = calloc(st->n_circuits + 1, sizeof(*in->names));
	/* of each circuit its device, and that which it leaves by */
	in->links = calloc(2 * (size_t)st->n_circuits + 1, sizeof(*in->links));
	return in->prefixes && in->names && in->links ? 0 : -ENOMEM;
}

static void add_circuit(struct interest *in, const struct member *m)
{
	memcpy(in->names[in->n_names++], m->circuit.name, sizeof(m->circuit.name));
	memcpy(&in->prefixes[in->n_prefixes], m->circuit.to,
	       m->circuit.n_to * sizeof(*m->circuit.to));
	in->n_prefixes += m->circuit.n_to;
}

/*
 * What is in @st, in place of what was; its links are added one by one, at most two each.
 * Those that were down stay so.
 */
int interest_learn(struct interest *in, const struct state *st)
{
	uint32_t i;
	int rc;

	clear(in);
	rc = make_room(in, st);
	for (i = 0; i < st->n_circuits && !rc; i++)
		add_circuit(in, &st->circuits[i]);
	return rc;
}

void interest_add_link(struct interest *in, int ifindex)
{
	/* circuits of one device stand together */
	if (ifindex && (!in->n_links || in->links[in->n_links - 1] != ifindex))
		in->links[in->n_links++] = ifindex;
}

void interest_sort(struct interest *in)
{
	qsort(in->prefixes, in->n_prefixes, sizeof(*in->prefixes), compare_prefixes);
	qsort(in->names, in->n_names, sizeof(*in->names), compare_names);
	qsort(in->links, in->n_links, sizeof(*in->links), compare_links);
}

static bool has_link(const struct interest *in, int ifindex)
{
	return in->n_links && bsearch(&ifindex, in->links, in->n_links, sizeof(*in->links),
				      compare_links);
}

bool interest_in_circuit(const struct interest *in, const char *name)
{
	return in->all || (in->n_names && bsearch(name, in->names, in->n_names,
						  sizeof(*in->names), compare_names));
}

bool interest_was_down(const struct interest *in, int ifindex)
{
	uint32_t i;

	for (i = 0; i < in->n_down; i++)
		if (in->down[i].ifindex == ifindex)
			return true;
	return false;
}

/* Its circuits were looked at: from now on, unless it is down still. */
void interest_is_up(struct interest *in, int ifindex)
{
	uint32_t i, n = 0;

	for (i = 0; i < in->n_down; i++)
		if (in->down[i].ifindex != ifindex || in->down[i].still)
			in->down[n++] = in->down[i];
	in->n_down = n;
}

/* --- messages -------------------------------------------------------------- */

static const void *payload(const struct nlmsghdr *nlh, size_t least)
{
	return mnl_nlmsg_get_payload_len(nlh) < least ? NULL : mnl_nlmsg_get_payload(nlh);
}

/* Where there is no memory, what went with it counts as undone. */
static void add_down(struct interest *in, int ifindex)
{
	struct down *down;

	if (interest_was_down(in, ifindex))
		return;
	down = realloc(in->down, (in->n_down + 1) * sizeof(*down));
	if (!down)
		return;
	in->down = down;
	down[in->n_down++] = (struct down){ .ifindex = ifindex };
}

static void set_still(struct interest *in, int ifindex, bool still)
{
	uint32_t i;

	for (i = 0; i < in->n_down; i++)
		if (in->down[i].ifindex == ifindex)
			in->down[i].still = still;
}

/* Messages, among which may have been that any link went down and came up. */
void interest_lost(struct interest *in)
{
	uint32_t i;

	for (i = 0; i < in->n_links; i++) {
		add_down(in, in->links[i]);
		set_still(in, in->links[i], false);
	}
}

static bool hears_link(struct interest *in, const struct nlmsghdr *nlh)
{
	const struct ifinfomsg *ifi = payload(nlh, sizeof(*ifi));
	bool ours = ifi && has_link(in, ifi->ifi_index), gone = nlh->nlmsg_type == RTM_DELLINK;
	bool up = ifi && (ifi->ifi_flags & CARRIES) == CARRIES;

	if (ours && (gone || !up))
		add_down(in, ifi->ifi_index);
	if (ours)
		set_still(in, ifi->ifi_index, !gone && !up);
	return ours || (ifi && in->all);
}

/* Any qdisc; a class or filter below our root: others have theirs, at the ingress, say */
static bool hears_tc(const struct interest *in, const struct nlmsghdr *nlh)
{
	const struct tcmsg *tcm = payload(nlh, sizeof(*tcm));

	if (!tcm || !has_link(in, tcm->tcm_ifindex))
		return false;
	switch (nlh->nlmsg_type) {
	case RTM_NEWTCLASS:
	case RTM_DELTCLASS:
		return tcm->tcm_handle >> 16 == OUR_MAJOR;
	case RTM_NEWTFILTER:
	case RTM_DELTFILTER:
		return tcm->tcm_parent >> 16 == OUR_MAJOR;
	default:
		return true;
	}
}

/* With an address of the device go routes that nobody tells of (fib_sync_down_addr()). */
static bool hears_address(const struct interest *in, const struct nlmsghdr *nlh)
{
	const struct ifaddrmsg *ifa = payload(nlh, sizeof(*ifa));

	return ifa && (in->all || has_link(in, (int)ifa->ifa_index));
}

static bool hears_route(const struct interest *in, const struct nlmsghdr *nlh)
{
	const struct rtmsg *rtm = payload(nlh, sizeof(*rtm));
	struct prefix to = { 0 };
	const struct nlattr *attr;
	size_t bytes;

	if (!rtm || rtm->rtm_table != RT_TABLE_MAIN || rtm->rtm_flags & RTM_F_CLONED)
		return false;
	if (in->all)
		return true;
	to.family = rtm->rtm_family;
	to.len = rtm->rtm_dst_len;
	bytes = to.family == AF_INET ? 4 : 16;
	mnl_attr_for_each(attr, nlh, sizeof(*rtm))
		if (mnl_attr_get_type(attr) == RTA_DST &&
		    mnl_attr_get_payload_len(attr) == bytes)
			memcpy(to.addr, mnl_attr_get_payload(attr), bytes);
	return in->n_prefixes && bsearch(&to, in->prefixes, in->n_prefixes,
					 sizeof(*in->prefixes), compare_prefixes);
}

/* May it have undone something?  A link that is down is remembered. */
bool interest_hears(struct interest *in, const struct nlmsghdr *nlh)
{
	switch (nlh->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return hears_link(in, nlh);
	case RTM_NEWQDISC:
	case RTM_DELQDISC:
	case RTM_NEWTCLASS:
	case RTM_DELTCLASS:
	case RTM_NEWTFILTER:
	case RTM_DELTFILTER:
		return hears_tc(in, nlh);
	case RTM_NEWADDR:
	case RTM_DELADDR:
		return hears_address(in, nlh);
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		return hears_route(in, nlh);
	default:
		return false;
	}
}

/* --- when ------------------------------------------------------------------ */

void burst_heard(struct burst *b, uint64_t now)
{
	if (!b->first)
		b->first = now;
	b->last = now;
}

/* UINT64_MAX: nothing was heard. */
uint64_t burst_due(const struct burst *b)
{
	if (!b->first)
		return UINT64_MAX;
	return b->last - b->first > BURST_US - QUIET_US ? b->first + BURST_US :
							  b->last + QUIET_US;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters of our root htb: which class has the packets to a prefix.
 *
 * Each prefix has two flower filters on the root, one for frames without a VLAN tag
 * and one for those with an 802.1Q tag.  The cost of a packet grows with the number of
 * lengths in use and not with that of prefixes: a priority has one mask, and its
 * filters are in a hash table (net/sched/cls_flower.c: fl_classify()).  The longest
 * prefix comes first, by these priorities:
 *
 *	IPv4 /32 .. /0	 100 .. 132	with a tag	1100 .. 1132
 *	IPv6 /128 .. /0	 200 .. 328	with a tag	1200 .. 1328
 *
 * What is below 100 comes before all of them and is left to others.
 *
 * Why two: a priority has one protocol, and the kernel holds it against the tag of a
 * packet that has one (net/sched/cls_api.c: __tcf_classify(), skb_protocol()).  A VLAN
 * device above ours does not write its tag into the packet: it notes the tag
 * beside it (net/8021q/vlan_dev.c: __vlan_hwaccel_put_tag()), and the device, or
 * validate_xmit_vlan() in software, inserts it behind the queue.  So the protocol seen
 * here is 802.1Q, and the dissector goes on to the IP header behind it.
 *
 * A prefix of length 0 is matched by its protocol alone: with an empty mask the
 * dissector is not asked for addresses and the filter would match nothing.
 *
 * Each filter has a handle that follows from its prefix, so that it can be read,
 * replaced and deleted alone.  IPv4's is the prefix itself, which is unique in its
 * priority.  IPv6's is a hash; of FILTER_TRIES hashes the first that is free is taken.
 *
 * As text, which is the value of an item "eth1 192.0.2.0/24":
 *	absent
 *	class c7c0:1
 *	unfinished	one of the two, or of two classes: a run was killed in between, or
 *			somebody deleted the other
 *	other		somebody's, in the place of one of ours
 *
 * filter_parse(): -EINVAL, it is none of these.  flower_parse(): -EBADMSG, too short.
 * filter_write(): -EEXIST, somebody's is in its place.  What @each returns ends the walk.
 */
#ifndef CTCP_FILTER_H
#define CTCP_FILTER_H

#include "circuit.h"
#include "nl.h"

#define FILTER_TRIES 4		/* 60,000 prefixes all but never need the second */

enum filter_state {
	FILTER_ABSENT,
	FILTER_OURS,
	FILTER_UNFINISHED,
	FILTER_OTHER,
};

struct filter {
	enum filter_state state;
	uint32_t minor;		/* of the class */
	uint32_t handle;
};

/* One filter as the kernel tells of it. */
struct flower {
	uint32_t info, handle;	/* tcm_info, tcm_handle */
	char kind[16];
	uint32_t classid;
	bool plain;		/* nothing but what we set */
	bool tagged;
	struct prefix to;
};

uint32_t filter_prio(const struct prefix *to, bool tagged);
unsigned int filter_tries(const struct prefix *to);
uint32_t filter_handle(const struct prefix *to, unsigned int n);
bool flower_is(const struct flower *fl, const struct prefix *to, bool tagged);

/* "eth1 192.0.2.0/24" */
char *filter_name(char *buf, size_t len, const char *dev, const struct prefix *to);
void filter_format(const struct filter *f, char *buf, size_t len);
int filter_parse(const char *text, struct filter *f);

struct nlmsghdr *filter_message(void *buf, int type, int ifindex, const struct prefix *to,
				bool tagged, uint32_t handle);
void filter_put(struct nlmsghdr *nlh, const struct prefix *to, bool tagged, uint32_t minor);
int flower_parse(const struct nlmsghdr *nlh, struct flower *fl);

int filter_read(struct nl *nl, int ifindex, const struct prefix *to, struct filter *f,
		struct err *e);
int filter_write(struct nl *nl, int ifindex, const struct prefix *to, const struct filter *f,
		 struct err *e);
int filter_each(struct nl *nl, int ifindex, int (*each)(const struct flower *fl, void *data),
		void *data, struct err *e);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink messages: replies, dumps and events
 *
 * All of them describe a circuit by the same attributes:
 *
 *	identity	for an object its name, prefixes, window and selectors; for
 *			an automatic circuit its peer, and its user where the
 *			window is one user's
 *	state		rate, flags, sockets, shares, breaker, counters, and the
 *			evidence on which the breaker last tripped
 *
 * No lock is held: values are read one by one, and two of them may be from different
 * moments.  Only an administrator may see whom others talk to; @all says that the
 * reader is one.
 */

#include "netlink.h"

/* Bytes of a message without its prefixes, and of each prefix */
#define CIRCUIT_MSG_SIZE	1024
#define CIRCUIT_MSG_PREFIX	36

/* Room for any object: while it is replaced it has its old prefixes and the new ones. */
size_t circuit_message_size(void)
{
	return CIRCUIT_MSG_SIZE + 2 * TCP_CIRCUIT_PREFIXES_MAX * CIRCUIT_MSG_PREFIX;
}

/* An automatic circuit has one prefix. */
static struct sk_buff *circuit_message(const struct circuit *c, gfp_t gfp)
{
	return genlmsg_new(c->name[0] ? circuit_message_size() :
			   CIRCUIT_MSG_SIZE + CIRCUIT_MSG_PREFIX, gfp);
}

/* A circuit */

static int put_prefix(struct sk_buff *skb, const u8 *addr, u32 family, u8 len)
{
	struct nlattr *nest = nla_nest_start(skb, TCP_CIRCUIT_A_PREFIX);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put(skb, TCP_CIRCUIT_PREFIX_A_ADDRESS, match_bits(family) / 8, addr) ||
	    nla_put_u8(skb, TCP_CIRCUIT_PREFIX_A_LEN, len)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* A number of segments: 2^32 - 1 is that or more */
static int put_segments(struct sk_buff *skb, int type, u64 segments)
{
	return nla_put_u32(skb, type, min_t(u64, segments, U32_MAX));
}

/* @all: also the uid */
static int put_evidence(struct sk_buff *skb, const struct evidence *e, bool all)
{
	struct nlattr *nest;

	if (!e->reason)
		return 0;
	nest = nla_nest_start(skb, TCP_CIRCUIT_A_EVIDENCE);
	if (!nest ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_REASON, e->reason) ||
	    (all && nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_UID, e->uid)) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_MS, e->seen.ms) ||
	    put_segments(skb, TCP_CIRCUIT_EVIDENCE_A_SEGMENTS,
			 e->seen.lost + e->seen.delivered) ||
	    put_segments(skb, TCP_CIRCUIT_EVIDENCE_A_LOST, e->seen.lost) ||
	    put_segments(skb, TCP_CIRCUIT_EVIDENCE_A_CE, e->seen.ce) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_RTT, e->seen.rtt_us) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_RTT_EXPECTED, e->seen.rtt_expected) ||
	    nla_put_u64_64bit(skb, TCP_CIRCUIT_EVIDENCE_A_RATE, e->rate,
			      TCP_CIRCUIT_EVIDENCE_A_PAD) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_THRESHOLD, e->threshold) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_WINDOW, e->window) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_WINDOW_CUT, split_cut(e->window)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The identity of an object */
static int put_config(struct sk_buff *skb, const struct circuit *c)
{
	const struct circuit_prefix *p;
	u32 ifindex = READ_ONCE(c->ifindex), mark = READ_ONCE(c->mark);
	int err = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(p, &c->prefixes, list) {
		err = put_prefix(skb, p->key.addr, p->key.family, p->key.len);
		if (err)
			break;
	}
	rcu_read_unlock();
	if (err || nla_put_string(skb, TCP_CIRCUIT_A_NAME, c->name) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_WINDOW, READ_ONCE(c->window)) ||
	    (ifindex && nla_put_u32(skb, TCP_CIRCUIT_A_IFINDEX, ifindex)) ||
	    (mark && nla_put_u32(skb, TCP_CIRCUIT_A_MARK, mark)))
		return -EMSGSIZE;
	return 0;
}

/* The identity of an automatic circuit */
static int put_auto(struct sk_buff *skb, const struct circuit *c)
{
	const struct auto_key *key = &c->key;
	u32 uid;

	if (nla_put_flag(skb, TCP_CIRCUIT_A_AUTO) ||
	    put_prefix(skb, key->addr, key->family, match_bits(key->family)) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_WINDOW, READ_ONCE(c->seen_window)) ||
	    (key->ifindex && nla_put_u32(skb, TCP_CIRCUIT_A_IFINDEX, key->ifindex)))
		return -EMSGSIZE;
	if (key->uid == NO_UID)
		return 0;
	uid = from_kuid_munged(c->cn->net->user_ns, KUIDT_INIT(key->uid));
	return nla_put_u32(skb, TCP_CIRCUIT_A_UID, uid);
}

/* The state of either.  @evidence: NULL = of the last trip, whichever user's */
static int put_state(struct sk_buff *skb, struct circuit *c,
		     const struct evidence *evidence, bool all)
{
	u32 tripped = READ_ONCE(c->tripped_users);
	struct evidence last;

	if (nla_put_u64_64bit(skb, TCP_CIRCUIT_A_RATE, READ_ONCE(c->rate),
			      TCP_CIRCUIT_A_PAD) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_FLAGS, READ_ONCE(c->flags)) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_ID, c->id) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_SOCKETS, READ_ONCE(c->sockets)) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_HUNGRY, READ_ONCE(c->pool.hungry) +
			READ_ONCE(c->cut.hungry)) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_CWND_TOTAL, READ_ONCE(c->pool.cwnd_total) +
			READ_ONCE(c->cut.cwnd_total)) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_BREAKER, tripped ?
			TCP_CIRCUIT_BREAKER_TRIPPED : TCP_CIRCUIT_BREAKER_CLOSED) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_TRIPPED_USERS, tripped) ||
	    nla_put_u32(skb, TCP_CIRCUIT_A_TRIPS, READ_ONCE(c->trips)) ||
	    nla_put_u64_64bit(skb, TCP_CIRCUIT_A_DELIVERED,
			      atomic64_read(&c->delivered), TCP_CIRCUIT_A_PAD) ||
	    nla_put_u64_64bit(skb, TCP_CIRCUIT_A_LOST,
			      atomic64_read(&c->lost), TCP_CIRCUIT_A_PAD) ||
	    nla_put_u64_64bit(skb, TCP_CIRCUIT_A_CE,
			      atomic64_read(&c->ce), TCP_CIRCUIT_A_PAD))
		return -EMSGSIZE;
	if (evidence)
		return put_evidence(skb, evidence, all);
	spin_lock_bh(&c->pool.lock);
	last = c->evidence;
	spin_unlock_bh(&c->pool.lock);
	return put_evidence(skb, &last, all);
}

static int put_circuit(struct sk_buff *skb, struct circuit *c,
		       const struct evidence *evidence, bool all)
{
	int err = c->name[0] ? put_config(skb, c) : put_auto(skb, c);

	return err ?: put_state(skb, c, evidence, all);
}

/* Replies and events */

int circuit_reply(struct circuit *c, struct genl_info *info, bool all)
{
	struct sk_buff *skb = circuit_message(c, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &circuit_family, 0, TCP_CIRCUIT_CMD_GET);
	if (!hdr || put_circuit(skb, c, NULL, all)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/* One circuit of a dump; -EMSGSIZE: it does not fit and goes into the next buffer. */
int circuit_dump(struct sk_buff *skb, struct netlink_callback *cb,
		 struct circuit *c, bool all)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&circuit_family, NLM_F_MULTI, TCP_CIRCUIT_CMD_GET);

	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	if (put_circuit(skb, c, NULL, all)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/*
 * The event of an automatic circuit shows whom somebody talks to.  Where the kernel
 * cannot keep users out of the group, no such event is sent.
 */
static bool group_is_closed(void)
{
#ifdef CIRCUIT_MCGRP_FLAGS
	return true;
#else
	return false;
#endif
}

/*
 * @cause: enum tcp_circuit_cause, or 0.  @evidence: of the user's trip, NULL = of the
 * circuit's last one.  May be called with locks held.
 */
void circuit_notify(struct circuit *c, u8 cmd, u32 cause,
		    const struct evidence *evidence, gfp_t gfp)
{
	struct net *net = c->cn->net;
	struct sk_buff *skb;
	void *hdr;

	if (!(c->name[0] || group_is_closed()) ||
	    !genl_has_listeners(&circuit_family, net, 0))
		return;
	skb = circuit_message(c, gfp);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &circuit_family, 0, cmd);
	if (!hdr || put_circuit(skb, c, evidence, group_is_closed()) ||
	    (cause && nla_put_u32(skb, TCP_CIRCUIT_A_CAUSE, cause))) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&circuit_family, net, skb, 0, 0, gfp);
}

/* The counters of a namespace */

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, TCP_CIRCUIT_STATS_A_PAD);
}

static int put_limits(struct sk_buff *skb, const struct circuit_net *cn)
{
	return nla_put_u32(skb, TCP_CIRCUIT_STATS_A_CIRCUITS, cn->n_objects) ||
	       nla_put_u32(skb, TCP_CIRCUIT_STATS_A_CIRCUITS_MAX,
			   circuit_objects_most(cn)) ||
	       nla_put_u32(skb, TCP_CIRCUIT_STATS_A_PREFIXES, cn->n_prefixes) ||
	       nla_put_u32(skb, TCP_CIRCUIT_STATS_A_PREFIXES_MAX,
			   CIRCUIT_PREFIXES_NET) ||
	       nla_put_u32(skb, TCP_CIRCUIT_STATS_A_PEERS, cn->n_autos) ||
	       nla_put_u32(skb, TCP_CIRCUIT_STATS_A_PEERS_MAX, CIRCUIT_AUTOS_NET) ||
	       nla_put_u32(skb, TCP_CIRCUIT_STATS_A_KEPT, cn->n_kept) ||
	       nla_put_u32(skb, TCP_CIRCUIT_STATS_A_KEPT_MAX, CIRCUIT_KEPT_NET) ||
	       put_u64(skb, TCP_CIRCUIT_STATS_A_MEMORY, circuit_table_memory(cn));
}

static int put_counters(struct sk_buff *skb, const struct circuit_net *cn)
{
	const struct {
		int attr;
		const atomic_long_t *value;
	} counters[] = {
		{ TCP_CIRCUIT_STATS_A_OPENED, &cn->opened },
		{ TCP_CIRCUIT_STATS_A_RENO, &cn->reno },
		{ TCP_CIRCUIT_STATS_A_RESTORED, &cn->restored },
		{ TCP_CIRCUIT_STATS_A_TIMEOUTS, &cn->timeouts },
		{ TCP_CIRCUIT_STATS_A_RECOVERIES, &cn->recoveries },
		{ TCP_CIRCUIT_STATS_A_TRIPS, &cn->trips },
		{ TCP_CIRCUIT_STATS_A_RESETS, &cn->resets },
		{ TCP_CIRCUIT_STATS_A_NO_MEMORY, &cn->no_memory },
	};
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(counters) && !err; i++)
		err = put_u64(skb, counters[i].attr,
			      atomic_long_read(counters[i].value));
	return err;
}

int circuit_reply_stats(const struct circuit_net *cn, struct genl_info *info)
{
	struct sk_buff *skb = genlmsg_new(CIRCUIT_MSG_SIZE, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &circuit_family, 0,
				TCP_CIRCUIT_CMD_STATS);
	if (!hdr || put_limits(skb, cn) || put_counters(skb, cn)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

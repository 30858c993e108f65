// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: the family "tcp_circuit"
 *
 * include/uapi/linux/tcp_circuit.h says what each command does, and
 * docs/netlink/tcp_circuit.yaml describes it in the kernel's own format.  Every
 * attribute is validated strictly; every refusal has a sentence.
 */

#include <linux/ctype.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "circuit.h"

/* Bytes of a message beside its prefixes, and for each of them */
#define CIRCUIT_MSG_SIZE	1024
#define CIRCUIT_MSG_PREFIX	36

static struct genl_family circuit_family;

/* Policies */

static struct netlink_range_validation window_range = {
	.min = 1, .max = TCP_CIRCUIT_WINDOW_LIMIT,
};

static struct netlink_range_validation rate_range = {
	.min = 0, .max = TCP_CIRCUIT_RATE_LIMIT,
};

static struct netlink_range_validation ifindex_range = {
	.min = 1, .max = INT_MAX,
};

static struct netlink_range_validation mark_range = {
	.min = 1, .max = U32_MAX,
};

static const struct nla_policy prefix_policy[TCP_CIRCUIT_PREFIX_A_MAX + 1] = {
	[TCP_CIRCUIT_PREFIX_A_ADDRESS]	= NLA_POLICY_RANGE(NLA_BINARY, 4, 16),
	[TCP_CIRCUIT_PREFIX_A_LEN]	= NLA_POLICY_MAX(NLA_U8, 128),
};

#define NAME_POLICY { .type = NLA_NUL_STRING, .len = TCP_CIRCUIT_NAME_LEN - 1 }

static const struct nla_policy new_policy[TCP_CIRCUIT_A_FLAGS + 1] = {
	[TCP_CIRCUIT_A_NAME]	= NAME_POLICY,
	[TCP_CIRCUIT_A_PREFIX]	= NLA_POLICY_NESTED(prefix_policy),
	[TCP_CIRCUIT_A_WINDOW]	= NLA_POLICY_FULL_RANGE(NLA_U32, &window_range),
	[TCP_CIRCUIT_A_RATE]	= NLA_POLICY_FULL_RANGE(NLA_U64, &rate_range),
	[TCP_CIRCUIT_A_IFINDEX]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
	[TCP_CIRCUIT_A_MARK]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mark_range),
	[TCP_CIRCUIT_A_FLAGS]	= NLA_POLICY_MASK(NLA_U32,
						  TCP_CIRCUIT_F_EARLY_WINDOW |
						  TCP_CIRCUIT_F_UNPACED),
};

static const struct nla_policy name_policy[TCP_CIRCUIT_A_NAME + 1] = {
	[TCP_CIRCUIT_A_NAME]	= NAME_POLICY,
};

static const struct nla_policy which_policy[TCP_CIRCUIT_A_ADDRESS + 1] = {
	[TCP_CIRCUIT_A_NAME]	= NAME_POLICY,
	[TCP_CIRCUIT_A_IFINDEX]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
	[TCP_CIRCUIT_A_MARK]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mark_range),
	[TCP_CIRCUIT_A_ADDRESS]	= NLA_POLICY_RANGE(NLA_BINARY, 4, 16),
};

static const struct nla_policy no_policy[2] = {};

/* Reading messages */

static int parse_name(const struct nlattr *attr, char name[TCP_CIRCUIT_NAME_LEN],
		      struct netlink_ext_ack *extack)
{
	const char *c;

	if (!attr) {
		NL_SET_ERR_MSG(extack, "a circuit needs a name");
		return -EINVAL;
	}
	memset(name, 0, TCP_CIRCUIT_NAME_LEN);
	strscpy(name, nla_data(attr), TCP_CIRCUIT_NAME_LEN);
	for (c = name; isascii(*c) && isgraph(*c); c++)
		;
	if (*c || c == name) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "a name is 1 to 31 printable ASCII characters, no blank");
		return -EINVAL;
	}
	return 0;
}

static int parse_address(const struct nlattr *attr, struct match_key *key,
			 struct netlink_ext_ack *extack)
{
	int len = nla_len(attr);

	if (len != 4 && len != 16) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "an address has 4 bytes, or 16 for IPv6");
		return -EINVAL;
	}
	memset(key, 0, sizeof(*key));
	memcpy(key->addr, nla_data(attr), len);
	key->family = len == 4 ? 4 : 6;
	key->len = match_bits(key->family);
	if (key->family == 6 && ipv6_addr_v4mapped(nla_data(attr))) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "an IPv4-mapped address: give the 4 bytes of IPv4");
		return -EINVAL;
	}
	return 0;
}

/* Selectors: part of each key of the circuit */
static void parse_selectors(struct nlattr **attrs, u32 *ifindex, u32 *mark)
{
	*ifindex = attrs[TCP_CIRCUIT_A_IFINDEX] ?
		   nla_get_u32(attrs[TCP_CIRCUIT_A_IFINDEX]) : 0;
	*mark = attrs[TCP_CIRCUIT_A_MARK] ?
		nla_get_u32(attrs[TCP_CIRCUIT_A_MARK]) : 0;
}

static int parse_prefix(const struct nlattr *nest, struct match_key *key,
			struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCP_CIRCUIT_PREFIX_A_MAX + 1];
	int err = nla_parse_nested(tb, TCP_CIRCUIT_PREFIX_A_MAX, nest,
				   prefix_policy, extack);

	if (err)
		return err;
	if (!tb[TCP_CIRCUIT_PREFIX_A_ADDRESS] || !tb[TCP_CIRCUIT_PREFIX_A_LEN]) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a prefix needs an address and a length");
		return -EINVAL;
	}
	err = parse_address(tb[TCP_CIRCUIT_PREFIX_A_ADDRESS], key, extack);
	if (err)
		return err;
	if (nla_get_u8(tb[TCP_CIRCUIT_PREFIX_A_LEN]) > key->len) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCP_CIRCUIT_PREFIX_A_LEN],
				    "a prefix of IPv4 has 32 bits at most");
		return -EINVAL;
	}
	key->len = nla_get_u8(tb[TCP_CIRCUIT_PREFIX_A_LEN]);
	if (!match_tail_is_zero(key->addr, key->len)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCP_CIRCUIT_PREFIX_A_ADDRESS],
				    "the address has bits set behind the prefix length");
		return -EINVAL;
	}
	return 0;
}

static int config_add(struct circuit_config *config, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct circuit_prefix *p;
	struct match_key key;
	int err;

	if (config->n_prefixes >= TCP_CIRCUIT_PREFIXES_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a circuit has 128 prefixes at most");
		return -E2BIG;
	}
	err = parse_prefix(nest, &key, extack);
	if (err)
		return err;
	key.ifindex = config->ifindex;
	key.mark = config->mark;
	if (circuit_config_has(config, &key)) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a prefix is given twice");
		return -EINVAL;
	}
	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	p->key = key;
	list_add_tail(&p->list, &config->prefixes);
	config->n_prefixes++;
	return 0;
}

static int parse_prefixes(struct genl_info *info, struct circuit_config *config)
{
	struct nlattr *attr;
	int rem, err;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != TCP_CIRCUIT_A_PREFIX)
			continue;
		err = config_add(config, attr, info->extack);
		if (err)
			return err;
	}
	if (!config->n_prefixes) {
		NL_SET_ERR_MSG(info->extack, "a circuit needs a prefix");
		return -EINVAL;
	}
	return 0;
}

static bool device_exists(struct net *net, u32 ifindex)
{
	bool exists;

	rcu_read_lock();
	exists = dev_get_by_index_rcu(net, ifindex);
	rcu_read_unlock();
	return exists;
}

static int parse_config(struct genl_info *info, struct circuit_config *config)
{
	struct circuit_net *cn = circuit_net_of(genl_info_net(info));
	struct nlattr **attrs = info->attrs;
	int err = parse_name(attrs[TCP_CIRCUIT_A_NAME], config->name, info->extack);

	if (err)
		return err;
	if (!attrs[TCP_CIRCUIT_A_WINDOW]) {
		NL_SET_ERR_MSG(info->extack, "a circuit needs a window");
		return -EINVAL;
	}
	config->window = nla_get_u32(attrs[TCP_CIRCUIT_A_WINDOW]);
	if (circuit_ceiling(cn, config->window) != config->window) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[TCP_CIRCUIT_A_WINDOW],
				    "the window is above the machine's net.ipv4.tcp_circuit_ceiling_window");
		return -EPERM;
	}
	if (attrs[TCP_CIRCUIT_A_RATE])
		config->rate = nla_get_u64(attrs[TCP_CIRCUIT_A_RATE]);
	if (attrs[TCP_CIRCUIT_A_FLAGS])
		config->flags = nla_get_u32(attrs[TCP_CIRCUIT_A_FLAGS]);
	if (config->flags & TCP_CIRCUIT_F_EARLY_WINDOW &&
	    !IS_ENABLED(CONFIG_NETFILTER)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[TCP_CIRCUIT_A_FLAGS],
				    "an early window needs a kernel with CONFIG_NETFILTER");
		return -EOPNOTSUPP;
	}
	parse_selectors(attrs, &config->ifindex, &config->mark);
	if (config->ifindex &&
	    !device_exists(genl_info_net(info), config->ifindex)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[TCP_CIRCUIT_A_IFINDEX],
				    "the namespace has no device of this index");
		return -ENODEV;
	}
	return parse_prefixes(info, config);
}

/*
 * The circuit that NAME or ADDRESS stand for, referenced; NULL: neither is given.
 * @autos: also one without an object.
 */
static struct circuit *find_which(struct genl_info *info, bool autos)
{
	struct circuit_net *cn = circuit_net_of(genl_info_net(info));
	struct nlattr **attrs = info->attrs;
	char name[TCP_CIRCUIT_NAME_LEN];
	struct match_key peer;
	struct circuit *c;
	int err;

	if (attrs[TCP_CIRCUIT_A_NAME]) {
		err = parse_name(attrs[TCP_CIRCUIT_A_NAME], name, info->extack);
		if (err)
			return ERR_PTR(err);
		c = circuit_find_name(cn, name);
		if (!c)
			NL_SET_ERR_MSG(info->extack, "no circuit of this name");
		return c ?: ERR_PTR(-ENOENT);
	}
	if (!attrs[TCP_CIRCUIT_A_ADDRESS])
		return NULL;
	err = parse_address(attrs[TCP_CIRCUIT_A_ADDRESS], &peer, info->extack);
	if (err)
		return ERR_PTR(err);
	parse_selectors(attrs, &peer.ifindex, &peer.mark);
	c = circuit_match(cn, &peer);
	if (!c && autos)
		c = circuit_find_auto(cn, &peer);
	if (!c)
		NL_SET_ERR_MSG(info->extack, "no circuit leads to this address");
	return c ?: ERR_PTR(-ENOENT);
}

/* Writing messages */

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

/* @all: also whose sockets */
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
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_SEGMENTS,
			e->seen.lost + e->seen.delivered) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_LOST, e->seen.lost) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_CE, e->seen.ce) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_RTT, e->seen.rtt_us) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_RTT_EXPECTED, e->rtt_expected) ||
	    nla_put_u64_64bit(skb, TCP_CIRCUIT_EVIDENCE_A_RATE, e->rate,
			      TCP_CIRCUIT_EVIDENCE_A_PAD) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_THRESHOLD, e->threshold) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_WINDOW, e->window) ||
	    nla_put_u32(skb, TCP_CIRCUIT_EVIDENCE_A_WINDOW_CUT, split_cut(e->window)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* What the administrator gave an object */
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
	    nla_put_u32(skb, TCP_CIRCUIT_A_WINDOW,
			circuit_ceiling(c->cn, READ_ONCE(c->window))) ||
	    (ifindex && nla_put_u32(skb, TCP_CIRCUIT_A_IFINDEX, ifindex)) ||
	    (mark && nla_put_u32(skb, TCP_CIRCUIT_A_MARK, mark)))
		return -EMSGSIZE;
	return 0;
}

/* Whose an auto is */
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

static int put_live(struct sk_buff *skb, struct circuit *c, bool all)
{
	u32 tripped = READ_ONCE(c->tripped_users);

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
	return put_evidence(skb, &c->evidence, all);
}

/* @all: to an administrator */
static int put_circuit(struct sk_buff *skb, struct circuit *c, bool all)
{
	int err = c->name[0] ? put_config(skb, c) : put_auto(skb, c);

	return err ?: put_live(skb, c, all);
}

static struct sk_buff *circuit_skb(const struct circuit *c, gfp_t gfp)
{
	return genlmsg_new(CIRCUIT_MSG_SIZE +
			   (READ_ONCE(c->n_prefixes) + 8) * CIRCUIT_MSG_PREFIX, gfp);
}

/* Events */

/*
 * An auto's event tells whom somebody talks to.  A kernel that cannot close the
 * group to others is told nothing of autos.
 */
static bool group_is_closed(void)
{
#ifdef GENL_MCAST_CAP_NET_ADMIN
	return true;
#else
	return false;
#endif
}

/* @cause: enum tcp_circuit_cause, or 0.  May be called with locks held. */
void circuit_notify(struct circuit *c, u8 cmd, u32 cause, gfp_t gfp)
{
	struct net *net = c->cn->net;
	struct sk_buff *skb;
	void *hdr;

	if (!(c->name[0] || group_is_closed()) ||
	    !genl_has_listeners(&circuit_family, net, 0))
		return;
	skb = circuit_skb(c, gfp);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &circuit_family, 0, cmd);
	if (!hdr || put_circuit(skb, c, group_is_closed()) ||
	    (cause && nla_put_u32(skb, TCP_CIRCUIT_A_CAUSE, cause))) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&circuit_family, net, skb, 0, 0, gfp);
}

/* Commands */

/* May who sent @skb see whom others talk to? */
static bool sees_all(const struct sk_buff *skb, const struct net *net)
{
	return netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN);
}

static int circuit_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct circuit_net *cn = circuit_net_of(genl_info_net(info));
	struct circuit_config *config = kzalloc(sizeof(*config), GFP_KERNEL);
	int err;

	if (!config)
		return -ENOMEM;
	INIT_LIST_HEAD(&config->prefixes);
	err = parse_config(info, config);
	if (!err)
		err = circuit_set(cn, config, info->nlhdr->nlmsg_flags, info->extack);
	circuit_config_free(config);
	kfree(config);
	return err;
}

/* May who sent @skb close breakers that the machine's own limits have tripped? */
static bool may_close(const struct sk_buff *skb, const struct circuit_net *cn)
{
	return !circuit_breaker_is_machines(cn) ||
	       netlink_capable(skb, CAP_NET_ADMIN);
}

static int circuit_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct circuit_net *cn = circuit_net_of(genl_info_net(info));
	char name[TCP_CIRCUIT_NAME_LEN];
	int err = parse_name(info->attrs[TCP_CIRCUIT_A_NAME], name, info->extack);

	return err ?: circuit_del(cn, name, may_close(skb, cn), info->extack);
}

static int circuit_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct circuit *c;

	if (!may_close(skb, circuit_net_of(genl_info_net(info)))) {
		NL_SET_ERR_MSG(info->extack, "only the administrator of the machine may reset it");
		return -EPERM;
	}
	c = find_which(info, true);
	if (IS_ERR(c))
		return PTR_ERR(c);
	if (!c) {
		circuit_reset_all(circuit_net_of(genl_info_net(info)));
		return 0;
	}
	circuit_reset(c);
	circuit_put(c);
	return 0;
}

static int circuit_answer(struct circuit *c, struct genl_info *info, bool all)
{
	struct sk_buff *skb = circuit_skb(c, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &circuit_family, 0, TCP_CIRCUIT_CMD_GET);
	if (!hdr || put_circuit(skb, c, all)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

static int circuit_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	bool all = sees_all(skb, genl_info_net(info));
	struct circuit *c = find_which(info, all);
	int err;

	if (IS_ERR(c))
		return PTR_ERR(c);
	if (!c) {
		NL_SET_ERR_MSG(info->extack, "which circuit? give a name, an address, or dump");
		return -EINVAL;
	}
	err = circuit_answer(c, info, all);
	circuit_put(c);
	return err;
}

static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    struct circuit *c, bool all)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&circuit_family, NLM_F_MULTI, TCP_CIRCUIT_CMD_GET);

	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	if (put_circuit(skb, c, all)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* A socket's first dump has one page: too little for a circuit of many prefixes. */
static int circuit_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = CIRCUIT_MSG_SIZE +
			     (TCP_CIRCUIT_PREFIXES_MAX + 8) * CIRCUIT_MSG_PREFIX;
	return 0;
}

/* In the order of ids, so that what is added meanwhile comes at the end. */
static int circuit_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(skb->sk);
	struct circuit_net *cn = circuit_net_of(net);
	bool all = sees_all(cb->skb, net);
	unsigned long id;
	struct circuit *c;
	int err = 0;

	cb->seq = READ_ONCE(cn->generation);
	rcu_read_lock();
	xa_for_each_start(&cn->circuits, id, c, cb->args[0]) {
		if (!c->name[0] && !all)
			continue;
		err = dump_one(skb, cb, c, all);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	rcu_read_unlock();
	return err && !skb->len ? err : skb->len;
}

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

static int circuit_stats_doit(struct sk_buff *request, struct genl_info *info)
{
	const struct circuit_net *cn = circuit_net_of(genl_info_net(info));
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

static const struct genl_ops circuit_genl_ops[] = {
	{
		.cmd		= TCP_CIRCUIT_CMD_NEW,
		.flags		= GENL_UNS_ADMIN_PERM,
		.policy		= new_policy,
		.maxattr	= ARRAY_SIZE(new_policy) - 1,
		.doit		= circuit_new_doit,
	},
	{
		.cmd		= TCP_CIRCUIT_CMD_DEL,
		.flags		= GENL_UNS_ADMIN_PERM,
		.policy		= name_policy,
		.maxattr	= ARRAY_SIZE(name_policy) - 1,
		.doit		= circuit_del_doit,
	},
	{
		.cmd		= TCP_CIRCUIT_CMD_GET,
		.policy		= which_policy,
		.maxattr	= ARRAY_SIZE(which_policy) - 1,
		.doit		= circuit_get_doit,
		.start		= circuit_get_start,
		.dumpit		= circuit_get_dumpit,
	},
	{
		.cmd		= TCP_CIRCUIT_CMD_RESET,
		.flags		= GENL_UNS_ADMIN_PERM,
		.policy		= which_policy,
		.maxattr	= ARRAY_SIZE(which_policy) - 1,
		.doit		= circuit_reset_doit,
	},
	{
		.cmd		= TCP_CIRCUIT_CMD_STATS,
		.policy		= no_policy,
		.maxattr	= ARRAY_SIZE(no_policy) - 1,
		.doit		= circuit_stats_doit,
	},
};

static const struct genl_multicast_group circuit_groups[] = {
	{
		.name	= TCP_CIRCUIT_MCGRP_EVENTS,
#ifdef GENL_MCAST_CAP_NET_ADMIN
		.flags	= GENL_MCAST_CAP_NET_ADMIN,
#endif
	},
};

static struct genl_family circuit_family __ro_after_init = {
	.name		= TCP_CIRCUIT_GENL_NAME,
	.version	= TCP_CIRCUIT_GENL_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.parallel_ops	= true,
#ifdef HAVE_GENL_RESV_START_OP
	/* NEW says by flags what it does, as rtnetlink does. */
	.resv_start_op	= TCP_CIRCUIT_CMD_DEL,
#endif
	.ops		= circuit_genl_ops,
	.n_ops		= ARRAY_SIZE(circuit_genl_ops),
	.mcgrps		= circuit_groups,
	.n_mcgrps	= ARRAY_SIZE(circuit_groups),
};

int __init circuit_netlink_register(void)
{
	return genl_register_family(&circuit_family);
}

void circuit_netlink_unregister(void)
{
	genl_unregister_family(&circuit_family);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink requests: from attributes to the configuration of a circuit, or to a
 * circuit that exists
 *
 * A request is checked in two steps.  The netlink core validates each attribute
 * strictly against a policy: its type, length and range; an attribute that the
 * command does not know is an error.  What a policy cannot express is checked here:
 * which attributes are required, and how their values depend on each other.  Nothing
 * is changed yet: the result is a circuit_config for circuit_set(), or a reference to
 * the circuit that the request names.
 *
 * Every refusal sets an extack message, and the offending attribute where there is
 * one.
 */

#include <linux/ctype.h>
#include <linux/slab.h>

#include "netlink.h"

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

const struct nla_policy circuit_new_policy[TCP_CIRCUIT_A_FLAGS + 1] = {
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

const struct nla_policy circuit_del_policy[TCP_CIRCUIT_A_NAME + 1] = {
	[TCP_CIRCUIT_A_NAME]	= NAME_POLICY,
};

const struct nla_policy circuit_find_policy[TCP_CIRCUIT_A_ADDRESS + 1] = {
	[TCP_CIRCUIT_A_NAME]	= NAME_POLICY,
	[TCP_CIRCUIT_A_IFINDEX]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
	[TCP_CIRCUIT_A_MARK]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mark_range),
	[TCP_CIRCUIT_A_ADDRESS]	= NLA_POLICY_RANGE(NLA_BINARY, 4, 16),
};

/* Single attributes */

int circuit_parse_name(const struct nlattr *attr, char name[TCP_CIRCUIT_NAME_LEN],
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
				    "a name must be 1 to 31 printable ASCII characters without spaces");
		return -EINVAL;
	}
	return 0;
}

/* A full address: @key matches one host. */
static int parse_address(const struct nlattr *attr, struct match_key *key,
			 struct netlink_ext_ack *extack)
{
	int len = nla_len(attr);

	if (len != 4 && len != 16) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "an address must be 4 bytes (IPv4) or 16 bytes (IPv6) long");
		return -EINVAL;
	}
	memset(key, 0, sizeof(*key));
	memcpy(key->addr, nla_data(attr), len);
	key->family = len == 4 ? 4 : 6;
	key->len = match_bits(key->family);
	if (key->family == 6 && ipv6_addr_v4mapped(nla_data(attr))) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "an IPv4-mapped address must be given as the 4 bytes of IPv4");
		return -EINVAL;
	}
	return 0;
}

static u32 parse_u32(const struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

/* Selectors: part of each key of the circuit, 0 = any */
static void parse_selectors(struct nlattr **attrs, u32 *ifindex, u32 *mark)
{
	*ifindex = parse_u32(attrs[TCP_CIRCUIT_A_IFINDEX]);
	*mark = parse_u32(attrs[TCP_CIRCUIT_A_MARK]);
}

/* Prefixes */

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
				    "the length of an IPv4 prefix is at most 32");
		return -EINVAL;
	}
	key->len = nla_get_u8(tb[TCP_CIRCUIT_PREFIX_A_LEN]);
	if (!match_tail_is_zero(key->addr, key->len)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCP_CIRCUIT_PREFIX_A_ADDRESS],
				    "the address has bits set beyond the prefix length");
		return -EINVAL;
	}
	return 0;
}

static int add_prefix(struct circuit_config *config, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct circuit_prefix *p;
	struct match_key key;
	int err;

	if (config->n_prefixes >= TCP_CIRCUIT_PREFIXES_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a circuit can have at most 128 prefixes");
		return -E2BIG;
	}
	err = parse_prefix(nest, &key, extack);
	if (err)
		return err;
	key.ifindex = config->ifindex;
	key.mark = config->mark;
	if (circuit_config_has(config, &key)) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "this prefix is given twice");
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
		err = add_prefix(config, attr, info->extack);
		if (err)
			return err;
	}
	if (!config->n_prefixes) {
		NL_SET_ERR_MSG(info->extack, "a circuit needs a prefix");
		return -EINVAL;
	}
	return 0;
}

/* The configuration of a circuit, for NEW */

static int parse_window(struct genl_info *info, struct circuit_config *config)
{
	const struct nlattr *attr = info->attrs[TCP_CIRCUIT_A_WINDOW];
	struct circuit_net *cn = circuit_net_of(genl_info_net(info));

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "a circuit needs a window");
		return -EINVAL;
	}
	config->window = nla_get_u32(attr);
	if (circuit_ceiling(cn, config->window) != config->window) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the window is above the machine's net.ipv4.tcp_circuit_ceiling_window");
		return -EPERM;
	}
	return 0;
}

static int parse_flags(struct genl_info *info, struct circuit_config *config)
{
	const struct nlattr *attr = info->attrs[TCP_CIRCUIT_A_FLAGS];

	config->flags = parse_u32(attr);
	if (config->flags & TCP_CIRCUIT_F_EARLY_WINDOW &&
	    !IS_ENABLED(CONFIG_NETFILTER)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "an early window needs a kernel with CONFIG_NETFILTER");
		return -EOPNOTSUPP;
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

/* @config is empty; the caller calls circuit_config_free(), also after a failure. */
int circuit_parse_config(struct genl_info *info, struct circuit_config *config)
{
	struct nlattr **attrs = info->attrs;
	int err;

	err = circuit_parse_name(attrs[TCP_CIRCUIT_A_NAME], config->name,
				 info->extack);
	if (!err)
		err = parse_window(info, config);
	if (!err)
		err = parse_flags(info, config);
	if (err)
		return err;
	if (attrs[TCP_CIRCUIT_A_RATE])
		config->rate = nla_get_u64(attrs[TCP_CIRCUIT_A_RATE]);
	parse_selectors(attrs, &config->ifindex, &config->mark);
	if (config->ifindex &&
	    !device_exists(genl_info_net(info), config->ifindex)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[TCP_CIRCUIT_A_IFINDEX],
				    "the namespace has no device with this index");
		return -ENODEV;
	}
	return parse_prefixes(info, config);
}

/* A circuit that exists, for GET and RESET */

static struct circuit *find_by_name(struct genl_info *info)
{
	char name[TCP_CIRCUIT_NAME_LEN];
	struct circuit *c;
	int err;

	err = circuit_parse_name(info->attrs[TCP_CIRCUIT_A_NAME], name,
				 info->extack);
	if (err)
		return ERR_PTR(err);
	c = circuit_find_name(circuit_net_of(genl_info_net(info)), name);
	if (!c)
		NL_SET_ERR_MSG(info->extack, "no circuit with this name");
	return c ?: ERR_PTR(-ENOENT);
}

static struct circuit *find_by_address(struct genl_info *info, bool autos,
				       struct match_key *peer)
{
	struct circuit_net *cn = circuit_net_of(genl_info_net(info));
	struct nlattr **attrs = info->attrs;
	struct circuit *c;
	int err;

	err = parse_address(attrs[TCP_CIRCUIT_A_ADDRESS], peer, info->extack);
	if (err)
		return ERR_PTR(err);
	parse_selectors(attrs, &peer->ifindex, &peer->mark);
	c = circuit_match(cn, peer);
	if (!c && autos)
		c = circuit_find_auto(cn, peer);
	if (!c)
		NL_SET_ERR_MSG(info->extack, "no circuit matches this address");
	return c ?: ERR_PTR(-ENOENT);
}

/* A selector without an address would select nothing, and RESET then means all. */
static int check_find(struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	const struct nlattr *selector = attrs[TCP_CIRCUIT_A_IFINDEX] ?:
					attrs[TCP_CIRCUIT_A_MARK];

	if (selector && !attrs[TCP_CIRCUIT_A_ADDRESS]) {
		NL_SET_ERR_MSG_ATTR(info->extack, selector,
				    "a device or a mark selects a circuit only with an address");
		return -EINVAL;
	}
	if (attrs[TCP_CIRCUIT_A_NAME] && attrs[TCP_CIRCUIT_A_ADDRESS]) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[TCP_CIRCUIT_A_ADDRESS],
				    "give a name or an address, not both");
		return -EINVAL;
	}
	return 0;
}

/*
 * The circuit with this NAME, or the one that ADDRESS belongs to, which is then in
 * @peer, with a reference; NULL if neither is given.  @autos: also automatic circuits,
 * the first of several.
 */
struct circuit *circuit_parse_find(struct genl_info *info, bool autos,
				   struct match_key *peer)
{
	int err = check_find(info);

	if (err)
		return ERR_PTR(err);
	if (info->attrs[TCP_CIRCUIT_A_NAME])
		return find_by_name(info);
	if (info->attrs[TCP_CIRCUIT_A_ADDRESS])
		return find_by_address(info, autos, peer);
	return NULL;
}

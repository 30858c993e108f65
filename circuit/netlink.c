// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "tcp_circuit"
 *
 * include/uapi/linux/tcp_circuit.h says what each command does, and
 * docs/netlink/tcp_circuit.yaml describes it in the kernel's own format.  A command
 * parses its request (netlink_parse.c), changes or looks up a circuit, and replies
 * (netlink_put.c).
 *
 * Changes require CAP_NET_ADMIN in the user namespace that owns the network
 * namespace; the core checks that.  Anybody may read objects.  Automatic circuits and
 * events are for administrators only, as they show whom others talk to.
 * Where the machine's own limits bind all breakers (tcp_circuit_ceiling_breaker), only
 * the machine's administrator may close one.
 *
 * Commands run in parallel; circuit_set() and circuit_del() take circuit_net.mutex.
 */

#include <linux/slab.h>

#include "netlink.h"

/* Privileges */

/* May the sender of @skb see whom others talk to? */
static bool sees_all(const struct sk_buff *skb, const struct net *net)
{
	return netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN);
}

/*
 * May the sender of @skb close breakers, also by removing their circuit?  In another
 * namespace only the machine's administrator: a container that shares the machine's user
 * namespace may have been given CAP_NET_ADMIN, but not CAP_SYS_ADMIN.
 */
static bool may_close(const struct sk_buff *skb, const struct circuit_net *cn)
{
	return !circuit_breaker_is_machines(cn) ||
	       netlink_capable(skb, CAP_SYS_ADMIN);
}

/* Commands */

static int circuit_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct circuit_net *cn = circuit_net_of(genl_info_net(info));
	struct circuit_config *config = kzalloc(sizeof(*config), GFP_KERNEL);
	int err;

	if (!config)
		return -ENOMEM;
	INIT_LIST_HEAD(&config->prefixes);
	err = circuit_parse_config(info, config);
	if (!err)
		err = circuit_set(cn, config, info->nlhdr->nlmsg_flags, info->extack);
	circuit_config_free(config);
	kfree(config);
	return err;
}

static int circuit_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct circuit_net *cn = circuit_net_of(genl_info_net(info));
	char name[TCP_CIRCUIT_NAME_LEN];
	int err;

	err = circuit_parse_name(info->attrs[TCP_CIRCUIT_A_NAME], name,
				 info->extack);
	return err ?: circuit_del(cn, name, may_close(skb, cn), info->extack);
}

static int circuit_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct circuit_net *cn = circuit_net_of(genl_info_net(info));
	struct match_key peer;
	struct circuit *c;

	if (!may_close(skb, cn)) {
		NL_SET_ERR_MSG(info->extack,
			       "only the machine's administrator may close this breaker");
		return -EPERM;
	}
	c = circuit_parse_find(info, true, &peer);
	if (IS_ERR(c))
		return PTR_ERR(c);
	if (!c)
		circuit_reset_all(cn);
	else if (c->name[0])
		circuit_reset(c);
	else
		circuit_reset_peer(cn, &peer);
	if (c)
		circuit_put(c);
	return 0;
}

static int circuit_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	bool all = sees_all(skb, genl_info_net(info));
	struct match_key peer;
	struct circuit *c = circuit_parse_find(info, all, &peer);
	int err;

	if (IS_ERR(c))
		return PTR_ERR(c);
	if (!c) {
		NL_SET_ERR_MSG(info->extack,
			       "a name or an address is needed, or NLM_F_DUMP");
		return -EINVAL;
	}
	err = circuit_reply(c, info, all);
	circuit_put(c);
	return err;
}

/* The buffer for a socket's first dump is one page, too small for many prefixes. */
static int circuit_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = circuit_message_size();
	return 0;
}

/* In the order of ids, so circuits added during the dump come at its end. */
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
		err = circuit_dump(skb, cb, c, all);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	rcu_read_unlock();
	return err && !skb->len ? err : skb->len;
}

static int circuit_stats_doit(struct sk_buff *skb, struct genl_info *info)
{
	return circuit_reply_stats(circuit_net_of(genl_info_net(info)), info);
}

/* The family */

static const struct nla_policy no_policy[2] = {};

static const struct genl_ops circuit_genl_ops[] = {
	{
		.cmd		= TCP_CIRCUIT_CMD_NEW,
		.flags		= GENL_UNS_ADMIN_PERM,
		.policy		= circuit_new_policy,
		.maxattr	= ARRAY_SIZE(circuit_new_policy) - 1,
		.doit		= circuit_new_doit,
	},
	{
		.cmd		= TCP_CIRCUIT_CMD_DEL,
		.flags		= GENL_UNS_ADMIN_PERM,
		.policy		= circuit_del_policy,
		.maxattr	= ARRAY_SIZE(circuit_del_policy) - 1,
		.doit		= circuit_del_doit,
	},
	{
		.cmd		= TCP_CIRCUIT_CMD_GET,
		.policy		= circuit_find_policy,
		.maxattr	= ARRAY_SIZE(circuit_find_policy) - 1,
		.doit		= circuit_get_doit,
		.start		= circuit_get_start,
		.dumpit		= circuit_get_dumpit,
	},
	{
		.cmd		= TCP_CIRCUIT_CMD_RESET,
		.flags		= GENL_UNS_ADMIN_PERM,
		.policy		= circuit_find_policy,
		.maxattr	= ARRAY_SIZE(circuit_find_policy) - 1,
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
#ifdef CIRCUIT_MCGRP_FLAGS
		.flags	= CIRCUIT_MCGRP_FLAGS,
#endif
	},
};

struct genl_family circuit_family __ro_after_init = {
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

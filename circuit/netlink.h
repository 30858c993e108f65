/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the three parts of the netlink family share: netlink.c has its commands,
 * netlink_parse.c reads requests, netlink_put.c writes messages
 */
#ifndef _CIRCUIT_NETLINK_H
#define _CIRCUIT_NETLINK_H

#include <net/genetlink.h>

#include "circuit.h"

/* netlink.c */
extern struct genl_family circuit_family;

/* netlink_parse.c */
extern const struct nla_policy circuit_new_policy[TCP_CIRCUIT_A_FLAGS + 1];
extern const struct nla_policy circuit_del_policy[TCP_CIRCUIT_A_NAME + 1];
extern const struct nla_policy circuit_find_policy[TCP_CIRCUIT_A_ADDRESS + 1];

int circuit_parse_name(const struct nlattr *attr, char name[TCP_CIRCUIT_NAME_LEN],
		       struct netlink_ext_ack *extack);
int circuit_parse_config(struct genl_info *info, struct circuit_config *config);
struct circuit *circuit_parse_find(struct genl_info *info, bool autos,
				   struct match_key *peer);

/* netlink_put.c; @all: the reader may see whom others talk to */
size_t circuit_message_size(void);
int circuit_reply(struct circuit *c, struct genl_info *info, bool all);
int circuit_dump(struct sk_buff *skb, struct netlink_callback *cb,
		 struct circuit *c, bool all);
int circuit_reply_stats(const struct circuit_net *cn, struct genl_info *info);

#endif /* _CIRCUIT_NETLINK_H */

// SPDX-License-Identifier: GPL-2.0
// 6.6, "sysctl: Add size to register_net_sysctl function"
// absent: register_net_sysctl_sz
#include <net/net_namespace.h>

void *probe(struct net *net, struct ctl_table *table)
{
	return register_net_sysctl_sz(net, "net/ipv4", table, 1);
}

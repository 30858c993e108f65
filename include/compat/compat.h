/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tcp_circuit.c needs on kernels that lack it, 5.10 to today.
 *
 * HAVE_* come from probe.sh, which compiles one small file for each feature
 * against the headers at hand: stable and vendor kernels backport, so a version
 * number proves nothing.
 */
#ifndef _TCP_CIRCUIT_COMPAT_H
#define _TCP_CIRCUIT_COMPAT_H

#include "compat-config.h"

#include <linux/hrtimer.h>
#ifdef HAVE_HRTIMER_BASES
#include <linux/hrtimer_bases.h>
#endif
#include <linux/sysctl.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/tcp.h>
#ifdef HAVE_PROTO_MEMORY
#include <net/proto_memory.h>
#endif

#ifndef HAVE_TCP_SND_CWND_SET
static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp)
{
	return tp->snd_cwnd;
}

static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 val)
{
	tp->snd_cwnd = val;
}
#endif

/* What a sysctl's handler is given */
#ifdef HAVE_CONST_CTL_TABLE
#define CIRCUIT_CTL_TABLE const struct ctl_table
#else
#define CIRCUIT_CTL_TABLE struct ctl_table
#endif

/*
 * Flags of a multicast group that only administrators may join.  Kernels that have no
 * name of their own for it take a command's flag there; without a flag, the group is
 * open to everybody.
 */
#if defined(GENL_MCAST_CAP_NET_ADMIN)
#define CIRCUIT_MCGRP_FLAGS	GENL_MCAST_CAP_NET_ADMIN
#elif defined(HAVE_GENL_MCAST_FLAGS)
#define CIRCUIT_MCGRP_FLAGS	GENL_UNS_ADMIN_PERM
#endif

/*
 * @table ends with an empty entry, which older kernels need, and has @entries
 * without it, which newer ones want to be told.
 */
static inline struct ctl_table_header *
circuit_register_sysctl(struct net *net, const char *path,
			struct ctl_table *table, size_t entries)
{
#ifdef HAVE_REGISTER_NET_SYSCTL_SZ
	return register_net_sysctl_sz(net, path, table, entries);
#else
	return register_net_sysctl(net, path, table);
#endif
}

#endif /* _TCP_CIRCUIT_COMPAT_H */

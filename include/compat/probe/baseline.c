// SPDX-License-Identifier: GPL-2.0
// Compiles everywhere.  When it does not, the headers or the compiler are at
// fault, and what the other probes say would be worth nothing.
#include <linux/netfilter.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

struct tcp_congestion_ops probe = { .name = "probe" };

// SPDX-License-Identifier: GPL-2.0
// 6.10, "tcp: Add new args for cong_control in tcp_congestion_ops"
// absent: incompatible( function)? pointer type
#include <net/tcp.h>

static void control(struct sock *sk, u32 ack, int flag,
		    const struct rate_sample *rs)
{
}

struct tcp_congestion_ops probe = { .cong_control = control };

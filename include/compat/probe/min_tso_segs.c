// SPDX-License-Identifier: GPL-2.0
// 4.16; kernels with BBRv3 have tso_segs() in its place
// absent: min_tso_segs
#include <net/tcp.h>

static u32 segs(struct sock *sk)
{
	return 1;
}

struct tcp_congestion_ops probe = { .min_tso_segs = segs };

// SPDX-License-Identifier: GPL-2.0
// 7.1: CA_EVENT_TX_START no longer comes through cwnd_event()
// absent: cwnd_event_tx_start
#include <net/tcp.h>

static void tx_start(struct sock *sk)
{
}

struct tcp_congestion_ops probe = { .cwnd_event_tx_start = tx_start };

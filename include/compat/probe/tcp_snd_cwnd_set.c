// SPDX-License-Identifier: GPL-2.0
// 5.19, "tcp: add accessors to read/set tp->snd_cwnd"
// absent: tcp_snd_cwnd_set
#include <net/tcp.h>

void probe(struct tcp_sock *tp)
{
	tcp_snd_cwnd_set(tp, 1);
}

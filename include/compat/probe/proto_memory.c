// SPDX-License-Identifier: GPL-2.0
// 6.10, "net: add <net/proto_memory.h>"; in net/sock.h before
// absent: net/proto_memory.h.*(No such file|file not found)
#include <net/proto_memory.h>

long probe(const struct sock *sk)
{
	return sk_memory_allocated(sk);
}

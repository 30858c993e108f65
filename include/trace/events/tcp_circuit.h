/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: tcp_circuit:tcp_circuit_stream when a stream becomes idle, modest
 * or hungry; tcp_circuit:tcp_circuit_breaker when a breaker trips or closes.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_circuit

#if !defined(_TRACE_TCP_CIRCUIT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TCP_CIRCUIT_H

#include <linux/in6.h>
#include <linux/tracepoint.h>
#include <net/inet_sock.h>

TRACE_EVENT(tcp_circuit_stream,
	TP_PROTO(const struct sock *sk, u8 state, u32 part),

	TP_ARGS(sk, state, part),

	TP_STRUCT__entry(
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, part)
		__field(u8, state)
	),

	TP_fast_assign(
		__entry->sport = ntohs(inet_sk(sk)->inet_sport);
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->part = part;
		__entry->state = state;
	),

	TP_printk("sport=%u dport=%u state=%s part=%u",
		  __entry->sport, __entry->dport,
		  __print_symbolic(__entry->state, { 0, "idle" },
				   { 1, "modest" }, { 2, "hungry" }),
		  __entry->part)
);

TRACE_EVENT(tcp_circuit_breaker,
	TP_PROTO(const struct in6_addr *peer, u32 id, bool tripped, u32 loss),

	TP_ARGS(peer, id, tripped, loss),

	TP_STRUCT__entry(
		__array(u8, peer, 16)
		__field(u32, id)
		__field(u32, loss)
		__field(bool, tripped)
	),

	TP_fast_assign(
		memcpy(__entry->peer, peer, 16);
		__entry->id = id;
		__entry->loss = loss;
		__entry->tripped = tripped;
	),

	TP_printk("peer=%pI6c id=%u %s loss=%u/1000", __entry->peer,
		  __entry->id, __entry->tripped ? "tripped" : "closed",
		  __entry->loss)
);

#endif /* _TRACE_TCP_CIRCUIT_H */

#include <trace/define_trace.h>

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: tcp_circuit:tcp_circuit_stream when a stream becomes idle, modest
 * or hungry; tcp_circuit:tcp_circuit_breaker when a breaker trips or closes.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_circuit

#if !defined(_TRACE_TCP_CIRCUIT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TCP_CIRCUIT_H

#include <linux/tracepoint.h>
#include <net/inet_sock.h>

struct circuit;

TRACE_EVENT(tcp_circuit_stream,
	TP_PROTO(const struct sock *sk, u8 state, u32 share),

	TP_ARGS(sk, state, share),

	TP_STRUCT__entry(
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, share)
		__field(u8, state)
	),

	TP_fast_assign(
		__entry->sport = ntohs(inet_sk(sk)->inet_sport);
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->share = share;
		__entry->state = state;
	),

	TP_printk("sport=%u dport=%u state=%s share=%u",
		  __entry->sport, __entry->dport,
		  __print_symbolic(__entry->state, { 0, "idle" },
				   { 1, "modest" }, { 2, "hungry" }),
		  __entry->share)
);

TRACE_EVENT(tcp_circuit_breaker,
	TP_PROTO(const struct circuit *c, bool tripped),

	TP_ARGS(c, tripped),

	TP_STRUCT__entry(
		__array(char, name, 64)
		__field(u32, id)
		__field(u32, uid)
		__field(u32, reason)
		__field(u32, lost)
		__field(u32, delivered)
		__field(bool, tripped)
	),

	TP_fast_assign(
		circuit_peer_name(c, __entry->name, 64);
		__entry->id = c->id;
		__entry->uid = c->evidence.uid;
		__entry->reason = c->evidence.reason;
		__entry->lost = c->evidence.seen.lost;
		__entry->delivered = c->evidence.seen.delivered;
		__entry->tripped = tripped;
	),

	TP_printk("circuit=%s id=%u uid=%u %s reason=%s lost=%u delivered=%u",
		  __entry->name, __entry->id, __entry->uid,
		  __entry->tripped ? "tripped" : "closed",
		  __print_symbolic(__entry->reason, { 0, "none" },
				   { 1, "loss" }, { 2, "ce" }, { 3, "delay" },
				   { 4, "shortfall" }),
		  __entry->lost, __entry->delivered)
);

#endif /* _TRACE_TCP_CIRCUIT_H */

#include <trace/define_trace.h>

/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Circuit TCP: the socket options of the congestion control "circuit".
 *
 * This header needs no other of ours and may be copied into an application.
 *
 *	__u32 fcwnd = 11163;
 *
 *	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "circuit", 7);
 *	setsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND, &fcwnd, sizeof(fcwnd));
 *
 * The options work on every TCP socket whose algorithm is circuit, IPv4, IPv6
 * and v4-mapped: before connect(), after it, and on a listener, whose accepted
 * sockets inherit what was set.  connect(AF_UNSPEC) forgets it, as it forgets all
 * other state of a congestion control.
 *
 * errno, for all options; a call that fails changes nothing:
 *	ENOPROTOOPT	not a TCP socket, another algorithm than circuit, no such
 *			option, module not loaded, kernel without CONFIG_NETFILTER
 *			(an MPTCP socket: on get EOPNOTSUPP)
 *	EINVAL		wrong length, or a value out of range
 *	EPERM		more than fcwnd_max, a higher rate than the namespace's, or
 *			another id while the breaker has tripped, without
 *			CAP_NET_ADMIN in the user namespace that owns the network
 *			namespace
 *	EFAULT		bad pointer
 */
#ifndef _UAPI_LINUX_TCP_CIRCUIT_H
#define _UAPI_LINUX_TCP_CIRCUIT_H

#include <linux/types.h>

/* The level of all options here: IPPROTO_IP, also on IPv6 sockets. */
#define SOL_TCP_CIRCUIT		0

/*
 * Set and get, __u32 segments: a window of this socket's own, which it shares
 * with no other (but see TCP_CIRCUIT_ID).  On set, 0 gives the choice back to
 * the route, the namespace and the module, whose window is that of the whole
 * circuit.  On get, the window that holds now, wherever it came from, before it
 * is shared, or cut by a breaker.  On set the length must be that of a __u32; on
 * get it may be larger.
 */
#define TCP_CIRCUIT_FCWND	0x4354

/*
 * Set and get, __u64 bytes/s as a qdisc counts them (L2 without preamble and
 * FCS): the pace of this socket.  On set, 0 gives the choice back to the
 * namespace's rate, which the streams of a circuit share, and
 * TCP_CIRCUIT_RATE_UNPACED takes all pace away.  SO_MAX_PACING_RATE, payload
 * bytes/s, holds beside it.  On get, the rate that holds now, 0 = unpaced.
 */
#define TCP_CIRCUIT_RATE	0x4355

/*
 * Get only, struct tcp_circuit_info.  The struct grows only at its end.  The
 * kernel writes as many bytes as both sides know and says how many: an old
 * program on a new module gets a prefix, a new program on an old module must
 * look at the returned length.  At least one byte must be asked for.
 */
#define TCP_CIRCUIT_INFO	0x4356

/*
 * Set and get, __u32: which circuit of its namespace the socket belongs to.  0
 * (the default): the one to its peer's address.  Sockets with the same id share
 * one window, whatever their peers, also one set by TCP_CIRCUIT_FCWND, which all of
 * them should set alike: of different windows the smaller gets nothing.
 */
#define TCP_CIRCUIT_ID		0x4357

/* The largest window of one socket, segments: 1 GiB of 1024-byte segments. */
#define TCP_CIRCUIT_FCWND_LIMIT	1048576U

/* The largest window of a circuit, segments: 400 Gbit/s for 1.6 s. */
#define TCP_CIRCUIT_WINDOW_LIMIT	67108864U

/* The highest rate, bytes/s: 1 Tbit/s. */
#define TCP_CIRCUIT_RATE_LIMIT	125000000000ULL

/* No pace, whatever the namespace's rate. */
#define TCP_CIRCUIT_RATE_UNPACED	(~0ULL)

/* Where a socket's window came from; the first that is set wins. */
enum tcp_circuit_source {
	TCP_CIRCUIT_SOURCE_NONE	   = 0,	/* nothing set: TCP's initial window */
	TCP_CIRCUIT_SOURCE_SOCKET  = 1,	/* TCP_CIRCUIT_FCWND */
	TCP_CIRCUIT_SOURCE_ROUTE   = 2,	/* ip route ... initcwnd */
	TCP_CIRCUIT_SOURCE_NETNS   = 3,	/* net.ipv4.tcp_circuit_fcwnd */
	TCP_CIRCUIT_SOURCE_MODULE  = 4,	/* module parameter fcwnd */
};

/* What a stream draws from its circuit's window. */
enum tcp_circuit_state {
	TCP_CIRCUIT_STREAM_IDLE	  = 0,	/* nothing to send: nothing */
	TCP_CIRCUIT_STREAM_MODEST = 1,	/* what it uses, less than its share */
	TCP_CIRCUIT_STREAM_HUNGRY = 2,	/* an equal share of the rest */
};

/* The circuit breaker (RFC 8084). */
enum tcp_circuit_breaker {
	TCP_CIRCUIT_BREAKER_CLOSED  = 0,	/* the circuit carries */
	TCP_CIRCUIT_BREAKER_TRIPPED = 1,	/* cut, for persistent loss */
};

struct tcp_circuit_info {
	__u32	tci_fcwnd;	/* window before it is shared or cut, segments */
	__u32	tci_source;	/* enum tcp_circuit_source */
	__u32	tci_asked;	/* window set by TCP_CIRCUIT_FCWND, 0 = none */
	__u32	tci_fcwnd_max;	/* most that the unprivileged may ask, segments */
	__u32	tci_snd_cwnd;	/* the kernel's window at this moment, segments */
	__u32	tci_restored;	/* times a window that TCP had cut was restored */
	__u32	tci_losses;	/* retransmission timeouts entered */
	__u32	tci_recoveries;	/* fast recoveries entered */

	__u64	tci_rate;	/* that holds, of socket or circuit, 0 = unpaced */
	__u32	tci_id;		/* TCP_CIRCUIT_ID */
	__u32	tci_state;	/* enum tcp_circuit_state */
	__u32	tci_part;	/* what it holds of the circuit's window, segments */
	__u32	tci_burst;	/* most that is sent at once when paced, segments */

	/* The circuit that it is a stream of, 0 before there is one */
	__u32	tci_sockets;	/* sockets of the circuit */
	__u32	tci_hungry;	/* those that share its window equally */
	__u32	tci_held;	/* what all streams together hold, segments */
	__u32	tci_breaker;	/* enum tcp_circuit_breaker */
	__u32	tci_trips;	/* times the breaker has tripped */
	__u32	tci_loss;	/* loss that tripped it last, in thousandths */
	__u64	tci_delivered;	/* segments delivered, all streams */
	__u64	tci_lost;	/* segments sent again, less duplicates */
};

#endif /* _UAPI_LINUX_TCP_CIRCUIT_H */

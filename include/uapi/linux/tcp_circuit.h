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
 * sockets inherit the window.  connect(AF_UNSPEC) forgets it, as it forgets all
 * other state of a congestion control.
 *
 * errno, for either option; a call that fails changes nothing:
 *	ENOPROTOOPT	not a TCP socket, another algorithm than circuit, no such
 *			option, module not loaded (MPTCP: EOPNOTSUPP)
 *	EINVAL		wrong length, or a value out of range
 *	EPERM		more than fcwnd_max, without CAP_NET_ADMIN in the user
 *			namespace that owns the network namespace
 *	EFAULT		bad pointer
 */
#ifndef _UAPI_LINUX_TCP_CIRCUIT_H
#define _UAPI_LINUX_TCP_CIRCUIT_H

#include <linux/types.h>

/* The level of all options here: IPPROTO_IP, also on IPv6 sockets. */
#define SOL_TCP_CIRCUIT		0

/*
 * Set and get, __u32 segments: the window of this socket.  On set, 0 gives the
 * choice back to the route, the namespace and the module.  On get, the window
 * that holds now, wherever it came from.  On set the length must be that of a
 * __u32; on get it may be larger.
 */
#define TCP_CIRCUIT_FCWND	0x4354

/* 0x4355 is kept free for a pacing rate. */

/*
 * Get only, struct tcp_circuit_info.  The struct grows only at its end.  The
 * kernel writes as many bytes as both sides know and says how many: an old
 * program on a new module gets a prefix, a new program on an old module must
 * look at the returned length.  At least one byte must be asked for.
 */
#define TCP_CIRCUIT_INFO	0x4356

/* The largest window there is, segments: 1 GiB of 1024-byte segments. */
#define TCP_CIRCUIT_FCWND_LIMIT	1048576U

/* Where a socket's window came from; the first that is set wins. */
enum tcp_circuit_source {
	TCP_CIRCUIT_SOURCE_NONE	   = 0,	/* nothing set: TCP's initial window */
	TCP_CIRCUIT_SOURCE_SOCKET  = 1,	/* TCP_CIRCUIT_FCWND */
	TCP_CIRCUIT_SOURCE_ROUTE   = 2,	/* ip route ... initcwnd */
	TCP_CIRCUIT_SOURCE_NETNS   = 3,	/* net.ipv4.tcp_circuit_fcwnd */
	TCP_CIRCUIT_SOURCE_MODULE  = 4,	/* module parameter fcwnd */
};

struct tcp_circuit_info {
	__u32	tci_fcwnd;	/* window that holds, segments, after all caps */
	__u32	tci_source;	/* enum tcp_circuit_source */
	__u32	tci_asked;	/* window set by TCP_CIRCUIT_FCWND, 0 = none */
	__u32	tci_fcwnd_max;	/* most that the unprivileged may ask, segments */
	__u32	tci_snd_cwnd;	/* the kernel's window at this moment, segments */
	__u32	tci_restored;	/* times a window that TCP had cut was restored */
	__u32	tci_losses;	/* retransmission timeouts entered */
	__u32	tci_recoveries;	/* fast recoveries entered */
};

#endif /* _UAPI_LINUX_TCP_CIRCUIT_H */

/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Circuit TCP: socket options of the congestion control "circuit", and the
 * generic netlink family that configures circuits.
 *
 * This header needs no other of ours and may be copied into an application.
 *
 *	__u32 fcwnd = 1000;
 *
 *	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "circuit", 7);
 *	setsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND, &fcwnd, sizeof(fcwnd));
 *
 * The options work on every TCP socket whose algorithm is circuit, IPv4, IPv6
 * and v4-mapped: before connect(), after it, and on a listener, whose accepted
 * sockets inherit what was set.  connect(AF_UNSPEC) forgets it, as it forgets all
 * other state of a congestion control.
 *
 * errno, for both options; a call that fails changes nothing:
 *	ENOPROTOOPT	not a TCP socket, another algorithm than circuit, no such
 *			option, module not loaded, kernel without CONFIG_NETFILTER
 *			(an MPTCP socket: on get EOPNOTSUPP)
 *	EINVAL		wrong length, or a value out of range
 *	EPERM		more than the connection's circuit gives, without
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
 * Set and get, __u32 segments.
 *
 * Set with CAP_NET_ADMIN: a window of this socket's own, which it shares with
 * no other socket.
 *
 * Set without CAP_NET_ADMIN: an upper bound on this socket's share of its
 * circuit's window.  Where nothing gives a window, the sockets of one user to
 * one peer that have set a bound share net.ipv4.tcp_circuit_fcwnd_max.  A bound
 * above that window is refused with EPERM on a connection; set before
 * connect(), it counts as that window.
 *
 * Set to 0: removes what was set.
 *
 * Get: the window of the socket or its circuit, before it is shared, bounded,
 * or cut by a breaker; 0 if nothing gives one, so that the socket grows as
 * Reno's does.
 *
 * On set the length must be that of a __u32; on get it may be larger.
 */
#define TCP_CIRCUIT_FCWND	0x4354

/*
 * Get only, struct tcp_circuit_info.  The struct grows only at its end.  The
 * kernel writes as many bytes as both sides know and returns how many: an old
 * program on a new module gets a prefix, a new program on an old module must
 * look at the returned length.  At least one byte must be asked for.
 */
#define TCP_CIRCUIT_INFO	0x4356

/* The largest window of one socket, segments: 1 GiB of 1024-byte segments. */
#define TCP_CIRCUIT_FCWND_LIMIT	1048576U

/* The largest window of a circuit, segments: 400 Gbit/s for 2 s, in 1514-byte frames. */
#define TCP_CIRCUIT_WINDOW_LIMIT	67108864U

/* The highest rate, bytes/s: 1 Tbit/s. */
#define TCP_CIRCUIT_RATE_LIMIT	125000000000ULL

/* The longest name of a circuit, bytes with the NUL. */
#define TCP_CIRCUIT_NAME_LEN	32

/* The most prefixes that one circuit may have. */
#define TCP_CIRCUIT_PREFIXES_MAX	128

/* Where a socket's window comes from; the first that is set wins. */
enum tcp_circuit_source {
	TCP_CIRCUIT_SOURCE_NONE	   = 0,	/* nothing: Reno's own growth */
	TCP_CIRCUIT_SOURCE_SOCKET  = 1,	/* the administrator's TCP_CIRCUIT_FCWND */
	TCP_CIRCUIT_SOURCE_CIRCUIT = 2,	/* the circuit that matches */
	TCP_CIRCUIT_SOURCE_ROUTE   = 3,	/* ip route ... initcwnd */
	TCP_CIRCUIT_SOURCE_NETNS   = 4,	/* net.ipv4.tcp_circuit_fcwnd */
	TCP_CIRCUIT_SOURCE_MODULE  = 5,	/* module parameter fcwnd */
	TCP_CIRCUIT_SOURCE_USER	   = 6,	/* net.ipv4.tcp_circuit_fcwnd_max */
};

/* What a stream draws from its circuit's window. */
enum tcp_circuit_state {
	TCP_CIRCUIT_STREAM_IDLE	  = 0,	/* nothing to send: nothing */
	TCP_CIRCUIT_STREAM_MODEST = 1,	/* what it uses, less than its share */
	TCP_CIRCUIT_STREAM_HUNGRY = 2,	/* an equal share of the rest */
};

/* The circuit breaker (RFC 8084); each user of a circuit has one. */
enum tcp_circuit_breaker {
	TCP_CIRCUIT_BREAKER_CLOSED  = 0,	/* the circuit carries */
	TCP_CIRCUIT_BREAKER_TRIPPED = 1,	/* the user's window is cut */
};

/* The evidence on which a breaker tripped. */
enum tcp_circuit_reason {
	TCP_CIRCUIT_REASON_NONE	     = 0,
	TCP_CIRCUIT_REASON_LOSS	     = 1,	/* segments sent again */
	TCP_CIRCUIT_REASON_CE	     = 2,	/* ECN marks */
	TCP_CIRCUIT_REASON_DELAY     = 3,	/* standing delay */
	TCP_CIRCUIT_REASON_SHORTFALL = 4,	/* under half delivered */
};

struct tcp_circuit_info {
	__u32	tci_fcwnd;	/* window before it is shared or cut, segments */
	__u32	tci_source;	/* enum tcp_circuit_source */
	__u32	tci_asked;	/* value set by TCP_CIRCUIT_FCWND, 0 = none */
	__u32	tci_snd_cwnd;	/* the kernel's window at this moment, segments */
	__u32	tci_restored;	/* times a window of TCP's was overruled, up to 255 */
	__u32	tci_losses;	/* retransmission timeouts entered, up to 255 */
	__u32	tci_recoveries;	/* fast recoveries entered, up to 255 */
	__u32	tci_state;	/* enum tcp_circuit_state */
	__u32	tci_cwnd_share;	/* share of the circuit's window, segments */
	__u32	tci_burst;	/* most that is sent at once when paced, segments */
	__u64	tci_rate;	/* of the circuit, bytes/s, 0 = none */

	/* The circuit, 0 where the socket has none */
	__u32	tci_id;		/* TCP_CIRCUIT_A_ID */
	__u32	tci_sockets;	/* sockets of the circuit */
	__u32	tci_hungry;	/* those that share its window equally */
	__u32	tci_cwnd_total;	/* sum of all shares, segments */
	__u32	tci_breaker;	/* enum tcp_circuit_breaker, of this user */
	__u32	tci_reason;	/* enum tcp_circuit_reason, of the last trip */
	__u32	tci_trips;	/* times that this user's breaker has tripped */
	__u32	tci_loss;	/* loss at the last trip, thousandths */
	__u64	tci_delivered;	/* segments delivered, all streams */
	__u64	tci_lost;	/* segments sent again, less duplicates */
	char	tci_name[TCP_CIRCUIT_NAME_LEN];	/* "" = an automatic circuit */
};

/*
 * Generic netlink, family "tcp_circuit"; docs/netlink/tcp_circuit.yaml has all
 * of it in the kernel's own format.  Circuits live in a network namespace.
 *
 * NEW	creates or replaces a circuit, by the flags of the message as rtnetlink
 *	has them: NLM_F_CREATE alone creates or replaces, with NLM_F_EXCL it only
 *	creates (EEXIST), NLM_F_REPLACE without NLM_F_CREATE only replaces
 *	(ENOENT).  All of NAME, PREFIX (one at least) and WINDOW are required;
 *	what is left out has its default.  Live connections follow at once.
 * DEL	by NAME.  Its connections belong to the next match.
 * GET	do: by NAME, or by ADDRESS (with IFINDEX, MARK): the circuit that a new
 *	connection would belong to.  dump: all circuits; automatic ones,
 *	which a peer's connections share, have AUTO, and are shown to
 *	CAP_NET_ADMIN only.
 * RESET	closes breakers: of the circuit NAME, of what connections to ADDRESS
 *	belong to, or of the whole namespace.  The kernel keeps 256 open breakers
 *	of users without a socket; beyond that it forgets some, and cuts up to 64 users
 *	in each circuit that they join, until that circuit, or the namespace, is RESET
 *	(an automatic circuit forgets its own RESET when its last socket goes).
 *	EINVAL: NAME and ADDRESS, or IFINDEX or MARK without ADDRESS.
 *	ENOENT: no such circuit.
 * STATS	do: the namespace's counters and limits.
 *
 * NEW, DEL and RESET need CAP_NET_ADMIN in the user namespace that owns the
 * network namespace, and so does membership of the group "events" where the kernel's
 * groups have flags.  Where they have none anybody may join, and is told nothing of
 * automatic circuits.
 */
#define TCP_CIRCUIT_GENL_NAME		"tcp_circuit"
#define TCP_CIRCUIT_GENL_VERSION	1
#define TCP_CIRCUIT_MCGRP_EVENTS	"events"

enum tcp_circuit_cmd {
	TCP_CIRCUIT_CMD_NEW = 1,
	TCP_CIRCUIT_CMD_DEL,
	TCP_CIRCUIT_CMD_GET,
	TCP_CIRCUIT_CMD_RESET,
	TCP_CIRCUIT_CMD_STATS,
	TCP_CIRCUIT_CMD_ADDED_NTF,	/* events from here on, each as GET */
	TCP_CIRCUIT_CMD_CHANGED_NTF,
	TCP_CIRCUIT_CMD_REMOVED_NTF,
	TCP_CIRCUIT_CMD_TRIPPED_NTF,	/* with EVIDENCE; none for a new user that begins with
					 * an open breaker, of whom TRIPPED_USERS tells
					 */
	TCP_CIRCUIT_CMD_CLOSED_NTF,	/* with CAUSE, and EVIDENCE of that user's trip; of
					 * the circuit's last trip if RESET or removal
					 * has closed all of its breakers
					 */

	__TCP_CIRCUIT_CMD_MAX,
	TCP_CIRCUIT_CMD_MAX = __TCP_CIRCUIT_CMD_MAX - 1
};

/* Of a circuit.  (get): answers and events only. */
enum tcp_circuit_attr {
	TCP_CIRCUIT_A_NAME = 1,		/* string, 1 to 31 bytes, printable, no blank */
	TCP_CIRCUIT_A_PREFIX,		/* nest, enum tcp_circuit_prefix_attr; repeated */
	TCP_CIRCUIT_A_WINDOW,		/* u32, segments, 1 to WINDOW_LIMIT */
	TCP_CIRCUIT_A_RATE,		/* u64, qdisc bytes/s; 0: no rate */
	TCP_CIRCUIT_A_IFINDEX,		/* u32, only what leaves by this device */
	TCP_CIRCUIT_A_MARK,		/* u32, only sockets with this SO_MARK, not 0 */
	TCP_CIRCUIT_A_FLAGS,		/* u32, enum tcp_circuit_flags */
	TCP_CIRCUIT_A_ADDRESS,		/* binary, 4 or 16 bytes, network order */
	TCP_CIRCUIT_A_ID,		/* (get) u32, unique in the namespace */
	TCP_CIRCUIT_A_AUTO,		/* (get) flag: an automatic circuit */
	TCP_CIRCUIT_A_SOCKETS,		/* (get) u32 */
	TCP_CIRCUIT_A_HUNGRY,		/* (get) u32, streams with an equal share */
	TCP_CIRCUIT_A_CWND_TOTAL,	/* (get) u32, sum of all shares, segments */
	TCP_CIRCUIT_A_BREAKER,		/* (get) u32, enum tcp_circuit_breaker */
	TCP_CIRCUIT_A_TRIPPED_USERS,	/* (get) u32, whose breaker is open */
	TCP_CIRCUIT_A_TRIPS,		/* (get) u32, of all users, ever */
	TCP_CIRCUIT_A_DELIVERED,	/* (get) u64, segments */
	TCP_CIRCUIT_A_LOST,		/* (get) u64, segments */
	TCP_CIRCUIT_A_CE,		/* (get) u64, segments delivered with a mark */
	TCP_CIRCUIT_A_EVIDENCE,		/* (get) nest, enum tcp_circuit_evidence_attr */
	TCP_CIRCUIT_A_CAUSE,		/* (get) u32, enum tcp_circuit_cause */
	TCP_CIRCUIT_A_PAD,
	TCP_CIRCUIT_A_UID,		/* (get) u32, AUTO of one user's fcwnd_max */

	__TCP_CIRCUIT_A_MAX,
	TCP_CIRCUIT_A_MAX = __TCP_CIRCUIT_A_MAX - 1
};

enum tcp_circuit_prefix_attr {
	TCP_CIRCUIT_PREFIX_A_ADDRESS = 1,	/* binary, 4 or 16 bytes */
	TCP_CIRCUIT_PREFIX_A_LEN,		/* u8, 0 to 32 or 128; no bits behind */

	__TCP_CIRCUIT_PREFIX_A_MAX,
	TCP_CIRCUIT_PREFIX_A_MAX = __TCP_CIRCUIT_PREFIX_A_MAX - 1
};

enum tcp_circuit_flags {
	TCP_CIRCUIT_F_EARLY_WINDOW = 1 << 0,	/* open a client's window behind the SYN-ACK */
	TCP_CIRCUIT_F_UNPACED	   = 1 << 1,	/* a qdisc holds RATE: do not pace */
};

/* What a breaker saw in the slot that tripped it. */
enum tcp_circuit_evidence_attr {
	TCP_CIRCUIT_EVIDENCE_A_REASON = 1,	/* u32, enum tcp_circuit_reason */
	TCP_CIRCUIT_EVIDENCE_A_UID,		/* u32, whose sockets */
	TCP_CIRCUIT_EVIDENCE_A_MS,		/* u32, length of the slot */
	TCP_CIRCUIT_EVIDENCE_A_SEGMENTS,	/* u32, lost and delivered */
	TCP_CIRCUIT_EVIDENCE_A_LOST,		/* u32, segments */
	TCP_CIRCUIT_EVIDENCE_A_CE,		/* u32, segments */
	TCP_CIRCUIT_EVIDENCE_A_RTT,		/* u32, us, smallest smoothed */
	TCP_CIRCUIT_EVIDENCE_A_RTT_EXPECTED,	/* u32, us, window / rate, or the smallest seen */
	TCP_CIRCUIT_EVIDENCE_A_RATE,		/* u64, bytes/s delivered */
	TCP_CIRCUIT_EVIDENCE_A_THRESHOLD,	/* u32, 1/1000 of loss, CE */
	TCP_CIRCUIT_EVIDENCE_A_WINDOW,		/* u32, circuit's, segments */
	TCP_CIRCUIT_EVIDENCE_A_WINDOW_CUT,	/* u32, of all who are cut */
	TCP_CIRCUIT_EVIDENCE_A_PAD,

	__TCP_CIRCUIT_EVIDENCE_A_MAX,
	TCP_CIRCUIT_EVIDENCE_A_MAX = __TCP_CIRCUIT_EVIDENCE_A_MAX - 1
};

/* Why a breaker closed. */
enum tcp_circuit_cause {
	TCP_CIRCUIT_CAUSE_QUIET	  = 1,	/* its quiet time has passed */
	TCP_CIRCUIT_CAUSE_RESET	  = 2,	/* by RESET */
	TCP_CIRCUIT_CAUSE_REMOVED = 3,	/* its circuit was removed */
	TCP_CIRCUIT_CAUSE_FORGOTTEN = 4,	/* too many without a socket */
	TCP_CIRCUIT_CAUSE_DISABLED = 5,	/* net.ipv4.tcp_circuit_breaker is 0 */
};

/* Of a namespace: STATS. */
enum tcp_circuit_stats_attr {
	TCP_CIRCUIT_STATS_A_CIRCUITS = 1,	/* u32, objects */
	TCP_CIRCUIT_STATS_A_CIRCUITS_MAX,	/* u32 */
	TCP_CIRCUIT_STATS_A_PREFIXES,		/* u32 */
	TCP_CIRCUIT_STATS_A_PREFIXES_MAX,	/* u32 */
	TCP_CIRCUIT_STATS_A_PEERS,		/* u32, automatic circuits */
	TCP_CIRCUIT_STATS_A_PEERS_MAX,		/* u32 */
	TCP_CIRCUIT_STATS_A_KEPT,		/* u32, breakers without a socket */
	TCP_CIRCUIT_STATS_A_KEPT_MAX,		/* u32 */
	TCP_CIRCUIT_STATS_A_MEMORY,		/* u64, bytes of all these */
	TCP_CIRCUIT_STATS_A_OPENED,		/* u64, connections begun with a window */
	TCP_CIRCUIT_STATS_A_RENO,		/* u64, connections that had none */
	TCP_CIRCUIT_STATS_A_RESTORED,		/* u64, windows of the core overruled */
	TCP_CIRCUIT_STATS_A_TIMEOUTS,		/* u64, retransmission timeouts */
	TCP_CIRCUIT_STATS_A_RECOVERIES,		/* u64, fast recoveries */
	TCP_CIRCUIT_STATS_A_TRIPS,		/* u64, of breakers */
	TCP_CIRCUIT_STATS_A_RESETS,		/* u64, of breakers, for any cause */
	TCP_CIRCUIT_STATS_A_NO_MEMORY,		/* u64, streams left without a circuit */
	TCP_CIRCUIT_STATS_A_PAD,

	__TCP_CIRCUIT_STATS_A_MAX,
	TCP_CIRCUIT_STATS_A_MAX = __TCP_CIRCUIT_STATS_A_MAX - 1
};

#endif /* _UAPI_LINUX_TCP_CIRCUIT_H */

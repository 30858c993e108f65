/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plan: a circuit's numbers, by arithmetic alone.
 *
 * Input is the circuit and facts about device and host; the same input gives
 * the same plan, and nothing here reads or writes anything else.
 *
 * The rules, each with where it comes from:
 *
 *  wire = MTU + link header, what the queueing discipline counts for one full
 *	segment (net/sched/sch_api.c and qdisc_pkt_len_init(): L2 bytes without
 *	preamble and FCS, headers counted for each segment of a GSO packet).
 *  fcwnd = ceil(multiple x rate x rtt / wire), of the circuit: its streams share
 *	it.  multiple = 1.3: Alali 2016, table 3.5:
 *	1.0 x BDP leaves the line idle whenever an acknowledgement is late.
 *	At least 2 segments a stream: with 1 every segment would wait for the
 *	far side's delayed acknowledgement.
 *  share = ceil(fcwnd / streams), what each stream has while all send; it must fit
 *	one stream's window, which ends at 1 GiB and TCP_CIRCUIT_FCWND_LIMIT.
 *  stream = min(fcwnd, that end), what one stream has while the others are idle.
 *  limit = fcwnd x wire: what the windows can send at most fits in the queue
 *	(Alali 2016, figure 3.5: limit / fcwnd = 1 leaves no drop at any RTT).  At least
 *	one GSO packet, or a queue would drop such a packet for ever.
 *  burst = max(one GSO packet, rate x 200 us).  A packet larger than the bucket
 *	is cut up in software (sch_tbf.c: tbf_segment()).  200 us is the
 *	thesis's 100 KB at 4 Gbit/s (table 3.1: full rate from 50 KB up).
 *  quantum, of htb = one GSO packet: classes that may send at the same time do so a
 *	packet each, whatever their rates.  At least wire and at most 200000 bytes, the
 *	kernel's own bound.
 *  rest, of htb, the rate of what is in no circuit's class: the device's speed less the
 *	rates of its circuits that have a class, and at least 10 mbit or a hundredth of the
 *	speed, for neighbours to be found and logins to go on.  An uplink that is stated and
 *	slower counts as the speed.  Where neither is known it is RATE_MAX, which never binds.
 *  rounds k: a hole whose retransmission is lost, too, takes a round trip more for
 *	each time; meanwhile a window a round trip gathers behind it.  With N =
 *	rate x rtt / wire packets a round trip (at least 1), each lost with
 *	probability p, N x p^(k + 1) of them a round trip need more than k rounds of
 *	repair, and each of those stalls the window if there is room for k.  k is
 *	the smallest from 1 to ROUNDS_MAX with which that is at most one stall in
 *	STALL_ROUND_TRIPS.  Without loss k = 1: a hole is repaired once.
 *  buffers: max of tcp_rmem and tcp_wmem, rmem_max, wmem_max = 2 x (k + 1) x the
 *	window of one stream: what is in flight, and k windows behind a hole.  Half
 *	of a buffer is the kernel's own overhead (tcp_adv_win_scale = 1, and
 *	skb->truesize).  The thesis's 2 x BDP is too small as soon as a segment is
 *	lost.  Under random loss of p more than k rounds are needed only so often.
 *  tcp_mem: the buffers of the circuit's window, both ways: once, for its streams
 *	share it; and STREAM_FLOOR each way for each stream, however little of the
 *	window it has.  Of all circuits of the namespace, below the first threshold;
 *	the kernel's own steps above it, 5/4 and 3/2.  Past the pressure threshold
 *	receive windows fall to 16 KB and stay there.  Never more than RAM x 1/2.
 *  paced, of a circuit of the daemon's: traffic keeps its own window and algorithm.
 *	burst = max(wire, rate x 200 us): htb lets a packet pass that is larger than the
 *	bucket and takes it from what follows, so that a GSO packet more in it would only
 *	be one more burst for the buffer that is overrun.
 *	limit = max(rate x rtt, PACED_SOCKETS x 2 GSO packets): each socket keeps about
 *	two in the queue at most (tcp_small_queue_check()), so that none is dropped here.
 *  maxrate, the rate of a flow in fq: the stream's share of the rate, for nothing
 *	else holds the sum.  With --pace the module divides the rate among the
 *	streams that send, so that one alone may have all of it, and fq is told no
 *	more than that.
 *
 * -EINVAL: such a circuit cannot be planned, and why.  What had to be decided is in notes.
 */
#ifndef CTCP_PLAN_H
#define CTCP_PLAN_H

#include "circuit.h"
#include "err.h"

/* The largest window of one stream: window scale 14 (RFC 7323, 2.3). */
#define WINDOW_MAX	(65535ULL << 14)
#define FCWND_MIN	2U
#define BURST_TIME_US	200U
#define TCP_IP4_HEADERS	40U
#define TCP_IP6_HEADERS	60U
#define TCP_TIMESTAMPS	12U	/* of each segment, not counted in the MSS */
#define MSS_MIN		88U	/* TCP_MIN_MSS */
#define ROUNDS_MAX	7U	/* of repair; 16 windows is what a receiver opens */
#define STALL_ROUND_TRIPS 1000U	/* at most one stall in so many round trips */
#define STREAM_FLOOR	131072U	/* bytes; what TCP gives a new socket, tcp_rmem[1] */
#define FQ_NO_MAXRATE	UINT32_MAX
#define PACED_SOCKETS	64U	/* that send to one paced remote at a time */

/* What the plan knows about the device and the host.  */
struct facts {
	char dev[IFNAMSIZ];
	char kind[16];			/* rtnl_link kind, "" for a real device */
	char master[IFNAMSIZ];		/* bridge or bond above, "" = none */
	char master_kind[16];
	char out[IFNAMSIZ];		/* what routes and sockets leave by: the bridge or
					 * bond above a port, else the device itself
					 */
	char parent[IFNAMSIZ];		/* device below a VLAN, macvlan, ..., "" = none */
	char wire_kind[16];
	char wire[IFNAMSIZ];		/* the lowest of the devices below, or the device itself */
	char ports[128];		/* of a bridge, separated by blanks */
	int ifindex, out_ifindex, wire_ifindex;
	bool up;
	bool loopback;
	bool carrier;			/* it has a link, as far as that below it has */
	bool has_speed;			/* its wire; known while it has a carrier */
	uint32_t mtu;			/* bytes */
	uint32_t header;		/* link header, bytes */
	uint32_t gso_max_size;		/* bytes of one GSO packet */
	uint32_t gso_max_segs;
	uint32_t tx_queues;
	uint32_t txqlen;		/* packets */
	uint64_t speed_mbit;		/* of the wire; 0 = unknown or meaningless */
	uint64_t ram;			/* bytes */
	uint32_t page;			/* bytes */
};

struct plan {
	uint32_t mss;			/* as announced */
	uint32_t wire;			/* bytes of one full segment */
	uint32_t payload;		/* bytes of data in it */
	uint32_t fcwnd;			/* segments, the circuit's */
	uint32_t share;			/* segments of a stream, all sending */
	uint32_t stream;		/* segments of a stream, the others idle */
	uint32_t rounds;		/* of repair that the buffers have room for */
	uint64_t limit;			/* bytes */
	uint64_t burst;			/* bytes; 0 without tbf or htb */
	uint32_t quantum;		/* bytes; 0 without htb */
	uint64_t gso_packet;		/* bytes of one GSO packet, as counted */
	uint32_t maxrate;		/* bytes/s of a stream; 0 without fq */
	uint32_t flow_packets;		/* fq: flow_limit */
	uint32_t packets;		/* fq: limit */
	uint32_t buffer;		/* bytes: tcp_rmem and tcp_wmem max */
	uint64_t need;			/* pages: the buffers of all streams */
	uint64_t tcp_mem[3];		/* pages, other circuits' included */
};

/* A class of htb for what is in no circuit's: from the device alone. */
struct rest {
	uint64_t rate;			/* bytes/s */
	uint32_t burst, quantum;	/* bytes */
};

uint64_t plan_rest_rate(uint64_t speed, uint64_t circuits);
void plan_rest(const struct facts *f, uint64_t rate, struct rest *r);
int plan_check_device(const struct circuit *c, const struct facts *f,
		      struct notes *notes, struct err *e);
void plan_memory(const struct facts *f, uint64_t others, struct plan *p,
		 struct notes *notes);
int plan_make(const struct circuit *c, const struct facts *f, struct plan *p,
	      struct notes *notes, struct err *e);

#endif

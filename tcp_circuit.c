// SPDX-License-Identifier: GPL-2.0
/*
 * Circuit TCP (CTCP): a congestion control for paths whose rate is reserved
 *
 * On a leased wave, an L2 circuit or a radio link of one's own there is no
 * rate to search for.  The congestion window is a constant, fcwnd, in
 * segments, from the first segment on:
 *
 *	fcwnd >= 1.3 x rate x rtt / (bytes of a full segment on the wire)
 *
 * The qdisc of the sender holds the rate; the window only has to be large
 * enough never to hold it, with room for what stands in that qdisc (Alali,
 * "A Cross-Layer Design for Large Data Transfers", 2016, 3.4).  Loss on such
 * a path says that a bit was damaged, not that somebody else wants room: it is
 * repaired (SACK, RACK, TLP, RTO stay as they are) and never obeyed.  There is
 * no slow start, no proportional rate reduction and no backoff of the window;
 * flow control and the backoff of the retransmission timer stay.
 *
 * How the window is held
 * ----------------------
 * With cong_control() set, the core leaves the window alone on ACKs, in
 * recovery, after idle and when the application is the limit.  It still writes
 * it in these places, and each is answered:
 *
 *	tcp_init_transfer()	RFC 6928's ten, or one after lost SYNs; init()
 *				runs after it.  A lost SYN, too, is damage.
 *	tcp_enter_loss()	in flight + 1; set_state(TCP_CA_Loss) follows it
 *	tcp_undo_cwnd_reduction()	asks undo_cwnd()
 *	tcp_mtup_probe_success(), tcp_mtu_probe()	scaled, or one less;
 *				put right by the cong_control() of the same or
 *				the next ACK
 *	tcp_disconnect()	a new connect() runs init() again
 *
 * And before each transmission the core asks min_tso_segs(), whatever led to
 * it: nothing is ever sent by a window that we have not held.
 *
 * Where the window comes from, first that is set:
 *
 *	1. the socket option TCP_CIRCUIT_FCWND
 *	2. the route: ip route ... initcwnd N, read when the connection is made
 *	3. the network namespace: net.ipv4.tcp_circuit_fcwnd
 *	4. the module's parameter fcwnd
 *
 * and TCP's own ten segments when nothing is.  Writing 3 and 4 changes live
 * sockets with their next ACK.  All are capped by snd_cwnd_clamp (ip route ...
 * lock cwnd N).  Unprivileged users may ask by 1 for what the administrator gave
 * by 2 to 4, for ten, or for net.ipv4.tcp_circuit_fcwnd_max, whichever is most.
 *
 * Streams share one window
 * ------------------------
 * A window given by 2 to 4 is that of a circuit, not of a socket: all sockets of
 * the namespace to one peer's address draw on it, or all with one
 * TCP_CIRCUIT_ID.  What each holds is its part; the parts add up to what the
 * circuit's window is at most, and one segment more for a stream that found
 * nothing left:
 *
 *	idle	nothing to send or unacknowledged, or its peer takes nothing.
 *		Holds nothing.
 *	modest	needs less than its share: a control channel, a slow reader.
 *		Holds what it uses.
 *	hungry	would take more.  The hungry hold equal shares of the rest:
 *
 *			share = (window - parts of the modest) / hungry
 *
 * A part shrinks no faster than segments leave the network, and grows only by
 * what others gave back, so the sum of what is in flight never passes the
 * window either.  As each ACK moves it, a newcomer has its share within
 * one round trip.  (Max-min fairness, Bertsekas and Gallager, "Data Networks",
 * 6.5.2.)
 *
 * No lock is taken on ACKs.  The circuit's counters are written only when a
 * stream comes, goes, or its part changes; streams that send steadily share the
 * cache line and do not fight for it.  What a stream has found stands until
 * the circuit's version moves, the core touches the window, or a round trip
 * ends: most ACKs look at no more than that (stream_settled()).
 *
 * All divide the window that the route of the newest of them has: it is the
 * circuit's.  A connection that was reset holds its part until its file is closed, as
 * the core tells no algorithm of it.
 *
 * A window asked for by 1 is the socket's own, outside of this.
 *
 * Pace
 * ----
 * With a rate (net.ipv4.tcp_circuit_rate, TCP_CIRCUIT_RATE; bytes/s on the wire,
 * as a qdisc counts), each segment has its time from the first one on, so that a
 * switch with room for ten frames loses nothing: circuit_pace(),
 * circuit_first_ten().  Streams divide the rate as they divide the window.
 *
 * The breaker
 * -----------
 * A fixed window on a path that is shared after all (a reroute, a wrong
 * number) would starve everybody else for good.  RFC 8084 asks for a breaker
 * that stops this, and RFC 9743 5.1.1 for one in an algorithm as this one:
 *
 *	measured	for each circuit, all streams together: segments sent
 *			again, less those that DSACK showed to be duplicates, and
 *			segments delivered.  loss = lost / (lost + delivered).
 *			Connections that follow each other count as one.  Marks
 *			(ECN, RFC 3168) are not counted: a receiver echoes one
 *			for a round trip, so nobody knows how many there were;
 *			a router that they do not slow down drops in the end.
 *	slot		a fourth of net.ipv4.tcp_circuit_breaker_ms (2000), at
 *			least 5 round trips and CIRCUIT_SLOT_SEGMENTS segments
 *	trips		when four slots in a row each lost more than
 *			net.ipv4.tcp_circuit_breaker thousandths (100; 0 = off);
 *			one that lost more than half counts for two, one in which
 *			nothing was delivered for none.  A burst or an outage is in
 *			one slot.
 *	cuts		the circuit's window to a tenth, or to TCP's initial
 *			window where that is less (each stream has one segment at
 *			least); one line in the log
 *	closes		after net.ipv4.tcp_circuit_breaker_quiet seconds (300; 0 =
 *			never, also when written later) without such a slot, or
 *			when the administrator writes "reset" to
 *			/proc/net/tcp_circuit
 *
 * A path that delivers nothing at all needs none: no ACK, no transmission but
 * RTO's, which back off.  TCP_CIRCUIT_ID makes a circuit with a breaker of its own;
 * to leave one that has tripped takes the administrator.
 *
 * An end that receives opens its window at once, too: circuit_open_receiver().
 *
 * The algorithm is not TCP_CONG_NON_RESTRICTED: it takes the administrator's
 * word that the path is a circuit.
 *
 * The socket options go through nf_register_sockopt(): exported, counted for
 * each call, and reached from IPv6 sockets too.  No proto is replaced, so kTLS
 * and MPTCP are none the wiser and rmmod leaves nothing behind.  A kernel
 * without CONFIG_NETFILTER has all but these options.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/hashtable.h>
#include <linux/inet.h>
#include <linux/inet_diag.h>
#include <linux/jhash.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/netns/hash.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "uapi/linux/tcp_circuit.h"

#define CREATE_TRACE_POINTS
#include "trace/events/tcp_circuit.h"

#define STREAM_MARK	0x63697263U	/* "circ": the private area is ours */
#define STREAM_SMALL	16		/* segments that are modest where a share is more */
#define STREAM_YOUNG	2		/* round trips: the one that is under way, one more */
#define STREAM_BURST_SHIFT	16	/* a burst lasts rate / 2^16: 15 us */
#define STREAM_GSO_PARTS	16	/* unpaced: GSO packets are a 16th of the window at most */
#define STREAM_UNPACED	10		/* segments that the core never paces */
#define STREAM_REPORT	(HZ / 10)	/* jiffies between reports to the breaker */

#define CIRCUIT_CUT	10		/* the breaker leaves a tenth at most */
#define CIRCUIT_SLOTS	4		/* lossy ones in a row that trip it */
#define CIRCUIT_SLOT_SEGMENTS	256	/* so that chance is not taken for loss */
#define CIRCUIT_SLOT_RTTS	5	/* ... nor one repair for the next */

/* A circuit: what its streams share.  Outlives them tripped, or for a while lossy. */
struct circuit {
	struct hlist_node	node;	/* in circuits, under circuits_lock */
	struct net	*net;		/* whose sockets; never outlived */
	struct in6_addr	peer;		/* IPv4 as ::ffff:a.b.c.d; :: = no one's */
	u32		id;		/* TCP_CIRCUIT_ID, 0 = the peer decides */
	refcount_t	refs;		/* streams, one while tripped, one of the work */

	/* Read on each ACK of each stream, written when a part changes */
	atomic_t	held ____cacheline_aligned_in_smp; /* sum of parts, segments */
	atomic_t	modest;		/* of these, held by the modest */
	atomic_t	hungry;		/* streams that are */
	atomic_t	sockets;	/* all that belong to it */
	atomic_t	version;	/* one more when any of what parts are made from changes */
	u32		tripped;	/* enum tcp_circuit_breaker */
	u32		route;		/* its newest stream's, segments, 0 = none */

	/* Written by each stream ten times a second */
	atomic_t	slot_lost ____cacheline_aligned_in_smp; /* segments */
	atomic_t	slot_delivered;	/* segments */
	u32		slot_start;	/* jiffies */
	u32		lossy;		/* slots in a row */
	u32		loss;		/* that tripped it last, thousandths */
	u32		trips;		/* times */
	u32		window;		/* last seen by a stream, for those who look */
	unsigned long	quiet_until;	/* jiffies */
	atomic64_t	lost;		/* segments, ever */
	atomic64_t	delivered;
	struct delayed_work	rearm;
};

/* The private area of a socket */
struct stream {
	u64	asked_rate;	/* TCP_CIRCUIT_RATE, bytes/s, 0 = none */
	u64	rate;		/* that pace was made from, bytes/s, 0 = unpaced */
	u64	depart;		/* ns: when the next of the first ten may go */
	struct circuit	*circuit;	/* NULL before init() and without memory */
	unsigned long	pace;	/* payload bytes/s, ~0 = unpaced */
	u32	mark;		/* STREAM_MARK, or the area is not filled yet */
	u32	asked;		/* TCP_CIRCUIT_FCWND, segments, 0 = none */
	u32	route;		/* its route's initcwnd or its circuit's, 0 = none */
	u32	id;		/* TCP_CIRCUIT_ID, 0 = none */
	u32	held;		/* window last set or seen by us, segments */
	u32	part;		/* of the circuit's window, segments */
	u32	round_start;	/* tp->delivered when this round trip began */
	u32	round_end;	/* that, and all that was outstanding then */
	u32	restored;	/* times the core's window was overruled */
	u32	losses;		/* times TCP_CA_Loss was entered */
	u32	recoveries;	/* times TCP_CA_Recovery was entered */
	u32	lost;		/* reported so far, of stream_lost() */
	u32	delivered;	/* reported so far */
	u16	reported;	/* jiffies */
	u16	version;	/* of the circuit when the part was made */
	u16	mss;		/* that pace was made from, bytes */
	u16	burst;		/* segments, when paced */
	u8	state;		/* enum tcp_circuit_state */
	u8	young;		/* round trips before its use of its part tells */
	u8	let_go;		/* of the first ten, when last one might go, + 1 */
	u8	live:1,		/* between init() and release() */
		proved:1,	/* modest by what it did, not by what it asks */
		repace:1,	/* its part has changed */
		paced:1,	/* sk_pacing_status is our doing */
		cut:1,		/* by its circuit's breaker */
		settled:1,	/* its part stays until the circuit's version moves */
		quick:1;	/* and it holds its part, and has no bursts to shape */
};

struct circuit_net {
	u32	fcwnd;		/* net.ipv4.tcp_circuit_fcwnd, 0 = module's */
	u32	fcwnd_max;	/* net.ipv4.tcp_circuit_fcwnd_max */
	u32	share;		/* net.ipv4.tcp_circuit_share */
	u32	breaker;	/* net.ipv4.tcp_circuit_breaker, thousandths */
	u32	breaker_ms;	/* net.ipv4.tcp_circuit_breaker_ms */
	u32	breaker_quiet;	/* net.ipv4.tcp_circuit_breaker_quiet, s */
	unsigned long	rate;	/* net.ipv4.tcp_circuit_rate, bytes/s */
	struct ctl_table_header	*header;
	struct ctl_table	*table;

	/* /proc/net/tcp_circuit_stat */
	atomic_long_t	opened;		/* connections that began with circuit */
	atomic_long_t	restored;	/* windows of the core overruled */
	atomic_long_t	losses;		/* retransmission timeouts */
	atomic_long_t	recoveries;	/* fast recoveries */
	atomic_long_t	trips;		/* of breakers */
	atomic_long_t	resets;		/* of breakers, by whom or what ever */
	atomic_long_t	no_memory;	/* streams without a circuit */
};

enum {
	SHARE_NONE,	/* each socket has the whole window */
	SHARE_PEER,	/* those to one peer's address share */
	SHARE_NETNS,	/* those of the namespace share */
};

static unsigned int circuit_net_id __read_mostly;
static u32 circuit_fcwnd __read_mostly;	/* the module's parameter */

static DEFINE_HASHTABLE(circuits, 10);
static DEFINE_SPINLOCK(circuits_lock);
static struct workqueue_struct *circuit_wq;	/* closes breakers, and forgets */

static struct tcp_congestion_ops circuit_ops;

static struct circuit_net *circuit_pernet(const struct sock *sk)
{
	return net_generic(sock_net(sk), circuit_net_id);
}

/* Where the window comes from */

/* The window of those who asked for none, segments, 1..WINDOW_LIMIT. */
static u32 circuit_window_given(const struct sock *sk, u32 route, u32 *source)
{
	u32 window;

	*source = TCP_CIRCUIT_SOURCE_ROUTE;
	if (route)
		return min(route, TCP_CIRCUIT_WINDOW_LIMIT);

	*source = TCP_CIRCUIT_SOURCE_NETNS;
	window = READ_ONCE(circuit_pernet(sk)->fcwnd);
	if (window)
		return window;

	*source = TCP_CIRCUIT_SOURCE_MODULE;
	window = READ_ONCE(circuit_fcwnd);
	if (window)
		return window;

	*source = TCP_CIRCUIT_SOURCE_NONE;
	return TCP_INIT_CWND;
}

/* The window that has to hold on @sk or its circuit now, segments, at least 1. */
static u32 circuit_window(const struct sock *sk, u32 *source)
{
	const struct stream *s = inet_csk_ca(sk);
	u32 window;

	if (s->asked) {
		*source = TCP_CIRCUIT_SOURCE_SOCKET;
		window = s->asked;
	} else {
		window = circuit_window_given(sk, s->route, source);
	}
	return max(min(window, tcp_sk(sk)->snd_cwnd_clamp), 1U);
}

/* What the breaker leaves of a window, segments. */
static u32 circuit_cut(u32 window)
{
	return clamp(window / CIRCUIT_CUT, 1U, (u32)TCP_INIT_CWND);
}

/* The circuits of all namespaces */

static u32 circuit_hash(const struct net *net, const struct in6_addr *peer,
			u32 id)
{
	return jhash2((const u32 *)peer, sizeof(*peer) / sizeof(u32),
		      net_hash_mix(net) ^ id);
}

static struct circuit *circuit_find(struct net *net,
				    const struct in6_addr *peer, u32 id,
				    u32 hash)
{
	struct circuit *c;

	hash_for_each_possible(circuits, c, node, hash)
		if (c->net == net && c->id == id &&
		    ipv6_addr_equal(&c->peer, peer))
			return c;
	return NULL;
}

static void circuit_rearm_work(struct work_struct *work);

static struct circuit *circuit_new(struct net *net,
				   const struct in6_addr *peer, u32 id)
{
	struct circuit *c = kzalloc(sizeof(*c), GFP_ATOMIC);

	if (!c)
		return NULL;
	c->net = net;
	c->peer = *peer;
	c->id = id;
	c->slot_start = tcp_jiffies32;
	refcount_set(&c->refs, 1);
	INIT_DELAYED_WORK(&c->rearm, circuit_rearm_work);
	return c;
}

/* A reference to the circuit, which is made if need be; NULL: no memory. */
static struct circuit *circuit_get(struct net *net,
				   const struct in6_addr *peer, u32 id)
{
	u32 hash = circuit_hash(net, peer, id);
	struct circuit *c;

	spin_lock_bh(&circuits_lock);
	c = circuit_find(net, peer, id, hash);
	if (c) {
		refcount_inc(&c->refs);
	} else {
		c = circuit_new(net, peer, id);
		if (c)
			hash_add(circuits, &c->node, hash);
	}
	spin_unlock_bh(&circuits_lock);
	return c;
}

static void circuit_put_refs(struct circuit *c, unsigned int n)
{
	bool last;

	spin_lock_bh(&circuits_lock);
	last = refcount_sub_and_test(n, &c->refs);
	if (last)
		hash_del(&c->node);
	spin_unlock_bh(&circuits_lock);
	if (last)
		kfree(c);
}

static void circuit_put(struct circuit *c)
{
	circuit_put_refs(c, 1);
}

/* A setting was written: all streams look at all of theirs with the next ACK. */
static void circuit_unsettle(void)
{
	struct circuit *c;
	int bucket;

	spin_lock_bh(&circuits_lock);
	hash_for_each(circuits, bucket, c, node)
		atomic_inc(&c->version);
	spin_unlock_bh(&circuits_lock);
}

#define PEER_TEXT	48	/* bytes of an address as text */

/* "*" is nobody's address: the circuit of an id, or of the namespace. */
static const char *circuit_peer(const struct circuit *c, char text[PEER_TEXT])
{
	if (ipv6_addr_any(&c->peer))
		strscpy(text, "*", PEER_TEXT);
	else if (ipv6_addr_v4mapped(&c->peer))
		snprintf(text, PEER_TEXT, "%pI4", &c->peer.s6_addr32[3]);
	else
		snprintf(text, PEER_TEXT, "%pI6c", &c->peer);
	return text;
}

/* The breaker */

/*
 * Tripped and closed under circuits_lock, each with its references: one while
 * tripped, one while the work is queued or runs.  The work is also queued to
 * remember what was lost (circuit_linger()).
 */
static bool circuit_set_tripped(struct circuit *c, u32 quiet)
{
	bool done;

	spin_lock_bh(&circuits_lock);
	done = !c->tripped;
	if (done) {
		WRITE_ONCE(c->tripped, TCP_CIRCUIT_BREAKER_TRIPPED);
		atomic_inc(&c->version);
		WRITE_ONCE(c->quiet_until, jiffies + quiet * HZ);
		refcount_inc(&c->refs);
		if (quiet && queue_delayed_work(circuit_wq, &c->rearm,
						quiet * HZ))
			refcount_inc(&c->refs);
	}
	spin_unlock_bh(&circuits_lock);
	return done;
}

static void circuit_trip(struct circuit *c, u32 loss, u32 lost, u32 segments,
			 u32 ms)
{
	struct circuit_net *cn = net_generic(c->net, circuit_net_id);
	u32 window = READ_ONCE(c->window);
	char peer[PEER_TEXT];

	if (!circuit_set_tripped(c, READ_ONCE(cn->breaker_quiet)))
		return;
	WRITE_ONCE(c->loss, loss);
	WRITE_ONCE(c->trips, c->trips + 1);
	atomic_long_inc(&cn->trips);
	trace_tcp_circuit_breaker(&c->peer, c->id, true, loss);
	pr_warn_ratelimited("circuit to %s: breaker tripped: %u of %u segments lost in the last %u ms, %u.%u %%, and those before it alike (threshold %u.%u %%); window cut from %u to %u segments\n",
			    circuit_peer(c, peer), lost, segments, ms, loss / 10,
			    loss % 10, READ_ONCE(cn->breaker) / 10,
			    READ_ONCE(cn->breaker) % 10, window,
			    circuit_cut(window));
}

/* Drops the caller's reference, too. */
static void circuit_close_breaker(struct circuit *c, const char *why)
{
	struct circuit_net *cn = net_generic(c->net, circuit_net_id);
	char peer[PEER_TEXT];
	unsigned int refs;
	bool was;

	spin_lock_bh(&circuits_lock);
	was = c->tripped;
	refs = 1 + was + cancel_delayed_work(&c->rearm);
	WRITE_ONCE(c->tripped, TCP_CIRCUIT_BREAKER_CLOSED);
	atomic_inc(&c->version);
	spin_unlock_bh(&circuits_lock);

	WRITE_ONCE(c->lossy, 0);
	if (was) {
		atomic_long_inc(&cn->resets);
		trace_tcp_circuit_breaker(&c->peer, c->id, false, c->loss);
		pr_info_ratelimited("circuit to %s: breaker closed %s\n",
				    circuit_peer(c, peer), why);
	}
	circuit_put_refs(c, refs);
}

/* True: it has more time to wait, and keeps the work's reference for that. */
static bool circuit_still_lossy(struct circuit *c)
{
	bool queued = false;
	long left;

	spin_lock_bh(&circuits_lock);
	left = READ_ONCE(c->quiet_until) - jiffies;
	if (c->tripped && left > 0)
		queued = queue_delayed_work(circuit_wq, &c->rearm, left);
	spin_unlock_bh(&circuits_lock);
	return queued;
}

static void circuit_rearm_work(struct work_struct *work)
{
	struct circuit *c = container_of(to_delayed_work(work), struct circuit,
					 rearm);
	struct circuit_net *cn = net_generic(c->net, circuit_net_id);

	if (circuit_still_lossy(c))
		return;
	if (READ_ONCE(c->tripped) && READ_ONCE(cn->breaker_quiet) &&
	    (long)(READ_ONCE(c->quiet_until) - jiffies) <= 0)
		circuit_close_breaker(c, "after its quiet time");
	else
		circuit_put(c);
}

/*
 * A stream leaves: what was lost is kept for as long as it takes to trip, so that
 * connections shorter than that do not each begin with nothing.
 */
static void circuit_linger(struct circuit *c)
{
	struct circuit_net *cn = net_generic(c->net, circuit_net_id);
	unsigned long ms = READ_ONCE(cn->breaker_ms);

	if (!READ_ONCE(cn->breaker) ||
	    (!READ_ONCE(c->lossy) && !atomic_read(&c->slot_lost)))
		return;
	spin_lock_bh(&circuits_lock);
	if (!c->tripped && !mod_delayed_work(circuit_wq, &c->rearm,
					     msecs_to_jiffies(ms)))
		refcount_inc(&c->refs);
	spin_unlock_bh(&circuits_lock);
}

/* A slot has ended with these counts, by the one stream that saw it end. */
static void circuit_judge(struct circuit *c, struct circuit_net *cn, u32 ms)
{
	u32 lost = atomic_xchg(&c->slot_lost, 0);
	u32 segments = lost + atomic_xchg(&c->slot_delivered, 0);
	u32 loss = div_u64(1000ULL * lost, max(segments, 1U));
	u32 threshold = READ_ONCE(cn->breaker);

	if (segments == lost)	/* an outage: nothing is in anybody's way */
		return;
	if (!threshold || loss <= threshold) {
		WRITE_ONCE(c->lossy, 0);
		return;
	}
	WRITE_ONCE(c->lossy, c->lossy + (loss > 500 ? 2 : 1));
	if (READ_ONCE(c->tripped))
		WRITE_ONCE(c->quiet_until,
			   jiffies + READ_ONCE(cn->breaker_quiet) * HZ);
	else if (c->lossy >= CIRCUIT_SLOTS)
		circuit_trip(c, loss, lost, segments, ms);
}

static void circuit_look(struct circuit *c, struct circuit_net *cn, u32 rtt_us)
{
	u32 start = READ_ONCE(c->slot_start), now = tcp_jiffies32;
	u32 ms = jiffies_to_msecs(now - start);
	u32 slot_ms = max(READ_ONCE(cn->breaker_ms) / CIRCUIT_SLOTS,
			  CIRCUIT_SLOT_RTTS * (rtt_us / 1000));

	if (ms < slot_ms || atomic_read(&c->slot_lost) +
	    atomic_read(&c->slot_delivered) < CIRCUIT_SLOT_SEGMENTS)
		return;
	if (cmpxchg(&c->slot_start, start, now) == start)
		circuit_judge(c, cn, ms);
}

/* Segments lost: sent again, and not in vain. */
static u32 stream_lost(const struct tcp_sock *tp)
{
	return tp->total_retrans - tp->dsack_dups;
}

/*
 * What a stream has seen since its last report.  A loss of less than nothing is
 * set against what is lost next, but no more than a slot of it: the network makes
 * duplicates, too, which the core does not tell from ours.
 */
static void stream_report(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct circuit *c = s->circuit;
	s32 delivered = tp->delivered - s->delivered;
	s32 lost = stream_lost(tp) - s->lost;

	s->reported = tcp_jiffies32;
	/* tcp_disconnect() has set it to 0 before it asks for release(). */
	delivered = max(delivered, 0);
	s->delivered += delivered;
	s->lost += max(lost, 0) + min(lost + CIRCUIT_SLOT_SEGMENTS, 0);
	lost = max(lost, 0);

	atomic_add(lost, &c->slot_lost);
	atomic_add(delivered, &c->slot_delivered);
	atomic64_add(lost, &c->lost);
	atomic64_add(delivered, &c->delivered);
	circuit_look(c, circuit_pernet(sk), tp->srtt_us >> 3);
}

/* Streams and their parts of the window */

static void stream_give(struct stream *s, u32 n)
{
	struct circuit *c = s->circuit;

	atomic_sub(n, &c->held);
	if (s->state == TCP_CIRCUIT_STREAM_MODEST) {
		atomic_sub(n, &c->modest);
		atomic_inc(&c->version);
	}
	s->part -= n;
	s->repace = 1;
}

/* Up to @n segments more, of what the circuit's @window has left. */
static void stream_take(struct stream *s, u32 window, u32 n)
{
	struct circuit *c = s->circuit;
	int take, held = atomic_read(&c->held);

	do {
		take = min_t(int, n, (int)window - held);
		if (take <= 0)
			return;
	} while (!atomic_try_cmpxchg(&c->held, &held, held + take));

	if (s->state == TCP_CIRCUIT_STREAM_MODEST) {
		atomic_add(take, &c->modest);
		atomic_inc(&c->version);
	}
	s->part += take;
	s->young = STREAM_YOUNG;
	s->repace = 1;
}

static void stream_set_state(struct sock *sk, u8 state)
{
	struct stream *s = inet_csk_ca(sk);
	struct circuit *c = s->circuit;

	if (s->state == TCP_CIRCUIT_STREAM_MODEST)
		atomic_sub(s->part, &c->modest);
	if (s->state == TCP_CIRCUIT_STREAM_HUNGRY)
		atomic_dec(&c->hungry);
	s->state = state;
	s->repace = 1;
	if (state == TCP_CIRCUIT_STREAM_MODEST)
		atomic_add(s->part, &c->modest);
	if (state == TCP_CIRCUIT_STREAM_HUNGRY)
		atomic_inc(&c->hungry);
	atomic_inc(&c->version);
	trace_tcp_circuit_stream(sk, state, s->part);
}

static void stream_rest(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->state == TCP_CIRCUIT_STREAM_IDLE)
		return;
	s->settled = 0;
	s->quick = 0;
	stream_give(s, s->part);
	s->proved = 0;
	stream_set_state(sk, TCP_CIRCUIT_STREAM_IDLE);
}

/* The share of each of @hungry streams, segments, at least 1. */
static u32 circuit_share(u32 window, int modest, int hungry)
{
	int rest = (int)window - modest;

	if (rest <= 0)
		return 1;
	return hungry > 1 ? DIV_ROUND_UP((u32)rest, (u32)hungry) : rest;
}

/* What it would have in flight, bytes: no more than its peer takes. */
static u32 stream_need(const struct tcp_sock *tp)
{
	return min(tp->write_seq - tp->snd_una, max(tp->snd_wnd, 1U));
}

/* stream_need() beyond its part; a peer's small window says no at once. */
static bool stream_needs_more(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 part = (u64)s->part * tp->mss_cache;

	return max(tp->snd_wnd, 1U) > part && tp->write_seq - tp->snd_una > part;
}

/*
 * Its part is in use, but for what the core keeps back until a packet is full or a
 * third of the window is there (tcp_tso_should_defer()).
 */
static bool stream_full(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return tcp_packets_in_flight(tcp_sk(sk)) +
	       min_t(u32, sk->sk_gso_max_segs, s->part / 3) >= s->part;
}

/*
 * False: it needs more than a modest stream may hold, at most what its share would
 * be.  One that proved to be modest by what it had in flight has to fill its part
 * first, however much waits behind a pace of its own or a small receive window.
 */
static bool stream_stays_modest(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct circuit *c = s->circuit;
	u32 share = circuit_share(window, atomic_read(&c->modest) - s->part,
				  atomic_read(&c->hungry) + 1);
	u32 need, most;

	if (s->part > share)
		return false;
	if (!stream_needs_more(sk))
		return s->part > 0;
	if (s->proved && !stream_full(sk))
		return true;

	need = DIV_ROUND_UP(stream_need(tp), tp->mss_cache);
	most = s->proved ? 2 * s->part : min_t(u32, share, STREAM_SMALL);
	if (need > most)
		return false;
	if (s->state == TCP_CIRCUIT_STREAM_IDLE)
		stream_set_state(sk, TCP_CIRCUIT_STREAM_MODEST);
	stream_take(s, window, need - s->part);
	return s->part >= need;
}

/* Under way or lost and not sent again yet, segments */
static u32 stream_outstanding(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out;
}

/*
 * A round trip lasts until as many segments are delivered as are outstanding at its
 * begin, whatever their order: a hole does not make it longer.
 */
static void stream_begin_round(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	s->round_start = tp->delivered;
	s->round_end = tp->delivered + stream_outstanding(tp);
}

static bool stream_round_ended(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return !before(tcp_sk(sk)->delivered, s->round_end);
}

/*
 * A hungry one that used less than half of its part for a round trip is not.  It
 * never had more outstanding than was delivered in that time and is outstanding at
 * its end together, so what is left of its part is no less than it used.
 */
static void stream_end_round(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct circuit *c = s->circuit;
	u32 used = max3(2 * (tp->delivered - s->round_start),
			2 * stream_outstanding(tp), (u32)STREAM_SMALL);

	if (used >= s->part || atomic_read(&c->held) == s->part)
		return;
	stream_give(s, s->part - used);
	stream_set_state(sk, TCP_CIRCUIT_STREAM_MODEST);
	s->proved = 1;
}

static void stream_count_round(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (!stream_round_ended(sk))
		return;
	if (!s->young)
		stream_end_round(sk);
	else
		s->young--;
	stream_begin_round(sk);
}

static void stream_take_share(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct circuit *c = s->circuit;
	u32 in_flight = tcp_packets_in_flight(tcp_sk(sk));
	u32 share = circuit_share(window, atomic_read(&c->modest),
				  atomic_read(&c->hungry));
	u32 keep = share;

	/* What is in flight stays reserved, unless the breaker cuts. */
	if (!READ_ONCE(c->tripped))
		keep = max(share, in_flight);
	if (s->part > keep)
		stream_give(s, s->part - keep);
	else if (s->part < share)
		stream_take(s, window, share - s->part);
	s->settled = s->part == share;
	stream_count_round(sk);
}

/* Nothing to do: no data, or none under way and no room for a segment at the peer. */
static bool stream_idle(const struct tcp_sock *tp)
{
	return tp->write_seq == tp->snd_una ||
	       (!tp->packets_out && tp->snd_wnd < tp->mss_cache);
}

/* The part of @sk in its circuit's @window, segments. */
static u32 stream_part(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct circuit *c = s->circuit;

	s->settled = 0;
	if (stream_idle(tp)) {
		stream_rest(sk);
		/* what it may look forward to */
		return DIV_ROUND_UP(window, (u32)atomic_read(&c->sockets));
	}
	if (s->state != TCP_CIRCUIT_STREAM_HUNGRY) {
		if (stream_stays_modest(sk, window)) {
			s->settled = s->proved;
			return s->part;
		}
		stream_set_state(sk, TCP_CIRCUIT_STREAM_HUNGRY);
		s->proved = 0;
		s->young = STREAM_YOUNG;
		stream_begin_round(sk);
	}
	stream_take_share(sk, window);
	return max(s->part, 1U);
}

/* Does @sk, whose own window is from @source, draw on its circuit's? */
static bool stream_draws(const struct sock *sk, u32 source)
{
	const struct stream *s = inet_csk_ca(sk);

	return source != TCP_CIRCUIT_SOURCE_NONE && (!s->asked || s->id) &&
	       READ_ONCE(circuit_pernet(sk)->share);
}

static void stream_peer(const struct sock *sk, struct in6_addr *peer)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		*peer = sk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(sk->sk_daddr, peer);
}

static void stream_join(struct sock *sk)
{
	struct circuit_net *cn = circuit_pernet(sk);
	struct stream *s = inet_csk_ca(sk);
	struct in6_addr peer = {};
	u32 source;

	if (!s->id && READ_ONCE(cn->share) != SHARE_NETNS)
		stream_peer(sk, &peer);
	s->circuit = circuit_get(sock_net(sk), &peer, s->id);
	if (!s->circuit) {
		atomic_long_inc(&cn->no_memory);
		return;
	}
	atomic_inc(&s->circuit->sockets);
	circuit_window_given(sk, s->route, &source);
	if (source != TCP_CIRCUIT_SOURCE_NONE &&
	    READ_ONCE(s->circuit->route) != s->route) {
		WRITE_ONCE(s->circuit->route, s->route);
		atomic_inc(&s->circuit->version);
	}
}

static void stream_leave(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct circuit *c = s->circuit;

	if (!c)
		return;
	stream_report(sk);
	stream_rest(sk);
	circuit_linger(c);
	atomic_dec(&c->sockets);
	s->circuit = NULL;
	circuit_put(c);
}

/* Pace */

/* Under RCU: a device that goes is taken from dst at any time, and then freed. */
static const struct net_device *stream_device(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);

	return dst ? READ_ONCE(dst->dev) : NULL;
}

/* Bytes of a full segment as a qdisc counts them. */
static u32 stream_wire(struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct net_device *dev;
	u32 link = ETH_HLEN;

	rcu_read_lock();
	dev = stream_device(sk);
	if (dev)
		link = dev->hard_header_len;
	rcu_read_unlock();
	return tp->mss_cache + tp->tcp_header_len + link +
	       icsk->icsk_af_ops->net_header_len + icsk->icsk_ext_hdr_len;
}

/* The rate that holds on @sk or its circuit, bytes/s, 0 = unpaced. */
static u64 stream_rate(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u64 rate = s->asked_rate;

	if (!rate)
		return READ_ONCE(circuit_pernet(sk)->rate);
	return rate == TCP_CIRCUIT_RATE_UNPACED ? 0 : rate;
}

/*
 * Of a rate that the streams of a circuit share, this one's.  Who has little of
 * the window yet is not kept waiting for it: one segment at a ten-thousandth of
 * the rate would hold up the next for longer than a round trip.  rate <= 2^37,
 * part and window <= 2^26: the product fits.
 */
static u64 stream_rate_share(const struct sock *sk, u64 rate, u32 window)
{
	const struct stream *s = inet_csk_ca(sk);
	u64 equal = div_u64(rate, atomic_read(&s->circuit->hungry) + 1);

	return max(div_u64(rate * min(s->part, window), window), equal);
}

/*
 * A burst lasts 15 us: one frame at 1 Gbit/s, 13 (19 KB) at 10, 64 KB from 34
 * on.  Set by the number of segments in a GSO packet, and not by
 * sk_pacing_shift, which would also take from the device's queue what TSQ
 * lets stand there, and starve NICs that report completions by the hundred us;
 * and which short round trips overrule (tcp_tso_rtt_log).
 */
static void stream_set_pace(struct sock *sk, u64 rate)
{
	struct stream *s = inet_csk_ca(sk);
	u32 mss = tcp_sk(sk)->mss_cache, wire = stream_wire(sk);
	u64 burst = div_u64(rate >> STREAM_BURST_SHIFT, wire);

	s->mss = mss;
	s->burst = clamp_t(u64, burst, 1, GSO_MAX_SEGS);
	s->pace = clamp_t(u64, div_u64(rate * mss, wire), 1, ~0UL - 1);
	if (cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE,
		    SK_PACING_NEEDED) == SK_PACING_NONE)
		s->paced = 1;
}

/* GSO packets of @most segments, or of what the device takes where that is less. */
static void stream_bound_gso(struct sock *sk, u32 most)
{
	const struct net_device *dev;
	u32 segments = sk->sk_gso_max_segs;

	if (segments == most)
		return;
	rcu_read_lock();
	dev = stream_device(sk);
	if (dev && sk_can_gso(sk))
		segments = max_t(u32, 1, READ_ONCE(dev->gso_max_segs));
	rcu_read_unlock();
	segments = min(segments, most);
	if (sk->sk_gso_max_segs != segments)
		sk->sk_gso_max_segs = segments;
}

static void stream_unpace(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->paced && sk->sk_max_pacing_rate == ~0UL)
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NEEDED,
			SK_PACING_NONE);
	s->paced = 0;
	s->burst = 0;
	s->pace = ~0UL;
}

/* @window: that of the circuit if @shares, else of the socket alone. */
static void stream_repace(struct sock *sk, u64 rate, u32 window, bool shares)
{
	struct stream *s = inet_csk_ca(sk);

	s->rate = rate;
	s->repace = 0;
	if (!rate)
		stream_unpace(sk);
	else if (shares && !s->asked_rate)
		stream_set_pace(sk, stream_rate_share(sk, rate, window));
	else
		stream_set_pace(sk, rate);
}

/*
 * SO_MAX_PACING_RATE lowers sk_pacing_rate at once, but only the algorithm
 * raises it again; a new route gives the GSO packet its full size back.
 *
 * Unpaced, the core keeps segments back until they fill a GSO packet or a third
 * of the window (tcp_tso_should_defer()).  Under a window that grows that costs
 * nothing; out of one that is fixed at rate x RTT, what is kept back is missing.
 */
static void stream_hold_pace(struct sock *sk, u32 window, bool shares)
{
	struct stream *s = inet_csk_ca(sk);
	u64 rate = stream_rate(sk);
	unsigned long pace;

	if (unlikely(rate != s->rate) ||
	    (rate && (s->repace || s->mss != (u16)tcp_sk(sk)->mss_cache)))
		stream_repace(sk, rate, window, shares);

	pace = min(s->pace, READ_ONCE(sk->sk_max_pacing_rate));
	if (unlikely(READ_ONCE(sk->sk_pacing_rate) != pace))
		WRITE_ONCE(sk->sk_pacing_rate, pace);
	stream_bound_gso(sk, s->burst ?: max(s->held / STREAM_GSO_PARTS, 2U));
}

/* The core's own timer, for when the next of the first ten may go */
static void stream_set_timer(struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	struct hrtimer *timer = &tcp_sk(sk)->pacing_timer;

	if (hrtimer_is_queued(timer))
		return;
	hrtimer_start(timer, ns_to_ktime(s->depart),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	sock_hold(sk);
}

/*
 * The core gives a connection's first ten segments no pace
 * (tcp_update_skb_after_send()): a burst that a small buffer loses, or that
 * stands in it ever after, since the rate leaves no room to drain it.  So they are
 * given their times here: one segment of window at a time, and the core's own
 * pacing timer for the next.  Asked before each transmission.
 *
 * The timer is not set again by a look of its own after which nothing went, or it
 * would go off every few us for as long as a window is full.  The core asks again
 * when what holds the segment has gone.
 */
static u32 circuit_first_ten(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 in_flight = tcp_packets_in_flight(tp);
	unsigned long pace = READ_ONCE(sk->sk_pacing_rate);

	/* SO_MAX_PACING_RATE 0: no pace, for the core, too */
	if (!pace)
		return window;
	if (tp->tcp_clock_cache >= s->depart) {
		window = min(window, in_flight + 1);
		if (s->let_go == tp->data_segs_out + 1 &&
		    hrtimer_callback_running(&tp->pacing_timer))
			return window;
		s->let_go = tp->data_segs_out + 1;
		s->depart = tp->tcp_clock_cache +
			    div64_ul((u64)tp->mss_cache * NSEC_PER_SEC, pace);
	} else {
		window = min(window, max(in_flight, 1U));
		s->let_go = 0;	/* the timer has something to do */
	}
	stream_set_timer(sk);
	return window;
}

/* The congestion control */

static void circuit_set_window(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	window = min(window, TCP_CIRCUIT_FCWND_LIMIT);
	if (likely(tcp_snd_cwnd(tp) == window)) {
		s->held = window;
		return;
	}
	if (tcp_snd_cwnd(tp) != s->held) {
		s->restored++;
		atomic_long_inc(&circuit_pernet(sk)->restored);
	}
	s->held = window;
	tcp_snd_cwnd_set(tp, window);
}

/* False: the core has moved the window. */
static __always_inline bool stream_undisturbed(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return tcp_snd_cwnd(tcp_sk(sk)) == s->held;
}

/* False: a modest stream wants more than its part. */
static __always_inline bool stream_content(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->state != TCP_CIRCUIT_STREAM_MODEST ||
	       !stream_needs_more(sk) || !stream_full(sk);
}

static bool stream_pace_undisturbed(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->mss == (u16)tcp_sk(sk)->mss_cache &&
	       sk->sk_gso_max_segs <= s->burst &&
	       READ_ONCE(sk->sk_pacing_rate) ==
	       min(s->pace, READ_ONCE(sk->sk_max_pacing_rate));
}

/*
 * True: circuit_hold() would change nothing.  Most ACKs of a stream at full rate
 * need no more than this; the first one of each round trip looks at all, and so does
 * one that leaves nothing outstanding: the stream may be idle.  Whether it is content
 * is asked before it sends: circuit_min_tso_segs().
 */
static __always_inline bool stream_settled(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->settled && tcp_sk(sk)->packets_out && !stream_round_ended(sk) &&
	       s->version == (u16)atomic_read(&s->circuit->version) &&
	       stream_undisturbed(sk) &&
	       (!s->burst || stream_pace_undisturbed(sk));
}

/* The part that @sk may use of @window, segments. */
static u32 circuit_hold_part(struct sock *sk, u32 window, bool shares)
{
	struct stream *s = inet_csk_ca(sk);
	u32 part = window;

	s->settled = 1;
	if (shares)
		part = stream_part(sk, window);
	else if (s->circuit)
		stream_rest(sk);
	if (s->state != TCP_CIRCUIT_STREAM_HUNGRY)
		stream_begin_round(sk);
	return part;
}

/* Window and pace as they have to be now; the window is also returned. */
static u32 circuit_hold(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct circuit *c = s->circuit;
	u16 version = c ? atomic_read(&c->version) : 0;
	u32 source, part, window = circuit_window(sk, &source);
	bool shares = c && stream_draws(sk, source);

	if (shares) {
		s->route = READ_ONCE(c->route);
		window = circuit_window(sk, &source);
	}
	if (unlikely(!c))
		window = min_t(u32, window, TCP_INIT_CWND);
	else if (unlikely(READ_ONCE(c->window) != window))
		WRITE_ONCE(c->window, window);
	s->cut = c && unlikely(READ_ONCE(c->tripped));
	if (s->cut)
		window = circuit_cut(window);

	part = circuit_hold_part(sk, window, shares);
	circuit_set_window(sk, part);
	stream_hold_pace(sk, window, shares);
	s->version = version;
	s->settled = c && s->settled;
	s->quick = s->settled && !s->burst &&
		   s->state != TCP_CIRCUIT_STREAM_IDLE;
	return part;
}

/* Window and pace as they have to be for a transmission. */
static noinline void circuit_prepare(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	u32 window = circuit_hold(sk);

	if (s->burst && tcp_sk(sk)->data_segs_out < STREAM_UNPACED &&
	    tcp_send_head(sk)) {
		circuit_set_window(sk, circuit_first_ten(sk, window));
		s->settled = 0;	/* that is not its part */
	}
}

/*
 * Asked before each transmission, of new data or old.  Unpaced, the answer is
 * the core's own; paced, a GSO packet may be as short as one segment.  A settled
 * stream has something in flight, and all is looked at when that is acknowledged.
 */
static u32 circuit_min_tso_segs(struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	if (s->mark == STREAM_MARK &&
	    !(s->quick && stream_undisturbed(sk) && stream_content(sk)) &&
	    s->live) {
		circuit_prepare(sk);
		if (s->burst)
			return 1;
	}
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_tso_segs);
}

#ifndef HAVE_MIN_TSO_SEGS
/* Asked in its place: not the least, but the number. */
static u32 circuit_tso_segs(struct sock *sk, unsigned int mss_now)
{
	const struct stream *s = inet_csk_ca(sk);

	circuit_min_tso_segs(sk);
	return s->mark == STREAM_MARK && s->burst ? s->burst : GSO_MAX_SEGS;
}
#endif

/*
 * The area may hold what was asked for before connect(), or be inherited from
 * a listener; it is zero otherwise (tcp_reinit_congestion_control(),
 * tcp_disconnect()), except when a route puts us in another algorithm's place.
 */
static void circuit_adopt(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	bool ours = s->mark == STREAM_MARK;
	u64 asked_rate = ours ? s->asked_rate : 0;
	u32 asked = ours ? s->asked : 0;
	u32 id = ours ? s->id : 0;

	memset(s, 0, sizeof(*s));
	s->mark = STREAM_MARK;
	s->asked = asked;
	s->asked_rate = asked_rate;
	s->id = id;
	s->pace = ~0UL;
}

/*
 * May a buffer grow beyond its size?  As the core asks (tcp_clamp_window(),
 * tcp_should_expand_sndbuf())
 */
static bool circuit_memory_left(const struct sock *sk)
{
	return !tcp_under_memory_pressure(sk) &&
	       sk_memory_allocated(sk) < sk_prot_mem_limits(sk, 0);
}

/*
 * Room for a window in flight, one behind a hole under repair, and more behind
 * holes whose repair was lost, too: 16 windows hold 5 % loss (ctcp-setup --loss
 * has the rule and sets tcp_rmem).  Sockets of one circuit divide them, down to
 * two windows each; half of a buffer is the kernel's own overhead.
 */
static u64 circuit_room(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u32 source, window = circuit_window(sk, &source), sockets = 1;

	if (s->circuit)
		sockets = atomic_read(&s->circuit->sockets);
	return (u64)window * max(4U, 16U / max(sockets, 1U)) *
	       tcp_sk(sk)->advmss;
}

/*
 * Was the receive window's clamp asked for (TCP_WINDOW_CLAMP, a route's window)?
 * Else it is what the buffer gave, less the segment that is kept back; which was
 * longer by its options then (tcp_rcv_state_process() takes them from advmss
 * after tcp_init_buffer_space()).
 */
static bool circuit_clamped(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->window_clamp + tp->advmss + MAX_TCP_OPTION_SPACE <
	       (u32)tcp_full_space(sk);
}

/*
 * Open the receive window at once.  TCP would begin at 64 KB and double it for
 * each round trip: seven of them to 8 MB, in which a circuit stands idle.
 *
 * A limit, not an allocation: tcp_rmem, SO_RCVBUF, tcp_moderate_rcvbuf and
 * tcp_mem have the last word.  On a new connection tcp_init_buffer_space() runs
 * next and takes the window's clamp from the buffer; on one that changes its
 * algorithm (servers do, after accept()) it has run, and the clamp is raised here,
 * unless somebody asked for it.
 */
static void circuit_open_receiver(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	bool from_buffer = tp->window_clamp <= (u32)tcp_full_space(sk);
	u64 rcvbuf;

	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK || circuit_clamped(sk) ||
	    !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_moderate_rcvbuf) ||
	    !circuit_memory_left(sk))
		return;
	rcvbuf = min_t(u64, circuit_room(sk),
		       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]));
	if (rcvbuf > sk->sk_rcvbuf)
		WRITE_ONCE(sk->sk_rcvbuf, rcvbuf);
	tp->rcv_ssthresh = max_t(u32, tp->rcv_ssthresh,
				 tcp_win_from_space(sk, rcvbuf));
	if (from_buffer)
		WRITE_ONCE(tp->window_clamp,
			   max(tp->window_clamp, tp->rcv_ssthresh));
}

/* What the core takes a segment to cost in the send buffer, bytes. */
static u64 circuit_segment_cost(const struct tcp_sock *tp)
{
	u32 cost = max_t(u32, tp->rx_opt.mss_clamp, tp->mss_cache) +
		   MAX_TCP_HEADER +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));

	return roundup_pow_of_two(cost) + SKB_DATA_ALIGN(sizeof(struct sk_buff));
}

/*
 * Of @window segments, those that the send buffer has room for: two, and what waits
 * behind a hole beside them.  While a segment is sent again and lost again, those
 * that arrived stay in the buffer.
 */
static u32 circuit_windows(const struct tcp_sock *tp, u32 window)
{
	return 2 + (tp->snd_nxt - tp->snd_una) / tp->mss_cache / window;
}

/* And what they cost, bytes: tcp_sndbuf_expand()'s product, which is an int there */
static u64 circuit_sndbuf(const struct tcp_sock *tp, u32 window)
{
	return circuit_windows(tp, window) * circuit_segment_cost(tp) *
	       max(window, tp->reordering + 1);
}

/*
 * From 246,724 segments of 1448 bytes on (cost 4352 with wireless drivers, else
 * 2304) two windows do not fit that int, and the buffer would stay at its 87 KB:
 * take what tcp_wmem allows without the core's help then.  The callers have looked
 * at SOCK_SNDBUF_LOCK.
 */
static u32 circuit_sndbuf_expand(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 window = max_t(u32, tcp_snd_cwnd(tp), TCP_INIT_CWND);

	if (circuit_sndbuf(tp, window) <= INT_MAX)
		return circuit_windows(tp, window);
	WRITE_ONCE(sk->sk_sndbuf,
		   max(sk->sk_sndbuf,
		       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_wmem[2])));
	return 0;
}

/* Its part of the window, or its equal one where it has little to send as yet */
static u32 circuit_next_window(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u32 source, window = circuit_window(sk, &source), sockets = 1;

	if (s->circuit)
		sockets = max(atomic_read(&s->circuit->sockets), 1);
	if (s->cut)
		window = circuit_cut(window);
	return max3(tcp_snd_cwnd(tcp_sk(sk)), window / sockets,
		    (u32)TCP_INIT_CWND);
}

/*
 * The send buffer of a connection that is there (a server's, after accept()) is for
 * the ten segments that it began with, and the core gives it more with the first
 * ACK: a round trip late.  Who waits for room is told, as by SO_SNDBUF; so is a
 * subflow's MPTCP connection, which has a size of its own.
 */
static void circuit_open_sender(struct sock *sk)
{
	u64 sndbuf = min_t(u64, circuit_sndbuf(tcp_sk(sk), circuit_next_window(sk)),
			   READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_wmem[2]));

	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK || !circuit_memory_left(sk) ||
	    sndbuf <= sk->sk_sndbuf)
		return;
	WRITE_ONCE(sk->sk_sndbuf, sndbuf);
	if (sk->sk_socket)
		sk->sk_write_space(sk);
}

/* Both buffers are as large as the window wants them from now on. */
static void circuit_open(struct sock *sk)
{
	circuit_open_receiver(sk);
	circuit_open_sender(sk);
}

static void circuit_init(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	circuit_adopt(sk);
	if (dst)
		s->route = dst_metric(dst, RTAX_INITCWND);

	/* The threshold that an earlier algorithm left */
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;

	s->held = tcp_snd_cwnd(tp);
	s->lost = stream_lost(tp);
	s->delivered = tp->delivered;
	s->reported = tcp_jiffies32;
	stream_join(sk);
	s->live = 1;
	atomic_long_inc(&circuit_pernet(sk)->opened);
	circuit_hold(sk);
	circuit_open(sk);
}

/* Also called for sockets that init() never saw. */
static void circuit_release(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->mark != STREAM_MARK || !s->live)
		return;
	s->live = 0;
	s->settled = 0;
	s->quick = 0;
	stream_leave(sk);
	stream_unpace(sk);
	stream_bound_gso(sk, GSO_MAX_SEGS);
}

#ifdef HAVE_CONG_CONTROL_ACK_FLAG
static void circuit_cong_control(struct sock *sk, u32 ack, int flag,
				 const struct rate_sample *rs)
#else
static void circuit_cong_control(struct sock *sk, const struct rate_sample *rs)
#endif
{
	struct stream *s = inet_csk_ca(sk);

	if (unlikely(s->mark != STREAM_MARK))
		return;
	if (unlikely(!stream_settled(sk))) {
		/* A SYN-ACK is an ACK, too, and comes before init(). */
		if (!s->live)
			return;
		circuit_hold(sk);
	}
	if (unlikely((u16)(tcp_jiffies32 - s->reported) >= STREAM_REPORT) &&
	    s->circuit)
		stream_report(sk);
}

/*
 * Runs before icsk_ca_state changes and after the core has cut the window.
 * Also called for sockets that have no window yet (TCP_CA_Open on a new child).
 */
static void circuit_set_state(struct sock *sk, u8 new_state)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->mark != STREAM_MARK || !s->live)
		return;
	if (new_state == TCP_CA_Recovery) {
		s->recoveries++;
		atomic_long_inc(&circuit_pernet(sk)->recoveries);
	}
	if (new_state == TCP_CA_Loss) {
		s->losses++;
		atomic_long_inc(&circuit_pernet(sk)->losses);
		circuit_hold(sk);
		/* A dead stream keeps nothing from the others. */
		if (s->circuit && inet_csk(sk)->icsk_retransmits > 1)
			stream_rest(sk);
	}
}

static u32 circuit_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static u32 circuit_undo_cwnd(struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	/* A SYN with data may be undone before there is a window of ours. */
	if (s->mark != STREAM_MARK || !s->live)
		return max(tcp_snd_cwnd(tp), tp->prior_cwnd);
	return s->held;
}

/*
 * ss has no words for circuit, but it has BBR's, and shows them beside cwnd:
 *
 *	bw		what the pace gives, or else what the window carries
 *	mrtt		the smallest round trip seen
 *	pacing_gain	this stream's part of the circuit's window
 *	cwnd_gain	1, or 0.1 while the breaker has cut the window to a tenth
 *			or less
 *
 * No lock is held here, and the area may be another algorithm's by now: no
 * pointer in it may be followed.
 */
static size_t circuit_get_info(struct sock *sk, u32 ext, int *attr,
			       union tcp_cc_info *info)
{
	const u32 wanted = 1 << (INET_DIAG_BBRINFO - 1) |
			   1 << (INET_DIAG_VEGASINFO - 1);
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 source, window = circuit_window(sk, &source);
	u32 held = READ_ONCE(s->held), rtt = tcp_min_rtt(tp);
	u64 bw = READ_ONCE(s->pace);

	if (!(ext & wanted) || READ_ONCE(s->mark) != STREAM_MARK)
		return 0;
	if (bw == ~0UL)
		bw = div_u64((u64)held * tp->mss_cache * USEC_PER_SEC,
			     max(rtt, 1U));
	memset(&info->bbr, 0, sizeof(info->bbr));
	info->bbr.bbr_bw_lo = (u32)bw;
	info->bbr.bbr_bw_hi = (u32)(bw >> 32);
	info->bbr.bbr_min_rtt = rtt;
	info->bbr.bbr_cwnd_gain = 256;
	if (s->cut) {
		window = circuit_cut(window);
		info->bbr.bbr_cwnd_gain = 256 / CIRCUIT_CUT;
	}
	info->bbr.bbr_pacing_gain = div_u64(256ULL * min(held, window), window);
	*attr = INET_DIAG_BBRINFO;
	return sizeof(info->bbr);
}

static struct tcp_congestion_ops circuit_ops __read_mostly = {
	.init		= circuit_init,
	.release	= circuit_release,
	.cong_control	= circuit_cong_control,
#ifdef HAVE_MIN_TSO_SEGS
	.min_tso_segs	= circuit_min_tso_segs,
#else
	.tso_segs	= circuit_tso_segs,
#endif
	.set_state	= circuit_set_state,
	.ssthresh	= circuit_ssthresh,
	.undo_cwnd	= circuit_undo_cwnd,
	.sndbuf_expand	= circuit_sndbuf_expand,
	.get_info	= circuit_get_info,
	.name		= "circuit",
	.owner		= THIS_MODULE,
};

/* The socket options */

#if IS_ENABLED(CONFIG_NETFILTER)

static bool circuit_is_tcp(const struct sock *sk)
{
	return sk->sk_type == SOCK_STREAM && sk->sk_protocol == IPPROTO_TCP &&
	       (sk->sk_family == AF_INET || sk->sk_family == AF_INET6);
}

/* Lock @sk if circuit runs it, and make its private area valid. */
static int circuit_lock(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	lock_sock(sk);
	if (inet_csk(sk)->icsk_ca_ops != &circuit_ops) {
		release_sock(sk);
		return -ENOPROTOOPT;
	}
	if (s->mark != STREAM_MARK)
		circuit_adopt(sk);
	return 0;
}

/* The most that an unprivileged user may ask for on @sk, segments. */
static u32 circuit_window_max(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u32 source;

	return max3(circuit_window_given(sk, s->route, &source),
		    READ_ONCE(circuit_pernet(sk)->fcwnd_max),
		    (u32)TCP_INIT_CWND);
}

static bool circuit_capable(const struct sock *sk)
{
	return ns_capable(sock_net(sk)->user_ns, CAP_NET_ADMIN);
}

static int circuit_ask_window(struct sock *sk, u64 asked)
{
	struct stream *s = inet_csk_ca(sk);

	if (asked > TCP_CIRCUIT_FCWND_LIMIT)
		return -EINVAL;
	if (asked > circuit_window_max(sk) && !circuit_capable(sk))
		return -EPERM;
	s->asked = asked;
	return 0;
}

/* TCP_CIRCUIT_RATE_UNPACED is above every rate there is. */
static int circuit_ask_rate(struct sock *sk, u64 asked)
{
	u64 given = READ_ONCE(circuit_pernet(sk)->rate);
	struct stream *s = inet_csk_ca(sk);

	if (asked > TCP_CIRCUIT_RATE_LIMIT && asked != TCP_CIRCUIT_RATE_UNPACED)
		return -EINVAL;
	if (given && asked > given && !circuit_capable(sk))
		return -EPERM;
	s->asked_rate = asked;
	s->repace = 1;
	return 0;
}

static int circuit_ask_id(struct sock *sk, u64 id)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->id == id)
		return 0;
	if (s->live && s->circuit && READ_ONCE(s->circuit->tripped) &&
	    !circuit_capable(sk))
		return -EPERM;
	if (s->live)
		stream_leave(sk);
	s->id = id;
	if (s->live)
		stream_join(sk);
	return 0;
}

/*
 * To ask for anything is to choose the algorithm: without icsk_ca_setsockopt a
 * listener's children would be given the default one, and its area wiped.
 */
static int circuit_ask(struct sock *sk, int (*ask)(struct sock *sk, u64 value),
		       u64 value)
{
	const struct stream *s = inet_csk_ca(sk);
	int err = circuit_lock(sk);

	if (err)
		return err;
	err = ask(sk, value);
	if (!err) {
		inet_csk(sk)->icsk_ca_setsockopt = 1;
		if (s->live) {
			circuit_hold(sk);
			circuit_open(sk);
		}
	}
	release_sock(sk);
	return err;
}

static int circuit_ask_u32(struct sock *sk,
			   int (*ask)(struct sock *sk, u64 value),
			   sockptr_t arg, unsigned int len)
{
	u32 value;

	if (len != sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, arg, sizeof(value)))
		return -EFAULT;
	return circuit_ask(sk, ask, value);
}

static int circuit_setsockopt(struct sock *sk, int optname, sockptr_t arg,
			      unsigned int len)
{
	u64 rate;

	if (!circuit_is_tcp(sk))
		return -ENOPROTOOPT;
	switch (optname) {
	case TCP_CIRCUIT_FCWND:
		return circuit_ask_u32(sk, circuit_ask_window, arg, len);
	case TCP_CIRCUIT_ID:
		return circuit_ask_u32(sk, circuit_ask_id, arg, len);
	case TCP_CIRCUIT_RATE:
		if (len != sizeof(rate))
			return -EINVAL;
		if (copy_from_sockptr(&rate, arg, sizeof(rate)))
			return -EFAULT;
		return circuit_ask(sk, circuit_ask_rate, rate);
	default:
		return -ENOPROTOOPT;
	}
}

static void circuit_fill_shared(const struct circuit *c,
				struct tcp_circuit_info *info)
{
	info->tci_sockets = atomic_read(&c->sockets);
	info->tci_hungry = atomic_read(&c->hungry);
	info->tci_held = atomic_read(&c->held);
	info->tci_breaker = READ_ONCE(c->tripped);
	info->tci_trips = READ_ONCE(c->trips);
	info->tci_loss = READ_ONCE(c->loss);
	info->tci_delivered = atomic64_read(&c->delivered);
	info->tci_lost = atomic64_read(&c->lost);
}

static void circuit_fill_info(struct sock *sk, struct tcp_circuit_info *info)
{
	const struct stream *s = inet_csk_ca(sk);

	info->tci_fcwnd = circuit_window(sk, &info->tci_source);
	info->tci_asked = s->asked;
	info->tci_fcwnd_max = circuit_window_max(sk);
	info->tci_snd_cwnd = tcp_snd_cwnd(tcp_sk(sk));
	info->tci_restored = s->restored;
	info->tci_losses = s->losses;
	info->tci_recoveries = s->recoveries;
	info->tci_rate = stream_rate(sk);
	info->tci_id = s->id;
	info->tci_state = s->state;
	info->tci_part = s->part;
	info->tci_burst = s->burst;
	if (s->circuit) {
		stream_report(sk);
		circuit_fill_shared(s->circuit, info);
	}
}

/* Where @info has what @optname asks for, and its size, bytes; 0: no such option. */
static int circuit_answer(const struct tcp_circuit_info *info, int optname,
			  const void **from)
{
	switch (optname) {
	case TCP_CIRCUIT_FCWND:
		*from = &info->tci_fcwnd;
		return sizeof(info->tci_fcwnd);
	case TCP_CIRCUIT_RATE:
		*from = &info->tci_rate;
		return sizeof(info->tci_rate);
	case TCP_CIRCUIT_ID:
		*from = &info->tci_id;
		return sizeof(info->tci_id);
	case TCP_CIRCUIT_INFO:
		*from = info;
		return sizeof(*info);
	default:
		return 0;
	}
}

static int circuit_getsockopt(struct sock *sk, int optname, void __user *user,
			      int *len)
{
	struct tcp_circuit_info info = {};
	const void *from = NULL;
	int size = circuit_answer(&info, optname, &from);
	int err;

	if (!size || !circuit_is_tcp(sk))
		return -ENOPROTOOPT;
	if (*len < (optname == TCP_CIRCUIT_INFO ? 1 : size))
		return -EINVAL;

	err = circuit_lock(sk);
	if (err)
		return err;
	circuit_fill_info(sk, &info);
	release_sock(sk);

	*len = min(*len, size);
	return copy_to_user(user, from, *len) ? -EFAULT : 0;
}

static struct nf_sockopt_ops circuit_sockopts = {
	.pf		= PF_INET,
	.set_optmin	= TCP_CIRCUIT_FCWND,
	.set_optmax	= TCP_CIRCUIT_ID + 1,
	.set		= circuit_setsockopt,
	.get_optmin	= TCP_CIRCUIT_FCWND,
	.get_optmax	= TCP_CIRCUIT_ID + 1,
	.get		= circuit_getsockopt,
	.owner		= THIS_MODULE,
};

static int __init circuit_register_sockopts(void)
{
	return nf_register_sockopt(&circuit_sockopts);
}

static void circuit_unregister_sockopts(void)
{
	nf_unregister_sockopt(&circuit_sockopts);
}

#else /* !CONFIG_NETFILTER */

static int __init circuit_register_sockopts(void)
{
	pr_info("this kernel has no CONFIG_NETFILTER: no socket options, all else works\n");
	return 0;
}

static void circuit_unregister_sockopts(void)
{
}

#endif

/* /proc/net/tcp_circuit: one line a circuit; "reset" written to it closes breakers */

static void *circuit_seq_start(struct seq_file *m, loff_t *pos)
{
	return *pos <= HASH_SIZE(circuits) ? pos : NULL;
}

static void *circuit_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return circuit_seq_start(m, pos);
}

static void circuit_seq_stop(struct seq_file *m, void *v)
{
}

static void circuit_seq_print(struct seq_file *m, const struct circuit *c,
			      u64 rate)
{
	char peer[PEER_TEXT];

	seq_printf(m, "%s %u %u %d %d %d %llu %lld %lld %u %s\n",
		   circuit_peer(c, peer), c->id, READ_ONCE(c->window), atomic_read(&c->held),
		   atomic_read(&c->sockets), atomic_read(&c->hungry), rate,
		   (s64)atomic64_read(&c->delivered),
		   (s64)atomic64_read(&c->lost), READ_ONCE(c->trips),
		   READ_ONCE(c->tripped) ? "tripped" : "closed");
}

/* Position 0 is the head, each other one a bucket of the table. */
static int circuit_seq_show(struct seq_file *m, void *v)
{
	const struct circuit_net *cn = net_generic(seq_file_net(m),
						   circuit_net_id);
	loff_t bucket = *(loff_t *)v;
	struct circuit *c;

	if (!bucket) {
		seq_puts(m, "peer id window held sockets streams rate delivered lost trips state\n");
		return 0;
	}
	spin_lock_bh(&circuits_lock);
	hlist_for_each_entry(c, &circuits[bucket - 1], node)
		if (c->net == seq_file_net(m))
			circuit_seq_print(m, c, READ_ONCE(cn->rate));
	spin_unlock_bh(&circuits_lock);
	return 0;
}

static const struct seq_operations circuit_seq_ops = {
	.start	= circuit_seq_start,
	.next	= circuit_seq_next,
	.stop	= circuit_seq_stop,
	.show	= circuit_seq_show,
};

/* One of @net to @peer (NULL: to anybody) that outlives its streams; a reference. */
static struct circuit *circuit_find_kept(const struct net *net,
					 const struct in6_addr *peer)
{
	struct circuit *c, *found = NULL;
	int bucket;

	spin_lock_bh(&circuits_lock);
	hash_for_each(circuits, bucket, c, node) {
		if (c->net != net ||
		    (!c->tripped && !delayed_work_pending(&c->rearm)) ||
		    (peer && !ipv6_addr_equal(&c->peer, peer)))
			continue;
		refcount_inc(&c->refs);
		found = c;
		break;
	}
	spin_unlock_bh(&circuits_lock);
	return found;
}

static void circuit_reset(struct net *net, const struct in6_addr *peer,
			  const char *why)
{
	struct circuit *c;

	while ((c = circuit_find_kept(net, peer)))
		circuit_close_breaker(c, why);
}

static bool circuit_parse_peer(const char *text, struct in6_addr *peer)
{
	__be32 v4;

	if (in4_pton(text, -1, (u8 *)&v4, -1, NULL)) {
		ipv6_addr_set_v4mapped(v4, peer);
		return true;
	}
	return in6_pton(text, -1, peer->s6_addr, -1, NULL);
}

/* "reset": all breakers of the namespace.  "reset ADDRESS": those to it. */
static int circuit_proc_write(struct file *file, char *buf, size_t size)
{
	struct net *net = seq_file_net(file->private_data);
	char *text = strim(buf), *word = strsep(&text, " \t");
	struct in6_addr peer;

	if (!ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (strcmp(word, "reset"))
		return -EINVAL;
	if (!text) {
		circuit_reset(net, NULL, "by the administrator");
		return 0;
	}
	if (!circuit_parse_peer(skip_spaces(text), &peer))
		return -EINVAL;
	circuit_reset(net, &peer, "by the administrator");
	return 0;
}

static int circuit_stat_show(struct seq_file *m, void *v)
{
	const struct circuit_net *cn = net_generic(seq_file_single_net(m),
						   circuit_net_id);

	seq_printf(m, "Opened %ld\n", atomic_long_read(&cn->opened));
	seq_printf(m, "Restored %ld\n", atomic_long_read(&cn->restored));
	seq_printf(m, "Timeouts %ld\n", atomic_long_read(&cn->losses));
	seq_printf(m, "Recoveries %ld\n", atomic_long_read(&cn->recoveries));
	seq_printf(m, "BreakerTrips %ld\n", atomic_long_read(&cn->trips));
	seq_printf(m, "BreakerResets %ld\n", atomic_long_read(&cn->resets));
	seq_printf(m, "NoMemory %ld\n", atomic_long_read(&cn->no_memory));
	return 0;
}

static int __net_init circuit_proc_init(struct net *net)
{
	if (!IS_ENABLED(CONFIG_PROC_FS))
		return 0;
	if (!proc_create_net_data_write("tcp_circuit", 0644, net->proc_net,
					&circuit_seq_ops, circuit_proc_write,
					sizeof(struct seq_net_private), NULL))
		return -ENOMEM;
	if (!proc_create_net_single("tcp_circuit_stat", 0444, net->proc_net,
				    circuit_stat_show, NULL)) {
		remove_proc_entry("tcp_circuit", net->proc_net);
		return -ENOMEM;
	}
	return 0;
}

static void circuit_proc_exit(struct net *net)
{
	if (!IS_ENABLED(CONFIG_PROC_FS))
		return;
	remove_proc_entry("tcp_circuit_stat", net->proc_net);
	remove_proc_entry("tcp_circuit", net->proc_net);
}

/* The namespace's sysctls */

static u32 circuit_window_limit = TCP_CIRCUIT_WINDOW_LIMIT;
static u32 circuit_fcwnd_limit = TCP_CIRCUIT_FCWND_LIMIT;
static u32 circuit_share_limit = SHARE_NETNS;
static u32 circuit_breaker_limit = 1000;	/* thousandths */
static u32 circuit_breaker_ms_least = 500;
static u32 circuit_breaker_ms_limit = 600000;	/* ten minutes */
static u32 circuit_quiet_limit = 604800;	/* s, a week */
static unsigned long circuit_rate_least;
#if BITS_PER_LONG == 64
static unsigned long circuit_rate_limit = TCP_CIRCUIT_RATE_LIMIT;
#else
static unsigned long circuit_rate_limit = ULONG_MAX;	/* 34 Gbit/s */
#endif

static int circuit_u32_handler(CIRCUIT_CTL_TABLE *table, int write,
			       void *buffer, size_t *len, loff_t *pos)
{
	int err = proc_douintvec_minmax(table, write, buffer, len, pos);

	if (write)
		circuit_unsettle();
	return err;
}

/* 5.10's core takes a negative number, and does nothing. */
static int circuit_rate_handler(CIRCUIT_CTL_TABLE *table, int write,
				void *buffer, size_t *len, loff_t *pos)
{
	int err;

	if (write && strnchr(buffer, *len, '-'))
		return -EINVAL;
	err = proc_doulongvec_minmax(table, write, buffer, len, pos);
	if (write)
		circuit_unsettle();
	return err;
}

#define CIRCUIT_U32(field, least, most) {				\
		.procname	= "tcp_circuit_" #field,		\
		.data		= (void *)offsetof(struct circuit_net, field), \
		.maxlen		= sizeof(u32),				\
		.mode		= 0644,					\
		.proc_handler	= circuit_u32_handler,			\
		.extra1		= least,				\
		.extra2		= most,					\
	}

/* .data is where the value lies in struct circuit_net. */
static const struct ctl_table circuit_sysctls[] = {
	CIRCUIT_U32(fcwnd, SYSCTL_ZERO, &circuit_window_limit),
	CIRCUIT_U32(fcwnd_max, SYSCTL_ZERO, &circuit_fcwnd_limit),
	CIRCUIT_U32(share, SYSCTL_ZERO, &circuit_share_limit),
	CIRCUIT_U32(breaker, SYSCTL_ZERO, &circuit_breaker_limit),
	CIRCUIT_U32(breaker_ms, &circuit_breaker_ms_least,
		    &circuit_breaker_ms_limit),
	CIRCUIT_U32(breaker_quiet, SYSCTL_ZERO, &circuit_quiet_limit),
	{
		.procname	= "tcp_circuit_rate",
		.data		= (void *)offsetof(struct circuit_net, rate),
		.maxlen		= sizeof(unsigned long),
		.mode		= 0644,
		.proc_handler	= circuit_rate_handler,
		.extra1		= &circuit_rate_least,
		.extra2		= &circuit_rate_limit,
	},
	{ }
};

static int __net_init circuit_sysctl_init(struct net *net,
					  struct circuit_net *cn)
{
	const size_t n = ARRAY_SIZE(circuit_sysctls) - 1;
	size_t i;

	cn->table = kmemdup(circuit_sysctls, sizeof(circuit_sysctls),
			    GFP_KERNEL);
	if (!cn->table)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		cn->table[i].data = (char *)cn +
				    (unsigned long)cn->table[i].data;

	cn->header = circuit_register_sysctl(net, "net/ipv4", cn->table, n);
	if (!cn->header) {
		kfree(cn->table);
		return -ENOMEM;
	}
	return 0;
}

static int __net_init circuit_net_init(struct net *net)
{
	struct circuit_net *cn = net_generic(net, circuit_net_id);
	int err;

	cn->share = SHARE_PEER;
	cn->breaker = 100;
	cn->breaker_ms = 2000;
	cn->breaker_quiet = 300;
	err = circuit_sysctl_init(net, cn);
	if (err)
		return err;
	err = circuit_proc_init(net);
	if (err) {
		unregister_net_sysctl_table(cn->header);
		kfree(cn->table);
	}
	return err;
}

/* No socket of the namespace is left, but circuits may be. */
static void __net_exit circuit_net_exit(struct net *net)
{
	struct circuit_net *cn = net_generic(net, circuit_net_id);

	circuit_proc_exit(net);
	unregister_net_sysctl_table(cn->header);
	kfree(cn->table);
	circuit_reset(net, NULL, "with its namespace");
	flush_workqueue(circuit_wq);
}

static struct pernet_operations circuit_net_ops = {
	.init	= circuit_net_init,
	.exit	= circuit_net_exit,
	.id	= &circuit_net_id,
	.size	= sizeof(struct circuit_net),
};

/* The module */

static int circuit_param_set(const char *val, const struct kernel_param *kp)
{
	unsigned int fcwnd;
	int err = kstrtouint(val, 0, &fcwnd);

	if (err || fcwnd > TCP_CIRCUIT_WINDOW_LIMIT) {
		pr_err("%s=\"%.32s\" is no window: give 0 to %u segments\n",
		       kp->name, val, TCP_CIRCUIT_WINDOW_LIMIT);
		return err ?: -ERANGE;
	}
	WRITE_ONCE(*(u32 *)kp->arg, fcwnd);
	circuit_unsettle();
	return 0;
}

static const struct kernel_param_ops circuit_param_ops = {
	.set	= circuit_param_set,
	.get	= param_get_uint,
};

module_param_cb(fcwnd, &circuit_param_ops, &circuit_fcwnd, 0644);
__MODULE_PARM_TYPE(fcwnd, "uint");
MODULE_PARM_DESC(fcwnd, "window of circuits with none of their own, segments (0: as initial TCP)");

static int __init circuit_register(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct stream) > ICSK_CA_PRIV_SIZE);

	circuit_wq = alloc_workqueue("tcp_circuit", WQ_UNBOUND, 0);
	if (!circuit_wq)
		return -ENOMEM;
	err = register_pernet_subsys(&circuit_net_ops);
	if (err)
		goto err_wq;
	err = circuit_register_sockopts();
	if (err)
		goto err_pernet;
	err = tcp_register_congestion_control(&circuit_ops);
	if (err)
		goto err_sockopt;
	return 0;

err_sockopt:
	circuit_unregister_sockopts();
err_pernet:
	unregister_pernet_subsys(&circuit_net_ops);
err_wq:
	destroy_workqueue(circuit_wq);
	return err;
}

static void __exit circuit_unregister(void)
{
	tcp_unregister_congestion_control(&circuit_ops);
	circuit_unregister_sockopts();
	unregister_pernet_subsys(&circuit_net_ops);
	destroy_workqueue(circuit_wq);
}

module_init(circuit_register);
module_exit(circuit_unregister);

MODULE_AUTHOR("the tcp_circuit project");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Circuit TCP: a fixed congestion window for paths of reserved rate");
MODULE_VERSION("0.2.0");

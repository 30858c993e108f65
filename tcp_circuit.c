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
 * enough never to be the limit, including what is queued in that qdisc (Alali,
 * "A Cross-Layer Design for Large Data Transfers", 2016, 3.4).  Loss on such
 * a path means that a bit was damaged, not that others need room: it is
 * repaired (SACK, RACK, TLP, RTO stay as they are) and never obeyed.  There is
 * no slow start, no proportional rate reduction and no backoff of the window;
 * flow control and the backoff of the retransmission timer stay.
 *
 * With cong_control() set, the core leaves the window alone on ACKs, in
 * recovery, after idle periods and when the application is the limit.  It still
 * writes the window in these places, and each is handled:
 *
 *	tcp_init_transfer()	RFC 6928's ten, or one after lost SYNs; init()
 *				runs after it.  A lost SYN, too, is damage.
 *	tcp_enter_loss()	in flight + 1; set_state(TCP_CA_Loss) follows it
 *	tcp_undo_cwnd_reduction()	calls undo_cwnd()
 *	tcp_mtup_probe_success(), tcp_mtu_probe()	scaled, or one less;
 *				restored by the cong_control() of the same or
 *				the next ACK
 *	tcp_disconnect()	a new connect() runs init() again
 *
 * Before it sends new data, and before each run of fast retransmissions, the
 * core calls min_tso_segs(), so these are never sent under a window that
 * circuit has not set.  The core does not call it for single packets: a
 * retransmission by timeout (set_state() has run then) or by TLP, window probes
 * and MTU probes.
 *
 * Where the window comes from, first that is set:
 *
 *	1. the administrator's TCP_CIRCUIT_FCWND, the socket's own
 *	2. the circuit, an object, whose prefix is the longest match (member.c)
 *	3. the route: ip route ... initcwnd N
 *	4. the network namespace: net.ipv4.tcp_circuit_fcwnd
 *	5. the module's parameter fcwnd
 *	6. net.ipv4.tcp_circuit_fcwnd_max, where a user asked for a part of it
 *
 * All are capped by snd_cwnd_clamp (ip route ... cwnd lock N) and by the ceiling
 * of the machine's own namespace (init_net).  Where nothing gives a window the
 * socket runs Reno, by a second set of operations, as DCTCP does when it falls
 * back.  A change of any of these applies to live sockets with their next ACK or
 * transmission.
 *
 * The sockets of a circuit share its window (share.c), its rate (pace.c) and, by
 * user, its breaker (breaker.c).  Both ends open their buffers at once (buffers.c).
 *
 * The algorithm is not TCP_CONG_NON_RESTRICTED: it takes the administrator's
 * word that the path is a circuit.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inet_diag.h>
#include <linux/module.h>

#include "circuit/circuit.h"

#define CREATE_TRACE_POINTS
#include "trace/events/tcp_circuit.h"

unsigned int circuit_net_id __read_mostly;
u32 circuit_fcwnd __read_mostly;	/* the module's parameter */
struct workqueue_struct *circuit_wq;	/* runs the ticks (breaker.c) */

static struct tcp_congestion_ops circuit_ops;
static struct tcp_congestion_ops circuit_reno_ops;

/* Does @sk run circuit, or its fallback to Reno? */
bool circuit_is_ours(const struct sock *sk)
{
	const struct tcp_congestion_ops *ops = inet_csk(sk)->icsk_ca_ops;

	return ops == &circuit_ops || ops == &circuit_reno_ops;
}

/* Will the child of @listener run circuit?  The rules of tcp_ca_openreq_child(). */
bool circuit_will_run(const struct sock *listener, const struct dst_entry *dst)
{
	u32 key = dst_metric(dst, RTAX_CC_ALGO);

	if (key != TCP_CA_UNSPEC)
		return key == circuit_ops.key;
	if (inet_csk(listener)->icsk_ca_setsockopt)
		return circuit_is_ours(listener);
	return rcu_access_pointer(sock_net(listener)->ipv4.tcp_congestion_control) ==
	       &circuit_ops;
}

/* Where the window comes from */

/* The window of a socket that has none of its own */
static struct window circuit_window_given(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct circuit_net *cn = circuit_pernet(sk);
	const struct circuit *c = s->user ? s->user->circuit : NULL;
	u32 given;

	if (c && c->name[0])
		return (struct window){ READ_ONCE(c->window),
					TCP_CIRCUIT_SOURCE_CIRCUIT };
	if (c && c->key.uid != NO_UID)
		return (struct window){ READ_ONCE(cn->fcwnd_max),
					TCP_CIRCUIT_SOURCE_USER };
	given = c ? c->key.route : s->route;
	if (given)
		return (struct window){ min(given, TCP_CIRCUIT_WINDOW_LIMIT),
					TCP_CIRCUIT_SOURCE_ROUTE };
	given = READ_ONCE(cn->fcwnd);
	if (given)
		return (struct window){ given, TCP_CIRCUIT_SOURCE_NETNS };
	given = READ_ONCE(circuit_fcwnd);
	return (struct window){ given, given ? TCP_CIRCUIT_SOURCE_MODULE :
					       TCP_CIRCUIT_SOURCE_NONE };
}

static struct window circuit_capped(const struct sock *sk, struct window window)
{
	window.segments = circuit_ceiling(circuit_pernet(sk), window.segments);
	window.segments = min(window.segments, tcp_sk(sk)->snd_cwnd_clamp);
	return window;
}

/*
 * The window that the child of @listener will have in the object @c, segments.  Its own
 * congestion window is not known yet: a route's "cwnd lock" is taken as its cap.
 */
u32 circuit_window_of_child(const struct sock *listener, const struct circuit *c,
			    const struct dst_entry *dst)
{
	const struct stream *s = inet_csk_ca(listener);
	u32 window = READ_ONCE(c->window);

	if (circuit_is_ours(listener) && s->magic == STREAM_MAGIC && s->own)
		window = s->asked;
	if (dst_metric_locked(dst, RTAX_CWND))
		window = min(window, dst_metric(dst, RTAX_CWND));
	return circuit_ceiling(circuit_pernet(listener), window);
}

/* The window of the circuit, whether or not the socket has its own */
struct window circuit_window_shared(const struct sock *sk)
{
	return circuit_capped(sk, circuit_window_given(sk));
}

/* The window that applies now: @sk's own, or its circuit's */
struct window circuit_window(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	if (s->own)
		return circuit_capped(sk, (struct window){ s->asked,
				      TCP_CIRCUIT_SOURCE_SOCKET });
	return circuit_window_shared(sk);
}

/* Holding it */

static void circuit_set_window(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	window = min(window, TCP_CIRCUIT_FCWND_LIMIT);
	if (likely(tcp_snd_cwnd(tp) == window)) {
		s->cwnd = window;
		return;
	}
	if (tcp_snd_cwnd(tp) != s->cwnd) {
		s->restored += s->restored < U8_MAX;
		atomic_long_inc(&circuit_pernet(sk)->restored);
	}
	s->cwnd = window;
	tcp_snd_cwnd_set(tp, window);
}

/* Is the congestion window still the one that circuit has set? */
static __always_inline bool stream_undisturbed(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return tcp_snd_cwnd(tcp_sk(sk)) == s->cwnd;
}

/*
 * False: this is a modest stream, and it now wants more than its share; or the tick has made
 * it idle.
 */
static __always_inline bool stream_content(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->state == TCP_CIRCUIT_STREAM_HUNGRY ||
	       (s->state == TCP_CIRCUIT_STREAM_MODEST &&
		(!stream_needs_more(sk) || !stream_uses_share(sk)));
}

/*
 * True: circuit_hold() would change nothing.  Most ACKs of a stream at full rate
 * need no more than this check.  The first ACK of each round trip calls
 * circuit_hold(), and so does one that leaves nothing outstanding: the stream may be
 * idle.  stream_content() is checked before the stream sends, in
 * circuit_min_tso_segs().
 */
static __always_inline bool stream_settled(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->settled && tcp_sk(sk)->packets_out && !stream_round_ended(sk) &&
	       s->generation == READ_ONCE(s->user->circuit->cn->generation) &&
	       s->version == (u16)READ_ONCE(stream_pool(s)->version) &&
	       stream_undisturbed(sk) &&
	       (!s->burst || stream_pace_undisturbed(sk));
}

/*
 * Set Reno's pacing rate, which bounds its GSO packets, at once and not with its
 * first ACK: a copy of tcp_update_pacing_rate(), which is not exported.
 */
static void circuit_reno_pace(struct sock *sk)
{
	const struct net *net = sock_net(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);
	u64 rate = (u64)tp->mss_cache * ((USEC_PER_SEC / 100) << 3);

	if (cwnd < tp->snd_ssthresh / 2)
		rate *= READ_ONCE(net->ipv4.sysctl_tcp_pacing_ss_ratio);
	else
		rate *= READ_ONCE(net->ipv4.sysctl_tcp_pacing_ca_ratio);
	rate *= max(cwnd, tp->packets_out);
	if (likely(tp->srtt_us))
		rate = div_u64(rate, tp->srtt_us);
	WRITE_ONCE(sk->sk_pacing_rate,
		   min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

/*
 * The algorithm that follows starts with the initial window, as any connection does,
 * and slow-starts up to the window that was held: that window belongs to the circuit,
 * and other streams have it now.
 */
static void circuit_hand_over(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	tp->snd_ssthresh = max(cwnd, 2U);
	tcp_snd_cwnd_set(tp, min_t(u32, cwnd, TCP_INIT_CWND));
}

/* Nothing gives a window (any more): from here on the socket runs Reno. */
static void circuit_fall_back(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	stream_leave(sk);
	stream_unpace(sk);
	s->settled = 0;
	if (inet_csk(sk)->icsk_ca_ops == &circuit_reno_ops)
		return;
	if (s->cwnd)
		circuit_hand_over(sk);
	s->cwnd = 0;
	inet_csk(sk)->icsk_ca_ops = &circuit_reno_ops;
	circuit_reno_pace(sk);
}

/* Something gives a window (again). */
static void circuit_take_over(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	if (inet_csk(sk)->icsk_ca_ops == &circuit_ops && s->cwnd)
		return;
	s->cwnd = tcp_snd_cwnd(tcp_sk(sk));
	tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	inet_csk(sk)->icsk_ca_ops = &circuit_ops;
}

/*
 * Move the stream into the circuit that it belongs to now.  Where the machine's
 * own limits bind, a breaker of its user that is open in the old circuit is
 * open in the new one, too.
 */
static bool stream_move(struct sock *sk, unsigned long owner)
{
	struct circuit_net *cn = circuit_pernet(sk);
	struct stream *s = inet_csk_ca(sk);
	struct evidence evidence = {};
	u64 until = 0;

	if (s->user && READ_ONCE(s->user->tripped) && s->user->key.uid == owner &&
	    circuit_breaker_is_machines(cn)) {
		spin_lock_bh(&cn->lock);
		until = s->user->tripped ? s->user->quiet_until : 0;
		evidence = s->user->evidence;
		spin_unlock_bh(&cn->lock);
	}
	stream_leave(sk);
	if (!stream_join(sk, owner))
		return false;
	if (until)
		stream_inherit(sk, until, &evidence);
	if (!circuit_window(sk).segments)
		return false;
	circuit_take_over(sk);
	circuit_open_buffers(sk);
	return true;
}

/*
 * If the table, the route or the owner has changed, move the stream to the circuit that
 * matches now.  Then put it into the pool that its user's breaker calls for.  Returns
 * the window that applies, 0 if nothing gives one.
 */
static u32 stream_follow(struct sock *sk)
{
	const struct circuit_net *cn = circuit_pernet(sk);
	struct stream *s = inet_csk_ca(sk);
	u32 generation = smp_load_acquire(&cn->generation);	/* before the table */
	unsigned long owner = stream_owner(sk);	/* asks s->user: before it is left */
	bool look = s->generation != generation;

	/* accept() gives a socket to its caller's user, whoever listened. */
	if (s->user && s->user->key.uid != owner)
		look = true;
	if (stream_update_route(sk) || look) {
		s->generation = generation;
		s->repace = 1;
		look = true;
	}
	if ((!s->user || (look && !stream_belongs(sk, owner))) &&
	    !stream_move(sk, owner))
		return 0;
	if (unlikely(s->cut != READ_ONCE(s->user->tripped))) {
		stream_leave_pool(sk);
		stream_enter_pool(sk, READ_ONCE(s->user->tripped));
	}
	return circuit_window(sk).segments;
}

/* Update the state of @sk in its pool.  Returns what it may use of @window. */
static u32 circuit_hold_share(struct sock *sk, u32 window)
{
	struct stream *s = inet_csk_ca(sk);
	u32 share = window;

	if (s->own) {
		stream_rest(sk);
		s->settled = 1;
	} else {
		share = stream_share(sk, window);
	}
	if (s->state != TCP_CIRCUIT_STREAM_HUNGRY)
		stream_begin_round(sk);
	return share;
}

/* Set window and pace for now.  Returns the window, 0 if the socket runs Reno. */
static u32 circuit_hold(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	u32 share, window = stream_follow(sk);
	struct circuit *c;
	u16 version;

	if (unlikely(!window)) {
		circuit_fall_back(sk);
		return 0;
	}
	c = s->user->circuit;
	version = READ_ONCE(stream_pool(s)->version);
	if (s->version != version)
		s->repace = 1;	/* the number of streams may have changed */
	if (READ_ONCE(c->seen_window) != window && !s->own)
		WRITE_ONCE(c->seen_window, window);
	if (unlikely(s->cut))
		window = split_cut(window);

	share = circuit_hold_share(sk, window);
	circuit_set_window(sk, share);
	stream_hold_pace(sk, window, !s->own);
	s->gain = min(div_u64(256ULL * s->cwnd, window), 255ULL);
	s->version = version;
	return share;
}

/* The core sets its clock when it sends and receives; who looks in between sees that time. */
static void circuit_set_clock(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->tcp_clock_cache = ktime_get_ns();
	tp->tcp_mstamp = div_u64(tp->tcp_clock_cache, NSEC_PER_USEC);
}

/* A socket option or the table has changed: apply it now.  The socket is locked. */
void circuit_look_again(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	circuit_set_clock(sk);
	s->generation = READ_ONCE(circuit_pernet(sk)->generation) - 1;
	if (circuit_hold(sk))
		circuit_open_buffers(sk);
}

/* Set window and pace for a transmission. */
static void circuit_prepare(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	u32 window = circuit_hold(sk);

	if (!window)
		return;
	if (stream_is_put_off(sk) && !s->own && !tcp_packets_in_flight(tcp_sk(sk))) {
		stream_hold_back(sk, tcp_sk(sk)->tcp_wstamp_ns);
	} else if (stream_waits(s)) {
		stream_take_turn(sk);
	} else if (stream_sends_singly(sk)) {
		circuit_set_window(sk, circuit_send_singly(sk, window));
		s->settled = 0;	/* that is not its share */
	}
}

/*
 * Most transmissions of a stream at full rate need no more than this check.  A settled stream
 * has data in flight, and circuit_hold() runs when that data is acknowledged.
 * SO_MAX_PACING_RATE may have put its next segment off and be lifted again: then the core's
 * rate is not its own.
 */
static __always_inline bool stream_may_send(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	return s->magic == STREAM_MAGIC && s->live && s->settled && !s->burst &&
	       !tcp_sk(sk)->tcp_tx_delay && stream_undisturbed(sk) &&
	       READ_ONCE(sk->sk_pacing_rate) == s->pace && stream_content(sk);
}

static u32 core_min_tso_segs(const struct sock *sk)
{
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_tso_segs);
}

/*
 * TCP_TX_DELAY does not hold but for what the core sends without asking (SYN, ACK, after a
 * timeout): fq would keep a window of each stream in turn, and send all at one time.
 */
static noinline u32 circuit_prepare_segs(struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (s->magic == STREAM_MAGIC && s->live) {
		if (unlikely(tp->tcp_tx_delay))
			WRITE_ONCE(tp->tcp_tx_delay, 0);
		circuit_prepare(sk);
		if (s->burst)
			return 1;
	}
	return core_min_tso_segs(sk);
}

/*
 * Called before new data is sent and before fast retransmissions.  Unpaced, it
 * returns the core's own value; paced, a GSO packet may be as short as one
 * segment.
 */
static u32 circuit_min_tso_segs(struct sock *sk)
{
	return likely(stream_may_send(sk)) ? core_min_tso_segs(sk) : circuit_prepare_segs(sk);
}

#ifndef HAVE_MIN_TSO_SEGS
/*
 * Kernels with BBRv3 have tso_segs() in place of min_tso_segs(): it returns the size of
 * a GSO packet, not its minimum.
 */
static u32 circuit_tso_segs(struct sock *sk, unsigned int mss_now)
{
	const struct stream *s = inet_csk_ca(sk);

	circuit_min_tso_segs(sk);
	return s->magic == STREAM_MAGIC && s->burst ? s->burst : GSO_MAX_SEGS;
}
#endif

/* The congestion control */

/*
 * The private area may hold what was asked for before connect(), or be inherited
 * from a listener; it is zero otherwise (tcp_reinit_congestion_control(),
 * tcp_disconnect()), except when a route replaces another algorithm by circuit.
 */
void circuit_adopt(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	bool ours = s->magic == STREAM_MAGIC;
	u32 asked = ours ? s->asked : 0;
	bool own = ours && s->own;

	memset(s, 0, sizeof(*s));
	s->magic = STREAM_MAGIC;
	s->asked = asked;
	s->own = own;
	s->pace = ~0UL;
}

/*
 * The smallest round trip may be that of another connection of this socket, from which
 * tcp_disconnect() has left it.  srtt_us is of this one, and TCP_TX_DELAY, which moves it,
 * forgets the smallest, but not the one that RACK has measured last.  A SYN that is kept in fq
 * makes both too long: its user may as well have a peer that is so far away.  Where none is
 * known, as behind a SYN cookie without timestamps, the next ACK tells.
 */
static void circuit_begin_rtt(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt = max(tcp_min_rtt(tp), tp->srtt_us >> 3);

	if (!tp->srtt_us)
		rtt = U32_MAX;
	else if (rtt == U32_MAX && tp->rack.mstamp)	/* 0 until then */
		rtt = tp->rack.rtt_us;
	minmax_reset(&tp->rtt_min, tcp_jiffies32, rtt);
}

static void circuit_init(struct sock *sk)
{
	struct circuit_net *cn = circuit_pernet(sk);
	struct stream *s = inet_csk_ca(sk);

	inet_csk(sk)->icsk_ca_ops = &circuit_ops;
	circuit_adopt(sk);
	/* IP_TOS, for example, drops the cached route: then the device is unknown. */
	if (!__sk_dst_get(sk))
		inet_csk(sk)->icsk_af_ops->rebuild_header(sk);
	circuit_set_clock(sk);
	circuit_begin_rtt(sk);
	s->generation = READ_ONCE(cn->generation) - 1;
	s->live = 1;
	if (circuit_hold(sk))
		atomic_long_inc(&cn->opened);
	else
		atomic_long_inc(&cn->reno);
}

/* Also called for sockets that init() never saw. */
static void circuit_release(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);

	inet_csk(sk)->icsk_ca_ops = &circuit_ops;
	if (s->magic != STREAM_MAGIC || !s->live)
		return;
	s->live = 0;
	s->settled = 0;
	if (!s->user)
		return;
	stream_leave(sk);
	stream_unpace(sk);
	if (inet_sk_state_load(sk) != TCP_CLOSE)
		circuit_hand_over(sk);
}

#ifdef HAVE_CONG_CONTROL_ACK_FLAG
static void circuit_cong_control(struct sock *sk, u32 ack, int flag,
				 const struct rate_sample *rs)
#else
static void circuit_cong_control(struct sock *sk, const struct rate_sample *rs)
#endif
{
	struct stream *s = inet_csk_ca(sk);

	if (unlikely(s->magic != STREAM_MAGIC))
		return;
	if (unlikely((u16)(tcp_jiffies32 - s->reported) >= STREAM_REPORT) &&
	    s->live && s->user)
		stream_report(sk);
	if (unlikely(!stream_settled(sk))) {
		s->heard |= rs->acked_sacked > 0;
		/* A SYN-ACK is an ACK, too, and comes before init(). */
		if (s->live)
			circuit_hold(sk);
	}
}

/*
 * Runs before icsk_ca_state changes and after the core has cut the window.
 * Also called for sockets that have no window yet (TCP_CA_Open on a new child).
 */
static void circuit_set_state(struct sock *sk, u8 new_state)
{
	struct stream *s = inet_csk_ca(sk);

	if (s->magic != STREAM_MAGIC || !s->live)
		return;
	if (new_state == TCP_CA_Recovery) {
		s->recoveries += s->recoveries < U8_MAX;
		atomic_long_inc(&circuit_pernet(sk)->recoveries);
	}
	if (new_state == TCP_CA_Loss) {
		s->losses += s->losses < U8_MAX;
		atomic_long_inc(&circuit_pernet(sk)->timeouts);
		s->heard = 0;
		circuit_hold(sk);
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

	/* A SYN with data may be undone before circuit has set a window. */
	if (s->magic != STREAM_MAGIC || !s->live)
		return max(tcp_snd_cwnd(tp), tp->prior_cwnd);
	return s->cwnd;
}

/*
 * ss cannot print circuit's state, but it can print BBR's, beside cwnd:
 *
 *	bw		the pace, or if unpaced cwnd / smallest round trip
 *	mrtt		the smallest round trip seen
 *	pacing_gain	this stream's cwnd / window of its pool
 *	cwnd_gain	1, or just below 0.1 while its user's breaker is open
 *
 * No lock is held here, and the private area may be another algorithm's by now: no
 * pointer in it may be followed.
 */
static size_t circuit_get_info(struct sock *sk, u32 ext, int *attr,
			       union tcp_cc_info *info)
{
	const u32 wanted = 1 << (INET_DIAG_BBRINFO - 1) |
			   1 << (INET_DIAG_VEGASINFO - 1);
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = READ_ONCE(s->cwnd), rtt = tcp_min_rtt(tp);
	u64 bw = READ_ONCE(s->pace);

	if (!(ext & wanted) || READ_ONCE(s->magic) != STREAM_MAGIC)
		return 0;
	if (bw == ~0UL)
		bw = div_u64((u64)cwnd * tp->mss_cache * USEC_PER_SEC,
			     max(rtt, 1U));
	memset(&info->bbr, 0, sizeof(info->bbr));
	info->bbr.bbr_bw_lo = (u32)bw;
	info->bbr.bbr_bw_hi = (u32)(bw >> 32);
	info->bbr.bbr_min_rtt = rtt;
	info->bbr.bbr_cwnd_gain = s->cut ? 256 / SPLIT_CUT : 256;
	info->bbr.bbr_pacing_gain = s->gain == 255 ? 256 : s->gain;
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

/* Reno, until something gives a window */

static void circuit_reno_acked(struct sock *sk, const struct ack_sample *sample)
{
	const struct stream *s = inet_csk_ca(sk);

	if (s->magic == STREAM_MAGIC && s->live &&
	    (s->generation != READ_ONCE(circuit_pernet(sk)->generation) ||
	     stream_update_route(sk)))
		circuit_look_again(sk);
}

static struct tcp_congestion_ops circuit_reno_ops __read_mostly = {
	.init		= circuit_init,
	.release	= circuit_release,
	.pkts_acked	= circuit_reno_acked,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.name		= "circuit-reno",
	.owner		= THIS_MODULE,
};

/* Namespaces */

static LIST_HEAD(circuit_nets);
static DEFINE_MUTEX(circuit_nets_mutex);

/* A setting of all namespaces was written. */
void circuit_all_changed(void)
{
	struct circuit_net *cn;

	mutex_lock(&circuit_nets_mutex);
	list_for_each_entry(cn, &circuit_nets, list)
		circuit_net_changed(cn);
	mutex_unlock(&circuit_nets_mutex);
}

static int __net_init circuit_net_init(struct net *net)
{
	struct circuit_net *cn = circuit_net_of(net);
	int err;

	cn->net = net;
	err = circuit_table_init(cn);
	if (err)
		return err;
	err = circuit_sysctl_init(cn);
	if (err) {
		circuit_table_exit(cn);
		return err;
	}
	mutex_lock(&circuit_nets_mutex);
	list_add(&cn->list, &circuit_nets);
	mutex_unlock(&circuit_nets_mutex);
	return 0;
}

static void __net_exit circuit_net_exit(struct net *net)
{
	struct circuit_net *cn = circuit_net_of(net);

	mutex_lock(&circuit_nets_mutex);
	list_del(&cn->list);
	mutex_unlock(&circuit_nets_mutex);
	circuit_sysctl_exit(cn);
	circuit_table_exit(cn);
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
		pr_err("%s=\"%.32s\" is not a window: it must be 0 to %u segments\n",
		       kp->name, val, TCP_CIRCUIT_WINDOW_LIMIT);
		return err ?: -ERANGE;
	}
	WRITE_ONCE(*(u32 *)kp->arg, fcwnd);
	circuit_all_changed();
	return 0;
}

static const struct kernel_param_ops circuit_param_ops = {
	.set	= circuit_param_set,
	.get	= param_get_uint,
};

module_param_cb(fcwnd, &circuit_param_ops, &circuit_fcwnd, 0644);
__MODULE_PARM_TYPE(fcwnd, "uint");
MODULE_PARM_DESC(fcwnd, "window where nothing else gives one, segments (0: Reno's growth)");

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
	err = circuit_netlink_register();
	if (err)
		goto err_pernet;
	err = circuit_register_sockopts();
	if (err)
		goto err_netlink;
	err = tcp_register_congestion_control(&circuit_ops);
	if (err)
		goto err_sockopt;
	return 0;

err_sockopt:
	circuit_unregister_sockopts();
err_netlink:
	circuit_netlink_unregister();
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
	circuit_netlink_unregister();
	unregister_pernet_subsys(&circuit_net_ops);
	destroy_workqueue(circuit_wq);
}

module_init(circuit_register);
module_exit(circuit_unregister);

MODULE_AUTHOR("the tcp_circuit project");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Circuit TCP: a fixed congestion window for paths of reserved rate");
MODULE_VERSION("0.3.0");

// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers: a window needs room at both ends from the first segment on
 *
 * TCP starts with a receive window of 64 KB and doubles it each round trip.  It
 * takes seven round trips to 8 MB, during which a circuit is mostly idle.  So a
 * socket with a window enlarges its receive buffer at once, by a grant:
 *
 *	A stream needs 4 windows of buffer: one in flight, one behind a hole
 *	under repair, and as much again for the kernel's own overhead.  At 5 %
 *	loss, where retransmissions are lost, too, it needs up to 16.  A circuit
 *	has 32 windows: its first socket is granted 16, and each later one half
 *	of what is left, whether the programs of the others read or not.
 *
 *	All grants of the machine, and what TCP holds already, stay below the
 *	first number of net.ipv4.tcp_mem, above which the core considers memory
 *	pressure.  A namespace other than the machine's own has half of what is
 *	left, and all of these together have half of the machine's.
 *
 * A socket that is granted nothing starts as TCP does.  A grant is a limit, not
 * an allocation; tcp_rmem, SO_RCVBUF, tcp_moderate_rcvbuf and tcp_mem still
 * apply.  The core's auto-tuning continues from there.  The send buffer is
 * enlarged at once, too, within tcp_wmem and tcp_mem, without a grant.
 */

#include "circuit.h"

#define ROOM_SHIFT	15		/* a grant is counted in 32 KiB */
#define ROOM_STREAM	16		/* windows for one socket at most */
#define ROOM_CIRCUIT	32		/* windows for all of a circuit */

/*
 * Held while a grant is read and taken, so that two connections that open at once are
 * not granted the same memory: once per connection, for some instructions.
 */
static DEFINE_SPINLOCK(circuit_rooms_lock);

/* Granted, 32 KiB each */
static atomic_long_t circuit_rooms;		/* on this machine */
static atomic_long_t circuit_rooms_guests;	/* of these, to other namespaces */

/*
 * May a buffer grow beyond its size?  The core's own condition (tcp_clamp_window(),
 * tcp_should_expand_sndbuf()).
 */
static bool circuit_memory_left(const struct sock *sk)
{
	return !tcp_under_memory_pressure(sk) &&
	       sk_memory_allocated(sk) < sk_prot_mem_limits(sk, 0);
}

static s64 rooms_granted(const atomic_long_t *rooms)
{
	return (s64)atomic_long_read(rooms) << ROOM_SHIFT;
}

/*
 * Bytes that may still be granted before TCP is under memory pressure.  A
 * namespace other than the machine's own (init_net) may have half of what the
 * others have left; all such namespaces together may have half of the
 * machine's.
 */
static s64 machine_room(const struct sock *sk)
{
	const struct circuit_net *cn = circuit_pernet(sk);
	s64 all = (s64)(sk_prot_mem_limits(sk, 0) - sk_memory_allocated(sk)) <<
		  PAGE_SHIFT;
	s64 left = all - rooms_granted(&circuit_rooms);
	s64 own = atomic64_read(&cn->room);

	if (net_eq(cn->net, &init_net))
		return left;
	return min((left + own) / 2 - own,
		   all / 2 - rooms_granted(&circuit_rooms_guests));
}

/*
 * Bytes of buffer that a socket of @c is granted after @before other sockets
 * have been granted theirs; 0 = none.  @window is the circuit's, in bytes.  An
 * eighth of what the machine has left always stays for the next socket.
 */
u64 circuit_grant(const struct sock *sk, const struct circuit *c, u64 window,
		  int before)
{
	s64 left = ROOM_CIRCUIT * window - atomic64_read(&c->room);
	s64 room = machine_room(sk);
	s64 grant;

	do {
		grant = min(left / 2, room - room / 8);
		grant = clamp_t(s64, grant, 0, ROOM_STREAM * window);
		left -= grant;
		room -= grant;
	} while (before-- > 0);
	return grant;
}

static void stream_count_room(const struct stream *s, int room)
{
	struct circuit *c = s->user->circuit;

	atomic64_add((s64)room << ROOM_SHIFT, &c->room);
	atomic64_add((s64)room << ROOM_SHIFT, &c->cn->room);
	atomic_long_add(room, &circuit_rooms);
	if (!net_eq(c->cn->net, &init_net))
		atomic_long_add(room, &circuit_rooms_guests);
}

/* Take what the socket is granted, and return it, bytes of buffer. */
static u64 stream_take_room(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	u64 window = (u64)circuit_window(sk).segments * tcp_sk(sk)->advmss;
	u64 bytes;

	spin_lock_bh(&circuit_rooms_lock);
	bytes = min_t(u64, circuit_grant(sk, s->user->circuit, window, 0),
		      READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]));
	s->room = min_t(u64, DIV_ROUND_UP_ULL(bytes, 1 << ROOM_SHIFT), U16_MAX);
	stream_count_room(s, s->room);
	spin_unlock_bh(&circuit_rooms_lock);
	return bytes;
}

/*
 * Did somebody ask for the receive window's clamp (TCP_WINDOW_CLAMP, a route's
 * window)?  Otherwise the clamp is at least what tcp_init_buffer_space() took
 * from the buffer: all of it less one segment.  That segment still included its
 * options, which tcp_rcv_state_process() subtracts from advmss only afterwards.
 */
static bool circuit_clamped(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->window_clamp + tp->advmss + MAX_TCP_OPTION_SPACE <
	       (u32)tcp_full_space(sk);
}

/*
 * On a new connection tcp_init_buffer_space() runs after this and takes the
 * window's clamp from the buffer.  On a connection that changes its algorithm
 * (servers do so after accept()) it has already run: the clamp is raised here,
 * unless somebody asked for it.
 */
static void circuit_open_receiver(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct stream *s = inet_csk_ca(sk);
	bool from_buffer = tp->window_clamp <= (u32)tcp_full_space(sk);
	u64 rcvbuf;

	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK || circuit_clamped(sk) || s->room ||
	    !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_moderate_rcvbuf) ||
	    !circuit_memory_left(sk))
		return;
	rcvbuf = stream_take_room(sk);
	if (!rcvbuf)
		return;
	if (rcvbuf > sk->sk_rcvbuf)
		WRITE_ONCE(sk->sk_rcvbuf, rcvbuf);
	tp->rcv_ssthresh = max_t(u32, tp->rcv_ssthresh,
				 tcp_win_from_space(sk, rcvbuf));
	if (from_buffer)
		WRITE_ONCE(tp->window_clamp,
			   max(tp->window_clamp, tp->rcv_ssthresh));
}

/*
 * Return the grant.  A connection that lives on keeps a buffer as large as the
 * data that it holds, but no less than TCP's first one; another circuit may
 * grant it more.
 */
void circuit_close_receiver(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	int rcvbuf;

	if (!s->room)
		return;
	stream_count_room(s, -(int)s->room);
	s->room = 0;
	if (inet_sk_state_load(sk) == TCP_CLOSE ||
	    sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		return;
	rcvbuf = max(READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[1]),
		     atomic_read(&sk->sk_rmem_alloc));
	if (rcvbuf >= sk->sk_rcvbuf)
		return;
	WRITE_ONCE(sk->sk_rcvbuf, rcvbuf);
	tcp_sk(sk)->rcv_ssthresh = min_t(u32, tcp_sk(sk)->rcv_ssthresh,
					 tcp_win_from_space(sk, rcvbuf));
}

/* What a segment costs in the send buffer by the core's estimate, bytes */
static u64 circuit_segment_cost(const struct tcp_sock *tp)
{
	u32 cost = max_t(u32, tp->rx_opt.mss_clamp, tp->mss_cache) +
		   MAX_TCP_HEADER +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));

	return roundup_pow_of_two(cost) + SKB_DATA_ALIGN(sizeof(struct sk_buff));
}

/*
 * How many windows, of @window segments each, the send buffer has to hold: two, plus
 * what waits behind a hole.  While a segment is retransmitted and lost again, those
 * that arrived stay in the buffer.
 */
static u32 circuit_windows(const struct tcp_sock *tp, u32 window)
{
	return 2 + (tp->snd_nxt - tp->snd_una) / tp->mss_cache / window;
}

/*
 * What they cost, bytes; tcp_sndbuf_expand() computes this product as an int.
 */
static u64 circuit_sndbuf(const struct tcp_sock *tp, u32 window)
{
	return circuit_windows(tp, window) * circuit_segment_cost(tp) *
	       max(window, tp->reordering + 1);
}

/*
 * From 246,724 segments of 1448 bytes on (cost 4352 with wireless drivers, else
 * 2304) two windows do not fit that int, and the buffer would stay at its 87 KB:
 * then take what tcp_wmem allows, without the core.  The callers have checked
 * SOCK_SNDBUF_LOCK.
 */
u32 circuit_sndbuf_expand(struct sock *sk)
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

/*
 * The window that @sk is about to have, segments: its congestion window, or an
 * equal part of the circuit's, which it gets as soon as it has more to send.
 */
static u32 circuit_next_window(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u32 sockets = max(READ_ONCE(stream_pool(s)->sockets), 1U);
	u32 window = circuit_window(sk).segments;

	if (s->cut)
		window = split_cut(window);
	return max3(tcp_snd_cwnd(tcp_sk(sk)), window / sockets,
		    (u32)TCP_INIT_CWND);
}

/*
 * The send buffer of an established connection (a server's, after accept()) was sized
 * for its ten first segments, and the core enlarges it only with the first ACK: a
 * round trip late.  Wake writers blocked on the send buffer, as SO_SNDBUF does, and a
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

/* Make both buffers as large as the window needs from now on; @sk has a circuit. */
void circuit_open_buffers(struct sock *sk)
{
	circuit_open_receiver(sk);
	circuit_open_sender(sk);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers: a window needs room at both ends from the first segment on
 *
 * TCP would open its receive window at 64 KB and double it each round trip: seven
 * of them to 8 MB, in which a circuit stands idle.  So a socket whose circuit
 * has a window opens as much at once, within a budget:
 *
 *	4 windows of buffer carry a stream: one in flight, one behind a hole under
 *	repair, and as much again for the kernel's own overhead.  16 hold 5 % loss,
 *	where repairs are lost, too.  The first socket of a circuit is granted 16,
 *	and each that follows half of what is left, so that all together have
 *	less than 32, whether their programs read or not.
 *
 *	All grants of the machine together with what TCP holds stay below the
 *	first number of net.ipv4.tcp_mem, from where on the core thinks of
 *	pressure.
 *
 * A socket that is granted nothing opens as TCP does.  A grant is a limit, not an
 * allocation; tcp_rmem, SO_RCVBUF, tcp_moderate_rcvbuf and tcp_mem have the last
 * word.  The core's own auto-tuning goes on from there.
 */

#include "circuit.h"

#define ROOM_SHIFT	15		/* a grant is counted in 32 KiB */
#define ROOM_STREAM	16		/* windows for one socket at most */
#define ROOM_CIRCUIT	32		/* windows for all of a circuit */

static atomic_long_t circuit_rooms;	/* granted on this machine, 32 KiB each */

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
 * Bytes that TCP may hold before it comes near pressure, less what is granted.  A
 * namespace that is not the machine's own has half of what the others left.
 */
static s64 machine_room(const struct sock *sk)
{
	const struct circuit_net *cn = circuit_pernet(sk);
	s64 pages = sk_prot_mem_limits(sk, 0) - sk_memory_allocated(sk);
	s64 left = (pages << PAGE_SHIFT) -
		   ((s64)atomic_long_read(&circuit_rooms) << ROOM_SHIFT);
	s64 own = atomic64_read(&cn->room);

	return net_eq(cn->net, &init_net) ? left : (left + own) / 2 - own;
}

/*
 * Bytes of buffer that a socket of @c may have, whose @window is in bytes, when
 * @before others have had theirs; 0 = none.  Of the machine's an eighth stays for
 * the next.
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
}

static void stream_take_room(struct sock *sk, u64 bytes)
{
	struct stream *s = inet_csk_ca(sk);
	u32 room = min_t(u64, DIV_ROUND_UP_ULL(bytes, 1 << ROOM_SHIFT), U16_MAX);

	if (room <= s->room)
		return;
	stream_count_room(s, room - s->room);
	s->room = room;
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
 * On a new connection tcp_init_buffer_space() runs next and takes the window's
 * clamp from the buffer; on one that changes its algorithm (servers do, after
 * accept()) it has run, and the clamp is raised here, unless somebody asked for it.
 */
static void circuit_open_receiver(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct stream *s = inet_csk_ca(sk);
	bool from_buffer = tp->window_clamp <= (u32)tcp_full_space(sk);
	u64 rcvbuf, window = (u64)circuit_window(sk).segments * tp->advmss;

	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK || circuit_clamped(sk) || s->room ||
	    !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_moderate_rcvbuf) ||
	    !circuit_memory_left(sk))
		return;
	rcvbuf = min_t(u64, circuit_grant(sk, s->user->circuit, window, 0),
		       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]));
	if (!rcvbuf)
		return;
	stream_take_room(sk, rcvbuf);
	if (rcvbuf > sk->sk_rcvbuf)
		WRITE_ONCE(sk->sk_rcvbuf, rcvbuf);
	tp->rcv_ssthresh = max_t(u32, tp->rcv_ssthresh,
				 tcp_win_from_space(sk, rcvbuf));
	if (from_buffer)
		WRITE_ONCE(tp->window_clamp,
			   max(tp->window_clamp, tp->rcv_ssthresh));
}

/*
 * The grant goes back.  A connection that lives on has the buffer that TCP begins
 * with, or what it holds of data already; in another circuit it asks again.
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

/* Its share of the window, or its equal one where it has little to send as yet */
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
 * The send buffer of a connection that is there (a server's, after accept()) is for
 * the ten segments that it began with, and the core gives it more with the first
 * ACK: a round trip late.  Wake writers blocked on the send buffer, as SO_SNDBUF
 * does, and a subflow's MPTCP connection, which has a size of its own.
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Membership: which circuit a socket belongs to
 *
 * It belongs to the object that matches its peer (table.c).  Where none does, and a
 * socket option, the route, a sysctl or the module's parameter gives a window, the
 * sockets to one peer's address by one outgoing device share an automatic circuit.
 * Routes with different windows have one each; so has each user to whom
 * net.ipv4.tcp_circuit_fcwnd_max gives the window.
 *
 * Membership changes under circuit_net.lock: when a connection begins or ends, and with
 * its first ACK after the table has changed.
 */

#include <linux/jhash.h>

#include "circuit.h"

/*
 * Note the outgoing device and the window of the route; true: they have changed.
 * Without a route, as after IP_TOS was set, the last values stay.
 */
bool stream_update_route(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	u32 route = s->route, ifindex = s->ifindex;
	const struct dst_entry *dst;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst) {
		s->route = dst_metric(dst, RTAX_INITCWND);
		s->ifindex = READ_ONCE(dst->dev)->ifindex;
	}
	rcu_read_unlock();
	return s->route != route || s->ifindex != ifindex;
}

static void stream_peer(struct sock *sk, struct match_key *key)
{
	const __be32 *v4 = &sk->sk_daddr;

	memset(key, 0, sizeof(*key));
	key->ifindex = ((const struct stream *)inet_csk_ca(sk))->ifindex;
	key->mark = READ_ONCE(sk->sk_mark);
	key->family = 4;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		key->family = 6;
		memcpy(key->addr, &sk->sk_v6_daddr, 16);
	} else if (sk->sk_family == AF_INET6) {
		v4 = &sk->sk_v6_daddr.s6_addr32[3];
	}
#endif
	if (key->family == 4)
		memcpy(key->addr, v4, 4);
	key->len = match_bits(key->family);
}

/*
 * Which automatic circuit @sk would join: one for all users (NO_UID), where the
 * route, the namespace or the module gives a window, or the administrator gave one to
 * the socket; one of its own for a user who asked within tcp_circuit_fcwnd_max.
 * False: none.
 */
static bool stream_wants_auto(const struct sock *sk, unsigned long owner, u32 *uid)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct circuit_net *cn = circuit_pernet(sk);

	*uid = NO_UID;
	if (s->own || s->route || READ_ONCE(cn->fcwnd) || READ_ONCE(circuit_fcwnd))
		return true;
	*uid = owner;
	return s->asked && READ_ONCE(cn->fcwnd_max);
}

/* Would a lookup now find the circuit and the user that the stream has? */
bool stream_belongs(struct sock *sk, unsigned long owner)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct circuit *has = s->user->circuit;
	struct match_key peer;
	struct circuit *c;
	struct auto_key key;
	u32 uid;

	if (s->user->key.uid != owner)
		return false;
	stream_peer(sk, &peer);
	c = circuit_match(circuit_pernet(sk), &peer);
	if (c) {
		circuit_put(c);
		return c == has;
	}
	if (has->name[0] || !stream_wants_auto(sk, owner, &uid))
		return false;
	circuit_auto_key_of(&key, &peer, s->route, uid);
	return !memcmp(&key, &has->key, sizeof(key));
}

static void user_meets(struct circuit_user *u, const struct match_key *peer)
{
	u32 hash = jhash(peer->addr, sizeof(peer->addr), peer->family) | 1;

	if (!u->peer)
		u->peer = hash;
	else if (u->peer != hash)
		WRITE_ONCE(u->peers_differ, true);
}

static struct circuit_user *stream_user(struct sock *sk, struct circuit *object,
					const struct match_key *peer, u32 uid,
					unsigned long owner)
{
	const struct stream *s = inet_csk_ca(sk);
	struct circuit_net *cn = circuit_pernet(sk);
	struct circuit *c = object;
	struct circuit_user *u = NULL;
	struct auto_key key;

	circuit_auto_key_of(&key, peer, s->route, uid);
	spin_lock_bh(&cn->lock);
	if (!c)
		c = circuit_auto_get(cn, &key);
	if (c)
		u = user_get(c, owner);
	if (u)
		user_meets(u, peer);
	if (c && !u && !object && hlist_empty(&c->users))
		circuit_auto_drop(c);
	spin_unlock_bh(&cn->lock);
	return u;
}

/*
 * A kernel socket that holds no reference to its namespace may outlive the
 * namespace's circuit_net; that of init_net lives as long as the module.
 */
static bool stream_holds_net(const struct sock *sk)
{
	return sk->sk_net_refcnt || net_eq(sock_net(sk), &init_net);
}

/* What it sent with another algorithm, or in another circuit, does not count here. */
static void stream_begin_report(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	s->lost = stream_lost(tp);
	s->delivered = tp->delivered;
	s->ce = tp->delivered_ce;
	s->reported = tcp_jiffies32;
}

/*
 * Join the circuit that matches, as @owner (stream_owner()).  False: nothing gives it a
 * window, or there is no memory for a circuit.
 */
bool stream_join(struct sock *sk, unsigned long owner)
{
	struct circuit_net *cn = circuit_pernet(sk);
	struct stream *s = inet_csk_ca(sk);
	struct match_key peer;
	struct circuit *c;
	u32 uid = NO_UID;

	stream_peer(sk, &peer);
	c = circuit_match(cn, &peer);
	if ((!c && !stream_wants_auto(sk, owner, &uid)) || !stream_holds_net(sk))
		goto none;
	s->user = stream_user(sk, c, &peer, uid, owner);
	if (!s->user) {
		atomic_long_inc(&cn->no_memory);
		goto none;
	}
	if (c)
		circuit_put(c);
	stream_begin_report(sk);
	stream_enter_pool(sk, READ_ONCE(s->user->tripped));
	return true;

none:
	if (c)
		circuit_put(c);
	return false;
}

void stream_leave(struct sock *sk)
{
	struct circuit_net *cn = circuit_pernet(sk);
	struct stream *s = inet_csk_ca(sk);

	if (!s->user)
		return;
	stream_report(sk);
	circuit_close_receiver(sk);
	stream_leave_pool(sk);
	spin_lock_bh(&cn->lock);
	user_put(s->user);
	spin_unlock_bh(&cn->lock);
	s->user = NULL;
}

/* Open the user's breaker here, as in the previous circuit: until @until, on @evidence. */
void stream_inherit(struct sock *sk, u64 until, const struct evidence *evidence)
{
	struct circuit_user *u = ((struct stream *)inet_csk_ca(sk))->user;
	struct circuit_net *cn = u->circuit->cn;

	spin_lock_bh(&cn->lock);
	if (!u->tripped) {
		u->evidence = *evidence;
		user_open_breaker(u, until);
		user_tick_start(u);
		circuit_notify(u->circuit, TCP_CIRCUIT_CMD_TRIPPED_NTF, 0, evidence,
			       GFP_ATOMIC);
	}
	spin_unlock_bh(&cn->lock);
}

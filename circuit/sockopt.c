// SPDX-License-Identifier: GPL-2.0
/*
 * The socket options TCP_CIRCUIT_FCWND and TCP_CIRCUIT_INFO
 *
 * They use nf_register_sockopt(), which is exported, takes a reference to the module
 * for each call, and works for IPv6 sockets, too.  No struct proto is replaced, so
 * kTLS and MPTCP are not affected and rmmod leaves nothing behind.  Without
 * CONFIG_NETFILTER these options do not exist.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/netfilter.h>

#include "circuit.h"

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
	if (!circuit_is_ours(sk)) {
		release_sock(sk);
		return -ENOPROTOOPT;
	}
	if (s->magic != STREAM_MAGIC)
		circuit_adopt(sk);
	return 0;
}

static bool circuit_capable(const struct sock *sk)
{
	return ns_capable(sock_net(sk)->user_ns, CAP_NET_ADMIN);
}

/*
 * An idle connection follows the table when it next sends; a reader is shown the
 * circuit that it would use.  One that was reset holds nothing any more.
 */
static void circuit_refresh(struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);

	if (s->live && inet_sk_state_load(sk) != TCP_CLOSE)
		circuit_look_again(sk);
}

/* The most that an unprivileged user may ask for on a connection, segments */
static u32 circuit_bound_most(const struct sock *sk)
{
	struct window window = circuit_window_shared(sk);

	if (window.segments)
		return window.segments;
	return circuit_ceiling(circuit_pernet(sk),
			       READ_ONCE(circuit_pernet(sk)->fcwnd_max));
}

/*
 * Setting the option chooses the algorithm: without icsk_ca_setsockopt a listener's
 * children would get the default one, and their private area would be cleared.
 */
static int circuit_ask(struct sock *sk, u32 asked)
{
	struct stream *s = inet_csk_ca(sk);
	bool own = circuit_capable(sk);

	if (asked > TCP_CIRCUIT_FCWND_LIMIT)
		return -EINVAL;
	circuit_refresh(sk);
	if (!own && s->live && asked > circuit_bound_most(sk))
		return -EPERM;
	s->asked = asked;
	s->own = asked && own;
	inet_csk(sk)->icsk_ca_setsockopt = 1;
	circuit_refresh(sk);
	return 0;
}

static int circuit_setsockopt(struct sock *sk, int optname, sockptr_t arg,
			      unsigned int len)
{
	u32 value;
	int err;

	if (!circuit_is_tcp(sk) || optname != TCP_CIRCUIT_FCWND)
		return -ENOPROTOOPT;
	if (len != sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, arg, sizeof(value)))
		return -EFAULT;
	err = circuit_lock(sk);
	if (err)
		return err;
	err = circuit_ask(sk, value);
	release_sock(sk);
	return err;
}

static void circuit_fill_shared(const struct circuit_user *u,
				struct tcp_circuit_info *info)
{
	const struct circuit *c = u->circuit;

	info->tci_rate = READ_ONCE(c->rate);
	info->tci_id = c->id;
	info->tci_sockets = READ_ONCE(c->sockets);
	info->tci_hungry = READ_ONCE(c->pool.hungry) + READ_ONCE(c->cut.hungry);
	info->tci_cwnd_total = READ_ONCE(c->pool.cwnd_total) +
			       READ_ONCE(c->cut.cwnd_total);
	info->tci_breaker = READ_ONCE(u->tripped);
	info->tci_reason = READ_ONCE(u->evidence.reason);
	info->tci_trips = READ_ONCE(u->trips);
	info->tci_loss = judge_loss(u->evidence.seen.lost,
				    u->evidence.seen.delivered);
	info->tci_delivered = atomic64_read(&c->delivered);
	info->tci_lost = atomic64_read(&c->lost);
	memcpy(info->tci_name, c->name, sizeof(info->tci_name));
}

static void circuit_fill_info(struct sock *sk, struct tcp_circuit_info *info)
{
	const struct stream *s = inet_csk_ca(sk);
	struct window window = circuit_window(sk);

	info->tci_fcwnd = window.segments;
	info->tci_source = window.source;
	info->tci_asked = s->asked;
	info->tci_snd_cwnd = tcp_snd_cwnd(tcp_sk(sk));
	info->tci_restored = s->restored;
	info->tci_losses = s->losses;
	info->tci_recoveries = s->recoveries;
	info->tci_state = s->state;
	info->tci_cwnd_share = s->share;
	info->tci_burst = s->burst;
	if (s->user) {
		/* no more often than by itself: readers must not affect the breaker */
		if ((u16)(tcp_jiffies32 - s->reported) >= STREAM_REPORT)
			stream_report(sk);
		circuit_fill_shared(s->user, info);
	}
}

static int circuit_getsockopt(struct sock *sk, int optname, void __user *user,
			      int *len)
{
	struct tcp_circuit_info info = {};
	int size, err;

	if (!circuit_is_tcp(sk) ||
	    (optname != TCP_CIRCUIT_FCWND && optname != TCP_CIRCUIT_INFO))
		return -ENOPROTOOPT;
	size = optname == TCP_CIRCUIT_INFO ? sizeof(info) : sizeof(u32);
	if (*len < (optname == TCP_CIRCUIT_INFO ? 1 : size))
		return -EINVAL;

	err = circuit_lock(sk);
	if (err)
		return err;
	circuit_refresh(sk);
	circuit_fill_info(sk, &info);
	release_sock(sk);

	/* tci_fcwnd comes first: it alone is the answer to TCP_CIRCUIT_FCWND. */
	*len = min(*len, size);
	return copy_to_user(user, &info, *len) ? -EFAULT : 0;
}

static struct nf_sockopt_ops circuit_sockopts = {
	.pf		= PF_INET,
	.set_optmin	= TCP_CIRCUIT_FCWND,
	.set_optmax	= TCP_CIRCUIT_INFO + 1,
	.set		= circuit_setsockopt,
	.get_optmin	= TCP_CIRCUIT_FCWND,
	.get_optmax	= TCP_CIRCUIT_INFO + 1,
	.get		= circuit_getsockopt,
	.owner		= THIS_MODULE,
};

int __init circuit_register_sockopts(void)
{
	BUILD_BUG_ON(offsetof(struct tcp_circuit_info, tci_fcwnd));
	return nf_register_sockopt(&circuit_sockopts);
}

void circuit_unregister_sockopts(void)
{
	nf_unregister_sockopt(&circuit_sockopts);
}

#else /* !CONFIG_NETFILTER */

int __init circuit_register_sockopts(void)
{
	pr_info("built without CONFIG_NETFILTER: no socket options and no early windows\n");
	return 0;
}

void circuit_unregister_sockopts(void)
{
}

#endif

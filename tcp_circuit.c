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
 * Where the window comes from, first that is set:
 *
 *	1. the socket option TCP_CIRCUIT_FCWND
 *	2. the route: ip route ... initcwnd N, read when the connection is made
 *	3. the network namespace: net.ipv4.tcp_circuit_fcwnd
 *	4. the module's parameter fcwnd
 *
 * and TCP's own ten segments when nothing is.  3 and 4 are read again on each
 * ACK and at each start after idle, so writing them changes live sockets.  All
 * are capped by snd_cwnd_clamp (ip route ... lock cwnd N).  Unprivileged users
 * may ask by 1 for what the administrator gave by 2 to 4, for ten, or for
 * net.ipv4.tcp_circuit_fcwnd_max, whichever is most.
 *
 * An end that receives opens its window at once, too: circuit_open_receiver().
 *
 * The algorithm is not TCP_CONG_NON_RESTRICTED: it takes the administrator's
 * word that the path is a circuit.
 *
 * The socket option goes through nf_register_sockopt(): exported, counted for
 * each call, and reached from IPv6 sockets too.  No proto is replaced, so kTLS
 * and MPTCP are none the wiser and rmmod leaves nothing behind.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "uapi/linux/tcp_circuit.h"

#define CIRCUIT_MARK	0x63697263U	/* "circ": the private area is ours */

struct circuit {
	u32	mark;		/* CIRCUIT_MARK, or the area is not filled yet */
	u32	asked;		/* TCP_CIRCUIT_FCWND, segments, 0 = none */
	u32	route;		/* the route's initcwnd, segments, 0 = none */
	u32	held;		/* window last set or seen by us, segments */
	u32	restored;	/* times the core's window was overruled */
	u32	losses;		/* times TCP_CA_Loss was entered */
	u32	recoveries;	/* times TCP_CA_Recovery was entered */
};

struct circuit_net {
	u32	fcwnd;		/* net.ipv4.tcp_circuit_fcwnd, 0 = module's */
	u32	fcwnd_max;	/* net.ipv4.tcp_circuit_fcwnd_max */
	struct ctl_table_header	*header;
	struct ctl_table	*table;
};

static unsigned int circuit_net_id __read_mostly;
static u32 circuit_fcwnd __read_mostly;	/* the module's parameter */
static u32 circuit_fcwnd_limit = TCP_CIRCUIT_FCWND_LIMIT;

static struct tcp_congestion_ops circuit_ops;

/* Where the window comes from */

static struct circuit_net *circuit_pernet(const struct sock *sk)
{
	return net_generic(sock_net(sk), circuit_net_id);
}

/* The window of those who asked for none, segments, 1..FCWND_LIMIT. */
static u32 circuit_window_given(const struct sock *sk, u32 route, u32 *source)
{
	u32 window;

	*source = TCP_CIRCUIT_SOURCE_ROUTE;
	if (route)
		return min(route, TCP_CIRCUIT_FCWND_LIMIT);

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

/* The window that has to hold on @sk now, segments, at least 1. */
static u32 circuit_window(const struct sock *sk, u32 *source)
{
	const struct circuit *ca = inet_csk_ca(sk);
	u32 window;

	if (ca->asked) {
		*source = TCP_CIRCUIT_SOURCE_SOCKET;
		window = ca->asked;
	} else {
		window = circuit_window_given(sk, ca->route, source);
	}
	return max(min(window, tcp_sk(sk)->snd_cwnd_clamp), 1U);
}

/* The most that an unprivileged user may ask for on @sk, segments. */
static u32 circuit_window_max(const struct sock *sk)
{
	const struct circuit *ca = inet_csk_ca(sk);
	u32 source;

	return max3(circuit_window_given(sk, ca->route, &source),
		    READ_ONCE(circuit_pernet(sk)->fcwnd_max),
		    (u32)TCP_INIT_CWND);
}

/* The congestion control */

static void circuit_hold(struct sock *sk)
{
	struct circuit *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 source, window = circuit_window(sk, &source);

	if (likely(tcp_snd_cwnd(tp) == window))
		return;
	if (tcp_snd_cwnd(tp) != ca->held)
		ca->restored++;
	ca->held = window;
	tcp_snd_cwnd_set(tp, window);
}

/*
 * No pace but the application's own: SO_MAX_PACING_RATE lowers the rate at once,
 * but only the algorithm raises it again.
 */
static void circuit_unpace(struct sock *sk)
{
	unsigned long rate = READ_ONCE(sk->sk_max_pacing_rate);

	if (unlikely(READ_ONCE(sk->sk_pacing_rate) != rate))
		WRITE_ONCE(sk->sk_pacing_rate, rate);
}

/*
 * The area may hold a window asked for before connect(), or be inherited from
 * a listener; it is zero otherwise (tcp_reinit_congestion_control(),
 * tcp_disconnect()), except when a route puts us in another algorithm's place.
 */
static void circuit_adopt(struct sock *sk)
{
	struct circuit *ca = inet_csk_ca(sk);
	u32 asked = ca->mark == CIRCUIT_MARK ? ca->asked : 0;

	memset(ca, 0, sizeof(*ca));
	ca->mark = CIRCUIT_MARK;
	ca->asked = asked;
}

/*
 * Open the receive window at once.  TCP would begin at 64 KB and double it for
 * each round trip: seven of them to 8 MB, in which a circuit stands idle.
 *
 * Room for two windows of payload, as a circuit has the same rate both ways:
 * one in flight and one behind a hole under repair; and as much again for the
 * kernel's own overhead.  A limit, not an allocation: tcp_rmem, SO_RCVBUF,
 * tcp_moderate_rcvbuf and memory pressure have the last word.  On a new
 * connection tcp_init_buffer_space() runs next and takes the window's clamp from
 * the buffer; on one that changes its algorithm (servers do, after accept()) it
 * has run, and the clamp is raised here, unless it is below what the old buffer
 * gave (less the segment that is kept back): then somebody asked for it
 * (TCP_WINDOW_CLAMP, a route's window).
 */
static void circuit_open_receiver(struct sock *sk)
{
	bool late = inet_csk(sk)->icsk_ca_initialized;
	struct circuit *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 clamp = tp->window_clamp + tp->advmss;
	bool clamped = late && clamp < (u32)tcp_full_space(sk);
	u64 rcvbuf;

	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK || clamped ||
	    !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_moderate_rcvbuf) ||
	    tcp_under_memory_pressure(sk))
		return;
	rcvbuf = min_t(u64, 4ULL * ca->held * tp->advmss,
		       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]));
	if (rcvbuf <= sk->sk_rcvbuf)
		return;
	WRITE_ONCE(sk->sk_rcvbuf, rcvbuf);
	tp->rcv_ssthresh = tcp_win_from_space(sk, rcvbuf);
	if (late)
		WRITE_ONCE(tp->window_clamp,
			   max(tp->window_clamp, tp->rcv_ssthresh));
}

static void circuit_init(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	struct circuit *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	circuit_adopt(sk);
	if (dst)
		ca->route = dst_metric(dst, RTAX_INITCWND);

	/* What an earlier algorithm left: its threshold, its pacing rate. */
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	circuit_unpace(sk);

	ca->held = tcp_snd_cwnd(tp);
	circuit_hold(sk);
	circuit_open_receiver(sk);
}

#ifdef HAVE_CONG_CONTROL_ACK_FLAG
static void circuit_cong_control(struct sock *sk, u32 ack, int flag,
				 const struct rate_sample *rs)
#else
static void circuit_cong_control(struct sock *sk, const struct rate_sample *rs)
#endif
{
	circuit_hold(sk);
	circuit_unpace(sk);
}

/*
 * Runs before icsk_ca_state changes and after the core has cut the window.
 * Also called for sockets that have no window yet (TCP_CA_Open on a new child).
 */
static void circuit_set_state(struct sock *sk, u8 new_state)
{
	struct circuit *ca = inet_csk_ca(sk);

	if (ca->mark != CIRCUIT_MARK)
		return;
	if (new_state == TCP_CA_Recovery)
		ca->recoveries++;
	if (new_state == TCP_CA_Loss) {
		ca->losses++;
		circuit_hold(sk);
	}
}

#ifdef HAVE_CWND_EVENT_TX_START
static void circuit_tx_start(struct sock *sk)
{
	circuit_hold(sk);
}
#else
static void circuit_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		circuit_hold(sk);
}
#endif

static u32 circuit_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static u32 circuit_undo_cwnd(struct sock *sk)
{
	u32 source;

	return circuit_window(sk, &source);
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
 * tcp_sndbuf_expand() multiplies what is returned here by window and cost, in
 * an int.  From 246,724 segments of 1448 bytes on (cost 4352 with wireless
 * drivers, else 2304) twice that is negative, and the buffer would stay at
 * its 87 KB: ask for one window then, and where even that passes an int, take
 * what tcp_wmem allows without the core's help.  The callers have looked at
 * SOCK_SNDBUF_LOCK.
 */
static u32 circuit_sndbuf_expand(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 window = circuit_segment_cost(tp) * tcp_snd_cwnd(tp);

	if (2 * window <= INT_MAX)
		return 2;
	if (window <= INT_MAX)
		return 1;
	WRITE_ONCE(sk->sk_sndbuf,
		   max(sk->sk_sndbuf,
		       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_wmem[2])));
	return 0;
}

static struct tcp_congestion_ops circuit_ops __read_mostly = {
	.init		= circuit_init,
	.cong_control	= circuit_cong_control,
	.set_state	= circuit_set_state,
#ifdef HAVE_CWND_EVENT_TX_START
	.cwnd_event_tx_start = circuit_tx_start,
#else
	.cwnd_event	= circuit_cwnd_event,
#endif
	.ssthresh	= circuit_ssthresh,
	.undo_cwnd	= circuit_undo_cwnd,
	.sndbuf_expand	= circuit_sndbuf_expand,
	.name		= "circuit",
	.owner		= THIS_MODULE,
};

/* The socket options */

static bool circuit_is_tcp(const struct sock *sk)
{
	return sk->sk_type == SOCK_STREAM && sk->sk_protocol == IPPROTO_TCP &&
	       (sk->sk_family == AF_INET || sk->sk_family == AF_INET6);
}

/* Lock @sk if circuit runs it, and make its private area valid. */
static int circuit_lock(struct sock *sk)
{
	struct circuit *ca = inet_csk_ca(sk);

	if (!circuit_is_tcp(sk))
		return -ENOPROTOOPT;
	lock_sock(sk);
	if (inet_csk(sk)->icsk_ca_ops != &circuit_ops) {
		release_sock(sk);
		return -ENOPROTOOPT;
	}
	if (ca->mark != CIRCUIT_MARK)
		circuit_adopt(sk);
	return 0;
}

/*
 * Asking for a window is choosing the algorithm: without icsk_ca_setsockopt a
 * listener's children would be given the default one, and its area wiped.
 */
static int circuit_ask(struct sock *sk, u32 asked)
{
	struct circuit *ca = inet_csk_ca(sk);

	if (asked > circuit_window_max(sk) &&
	    !ns_capable(sock_net(sk)->user_ns, CAP_NET_ADMIN))
		return -EPERM;

	ca->asked = asked;
	inet_csk(sk)->icsk_ca_setsockopt = 1;
	if (inet_csk(sk)->icsk_ca_initialized)
		circuit_hold(sk);
	return 0;
}

static int circuit_setsockopt(struct sock *sk, int optname, sockptr_t arg,
			      unsigned int len)
{
	u32 asked;
	int err;

	if (optname != TCP_CIRCUIT_FCWND)
		return -ENOPROTOOPT;
	if (!circuit_is_tcp(sk))
		return -ENOPROTOOPT;
	if (len != sizeof(asked))
		return -EINVAL;
	if (copy_from_sockptr(&asked, arg, sizeof(asked)))
		return -EFAULT;
	if (asked > TCP_CIRCUIT_FCWND_LIMIT)
		return -EINVAL;

	err = circuit_lock(sk);
	if (err)
		return err;
	err = circuit_ask(sk, asked);
	release_sock(sk);
	return err;
}

static void circuit_fill_info(const struct sock *sk,
			      struct tcp_circuit_info *info)
{
	const struct circuit *ca = inet_csk_ca(sk);

	info->tci_fcwnd = circuit_window(sk, &info->tci_source);
	info->tci_asked = ca->asked;
	info->tci_fcwnd_max = circuit_window_max(sk);
	info->tci_snd_cwnd = tcp_snd_cwnd(tcp_sk(sk));
	info->tci_restored = ca->restored;
	info->tci_losses = ca->losses;
	info->tci_recoveries = ca->recoveries;
}

static int circuit_getsockopt(struct sock *sk, int optname, void __user *user,
			      int *len)
{
	struct tcp_circuit_info info = {};
	const void *from = &info;
	int size = sizeof(info);
	int err;

	switch (optname) {
	case TCP_CIRCUIT_FCWND:
		from = &info.tci_fcwnd;
		size = sizeof(info.tci_fcwnd);
		break;
	case TCP_CIRCUIT_INFO:
		break;
	default:
		return -ENOPROTOOPT;
	}
	if (!circuit_is_tcp(sk))
		return -ENOPROTOOPT;
	if (*len < (optname == TCP_CIRCUIT_FCWND ? size : 1))
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
	.set_optmax	= TCP_CIRCUIT_INFO + 1,
	.set		= circuit_setsockopt,
	.get_optmin	= TCP_CIRCUIT_FCWND,
	.get_optmax	= TCP_CIRCUIT_INFO + 1,
	.get		= circuit_getsockopt,
	.owner		= THIS_MODULE,
};

/* The namespace's sysctls */

static const struct ctl_table circuit_sysctls[] = {
	{
		.procname	= "tcp_circuit_fcwnd",
		.maxlen		= sizeof(u32),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &circuit_fcwnd_limit,
	},
	{
		.procname	= "tcp_circuit_fcwnd_max",
		.maxlen		= sizeof(u32),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &circuit_fcwnd_limit,
	},
	{ }
};

static int __net_init circuit_net_init(struct net *net)
{
	struct circuit_net *cn = net_generic(net, circuit_net_id);

	cn->table = kmemdup(circuit_sysctls, sizeof(circuit_sysctls),
			    GFP_KERNEL);
	if (!cn->table)
		return -ENOMEM;
	cn->table[0].data = &cn->fcwnd;
	cn->table[1].data = &cn->fcwnd_max;

	cn->header = circuit_register_sysctl(net, "net/ipv4", cn->table,
					     ARRAY_SIZE(circuit_sysctls) - 1);
	if (!cn->header) {
		kfree(cn->table);
		return -ENOMEM;
	}
	return 0;
}

static void __net_exit circuit_net_exit(struct net *net)
{
	struct circuit_net *cn = net_generic(net, circuit_net_id);

	unregister_net_sysctl_table(cn->header);
	kfree(cn->table);
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

	if (err || fcwnd > TCP_CIRCUIT_FCWND_LIMIT) {
		pr_err("%s=\"%.32s\" is no window: give 0 to %u segments\n",
		       kp->name, val, TCP_CIRCUIT_FCWND_LIMIT);
		return err ?: -ERANGE;
	}
	WRITE_ONCE(*(u32 *)kp->arg, fcwnd);
	return 0;
}

static const struct kernel_param_ops circuit_param_ops = {
	.set	= circuit_param_set,
	.get	= param_get_uint,
};

module_param_cb(fcwnd, &circuit_param_ops, &circuit_fcwnd, 0644);
__MODULE_PARM_TYPE(fcwnd, "uint");
MODULE_PARM_DESC(fcwnd, "window of sockets with none of their own, segments (0: as initial TCP)");

static int __init circuit_register(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct circuit) > ICSK_CA_PRIV_SIZE);

	err = register_pernet_subsys(&circuit_net_ops);
	if (err)
		return err;
	err = nf_register_sockopt(&circuit_sockopts);
	if (err)
		goto err_pernet;
	err = tcp_register_congestion_control(&circuit_ops);
	if (err)
		goto err_sockopt;
	return 0;

err_sockopt:
	nf_unregister_sockopt(&circuit_sockopts);
err_pernet:
	unregister_pernet_subsys(&circuit_net_ops);
	return err;
}

static void __exit circuit_unregister(void)
{
	tcp_unregister_congestion_control(&circuit_ops);
	nf_unregister_sockopt(&circuit_sockopts);
	unregister_pernet_subsys(&circuit_net_ops);
}

module_init(circuit_register);
module_exit(circuit_unregister);

MODULE_AUTHOR("the tcp_circuit project");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Circuit TCP: a fixed congestion window for paths of reserved rate");
MODULE_VERSION("0.1.0");

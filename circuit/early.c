// SPDX-License-Identifier: GPL-2.0
/*
 * Early window: open a client's window right behind the SYN-ACK
 *
 * The window field of a SYN-ACK is never scaled (RFC 7323, 2.2).  A client
 * therefore sends at most 64 KB in its first round trip, however much room the
 * server has, and the circuit is idle for one more round trip.  A server in
 * SYN-RECEIVED may send an ACK (RFC 9293, 3.10.7.4), and a client accepts a
 * window update as soon as it is established.  So for circuits with
 * TCP_CIRCUIT_F_EARLY_WINDOW a netfilter hook sends a copy of the SYN-ACK
 * behind it, turned into an ACK with the scaled window.  If that ACK is
 *
 *	lost		the client begins with 64 KB, as it would without it
 *	reordered	a client in SYN-SENT ignores a segment without SYN
 *	duplicated	the client ignores an older window update (RFC 9293,
 *			SND.WL1), and with SACK a duplicate ACK without SACK
 *			blocks is no sign of loss
 *	tracked		nf_conntrack accepts it in SYN_RECV, where an ACK may be
 *			the answer to a SYN that was sent again
 *
 * No such ACK is sent for
 *
 *	- SYN cookies and Fast Open, whose SYN-ACK is not charged to a request
 *	- clients without SACK, for whom several copies would be duplicate ACKs
 *	- Accurate ECN, where each ACK has to carry a count
 *	- options that an ACK may not carry or has to sign: MPTCP, MD5, AO
 *	- a SYN-ACK that is sent for the third time or later (the kernel counts a
 *	  repetition after it has sent it)
 *	- a listener with more than EARLY_QUEUE requests, so that no flood of
 *	  SYNs is answered twice
 *	- a listener whose child would not open its window by itself: another
 *	  algorithm, SO_RCVBUF, a window clamp
 *
 * The ACK promises what the child will be granted (circuit_grant()) after all
 * other requests of the listener have become children and have had their
 * grants.  Requests whose SYN-ACK was sent again are not counted among these.
 *
 * The hook is registered only in namespaces that have such a circuit.
 */

#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>

#include "circuit.h"

#if IS_ENABLED(CONFIG_NETFILTER)

#define EARLY_QUEUE	16	/* requests of a listener that wait for their ACK */

/* AE and CWR: only a SYN-ACK of Accurate ECN (RFC 9768) has one of them set. */
#define EARLY_ACE	cpu_to_be32(0x01800000)

/* The request that @skb, at the TCP header @th, is the first SYN-ACK of; or NULL */
static struct request_sock *early_request(const struct sk_buff *skb,
					  const struct tcphdr *th)
{
	struct request_sock *req;

	if (!th->syn || !th->ack || !skb->sk ||
	    skb->sk->sk_state != TCP_NEW_SYN_RECV)
		return NULL;
	req = inet_reqsk(skb->sk);
	if (req->num_retrans || req->num_timeout || !inet_rsk(req)->wscale_ok ||
	    !inet_rsk(req)->sack_ok || tcp_rsk(req)->tfo_listener ||
	    tcp_flag_word(th) & EARLY_ACE)
		return NULL;
	return req;
}

/* Will the listener's child open its window by itself? */
static bool early_child_opens(const struct sock *listener,
			      const struct dst_entry *dst)
{
	return !(listener->sk_userlocks & SOCK_RCVBUF_LOCK) &&
	       !READ_ONCE(tcp_sk(listener)->window_clamp) &&
	       !dst_metric(dst, RTAX_WINDOW) &&
	       READ_ONCE(sock_net(listener)->ipv4.sysctl_tcp_moderate_rcvbuf) &&
	       inet_csk_reqsk_queue_len(listener) <= EARLY_QUEUE &&
	       circuit_will_run(listener, dst);
}

/*
 * The circuit of @req's client, if it asks for an early window; or NULL.  The
 * family is the packet's: a request to a dual-stack listener has AF_INET6 even
 * where the client's address is IPv4.
 */
static struct circuit *early_circuit(const struct sk_buff *skb,
				     const struct request_sock *req)
{
	const struct inet_request_sock *ireq = inet_rsk(req);
	struct match_key peer = { .family = 4, .len = 32 };
	struct circuit *c;

	peer.ifindex = skb_dst(skb)->dev->ifindex;
	peer.mark = ireq->ir_mark;
	memcpy(peer.addr, &ireq->ir_rmt_addr, 4);
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6)) {
		peer.family = 6;
		peer.len = 128;
		memcpy(peer.addr, &ireq->ir_v6_rmt_addr, 16);
	}
#endif
	c = circuit_match(circuit_net_of(read_pnet(&ireq->ireq_net)), &peer);
	if (c && !(READ_ONCE(c->flags) & TCP_CIRCUIT_F_EARLY_WINDOW)) {
		circuit_put(c);
		c = NULL;
	}
	return c;
}

/*
 * How many other requests of @listener may become children before this one.
 * The queue already counts this one.
 */
static int early_before(const struct sock *listener)
{
	const struct request_sock_queue *queue =
		&inet_csk(listener)->icsk_accept_queue;

	return max(reqsk_queue_len_young(queue) - 1, 0);
}

/*
 * The window field for what the child will open at once, or 0 if that is no
 * more than the 64 KB that the SYN-ACK can announce itself.
 */
static u16 early_window(const struct sk_buff *skb,
			const struct request_sock *req)
{
	const struct sock *listener = req->rsk_listener;
	struct circuit *c = early_circuit(skb, req);
	u64 window, room;

	if (!c)
		return 0;
	window = (u64)circuit_window_of_child(listener, c, skb_dst(skb)) *
		 dst_metric_advmss(skb_dst(skb));
	room = min_t(u64, circuit_grant(listener, c, window,
					early_before(listener)),
		     READ_ONCE(sock_net(listener)->ipv4.sysctl_tcp_rmem[2]));
	circuit_put(c);
	window = tcp_win_from_space(listener, room);
	if (window <= U16_MAX)
		return 0;
	return min_t(u64, window >> inet_rsk(req)->rcv_wscale, U16_MAX);
}

/*
 * Keep the timestamps, and overwrite with NOPs the options that only a SYN may
 * carry.  False: there is another option.
 */
static bool early_options(struct tcphdr *th)
{
	u8 *opt = (u8 *)(th + 1), *end = (u8 *)th + th->doff * 4;

	while (opt < end && *opt != TCPOPT_EOL) {
		u8 kind = *opt, len = 1;

		if (kind != TCPOPT_NOP) {
			if (end - opt < 2 || opt[1] < 2 || opt[1] > end - opt)
				return false;
			len = opt[1];
		}
		switch (kind) {
		case TCPOPT_NOP:
		case TCPOPT_TIMESTAMP:
			break;
		case TCPOPT_MSS:
		case TCPOPT_WINDOW:
		case TCPOPT_SACK_PERM:
			memset(opt, TCPOPT_NOP, len);
			break;
		default:
			return false;
		}
		opt += len;
	}
	return true;
}

/* Turn a copy of the SYN-ACK into the ACK. */
static bool early_rewrite(struct sk_buff *skb, u16 window)
{
	struct tcphdr *th = tcp_hdr(skb);

	if (!early_options(th))
		return false;
	th->syn = 0;
	th->ece = 0;
	th->seq = htonl(ntohl(th->seq) + 1);
	th->window = htons(window);
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		return true;
	th->check = 0;
	skb->csum = csum_partial(th, th->doff * 4, 0);
	if (skb->protocol == htons(ETH_P_IP))
		th->check = tcp_v4_check(th->doff * 4, ip_hdr(skb)->saddr,
					 ip_hdr(skb)->daddr, skb->csum);
	else
		th->check = csum_ipv6_magic(&ipv6_hdr(skb)->saddr,
					    &ipv6_hdr(skb)->daddr,
					    th->doff * 4, IPPROTO_TCP,
					    skb->csum);
	return true;
}

/* Make the ACK that is to follow @skb.  NULL: none is to follow. */
static struct sk_buff *early_ack(struct sk_buff *skb, unsigned int offset)
{
	struct tcphdr *th, space;
	struct request_sock *req;
	struct sk_buff *ack;
	u16 window;

	th = skb_header_pointer(skb, offset, sizeof(space), &space);
	req = th ? early_request(skb, th) : NULL;
	if (!req || !skb_dst(skb) ||
	    !early_child_opens(req->rsk_listener, skb_dst(skb)))
		return NULL;
	window = early_window(skb, req);
	if (!window)
		return NULL;
	ack = skb_copy(skb, GFP_ATOMIC);
	if (!ack)
		return NULL;
	skb_set_transport_header(ack, offset);
	if (!early_rewrite(ack, window)) {
		kfree_skb(ack);
		return NULL;
	}
	nf_reset_ct(ack);	/* conntrack sees a packet of its own */
	skb_set_owner_w(ack, skb->sk);
	return ack;
}

static unsigned int early_out4(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	struct sk_buff *ack;

	if (ip_hdr(skb)->protocol != IPPROTO_TCP)
		return NF_ACCEPT;
	ack = early_ack(skb, ip_hdrlen(skb));
	if (!ack)
		return NF_ACCEPT;
	state->okfn(state->net, state->sk, skb);
	ip_local_out(state->net, ack->sk, ack);
	return NF_STOLEN;
}

#if IS_REACHABLE(CONFIG_IPV6)
static unsigned int early_out6(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	struct sk_buff *ack;

	if (ipv6_hdr(skb)->nexthdr != IPPROTO_TCP)
		return NF_ACCEPT;
	ack = early_ack(skb, sizeof(struct ipv6hdr));
	if (!ack)
		return NF_ACCEPT;
	state->okfn(state->net, state->sk, skb);
	ip6_local_out(state->net, ack->sk, ack);
	return NF_STOLEN;
}
#endif

/* The hooks run last: all others have seen the SYN-ACK that is copied. */
static const struct nf_hook_ops early_hooks[] = {
	{
		.hook		= early_out4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP_PRI_LAST,
	},
#if IS_REACHABLE(CONFIG_IPV6)
	{
		.hook		= early_out6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP6_PRI_LAST,
	},
#endif
};

/* One more circuit of the namespace wants it; under circuit_net.mutex. */
int circuit_early_get(struct circuit_net *cn)
{
	int err = 0;

	if (!cn->n_early)
		err = nf_register_net_hooks(cn->net, early_hooks,
					    ARRAY_SIZE(early_hooks));
	if (!err)
		cn->n_early++;
	return err;
}

void circuit_early_put(struct circuit_net *cn)
{
	if (!--cn->n_early)
		nf_unregister_net_hooks(cn->net, early_hooks,
					ARRAY_SIZE(early_hooks));
}

#else /* !CONFIG_NETFILTER */

int circuit_early_get(struct circuit_net *cn)
{
	return -EOPNOTSUPP;
}

void circuit_early_put(struct circuit_net *cn)
{
}

#endif

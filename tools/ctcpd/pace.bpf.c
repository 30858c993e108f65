// SPDX-License-Identifier: GPL-2.0
/*
 * Each socket's own pacing rate, set from outside: see hands_bpf.h.
 *
 * pace_event() runs when a connection is established, before its first byte, once in each of its
 * round trips and when it ends.  What was there before has no such events: pace_set() goes over
 * all sockets, and gives them back what was theirs where pacing ends.  pace_count() counts who
 * runs, as sockets go without an event, too.
 *
 * Of the kernel's structures there is here what is read; where it lies the loader finds out
 * (CO-RE), so that one object fits all kernels from 6.1 on.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "pace_slot.h"

#define AF_INET			2
#define AF_INET6		10
#define SOL_SOCKET		1
#define SO_MAX_PACING_RATE	47
#define SK_PACING_FQ		2	/* enum sk_pacing of include/net/sock.h */
#define MAPPED			0xffff	/* the third word of a mapped address, host order */
#define ETHERNET		14	/* bytes, as a qdisc counts */

/* States in which a socket sends, or is acknowledged what it sent */
#define SENDS	(1 << BPF_TCP_ESTABLISHED | 1 << BPF_TCP_FIN_WAIT1 | 1 << BPF_TCP_CLOSE_WAIT | \
		 1 << BPF_TCP_CLOSING | 1 << BPF_TCP_LAST_ACK)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		__u32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	__u32 skc_daddr;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
};

struct net_device {
	int ifindex;
};

struct dst_entry {
	struct net_device *dev;
};

struct sock {
	struct sock_common __sk_common;
	struct dst_entry *sk_dst_cache;
	unsigned long sk_max_pacing_rate;
	__u32 sk_pacing_status;
};

struct inet_connection_sock_af_ops {
	__u16 net_header_len;
};

struct tcp_congestion_ops {
	char name[16];
};

struct inet_connection_sock {
	const struct tcp_congestion_ops *icsk_ca_ops;
	const struct inet_connection_sock_af_ops *icsk_af_ops;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u64 bytes_sent;
	__u32 snd_una;
	__u32 write_seq;
	__u32 mss_cache;
	__u16 tcp_header_len;
};

struct bpf_iter__tcp {
	struct sock_common *sk_common;
};

#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PACE_SLOTS);
	__type(key, struct pace_key);
	__type(value, __u32);
} pace_trie SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PACE_SLOTS);
	__type(key, __u32);
	__type(value, struct pace_slot);
} pace_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct pace_mark);
} pace_marks SEC(".maps");

/* The daemon's network namespace, set before the program is loaded */
const volatile __u64 netns_cookie SEC(".rodata.netns");

static __always_inline __u64 now_us(void)
{
	return bpf_ktime_get_ns() / 1000;
}

/* --- which slot ------------------------------------------------------------ */

static __always_inline void put_words(struct pace_key *key, const __u32 *words, int n)
{
	__builtin_memcpy(key->addr, words, n * sizeof(*words));
}

static __always_inline void put_ip6(struct sock_common *c, struct pace_key *key)
{
	const __u32 words[4] = {
		c->skc_v6_daddr.in6_u.u6_addr32[0], c->skc_v6_daddr.in6_u.u6_addr32[1],
		c->skc_v6_daddr.in6_u.u6_addr32[2], c->skc_v6_daddr.in6_u.u6_addr32[3],
	};

	if (!words[0] && !words[1] && words[2] == bpf_htonl(MAPPED)) {
		key->family = AF_INET;
		put_words(key, words + 3, 1);
	} else {
		put_words(key, words, 4);
	}
}

/* False: not of IP, or by which device it sends is not known at present */
static __always_inline int key_of(struct sock *sk, struct pace_key *key)
{
	struct sock_common *c = &sk->__sk_common;
	__u32 ip4 = c->skc_daddr;

	__builtin_memset(key, 0, sizeof(*key));
	key->ifindex = sk->sk_dst_cache->dev->ifindex;
	key->family = c->skc_family;
	if (key->family == AF_INET)
		put_words(key, &ip4, 1);
	else if (key->family == AF_INET6 && bpf_core_field_exists(c->skc_v6_daddr))
		put_ip6(c, key);
	else
		return 0;
	key->bits = PACE_KEY_BITS(key->family == AF_INET ? 32 : 128);
	return key->ifindex != 0;
}

/* By its congestion control: a circuit, whose rate and window are an administrator's */
static __always_inline int is_circuits(const struct tcp_sock *tp)
{
	static const char circuit[8] = "circuit";
	char name[8] = "";

	bpf_core_read(name, sizeof(name), &tp->inet_conn.icsk_ca_ops->name);
	return *(__u64 *)name == *(const __u64 *)circuit;
}

static __always_inline struct pace_slot *slot_at(__u32 i)
{
	return bpf_map_lookup_elem(&pace_slots, &i);
}

/* NULL: it is of none, or of one that has gone */
static __always_inline struct pace_slot *slot_of(const struct pace_mark *mark)
{
	struct pace_slot *slot = mark->generation ? slot_at(mark->slot) : NULL;

	return slot && slot->generation == mark->generation ? slot : NULL;
}

/* --- who runs -------------------------------------------------------------- */

static __always_inline void count(struct pace_slot *slot, struct pace_mark *mark, __u32 runs,
				  __u64 light)
{
	__sync_fetch_and_add(&slot->running, (__s32)runs - (__s32)mark->runs);
	__sync_fetch_and_add(&slot->lights, (light > 0) - (mark->light > 0));
	__sync_fetch_and_add(&slot->light, (__s64)light - (__s64)mark->light);
	mark->runs = runs;
	mark->light = light;
}

static __always_inline void leave(struct pace_mark *mark)
{
	struct pace_slot *slot = slot_of(mark);

	if (slot)
		count(slot, mark, 0, 0);
	mark->generation = 0;
	mark->runs = 0;
	mark->light = 0;
	mark->share = PACE_NONE;
}

/* Of each segment, bytes; of a mapped address IPv4's */
static __always_inline __u32 headers_of(const struct tcp_sock *tp)
{
	return ETHERNET + tp->inet_conn.icsk_af_ops->net_header_len + tp->tcp_header_len;
}

static __always_inline void begin_measure(struct tcp_sock *tp, struct pace_mark *mark)
{
	mark->bytes = tp->bytes_sent;
	mark->at_us = now_us();
}

/* @begins: its connection is new.  Else it runs if it has data that is not acknowledged. */
static __always_inline void join(struct tcp_sock *tp, struct pace_mark *mark, __u32 i,
				 struct pace_slot *slot, int begins)
{
	leave(mark);
	mark->slot = i;
	mark->generation = slot->generation;
	begin_measure(tp, mark);
	count(slot, mark, begins || tp->write_seq != tp->snd_una, 0);
}

static __always_inline void measure(struct tcp_sock *tp, struct pace_mark *mark,
				    struct pace_slot *slot)
{
	__u64 us = now_us() - mark->at_us, used;

	if (us < PACE_MEASURE_US)
		return;
	used = pace_used(tp->bytes_sent - mark->bytes, us);
	used = pace_on_wire(used, tp->mss_cache, headers_of(tp));
	if (pace_is_light(used, mark->share))
		count(slot, mark, 0, used);
	else
		count(slot, mark, 1, 0);
	begin_measure(tp, mark);
}

/*
 * The mark of a socket, of the slot that it belongs to now, which is in *@slot; NULL: it has
 * none.  One of which the device is not known stays where it is.
 */
static __always_inline struct pace_mark *place(struct tcp_sock *tp, struct pace_slot **slot,
					       int begins)
{
	struct pace_slot *found = NULL;
	struct pace_mark *mark;
	struct pace_key key;
	__u32 *i = NULL;
	int known = key_of((struct sock *)tp, &key);

	if (known)
		i = bpf_map_lookup_elem(&pace_trie, &key);
	if (i && !is_circuits(tp))
		found = slot_at(*i);
	mark = bpf_sk_storage_get(&pace_marks, tp, NULL, found ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (!mark)
		return NULL;
	if (found && i && (mark->slot != *i || mark->generation != found->generation))
		join(tp, mark, *i, found, begins);
	if (!known)
		found = slot_of(mark);
	if (found && found->rate) {
		*slot = found;
	} else {
		leave(mark);
		*slot = NULL;
	}
	return mark;
}

/* --- the rate of a socket -------------------------------------------------- */

/* As the one counts that paces it */
static __always_inline __u64 limit_of(struct tcp_sock *tp, const struct pace_mark *mark)
{
	if (mark->share == PACE_NONE || ((struct sock *)tp)->sk_pacing_status == SK_PACING_FQ)
		return mark->share;
	return pace_payload(mark->share, tp->mss_cache, headers_of(tp));
}

static __always_inline void divide(struct pace_mark *mark, const struct pace_slot *slot)
{
	if (!slot)
		mark->share = PACE_NONE;
	else if (mark->runs)
		mark->share = pace_share(slot->rate, slot->light, slot->running, slot->lights);
	else
		mark->share = pace_light_share(slot->rate, slot->light, slot->running,
					       slot->lights, mark->light);
}

/*
 * What is to be written, 0 = nothing.  A limit that is not the one that we set is the
 * application's own.  One above PACE_LIMIT could not be given back: it is left alone.
 */
static __always_inline __u64 decide(struct tcp_sock *tp, struct pace_mark *mark)
{
	__u64 now = ((struct sock *)tp)->sk_max_pacing_rate, want;

	if (!mark->set || now != mark->set) {
		mark->set = 0;
		mark->own = now;
	}
	if (mark->own > PACE_LIMIT && mark->own != PACE_NONE)
		return 0;
	want = pace_in_force(mark->own, limit_of(tp, mark));
	return want == now ? 0 : want;
}

static __always_inline void wrote(struct pace_mark *mark, __u64 rate)
{
	mark->set = rate < mark->own ? rate : 0;
}

/* --- programs -------------------------------------------------------------- */

static __always_inline void follow(struct bpf_sock_ops *ctx, struct tcp_sock *tp)
{
	const int flags = BPF_SOCK_OPS_STATE_CB_FLAG | BPF_SOCK_OPS_RTT_CB_FLAG;
	struct pace_slot *slot;
	struct pace_mark *mark = place(tp, &slot, ctx->op != BPF_SOCK_OPS_RTT_CB);
	__u64 rate;
	int value;

	if (!mark)
		return;
	if (slot)
		measure(tp, mark, slot);
	divide(mark, slot);
	rate = decide(tp, mark);
	value = (int)rate;
	if (rate && !bpf_setsockopt(ctx, SOL_SOCKET, SO_MAX_PACING_RATE, &value, sizeof(value)))
		wrote(mark, rate);
	if (slot)
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | flags);
}

static __always_inline void end(struct tcp_sock *tp)
{
	struct pace_mark *mark = bpf_sk_storage_get(&pace_marks, tp, NULL, 0);

	if (mark)
		leave(mark);
}

SEC("sockops")
int pace_event(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp;

	if (!ctx->is_fullsock || !sk || bpf_get_netns_cookie(ctx) != netns_cookie)
		return 1;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 1;
	switch (ctx->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_RTT_CB:
		follow(ctx, tp);
		break;
	case BPF_SOCK_OPS_STATE_CB:
		if (ctx->args[1] == BPF_TCP_CLOSE)
			end(tp);
		break;
	}
	return 1;
}

/* Of an iterator: NULL: no socket of TCP's that sends */
static __always_inline struct tcp_sock *sender(const struct bpf_iter__tcp *ctx)
{
	struct sock_common *c = ctx->sk_common;

	if (!c || !(SENDS & 1 << c->skc_state))
		return NULL;
	return bpf_skc_to_tcp_sock(c);
}

SEC("iter/tcp")
int pace_count(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = sender(ctx);
	struct pace_slot *slot;
	struct pace_mark *mark = tp ? place(tp, &slot, 0) : NULL;

	if (!mark || !slot)
		return 0;
	measure(tp, mark, slot);
	__sync_fetch_and_add(&slot->running_counted, mark->runs);
	__sync_fetch_and_add(&slot->lights_counted, mark->light > 0);
	__sync_fetch_and_add(&slot->light_counted, mark->light);
	return 0;
}

SEC("iter/tcp")
int pace_set(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = sender(ctx);
	struct pace_slot *slot;
	struct pace_mark *mark = tp ? place(tp, &slot, 0) : NULL;
	__u64 rate;
	int value;

	if (!mark)
		return 0;
	divide(mark, slot);
	rate = decide(tp, mark);
	value = (int)rate;
	if (rate && !bpf_setsockopt(tp, SOL_SOCKET, SO_MAX_PACING_RATE, &value, sizeof(value)))
		wrote(mark, rate);
	return 0;
}

char _license[] SEC("license") = "GPL";

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of tcp_circuit share
 *
 *	namespace	struct circuit_net: the table, the sysctls, the counters
 *	circuit		an object that the administrator made; or, where no object
 *			matches, an automatic circuit for the streams to one peer
 *	user		the sockets of one user in a circuit (owner.c); each has a breaker
 *	pool		a window and the streams that share it: the circuit's, or
 *			what is left of it for users whose breaker is open
 *	stream		a socket whose window circuit sets; its state is in the
 *			socket's icsk_ca_priv
 *	tick		the work item that judges users ten times a second
 *
 * Locks, outermost first:
 *
 *	circuit_nets_mutex	the list of namespaces (tcp_circuit.c)
 *	circuit_net.mutex	changes of objects, by netlink
 *	the socket's		fields of struct stream, except its share
 *	circuit_net.lock	membership: automatic circuits, users, which users the
 *				tick judges
 *	pool.lock		shares: what streams hold, and in which state
 *
 * and, each of them innermost:
 *
 *	sk_callback_lock	the socket's file, for a moment (owner.c)
 *	circuit_rooms_lock	the machine's receive windows (buffers.c)
 *
 * An ACK of a settled stream takes none but the socket's; ten times a second
 * its report may take circuit_net.lock, to start the tick.
 */
#ifndef _CIRCUIT_CIRCUIT_H
#define _CIRCUIT_CIRCUIT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/sysctl.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "uapi/linux/tcp_circuit.h"
#include "judge.h"
#include "left.h"
#include "match.h"
#include "rtt.h"
#include "split.h"

#define STREAM_MAGIC	0x63697263U	/* "circ": the private area is ours */
#define STREAM_CE_BITS	21		/* more are marked in no slot of a breaker */
#define STREAM_YOUNG	2		/* round trips: the current one and one more */
#define STREAM_REPORT	(HZ / 10)	/* jiffies between reports to the breaker */

#define CIRCUIT_TICK	(HZ / 10)	/* jiffies between ticks */
#define CIRCUIT_PREFIXES_NET	(4 * 65536)	/* prefixes of a namespace */
#define CIRCUIT_AUTOS_NET	(16 * 65536)	/* automatic circuits */
#define CIRCUIT_KEPT_NET	256	/* users without a socket */
#define CIRCUIT_KEPT_UID	(CIRCUIT_KEPT_NET / 4)	/* of these, of one uid */
#define CIRCUIT_MARKED_NET	64	/* uids whose open breakers were forgotten */

struct circuit;
struct breaker_limits;

/* A window, and the streams that share it */
struct pool {
	spinlock_t		lock;	/* of all below */
	struct list_head	active;	/* streams that are not idle */
	u32	cwnd_total;	/* sum of shares, segments */
	u32	modest;		/* of these, held by modest streams */
	u32	hungry;		/* hungry streams */
	u32	busy;		/* streams that are modest or hungry */
	u32	waiting;	/* busy streams without a share */
	u32	sockets;	/* all streams of the pool, including idle ones */
	u32	version;	/* incremented when anything changes that shares depend on */
	u64	turn;		/* ns: when the next turn is (turn.c) */
	struct left	turns;	/* in flight of streams that wait (turn.c) */
	struct left	left;	/* of streams that gave up their shares */
};

/* What streams have seen since the last tick; added to without a lock. */
struct tally {
	atomic_t	lost;		/* segments */
	atomic_t	delivered;	/* segments */
	atomic_t	ce;		/* segments */
	atomic64_t	bytes;		/* delivered, on the wire */
	atomic64_t	share_ms;	/* sum of share (segments) x ms */
	atomic64_t	full_ms;	/* of share_ms: in use */
	atomic64_t	local_ms;	/* of share_ms: backlog in this host */
	atomic64_t	late_ms;	/* of share_ms: round trip too long */
	atomic64_t	carries;	/* bytes that shares should carry */
	u32		rtt_us;		/* smallest smoothed round trip, 0 = none */
	u32		rtt_expected;	/* us: the longest that was explained, 0 = none */
};

/* What a breaker saw when it tripped, for readers (netlink, TCP_CIRCUIT_INFO) */
struct evidence {
	struct judge_sample	seen;
	u32	reason;		/* enum tcp_circuit_reason, 0 = it never tripped */
	u32	uid;		/* in the namespace's user namespace */
	u32	host_uid;	/* in the initial user namespace */
	u32	threshold;	/* thousandths */
	u32	window;		/* segments, before the cut */
	u64	rate;		/* bytes/s delivered */
};

struct user_key {
	unsigned long	circuit;	/* its address */
	unsigned long	uid;		/* kuid: stream_owner() */
};

/* The sockets of one user in a circuit; freed with the last socket unless it is kept */
struct circuit_user {
	struct user_key		key;
	struct rhash_head	node;	/* in circuit_net.users */
	struct hlist_node	list;	/* in circuit.users, under circuit_net.lock */
	struct list_head	kept;	/* in circuit_net.kept while without a socket */
	struct list_head	ticking; /* in circuit_net.ticking while the tick judges it */
	struct circuit		*circuit; /* referenced */
	u32	sockets;	/* under circuit_net.lock */
	u32	tripped;	/* enum tcp_circuit_breaker; under circuit_net.lock */
	u32	trips;		/* times */
	u64	quiet_until;	/* jiffies64: when its breaker closes, or else a kept user goes */
	u32	rtt_us;		/* smallest round trip ever seen, 0 = none */
	u32	peer;		/* hash of the first peer's address, 0 = none yet */
	bool	peers_differ;	/* there were others, which may be nearer or farther */
	u32	wire;		/* bytes of a full segment, last seen */
	struct tally	tally;
	struct judge	judge;	/* used by the tick alone */
	struct evidence	evidence;
	u32	judged;		/* jiffies: when it was last judged */
};

/* The key of an automatic circuit */
struct auto_key {
	u8	addr[16];	/* as struct match_key */
	u32	family;		/* 4 or 6 */
	u32	ifindex;	/* outgoing device: distinguishes VRFs and links */
	u32	route;		/* initcwnd of the route, segments, 0 = none */
	u32	uid;		/* whose net.ipv4.tcp_circuit_fcwnd_max it is, or NO_UID */
};

#define NO_UID	(~0U)

struct circuit_prefix {
	struct rhash_head	node;	/* in circuit_net.prefixes */
	struct match_key	key;
	struct circuit		*circuit;
	struct list_head	list;	/* in circuit.prefixes */
	struct list_head	added;	/* while a change is made */
	bool			stays;	/* while a change is made: the new config has it */
	struct rcu_head		rcu;
};

/* Referenced by the table and by each user */
struct circuit {
	struct circuit_net	*cn;
	refcount_t	refs;
	u32		id;

	/* Of an object; under circuit_net.mutex, read under RCU */
	char		name[TCP_CIRCUIT_NAME_LEN];	/* "" = automatic */
	u32		window;		/* segments, 0 = automatic */
	u32		ifindex;	/* 0 = any */
	u32		mark;		/* 0 = any */
	u32		flags;		/* enum tcp_circuit_flags */
	u64		rate;		/* bytes/s, 0 = none */
	struct list_head	prefixes;
	u32		n_prefixes;
	bool		gone;		/* no longer in the table */

	/* Of an automatic circuit */
	struct auto_key	key;

	struct rhash_head	node;	/* in circuit_net.names or .autos */
	struct rcu_head		rcu;

	/* Read on each ACK of each stream, written when a share changes */
	struct pool	pool ____cacheline_aligned_in_smp;

	struct pool	cut;	/* what is left for all users whose breaker is open */

	struct hlist_head	users;	/* under circuit_net.lock */
	u64		reset;		/* jiffies64 of the last RESET; under circuit_net.lock */
	u32		reclaimed;	/* jiffies: last pool_reclaim() */
	u32		seen_window;	/* the window that a stream last applied, uncut */
	u32		sockets;	/* of all users; under circuit_net.lock */
	u32		tripped_users;	/* under circuit_net.lock */
	u32		trips;		/* times, of all users */
	struct evidence	evidence;	/* of the last trip, under pool.lock */
	atomic64_t	lost;		/* segments, ever */
	atomic64_t	delivered;
	atomic64_t	ce;
	atomic64_t	room;		/* bytes of receive window granted, buffers.c */
};

/*
 * A uid whose open breaker was forgotten for lack of room, or would be left behind in a
 * namespace with an administrator of its own: in each circuit that it joins it begins
 * with an open one.
 */
struct circuit_mark {
	unsigned long	uid;	/* kuid */
	u64		since;	/* jiffies64 */
	u64		until;	/* jiffies64, 0 = none */
};

struct circuit_net {
	struct net	*net;
	struct list_head	list;	/* of all namespaces */

	/* Sysctls */
	u32	fcwnd;		/* segments, 0 = the module's */
	u32	fcwnd_max;	/* segments */
	u32	breaker;	/* thousandths */
	u32	breaker_ms;
	u32	breaker_quiet;	/* s */
	struct ctl_table_header	*header;
	struct ctl_table	*sysctls;

	/* The table */
	u32			generation;	/* incremented with each change */
	struct mutex		mutex;	/* of objects */
	spinlock_t		lock;	/* of membership: automatic circuits, users */
	struct rhashtable	names;		/* objects */
	struct rhashtable	prefixes;	/* of objects */
	struct rhashtable	autos;
	struct rhashtable	users;
	struct xarray		circuits;	/* all, by id */
	struct match_shapes	*shapes;	/* [0] IPv4, [1] IPv6 */
	u32			next_id;
	u32			n_objects;
	u32			n_prefixes;
	u32			n_early;	/* objects with an early window */
	u32			n_autos;	/* under lock */
	u32			n_users;	/* under lock */
	u32			n_kept;		/* under lock */
	atomic64_t		room;		/* bytes of receive window granted */
	struct list_head	kept;		/* users, the oldest first */
	struct circuit_mark	marks[CIRCUIT_MARKED_NET];	/* under lock */
	struct list_head	ticking;	/* users to judge; the tick rotates it */
	u32			n_ticking;	/* under lock */
	struct delayed_work	tick;
	struct ratelimit_state	log;		/* lines about breakers */

	atomic_long_t	opened;		/* connections that began with a window */
	atomic_long_t	reno;		/* connections that had none */
	atomic_long_t	restored;	/* windows set by the core and overruled */
	atomic_long_t	timeouts;
	atomic_long_t	recoveries;
	atomic_long_t	trips;
	atomic_long_t	resets;
	atomic_long_t	no_memory;	/* streams left without a circuit */
};

/* In icsk_ca_priv, which has 104 bytes; there is no room for another field. */
struct stream {
	struct list_head	active;	/* in its pool's list */
	u64	depart;		/* ns: when its turn is, or the next of the first ten's */
	struct circuit_user	*user;	/* NULL: Reno, or before init() */
	unsigned long	pace;	/* payload bytes/s, ~0 = unpaced */
	u32	magic;		/* STREAM_MAGIC, or the area is not circuit's (yet) */
	u32	asked:21,	/* TCP_CIRCUIT_FCWND, segments, 0 = none */
		gain:8,		/* of its pool's window, 1/256, for ss */
		young:2,	/* round trips until its use of its share is judged */
		heard:1;	/* something was delivered since its last timeout */
	u32	route;		/* its route's initcwnd, segments, 0 = none */
	u32	ifindex;	/* outgoing device, last seen */
	u32	generation;	/* of the table at its last lookup */
	u32	cwnd;		/* last set by circuit, segments */
	u32	share;		/* of its pool's window, segments; under pool.lock */
	union {
		u32	round_start;	/* tp->delivered when this round trip began */
		struct {	/* while it waits: */
			u32	turn_gap:31,	/* ns from its turn to the next */
				turn_counted:1;	/* in pool.turns */
		};
	};
	u32	round_end;	/* round_start + what was outstanding then */
	u32	lost;		/* reported so far, of stream_lost() */
	u32	delivered;	/* reported so far */
	u32	ce:STREAM_CE_BITS,	/* reported so far, its lower bits */
		rtt:11;		/* the last that tcp_min_rtt() knew, rtt.h, 0 = none yet */
	u16	version;	/* of its pool when its share was made */
	u16	room;		/* receive window granted, 32 KiB each */
	u16	reported;	/* jiffies */
	u16	mss;		/* that pace was computed from, bytes */
	u16	burst:15,	/* segments, when paced */
		singly:1;	/* SO_MAX_PACING_RATE was 0: paced here for good (pace.c) */
	u8	restored;	/* times the core's window was overruled */
	u8	losses;		/* times TCP_CA_Loss was entered */
	u8	recoveries;	/* times TCP_CA_Recovery was entered */
	u8	let_go;		/* the segment that depart is for (stream_next()), 0 = none */
	u8	state;		/* enum tcp_circuit_state; under pool.lock */
	u8	live:1,		/* between init() and release() */
		own:1,		/* asked for with CAP_NET_ADMIN */
		cut:1,		/* by its user's breaker: in circuit.cut */
		proved:1,	/* modest by what it had in flight, not by what it needs */
		repace:1,	/* its share has changed */
		paced:1,	/* circuit has set sk_pacing_status */
		settled:1,	/* its share stays until generation or version change */
		was_fq:1;	/* turns have replaced fq's pacing by the core's */
};

/* A window and what gives it */
struct window {
	u32	segments;	/* 0 = none */
	u32	source;		/* enum tcp_circuit_source */
};

extern unsigned int circuit_net_id;
extern u32 circuit_fcwnd;		/* the module's parameter */
extern struct workqueue_struct *circuit_wq;

static inline struct circuit_net *circuit_net_of(const struct net *net)
{
	return net_generic(net, circuit_net_id);
}

static inline struct circuit_net *circuit_pernet(const struct sock *sk)
{
	return circuit_net_of(sock_net(sk));
}

/* Busy, and has no share: it sends one segment at a time, in turn. */
static inline bool stream_waits(const struct stream *s)
{
	return s->state != TCP_CIRCUIT_STREAM_IDLE && !s->share;
}

bool stream_is_far_ahead(const struct sock *sk);	/* reclaim.c */

/* The next segment leaves more than a millisecond after now. */
static inline bool stream_departs_later(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return unlikely(tp->tcp_wstamp_ns > tp->tcp_clock_cache + NSEC_PER_MSEC);
}

/*
 * Is its next segment to leave only long after now, by SO_MAX_PACING_RATE?  It needs no share
 * before.  The core waits, but under fq it would send all the same, and fq would send all of
 * it at that time.
 */
static inline bool stream_is_put_off(const struct sock *sk)
{
	return stream_departs_later(sk) && stream_is_far_ahead(sk);
}

/* The pool of a stream that has a user */
static inline struct pool *stream_pool(const struct stream *s)
{
	return s->cut ? &s->user->circuit->cut : &s->user->circuit->pool;
}

/* The window of that pool, segments */
static inline u32 stream_pool_window(const struct stream *s)
{
	u32 window = READ_ONCE(s->user->circuit->seen_window);

	return s->cut ? split_cut(window) : window;
}

/* tcp_circuit.c */
bool circuit_is_ours(const struct sock *sk);
bool circuit_will_run(const struct sock *listener, const struct dst_entry *dst);
void circuit_adopt(struct sock *sk);
u32 circuit_window_of_child(const struct sock *listener, const struct circuit *c,
			    const struct dst_entry *dst);
struct window circuit_window_shared(const struct sock *sk);
struct window circuit_window(const struct sock *sk);
void circuit_look_again(struct sock *sk);
void circuit_all_changed(void);

/* table.c */
int circuit_table_init(struct circuit_net *cn);
void circuit_table_exit(struct circuit_net *cn);
void circuit_net_changed(struct circuit_net *cn);
struct circuit *circuit_alloc(struct circuit_net *cn, gfp_t gfp);
int circuit_enlist(struct circuit *c, gfp_t gfp);
bool circuit_get(struct circuit *c);
void circuit_put(struct circuit *c);
struct circuit *circuit_find_name(struct circuit_net *cn, const char *name);
struct circuit *circuit_match(struct circuit_net *cn, const struct match_key *peer);
bool circuit_is_auto_to(const struct circuit *c, const struct match_key *peer);
struct circuit *circuit_find_auto(struct circuit_net *cn,
				  const struct match_key *peer);
struct circuit_prefix *circuit_find_prefix(struct circuit_net *cn,
					   const struct match_key *key);
int circuit_add_prefix(struct circuit *c, struct circuit_prefix *p);
void circuit_del_prefix(struct circuit_prefix *p);
int circuit_add_name(struct circuit *c);
void circuit_del_name(struct circuit *c);
u64 circuit_table_memory(const struct circuit_net *cn);
void circuit_peer_name(const struct circuit *c, char *text, size_t size);
void circuit_auto_key_of(struct auto_key *key, const struct match_key *peer,
			 u32 route, u32 uid);
struct circuit *circuit_auto_get(struct circuit_net *cn, const struct auto_key *key);
void circuit_auto_drop(struct circuit *c);

/* user.c; under circuit_net.lock */
int circuit_users_init(struct circuit_net *cn);
struct circuit_user *user_get(struct circuit *c, unsigned long owner);
void user_put(struct circuit_user *u);
void user_free(struct circuit_user *u);
void uid_mark(struct circuit_net *cn, unsigned long uid, u64 until);
void circuit_forget_marks(struct circuit_net *cn);	/* takes the lock itself */

/* member.c */
bool stream_join(struct sock *sk, unsigned long owner);
void stream_leave(struct sock *sk);
bool stream_belongs(struct sock *sk, unsigned long owner);
bool stream_update_route(struct sock *sk);
void stream_inherit(struct sock *sk, u64 until, const struct evidence *evidence);

/* owner.c */
unsigned long stream_owner(struct sock *sk);

/* object.c */
struct circuit_config {
	char			name[TCP_CIRCUIT_NAME_LEN];
	u32			window, ifindex, mark, flags;
	u64			rate;
	struct list_head	prefixes;	/* of struct circuit_prefix */
	u32			n_prefixes;
};

bool circuit_config_has(const struct circuit_config *config,
			const struct match_key *key);
void circuit_config_free(struct circuit_config *config);
int circuit_set(struct circuit_net *cn, struct circuit_config *config,
		u16 flags, struct netlink_ext_ack *extack);
int circuit_del(struct circuit_net *cn, const char *name, bool tripped_too,
		struct netlink_ext_ack *extack);
void circuit_del_all(struct circuit_net *cn);

/* share.c */
void pool_init(struct pool *p);
void pool_set(struct pool *p, struct stream *s, u8 state, u32 share);
void pool_changed(struct pool *p);
void stream_enter_pool(struct sock *sk, bool cut);
void stream_leave_pool(struct sock *sk);
void stream_rest(struct sock *sk);
u32 stream_share(struct sock *sk, u32 window);
bool stream_needs_more(const struct sock *sk);
bool stream_uses_share(const struct sock *sk);
void stream_begin_round(struct sock *sk);
bool stream_round_ended(const struct sock *sk);

/* reclaim.c */
bool stream_is_mute(const struct sock *sk, u64 now_us);
bool stream_sleeps(const struct sock *sk);
bool stream_is_overdue(struct sock *sk);
bool stream_is_dead(const struct sock *sk);
void pool_reclaim(struct pool *p);

/* breaker.c */
void user_tick_start(struct circuit_user *u);
void user_tick_stop(struct circuit_user *u);
void stream_wake_tick(struct stream *s);
void circuit_tick_work(struct work_struct *work);
void circuit_reset(struct circuit *c);
void circuit_reset_all(struct circuit_net *cn);
void circuit_reset_peer(struct circuit_net *cn, const struct match_key *peer);
bool user_keep(struct circuit_user *u);
void user_open_breaker(struct circuit_user *u, u64 until);

void user_known(const struct circuit_user *u, const struct breaker_limits *limits,
		struct judge_circuit *known);

/* report.c */
u32 stream_lost(const struct tcp_sock *tp);
void stream_report(struct sock *sk);
void stream_report_held(struct sock *sk);
void tally_min(u32 *least, u32 value);

/* pace.c */
u32 stream_wire(struct sock *sk);
u64 circuit_pace_rate(const struct circuit *c);
void stream_hold_pace(struct sock *sk, u32 window, bool shares);
void stream_unpace(struct sock *sk);
bool stream_pace_undisturbed(const struct sock *sk);
u32 circuit_send_singly(struct sock *sk, u32 window);
unsigned long stream_max_rate(const struct sock *sk);
bool stream_is_by_fq(const struct sock *sk);
bool stream_sends_singly(const struct sock *sk);
void stream_pace_by_core(struct sock *sk);
void stream_set_timer(struct sock *sk, u64 when);

/* turn.c */
void stream_note_rtt(struct sock *sk);
u32 stream_rtt_us(const struct sock *sk);
u32 stream_least_rtt_us(const struct sock *sk);
u8 stream_next(const struct sock *sk);
u64 stream_turns_rate(struct sock *sk, u32 window);
u32 pool_left(struct pool *p, const struct sock *sk);
u32 pool_in_flight(const struct pool *p, const struct sock *sk);
u64 pool_over(const struct pool *p);
u32 stream_own_turn(const struct sock *sk);
void pool_uncount_turn(struct pool *p, const struct sock *sk);
void pool_unbook(struct pool *p, struct stream *s);
void pool_leave_behind(struct pool *p, const struct sock *sk, u32 segments);
void stream_hold_back(struct sock *sk, u64 when);
void stream_take_turn(struct sock *sk);

/* buffers.c */
void circuit_open_buffers(struct sock *sk);
void circuit_close_receiver(struct sock *sk);
u32 circuit_sndbuf_expand(struct sock *sk);

u64 circuit_grant(const struct sock *sk, const struct circuit *c, u64 window,
		  int before);

/* early.c */
int circuit_early_get(struct circuit_net *cn);
void circuit_early_put(struct circuit_net *cn);

/* sockopt.c */
int circuit_register_sockopts(void);
void circuit_unregister_sockopts(void);

/* sysctl.c */
int circuit_sysctl_init(struct circuit_net *cn);
void circuit_sysctl_exit(struct circuit_net *cn);
u32 circuit_ceiling(const struct circuit_net *cn, u32 window);
u32 circuit_objects_most(const struct circuit_net *cn);
struct breaker_limits {
	u32	threshold;	/* thousandths, 0 = off */
	u32	ms;
	u32	quiet;		/* s, 0 = never closes */
};

struct breaker_limits circuit_breaker_limits(const struct circuit_net *cn);
bool circuit_breaker_is_machines(const struct circuit_net *cn);

/* netlink.c */
int circuit_netlink_register(void);
void circuit_netlink_unregister(void);

/* netlink_put.c */
void circuit_notify(struct circuit *c, u8 cmd, u32 cause,
		    const struct evidence *evidence, gfp_t gfp);

#endif /* _CIRCUIT_CIRCUIT_H */

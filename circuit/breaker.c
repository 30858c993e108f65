// SPDX-License-Identifier: GPL-2.0
/*
 * The breaker: what follows from a judgement (judge.h)
 *
 *	trips	The breaker is open from then on.  The user's streams leave the
 *		circuit's window; all users whose breaker is open share a tenth
 *		of it, at most ten segments.  The other users keep the circuit's
 *		window.  The kernel logs one line and sends one event.
 *	closes	after net.ipv4.tcp_circuit_breaker_quiet seconds (0 = never)
 *		without a slot that has evidence against the path, by RESET,
 *		when the circuit is removed, or when the breaker is forgotten
 *		(table.c)
 *
 * Each user of a circuit has a breaker of their own: a user who loses segments,
 * by accident or on purpose, takes nothing from the others.  A path that turns
 * out to be shared trips the breaker of each user who sends over it.
 *
 * Streams add what they see to their user's tally ten times a second.  One work
 * item for each namespace, the tick, judges one user at a time; nothing else
 * trips a breaker.  A user may begin with an open one: stream_move() and
 * user_make() take over a breaker that was open elsewhere.  A change of a
 * breaker takes circuit_net.lock.
 *
 * A path that delivers nothing at all needs no breaker: without ACKs only the RTO
 * sends, and it backs off.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "circuit.h"

#include "trace/events/tcp_circuit.h"

/* What streams report */

/* Segments lost: retransmitted, less those that the peer already had. */
u32 stream_lost(const struct tcp_sock *tp)
{
	return tp->total_retrans - tp->dsack_dups;
}

/*
 * Is more than a quarter of the stream's share queued in this host, in a qdisc
 * or a device?  A packet is charged to the socket until the device has sent it.
 */
static bool stream_stands_here(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	u64 here = refcount_read(&sk->sk_wmem_alloc);
	u64 share = max(s->share, 1U);

	return here > share * tcp_sk(sk)->mss_cache / 4 ||
	       test_bit(TSQ_THROTTLED, &sk->sk_tsq_flags);
}

static void tally_min(u32 *least, u32 value)
{
	u32 now = READ_ONCE(*least);

	if (value && (!now || value < now))
		WRITE_ONCE(*least, value);
}

static void tally_max(u32 *most, u32 value)
{
	if (value > READ_ONCE(*most))
		WRITE_ONCE(*most, value);
}

static void user_known(const struct circuit_user *u,
		       const struct breaker_limits *limits,
		       struct judge_circuit *known)
{
	const struct circuit *c = u->circuit;

	known->threshold = limits->threshold;
	known->slot_ms = limits->ms / JUDGE_SLOTS;
	known->window = READ_ONCE(c->seen_window);
	known->wire = READ_ONCE(u->wire);
	known->rate = READ_ONCE(c->rate);
	known->rtt_us = READ_ONCE(u->rtt_us);
}

/*
 * Would the stream use more window if the circuit or its user's bound let it?
 */
static bool stream_fills(const struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	bool bound = s->asked && !s->own && s->share >= s->asked;

	return tcp_sk(sk)->is_cwnd_limited &&
	       (bound || s->state == TCP_CIRCUIT_STREAM_HUNGRY);
}

/*
 * A stream that waits has one segment of the window in its turn.  For how many
 * of @ms milliseconds did it have one?
 */
static u32 stream_turn_ms(const struct stream *s, u32 ms)
{
	u32 waiting = max(READ_ONCE(stream_pool(s)->waiting), 1U);
	u32 window = stream_pool_window(s);

	return waiting > window ? div_u64((u64)ms * window, waiting) : ms;
}

/*
 * Add to the user's tally the share that @sk has held for @ms milliseconds:
 * whether it was in use, queued in this host, or late, and what it should have
 * carried.  Each counts by segments x time, so a stream with a small share
 * counts little; the streams that wait for a share count as one window
 * together.  Where the user has several peers, the stream is compared with its
 * own smallest round trip instead of the user's.
 */
static void stream_weigh(struct sock *sk, struct circuit_user *u, u32 ms)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct breaker_limits none = {};
	struct tally *t = &u->tally;
	struct judge_circuit known;
	u32 share = s->share;
	u64 share_ms;

	user_known(u, &none, &known);
	if (stream_waits(s)) {
		share = 1;
		ms = stream_turn_ms(s, ms);
	}
	share_ms = (u64)share * ms;
	if (!share_ms)
		return;
	if (READ_ONCE(u->peers_differ))
		known.rtt_us = tcp_min_rtt(tp);
	tally_max(&t->rtt_expected, judge_expected_rtt(&known));
	atomic64_add(judge_carries(&known, share, ms), &t->carries);
	atomic64_add(share_ms, &t->share_ms);
	if (stream_fills(sk))
		atomic64_add(share_ms, &t->full_ms);
	if (stream_stands_here(sk))
		atomic64_add(share_ms, &t->local_ms);
	if (judge_late(&known, tp->srtt_us >> 3))
		atomic64_add(share_ms, &t->late_ms);
}

/*
 * Add what a stream has seen since its last report to its user's tally.  A
 * negative loss (more duplicates than retransmissions) is credited against
 * later losses, up to the segments of one slot and no more: the network makes
 * duplicates, too, and the core cannot tell these from unnecessary
 * retransmissions.
 */
void stream_report(struct sock *sk)
{
	struct stream *s = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct circuit_user *u = s->user;
	struct circuit *c = u->circuit;
	struct tally *t = &u->tally;
	u16 ago = tcp_jiffies32 - s->reported;
	s32 lost = stream_lost(tp) - s->lost;
	u32 delivered = tp->delivered - s->delivered;
	u32 ce = tp->delivered_ce - s->ce;

	s->reported = tcp_jiffies32;
	/* tcp_disconnect() has set them to 0 before it calls release(). */
	if (inet_sk_state_load(sk) == TCP_CLOSE && !tp->delivered)
		delivered = 0;
	if (inet_sk_state_load(sk) == TCP_CLOSE && !tp->delivered_ce)
		ce = 0;
	s->delivered += delivered;
	s->ce += ce;
	s->lost += max(lost, 0) + min(lost + (s32)JUDGE_LOSS_SEGMENTS, 0);
	lost = max(lost, 0);

	WRITE_ONCE(u->wire, stream_wire(sk));
	tally_min(&u->rtt_us, tcp_min_rtt(tp));
	tally_min(&t->rtt_us, tp->srtt_us >> 3);
	stream_weigh(sk, u, jiffies_to_msecs(ago));
	atomic64_add((u64)delivered * u->wire, &t->bytes);
	atomic_add(lost, &t->lost);
	atomic_add(delivered, &t->delivered);
	atomic_add(ce, &t->ce);
	atomic64_add(lost, &c->lost);
	atomic64_add(delivered, &c->delivered);
	atomic64_add(ce, &c->ce);
	if (lost || delivered)
		stream_wake_tick(s);
}

/* Judging; under circuit_net.lock */

static void tally_take(struct tally *t, struct judge_sample *s, u32 ms)
{
	s->ms = ms;
	s->lost = atomic_xchg(&t->lost, 0);
	s->delivered = atomic_xchg(&t->delivered, 0);
	s->ce = atomic_xchg(&t->ce, 0);
	s->bytes = atomic64_xchg(&t->bytes, 0);
	s->share_ms = atomic64_xchg(&t->share_ms, 0);
	s->full_ms = atomic64_xchg(&t->full_ms, 0);
	s->local_ms = atomic64_xchg(&t->local_ms, 0);
	s->late_ms = atomic64_xchg(&t->late_ms, 0);
	s->carries = atomic64_xchg(&t->carries, 0);
	s->rtt_us = xchg(&t->rtt_us, 0);
	s->rtt_expected = xchg(&t->rtt_expected, 0);
}

#define QUIET_NEVER	(S64_MAX / 2)	/* jiffies */

/* time_before64() looks at the sign of a difference. */
static u64 quiet_until(u32 seconds)
{
	return get_jiffies_64() + (seconds ? (u64)seconds * HZ : QUIET_NEVER);
}

static void user_trip(struct circuit_user *u, enum judge_reason reason,
		      const struct judge_circuit *known,
		      const struct judge_sample *seen, u32 quiet)
{
	struct circuit *c = u->circuit;
	struct evidence *e = &u->evidence;

	e->seen = *seen;
	e->reason = reason;
	e->uid = from_kuid_munged(c->cn->net->user_ns, KUIDT_INIT(u->key.uid));
	e->host_uid = u->key.uid;
	e->threshold = known->threshold;
	e->window = known->window;
	e->rate = div_u64(1000 * seen->bytes, max(seen->ms, 1U));
	spin_lock(&c->pool.lock);
	c->evidence = *e;
	spin_unlock(&c->pool.lock);
	WRITE_ONCE(u->trips, u->trips + 1);
	WRITE_ONCE(c->trips, c->trips + 1);
	atomic_long_inc(&c->cn->trips);
	user_inherit(u, quiet_until(quiet));
}

/* Open the user's breaker: it trips, or was open in another circuit. */
void user_inherit(struct circuit_user *u, u64 until)
{
	struct circuit *c = u->circuit;

	if (u->tripped)
		return;
	u->quiet_until = until;
	WRITE_ONCE(u->tripped, TCP_CIRCUIT_BREAKER_TRIPPED);
	WRITE_ONCE(c->tripped_users, c->tripped_users + 1);
}

static void user_close(struct circuit_user *u)
{
	struct circuit *c = u->circuit;

	memset(&u->judge, 0, sizeof(u->judge));
	WRITE_ONCE(u->tripped, TCP_CIRCUIT_BREAKER_CLOSED);
	WRITE_ONCE(c->tripped_users, c->tripped_users - 1);
	atomic_long_inc(&c->cn->resets);
}

/*
 * The user's last socket has gone.  Is there anything to keep for the next one?
 * An open breaker is kept until it closes, losses for
 * net.ipv4.tcp_circuit_breaker_ms, turns (turn.c) until they are over: an
 * automatic circuit goes with its last user.
 */
bool user_worth_keeping(struct circuit_user *u)
{
	struct breaker_limits limits = circuit_breaker_limits(u->circuit->cn);
	u64 turn, now = ktime_get_ns();

	user_tick_start(u);
	if (u->tripped)
		return true;
	u->quiet_until = get_jiffies_64();
	if (limits.threshold && (judge_suspects(&u->judge) || u->judge.loss.lost ||
				 atomic_read(&u->tally.lost))) {
		u->quiet_until += msecs_to_jiffies(limits.ms);
		return true;
	}
	turn = READ_ONCE(u->circuit->pool.turn);
	if (turn <= now || u->circuit->name[0])
		return false;
	u->quiet_until += nsecs_to_jiffies64(turn - now) + 1;
	return true;
}

/* Judge the user once.  Returns the event to report, 0 if there is none. */
static u8 user_tick(struct circuit_user *u, const struct breaker_limits *limits)
{
	struct judge_sample seen, evidence = {};
	struct judge_circuit known;
	enum judge_reason reason;
	u32 now = tcp_jiffies32;

	tally_take(&u->tally, &seen, jiffies_to_msecs(now - u->judged));
	u->judged = now;
	user_known(u, limits, &known);
	reason = judge(&u->judge, &seen, &known, &evidence);

	if (u->tripped) {
		if (u->judge.spoke)
			u->quiet_until = quiet_until(limits->quiet);
		if (time_before64(get_jiffies_64(), u->quiet_until))
			return 0;
		user_close(u);
		return TCP_CIRCUIT_CMD_CLOSED_NTF;
	}
	if (!reason)
		return 0;
	user_trip(u, reason, &known, &evidence, limits->quiet);
	return TCP_CIRCUIT_CMD_TRIPPED_NTF;
}

/* Reports */

static const char * const reason_names[] = {
	[TCP_CIRCUIT_REASON_NONE]	= "nothing",
	[TCP_CIRCUIT_REASON_LOSS]	= "loss",
	[TCP_CIRCUIT_REASON_CE]		= "congestion marks",
	[TCP_CIRCUIT_REASON_DELAY]	= "standing delay",
	[TCP_CIRCUIT_REASON_SHORTFALL]	= "shortfall",
};

static void circuit_log_trip(struct circuit *c, const struct evidence *e)
{
	u32 loss = judge_loss(e->seen.lost, e->seen.delivered);
	char name[64];

	if (!__ratelimit(&c->cn->log))
		return;
	circuit_peer_name(c, name, sizeof(name));
	pr_warn("circuit %s: breaker of uid %u tripped by %s: in %u ms %u of %u segments lost (%u.%u %%), %u marked, round trip %u us (%u us explained), %llu bytes/s delivered; window cut from %u to %u segments\n",
		name, e->host_uid, reason_names[e->reason], e->seen.ms,
		e->seen.lost, e->seen.lost + e->seen.delivered,
		loss / 10, loss % 10, e->seen.ce, e->seen.rtt_us,
		e->seen.rtt_expected, e->rate, e->window, split_cut(e->window));
}

/* A breaker of @c has changed, whichever user's. */
static void circuit_tell(struct circuit *c, u8 cmd, u32 cause)
{
	bool tripped = cmd == TCP_CIRCUIT_CMD_TRIPPED_NTF;
	char name[64];

	pool_changed(&c->pool);
	pool_changed(&c->cut);
	trace_tcp_circuit_breaker(c, tripped);
	if (tripped) {
		circuit_log_trip(c, &c->evidence);
	} else if (__ratelimit(&c->cn->log)) {
		circuit_peer_name(c, name, sizeof(name));
		pr_info("circuit %s: breaker closed %s\n", name,
			cause == TCP_CIRCUIT_CAUSE_RESET ?
			"by the administrator" : "after its quiet time");
	}
	circuit_notify(c, cmd, cause, GFP_KERNEL);
}

/* The tick */

static void circuit_tick_soon(struct circuit_net *cn)
{
	queue_delayed_work(circuit_wq, &cn->tick, CIRCUIT_TICK);
}

/* Under circuit_net.lock */
void user_tick_start(struct circuit_user *u)
{
	struct circuit_net *cn = u->circuit->cn;

	if (!list_empty(&u->ticking))
		return;
	u->judged = tcp_jiffies32;
	list_add_tail(&u->ticking, &cn->ticking);
	if (!cn->n_ticking++)
		circuit_tick_soon(cn);
}

/* Under circuit_net.lock */
void user_tick_stop(struct circuit_user *u)
{
	if (list_empty(&u->ticking))
		return;
	list_del_init(&u->ticking);
	u->circuit->cn->n_ticking--;
}

/* The tick has to run: a stream has reported, or holds a share to reclaim. */
void stream_wake_tick(struct stream *s)
{
	struct circuit_net *cn = s->user->circuit->cn;

	if (!list_empty_careful(&s->user->ticking))
		return;
	spin_lock_bh(&cn->lock);
	user_tick_start(s->user);
	spin_unlock_bh(&cn->lock);
}

/* A kept user without a socket and without anything left to keep */
static bool user_is_over(const struct circuit_user *u)
{
	return !u->sockets && !u->tripped &&
	       time_after_eq64(get_jiffies_64(), u->quiet_until);
}

/* Nothing is being sent, and nothing is left to judge. */
static bool user_may_rest(const struct circuit_user *u, bool quiet)
{
	const struct circuit *c = u->circuit;

	return quiet && u->sockets && !u->tripped && !READ_ONCE(c->pool.busy) &&
	       !READ_ONCE(c->cut.busy) && !judge_suspects(&u->judge) &&
	       !u->judge.loss.lost;
}

static bool tally_is_empty(const struct tally *t)
{
	return !atomic_read(&t->delivered) && !atomic_read(&t->lost);
}

/* Judge the first user of the list and rotate it.  False: there is none. */
static bool circuit_tick_one(struct circuit_net *cn,
			     const struct breaker_limits *limits)
{
	struct circuit_user *u;
	struct circuit *c;
	bool quiet;
	u8 event;

	spin_lock_bh(&cn->lock);
	u = list_first_entry_or_null(&cn->ticking, struct circuit_user, ticking);
	if (!u) {
		spin_unlock_bh(&cn->lock);
		return false;
	}
	list_move_tail(&u->ticking, &cn->ticking);
	c = u->circuit;
	refcount_inc(&c->refs);
	quiet = tally_is_empty(&u->tally);
	event = user_tick(u, limits);
	if (user_is_over(u))
		user_free(u);
	else if (user_may_rest(u, quiet))
		user_tick_stop(u);
	spin_unlock_bh(&cn->lock);

	if (event)
		circuit_tell(c, event, TCP_CIRCUIT_CAUSE_QUIET);
	if (c->reclaimed != tcp_jiffies32) {
		c->reclaimed = tcp_jiffies32;
		pool_reclaim(&c->pool);
		pool_reclaim(&c->cut);
	}
	circuit_put(c);
	return true;
}

void circuit_tick_work(struct work_struct *work)
{
	struct circuit_net *cn = container_of(to_delayed_work(work),
					      struct circuit_net, tick);
	struct breaker_limits limits = circuit_breaker_limits(cn);
	u32 n = READ_ONCE(cn->n_ticking);

	while (n-- && circuit_tick_one(cn, &limits))
		cond_resched();
	if (READ_ONCE(cn->n_ticking))
		circuit_tick_soon(cn);
}

/* Reset */

static u32 circuit_close_all(struct circuit *c)
{
	struct circuit_net *cn = c->cn;
	struct circuit_user *u;
	struct hlist_node *next;
	u32 closed = 0;

	spin_lock_bh(&cn->lock);
	c->reset = get_jiffies_64();
	hlist_for_each_entry_safe(u, next, &c->users, list) {
		if (u->tripped) {
			user_close(u);
			closed++;
		}
		u->rtt_us = 0;
		u->peer = 0;
		u->peers_differ = false;
		memset(&u->judge, 0, sizeof(u->judge));
		if (!u->sockets)
			user_free(u);
	}
	spin_unlock_bh(&cn->lock);
	return closed;
}

/* The caller holds a reference to @c. */
void circuit_reset(struct circuit *c)
{
	if (circuit_close_all(c))
		circuit_tell(c, TCP_CIRCUIT_CMD_CLOSED_NTF,
			     TCP_CIRCUIT_CAUSE_RESET);
}

/* One circuit at a time, so that no lock is held for long. */
void circuit_reset_all(struct circuit_net *cn)
{
	unsigned long id = 0;
	struct circuit *c;

	circuit_forget_marks(cn);
	for (;;) {
		rcu_read_lock();
		c = xa_find_after(&cn->circuits, &id, ULONG_MAX, XA_PRESENT);
		if (c && !circuit_get(c)) {
			rcu_read_unlock();
			continue;
		}
		rcu_read_unlock();
		if (!c)
			return;
		circuit_reset(c);
		circuit_put(c);
		cond_resched();
	}
}

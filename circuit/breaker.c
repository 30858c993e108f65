// SPDX-License-Identifier: GPL-2.0
/*
 * The breaker: what follows from a judgement (judge.h)
 *
 *	trips	The breaker is open from then on.  The user's streams leave the
 *		circuit's window; all users whose breaker is open share a tenth
 *		of it, at most ten segments.  The other users keep the circuit's
 *		window.  The kernel sends one event, and logs one line unless there are
 *		too many.
 *	closes	after net.ipv4.tcp_circuit_breaker_quiet seconds (0 = never)
 *		without a slot that has evidence against the path, by RESET, by
 *		net.ipv4.tcp_circuit_breaker = 0, when the circuit is removed, or
 *		when the breaker is forgotten (user.c)
 *
 * Each user of a circuit has a breaker of their own: a user who loses segments,
 * by accident or on purpose, takes nothing from the others.  A path that turns
 * out to be shared trips the breaker of each user who sends over it.
 *
 * Streams add what they see to their user's tally ten times a second.  One work
 * item for each namespace, the tick, judges one user at a time; nothing else
 * trips a breaker.  A user may begin with an open one: stream_move() and
 * user_make() take over a breaker that was open elsewhere, the second of them without
 * an event.  A change of a breaker takes circuit_net.lock.
 *
 * A path that delivers nothing at all needs no breaker: without ACKs only the RTO
 * sends, and it backs off.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "circuit.h"

#include "trace/events/tcp_circuit.h"

/* Judging; under circuit_net.lock */

/* What judge() is told of the user's circuit */
void user_known(const struct circuit_user *u, const struct breaker_limits *limits,
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
	user_open_breaker(u, quiet_until(quiet));
	/* a container's administrator could make another circuit for the same peers */
	if (circuit_breaker_is_machines(c->cn) && c->cn->net->user_ns != &init_user_ns)
		uid_mark(c->cn, u->key.uid, u->quiet_until);
}

/*
 * Open the user's breaker: it trips, or was open in another circuit, on the evidence
 * that u->evidence has; there is none where that circuit was forgotten.
 */
void user_open_breaker(struct circuit_user *u, u64 until)
{
	struct circuit *c = u->circuit;

	if (u->evidence.reason) {
		spin_lock(&c->pool.lock);
		c->evidence = u->evidence;
		spin_unlock(&c->pool.lock);
	}
	WRITE_ONCE(u->trips, u->trips + 1);
	WRITE_ONCE(c->trips, c->trips + 1);
	atomic_long_inc(&c->cn->trips);
	u->quiet_until = until;
	WRITE_ONCE(u->tripped, TCP_CIRCUIT_BREAKER_TRIPPED);
	WRITE_ONCE(c->tripped_users, c->tripped_users + 1);
}

static void user_close(struct circuit_user *u)
{
	struct circuit *c = u->circuit;

	memset(&u->judge, 0, sizeof(u->judge));
	u->quiet_until = get_jiffies_64();
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
bool user_keep(struct circuit_user *u)
{
	struct breaker_limits limits = circuit_breaker_limits(u->circuit->cn);
	u64 over, now = ktime_get_ns();

	user_tick_start(u);
	if (u->tripped)
		return true;
	u->quiet_until = get_jiffies_64();
	if (limits.threshold && (judge_suspects(&u->judge) || u->judge.loss.lost ||
				 atomic_read(&u->tally.lost))) {
		u->quiet_until += msecs_to_jiffies(limits.ms);
		return true;
	}
	over = pool_over(&u->circuit->pool);
	if (over <= now || u->circuit->name[0])
		return false;
	u->quiet_until += nsecs_to_jiffies64(over - now) + 1;
	return true;
}

/* A change of a user's breaker, to be reported */
struct breaker_event {
	u8		cmd;	/* 0 = nothing has changed */
	u32		cause;	/* enum tcp_circuit_cause */
	struct evidence	evidence;
};

/* Close the user's open breaker if it is time, which a shorter quiet time makes it. */
static u32 user_close_in_time(struct circuit_user *u, const struct breaker_limits *limits)
{
	u64 until = quiet_until(limits->quiet);
	u32 cause = TCP_CIRCUIT_CAUSE_QUIET;

	if (u->judge.evidence_now || time_before64(until, u->quiet_until))
		u->quiet_until = until;
	if (!limits->threshold)
		cause = TCP_CIRCUIT_CAUSE_DISABLED;
	else if (time_before64(get_jiffies_64(), u->quiet_until))
		return 0;
	user_close(u);
	return cause;
}

static void user_tick(struct circuit_user *u, const struct breaker_limits *limits,
		      struct breaker_event *event)
{
	struct judge_sample seen, evidence = {};
	struct judge_circuit known;
	enum judge_reason reason;
	u32 now = tcp_jiffies32;

	tally_take(&u->tally, &seen, jiffies_to_msecs(now - u->judged));
	u->judged = now;
	user_known(u, limits, &known);
	reason = judge(&u->judge, &seen, &known, &evidence);

	event->cmd = 0;
	event->cause = 0;
	if (u->tripped) {
		event->cause = user_close_in_time(u, limits);
		if (event->cause)
			event->cmd = TCP_CIRCUIT_CMD_CLOSED_NTF;
	} else if (reason) {
		user_trip(u, reason, &known, &evidence, limits->quiet);
		event->cmd = TCP_CIRCUIT_CMD_TRIPPED_NTF;
	}
	event->evidence = u->evidence;
}

/* Reports */

static const char * const reason_names[] = {
	[TCP_CIRCUIT_REASON_NONE]	= "nothing",
	[TCP_CIRCUIT_REASON_LOSS]	= "loss",
	[TCP_CIRCUIT_REASON_CE]		= "congestion marks",
	[TCP_CIRCUIT_REASON_DELAY]	= "standing delay",
	[TCP_CIRCUIT_REASON_SHORTFALL]	= "shortfall",
};

/* One limit for all namespaces but the machine's own, as users can make many. */
static DEFINE_RATELIMIT_STATE(guests_log, DEFAULT_RATELIMIT_INTERVAL,
			      DEFAULT_RATELIMIT_BURST);

static bool circuit_may_log(struct circuit *c)
{
	return __ratelimit(net_eq(c->cn->net, &init_net) ? &c->cn->log : &guests_log);
}

static void circuit_log_trip(struct circuit *c, const struct evidence *e)
{
	u32 loss = judge_loss(e->seen.lost, e->seen.delivered);
	char name[64];

	if (!circuit_may_log(c))
		return;
	circuit_peer_name(c, name, sizeof(name));
	pr_warn("circuit %s: breaker of uid %u tripped by %s: in %u ms %llu of %llu segments lost (%u.%u %%), %llu marked, round trip %u us (%u us explained), %llu bytes/s delivered; window cut from %u to %u segments\n",
		name, e->host_uid, reason_names[e->reason], e->seen.ms,
		e->seen.lost, e->seen.lost + e->seen.delivered,
		loss / 10, loss % 10, e->seen.ce, e->seen.rtt_us,
		e->seen.rtt_expected, e->rate, e->window, split_cut(e->window));
}

static const char * const cause_texts[] = {
	[TCP_CIRCUIT_CAUSE_QUIET]	= "after its quiet time",
	[TCP_CIRCUIT_CAUSE_RESET]	= "by the administrator",
	[TCP_CIRCUIT_CAUSE_DISABLED]	= "as breakers were turned off",
};

/* A user's breaker has changed; @evidence NULL: those of several users of @c. */
static void circuit_tell(struct circuit *c, u8 cmd, u32 cause,
			 const struct evidence *evidence)
{
	bool tripped = cmd == TCP_CIRCUIT_CMD_TRIPPED_NTF;
	char name[64];

	pool_changed(&c->pool);
	pool_changed(&c->cut);
	trace_tcp_circuit_breaker(c, tripped);
	if (tripped) {
		circuit_log_trip(c, evidence);
	} else if (circuit_may_log(c)) {
		circuit_peer_name(c, name, sizeof(name));
		pr_info("circuit %s: breaker closed %s\n", name, cause_texts[cause]);
	}
	circuit_notify(c, cmd, cause, evidence, GFP_KERNEL);
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

	smp_mb();	/* its pool is busy before: see user_may_rest() */
	if (!list_empty_careful(&s->user->ticking))
		return;
	spin_lock_bh(&cn->lock);
	user_tick_start(s->user);
	spin_unlock_bh(&cn->lock);
}

/* A user without a socket, its breaker closed and its quiet time over */
static bool user_is_over(const struct circuit_user *u)
{
	return !u->sockets && !u->tripped &&
	       time_after_eq64(get_jiffies_64(), u->quiet_until);
}

/*
 * Nothing is being sent.  A slot that has begun, and evidence so far, wait for what is
 * sent next.
 */
static bool user_may_rest(const struct circuit_user *u, bool quiet)
{
	const struct circuit *c = u->circuit;

	return quiet && u->sockets && !u->tripped && !READ_ONCE(c->pool.busy) &&
	       !READ_ONCE(c->cut.busy);
}

/* A stream that has become busy meanwhile may have found the tick still running. */
static void user_rest(struct circuit_user *u)
{
	user_tick_stop(u);
	smp_mb();	/* the list is empty before */
	if (!user_may_rest(u, true))
		user_tick_start(u);
}

static bool tally_is_empty(const struct tally *t)
{
	return !atomic_read(&t->delivered) && !atomic_read(&t->lost);
}

/* Judge the first user of the list and rotate it.  False: there is none. */
static bool circuit_tick_one(struct circuit_net *cn,
			     const struct breaker_limits *limits)
{
	struct breaker_event event;
	struct circuit_user *u;
	struct circuit *c;
	bool quiet;

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
	user_tick(u, limits, &event);
	if (user_is_over(u))
		user_free(u);
	else if (user_may_rest(u, quiet))
		user_rest(u);
	spin_unlock_bh(&cn->lock);

	if (event.cmd)
		circuit_tell(c, event.cmd, event.cause, &event.evidence);
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
			     TCP_CIRCUIT_CAUSE_RESET, NULL);
}

/* The circuit after @id, with a reference; NULL: there is none. */
static struct circuit *circuit_next(struct circuit_net *cn, unsigned long *id)
{
	struct circuit *c;

	rcu_read_lock();
	do
		c = xa_find_after(&cn->circuits, id, ULONG_MAX, XA_PRESENT);
	while (c && !circuit_get(c));
	rcu_read_unlock();
	return c;
}

/* One circuit at a time, so that no lock is held for long. */
void circuit_reset_all(struct circuit_net *cn)
{
	unsigned long id = 0;
	struct circuit *c;

	circuit_forget_marks(cn);
	while ((c = circuit_next(cn, &id))) {
		circuit_reset(c);
		circuit_put(c);
		cond_resched();
	}
}

/*
 * All automatic circuits to the peer: routes, devices and users may have one each.
 * @peer->ifindex: 0 = by any device.
 */
void circuit_reset_peer(struct circuit_net *cn, const struct match_key *peer)
{
	unsigned long id = 0;
	struct circuit *c;

	while ((c = circuit_next(cn, &id))) {
		if (circuit_is_auto_to(c, peer))
			circuit_reset(c);
		circuit_put(c);
		cond_resched();
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a namespace: which circuit a socket belongs to
 *
 * An object is found by the longest match for the peer (match.h), its outgoing
 * device and its mark.  Where none matches, and a socket option, the route, a
 * sysctl or the module's parameter gives a window, the sockets to one peer's
 * address by one outgoing device share an automatic circuit, which lives as
 * long as its users.  Routes with different windows have one each; so has each
 * user to whom net.ipv4.tcp_circuit_fcwnd_max gives the window.
 *
 * Each namespace has a table, locks and limits of its own, so the circuits of
 * one namespace cost the others nothing.  Lookups run under RCU alone.  Which
 * circuit a socket belongs to changes under circuit_net.lock: when a connection
 * begins or ends, and with its first ACK after the table has changed.
 */

#include <linux/jhash.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/l3mdev.h>

#include "circuit.h"

/*
 * No automatic_shrinking: a table that grows before its worker runs, and is emptied
 * before that, too, would keep the worker busy for ever (rht_deferred_worker(): a
 * nested table that shrinks is never replaced).
 */

static const struct rhashtable_params name_params = {
	.key_len	= TCP_CIRCUIT_NAME_LEN,
	.key_offset	= offsetof(struct circuit, name),
	.head_offset	= offsetof(struct circuit, node),
};

static const struct rhashtable_params auto_params = {
	.key_len	= sizeof(struct auto_key),
	.key_offset	= offsetof(struct circuit, key),
	.head_offset	= offsetof(struct circuit, node),
};

static const struct rhashtable_params prefix_params = {
	.key_len	= sizeof(struct match_key),
	.key_offset	= offsetof(struct circuit_prefix, key),
	.head_offset	= offsetof(struct circuit_prefix, node),
};

static const struct rhashtable_params user_params = {
	.key_len	= sizeof(struct user_key),
	.key_offset	= offsetof(struct circuit_user, key),
	.head_offset	= offsetof(struct circuit_user, node),
};

/* A setting or the table has changed: all streams look up their circuit again. */
void circuit_net_changed(struct circuit_net *cn)
{
	spin_lock_bh(&cn->lock);
	WRITE_ONCE(cn->generation, cn->generation + 1);
	spin_unlock_bh(&cn->lock);
}

/* Circuits, and references to them */

struct circuit *circuit_alloc(struct circuit_net *cn, gfp_t gfp)
{
	struct circuit *c = kzalloc(sizeof(*c), gfp | __GFP_ACCOUNT | __GFP_NOWARN);

	if (!c)
		return NULL;
	c->cn = cn;
	refcount_set(&c->refs, 1);
	INIT_LIST_HEAD(&c->prefixes);
	pool_init(&c->pool);
	pool_init(&c->cut);
	return c;
}

/* Assign an id, by which dumps are ordered; GFP_ATOMIC: bottom halves are disabled. */
int circuit_enlist(struct circuit *c, gfp_t gfp)
{
	struct circuit_net *cn = c->cn;
	struct xa_limit ids = XA_LIMIT(1, INT_MAX);
	int err;

	if (gfpflags_allow_blocking(gfp))
		err = xa_alloc_cyclic_bh(&cn->circuits, &c->id, c, ids,
					 &cn->next_id, gfp);
	else
		err = xa_alloc_cyclic(&cn->circuits, &c->id, c, ids,
				      &cn->next_id, gfp);
	return min(err, 0);
}

bool circuit_get(struct circuit *c)
{
	return refcount_inc_not_zero(&c->refs);
}

void circuit_put(struct circuit *c)
{
	if (refcount_dec_and_test(&c->refs))
		kfree_rcu(c, rcu);
}

/* Lookups; they return a reference, except circuit_find_prefix(). */

struct circuit *circuit_find_name(struct circuit_net *cn, const char *name)
{
	struct circuit *c;

	rcu_read_lock();
	c = rhashtable_lookup(&cn->names, name, name_params);
	if (c && !circuit_get(c))
		c = NULL;
	rcu_read_unlock();
	return c;
}

int circuit_add_name(struct circuit *c)
{
	return rhashtable_insert_fast(&c->cn->names, &c->node, name_params);
}

void circuit_del_name(struct circuit *c)
{
	rhashtable_remove_fast(&c->cn->names, &c->node, name_params);
}

/* Under circuit_net.mutex. */
struct circuit_prefix *circuit_find_prefix(struct circuit_net *cn,
					   const struct match_key *key)
{
	return rhashtable_lookup_fast(&cn->prefixes, key, prefix_params);
}

static struct match_shapes *prefix_shapes(struct circuit_net *cn,
					  const struct match_key *key)
{
	return &cn->shapes[key->family == 6];
}

/* Under circuit_net.mutex. */
int circuit_add_prefix(struct circuit *c, struct circuit_prefix *p)
{
	struct circuit_net *cn = c->cn;
	int err;

	p->circuit = c;
	err = rhashtable_insert_fast(&cn->prefixes, &p->node, prefix_params);
	if (err)
		return err;
	match_count(prefix_shapes(cn, &p->key), match_shape(&p->key));
	list_add_tail_rcu(&p->list, &c->prefixes);
	c->n_prefixes++;
	cn->n_prefixes++;
	return 0;
}

void circuit_del_prefix(struct circuit_prefix *p)
{
	struct circuit_net *cn = p->circuit->cn;

	rhashtable_remove_fast(&cn->prefixes, &p->node, prefix_params);
	match_discount(prefix_shapes(cn, &p->key), match_shape(&p->key));
	list_del_rcu(&p->list);
	p->circuit->n_prefixes--;
	cn->n_prefixes--;
	kfree_rcu(p, rcu);
}

/* The object of the longest match for @peer, NULL if there is none. */
struct circuit *circuit_match(struct circuit_net *cn, const struct match_key *peer)
{
	const struct match_shapes *shapes = prefix_shapes(cn, peer);
	int shape = MATCH_SHAPES;
	struct circuit_prefix *p;
	struct circuit *c = NULL;
	struct match_key key;

	rcu_read_lock();
	while (!c && (shape = match_below(shapes, shape)) >= 0) {
		if (!match_project(peer, shape, &key))
			continue;
		p = rhashtable_lookup(&cn->prefixes, &key, prefix_params);
		if (p && circuit_get(p->circuit))
			c = p->circuit;
	}
	rcu_read_unlock();
	return c;
}

static void auto_key_of(struct auto_key *key, const struct match_key *peer,
			u32 route, u32 uid)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->addr, peer->addr, sizeof(key->addr));
	key->family = peer->family;
	key->ifindex = peer->ifindex;
	key->route = route;
	key->uid = uid;
}

static bool is_auto_to(const struct circuit *c, const struct match_key *peer)
{
	return !c->name[0] && c->key.family == peer->family &&
	       !memcmp(c->key.addr, peer->addr, sizeof(peer->addr)) &&
	       (!peer->ifindex || c->key.ifindex == peer->ifindex);
}

/* The first automatic circuit to @peer, and by its device if given; for netlink. */
struct circuit *circuit_find_auto(struct circuit_net *cn,
				  const struct match_key *peer)
{
	struct circuit *c, *found = NULL;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&cn->circuits, id, c) {
		if (is_auto_to(c, peer) && circuit_get(c)) {
			found = c;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/* Automatic circuits; under circuit_net.lock */

static struct circuit *auto_make(struct circuit_net *cn, const struct auto_key *key)
{
	struct circuit *c;

	if (cn->n_autos >= CIRCUIT_AUTOS_NET)
		return NULL;
	c = circuit_alloc(cn, GFP_ATOMIC);
	if (!c)
		return NULL;
	c->key = *key;
	if (circuit_enlist(c, GFP_ATOMIC))
		goto err_free;
	if (rhashtable_insert_fast(&cn->autos, &c->node, auto_params))
		goto err_id;
	cn->n_autos++;
	return c;

err_id:
	xa_erase(&cn->circuits, c->id);
err_free:
	kfree_rcu(c, rcu);
	return NULL;
}

static void auto_drop(struct circuit *c)
{
	struct circuit_net *cn = c->cn;

	rhashtable_remove_fast(&cn->autos, &c->node, auto_params);
	xa_erase(&cn->circuits, c->id);
	c->gone = true;
	cn->n_autos--;
	circuit_put(c);
}

static struct circuit *auto_get(struct circuit_net *cn, const struct auto_key *key)
{
	struct circuit *c = rhashtable_lookup_fast(&cn->autos, key, auto_params);

	if (!c)
		c = auto_make(cn, key);
	return c;
}

/* Marked uids; under circuit_net.lock */

/* Extend the uid's own mark, or else replace the one that ends first. */
static void uid_mark(struct circuit_net *cn, unsigned long uid, u64 until)
{
	struct circuit_mark *mark, *place = cn->marks;

	for (mark = cn->marks; mark < cn->marks + CIRCUIT_MARKED_NET; mark++) {
		if (mark->until && mark->uid == uid) {
			mark->since = get_jiffies_64();
			mark->until = max(mark->until, until);
			return;
		}
		if (mark->until < place->until)
			place = mark;
	}
	*place = (struct circuit_mark){ uid, get_jiffies_64(), until };
}

/* Until when @uid is marked; 0: it is not, or @c has been reset since. */
static u64 uid_marked(const struct circuit *c, unsigned long uid)
{
	const struct circuit_net *cn = c->cn;
	const struct circuit_mark *mark;

	for (mark = cn->marks; mark < cn->marks + CIRCUIT_MARKED_NET; mark++)
		if (mark->uid == uid && mark->until &&
		    (!c->reset || time_after64(mark->since, c->reset)) &&
		    time_before64(get_jiffies_64(), mark->until))
			return mark->until;
	return 0;
}

void circuit_forget_marks(struct circuit_net *cn)
{
	spin_lock_bh(&cn->lock);
	memset(cn->marks, 0, sizeof(cn->marks));
	spin_unlock_bh(&cn->lock);
}

/* Users; under circuit_net.lock */

static struct circuit_user *user_make(struct circuit *c, const struct user_key *key)
{
	u64 until = uid_marked(c, key->uid);
	struct circuit_net *cn = c->cn;
	struct circuit_user *u;

	u = kzalloc(sizeof(*u), GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!u)
		return NULL;
	u->key = *key;
	if (rhashtable_insert_fast(&cn->users, &u->node, user_params)) {
		kfree(u);
		return NULL;
	}
	refcount_inc(&c->refs);
	u->circuit = c;
	INIT_LIST_HEAD(&u->kept);
	INIT_LIST_HEAD(&u->ticking);
	hlist_add_head(&u->list, &c->users);
	cn->n_users++;
	if (until) {
		user_inherit(u, until);
		user_tick_start(u);
	}
	return u;
}

static void user_unkeep(struct circuit_user *u)
{
	if (list_empty(&u->kept))
		return;
	list_del_init(&u->kept);
	u->circuit->cn->n_kept--;
}

/* The user has no socket left. */
void user_free(struct circuit_user *u)
{
	struct circuit *c = u->circuit;
	struct circuit_net *cn = c->cn;

	rhashtable_remove_fast(&cn->users, &u->node, user_params);
	hlist_del(&u->list);
	user_tick_stop(u);
	user_unkeep(u);
	cn->n_users--;
	if (u->tripped) {
		WRITE_ONCE(c->tripped_users, c->tripped_users - 1);
		atomic_long_inc(&cn->resets);
	}
	kfree(u);
	if (!c->name[0] && !c->gone && hlist_empty(&c->users))
		auto_drop(c);
	circuit_put(c);
}

static struct circuit_user *user_get(struct circuit *c, kuid_t uid)
{
	struct user_key key = { (unsigned long)c, __kuid_val(uid) };
	struct circuit_user *u;

	u = rhashtable_lookup_fast(&c->cn->users, &key, user_params);
	if (!u)
		u = user_make(c, &key);
	if (!u)
		return NULL;
	u->sockets++;
	WRITE_ONCE(c->sockets, c->sockets + 1);
	user_unkeep(u);
	return u;
}

/*
 * The user to forget in favour of @u: the oldest whose breaker is closed; if there is
 * none and the breaker of @u is open, the oldest of the same uid.  So no open breaker
 * is forgotten because of another user, and the uid of a forgotten one is marked.
 */
static struct circuit_user *user_to_forget(struct circuit_net *cn,
					   const struct circuit_user *u)
{
	struct circuit_user *kept;

	list_for_each_entry(kept, &cn->kept, kept)
		if (!kept->tripped)
			return kept;
	if (!u->tripped)
		return NULL;
	list_for_each_entry(kept, &cn->kept, kept)
		if (kept->key.uid == u->key.uid)
			return kept;
	return NULL;
}

static void user_forget(struct circuit_user *u)
{
	if (u->tripped) {
		uid_mark(u->circuit->cn, u->key.uid, u->quiet_until);
		circuit_notify(u->circuit, TCP_CIRCUIT_CMD_CLOSED_NTF,
			       TCP_CIRCUIT_CAUSE_FORGOTTEN, GFP_ATOMIC);
	}
	user_free(u);
}

/*
 * Losses and an open breaker are kept when the last socket goes: reconnecting does not
 * start afresh.
 */
static void user_put(struct circuit_user *u)
{
	struct circuit_net *cn = u->circuit->cn;
	struct circuit_user *forget;

	WRITE_ONCE(u->circuit->sockets, u->circuit->sockets - 1);
	if (--u->sockets)
		return;
	if (u->circuit->gone || !user_worth_keeping(u)) {
		user_free(u);
		return;
	}
	if (cn->n_kept >= CIRCUIT_KEPT_NET) {
		forget = user_to_forget(cn, u);
		user_forget(forget ?: u);
		if (!forget)
			return;
	}
	list_add_tail(&u->kept, &cn->kept);
	cn->n_kept++;
}

/* Streams */

/*
 * Note the outgoing device and the window of the route; true: they have changed.
 * Without a route, as after IP_TOS was set, the last values stay.
 */
bool stream_route_changed(struct sock *sk)
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
static bool stream_wants_auto(const struct sock *sk, u32 *uid)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct circuit_net *cn = circuit_pernet(sk);

	*uid = NO_UID;
	if (s->own || s->route || READ_ONCE(cn->fcwnd) || READ_ONCE(circuit_fcwnd))
		return true;
	*uid = __kuid_val(sk->sk_uid);
	return s->asked && READ_ONCE(cn->fcwnd_max);
}

/* Would a lookup now find the circuit and the user that the stream has? */
bool stream_belongs(struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	const struct circuit *has = s->user->circuit;
	struct match_key peer;
	struct circuit *c;
	struct auto_key key;
	u32 uid;

	if (s->user->key.uid != __kuid_val(sk->sk_uid))
		return false;
	stream_peer(sk, &peer);
	c = circuit_match(circuit_pernet(sk), &peer);
	if (c) {
		circuit_put(c);
		return c == has;
	}
	if (has->name[0] || !stream_wants_auto(sk, &uid))
		return false;
	auto_key_of(&key, &peer, s->route, uid);
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
					const struct match_key *peer, u32 uid)
{
	const struct stream *s = inet_csk_ca(sk);
	struct circuit_net *cn = circuit_pernet(sk);
	struct circuit *c = object;
	struct circuit_user *u = NULL;
	struct auto_key key;

	auto_key_of(&key, peer, s->route, uid);
	spin_lock_bh(&cn->lock);
	if (!c)
		c = auto_get(cn, &key);
	if (c)
		u = user_get(c, sk->sk_uid);
	if (u)
		user_meets(u, peer);
	if (c && !u && !object && hlist_empty(&c->users))
		auto_drop(c);
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

/* False: nothing gives it a window, or there is no memory for a circuit. */
bool stream_join(struct sock *sk)
{
	struct circuit_net *cn = circuit_pernet(sk);
	struct stream *s = inet_csk_ca(sk);
	struct match_key peer;
	struct circuit *c;
	u32 uid = NO_UID;

	stream_peer(sk, &peer);
	c = circuit_match(cn, &peer);
	if ((!c && !stream_wants_auto(sk, &uid)) || !stream_holds_net(sk))
		goto none;
	s->user = stream_user(sk, c, &peer, uid);
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

/* Its user's breaker in the previous circuit was open, until @until. */
void stream_inherit(struct sock *sk, u64 until)
{
	struct circuit_user *u = ((struct stream *)inet_csk_ca(sk))->user;
	struct circuit_net *cn = u->circuit->cn;

	spin_lock_bh(&cn->lock);
	user_inherit(u, until);
	user_tick_start(u);
	spin_unlock_bh(&cn->lock);
}

/* For messages: its name, or its peer's address */
void circuit_peer_name(const struct circuit *c, char *text, size_t size)
{
	if (c->name[0])
		snprintf(text, size, "%s", c->name);
	else if (c->key.family == 4)
		snprintf(text, size, "to %pI4", c->key.addr);
	else
		snprintf(text, size, "to %pI6c", c->key.addr);
}

/* Bytes, without the hash tables' own: at most 16 for each entry */
u64 circuit_table_memory(const struct circuit_net *cn)
{
	return (u64)(cn->n_objects + cn->n_autos) * sizeof(struct circuit) +
	       (u64)cn->n_prefixes * sizeof(struct circuit_prefix) +
	       (u64)cn->n_users * sizeof(struct circuit_user);
}

int circuit_table_init(struct circuit_net *cn)
{
	int err = -ENOMEM;

	mutex_init(&cn->mutex);
	spin_lock_init(&cn->lock);
	INIT_LIST_HEAD(&cn->kept);
	INIT_LIST_HEAD(&cn->ticking);
	INIT_DELAYED_WORK(&cn->tick, circuit_tick_work);
	ratelimit_state_init(&cn->log, DEFAULT_RATELIMIT_INTERVAL,
			     DEFAULT_RATELIMIT_BURST);
	xa_init_flags(&cn->circuits, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH |
		      XA_FLAGS_ACCOUNT);
	cn->shapes = kcalloc(2, sizeof(*cn->shapes), GFP_KERNEL_ACCOUNT);
	if (!cn->shapes)
		return -ENOMEM;
	err = rhashtable_init(&cn->names, &name_params);
	if (err)
		goto err_shapes;
	err = rhashtable_init(&cn->prefixes, &prefix_params);
	if (err)
		goto err_names;
	err = rhashtable_init(&cn->autos, &auto_params);
	if (err)
		goto err_prefixes;
	err = rhashtable_init(&cn->users, &user_params);
	if (err)
		goto err_autos;
	return 0;

err_autos:
	rhashtable_destroy(&cn->autos);
err_prefixes:
	rhashtable_destroy(&cn->prefixes);
err_names:
	rhashtable_destroy(&cn->names);
err_shapes:
	kfree(cn->shapes);
	return err;
}

/* No socket of the namespace is left, but objects and kept users may be. */
void circuit_table_exit(struct circuit_net *cn)
{
	struct circuit_user *u, *next;

	cancel_delayed_work_sync(&cn->tick);
	circuit_del_all(cn);
	spin_lock_bh(&cn->lock);
	list_for_each_entry_safe(u, next, &cn->kept, kept)
		user_free(u);
	spin_unlock_bh(&cn->lock);
	rhashtable_destroy(&cn->users);
	rhashtable_destroy(&cn->autos);
	rhashtable_destroy(&cn->prefixes);
	rhashtable_destroy(&cn->names);
	xa_destroy(&cn->circuits);
	kfree(cn->shapes);
}

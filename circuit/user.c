// SPDX-License-Identifier: GPL-2.0
/*
 * Users: the sockets of one user (owner.c) in a circuit, who have a breaker together
 *
 * A user comes with the first socket and goes with the last, but is kept while there is
 * something to remember: an open breaker, or losses of a moment ago, so that
 * reconnecting does not start afresh.  A namespace keeps CIRCUIT_KEPT_NET users.
 * Beyond that those with the least to remember go (user_to_forget()); the uid of one whose
 * breaker was open is marked, and begins with an open one in each circuit that it joins.
 */

#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "circuit.h"

static const struct rhashtable_params user_params = {
	.key_len	= sizeof(struct user_key),
	.key_offset	= offsetof(struct circuit_user, key),
	.head_offset	= offsetof(struct circuit_user, node),
};

int circuit_users_init(struct circuit_net *cn)
{
	return rhashtable_init(&cn->users, &user_params);
}

/* Marked uids; under circuit_net.lock */

/* Extend the uid's own mark, or else replace the one that ends first. */
void uid_mark(struct circuit_net *cn, unsigned long uid, u64 until)
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

/* When the mark of @uid ends, jiffies; 0: it has none, or @c was reset after it was set. */
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
		user_open_breaker(u, until);
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
		circuit_auto_drop(c);
	circuit_put(c);
}

struct circuit_user *user_get(struct circuit *c, unsigned long owner)
{
	struct user_key key = { (unsigned long)c, owner };
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

/* How much there is to remember of it: an open breaker, slots with evidence, losses */
static u32 user_weight(const struct circuit_user *u)
{
	if (u->tripped)
		return U32_MAX;
	if (judge_suspects(&u->judge))
		return U32_MAX - 1;
	return min_t(u64, u->judge.loss.lost + atomic_read(&u->tally.lost), U32_MAX - 2);
}

/* The lightest that is kept, of several the oldest; @own: of the uid of @u alone */
static struct circuit_user *user_lightest(struct circuit_net *cn,
					  const struct circuit_user *u, bool own)
{
	struct circuit_user *kept, *lightest = NULL;

	list_for_each_entry(kept, &cn->kept, kept) {
		if (own && kept->key.uid != u->key.uid)
			continue;
		if (!lightest || user_weight(kept) < user_weight(lightest))
			lightest = kept;
	}
	return lightest;
}

/*
 * The user to forget in favour of @u: of its own uid, if that has any, unless those are
 * heavier than @u and none of them is open; else another uid's, if that is lighter.  So
 * nobody gets rid of what is remembered, of themselves or of others, by many connections
 * with less, or by many open breakers, and no open breaker is forgotten because of
 * another uid.  The uid of a forgotten open one is marked.  NULL: @u itself.
 */
static struct circuit_user *user_to_forget(struct circuit_net *cn,
					   const struct circuit_user *u)
{
	struct circuit_user *own = user_lightest(cn, u, true);
	struct circuit_user *any;

	if (own)
		return own->tripped || user_weight(own) <= user_weight(u) ? own : NULL;
	any = user_lightest(cn, u, false);
	return any && user_weight(any) < user_weight(u) ? any : NULL;
}

/* Is there room for one more of its uid?  No uid has more than a quarter of it. */
static bool user_has_room(const struct circuit_net *cn, const struct circuit_user *u)
{
	const struct circuit_user *kept;
	u32 n = 0;

	list_for_each_entry(kept, &cn->kept, kept)
		n += kept->key.uid == u->key.uid;
	return n < CIRCUIT_KEPT_UID && cn->n_kept < CIRCUIT_KEPT_NET;
}

static void user_forget(struct circuit_user *u)
{
	if (u->tripped) {
		uid_mark(u->circuit->cn, u->key.uid, u->quiet_until);
		circuit_notify(u->circuit, TCP_CIRCUIT_CMD_CLOSED_NTF,
			       TCP_CIRCUIT_CAUSE_FORGOTTEN, &u->evidence, GFP_ATOMIC);
	}
	user_free(u);
}

/*
 * Losses and an open breaker are kept when the last socket goes: reconnecting does not
 * start afresh.
 */
void user_put(struct circuit_user *u)
{
	struct circuit_net *cn = u->circuit->cn;
	struct circuit_user *forget;

	WRITE_ONCE(u->circuit->sockets, u->circuit->sockets - 1);
	if (--u->sockets)
		return;
	if (u->circuit->gone || !user_keep(u)) {
		user_free(u);
		return;
	}
	if (!user_has_room(cn, u)) {
		forget = user_to_forget(cn, u);
		user_forget(forget ?: u);
		if (!forget)
			return;
	}
	list_add_tail(&u->kept, &cn->kept);
	cn->n_kept++;
}

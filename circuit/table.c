// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a namespace: objects by name and by prefix, automatic circuits by peer
 *
 * An object is found by the longest match for the peer (match.h), its outgoing
 * device and its mark.  An automatic circuit lives as long as its users (user.c).
 *
 * Each namespace has a table, locks and limits of its own, so the circuits of
 * one namespace cost the others nothing.  Lookups run under RCU alone.
 */

#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "circuit.h"

/*
 * No automatic_shrinking: if a table fills and empties before its worker runs,
 * rht_deferred_worker() never replaces the nested table and requeues itself for ever.
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

/* A setting or the table has changed: all streams look up their circuit again. */
void circuit_net_changed(struct circuit_net *cn)
{
	spin_lock_bh(&cn->lock);
	smp_store_release(&cn->generation, cn->generation + 1);	/* after the table */
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

void circuit_auto_key_of(struct auto_key *key, const struct match_key *peer,
			 u32 route, u32 uid)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->addr, peer->addr, sizeof(key->addr));
	key->family = peer->family;
	key->ifindex = peer->ifindex;
	key->route = route;
	key->uid = uid;
}

bool circuit_is_auto_to(const struct circuit *c, const struct match_key *peer)
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
		if (circuit_is_auto_to(c, peer) && circuit_get(c)) {
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
		goto err_put;
	if (rhashtable_insert_fast(&cn->autos, &c->node, auto_params))
		goto err_id;
	cn->n_autos++;
	return c;

err_id:
	xa_erase(&cn->circuits, c->id);
err_put:
	circuit_put(c);		/* a reader may have found it by its id */
	return NULL;
}

void circuit_auto_drop(struct circuit *c)
{
	struct circuit_net *cn = c->cn;

	rhashtable_remove_fast(&cn->autos, &c->node, auto_params);
	xa_erase(&cn->circuits, c->id);
	c->gone = true;
	cn->n_autos--;
	circuit_put(c);
}

struct circuit *circuit_auto_get(struct circuit_net *cn, const struct auto_key *key)
{
	struct circuit *c = rhashtable_lookup_fast(&cn->autos, key, auto_params);

	if (!c)
		c = auto_make(cn, key);
	return c;
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
	err = circuit_users_init(cn);
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

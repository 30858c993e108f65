// SPDX-License-Identifier: GPL-2.0
/*
 * Objects: circuits that the administrator makes, replaces and removes
 *
 * All that can fail is done first, under circuit_net.mutex: a change is made
 * completely or not at all.  Live streams look up their circuit again with their next
 * ACK.
 */

#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/slab.h>

#include "circuit.h"

void circuit_config_free(struct circuit_config *config)
{
	struct circuit_prefix *p, *next;

	list_for_each_entry_safe(p, next, &config->prefixes, list)
		kfree(p);
	INIT_LIST_HEAD(&config->prefixes);
}

bool circuit_config_has(const struct circuit_config *config,
			const struct match_key *key)
{
	const struct circuit_prefix *p;

	list_for_each_entry(p, &config->prefixes, list)
		if (!memcmp(&p->key, key, sizeof(*key)))
			return true;
	return false;
}

/* Can @c (NULL: a new circuit) have all prefixes of @config? */
static int prefixes_check(struct circuit_net *cn, const struct circuit *c,
			  const struct circuit_config *config,
			  struct netlink_ext_ack *extack)
{
	u32 has = c ? c->n_prefixes : 0;
	struct circuit_prefix *p, *other;

	if (cn->n_prefixes - has + config->n_prefixes > CIRCUIT_PREFIXES_NET) {
		NL_SET_ERR_MSG(extack, "the namespace has reached its limit of prefixes");
		return -ENOSPC;
	}
	list_for_each_entry(p, &config->prefixes, list) {
		other = circuit_find_prefix(cn, &p->key);
		if (other && other->circuit != c) {
			NL_SET_ERR_MSG(extack, "a prefix belongs to another circuit");
			return -EEXIST;
		}
	}
	return 0;
}

/* Move the prefixes that @c does not have yet out of @config. */
static int prefixes_add(struct circuit *c, struct circuit_config *config,
			struct list_head *added)
{
	struct circuit_prefix *p, *next;
	int err;

	list_for_each_entry_safe(p, next, &config->prefixes, list) {
		if (circuit_find_prefix(c->cn, &p->key))
			continue;
		list_del(&p->list);
		err = circuit_add_prefix(c, p);
		if (err) {
			kfree(p);
			return err;
		}
		list_add_tail(&p->added, added);
	}
	return 0;
}

static void prefixes_undo(struct list_head *added)
{
	struct circuit_prefix *p, *next;

	list_for_each_entry_safe(p, next, added, added)
		circuit_del_prefix(p);
}

static void circuit_configure(struct circuit *c, const struct circuit_config *config)
{
	WRITE_ONCE(c->window, config->window);
	WRITE_ONCE(c->rate, config->rate);
	WRITE_ONCE(c->ifindex, config->ifindex);
	WRITE_ONCE(c->mark, config->mark);
	WRITE_ONCE(c->flags, config->flags);
}

/* Users without a socket are freed; streams of the others find their next match. */
static void circuit_dismiss_users(struct circuit *c)
{
	struct circuit_user *u;
	struct hlist_node *next;

	spin_lock_bh(&c->cn->lock);
	c->gone = true;
	hlist_for_each_entry_safe(u, next, &c->users, list)
		if (!u->sockets)
			user_free(u);
	spin_unlock_bh(&c->cn->lock);
}

static bool wants_early(u32 flags)
{
	return flags & TCP_CIRCUIT_F_EARLY_WINDOW;
}

static int circuit_make(struct circuit_net *cn, struct circuit_config *config,
			struct netlink_ext_ack *extack)
{
	struct circuit *c;
	LIST_HEAD(added);
	int err;

	if (cn->n_objects >= circuit_objects_most(cn)) {
		NL_SET_ERR_MSG(extack, "the namespace has reached its limit of circuits");
		return -ENOSPC;
	}
	err = prefixes_check(cn, NULL, config, extack);
	if (err)
		return err;
	c = circuit_alloc(cn, GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	memcpy(c->name, config->name, sizeof(c->name));
	circuit_configure(c, config);
	if (wants_early(c->flags)) {
		err = circuit_early_get(cn);
		if (err)
			goto err_put;
	}
	err = circuit_enlist(c, GFP_KERNEL);
	if (err)
		goto err_early;
	err = circuit_add_name(c);
	if (err)
		goto err_id;
	err = prefixes_add(c, config, &added);
	if (err)
		goto err_prefixes;
	__module_get(THIS_MODULE);	/* it stays loaded while there are objects */
	WRITE_ONCE(cn->n_objects, cn->n_objects + 1);
	circuit_net_changed(cn);
	circuit_notify(c, TCP_CIRCUIT_CMD_ADDED_NTF, 0, NULL, GFP_KERNEL);
	return 0;

err_prefixes:
	prefixes_undo(&added);
	circuit_del_name(c);
	circuit_net_changed(cn);	/* a stream may have joined it */
err_id:
	xa_erase_bh(&cn->circuits, c->id);
err_early:
	if (wants_early(c->flags))
		circuit_early_put(cn);
err_put:
	circuit_dismiss_users(c);
	circuit_put(c);
	return err;
}

static int circuit_replace(struct circuit *c, struct circuit_config *config,
			   struct netlink_ext_ack *extack)
{
	bool early = wants_early(config->flags), was_early = wants_early(c->flags);
	struct circuit_prefix *p, *next;
	LIST_HEAD(wanted);
	LIST_HEAD(added);
	int err;

	err = prefixes_check(c->cn, c, config, extack);
	if (err)
		return err;
	if (early && !was_early) {
		err = circuit_early_get(c->cn);
		if (err)
			return err;
	}
	/* Mark the old ones that stay, before those of @config are moved. */
	list_for_each_entry(p, &c->prefixes, list)
		p->stays = circuit_config_has(config, &p->key);
	err = prefixes_add(c, config, &added);
	if (err) {
		prefixes_undo(&added);
		circuit_net_changed(c->cn);
		if (early && !was_early)
			circuit_early_put(c->cn);
		return err;
	}
	list_for_each_entry(p, &added, added)
		p->stays = true;
	circuit_configure(c, config);
	list_for_each_entry_safe(p, next, &c->prefixes, list)
		if (!p->stays)
			circuit_del_prefix(p);
	if (was_early && !early)
		circuit_early_put(c->cn);
	circuit_net_changed(c->cn);
	circuit_notify(c, TCP_CIRCUIT_CMD_CHANGED_NTF, 0, NULL, GFP_KERNEL);
	return 0;
}

/* @flags: NLM_F_CREATE, NLM_F_REPLACE, NLM_F_EXCL, as in the uapi header */
static int circuit_set_locked(struct circuit_net *cn,
			      struct circuit_config *config, u16 flags,
			      struct netlink_ext_ack *extack)
{
	struct circuit *c = circuit_find_name(cn, config->name);
	int err;

	if (!c && !(flags & NLM_F_CREATE)) {
		NL_SET_ERR_MSG(extack, "no circuit with this name to replace");
		return -ENOENT;
	}
	if (!c)
		return circuit_make(cn, config, extack);
	if (flags & NLM_F_EXCL) {
		NL_SET_ERR_MSG(extack, "a circuit with this name already exists");
		err = -EEXIST;
	} else {
		err = circuit_replace(c, config, extack);
	}
	circuit_put(c);
	return err;
}

/* Takes the prefixes that it needs out of @config, which the caller frees. */
int circuit_set(struct circuit_net *cn, struct circuit_config *config,
		u16 flags, struct netlink_ext_ack *extack)
{
	int err;

	if (!(flags & (NLM_F_CREATE | NLM_F_REPLACE))) {
		NL_SET_ERR_MSG(extack, "NLM_F_CREATE, NLM_F_REPLACE or both are needed");
		return -EINVAL;
	}
	mutex_lock(&cn->mutex);
	err = circuit_set_locked(cn, config, flags, extack);
	mutex_unlock(&cn->mutex);
	return err;
}

/* Under circuit_net.mutex; drops the table's reference. */
static void circuit_remove(struct circuit *c)
{
	struct circuit_net *cn = c->cn;
	struct circuit_prefix *p, *next;

	list_for_each_entry_safe(p, next, &c->prefixes, list)
		circuit_del_prefix(p);
	circuit_del_name(c);
	xa_erase_bh(&cn->circuits, c->id);
	if (wants_early(c->flags))
		circuit_early_put(cn);
	WRITE_ONCE(cn->n_objects, cn->n_objects - 1);
	circuit_dismiss_users(c);
	circuit_net_changed(cn);
	circuit_put(c);
	module_put(THIS_MODULE);
}

static int circuit_del_locked(struct circuit *c, bool tripped_too,
			      struct netlink_ext_ack *extack)
{
	bool tripped = READ_ONCE(c->tripped_users);

	if (tripped && !tripped_too) {
		NL_SET_ERR_MSG(extack,
			       "its breaker is open: only the machine's administrator may remove it");
		return -EPERM;
	}
	if (tripped)
		circuit_notify(c, TCP_CIRCUIT_CMD_CLOSED_NTF,
			       TCP_CIRCUIT_CAUSE_REMOVED, NULL, GFP_KERNEL);
	circuit_notify(c, TCP_CIRCUIT_CMD_REMOVED_NTF, 0, NULL, GFP_KERNEL);
	circuit_remove(c);
	return 0;
}

/* @tripped_too: also while a breaker is open */
int circuit_del(struct circuit_net *cn, const char *name, bool tripped_too,
		struct netlink_ext_ack *extack)
{
	struct circuit *c;
	int err = -ENOENT;

	mutex_lock(&cn->mutex);
	c = circuit_find_name(cn, name);
	if (c) {
		err = circuit_del_locked(c, tripped_too, extack);
		circuit_put(c);
	} else {
		NL_SET_ERR_MSG(extack, "no circuit with this name");
	}
	mutex_unlock(&cn->mutex);
	return err;
}

/* The namespace goes away: nobody is left to notify. */
void circuit_del_all(struct circuit_net *cn)
{
	struct circuit *c;
	unsigned long id;

	mutex_lock(&cn->mutex);
	xa_for_each(&cn->circuits, id, c) {
		if (c->name[0])
			circuit_remove(c);
		cond_resched();
	}
	mutex_unlock(&cn->mutex);
}

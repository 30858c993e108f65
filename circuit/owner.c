// SPDX-License-Identifier: GPL-2.0
/*
 * Whose socket is it?
 *
 * Breakers and net.ipv4.tcp_circuit_fcwnd_max are per user: the one who opened the
 * socket's file.  The socket's own uid does not say who that is: fchown(2) changes it,
 * and whoever may make a user namespace has 65,536 subordinate uids there
 * (newuidmap(1), user_namespaces(7)).  So all uids of a user namespace are one user
 * with the user who made it.
 *
 * Two kinds of namespaces do not count: one that root made, as container managers do,
 * because an administrator has given these uids out; and the one that the network
 * namespace belongs to: in a network namespace of its own, each of its uids is a user.
 *
 * A connection that has no file, because accept() has not returned it yet or close()
 * has taken it, stays with the user that it has.
 */

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/user_namespace.h>

#include "circuit.h"

/* @uid, or the user who made the outermost namespace between @ns and @top. */
static kuid_t namespace_owner(const struct user_namespace *ns,
			      const struct user_namespace *top, kuid_t uid)
{
	for (; ns && ns != top; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return uid;
}

/* The kuid of the user that @sk belongs to now */
unsigned long stream_owner(struct sock *sk)
{
	const struct stream *s = inet_csk_ca(sk);
	unsigned long owner = s->user ? s->user->key.uid : __kuid_val(sk->sk_uid);
	const struct file *file;

	read_lock_bh(&sk->sk_callback_lock);
	file = sk->sk_socket ? sk->sk_socket->file : NULL;
	if (file)
		owner = __kuid_val(namespace_owner(file->f_cred->user_ns,
						   sock_net(sk)->user_ns,
						   file->f_cred->fsuid));
	read_unlock_bh(&sk->sk_callback_lock);
	return owner;
}

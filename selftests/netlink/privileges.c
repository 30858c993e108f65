// SPDX-License-Identifier: GPL-2.0
/*
 * Who may change and see what: a user, a user in a namespace of his own, another
 * namespace
 */
#include <sched.h>

#include "../sock.h"
#include "test.h"

#define NOBODY	65534

static void open_again(void)
{
	if (nl_open(&nl, TCP_CIRCUIT_GENL_NAME))
		bail("a socket of one's own");
}

static void try_changes(const char *who)
{
	static const struct {
		const char *what, *words;
		uint8_t cmd;
	} rows[] = {
		{ "create", "name=x" REST, NEW },
		{ "replace", "name=wave" REST, NEW },
		{ "del", "name=wave", DEL },
		{ "reset of one", "name=wave", RESET },
		{ "reset of all", "", RESET },
	};
	char what[100];

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(what, sizeof(what), "%s: %s", who, rows[i].what);
		same_error(what, EPERM,
			   request(rows[i].cmd,
				   rows[i].cmd == NEW ? NLM_F_CREATE : 0,
				   rows[i].words));
	}
}

/* Objects are no secret; who talks to whom is. */
static void as_nobody(void)
{
	static struct answers a;

	become_user(NOBODY);
	open_again();
	try_changes("a user");
	same_error("a user: events", EPERM,
		   -nl_join(&nl, TCP_CIRCUIT_MCGRP_EVENTS));
	dump(&a);
	same("a user: circuits in a dump, none of them auto", 2, a.count);
	same_name("a user: get by name", "wave", name_of("name=wave"));
	same_name("a user: get by address", "wave", name_of("address=192.0.2.1"));
	same_name("a user: get of a peer of others", "none",
		  name_of("address=127.0.0.1"));
	same("a user: stats", 2, stat_of(TCP_CIRCUIT_STATS_A_CIRCUITS));
}

static void with_roots_socket(void)
{
	open_again();
	become_user(NOBODY);
	same_error("a user, by root's socket: del", EPERM,
		   request(DEL, 0, "name=wave"));
}

/* In a chroot, as the lab's machine lives in, nobody has a user namespace. */
static void leave_chroot(void)
{
	if (chdir("/") || chroot("/tmp"))
		bail("chroot");
	for (int i = 0; i < 16; i++)
		if (chdir(".."))
			bail("chdir");
	if (chroot("."))
		bail("chroot");
}

/* A user's own namespace is the user's own. */
static void in_own_namespace(void)
{
	leave_chroot();
	become_user(NOBODY);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		point("a user's own namespace # SKIP this kernel lets users have none",
		      "");
		return;
	}
	open_again();
	same_error("a user, in a namespace of his own: create", 0,
		   request(NEW, NLM_F_CREATE, "name=wave" REST));
	same_error("a user, in a namespace of his own: events", 0,
		   -nl_join(&nl, TCP_CIRCUIT_MCGRP_EVENTS));
	drop("wave");
}

/* --- circuits without an object ---------------------------------------------- */

/* Both ends of a connection by the loopback, circuit's */
static void connect_pair(int ends[2])
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(to);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	set_algorithm(ends[0], "circuit");
	if (bind(listener, (void *)&to, sizeof(to)) || listen(listener, 1) ||
	    getsockname(listener, (void *)&to, &len) ||
	    connect(ends[0], (void *)&to, sizeof(to)))
		bail("connect");
	ends[1] = accept(listener, NULL, NULL);
	close(listener);
}

/* Of the prefix in @a, when that is 127.0.0.1's, bits */
static uint64_t peer_length(const struct answers *a)
{
	const struct nlattr *prefix = found(a, TCP_CIRCUIT_A_PREFIX), *address;

	address = prefix ? nl_find_in(prefix, TCP_CIRCUIT_PREFIX_A_ADDRESS) : NULL;
	if (!address || nl_len(address) != 4 ||
	    memcmp(nl_data(address), "\177\0\0\1", 4))
		return 0;
	return nl_number(nl_find_in(prefix, TCP_CIRCUIT_PREFIX_A_LEN));
}

static void check_auto(void)
{
	static struct answers a;

	same_error("get of a peer without an object", 0,
		   get("address=127.0.0.1", &a));
	same("it is auto", 1, !!found(&a, TCP_CIRCUIT_A_AUTO));
	same("it has a prefix", 1, count_prefixes(&a));
	same("its peer's", 32, peer_length(&a));
	same("its sockets, both ends", 2,
	     nl_number(found(&a, TCP_CIRCUIT_A_SOCKETS)));
	same("its window", NETNS_FCWND,
	     nl_number(found(&a, TCP_CIRCUIT_A_WINDOW)));
	dump(&a);
	same("a dump has it", 3, a.count);
}

void check_privileges(void)
{
	static struct answers before, after;
	int ends[2];

	make_two();
	connect_pair(ends);
	check_auto();
	dump(&before);
	in_child(as_nobody);
	in_child(with_roots_socket);
	dump(&after);
	same("nothing of it was done", 1, equal_answers(&before, &after));
	in_child(in_own_namespace);
	for (int i = 0; i < 2; i++) {
		reset_on_close(ends[i]);
		close(ends[i]);
	}
	drop_two();
}

/* --- namespaces --------------------------------------------------------------- */

static void in_another_namespace(void)
{
	static struct answers a;

	if (unshare(CLONE_NEWNET))
		bail("unshare");
	open_again();
	dump(&a);
	same("another namespace has none of it", 0, a.count);
	same_error("the same name and prefixes are free there", 0,
		   request(NEW, NLM_F_CREATE | NLM_F_EXCL,
			   "name=wave prefix=192.0.2.0/24 window=5"));
	same_error("what is not there cannot be removed", ENOENT,
		   request(DEL, 0, "name=sat"));
	must(RESET, 0, "");
}

void check_namespaces(void)
{
	static struct answers before, after;
	struct nl listener;

	make_two();
	dump(&before);
	if (nl_open(&listener, TCP_CIRCUIT_GENL_NAME) ||
	    nl_join(&listener, TCP_CIRCUIT_MCGRP_EVENTS))
		bail("a second socket");
	in_child(in_another_namespace);
	dump(&after);
	same("another namespace's changes are none here", 1,
	     equal_answers(&before, &after));
	same("and its events are not heard here", 0,
	     next_event(&listener, &after));
	close(listener.fd);
	drop_two();
}

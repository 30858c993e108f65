// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the family tcp_circuit
 */
#include "fuzz.h"

struct nl nl;
struct nl_message message;

int talk(nl_handler handler, void *arg)
{
	int err = -nl_talk(&nl, &message, handler, arg);

	if (err && err != EEXIST && err != ENOENT && err != EPERM &&
	    err != EINVAL && err != ERANGE)
		rule("netlink: %s (%s)", strerror(err), nl.text);
	if (err && err != EPERM && err != ENOENT && !*nl.text)
		rule("netlink: %s, and no word why", strerror(err));
	return err;
}

void put_prefixes(const struct object *o)
{
	unsigned char address[16];

	for (int i = 0; i < 2 && o->prefixes[i].address; i++) {
		size_t size = nl_parse_address(o->prefixes[i].address, address);

		nl_put_prefix(&message, address, size, o->prefixes[i].len);
	}
}

/* Of the loopback's addresses, and one that no socket here is connected to */
int put_address(unsigned char *address)
{
	static const char *const text[] = { "127.0.0.1", "127.0.0.2",
					    "127.0.0.3", "::1", "192.0.2.1",
					    "2001:db8::1" };
	const char *one = text[below(COUNT(text))];
	size_t size = nl_parse_address(one, address);

	nl_put(&message, TCP_CIRCUIT_A_ADDRESS, address, size);
	return size == 4 ? AF_INET : AF_INET6;
}

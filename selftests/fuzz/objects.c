// SPDX-License-Identifier: GPL-2.0
/*
 * The circuits as they have to be, and what belongs to which
 */
#include "fuzz.h"

struct object objects[OBJECTS] = {
	{ .name = "host1", .prefixes = { { AF_INET, "127.0.0.1", 32 } } },
	{ .name = "host2", .prefixes = { { AF_INET, "127.0.0.2", 32 } },
	  .in_storms = true },
	{ .name = "v6", .prefixes = { { AF_INET6, "::1", 128 } },
	  .in_storms = true },
	{ .name = "net", .prefixes = { { AF_INET, "127.0.0.0", 8 },
				       { AF_INET6, "::", 64 } } },
	{ .name = "all", .prefixes = { { AF_INET, "0.0.0.0", 0 },
				       { AF_INET6, "::", 0 } } },
	{ .name = "marked", .prefixes = { { AF_INET, "127.0.0.1", 32 },
					  { AF_INET6, "::1", 128 } },
	  .mark = 7, .in_storms = true },
};

static bool prefix_holds(const struct object *o, int i, int family,
			 const unsigned char *address)
{
	unsigned char prefix[16];
	int len = o->prefixes[i].len;

	if (o->prefixes[i].family != family)
		return false;
	inet_pton(family, o->prefixes[i].address, prefix);
	if (memcmp(prefix, address, len / 8))
		return false;
	return !(len % 8) ||
	       !((prefix[len / 8] ^ address[len / 8]) >> (8 - len % 8));
}

/* Name of the circuit that has the longest prefix of this address; "": none has. */
const char *longest_match(int family, const unsigned char *address)
{
	const char *best = "";
	int longest = -1;

	for (struct object *o = objects; o < OBJECTS_END; o++)
		for (int i = 0; i < 2; i++) {
			if (!o->there || o->mark ||
			    o->prefixes[i].len <= longest ||
			    !prefix_holds(o, i, family, address))
				continue;
			longest = o->prefixes[i].len;
			best = o->name;
		}
	return best;
}

const char *longest_match_of(int fd)
{
	struct sockaddr_in6 a6;
	socklen_t len = sizeof(a6);

	if (getpeername(fd, (void *)&a6, &len))
		return "";
	if (a6.sin6_family == AF_INET)
		return longest_match(AF_INET, (void *)
				     &((struct sockaddr_in *)&a6)->sin_addr);
	if (IN6_IS_ADDR_V4MAPPED(&a6.sin6_addr))
		return longest_match(AF_INET, a6.sin6_addr.s6_addr + 12);
	return longest_match(AF_INET6, a6.sin6_addr.s6_addr);
}

struct object *any_object(void)
{
	for (;;) {
		struct object *o = objects + below(COUNT(objects));

		if (phase != STORM || o->in_storms)
			return o;
	}
}

const struct object *object_of(const struct nlmsghdr *answer)
{
	const struct nlattr *name = nl_find(answer, TCP_CIRCUIT_A_NAME);

	for (struct object *o = objects; name && o < OBJECTS_END; o++)
		if (!strcmp(o->name, nl_data(name)))
			return o;
	return NULL;
}

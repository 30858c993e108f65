// SPDX-License-Identifier: GPL-2.0
/*
 * A request that is not quite one
 */
#include "fuzz.h"

/* One of another prefix than those, whatever bit of it is changed */
static struct object stranger = {
	.name = "stranger", .prefixes = { { AF_INET, "198.51.100.0", 24 } },
};

static int keep_stranger(const struct nlmsghdr *answer, void *arg)
{
	const struct nlattr *name = nl_find(answer, TCP_CIRCUIT_A_NAME);

	if (name && !nl_find(answer, TCP_CIRCUIT_A_AUTO) && !object_of(answer))
		snprintf(arg, TCP_CIRCUIT_NAME_LEN, "%s",
			 (const char *)nl_data(name));
	return 0;
}

static void remove_stranger(void)
{
	char name[TCP_CIRCUIT_NAME_LEN] = "";

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	talk(keep_stranger, name);
	if (!*name)
		return;
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_DEL, 0);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, name);
	if (talk(NULL, NULL))
		rule("del %s: %s", name, nl.text);
	changes++;
}

/* A good message but for one bit, or its end; the kernel says no, or takes it. */
bool do_broken(void)
{
	size_t from = NLMSG_HDRLEN + GENL_HDRLEN, at;
	bool taken;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_NEW + below(5), NLM_F_CREATE);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, stranger.name);
	put_prefixes(&stranger);
	nl_put_u32(&message, TCP_CIRCUIT_A_WINDOW, 1 + below(1000));
	nl_put_u64(&message, TCP_CIRCUIT_A_RATE, below(1 << 30));
	at = from + below(message.header.nlmsg_len - from);
	if (below(2))
		message.bytes[at] ^= 1 << below(8);
	else
		message.header.nlmsg_len = at;
	taken = !nl_talk(&nl, &message, NULL, NULL);
	if (taken && !nobody)
		remove_stranger();
	return taken;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Events: one for each change, which says what GET says
 */
#include <poll.h>

#include "test.h"

bool event_waits(void)
{
	struct pollfd pfd = { .fd = nl.fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

/* The next one's command, and what it says; 0: none */
int next_event(struct nl *listener, struct answers *a)
{
	static char bytes[NL_ANSWER_MAX]
		__attribute__((aligned(__alignof__(struct nlmsghdr))));
	struct pollfd pfd = { .fd = listener->fd, .events = POLLIN };
	struct nlmsghdr *h = (void *)bytes;

	a->len = 0;
	a->count = 0;
	if (poll(&pfd, 1, 500) <= 0 ||
	    recv(listener->fd, bytes, sizeof(bytes), 0) <= 0)
		return 0;
	keep(h, a);
	return nl_command(h);
}

void check_events(void)
{
	static struct answers event, circuit;
	struct nl listener;

	if (nl_open(&listener, TCP_CIRCUIT_GENL_NAME))
		bail("a second socket");
	same_error("subscribe", 0, -nl_join(&listener, TCP_CIRCUIT_MCGRP_EVENTS));
	make_two();
	get("name=wave", &circuit);
	same("event: added", TCP_CIRCUIT_CMD_ADDED_NTF,
	     next_event(&listener, &event));
	same("event: added, as get has it", 1, equal_answers(&event, &circuit));
	same("event: the second", TCP_CIRCUIT_CMD_ADDED_NTF,
	     next_event(&listener, &event));
	must(NEW, NLM_F_REPLACE, "name=wave prefix=192.0.2.0/25 window=7 flags=2");
	get("name=wave", &circuit);
	same("event: changed", TCP_CIRCUIT_CMD_CHANGED_NTF,
	     next_event(&listener, &event));
	same("event: changed, as get has it now", 1,
	     equal_answers(&event, &circuit));
	request(NEW, NLM_F_CREATE, "name=wave mark=0" WHERE);
	request(NEW, NLM_F_REPLACE, "name=wave mark=7 window=9" WHERE);
	request(DEL, 0, "name=x");
	drop("wave");
	same("event: removed, and none for what was refused",
	     TCP_CIRCUIT_CMD_REMOVED_NTF, next_event(&listener, &event));
	same("event: removed, as it was", 1, equal_answers(&event, &circuit));
	must(RESET, 0, "");
	drop("sat");
	same("event: the second removed, and none of a reset of nothing",
	     TCP_CIRCUIT_CMD_REMOVED_NTF, next_event(&listener, &event));
	same("event: no more", 0, next_event(&listener, &event));
	close(listener.fd);
}

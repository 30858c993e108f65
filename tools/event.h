/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of circuits: one message of the module's multicast group, and what it
 * changes of what was known before.
 *
 * event_parse(): -ENOMSG, of a kind that is not known; -EBADMSG, not understood; free it in
 * both cases.
 */
#ifndef CTCP_EVENT_H
#define CTCP_EVENT_H

#include <libmnl/libmnl.h>
#include <time.h>

#include "live.h"

struct event {
	struct timespec at;
	uint8_t cmd;			/* TCP_CIRCUIT_CMD_*_NTF */
	struct live live;
	char *changes;			/* of CHANGED: "window 10 -> 20, ..."; NULL = none */
};

int event_parse(const struct nlmsghdr *nlh, struct event *ev);
void event_free(struct event *ev);
const char *event_name(uint8_t cmd);
int event_learn(struct lives *known, struct event *ev);
void event_time(const struct timespec *at, char *buf, size_t len);

#endif

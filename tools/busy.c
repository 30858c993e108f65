// SPDX-License-Identifier: GPL-2.0
/*
 * Who keeps watch from looking: see busy.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "busy.h"
#include "holder.h"

bool busy_is_to_say(struct busy *b, const char *pid, uint64_t now)
{
	if (!pid) {
		memset(b, 0, sizeof(*b));
		return false;
	}
	if (!b->since || strcmp(b->pid, pid)) {
		b->since = now;
		b->said = false;
		snprintf(b->pid, sizeof(b->pid), "%s", pid);
	}
	if (b->said || now - b->since < BUSY_LONG_US)
		return false;
	b->said = true;
	return true;
}

const char *busy_text(const struct busy *b, char *buf, size_t len)
{
	char command[COMMAND_LEN];

	if (!holder_command(atoi(b->pid), command))
		strcpy(command, "which is not seen here");
	snprintf(buf, len,
		 "process %s (%s) has held the lock for %llu s; nothing is looked at until it has ended",
		 b->pid, command, BUSY_LONG_US / 1000000);
	return buf;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What people and programs read of a change that waits for confirmation.
 */
#include <inttypes.h>

#include "print.h"

/* With what is there.  @json: which goes to stdout, and this beside it */
void print_waiting(const struct confirm *c, bool json)
{
	char text[CONFIRM_TEXT];

	if (c->deadline)
		fprintf(json ? stderr : stdout, "%s%s\n", json ? "note: " : "",
			confirm_text(c, boottime_ns(), text));
}

/* To who has made the change. */
void print_begun(const struct confirm *c)
{
	if (c->deadline)
		printf("ctcp-setup confirm keeps it, within %" PRIu64 " s; else what was before comes back\n",
		       confirm_left_s(c, boottime_ns()));
}

/* null: nothing waits */
json_t *json_confirm(const struct confirm *c)
{
	uint64_t now = boottime_ns();

	if (!c->deadline)
		return json_null();
	return json_pack("{s:s, s:I, s:i, s:s, s:s, s:I, s:b}", "user", c->user, "uid",
			 (json_int_t)c->uid, "pid", c->pid, "tty", c->tty, "command", c->command,
			 "left_us", (json_int_t)confirm_left_us(c, now), "expired",
			 confirm_is_over(c, now));
}

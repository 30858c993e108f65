/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A change that waits for confirmation: until when, and whose it is.
 *
 * The model is gNMI's commit confirmed and NETCONF's (RFC 6241, 8.4): the change is made,
 * and unless it is confirmed in time what was before comes back.
 */
#ifndef CTCP_CONFIRM_H
#define CTCP_CONFIRM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIRM_TEXT 512

struct confirm {
	uint64_t deadline;	/* ns of CLOCK_BOOTTIME, 0 = nothing waits */
	uint32_t uid;		/* who logged in, where that is known */
	int pid;		/* of the command */
	char user[48];
	char tty[48];		/* "" = none */
	char command[200];
	bool reverting;		/* what was before is coming back */
};

uint64_t boottime_ns(void);
bool confirm_is_over(const struct confirm *c, uint64_t now);
bool confirm_equal(const struct confirm *a, const struct confirm *b);
uint64_t confirm_left_s(const struct confirm *c, uint64_t now);
uint64_t confirm_left_us(const struct confirm *c, uint64_t now);
const char *confirm_whose(const struct confirm *c, char buf[CONFIRM_TEXT]);
const char *confirm_text(const struct confirm *c, uint64_t now, char buf[CONFIRM_TEXT]);
void confirm_command(struct confirm *c, int argc, char **argv);
void confirm_caller(struct confirm *c);

#endif

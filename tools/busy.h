/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Another ctcp-setup that is at work for long, as watch finds it with each of its looks.
 *
 * Told apart by their process ids: a row of short commands is not one long one.
 */
#ifndef CTCP_BUSY_H
#define CTCP_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUSY_LONG_US 10000000ULL

struct busy {
	uint64_t since;		/* us, 0 = nobody is */
	char pid[16];
	bool said;
};

/* True once of each that is at work for long; @pid: NULL = nobody is */
bool busy_is_to_say(struct busy *b, const char *pid, uint64_t now);
const char *busy_text(const struct busy *b, char *buf, size_t len);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What watch says: a line each, for a person, a program and syslog.
 */
#ifndef CTCP_SAID_H
#define CTCP_SAID_H

#include <stdbool.h>
#include <stdint.h>

#include "diff.h"

struct said {
	char *text, *json;
	bool warns;
};

struct says {
	uint32_t n;
	struct said *list;
};

void say_change(struct says *s, const char *event, const struct circuit *of,
		const struct change *c, const char *why);
void say_text(struct says *s, const char *event, const char *name, const char *text);
void says_print(struct says *s, bool json);
void says_free(struct says *s);

#endif

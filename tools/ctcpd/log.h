/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon's log: lines to stderr, for systemd's journal with their priority before them
 * (sd-daemon(3): "<4>"), for a person without.
 *
 * What stays as it is, is said once: log_state() has a subject and the state that it is in,
 * and says a line only where that state is not the one of the last line of this subject, or a
 * day has gone since.  The line itself may have numbers, which change all the time.
 *
 * log_fate() decides and remembers alone, with a clock of the caller's.
 */
#ifndef CTCPD_LOG_H
#define CTCPD_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <syslog.h>

#include "recent.h"

#define LOG_AGAIN_US	86400000000ULL	/* a day */
#define LOG_HOLD_US	60000000ULL	/* a subject that comes and goes has a line a minute */
/*
 * That are remembered; the longest unsaid goes first.  Every remote is one, and there are a few
 * of the daemon's own: with fewer, each would be forgotten before its next turn, and said again.
 */
#define LOG_SUBJECTS	(65536U + 64U)

enum log_fate {
	LOG_SAY,
	LOG_SAID,	/* the last line of this subject says the same */
	LOG_HELD,	/* it says another thing, and is younger than LOG_HOLD_US: ask again */
};

struct log_memory {
	struct recent subjects;
};

void log_memory_init(struct log_memory *m);
void log_memory_free(struct log_memory *m);
/* LOG_SAY: and it counts as said.  What there is no memory for is said. */
enum log_fate log_fate(struct log_memory *m, const char *subject, const char *state,
		       uint64_t now_us);
/* Nothing was ever said of it */
bool log_is_new(const struct log_memory *m, const char *subject);
void log_forget(struct log_memory *m, const char *subject);

struct log {
	struct log_memory said;
	bool priorities;	/* before each line */
	bool debug;		/* LOG_DEBUG is said, too */
	bool quiet;		/* nothing is: for tests */
};

void log_open(struct log *l, bool debug);
void log_close(struct log *l);
/* @priority: LOG_ERR ... LOG_DEBUG of syslog(3) */
void log_say(const struct log *l, int priority, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* True: it was said */
bool log_state(struct log *l, int priority, const char *subject, const char *state,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif

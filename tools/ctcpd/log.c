// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's log: see log.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out.h"
#include "text.h"

#include "diag.h"
#include "log.h"

#define LINE_TEXT	1024	/* bytes of a line, with the NUL */
#define STATE_TEXT	24

struct subject {
	struct recent_node node;	/* the first: one is the other */
	uint64_t said_us;
	char state[STATE_TEXT];
	char name[];
};

/* --- what was said ------------------------------------------------------------- */

void log_memory_init(struct log_memory *m)
{
	recent_init(&m->subjects);
}

static void let_go(struct log_memory *m, struct recent_node *node)
{
	recent_remove(&m->subjects, node);
	free(node);
}

void log_memory_free(struct log_memory *m)
{
	while (recent_oldest(&m->subjects))
		let_go(m, recent_oldest(&m->subjects));
	recent_free(&m->subjects);
}

static void remember(struct log_memory *m, const char *name, const char *state, uint64_t now_us)
{
	size_t len = strlen(name);
	struct subject *s = calloc(1, sizeof(*s) + len + 1);

	if (!s)
		return;
	memcpy(s->name, name, len);
	s->node.key = s->name;
	s->node.len = len;
	s->said_us = now_us;
	out_copy(s->state, sizeof(s->state), state);
	if (recent_add(&m->subjects, &s->node))
		free(s);
	else if (m->subjects.n > LOG_SUBJECTS)
		let_go(m, recent_oldest(&m->subjects));
}

bool log_is_new(const struct log_memory *m, const char *subject)
{
	return !recent_peek(&m->subjects, subject, strlen(subject));
}

void log_forget(struct log_memory *m, const char *subject)
{
	struct recent_node *node = recent_peek(&m->subjects, subject, strlen(subject));

	if (node)
		let_go(m, node);
}

enum log_fate log_fate(struct log_memory *m, const char *subject, const char *state,
		       uint64_t now_us)
{
	struct subject *s = (struct subject *)recent_find(&m->subjects, subject, strlen(subject));
	uint64_t ago = s ? now_us - s->said_us : 0;

	if (!s) {
		remember(m, subject, state, now_us);
		return LOG_SAY;
	}
	if (!strncmp(s->state, state, sizeof(s->state) - 1) && ago < LOG_AGAIN_US)
		return LOG_SAID;
	if (ago < LOG_HOLD_US)
		return LOG_HELD;
	s->said_us = now_us;
	out_copy(s->state, sizeof(s->state), state);
	return LOG_SAY;
}

/* --- lines ---------------------------------------------------------------------- */

/* Is stderr the journal's stream?  sd_journal_stream_fd(3): JOURNAL_STREAM is DEVICE:INODE */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 && !fstat(fd, &st) &&
	       st.st_dev == dev && st.st_ino == ino;
}

void log_open(struct log *l, bool debug)
{
	*l = (struct log){ .debug = debug, .priorities = is_journal(STDERR_FILENO) };
	log_memory_init(&l->said);
}

void log_close(struct log *l)
{
	log_memory_free(&l->said);
}

/* One write(), so that no two lines mix; what stderr does not take is lost. */
static void put_line(const struct log *l, int priority, const char *fmt, va_list ap)
{
	char line[LINE_TEXT], text[LINE_TEXT];
	int n;

	if (l->quiet || (priority == LOG_DEBUG && !l->debug))
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	text_clean(text);
	if (l->priorities)
		n = snprintf(line, sizeof(line), "<%d>%s\n", priority, text);
	else
		n = snprintf(line, sizeof(line), "ctcpd: %s\n", text);
	if (n >= (int)sizeof(line)) {
		n = sizeof(line) - 1;
		line[n - 1] = '\n';
	}
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

void log_say(const struct log *l, int priority, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(l, priority, fmt, ap);
	va_end(ap);
}

bool log_state(struct log *l, int priority, const char *subject, const char *state,
	       const char *fmt, ...)
{
	va_list ap;

	if (log_fate(&l->said, subject, state, diag_clock()) != LOG_SAY)
		return false;
	va_start(ap, fmt);
	put_line(l, priority, fmt, ap);
	va_end(ap);
	return true;
}

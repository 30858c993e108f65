/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the log has said: stderr goes into a file for as long.
 */
#ifndef CTCPD_TEST_SAID_H
#define CTCPD_TEST_SAID_H

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#define SAID_BYTES	(1 << 20)

struct said {
	char text[SAID_BYTES];
	int stderr_before, file;
};

static inline void said_begin(struct said *s)
{
	s->stderr_before = dup(STDERR_FILENO);
	s->file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	assert_true(s->stderr_before >= 0 && s->file >= 0);
	assert_true(dup2(s->file, STDERR_FILENO) >= 0);
}

/* So far, how many lines have this */
static inline uint32_t said_times(struct said *s, const char *what)
{
	ssize_t n = pread(s->file, s->text, sizeof(s->text) - 1, 0);
	const char *at = s->text;
	uint32_t times = 0;

	assert_in_range(n, 0, sizeof(s->text) - 2);
	s->text[n] = 0;
	while ((at = strstr(at, what))) {
		times++;
		at += strlen(what);
	}
	return times;
}

/* What was said can be asked for until said_close() */
static inline void said_end(struct said *s)
{
	dup2(s->stderr_before, STDERR_FILENO);
	close(s->stderr_before);
}

static inline void said_close(struct said *s)
{
	close(s->file);
}

#endif

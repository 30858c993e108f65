/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program run to its end, its output in the files out and err of a folder.
 */
#ifndef CTCP_TEST_PROGRAM_H
#define CTCP_TEST_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* What it wrote to @name, "out" or "err" of @dir */
static inline void program_wrote(const char *dir, const char *name, char *buf, size_t size)
{
	char path[128];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(buf, 1, size - 1, f);
	buf[n] = 0;
	fclose(f);
}

/* @run: becomes the program with @args, in a child.  The child's status, as of wait() */
static inline int program_status(void (*run)(const char *args), const char *args)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		run(args);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* @want: somewhere in it; "" = nothing was written */
static inline bool program_matches(const char *got, const char *want)
{
	return *want ? !!strstr(got, want) : !*got;
}

/* An error is one line, and says whose it is: @begin. */
static inline bool program_is_error(const char *err, const char *begin)
{
	const char *end = strchr(err, '\n');

	return !strncmp(err, begin, strlen(begin)) && end && !end[1];
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rules.h: what a fuzzer reports: which rule was broken, and where in the run
 *
 * The seed and the turn repeat it: the same seed makes the same turns.  Each program
 * defines the three numbers, once.
 */
#ifndef SELFTESTS_RULES_H
#define SELFTESTS_RULES_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BROKEN_MAX	20	/* rules broken before it gives up */

extern uint64_t seed, turn, broken;

static inline void __attribute__((format(printf, 1, 2)))
rule(const char *format, ...)
{
	va_list args;

	broken++;
	va_start(args, format);
	printf("broken: seed %llu turn %llu: ", (unsigned long long)seed,
	       (unsigned long long)turn);
	vprintf(format, args);
	printf("\n");
	va_end(args);
	fflush(stdout);
	if (broken >= BROKEN_MAX)
		exit(1);
}

/* The run cannot go on; errno says why. */
static inline void bail(const char *what)
{
	printf("%s: seed %llu turn %llu: %s: %s\n",
	       program_invocation_short_name, (unsigned long long)seed,
	       (unsigned long long)turn, what, strerror(errno));
	exit(2);
}

#endif

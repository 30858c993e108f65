// SPDX-License-Identifier: GPL-2.0
/*
 * Points: what is compared, and how a child's are counted
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "../tap.h"
#include "test.h"

void point(const char *what, const char *bad)
{
	tap_point(what, bad);
}

void bail(const char *what)
{
	tap_bail(what);
}

int finish_points(void)
{
	return tap_finish();
}

void same(const char *what, uint64_t expected, uint64_t got)
{
	char bad[96] = "";

	if (expected != got)
		snprintf(bad, sizeof(bad), "expected %llu, got %llu",
			 (unsigned long long)expected, (unsigned long long)got);
	point(what, bad);
}

/* @err: 0 or an errno, of the last request */
void same_error(const char *what, int expected, int err)
{
	char bad[400] = "";

	if (expected != err)
		snprintf(bad, sizeof(bad), "expected %s, got %s (%s)",
			 expected ? strerror(expected) : "success",
			 err ? strerror(err) : "success", nl.text);
	point(what, bad);
}

void same_name(const char *what, const char *expected, const char *got)
{
	char bad[160] = "";

	if (strcmp(expected, got))
		snprintf(bad, sizeof(bad), "expected \"%s\", got \"%s\"",
			 expected, got);
	point(what, bad);
}

/* Points of a child count as ours. */
struct tally {
	int	points, failures;
};

void in_child(void (*run)(void))
{
	struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	if (tally == MAP_FAILED)
		bail("mmap");
	fflush(stdout);
	if (fork() == 0) {
		run();
		tally->points = tap_points;
		tally->failures = tap_failures;
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		bail("a child");
	tap_points = tally->points;
	tap_failures = tally->failures;
	munmap(tally, sizeof(*tally));
}

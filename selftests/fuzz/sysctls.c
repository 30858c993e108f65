// SPDX-License-Identifier: GPL-2.0
/*
 * The namespace's sysctls, and the module's parameter
 */
#include <fcntl.h>

#include "fuzz.h"

#define PARAMETER	"/sys/module/tcp_circuit/parameters/fcwnd"

static struct {
	const char		*name;
	unsigned long long	least, most;
} const sysctls[] = {
	{ "fcwnd", 0, TCP_CIRCUIT_WINDOW_LIMIT },
	{ "breaker", 0, 1000 },
	{ "breaker_ms", 500, 600000 },
	{ "fcwnd_max", 0, TCP_CIRCUIT_FCWND_LIMIT },
	{ "breaker_quiet", 0, 604800 },
};

/* The first of them that a phase of this kind leaves to chance */
static const unsigned int unsteady[PHASES] = {
	[STORM] = 3, [STEADY] = 1, [ANYTHING] = 0,
};

static int sysctl_fd[COUNT(sysctls)];

void open_sysctls(void)
{
	char path[80];

	for (size_t i = 0; i < COUNT(sysctls); i++) {
		snprintf(path, sizeof(path), SYSCTLS "%s", sysctls[i].name);
		sysctl_fd[i] = open(path, O_RDWR);
		if (sysctl_fd[i] < 0)
			bail(path);
	}
}

static void look_at_sysctl(int i, const char *text)
{
	char now[64] = "";
	unsigned long long v;

	if (pread(sysctl_fd[i], now, sizeof(now) - 1, 0) <= 0)
		bail(sysctls[i].name);
	v = strtoull(now, NULL, 10);
	if (v < sysctls[i].least || v > sysctls[i].most)
		rule("%s is %llu after '%s'", sysctls[i].name, v, text);
}

bool do_sysctl(void)
{
	int i = unsteady[phase] + below(COUNT(sysctls) - unsteady[phase]);
	char text[64];
	ssize_t done;
	int len;

	if (below(8))
		len = snprintf(text, sizeof(text), "%lld",
			       (long long)(below(2) ? value() : sysctls[i].most -
					   below(3) + 1));
	else
		len = snprintf(text, sizeof(text), "%llx\t -%u",
			       (unsigned long long)value(), below(9));
	done = pwrite(sysctl_fd[i], text, below(8) ? len : (int)below(64), 0);
	look_at_sysctl(i, text);
	return done > 0;
}

bool do_parameter(void)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%lld", (long long)value());
	bool done;

	if (steady || nobody)
		return false;
	done = write_file(PARAMETER, text, len) > 0;
	if (read_number(PARAMETER) > TCP_CIRCUIT_WINDOW_LIMIT)
		rule("the parameter is %llu after '%s'", read_number(PARAMETER),
		     text);
	return done;
}

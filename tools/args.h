/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line.
 */
#ifndef CTCP_ARGS_H
#define CTCP_ARGS_H

#include "circuit.h"

struct args {
	struct circuit circuit;		/* and the device, of every command */
	bool dry_run;
	bool json;
	bool quiet;
	bool force;
	bool help;
	bool version;
};

/* Which options a command takes, as bits. */
#define TAKES_CIRCUIT	1U
#define TAKES_JSON	2U
#define TAKES_FORCE	4U

int args_parse(int argc, char **argv, unsigned int takes, struct args *a,
	       struct err *e);

#endif

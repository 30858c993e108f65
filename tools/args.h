/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line.
 */
#ifndef CTCP_ARGS_H
#define CTCP_ARGS_H

#include "circuit.h"

struct args {
	struct circuit circuit;		/* and the device, of most commands */
	struct prefix peer;		/* of reset, family 0 = all */
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
#define TAKES_PEER	8U	/* an address where others take a device */

int args_parse(int argc, char **argv, unsigned int takes, struct args *a,
	       struct err *e);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line.
 */
#ifndef CTCP_ARGS_H
#define CTCP_ARGS_H

#include "circuit.h"
#include "object.h"

/* What `ctcp-setup circuit` does. */
enum circuit_verb { CIRCUIT_SET, CIRCUIT_DEL, CIRCUIT_LIST };

struct args {
	struct circuit circuit;		/* and the device, of most commands */
	struct prefix peer;		/* of reset, family 0 = none */
	char name[TCP_CIRCUIT_NAME_LEN];	/* of reset, "" = none */
	enum circuit_verb verb;		/* of circuit */
	struct object object;
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
#define TAKES_QUIET	8U
#define TAKES_DEV	16U	/* what stands there without an option */
#define TAKES_PEER	32U	/* a circuit's name or a peer's address */
#define TAKES_WORDS	64U	/* a verb and its words */

int args_parse(int argc, char **argv, unsigned int takes, struct args *a,
	       struct err *e);
void args_free(struct args *a);

#endif

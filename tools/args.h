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
	int argc;			/* as they were, for change */
	char **argv;
	int n_words;			/* that are no options: */
	const char *word;		/* the first, NULL = there is none */
	struct prefix peer;		/* of reset, family 0 = none */
	char name[TCP_CIRCUIT_NAME_LEN];	/* of reset, add, change, del; "" = none */
	const char *file;		/* of apply and diff, "-" = standard input */
	const char *target;		/* of save, NULL = standard output */
	uint64_t confirm_us;		/* within which a change is to be confirmed, 0 = need not */
	uint64_t wait_us;		/* of apply, for devices that are missing or down */
	bool partial;			/* of apply: what cannot be set up keeps no other */
	uint64_t for_us;		/* of verify --measure, 0 = as long as it likes */
	enum circuit_verb verb;		/* of circuit */
	struct object object;
	bool dry_run;
	bool json;
	bool quiet;
	bool force;
	bool all;			/* of undo */
	bool say;			/* of watch: and do not restore */
	bool measure;			/* of verify */
	bool to_given, via_given, pace_given, shaper_given, guarantee_given, prefer_given;
	bool help;
	bool version;
};

#define CIRCUITS_FILE	"/etc/ctcp-setup/circuits"	/* what ctcp-setup.service applies */

/* Which options a command takes, as bits. */
#define TAKES_CIRCUIT	1U
#define TAKES_JSON	2U
#define TAKES_FORCE	4U
#define TAKES_QUIET	8U
#define TAKES_DEV	16U	/* what stands there without an option */
#define TAKES_PEER	32U	/* a circuit's name or a peer's address */
#define TAKES_WORDS	64U	/* a verb and its words */
#define TAKES_NAME	128U	/* a circuit's name, before the device */
#define TAKES_FILE	256U
#define TAKES_ALL	512U
#define TAKES_DRY_RUN	1024U
#define TAKES_CONFIRM	2048U
#define TAKES_WAIT	4096U
#define TAKES_SAY	8192U
#define TAKES_MEASURE	16384U
#define TAKES_TARGET	32768U	/* a file that is written, or none */
#define TAKES_LINE	65536U	/* of a file or a state: what a circuit is, and nothing to do */

extern const struct circuit circuit_bare, circuit_added;

/* @preset: what the options are given over, as circuit_bare */
int args_parse(int argc, char **argv, unsigned int takes, const struct circuit *preset,
	       struct args *a, struct err *e);
void args_free(struct args *a);
bool args_is_flag(const char *word);

#endif

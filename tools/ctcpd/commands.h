/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ctcpd's commands: each gets the parsed command line and returns 0, or a sentence with -errno or
 * with EX_CONFIG (run.h).
 */
#ifndef CTCPD_COMMANDS_H
#define CTCPD_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "circuit.h"
#include "err.h"

struct options {
	const char *word;	/* what is no option, NULL = none */
	struct prefix remote;	/* of why and forget: that, read */
	bool json;
	uint64_t every_us;	/* of record: between two polls */
	uint64_t look_us;	/* between two looks, 0 = none */
	uint64_t for_us;	/* how long, 0 = until it is stopped */
	const char *config;	/* of run; NULL: CONFIG_FILE, if it is there */
	const char *socket;	/* where the daemon is asked */
	bool debug;
};

int command_run(const struct options *o, struct err *e);
int command_status(const struct options *o, struct err *e);
int command_report(const struct options *o, struct err *e);
int command_why(const struct options *o, struct err *e);
int command_forget(const struct options *o, struct err *e);
int command_record(const struct options *o, struct err *e);
int command_replay(const struct options *o, struct err *e);

#endif

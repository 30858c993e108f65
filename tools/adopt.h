/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections that belong to a circuit and run another algorithm are given circuit, each
 * in the hands of the process that has it: its socket is duplicated (pidfd_getfd(2)),
 * looked at, given TCP_CONGESTION, and closed again, which waits for nobody.  Each is a unit,
 * and nothing of it stays behind.
 */
#ifndef CTCP_ADOPT_H
#define CTCP_ADOPT_H

#include "belong.h"
#include "conn.h"
#include "holder.h"

enum fate {
	FATE_WANTED,		/* so far no process was found that has it */
	FATE_ADOPTED,
	FATE_REFUSED,		/* by the kernel */
	FATE_CIRCUIT,		/* has circuit, or circuit-reno */
	FATE_ORPHANED,		/* its process has closed it */
	FATE_UNACCEPTED,	/* in the queue of a listener */
	FATE_MPTCP,
	FATE_CLOSED,		/* in the meantime */
	FATES,
};

struct adoptee {
	struct conn conn;
	enum fate fate;
	pid_t pid;		/* of the process that has it */
	char program[PROGRAM_LEN];
	const char *step;	/* that was refused */
	int error;		/* errno of that; 0: it was given circuit, but has no window */
};

struct adoption {
	bool dry_run;		/* look for the processes only */
	uint32_t n;
	struct adoptee *list;
	uint32_t open;		/* those that a process is still looked for */
	uint32_t count[FATES];
	uint32_t blind;		/* processes that do not show what they hold */
};

enum fate fate_of(const struct conn *c);
int adoption_find(struct adoption *ad, const struct lives *ls, const struct live *of,
		  struct err *e);
int adoption_do(struct adoption *ad, struct err *e);
void adoption_free(struct adoption *ad);

#endif

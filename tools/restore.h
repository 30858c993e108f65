/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One look of watch: what the circuits want against what the kernel has, what can be set
 * again set again, and a line for each.
 */
#ifndef CTCP_RESTORE_H
#define CTCP_RESTORE_H

#include <sys/stat.h>

#include "interest.h"
#include "ledger.h"
#include "said.h"

struct watch_look {
	const struct args *args;
	struct ledger ledger;		/* what earlier looks found */
	struct interest interest;	/* what the circuits have now */
	char path[320];			/* of the state */
	struct stat state;		/* its file as the last look left it */
	struct says says;		/* to be printed when nothing is locked */
	uint32_t circuits;
	uint64_t confirm_us;		/* left to a change that waits, 0 = none */
	bool busy;			/* another ctcp-setup is at work: look again */
	char pid[16];			/* of that */
	bool refused;			/* by the kernel: not at once again */
	/* of the look under way */
	bool commanded;			/* a command ran since the last one */
	bool waits;			/* a change waits for confirmation */
	int *rootless;			/* devices whose root qdisc stays somebody else's */
	uint32_t n_rootless;
	bool locked;
	bool due;			/* there is something to do or to say */
};

bool restore_is_left(const struct watch_look *k);
int restore_look(struct watch_look *k, struct err *e);
void restore_free(struct watch_look *k);

#endif

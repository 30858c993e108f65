/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What watch does about an item that is not as it was set up.
 *
 * What was undone is set again, but not for ever: undone three times within a minute it is
 * somebody's will and stays, until a command sets it.  An item that may not be set again,
 * or cannot, is told of once for each value that it has.
 *
 *	as set up -> undone -> restored -> as set up ... -> undone the third time: left
 *	as set up -> somebody's, or refused by the kernel: open until it is as set up
 *
 * Pure: the caller has the time, in us of a clock that nobody sets.
 */
#ifndef CTCP_LEDGER_H
#define CTCP_LEDGER_H

#include "diff.h"

#define UNDONE_TIMES	3
#define UNDONE_WITHIN	60000000ULL	/* us */

enum verdict {
	VERDICT_RESTORE,
	VERDICT_LEAVE,		/* undone too often: said, and left from now on */
	VERDICT_SAY,		/* it may not be set again, or cannot */
	VERDICT_KNOWN,		/* nothing that has not been said */
};

struct drift {
	unsigned int kind;	/* enum item_kind; ITEM_KINDS: of a circuit as a whole */
	int ifindex;		/* one on a device that was made anew is another */
	const char *name;
	const char *is;
	bool stays;		/* it may not be set again */
	bool excused;		/* the kernel took it with its link, so nobody undid it */
};

struct ledger_entry {
	unsigned int kind;
	int ifindex;
	char *name;
	char *is;		/* as it was told of, NULL = it is as set up */
	uint64_t undone[UNDONE_TIMES];	/* the last ones, 0 = none */
	bool left;
	bool told;		/* that the kernel refuses it */
	bool seen;
};

struct ledger {
	uint32_t n;
	struct ledger_entry **list;
	void *tree;
};

enum verdict ledger_judge(const struct ledger *l, const struct drift *d, uint64_t now);
int ledger_note(struct ledger *l, const struct drift *d, enum verdict v, uint64_t now);
void ledger_restored(struct ledger *l, const struct drift *d);
bool ledger_refused(struct ledger *l, const struct drift *d);
void ledger_begin(struct ledger *l);
void ledger_end(struct ledger *l, bool commanded, uint64_t now);
void ledger_free(struct ledger *l);

#endif

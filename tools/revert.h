/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way back from a change that waits for confirmation.
 */
#ifndef CTCP_REVERT_H
#define CTCP_REVERT_H

#include <stdint.h>

#include "confirm.h"
#include "err.h"

struct revert {
	int lock;			/* of the state, which the caller holds */
	const struct confirm *only;	/* this change and no other; NULL = what waits */
	bool none;			/* it does not wait any more */
	uint32_t left;			/* items that did not come back, and circuits */
	struct notes notes;		/* what did not come back, and why */
};

int revert(struct revert *r, struct err *e);

#endif

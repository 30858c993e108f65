/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes, made as one: all of them, or the state before.
 */
#ifndef CTCP_COMMIT_H
#define CTCP_COMMIT_H

#include "diff.h"
#include "store.h"

struct outcome {
	uint32_t changed;	/* set */
	uint32_t in_use;	/* the module: a later undo removes it */
	uint32_t failed;	/* with @go_on: what the kernel refused */
};

int commit(struct diff *d, struct store *s, bool go_on, struct outcome *out,
	   struct notes *notes, struct err *e);

#endif

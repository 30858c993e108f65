/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes, made as one: all of them, or the state before.  -errno is that of the change or
 * the file that failed; what a rollback met is in notes.
 */
#ifndef CTCP_COMMIT_H
#define CTCP_COMMIT_H

#include "diff.h"
#include "store.h"

struct outcome {
	uint32_t changed;	/* set */
	uint32_t in_use;	/* the module: a later undo removes it */
	uint32_t failed;	/* of GO_ON: what the kernel refused */
	const struct change *refused;	/* of ALL_OR_NONE: what failed, of the diff's list */
};

enum resolve {
	ALL_OR_NONE,
	GO_ON,		/* what the kernel refuses does not keep the others */
	AT_ANY_COST,	/* nor does a state that cannot be written */
};

int commit_prepare(struct diff *d, struct store *s, bool always, struct err *e);
int commit_make(struct diff *d, struct store *s, enum resolve resolve, struct outcome *out,
		struct notes *notes, struct err *e);
int commit(struct diff *d, struct store *s, enum resolve resolve, struct outcome *out,
	   struct notes *notes, struct err *e);

#endif

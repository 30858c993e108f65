/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes, made as one: all of them, or the state before.
 */
#ifndef CTCP_APPLY_H
#define CTCP_APPLY_H

#include "changes.h"

int apply_changes(struct changes *ch, struct backend *b, struct journals *js,
		  struct notes *notes, struct err *e);

#endif

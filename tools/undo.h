/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A circuit taken back: exactly the state before it.
 */
#ifndef CTCP_UNDO_H
#define CTCP_UNDO_H

#include "journal.h"

struct undo_result {
	uint32_t restored;	/* set back */
	uint32_t already;	/* was as before */
	uint32_t handed;	/* another circuit needs it and restores it later */
	uint32_t gone;		/* with its device */
	uint32_t in_use;	/* the module: a later undo removes it */
	uint32_t left;		/* changed by somebody else */
};

void undo_rests(struct journals *js, struct backend *b, const struct journal *but,
		struct undo_result *result, struct notes *notes);
int undo_circuit(struct journals *js, struct journal *j, struct backend *b,
		 bool force, struct undo_result *result, struct notes *notes,
		 struct err *e);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A shaper for circuits that name none: the device is read, its circuits are counted,
 * and the rules of choose.h are applied.  The choice is written into the circuit, so
 * that the state has it in words and nothing changes by itself later.
 */
#ifndef CTCP_SITE_H
#define CTCP_SITE_H

#include "choose.h"
#include "nl.h"
#include "state.h"

/* Sentences "eth1: htb, why", one for each device and shaper. */
struct chosen {
	struct notes notes;
	char dev[IFNAMSIZ];	/* of the last choice */
	struct choice choice;
};

int site_choose_one(struct nl *nl, const struct state *st, struct circuit *c,
		    struct chosen *chosen, struct err *e);
int site_choose_all(struct nl *nl, const struct state *st, struct state *wanted,
		    struct chosen *chosen, struct err *e);

#endif

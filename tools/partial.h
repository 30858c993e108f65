/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ctcp-setup apply --partial: which circuits of a file are left out for now, so that they
 * do not keep the others from being set up.
 *
 * Those whose device is missing or down, before a run; and one for which a run failed,
 * which is then made again without it.  What is left out stays as it is, and is tried
 * again as soon as a device comes, or after a while.
 */
#ifndef CTCP_PARTIAL_H
#define CTCP_PARTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "state.h"

struct left_out;

struct partial {
	uint32_t n;			/* circuits of the file */
	const struct member *as_read;	/* without what a run has chosen for them */
	struct left_out *list;		/* of each */
	uint32_t n_out;			/* not as the file says, because they are left out */
	uint32_t refused;		/* in the runs since partial_begin_run() */
};

/* 0 or -ENOMEM; partial_close() in either case, and of what is zeroed */
int partial_open(struct partial *p, const struct state *file, struct err *e);
void partial_close(struct partial *p);

void partial_begin_run(struct partial *p);
/*
 * With @device all circuits of its device are.  False: circuit @i is left out already, or there
 * is no memory to do so
 */
bool partial_refused(struct partial *p, uint32_t i, bool device, const char *why);
/* The list for the next run: what is left out is REMOVING, so that nothing is done for it. */
void partial_list(const struct partial *p, struct state *wanted);
/* Each that is left out, once, and n_out */
void partial_say(struct partial *p, struct state *now);
/* Until something may have changed for one that is left out; 1: the time is over */
int partial_wait(const struct partial *p, uint64_t deadline, struct err *e);

#endif

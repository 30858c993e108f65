/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections that may last for so long and no longer, whatever they send or read meanwhile: a
 * thread shuts down those that do.  It closes none: whose they are sees that they have ended.
 *
 * All may be called by any thread.
 */
#ifndef CTCPD_LATE_H
#define CTCPD_LATE_H

#include <stdint.h>

struct late;			/* late.c */
struct late_place;

/* NULL: no memory, or no thread.  @most: at once */
struct late *late_begin(uint32_t most, uint64_t ms);
/* From now on; NULL: there are @most, and it is shut down at once */
struct late_place *late_add(struct late *l, int fd);
/* Before it is closed; NULL does nothing */
void late_drop(struct late *l, struct late_place *p);
/* NULL does nothing */
void late_end(struct late *l);

#endif

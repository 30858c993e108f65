/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two polls of a remote, or of the remotes of a subnet, make an observation of.
 *
 * Pure.  The counters of a remote are of a visit: those of another visit, and those of the first
 * poll that had it, are compared with nothing.  A poll that failed is none: what comes after it
 * spans both intervals.  Of several flows what counts is what those lost that carried most: one
 * user behind an address that others share does not have all of them paced down.
 */
#ifndef CTCPD_ACT_OBSERVE_H
#define CTCPD_ACT_OBSERVE_H

#include "remotes.h"
#include "search.h"

/*
 * @epoch: of this poll; one more with each that was read.  False: there is nothing to compare
 * with.  All but what was in force, which is the caller's to tell.
 */
bool act_observe(struct remote *r, uint64_t epoch, int64_t now, struct observation *o);
/* With all headers, as a class counts: bytes, or bytes/s */
uint64_t act_on_wire(const struct prefix *remote, const struct judgement *j, uint64_t bytes);
/* One more remote of the subnet, in the same poll */
void act_observe_add(struct observation *sum, const struct observation *o);

#endif

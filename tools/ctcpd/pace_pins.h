/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The folders of what is pinned (hands_bpf.h): below one root, one for each network namespace and
 * layout of the maps (PACE_LAYOUT), named by the namespace's cookie; of layouts behind the first
 * COOKIE-LAYOUT.
 *
 * What another version pinned in another layout it alone can go on with, or take back.  Whoever
 * removes the pins ends it for connections that begin; those that are there keep their rate.
 */
#ifndef CTCPD_PACE_PINS_H
#define CTCPD_PACE_PINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define PACE_DIR 96	/* bytes of a folder's path */

void pace_pins_name(char dir[PACE_DIR], const char *root, uint64_t cookie, unsigned int layout);
/*
 * Whether this version's are there: 1, 0.  -EOPNOTSUPP: that cannot be seen; -ESTALE: those that
 * are there are another version's
 */
int pace_pins_look(const char *root, uint64_t cookie, struct err *e);
/* Those of other versions go, as far as they can; a note of each folder that went */
void pace_pins_drop_others(const char *root, uint64_t cookie, struct notes *notes);

#endif

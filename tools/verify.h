/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The second half of verify: what the circuits carry.
 */
#ifndef CTCP_VERIFY_H
#define CTCP_VERIFY_H

#include <jansson.h>

#include "session.h"

int verify_measure(struct session *s, json_t *list, uint32_t *shorts, struct err *e);

#endif

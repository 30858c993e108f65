/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Remotes as a person or a program names them, on the command line and on the control socket.
 *
 * -EINVAL: it is none, and a sentence that names no option.  A v4-mapped address is IPv4's, as
 * that of a flow is.
 */
#ifndef CTCPD_NAMED_H
#define CTCPD_NAMED_H

#include "circuit.h"

int named_address(const char *s, struct prefix *p, struct err *e);
/* Also an address */
int named_prefix(const char *s, struct prefix *p, struct err *e);

#endif

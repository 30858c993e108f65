/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where to listen: "ADDRESS:PORT" or "[ADDRESS]:PORT".  Addresses only, as a name may lead
 * elsewhere tomorrow; and never an address left out, which would be all of this host's.
 */
#ifndef CTCPD_LISTEN_H
#define CTCPD_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "err.h"

struct listen {
	struct sockaddr_storage addr;
	socklen_t len;
	bool local;	/* of the loopback: nobody else reaches it */
};

/* -EINVAL: @s is none */
int listen_parse(const char *s, struct listen *l, struct err *e);
/* A socket that listens there, or -errno */
int listen_open(const char *s, const struct listen *l, struct err *e);

#endif

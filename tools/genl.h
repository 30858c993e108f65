/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family of the module, which has a number only while the
 * module is loaded.  -EPROTONOSUPPORT: it is not, or is too old to have the family.
 */
#ifndef CTCP_GENL_H
#define CTCP_GENL_H

#include <stdbool.h>
#include <stdint.h>

#include "nl.h"

struct genl {
	struct nl nl;
	uint16_t family;	/* its message type */
	uint32_t events;	/* its multicast group */
};

/* A circuit with as many prefixes as it may have takes less than 5 KiB. */
union genl_request {
	char space[8192];	/* the first, so that "= { 0 }" clears all of it */
	struct nlmsghdr hdr;
};

int genl_open(struct genl *g, struct err *e);
void genl_close(struct genl *g);
int genl_resolve(struct genl *g, struct err *e);
bool genl_is_resolved(const struct genl *g);
int genl_family_parse(const struct nlmsghdr *nlh, struct genl *g);
int genl_subscribe(struct genl *g, struct err *e);
bool genl_family_gone(const struct nlmsghdr *nlh);
struct nlmsghdr *genl_message(const struct genl *g, void *buf, uint8_t cmd);

#endif

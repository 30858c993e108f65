/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A circuit as the kernel has it: a name, prefixes, a window, and what else it may
 * have.  As the value of an item it is "absent" or what it has of
 *
 *	window=11163 rate=500000000 prefixes=192.0.2.0/24,2001:db8::/32 dev=eth1 mark=7 flags=1
 *
 * with the prefixes in order, so that two circuits are alike if their texts are.
 * A device that is gone has only its number, "dev=#7".
 *
 * object_get() and object_of_prefix(): -ENOENT, there is none; all that ask the module:
 * -EPROTONOSUPPORT, as genl.h has it.  object_format(): -E2BIG, more than an item holds.
 * object_parse() and object_attr(): -EBADMSG.
 */
#ifndef CTCP_OBJECT_H
#define CTCP_OBJECT_H

#include <libmnl/libmnl.h>
#include <linux/tcp_circuit.h>
#include <net/if.h>
#include <stdio.h>

#include "circuit.h"
#include "err.h"
#include "genl.h"
#include "item.h"

struct object {
	char name[TCP_CIRCUIT_NAME_LEN];	/* "" = none, a peer's own */
	uint32_t window;			/* segments */
	uint64_t rate;				/* bytes/s, 0 = none */
	uint32_t mark;				/* 0 = any */
	uint32_t flags;				/* enum tcp_circuit_flags */
	char dev[IFNAMSIZ];			/* "" = any */
	uint32_t n;
	struct prefix *prefixes;
};

void object_free(struct object *o);
int object_add_prefix(struct object *o, const struct prefix *p);
void object_sort(struct object *o);

int object_format(const struct object *o, char value[ITEM_VALUE]);
int object_parse(const char *value, struct object *o);
bool object_is(const char *now, const char *ours, bool dev_gone);

int object_from_words(int n, char **words, struct object *o, struct err *e);
void object_print_words(FILE *out, const struct object *o);
void object_print_flags(FILE *out, const struct object *o);

int object_attr(const struct nlattr *attr, struct object *o);
int object_put(struct nlmsghdr *nlh, const struct object *o, struct err *e);

int object_get(struct genl *g, const char *name, struct object *o, struct err *e);
int object_of_prefix(struct genl *g, const struct prefix *p, struct object *o, struct err *e);
int object_set(struct genl *g, const struct object *o, struct err *e);
int object_del(struct genl *g, const char *name, struct err *e);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An item: one thing of the kernel that a circuit changes, and its value as
 * text.  State, diff and commit work on items alone, through a
 * backend that gets and sets them; only the backend knows what they are.
 *
 *	kind	name				value
 *	module	tcp_circuit			absent | loaded
 *	sysctl	net.ipv4.tcp_rmem		4096 131072 6291456
 *	txqlen	eth1				1000
 *	qdisc	eth1				see qdisc.h
 *	class	eth1 c7c0:1			absent | see htb.h
 *	filter	eth1 192.0.2.0/24		absent | see filter.h
 *	circuit	eth1				absent | see object.h
 *	route	192.0.2.0/24			absent | the message in hex, see route.h
 */
#ifndef CTCP_ITEM_H
#define CTCP_ITEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "err.h"

#define ITEM_NAME	64
#define ITEM_VALUE	1024

#define ALLOWED_CC	"net.ipv4.tcp_allowed_congestion_control"
#define AVAILABLE_CC	"net.ipv4.tcp_available_congestion_control"
#define DEFAULT_CC	"net.ipv4.tcp_congestion_control"
#define FCWND_SYSCTL	"net.ipv4.tcp_circuit_fcwnd"
#define BREAKER_SYSCTL	"net.ipv4.tcp_circuit_breaker"
#define MODULE_NAME	"tcp_circuit"
#define CC_NAME		"circuit"

enum item_kind {
	ITEM_MODULE,
	ITEM_SYSCTL,
	ITEM_TXQLEN,
	ITEM_QDISC,
	ITEM_ROUTE,
	ITEM_CIRCUIT,
	ITEM_CLASS,
	ITEM_FILTER,
	ITEM_KINDS,
};

struct item_ref {
	enum item_kind kind;
	const char *name;
};

struct backend {
	/* -ENOENT: no such item here; -ENODEV: its device is gone */
	int (*get)(struct backend *b, enum item_kind kind, const char *name,
		   char value[ITEM_VALUE], struct err *e);
	/*
	 * The kernel may have several by one name (routes to one prefix), of which get() tells
	 * the one that is used.  1: @value is among them, in @found as the kernel has it; 0: it
	 * is not.
	 */
	int (*find)(struct backend *b, enum item_kind kind, const char *name,
		    const char *value, char found[ITEM_VALUE], struct err *e);
	/*
	 * @from: what is to become @value, of several by one name.
	 * 1: left as it is, @e says why (a module in use); < 0: failed
	 */
	int (*set)(struct backend *b, enum item_kind kind, const char *name,
		   const char *from, const char *value, struct err *e);
	/*
	 * For @many and more at once; 0: there is nothing faster than one after the other.
	 *
	 * ahead(): get() of these will be called, and nothing set before.  Ends with the next
	 * ahead(), also of none, and with set().
	 * post(): a set() that is not waited for; what became of it get() tells after flush().
	 */
	uint32_t many;
	void (*ahead)(struct backend *b, const struct item_ref *list, uint32_t n);
	int (*post)(struct backend *b, enum item_kind kind, const char *name,
		    const char *from, const char *value, struct err *e);
	int (*flush)(struct backend *b, struct err *e);
};

#define MANY_AT_ONCE	512	/* items at most */

bool item_goes_with_many(enum item_kind kind);
const char *item_kind_name(enum item_kind kind);
int item_kind_parse(const char *s, enum item_kind *kind);
bool item_name_is(enum item_kind kind, const char *name);
bool item_equal(enum item_kind kind, const char *name, const char *a,
		const char *b);
/*
 * @now is what get() tells.  1: @from became @value; of several by one name, somebody's that
 * is used before it does not matter.  0: it did not.
 */
int item_became(struct backend *b, enum item_kind kind, const char *name, const char *from,
		const char *value, const char *now, struct err *e);
bool has_word(const char *list, const char *word);
const char *item_describe(enum item_kind kind, const char *name,
			  const char *value, char *buf, size_t len);

#endif

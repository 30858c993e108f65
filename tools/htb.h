/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes of our root htb: one for each circuit, and one for all else.
 *
 *	htb c7c0: default ffff
 *	  c7c0:1 .. c7c0:fffe	a circuit's: rate = ceil, below it a bfifo with its limit
 *	  c7c0:ffff		all else: what is left, below it what the kernel puts there
 *
 * All of them stand side by side below the root, where nobody has anything to borrow.
 * As text, which is the value of an item "eth1 c7c0:1":
 *	absent
 *	rate R burst B quantum Q limit L	bytes/s, bytes, bytes, bytes: as planned
 *	rate R ticks T quantum Q limit L	as read: burst and cburst in ticks (qdisc.h)
 *	unfinished				without its bfifo so far
 *	other rate R ceil C quantum Q leaf KIND	changed by somebody
 * That of all else has no limit, and what is below it is nobody's business.
 *
 * class_parse() and class_minor(): -EINVAL, it is none of these.  class_read() of one that
 * is not there, or without a root of ours: absent, 0.
 */
#ifndef CTCP_HTB_H
#define CTCP_HTB_H

#include "out.h"
#include "qdisc.h"

#define CLASS_MINOR_MAX	0xfffeU		/* of a circuit's */
#define CLASS_REST	0xffffU		/* minor of the class of all else */
#define CLASS_NAME	32		/* room for "eth1 c7c0:1" */

enum class_state {
	CLASS_ABSENT,
	CLASS_OURS,
	CLASS_UNFINISHED,
	CLASS_OTHER,
};

struct htb_class {
	enum class_state state;
	uint64_t rate, ceil;	/* bytes/s; the planned one has no ceil of its own */
	uint32_t burst;		/* bytes; 0 = only ticks are known */
	uint32_t ticks;		/* the bucket, 64 ns */
	uint32_t quantum;	/* bytes that it may send in its turn */
	uint32_t limit;		/* bytes, of the bfifo; 0 = none */
	char leaf[16];		/* other, the kind of what is below it */
};

void classid_put(struct out *o, uint32_t minor);
char *class_name(char *buf, size_t len, const char *dev, uint32_t minor);
int class_minor(const char *name, uint32_t *minor);
uint32_t class_leaf_handle(uint32_t minor);

void class_format(const struct htb_class *c, char *buf, size_t len);
int class_parse(const char *text, struct htb_class *c);
bool class_text_equal(const char *a, const char *b);
void class_text_describe(const char *text, char *buf, size_t len);

void htb_put(struct nlmsghdr *nlh, const struct qdisc *q);
void htb_get(const struct nlattr *options, struct qdisc *q);
struct nlmsghdr *class_message(void *buf, int type, int ifindex, uint32_t minor);
void class_put(struct nlmsghdr *nlh, const struct htb_class *c);
struct nlmsghdr *leaf_message(void *buf, int type, int ifindex, uint32_t minor);
void leaf_put(struct nlmsghdr *nlh, uint32_t limit);

int class_read(struct nl *nl, int ifindex, uint32_t minor, struct htb_class *c,
	       struct qdisc_stats *stats, struct err *e);
int class_write(struct nl *nl, int ifindex, uint32_t minor, const struct htb_class *c,
		struct err *e);

/* As class_read(), each class of the root; @each: 0 or -errno */
int class_read_all(struct nl *nl, int ifindex,
		   int (*each)(uint32_t minor, const struct htb_class *c, void *data),
		   void *data, struct err *e);

/* Each class of the root; @each: 0 or -errno */
int class_each(struct nl *nl, int ifindex, int (*each)(uint32_t classid, void *data),
	       void *data, struct err *e);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The qdisc at the root of a device, as far as a circuit cares.
 *
 * As text, which is its value in the state:
 *	default				what the kernel put there itself, handle 0:
 *	tbf rate R burst B limit L	bytes/s, bytes, bytes: as planned
 *	tbf rate R ticks T limit L	as read: the kernel tells the bucket in
 *					ticks of 64 ns of time at that rate
 *	fq maxrate M limit P flow_limit F	bytes/s, packets, packets
 *	mq queues N fq maxrate ...	the same under each queue of a root mq
 *	mq unfinished			our own mq, not an fq under each queue
 *	htb default M			the minor of the class of all else; classes: htb.h
 *	foreign KIND HANDLE		somebody else's
 *
 * qdisc_parse(): -EINVAL, it is none of these.  qdisc_read() finds what is there, also if
 * that is nothing: default.
 */
#ifndef CTCP_QDISC_H
#define CTCP_QDISC_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nl.h"

#define OUR_MAJOR	0xc7c0U		/* tc shows our root as qdisc tbf c7c0: */
#define OUR_HANDLE	(OUR_MAJOR << 16)
#define TICK_NS		64U		/* include/net/pkt_sched.h: PSCHED_SHIFT 6 */

enum qdisc_state {
	QDISC_DEFAULT,
	QDISC_TBF,
	QDISC_FQ,
	QDISC_MQ,
	QDISC_UNFINISHED,
	QDISC_HTB,
	QDISC_FOREIGN,
};

struct qdisc {
	enum qdisc_state state;
	uint64_t rate;			/* tbf, bytes/s */
	uint32_t burst;			/* tbf, bytes; 0 = only ticks are known */
	uint32_t ticks;			/* tbf, the bucket, 64 ns */
	uint32_t limit;			/* tbf: bytes, fq: packets */
	uint32_t maxrate;		/* fq, bytes/s */
	uint32_t flow_limit;		/* fq, packets */
	uint32_t queues;		/* mq */
	uint32_t defcls;		/* htb, minor of the default class */
	uint32_t handle;		/* foreign */
	char kind[16];			/* foreign, or of the default one */
};

struct qdisc_stats {
	uint64_t bytes, packets;	/* sent */
	uint32_t drops, overlimits;
	uint32_t backlog, qlen;		/* bytes, packets */
};

uint32_t tbf_ticks(uint64_t rate, uint32_t burst);
void tbf_put(struct nlmsghdr *nlh, const struct qdisc *q);
void tbf_get(const struct nlattr *options, struct qdisc *q);
void fq_put(struct nlmsghdr *nlh, const struct qdisc *q);
void fq_get(const struct nlattr *options, struct qdisc *q);
void kind_get(const struct nlattr *attr, char kind[16]);
void stats_get(const struct nlattr *nest, struct qdisc_stats *s);

struct nlmsghdr *qdisc_message(void *buf, int type, int ifindex,
			       uint32_t parent, uint32_t handle, const char *kind);
void qdisc_format(const struct qdisc *q, char *buf, size_t len);
int qdisc_parse(const char *text, struct qdisc *q);
void qdisc_text_describe(const char *text, char *buf, size_t len);
bool qdisc_text_equal(const char *a, const char *b);

int qdisc_read(struct nl *nl, int ifindex, struct qdisc *q,
	       struct qdisc_stats *stats, struct err *e);
int qdisc_write(struct nl *nl, int ifindex, const struct qdisc *q, struct err *e);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * The options of sch_fq as netlink attributes (net/sched/sch_fq.c:
 * fq_change()): the most that one flow may send, and room in packets.
 */
#include <linux/pkt_sched.h>

#include "qdisc.h"

void fq_put(struct nlmsghdr *nlh, const struct qdisc *q)
{
	mnl_attr_put_u32(nlh, TCA_FQ_PLIMIT, q->limit);
	mnl_attr_put_u32(nlh, TCA_FQ_FLOW_PLIMIT, q->flow_limit);
	mnl_attr_put_u32(nlh, TCA_FQ_FLOW_MAX_RATE, q->maxrate);
}

void fq_get(const struct nlattr *options, struct qdisc *q)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, options) {
		if (mnl_attr_validate(attr, MNL_TYPE_U32))
			continue;
		switch (mnl_attr_get_type(attr)) {
		case TCA_FQ_PLIMIT:
			q->limit = mnl_attr_get_u32(attr);
			break;
		case TCA_FQ_FLOW_PLIMIT:
			q->flow_limit = mnl_attr_get_u32(attr);
			break;
		case TCA_FQ_FLOW_MAX_RATE:
			q->maxrate = mnl_attr_get_u32(attr);
			break;
		}
	}
}

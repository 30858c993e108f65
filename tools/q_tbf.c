// SPDX-License-Identifier: GPL-2.0
/*
 * The options of sch_tbf as netlink attributes.
 *
 * The kernel (net/sched/sch_tbf.c: tbf_change()) takes the bucket in bytes from
 * TCA_TBF_BURST and the rate from TCA_TBF_RATE64 where it passes 32 bits.  The
 * link layer is said to be Ethernet, for which no rate table is needed; tc
 * still sends one for kernels before 3.8.
 */
#include <linux/pkt_sched.h>

#include "qdisc.h"

/* burst < 2^32, so that burst x 1e9 < 2^62. */
uint32_t tbf_ticks(uint64_t rate, uint32_t burst)
{
	uint64_t ticks = rate ? burst * 1000000000ULL / rate / TICK_NS : 0;

	return ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

void tbf_put(struct nlmsghdr *nlh, const struct qdisc *q)
{
	struct tc_tbf_qopt opt = {
		.rate.linklayer = TC_LINKLAYER_ETHERNET,
		.rate.rate = q->rate > UINT32_MAX ? UINT32_MAX : (uint32_t)q->rate,
		.limit = q->limit,
		.buffer = q->burst ? tbf_ticks(q->rate, q->burst) : q->ticks,
	};

	mnl_attr_put(nlh, TCA_TBF_PARMS, sizeof(opt), &opt);
	if (q->burst)
		mnl_attr_put_u32(nlh, TCA_TBF_BURST, q->burst);
	if (q->rate > UINT32_MAX)
		mnl_attr_put_u64(nlh, TCA_TBF_RATE64, q->rate);
}

void tbf_get(const struct nlattr *options, struct qdisc *q)
{
	const struct tc_tbf_qopt *opt;
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, options) {
		switch (mnl_attr_get_type(attr)) {
		case TCA_TBF_PARMS:
			if (mnl_attr_get_payload_len(attr) < sizeof(*opt))
				break;
			opt = mnl_attr_get_payload(attr);
			if (q->rate <= UINT32_MAX)
				q->rate = opt->rate.rate;
			q->limit = opt->limit;
			q->ticks = opt->buffer;
			break;
		case TCA_TBF_RATE64:
			if (!mnl_attr_validate(attr, MNL_TYPE_U64))
				q->rate = mnl_attr_get_u64(attr);
			break;
		case TCA_TBF_BURST:
			if (!mnl_attr_validate(attr, MNL_TYPE_U32))
				q->burst = mnl_attr_get_u32(attr);
			break;
		}
	}
}

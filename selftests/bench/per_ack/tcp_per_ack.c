// SPDX-License-Identifier: GPL-2.0
/*
 * Reno as it was while Linux counted ACKs: in slow start a segment for each of them,
 * however many segments it acknowledges (T3.3-acks).  For the lab only.
 */
#include <linux/module.h>
#include <net/tcp.h>

static void per_ack_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, 1);
}

static struct tcp_congestion_ops per_ack __read_mostly = {
	.name = "per_ack",
	.owner = THIS_MODULE,
	.ssthresh = tcp_reno_ssthresh,
	.cong_avoid = per_ack_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static int __init per_ack_register(void)
{
	return tcp_register_congestion_control(&per_ack);
}

static void __exit per_ack_unregister(void)
{
	tcp_unregister_congestion_control(&per_ack);
}

module_init(per_ack_register);
module_exit(per_ack_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reno that counts ACKs, not what they acknowledge");

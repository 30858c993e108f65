// SPDX-License-Identifier: GPL-2.0
/*
 * The loopback's packets: how large, and how many are lost
 */
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "fuzz.h"

void set_mtu(int mtu)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_mtu = mtu };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFMTU, &lo))
		bail("mtu of lo");
	close(fd);
}

/* tc qdisc replace dev lo root netem limit 10000 loss @percent %, without a fork */
void set_loss(unsigned int percent)
{
	struct {
		struct nlmsghdr		head;
		struct tcmsg		tc;
		struct nlattr		kind;
		char			name[8];
		struct nlattr		options;
		struct tc_netem_qopt	netem;
	} ask = {
		.head = { sizeof(ask), RTM_NEWQDISC, NLM_F_REQUEST | NLM_F_ACK |
			  NLM_F_CREATE | NLM_F_REPLACE },
		.tc = { .tcm_ifindex = if_nametoindex("lo"),
			.tcm_parent = TC_H_ROOT },
		.kind = { sizeof(ask.kind) + sizeof(ask.name), TCA_KIND },
		.name = "netem",
		.options = { sizeof(ask.options) + sizeof(ask.netem), TCA_OPTIONS },
		.netem = { .limit = 10000, .loss = UINT32_MAX / 100 * percent },
	};
	struct {
		struct nlmsghdr	head;
		struct nlmsgerr	err;
		char		more[256];
	} answer = { .err.error = -EIO };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) != sizeof(ask) ||
	    recv(fd, &answer, sizeof(answer), 0) < 0)
		bail("netlink");
	errno = -answer.err.error;
	if (errno)
		bail("netem on lo");
	close(fd);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into tc and ip: writes the first rtnetlink message that would
 * change something to the file CTCP_CAPTURE and ends the program, so that
 * nothing ever reaches the kernel, whoever runs the test.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_change(const struct msghdr *msg)
{
	const struct nlmsghdr *nlh;

	if (!msg->msg_iovlen || msg->msg_iov[0].iov_len < sizeof(*nlh))
		return 0;
	nlh = msg->msg_iov[0].iov_base;
	return nlh->nlmsg_type == RTM_NEWQDISC || nlh->nlmsg_type == RTM_DELQDISC ||
	       nlh->nlmsg_type == RTM_NEWTCLASS || nlh->nlmsg_type == RTM_DELTCLASS ||
	       nlh->nlmsg_type == RTM_NEWTFILTER || nlh->nlmsg_type == RTM_DELTFILTER ||
	       nlh->nlmsg_type == RTM_NEWROUTE || nlh->nlmsg_type == RTM_DELROUTE;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*real)(int fd, const struct msghdr *msg, int flags);
	const char *path = getenv("CTCP_CAPTURE");
	int out;

	if (is_change(msg)) {
		out = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
		_exit(out < 0 || writev(out, msg->msg_iov, (int)msg->msg_iovlen) < 0);
	}
	*(void **)&real = dlsym(RTLD_NEXT, "sendmsg");
	return real(fd, msg, flags);
}

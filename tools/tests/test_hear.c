// SPDX-License-Identifier: GPL-2.0
/*
 * Notifications that come faster than they are read: that some are lost is noticed, and
 * each that comes later is heard; and nobody is heard but the kernel.  In a network namespace
 * of its own, which nobody needs to be root for where the machine lets users have namespaces.
 */
#include <net/if.h>
/* behind that one, which it knows of */
#include <linux/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

#include "hear.h"

#define SMALL 4096	/* bytes: a few messages */
#define FLOOD 1000

static const int groups[] = { RTNLGRP_LINK };

/* The loopback goes up or down, of which the kernel tells. */
static void set_lo(bool up)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = up ? IFF_UP : 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &req), 0);
	close(fd);
}

struct heard {
	unsigned int n;
	bool up;	/* as of the last message */
};

static int on_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct heard *h = data;

	h->n++;
	h->up = ifi->ifi_flags & IFF_UP;
	return MNL_CB_OK;
}

static bool has_come(const struct hear *h)
{
	struct pollfd fd = { .fd = hear_fd(h), .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static void open_small(struct hear *h)
{
	int size = SMALL;
	struct err e;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		skip();
	assert_int_equal(hear_open(h, groups, 1, &e), 0);
	assert_int_equal(setsockopt(hear_fd(h), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
}

static void test_each(void **state)
{
	struct heard heard = { 0 };
	struct hear h;
	struct err e;
	bool lost;

	(void)state;
	open_small(&h);
	assert_false(has_come(&h));
	set_lo(true);
	while (has_come(&h)) {
		assert_int_equal(hear_read(&h, on_link, &heard, &lost, &e), 0);
		assert_false(lost);
	}
	assert_true(heard.n && heard.up);
	hear_close(&h);
}

/* What comes between the loss and the end of what had fitted is the hard part. */
static void test_overrun(void **state)
{
	struct heard heard = { 0 };
	bool lost = false, once;
	struct hear h;
	struct err e;
	int i;

	(void)state;
	open_small(&h);
	for (i = 0; i < FLOOD; i++)
		set_lo(i & 1);
	while (has_come(&h) && !lost)
		assert_int_equal(hear_read(&h, on_link, &heard, &lost, &e), 0);
	assert_true(lost);
	assert_true(heard.n < FLOOD);
	memset(&heard, 0, sizeof(heard));
	set_lo(false);
	while (has_come(&h)) {
		assert_int_equal(hear_read(&h, on_link, &heard, &once, &e), 0);
		assert_false(once);
	}
	assert_int_not_equal(heard.n, 0);
	assert_false(heard.up);
	hear_close(&h);
}

/* The loopback is up, says somebody to all who hear of links. */
static void forge(void)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = 1 << (RTNLGRP_LINK - 1) };
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
	} m = {
		.head = { .nlmsg_len = sizeof(m), .nlmsg_type = RTM_NEWLINK },
		.link = { .ifi_index = 1, .ifi_flags = IFF_UP },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	assert_true(fd >= 0);
	assert_int_equal(sendto(fd, &m, sizeof(m), 0, (struct sockaddr *)&to, sizeof(to)),
			 sizeof(m));
	close(fd);
}

static void test_foreign(void **state)
{
	struct heard heard = { 0 };
	struct hear h;
	struct err e;
	bool lost;

	(void)state;
	open_small(&h);
	forge();
	assert_true(has_come(&h));
	assert_int_equal(hear_read(&h, on_link, &heard, &lost, &e), 0);
	assert_false(lost);
	assert_int_equal(heard.n, 0);
	assert_false(has_come(&h));
	forge();
	set_lo(true);
	set_lo(false);
	while (has_come(&h))
		assert_int_equal(hear_read(&h, on_link, &heard, &lost, &e), 0);
	assert_true(heard.n && !heard.up);
	hear_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

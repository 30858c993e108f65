// SPDX-License-Identifier: GPL-2.0
/*
 * Requests asked ahead and posted, against the kernel that runs this: links and routes of
 * the loopback device, which anybody may read.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

#include "ahead.h"

#define MANY	100	/* more than is asked in one datagram */
#define NO_LINK	0x7ffffff0

struct got {
	int messages;
	uint32_t to;	/* of a route */
	int ifindex;	/* of a link */
};

static int on_any(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	struct got *got = data;

	got->messages++;
	if (nlh->nlmsg_type == RTM_NEWLINK)
		got->ifindex = ((struct ifinfomsg *)mnl_nlmsg_get_payload(nlh))->ifi_index;
	if (nlh->nlmsg_type != RTM_NEWROUTE)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(struct rtmsg))
		if (mnl_attr_get_type(attr) == RTA_DST)
			got->to = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static struct nlmsghdr *route_request(union nl_request *req, uint32_t to)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(req);
	struct rtmsg *rtm;

	nlh->nlmsg_type = RTM_GETROUTE;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	rtm->rtm_family = AF_INET;
	rtm->rtm_dst_len = 32;
	mnl_attr_put_u32(nlh, RTA_DST, to);
	return nlh;
}

static struct nlmsghdr *link_request(union nl_request *req, int ifindex)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(req);
	struct ifinfomsg *ifi;

	nlh->nlmsg_type = RTM_GETLINK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = ifindex;
	return nlh;
}

static uint32_t far(uint32_t i)
{
	return htonl(0x7f000001 + i);
}

static int get_route(struct nl *nl, uint32_t i, struct got *got, struct err *e)
{
	union nl_request req;

	memset(got, 0, sizeof(*got));
	return nlm_get(nl, route_request(&req, far(i)), on_any, got, e);
}

static int get_link(struct nl *nl, int ifindex, struct got *got, struct err *e)
{
	union nl_request req;

	memset(got, 0, sizeof(*got));
	return nlm_get(nl, link_request(&req, ifindex), on_any, got, e);
}

static void assert_routes(struct nl *nl)
{
	struct got got;
	struct err e;
	uint32_t i;

	for (i = 0; i < MANY; i++) {
		assert_int_equal(get_route(nl, i, &got, &e), 0);
		assert_int_equal(got.messages, 1);
		assert_int_equal(got.to, far(i));
	}
}

static void ask_all(struct nl *nl, int expected)
{
	struct got got;
	struct err e;
	uint32_t i;

	for (i = 0; i < MANY; i++)
		assert_int_equal(get_route(nl, i, &got, &e), expected);
}

static void test_answers(void **state)
{
	struct err e = { "" }, alone = { "" };
	union nl_request req;
	struct got got;
	struct nl nl;
	uint32_t n;

	(void)state;
	assert_int_equal(nlm_open(&nl, NETLINK_ROUTE, &e), 0);
	assert_int_equal(get_link(&nl, NO_LINK, &got, &alone), -ENODEV);
	assert_int_equal(ahead_begin(&nl, &e), 0);
	ask_all(&nl, -EINPROGRESS);
	ask_all(&nl, -EINPROGRESS);
	assert_int_equal(get_link(&nl, NO_LINK, &got, &e), -EINPROGRESS);
	assert_int_equal(nlm_dump(&nl, link_request(&req, 0), on_any, &got, &e), -EINPROGRESS);
	ahead_ask(&nl, &n);
	assert_int_equal(n, MANY + 1);
	/* known by now; and one that comes of an answer */
	assert_routes(&nl);
	assert_int_equal(get_link(&nl, 1, &got, &e), -EINPROGRESS);
	ahead_ask(&nl, &n);
	assert_int_equal(n, 1);
	ahead_serve(&nl);
	assert_routes(&nl);
	assert_int_equal(get_link(&nl, 1, &got, &e), 0);
	assert_int_equal(got.ifindex, 1);
	assert_int_equal(get_link(&nl, NO_LINK, &got, &e), -ENODEV);
	assert_string_equal(e.text, alone.text);
	/* not asked for before */
	assert_int_equal(get_route(&nl, MANY, &got, &e), 0);
	assert_int_equal(got.to, far(MANY));
	ahead_end(&nl);
	assert_routes(&nl);
	nlm_close(&nl);
}

/* Answers that did not fit the socket are asked for once more, and not read as others'. */
static void test_lost(void **state)
{
	struct err e = { "" };
	int least = 1;
	struct nl nl;
	uint32_t n;

	(void)state;
	assert_int_equal(nlm_open(&nl, NETLINK_ROUTE, &e), 0);
	assert_int_equal(setsockopt(mnl_socket_get_fd(nl.sock), SOL_SOCKET, SO_RCVBUF, &least,
				    sizeof(least)), 0);
	assert_int_equal(ahead_begin(&nl, &e), 0);
	ask_all(&nl, -EINPROGRESS);
	ahead_ask(&nl, &n);
	assert_null(nl.sock);
	ahead_serve(&nl);
	assert_routes(&nl);
	ahead_end(&nl);
	nlm_close(&nl);
}

/* What answers to posted requests there are is nobody's. */
static void test_posted(void **state)
{
	struct err e = { "" };
	union nl_request req;
	struct nl nl, first;
	int i;

	(void)state;
	assert_int_equal(nlm_open(&nl, NETLINK_ROUTE, &e), 0);
	assert_int_equal(nlm_open(&first, NETLINK_ROUTE, &e), 0);
	assert_int_equal(post_begin(&first, NULL, &e), 0);
	assert_int_equal(post_begin(&nl, &first, &e), 0);
	for (i = 0; i < 10 * MANY; i++) {
		assert_int_equal(nlm_talk(&nl, link_request(&req, i % 2 ? 1 : NO_LINK), &e), 0);
		assert_int_equal(nlm_talk(&first, link_request(&req, 1), &e), 0);
	}
	assert_int_equal(post_flush(&nl, &e), 0);
	post_end(&nl);
	post_end(&first);
	assert_routes(&nl);
	assert_routes(&first);
	nlm_close(&nl);
	nlm_close(&first);
}

/* --- somebody else's words ---------------------------------------------------- */

/* Of the next request: it failed, as the kernel would say it.  0 or -errno */
static int forge(const struct nl *nl)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} m = { .head = { .nlmsg_len = sizeof(m), .nlmsg_type = NLMSG_ERROR } };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), rc;

	assert_true(fd >= 0);
	to.nl_pid = mnl_socket_get_portid(nl->sock);
	m.head.nlmsg_seq = nl->seq + 1;
	m.error.error = -EXDEV;
	rc = sendto(fd, &m, sizeof(m), 0, (struct sockaddr *)&to, sizeof(to)) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* As one that was on its way before the socket was connected */
static void forge_early(const struct nl *nl)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	assert_int_equal(connect(mnl_socket_get_fd(nl->sock), &none, sizeof(none)), 0);
	assert_int_equal(forge(nl), 0);
}

/* The owner of a network namespace may write to any netlink socket there. */
static void test_foreign(void **state)
{
	struct err e = { "" };
	struct got got;
	struct nl nl;
	uint32_t n;

	(void)state;
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		skip();
	assert_int_equal(nlm_open(&nl, NETLINK_ROUTE, &e), 0);
	assert_int_equal(forge(&nl), -ECONNREFUSED);
	forge_early(&nl);
	assert_int_equal(get_link(&nl, 1, &got, &e), 0);
	assert_int_equal(got.ifindex, 1);
	assert_int_equal(ahead_begin(&nl, &e), 0);
	assert_int_equal(get_link(&nl, 1, &got, &e), -EINPROGRESS);
	assert_int_equal(get_link(&nl, NO_LINK, &got, &e), -EINPROGRESS);
	forge_early(&nl);
	ahead_ask(&nl, &n);
	assert_int_equal(n, 2);
	assert_int_equal(get_link(&nl, 1, &got, &e), 0);
	assert_int_equal(got.ifindex, 1);
	assert_int_equal(get_link(&nl, NO_LINK, &got, &e), -ENODEV);
	ahead_end(&nl);
	nlm_close(&nl);
}

/* What had come before is not read, nor counted as an answer of libnl's. */
static void test_connected(void **state)
{
	struct err e = { "" };
	struct nl nl;
	char byte;
	int fd;

	(void)state;
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		skip();
	assert_int_equal(nlm_open(&nl, NETLINK_ROUTE, &e), 0);
	fd = mnl_socket_get_fd(nl.sock);
	forge_early(&nl);
	assert_int_equal(nlm_connect(fd), 0);
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	nlm_close(&nl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_posted),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_connected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Which connections a circuit adopts: the longest match, held against a plain search
 * over random circuits; what is read of sock_diag's messages; which are left, and why;
 * and that a socket is found in the hands of its process.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "adopt.h"

static struct prefix prefix(const char *text)
{
	struct prefix p;
	struct err e;

	assert_int_equal(parse_prefix(text, &p, &e), 0);
	return p;
}

/* --- the longest match ------------------------------------------------------ */

static void add(struct lives *ls, const char *name, const char *to, uint32_t ifindex,
		uint32_t mark)
{
	struct live l = { .ifindex = ifindex, .object.mark = mark };
	struct prefix p = prefix(to);

	strcpy(l.object.name, name);
	l.no_object = !*name;
	assert_int_equal(object_add_prefix(&l.object, &p), 0);
	assert_int_equal(lives_add(ls, &l), 0);
}

static void check_match(const struct rules *rs, const char *peer, uint32_t ifindex,
			uint32_t mark, const char *want)
{
	struct prefix p = prefix(peer);
	const struct live *got = rules_match(rs, &p, ifindex, mark);

	assert_string_equal(got ? got->object.name : "none", want);
}

static void test_match(void **state)
{
	struct lives ls = { 0 };
	struct rules rs;

	(void)state;
	add(&ls, "wide", "192.0.2.0/24", 0, 0);
	add(&ls, "half", "192.0.2.128/25", 0, 0);
	add(&ls, "one", "192.0.2.200", 0, 0);
	add(&ls, "six", "2001:db8::/32", 0, 0);
	add(&ls, "by-device", "198.51.100.0/24", 3, 0);
	add(&ls, "by-mark", "198.51.100.0/24", 0, 7);
	add(&ls, "by-both", "198.51.100.0/24", 3, 7);
	add(&ls, "longer", "198.51.100.64/26", 0, 0);
	add(&ls, "", "203.0.113.7", 0, 0);
	assert_int_equal(rules_make(&rs, &ls), 0);
	assert_true(rs.by_device);
	check_match(&rs, "192.0.2.1", 0, 0, "wide");
	check_match(&rs, "192.0.2.1", 3, 7, "wide");
	check_match(&rs, "192.0.2.129", 0, 0, "half");
	check_match(&rs, "192.0.2.200", 0, 0, "one");
	check_match(&rs, "192.0.3.1", 0, 0, "none");
	check_match(&rs, "2001:db8:7::1", 0, 0, "six");
	check_match(&rs, "2001:db9::1", 0, 0, "none");
	check_match(&rs, "198.51.100.1", 0, 0, "none");
	check_match(&rs, "198.51.100.1", 4, 8, "none");
	check_match(&rs, "198.51.100.1", 3, 8, "by-device");
	check_match(&rs, "198.51.100.1", 4, 7, "by-mark");
	check_match(&rs, "198.51.100.1", 3, 7, "by-both");
	check_match(&rs, "198.51.100.65", 3, 7, "longer");
	/* automatic circuits are no objects */
	check_match(&rs, "203.0.113.7", 0, 0, "none");
	rules_free(&rs);
	lives_free(&ls);
}

static void test_match_all(void **state)
{
	struct lives ls = { 0 };
	struct rules rs;

	(void)state;
	assert_int_equal(rules_make(&rs, &ls), 0);
	check_match(&rs, "192.0.2.1", 0, 0, "none");
	rules_free(&rs);
	add(&ls, "all", "0.0.0.0/0", 0, 0);
	assert_int_equal(rules_make(&rs, &ls), 0);
	assert_false(rs.by_device);
	check_match(&rs, "192.0.2.1", 9, 9, "all");
	check_match(&rs, "2001:db8::1", 0, 0, "none");
	rules_free(&rs);
	lives_free(&ls);
}

/* Of those that hold the peer, the most specific, by a look at each. */
static const struct live *plain_search(const struct lives *ls, const struct prefix *peer,
				       uint32_t ifindex, uint32_t mark)
{
	const struct live *best = NULL;
	uint32_t i, rank, best_rank = 0;

	for (i = 0; i < ls->n; i++) {
		const struct live *l = &ls->list[i];

		if (!prefix_holds(&l->object.prefixes[0], peer) ||
		    (l->ifindex && l->ifindex != ifindex) ||
		    (l->object.mark && l->object.mark != mark))
			continue;
		rank = 1 + l->object.prefixes[0].len * 4 + 2 * !!l->ifindex + !!l->object.mark;
		if (rank > best_rank) {
			best = l;
			best_rank = rank;
		}
	}
	return best;
}

static uint32_t draw(uint32_t below)
{
	return (uint32_t)random() % below;
}

/* Few bits differ, so that many overlap. */
static struct prefix draw_prefix(bool whole)
{
	struct prefix p = { .family = draw(2) ? AF_INET : AF_INET6 };
	unsigned int bits = p.family == AF_INET ? 32 : 128, i;

	for (i = 0; i < bits / 8; i++)
		p.addr[i] = draw(8) ? 0 : (unsigned char)draw(256);
	p.len = bits;
	if (!whole)
		prefix_cut(&p, draw(4) ? draw(bits + 1) : bits);
	return p;
}

static bool is_new(const struct lives *ls, const struct live *l)
{
	uint32_t i;

	for (i = 0; i < ls->n; i++)
		if (prefix_equal(&ls->list[i].object.prefixes[0], &l->object.prefixes[0]) &&
		    ls->list[i].ifindex == l->ifindex &&
		    ls->list[i].object.mark == l->object.mark)
			return false;
	return true;
}

static void draw_circuits(struct lives *ls, uint32_t n)
{
	while (n--) {
		struct live l = { .ifindex = draw(3), .object.mark = draw(3) };
		struct prefix p = draw_prefix(false);

		assert_int_equal(object_add_prefix(&l.object, &p), 0);
		if (is_new(ls, &l))
			assert_int_equal(lives_add(ls, &l), 0);
		else
			live_free(&l);
	}
}

static void test_match_random(void **state)
{
	struct lives ls = { 0 };
	uint32_t round, i, found = 0;
	struct rules rs;

	(void)state;
	srandom(1);
	for (round = 0; round < 50; round++) {
		draw_circuits(&ls, 100);
		assert_int_equal(rules_make(&rs, &ls), 0);
		for (i = 0; i < 200; i++) {
			struct prefix peer = draw_prefix(true);
			uint32_t dev = draw(4), mark = draw(4);
			const struct live *got = rules_match(&rs, &peer, dev, mark);

			assert_ptr_equal(got, plain_search(&ls, &peer, dev, mark));
			found += !!got;
		}
		rules_free(&rs);
		lives_free(&ls);
	}
	/* neither all nor none, or this has tested little */
	assert_in_range(found, 1000, 9000);
}

/* --- sock_diag -------------------------------------------------------------- */

static union nl_request req;

static struct nlmsghdr *conn_message(int family, const void *peer, const char *algorithm)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct inet_diag_msg *msg = mnl_nlmsg_put_extra_header(nlh, sizeof(*msg));

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	msg->idiag_family = (uint8_t)family;
	msg->idiag_state = TCP_ESTABLISHED;
	msg->id.idiag_dport = htons(5001);
	msg->id.idiag_sport = htons(40000);
	memcpy(msg->id.idiag_dst, peer, family == AF_INET ? 4 : 16);
	msg->id.idiag_if = 3;
	msg->id.idiag_cookie[0] = 0x89abcdef;
	msg->id.idiag_cookie[1] = 0x01234567;
	msg->idiag_uid = 1000;
	msg->idiag_inode = 4711;
	mnl_attr_put_strz(nlh, INET_DIAG_CONG, algorithm);
	mnl_attr_put_u32(nlh, INET_DIAG_MARK, 7);
	/* of a newer kernel */
	mnl_attr_put_u32(nlh, 250, 1);
	return nlh;
}

static void put_ulp(struct nlmsghdr *nlh, const char *name)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, INET_DIAG_ULP_INFO);

	mnl_attr_put_strz(nlh, INET_ULP_INFO_NAME, name);
	mnl_attr_nest_end(nlh, nest);
}

static void test_conn(void **state)
{
	static const unsigned char addr[] = { 192, 0, 2, 7 };
	struct prefix want = prefix("192.0.2.7");
	struct nlmsghdr *nlh;
	struct conn c;

	(void)state;
	assert_int_equal(conn_parse(conn_message(AF_INET, addr, "cubic"), &c), 0);
	assert_true(prefix_equal(&c.peer, &want));
	assert_int_equal(c.peer_port, 5001);
	assert_int_equal(c.local_port, 40000);
	assert_int_equal(c.state, TCP_ESTABLISHED);
	assert_int_equal(c.ifindex, 3);
	assert_int_equal(c.mark, 7);
	assert_int_equal(c.uid, 1000);
	assert_int_equal(c.inode, 4711);
	assert_true(c.cookie == 0x0123456789abcdefULL);
	assert_string_equal(c.algorithm, "cubic");
	assert_false(c.mptcp);
	nlh = conn_message(AF_INET, addr, "cubic");
	put_ulp(nlh, "tls");
	assert_int_equal(conn_parse(nlh, &c), 0);
	assert_false(c.mptcp);
	nlh = conn_message(AF_INET, addr, "cubic");
	put_ulp(nlh, "mptcp");
	assert_int_equal(conn_parse(nlh, &c), 0);
	assert_true(c.mptcp);
}

/* On an IPv6 socket, an IPv6 peer and a v4-mapped one */
static void test_conn_v6(void **state)
{
	static const unsigned char mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2, 7 };
	static const unsigned char six[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	struct prefix want4 = prefix("192.0.2.7"), want6 = prefix("2001:db8::1");
	struct conn c;

	(void)state;
	assert_int_equal(conn_parse(conn_message(AF_INET6, mapped, "reno"), &c), 0);
	assert_true(prefix_equal(&c.peer, &want4));
	assert_int_equal(conn_parse(conn_message(AF_INET6, six, "reno"), &c), 0);
	assert_true(prefix_equal(&c.peer, &want6));
	assert_int_equal(conn_parse(conn_message(AF_UNIX, six, "reno"), &c), -EBADMSG);
	/* the longest name, and one that is none */
	assert_int_equal(conn_parse(conn_message(AF_INET6, six, "fifteen-letters"), &c), 0);
	assert_int_equal(conn_parse(conn_message(AF_INET6, six, "sixteen--letters"), &c),
			 -EBADMSG);
	assert_int_equal(conn_parse(conn_message(AF_INET6, six, "\033[2J"), &c), 0);
	assert_string_equal(c.algorithm, "?[2J");
}

/* Each bit of a message turned, and each length: it is read or refused. */
static void test_conn_changed(void **state)
{
	static const unsigned char addr[] = { 192, 0, 2, 7 };
	struct nlmsghdr *nlh = conn_message(AF_INET, addr, "cubic");
	union nl_request copy;
	struct conn c;
	size_t i, len;
	int bit, rc;

	(void)state;
	put_ulp(nlh, "mptcp");
	len = nlh->nlmsg_len;
	for (i = NLMSG_HDRLEN; i < len; i++) {
		for (bit = 0; bit < 8; bit++) {
			memcpy(&copy, &req, len);
			copy.space[i] = (char)(copy.space[i] ^ 1 << bit);
			rc = conn_parse(&copy.hdr, &c);
			assert_true(!rc || rc == -EBADMSG);
		}
		memcpy(&copy, &req, len);
		copy.hdr.nlmsg_len = (uint32_t)i;
		rc = conn_parse(&copy.hdr, &c);
		assert_true(!rc || rc == -EBADMSG);
	}
}

static void test_fate(void **state)
{
	static const struct {
		struct conn conn;
		enum fate want;
	} rows[] = {
		{ { .state = TCP_ESTABLISHED, .inode = 7, .algorithm = "cubic" }, FATE_WANTED },
		{ { .state = TCP_SYN_SENT, .inode = 7, .algorithm = "bbr" }, FATE_WANTED },
		/* shut down, and still a process's */
		{ { .state = TCP_FIN_WAIT1, .inode = 7, .algorithm = "reno" }, FATE_WANTED },
		{ { .state = TCP_ESTABLISHED, .inode = 7, .algorithm = "circuit" },
		  FATE_CIRCUIT },
		{ { .state = TCP_ESTABLISHED, .inode = 7, .algorithm = "circuit-reno" },
		  FATE_CIRCUIT },
		{ { .state = TCP_ESTABLISHED, .inode = 7, .algorithm = "circuits" },
		  FATE_WANTED },
		{ { .state = TCP_ESTABLISHED, .inode = 7, .algorithm = "cubic", .mptcp = true },
		  FATE_MPTCP },
		{ { .state = TCP_FIN_WAIT1, .algorithm = "cubic" }, FATE_ORPHANED },
		{ { .state = TCP_LAST_ACK, .algorithm = "cubic" }, FATE_ORPHANED },
		{ { .state = TCP_CLOSING, .algorithm = "cubic" }, FATE_ORPHANED },
		{ { .state = TCP_ESTABLISHED, .algorithm = "cubic" }, FATE_UNACCEPTED },
		{ { .state = TCP_CLOSE_WAIT, .algorithm = "cubic" }, FATE_UNACCEPTED },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(fate_of(&rows[i].conn), rows[i].want);
}

/* --- processes -------------------------------------------------------------- */

struct sought {
	uint32_t inode;
	int fd;
	uint32_t hits, others;
};

static bool on_holder(const struct holder *h, void *data)
{
	struct sought *s = data;

	if (h->pid == getpid() && h->inode == s->inode && h->fd == s->fd)
		s->hits++;
	else if (h->inode == s->inode)
		s->others++;
	return true;
}

static bool stop(const struct holder *h, void *data)
{
	(void)h;
	++*(uint32_t *)data;
	return false;
}

static void test_holder(void **state)
{
	struct sought s = { .fd = socket(AF_UNIX, SOCK_STREAM, 0) };
	uint32_t blind, calls = 0;
	struct stat st;
	struct err e;

	(void)state;
	assert_true(s.fd >= 0);
	assert_int_equal(fstat(s.fd, &st), 0);
	s.inode = (uint32_t)st.st_ino;
	assert_int_equal(holders_walk(on_holder, &s, &blind, &e), 0);
	assert_int_equal(s.hits, 1);
	assert_int_equal(s.others, 0);
	assert_int_equal(holders_walk(stop, &calls, &blind, &e), 0);
	assert_int_equal(calls, 1);
	close(s.fd);
}

/* A file whose path is longer than any that the kernel tells, with a lower number */
static int open_deep(const char *top)
{
	char name[201];
	int dir = open(top, O_RDONLY | O_DIRECTORY), next, i;

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	for (i = 0; i * sizeof(name) <= PATH_MAX; i++) {
		assert_int_equal(mkdirat(dir, name, 0700), 0);
		next = openat(dir, name, O_RDONLY | O_DIRECTORY);
		assert_true(next >= 0);
		close(dir);
		dir = next;
	}
	return dir;
}

/* It hides none of the sockets behind it. */
static void test_deep(void **state)
{
	char top[] = "/tmp/ctcp-adopt-XXXXXX", cmd[64];
	struct sought s = { 0 };
	uint32_t blind;
	struct stat st;
	struct err e;
	int deep;

	(void)state;
	assert_non_null(mkdtemp(top));
	deep = open_deep(top);
	s.fd = fcntl(socket(AF_UNIX, SOCK_STREAM, 0), F_DUPFD, deep + 1);
	assert_true(s.fd > deep);
	assert_int_equal(fstat(s.fd, &st), 0);
	s.inode = (uint32_t)st.st_ino;
	assert_int_equal(holders_walk(on_holder, &s, &blind, &e), 0);
	assert_int_equal(s.hits, 1);
	close(s.fd);
	close(deep);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", top);
	assert_int_equal(system(cmd), 0);
}

static void test_program(void **state)
{
	char program[PROGRAM_LEN];

	(void)state;
	holder_program(getpid(), program);
	assert_string_equal(program, "test_adopt");
	/* above the largest that a process may have, 2^22 */
	holder_program(0x7fffffff, program);
	assert_string_equal(program, "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_match_all),
		cmocka_unit_test(test_match_random),
		cmocka_unit_test(test_conn),
		cmocka_unit_test(test_conn_v6),
		cmocka_unit_test(test_conn_changed),
		cmocka_unit_test(test_fate),
		cmocka_unit_test(test_holder),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

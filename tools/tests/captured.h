/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tc and ip send, by capture.c, and whether that is what we send.
 */
#ifndef CTCP_CAPTURED_H
#define CTCP_CAPTURED_H

#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#include "print.h"

#define LO_INDEX 1

static union {
	struct nlmsghdr hdr;
	char space[8192];
} theirs;

/* Runs one line with the shim in front; false if there is no such program. */
static inline bool capture(const char *line)
{
	char path[] = "/tmp/ctcp-capture-XXXXXX", cmd[1024];
	int fd = mkstemp(path), rc;
	ssize_t n;

	assert_true(fd >= 0);
	/* without the shim root's tc would change this machine */
	assert_int_equal(access(TEST_DIR "/capture.so", R_OK), 0);
	snprintf(cmd, sizeof(cmd),
		 "PATH=$PATH:/usr/sbin:/sbin LD_PRELOAD=%s/capture.so CTCP_CAPTURE=%s %s", TEST_DIR,
		 path, line);
	rc = system(cmd);
	n = read(fd, &theirs, sizeof(theirs));
	close(fd);
	unlink(path);
	if (rc == 127 << 8)
		return false;
	if (rc || n < (ssize_t)sizeof(theirs.hdr))
		print_error("%s: rc %d, %zd bytes\n", line, rc, n);
	assert_int_equal(rc, 0);
	assert_true(n >= (ssize_t)theirs.hdr.nlmsg_len);
	return true;
}

/* What --dry-run prints for this change. */
static inline void dry_run_line(enum item_kind kind, const char *name, const char *to,
				char *line, size_t len)
{
	struct change c = { .kind = kind };

	c.name = name;
	c.from = kind == ITEM_QDISC ? "default" : "absent";
	c.to = to;
	assert_int_equal(change_commands(&c, "lo", line, len), 0);
}

static inline const struct nlattr *find(const struct nlmsghdr *nlh, size_t head, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, head)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static inline const struct nlattr *find_nested(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static inline void same_bytes(const struct nlattr *a, const struct nlattr *b)
{
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(mnl_attr_get_payload_len(a), mnl_attr_get_payload_len(b));
	assert_memory_equal(mnl_attr_get_payload(a), mnl_attr_get_payload(b),
			    mnl_attr_get_payload_len(a));
}

static inline void same_tc_head(const struct nlmsghdr *a, const struct nlmsghdr *b)
{
	const struct tcmsg *ta = mnl_nlmsg_get_payload(a), *tb = mnl_nlmsg_get_payload(b);

	assert_int_equal(a->nlmsg_type, b->nlmsg_type);
	assert_int_equal(a->nlmsg_flags & (NLM_F_CREATE | NLM_F_REPLACE | NLM_F_EXCL),
			 b->nlmsg_flags & (NLM_F_CREATE | NLM_F_REPLACE | NLM_F_EXCL));
	assert_int_equal(ta->tcm_family, tb->tcm_family);
	assert_int_equal(ta->tcm_ifindex, tb->tcm_ifindex);
	assert_int_equal(ta->tcm_parent, tb->tcm_parent);
	assert_int_equal(ta->tcm_handle, tb->tcm_handle);
	assert_int_equal(ta->tcm_info, tb->tcm_info);
	assert_string_equal(mnl_attr_get_str(find(a, sizeof(*ta), TCA_KIND)),
			    mnl_attr_get_str(find(b, sizeof(*tb), TCA_KIND)));
}

#endif

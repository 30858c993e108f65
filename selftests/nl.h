/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nl.h: generic netlink for the tests' programs, by hand: they also send what no
 * library would
 *
 *	struct nl nl;
 *	struct nl_message m;
 *
 *	if (nl_open(&nl, TCP_CIRCUIT_GENL_NAME))
 *		die("tcp_circuit");
 *	nl_begin(&nl, &m, TCP_CIRCUIT_CMD_NEW, NLM_F_CREATE);
 *	nl_put_string(&m, TCP_CIRCUIT_A_NAME, "wave");
 *	nl_put_prefix_text(&m, "192.0.2.0/24");
 *	err = nl_talk(&nl, &m, NULL, NULL);
 *	if (err)
 *		printf("%s: %s\n", strerror(-err), nl.text);
 */
#ifndef SELFTESTS_NL_H
#define SELFTESTS_NL_H

#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/tcp_circuit.h>

#define NL_MESSAGE_MAX	65536	/* bytes of one that is sent */
#define NL_ANSWER_MAX	65536	/* bytes of what is received at once */
#define NL_GROUPS_MAX	8

struct nl {
	int		fd;
	uint16_t	family;		/* id */
	uint32_t	seq;		/* of the last message */
	int		groups;
	struct {
		char		name[GENL_NAMSIZ];
		uint32_t	id;
	} group[NL_GROUPS_MAX];
	char		text[256];	/* extack of the last answer, or "" */
};

struct nl_message {
	union {
		struct nlmsghdr	header;
		char		bytes[NL_MESSAGE_MAX];
	};
};

/* What an answer is handed to; not 0: no more of them, nl_talk() returns it. */
typedef int (*nl_handler)(const struct nlmsghdr *answer, void *arg);

/* --- attributes, read -------------------------------------------------------- */

static inline const void *nl_data(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

static inline size_t nl_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

static inline int nl_type(const struct nlattr *a)
{
	return a->nla_type & NLA_TYPE_MASK;
}

/* The attribute at or behind @at, NULL at the end */
static inline const struct nlattr *nl_valid(const char *at, const char *end)
{
	const struct nlattr *a = (const void *)at;

	if (end - at < NLA_HDRLEN || a->nla_len < NLA_HDRLEN ||
	    a->nla_len > end - at)
		return NULL;
	return a;
}

static inline const struct nlattr *nl_next(const struct nlattr *a,
					   const char *end)
{
	return nl_valid((const char *)a + NLA_ALIGN(a->nla_len), end);
}

#define nl_for_each(a, from, end)					\
	for (a = nl_valid((const char *)(from), end); a; a = nl_next(a, end))

/* The attributes of an answer, and of a nest, from here to there */
static inline const char *nl_attrs(const struct nlmsghdr *h)
{
	return (const char *)h + NLMSG_HDRLEN + GENL_HDRLEN;
}

static inline const char *nl_end(const struct nlmsghdr *h)
{
	return (const char *)h + h->nlmsg_len;
}

static inline const struct nlattr *nl_find(const struct nlmsghdr *h, int type)
{
	const struct nlattr *a;

	nl_for_each(a, nl_attrs(h), nl_end(h))
		if (nl_type(a) == type)
			return a;
	return NULL;
}

static inline const struct nlattr *nl_find_in(const struct nlattr *nest, int type)
{
	const char *end = (const char *)nest + nest->nla_len;
	const struct nlattr *a;

	nl_for_each(a, nl_data(nest), end)
		if (nl_type(a) == type)
			return a;
	return NULL;
}

/* A number of 1 to 8 bytes, 0 when it is not there */
static inline uint64_t nl_number(const struct nlattr *a)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	if (!a)
		return 0;
	switch (nl_len(a)) {
	case 1:
		return *(const uint8_t *)nl_data(a);
	case 2:
		memcpy(&u16, nl_data(a), 2);
		return u16;
	case 4:
		memcpy(&u32, nl_data(a), 4);
		return u32;
	case 8:
		memcpy(&u64, nl_data(a), 8);
		return u64;
	}
	return 0;
}

static inline uint64_t nl_number_of(const struct nlmsghdr *h, int type)
{
	return nl_number(nl_find(h, type));
}

static inline uint8_t nl_command(const struct nlmsghdr *h)
{
	return ((const struct genlmsghdr *)NLMSG_DATA(h))->cmd;
}

/* --- messages, written ------------------------------------------------------- */

/* NLM_F_REQUEST and NLM_F_ACK go without saying. */
static inline void nl_begin(struct nl *nl, struct nl_message *m, uint8_t cmd,
			    uint16_t flags)
{
	struct genlmsghdr *g = NLMSG_DATA(&m->header);

	memset(m, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	m->header.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	m->header.nlmsg_type = nl->family;
	m->header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	m->header.nlmsg_seq = ++nl->seq;
	g->cmd = cmd;
	g->version = 1;
}

/* false, with errno: no room */
static inline bool nl_put(struct nl_message *m, int type, const void *data,
			  size_t len)
{
	size_t at = NLMSG_ALIGN(m->header.nlmsg_len);
	struct nlattr *a = (void *)(m->bytes + at);

	if (at + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(m->bytes)) {
		errno = EMSGSIZE;
		return false;
	}
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy(m->bytes + at + NLA_HDRLEN, data, len);
	memset(m->bytes + at + NLA_HDRLEN + len, 0, NLA_ALIGN(len) - len);
	m->header.nlmsg_len = at + NLA_HDRLEN + NLA_ALIGN(len);
	return true;
}

static inline bool nl_put_u8(struct nl_message *m, int type, uint8_t value)
{
	return nl_put(m, type, &value, sizeof(value));
}

static inline bool nl_put_u32(struct nl_message *m, int type, uint32_t value)
{
	return nl_put(m, type, &value, sizeof(value));
}

static inline bool nl_put_u64(struct nl_message *m, int type, uint64_t value)
{
	return nl_put(m, type, &value, sizeof(value));
}

static inline bool nl_put_string(struct nl_message *m, int type, const char *text)
{
	return nl_put(m, type, text, strlen(text) + 1);
}

/* Where the nest begins, for nl_nest_end() */
static inline size_t nl_nest(struct nl_message *m, int type)
{
	size_t at = NLMSG_ALIGN(m->header.nlmsg_len);

	nl_put(m, type | NLA_F_NESTED, NULL, 0);
	return at;
}

static inline void nl_nest_end(struct nl_message *m, size_t at)
{
	struct nlattr *a = (void *)(m->bytes + at);

	a->nla_len = m->header.nlmsg_len - at;
}

/* --- addresses and prefixes of circuits -------------------------------------- */

/* Its length in bytes; 0, with errno: @text is no address. */
static inline size_t nl_parse_address(const char *text, void *address)
{
	if (inet_pton(AF_INET, text, address) == 1)
		return 4;
	if (inet_pton(AF_INET6, text, address) == 1)
		return 16;
	errno = EINVAL;
	return 0;
}

/* false, with errno: no address, or no room */
static inline bool nl_put_address(struct nl_message *m, int type, const char *text)
{
	uint8_t address[16];
	size_t size = nl_parse_address(text, address);

	return size && nl_put(m, type, address, size);
}

/* @size bytes of address, the first @len bits of which count; false: no room */
static inline bool nl_put_prefix(struct nl_message *m, const void *address,
				 size_t size, uint8_t len)
{
	size_t nest = nl_nest(m, TCP_CIRCUIT_A_PREFIX);

	if (!nl_put(m, TCP_CIRCUIT_PREFIX_A_ADDRESS, address, size) ||
	    !nl_put_u8(m, TCP_CIRCUIT_PREFIX_A_LEN, len))
		return false;
	nl_nest_end(m, nest);
	return true;
}

/*
 * "ADDRESS/LENGTH", or an address alone, which is one host; false, with errno: neither,
 * or no room
 */
static inline bool nl_put_prefix_text(struct nl_message *m, const char *text)
{
	const char *slash = strchrnul(text, '/');
	char name[INET6_ADDRSTRLEN + 1];
	uint8_t address[16];
	size_t size;

	snprintf(name, sizeof(name), "%.*s", (int)(slash - text), text);
	size = nl_parse_address(name, address);
	return size && nl_put_prefix(m, address, size, *slash ?
				     strtoul(slash + 1, NULL, 10) : 8 * size);
}

/* --- the socket -------------------------------------------------------------- */

static inline int nl_send(struct nl *nl, const struct nl_message *m)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return sendto(nl->fd, m, m->header.nlmsg_len, 0, (void *)&kernel,
		      sizeof(kernel)) < 0 ? -errno : 0;
}

/* The kernel's own words, behind the error */
static inline void nl_keep_text(struct nl *nl, const struct nlmsghdr *h)
{
	const struct nlmsgerr *e = NLMSG_DATA(h);
	const char *at = (const char *)(e + 1);
	const struct nlattr *a;

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		at += NLMSG_ALIGN(e->msg.nlmsg_len) - sizeof(e->msg);
	nl_for_each(a, at, nl_end(h))
		if (nl_type(a) == NLMSGERR_ATTR_MSG)
			snprintf(nl->text, sizeof(nl->text), "%.*s",
				 (int)nl_len(a), (const char *)nl_data(a));
}

/* Of a dump, an error may stand behind its last answer, in NLMSG_DONE. */
static inline int nl_done(const struct nlmsghdr *h)
{
	int err = 0;

	if (h->nlmsg_len >= NLMSG_HDRLEN + sizeof(err))
		memcpy(&err, NLMSG_DATA(h), sizeof(err));
	return err;
}

/*
 * Answers to the last message, to the end of a dump or the acknowledgement; what
 * else comes, events, is left out.  0 or -errno, with the kernel's words in @nl->text.
 */
static inline int nl_answers(struct nl *nl, nl_handler handler, void *arg)
{
	static char answer[NL_ANSWER_MAX]
		__attribute__((aligned(__alignof__(struct nlmsghdr))));
	int err = 0;

	nl->text[0] = '\0';
	for (;;) {
		ssize_t got = recv(nl->fd, answer, sizeof(answer), 0);
		int left = got;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		for (struct nlmsghdr *h = (void *)answer; NLMSG_OK(h, left);
		     h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_seq != nl->seq)
				continue;
			if (h->nlmsg_type == NLMSG_ERROR) {
				nl_keep_text(nl, h);
				return err ? err :
				       ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			}
			if (h->nlmsg_type == NLMSG_DONE) {
				nl_keep_text(nl, h);
				return err ? err : nl_done(h);
			}
			if (handler && !err)
				err = handler(h, arg);
		}
	}
}

static inline int nl_talk(struct nl *nl, const struct nl_message *m,
			  nl_handler handler, void *arg)
{
	int err = nl_send(nl, m);

	if (err)
		nl->text[0] = '\0';
	return err ? err : nl_answers(nl, handler, arg);
}

static inline int nl_keep_family(const struct nlmsghdr *h, void *arg)
{
	const struct nlattr *groups = nl_find(h, CTRL_ATTR_MCAST_GROUPS);
	const struct nlattr *g, *name;
	struct nl *nl = arg;

	nl->family = nl_number_of(h, CTRL_ATTR_FAMILY_ID);
	if (!groups)
		return 0;
	nl_for_each(g, nl_data(groups), (const char *)groups + groups->nla_len) {
		name = nl_find_in(g, CTRL_ATTR_MCAST_GRP_NAME);
		if (!name || nl->groups == NL_GROUPS_MAX)
			continue;
		snprintf(nl->group[nl->groups].name, GENL_NAMSIZ, "%.*s",
			 (int)nl_len(name), (const char *)nl_data(name));
		nl->group[nl->groups++].id =
			nl_number(nl_find_in(g, CTRL_ATTR_MCAST_GRP_ID));
	}
	return 0;
}

/* A socket in the caller's namespace, and what the kernel calls the family */
static inline int nl_open(struct nl *nl, const char *family)
{
	static struct nl_message m;
	int one = 1, err;

	memset(nl, 0, sizeof(*nl));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return -errno;
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	nl->family = GENL_ID_CTRL;
	nl_begin(nl, &m, CTRL_CMD_GETFAMILY, 0);
	nl_put_string(&m, CTRL_ATTR_FAMILY_NAME, family);
	err = nl_talk(nl, &m, nl_keep_family, nl);
	if (err)
		close(nl->fd);
	return err;
}

static inline int nl_keep_stats(const struct nlmsghdr *h, void *arg)
{
	uint64_t *stats = arg;

	for (int i = 1; i <= TCP_CIRCUIT_STATS_A_MAX; i++)
		stats[i] = nl_number_of(h, i);
	return 0;
}

/* The counters of a namespace, by enum tcp_circuit_stats_attr: 0 or -errno */
static inline int nl_read_stats(struct nl *nl,
				uint64_t stats[TCP_CIRCUIT_STATS_A_MAX + 1])
{
	static struct nl_message m;

	nl_begin(nl, &m, TCP_CIRCUIT_CMD_STATS, 0);
	return nl_talk(nl, &m, nl_keep_stats, stats);
}

/* Receive events of @group on this socket: 0 or -errno. */
static inline int nl_join(struct nl *nl, const char *group)
{
	for (int i = 0; i < nl->groups; i++)
		if (!strcmp(nl->group[i].name, group))
			return setsockopt(nl->fd, SOL_NETLINK,
					  NETLINK_ADD_MEMBERSHIP,
					  &nl->group[i].id,
					  sizeof(nl->group[i].id)) ? -errno : 0;
	return -ENOENT;
}

#endif

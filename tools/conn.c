// SPDX-License-Identifier: GPL-2.0
/*
 * Dump connections, and ask by which device one leaves: see conn.h.
 */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <string.h>

#include "conn.h"
#include "text.h"

#define STATES	(1U << TCP_ESTABLISHED | 1U << TCP_SYN_SENT | 1U << TCP_SYN_RECV | \
		 1U << TCP_FIN_WAIT1 | 1U << TCP_CLOSE_WAIT | 1U << TCP_CLOSING | \
		 1U << TCP_LAST_ACK)

static void read_address(struct prefix *p, uint8_t family, const void *addr)
{
	static const unsigned char mapped[12] = { [10] = 0xff, 0xff };

	memset(p, 0, sizeof(*p));
	if (family == AF_INET6 && !memcmp(addr, mapped, sizeof(mapped))) {
		family = AF_INET;
		addr = (const char *)addr + sizeof(mapped);
	}
	p->family = family;
	p->len = family == AF_INET ? 32 : 128;
	memcpy(p->addr, addr, p->len / 8);
}

static void read_head(const struct inet_diag_msg *msg, struct conn *c)
{
	read_address(&c->peer, msg->idiag_family, msg->id.idiag_dst);
	read_address(&c->local, msg->idiag_family, msg->id.idiag_src);
	c->peer_port = ntohs(msg->id.idiag_dport);
	c->local_port = ntohs(msg->id.idiag_sport);
	c->state = msg->idiag_state;
	c->ifindex = msg->id.idiag_if;
	c->uid = msg->idiag_uid;
	c->inode = msg->idiag_inode;
	c->cookie = msg->id.idiag_cookie[0] | (uint64_t)msg->id.idiag_cookie[1] << 32;
}

static bool is_mptcp(const struct nlattr *ulp)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, ulp)
		if (mnl_attr_get_type(attr) == INET_ULP_INFO_NAME)
			return !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) &&
			       !strcmp(mnl_attr_get_str(attr), "mptcp");
	return false;
}

static int read_attr(const struct nlattr *attr, struct conn *c)
{
	switch (mnl_attr_get_type(attr)) {
	case INET_DIAG_CONG:
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) ||
		    mnl_attr_get_payload_len(attr) > sizeof(c->algorithm))
			return -EBADMSG;
		strcpy(c->algorithm, mnl_attr_get_str(attr));
		text_clean(c->algorithm);
		break;
	case INET_DIAG_MARK:
		if (mnl_attr_validate(attr, MNL_TYPE_U32))
			return -EBADMSG;
		c->mark = mnl_attr_get_u32(attr);
		break;
	case INET_DIAG_INFO:
		conn_info(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr), c);
		break;
	case INET_DIAG_ULP_INFO:
		c->mptcp = is_mptcp(attr);
		break;
	}
	return 0;
}

/*
 * -EBADMSG: not a message about a connection.  A request, whose handshake has not
 * ended, has no algorithm.
 */
int conn_parse(const struct nlmsghdr *nlh, struct conn *c)
{
	const struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	int rc = 0;

	memset(c, 0, sizeof(*c));
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*msg) ||
	    (msg->idiag_family != AF_INET && msg->idiag_family != AF_INET6))
		return -EBADMSG;
	read_head(msg, c);
	mnl_attr_for_each(attr, nlh, sizeof(*msg))
		rc = rc ?: read_attr(attr, c);
	return rc;
}

struct reader {
	conn_fn each;
	void *data;
};

static int on_conn(const struct nlmsghdr *nlh, void *data)
{
	const struct reader *r = data;
	struct conn c;
	int rc = conn_parse(nlh, &c);

	if (!rc)
		rc = r->each(&c, r->data);
	errno = -rc;
	return rc ? MNL_CB_ERROR : MNL_CB_OK;
}

static int dump(struct nl *nl, uint8_t family, struct reader *r, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct inet_diag_req_v2 *diag = mnl_nlmsg_put_extra_header(nlh, sizeof(*diag));

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	diag->sdiag_family = family;
	diag->sdiag_protocol = IPPROTO_TCP;
	/* what the socket is a part of comes with INFO alone */
	diag->idiag_ext = 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_INFO - 1);
	diag->idiag_states = STATES;
	return nlm_dump(nl, nlh, on_conn, r, e);
}

int conns_error(int rc, const struct err *why, struct err *e)
{
	if (rc == -ENOENT || rc == -EPROTONOSUPPORT || rc == -EOPNOTSUPP)
		return err_set(e, rc,
			       "the kernel does not list TCP sockets, for which it needs CONFIG_INET_DIAG; modprobe tcp_diag, if it is a module");
	return err_set(e, rc, "cannot list TCP sockets: %s", why->text);
}

/* Each connection once; @each returns -errno to end it. */
int conns_read(conn_fn each, void *data, struct err *e)
{
	struct reader r = { each, data };
	struct err why = { "" };
	struct nl nl;
	int rc = nlm_open(&nl, NETLINK_SOCK_DIAG, &why);

	if (!rc)
		rc = dump(&nl, AF_INET, &r, &why);
	if (!rc)
		rc = dump(&nl, AF_INET6, &r, &why);
	nlm_close(&nl);
	return rc ? conns_error(rc, &why, e) : 0;
}

static void put_address(struct nlmsghdr *nlh, uint16_t type, const struct prefix *p)
{
	mnl_attr_put(nlh, type, p->len / 8, p->addr);
}

static int on_route(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct rtmsg))
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(struct rtmsg))
		if (mnl_attr_get_type(attr) == RTA_OIF && !mnl_attr_validate(attr, MNL_TYPE_U32))
			*(uint32_t *)data = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

/*
 * The device by which it leaves, 0 if there is no way.  The socket keeps the route that it
 * has found until routes change, and then finds this one.
 */
uint32_t conn_device(struct nl *nl, const struct conn *c)
{
	struct err unused = { "" };
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	uint32_t ifindex = 0;

	nlh->nlmsg_type = RTM_GETROUTE;
	rtm->rtm_family = (unsigned char)c->peer.family;
	rtm->rtm_dst_len = (unsigned char)c->peer.len;
	rtm->rtm_src_len = (unsigned char)c->local.len;
	put_address(nlh, RTA_DST, &c->peer);
	put_address(nlh, RTA_SRC, &c->local);
	mnl_attr_put_u32(nlh, RTA_UID, c->uid);
	if (c->mark)
		mnl_attr_put_u32(nlh, RTA_MARK, c->mark);
	if (c->ifindex)
		mnl_attr_put_u32(nlh, RTA_OIF, c->ifindex);
	return nlm_get(nl, nlh, on_route, &ifindex, &unused) ? 0 : ifindex;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Find the family, begin a message to it, listen to its events.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/tcp_circuit.h>

#include "genl.h"
#include "item.h"
#include "sysctl.h"

#define EVENTS_BUFFER (4 << 20)	/* bytes; some ten thousand events */

int genl_open(struct genl *g, struct err *e)
{
	g->family = 0;
	g->events = 0;
	return nlm_open(&g->nl, NETLINK_GENERIC, e);
}

void genl_close(struct genl *g)
{
	nlm_close(&g->nl);
}

static bool is_string(const struct nlattr *attr, const char *want)
{
	return !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) &&
	       !strcmp(mnl_attr_get_str(attr), want);
}

/* The number of our group, 0 of another. */
static uint32_t group_id(const struct nlattr *group)
{
	const struct nlattr *attr;
	bool ours = false;
	uint32_t id = 0;

	mnl_attr_for_each_nested(attr, group) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
			ours = is_string(attr, TCP_CIRCUIT_MCGRP_EVENTS);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID &&
			 !mnl_attr_validate(attr, MNL_TYPE_U32))
			id = mnl_attr_get_u32(attr);
	}
	return ours ? id : 0;
}

static uint32_t find_group(const struct nlattr *groups)
{
	const struct nlattr *group;
	uint32_t id = 0;

	mnl_attr_for_each_nested(group, groups)
		id = id ?: group_id(group);
	return id;
}

/* -EBADMSG: it names no family. */
int genl_family_parse(const struct nlmsghdr *nlh, struct genl *g)
{
	const struct nlattr *attr;

	g->family = 0;
	g->events = 0;
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct genlmsghdr))
		return -EBADMSG;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == CTRL_ATTR_FAMILY_ID && !mnl_attr_validate(attr, MNL_TYPE_U16))
			g->family = mnl_attr_get_u16(attr);
		if (type == CTRL_ATTR_MCAST_GROUPS)
			g->events = find_group(attr);
	}
	return g->family ? 0 : -EBADMSG;
}

static int on_family(const struct nlmsghdr *nlh, void *data)
{
	genl_family_parse(nlh, data);
	return MNL_CB_OK;
}

static struct nlmsghdr *ask_control(void *buf, uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *head;

	nlh->nlmsg_type = GENL_ID_CTRL;
	head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	head->cmd = cmd;
	head->version = 1;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, TCP_CIRCUIT_GENL_NAME);
	return nlh;
}

/* Of many requests that go at once none asks (kernel.c has asked for them). */
bool genl_is_resolved(const struct genl *g)
{
	return g->family && (g->nl.ahead || g->nl.post);
}

/*
 * Asked anew for each request, as the module may come and go.  Not asked at all
 * where there is no module: the kernel would load it, and looking changes nothing.
 */
int genl_resolve(struct genl *g, struct err *e)
{
	union nl_request req = { 0 };
	int rc;

	if (genl_is_resolved(g))
		return 0;
	if (!sysctl_exists(FCWND_SYSCTL))
		return err_set(e, -EPROTONOSUPPORT, "module %s is not loaded; modprobe %s",
			       MODULE_NAME, MODULE_NAME);
	g->family = 0;
	rc = nlm_get(&g->nl, ask_control(&req, CTRL_CMD_GETFAMILY), on_family, g, e);
	if (rc && rc != -ENOENT)
		return rc;
	if (!g->family)
		return err_set(e, -EPROTONOSUPPORT,
			       "module %s as it is loaded has no netlink family, so it is older than this ctcp-setup, %s; install and load the one of that version",
			       MODULE_NAME, CTCP_VERSION);
	return 0;
}

/* Events, and the kernel's own word when the family goes. */
int genl_subscribe(struct genl *g, struct err *e)
{
	int fd = mnl_socket_get_fd(g->nl.sock), size = EVENTS_BUFFER;
	/* the controller's only group has the number of the controller */
	int notify = GENL_ID_CTRL, events = (int)g->events;

	if (!events)
		return err_set(e, -EPROTONOSUPPORT, "module %s tells of no events", MODULE_NAME);
	/* past the machine's limit with CAP_NET_ADMIN there, else up to it */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (mnl_socket_setsockopt(g->nl.sock, NETLINK_ADD_MEMBERSHIP, &notify, sizeof(notify)) ||
	    mnl_socket_setsockopt(g->nl.sock, NETLINK_ADD_MEMBERSHIP, &events, sizeof(events)))
		return err_set(e, -errno,
			       "cannot subscribe to events, which needs CAP_NET_ADMIN in the user namespace that owns this network namespace: %s",
			       strerror(errno));
	return 0;
}

/* Of the controller's messages the one that says that our family is no more. */
bool genl_family_gone(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *head = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	if (nlh->nlmsg_type != GENL_ID_CTRL || mnl_nlmsg_get_payload_len(nlh) < sizeof(*head) ||
	    head->cmd != CTRL_CMD_DELFAMILY)
		return false;
	mnl_attr_for_each(attr, nlh, sizeof(*head))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_NAME)
			return is_string(attr, TCP_CIRCUIT_GENL_NAME);
	return false;
}

struct nlmsghdr *genl_message(const struct genl *g, void *buf, uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *head;

	nlh->nlmsg_type = g->family;
	head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	head->cmd = cmd;
	head->version = TCP_CIRCUIT_GENL_VERSION;
	return nlh;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Links through libnl-3; what it does not know in all of its versions (GSO sizes,
 * a route's lookup) through libmnl, and the speed by ethtool's ioctl, which is
 * right in any network namespace, as a mounted /sys may not be.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <net/if.h>
#include <net/if_arp.h>
/* behind the first, which it knows of */
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "fault.h"
#include "link.h"
#include "text.h"

/* linux/if_link.h may be older than the kernel that runs */
#define CTCP_IFLA_GSO_MAX_SEGS		40
#define CTCP_IFLA_GSO_MAX_SIZE		41
#define CTCP_IFLA_GSO_IPV4_MAX_SIZE	63	/* 6.3: BIG TCP for IPv4 */
#define GSO_DEFAULT			65536U	/* GSO_LEGACY_MAX_SIZE */
#define GSO_SEGS_DEFAULT		65535U

static int connect_route(struct nl_sock *sk, struct err *e)
{
	int rc = nl_connect(sk, NETLINK_ROUTE);

	if (rc < 0)
		return err_set(e, -EIO, "cannot open a netlink socket: %s", nl_geterror(rc));
	rc = nlm_connect(nl_socket_get_fd(sk));
	return rc ? err_set(e, rc, "cannot open a netlink socket: %s", strerror(-rc)) : 0;
}

static struct nl_sock *open_route_socket(struct err *e)
{
	static const struct timeval patience = { .tv_sec = 5 };
	/* libnl's 32 KiB hold no device of 300 names on 6.1; the kernel allows what it allows */
	static const int room = 1 << 20;
	struct nl_sock *sk = nl_socket_alloc();

	if (!sk) {
		err_set(e, -ENOMEM, "cannot open a netlink socket: out of memory");
		return NULL;
	}
	if (connect_route(sk, e)) {
		nl_socket_free(sk);
		return NULL;
	}
	/* before 3.5 an answer of more than 16 KiB, a device of 150 names, is cut short */
	nl_socket_enable_msg_peek(sk);
	setsockopt(nl_socket_get_fd(sk), SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	/* rtnl_link_alloc_cache() of 3.7 waits for an answer though its request was not sent */
	setsockopt(nl_socket_get_fd(sk), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return sk;
}

/* @rc: libnl's */
static int no_device(const char *dev, int rc, struct err *e)
{
	if (rc != -NLE_NODEV && rc != -NLE_OBJ_NOTFOUND)
		return err_set(e, -EIO, "cannot ask the kernel for device %s: %s", dev,
			       nl_geterror(rc));
	return err_set(e, -ENODEV,
		       "there is no device %s in this network namespace; ip link shows those there are",
		       dev);
}

/* The ports of a bridge: every link whose master it is. */
static void read_ports(struct nl_sock *sk, struct facts *f)
{
	struct nl_cache *cache;
	struct nl_object *obj;
	size_t used = 0;

	if (rtnl_link_alloc_cache(sk, AF_UNSPEC, &cache) < 0)
		return;
	for (obj = nl_cache_get_first(cache); obj; obj = nl_cache_get_next(obj)) {
		struct rtnl_link *link = (struct rtnl_link *)obj;
		const char *name = rtnl_link_get_name(link);

		if (rtnl_link_get_master(link) != f->ifindex || !name)
			continue;
		if (used + strlen(name) + 2 > sizeof(f->ports))
			break;
		used += (size_t)sprintf(f->ports + used, "%s%s", used ? " " : "", name);
	}
	text_clean(f->ports);
	nl_cache_put(cache);
}

static void read_name(struct nl_sock *sk, int ifindex, char name[IFNAMSIZ], char kind[16])
{
	struct rtnl_link *link;

	if (!ifindex || rtnl_link_get_kernel(sk, ifindex, NULL, &link) < 0)
		return;
	snprintf(name, IFNAMSIZ, "%s", rtnl_link_get_name(link) ?: "");
	text_clean(name);
	if (kind)
		snprintf(kind, 16, "%s", rtnl_link_get_type(link) ?: "");
	rtnl_link_put(link);
}

/* Kinds of devices whose ports only carry what they send, as the kernel calls them */
static bool is_aggregate(const char *kind)
{
	return !strcmp(kind, "bridge") || !strcmp(kind, "bond") || !strcmp(kind, "team");
}

#define NEST_MAX 8	/* as the kernel has it: MAX_NEST_DEV */

/* Of a port of a bond that is a port of a bridge: the bridge. */
static void read_out(struct nl_sock *sk, int master, struct facts *f)
{
	struct rtnl_link *link;
	int i;

	f->out_ifindex = f->ifindex;
	snprintf(f->out, sizeof(f->out), "%s", f->dev);
	for (i = 0; i < NEST_MAX && master; i++) {
		if (rtnl_link_get_kernel(sk, master, NULL, &link) < 0)
			return;
		if (is_aggregate(rtnl_link_get_type(link) ?: "")) {
			f->out_ifindex = master;
			snprintf(f->out, sizeof(f->out), "%s", rtnl_link_get_name(link));
		}
		master = rtnl_link_get_master(link);
		rtnl_link_put(link);
	}
}

/* Kinds of devices that send by another one, as the kernel calls them */
static bool is_stacked(const char *kind)
{
	static const char * const kinds[] = {
		"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap",
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

/* 0: it sends by itself, or by one of another network namespace. */
static int link_below(struct rtnl_link *link)
{
	int32_t netns;

	if (!is_stacked(rtnl_link_get_type(link) ?: "") ||
	    rtnl_link_get_link_netnsid(link, &netns) >= 0)
		return 0;
	return rtnl_link_get_link(link);
}

/* Down to the device whose wire it takes. */
static void read_wire(struct nl_sock *sk, struct rtnl_link *link, struct facts *f)
{
	int below = link_below(link), i;

	f->wire_ifindex = f->ifindex;
	memcpy(f->wire, f->dev, sizeof(f->wire));
	memcpy(f->wire_kind, f->kind, sizeof(f->wire_kind));
	for (i = 0; i < NEST_MAX && below; i++) {
		struct rtnl_link *one;

		if (rtnl_link_get_kernel(sk, below, NULL, &one) < 0)
			return;
		f->wire_ifindex = below;
		snprintf(f->wire, sizeof(f->wire), "%s", rtnl_link_get_name(one) ?: "");
		snprintf(f->wire_kind, sizeof(f->wire_kind), "%s", rtnl_link_get_type(one) ?: "");
		below = link_below(one);
		rtnl_link_put(one);
	}
}

static void read_link(struct nl_sock *sk, struct rtnl_link *link, struct facts *f)
{
	f->ifindex = rtnl_link_get_ifindex(link);
	snprintf(f->kind, sizeof(f->kind), "%s", rtnl_link_get_type(link) ?: "");
	f->up = rtnl_link_get_flags(link) & IFF_UP;
	f->loopback = rtnl_link_get_flags(link) & IFF_LOOPBACK;
	f->carrier = rtnl_link_get_flags(link) & IFF_LOWER_UP;
	f->mtu = rtnl_link_get_mtu(link);
	/* a VLAN's tag is put on behind its qdisc: 14 there, too */
	f->header = rtnl_link_get_arptype(link) == ARPHRD_ETHER ? 14 : 0;
	f->tx_queues = rtnl_link_get_num_tx_queues(link) ?: 1;
	f->txqlen = rtnl_link_get_txqlen(link);
	read_name(sk, rtnl_link_get_master(link), f->master, f->master_kind);
	read_out(sk, rtnl_link_get_master(link), f);
	read_name(sk, link_below(link), f->parent, NULL);
	read_wire(sk, link, f);
	if (!strcmp(f->kind, "bridge"))
		read_ports(sk, f);
}

static int on_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct facts *f = data;
	const struct nlattr *attr;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*ifi))
		return MNL_CB_OK;
	/* lost while it was asked for its speed, or come */
	f->carrier &= !!(ifi->ifi_flags & IFF_LOWER_UP);
	mnl_attr_for_each(attr, nlh, sizeof(*ifi)) {
		uint16_t type = mnl_attr_get_type(attr);
		uint32_t value;

		if (type != CTCP_IFLA_GSO_MAX_SIZE && type != CTCP_IFLA_GSO_IPV4_MAX_SIZE &&
		    type != CTCP_IFLA_GSO_MAX_SEGS)
			continue;
		if (mnl_attr_validate(attr, MNL_TYPE_U32))
			continue;
		value = mnl_attr_get_u32(attr);
		if (type == CTCP_IFLA_GSO_MAX_SEGS)
			f->gso_max_segs = value;
		else if (value > f->gso_max_size)
			f->gso_max_size = value;
	}
	return MNL_CB_OK;
}

/* The larger of IPv4's and IPv6's: either may be sent through the device. */
static int read_gso(struct nl *nl, struct facts *f, struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct ifinfomsg *ifi;
	int rc;

	nlh->nlmsg_type = RTM_GETLINK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = f->ifindex;
	rc = nlm_get(nl, nlh, on_link, f, e);
	if (!f->gso_max_size)
		f->gso_max_size = GSO_DEFAULT;
	if (!f->gso_max_segs)
		f->gso_max_segs = GSO_SEGS_DEFAULT;
	return rc;
}

/*
 * A device made of software has no speed of its own (veth says 10 Gbit/s and
 * carries any), but those that stand for a real one do.
 */
static bool speed_is_real(const char *kind)
{
	return !kind[0] || is_stacked(kind) || !strcmp(kind, "bond") || !strcmp(kind, "team");
}

static uint64_t read_speed(const char *dev)
{
	union {
		struct ethtool_link_settings link;
		/* and three masks of at most 127 words behind it */
		char space[sizeof(struct ethtool_link_settings) + 3 * 127 * sizeof(__u32)];
	} req = { .link.cmd = ETHTOOL_GLINKSETTINGS };
	struct ifreq ifr = { .ifr_data = (void *)&req };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t speed = 0;

	if (fd < 0)
		return 0;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	/* first the kernel says, negated, how many words its masks take */
	if (!ioctl(fd, SIOCETHTOOL, &ifr) && req.link.link_mode_masks_nwords < 0) {
		req.link.cmd = ETHTOOL_GLINKSETTINGS;
		req.link.link_mode_masks_nwords =
			(__s8)-req.link.link_mode_masks_nwords;
		if (!ioctl(fd, SIOCETHTOOL, &ifr) && req.link.speed != (__u32)SPEED_UNKNOWN)
			speed = req.link.speed;
	}
	close(fd);
	return speed;
}

static void read_host(struct facts *f)
{
	struct sysinfo si;

	f->page = (uint32_t)sysconf(_SC_PAGESIZE);
	if (!sysinfo(&si))
		f->ram = (uint64_t)si.totalram * si.mem_unit;
}

int facts_read(struct nl *nl, const char *dev, struct facts *f, struct err *e)
{
	struct nl_sock *sk = open_route_socket(e);
	struct rtnl_link *link;
	int rc;

	memset(f, 0, sizeof(*f));
	snprintf(f->dev, sizeof(f->dev), "%s", dev);
	if (!sk)
		return -EIO;
	rc = rtnl_link_get_kernel(sk, 0, dev, &link);
	if (rc < 0) {
		nl_socket_free(sk);
		return no_device(dev, rc, e);
	}
	read_link(sk, link, f);
	rtnl_link_put(link);
	nl_socket_free(sk);
	f->has_speed = speed_is_real(f->wire_kind);
	if (f->has_speed)
		f->speed_mbit = read_speed(f->wire);
	read_host(f);
	return read_gso(nl, f, e);
}

/*
 * A VLAN, macvlan or such above this device, which has connections of its own; "" = none.
 * Of several the first.
 */
int link_above(int ifindex, char above[IFNAMSIZ], struct err *e)
{
	struct nl_sock *sk = open_route_socket(e);
	struct nl_cache *cache;
	struct nl_object *obj;

	above[0] = 0;
	if (!sk)
		return -EIO;
	if (rtnl_link_alloc_cache(sk, AF_UNSPEC, &cache) < 0) {
		nl_socket_free(sk);
		return err_set(e, -EIO, "cannot ask the kernel for its devices");
	}
	for (obj = nl_cache_get_first(cache); obj && !above[0]; obj = nl_cache_get_next(obj)) {
		struct rtnl_link *link = (struct rtnl_link *)obj;

		if (rtnl_link_get_link(link) == ifindex &&
		    is_stacked(rtnl_link_get_type(link) ?: ""))
			snprintf(above, IFNAMSIZ, "%s", rtnl_link_get_name(link) ?: "");
	}
	text_clean(above);
	nl_cache_put(cache);
	nl_socket_free(sk);
	return 0;
}

static int take_link(const struct nlmsghdr *nlh, void *data)
{
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct ifinfomsg)) {
		errno = EBADMSG;
		return MNL_CB_ERROR;
	}
	memcpy(data, mnl_nlmsg_get_payload(nlh), sizeof(struct ifinfomsg));
	return MNL_CB_OK;
}

/* -ENODEV: there is no such device here, or @dev cannot be a name. */
static int ask_link(struct nl *nl, const char *dev, struct ifinfomsg *now)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&req);
	struct err unused = { "" };

	nlh->nlmsg_type = RTM_GETLINK;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, dev);
	mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return nlm_get(nl, nlh, take_link, now, &unused);
}

/*
 * By any name of it (IFLA_ALT_IFNAME), and not by an ioctl, which for root asks for a module
 * "netdev-DEV", and then for a module DEV, where there is no such device (dev_load()).  An
 * answer that was lost is asked for once more.
 */
static int find_link(const char *dev, struct ifinfomsg *now)
{
	struct nl nl = { .protocol = NETLINK_ROUTE };
	int rc = -EIO, tries;

	memset(now, 0, sizeof(*now));
	if (!dev[0] || strlen(dev) >= IFNAMSIZ)
		return -ENODEV;
	for (tries = 0; tries < 2 && rc && rc != -ENODEV; tries++)
		rc = ask_link(&nl, dev, now);
	nlm_close(&nl);
	return rc;
}

/* @dev may be an alternative name (IFLA_ALT_IFNAME): make it the device's own. */
void link_own_name(char dev[IFNAMSIZ])
{
	struct ifinfomsg now;
	char own[IFNAMSIZ];

	if (!find_link(dev, &now) && if_indextoname((unsigned int)now.ifi_index, own))
		memcpy(dev, own, sizeof(own));
}

/* 0 if there is no such device here, with errno. */
int link_index(const char *dev)
{
	struct ifinfomsg now;
	int rc;

	faulty_look();
	rc = find_link(dev, &now);
	errno = -rc;
	return rc ? 0 : now.ifi_index;
}

/* False also if there is no such device here. */
bool link_is_up(const char *dev)
{
	struct ifinfomsg now;

	return !find_link(dev, &now) && now.ifi_flags & IFF_UP;
}

int link_set_txqlen(const char *dev, uint32_t packets, struct err *e)
{
	struct nl_sock *sk = open_route_socket(e);
	struct rtnl_link *link, *change = NULL;
	int rc = -EIO;

	if (!sk)
		return rc;
	rc = rtnl_link_get_kernel(sk, 0, dev, &link);
	if (rc < 0) {
		rc = no_device(dev, rc, e);
		goto err_sock;
	}
	change = rtnl_link_alloc();
	if (!change) {
		rc = err_set(e, -ENOMEM, "cannot set txqueuelen of %s: out of memory", dev);
		goto err_link;
	}
	rtnl_link_set_txqlen(change, packets);
	rc = rtnl_link_change(sk, link, change, 0);
	if (rc < 0)
		rc = err_set(e, -EIO, "cannot set txqueuelen of %s to %u: %s", dev, packets,
			     nl_geterror(rc));
	rtnl_link_put(change);
err_link:
	rtnl_link_put(link);
err_sock:
	nl_socket_free(sk);
	return rc;
}

/*
 * The next hop of a new route to @want->to without --via: where the kernel would send
 * today, of several the one that it takes.
 */
int route_next_hop(struct nl *nl, const struct facts *f, struct route_want *want,
		   struct err *e)
{
	struct route now;
	char to[64];

	format_prefix(to, sizeof(to), &want->to);
	if (route_lookup(nl, &want->to, NULL, 0, &now, e))
		return err_set(e, -ENETUNREACH, "--to: there is no way to %s; --via GATEWAY says how",
			       to);
	if (route_is_local(&now))
		return err_set(e, -EINVAL,
			       "--to: %s is an address of this host; it should be one of the far side",
			       to);
	if (route_ifindex(&now) != f->out_ifindex)
		return err_set(e, -ENETUNREACH,
			       "--to: %s is not reached by %s; --via GATEWAY says how", to, f->out);
	route_gateway(&now, &want->gateway);
	return 0;
}

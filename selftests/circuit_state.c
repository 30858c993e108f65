// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_state [configured]: everything that ctcp-setup may touch in this network namespace,
 * as text; configured: what was given to its circuits alone (setup_lib.sh)
 *
 * Two of them are compared, most often equal, some thousand times in a run of the tests.  So
 * it is one program, and not tc, ip, find and sort, of which each costs more to start than all
 * of this.
 *
 * Left out is what changes by itself: counters, ages, a link's operational state and
 * carrier, numbers of circuits.  IPv6 routes of one prefix on two devices stand in the order
 * in which these came up, so they are sorted.  Of the modules ours alone: a qdisc's own
 * comes with the first of its kind and stays.
 */
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "nl.h"
#include "sock.h"

#define DEVICES_MAX	4096	/* greater than any index in a namespace of a test */
#define RUNDIR_DEPTH	16	/* descriptors for folders below $CTCP_RUNDIR */
#define MODULE		"/sys/module/tcp_circuit"
#define SYSCTLS		"/proc/sys/net/"

/* Lines that are printed in order, once all are there */
static struct {
	char	**line;
	size_t	count;
} lines;

static void keep_line(char *line)
{
	lines.line = realloc(lines.line, (lines.count + 1) * sizeof(*lines.line));
	if (!lines.line || !line)
		die("memory");
	lines.line[lines.count++] = line;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_sorted(void)
{
	if (lines.count)
		qsort(lines.line, lines.count, sizeof(*lines.line), by_text);
	for (size_t i = 0; i < lines.count; i++) {
		puts(lines.line[i]);
		free(lines.line[i]);
	}
	lines.count = 0;
}

/* --- circuits ---------------------------------------------------------------- */

/* Without " id=N" and all from " sockets=" on, which are the kernel's and not given */
static void keep_configured(const char *line)
{
	const char *id = strstr(line, " id="), *sockets = strstr(line, " sockets=");
	size_t digits;
	char *kept;

	if (!strstr(line, " auto=0 ") || !id || !sockets)
		return;
	digits = strspn(id + 4, "0123456789");
	if (asprintf(&kept, "%.*s%.*s", (int)(id - line), line,
		     (int)(sockets - id - 4 - digits), id + 4 + digits) < 0)
		die("memory");
	keep_line(kept);
}

/* What "circuit_nl dump" prints, to read; its process is *@pid. */
static FILE *circuits(pid_t *pid)
{
	char *const words[] = { "circuit_nl", "dump", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die("pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	errno = posix_spawnp(pid, words[0], &actions, NULL, words, environ);
	if (errno)
		die(words[0]);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	return fdopen(ends[0], "r");
}

/* Asked only where the module is, as the kernel might load it to answer. */
static void print_configured(void)
{
	char *line = NULL;
	size_t size = 0;
	int status;
	FILE *dump;
	pid_t pid;

	if (access(MODULE, F_OK))
		return;
	dump = circuits(&pid);
	while (getline(&line, &size, dump) > 0)
		keep_configured(line);
	free(line);
	fclose(dump);
	if (waitpid(pid, &status, 0) < 0 || status)
		exit(1);
	print_sorted();
}

/* --- netlink ----------------------------------------------------------------- */

static void print_hex(const struct nlattr *a)
{
	const uint8_t *byte = nl_data(a);

	for (size_t i = 0; i < nl_len(a); i++)
		printf("%02x", byte[i]);
}

static void print_text(const char *name, const struct nlattr *a)
{
	if (a)
		printf(" %s %.*s", name, (int)nl_len(a), (const char *)nl_data(a));
}

static void print_attribute(const char *name, const struct nlattr *a)
{
	if (!a)
		return;
	printf(" %s ", name);
	print_hex(a);
}

static void print_number(const char *name, const struct nlattr *a)
{
	if (a)
		printf(" %s %llu", name, (unsigned long long)nl_number(a));
}

/* The attribute of this type behind a fixed header of @size bytes */
static const struct nlattr *found(const struct nlmsghdr *h, size_t size, int type)
{
	const struct nlattr *a;

	nl_for_each(a, (const char *)NLMSG_DATA(h) + NLMSG_ALIGN(size), nl_end(h))
		if (nl_type(a) == type)
			return a;
	return NULL;
}

/* By index: qdiscs and routes come without the names of their devices. */
static char names[DEVICES_MAX][IFNAMSIZ];

static void keep_name(int index, const struct nlattr *name)
{
	if (index < 0 || index >= DEVICES_MAX) {
		errno = ERANGE;
		die("a device's index");
	}
	if (name)
		snprintf(names[index], IFNAMSIZ, "%s", (const char *)nl_data(name));
}

static const char *name_of(uint64_t index)
{
	return index < DEVICES_MAX ? names[index] : "";
}

static int print_link(const struct nlmsghdr *h, void *arg)
{
	const struct ifinfomsg *link = NLMSG_DATA(h);
	const size_t size = sizeof(*link);

	(void)arg;
	keep_name(link->ifi_index, found(h, size, IFLA_IFNAME));
	printf("link %d %s", link->ifi_index, name_of(link->ifi_index));
	printf(" flags %x", link->ifi_flags & ~(unsigned int)IFF_RUNNING);
	print_number("mtu", found(h, size, IFLA_MTU));
	print_text("qdisc", found(h, size, IFLA_QDISC));
	print_number("master", found(h, size, IFLA_MASTER));
	print_number("mode", found(h, size, IFLA_LINKMODE));
	print_number("group", found(h, size, IFLA_GROUP));
	print_number("txqlen", found(h, size, IFLA_TXQLEN));
	print_number("queues", found(h, size, IFLA_NUM_TX_QUEUES));
	print_attribute("address", found(h, size, IFLA_ADDRESS));
	print_text("alias", found(h, size, IFLA_IFALIAS));
	putchar('\n');
	return 0;
}

static void print_handle(const char *name, uint32_t handle)
{
	printf(" %s %x:%x", name, TC_H_MAJ(handle) >> 16, TC_H_MIN(handle));
}

static int print_qdisc(const struct nlmsghdr *h, void *arg)
{
	const struct tcmsg *qdisc = NLMSG_DATA(h);
	const size_t size = sizeof(*qdisc);

	(void)arg;
	fputs("qdisc", stdout);
	print_text("kind", found(h, size, TCA_KIND));
	print_handle("handle", qdisc->tcm_handle);
	print_handle("parent", qdisc->tcm_parent);
	printf(" dev %s refcnt %u", name_of(qdisc->tcm_ifindex), qdisc->tcm_info);
	print_attribute("options", found(h, size, TCA_OPTIONS));
	print_number("offload", found(h, size, TCA_HW_OFFLOAD));
	print_number("ingress_block", found(h, size, TCA_INGRESS_BLOCK));
	print_number("egress_block", found(h, size, TCA_EGRESS_BLOCK));
	putchar('\n');
	return 0;
}

static void append_address(FILE *to, const char *name, int family, const struct nlattr *a)
{
	char text[INET6_ADDRSTRLEN];
	size_t size = family == AF_INET ? 4 : 16;

	if (a && nl_len(a) == size && inet_ntop(family, nl_data(a), text, sizeof(text)))
		fprintf(to, " %s %s", name, text);
}

/* Those that have no word of their own here, as they come, but for what changes by itself */
static void append_others(FILE *to, const struct nlmsghdr *h)
{
	const struct rtmsg *route = NLMSG_DATA(h);
	const struct nlattr *a;

	nl_for_each(a, (const char *)route + NLMSG_ALIGN(sizeof(*route)), nl_end(h)) {
		if (nl_type(a) == RTA_CACHEINFO || nl_type(a) == RTA_EXPIRES ||
		    nl_type(a) == RTA_OIF)
			continue;
		fprintf(to, " %d=", nl_type(a));
		for (size_t i = 0; i < nl_len(a); i++)
			fprintf(to, "%02x", ((const uint8_t *)nl_data(a))[i]);
	}
}

static int keep_route(const struct nlmsghdr *h, void *arg)
{
	const struct rtmsg *route = NLMSG_DATA(h);
	const size_t size = sizeof(*route);
	char *line = NULL;
	size_t len;
	FILE *to = open_memstream(&line, &len);

	(void)arg;
	if (!to)
		die("memory");
	fputs("route", to);
	append_address(to, "to", route->rtm_family, found(h, size, RTA_DST));
	append_address(to, "via", route->rtm_family, found(h, size, RTA_GATEWAY));
	if (found(h, size, RTA_OIF))
		fprintf(to, " dev %s", name_of(nl_number(found(h, size, RTA_OIF))));
	fprintf(to, " family %d length %d/%d tos %d table %d protocol %d scope %d type %d flags %x",
		route->rtm_family, route->rtm_dst_len, route->rtm_src_len, route->rtm_tos,
		route->rtm_table, route->rtm_protocol, route->rtm_scope, route->rtm_type,
		route->rtm_flags & ~(unsigned int)RTNH_F_LINKDOWN);
	append_others(to, h);
	if (fclose(to))
		die("memory");
	keep_line(line);
	return 0;
}

/* All that the kernel has of it; a fixed header of @size bytes, of which the first is @family */
static void dump(int type, size_t size, uint8_t family, nl_handler handler)
{
	struct nl nl = { .fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) };
	static struct nl_message m;
	int err;

	if (nl.fd < 0)
		die("netlink");
	memset(&m, 0, NLMSG_SPACE(size));
	m.header.nlmsg_len = NLMSG_LENGTH(size);
	m.header.nlmsg_type = type;
	m.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	m.header.nlmsg_seq = ++nl.seq;
	*(uint8_t *)NLMSG_DATA(&m.header) = family;
	err = nl_talk(&nl, &m, handler, NULL);
	if (err) {
		errno = -err;
		die("dump");
	}
	close(nl.fd);
}

/* --- files ------------------------------------------------------------------- */

/* Each line of a sysctl as grep would print it; what cannot be read is left out. */
static void print_sysctl(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];

	while (file && fgets(line, sizeof(line), file))
		if (line[0] != '\n')
			printf("%s:%s", path + strlen(SYSCTLS), line);
	if (file)
		fclose(file);
}

static void each_path(const char *pattern, void (*print)(const char *path))
{
	glob_t paths = { 0 };

	if (!glob(pattern, 0, NULL, &paths))
		for (size_t i = 0; i < paths.gl_pathc; i++)
			print(paths.gl_pathv[i]);
	globfree(&paths);
}

static void print_module(const char *path)
{
	printf("module: %s\n", strrchr(path, '/') + 1);
}

/* A lock is no state. */
static int keep_state(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	const char *name = path + at->base;
	size_t len = strlen(name);

	(void)st;
	if (kind != FTW_F || !strcmp(name, "lock") ||
	    (!strncmp(name, "ctcpd-", 6) && len > 5 && !strcmp(name + len - 5, ".lock")))
		return 0;
	keep_line(strdup(path));
	return 0;
}

static void print_states(void)
{
	const char *folder = getenv("CTCP_RUNDIR");

	if (folder)
		nftw(folder, keep_state, RUNDIR_DEPTH, FTW_PHYS);
	print_sorted();
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "configured")) {
		print_configured();
		return 0;
	}
	each_path(MODULE "*", print_module);
	print_configured();
	dump(RTM_GETLINK, sizeof(struct ifinfomsg), AF_UNSPEC, print_link);
	dump(RTM_GETQDISC, sizeof(struct tcmsg), AF_UNSPEC, print_qdisc);
	dump(RTM_GETROUTE, sizeof(struct rtmsg), AF_INET, keep_route);
	print_sorted();
	dump(RTM_GETROUTE, sizeof(struct rtmsg), AF_INET6, keep_route);
	print_sorted();
	each_path(SYSCTLS "ipv4/tcp_*", print_sysctl);
	each_path(SYSCTLS "core/*mem*", print_sysctl);
	print_states();
	return 0;
}

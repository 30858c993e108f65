// SPDX-License-Identifier: GPL-2.0
/*
 * What the commands share: the kernel, the journals, facts -> plan -> changes.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "command.h"
#include "link.h"
#include "plan.h"
#include "sysctl.h"

/*
 * Asked of the kernel and not of the user id: root of a user namespace that
 * owns its network namespace may, root in a container without it may not.  @or:
 * what else there is to do.
 */
int need_net_admin(const char *or, struct err *e)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (!syscall(SYS_capget, &head, data) &&
	    data[CAP_NET_ADMIN / 32].effective & 1U << CAP_NET_ADMIN % 32)
		return 0;
	return err_set(e, -EPERM, "this needs CAP_NET_ADMIN; run it as root%s", or);
}

int session_open(struct session *s, const struct args *a, struct err *e)
{
	int rc;

	s->args = a;
	s->journals.lock = -1;
	snprintf(s->journals.dir, sizeof(s->journals.dir), "%s", journals_dir());
	if (strlen(journals_dir()) >= sizeof(s->journals.dir))
		return err_set(e, -ENAMETOOLONG, "CTCP_RUNDIR is longer than %zu bytes",
			       sizeof(s->journals.dir) - 1);
	rc = netns_key(s->netns);
	if (rc)
		return err_set(e, rc, "cannot tell this network namespace: %s", strerror(-rc));
	return kernel_open(&s->kernel, e);
}

/*
 * From here on this process alone changes things, and finishes what it began:
 * a signal from the terminal waits until it is done, a few milliseconds.
 */
int session_lock(struct session *s, struct err *e)
{
	sigset_t set;
	int rc;

	rc = journals_lock(&s->journals, e);
	if (rc)
		return rc;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return journals_read(&s->journals, e);
}

void session_close(struct session *s)
{
	kernel_close(&s->kernel);
	journals_free(&s->journals);
	lives_free(&s->lives);
}

/* Facts and plan; nothing is changed and no privilege needed. */
int session_plan(struct session *s, const struct circuit *c, struct err *e)
{
	int rc;

	rc = facts_read(&s->kernel.nl, c->dev, &s->facts, e);
	if (!rc)
		rc = plan_check_device(c, &s->facts, &s->notes, e);
	if (!rc)
		rc = plan_make(c, &s->facts, &s->plan, &s->notes, e);
	return rc;
}

/* The window is counted in segments of the device's MTU unless told. */
static void say_route_mtu(struct session *s, const struct circuit *c, const struct route *now)
{
	uint32_t headers = c->to.family == AF_INET6 ? TCP_IP6_HEADERS : TCP_IP4_HEADERS;
	uint32_t mtu = route_mtu(now);
	char to[64];

	if (!mtu || mtu >= s->plan.mss + headers || mtu < headers + MSS_MIN)
		return;
	note(&s->notes,
	     "the route to %s has an MTU of %u: its segments are smaller than planned; --mss %u counts them right",
	     format_prefix(to, sizeof(to), &c->to), mtu, mtu - headers);
}

/*
 * By --via a route leaves as that says, else as the one there, which on a second
 * run is ours, or as the one that covers it.
 */
static int want_route(struct session *s, const struct circuit *c, struct err *e)
{
	struct route now;
	int rc;

	s->route.to = c->to;
	s->route.ifindex = s->facts.ifindex;
	memcpy(s->route.dev, c->dev, sizeof(s->route.dev));
	s->route.via = c->via.family;
	s->route.gateway = c->via;
	rc = route_read(&s->kernel.nl, &c->to, &now, e);
	if (!rc && !now.len && !s->route.via) {
		rc = route_next_hop(&s->kernel.nl, c, &s->facts, &s->route, e);
		if (!rc)
			rc = route_lookup(&s->kernel.nl, &c->to, NULL, RTM_F_FIB_MATCH, &now, e);
	}
	if (rc || !now.len)
		return rc;
	say_route_mtu(s, c, &now);
	if (!s->route.via)
		s->route.like = now;
	return 0;
}

/* An address in the middle, which is nobody's own more often than the first one is. */
static struct prefix address_in(const struct prefix *p)
{
	struct prefix addr = *p;

	if (p->len < (p->family == AF_INET ? 32U : 128U))
		addr.addr[p->len / 8] |= (unsigned char)(0x80 >> p->len % 8);
	return addr;
}

/*
 * Rules (ip rule) may send the far side's traffic by another table than main.  Asked
 * as TCP asks: first for a source, then once more with it.  A longer prefix in the
 * main table is somebody's choice.
 */
void session_check_route(struct session *s, const struct circuit *c)
{
	struct prefix to = address_in(&c->to), from;
	char far[64], source[64];
	struct route r;
	struct err unused;
	uint32_t table;

	if (!c->to.family || route_lookup(&s->kernel.nl, &to, NULL, 0, &r, &unused) ||
	    !route_source(&r, &from) ||
	    route_lookup(&s->kernel.nl, &to, &from, RTM_F_FIB_MATCH, &r, &unused))
		return;
	table = route_table(&r);
	if (route_has_congctl(&r, CC_NAME) || table == RT_TABLE_MAIN || table == RT_TABLE_LOCAL)
		return;
	note(&s->notes,
	     "from %s to %s the kernel takes a route of table %u, by ip rule, and not the circuit's: give that one congctl %s",
	     format_addr(source, sizeof(source), &from), format_prefix(far, sizeof(far), &c->to),
	     table, CC_NAME);
}

static void say_who_uses_it(struct session *s, const struct circuit *c)
{
	if (!c->to.family && !c->default_cc)
		note(&s->notes,
		     "no traffic uses circuit yet: --to PREFIX makes a route carry it, --default-cc all connections, or an application asks for it (TCP_CONGESTION)");
}

/*
 * Outside the machine's own namespace the kernel takes only an algorithm that is
 * allowed to all as the default.  Asked before and not by trying:
 * tcp_set_default_congestion_control() keeps a reference to the module when it
 * refuses, which could then never be removed.
 */
static int check_default_cc(const struct circuit *c, bool own_netns, struct err *e)
{
	char allowed[ITEM_VALUE];
	struct err unused = { .text = "" };

	if (!c->default_cc || own_netns || sysctl_get(ALLOWED_CC, allowed, &unused) ||
	    has_word(allowed, CC_NAME))
		return 0;
	return err_set(e, -EPERM,
		       "--default-cc: in this network namespace the kernel refuses %s until %s of the machine's own lists it (here \"%.200s\")",
		       CC_NAME, ALLOWED_CC, allowed);
}

/*
 * The pages that the namespace's other circuits need, planned anew from their journals;
 * one that has no device any more needs none.
 */
static uint64_t others_need(struct session *s, const struct circuit *c)
{
	struct notes unused_notes = { 0 };
	struct err unused;
	uint64_t need = 0;
	struct facts f;
	struct plan p;
	uint32_t i;

	for (i = 0; i < s->journals.n; i++) {
		const struct journal *j = s->journals.list[i];

		if (j->undone || strcmp(j->netns, s->netns) || !strcmp(j->circuit.dev, c->dev))
			continue;
		if (!facts_read(&s->kernel.nl, j->circuit.dev, &f, &unused) &&
		    !plan_make(&j->circuit, &f, &p, &unused_notes, &unused))
			need += p.need;
	}
	return need;
}

/* One of this namespace's circuits that was not undone */
bool session_has(const struct session *s, const struct journal *j)
{
	return !j->undone && !strcmp(j->netns, s->netns);
}

int session_changes(struct session *s, const struct circuit *c, struct err *e)
{
	/* tcp_mem is the machine's, and only its own namespace shows it */
	bool own_netns = sysctl_exists("net.ipv4.tcp_mem");
	uint64_t others;
	int rc;

	memset(&s->route, 0, sizeof(s->route));
	rc = check_default_cc(c, own_netns, e);
	if (!rc && c->to.family)
		rc = want_route(s, c, e);
	if (rc)
		return rc;
	others = others_need(s, c);
	if (others)
		plan_memory(&s->facts, others, &s->plan, &s->notes);
	wants_make(c, &s->facts, &s->plan, c->to.family ? &s->route : NULL, own_netns,
		   &s->wants);
	say_who_uses_it(s, c);
	return changes_make(&s->wants, &s->kernel.backend, &s->journals, s->netns, c,
			    &s->changes, &s->notes, e);
}

/*
 * Into @s->changes: what the same command would change now, which is where the kernel
 * is not as it was set up.  An error: what keeps it from being planned at all.
 */
int session_drift(struct session *s, const struct journal *j, struct err *e)
{
	int rc;

	if (j->applying)
		return err_set(e, -EBUSY,
			       "a run on it was cut short; ctcp-setup undo %s, or the same command again",
			       j->circuit.dev);
	rc = session_plan(s, &j->circuit, e);
	return rc ? rc : session_changes(s, &j->circuit, e);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup monitor: events of this namespace's circuits, a line each, as they
 * come, until a signal ends it or the module goes.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command.h"
#include "event.h"
#include "genl.h"
#include "item.h"
#include "print.h"

struct monitor {
	struct genl genl;
	struct lives known;	/* the circuits as they were, to tell what changes */
	int signals;		/* a descriptor */
	bool json;
	bool gone;		/* the module */
	bool lost;		/* events, behind those that wait to be read */
};

static void put_line(struct monitor *m, const struct event *ev)
{
	json_t *root;

	if (m->json) {
		root = json_event(ev);
		json_dumpf(root, stdout, JSON_COMPACT);
		json_decref(root);
		putchar('\n');
	} else {
		print_event(stdout, ev);
	}
	fflush(stdout);
}

/* What is no event of a circuit: @name for a program, @text for a person. */
static void put_other(struct monitor *m, const char *name, const char *text)
{
	struct timespec now;
	char at[40];

	clock_gettime(CLOCK_REALTIME, &now);
	event_time(&now, at, sizeof(at));
	if (m->json)
		printf("{\"time\":\"%s\",\"event\":\"%s\"}\n", at, name);
	else
		printf("%s %s\n", at, text);
	fflush(stdout);
}

/* One that was loaded anew is another, to whose events nobody has subscribed. */
static bool module_is_there(const struct monitor *m)
{
	struct err unused = { "" };
	struct genl now;
	bool there;

	if (genl_open(&now, &unused))
		return true;	/* as far as is known */
	there = !genl_resolve(&now, &unused) && now.family == m->genl.family;
	genl_close(&now);
	return there;
}

/* Without what was known, a change is told by what a circuit is now. */
static void say_lost(struct monitor *m)
{
	struct err unused = { "" };

	put_other(m, "lost", "lost: events came faster than they were read, some are missing");
	m->lost = false;
	m->gone = !module_is_there(m);
	lives_free(&m->known);
	lives_read(&m->known, &unused);
}

static int on_event(const struct nlmsghdr *nlh, void *data)
{
	struct monitor *m = data;
	struct event ev;

	if (genl_family_gone(nlh)) {
		m->gone = true;
		return MNL_CB_STOP;
	}
	if (nlh->nlmsg_type != m->genl.family || event_parse(nlh, &ev))
		return MNL_CB_OK;
	event_learn(&m->known, &ev);
	put_line(m, &ev);
	event_free(&ev);
	return MNL_CB_OK;
}

/*
 * The kernel says ENOBUFS ahead of the events that had fitted, and drops all that come
 * until these are read (NETLINK_S_CONGESTED): they are told first, in their order, and what
 * there is now is learned when no more is being dropped.  A second ENOBUFS is of a second loss.
 */
static int take_events(struct monitor *m, struct err *e)
{
	char buf[65536];
	ssize_t n = nlm_hear(&m->genl.nl, buf, sizeof(buf), MSG_DONTWAIT);
	bool overrun = n < 0 && errno == ENOBUFS, none = n < 0 && errno == EAGAIN;

	if (m->lost && (overrun || none))
		say_lost(m);
	m->lost |= overrun;
	if (overrun || none || (n < 0 && errno == EINTR))
		return 0;
	if (n < 0)
		return err_set(e, -errno, "no more events from the kernel: %m");
	if (nlm_each(buf, (size_t)n, on_event, m) < 0)
		return err_set(e, -errno, "an event is not understood: %m");
	return 0;
}

static int watch(struct monitor *m, struct err *e)
{
	struct pollfd fds[] = {
		{ .fd = mnl_socket_get_fd(m->genl.nl.sock), .events = POLLIN },
		{ .fd = m->signals, .events = POLLIN },
	};
	int rc = 0;

	while (!rc && !ferror(stdout)) {
		if (poll(fds, 2, m->lost ? 0 : -1) < 0 && errno != EINTR)
			return err_set(e, -errno, "cannot wait for events: %m");
		/* what had come before the signal is told, too */
		if (fds[0].revents || m->lost)
			rc = take_events(m, e);
		if (!rc && m->gone) {
			put_other(m, "unloaded", "unloaded: the module is gone");
			return err_set(e, -ENODEV,
				       "module %s was unloaded; there are no more events",
				       MODULE_NAME);
		}
		if (fds[1].revents && !fds[0].revents)
			return 0;
	}
	return rc;
}

static int signals_open(struct err *e)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? err_set(e, -errno, "cannot wait for signals: %m") : fd;
}

/* Subscribed first and then read: what changes between is told and known. */
static int start(struct monitor *m, struct err *e)
{
	int rc = genl_open(&m->genl, e);

	if (!rc)
		rc = genl_resolve(&m->genl, e);
	if (!rc)
		rc = genl_subscribe(&m->genl, e);
	if (!rc)
		rc = lives_read(&m->known, e);
	return rc;
}

int command_monitor(const struct args *a, struct err *e)
{
	struct monitor m = { .json = a->json };
	int rc = need_net_admin("", e);

	if (rc)
		return rc;
	m.signals = signals_open(e);
	if (m.signals < 0)
		return m.signals;
	rc = start(&m, e);
	if (!rc)
		rc = watch(&m, e);
	genl_close(&m.genl);
	lives_free(&m.known);
	close(m.signals);
	return rc;
}

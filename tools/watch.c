// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup watch: what somebody undoes of the circuits is set again, or said, within a
 * second, until a signal ends it.
 *
 * It hears the kernel (links, addresses, qdiscs, routes), the module (circuits), and the
 * folder of the state (commands), and looks when a burst of these is over.  A sysctl is
 * nothing that anybody tells of; it is looked at with the rest.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "busy.h"
#include "command.h"
#include "event.h"
#include "heap.h"
#include "hear.h"
#include "holder.h"
#include "restore.h"

#define STAT_MS		500		/* where there is no inotify */
#define BUSY_US		50000		/* while another ctcp-setup is at work */
#define REFUSED_US	800000		/* after something that the kernel refused */
#define FAILED_US	10000000	/* after a look that failed, or found a circuit blocked */
#define TIMER_US	2000000		/* for the timer of a change to take it back */

enum { KERNEL, MODULE, FOLDER, SIGNALS, SOURCES };

struct watch {
	const struct args *args;
	struct watch_look look;
	struct burst burst;
	struct busy busy;
	uint64_t again, not_before;	/* us of hear_clock(), 0 = none */
	struct hear kernel;
	struct genl module;		/* nl.sock NULL: it is not loaded, or tells of nothing */
	int folder, signals;		/* descriptors; of the first -1 = there is no inotify */
	char file[300];			/* of the state, in its folder */
	char dir[300];
	int rc;				/* of the last look */
	struct err said;		/* and its failure */
	bool ends;
};

/* --- what is heard --------------------------------------------------------- */

static void heard(struct watch *w)
{
	burst_heard(&w->burst, hear_clock());
}

static int on_kernel(const struct nlmsghdr *nlh, void *data)
{
	struct watch *w = data;

	/* a look that its own questions call for would be followed by the next, for ever */
	if (!nlm_is_own(nlh) && interest_hears(&w->look.interest, nlh))
		heard(w);
	return MNL_CB_OK;
}

static bool is_of_list(uint8_t cmd)
{
	return cmd == TCP_CIRCUIT_CMD_ADDED_NTF || cmd == TCP_CIRCUIT_CMD_CHANGED_NTF ||
	       cmd == TCP_CIRCUIT_CMD_REMOVED_NTF;
}

static int on_module(const struct nlmsghdr *nlh, void *data)
{
	struct watch *w = data;
	struct event ev;

	if (genl_family_gone(nlh)) {
		heard(w);
		return MNL_CB_STOP;
	}
	if (nlh->nlmsg_type != w->module.family || event_parse(nlh, &ev))
		return MNL_CB_OK;
	if (is_of_list(ev.cmd) && interest_in_circuit(&w->look.interest, ev.live.object.name))
		heard(w);
	event_free(&ev);
	return MNL_CB_OK;
}

/* What was lost may have been anything. */
static int take_kernel(struct watch *w, struct err *e)
{
	bool lost;
	int rc = hear_read(&w->kernel, on_kernel, w, &lost, e);

	if (lost) {
		interest_lost(&w->look.interest);
		heard(w);
	}
	return rc;
}

/* After a loss there is a new socket with the next look: see hear.h. */
static int take_module(struct watch *w, struct err *e)
{
	bool lost;
	int rc = hear_take(&w->module.nl, on_module, w, &lost, e);

	if (lost) {
		genl_close(&w->module);
		heard(w);
	}
	return rc;
}

/* The folder gone, and its watch with it: there is one again with the next look. */
static void take_folder(struct watch *w)
{
	char buf[4096] __attribute__((aligned(8)));
	ssize_t n = read(w->folder, buf, sizeof(buf)), at = 0;

	while (at < n) {
		const struct inotify_event *ev = (const struct inotify_event *)(buf + at);

		if (ev->mask & (IN_IGNORED | IN_Q_OVERFLOW) || !strcmp(ev->len ? ev->name : "",
								       w->file))
			heard(w);
		at += (ssize_t)(sizeof(*ev) + ev->len);
	}
}

/* Instead of that: a command that makes no difference to the kernel may have run. */
static void look_at_file(struct watch *w)
{
	if (w->folder < 0 && !w->look.busy && !w->rc && !restore_is_left(&w->look))
		w->again = hear_clock();
}

/* --- subscriptions --------------------------------------------------------- */

static int open_kernel(struct watch *w, struct err *e)
{
	static const int groups[] = {
		RTNLGRP_LINK, RTNLGRP_TC, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV4_ROUTE,
		RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV6_ROUTE,
	};

	return hear_open(&w->kernel, groups, sizeof(groups) / sizeof(groups[0]), e);
}

/*
 * As long as it is loaded under this number; one that is loaded anew has another, and a
 * module that comes later is met then.
 */
static bool follow_module(struct watch *w)
{
	uint16_t was = w->module.nl.sock ? w->module.family : 0;
	struct genl now;
	struct err unused = { "" };

	if (genl_open(&now, &unused))
		return false;
	if (genl_resolve(&now, &unused) || now.family == was ||
	    genl_subscribe(&now, &unused)) {
		if (now.family != was)
			genl_close(&w->module);
		genl_close(&now);
		return false;
	}
	genl_close(&w->module);
	w->module = now;
	return true;
}

/* A folder that is there already keeps its watch. */
static void follow_folder(struct watch *w)
{
	if (w->folder < 0)
		return;
	mkdir(w->dir, 0755);
	inotify_add_watch(w->folder, w->dir,
			  IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR);
}

static int open_folder(struct watch *w, struct err *e)
{
	struct store s;
	char path[600];
	int rc = store_open(&s, e);

	if (rc)
		return rc;
	store_path(&s, path, sizeof(path));
	snprintf(w->dir, sizeof(w->dir), "%s", s.dir);
	snprintf(w->file, sizeof(w->file), "%s", strrchr(path, '/') + 1);
	store_close(&s);
	w->folder = inotify_init1(IN_CLOEXEC);
	return 0;
}

static int open_signals(struct watch *w, struct err *e)
{
	sigset_t set;

	/* whoever reads may go; the log stays */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC);
	return w->signals < 0 ? err_set(e, -errno, "cannot wait for signals: %m") : 0;
}

/* --- looks ----------------------------------------------------------------- */

/* Once, as the reason is there with each look until it goes. */
static void say_failure(struct watch *w, const struct err *e)
{
	if (e->text[0] && strcmp(e->text, w->said.text))
		say_text(&w->look.says, "trouble", NULL, e->text);
	w->said = *e;
}

/* A command takes a moment, and one that hangs would keep all looks waiting unheard. */
static void say_busy(struct watch *w)
{
	char text[COMMAND_LEN + 160];

	if (busy_is_to_say(&w->busy, w->look.busy ? w->look.pid : NULL, hear_clock()))
		say_text(&w->look.says, "waiting", NULL,
			 busy_text(&w->busy, text, sizeof(text)));
}

static void look_again_in(struct watch *w, uint64_t now, uint64_t us)
{
	if (!w->again || w->again > now + us)
		w->again = now + us;
}

static void plan_next(struct watch *w)
{
	uint64_t now = hear_clock();

	w->again = 0;
	w->not_before = 0;
	if (w->look.busy || w->rc == -EALREADY)
		look_again_in(w, now, BUSY_US);
	/* nobody tells when what the kernel could not answer is over */
	if (w->rc || w->look.interest.all)
		look_again_in(w, now, FAILED_US);
	if (w->look.confirm_us)
		look_again_in(w, now, w->look.confirm_us + TIMER_US);
	if (w->look.refused)
		w->not_before = now + REFUSED_US;
}

/* Subscribed first and then read: what changes between is looked at once more. */
static void look(struct watch *w)
{
	struct err e = { "" };

	w->burst = (struct burst){ 0 };
	follow_folder(w);
	follow_module(w);
	w->rc = restore_look(&w->look, &e);
	/* what was refused has a line of its own */
	if (!w->look.refused && (w->rc || !w->look.busy))
		say_failure(w, &e);
	say_busy(w);
	plan_next(w);
	/* loaded by that look: what has happened to its circuits since, nobody heard */
	if (follow_module(w))
		w->again = hear_clock();
	says_print(&w->look.says, w->args->json);
	heap_return();
}

static uint64_t due_at(const struct watch *w)
{
	uint64_t at = burst_due(&w->burst);

	if (at < w->not_before)
		at = w->not_before;
	return w->again && w->again < at ? w->again : at;
}

/* ms until then, rounded up; -1 = for ever */
static int wait_ms(const struct watch *w)
{
	uint64_t at = due_at(w), now = hear_clock(), ms;
	int most = w->folder < 0 ? STAT_MS : 60000;

	if (at == UINT64_MAX)
		return w->folder < 0 ? STAT_MS : -1;
	ms = at > now ? (at - now + 999) / 1000 : 0;
	return ms < (uint64_t)most ? (int)ms : most;
}

static int wait(struct watch *w, struct err *e)
{
	struct pollfd fds[SOURCES] = {
		[KERNEL] = { .fd = hear_fd(&w->kernel), .events = POLLIN },
		[MODULE] = { .fd = w->module.nl.sock ? mnl_socket_get_fd(w->module.nl.sock) : -1,
			     .events = POLLIN },
		[FOLDER] = { .fd = w->folder, .events = POLLIN },
		[SIGNALS] = { .fd = w->signals, .events = POLLIN },
	};
	int rc = 0;

	if (poll(fds, SOURCES, wait_ms(w)) < 0)
		return errno == EINTR ? 0 : err_set(e, -errno, "cannot wait: %m");
	if (fds[KERNEL].revents)
		rc = take_kernel(w, e);
	if (!rc && fds[MODULE].revents)
		rc = take_module(w, e);
	if (fds[FOLDER].revents)
		take_folder(w);
	look_at_file(w);
	w->ends = fds[SIGNALS].revents;
	return rc;
}

static int run(struct watch *w, struct err *e)
{
	char text[64];
	int rc = 0;

	look(w);
	snprintf(text, sizeof(text), "%u circuit%s", w->look.circuits,
		 w->look.circuits == 1 ? "" : "s");
	say_text(&w->look.says, "watching", NULL, text);
	says_print(&w->look.says, w->args->json);
	while (!rc && !w->ends) {
		rc = wait(w, e);
		if (!rc && !w->ends && due_at(w) <= hear_clock())
			look(w);
	}
	return rc;
}

int command_watch(const struct args *a, struct err *e)
{
	struct watch w = { .args = a, .look.args = a, .folder = -1, .signals = -1 };
	int rc = need_net_admin("", e);

	if (!rc)
		rc = open_signals(&w, e);
	if (!rc)
		rc = open_kernel(&w, e);
	if (!rc)
		rc = open_folder(&w, e);
	openlog("ctcp-setup", LOG_PID, LOG_DAEMON);
	if (!rc)
		rc = run(&w, e);
	restore_free(&w.look);
	hear_close(&w.kernel);
	genl_close(&w.module);
	if (w.folder >= 0)
		close(w.folder);
	if (w.signals >= 0)
		close(w.signals);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's loop: see run.h.
 *
 * Polls are due on CLOCK_BOOTTIME, which goes on while the machine sleeps; one that comes too
 * late for the next one replaces that.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "notify.h"
#include "run.h"

/* --- the loop ---------------------------------------------------------------------- */

/* True: it was due, however often */
static bool is_due(int timer)
{
	uint64_t times;

	return read(timer, &times, sizeof(times)) == sizeof(times);
}

static void set_looks(struct daemon *d, bool on)
{
	uint64_t us = on ? d->config.look_us : 0;
	const struct timespec t = {
		.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000 * 1000)
	};
	const struct itimerspec every = { .it_interval = t, .it_value = t };

	timerfd_settime(d->looks, 0, &every, NULL);
}

static void poll_now(struct daemon *d)
{
	bool whole = observe_poll(&d->observer);

	act_poll(d->act, d->observer.remotes, whole, diag_clock(), now_s());
	if (d->begun && act_totals(d->act)->acts != d->said_acts)
		daemon_say_mode(d);
	set_looks(d, d->observer.suspects);
	daemon_metrics_again(d);
	daemon_tell_metrics(d);
}

static void on_signal(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			notify("RELOADING=1");
			daemon_reload(d);
			notify("READY=1");
		} else {
			log_say(&d->log, LOG_INFO, "ending, by %s",
				info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
			d->stop = true;
		}
	}
}

/* What is waited for is ready, by the file that it is. */
static void serve(struct daemon *d, int fd)
{
	if (fd == d->signals)
		on_signal(d);
	else if (fd == d->polls && is_due(fd))
		poll_now(d);
	else if (fd == d->looks && is_due(fd))
		observe_look(&d->observer);
	else if (fd == control_fd(d->control))
		control_serve(d->control, daemon_answer, d);
}

static void show_life(struct daemon *d)
{
	uint64_t now = diag_clock();

	if (!d->watchdog_us || now - d->alive_us < d->watchdog_us / 2)
		return;
	d->alive_us = now;
	notify("WATCHDOG=1");
}

static int loop(struct daemon *d, struct err *e)
{
	int wait_ms = d->watchdog_us ? (int)(d->watchdog_us / 2000) + 1 : -1;
	struct epoll_event events[4];
	int n, i;

	while (!d->stop) {
		n = epoll_wait(d->epoll, events, 4, wait_ms);
		if (n < 0 && errno != EINTR)
			return err_set(e, -errno, "the loop cannot go on: %s", strerror(errno));
		for (i = 0; i < n && !d->stop; i++)
			serve(d, events[i].data.fd);
		show_life(d);
	}
	return 0;
}

/* --- its beginning ------------------------------------------------------------------- */

static int watch(struct daemon *d, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return fd < 0 || epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int open_loop(struct daemon *d, struct err *e)
{
	int rc;

	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	d->signals = open_signals();
	d->polls = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	d->looks = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->epoll < 0)
		return err_set(e, -errno, "the loop cannot begin: %s", strerror(errno));
	rc = watch(d, d->signals);
	rc = rc ?: watch(d, d->polls);
	rc = rc ?: watch(d, d->looks);
	rc = rc ?: watch(d, control_fd(d->control));
	rc = rc ?: daemon_timers(d);
	return rc ? err_set(e, rc, "the loop cannot begin: %s", strerror(-rc)) : 0;
}

/*
 * What the configuration or the command line names is wrong, and stays so.  Any other error may
 * pass: of memory, of files, of space, of a server that has the file, of another process that is
 * in the way.
 */
bool run_error_lasts(int rc)
{
	switch (-rc) {
	case EINVAL:
	case EFBIG:
	case EILSEQ:
	case EEXIST:
	case ENAMETOOLONG:
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case ENXIO:
	case ELOOP:
	case EACCES:
	case EPERM:
	case EROFS:
		return true;
	default:
		return false;
	}
}

static int begin(struct daemon *d, struct err *e)
{
	const struct run_options *o = &d->options;
	int rc = config_read(o->config ?: CONFIG_FILE, o->config, &d->config, e);

	if (rc)
		return run_error_lasts(rc) ? EX_CONFIG : rc;
	/* before all that another daemon may be using */
	d->control = control_listen(o->socket, &rc, e);
	if (!d->control)
		return run_error_lasts(rc) ? EX_CONFIG : rc;
	rc = open_loop(d, e);
	/* behind the signals that are blocked: it has a thread */
	if (!rc)
		daemon_metrics_again(d);
	rc = rc ?: observe_begin(&d->observer, &d->config, &d->log, &d->keep, e);
	if (rc)
		return rc;
	keep_open(&d->keep, &d->config, &d->log, now_s());
	d->act = act_begin(&d->config, &d->log, &d->keep, now_s(), e);
	return d->act ? 0 : -ENOMEM;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void end(struct daemon *d)
{
	if (d->keep.log) {
		observe_end(&d->observer);
		act_end(d->act);
		keep_close(&d->keep, now_s());
	}
	if (d->metrics)
		metrics_stop(d->metrics);
	control_close(d->control);
	close_fd(d->looks);
	close_fd(d->polls);
	close_fd(d->signals);
	close_fd(d->epoll);
	log_close(&d->log);
}

static void say_begun(struct daemon *d)
{
	d->watchdog_us = notify_watchdog();
	daemon_say_mode(d);
	d->begun = true;
	notify("READY=1");
}

int run(const struct run_options *options, struct err *e)
{
	struct daemon d = {
		.options = *options, .epoll = -1, .polls = -1, .looks = -1, .signals = -1,
		.began_us = diag_clock(),
	};
	int rc;

	log_open(&d.log, options->debug);
	signal(SIGPIPE, SIG_IGN);
	rc = begin(&d, e);
	if (!rc) {
		poll_now(&d);
		say_begun(&d);
		rc = loop(&d, e);
		notify("STOPPING=1");
	}
	end(&d);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration as it comes into force, and anew by SIGHUP: see run.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>

#include "notify.h"
#include "run.h"

/* What is true of it, whatever the configuration says */
void daemon_say_mode(struct daemon *d)
{
	const struct act_totals *t = act_totals(d->act);

	d->said_acts = t->acts;
	if (t->acts) {
		log_say(&d->log, LOG_INFO, "ctcpd %s paces what is overrun", CTCP_VERSION);
		notify("STATUS=paces what is overrun");
	} else if (*t->unable) {
		log_say(&d->log, LOG_WARNING,
			"ctcpd %s observes, as it cannot pace; what is paced stays so",
			CTCP_VERSION);
		notify("STATUS=observes, as it cannot pace: ctcpd status says why");
	} else {
		log_say(&d->log, LOG_INFO, "ctcpd %s observes; it changes nothing", CTCP_VERSION);
		notify("STATUS=observes");
	}
}

/* The next poll is a whole interval away. */
int daemon_timers(struct daemon *d)
{
	uint64_t us = d->config.poll_us;
	const struct timespec t = {
		.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000 * 1000)
	};
	const struct itimerspec every = { .it_interval = t, .it_value = t };

	return timerfd_settime(d->polls, 0, &every, NULL) ? -errno : 0;
}

void daemon_tell_metrics(struct daemon *d)
{
	size_t len;
	char *text;

	if (d->metrics && d->observer.remotes &&
	    !metrics_text(&d->observer.totals, d->observer.remotes, d->act, &text, &len))
		metrics_set(d->metrics, text, len);
}

/* Who asks before the next poll is told of the last one. */
int daemon_metrics(struct daemon *d, struct err *e)
{
	int rc = 0;

	if (d->metrics)
		metrics_stop(d->metrics);
	d->metrics = NULL;
	if (d->config.metrics[0])
		d->metrics = metrics_start(d->config.metrics, &rc, e);
	if (d->metrics && !metrics_is_local(d->metrics))
		log_say(&d->log, LOG_WARNING,
			"metrics on %s are for whoever reaches that address, also from other hosts",
			d->config.metrics);
	daemon_tell_metrics(d);
	return rc;
}

/* The address may come later than the daemon, as one of DHCP does; another program may end. */
void daemon_metrics_again(struct daemon *d)
{
	struct err e = { "" };
	char state[24];
	int rc;

	if (d->metrics || !d->config.metrics[0])
		return;
	rc = daemon_metrics(d, &e);
	if (rc) {
		snprintf(state, sizeof(state), "failed %d", -rc);
		log_state(&d->log, LOG_ERR, "metrics", state,
			  "no metrics: %s; it is tried again with each poll", e.text);
	} else if (!log_is_new(&d->log.said, "metrics")) {
		log_say(&d->log, LOG_NOTICE, "metrics are on %s now", d->config.metrics);
		log_forget(&d->log.said, "metrics");
	}
}

/*
 * What was there is closed, whatever comes of the new one: it may be the same port, and nobody is
 * to read any longer where the operator has taken that away.
 */
static void change_metrics(struct daemon *d, const struct config *old)
{
	if (!strcmp(old->metrics, d->config.metrics))
		return;
	log_forget(&d->log.said, "metrics");
	if (d->metrics)
		metrics_stop(d->metrics);
	d->metrics = NULL;
	daemon_metrics_again(d);
}

static void say_changes(struct daemon *d, const struct config *old)
{
	char was[CONFIG_VALUE], is[CONFIG_VALUE];
	unsigned int i, n = 0;

	for (i = 0; config_key(i); i++) {
		config_value(old, i, was);
		config_value(&d->config, i, is);
		if (!strcmp(was, is))
			continue;
		n++;
		log_say(&d->log, LOG_NOTICE, "%s was \"%s\", is \"%s\"", config_key(i), was, is);
	}
	if (!n)
		log_say(&d->log, LOG_INFO, "the configuration was read again: nothing has changed");
}

void daemon_reload(struct daemon *d)
{
	const char *file = d->options.config ?: CONFIG_FILE;
	struct config old = d->config, read;
	struct err e = { "" };

	d->refused = e;
	if (config_read(file, d->options.config, &read, &e)) {
		log_say(&d->log, LOG_ERR, "the configuration stays as it was: %s", e.text);
		d->refused = e;
		return;
	}
	d->config = read;
	say_changes(d, &old);
	change_metrics(d, &old);
	keep_change(&d->keep, &d->config, now_s());
	act_reload(d->act, now_s());
	if (old.mode != d->config.mode)
		daemon_say_mode(d);
	if (old.poll_us != d->config.poll_us)
		daemon_timers(d);
}

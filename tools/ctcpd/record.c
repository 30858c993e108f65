// SPDX-License-Identifier: GPL-2.0
/*
 * ctcpd record: what the eyes see, as a trace.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "flows.h"
#include "trace.h"

struct recorder {
	struct flows *flows;
	struct diag diag;
	struct qdrops *qdrops;
	FILE *out;
	bool left_out;	/* flows were, and it was said */
};

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/* --- lines ----------------------------------------------------------------- */

static void write_line(struct recorder *r, const char *line)
{
	fputs(line, r->out);
	putc('\n', r->out);
}

static void write_sample(const struct sample *s, void *data)
{
	char line[TRACE_LINE];

	trace_sample(s, line);
	write_line(data, line);
}

static void write_leaves(uint64_t cookie, uint32_t ifindex, void *data)
{
	char line[TRACE_LINE];

	trace_leaves(cookie, ifindex, line);
	write_line(data, line);
}

static void write_drops(uint64_t at_us, uint32_t ifindex, uint32_t n, void *data)
{
	char line[TRACE_LINE];

	trace_drops(at_us, ifindex, n, line);
	write_line(data, line);
}

static int write_gone(const struct flow *f, bool closed, void *data)
{
	char line[TRACE_LINE];

	(void)closed;
	trace_gone(f->last.conn.cookie, line);
	write_line(data, line);
	return 0;
}

/* Once: a trace that lacks some must not look like a whole one */
static void say_left_out(struct recorder *r)
{
	if (r->left_out || !flows_left_out(r->flows))
		return;
	r->left_out = true;
	fprintf(stderr, "ctcpd: there are more than %u flows: the others are not in the trace\n",
		FLOWS_MAX);
}

static int write_end(struct recorder *r, struct err *e)
{
	if (!fflush(r->out) && !ferror(r->out))
		return 0;
	return err_set(e, -EIO, "cannot write the trace: %s", strerror(errno ?: EIO));
}

/* --- time ------------------------------------------------------------------ */

/* Until @at_us of CLOCK_BOOTTIME, or a signal */
static void wait_until(uint64_t at_us)
{
	struct timespec ts = {
		.tv_sec = (time_t)(at_us / 1000000),
		.tv_nsec = (long)(at_us % 1000000) * 1000,
	};

	clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL);
}

static int look_until(struct recorder *r, const struct options *o, uint64_t end_us,
		      struct err *e)
{
	uint64_t at = diag_clock() + o->look_us;
	int rc = 0;

	for (; o->look_us && at < end_us && !rc && !stopped; at += o->look_us) {
		wait_until(at);
		if (!stopped)
			rc = flows_look(r->flows, &r->diag, r->qdrops, e);
	}
	if (!rc && !stopped)
		wait_until(end_us);
	return rc;
}

static int record(struct recorder *r, const struct options *o, struct err *e)
{
	uint64_t at = diag_clock(), end = o->for_us ? at + o->for_us : UINT64_MAX;
	int rc = 0;

	while (!rc && !stopped) {
		rc = flows_poll(r->flows, &r->diag, r->qdrops, write_gone, r, e);
		say_left_out(r);
		if (!rc)
			rc = write_end(r, e);
		at += o->every_us;
		if (rc || at > end)
			break;
		rc = look_until(r, o, at, e);
	}
	return rc ?: write_end(r, e);
}

/* --- begin and end --------------------------------------------------------- */

static int open_out(struct recorder *r, const char *file, struct err *e)
{
	r->out = file && strcmp(file, "-") ? fopen(file, "we") : stdout;
	if (!r->out)
		return err_set(e, -errno, "cannot write \"%s\": %s", file, strerror(errno));
	fputs(TRACE_HEAD, r->out);
	return 0;
}

static void catch_signals(void)
{
	const struct sigaction sa = { .sa_handler = stop };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static int record_flows(struct recorder *r, const struct options *o, struct err *e)
{
	const struct flows_tap tap = { write_sample, write_leaves, write_drops, r };
	int rc;

	r->flows = flows_new();
	r->qdrops = qdrops_new();
	rc = r->flows && r->qdrops ? diag_open(&r->diag, e) : err_set(e, -ENOMEM, "out of memory");
	if (rc)
		goto out;
	flows_set_tap(r->flows, &tap);
	rc = record(r, o, e);
	diag_close(&r->diag);
out:
	qdrops_free(r->qdrops);
	flows_free(r->flows);
	return rc;
}

int command_record(const struct options *o, struct err *e)
{
	struct recorder r = { 0 };
	int rc = open_out(&r, o->word, e);

	if (rc)
		return rc;
	catch_signals();
	rc = record_flows(&r, o, e);
	if (r.out != stdout && fclose(r.out) && !rc)
		rc = err_set(e, -errno, "cannot write \"%s\": %s", o->word, strerror(errno));
	return rc;
}

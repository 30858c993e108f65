// SPDX-License-Identifier: GPL-2.0
/*
 * Visits on their way into the history: see keep.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

#include "keep.h"

/* --- what is said ------------------------------------------------------------------- */

static void say_well(struct keep *k)
{
	if (log_is_new(&k->log->said, "history"))
		return;
	if (!log_state(k->log, LOG_NOTICE, "history", "well",
		       "the history is written again; %" PRIu64 " visits were lost meanwhile",
		       k->lost - k->lost_said))
		return;
	k->lost_said = k->lost;
}

static void say_failed(struct keep *k)
{
	char state[24];

	snprintf(state, sizeof(state), "failed %d", -k->rc);
	log_state(k->log, LOG_WARNING, "history", state,
		  "the history is not written: %s; up to %u visits wait until it can be",
		  k->why.text, KEEP_MAX);
}

/* Say once that visits are lost, and how many when that is over. */
static void say_lost(struct keep *k)
{
	char state[24];

	if (k->lost == k->lost_said)
		return;
	if (k->rc) {
		log_state(k->log, LOG_WARNING, "visits", "go",
			  "more visits wait than %u: the oldest are lost", KEEP_MAX);
		return;
	}
	snprintf(state, sizeof(state), "%" PRIu64, k->lost);
	if (log_state(k->log, LOG_WARNING, "visits", state, "%" PRIu64 " visits were lost",
		      k->lost - k->lost_said))
		k->lost_said = k->lost;
}

/* Called with each poll: what the log holds back now comes with a later one. */
static void say_how_it_is(struct keep *k)
{
	if (k->rc)
		say_failed(k);
	else
		say_well(k);
	say_lost(k);
}

/* Whether a new history was begun, as the old one was damaged or somebody replaced it */
static bool is_begun_anew(struct keep *k, int rc, const struct err *e)
{
	if (rc != -EBADMSG && rc != -ESTALE)
		return false;
	k->anew++;
	log_say(k->log, LOG_WARNING, "the history is begun anew: %s", e->text);
	return true;
}

/* --- the history, while there is one ------------------------------------------------ */

static void try_open(struct keep *k, int64_t now)
{
	bool aside = false;

	if (k->history)
		return;
	k->history = history_open(k->file, &k->limits, now, &aside, &k->rc, &k->why);
	if (aside)
		log_say(k->log, LOG_WARNING,
			"the history is begun anew: %s", k->why.text);
	if (k->history)
		k->anew++;
}

/* A history that was begun anew has nothing to forget. */
static int forget_rows(struct keep *k, const struct prefix *p, uint64_t *n, struct err *e)
{
	uint32_t searches;
	int rc = history_forget(k->history, p, n, e) ?:
		 history_forget_searches(k->history, p, &searches, e);

	return is_begun_anew(k, rc, e) ? 0 : rc;
}

/* Keep the order of the requests. */
static void forgets_drop(struct keep *k, uint32_t i)
{
	k->n_forgets--;
	memmove(&k->forgets[i], &k->forgets[i + 1], (k->n_forgets - i) * sizeof(k->forgets[0]));
}

static void say_forgotten(const struct keep *k, const struct prefix *p, uint64_t n)
{
	bool whole = p->len == (p->family == AF_INET ? 32U : 128U);
	char text[INET6_ADDRSTRLEN + 4];

	log_say(k->log, LOG_NOTICE, "%s is forgotten by the history, too: %" PRIu64 " visits",
		whole ? format_addr(text, sizeof(text), p) : format_prefix(text, sizeof(text), p),
		n);
}

static bool forget_what_waits(struct keep *k)
{
	uint64_t n;

	while (k->n_forgets) {
		const struct prefix *p = &k->forgets[0];

		k->rc = forget_rows(k, p, &n, &k->why);
		if (k->rc)
			return false;
		say_forgotten(k, p, n);
		forgets_drop(k, 0);
	}
	return true;
}

/* Whether the history is open and has nothing left to forget; else @k->rc says why not */
static bool is_ready(struct keep *k, int64_t now)
{
	try_open(k, now);
	return k->history && forget_what_waits(k);
}

/* Write one visit, into a new history if need be. */
static int add_one(struct keep *k, const struct visit *v, int64_t now)
{
	int rc = history_add(k->history, v, now, &k->why);

	return is_begun_anew(k, rc, &k->why) ? history_add(k->history, v, now, &k->why) : rc;
}

static void write_waiting(struct keep *k, int64_t now)
{
	while (k->n) {
		k->rc = is_ready(k, now) ? add_one(k, &k->waiting[k->first], now) : k->rc;
		if (k->rc) {
			k->failed++;
			return;
		}
		k->first = (k->first + 1) % KEEP_MAX;
		k->n--;
	}
}

/* Even without visits, find out that the history cannot be written, or can be again. */
static void tidy(struct keep *k, int64_t now)
{
	int rc;

	if (!is_ready(k, now))
		return;
	rc = history_tidy(k->history, now, &k->why);
	k->rc = is_begun_anew(k, rc, &k->why) ? 0 : rc;
}

void keep_flush(struct keep *k, int64_t now)
{
	if (!k->file[0])
		return;
	write_waiting(k, now);
	/* what waits still could not be written just now */
	if (!k->n && !k->searches_wait)
		tidy(k, now);
	say_how_it_is(k);
}

/* --- its life ------------------------------------------------------------------------ */

static void follow(struct keep *k, const struct config *c, int64_t now)
{
	out_copy(k->file, sizeof(k->file), c->history);
	k->limits = c->limits;
	k->rc = 0;
	if (k->file[0])
		is_ready(k, now);
	say_how_it_is(k);
}

void keep_open(struct keep *k, const struct config *c, struct log *log, int64_t now)
{
	*k = (struct keep){ .log = log };
	follow(k, c, now);
}

/* The answer to the request said that this may happen. */
static void give_up_forgets(struct keep *k)
{
	if (k->n_forgets)
		log_say(k->log, LOG_WARNING,
			"the history keeps what it was to forget (prefixes: %u): %s",
			k->n_forgets, k->why.text);
	k->n_forgets = 0;
}

static void close_history(struct keep *k)
{
	if (k->history)
		history_close(k->history);
	k->history = NULL;
}

void keep_change(struct keep *k, const struct config *c, int64_t now)
{
	const struct history_limits *new = &c->limits, *old = &k->limits;

	if (!strcmp(k->file, c->history) && old->bytes == new->bytes &&
	    old->visits == new->visits && old->keep_s == new->keep_s)
		return;
	keep_flush(k, now);
	if (strcmp(k->file, c->history))
		give_up_forgets(k);
	close_history(k);
	follow(k, c, now);
}

void keep_close(struct keep *k, int64_t now)
{
	keep_flush(k, now);
	if (k->file[0])
		k->lost += k->n;
	if (k->lost > k->lost_said)
		log_say(k->log, LOG_WARNING,
			"%" PRIu64 " visits are lost, as the history %s%s", k->lost - k->lost_said,
			k->rc ? "is not written: " : "was not written", k->rc ? k->why.text : "");
	k->lost_said = k->lost;
	give_up_forgets(k);
	close_history(k);
	free(k->waiting);
	k->waiting = NULL;
	k->n = 0;
}

/* Do not store these: a peer that asks for a byte at a time would displace real findings. */
static bool says_nothing(const struct visit *v)
{
	return v->judgement.reason == REASON_TINY || v->judgement.reason == REASON_FIRST_SAMPLE;
}

/* Without a history no visit waits. */
void keep_visit(struct keep *k, const struct visit *v, int64_t now)
{
	if (!k->file[0] || says_nothing(v))
		return;
	if (k->n == KEEP_MAX && !k->rc)
		write_waiting(k, now);
	if (!k->waiting)
		k->waiting = calloc(KEEP_MAX, sizeof(*k->waiting));
	if (!k->waiting || k->n == KEEP_MAX)
		k->lost++;
	if (!k->waiting)
		return;
	if (k->n == KEEP_MAX) {
		k->first = (k->first + 1) % KEEP_MAX;
		k->n--;
	}
	k->waiting[(k->first + k->n++) % KEEP_MAX] = *v;
}

/* --- what is asked -------------------------------------------------------------------- */

static int each_waiting(const struct keep *k, const struct prefix *remote, int64_t since,
			visit_fn each, void *data)
{
	uint32_t i;
	int rc = 0;

	for (i = k->n; i > 0 && !rc; i--) {
		const struct visit *v = &k->waiting[(k->first + i - 1) % KEEP_MAX];

		if (v->ended >= since && (!remote || prefix_holds(remote, &v->remote)))
			rc = each(v, data);
	}
	return rc;
}

/* An error if a history is configured, but is not there */
static int is_missing(const struct keep *k, struct err *e)
{
	return !k->history && k->file[0] ? err_set(e, k->rc, "%s", k->why.text) : 0;
}

int keep_each(struct keep *k, const struct prefix *remote, int64_t since, visit_fn each,
	      void *data, struct err *e)
{
	int rc = each_waiting(k, remote, since, each, data) ?: is_missing(k, e);

	if (rc || !k->history)
		return rc;
	rc = history_each(k->history, remote, since, each, data, e);
	is_begun_anew(k, rc, e);
	return rc;
}

int keep_remotes(struct keep *k, int64_t since, remote_history_fn each, void *data,
		 struct err *e)
{
	int rc = is_missing(k, e);

	if (rc || !k->history)
		return rc;
	rc = history_remotes(k->history, since, each, data, e);
	is_begun_anew(k, rc, e);
	return rc;
}

static void forgets_done(struct keep *k, const struct prefix *p)
{
	uint32_t i = k->n_forgets;

	while (i--)
		if (prefix_holds(p, &k->forgets[i]))
			forgets_drop(k, i);
}

/* False: there is no room for it.  @p replaces requests for prefixes within it. */
static bool forget_later(struct keep *k, const struct prefix *p)
{
	forgets_done(k, p);
	if (k->n_forgets == KEEP_FORGETS)
		return false;
	k->forgets[k->n_forgets++] = *p;
	return true;
}

/* Drop the visits in @p that wait, and return their number. */
static uint64_t forget_waiting(struct keep *k, const struct prefix *p)
{
	uint32_t i, stay = 0, n = k->n;

	for (i = 0; i < n; i++) {
		const struct visit *v = &k->waiting[(k->first + i) % KEEP_MAX];

		if (!prefix_holds(p, &v->remote))
			k->waiting[(k->first + stay++) % KEEP_MAX] = *v;
	}
	k->n = stay;
	return n - stay;
}

int keep_forget(struct keep *k, const struct prefix *p, uint64_t *n, bool *waits, struct err *e)
{
	uint64_t waiting = forget_waiting(k, p);
	int rc;

	*n = 0;
	rc = k->history ? forget_rows(k, p, n, e) : is_missing(k, e);
	*n += waiting;
	*waits = rc && forget_later(k, p);
	if (!rc)
		forgets_done(k, p);
	return rc;
}

/* --- searches --------------------------------------------------------------------------- */

/* Note the result of a write, which the next keep_flush() logs. */
static int wrote_search(struct keep *k, int rc)
{
	k->rc = rc;
	k->failed += rc != 0;
	k->searches_wait = rc != 0;
	return rc;
}

int keep_put_searches(struct keep *k, const struct search_row *rows, uint32_t n, int64_t now)
{
	int rc;

	if (!n)
		k->searches_wait = false;
	if (!k->file[0] || !n)
		return 0;
	if (!is_ready(k, now))
		return wrote_search(k, k->rc);
	rc = history_put_searches(k->history, rows, n, now, &k->why);
	if (is_begun_anew(k, rc, &k->why))
		rc = history_put_searches(k->history, rows, n, now, &k->why);
	return wrote_search(k, rc);
}

int keep_delete_search(struct keep *k, const struct prefix *to, const char *dev, int64_t now)
{
	int rc;

	if (!k->file[0])
		return 0;
	if (!is_ready(k, now))
		return wrote_search(k, k->rc);
	rc = history_delete_search(k->history, to, dev, &k->why);
	return wrote_search(k, is_begun_anew(k, rc, &k->why) ? 0 : rc);
}

int keep_searches(struct keep *k, search_fn each, void *data, struct err *e)
{
	int rc = is_missing(k, e);

	if (rc || !k->history)
		return rc;
	rc = history_searches(k->history, each, data, e);
	is_begun_anew(k, rc, e);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Questions to the daemon, by their command: see run.h.
 */
#include <errno.h>
#include <string.h>

#include "answers.h"
#include "json.h"
#include "named.h"
#include "run.h"

static struct asked asked_of(struct daemon *d)
{
	return (struct asked){
		.totals = &d->observer.totals, .remotes = d->observer.remotes, .keep = &d->keep,
		.config = &d->config, .act = d->act,
	};
}

static json_t *config_json(const struct config *c)
{
	json_t *all = json_object();
	char value[CONFIG_VALUE];
	unsigned int i;

	for (i = 0; config_key(i); i++)
		json_object_set_new(all, config_key(i), json_string(config_value(c, i, value)));
	return all;
}

/* The daemon itself, beside what it sees */
static int status(struct daemon *d, const json_t *question, json_t **answer, struct err *e)
{
	const struct asked a = asked_of(d);
	int rc = answer_status(&a, answer, e);

	(void)question;
	if (rc)
		return rc;
	json_object_set_new(*answer, "version", json_string(CTCP_VERSION));
	json_object_set_new(*answer, "up_us", json_count(diag_clock() - d->began_us));
	json_object_set_new(*answer, "config", config_json(&d->config));
	json_object_set_new(*answer, "config_error", *d->refused.text ?
			    json_plain(d->refused.text) : json_null());
	json_object_set_new(*answer, "visits_waiting", json_count(d->keep.n));
	json_object_set_new(*answer, "visits_lost", json_count(d->keep.lost));
	return 0;
}

static int report(struct daemon *d, const json_t *question, json_t **answer, struct err *e)
{
	const struct asked a = asked_of(d);

	(void)question;
	return answer_report(&a, answer, e);
}

static int why(struct daemon *d, const json_t *question, json_t **answer, struct err *e)
{
	const struct asked a = asked_of(d);

	return answer_why(&a, question, answer, e);
}

/* Also what the log has said of them: it says it again. */
struct forgetting {
	struct daemon *daemon;
	const char *text;		/* the prefix, as it was asked for */
	struct prefix prefix;
	uint32_t remotes, paced;	/* so many were */
	uint64_t visits;
};

static int forget_said(struct remote *r, void *data)
{
	const struct forgetting *f = data;

	if (prefix_holds(&f->prefix, &r->addr))
		tell_forget(r, &f->daemon->log);
	return 0;
}

/* What the history keeps though it was to forget it, until when */
static void say_kept(const struct err *why, bool waits, struct err *said)
{
	err_set(said, 0, "the history keeps its rows: %.400s; %sa restart%s takes them up again",
		why->text, waits ? "they go as soon as it can be written, and " : "",
		waits ? " before that" : "");
}

/*
 * As a poll does: what kept it closed may be over, as a full disk is when there is room again.
 * Where searches wait act_forget() has tried it.
 */
static void try_history(struct daemon *d)
{
	if (!d->keep.history)
		keep_flush(&d->keep, now_s());
}

/* What the daemon has goes also where the history keeps what it has: both are told. */
static int forget_prefix(struct forgetting *f, struct err *e)
{
	struct daemon *d = f->daemon;
	struct err why = { "" }, said = { "" };
	bool waits;
	int rc;

	remotes_each(d->observer.remotes, forget_said, f);
	f->remotes = remotes_forget(d->observer.remotes, &f->prefix);
	f->paced = act_forget(d->act, &f->prefix, now_s());
	try_history(d);
	rc = keep_forget(&d->keep, &f->prefix, &f->visits, &waits, &why);
	if (rc)
		say_kept(&why, waits, &said);
	log_say(&d->log, rc ? LOG_WARNING : LOG_INFO,
		"%s is forgotten, as somebody asked: %u remotes, %llu visits, %u that were paced%s%s",
		f->text, f->remotes, (unsigned long long)f->visits, f->paced,
		rc ? "; but " : "", said.text);
	return !rc ? 0 :
	       err_set(e, rc, "%s is forgotten (remotes: %u, no longer paced: %u), but %s",
		       f->text, f->remotes, f->paced, said.text);
}

static int forget(struct daemon *d, const json_t *question, json_t **answer, struct err *e)
{
	struct forgetting f = {
		.daemon = d, .text = json_string_value(json_object_get(question, "remote")),
	};
	struct err why;
	int rc;

	if (!f.text)
		return err_set(e, -EINVAL, "forget whom? \"remote\" is an address or a prefix");
	rc = named_prefix(f.text, &f.prefix, &why);
	if (rc)
		return err_set(e, rc, "\"remote\": %s", why.text);
	rc = forget_prefix(&f, e);
	if (rc)
		return rc;
	*answer = json_pack("{s:o, s:o, s:o}", "remotes", json_count(f.remotes), "visits",
			    json_count(f.visits), "paced", json_count(f.paced));
	return *answer ? 0 : err_set(e, -ENOMEM, "no memory for the answer");
}

static const struct {
	const char *command;
	int (*fn)(struct daemon *d, const json_t *question, json_t **answer, struct err *e);
} commands[] = {
	{ "status", status },
	{ "report", report },
	{ "why", why },
	{ "forget", forget },
};

int daemon_answer(const json_t *question, json_t **answer, void *data, struct err *e)
{
	const char *command = json_string_value(json_object_get(question, "command"));
	size_t i;

	for (i = 0; command && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(command, commands[i].command))
			return commands[i].fn(data, question, answer, e);
	return err_set(e, -EINVAL, "\"%.40s\" is no command; status, report, why and forget are",
		       command ?: "");
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Questions to the daemon, by their command: see run.h.
 */
#include <errno.h>
#include <string.h>

#include "answers.h"
#include "json.h"
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
	struct prefix prefix;
};

static int forget_said(struct remote *r, void *data)
{
	const struct forgetting *f = data;

	if (prefix_holds(&f->prefix, &r->addr))
		tell_forget(r, &f->daemon->log);
	return 0;
}

static int forget(struct daemon *d, const json_t *question, json_t **answer, struct err *e)
{
	const char *prefix = json_string_value(json_object_get(question, "remote"));
	struct forgetting f = { .daemon = d };
	uint32_t remotes, paced;
	uint64_t visits = 0;
	int rc;

	if (!prefix)
		return err_set(e, -EINVAL, "forget whom? \"remote\" is an address or a prefix");
	rc = parse_prefix(prefix, &f.prefix, e);
	if (rc)
		return rc;
	remotes_each(d->observer.remotes, forget_said, &f);
	remotes = remotes_forget(d->observer.remotes, &f.prefix);
	paced = act_forget(d->act, &f.prefix, now_s());
	rc = keep_forget(&d->keep, &f.prefix, &visits, e);
	if (rc)
		return rc;
	log_say(&d->log, LOG_INFO,
		"%s is forgotten, as somebody asked: %u remotes, %llu visits, %u that were paced",
		prefix, remotes, (unsigned long long)visits, paced);
	*answer = json_pack("{s:o, s:o, s:o}", "remotes", json_count(remotes), "visits",
			    json_count(visits), "paced", json_count(paced));
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

// SPDX-License-Identifier: GPL-2.0
/*
 * ctcpd status, report, why, forget: one question to the daemon, and its answer as text or as
 * it is.  And run, which is the daemon.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "commands.h"
#include "control.h"
#include "json.h"
#include "report.h"
#include "run.h"

/* An address, or a prefix that is shorter than one */
static const char *remote_text(const struct prefix *p, char *buf, size_t len)
{
	bool whole = p->len == (p->family == AF_INET ? 32 : 128);

	if (!p->family)
		return NULL;
	return whole ? format_addr(buf, len, p) : format_prefix(buf, len, p);
}

static int ask(const struct options *o, const char *command,
	       void (*print)(FILE *out, const json_t *answer), struct err *e)
{
	char buf[INET6_ADDRSTRLEN + 4];
	json_t *question, *answer;
	int rc;

	question = json_pack("{s:s, s:s?}", "command", command, "remote",
			     remote_text(&o->remote, buf, sizeof(buf)));
	rc = question ? control_ask(o->socket, question, &answer, e) :
	     err_set(e, -ENOMEM, "no memory for the question");
	json_decref(question);
	if (rc)
		return rc;
	if (o->json)
		return print_json(stdout, answer, e);
	print(stdout, answer);
	json_decref(answer);
	return 0;
}

int command_status(const struct options *o, struct err *e)
{
	return ask(o, "status", status_print, e);
}

int command_report(const struct options *o, struct err *e)
{
	return ask(o, "report", report_print, e);
}

int command_why(const struct options *o, struct err *e)
{
	return ask(o, "why", why_print, e);
}

static void print_forgotten(FILE *out, const json_t *answer)
{
	fprintf(out, "forgotten: remotes: %" JSON_INTEGER_FORMAT ", visits: %"
		JSON_INTEGER_FORMAT ", paced: %" JSON_INTEGER_FORMAT "\n",
		json_integer_value(json_object_get(answer, "remotes")),
		json_integer_value(json_object_get(answer, "visits")),
		json_integer_value(json_object_get(answer, "paced")));
}

int command_forget(const struct options *o, struct err *e)
{
	return ask(o, "forget", print_forgotten, e);
}

int command_run(const struct options *o, struct err *e)
{
	const struct run_options options = {
		.config = o->config, .socket = o->socket, .debug = o->debug
	};

	return run(&options, e);
}

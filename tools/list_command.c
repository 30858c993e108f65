// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup list and save: the circuits of this namespace, a line each; for a person,
 * or as the file that apply takes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "out.h"
#include "print.h"
#include "replace.h"
#include "text.h"
#include "units.h"

static void list_text(const struct state *st)
{
	char rate[32], rtt[32], to[TO_TEXT], dev[IFNAMSIZ];
	uint32_t i;

	if (!st->n_circuits) {
		printf("no circuit in this network namespace\n");
		return;
	}
	printf("%-16s %-15s %10s %8s %-6s %s\n", "NAME", "DEV", "RATE", "RTT", "SHAPER", "TO");
	for (i = 0; i < st->n_circuits; i++) {
		const struct circuit *c = &st->circuits[i].circuit;

		printf("%-16s %-15s %10s %8s %-6s %s%s\n", c->name,
		       text_copy(dev, sizeof(dev), c->dev),
		       format_rate(rate, sizeof(rate), c->rate),
		       format_time(rtt, sizeof(rtt), c->rtt_us), shaper_name(c->shaper),
		       c->n_to ? format_to(to, sizeof(to), c) : "all",
		       c->ctcpd ? " (ctcpd's)" : "");
	}
}

static json_t *json_circuit(const struct member *m)
{
	const struct circuit *c = &m->circuit;
	json_t *root = json_pack("{s:s, s:o, s:I, s:I, s:s, s:b, s:b}", "name", c->name,
				 "dev", json_plain(c->dev), "rate_bit_s", (json_int_t)(c->rate * 8),
				 "rtt_us", (json_int_t)c->rtt_us,
				 "shaper", shaper_name(c->shaper), "pace", c->pace,
				 "trial", m->standing == TRIAL);

	if (c->n_to)
		json_object_set_new(root, "to", json_to(c));
	if (c->ctcpd)
		json_object_set_new(root, "owner", json_string("ctcpd"));
	else
		json_algorithm(root, c);
	return root;
}

static json_t *list_json(const struct state *st)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++)
		json_array_append_new(list, json_circuit(&st->circuits[i]));
	return list;
}

/*
 * With a begin and an end, by which apply knows a file that was cut short.  What the daemon
 * paces it finds out anew, by what the remotes take then.
 */
static struct out saved(const struct state *st)
{
	struct out o = { .grows = true };
	uint32_t i;

	out_text(&o, "begin # circuits, for ctcp-setup apply\n");
	for (i = 0; i < st->n_circuits; i++) {
		struct circuit c = st->circuits[i].circuit;

		if (c.ctcpd)
			continue;
		text_clean(c.dev);
		out_text(&o, "add");
		circuit_put(&o, &c);
	}
	out_text(&o, "end\n");
	return o;
}

static int run_list(struct session *s, void *unused, struct err *e)
{
	int rc = session_peek(s, e);

	(void)unused;
	if (!rc)
		print_waiting(&s->waits, s->args->json);
	if (!rc && s->args->json)
		rc = print_json(stdout, list_json(&s->state), e);
	else if (!rc)
		list_text(&s->state);
	return rc;
}

int command_list(const struct args *a, struct err *e)
{
	return session_run(a, run_list, NULL, e);
}

static int save(const char *name, const struct state *st, struct err *e)
{
	struct out o = saved(st);
	int rc = 0;

	if (o.failed)
		rc = err_set(e, -ENOMEM, "out of memory");
	else if (name)
		rc = replace_file(name, o.text, o.used, e);
	else
		fwrite(o.text, 1, o.used, stdout);
	free(o.text);
	return rc;
}

static int run_save(struct session *s, void *unused, struct err *e)
{
	int rc = session_peek(s, e);

	(void)unused;
	return rc ? rc : save(s->args->target, &s->state, e);
}

int command_save(const struct args *a, struct err *e)
{
	return session_run(a, run_save, NULL, e);
}

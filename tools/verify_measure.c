// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup verify --measure: does each circuit carry what was planned?
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "measure_read.h"
#include "print.h"
#include "verify.h"

static void judge(const struct session *s, uint32_t i, const struct measure *m,
		  struct judgement *j)
{
	const struct planned *p = &s->planned[i];
	const struct circuit *c = &s->state.circuits[i].circuit;

	if (!p->rc) {
		measure_judge(m, c, &p->plan, j);
		return;
	}
	*j = (struct judgement){ .planned = c->rate, .reason = REASON_UNPLANNED };
}

static int name_width(const struct session *s)
{
	int width = (int)strlen("circuit"), n;
	uint32_t i;

	for (i = 0; i < s->state.n_circuits; i++) {
		n = (int)strlen(circuit_name(&s->state.circuits[i].circuit));
		if (session_shows(s, i) && n > width)
			width = n;
	}
	return width;
}

/* With --quiet only what is short is told of. */
static void tell(const struct session *s, const struct measured *m, json_t *list)
{
	if (list)
		json_array_append_new(list, json_measured(m));
	else if (!s->args->quiet || m->judgement->verdict == VERDICT_SHORT)
		print_measured(stdout, name_width(s), m);
}

static uint32_t tell_all(const struct session *s, const struct measure *measures, json_t *list)
{
	uint32_t i, shorts = 0;

	if (!list && !s->args->quiet)
		print_measured_head(stdout, name_width(s));
	for (i = 0; i < s->state.n_circuits; i++) {
		struct judgement j;
		const struct measured m = {
			&s->state.circuits[i].circuit, &s->planned[i].plan, &measures[i], &j,
			planned_why(&s->planned[i]),
		};

		/* what a remote takes, and not what was planned, is the daemon's measure */
		if (!session_shows(s, i) || m.circuit->ctcpd)
			continue;
		judge(s, i, &measures[i], &j);
		tell(s, &m, list);
		shorts += j.verdict == VERDICT_SHORT;
	}
	return shorts;
}

/* @list: for JSON, or NULL.  *@shorts: circuits that are busy and short of their rates */
int verify_measure(struct session *s, json_t *list, uint32_t *shorts, struct err *e)
{
	struct measure *measures = calloc(s->state.n_circuits + 1, sizeof(*measures));
	int rc;

	if (!measures)
		return err_set(e, -ENOMEM, "out of memory");
	fflush(stdout);		/* differences are told of before the wait */
	rc = measure_circuits(s, s->args->for_us ?: MEASURE_US, measures, e);
	if (!rc)
		*shorts = tell_all(s, measures, list);
	free(measures);
	return rc;
}

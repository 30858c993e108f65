/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What people and programs read.
 */
#ifndef CTCP_PRINT_H
#define CTCP_PRINT_H

#include <stdio.h>

#include "diff.h"
#include "event.h"
#include "json.h"
#include "live.h"
#include "measure.h"
#include "plan.h"

void print_notes(FILE *out, const struct notes *notes);
void print_head(FILE *out, const struct circuit *c);
void print_plan(FILE *out, const struct circuit *c, const struct plan *p);
void print_chosen(FILE *out, const struct notes *chosen, bool comment);
void print_changes(FILE *out, const struct diff *ch, bool made);
int print_commands(FILE *out, const struct diff *ch, struct err *e);
void print_bytes(FILE *out, uint64_t bytes, const char *tail);
json_t *json_to(const struct circuit *c);
void json_algorithm(json_t *root, const struct circuit *c);
json_t *json_plan(const struct circuit *c, const struct plan *p);
json_t *json_changes(const struct diff *ch);
int json_commands(json_t *list, const struct diff *ch, struct err *e);
json_t *json_notes(const struct notes *notes);
const char *drift_text(const struct change *c, char *buf, size_t len);
const char *leftover_text(const struct change *c, char *buf, size_t len);
int change_commands(const struct change *c, const char *device, char *buf, size_t len);

#define ITEM_TEXT	256	/* a value as item_describe() tells it */
#define DRIFT_TEXT	640	/* a line of drift_text() */
#define WORD(size) (4 * (size) + 3)	/* room for shell_word() of so much */

const char *shell_word(char *buf, size_t len, const char *word);
const char *tc_rate(char *buf, size_t len, uint64_t rate);

/* print_confirm.c */
void print_waiting(const struct confirm *c, bool json);
void print_begun(const struct confirm *c);
json_t *json_confirm(const struct confirm *c);

/* print_live.c */
void print_selectors(FILE *out, const struct object *o);
void print_evidence(FILE *out, const struct evidence *ev);
void print_live(FILE *out, const struct live *l);
void print_totals(FILE *out, const struct totals *t);
void print_event(FILE *out, const struct event *ev);
json_t *json_live(const struct live *l);
json_t *json_totals(const struct totals *t);
json_t *json_event(const struct event *ev);

/* print_measure.c */
struct measured {
	const struct circuit *circuit;
	const struct plan *plan;
	const struct measure *measure;
	const struct judgement *judgement;
	const char *trouble;		/* why there is no plan, "" = there is one */
};

#define WHY_TEXT	512

const char *measured_why(const struct measured *m, char *buf, size_t len);
void print_measured_head(FILE *out, int width);
void print_measured(FILE *out, int width, const struct measured *m);
json_t *json_measured(const struct measured *m);

#endif

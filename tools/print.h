/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What people and programs read.
 */
#ifndef CTCP_PRINT_H
#define CTCP_PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "changes.h"
#include "live.h"
#include "plan.h"

void print_notes(FILE *out, const struct notes *notes);
void print_plan(FILE *out, const struct circuit *c, const struct plan *p);
void print_changes(FILE *out, const struct changes *ch);
void print_commands(FILE *out, const struct circuit *c, const struct changes *ch);
void print_live(FILE *out, const struct live *l);
json_t *json_live(const struct live *l);
json_t *json_plan(const struct circuit *c, const struct plan *p);
json_t *json_changes(const struct changes *ch);
json_t *json_notes(const struct notes *notes);
int print_json(FILE *out, json_t *root);
int change_commands(const struct change *c, const char *dev, char *buf, size_t len);

#endif

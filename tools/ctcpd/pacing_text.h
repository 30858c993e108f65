/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an answer has of pacing, as text: report.h, "pacing".
 */
#ifndef CTCPD_PACING_TEXT_H
#define CTCPD_PACING_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "cells.h"

#define PACED_CELL	(ROUGH_TEXT + 2)

/* Of all remotes together, behind @label; nothing, where the answer has none */
void pacing_put_totals(FILE *out, const char *label, const json_t *totals);
/* "900mbit", "900mbit?" while it is tried, "(900mbit)" what `act` would begin with, "-" */
const char *pacing_cell(const json_t *pacing, char buf[PACED_CELL]);
bool pacing_any(const json_t *remotes);		/* that needs the column */
/* Of one remote: sentences */
void pacing_put(FILE *out, const json_t *pacing);
/* What is paced, a row each, and how much it helped */
void pacing_put_list(FILE *out, const json_t *list);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plans of a session's circuits, which its diff is made from, and what becomes of a
 * circuit that cannot be planned: an error where it is asked for, else it has no plan.
 */
#ifndef CTCP_SESSION_PLAN_H
#define CTCP_SESSION_PLAN_H

#include "session.h"

int plan_all(struct session *s, struct err *e);
void planned_set(struct session *s, uint32_t i, int rc, const struct err *why);
void plan_free(struct session *s);
uint64_t need_of_all(const struct session *s);
bool is_strict(const struct session *s);
bool is_not_answered(int rc);
bool stops(const struct session *s, uint32_t i);
int cannot_plan(struct session *s, uint32_t i, struct err *e);

#endif

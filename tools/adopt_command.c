// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup adopt NAME: connections of a circuit that began before it, or chose another
 * algorithm, are given circuit as they run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "adopt.h"
#include "command.h"
#include "print.h"

#define NAMES_TOLD	8	/* circuits, in a message */

/* What is left as it is, after the number of them */
static const char * const left_text[FATES] = {
	[FATE_CIRCUIT] = "with circuit already",
	[FATE_ORPHANED] = "closed by the process",
	[FATE_UNACCEPTED] = "not accepted yet",
	[FATE_MPTCP] = "of MPTCP",
	[FATE_CLOSED] = "ended meanwhile",
	[FATE_WANTED] = "of no process that is seen here",
};

static const char * const left_key[FATES] = {
	[FATE_CIRCUIT] = "circuit", [FATE_ORPHANED] = "orphaned",
	[FATE_UNACCEPTED] = "unaccepted", [FATE_MPTCP] = "mptcp",
	[FATE_CLOSED] = "ended", [FATE_WANTED] = "no_process",
};

/* --- text ------------------------------------------------------------------ */

static int address_width(const struct adoption *ad)
{
	char addr[64];
	int width = 15;
	uint32_t i;

	for (i = 0; i < ad->n; i++) {
		int len = (int)strlen(format_addr(addr, sizeof(addr), &ad->list[i].conn.peer));

		if (ad->list[i].fate == FATE_ADOPTED && len > width)
			width = len;
	}
	return width;
}

static void print_table(const struct adoption *ad)
{
	int width = address_width(ad);
	char addr[64];
	uint32_t i;

	if (!ad->count[FATE_ADOPTED])
		return;
	printf("%-*s %5s %5s %7s %-15s %s\n", width, "PEER", "PORT", "LOCAL", "PID", "PROGRAM",
	       "BEFORE");
	for (i = 0; i < ad->n; i++) {
		const struct adoptee *a = &ad->list[i];

		if (a->fate == FATE_ADOPTED)
			printf("%-*s %5u %5u %7d %-15s %s\n", width,
			       format_addr(addr, sizeof(addr), &a->conn.peer), a->conn.peer_port,
			       a->conn.local_port, a->pid, a->program, a->conn.algorithm);
	}
}

static void print_left(const struct adoption *ad)
{
	const char *between = " left: ";
	int fate;

	for (fate = 0; fate < FATES; fate++) {
		if (!left_text[fate] || !ad->count[fate])
			continue;
		printf("%s%u %s", between, ad->count[fate], left_text[fate]);
		between = ", ";
	}
}

static void print_text(const struct adoption *ad, const char *name)
{
	uint32_t n = ad->count[FATE_ADOPTED];

	print_table(ad);
	if (n)
		printf("%s: %u connection%s %s", name, n, n == 1 ? "" : "s",
		       ad->dry_run ? "to adopt" : "adopted");
	else
		printf("%s: no connection %s", name, ad->dry_run ? "to adopt" : "adopted");
	if (n + ad->count[FATE_REFUSED] < ad->n)
		printf(";");
	print_left(ad);
	printf("\n");
}

/* --- JSON ------------------------------------------------------------------ */

static json_t *json_adoptee(const struct adoptee *a)
{
	char peer[64], local[64];

	return json_pack("{s:s, s:I, s:s, s:I, s:I, s:I, s:s, s:s}",
			 "peer", format_addr(peer, sizeof(peer), &a->conn.peer),
			 "port", (json_int_t)a->conn.peer_port,
			 "local", format_addr(local, sizeof(local), &a->conn.local),
			 "local_port", (json_int_t)a->conn.local_port,
			 "uid", (json_int_t)a->conn.uid,
			 "pid", (json_int_t)a->pid, "program", a->program,
			 "before", a->conn.algorithm);
}

static const char *reason(const struct adoptee *a)
{
	return a->error ? strerror(a->error) : "nothing gives it a window";
}

static json_t *json_refused(const struct adoptee *a)
{
	json_t *root = json_adoptee(a);

	json_object_set_new(root, "step", json_string(a->step));
	json_object_set_new(root, "reason", json_string(reason(a)));
	return root;
}

static json_t *json_left(const struct adoption *ad)
{
	json_t *left = json_object();
	int fate;

	for (fate = 0; fate < FATES; fate++)
		if (left_key[fate])
			json_object_set_new(left, left_key[fate], json_integer(ad->count[fate]));
	return left;
}

static json_t *json_adoption(const struct adoption *ad, const char *name)
{
	json_t *adopted = json_array(), *refused = json_array();
	uint32_t i;

	for (i = 0; i < ad->n; i++) {
		if (ad->list[i].fate == FATE_ADOPTED)
			json_array_append_new(adopted, json_adoptee(&ad->list[i]));
		if (ad->list[i].fate == FATE_REFUSED)
			json_array_append_new(refused, json_refused(&ad->list[i]));
	}
	return json_pack("{s:s, s:b, s:o, s:o, s:o}", "circuit", name, "dry_run", ad->dry_run,
			 "adopted", adopted, "refused", refused, "left", json_left(ad));
}

/* --- what could not be had ------------------------------------------------- */

static const char *needs(const struct adoptee *a)
{
	bool refused = a->error == EPERM;

	if (!strcmp(a->step, "TCP_CONGESTION"))
		return refused ? ", as where its route has congctl lock" : "";
	if (!strncmp(a->step, "pidfd", strlen("pidfd")))
		return refused ? ", which needs CAP_SYS_PTRACE" :
				 ", a call of Linux 5.6 and later";
	return "";
}

static int say_refused(const struct adoption *ad, struct err *e)
{
	const struct adoptee *a = ad->list;
	char addr[64];

	while (a->fate != FATE_REFUSED)
		a++;
	return err_set(e, -EPERM,
		       "%u of %u connections not adopted; the first, to %s port %u, of process %d (%s): %s: %s%s",
		       ad->count[FATE_REFUSED], ad->count[FATE_REFUSED] + ad->count[FATE_ADOPTED],
		       format_addr(addr, sizeof(addr), &a->conn.peer), a->conn.peer_port, a->pid,
		       a->program, a->step, reason(a), needs(a));
}

static int verdict(const struct adoption *ad, struct err *e)
{
	if (ad->count[FATE_REFUSED])
		return say_refused(ad, e);
	if (ad->count[FATE_WANTED] && ad->blind)
		return err_set(e, -EPERM,
			       "no process was found for %u connections, and %u processes do not show what they hold, which needs CAP_SYS_PTRACE",
			       ad->count[FATE_WANTED], ad->blind);
	return 0;
}

static int no_circuit(const struct lives *ls, const char *name, struct err *e)
{
	char names[NAMES_TOLD * (TCP_CIRCUIT_NAME_LEN + 1)] = "";
	uint32_t i, n = 0;

	for (i = 0; i < ls->n; i++) {
		if (ls->list[i].no_object || n++ >= NAMES_TOLD)
			continue;
		if (names[0])
			strcat(names, ", ");
		strcat(names, ls->list[i].object.name);
	}
	if (!n)
		return err_set(e, -ENOENT,
			       "there is no circuit %s, nor any other; ctcp-setup add makes one",
			       name);
	if (n > NAMES_TOLD)
		return err_set(e, -ENOENT,
			       "there is no circuit %s; ctcp-setup circuit list names those there are",
			       name);
	return err_set(e, -ENOENT, "there is no circuit %s; there %s %s", name,
		       n == 1 ? "is" : "are", names);
}

/* --- the command ----------------------------------------------------------- */

static int report(const struct adoption *ad, const struct args *a, struct err *e)
{
	if (a->json)
		return print_json(stdout, json_adoption(ad, a->name), e);
	if (!a->quiet)
		print_text(ad, a->name);
	return 0;
}

static int adopt(const struct args *a, const struct lives *ls, struct err *e)
{
	struct adoption ad = { .dry_run = a->dry_run };
	const struct live *of = lives_find(ls, a->name);
	int rc = of ? adoption_find(&ad, ls, of, e) : no_circuit(ls, a->name, e);

	if (!rc)
		rc = adoption_do(&ad, e);
	if (!rc)
		rc = report(&ad, a, e);
	if (!rc)
		rc = verdict(&ad, e);
	adoption_free(&ad);
	return rc;
}

/* Without it neither marks are shown, nor is circuit given. */
int command_adopt(const struct args *a, struct err *e)
{
	struct lives ls;
	int rc = need_net_admin("", e);

	if (!rc)
		rc = lives_read(&ls, e);
	if (rc)
		return rc;
	rc = adopt(a, &ls, e);
	lives_free(&ls);
	return rc;
}

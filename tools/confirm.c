// SPDX-License-Identifier: GPL-2.0
/*
 * A change that waits for confirmation: see confirm.h.
 */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "confirm.h"
#include "text.h"
#include "words.h"

#define LOGIN_UID "/proc/self/loginuid"

/* It goes on while the machine sleeps, and nobody sets it. */
uint64_t boottime_ns(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* --- arithmetic and sentences ---------------------------------------------- */

bool confirm_is_over(const struct confirm *c, uint64_t now)
{
	return c->deadline && (c->reverting || now >= c->deadline);
}

/* Two deadlines may be alike, where a clock is coarse. */
bool confirm_equal(const struct confirm *a, const struct confirm *b)
{
	return a->deadline == b->deadline && a->pid == b->pid;
}

/* A second that has begun counts. */
uint64_t confirm_left_s(const struct confirm *c, uint64_t now)
{
	return confirm_is_over(c, now) ? 0 : (c->deadline - now + 999999999) / 1000000000;
}

uint64_t confirm_left_us(const struct confirm *c, uint64_t now)
{
	return confirm_is_over(c, now) ? 0 : (c->deadline - now) / 1000;
}

const char *confirm_whose(const struct confirm *c, char buf[CONFIRM_TEXT])
{
	snprintf(buf, CONFIRM_TEXT, "the change of %s (uid %u, process %d%s%s, \"%s\")", c->user,
		 c->uid, c->pid, c->tty[0] ? " on " : "", c->tty, c->command);
	return buf;
}

const char *confirm_text(const struct confirm *c, uint64_t now, char buf[CONFIRM_TEXT])
{
	char whose[CONFIRM_TEXT];

	confirm_whose(c, whose);
	if (confirm_is_over(c, now))
		snprintf(buf, CONFIRM_TEXT,
			 "%.400s was not confirmed in time; the next command that changes anything takes it back",
			 whose);
	else
		snprintf(buf, CONFIRM_TEXT, "%.440s waits for confirmation, %" PRIu64 " s left",
			 whose, confirm_left_s(c, now));
	return buf;
}

/* As it was typed, but for the order of options; what is longer is cut. */
void confirm_command(struct confirm *c, int argc, char **argv)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int i;

	if (!out)
		return;
	fputs("ctcp-setup", out);
	for (i = strcmp(argv[0], "ctcp-setup") ? 0 : 1; i < argc; i++)
		word_print(out, argv[i]);
	if (!fclose(out)) {
		snprintf(c->command, sizeof(c->command), "%s", text);
		text_clean(c->command);
	}
	free(text);
}

/* --- who ------------------------------------------------------------------- */

/* Who logged in, also behind sudo. */
static uint32_t login_uid(void)
{
	uint32_t uid = UINT32_MAX;
	FILE *f = fopen(LOGIN_UID, "re");

	if (f && fscanf(f, "%" SCNu32, &uid) != 1)
		uid = UINT32_MAX;
	if (f)
		fclose(f);
	return uid == UINT32_MAX ? getuid() : uid;
}

void confirm_caller(struct confirm *c)
{
	const struct passwd *pw;
	int fd;

	c->uid = login_uid();
	c->pid = getpid();
	pw = getpwuid(c->uid);
	if (pw)
		snprintf(c->user, sizeof(c->user), "%s", pw->pw_name);
	else
		snprintf(c->user, sizeof(c->user), "%u", c->uid);
	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (!ttyname_r(fd, c->tty, sizeof(c->tty)))
			break;
	if (fd > STDERR_FILENO)
		c->tty[0] = 0;
	text_clean(c->user);
	text_clean(c->tty);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup reset [ADDRESS]: a breaker that tripped holds the window cut until the
 * path has been quiet for long; somebody who has seen to the path need not wait.
 */
#include <errno.h>
#include <stdio.h>

#include "command.h"
#include "live.h"

static void report(const struct prefix *peer, uint32_t was)
{
	char addr[64];

	if (peer->family)
		printf("%s: ", format_addr(addr, sizeof(addr), peer));
	if (was)
		printf("%u breaker%s reset\n", was, was > 1 ? "s" : "");
	else
		printf("no breaker is tripped\n");
}

/* -ENOENT also if it went meanwhile: its last socket was closed. */
static int no_circuit(const struct prefix *peer, struct err *e)
{
	char addr[64];

	return err_set(e, -ENOENT,
		       "no socket of this network namespace holds a circuit to %s; ctcp-setup show lists those there are",
		       format_addr(addr, sizeof(addr), peer));
}

/* What the kernel has afterwards must be what was asked for. */
static int check_reset(const struct prefix *peer, struct err *e)
{
	struct lives now;
	uint32_t left;
	int rc = lives_read(&now, e);

	if (rc)
		return rc;
	left = lives_tripped(&now, peer);
	lives_free(&now);
	return left ? err_set(e, -EIO,
			      "%u breaker%s still tripped; ctcp-setup show tells which",
			      left, left > 1 ? "s are" : " is") : 0;
}

int command_reset(const struct args *a, struct err *e)
{
	struct lives before;
	uint32_t was;
	bool known;
	int rc = need_net_admin("", e);

	if (!rc)
		rc = lives_read(&before, e);
	if (rc)
		return rc;
	was = lives_tripped(&before, &a->peer);
	known = !a->peer.family || lives_know(&before, &a->peer);
	lives_free(&before);
	if (!known)
		return no_circuit(&a->peer, e);
	rc = lives_reset(&a->peer, e);
	if (rc == -ENOENT && a->peer.family)
		return no_circuit(&a->peer, e);
	if (!rc)
		rc = check_reset(&a->peer, e);
	if (!rc && !a->quiet)
		report(&a->peer, was);
	return rc;
}

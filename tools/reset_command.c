// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup reset [NAME | ADDRESS]: a breaker that tripped holds the window cut
 * until the path has been quiet for long; somebody who has seen to the path need
 * not wait.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>

#include "command.h"
#include "live.h"
#include "route.h"

static const char *whose(const struct args *a, char *buf, size_t len)
{
	return a->name[0] ? a->name : format_addr(buf, len, &a->peer);
}

static void report(const struct args *a, uint32_t closed)
{
	char buf[64];

	if (a->name[0] || a->peer.family)
		printf("%s: ", whose(a, buf, sizeof(buf)));
	if (closed)
		printf("%u breaker%s reset\n", closed, closed > 1 ? "s" : "");
	else
		printf("no breaker is tripped\n");
}

static int failed(const struct args *a, int rc, struct err *e)
{
	char buf[64], why[sizeof(e->text)];

	if (rc == -ENOENT && a->name[0])
		return err_set(e, rc,
			       "there is no circuit %s; ctcp-setup show lists those there are",
			       a->name);
	if (rc == -ENOENT && a->peer.family)
		return err_set(e, rc,
			       "no circuit and no socket of this network namespace is for %s; ctcp-setup show lists those there are",
			       whose(a, buf, sizeof(buf)));
	snprintf(why, sizeof(why), "%s", e->text);
	return err_set(e, rc, "the kernel resets no breaker: %s", why);
}

static int uncounted(int rc, struct err *e)
{
	struct err why = *e;

	return err_set(e, rc, "the breakers are reset, but how many there were is not known: %.600s",
		       why.text);
}

/* How many are open, of all circuits: between two looks those that were reset closed. */
static int count_tripped(uint32_t *n, struct err *e)
{
	struct lives all;
	int rc = lives_read(&all, e);

	*n = lives_tripped(&all);
	lives_free(&all);
	return rc;
}

/* The device by which connections to @peer leave, 0 if there is no way to it. */
static int device_to(const struct prefix *peer)
{
	struct err unused = { "" };
	struct route r;
	struct nl nl;
	int index = 0;

	if (nlm_open(&nl, NETLINK_ROUTE, &unused))
		return 0;
	if (!route_lookup(&nl, peer, NULL, 0, &r, &unused))
		index = route_ifindex(&r);
	nlm_close(&nl);
	return index;
}

/* By the device that connections take today; else by whichever they took. */
static int reset(const struct args *a, struct err *e)
{
	int index = a->peer.family ? device_to(&a->peer) : 0, rc;
	struct genl g;

	rc = genl_open(&g, e);
	if (!rc)
		rc = lives_reset(&g, a->name, &a->peer, index, e);
	if (rc == -ENOENT && index)
		rc = lives_reset(&g, a->name, &a->peer, 0, e);
	genl_close(&g);
	if (rc && g.nl.unanswered)
		return nlm_not_known(rc, "a breaker is reset", "show", e);
	return rc ? failed(a, rc, e) : 0;
}

int command_reset(const struct args *a, struct err *e)
{
	uint32_t before, after;
	int rc = need_net_admin("", e);

	if (!rc)
		rc = count_tripped(&before, e);
	if (rc)
		return rc;
	rc = reset(a, e);
	if (rc || a->quiet)
		return rc;
	rc = count_tripped(&after, e);
	if (rc)
		return uncounted(rc, e);
	report(a, before > after ? before - after : 0);
	return 0;
}

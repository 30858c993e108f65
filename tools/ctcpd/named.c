// SPDX-License-Identifier: GPL-2.0
/*
 * Remotes as they are named: see named.h.
 */
#include <errno.h>
#include <string.h>

#include "named.h"

#define MAPPED_BITS	96U

/* ::ffff:192.0.2.7.  What has these bits is no shorter than they are. */
static void unmap(struct prefix *p)
{
	static const unsigned char mapped[MAPPED_BITS / 8] = { [10] = 0xff, 0xff };
	struct prefix v4 = { .family = AF_INET, .len = p->len - MAPPED_BITS };

	if (p->family != AF_INET6 || memcmp(p->addr, mapped, sizeof(mapped)))
		return;
	memcpy(v4.addr, p->addr + sizeof(mapped), 4);
	*p = v4;
}

/* fe80::1%eth0 */
static int check_device(const char *s, struct err *e)
{
	if (!strchr(s, ':') || !strchr(s, '%'))
		return 0;
	return err_set(e, -EINVAL,
		       "\"%.60s\" names a device; a remote is its address alone, %.*s",
		       s, (int)strcspn(s, "%"), s);
}

int named_address(const char *s, struct prefix *p, struct err *e)
{
	int rc = check_device(s, e);

	if (rc)
		return rc;
	if (parse_address(s, p))
		return err_set(e, -EINVAL, "\"%.60s\" is not an address; write e.g. 192.0.2.7", s);
	unmap(p);
	return 0;
}

int named_prefix(const char *s, struct prefix *p, struct err *e)
{
	static const char to[] = "--to: ";
	struct err why;
	int rc = check_device(s, e);

	if (rc)
		return rc;
	/* its sentence names ctcp-setup's option, and there is none here */
	if (parse_prefix(s, p, &why))
		return err_set(e, -EINVAL, "%s",
			       why.text + (strncmp(why.text, to, strlen(to)) ? 0 : strlen(to)));
	unmap(p);
	return 0;
}

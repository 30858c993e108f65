// SPDX-License-Identifier: GPL-2.0
/*
 * A root qdisc that no state tells of, though ctcpd sets up such ones: its state was deleted, or
 * it was let go of.  Whose it is cannot be told any more, so that it is left as it is.
 */
#include <errno.h>
#include <net/if.h>

#include "hands_class.h"
#include "htb.h"
#include "qdisc.h"
#include "state.h"
#include "store.h"

static bool has_root(const struct state *st, int ifindex)
{
	uint32_t i;

	for (i = 0; i < st->n_base; i++)
		if (st->base[i].kind == ITEM_QDISC && st->base[i].ifindex == ifindex)
			return true;
	return false;
}

bool hands_is_unrecorded(const struct state *st, int ifindex, const struct qdisc *root)
{
	return root->state == QDISC_HTB && root->defcls == CLASS_REST && !has_root(st, ifindex);
}

int hands_check_record(struct nl *nl, const struct state *st, const struct store *s, int ifindex,
		       const char *dev, struct err *e)
{
	char path[320];
	struct qdisc q;
	int rc = qdisc_read(nl, ifindex, &q, NULL, e);

	if (rc || !hands_is_unrecorded(st, ifindex, &q))
		return rc;
	store_path(s, path, sizeof(path));
	return hands_why_unrecorded(dev, path, e);
}

static int read_and_check(struct store *s, struct state *st, int ifindex, const char *dev,
			  struct err *e)
{
	struct nl nl;
	int rc = store_open(s, e) ?: store_read(s, st, e) ?: nlm_open(&nl, NETLINK_ROUTE, e);

	if (rc)
		return rc;
	rc = hands_check_record(&nl, st, s, ifindex, dev, e);
	nlm_close(&nl);
	return rc;
}

int hands_unrecorded(int ifindex, struct err *e)
{
	struct state st = { 0 };
	struct store s;
	char dev[IFNAMSIZ];
	int rc;

	if (!if_indextoname((unsigned int)ifindex, dev))
		return err_set(e, -ENODEV, "there is no device of index %d any more", ifindex);
	rc = read_and_check(&s, &st, ifindex, dev, e);
	store_close(&s);
	state_free(&st);
	return rc;
}

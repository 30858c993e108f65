// SPDX-License-Identifier: GPL-2.0
/*
 * Drops of the qdiscs of all devices: see qdrops.h.
 *
 * What a parent counts depends on its kind.  mq and mqprio add up their children whenever they
 * are dumped (mq_dump()).  htb, tbf, prio and the like count a packet that a child refuses, and
 * what a child drops later (qdisc_tree_reduce_backlog()), but not what it takes and loses, as
 * netem does.  So what was dropped at a qdisc and below it is its own count or the sum of its
 * children's, whichever is more.
 *
 * A child is read after its parent, and may have dropped something meanwhile, which the parent
 * tells at the next read: the two are compared by what they dropped since they were first seen,
 * so that it counts once all the same.
 */
#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "qdisc.h"
#include "qdrops.h"

struct node {
	int ifindex;
	uint32_t parent, handle;	/* as the kernel numbers them; handle 0: by default there */
	char kind[16];
	uint32_t drops;			/* as the kernel counts them */
	uint64_t before, now;		/* since it was first seen, at the last read and at this */
	struct node *child, *sibling;
};

struct nodes {
	uint32_t n;
	struct node *list;		/* by compare() */
};

struct qdrops {
	struct nodes seen;
};

/* --- read ------------------------------------------------------------------ */

static int keep_node(struct nodes *nodes, const struct node *node)
{
	struct node *more = grown(nodes->list, nodes->n, sizeof(*more));

	if (!more)
		return -ENOMEM;
	nodes->list = more;
	more[nodes->n++] = *node;
	return 0;
}

static void read_attr(const struct nlattr *attr, struct node *node)
{
	struct qdisc_stats stats = { 0 };

	if (mnl_attr_get_type(attr) == TCA_KIND)
		kind_get(attr, node->kind);
	if (mnl_attr_get_type(attr) != TCA_STATS2)
		return;
	stats_get(attr, &stats);
	node->drops = stats.drops;
}

static int on_qdisc(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	struct node node = { 0 };

	if (nlh->nlmsg_type != RTM_NEWQDISC || mnl_nlmsg_get_payload_len(nlh) < sizeof(*tcm))
		return MNL_CB_OK;
	node.ifindex = tcm->tcm_ifindex;
	node.parent = tcm->tcm_parent;
	node.handle = tcm->tcm_handle;
	mnl_attr_for_each(attr, nlh, sizeof(*tcm))
		read_attr(attr, &node);
	errno = -keep_node(data, &node);
	return errno ? MNL_CB_ERROR : MNL_CB_OK;
}

/* --- compare --------------------------------------------------------------- */

static int order(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* By device, the root first, as TC_H_ROOT + 1 is 0 */
static int compare(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return order((uint32_t)x->ifindex, (uint32_t)y->ifindex) ?:
	       order(x->parent + 1, y->parent + 1) ?: order(x->handle, y->handle);
}

static void sort_nodes(struct nodes *nodes)
{
	if (nodes->n)
		qsort(nodes->list, nodes->n, sizeof(*nodes->list), compare);
}

static struct node *find_same(const struct nodes *nodes, const struct node *node)
{
	return nodes->n ? bsearch(node, nodes->list, nodes->n, sizeof(*nodes->list), compare) :
			  NULL;
}

/*
 * 32 bits wrap.  One that went back is a new qdisc with the old one's number, or an mq of which
 * a child was replaced.
 */
static uint32_t more_drops(uint32_t before, uint32_t now)
{
	uint32_t by = now - before;

	return by < 1U << 31 ? by : 0;
}

/* What was not there before counts nothing. */
static void count_nodes(struct nodes *now, const struct nodes *before)
{
	const struct node *old;
	uint32_t i;

	for (i = 0; i < now->n; i++) {
		struct node *node = &now->list[i];

		old = find_same(before, node);
		if (!old || strcmp(old->kind, node->kind))
			continue;
		node->before = old->now;
		node->now = old->now + more_drops(old->drops, node->drops);
	}
}

/* --- trees ----------------------------------------------------------------- */

static int by_handle(const void *a, const void *b)
{
	const struct node *const *x = a, *const *y = b;

	return order((uint32_t)(*x)->ifindex, (uint32_t)(*y)->ifindex) ?:
	       order((*x)->handle, (*y)->handle);
}

static bool is_root(const struct node *node)
{
	return node->parent == TC_H_ROOT;
}

/*
 * The qdisc below one of whose classes it is.  Those that the kernel puts below a default mq
 * have handle 0, as the mq has, and nothing is below them.
 */
static struct node *parent_of(const struct node *child, struct node **list, uint32_t n,
			      struct node *root)
{
	struct node key = { .ifindex = child->ifindex, .handle = TC_H_MAJ(child->parent) };
	const struct node *wanted = &key;
	struct node **found;

	if (!key.handle)
		return root && !root->handle ? root : NULL;
	found = bsearch(&wanted, list, n, sizeof(*list), by_handle);
	return found ? *found : NULL;
}

static int link_nodes(struct nodes *nodes)
{
	struct node **list = calloc(nodes->n + 1, sizeof(*list)), *root = NULL, *parent;
	uint32_t i;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < nodes->n; i++)
		list[i] = &nodes->list[i];
	qsort(list, nodes->n, sizeof(*list), by_handle);
	for (i = 0; i < nodes->n; i++) {
		struct node *node = &nodes->list[i];

		if (!root || root->ifindex != node->ifindex)
			root = NULL;
		if (is_root(node)) {
			root = node;
			continue;
		}
		parent = parent_of(node, list, nodes->n, root);
		if (!parent)
			continue;
		node->sibling = parent->child;
		parent->child = node;
	}
	free(list);
	return 0;
}

/*
 * As deep as qdiscs are below each other.  What is in no root's tree is not reached: what comes
 * in (TC_H_INGRESS), and clsact, whose count is of both directions.
 */
static void add_up(const struct node *node, uint64_t *before, uint64_t *now)
{
	uint64_t below_before = 0, below_now = 0, b, n;
	const struct node *child;

	for (child = node->child; child; child = child->sibling) {
		add_up(child, &b, &n);
		below_before += b;
		below_now += n;
	}
	*before = node->before > below_before ? node->before : below_before;
	*now = node->now > below_now ? node->now : below_now;
}

static uint32_t tree_drops(const struct node *root)
{
	uint64_t before, now;

	add_up(root, &before, &now);
	if (now <= before)
		return 0;
	return now - before < UINT32_MAX ? (uint32_t)(now - before) : UINT32_MAX;
}

/* --- from outside ---------------------------------------------------------- */

struct qdrops *qdrops_new(void)
{
	return calloc(1, sizeof(struct qdrops));
}

void qdrops_free(struct qdrops *q)
{
	if (q)
		free(q->seen.list);
	free(q);
}

/* @now takes the place of what was seen before; after a failure that stands. */
static int settle(struct qdrops *q, struct nodes *now)
{
	int rc;

	sort_nodes(now);
	count_nodes(now, &q->seen);
	rc = link_nodes(now);
	if (rc)
		return rc;
	free(q->seen.list);
	q->seen = *now;
	return 0;
}

int qdrops_take(struct qdrops *q, const void *messages, size_t len)
{
	struct nodes now = { 0 };
	int rc = nlm_each(messages, len, on_qdisc, &now) < 0 ? -errno : settle(q, &now);

	if (rc)
		free(now.list);
	return rc;
}

int qdrops_read(struct qdrops *q, struct nl *route, struct err *e)
{
	union nl_request req = { 0 };
	struct nodes now = { 0 };
	int rc = nlm_dump(route, qdisc_message(&req, RTM_GETQDISC, 0, 0, 0, NULL), on_qdisc, &now,
			  e);

	if (!rc) {
		rc = settle(q, &now);
		if (rc)
			err_set(e, rc, "out of memory");
	}
	if (rc)
		free(now.list);
	return rc;
}

int qdrops_each(const struct qdrops *q, int (*each)(uint32_t ifindex, uint32_t n, void *data),
		void *data)
{
	uint32_t i, n;
	int rc = 0;

	for (i = 0; i < q->seen.n && !rc; i++) {
		if (!is_root(&q->seen.list[i]))
			continue;
		n = tree_drops(&q->seen.list[i]);
		if (n)
			rc = each((uint32_t)q->seen.list[i].ifindex, n, data);
	}
	return rc;
}

bool qdrops_has(const struct qdrops *q, uint32_t ifindex)
{
	uint32_t i;

	for (i = 0; i < q->seen.n; i++)
		if (is_root(&q->seen.list[i]) && q->seen.list[i].ifindex == (int)ifindex)
			return true;
	return false;
}

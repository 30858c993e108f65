// SPDX-License-Identifier: GPL-2.0
/*
 * GET, RESET and STATS: see live.h.
 *
 * Attributes that are not known here are those of a newer module and are passed
 * over; one that is known and has another size makes the message useless.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "live.h"

#define DUMPS_MAX 10	/* tries, as the table may change under one */

struct field {
	uint16_t type, size;
	size_t offset;
};

/* Of the member's own size; test_live.c has a value for each. */
#define U32(attr, type, member) { attr, sizeof(uint32_t), offsetof(type, member) }
#define U64(attr, type, member) { attr, sizeof(uint64_t), offsetof(type, member) }

static const struct field live_fields[] = {
	U32(TCP_CIRCUIT_A_ID, struct live, id),
	U32(TCP_CIRCUIT_A_IFINDEX, struct live, ifindex),
	U32(TCP_CIRCUIT_A_SOCKETS, struct live, sockets),
	U32(TCP_CIRCUIT_A_HUNGRY, struct live, hungry),
	U32(TCP_CIRCUIT_A_CWND_TOTAL, struct live, cwnd_total),
	U32(TCP_CIRCUIT_A_BREAKER, struct live, breaker),
	U32(TCP_CIRCUIT_A_TRIPPED_USERS, struct live, tripped_users),
	U32(TCP_CIRCUIT_A_TRIPS, struct live, trips),
	U64(TCP_CIRCUIT_A_DELIVERED, struct live, delivered),
	U64(TCP_CIRCUIT_A_LOST, struct live, lost),
	U64(TCP_CIRCUIT_A_CE, struct live, ce),
	U32(TCP_CIRCUIT_A_CAUSE, struct live, cause),
	U32(TCP_CIRCUIT_A_UID, struct live, uid),
	{ }
};

static const struct field evidence_fields[] = {
	U32(TCP_CIRCUIT_EVIDENCE_A_REASON, struct evidence, reason),
	U32(TCP_CIRCUIT_EVIDENCE_A_UID, struct evidence, uid),
	U32(TCP_CIRCUIT_EVIDENCE_A_MS, struct evidence, ms),
	U32(TCP_CIRCUIT_EVIDENCE_A_SEGMENTS, struct evidence, segments),
	U32(TCP_CIRCUIT_EVIDENCE_A_LOST, struct evidence, lost),
	U32(TCP_CIRCUIT_EVIDENCE_A_CE, struct evidence, ce),
	U32(TCP_CIRCUIT_EVIDENCE_A_RTT, struct evidence, rtt),
	U32(TCP_CIRCUIT_EVIDENCE_A_RTT_EXPECTED, struct evidence, rtt_expected),
	U64(TCP_CIRCUIT_EVIDENCE_A_RATE, struct evidence, rate),
	U32(TCP_CIRCUIT_EVIDENCE_A_THRESHOLD, struct evidence, threshold),
	U32(TCP_CIRCUIT_EVIDENCE_A_WINDOW, struct evidence, window),
	U32(TCP_CIRCUIT_EVIDENCE_A_WINDOW_CUT, struct evidence, window_cut),
	{ }
};

static const struct field totals_fields[] = {
	U32(TCP_CIRCUIT_STATS_A_CIRCUITS, struct totals, circuits),
	U32(TCP_CIRCUIT_STATS_A_CIRCUITS_MAX, struct totals, circuits_max),
	U32(TCP_CIRCUIT_STATS_A_PREFIXES, struct totals, prefixes),
	U32(TCP_CIRCUIT_STATS_A_PREFIXES_MAX, struct totals, prefixes_max),
	U32(TCP_CIRCUIT_STATS_A_PEERS, struct totals, peers),
	U32(TCP_CIRCUIT_STATS_A_PEERS_MAX, struct totals, peers_max),
	U32(TCP_CIRCUIT_STATS_A_KEPT, struct totals, kept),
	U32(TCP_CIRCUIT_STATS_A_KEPT_MAX, struct totals, kept_max),
	U64(TCP_CIRCUIT_STATS_A_MEMORY, struct totals, memory),
	U64(TCP_CIRCUIT_STATS_A_OPENED, struct totals, opened),
	U64(TCP_CIRCUIT_STATS_A_RENO, struct totals, reno),
	U64(TCP_CIRCUIT_STATS_A_RESTORED, struct totals, restored),
	U64(TCP_CIRCUIT_STATS_A_TIMEOUTS, struct totals, timeouts),
	U64(TCP_CIRCUIT_STATS_A_RECOVERIES, struct totals, recoveries),
	U64(TCP_CIRCUIT_STATS_A_TRIPS, struct totals, trips),
	U64(TCP_CIRCUIT_STATS_A_RESETS, struct totals, resets),
	U64(TCP_CIRCUIT_STATS_A_NO_MEMORY, struct totals, no_memory),
	{ }
};

static int read_field(const struct nlattr *attr, const struct field *fields, void *to)
{
	for (; fields->type; fields++) {
		if (fields->type != mnl_attr_get_type(attr))
			continue;
		if (fields->size != mnl_attr_get_payload_len(attr))
			return -EBADMSG;
		memcpy((char *)to + fields->offset, mnl_attr_get_payload(attr), fields->size);
		return 0;
	}
	return 0;
}

static int read_evidence(const struct nlattr *nest, struct evidence *ev)
{
	const struct nlattr *attr;
	int rc = 0;

	mnl_attr_for_each_nested(attr, nest)
		rc = rc ?: read_field(attr, evidence_fields, ev);
	return rc;
}

static int read_address(const struct nlattr *attr, struct prefix *p)
{
	uint16_t n = mnl_attr_get_payload_len(attr);

	if (n != 4 && n != 16)
		return -EBADMSG;
	memset(p, 0, sizeof(*p));
	p->family = n == 4 ? AF_INET : AF_INET6;
	p->len = 8 * n;
	memcpy(p->addr, mnl_attr_get_payload(attr), n);
	return 0;
}

static int read_attr(const struct nlattr *attr, struct live *l)
{
	switch (mnl_attr_get_type(attr)) {
	case TCP_CIRCUIT_A_AUTO:
		l->no_object = true;
		return 0;
	case TCP_CIRCUIT_A_ADDRESS:
		return read_address(attr, &l->peer);
	case TCP_CIRCUIT_A_EVIDENCE:
		return read_evidence(attr, &l->evidence);
	case TCP_CIRCUIT_A_UID:
		l->of_user = true;
		break;
	}
	return read_field(attr, live_fields, l) ?: object_attr(attr, &l->object);
}

/* -EBADMSG: not a message about a circuit; @l is empty then. */
int live_parse(const struct nlmsghdr *nlh, struct live *l)
{
	const struct nlattr *attr;
	int rc = 0;

	memset(l, 0, sizeof(*l));
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct genlmsghdr))
		return -EBADMSG;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		rc = rc ?: read_attr(attr, l);
	object_sort(&l->object);
	/* a peer may be told of as a prefix that holds nothing else */
	if (!rc && !l->peer.family && !l->object.name[0] && l->object.n)
		l->peer = l->object.prefixes[0];
	if (!rc && !l->object.name[0] && !l->peer.family)
		rc = -EBADMSG;
	if (rc)
		live_free(l);
	return rc;
}

void live_free(struct live *l)
{
	object_free(&l->object);
	memset(l, 0, sizeof(*l));
}

/* A circuit's own name, or the address of the peer. */
const char *live_name(const struct live *l, char *buf, size_t len)
{
	if (l->object.name[0])
		return l->object.name;
	return format_addr(buf, len, &l->peer);
}

int totals_parse(const struct nlmsghdr *nlh, struct totals *t)
{
	const struct nlattr *attr;
	int rc = 0;

	memset(t, 0, sizeof(*t));
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct genlmsghdr))
		return -EBADMSG;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		rc = rc ?: read_field(attr, totals_fields, t);
	return rc;
}

/* @l is the list's from now on. */
int lives_add(struct lives *ls, const struct live *l)
{
	struct live *more = grown(ls->list, ls->n, sizeof(*more));

	if (!more)
		return -ENOMEM;
	ls->list = more;
	ls->sorted = false;
	more[ls->n++] = *l;
	return 0;
}

void lives_free(struct lives *ls)
{
	uint32_t i;

	for (i = 0; i < ls->n; i++)
		live_free(&ls->list[i]);
	free(ls->list);
	memset(ls, 0, sizeof(*ls));
}

static int on_live(const struct nlmsghdr *nlh, void *data)
{
	struct live l;
	int rc = live_parse(nlh, &l);

	if (!rc) {
		rc = lives_add(data, &l);
		if (rc)
			live_free(&l);
	}
	errno = -rc;
	return rc ? MNL_CB_ERROR : MNL_CB_OK;
}

static int on_totals(const struct nlmsghdr *nlh, void *data)
{
	errno = -totals_parse(nlh, data);
	return errno ? MNL_CB_ERROR : MNL_CB_OK;
}

static int dump_once(struct lives *ls, struct err *e)
{
	union nl_request req = { 0 };
	struct genl g;
	int rc = genl_open(&g, e);

	if (!rc)
		rc = genl_resolve(&g, e);
	if (!rc)
		rc = nlm_dump(&g.nl, genl_message(&g, &req, TCP_CIRCUIT_CMD_GET), on_live, ls, e);
	genl_close(&g);
	if (rc)
		lives_free(ls);
	return rc;
}

/* -EPROTONOSUPPORT: no module; @ls is empty then. */
int lives_read(struct lives *ls, struct err *e)
{
	int tries, rc = -EINTR;

	memset(ls, 0, sizeof(*ls));
	for (tries = 0; rc == -EINTR && tries < DUMPS_MAX; tries++)
		rc = dump_once(ls, e);
	if (rc == -EINTR)
		err_set(e, rc, "the circuits change faster than they can be listed; try again");
	return rc;
}

/* By name, and behind those the automatic ones by number */
static int compare(const void *a, const void *b)
{
	const struct live *p = a, *q = b;

	if (p->no_object || q->no_object)
		return p->no_object && q->no_object ? (p->id < q->id ? -1 : 1) :
		       p->no_object - q->no_object;
	return strcmp(p->object.name, q->object.name);
}

void lives_sort(struct lives *ls)
{
	if (ls->n)
		qsort(ls->list, ls->n, sizeof(*ls->list), compare);
	ls->sorted = true;
}

static struct live *find_sorted(const struct lives *ls, const char *name)
{
	struct live key = { 0 };

	snprintf(key.object.name, sizeof(key.object.name), "%s", name);
	return ls->n ? bsearch(&key, ls->list, ls->n, sizeof(key), compare) : NULL;
}

struct live *lives_find(const struct lives *ls, const char *name)
{
	uint32_t i;

	if (ls->sorted)
		return find_sorted(ls, name);
	for (i = 0; i < ls->n; i++)
		if (!ls->list[i].no_object && !strcmp(ls->list[i].object.name, name))
			return &ls->list[i];
	return NULL;
}

static const struct prefix *common_prefix(const struct object *a, const struct object *b)
{
	uint32_t i, k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++)
			if (prefix_equal(&a->prefixes[i], &b->prefixes[k]))
				return &a->prefixes[i];
	return NULL;
}

/* The prefix of @o that another circuit has, too, with the same device and mark. */
const struct prefix *lives_clash(const struct lives *ls, const struct object *o,
				 const struct live **with)
{
	const struct prefix *p;
	uint32_t i;

	for (i = 0; i < ls->n; i++) {
		const struct object *other = &ls->list[i].object;

		if (ls->list[i].no_object || !strcmp(other->name, o->name) ||
		    strcmp(other->dev, o->dev) || other->mark != o->mark)
			continue;
		p = common_prefix(o, other);
		if (p) {
			*with = &ls->list[i];
			return p;
		}
	}
	return NULL;
}

/* Users whose breaker is open, of all circuits; one may have several. */
uint32_t lives_tripped(const struct lives *ls)
{
	uint32_t i, n = 0;

	for (i = 0; i < ls->n; i++)
		n += ls->list[i].tripped_users;
	return n;
}

/* Of the circuit @name, or else of what @peer belongs to by this device, or else all. */
int lives_reset(struct genl *g, const char *name, const struct prefix *peer, int ifindex,
		struct err *e)
{
	union nl_request req = { 0 };
	struct nlmsghdr *nlh;
	int rc = genl_resolve(g, e);

	if (rc)
		return rc;
	nlh = genl_message(g, &req, TCP_CIRCUIT_CMD_RESET);
	if (name[0])
		mnl_attr_put_strz(nlh, TCP_CIRCUIT_A_NAME, name);
	else if (peer->family)
		mnl_attr_put(nlh, TCP_CIRCUIT_A_ADDRESS, peer->family == AF_INET ? 4 : 16,
			     peer->addr);
	if (ifindex)
		mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_IFINDEX, (uint32_t)ifindex);
	return nlm_talk(&g->nl, nlh, e);
}

int totals_read(struct genl *g, struct totals *t, struct err *e)
{
	union nl_request req = { 0 };
	int rc = genl_resolve(g, e);

	memset(t, 0, sizeof(*t));
	if (!rc)
		rc = nlm_get(&g->nl, genl_message(g, &req, TCP_CIRCUIT_CMD_STATS), on_totals, t,
			     e);
	return rc;
}

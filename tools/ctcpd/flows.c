// SPDX-License-Identifier: GPL-2.0
/*
 * The flows of this host: see flows.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flows.h"
#include "grow.h"

#define BUCKETS_LEAST	256U
#define ASKS_A_POLL	256U	/* flows that a dump missed, asked for one by one */
#define ROUTES_A_POLL	256U	/* flows without a device, for which it is asked */
#define ROUTES_AGAIN	64U	/* flows with one, for which it is asked anew */

struct entry {
	struct flow flow;	/* the first, as the table's users have only that */
	struct entry *next;
	struct entry *next_wanted;	/* of those that want looks since the last poll */
	uint64_t drops;		/* of its device, when it was last seen */
	uint32_t poll;		/* the last that had it */
	uint8_t missed;		/* polls since then that did not */
	bool gone;		/* the kernel said so between two polls */
};

/* What the qdiscs of a device dropped since it was first heard of */
struct device {
	uint32_t ifindex;
	uint32_t last;		/* packets of them, at the last read that had any, */
	uint64_t at_us;		/* which was then */
	uint64_t total;
};

struct flows {
	uint32_t n, buckets;		/* buckets: a power of two */
	struct entry **table;
	struct entry *replaced;		/* whose socket has become another flow; to be told */
	struct entry *looks[LOOKS_MAX];
	uint32_t n_looks;
	struct entry *wanted;		/* that the last poll had, and that want looks */
	uint32_t n_wanted, turn;	/* turn: how many of them had theirs at the last choice */
	struct device *devices;
	uint32_t n_devices;
	uint32_t n_routed;		/* flows whose device is known */
	uint32_t unrouted_turn, routed_turn;	/* buckets, at which the next asking begins */
	uint32_t poll, had;		/* had: flows that it had */
	uint32_t left_out;		/* by it, above FLOWS_MAX */
	bool polling;
	struct nl route;
	const struct flows_tap *tap;
};

/* --- the table ------------------------------------------------------------- */

/* Cookies count up; their product with 2^64/phi has its best bits on top. */
static uint32_t bucket_of(const struct flows *fs, uint64_t cookie)
{
	return (uint32_t)(cookie * 0x9e3779b97f4a7c15ULL >> 32) & (fs->buckets - 1);
}

static struct entry *find(const struct flows *fs, uint64_t cookie)
{
	struct entry *en = fs->table[bucket_of(fs, cookie)];

	while (en && en->flow.last.conn.cookie != cookie)
		en = en->next;
	return en;
}

static void insert(struct flows *fs, struct entry *en)
{
	struct entry **head = &fs->table[bucket_of(fs, en->flow.last.conn.cookie)];

	en->next = *head;
	*head = en;
}

/* More flows than buckets: twice as many.  Without the memory the chains grow instead. */
static void make_room(struct flows *fs)
{
	struct entry **old = fs->table, **more, *en, *next;
	uint32_t n = fs->buckets, i;

	if (fs->n < n || n > UINT32_MAX / 2)
		return;
	more = calloc(2 * (size_t)n, sizeof(struct entry *));
	if (!more)
		return;
	fs->table = more;
	fs->buckets = 2 * n;
	for (i = 0; i < n; i++)
		for (en = old[i]; en; en = next) {
			next = en->next;
			insert(fs, en);
		}
	free(old);
}

static void take_out(struct flows *fs, struct entry *en)
{
	struct entry **at = &fs->table[bucket_of(fs, en->flow.last.conn.cookie)];
	uint32_t i;

	while (*at != en)
		at = &(*at)->next;
	*at = en->next;
	fs->n--;
	fs->n_routed -= en->flow.ifindex != 0;
	for (i = 0; i < fs->n_looks; i++)
		if (fs->looks[i] == en)
			fs->looks[i--] = fs->looks[--fs->n_looks];
}

struct flows *flows_new(void)
{
	struct flows *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->route.protocol = NETLINK_ROUTE;
	fs->buckets = BUCKETS_LEAST;
	fs->table = calloc(fs->buckets, sizeof(struct entry *));
	if (fs->table)
		return fs;
	free(fs);
	return NULL;
}

static void free_entry(struct entry *en)
{
	free(en->flow.facts.loss);
	free(en);
}

static void free_chain(struct entry *en)
{
	struct entry *next;

	for (; en; en = next) {
		next = en->next;
		free_entry(en);
	}
}

void flows_free(struct flows *fs)
{
	uint32_t i;

	if (!fs)
		return;
	for (i = 0; i < fs->buckets; i++)
		free_chain(fs->table[i]);
	free_chain(fs->replaced);
	nlm_close(&fs->route);
	free(fs->devices);
	free(fs->table);
	free(fs);
}

uint32_t flows_count(const struct flows *fs)
{
	return fs->n;
}

uint32_t flows_left_out(const struct flows *fs)
{
	return fs->left_out;
}

int flows_each(const struct flows *fs, flow_fn each, void *data)
{
	const struct entry *en;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < fs->buckets && !rc; i++)
		for (en = fs->table[i]; en && !rc; en = en->next)
			rc = each(&en->flow, false, data);
	return rc;
}

void flows_set_tap(struct flows *fs, const struct flows_tap *tap)
{
	fs->tap = tap;
}

/* --- devices --------------------------------------------------------------- */

static struct device *find_device(const struct flows *fs, uint32_t ifindex)
{
	uint32_t i;

	for (i = 0; i < fs->n_devices; i++)
		if (fs->devices[i].ifindex == ifindex)
			return &fs->devices[i];
	return NULL;
}

int flows_drops(struct flows *fs, uint64_t at_us, uint32_t ifindex, uint32_t n)
{
	struct device *dev = find_device(fs, ifindex), *more;

	if (!dev) {
		more = grown(fs->devices, fs->n_devices, sizeof(*more));
		if (!more)
			return -ENOMEM;
		fs->devices = more;
		dev = &more[fs->n_devices++];
		*dev = (struct device){ .ifindex = ifindex };
	}
	dev->last = n;
	dev->at_us = at_us;
	dev->total += n;
	if (fs->tap)
		fs->tap->drops(at_us, ifindex, n, fs->tap->data);
	return 0;
}

/* Up to its last sample, which was before the last read of the device's drops, or behind it */
static void set_device(struct flows *fs, struct entry *en, uint32_t ifindex)
{
	const struct device *dev = find_device(fs, ifindex);

	if (!ifindex || ifindex == en->flow.ifindex)
		return;
	fs->n_routed += !en->flow.ifindex;
	en->flow.ifindex = ifindex;
	en->drops = dev ? dev->total : 0;
	if (dev && dev->at_us > en->flow.last.at_us)
		en->drops -= dev->last;
	if (fs->tap)
		fs->tap->leaves(en->flow.last.conn.cookie, ifindex, fs->tap->data);
}

void flows_leaves(struct flows *fs, uint64_t cookie, uint32_t ifindex)
{
	struct entry *en = find(fs, cookie);

	if (en)
		set_device(fs, en, ifindex);
}

/* A device that comes back with this number counts from 0. */
static void forget_device(struct flows *fs, struct device *dev)
{
	struct entry *en;
	uint32_t i;

	for (i = 0; i < fs->buckets; i++)
		for (en = fs->table[i]; en; en = en->next)
			if (en->flow.ifindex == dev->ifindex)
				en->drops = 0;
	*dev = fs->devices[--fs->n_devices];
}

void flows_keep_devices(struct flows *fs, bool (*there)(uint32_t ifindex, const void *data),
			const void *data)
{
	uint32_t i = 0;

	while (i < fs->n_devices) {
		if (there(fs->devices[i].ifindex, data))
			i++;
		else
			forget_device(fs, &fs->devices[i]);
	}
}

/* Packets of its device since it was last seen, at most what an interval holds */
static uint32_t new_drops(const struct flows *fs, struct entry *en)
{
	const struct device *dev = find_device(fs, en->flow.ifindex);
	uint64_t n = dev ? dev->total - en->drops : 0;

	en->drops += n;
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Of a bucket all, so that the next turn begins behind it */
static void ask_by_turn(struct flows *fs, uint32_t *turn, bool routed, uint32_t most,
			flow_device_fn ask, void *data)
{
	uint32_t i, asked = 0;
	struct entry *en;

	for (i = 0; i < fs->buckets && asked < most; i++, ++*turn)
		for (en = fs->table[*turn & (fs->buckets - 1)]; en; en = en->next) {
			if (routed != !!en->flow.ifindex)
				continue;
			set_device(fs, en, ask(&en->flow.last.conn, data));
			asked++;
		}
}

void flows_ask_devices(struct flows *fs, flow_device_fn ask, void *data)
{
	ask_by_turn(fs, &fs->routed_turn, true, ROUTES_AGAIN, ask, data);
	if (fs->n_routed < fs->n)
		ask_by_turn(fs, &fs->unrouted_turn, false, ROUTES_A_POLL, ask, data);
}

/* --- samples --------------------------------------------------------------- */

static void tell_sample(const struct flows *fs, const struct sample *s)
{
	if (fs->tap)
		fs->tap->sample(s, fs->tap->data);
}

static int begin_flow(struct flows *fs, const struct sample *s)
{
	struct entry *en;

	if (!s->data_segs_out)
		return 0;
	if (fs->polling && fs->n >= FLOWS_MAX) {
		fs->left_out++;
		return 0;
	}
	en = calloc(1, sizeof(*en));
	if (!en)
		return -ENOMEM;
	en->flow.last = *s;
	en->flow.first_us = s->at_us;
	en->poll = fs->poll;
	fs->had++;
	fs->n++;
	insert(fs, en);
	make_room(fs);
	tell_sample(fs, s);
	return 0;
}

static bool same_peer(const struct conn *a, const struct conn *b)
{
	return a->peer_port == b->peer_port && prefix_equal(&a->peer, &b->peer);
}

/* A socket that was disconnected, and connected again, counts from 0, and is another flow. */
static int replace_flow(struct flows *fs, struct entry *en, const struct sample *s)
{
	take_out(fs, en);
	en->next = fs->replaced;
	fs->replaced = en;
	return begin_flow(fs, s);
}

/* False: another flow than what it was */
static bool add_sample(struct flows *fs, struct entry *en, const struct sample *s, bool closed)
{
	struct interval i;

	if (!same_peer(&en->flow.last.conn, &s->conn) ||
	    !interval_make(&i, &en->flow.last, s))
		return false;
	i.local_drops = new_drops(fs, en);
	i.closed = closed;
	/* without the memory nothing is said of why it loses, until it loses again */
	if (facts_want_loss(&en->flow.facts, &i))
		en->flow.facts.loss = calloc(1, sizeof(struct loss_facts));
	facts_add(&en->flow.facts, &i);
	en->flow.last = *s;
	tell_sample(fs, s);
	return true;
}

/* What looks between two polls have added is counted with that of the poll. */
static void count_polled(struct flow *f)
{
	f->before = f->polled;
	f->polled = (struct flow_counts){
		.acked = f->facts.acked, .segs = (uint32_t)f->facts.segs,
		.retrans = (uint32_t)f->facts.retrans,
	};
}

static void want_looks(struct flows *fs, struct entry *en)
{
	if (!fs->polling || !judge_wants_looks(&en->flow.facts))
		return;
	en->next_wanted = fs->wanted;
	fs->wanted = en;
	fs->n_wanted++;
}

/* A dump may have one twice. */
static bool is_repeated(struct flows *fs, struct entry *en)
{
	if (fs->polling && en->poll == fs->poll)
		return true;
	fs->had++;
	en->poll = fs->poll;
	en->missed = 0;
	return false;
}

int flows_feed(struct flows *fs, const struct sample *s)
{
	struct entry *en = find(fs, s->conn.cookie);

	if (!en)
		return begin_flow(fs, s);
	if (is_repeated(fs, en) || s->at_us <= en->flow.last.at_us)
		return 0;
	if (!add_sample(fs, en, s, false)) {
		fs->had--;
		return replace_flow(fs, en, s);
	}
	if (fs->polling)
		count_polled(&en->flow);
	want_looks(fs, en);
	return 0;
}

/* --- a poll's end ---------------------------------------------------------- */

void flows_begin(struct flows *fs)
{
	fs->poll++;
	fs->polling = true;
	fs->had = 0;
	fs->left_out = 0;
	fs->wanted = NULL;
	fs->n_wanted = 0;
}

struct end {
	flow_ask_fn ask;
	void *asked;
	flow_fn gone;
	void *data;
	uint32_t asks;		/* that are left */
};

/* Of one that the dump did not have: is it gone? */
static bool is_gone(struct flows *fs, struct entry *en, struct end *end)
{
	struct sample s;
	int rc;

	if (en->gone)
		return true;
	en->missed++;
	if (!end->ask || !end->asks)
		return en->missed > 1;
	end->asks--;
	rc = end->ask(&en->flow.last.conn, &s, end->asked);
	if (rc)
		return rc == -ENOENT || en->missed > 1;
	if (add_sample(fs, en, &s, !diag_sends(&s.conn)))
		count_polled(&en->flow);
	en->missed = 0;
	return !diag_sends(&s.conn);
}

static int close_flow(struct flows *fs, struct entry *en, struct end *end)
{
	int rc;

	take_out(fs, en);
	rc = end->gone(&en->flow, true, end->data);
	free_entry(en);
	return rc;
}

static int close_replaced(struct flows *fs, struct end *end)
{
	struct entry *en;
	int rc = 0;

	while ((en = fs->replaced) && !rc) {
		fs->replaced = en->next;
		rc = end->gone(&en->flow, true, end->data);
		free_entry(en);
	}
	return rc;
}

static int close_missing(struct flows *fs, struct end *end)
{
	struct entry *en, *next;
	uint32_t i, n = fs->n == fs->had ? 0 : fs->buckets;
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		for (en = fs->table[i]; en && !rc; en = next) {
			next = en->next;
			if (en->poll != fs->poll && is_gone(fs, en, end))
				rc = close_flow(fs, en, end);
		}
	return rc;
}

/*
 * Those for which the policy wants a closer look, at most LOOKS_MAX.  Where there are more of
 * them, others have their turn after the next poll.
 */
static void choose_looks(struct flows *fs)
{
	uint32_t i, skip = fs->n_wanted > LOOKS_MAX ? fs->turn % fs->n_wanted : 0;
	struct entry *en = fs->wanted;

	for (i = 0; i < fs->n_looks; i++)
		fs->looks[i]->flow.looks = false;
	for (i = 0; i < skip; i++)
		en = en->next_wanted;
	for (i = 0; i < fs->n_wanted && i < LOOKS_MAX; i++) {
		en->flow.looks = true;
		fs->looks[i] = en;
		en = en->next_wanted ?: fs->wanted;
	}
	fs->n_looks = i;
	fs->turn = skip + i;
}

int flows_end(struct flows *fs, bool whole, flow_ask_fn ask, void *asked, flow_fn gone,
	      void *data)
{
	struct end end = { ask, asked, gone, data, ASKS_A_POLL };
	int rc = close_replaced(fs, &end);

	fs->polling = false;
	if (!rc && whole)
		rc = close_missing(fs, &end);
	choose_looks(fs);
	return rc;
}

/* --- from the kernel ------------------------------------------------------- */

static int add_drops(uint32_t ifindex, uint32_t n, void *data)
{
	return flows_drops(data, diag_clock(), ifindex, n);
}

static bool has_drops(uint32_t ifindex, const void *data)
{
	return qdrops_has(data, ifindex);
}

/* What one read fails to tell, the next one does: it counts from the last that did not. */
static int read_drops(struct flows *fs, struct qdrops *q)
{
	struct err unused = { "" };

	if (!q || qdrops_read(q, &fs->route, &unused))
		return 0;
	flows_keep_devices(fs, has_drops, q);
	return qdrops_each(q, add_drops, fs);
}

static int feed_sample(const struct sample *s, void *data)
{
	return flows_feed(data, s);
}

static int ask_one(const struct conn *who, struct sample *s, void *data)
{
	struct err unused = { "" };

	return diag_one(data, who, s, &unused);
}

static uint32_t ask_device(const struct conn *c, void *data)
{
	return conn_device(data, c);
}

int flows_poll(struct flows *fs, struct diag *d, struct qdrops *q, flow_fn gone, void *data,
	       struct err *e)
{
	int rc, end;

	flows_begin(fs);
	rc = read_drops(fs, q);
	if (!rc)
		rc = diag_all(d, feed_sample, fs, e);
	else
		err_set(e, rc, "out of memory");
	end = flows_end(fs, !rc, ask_one, d, gone, data);
	if (q)
		flows_ask_devices(fs, ask_device, &fs->route);
	if (!rc && end)
		rc = err_set(e, end, "%s", strerror(-end));
	return rc;
}

int flows_look(struct flows *fs, struct diag *d, struct qdrops *q, struct err *e)
{
	struct sample s;
	uint32_t i;
	int rc = fs->n_looks ? read_drops(fs, q) : 0;

	if (rc)
		return err_set(e, rc, "out of memory");
	for (i = 0; i < fs->n_looks && !rc; i++) {
		struct entry *en = fs->looks[i];

		if (en->gone)
			continue;
		rc = diag_one(d, &en->flow.last.conn, &s, e);
		en->gone = rc == -ENOENT || (!rc && !diag_sends(&s.conn));
		if (!rc)
			add_sample(fs, en, &s, en->gone);
		if (rc == -ENOENT)
			rc = 0;
	}
	return rc;
}

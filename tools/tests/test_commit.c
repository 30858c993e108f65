// SPDX-License-Identifier: GPL-2.0
/*
 * Diff and commit against a kernel that is a table.
 *
 * The table can fail its Nth change, or have the process "killed" right after
 * it: a longjmp out of everything, with the table and the state as they are.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "test.h"

#include "commit.h"
#include "guarantee.h"

#define NETNS "c1"
/* A circuit of all that leaves by a device: paced by the module, or by a qdisc */
#define PACED(window, rate, dev) \
	"window=" #window " rate=" #rate " prefixes=0.0.0.0/0,::/0 dev=" dev
#define UNPACED(window, rate, dev) PACED(window, rate, dev) " flags=2"

struct fake_item {
	enum item_kind kind;
	char name[ITEM_NAME];
	char from[ITEM_VALUE];	/* of what is posted */
	char value[ITEM_VALUE];
};

struct fake {
	struct backend backend;
	uint32_t n;
	struct fake_item items[48];
	int count, fail_at, die_at, die_before;
	int reads;		/* of items of one circuit alone */
	int missed;		/* reads of numbers that are not here */
	uint32_t n_posted;
	struct fake_item posted[48];
	const struct fake_item *bad;	/* it was posted in vain, and will not do alone either */
	bool reads_back;	/* what was posted */
	bool in_use;		/* the module cannot be removed */
	const char *unreachable;	/* a route whose gateway is gone */
	const char *behind;	/* a route that is not the one that is used */
	jmp_buf killed;
};

static struct fake_item *fake_find(struct fake *f, enum item_kind kind, const char *name)
{
	uint32_t i;

	for (i = 0; i < f->n; i++)
		if (f->items[i].kind == kind && !strcmp(f->items[i].name, name))
			return &f->items[i];
	return NULL;
}

static void fake_put(struct fake *f, enum item_kind kind, const char *name, const char *value)
{
	struct fake_item *item = fake_find(f, kind, name);

	if (!item) {
		item = &f->items[f->n++];
		item->kind = kind;
		snprintf(item->name, sizeof(item->name), "%s", name);
	}
	snprintf(item->value, sizeof(item->value), "%s", value);
}

static bool fake_loaded(struct fake *f)
{
	return !strcmp(fake_find(f, ITEM_MODULE, MODULE_NAME)->value, "loaded");
}

/* The sysctl that comes and goes with the module */
static bool fake_has(struct fake *f, const char *name)
{
	return fake_loaded(f) || strcmp(name, FCWND_SYSCTL);
}

static int fake_get(struct backend *b, enum item_kind kind, const char *name,
		    char value[ITEM_VALUE], struct err *e)
{
	struct fake *f = (struct fake *)b;
	struct fake_item *item = fake_find(f, kind, name);

	f->reads += !f->reads_back && item_goes_with_many(kind) && !strstr(name, ":ffff");
	if (kind == ITEM_SYSCTL && !fake_has(f, name))
		return err_set(e, -ENOENT, "no %s", name);
	if (kind == ITEM_CIRCUIT && (!item || !fake_loaded(f))) {
		strcpy(value, "absent");
		return 0;
	}
	if (!item && (kind == ITEM_CLASS || kind == ITEM_FILTER || kind == ITEM_ROUTE)) {
		strcpy(value, "absent");
		return 0;
	}
	f->missed += !item && kind == ITEM_SYSCTL;
	if (!item)
		return err_set(e, kind == ITEM_SYSCTL ? -ENOENT : -ENODEV, "no %s", name);
	strcpy(value, item->value);
	return 0;
}

/* Beside the one that is used */
static int fake_among(struct backend *b, enum item_kind kind, const char *name,
		      const char *value, char found[ITEM_VALUE], struct err *e)
{
	const struct fake *f = (const struct fake *)b;

	(void)name;
	(void)e;
	if (kind != ITEM_ROUTE || !f->behind || strcmp(value, f->behind))
		return 0;
	strcpy(found, value);
	return 1;
}

static bool leads_to(const char *value, const char *congctl)
{
	struct route r;

	assert_int_equal(route_from_text(value, &r), 0);
	return r.len && route_has_congctl(&r, congctl);
}

static bool is_bad(const struct fake *f, enum item_kind kind, const char *name)
{
	return f->fail_at && f->bad && f->bad->kind == kind && !strcmp(f->bad->name, name);
}

/* That very route, if it is there */
static void fake_remove(struct fake *f, const char *name, const char *route)
{
	if (f->behind && !strcmp(route, f->behind))
		f->behind = NULL;
	else if (!strcmp(fake_find(f, ITEM_ROUTE, name)->value, route))
		fake_put(f, ITEM_ROUTE, name, "absent");
}

static int fake_set(struct backend *b, enum item_kind kind, const char *name,
		    const char *from, const char *value, struct err *e)
{
	struct fake *f = (struct fake *)b;

	if (++f->count == f->fail_at || is_bad(f, kind, name))
		return err_set(e, -EIO, "%s fails", name);
	if (f->count == f->die_before)
		longjmp(f->killed, 1);
	if (kind == ITEM_SYSCTL && !fake_has(f, name))
		return err_set(e, -ENOENT, "no %s", name);
	if (kind == ITEM_CIRCUIT && !fake_loaded(f) && strcmp(value, "absent"))
		return err_set(e, -EPROTONOSUPPORT, "no family");
	if (kind == ITEM_ROUTE && leads_to(value, CC_NAME) && !fake_loaded(f))
		return err_set(e, -ENOENT, "no congestion control " CC_NAME);
	if (kind == ITEM_ROUTE && f->unreachable && !strcmp(value, f->unreachable))
		return err_set(e, -ENETUNREACH, "no gateway");
	if (kind == ITEM_MODULE && f->in_use && !strcmp(value, "absent")) {
		err_set(e, -EBUSY, "in use");
		return 1;
	}
	if (kind == ITEM_ROUTE && !strcmp(value, "absent"))
		fake_remove(f, name, from);
	else
		fake_put(f, kind, name, value);
	if (kind == ITEM_MODULE)
		fake_put(f, ITEM_SYSCTL, FCWND_SYSCTL, "0");
	if (f->count == f->die_at)
		longjmp(f->killed, 1);
	return 0;
}

static void fake_ahead(struct backend *b, const struct item_ref *list, uint32_t n)
{
	struct fake *f = (struct fake *)b;

	(void)list;
	assert_in_range(n, 0, MANY_AT_ONCE);
	f->reads_back &= n > 0;
}

static int fake_post(struct backend *b, enum item_kind kind, const char *name,
		     const char *from, const char *value, struct err *e)
{
	struct fake *f = (struct fake *)b;
	struct fake_item *item = &f->posted[f->n_posted++];

	(void)e;
	assert_true(item_goes_with_many(kind));
	item->kind = kind;
	strcpy(item->name, name);
	strcpy(item->from, from);
	strcpy(item->value, value);
	return 0;
}

/* As the kernel has it: one that fails does not keep it from the next. */
static int fake_flush(struct backend *b, struct err *e)
{
	struct fake *f = (struct fake *)b;
	uint32_t i, n = f->n_posted;

	f->n_posted = 0;
	f->reads_back = true;
	f->bad = NULL;
	for (i = 0; i < n; i++) {
		const struct fake_item *item = &f->posted[i];

		if (f->count + 1 == f->fail_at)
			f->bad = item;
		fake_set(b, item->kind, item->name, item->from, item->value, e);
	}
	return 0;
}

static bool fake_many;

static void fake_reset(struct fake *f)
{
	static const char * const sysctls[][2] = {
		{ "net.ipv4.tcp_window_scaling", "1" },
		{ "net.ipv4.tcp_sack", "0" },
		{ "net.ipv4.tcp_moderate_rcvbuf", "1" },
		{ "net.ipv4.tcp_no_metrics_save", "0" },
		{ "net.core.rmem_max", "212992" },
		{ "net.core.wmem_max", "999999999" },
		{ "net.ipv4.tcp_rmem", "4096 131072 6291456" },
		{ "net.ipv4.tcp_wmem", "4096 16384 4194304" },
		{ "net.ipv4.tcp_mem", "18000 60000 36000" },
		{ ALLOWED_CC, "reno cubic" },
		{ DEFAULT_CC, "cubic" },
	};
	size_t i;

	memset(f, 0, sizeof(*f));
	f->backend.get = fake_get;
	f->backend.find = fake_among;
	f->backend.set = fake_set;
	f->backend.many = fake_many;
	f->backend.ahead = fake_ahead;
	f->backend.post = fake_post;
	f->backend.flush = fake_flush;
	fake_put(f, ITEM_MODULE, MODULE_NAME, "absent");
	fake_put(f, ITEM_SYSCTL, FCWND_SYSCTL, "0");
	for (i = 0; i < ARRAY_SIZE(sysctls); i++)
		fake_put(f, ITEM_SYSCTL, sysctls[i][0], sysctls[i][1]);
	for (i = 1; i <= 3; i++) {
		char dev[8];

		snprintf(dev, sizeof(dev), "eth%zu", i);
		fake_put(f, ITEM_QDISC, dev, "default");
		fake_put(f, ITEM_TXQLEN, dev, i == 2 ? "0" : "1000");
		fake_put(f, ITEM_CIRCUIT, dev, "absent");
	}
}

static void assert_value(struct fake *f, enum item_kind kind, const char *name,
			 const char *value)
{
	struct fake_item *item = fake_find(f, kind, name);

	assert_non_null(item);
	assert_string_equal(item->value, value);
}

static void assert_as_before(struct fake *f)
{
	struct fake *fresh = malloc(sizeof(*fresh));
	uint32_t i;

	fake_reset(fresh);
	for (i = 0; i < fresh->n; i++)
		assert_value(f, fresh->items[i].kind, fresh->items[i].name,
			     fresh->items[i].value);
	free(fresh);
}

/* One run of the program: what it holds in memory ends with it. */
struct run {
	struct store store;
	struct state state;
	struct diff diff;
	struct outcome outcome;
	struct notes notes;
	struct err e;
};

struct undo_result {
	uint32_t restored, already, gone, in_use, left;
};

static char dir[64];
static struct fake fake;
static struct run *current;	/* what a "killed" one leaves in memory */

static void run_open(struct run *r)
{
	struct base *b;

	memset(r, 0, sizeof(*r));
	current = r;
	setenv("CTCP_RUNDIR", dir, 1);
	assert_int_equal(store_open(&r->store, &r->e), 0);
	strcpy(r->store.netns, NETNS);
	assert_int_equal(store_read(&r->store, &r->state, &r->e), 0);
	state_recover(&r->state);
	assert_int_equal(store_read_module(&r->store, &r->e), 0);
	if (r->store.has_module) {
		b = state_add_base(&r->state, ITEM_MODULE, MODULE_NAME, 0, "absent");
		assert_int_equal(state_text(&r->state, &b->ours, "loaded"), 0);
	}
	r->diff.state = &r->state;
	r->diff.backend = &fake.backend;
	r->diff.notes = &r->notes;
}

static void run_close(struct run *r)
{
	diff_free(&r->diff);
	state_free(&r->state);
	store_close(&r->store);
	free(r);
}

static const struct facts some_facts = {
	.up = true, .mtu = 1500, .header = 14, .gso_max_size = 65536,
	.gso_max_segs = 65535, .tx_queues = 1, .ram = 64ULL << 30, .page = 4096,
};

static void plan(struct run *r, uint32_t i, struct facts *f, struct plan *p)
{
	const struct circuit *c = &r->state.circuits[i].circuit;

	*f = some_facts;
	memcpy(f->dev, c->dev, sizeof(f->dev));
	f->ifindex = c->dev[3] - '0';
	memcpy(f->out, f->dev, sizeof(f->out));
	f->out_ifindex = f->ifindex;
	assert_int_equal(plan_make(c, f, p, &r->notes, &r->e), 0);
}

/* One to each prefix, by a gateway. */
static void routes_of(const struct circuit *c, const struct facts *f,
		      struct route_want routes[TO_MAX])
{
	uint32_t i;

	memset(routes, 0, TO_MAX * sizeof(*routes));
	for (i = 0; i < c->n_to; i++) {
		routes[i].to = c->to[i];
		routes[i].via = !parse_address("198.51.100.1", &routes[i].gateway);
		routes[i].ifindex = f->ifindex;
		routes[i].congctl = circuit_algorithm(c);
		memcpy(routes[i].dev, f->dev, sizeof(f->dev));
	}
}

/* As session_diff() does it, with the same facts for each device. */
static int run_diff(struct run *r, uint32_t asked)
{
	struct route_want routes[TO_MAX];
	uint64_t need = 0;
	struct place place;
	struct facts f;
	struct wants w;
	struct plan p;
	uint32_t i;
	int rc = diff_begin(&r->diff, &r->e);

	for (i = 0; i < r->state.n_circuits; i++) {
		if (r->state.circuits[i].standing == REMOVING)
			continue;
		plan(r, i, &f, &p);
		need += p.need;
	}
	for (i = 0; i < r->state.n_circuits && !rc; i++) {
		if (r->state.circuits[i].standing == REMOVING)
			continue;
		plan(r, i, &f, &p);
		plan_memory(&f, need - p.need, &p, &r->notes);
		routes_of(&r->state.circuits[i].circuit, &f, routes);
		place.classid = r->state.circuits[i].classid;
		plan_rest(&f, state_rest(&r->state, i, 1250000000), &place.rest);
		wants_shared(&r->state.circuits[i].circuit, &p, &w);
		wants_own(&r->state.circuits[i].circuit, &f, &p, &place, routes, true, &w);
		rc = diff_want(&r->diff, &w, i, i == asked, &r->e);
	}
	return rc ? rc : diff_end(&r->diff, &r->e);
}

/* How many changes are needed, or -errno. */
static int run_plan(struct run *r, const struct circuit *c)
{
	uint32_t at;
	int rc = state_replace(&r->state, c, c->dev[3] - '0', &at, &r->e);

	if (!rc)
		rc = run_diff(r, at);
	return rc ? rc : (int)r->diff.n;
}

static int apply(const struct circuit *c)
{
	struct run *r = malloc(sizeof(*r));
	int rc, n;

	run_open(r);
	n = run_plan(r, c);
	rc = n < 0 ? n : commit(&r->diff, &r->store, ALL_OR_NONE, &r->outcome, &r->notes, &r->e);
	run_close(r);
	return rc < 0 ? rc : n;
}

/* -ENOENT: there was nothing to undo. */
static int undo(const char *dev, bool force, struct undo_result *result)
{
	struct run *r = malloc(sizeof(*r));
	bool any, there;
	int rc;

	run_open(r);
	any = state_is_pending(&r->state);
	assert_int_equal(state_drop(&r->state, dev, &there, &r->e), 0);
	any |= there;
	r->diff.force = force;
	rc = run_diff(r, NOBODY);
	if (!rc)
		rc = commit(&r->diff, &r->store, GO_ON, &r->outcome, &r->notes, &r->e);
	*result = (struct undo_result){
		.restored = r->outcome.changed, .already = r->diff.already,
		.gone = r->diff.gone + r->state.gone, .in_use = r->outcome.in_use,
		.left = r->diff.left + r->outcome.failed,
	};
	if (!rc && !any && !result->restored && !result->in_use && !result->left)
		rc = -ENOENT;
	run_close(r);
	return rc;
}

static struct circuit circuit(const char *dev, uint64_t rate, uint64_t rtt_us, bool cc)
{
	struct circuit c = CIRCUIT_DEFAULTS;

	strcpy(c.dev, dev);
	c.rate = rate;
	c.rtt_us = rtt_us;
	c.default_cc = cc;
	return c;
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/ctcp-commit-XXXXXX");
	fake_reset(&fake);
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char cmd[100];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

static void test_apply_and_undo(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, true);
	struct undo_result result;

	(void)state;
	/* module, sack, no_metrics, rmem_max, rmem, wmem, tcp_mem, qdisc, circuit, cc x 2 */
	assert_int_equal(apply(&c), 11);
	assert_value(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 67603128");
	assert_value(&fake, ITEM_SYSCTL, "net.core.wmem_max", "999999999");
	/* each number at least: 33074, the old 60000, 49611 */
	assert_value(&fake, ITEM_SYSCTL, "net.ipv4.tcp_mem", "33074 60000 49611");
	assert_value(&fake, ITEM_CIRCUIT, "eth1", UNPACED(11163, 500000000, "eth1"));
	assert_value(&fake, ITEM_SYSCTL, FCWND_SYSCTL, "0");
	assert_value(&fake, ITEM_SYSCTL, ALLOWED_CC, "reno cubic circuit");
	assert_value(&fake, ITEM_QDISC, "eth1", "tbf rate 500000000 burst 100000 limit 16900782");
	fake.count = 0;
	assert_int_equal(apply(&c), 0);
	assert_int_equal(fake.count, 0);
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_int_equal(result.restored, 11);
	assert_as_before(&fake);
	assert_int_equal(undo("eth1", false, &result), -ENOENT);
}

/* Other numbers, other options: as if the first run had never been. */
static void test_change_in_place(void **state)
{
	struct circuit a = circuit("eth1", 500000000, 26000, true);
	struct circuit b = circuit("eth1", 125000000, 10000, false);
	struct undo_result result;
	struct fake *other = malloc(sizeof(*other));
	uint32_t i;

	(void)state;
	assert_true(apply(&b) > 0);
	*other = fake;
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_true(apply(&a) > 0);
	assert_true(apply(&b) > 0);
	for (i = 0; i < other->n; i++)
		assert_value(&fake, other->items[i].kind, other->items[i].name,
			     other->items[i].value);
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_as_before(&fake);
	free(other);
}

static void test_fail_at_each(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, true);
	struct undo_result result;
	int n;

	(void)state;
	for (n = 1; n <= 11; n++) {
		fake.count = 0;
		fake.fail_at = n;
		assert_int_equal(apply(&c), -EIO);
		assert_as_before(&fake);
		assert_int_equal(undo("eth1", false, &result), -ENOENT);
	}
}

/* In place, a failure goes back to the circuit that was there. */
static void test_fail_in_place(void **state)
{
	struct circuit a = circuit("eth1", 500000000, 26000, false);
	struct circuit b = circuit("eth1", 1250000000, 26000, true);
	struct undo_result result;
	int n, all;

	(void)state;
	assert_true(apply(&a) > 0);
	for (n = 1; ; n++) {
		fake.count = 0;
		fake.fail_at = n;
		all = apply(&b);
		if (all > 0)
			break;
		assert_int_equal(all, -EIO);
		fake.fail_at = 0;
		assert_int_equal(apply(&a), 0);
	}
	assert_true(n > 5);
	fake.fail_at = 0;
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_as_before(&fake);
}

static void apply_and_die(const struct circuit *c, int at)
{
	fake.count = 0;
	fake.die_at = at;
	if (!setjmp(fake.killed))
		apply(c);
	else
		run_close(current);
	fake.die_at = 0;
}

static void apply_and_die_before(const struct circuit *c, int at)
{
	fake.count = 0;
	fake.die_before = at;
	if (!setjmp(fake.killed))
		apply(c);
	else
		run_close(current);
	fake.die_before = 0;
}

static void undo_and_die(int at)
{
	struct undo_result result;

	fake.count = 0;
	fake.die_at = at;
	if (!setjmp(fake.killed))
		undo("eth1", false, &result);
	else
		run_close(current);
	fake.die_at = 0;
}

static void test_killed_at_each(void **state)
{
	struct circuit a = circuit("eth1", 500000000, 26000, true);
	struct circuit b = circuit("eth1", 125000000, 10000, false);
	struct undo_result result;
	int n;

	(void)state;
	a.pace = true;
	for (n = 1; n <= 11; n++) {
		apply_and_die(&a, n);
		assert_int_equal(undo("eth1", false, &result), 0);
		assert_int_equal(result.left, 0);
		assert_as_before(&fake);
		/* in place, from one circuit to another */
		assert_true(apply(&b) > 0);
		apply_and_die(&a, n);
		assert_int_equal(undo("eth1", false, &result), 0);
		assert_as_before(&fake);
		/* in undo itself */
		assert_true(apply(&a) > 0);
		undo_and_die(n);
		undo("eth1", false, &result);
		assert_as_before(&fake);
	}
}

/*
 * Dead before the first change, when its state and the module's file are written: the
 * same again loads the module before what needs it.
 */
static void test_killed_before_each(void **state)
{
	struct circuit a = circuit("eth1", 500000000, 26000, true);
	struct undo_result result;
	int n;

	(void)state;
	a.pace = true;
	for (n = 1; n <= 11; n++) {
		apply_and_die_before(&a, n);
		assert_true(apply(&a) > 0);
		assert_int_equal(undo("eth1", false, &result), 0);
		assert_as_before(&fake);
	}
}

static void permute(const char * const order[3], bool rerun)
{
	struct circuit c[3] = {
		circuit("eth1", 500000000, 26000, false),
		circuit("eth2", 125000000, 10000, true),
		circuit("eth3", 1250000000, 50000, true),
	};
	struct undo_result result;
	int i;

	c[0].pace = true;
	c[2].pace = true;
	for (i = 0; i < 3; i++)
		assert_true(apply(&c[i]) > 0);
	/* each its own */
	assert_value(&fake, ITEM_CIRCUIT, "eth1", PACED(11163, 500000000, "eth1"));
	assert_value(&fake, ITEM_CIRCUIT, "eth2", UNPACED(1074, 125000000, "eth2"));
	if (rerun) {
		c[1].pace = true;
		c[2].pace = false;
		c[0].rate = 2500000000;
		assert_true(apply(&c[0]) > 0);
		c[1].rate = 2000000;
		assert_true(apply(&c[1]) > 0);
		c[2].default_cc = false;
		apply(&c[2]);
	}
	for (i = 0; i < 3; i++)
		assert_int_equal(undo(order[i], false, &result), 0);
	assert_as_before(&fake);
}

static void test_three_in_any_order(void **state)
{
	static const char * const orders[][3] = {
		{ "eth1", "eth2", "eth3" }, { "eth1", "eth3", "eth2" },
		{ "eth2", "eth1", "eth3" }, { "eth2", "eth3", "eth1" },
		{ "eth3", "eth1", "eth2" }, { "eth3", "eth2", "eth1" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		permute(orders[i], false);
		permute(orders[i], true);
	}
}

/* The file as it is on disk. */
static void read_file(char *text, size_t len)
{
	char path[128];
	size_t n;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s.state", dir, NETNS);
	in = fopen(path, "r");
	assert_non_null(in);
	n = fread(text, 1, len - 1, in);
	text[n] = 0;
	fclose(in);
}

/* A run beside another circuit fails: the file is as before, to the byte. */
static void test_fail_below_another(void **state)
{
	struct circuit a = circuit("eth1", 500000000, 26000, false);
	struct circuit b = circuit("eth2", 1250000000, 26000, false);
	struct circuit more = circuit("eth1", 2500000000, 26000, false);
	static char before[65536], after[65536];
	struct undo_result result;
	int n, rc = -EIO;

	(void)state;
	assert_true(apply(&a) > 0);
	assert_true(apply(&b) > 0);
	read_file(before, sizeof(before));
	for (n = 1; rc == -EIO; n++) {
		fake.count = 0;
		fake.fail_at = n;
		rc = apply(&more);
		read_file(after, sizeof(after));
		assert_int_equal(!strcmp(before, after), rc == -EIO);
	}
	assert_true(n > 4);
	fake.fail_at = 0;
	assert_true(apply(&a) > 0);
	assert_int_equal(undo("eth2", false, &result), 0);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", UNPACED(11163, 500000000, "eth1"));
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_as_before(&fake);
}

/* The same, killed: in either order all goes back. */
static void test_killed_below_another(void **state)
{
	static const char * const orders[][2] = { { "eth1", "eth2" }, { "eth2", "eth1" } };
	struct circuit a = circuit("eth1", 500000000, 26000, false);
	struct circuit b = circuit("eth2", 1250000000, 26000, false);
	struct circuit more = circuit("eth1", 2500000000, 26000, false);
	struct undo_result result;
	int n;

	(void)state;
	for (n = 0; n < 20; n++) {
		assert_true(apply(&a) > 0);
		assert_true(apply(&b) > 0);
		apply_and_die(&more, 1 + n / 2);
		assert_int_equal(undo(orders[n % 2][0], false, &result), 0);
		assert_int_equal(undo(orders[n % 2][1], false, &result), 0);
		assert_as_before(&fake);
	}
}

/* What one circuit no longer needs stays for one that found it there. */
static void test_kept_for_another(void **state)
{
	struct circuit big = circuit("eth1", 500000000, 26000, false);
	struct circuit small = circuit("eth2", 125000000, 10000, false);
	struct undo_result result;

	(void)state;
	assert_true(apply(&big) > 0);
	assert_true(apply(&small) > 0);
	assert_value(&fake, ITEM_TXQLEN, "eth2", "1000");
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_value(&fake, ITEM_MODULE, MODULE_NAME, "loaded");
	assert_value(&fake, ITEM_CIRCUIT, "eth2", UNPACED(1074, 125000000, "eth2"));
	assert_int_equal(undo("eth2", false, &result), 0);
	assert_as_before(&fake);
}

/* A queue that the administrator made longer, or shorter, is his; only 0 is none. */
static void test_queue_of_the_administrator(void **state)
{
	static const char * const lengths[] = { "10000", "1" };
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct undo_result result;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		fake_put(&fake, ITEM_TXQLEN, "eth1", lengths[i]);
		assert_true(apply(&c) > 0);
		assert_value(&fake, ITEM_TXQLEN, "eth1", lengths[i]);
		assert_int_equal(undo("eth1", false, &result), 0);
		assert_value(&fake, ITEM_TXQLEN, "eth1", lengths[i]);
	}
}

/* In place, the circuit's own, and no sysctl.  The rate stays, for the breaker. */
static void test_pace(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct undo_result result;

	(void)state;
	c.pace = true;
	/* module, sack, no_metrics, rmem_max, rmem, wmem, tcp_mem, qdisc, circuit */
	assert_int_equal(apply(&c), 9);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", PACED(11163, 500000000, "eth1"));
	assert_int_equal(apply(&c), 0);
	c.pace = false;
	assert_int_equal(apply(&c), 1);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", UNPACED(11163, 500000000, "eth1"));
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_as_before(&fake);
}

/* Opt-in, in place, and with either way of pacing. */
static void test_early_window(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct undo_result result;

	(void)state;
	c.early_window = true;
	assert_int_equal(apply(&c), 9);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", PACED(11163, 500000000, "eth1") " flags=3");
	assert_int_equal(apply(&c), 0);
	c.pace = true;
	assert_int_equal(apply(&c), 1);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", PACED(11163, 500000000, "eth1") " flags=1");
	c.pace = false;
	c.early_window = false;
	assert_int_equal(apply(&c), 1);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", UNPACED(11163, 500000000, "eth1"));
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_as_before(&fake);
}

static bool route_runs(const char *name, const char *congctl)
{
	const struct fake_item *item = fake_find(&fake, ITEM_ROUTE, name);

	assert_non_null(item);
	return leads_to(item->value, congctl);
}

/* No circuit in the kernel, no module for it, and H-TCP by its routes. */
static void test_htcp(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct undo_result result;

	(void)state;
	assert_int_equal(parse_to("192.0.2.0/24", &c, &(struct err){ "" }), 0);
	c.guarantee = GUARANTEE_SEMI;
	c.prefer = PREFER_OTHERS;
	/* sack, no_metrics, rmem_max, rmem, wmem, tcp_mem, qdisc, route */
	assert_int_equal(apply(&c), 8);
	assert_value(&fake, ITEM_MODULE, MODULE_NAME, "absent");
	assert_true(route_runs("192.0.2.0/24", HTCP_NAME));
	assert_value(&fake, ITEM_QDISC, "eth1",
		     "tbf rate 500000000 burst 100000 limit 16900782");
	assert_int_equal(apply(&c), 0);
	/* the same path, preferred: module, circuit, and the route in place */
	c.prefer = PREFER_CIRCUIT;
	assert_int_equal(apply(&c), 3);
	assert_true(route_runs("192.0.2.0/24", CC_NAME));
	assert_value(&fake, ITEM_MODULE, MODULE_NAME, "loaded");
	/* and back: the circuit goes */
	c.guarantee = GUARANTEE_NONE;
	c.prefer = PREFER_UNSAID;
	assert_int_equal(apply(&c), 3);
	assert_true(route_runs("192.0.2.0/24", HTCP_NAME));
	assert_value(&fake, ITEM_CIRCUIT, "eth1", "absent");
	assert_value(&fake, ITEM_MODULE, MODULE_NAME, "absent");
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_as_before(&fake);
}

static void test_htcp_default(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, true);
	struct undo_result result;

	(void)state;
	c.guarantee = GUARANTEE_NONE;
	assert_true(apply(&c) > 0);
	assert_value(&fake, ITEM_SYSCTL, DEFAULT_CC, HTCP_NAME);
	assert_value(&fake, ITEM_SYSCTL, ALLOWED_CC, "reno cubic htcp");
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_as_before(&fake);
}

/* Of a path that is guaranteed in part, and of no other */
static void test_breaker(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	char target[ITEM_VALUE];
	struct wants w = { 0 };
	struct err e = { "" };

	(void)state;
	wants_add_breaker(&c, &w);
	assert_int_equal(w.n, 0);
	c.guarantee = GUARANTEE_SEMI;
	c.prefer = PREFER_OTHERS;
	wants_add_breaker(&c, &w);
	assert_int_equal(w.n, 0);
	c.prefer = PREFER_CIRCUIT;
	wants_add_breaker(&c, &w);
	assert_int_equal(w.n, 1);
	assert_string_equal(w.list[0].name, "net.ipv4.tcp_circuit_breaker");
	assert_int_equal(want_target(&w.list[0], "0", target, &e), 0);
	assert_string_equal(target, "100");
	/* an administrator's own threshold stays */
	assert_int_equal(want_target(&w.list[0], "250", target, &e), 0);
	assert_string_equal(target, "250");
}

/* Another name is another circuit: the first one goes. */
static void test_name(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct undo_result result;

	(void)state;
	assert_true(apply(&c) > 0);
	strcpy(c.name, "lhc");
	assert_int_equal(apply(&c), 2);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", "absent");
	assert_value(&fake, ITEM_CIRCUIT, "lhc", UNPACED(11163, 500000000, "eth1"));
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_value(&fake, ITEM_CIRCUIT, "lhc", "absent");
	assert_as_before(&fake);
}

static void refused(const struct circuit *c, const char *why)
{
	struct run *r = malloc(sizeof(*r));

	run_open(r);
	assert_int_equal(run_plan(r, c), -EEXIST);
	if (!strstr(r->e.text, why))
		print_error("expected \"%s\", got \"%s\"\n", why, r->e.text);
	assert_non_null(strstr(r->e.text, why));
	run_close(r);
}

/* Somebody's, or that of another device: refused, before anything is changed. */
static void test_foreign_circuit(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct circuit d = circuit("eth2", 500000000, 26000, false);
	struct undo_result result;

	(void)state;
	fake_put(&fake, ITEM_MODULE, MODULE_NAME, "loaded");
	fake_put(&fake, ITEM_CIRCUIT, "eth1", "window=5 prefixes=192.0.2.0/24");
	refused(&c, "no state tells of, window=5 prefixes=192.0.2.0/24; ctcp-setup circuit del eth1");
	fake_put(&fake, ITEM_CIRCUIT, "eth1", UNPACED(11163, 500000000, "eth1"));
	refused(&c, "no state tells of");
	fake_put(&fake, ITEM_CIRCUIT, "eth1", "absent");
	assert_int_equal(fake.count, 0);
	assert_true(apply(&c) > 0);
	strcpy(d.name, "eth1");
	refused(&d, "circuit eth1 is that of another device");
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_true(apply(&d) > 0);
}

static void test_changed_by_someone(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct undo_result result;

	(void)state;
	assert_true(apply(&c) > 0);
	fake_put(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 7000000");
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_int_equal(result.left, 1);
	assert_value(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 7000000");
	assert_value(&fake, ITEM_QDISC, "eth1", "default");
	assert_int_equal(undo("eth1", true, &result), 0);
	assert_int_equal(result.left, 0);
	assert_as_before(&fake);
}

/* Lowered by someone it is set again; raised by someone it is left. */
static void test_drift(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);

	(void)state;
	assert_true(apply(&c) > 0);
	fake_put(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 7000000");
	assert_int_equal(apply(&c), 1);
	assert_value(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 67603128");
	fake_put(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 80000000");
	assert_int_equal(apply(&c), 0);
	assert_value(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 80000000");
}

/* Each circuit's differences are found among those of all. */
static void test_whose_drift(void **state)
{
	struct circuit a = circuit("eth1", 500000000, 26000, false);
	struct circuit b = circuit("eth2", 250000000, 26000, false);
	struct run *r = malloc(sizeof(*r));
	uint32_t i, k, n[2] = { 0 };

	(void)state;
	assert_true(apply(&a) > 0);
	assert_true(apply(&b) > 0);
	fake_put(&fake, ITEM_QDISC, "eth1", "default");
	fake_put(&fake, ITEM_CIRCUIT, "eth1", "absent");
	fake_put(&fake, ITEM_QDISC, "eth2", "default");
	run_open(r);
	r->diff.look = true;
	assert_int_equal(run_diff(r, NOBODY), 0);
	for (i = 0; i < 2; i++)
		for (k = diff_first(&r->diff, i); diff_change(&r->diff, i, k); k++, n[i]++)
			assert_int_equal(diff_change(&r->diff, i, k)->circuit, i);
	assert_int_equal(r->diff.n, 3);
	assert_int_equal(n[0], 2);
	assert_int_equal(n[1], 1);
	assert_null(diff_change(&r->diff, 2, diff_first(&r->diff, 2)));
	run_close(r);
}

/* What only the machine's own namespace has is read for the first of many circuits. */
static void test_read_once(void **state)
{
	struct circuit a = circuit("eth1", 500000000, 26000, false);
	struct circuit b = circuit("eth2", 250000000, 26000, false);
	int one;

	(void)state;
	strcpy(fake_find(&fake, ITEM_SYSCTL, "net.core.rmem_max")->name, "not here");
	strcpy(fake_find(&fake, ITEM_SYSCTL, "net.ipv4.tcp_mem")->name, "nor here");
	assert_true(apply(&a) > 0);
	one = fake.missed;
	assert_true(one > 0);
	fake.missed = 0;
	assert_true(apply(&b) > 0);
	assert_int_equal(fake.missed, one);
}

static void test_foreign_qdisc(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);

	(void)state;
	fake_put(&fake, ITEM_QDISC, "eth1", "foreign htb 1:");
	assert_int_equal(apply(&c), -EEXIST);
	fake_put(&fake, ITEM_QDISC, "eth1", "tbf rate 1000 ticks 5 limit 6");
	assert_int_equal(apply(&c), -EEXIST);
	fake_put(&fake, ITEM_QDISC, "eth1", "default");
	assert_as_before(&fake);
}

static void test_module_in_use(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct undo_result result;
	int i;

	(void)state;
	assert_true(apply(&c) > 0);
	fake.in_use = true;
	for (i = 0; i < 2; i++) {
		assert_int_equal(undo("eth1", false, &result), 0);
		assert_int_equal(result.in_use, 1);
		assert_value(&fake, ITEM_CIRCUIT, "eth1", "absent");
		assert_value(&fake, ITEM_MODULE, MODULE_NAME, "loaded");
	}
	fake.in_use = false;
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_int_equal(result.restored, 1);
	assert_as_before(&fake);
	assert_int_equal(undo("eth1", false, &result), -ENOENT);
}

/* The undo of another circuit, set up since, removes it; so does one of the same. */
static void test_module_was_in_use(void **state)
{
	static const char * const devs[] = { "eth1", "eth2" };
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct undo_result result;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(devs); i++) {
		struct circuit next = circuit(devs[i], 125000000, 10000, false);

		assert_true(apply(&c) > 0);
		fake.in_use = true;
		assert_int_equal(undo("eth1", false, &result), 0);
		assert_true(apply(&next) > 0);
		fake.in_use = false;
		assert_int_equal(undo(devs[i], false, &result), 0);
		assert_as_before(&fake);
		assert_int_equal(undo("eth1", false, &result), -ENOENT);
	}
}

/* Not asked for, a circuit's item that is not ours is left as it is, and is told of. */
static void test_not_asked(void **state)
{
	struct circuit a = circuit("eth1", 500000000, 26000, false);
	struct circuit b = circuit("eth2", 1000000, 1000, false);
	struct run *r = malloc(sizeof(*r));

	(void)state;
	assert_true(apply(&a) > 0);
	fake_put(&fake, ITEM_QDISC, "eth1", "foreign htb 1:");
	assert_true(apply(&b) > 0);
	assert_value(&fake, ITEM_QDISC, "eth1", "foreign htb 1:");
	run_open(r);
	r->diff.look = true;
	assert_int_equal(run_diff(r, NOBODY), 0);
	assert_int_equal(r->diff.n, 1);
	assert_int_equal(r->diff.list[0].kind, ITEM_QDISC);
	assert_string_equal(r->diff.list[0].from, "foreign htb 1:");
	assert_int_equal(r->diff.list[0].circuit, 0);
	run_close(r);
}

/* A circuit that cannot be planned keeps what it has, and the machine's numbers. */
static void test_held(void **state)
{
	const struct member one = { .circuit = { .name = "eth1", .dev = "eth1" },
				     .ifindex = 1 };
	const struct member two = { .circuit = { .name = "eth2", .dev = "eth2" },
				     .ifindex = 2 };
	struct circuit a = circuit("eth1", 500000000, 26000, false);
	struct run *r = malloc(sizeof(*r));

	(void)state;
	assert_true(apply(&a) > 0);
	run_open(r);
	assert_int_equal(diff_begin(&r->diff, &r->e), 0);
	diff_hold(&r->diff, &two);
	assert_int_equal(diff_end(&r->diff, &r->e), 0);
	/* what is bound to eth1 alone: its qdisc and its circuit */
	assert_int_equal(r->diff.n, 2);
	run_close(r);
	r = malloc(sizeof(*r));
	run_open(r);
	assert_int_equal(diff_begin(&r->diff, &r->e), 0);
	diff_hold(&r->diff, &one);
	assert_int_equal(diff_end(&r->diff, &r->e), 0);
	assert_int_equal(r->diff.n, 0);
	run_close(r);
}

/* Queue and buffers of a device that is gone are not looked for. */
static void test_device_gone(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct device_now gone = { .ifindex = 1 };
	struct run *r = malloc(sizeof(*r));
	bool any;

	(void)state;
	assert_true(apply(&c) > 0);
	fake_put(&fake, ITEM_CIRCUIT, "eth1", UNPACED(11163, 500000000, "#1"));
	fake_put(&fake, ITEM_QDISC, "eth1", "default");
	run_open(r);
	assert_int_equal(state_devices_are(&r->state, &gone, 1), 0);
	assert_int_equal(r->state.gone, 1);
	assert_int_equal(state_drop(&r->state, "eth1", &any, &r->e), 0);
	assert_true(any);
	assert_int_equal(run_diff(r, NOBODY), 0);
	assert_int_equal(commit(&r->diff, &r->store, GO_ON, &r->outcome, &r->notes, &r->e), 0);
	assert_int_equal(r->diff.left, 0);
	assert_true(state_is_empty(&r->state));
	run_close(r);
	assert_as_before(&fake);
}

/* Its shaper and its circuit follow it. */
static void test_device_renamed(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct device_now renamed = { 1, "wan1" };
	struct run *r = malloc(sizeof(*r));
	bool any;

	(void)state;
	assert_true(apply(&c) > 0);
	fake_put(&fake, ITEM_CIRCUIT, "eth1", UNPACED(11163, 500000000, "wan1"));
	strcpy(fake_find(&fake, ITEM_QDISC, "eth1")->name, "wan1");
	run_open(r);
	assert_int_equal(state_devices_are(&r->state, &renamed, 1), 0);
	assert_true(member_is(&r->state.circuits[0], "wan1"));
	assert_int_equal(state_drop(&r->state, "eth1", &any, &r->e), 0);
	assert_true(any);
	assert_int_equal(run_diff(r, NOBODY), 0);
	assert_int_equal(commit(&r->diff, &r->store, GO_ON, &r->outcome, &r->notes, &r->e), 0);
	assert_int_equal(r->diff.left, 0);
	run_close(r);
	assert_value(&fake, ITEM_QDISC, "wan1", "default");
	assert_value(&fake, ITEM_CIRCUIT, "eth1", "absent");
}

/* --- a route in whose place ours is ----------------------------------------- */

#define MOVED "192.0.2.0/24"

/* By eth2, before a circuit of eth1 moved it; its text is kept until the next */
static const char *move_route(void)
{
	struct route_want want = { .ifindex = 2, .via = true, .congctl = "reno" };
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	const struct route none = { 0 };
	static char text[ITEM_VALUE];
	struct route r;
	struct err e;

	assert_int_equal(parse_prefix(MOVED, &want.to, &e), 0);
	assert_int_equal(parse_address("198.51.100.9", &want.gateway), 0);
	assert_int_equal(route_build(&want, &none, &r, &e), 0);
	route_to_text(&r, text);
	fake_put(&fake, ITEM_ROUTE, MOVED, text);
	assert_int_equal(parse_to(MOVED, &c, &e), 0);
	assert_int_equal(parse_via("198.51.100.1", &c, &e), 0);
	assert_true(apply(&c) > 0);
	assert_true(strcmp(fake_find(&fake, ITEM_ROUTE, MOVED)->value, text) != 0);
	return text;
}

/* Its gateway is gone: ours goes alone, by undo and by a command that is all or nothing. */
static void test_way_back_gone(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct undo_result result;

	(void)state;
	fake.unreachable = move_route();
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_int_equal(result.left, 0);
	assert_value(&fake, ITEM_ROUTE, MOVED, "absent");
	assert_as_before(&fake);
	assert_int_equal(undo("eth1", false, &result), -ENOENT);
	fake.unreachable = NULL;
	fake.unreachable = move_route();
	assert_true(apply(&c) > 0);
	assert_value(&fake, ITEM_ROUTE, MOVED, "absent");
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_value(&fake, ITEM_ROUTE, MOVED, "absent");
	assert_as_before(&fake);
}

/* Its device was down, and the kernel flushed our route: what is not there is nobody's. */
static void test_route_flushed(void **state)
{
	const char *before = move_route();
	struct undo_result result;

	(void)state;
	fake_put(&fake, ITEM_ROUTE, MOVED, "absent");
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_int_equal(result.left, 0);
	assert_value(&fake, ITEM_ROUTE, MOVED, before);
	assert_as_before(&fake);
}

/* Somebody's route comes before ours, which goes; his stays, by --force, too. */
static void test_route_behind(void **state)
{
	const char *his = move_route();
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	char ours[ITEM_VALUE];
	struct undo_result result;
	struct err e;
	int force;

	(void)state;
	assert_int_equal(parse_to(MOVED, &c, &e), 0);
	for (force = 0; force < 2; force++) {
		assert_int_equal(undo("eth1", false, &result), 0);
		fake_put(&fake, ITEM_ROUTE, MOVED, "absent");
		assert_true(apply(&c) > 0);
		strcpy(ours, fake_find(&fake, ITEM_ROUTE, MOVED)->value);
		fake.behind = ours;
		fake_put(&fake, ITEM_ROUTE, MOVED, his);
		assert_int_equal(undo("eth1", force, &result), 0);
		assert_int_equal(result.left, 0);
		assert_null(fake.behind);
		assert_value(&fake, ITEM_ROUTE, MOVED, his);
		assert_int_equal(apply(&c) > 0, 1);
	}
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_value(&fake, ITEM_ROUTE, MOVED, his);
	assert_as_before(&fake);
}

static void device_goes(struct state *st, int ifindex)
{
	struct device_now gone = { .ifindex = ifindex };

	assert_int_equal(state_devices_are(st, &gone, 1), 0);
}

/* Our device is gone, that of the route before is not. */
static void test_route_of_another_device(void **state)
{
	const char *before = move_route();
	struct run *r = malloc(sizeof(*r));
	bool any;

	(void)state;
	fake_put(&fake, ITEM_CIRCUIT, "eth1", "absent");
	fake_put(&fake, ITEM_QDISC, "eth1", "default");
	fake_put(&fake, ITEM_ROUTE, MOVED, "absent");
	run_open(r);
	device_goes(&r->state, 1);
	assert_int_equal(r->state.gone, 1);
	assert_int_equal(state_drop(&r->state, "eth1", &any, &r->e), 0);
	assert_int_equal(run_diff(r, NOBODY), 0);
	assert_int_equal(commit(&r->diff, &r->store, GO_ON, &r->outcome, &r->notes, &r->e), 0);
	assert_int_equal(r->diff.left, 0);
	assert_true(state_is_empty(&r->state));
	run_close(r);
	assert_value(&fake, ITEM_ROUTE, MOVED, before);
	assert_as_before(&fake);
	/* both are gone */
	move_route();
	r = malloc(sizeof(*r));
	run_open(r);
	device_goes(&r->state, 1);
	device_goes(&r->state, 2);
	assert_int_equal(r->state.gone, 2);
	run_close(r);
}

/* The one circuit that comes back, and then all of it. */
static int go_back(enum resolve resolve, bool full, uint32_t *changes)
{
	const struct rlimit none = { 0, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };
	struct run *r = malloc(sizeof(*r));
	uint32_t at = 0;
	int rc;

	run_open(r);
	state_revert(&r->state);
	while (at < r->state.n_circuits && r->state.circuits[at].standing != ADDING)
		at++;
	r->diff.revert = true;
	assert_int_equal(run_diff(r, at), 0);
	*changes = r->diff.n;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, full ? &none : &all), 0);
	rc = commit(&r->diff, &r->store, resolve, &r->outcome, &r->notes, &r->e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	run_close(r);
	return rc;
}

/* A full disk does not keep what was before from coming back; the state follows. */
static void test_revert_at_any_cost(void **state)
{
	struct circuit c = circuit("eth1", 500000000, 26000, false);
	struct circuit d = circuit("eth1", 125000000, 50000, false);
	struct run *r = malloc(sizeof(*r));
	struct undo_result result;
	uint32_t changes;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_true(apply(&c) > 0);
	run_open(r);
	assert_true(run_plan(r, &d) > 0);
	r->state.confirm = (struct confirm){ .deadline = 5, .user = "root" };
	assert_int_equal(commit(&r->diff, &r->store, ALL_OR_NONE, &r->outcome, &r->notes,
				&r->e), 0);
	run_close(r);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", UNPACED(5367, 125000000, "eth1"));
	assert_int_equal(go_back(ALL_OR_NONE, true, &changes), -EFBIG);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", UNPACED(5367, 125000000, "eth1"));
	assert_int_equal(go_back(AT_ANY_COST, true, &changes), -EFBIG);
	assert_true(changes > 0);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", UNPACED(11163, 500000000, "eth1"));
	assert_int_equal(go_back(AT_ANY_COST, false, &changes), 0);
	assert_int_equal(changes, 0);
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_int_equal(result.left, 0);
	assert_as_before(&fake);
}

static struct circuit in_class(const char *to)
{
	struct circuit c = circuit("eth1", 125000000, 10000, false);
	struct err e;

	assert_int_equal(parse_to(to, &c, &e), 0);
	c.shaper = SHAPER_HTB;
	return c;
}

/* The changes below the root, in order: "c+ffff f-192.0.2.0/24", + made, - gone, = else */
static void below_root(const struct run *r, char *text, size_t len)
{
	size_t used = 0;
	uint32_t i;

	*text = 0;
	for (i = 0; i < r->diff.n && used < len; i++) {
		const struct change *c = &r->diff.list[i];
		char sign = !strcmp(c->to, "absent") ? '-' : !strcmp(c->from, "absent") ? '+' : '=';

		if (c->kind == ITEM_CLASS)
			used += (size_t)snprintf(text + used, len - used, "c%c%s ", sign,
						 strchr(c->name, ':') + 1);
		else if (c->kind == ITEM_FILTER || c->kind == ITEM_QDISC)
			used += (size_t)snprintf(text + used, len - used, "%c%c%s ",
						 c->kind == ITEM_QDISC ? 'q' : 'f', sign,
						 strchr(c->name, ' ') ?: "");
	}
}

/* Of another on its device, what the two share stays. */
static void test_held_beside(void **state)
{
	struct circuit c = in_class("192.0.2.0/24,203.0.113.0/24");
	struct member other = { .circuit = c, .ifindex = 1, .classid = 2 };
	struct run *r = malloc(sizeof(*r));
	char text[512];
	struct err e;

	(void)state;
	assert_true(apply(&c) > 0);
	strcpy(other.circuit.name, "ska");
	other.circuit.n_to = 0;
	assert_int_equal(parse_to("198.18.0.0/15", &other.circuit, &e), 0);
	run_open(r);
	assert_int_equal(diff_begin(&r->diff, &r->e), 0);
	diff_hold(&r->diff, &other);
	assert_int_equal(diff_end(&r->diff, &r->e), 0);
	below_root(r, text, sizeof(text));
	assert_string_equal(text, "f- 203.0.113.0/24 f- 192.0.2.0/24 c-1 ");
	run_close(r);
}

/* The circuit is set (NULL: undone) by these changes below the root, in this order. */
static void assert_below_root(const struct circuit *c, const char *expected)
{
	struct run *r = malloc(sizeof(*r));
	char text[512];
	bool any;

	run_open(r);
	if (c) {
		assert_true(run_plan(r, c) >= 0);
	} else {
		assert_int_equal(state_drop(&r->state, "eth1", &any, &r->e), 0);
		assert_true(any);
		assert_int_equal(run_diff(r, NOBODY), 0);
	}
	below_root(r, text, sizeof(text));
	assert_string_equal(text, expected);
	assert_int_equal(commit(&r->diff, &r->store, c ? ALL_OR_NONE : GO_ON, &r->outcome,
				&r->notes, &r->e), 0);
	run_close(r);
}

/* A packet always finds a class: filters come after it and before those that go. */
static void test_order_below_root(void **state)
{
	struct circuit c = in_class("192.0.2.0/24,198.18.0.0/15");

	(void)state;
	assert_below_root(&c, "q= c+ffff c+1 f+ 192.0.2.0/24 f+ 198.18.0.0/15 ");
	assert_below_root(&c, "");
	c = in_class("192.0.2.0/24,203.0.113.0/24");
	c.rate = 250000000;
	assert_below_root(&c, "c=ffff c=1 f+ 203.0.113.0/24 f- 198.18.0.0/15 ");
	/* somebody takes the root: all that was on it is made again */
	fake_put(&fake, ITEM_QDISC, "eth1", "default");
	fake_put(&fake, ITEM_CLASS, "eth1 c7c0:ffff", "absent");
	fake_put(&fake, ITEM_CLASS, "eth1 c7c0:1", "absent");
	fake_put(&fake, ITEM_FILTER, "eth1 192.0.2.0/24", "absent");
	fake_put(&fake, ITEM_FILTER, "eth1 203.0.113.0/24", "absent");
	assert_below_root(&c, "q= c+ffff c+1 f+ 192.0.2.0/24 f+ 203.0.113.0/24 ");
	assert_below_root(NULL, "f- 203.0.113.0/24 f- 192.0.2.0/24 c-1 c-ffff q= ");
	assert_as_before(&fake);
}

/* One more beside what stands; @text: the changes below the root.  How many reads. */
static int add_trusting(const char *name, const char *to, bool trust, char *text, size_t len)
{
	struct run *r = malloc(sizeof(*r));
	struct circuit c = in_class(to);
	uint32_t at;

	strcpy(c.name, name);
	run_open(r);
	r->diff.trust = trust;
	assert_int_equal(state_insert(&r->state, &c, 1, &at, &r->e), 0);
	fake.reads = 0;
	assert_int_equal(run_diff(r, at), 0);
	below_root(r, text, len);
	assert_int_equal(commit(&r->diff, &r->store, ALL_OR_NONE, &r->outcome, &r->notes, &r->e),
			 0);
	run_close(r);
	return fake.reads;
}

/*
 * What stands is not read for one more: but for what the run that set it did not leave as
 * it should be, and all that was below a root which is gone.
 */
static void test_trust(void **state)
{
	struct undo_result result;
	char text[512];

	(void)state;
	assert_int_equal(add_trusting("a", "192.0.2.0/24", true, text, sizeof(text)), 4);
	assert_string_equal(text, "q= c+ffff c+1 f+ 192.0.2.0/24 ");
	assert_int_equal(add_trusting("b", "198.18.0.0/15", false, text, sizeof(text)), 8);
	assert_string_equal(text, "c=ffff c+2 f+ 198.18.0.0/15 ");
	assert_int_equal(add_trusting("c", "203.0.113.0/24", true, text, sizeof(text)), 4);
	assert_string_equal(text, "c=ffff c+3 f+ 203.0.113.0/24 ");
	fake_put(&fake, ITEM_QDISC, "eth1", "default");
	fake_put(&fake, ITEM_CLASS, "eth1 c7c0:ffff", "absent");
	fake_put(&fake, ITEM_CLASS, "eth1 c7c0:1", "absent");
	fake_put(&fake, ITEM_CLASS, "eth1 c7c0:2", "absent");
	fake_put(&fake, ITEM_CLASS, "eth1 c7c0:3", "absent");
	fake_put(&fake, ITEM_FILTER, "eth1 192.0.2.0/24", "absent");
	fake_put(&fake, ITEM_FILTER, "eth1 198.18.0.0/15", "absent");
	fake_put(&fake, ITEM_FILTER, "eth1 203.0.113.0/24", "absent");
	assert_in_range(add_trusting("d", "10.0.0.0/8", true, text, sizeof(text)), 10, 16);
	assert_string_equal(text,
			    "q= c+ffff c+1 f+ 192.0.2.0/24 c+2 f+ 198.18.0.0/15 c+3 f+ 203.0.113.0/24 c+4 f+ 10.0.0.0/8 ");
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_int_equal(result.left, 0);
	assert_as_before(&fake);
}

/* --- set again ------------------------------------------------------------- */

/* The file of the state, "" = there is none. */
static void read_state(char text[65536])
{
	char path[200];
	FILE *f;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/" NETNS ".state", dir);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, 65535, f);
		fclose(f);
	}
	text[n] = 0;
}

/* How many were, -errno; @failed of them the kernel refuses.  The file's text is the same. */
static int restore(uint32_t *failed, char before[65536], char after[65536])
{
	struct run *r = malloc(sizeof(*r));
	int rc;

	read_state(before);
	run_open(r);
	r->diff.restore = true;
	rc = run_diff(r, NOBODY);
	if (!rc)
		rc = commit(&r->diff, &r->store, GO_ON, &r->outcome, &r->notes, &r->e);
	*failed = r->outcome.failed;
	if (!rc)
		rc = (int)r->outcome.changed;
	run_close(r);
	read_state(after);
	return rc;
}

/* What the state tells of is made so, and the state is not written for that. */
static void test_restore(void **state)
{
	static char before[65536], after[65536];
	struct circuit c = circuit("eth1", 500000000, 26000, true);
	struct undo_result result;
	uint32_t failed;

	(void)state;
	assert_int_equal(apply(&c), 11);
	fake_put(&fake, ITEM_QDISC, "eth1", "default");
	fake_put(&fake, ITEM_CIRCUIT, "eth1", "absent");
	fake_put(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "1 2 3");
	assert_int_equal(restore(&failed, before, after), 3);
	assert_int_equal(failed, 0);
	assert_string_equal(before, after);
	assert_value(&fake, ITEM_CIRCUIT, "eth1", UNPACED(11163, 500000000, "eth1"));
	assert_value(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 67603128");
	/* one that the kernel refuses keeps neither the others nor the state */
	fake_put(&fake, ITEM_QDISC, "eth1", "default");
	fake_put(&fake, ITEM_CIRCUIT, "eth1", "absent");
	fake.count = 0;
	fake.fail_at = 1;
	assert_int_equal(restore(&failed, before, after), 1);
	fake.fail_at = 0;
	assert_int_equal(failed, 1);
	assert_string_equal(before, after);
	assert_int_equal(restore(&failed, before, after), 1);
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_value(&fake, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 6291456");
	assert_value(&fake, ITEM_QDISC, "eth1", "default");
}

/* One that was as the circuit needs it: undo knows what it was, unless it was refused. */
static void test_restore_fresh(void **state)
{
	static char before[65536], after[65536];
	struct circuit c = circuit("eth1", 500000000, 26000, true);
	struct undo_result result;
	uint32_t failed;

	(void)state;
	apply(&c);
	fake_put(&fake, ITEM_SYSCTL, "net.ipv4.tcp_window_scaling", "0");
	fake.count = 0;
	fake.fail_at = 1;
	assert_int_equal(restore(&failed, before, after), 0);
	fake.fail_at = 0;
	assert_int_equal(failed, 1);
	assert_string_equal(before, after);
	assert_int_equal(restore(&failed, before, after), 1);
	assert_value(&fake, ITEM_SYSCTL, "net.ipv4.tcp_window_scaling", "1");
	assert_non_null(strstr(after, "net.ipv4.tcp_window_scaling 0 before 0 ours 1"));
	assert_int_equal(undo("eth1", false, &result), 0);
	assert_value(&fake, ITEM_SYSCTL, "net.ipv4.tcp_window_scaling", "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_apply_and_undo, setup, teardown),
		cmocka_unit_test_setup_teardown(test_restore, setup, teardown),
		cmocka_unit_test_setup_teardown(test_restore_fresh, setup, teardown),
		cmocka_unit_test_setup_teardown(test_change_in_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fail_at_each, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fail_in_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_at_each, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_before_each, setup, teardown),
		cmocka_unit_test_setup_teardown(test_three_in_any_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fail_below_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_below_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_queue_of_the_administrator, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kept_for_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_early_window, setup, teardown),
		cmocka_unit_test_setup_teardown(test_htcp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_htcp_default, setup, teardown),
		cmocka_unit_test(test_breaker),
		cmocka_unit_test_setup_teardown(test_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign_circuit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed_by_someone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drift, setup, teardown),
		cmocka_unit_test_setup_teardown(test_whose_drift, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign_qdisc, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module_in_use, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module_was_in_use, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held_beside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_device_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_device_renamed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_way_back_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_route_flushed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_route_behind, setup, teardown),
		cmocka_unit_test_setup_teardown(test_route_of_another_device, setup, teardown),
		cmocka_unit_test_setup_teardown(test_revert_at_any_cost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_trust, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order_below_root, setup, teardown),
	};

	int failed = cmocka_run_group_tests_name("one at a time", tests, NULL, NULL);

	fake_many = true;
	return failed | cmocka_run_group_tests_name("many at once", tests, NULL, NULL);
}

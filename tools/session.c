// SPDX-License-Identifier: GPL-2.0
/*
 * What the commands share: see session.h.
 */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "htb.h"
#include "link.h"
#include "print.h"
#include "revert.h"
#include "session.h"
#include "session_plan.h"
#include "timer.h"

/*
 * Asked of the kernel and not of the user id: root of a user namespace that
 * owns its network namespace may, root in a container without it may not.  @or:
 * what else there is to do.
 */
int need_net_admin(const char *or, struct err *e)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (!syscall(SYS_capget, &head, data) &&
	    data[CAP_NET_ADMIN / 32].effective & 1U << CAP_NET_ADMIN % 32)
		return 0;
	return err_set(e, -EPERM, "this needs CAP_NET_ADMIN; run it as root%s", or);
}

static int session_open(struct session *s, const struct args *a, struct err *e)
{
	int rc;

	s->args = a;
	/* asked before the lock is held: names of users may come by the network */
	if (a->confirm_us) {
		confirm_caller(&s->caller);
		confirm_command(&s->caller, a->argc, a->argv);
	}
	rc = store_open(&s->store, e);
	return rc ? rc : kernel_open(&s->kernel, e);
}

static void session_close(struct session *s)
{
	kernel_close(&s->kernel);
	diff_free(&s->diff);
	state_free(&s->state);
	store_close(&s->store);
	plan_free(s);
	lives_free(&s->lives);
}

/* A command from end to end; what it met on the way is said where it failed. */
int session_run(const struct args *a, session_fn run, void *data, struct err *e)
{
	struct session *s = calloc(1, sizeof(*s));	/* large */
	int rc;

	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	rc = session_open(s, a, e);
	if (!rc)
		rc = run(s, data, e);
	session_release(s);
	if (rc)
		print_notes(stderr, &s->trouble);
	session_close(s);
	free(s);
	return rc;
}

/* --- the state ------------------------------------------------------------- */

/* The device of the circuit is there under this index. */
static bool if_name_is(const struct member *m)
{
	char dev[IFNAMSIZ];

	return m->ifindex && if_indextoname((unsigned int)m->ifindex, dev);
}

/* Gone is what the kernel says is: a question that fails says nothing. */
static int ask_device(struct device_now *now)
{
	if (if_indextoname((unsigned int)now->ifindex, now->dev))
		return 0;
	now->dev[0] = 0;
	return errno == ENXIO || errno == ENODEV ? 0 : -errno;
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Mostly that of the one before; how many there are then */
static uint32_t add_device(int *list, uint32_t n, int ifindex)
{
	if (!n || list[n - 1] != ifindex)
		list[n++] = ifindex;
	return n;
}

/* Indexes of all devices that the state tells of, each once; NULL: out of memory */
static int *list_devices(const struct state *st, uint32_t *n)
{
	int *list = malloc(((size_t)st->n_circuits + st->n_base + 1) * sizeof(*list));
	uint32_t i, all = 0;

	*n = 0;
	if (!list)
		return NULL;
	for (i = 0; i < st->n_circuits; i++)
		all = add_device(list, all, st->circuits[i].ifindex);
	for (i = 0; i < st->n_base; i++)
		all = add_device(list, all, st->base[i].ifindex);
	qsort(list, all, sizeof(*list), by_number);
	for (i = 0; i < all; i++)
		if (list[i] && (!*n || list[*n - 1] != list[i]))
			list[(*n)++] = list[i];
	return list;
}

/* Where an index is nobody's any more, that of who has the name now */
static void find_devices(struct state *st)
{
	const struct member *last = NULL;
	int was = 0;
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		struct member *m = &st->circuits[i];
		int index = m->ifindex;

		if (last && was == index && !strcmp(last->circuit.dev, m->circuit.dev))
			m->ifindex = last->ifindex;
		else if (!if_name_is(m))
			m->ifindex = link_index(m->circuit.dev);
		m->anew = !index || m->ifindex != index;
		last = m;
		was = index;
	}
}

/* A device that was made anew under its name begins anew. */
static int follow_devices(struct state *st, struct err *e)
{
	uint32_t n, i;
	int *list = list_devices(st, &n), rc = 0;
	struct device_now *now = calloc((size_t)n + 1, sizeof(*now));

	if (!list || !now)
		rc = -ENOMEM;
	for (i = 0; i < n && !rc; i++) {
		now[i].ifindex = list[i];
		rc = ask_device(&now[i]);
	}
	if (!rc)
		rc = state_devices_are(st, now, n);
	free(list);
	free(now);
	if (rc)
		return err_set(e, rc, "cannot ask the kernel for the devices of the state: %s",
			       strerror(-rc));
	find_devices(st);
	return 0;
}

/* What undo of the module rests on is not in the namespace's own state. */
static int add_module(struct session *s, struct err *e)
{
	struct base *b;
	int rc = store_read_module(&s->store, e);

	if (rc || !s->store.has_module)
		return rc;
	b = state_add_base(&s->state, ITEM_MODULE, MODULE_NAME, 0, "absent");
	if (!b)
		return err_set(e, -ENOMEM, "out of memory");
	b->ours = "loaded";
	return 0;
}

static int read_state(struct session *s, bool recover, struct err *e)
{
	int rc = store_read(&s->store, &s->state, e);

	if (rc)
		return rc;
	s->cut_short = state_is_pending(&s->state);
	s->waits = s->state.confirm;
	s->theirs = s->cut_short && !state_pending_is_ctcpds(&s->state);
	if (recover && s->ctcpd && !s->theirs)
		state_recover_ctcpds(&s->state);
	else if (recover)
		state_recover(&s->state);
	rc = follow_devices(&s->state, e);
	return rc ? rc : add_module(s, e);
}

/* A run that was killed left its circuits half made: its list is that of before again. */
int session_read(struct session *s, struct err *e)
{
	return read_state(s, true, e);
}

/* The state as it is, and where the kernel is not as it says. */
int session_look(struct session *s, struct err *e)
{
	int rc = read_state(s, false, e);

	state_drop_before(&s->state);
	s->diff.look = true;
	return rc ? rc : session_diff(s, e);
}

/* Whether the circuit is to be told of: not where a run was about to replace it. */
bool session_shows(const struct session *s, uint32_t i)
{
	const struct member *m = &s->state.circuits[i], *other;
	uint32_t k;

	for (k = 0; m->standing == REMOVING && k < s->state.n_circuits; k++) {
		other = &s->state.circuits[k];
		if (other->standing == ADDING && !strcmp(other->circuit.dev, m->circuit.dev))
			return false;
	}
	return !s->args->circuit.dev[0] || member_is(m, s->args->circuit.dev);
}

/*
 * Circuits of the daemon's in an administrator's run, and the other way round: they are
 * neither planned nor wanted, and stay as they are.  Whoever only looks sees the daemon's, and
 * one that was in the way of a change comes back with all else.
 */
bool session_is_aside(const struct session *s, uint32_t i)
{
	const struct member *m = &s->state.circuits[i];

	if (s->ctcpd)
		return !m->circuit.ctcpd;
	return m->circuit.ctcpd && m->standing != ADDING && !s->diff.look;
}

/* Circuits of the list that are asked about at once */
struct lot {
	struct session *s;
	uint32_t first, end;
	bool (*asks)(const struct session *s, uint32_t i);
	void (*ask)(struct session *s, uint32_t i);
};

static void ask_lot(void *data)
{
	const struct lot *lot = data;
	unsigned int said = lot->s->notes.n, more = lot->s->notes.more;
	uint32_t i;

	for (i = lot->first; i < lot->end; i++)
		if (lot->asks(lot->s, i) && !lot->s->planned[i].rc)
			lot->ask(lot->s, i);
	lot->s->notes.n = said;
	lot->s->notes.more = more;
}

/*
 * The answers to what @ask asks the kernel of the next circuits that @asks is true for are
 * fetched at once, until the next call or kernel_ahead_end().  Of one circuit it would not pay;
 * a command that sets one reads that one alone.
 */
void session_ahead(struct session *s, uint32_t first,
		   bool (*asks)(const struct session *s, uint32_t i),
		   void (*ask)(struct session *s, uint32_t i))
{
	struct lot lot = { s, first, first + MANY_AT_ONCE, asks, ask };
	uint32_t i, n = 0;

	if (lot.end > s->state.n_circuits)
		lot.end = s->state.n_circuits;
	for (i = first; i < lot.end; i++)
		n += asks(s, i);
	if (n < s->kernel.backend.many)
		kernel_ahead_end(&s->kernel);
	else
		kernel_ahead(&s->kernel, ask_lot, &lot);
}

/* Of its class, which is the circuit's alone, or else of the device's root; zeroed before */
int session_shaper(struct session *s, uint32_t i, struct qdisc *q, struct qdisc_stats *stats,
		   struct err *e)
{
	const struct member *m = &s->state.circuits[i];
	int ifindex = s->planned[i].facts->ifindex;
	struct htb_class class;
	int rc;

	if (!m->classid)
		return qdisc_read(&s->kernel.nl, ifindex, q, stats, e);
	snprintf(q->kind, sizeof(q->kind), "htb");
	rc = class_read(&s->kernel.nl, ifindex, m->classid, &class, stats, e);
	q->state = class.state == CLASS_ABSENT ? QDISC_DEFAULT : QDISC_HTB;
	return rc;
}

/* For a command that will not change anything: the list as it stands. */
int session_peek(struct session *s, struct err *e)
{
	int rc = session_read(s, e);

	state_drop_before(&s->state);
	return rc;
}

/*
 * As session_lock(), but nothing is locked, for what a command would do: where a run goes
 * back first, from the list that it goes back to.
 */
int session_preview(struct session *s, struct err *e)
{
	char text[CONFIRM_TEXT];
	uint64_t now = boottime_ns();
	int rc = session_read(s, e);

	if (rc || !s->state.confirm.deadline)
		return rc;
	note(&s->notes, "%.380s", confirm_text(&s->state.confirm, now, text));
	if (confirm_is_over(&s->state.confirm, now))
		state_revert(&s->state);
	else
		state_drop_before(&s->state);
	return 0;
}

static void deadly_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

/*
 * From here on this process alone changes things, and finishes what it began:
 * a signal from the terminal waits until it is done, a few milliseconds.
 */
int session_hold(struct session *s, struct err *e)
{
	sigset_t set;
	int rc;

	rc = store_lock(&s->store, e);
	if (rc)
		return rc;
	deadly_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &s->mask);
	s->held = true;
	return session_read(s, e);
}

/*
 * Nothing more will be changed.  Before anything is printed: who reads it may never do so,
 * and a timer, watch and the next command must not wait for that.  A signal that came
 * meanwhile has come too late to stop the change, of which it is better to hear.
 */
void session_release(struct session *s)
{
	static const struct timespec now;
	sigset_t set;

	if (!s->held)
		return;
	s->held = false;
	store_unlock(&s->store);
	deadly_signals(&set);
	/* watch has them blocked at all times, and reads them itself */
	while (!sigismember(&s->mask, SIGTERM) && sigtimedwait(&set, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* What was not confirmed in time, with nobody left to take it back, goes first. */
static int take_back(struct session *s, struct err *e)
{
	struct revert r = { .lock = s->store.lock };
	char whose[CONFIRM_TEXT];
	int rc = revert(&r, e);

	if (rc)
		return rc;
	note(&s->trouble, "%.300s was not confirmed in time and is taken back first",
	     confirm_whose(&s->waits, whose));
	notes_add(&s->trouble, &r.notes);
	state_free(&s->state);
	return session_read(s, e);
}

/* For a command that need not change anything: *@waits while a change waits for confirmation. */
int session_lock_waiting(struct session *s, bool *waits, struct err *e)
{
	const struct confirm *c = &s->state.confirm;
	int rc = session_hold(s, e);

	*waits = false;
	if (rc || !c->deadline)
		return rc;
	if (confirm_is_over(c, boottime_ns()))
		return take_back(s, e);
	*waits = true;
	return 0;
}

/* For a command that changes the list: nobody's change may wait for confirmation. */
int session_lock(struct session *s, struct err *e)
{
	char text[CONFIRM_TEXT];
	bool waits;
	int rc = session_lock_waiting(s, &waits, e);

	if (rc || !waits)
		return rc;
	return err_set(e, -EALREADY,
		       "%s; ctcp-setup confirm keeps it, ctcp-setup cancel takes it back",
		       confirm_text(&s->state.confirm, boottime_ns(), text));
}

/*
 * The way back is on disk, and somebody waits to go it, before the first change; if this
 * process ends between any two steps, either it is gone or the next command goes it.
 */
static int prepare_to_confirm(struct session *s, struct err *e)
{
	struct confirm *c = &s->state.confirm;
	struct err why = { "" };
	int rc;

	*c = s->caller;
	c->deadline = boottime_ns() + s->args->confirm_us * 1000;
	rc = commit_prepare(&s->diff, &s->store, true, e);
	if (rc)
		return rc;
	rc = faulty_step("the timer", e);
	if (!rc)
		rc = timer_start(&s->store, c, e);
	if (!rc)
		rc = faulty_step("the first change", e);
	if (rc && store_restore(&s->store, &why))
		note(&s->trouble, "while going back: %s", why.text);
	return rc;
}

/* Nothing is written where nothing changes. */
int session_commit(struct session *s, enum resolve resolve, struct err *e)
{
	int rc;

	if (!s->args->confirm_us)
		return commit(&s->diff, &s->store, resolve, &s->outcome, &s->trouble, e);
	rc = prepare_to_confirm(s, e);
	return rc ? rc : commit_make(&s->diff, &s->store, resolve, &s->outcome, &s->trouble, e);
}

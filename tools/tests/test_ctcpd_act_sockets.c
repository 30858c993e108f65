// SPDX-License-Identifier: GPL-2.0
/*
 * By which hands a device is paced: sockets where classes do not fit, or do not any more.
 */
#include "ctcpd_world.h"

/* --- by sockets ----------------------------------------------------------- */

static void each_by_its_hands(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	const struct act_totals *t;
	struct pacing p;

	other->remote.ifindex = 2;
	begin_sockets(w);
	settle_all(w);
	assert_int_equal(rate_of(w, s), 0);
	assert_in_range(socket_rate_of(w, s), 98 * MB, 99 * MB);
	assert_int_equal(socket_rate_of(w, other), 0);
	assert_in_range(rate_of(w, other), 98 * MB, 99 * MB);
	t = act_totals(w->act);
	assert_int_equal(t->paced, 2);
	assert_int_equal(t->paced_by[HANDS_CLASSES], 1);
	assert_int_equal(t->paced_by[HANDS_SOCKETS], 1);
	assert_int_equal(t->unfit, 0);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.hands, "sockets");
	assert_string_equal(p.unfit, "");
	assert_true(act_find(w->act, &other->remote.addr, &p));
	assert_string_equal(p.hands, "classes");
	assert_said(w, "on eth1 remotes are paced by sockets, not by classes: it has 8 queues\n",
		    1);
	assert_said(w, "are paced by sockets", 1);
}

/* What is paced has its rates divided anew with each poll; nothing is loaded for nothing. */
static void loaded_while_it_is_used(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t ticks;

	begin_sockets(w);
	polls(w, 10);
	assert_int_equal(w->loads, 0);
	settle_all(w);
	assert_int_equal(w->loads, 1);
	ticks = w->ticks;
	polls(w, 7);
	poll_one(w, false);
	assert_int_equal(w->ticks, ticks + 8);
	act_forget(w->act, &s->remote.addr, w->now);
	assert_int_equal(w->sockets.n, 0);
	s->idle = true;
	polls(w, 1);
	assert_false(w->loaded);
}

static void division_fails(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	begin_sockets(w);
	settle_all(w);
	w->tick_rc = -ENOMEM;
	polls(w, 3);
	assert_int_equal(act_totals(w->act)->failed, 3);
	assert_said(w, "pacing by sockets cannot be changed: it ended early", 1);
	assert_true(w->loaded);
}

/* Others are paced all the same; it is said once, and paced when it can be. */
static void sockets_cannot(struct world *w, int *rc, int code, const char *why)
{
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	char text[160];
	struct pacing p;

	other->remote.ifindex = 2;
	begin_sockets(w);
	*rc = code;
	settle_all(w);
	assert_int_equal(w->sockets.n, 0);
	assert_in_range(rate_of(w, other), 98 * MB, 99 * MB);
	assert_true(act_totals(w->act)->acts);
	assert_int_equal(act_totals(w->act)->failed, 0);
	assert_int_equal(act_totals(w->act)->unfit, 1);
	snprintf(text, sizeof(text),
		 "it has 8 queues; %s; with one-lock = yes it is paced by classes", why);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.unfit, text);
	assert_string_equal(p.hands, "");
	assert_device(w, "eth1", "", text);
	assert_device(w, "eth2", "classes", "");
	assert_said(w, text, 1);
	assert_said(w, "nothing is paced on eth1", 1);
	*rc = 0;
	polls(w, 13);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	assert_said(w, "on eth1 remotes can be paced by sockets now", 1);
	assert_device(w, "eth1", "sockets", "it has 8 queues");
}

static void kernel_cannot(void **state)
{
	struct world *w = *state;

	sockets_cannot(w, &w->can_rc, -EOPNOTSUPP, "there is no BTF");
}

static void process_may_not(void **state)
{
	struct world *w = *state;

	sockets_cannot(w, &w->open_rc, -EACCES, "it needs CAP_BPF");
}

/* /sys is read-only, say: whatever it is, classes go on */
static void cannot_be_pinned(void **state)
{
	struct world *w = *state;

	sockets_cannot(w, &w->open_rc, -EROFS, "it needs CAP_BPF");
}

/* Nor would classes with one-lock = yes: it carries 20gbit, say. */
static void too_fast_for_classes(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	begin_sockets(w);
	w->too_fast = true;
	w->can_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_device(w, "eth1", "", "it has 8 queues; there is no BTF");
}

/* Neither bridges nor the loopback */
static void no_device_for_sockets(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	begin_sockets(w);
	w->takes_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_int_equal(w->loads, 0);
	assert_said(w, "nothing is paced on eth1: it has 8 queues; it is a bridge\n", 1);
}

/* Another process has the program: with the next poll, and no other hands are looked for */
static void sockets_later(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	w->open_rc = -EAGAIN;
	polls(w, 14);
	assert_int_equal(w->sockets.n, 0);
	assert_int_equal(act_totals(w->act)->unfit, 0);
	w->open_rc = 0;
	polls(w, 1);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "nothing is paced on", 0);
}

/* What it cannot do without a try is not tried, and nothing is loaded. */
static void observe_loads_nothing(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;

	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	begin_sockets(w);
	w->open_rc = -EACCES;
	settle_all(w);
	assert_int_equal(w->loads + w->ticks, 0);
	assert_said(w, "192.0.2.7: would be paced at 640mbit: it is overrun", 1);
	assert_said(w, "are paced by sockets", 0);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_not_equal(p.would, 0);
	/* it may by now */
	w->open_rc = 0;
	w->config.mode = MODE_ACT;
	act_reload(w->act, w->now);
	assert_int_not_equal(socket_rate_of(w, s), 0);
}

static void observe_says_what_cannot(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	struct pacing p;

	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	begin_sockets(w);
	w->can_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_said(w, "would be paced", 0);
	assert_said(w, "nothing is paced on eth1: it has 8 queues; there is no BTF", 1);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_int_equal(p.would, 0);
}

static void sockets_outlive_restarts(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t settings, lines;
	uint64_t rate;

	begin_sockets(w);
	settle_all(w);
	rate = socket_rate_of(w, s);
	settings = w->socket_settings;
	lines = said(w, "192.0.2.7");
	restart(w);
	polls(w, 5);
	assert_int_equal(socket_rate_of(w, s), rate);
	end(w, false);
	strcpy(w->config.history, w->place->file);
	assert_false(w->loaded);
	begin(w);
	polls(w, 5);
	assert_int_equal(w->socket_settings, settings);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_int_equal(said(w, "192.0.2.7"), lines);
	assert_int_equal(acting_of(w, s)->force, rate);
	/* what is pinned tells it, without a history */
	end(w, true);
	assert_int_equal(unlink(w->place->file), 0);
	begin(w);
	polls(w, 20);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_int_equal(w->socket_settings, settings);
}

static void sockets_are_taken_back(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	settle_all(w);
	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
	assert_said(w, "mode = observe: 1 remotes or subnets are not paced any more\n", 1);
	assert_int_equal(w->act->lock, -1);
	w->config.mode = MODE_ACT;
	act_reload(w->act, w->now);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	/* by one that began so, behind one that was killed */
	end(w, false);
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
}

/*
 * An earlier run paced by sockets, and this one only observes: as long as *@rc is @error all stays,
 * of which it is said once @why, and it is taken back afterwards.
 */
static void stays_while(struct world *w, int *rc, int error, const char *why)
{
	struct sim *s = remote(w, 2, 7, 100 * MB);
	char said[256];

	begin_sockets(w);
	settle_all(w);
	assert_said(w, "can be looked at again", 0);
	end(w, true);
	*rc = error;
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 30);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	snprintf(said, sizeof(said),
		 "what an earlier run may have paced stays, as it cannot be looked at: %s; as root, rm -r /sys/fs/bpf/ctcpd takes it back for connections that begin, and rm /run/ctcp-setup/ctcpd-*.lock tells ctcpd\n",
		 why);
	assert_said(w, said, 1);
	assert_said(w, "can be looked at again", 0);
	*rc = 0;
	polls(w, 13);
	assert_int_equal(w->sockets.n, 0);
	assert_said(w, "what sockets pace can be looked at again", 1);
}

/* What an earlier run has pinned, and this one may not load */
static void sockets_stay(void **state)
{
	struct world *w = *state;

	stays_while(w, &w->open_rc, -EACCES, "it needs CAP_BPF");
}

/* As long as it is loaded it may hold some that are to be let go of. */
static void program_cannot_go_yet(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	settle_all(w);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	w->tick_rc = -EAGAIN;
	w->config.mode = MODE_OBSERVE;
	act_reload(w->act, w->now);
	polls(w, 2);
	assert_int_equal(socket_rate_of(w, s), 0);
	assert_true(has_lock_file(w));
	w->tick_rc = 0;
	polls(w, 1);
	assert_false(w->loaded);
	assert_false(has_lock_file(w));
}

/* What it may not see is not nothing. */
static void pins_cannot_be_seen(void **state)
{
	struct world *w = *state;

	stays_while(w, &w->pinned_rc, -EOPNOTSUPP, "it cannot be looked for");
}

/* As any user finds it where nobody has paced since the machine was booted: no word of it */
static void nothing_can_be_pinned(void **state)
{
	struct world *w = *state;
	char none[128];

	end(w, true);
	snprintf(none, sizeof(none), "%s/none", w->place->dir);
	setenv("CTCP_RUNDIR", none, 1);
	w->pinned_rc = -EOPNOTSUPP;
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 30);
	assert_said(w, "may have paced stays", 0);
}

/* One that acts has its classes, and nothing has failed. */
static void acts_without_seeing_pins(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	settle_all(w);
	end(w, true);
	w->pinned_rc = -EOPNOTSUPP;
	begin(w);
	settle_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_true(act_totals(w->act)->acts);
	assert_int_equal(act_totals(w->act)->failed, 0);
	assert_said(w, "what an earlier run may have paced stays", 1);
}

static void another_versions_pins(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	end(w, true);
	begin_sockets(w);
	w->others = true;
	w->config.mode = MODE_OBSERVE;
	begin(w);
	polls(w, 30);
	assert_true(w->others);
	assert_said(w, "as it cannot be looked at: another version has pinned it", 1);
	w->config.mode = MODE_ACT;
	w->others_held = true;
	act_reload(w->act, w->now);
	polls(w, 3);
	assert_int_equal(act_totals(w->act)->failed, 0);
	assert_non_null(strstr(act_totals(w->act)->hindered, "another version has pinned it"));
	w->others_held = false;
	polls(w, 1);
	assert_false(w->others);
	assert_said(w, "what another version has pinned is unpinned", 1);
	settle_all(w);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "another version", 2);
}

/* Begun so with what is to be paced already: no word of what is not so */
static void may_not_from_the_history(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	w->fit_device = 9;
	w->fit_rc = -EOPNOTSUPP;
	settle_all(w);
	end(w, true);
	paced_clear_device(&w->kernel, 1);
	paced_clear_device(&w->state, 1);
	begin_sockets(w);
	w->open_rc = -EACCES;
	begin(w);
	polls(w, 20);
	assert_int_equal(socket_rate_of(w, s), 0);
	assert_said(w,
		    "nothing is paced on eth1: it has 8 queues; it needs CAP_BPF; with one-lock = yes it is paced by classes\n",
		    1);
	assert_said(w, "are paced by sockets", 0);
}

/* From one kind to the other, and back: between runs, and by a reload */
static void other_hands(struct world *w, bool restarts)
{
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	w->can_rc = 0;
	rate = settled_rate(w, s);
	assert_int_not_equal(rate, 0);
	if (restarts)
		end(w, true);
	w->fit_rc = -EOPNOTSUPP;
	if (restarts)
		begin(w);
	/* what it has by classes stays until they are to set another one */
	polls(w, restarts ? 1 : 0);
	assert_int_equal(socket_rate_of(w, s), restarts ? rate : 0);
	assert_int_equal(rate_of(w, s), restarts ? 0 : rate);
	if (restarts)
		restart(w);
	w->config.one_lock = true;
	act_reload(w->act, w->now);
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
	assert_int_equal(rate_of(w, s), rate);
	w->config.one_lock = false;
	act_reload(w->act, w->now);
	polls(w, 1);
	assert_int_equal(w->kernel.n, 0);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_said(w, "not paced any more", 0);
	/* its queues are fewer */
	w->fit_rc = 0;
	polls(w, 13);
	assert_int_equal(rate_of(w, s), rate);
	assert_int_equal(w->sockets.n, 0);
}

static void other_hands_between_runs(void **state)
{
	other_hands(*state, true);
}

static void other_hands_in_a_run(void **state)
{
	other_hands(*state, false);
}

/* What it has by one kind goes when the other has it */
static void other_hands_cannot_yet(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	begin_sockets(w);
	settle_all(w);
	rate = socket_rate_of(w, s);
	assert_int_not_equal(rate, 0);
	refuse(w, NULL, 0, -EALREADY, false);
	w->config.one_lock = true;
	act_reload(w->act, w->now);
	polls(w, 3);
	assert_int_equal(w->kernel.n, 0);
	assert_int_equal(socket_rate_of(w, s), rate);
	w->n_refusals = 0;
	polls(w, 1);
	assert_int_equal(rate_of(w, s), rate);
	assert_int_equal(w->sockets.n, 0);
	/* and the other way */
	w->open_rc = -EAGAIN;
	w->config.one_lock = false;
	act_reload(w->act, w->now);
	polls(w, 3);
	assert_int_equal(w->sockets.n, 0);
	assert_int_equal(rate_of(w, s), rate);
	w->open_rc = 0;
	polls(w, 1);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_int_equal(w->kernel.n, 0);
	/* what nobody wants goes at once */
	act_forget(w->act, &s->remote.addr, w->now);
	assert_int_equal(w->sockets.n, 0);
}

/* It has more queues by now, which the next change by classes meets */
static void classes_fit_no_more(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *later = remote(w, 2, 8, 100 * MB);

	w->can_rc = 0;
	later->idle = true;
	settle_all(w);
	assert_int_not_equal(rate_of(w, s), 0);
	later->idle = false;
	polls(w, 8);
	w->fit_rc = -EOPNOTSUPP;
	refuse(w, &later->remote.addr, 0, -EOPNOTSUPP, false);
	polls(w, 4);
	assert_int_equal(w->kernel.n, 0);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_int_not_equal(socket_rate_of(w, later), 0);
	assert_said(w, "on eth1 remotes are paced by sockets, not by classes: refused -95", 1);
	w->n_refusals = 0;
	w->fit_rc = 0;
	polls(w, 13);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(w->sockets.n, 0);
}

/* A device that is down is no reason to go to others */
static void hands_stay_while_it_is_down(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t settings;

	begin_sockets(w);
	settle_all(w);
	settings = w->socket_settings;
	w->fit_rc = -ENETDOWN;
	polls(w, 13);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_int_equal(w->socket_settings, settings);
	assert_int_equal(w->kernel.n, 0);
}

/* Without a link its speed is not known, and so not what fits it. */
static void nothing_is_chosen_without_a_link(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	w->can_rc = -EOPNOTSUPP;
	settle_all(w);
	assert_int_equal(act_totals(w->act)->unfit, 1);
	w->fit_rc = -ENETDOWN;
	w->can_rc = 0;
	polls(w, 13);
	assert_int_equal(w->loads, 0);
	assert_int_equal(act_totals(w->act)->unfit, 1);
	assert_said(w, "remotes can be paced by", 0);
	w->fit_rc = -EOPNOTSUPP;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 0);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "on eth1 remotes can be paced by sockets now", 1);
}

/* First met so, it waits; with its link it is known to be too fast for classes. */
static void waits_for_its_link(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	w->fit_rc = -ENETDOWN;
	refuse(w, NULL, 1, -ENETDOWN, false);
	settle_all(w);
	assert_int_equal(w->kernel.n + w->sockets.n, 0);
	w->fit_rc = -EOPNOTSUPP;
	w->refusals[0].rc = -EOPNOTSUPP;
	polls(w, 1);
	assert_int_equal(w->settings, 0);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "left alone", 0);
}

/* It came back faster, say.  No change by classes has to meet that. */
static void classes_do_not_fit_by_now(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	w->can_rc = 0;
	rate = settled_rate(w, s);
	assert_int_not_equal(rate, 0);
	w->fit_rc = -EOPNOTSUPP;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 0);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_said(w, "on eth1 remotes are paced by sockets, not by classes: it has 8 queues", 1);
	assert_said(w, "remotes can be paced by", 0);
	assert_said(w, "by which it is reached", 0);
}

/* What it has by classes holds it until these are taken back. */
static void rises_with_other_hands(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;
	uint32_t told;

	w->can_rc = 0;
	rate = settled_rate(w, s);
	told = said(w, "mbit, was ");
	acting_of(w, s)->search.rate = rate + rate / 10;
	w->fit_rc = -EOPNOTSUPP;
	act_devices_anew(w->act);
	polls(w, 1);
	assert_int_equal(w->kernel.n, 0);
	assert_int_equal(socket_rate_of(w, s), rate + rate / 10);
	assert_said(w, "mbit, was ", told + 1);
	assert_said(w, "by which it is reached", 0);
}

/* It is reached by another device, which is told, and then paced there by other hands. */
static void moves_before_other_hands(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	w->can_rc = 0;
	settle_all(w);
	s->remote.ifindex = 2;
	polls(w, 5);
	assert_int_not_equal(rate_of(w, s), 0);
	w->fit_rc = -EOPNOTSUPP;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 0);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "on eth2 now, by which it is reached", 1);
}

static void none_fit_by_now(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(w->kernel.n, 1);
	w->fit_rc = -EOPNOTSUPP;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 0);
	assert_said(w,
		    "nothing is paced on eth1: it has 8 queues; there is no BTF; with one-lock = yes it is paced by classes\n",
		    1);
	w->fit_rc = 0;
	polls(w, 13);
	assert_int_equal(w->kernel.n, 1);
	assert_said(w, "on eth1 remotes can be paced by classes now", 1);
}

/* To see whether they still fit nothing is loaded. */
static void idle_sockets_are_not_tried(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	settle_all(w);
	act_forget(w->act, &s->remote.addr, w->now);
	s->idle = true;
	polls(w, 50);
	assert_int_equal(w->loads, 1);
	assert_false(w->loaded);
	assert_device(w, "eth1", "sockets", "it has 8 queues");
}

/* What is loaded works, whatever has become of the machine. */
static void sockets_in_use_fit(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	settle_all(w);
	w->can_rc = -EOPNOTSUPP;
	polls(w, 13);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_said(w, "nothing is paced", 0);
}

/* --- by sockets: what only setting classes shows --------------------------- */

/* The kernel has no htb, say.  How often it was tried since; sockets go on all the time. */
static void refused_again(struct world *w, const struct sim *s, uint32_t times)
{
	uint32_t told = said(w, "on eth1 remotes can be paced by classes now");
	uint32_t settings = w->socket_settings;

	polls(w, 26);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_int_equal(w->socket_settings, settings);
	assert_int_equal(w->kernel.n, 0);
	assert_said(w, "on eth1 remotes can be paced by classes now", told + times);
}

static void classes_are_refused(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	w->can_rc = 0;
	w->device = (struct hands_device){ 1000, 8 };
	refuse(w, NULL, 1, -EOPNOTSUPP, false);
	settle_all(w);
	assert_said(w, "on eth1 remotes are paced by sockets, not by classes: refused -95", 1);
	assert_said(w, "on eth1 remotes can be paced by classes now", 0);
	refused_again(w, s, 0);
	/* its link is gone, and comes */
	w->device.speed_mbit = 0;
	refused_again(w, s, 0);
	w->device.speed_mbit = 1000;
	refused_again(w, s, 0);
	/* another one, fewer queues, another name: once each */
	w->device.speed_mbit = 10000;
	refused_again(w, s, 1);
	w->device.tx_queues = 1;
	refused_again(w, s, 1);
	strcpy(w->devices[0], "wan0");
	polls(w, 26);
	strcpy(w->devices[0], "eth1");
	assert_said(w, "on wan0 remotes can be paced by classes now", 1);
	refused_again(w, s, 1);
	/* a reload, whatever has changed */
	act_reload(w->act, w->now);
	refused_again(w, s, 1);
	w->n_refusals = 0;
	act_reload(w->act, w->now);
	polls(w, 13);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(w->sockets.n, 0);
}

/* Its link is lost meanwhile, so that nothing tells any more what fits: sockets, all the same */
static void classes_are_refused_without_a_link(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	w->can_rc = 0;
	w->fit_rc = -ENETDOWN;
	refuse(w, NULL, 1, -EOPNOTSUPP, false);
	settle_all(w);
	assert_int_not_equal(socket_rate_of(w, s), 0);
	assert_int_equal(w->kernel.n, 0);
	assert_device(w, "eth1", "sockets", "refused -95");
}

/* Where there are no sockets it is told once that nothing is paced. */
static void classes_are_refused_alone(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint32_t applies;

	refuse(w, NULL, 1, -EOPNOTSUPP, false);
	settle_all(w);
	applies = w->applies;
	polls(w, 50);
	assert_int_equal(w->applies, applies);
	assert_said(w, "nothing is paced on eth1: refused -95; there is no BTF\n", 1);
	assert_device(w, "eth1", "", "refused -95; there is no BTF");
	/* the device comes back */
	w->n_refusals = 0;
	w->devices[0][0] = 0;
	polls(w, 1);
	strcpy(w->devices[0], "eth1");
	polls(w, 1);
	assert_int_not_equal(rate_of(w, s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_by_its_hands),
		TEST(loaded_while_it_is_used),
		TEST(division_fails),
		TEST(kernel_cannot),
		TEST(process_may_not),
		TEST(cannot_be_pinned),
		TEST(too_fast_for_classes),
		TEST(no_device_for_sockets),
		TEST(sockets_later),
		TEST(observe_loads_nothing),
		TEST(observe_says_what_cannot),
		TEST(sockets_outlive_restarts),
		TEST(sockets_are_taken_back),
		TEST(sockets_stay),
		TEST(program_cannot_go_yet),
		TEST(pins_cannot_be_seen),
		TEST(nothing_can_be_pinned),
		TEST(acts_without_seeing_pins),
		TEST(another_versions_pins),
		TEST(may_not_from_the_history),
		TEST(other_hands_between_runs),
		TEST(other_hands_in_a_run),
		TEST(other_hands_cannot_yet),
		TEST(classes_fit_no_more),
		TEST(hands_stay_while_it_is_down),
		TEST(nothing_is_chosen_without_a_link),
		TEST(waits_for_its_link),
		TEST(classes_do_not_fit_by_now),
		TEST(rises_with_other_hands),
		TEST(moves_before_other_hands),
		TEST(none_fit_by_now),
		TEST(idle_sockets_are_not_tried),
		TEST(sockets_in_use_fit),
		TEST(classes_are_refused),
		TEST(classes_are_refused_without_a_link),
		TEST(classes_are_refused_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

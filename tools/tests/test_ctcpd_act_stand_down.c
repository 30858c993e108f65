// SPDX-License-Identifier: GPL-2.0
/*
 * What somebody else has, or has changed, of classes and of sockets: it is stood down from.
 */
#include "ctcpd_world.h"

/* --- somebody else -------------------------------------------------------- */

static void changed_by_hand(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);

	settle_all(w);
	w->changed[w->n_changed++] = s->remote.addr;
	w->let_go_rc = -EAGAIN;
	polls(w, 1);
	assert_int_equal(w->state.n, 2);
	w->let_go_rc = 0;
	polls(w, 1);
	assert_int_equal(w->state.n, 1);
	polls(w, 50);
	assert_int_equal(w->let_goes, 2);
	assert_said(w, "192.0.2.7: not paced by ctcpd, and left alone for 24 h: the class is", 1);
	assert_said(w, "left alone", 1);
	/* the kernel has it as he has it */
	assert_int_not_equal(rate_of(w, s), 0);
	assert_int_equal(acting_of(w, s)->force, 0);
	assert_int_equal(acting_of(w, s)->search.state, SEARCH_TAKEN_BACK);
	assert_int_equal(acting_of(w, other)->search.state, SEARCH_KEPT);
}

/* All filters are deleted: what takes long is done by parts, and other remotes are paced */
static void many_changed_by_hand(void **state)
{
	struct world *w = *state;
	struct sim *other;
	uint32_t i;

	for (i = 0; i < 40; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	settle_all(w);
	for (i = 0; i < 40; i++)
		w->changed[w->n_changed++] = w->sims[i].remote.addr;
	for (i = 1; i <= 3; i++) {
		polls(w, 1);
		assert_int_equal(w->let_goes, i < 3 ? 16 * i : 40);
		assert_int_equal(w->state.n, 40 - w->let_goes);
		assert_int_equal(act_totals(w->act)->stood_down, 40);
	}
	assert_said(w, "left alone for 24 h", 40);
	other = remote(w, 50, 7, 100 * MB);
	find_all(w);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_int_equal(w->let_goes, 40);
}

static void root_changed_by_hand(void **state)
{
	struct world *w = *state;
	uint32_t i;

	for (i = 0; i < 20; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	settle_all(w);
	w->changed_device = true;
	polls(w, 1);
	w->changed_device = false;
	assert_int_equal(w->let_goes, 1);
	assert_int_equal(w->state.n, 0);
	polls(w, 50);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 20)", 1);
	assert_said(w, "left alone", 1);
	assert_int_equal(act_totals(w->act)->paced, 0);
}

/* Whoever changed it takes his away again, and with it the classes. */
static void root_changes_once(struct world *w)
{
	w->changed_device = true;
	polls(w, 1);
	w->changed_device = false;
	paced_clear_device(&w->kernel, 1);
	assert_int_equal(act_totals(w->act)->paced, 0);
}

/* The same change is told again where something was paced in between, though not a day has gone. */
static void device_is_left_again(void **state)
{
	struct prefix all = { .family = AF_INET };
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	remote(w, 2, 8, 100 * MB);
	settle_all(w);
	root_changes_once(w);
	polls(w, 50);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 2): the", 1);
	/* after he has asked for it */
	act_forget(w->act, &all, w->now);
	settle_all(w);
	assert_int_equal(act_totals(w->act)->paced, 2);
	root_changes_once(w);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 2): the", 2);
	/* by a remote that comes, while the others are left alone */
	remote(w, 2, 9, 100 * MB);
	settle_all(w);
	assert_int_equal(act_totals(w->act)->paced, 1);
	root_changes_once(w);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 1): the", 1);
	assert_said(w, "left alone", 3);
}

/* Each reason once, and all of them once more where somebody has asked to forget */
static void device_is_left_for_another_reason(void **state)
{
	struct prefix all = { .family = AF_INET };
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	refuse(w, NULL, 1, -EPERM, true);
	polls(w, 20);
	assert_said(w, "left alone for 24 h (remotes: 1): refused -1", 1);
	begin_sockets(w);
	w->config.one_lock = false;
	act_devices_anew(w->act);
	w->theirs_device = 1;
	remote(w, 2, 8, 100 * MB);
	polls(w, 20);
	remote(w, 2, 9, 100 * MB);
	polls(w, 20);
	assert_said(w, "left alone for 24 h (remotes: 1): eth1 has circuit lhc", 1);
	assert_said(w, "left alone", 2);
	act_forget(w->act, &all, w->now);
	polls(w, 20);
	assert_said(w, "left alone", 3);
	assert_int_equal(act_totals(w->act)->stood_down, 3);
}

/* It is refused for longer each time: of those that are left at once the least and the most */
static void device_is_left_for_so_long(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	refuse(w, NULL, 1, -EPERM, true);
	polls(w, 20);
	w->n_refusals = 0;
	w->now += DAY;
	remote(w, 2, 8, 100 * MB);
	polls(w, 15);
	assert_int_equal(act_totals(w->act)->paced, 2);
	root_changes_once(w);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 to 48 h (remotes: 2)", 1);
}

/* Two that are paced, until the state has neither: the first of them */
static struct sim *two_told_of_no_more(struct world *w)
{
	struct sim *s = remote(w, 2, 7, 100 * MB);

	remote(w, 2, 8, 100 * MB);
	settle_all(w);
	paced_clear_device(&w->state, 1);
	return s;
}

static void administrator_takes_it(void **state)
{
	struct world *w = *state;
	struct sim *s = two_told_of_no_more(w);
	uint32_t applies;

	paced_clear_device(&w->kernel, 1);
	applies = w->applies;
	polls(w, 50);
	assert_int_equal(w->applies, applies);
	assert_int_equal(rate_of(w, s), 0);
	assert_said(w, "(remotes: 2): an administrator", 1);
	assert_said(w, "left alone", 1);
}

/* Its state was deleted: what stands is not told as an administrator's, and is left as it is. */
static void record_is_gone(void **state)
{
	struct world *w = *state;
	struct sim *s = two_told_of_no_more(w);
	uint32_t applies;

	w->record_rc = -EPERM;
	applies = w->applies;
	polls(w, 1);
	assert_said(w, "(remotes: 2): no state tells of it", 1);
	assert_int_equal(act_totals(w->act)->paced, 0);
	assert_int_equal(act_totals(w->act)->stood_down, 2);
	polls(w, 50);
	assert_said(w, "left alone", 1);
	assert_said(w, "an administrator", 0);
	assert_int_equal(w->applies, applies);
	assert_int_equal(w->let_goes, 0);
	/* the kernel has it all the same */
	assert_int_not_equal(rate_of(w, s), 0);
}

/* One of the two that are told of no more alone, and where it cannot be told at first */
static void record_of_one_is_gone(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);

	settle_all(w);
	paced_clear(&w->state, 1, &s->remote.addr);
	w->record_rc = -ENOBUFS;
	polls(w, 3);
	assert_said(w, "left alone", 0);
	assert_int_equal(act_totals(w->act)->paced, 2);
	w->record_rc = -EPERM;
	polls(w, 1);
	assert_said(w, "192.0.2.7: not paced by ctcpd, and left alone for 24 h: no state tells", 1);
	assert_int_equal(acting_of(w, other)->search.state, SEARCH_KEPT);
	assert_int_equal(act_totals(w->act)->paced, 1);
}

static void one_is_somebody_elses(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 50 * MB);
	struct pacing p;
	uint32_t applies;

	refuse(w, &s->remote.addr, 0, -EPERM, false);
	polls(w, 11);
	assert_int_equal(rate_of(w, s), 0);
	assert_int_not_equal(rate_of(w, other), 0);
	assert_said(w, "192.0.2.7: not paced by ctcpd, and left alone for 24 h: refused -1", 1);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.stood_down, "refused -1");
	assert_int_equal(p.search->state, SEARCH_TAKEN_BACK);
	assert_int_equal(act_totals(w->act)->stood_down, 1);
	settle_all(w);
	applies = w->applies;
	polls(w, 100);
	/* nothing is to be changed, and nothing is asked for */
	assert_int_equal(w->applies, applies);
	assert_said(w, "left alone", 1);
	/* and after a day once more */
	w->now += DAY;
	w->n_refusals = 0;
	polls(w, 15);
	assert_int_not_equal(rate_of(w, s), 0);
	assert_true(act_find(w->act, &s->remote.addr, &p));
	assert_string_equal(p.stood_down, "");
}

static void device_is_somebody_elses(void **state)
{
	struct world *w = *state;
	uint32_t i;

	for (i = 0; i < 40; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	remote(w, 50, 7, 100 * MB)->remote.ifindex = 2;
	refuse(w, NULL, 1, -EPERM, true);
	polls(w, 11);
	assert_int_equal(w->kernel.n, 1);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 40)", 1);
	assert_said(w, "left alone", 1);
	assert_int_equal(act_totals(w->act)->stood_down, 40);
}

/* --- by sockets: somebody else -------------------------------------------- */

static void circuit_comes_first(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);
	struct pacing p;

	begin_sockets(w);
	w->theirs = s->remote.addr;
	settle_all(w);
	assert_int_equal(socket_rate_of(w, s), 0);
	assert_int_not_equal(socket_rate_of(w, other), 0);
	assert_said(w, "192.0.2.7: not paced by ctcpd, and left alone for 24 h: circuit lhc", 1);
	assert_said(w, "left alone", 1);
	/* set up behind what is paced: nothing of his takes that away */
	w->theirs = other->remote.addr;
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	polls(w, 50);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
	assert_said(w, "192.0.2.8: not paced by ctcpd, and left alone for 24 h: circuit lhc", 1);
	assert_said(w, "left alone", 2);
	assert_true(act_find(w->act, &other->remote.addr, &p));
	assert_string_equal(p.stood_down, "circuit lhc has it");
}

static void circuits_device(void **state)
{
	struct world *w = *state;
	uint32_t i;

	begin_sockets(w);
	for (i = 0; i < 40; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(w->sockets.n, 40);
	w->theirs_device = 1;
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	remote(w, 50, 7, 100 * MB);
	polls(w, 50);
	assert_int_equal(w->sockets.n, 0);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 40): eth1", 1);
	assert_int_equal(act_totals(w->act)->stood_down, 41);
}

/* Whose a remote is cannot be told: nothing is changed */
static void circuits_cannot_be_read(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);

	begin_sockets(w);
	w->theirs_rc = -EBADMSG;
	find_all(w);
	assert_int_equal(w->sockets.n, 0);
	assert_int_not_equal(act_totals(w->act)->failed, 0);
	assert_said(w, "pacing by sockets cannot be changed: the state cannot be read", 1);
	w->theirs_rc = 0;
	polls(w, 1);
	assert_int_not_equal(socket_rate_of(w, s), 0);
}

static void program_detached(void **state)
{
	struct world *w = *state;

	remote(w, 2, 7, 100 * MB);
	remote(w, 2, 8, 100 * MB);
	begin_sockets(w);
	settle_all(w);
	w->detached = true;
	polls(w, 50);
	assert_int_equal(w->sockets.n, 0);
	assert_int_equal(w->loads, 1);
	assert_false(w->loaded);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 2): it", 1);
	assert_said(w, "left alone", 1);
}

static void prefix_taken_out(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 100 * MB);

	begin_sockets(w);
	settle_all(w);
	w->changed[w->n_changed++] = s->remote.addr;
	polls(w, 20);
	assert_int_equal(socket_rate_of(w, s), 0);
	assert_int_not_equal(socket_rate_of(w, other), 0);
	assert_said(w, "left alone", 1);
}

/* Each batch is two passes over all sockets: an administrator's circuit for many costs one. */
static void many_are_taken_back_at_once(void **state)
{
	struct world *w = *state;
	struct sim *stays = remote(w, 60, 7, 100 * MB);
	uint32_t i, batches;

	begin_sockets(w);
	for (i = 0; i < 40; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	settle_all(w);
	assert_int_equal(w->sockets.n, 41);
	for (i = 0; i < 40; i++)
		w->changed[w->n_changed++] = w->sims[i + 1].remote.addr;
	batches = w->socket_batches;
	polls(w, 1);
	assert_int_equal(w->socket_batches, batches + 1);
	assert_int_equal(w->sockets.n, 1);
	assert_int_not_equal(socket_rate_of(w, stays), 0);
	assert_int_equal(act_totals(w->act)->stood_down, 40);
	assert_int_equal(acting_of(w, &w->sims[1])->force, 0);
	assert_said(w, "left alone for 24 h", 40);
	assert_said(w, "not paced any more", 0);
	polls(w, 50);
	assert_int_equal(w->socket_batches, batches + 1);
}

/* Those of a device, too; on another one all goes on. */
static void device_is_taken_back_at_once(void **state)
{
	struct world *w = *state;
	struct sim *other;
	uint32_t i, batches;

	begin_sockets(w);
	w->fit_device = 0;
	for (i = 0; i < 20; i++)
		remote(w, (uint8_t)i, 7, 100 * MB);
	other = remote(w, 60, 7, 100 * MB);
	other->remote.ifindex = 2;
	settle_all(w);
	assert_int_equal(w->sockets.n, 21);
	w->theirs_device = 1;
	batches = w->socket_batches;
	polls(w, 1);
	assert_int_equal(w->socket_batches, batches + 1);
	assert_int_equal(w->sockets.n, 1);
	assert_int_not_equal(socket_rate_of(w, other), 0);
	assert_said(w, "eth1: not paced by ctcpd, and left alone for 24 h (remotes: 20): eth1", 1);
	assert_said(w, "not paced any more", 0);
}

/* What was on it keeps nothing loaded. */
static void sockets_device_goes(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB);
	uint64_t rate;

	begin_sockets(w);
	settle_all(w);
	rate = socket_rate_of(w, s);
	w->devices[0][0] = 0;
	s->idle = true;
	polls(w, 1);
	assert_int_equal(w->sockets.n, 0);
	assert_false(w->loaded);
	strcpy(w->devices[2], "eth1");
	w->fit_device = 3;
	s->remote.ifindex = 3;
	s->idle = false;
	polls(w, 1);
	assert_int_equal(socket_rate_of(w, s), rate);
	assert_said(w, "left alone", 0);
}

/* Another daemon may have them, and they are here again behind it. */
static void unable_lets_sockets_go(void **state)
{
	struct world *w = *state;
	struct sim *s = remote(w, 2, 7, 100 * MB), *other = remote(w, 2, 8, 50 * MB);
	uint64_t rate;

	other->remote.ifindex = 2;
	other->idle = true;
	begin_sockets(w);
	settle_all(w);
	rate = socket_rate_of(w, s);
	refuse(w, NULL, 2, -EACCES, false);
	other->idle = false;
	find_all(w);
	assert_false(act_totals(w->act)->acts);
	assert_false(w->loaded);
	assert_int_equal(socket_rate_of(w, s), rate);
	w->n_refusals = 0;
	polls(w, 14);
	assert_true(act_totals(w->act)->acts);
	assert_true(w->loaded);
	assert_int_equal(socket_rate_of(w, s), rate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_is_somebody_elses),
		TEST(device_is_somebody_elses),
		TEST(circuit_comes_first),
		TEST(circuits_device),
		TEST(circuits_cannot_be_read),
		TEST(program_detached),
		TEST(prefix_taken_out),
		TEST(many_are_taken_back_at_once),
		TEST(device_is_taken_back_at_once),
		TEST(sockets_device_goes),
		TEST(unable_lets_sockets_go),
		TEST(changed_by_hand),
		TEST(many_changed_by_hand),
		TEST(root_changed_by_hand),
		TEST(device_is_left_again),
		TEST(device_is_left_for_another_reason),
		TEST(device_is_left_for_so_long),
		TEST(administrator_takes_it),
		TEST(record_is_gone),
		TEST(record_of_one_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host with devices, a kernel that paces, and remotes that take so much: what the tests of
 * act see in place of hands_class.h, hands_bpf.h, theirs.h, the names of devices, and the remotes
 * that were polled.  They are linked with --wrap of these (tests.mk).
 */
#ifndef CTCPD_TEST_FAKE_H
#define CTCPD_TEST_FAKE_H

#include "ctcpd_history.h"
#include "ctcpd_said.h"

#include "ctcpd/act_inside.h"
#include "ctcpd/act_observe.h"
#include "ctcpd/hands_bpf.h"
#include "ctcpd/hands_class.h"
#include "ctcpd/theirs.h"

#define WORLD_REMOTES	512U
#define WORLD_DEVICES	4U
#define POLL_S		5

/* Of a prefix, or of a device: what hands_apply() does about it */
struct refusal {
	struct prefix to;	/* family 0: none */
	int ifindex;		/* 0: by any device */
	int rc;
	bool device;		/* so it says */
};

/* What the remote takes, and its counters */
struct sim {
	struct remote remote;
	uint64_t takes;		/* bytes/s on the wire */
	uint64_t shares;	/* bytes/s of a hop that those of its subnet share, 0 = none ... */
	bool gentle;		/* ... which queues what is more, and drops nothing */
	bool idle;
	bool loser;		/* one of its users, of 10 % of all, loses what he sends */
};

struct world {
	struct place *place;
	struct config config;
	struct log log;
	struct said said;
	struct keep keep;
	struct act *act;
	struct sim sims[WORLD_REMOTES];
	uint32_t n;
	int64_t now;
	uint64_t us;
	char devices[WORLD_DEVICES][IFNAMSIZ];	/* by index from 1 on; "" = there is none */
	struct paced kernel, state;
	struct prefix changed[WORLD_REMOTES];	/* by somebody, in the kernel */
	bool changed_device;
	uint32_t n_changed;
	struct refusal refusals[4];
	uint32_t n_refusals;
	int look_rc, let_go_rc, fit_rc, record_rc;	/* of the next ones */
	uint32_t applies, settings, looks, let_goes, fits;	/* calls; of the kernel's changed */
	uint32_t batch;			/* changes of the last batch that was made */
	uint32_t batches;		/* with a change */
	int fit_device;			/* of which fit_rc is, 0 = of all */
	bool too_fast;			/* fit_rc is also with one lock */
	struct hands_device device;	/* each */
	struct paced sockets;		/* paced by BPF, and so pinned */
	int takes_rc, can_rc, open_rc, tick_rc, theirs_rc, pinned_rc;
	bool others;			/* another version has pinned something, too */
	bool others_held;		/* ..., and paces by it */
	bool loaded;			/* the program */
	bool detached;			/* by somebody */
	struct prefix theirs;		/* an administrator's, family 0: none */
	int theirs_device;		/* ... */
	uint32_t loads, ticks, socket_settings, socket_batches;
	uint32_t removes;		/* so often a lock's file goes before it is locked */
};

static struct world *world;

/* --- the kernel ----------------------------------------------------------- */

char *__wrap_if_indextoname(unsigned int ifindex, char *dev);
unsigned int __wrap_if_nametoindex(const char *dev);
int __wrap_hands_fit(int ifindex, bool one_lock, struct err *e);
int __wrap_hands_look(hand_fn each, void *data, struct err *e);
int __wrap_hands_apply(const struct pace *list, uint32_t n, bool one_lock,
		       struct hands_result *r, struct err *e);
int __wrap_hands_let_go(const struct pace *one, bool device, struct hands_result *r,
			struct err *e);
int __wrap_hands_unrecorded(int ifindex, struct err *e);
int __wrap_hands_takes_device(int ifindex, struct err *e);
int __wrap_hands_read_device(int ifindex, struct hands_device *d, struct err *e);
int __wrap_hands_bpf_can(struct err *e);
int __wrap_hands_bpf_is_pinned(struct err *e);
void __wrap_hands_bpf_drop_others(struct notes *notes);
int __wrap_hands_bpf_open(struct hands_bpf **h, struct err *e);
void __wrap_hands_bpf_close(struct hands_bpf *h);
int __wrap_hands_bpf_apply(struct hands_bpf *h, const struct pace *list, uint32_t n,
			   struct hands_result *r, struct err *e);
int __wrap_hands_bpf_tick(struct hands_bpf *h, struct err *e);
int __wrap_hands_bpf_look(struct hands_bpf *h, hand_fn each, void *data, struct err *e);
bool __wrap_hands_bpf_is_used(const struct hands_bpf *h);
int __wrap_theirs_read(struct theirs *t, struct err *e);
int __real_flock(int fd, int op);
int __wrap_flock(int fd, int op);
void __wrap_theirs_free(struct theirs *t);
int __wrap_theirs_check(const struct theirs *t, const struct pace *one, const char *dev,
			bool *device, struct err *e);
int __wrap_remotes_each(struct remotes *rs, remote_fn each, void *data);

char *__wrap_if_indextoname(unsigned int ifindex, char *dev)
{
	if (!ifindex || ifindex > WORLD_DEVICES || !world->devices[ifindex - 1][0])
		return NULL;
	return strcpy(dev, world->devices[ifindex - 1]);
}

unsigned int __wrap_if_nametoindex(const char *dev)
{
	unsigned int i;

	for (i = 0; i < WORLD_DEVICES; i++)
		if (*dev && !strcmp(world->devices[i], dev))
			return i + 1;
	return 0;
}

int __wrap_hands_fit(int ifindex, bool one_lock, struct err *e)
{
	world->fits++;
	if (!world->fit_rc || (one_lock && !world->too_fast) ||
	    (world->fit_device && world->fit_device != ifindex))
		return 0;
	return err_set(e, world->fit_rc, "it has 8 queues");
}

int __wrap_hands_read_device(int ifindex, struct hands_device *d, struct err *e)
{
	char dev[IFNAMSIZ];

	if (!__wrap_if_indextoname((unsigned int)ifindex, dev))
		return err_set(e, -ENODEV, "it is gone");
	*d = world->device;
	return 0;
}

static const struct refusal *refusal_of(const struct pace *p)
{
	uint32_t i;

	for (i = 0; i < world->n_refusals; i++) {
		const struct refusal *f = &world->refusals[i];

		if ((!f->to.family || prefix_equal(&f->to, &p->to)) &&
		    (!f->ifindex || f->ifindex == p->ifindex))
			return f;
	}
	return NULL;
}

static inline void set(struct paced *p, const struct pace *one)
{
	if (one->rate)
		assert_int_equal(paced_set(p, one), 0);
	else
		paced_clear(p, one->ifindex, &one->to);
}

int __wrap_hands_apply(const struct pace *list, uint32_t n, bool one_lock,
		       struct hands_result *r, struct err *e)
{
	const struct refusal *f;
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->at = HANDS_NOBODY;
	world->applies++;
	if (!n && world->n_refusals && !world->refusals[0].to.family && !world->refusals[0].ifindex)
		return err_set(e, world->refusals[0].rc, "refused %d",
			       world->refusals[0].rc);
	for (i = 0; i < n; i++) {
		f = refusal_of(&list[i]);
		if (!f || (f->rc == -EOPNOTSUPP && one_lock))
			continue;
		if (f->to.family || f->ifindex)
			r->at = i;
		r->device = f->device;
		return err_set(e, f->rc, "refused %d", f->rc);
	}
	for (i = 0; i < n; i++) {
		const struct pace *is = paced_get(&world->kernel, list[i].ifindex, &list[i].to);

		r->changed += (is ? is->rate : 0) != list[i].rate;
		set(&world->kernel, &list[i]);
		set(&world->state, &list[i]);
	}
	world->settings += r->changed;
	world->batch = n ? n : world->batch;
	world->batches += n > 0;
	return 0;
}

static inline bool is_changed(const struct prefix *to)
{
	uint32_t i;

	for (i = 0; i < world->n_changed; i++)
		if (prefix_equal(&world->changed[i], to))
			return true;
	return false;
}

int __wrap_flock(int fd, int op)
{
	char link[64], path[512];
	ssize_t n;

	if (world && world->removes) {
		world->removes--;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
		assert_true(n > 0);
		path[n] = 0;
		assert_int_equal(unlink(path), 0);
	}
	return __real_flock(fd, op);
}

int __wrap_hands_look(hand_fn each, void *data, struct err *e)
{
	char dev[IFNAMSIZ];
	uint32_t i;
	int rc = 0;

	world->looks++;
	if (world->look_rc)
		return err_set(e, world->look_rc, "cannot look");
	for (i = 0; i < world->state.n && !rc; i++) {
		struct hand h = { .pace = world->state.list[i] };

		if (!__wrap_if_indextoname((unsigned int)h.pace.ifindex, dev)) {
			h.state = HAND_GONE;
		} else if (is_changed(&h.pace.to) || world->changed_device) {
			h.state = HAND_CHANGED;
			h.device = world->changed_device;
			strcpy(h.why, "the class is 5mbit, and was set to 9mbit");
		}
		rc = each(&h, data);
	}
	return rc;
}

int __wrap_hands_let_go(const struct pace *one, bool device, struct hands_result *r,
			struct err *e)
{
	memset(r, 0, sizeof(*r));
	world->let_goes++;
	if (world->let_go_rc)
		return err_set(e, world->let_go_rc, "not now");
	if (device)
		paced_clear_device(&world->state, one->ifindex);
	else
		paced_clear(&world->state, one->ifindex, &one->to);
	return 0;
}

int __wrap_hands_unrecorded(int ifindex, struct err *e)
{
	(void)ifindex;
	return world->record_rc ? err_set(e, world->record_rc, "no state tells of it") : 0;
}

/* --- sockets -------------------------------------------------------------- */

int __wrap_hands_takes_device(int ifindex, struct err *e)
{
	(void)ifindex;
	return world->takes_rc ? err_set(e, world->takes_rc, "it is a bridge") : 0;
}

int __wrap_hands_bpf_can(struct err *e)
{
	return world->can_rc ? err_set(e, world->can_rc, "there is no BTF") : 0;
}

int __wrap_hands_bpf_is_pinned(struct err *e)
{
	if (world->pinned_rc)
		return err_set(e, world->pinned_rc, "it cannot be looked for");
	if (world->others)
		return err_set(e, -ESTALE, "another version has pinned it");
	return world->sockets.n || world->loaded;
}

void __wrap_hands_bpf_drop_others(struct notes *notes)
{
	if (world->others && !world->others_held)
		note(notes, "what another version has pinned is unpinned");
	world->others &= world->others_held;
}

int __wrap_hands_bpf_open(struct hands_bpf **h, struct err *e)
{
	*h = NULL;
	if (world->can_rc || world->open_rc)
		return world->can_rc ? __wrap_hands_bpf_can(e) :
		       err_set(e, world->open_rc, "it needs CAP_BPF");
	assert_false(world->loaded);
	world->loaded = true;
	world->detached = false;
	world->loads++;
	*h = (struct hands_bpf *)world;
	return 0;
}

void __wrap_hands_bpf_close(struct hands_bpf *h)
{
	if (h)
		world->loaded = false;
}

int __wrap_hands_bpf_apply(struct hands_bpf *h, const struct pace *list, uint32_t n,
			   struct hands_result *r, struct err *e)
{
	uint32_t i;

	(void)e;
	assert_ptr_equal(h, world);
	assert_true(world->loaded);
	memset(r, 0, sizeof(*r));
	r->at = HANDS_NOBODY;
	for (i = 0; i < n; i++) {
		const struct pace *is = paced_get(&world->sockets, list[i].ifindex, &list[i].to);

		r->changed += (is ? is->rate : 0) != list[i].rate;
		set(&world->sockets, &list[i]);
	}
	world->socket_settings += r->changed;
	world->socket_batches++;
	return 0;
}

int __wrap_hands_bpf_tick(struct hands_bpf *h, struct err *e)
{
	assert_ptr_equal(h, world);
	world->ticks++;
	return world->tick_rc ? err_set(e, world->tick_rc, "it ended early") : 0;
}

int __wrap_hands_bpf_look(struct hands_bpf *h, hand_fn each, void *data, struct err *e)
{
	uint32_t i;
	int rc = 0;

	(void)e;
	assert_ptr_equal(h, world);
	for (i = 0; i < world->sockets.n && !rc; i++) {
		struct hand hand = { .pace = world->sockets.list[i] };

		if (!__wrap_if_indextoname((unsigned int)hand.pace.ifindex, hand.dev)) {
			hand.state = HAND_GONE;
		} else if (world->detached || is_changed(&hand.pace.to)) {
			hand.state = HAND_CHANGED;
			hand.device = world->detached;
			strcpy(hand.why, "it was detached");
		}
		rc = each(&hand, data);
	}
	return rc;
}

bool __wrap_hands_bpf_is_used(const struct hands_bpf *h)
{
	assert_ptr_equal(h, world);
	return world->sockets.n;
}

int __wrap_theirs_read(struct theirs *t, struct err *e)
{
	(void)t;
	return world->theirs_rc ? err_set(e, world->theirs_rc, "the state cannot be read") : 0;
}

void __wrap_theirs_free(struct theirs *t)
{
	(void)t;
}

int __wrap_theirs_check(const struct theirs *t, const struct pace *one, const char *dev,
			bool *device, struct err *e)
{
	(void)t;
	*device = one->ifindex == world->theirs_device;
	if (*device)
		return err_set(e, -EPERM, "%s has circuit lhc", dev);
	if (prefix_equal(&one->to, &world->theirs))
		return err_set(e, -EPERM, "circuit lhc has it");
	return 0;
}

int __wrap_remotes_each(struct remotes *rs, remote_fn each, void *data)
{
	uint32_t i;
	int rc = 0;

	(void)rs;
	for (i = 0; i < world->n && !rc; i++)
		rc = each(&world->sims[i].remote, data);
	return rc;
}

#endif

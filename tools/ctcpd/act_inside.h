/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside act: what its parts share.
 *
 *	observations -> searches (act_search.c) -> the set that is wanted (act_want.c)
 *	-> what leads there from the set that is in force, by hands (act_hands.c)
 *
 * Each kind of hands has sets of its own, so that a device that goes from one to the other has
 * what it had taken back by that one.
 *
 * An epoch is what lies between two polls that were read.  What changes in force right behind a
 * poll is so for all of the next interval; what changes at another time makes that mixed.
 */
#ifndef CTCPD_ACT_INSIDE_H
#define CTCPD_ACT_INSIDE_H

#include "act.h"
#include "act_table.h"
#include "hands.h"

#define ACT_LINES	100U	/* that the log has of one poll */

/* Classes that fit, and were refused all the same when they were to be set */
struct act_refusal {
	bool stands;
	struct hands_device device;	/* as it was then */
	char why[sizeof(((struct err *)0)->text)];
};

struct act_device {
	int ifindex;
	char dev[IFNAMSIZ];
	bool chosen;		/* by which hands: when something is to be paced on it */
	enum hands_kind by;	/* HANDS_NONE = they are all unfit */
	char why[sizeof(((struct err *)0)->text)];	/* why not by classes; "" = by classes */
	struct act_refusal refusal;
	uint64_t waits;		/* the step that goes on without it */
	uint64_t left;		/* that in which it was left alone first, 0 = not since it paced */
};

/* Those of a device that are stood down from at once, and for how long */
struct act_leaving {
	uint32_t n;
	int64_t least_s, most_s;
};

/* A device that went while something was paced on it, until that is so again */
struct act_gone {
	char dev[IFNAMSIZ];
	bool back;		/* there is one of its name */
	uint32_t again, missing;	/* paced again, and to be, as of the last poll */
};

/* Held up by somebody at work, poll after poll */
struct act_busy {
	uint32_t polls;		/* so far, 0 = it is not */
	uint64_t since_us;	/* the first of them */
	uint64_t step;		/* the last of them */
};

/* One way of pacing: what is in force by it, and what is wanted of it, whatever the mode */
struct act_hands {
	struct hands hands;
	struct paced now, want;
	bool known;		/* what the kernel has was read */
	/* why it cannot be, as of the last time; "" = it is known, or was not asked */
	char unknown[sizeof(((struct err *)0)->text)];
	struct act_busy busy;
	bool holds;		/* what other hands are to have first, since the last step */
};

/* A host of which this poll says what it takes, while others of its subnet do */
struct active_host {
	struct acting *host;
	struct prefix subnet;
	uint64_t rate;		/* bytes/s */
	bool lost;
};

struct act {
	const struct config *config;
	enum mode mode;			/* as of the last act_reload() */
	bool one_lock, subnets;
	struct log *log;
	struct keep *keep;
	struct act_table table;
	struct act_hands by[HANDS_KINDS];
	struct act_device *devices;
	uint32_t n_devices;
	struct act_gone *gone;
	uint32_t n_gone;
	struct active_host *active;
	uint32_t n_active;
	uint64_t epoch, look;		/* so many so far */
	uint64_t failed;		/* the last step that did */
	/*
	 * ...; what waits in one does not in the next.  It waits by all hands, so that those that
	 * have it keep it where the next ones fail.
	 */
	uint64_t step;
	uint32_t let_goes;		/* of this poll */
	uint32_t crowded;		/* ...: searches that found PACED_MAX paced */
	uint32_t anew;			/* as of when the history was read */
	uint64_t us;			/* diag_clock(), of this poll */
	int64_t ticked;
	int lock;			/* act_lock(); negative = it is not held */
	char unable[sizeof(((struct err *)0)->text)];
	char hindered[sizeof(((struct err *)0)->text)];	/* of this poll */
	uint32_t lines, left_out;	/* of this poll */
	struct act_totals totals;
};

static inline bool act_acts(const struct act *a)
{
	return a->mode == MODE_ACT && !a->unable[0];
}

/* Whether there may be a search of it: of a subnet where it is allowed */
static inline bool act_takes(const struct act *a, const struct prefix *to)
{
	return a->subnets || to->len == (to->family == AF_INET ? 32U : 128U);
}

/* act_devices.c: NULL, there is none, or no memory */
struct act_device *act_device(struct act *a, int ifindex);
/* Of those that are known: what has another name, what is gone */
void act_devices_follow(struct act *a);
/* Whether there are better hands by now, or those that they have do not fit any more */
void act_devices_fit(struct act *a);
/* The daemon was reloaded: what was refused may be tried again */
void act_devices_reload(struct act *a);
/* All are chosen anew, as what is allowed has changed */
void act_devices_anew(struct act *a);
/* HANDS_NONE: there are none that fit, or it is gone */
enum hands_kind act_device_by(struct act *a, int ifindex);
/* Something is by now, by its hands */
void act_device_paced(struct act *a, int ifindex);
/* What the log has of its being left alone is said again, should it be left once more */
void act_device_again(struct act *a, int ifindex);
/* By these hands it is not: others are chosen, and stay so though fit() says that these fit */
void act_device_unfit(struct act *a, int ifindex, enum hands_kind by, const char *why);
/* The device of a search: by its name, where it has none */
void act_device_back(struct act *a, struct acting *e);
void act_device_moved(struct act *a, struct acting *e, int ifindex);

/* act_busy.c: what hands have returned that were asked to look or to change something */
void act_busy_note(const struct act *a, struct act_hands *h, int rc, const char *why);

/* act_gone.c: so many were paced on it */
void act_gone_begin(struct act *a, const char dev[IFNAMSIZ], uint32_t n);
void act_gone_follow(struct act *a);	/* what is back */
void act_gone_end(struct act *a);	/* of a poll: what is paced again is told */
/* One is paced that was not.  False: it had not lost its device, and is told of as others are */
bool act_gone_tells(struct act *a, struct acting *e);
uint32_t act_gone_count(const struct act *a);	/* devices that are waited for */
int act_gone_each(const struct act *a, pacing_device_fn each, void *data);

/* act_want.c: into the set that is wanted, or out of it, after whatever has changed */
void act_want(struct act *a, struct acting *e);
void act_want_device(struct act *a, int ifindex);
/* Why it has no hands, "" = it has, or nothing was to be paced on it so far */
const char *act_why_unfit(const struct act *a, int ifindex);
/* That which holds this address on that device; NULL: its own does */
struct acting *act_subnet_of(const struct act *a, const struct prefix *addr, int ifindex);
bool acting_is_active(const struct acting *e);	/* its subnet is taken as one */
/* Hosts in its place, and the other way */
int act_want_subnet(struct act *a, struct acting *subnet);
void act_want_hosts(struct act *a, struct acting *subnet);

/* act_search.c */
void act_remote(struct act *a, struct remote *r, int64_t now);
void act_subnets(struct act *a, int64_t now);	/* what was summed up of them */
void act_tick(struct act *a, int64_t now);
/* Where some found no room: what was silent for longest goes, though it is paced */
void act_make_room(struct act *a, int64_t now);
void act_decide(struct act *a, struct acting *e, const struct decision *d,
		const struct search *was, const struct observation *o, int64_t now);
/* @why: a sentence; true: it was not so already */
bool act_stand_down(struct act *a, struct acting *e, const char *why, int64_t now);

/* act_subnet.c */
void act_active(struct act *a, struct acting *host, const struct observation *o);
/* Those that are held by one thing; @rs: those that are there, also of no search */
void act_merge(struct act *a, struct remotes *rs, int64_t now);
/* Whether it shows nothing of what the hosts of its subnet are paced for, and is held by that */
bool act_is_stranger(const struct act *a, const struct remote *r, const struct observation *o);

/* act_hands.c */
uint32_t act_in_force(const struct act *a);	/* so many remotes and subnets */
enum hands_kind act_forced_by(const struct act *a, const struct acting *e);
void act_step(struct act *a, int64_t now);	/* what is wanted */
void act_hands_tick(struct act *a);
void act_force(struct act *a, struct act_hands *h, const struct pace *p);
/* What is in force of a search, after its device is another one */
void act_note_force(struct act *a, struct acting *e);
void act_device_is_free(struct act *a, struct act_hands *h, int ifindex);

/* act_know.c */
void act_know(struct act *a, int64_t now);	/* what the kernel has, at first */
void act_unknow(struct act *a);			/* it is to be read again */
bool act_is_known(const struct act *a);

/* act_look.c: with each poll */
void act_look(struct act *a, int64_t now);
void act_not_ours(struct act *a, struct act_hands *h);	/* another daemon's: to be read again */

/* act_leave.c: tried again with the next poll */
void act_wait_for(struct act *a, struct act_hands *h, const struct pace *p);
void act_wait_for_device(struct act *a, struct act_hands *h, int ifindex);
/* Somebody else's by now: it is let go of, where it is ours so far */
void act_leave(struct act *a, struct act_hands *h, const struct pace *p, bool device,
	       const char *why, int64_t now);
void act_leaving_add(struct act_leaving *l, const struct acting *e);

/* act_failed.c: a change as a whole, not one remote of it */
void act_failed_whole(struct act *a, const struct act_hands *h, int rc, const char *why);
void act_failed(struct act *a, const struct act_hands *h, int rc, const char *why);
/* ..., where mode = observe and so all is to be taken back */
void act_cannot_take_back(struct act *a, const struct act_hands *h, const char *why);
void act_cannot(struct act *a, const char *why);	/* in `act`, and this process may not */
void act_went_well(struct act *a, const struct act_hands *h);

/* act_lock.c: -EBUSY, another daemon has it; -ENOENT, there is no folder for it as yet */
int act_lock(struct act *a, struct err *e);
void act_unlock(struct act *a);
/* Where there is no folder for it, that is made */
int act_lock_anew(struct act *a, struct err *e);
/* Nothing is paced, as far as all is known, and no program is loaded that may hold some */
bool act_is_done(const struct act *a);
void act_unlock_for_good(struct act *a);	/* its file goes, too */
/* One that observes, and has nothing to take back, is in nobody's way. */
void act_unlock_if_done(struct act *a);
bool act_lock_is_removed(const struct act *a);	/* its file, by somebody */
/* Whether one has been here since the machine was booted, as far as that can be told */
bool act_was_locked(void);

/* act_save.c */
void act_load(struct act *a, int64_t now);
void act_save(struct act *a, bool all, int64_t now);

/* act_tell.c */
void act_tell_rate(struct act *a, const struct acting *e, uint64_t was);
void act_tell_state(struct act *a, const struct acting *e);
void act_tell_moved(struct act *a, const struct acting *e);
void act_tell_would(struct act *a, const struct acting *e);
void act_tell_left(struct act *a, const struct acting *e, const char *why);
void act_tell_left_device(struct act *a, int ifindex, const struct act_leaving *l, const char *why);
void act_tell_room(struct act *a, const struct acting *e, int64_t now);
void act_tell_end(struct act *a);
void act_say_notes(struct act *a, const struct hands_result *r);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * The devices that paced flows leave by: they are renamed, go and come back, and each has hands
 * that fit it (hands.h): the first kind that does.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "act_inside.h"
#include "grow.h"
#include "hands_class.h"
#include "out.h"

static bool name_of(int ifindex, char dev[IFNAMSIZ])
{
	memset(dev, 0, IFNAMSIZ);
	return ifindex > 0 && if_indextoname((unsigned int)ifindex, dev);
}

struct act_device *act_device(struct act *a, int ifindex)
{
	struct act_device new = { .ifindex = ifindex }, *more;
	uint32_t i;

	for (i = 0; i < a->n_devices; i++)
		if (a->devices[i].ifindex == ifindex)
			return &a->devices[i];
	if (!name_of(ifindex, new.dev))
		return NULL;
	more = grown(a->devices, a->n_devices, sizeof(*more));
	if (!more)
		return NULL;
	a->devices = more;
	more[a->n_devices] = new;
	return &more[a->n_devices++];
}

void act_device_moved(struct act *a, struct acting *e, int ifindex)
{
	struct act_device *d = ifindex ? act_device(a, ifindex) : NULL;

	e->ifindex = d ? ifindex : 0;
	e->elsewhere = 0;
	act_note_force(a, e);
	if (d && strcmp(e->dev, d->dev)) {
		memcpy(e->dev, d->dev, sizeof(e->dev));
		e->dirty = true;
	}
	act_want(a, e);
}

/* What was on it is gone with it; the rates are as good on the one that comes back. */
static void device_gone(struct act *a, const struct act_device *d)
{
	struct acting *e, *next;
	uint32_t n = 0;
	int k;

	for (k = 0; k < HANDS_KINDS; k++)
		paced_clear_device(&a->by[k].now, d->ifindex);
	act_table_each(&a->table, e, next) {
		if (e->ifindex != d->ifindex)
			continue;
		e->away |= e->force && !e->gone && act_acts(a);
		n += e->away;
		act_device_moved(a, e, 0);
	}
	act_gone_begin(a, d->dev, n);
}

/* Lines of before have the old name, those to come the new one. */
static void device_renamed(struct act *a, const struct act_device *d, const char *was)
{
	struct acting *e, *next;
	uint32_t n = 0;

	act_table_each(&a->table, e, next) {
		if (e->ifindex != d->ifindex)
			continue;
		memcpy(e->dev, d->dev, sizeof(e->dev));
		e->dirty = true;
		n += e->force != 0;
	}
	if (n)
		log_say(a->log, LOG_NOTICE, "%s is called %s now: %u remote%s paced there", was,
			d->dev, n, n > 1 ? "s stay" : " stays");
}

void act_devices_follow(struct act *a)
{
	char dev[IFNAMSIZ];
	uint32_t i = 0;

	while (i < a->n_devices) {
		struct act_device *d = &a->devices[i];
		struct act_device was = *d;

		if (!name_of(was.ifindex, dev)) {
			*d = a->devices[--a->n_devices];
			device_gone(a, &was);
			continue;
		}
		if (strcmp(dev, d->dev)) {
			memcpy(d->dev, dev, sizeof(d->dev));
			d->refusal.stands = false;
			device_renamed(a, d, was.dev);
		}
		i++;
	}
	act_gone_follow(a);
}

void act_device_back(struct act *a, struct acting *e)
{
	if (!e->ifindex && e->dev[0])
		act_device_moved(a, e, (int)if_nametoindex(e->dev));
}

/* --- by which hands ------------------------------------------------------- */

static struct act_device *find(const struct act *a, int ifindex)
{
	uint32_t i;

	for (i = 0; i < a->n_devices; i++)
		if (a->devices[i].ifindex == ifindex)
			return &a->devices[i];
	return NULL;
}

/* An unknown speed, as without a link, is not another one. */
static bool is_another(const struct hands_device *now, const struct hands_device *was)
{
	return now->tx_queues != was->tx_queues ||
	       (now->speed_mbit && now->speed_mbit != was->speed_mbit);
}

/* Until the device is another one, or the daemon is told to look */
static bool is_refused(struct act_device *d)
{
	struct act_refusal *r = &d->refusal;
	struct hands_device now;
	struct err unsaid;

	if (r->stands && !hands_read_device(d->ifindex, &now, &unsaid) &&
	    is_another(&now, &r->device))
		r->stands = false;
	return r->stands;
}

/* Also in `observe`, where nothing is tried; nor is it while another daemon paces. */
static int fit(struct act *a, struct act_device *d, enum hands_kind by, bool tries, struct err *e)
{
	struct hands *h = &a->by[by].hands;

	if (by == HANDS_CLASSES && is_refused(d))
		return err_set(e, -EOPNOTSUPP, "%s", d->refusal.why);
	tries = tries && act_acts(a) && a->lock >= 0;
	return h->ops->fit(h, d->ifindex, a->one_lock, tries, e);
}

static void add_why(struct act_device *d, const char *why)
{
	size_t used = strlen(d->why);

	if (strstr(d->why, why))
		return;
	snprintf(d->why + used, sizeof(d->why) - used, "%s%s", used ? "; " : "", why);
}

/*
 * The first from @by on that are not unfit.  What else is in the way, which is what is returned, is
 * told when they are used.  @has: what it has is not tried anew.
 */
static int choose_from(struct act *a, struct act_device *d, enum hands_kind by,
		       enum hands_kind has)
{
	struct err e = { "" };
	int rc = 0;

	for (; by < HANDS_KINDS; by++) {
		rc = fit(a, d, by, by != has, &e);
		if (rc != -EOPNOTSUPP)
			break;
		add_why(d, e.text);
	}
	d->chosen = true;
	d->by = by;
	return by == HANDS_NONE ? 0 : rc;
}

static void say_unfit(struct act *a, const struct act_device *d)
{
	char subject[32];

	if (d->by != HANDS_NONE)
		return;
	snprintf(subject, sizeof(subject), "pacing on %s", d->dev);
	log_state(a->log, LOG_WARNING, subject, "unfit", "nothing is paced on %s: %s", d->dev,
		  d->why);
}

void act_device_again(struct act *a, int ifindex)
{
	struct act_device *d = find(a, ifindex);

	if (d)
		d->left = 0;
}

/* What was chosen without a try may be unfit after all. */
void act_device_paced(struct act *a, int ifindex)
{
	const struct act_device *d = find(a, ifindex);
	char subject[32];

	act_device_again(a, ifindex);
	if (!d || d->by != HANDS_SOCKETS)
		return;
	snprintf(subject, sizeof(subject), "sockets by %s", d->dev);
	log_state(a->log, LOG_NOTICE, subject, "paced",
		  "on %s remotes are paced by sockets, not by classes: %s", d->dev, d->why);
}

static void choose(struct act *a, struct act_device *d)
{
	d->why[0] = 0;
	choose_from(a, d, HANDS_CLASSES, HANDS_NONE);
	say_unfit(a, d);
}

enum hands_kind act_device_by(struct act *a, int ifindex)
{
	struct act_device *d = act_device(a, ifindex);

	if (!d)
		return HANDS_NONE;
	if (!d->chosen)
		choose(a, d);
	return d->by;
}

const char *act_why_unfit(const struct act *a, int ifindex)
{
	const struct act_device *d = find(a, ifindex);

	return d && d->chosen && d->by == HANDS_NONE ? d->why : "";
}

/*
 * What only setting them shows would be tried, refused and told again with each look.  Of sockets
 * whether they fit is a try already.
 */
static void note_refusal(struct act *a, struct act_device *d, enum hands_kind by, const char *why)
{
	struct act_refusal now = { .stands = true };
	struct err unsaid;

	if (by != HANDS_CLASSES || fit(a, d, by, false, &unsaid) ||
	    hands_read_device(d->ifindex, &now.device, &unsaid))
		return;
	out_copy(now.why, sizeof(now.why), why);
	d->refusal = now;
}

void act_device_unfit(struct act *a, int ifindex, enum hands_kind by, const char *why)
{
	struct act_device *d = act_device(a, ifindex);

	/* what is taken back by others than it has is not about those that it has */
	if (!d || d->by != by)
		return;
	if (by == HANDS_CLASSES)
		d->why[0] = 0;
	add_why(d, why);
	note_refusal(a, d, by, why);
	choose_from(a, d, by + 1, HANDS_NONE);
	say_unfit(a, d);
	act_want_device(a, ifindex);
}

static void say_better(struct act *a, const struct act_device *d)
{
	char subject[32];

	snprintf(subject, sizeof(subject), "pacing on %s", d->dev);
	log_forget(&a->log->said, subject);
	log_say(a->log, LOG_NOTICE, "on %s remotes can be paced by %s now", d->dev,
		a->by[d->by].hands.ops->name);
}

/*
 * Better ones, and others where those that it has do not fit any more.  Where the answer is
 * neither, all stays as it is: a device that is down, say, or has no link.
 */
static void choose_again(struct act *a, struct act_device *d)
{
	struct act_device now = *d;
	int rc;

	if (!d->chosen)
		return;
	now.why[0] = 0;
	rc = choose_from(a, &now, HANDS_CLASSES, d->by);
	if (rc)
		return;
	if (now.by == d->by) {
		memcpy(d->why, now.why, sizeof(d->why));
		return;
	}
	if (now.by < d->by)
		say_better(a, &now);
	else
		say_unfit(a, &now);
	*d = now;
	act_want_device(a, now.ifindex);
}

void act_devices_fit(struct act *a)
{
	uint32_t i;

	for (i = 0; i < a->n_devices; i++)
		choose_again(a, &a->devices[i]);
}

void act_devices_reload(struct act *a)
{
	uint32_t i;

	for (i = 0; i < a->n_devices; i++)
		a->devices[i].refusal.stands = false;
}

void act_devices_anew(struct act *a)
{
	uint32_t i;

	for (i = 0; i < a->n_devices; i++) {
		a->devices[i].chosen = false;
		act_want_device(a, a->devices[i].ifindex);
	}
}

int act_devices_each(const struct act *a, pacing_device_fn each, void *data)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < a->n_devices && !rc; i++) {
		const struct act_device *d = &a->devices[i];
		bool unfit = d->by == HANDS_NONE;
		const struct pacing_device p = {
			.dev = d->dev, .hands = unfit ? "" : a->by[d->by].hands.ops->name,
			.why = d->by == HANDS_CLASSES ? "" : d->why,
		};

		rc = d->chosen ? each(&p, data) : 0;
	}
	return rc ?: act_gone_each(a, each, data);
}

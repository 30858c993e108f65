// SPDX-License-Identifier: GPL-2.0
/*
 * The devices that paced flows leave by: they are renamed, go and come back.
 */
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
	if (d && strcmp(e->dev, d->dev)) {
		memcpy(e->dev, d->dev, sizeof(e->dev));
		e->dirty = true;
	}
	act_want(a, e);
}

/* What was on it is gone with it; the rates are as good on the one that comes back. */
static void device_gone(struct act *a, int ifindex)
{
	struct acting *e, *next;

	paced_clear_device(&a->now, ifindex);
	act_table_each(&a->table, e, next) {
		if (e->ifindex != ifindex)
			continue;
		e->force = 0;
		e->changed = a->epoch;
		act_device_moved(a, e, 0);
	}
}

static void device_renamed(struct act *a, const struct act_device *d)
{
	struct acting *e, *next;

	act_table_each(&a->table, e, next) {
		if (e->ifindex != d->ifindex)
			continue;
		memcpy(e->dev, d->dev, sizeof(e->dev));
		e->dirty = true;
	}
}

void act_devices_follow(struct act *a)
{
	char dev[IFNAMSIZ];
	uint32_t i = 0;

	while (i < a->n_devices) {
		struct act_device *d = &a->devices[i];
		int ifindex = d->ifindex;

		if (!name_of(ifindex, dev)) {
			*d = a->devices[--a->n_devices];
			device_gone(a, ifindex);
			continue;
		}
		if (strcmp(dev, d->dev)) {
			memcpy(d->dev, dev, sizeof(d->dev));
			device_renamed(a, d);
		}
		i++;
	}
}

void act_device_back(struct act *a, struct acting *e)
{
	if (!e->ifindex && e->dev[0])
		act_device_moved(a, e, (int)if_nametoindex(e->dev));
}

void act_device_unfit(struct act *a, int ifindex, const char *why)
{
	struct act_device *d = act_device(a, ifindex);
	char subject[32];

	if (!d)
		return;
	snprintf(subject, sizeof(subject), "pacing on %s", d->dev);
	log_state(a->log, LOG_WARNING, subject, "unfit", "nothing is paced on %s: %s", d->dev,
		  why);
	d->unfit = true;
	act_want_device(a, ifindex);
}

void act_devices_fit(struct act *a)
{
	struct err unsaid;
	char subject[32];
	uint32_t i;

	for (i = 0; i < a->n_devices; i++) {
		struct act_device *d = &a->devices[i];

		if (!d->unfit || hands_fit(d->ifindex, a->one_lock, &unsaid))
			continue;
		snprintf(subject, sizeof(subject), "pacing on %s", d->dev);
		log_forget(&a->log->said, subject);
		log_say(a->log, LOG_NOTICE, "remotes by %s can be paced now", d->dev);
		d->unfit = false;
		act_want_device(a, d->ifindex);
	}
}

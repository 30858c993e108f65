// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that last too long: see late.h.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "control.h"
#include "late.h"

#define NEVER	UINT64_MAX

struct late_place {
	int fd;			/* -1: it is free */
	uint64_t until_ms;	/* NEVER: it is shut down */
};

struct late {
	pthread_t thread;
	pthread_mutex_t lock;	/* of all below */
	pthread_cond_t changed;	/* waits on CLOCK_MONOTONIC, that of control_ms() */
	bool ends;
	uint64_t ms;
	uint32_t most;
	struct late_place places[];
};

/* Those whose time is over; by when the next one's is */
static uint64_t shut_down_late(struct late *l)
{
	uint64_t now = control_ms(), next = NEVER;
	uint32_t i;

	for (i = 0; i < l->most; i++) {
		struct late_place *p = &l->places[i];

		if (p->fd < 0)
			continue;
		if (p->until_ms <= now) {
			shutdown(p->fd, SHUT_RDWR);
			p->until_ms = NEVER;
		}
		if (p->until_ms < next)
			next = p->until_ms;
	}
	return next;
}

static void *watch(void *data)
{
	struct late *l = data;

	pthread_mutex_lock(&l->lock);
	while (!l->ends) {
		uint64_t next = shut_down_late(l);
		const struct timespec at = {
			.tv_sec = (time_t)(next / 1000),
			.tv_nsec = (long)(next % 1000 * 1000000),
		};

		if (next == NEVER)
			pthread_cond_wait(&l->changed, &l->lock);
		else
			pthread_cond_timedwait(&l->changed, &l->lock, &at);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

struct late *late_begin(uint32_t most, uint64_t ms)
{
	struct late *l = calloc(1, sizeof(*l) + most * sizeof(l->places[0]));
	pthread_condattr_t attr;
	uint32_t i;

	if (!l)
		return NULL;
	l->most = most;
	l->ms = ms;
	for (i = 0; i < most; i++)
		l->places[i].fd = -1;
	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&l->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (!pthread_create(&l->thread, NULL, watch, l))
		return l;
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l);
	return NULL;
}

struct late_place *late_add(struct late *l, int fd)
{
	struct late_place *p = l->places;

	pthread_mutex_lock(&l->lock);
	while (p < l->places + l->most && p->fd >= 0)
		p++;
	if (p < l->places + l->most) {
		*p = (struct late_place){ .fd = fd, .until_ms = control_ms() + l->ms };
		pthread_cond_signal(&l->changed);
	} else {
		shutdown(fd, SHUT_RDWR);
		p = NULL;
	}
	pthread_mutex_unlock(&l->lock);
	return p;
}

void late_drop(struct late *l, struct late_place *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&l->lock);
	p->fd = -1;
	pthread_mutex_unlock(&l->lock);
}

void late_end(struct late *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->ends = true;
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing by sockets: see hands_bpf.h.
 *
 * The order of writes leaves nothing in doubt if the process is killed.  A slot is filled before
 * the trie leads to it; to drop one, set its rate to 0, then remove it from the trie; it is free
 * only after a pass has taken it from all sockets.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hands_bpf.h"
#include "pace_load.h"
#include "pace_missing.h"
#include "pace_slots.h"

struct hands_bpf {
	struct pace_load kernel;
};

/* --- slots ----------------------------------------------------------------- */

static void set_rate(struct pace_slot *slot, uint64_t rate)
{
	__atomic_store_n(&slot->rate, rate, __ATOMIC_RELEASE);
}

/* Keep the generation: the next use of the slot has the one after it. */
static void make_free(struct pace_slot *slot)
{
	uint32_t generation = slot->generation;

	memset(slot, 0, sizeof(*slot));
	slot->generation = generation;
}

static void fill(struct pace_slot *slot, const struct pace_edit *edit, const struct pace *one)
{
	if (pace_slot_is_free(slot)) {
		slot->generation = slot->generation + 1 ?: 1;
		slot->key = edit->key;
	}
	slot->rtt_us = one->rtt_us;
	set_rate(slot, one->rate);
}

static void drop(struct hands_bpf *h, struct pace_slot *slot)
{
	set_rate(slot, 0);
	bpf_map_delete_elem(h->kernel.trie, &slot->key);
}

static int lead_to(struct hands_bpf *h, uint32_t i)
{
	return bpf_map_update_elem(h->kernel.trie, &h->kernel.slots[i].key, &i, BPF_ANY) ?
	       -errno : 0;
}

static bool is_led_to(const struct hands_bpf *h, uint32_t i)
{
	uint32_t found;

	return !bpf_map_lookup_elem(h->kernel.trie, &h->kernel.slots[i].key, &found) && found == i;
}

bool hands_bpf_is_used(const struct hands_bpf *h)
{
	uint32_t i;

	for (i = 0; i < PACE_SLOTS; i++)
		if (!pace_slot_is_free(&h->kernel.slots[i]))
			return true;
	return false;
}

/* --- passes ---------------------------------------------------------------- */

struct passes {
	int fd[PACE_PASSES];
};

static void close_passes(struct passes *p)
{
	int i;

	for (i = 0; i < PACE_PASSES; i++)
		if (p->fd[i] >= 0)
			close(p->fd[i]);
}

static int open_passes(const struct hands_bpf *h, struct passes *p, struct err *e)
{
	int i, rc = 0;

	for (i = 0; i < PACE_PASSES; i++)
		p->fd[i] = -1;
	for (i = 0; i < PACE_PASSES && !rc; i++) {
		p->fd[i] = pace_pass_open(&h->kernel, (enum pace_pass)i);
		if (p->fd[i] < 0)
			rc = err_set(e, p->fd[i], "the kernel does not go over its sockets: %s",
				     strerror(-p->fd[i]));
	}
	if (rc)
		close_passes(p);
	return rc;
}

static void begin_count(struct pace_slot *slot)
{
	slot->running_counted = 0;
	slot->lights_counted = 0;
	slot->light_counted = 0;
}

/* A socket that began or ended meanwhile makes this off by one until the next count. */
static void take_count(struct pace_slot *slot)
{
	slot->running = slot->running_counted;
	slot->lights = slot->lights_counted;
	slot->light = slot->light_counted;
}

static void each_used(struct hands_bpf *h, void (*fn)(struct pace_slot *slot))
{
	uint32_t i;

	for (i = 0; i < PACE_SLOTS; i++)
		if (!pace_slot_is_free(&h->kernel.slots[i]))
			fn(&h->kernel.slots[i]);
}

static void free_gone(struct pace_slot *slot)
{
	if (!slot->rate)
		make_free(slot);
}

static int run_passes(struct hands_bpf *h, struct passes *p, struct err *e)
{
	int rc, set;

	each_used(h, begin_count);
	rc = pace_pass_run(p->fd[PACE_COUNT]);
	if (!rc)
		each_used(h, take_count);
	set = pace_pass_run(p->fd[PACE_SET]);
	if (!set)
		each_used(h, free_gone);
	rc = rc ?: set;
	return rc ? err_set(e, rc, "going over the sockets ended early: %s", strerror(-rc)) : 0;
}

int hands_bpf_tick(struct hands_bpf *h, struct err *e)
{
	struct passes p;
	int rc;

	if (!hands_bpf_is_used(h))
		return 0;
	rc = open_passes(h, &p, e);
	return rc ?: run_passes(h, &p, e);
}

/* --- changes --------------------------------------------------------------- */

static int check_device(const struct pace *one, struct err *e)
{
	char dev[IFNAMSIZ];

	if (if_indextoname((unsigned int)one->ifindex, dev))
		return 0;
	return err_set(e, -ENODEV, "there is no device of index %d any more", one->ifindex);
}

static int add(struct hands_bpf *h, const struct pace_edit *edit, const struct pace *one,
	       struct err *e)
{
	char text[64];
	int rc = check_device(one, e);

	if (rc)
		return rc;
	fill(&h->kernel.slots[edit->slot], edit, one);
	rc = lead_to(h, edit->slot);
	if (!rc)
		return 0;
	set_rate(&h->kernel.slots[edit->slot], 0);
	return err_set(e, rc, "%s cannot be paced: %s", format_prefix(text, sizeof(text), &one->to),
		       strerror(-rc));
}

/* Make all additions, which alone can fail.  If one fails, undo those already made. */
static int add_all(struct hands_bpf *h, const struct pace_edits *edits, const struct pace *list,
		   uint32_t *at, struct err *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < edits->n && !rc; i++) {
		const struct pace_edit *edit = &edits->list[i];

		if (edit->kind != PACE_ADD)
			continue;
		*at = edit->at;
		rc = add(h, edit, &list[edit->at], e);
	}
	while (rc && i--)
		if (edits->list[i].kind == PACE_ADD)
			drop(h, &h->kernel.slots[edits->list[i].slot]);
	return rc;
}

static void change_all(struct hands_bpf *h, const struct pace_edits *edits,
		       const struct pace *list)
{
	uint32_t i;

	for (i = 0; i < edits->n; i++) {
		const struct pace_edit *edit = &edits->list[i];
		struct pace_slot *slot = &h->kernel.slots[edit->slot];

		if (edit->kind == PACE_RATE)
			set_rate(slot, list[edit->at].rate);
		else if (edit->kind == PACE_DROP)
			drop(h, slot);
	}
}

/* Open the passes first, so that every change in the maps gets to the sockets. */
static int make(struct hands_bpf *h, const struct pace_edits *edits, const struct pace *list,
		struct hands_result *r, struct err *e)
{
	struct err late = { "" };
	struct passes p;
	int rc = open_passes(h, &p, e);

	if (rc)
		return rc;
	rc = add_all(h, edits, list, &r->at, e);
	if (!rc) {
		change_all(h, edits, list);
		r->changed = edits->n;
		r->at = HANDS_NOBODY;
	}
	if (run_passes(h, &p, &late))
		note(&r->notes, "%.300s; the next poll does the rest", late.text);
	return rc;
}

int hands_bpf_apply(struct hands_bpf *h, const struct pace *list, uint32_t n,
		    struct hands_result *r, struct err *e)
{
	struct pace_edits edits;
	int rc;

	memset(r, 0, sizeof(*r));
	r->at = HANDS_NOBODY;
	rc = pace_edits_make(h->kernel.slots, list, n, &edits, &r->at, e);
	if (rc)
		return rc;
	r->at = HANDS_NOBODY;
	if (edits.n)
		rc = make(h, &edits, list, r, e);
	free(edits.list);
	return rc;
}

int hands_bpf_undo(struct hands_bpf *h, struct hands_result *r, struct err *e)
{
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->at = HANDS_NOBODY;
	for (i = 0; i < PACE_SLOTS; i++) {
		struct pace_slot *slot = &h->kernel.slots[i];

		if (pace_slot_is_free(slot))
			continue;
		r->changed += !!slot->rate;
		drop(h, slot);
	}
	return hands_bpf_tick(h, e);
}

/* --- looking --------------------------------------------------------------- */

/* What somebody did to the program or its pins; NULL: nothing */
static const char *ended(const struct hands_bpf *h)
{
	if (!pace_is_attached(&h->kernel))
		return "the BPF program of ctcpd was detached from the root cgroup";
	if (!pace_stays(&h->kernel))
		return "what pins the BPF program of ctcpd below " PACE_PINS " was removed";
	return NULL;
}

static void judge(const struct hands_bpf *h, uint32_t i, const char *why, struct hand *hand)
{
	if (!if_indextoname((unsigned int)hand->pace.ifindex, hand->dev)) {
		hand->state = HAND_GONE;
		snprintf(hand->why, sizeof(hand->why), "device %d, on which it was set up, is gone",
			 hand->pace.ifindex);
	} else if (why) {
		hand->state = HAND_CHANGED;
		hand->device = true;
		snprintf(hand->why, sizeof(hand->why), "%s", why);
	} else if (!is_led_to(h, i)) {
		hand->state = HAND_CHANGED;
		snprintf(hand->why, sizeof(hand->why),
			 "its prefix was taken out of the BPF program's map");
	}
}

int hands_bpf_look(struct hands_bpf *h, hand_fn each, void *data, struct err *e)
{
	const char *why = ended(h);
	uint32_t i;
	int rc = 0;

	(void)e;
	for (i = 0; i < PACE_SLOTS && !rc; i++) {
		struct hand hand = { .state = HAND_SET };

		if (!h->kernel.slots[i].rate)
			continue;
		hand.pace = pace_of_slot(&h->kernel.slots[i]);
		judge(h, i, why, &hand);
		rc = each(&hand, data);
	}
	return rc;
}

/* --- opening --------------------------------------------------------------- */

/* Remove what a killed process was adding or removing. */
static void finish_cut_short(struct hands_bpf *h)
{
	uint32_t i;

	for (i = 0; i < PACE_SLOTS; i++) {
		struct pace_slot *slot = &h->kernel.slots[i];

		if (!pace_slot_is_free(slot) && (!slot->rate || !is_led_to(h, i)))
			drop(h, slot);
	}
}

int hands_bpf_can(struct err *e)
{
	char root[256];

	return pace_missing_here(e) ?: pace_cgroup_root(root, sizeof(root), e);
}

int hands_bpf_is_pinned(struct err *e)
{
	return pace_is_pinned(e);
}

void hands_bpf_drop_others(struct notes *notes)
{
	pace_drop_others(notes);
}

int hands_bpf_open(struct hands_bpf **h, struct err *e)
{
	int rc;

	*h = calloc(1, sizeof(**h));
	if (!*h)
		return err_set(e, -ENOMEM, "out of memory");
	rc = pace_load(&(*h)->kernel, e);
	if (rc) {
		free(*h);
		*h = NULL;
		return rc;
	}
	finish_cut_short(*h);
	rc = hands_bpf_tick(*h, e);
	if (rc) {
		hands_bpf_close(*h);
		*h = NULL;
	}
	return rc;
}

void hands_bpf_close(struct hands_bpf *h)
{
	if (!h)
		return;
	pace_unload(&h->kernel, !hands_bpf_is_used(h));
	free(h);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The order in which circuits change: played against a kernel that refuses a circuit a
 * prefix which is another's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "diff_order.h"

#define CIRCUITS 6
#define PREFIXES 7
#define TRIES 2000
#define VALUE 256

/* A circuit has the prefixes 192.0.2.N of the bits of a mask. */
static const char *value_of(unsigned int mask, char value[VALUE])
{
	int used = snprintf(value, VALUE, "window=100 prefixes=");
	unsigned int i;

	for (i = 0; i < PREFIXES; i++)
		if (mask >> i & 1)
			used += snprintf(value + used, VALUE - (size_t)used, "%s192.0.2.%u/32",
					 value[used - 1] == '=' ? "" : ",", i);
	return mask ? value : strcpy(value, "absent");
}

static unsigned int mask_of(const char *value)
{
	unsigned int i, mask = 0;
	char prefix[32];

	for (i = 0; i < PREFIXES; i++) {
		snprintf(prefix, sizeof(prefix), "192.0.2.%u/32", i);
		mask |= (strstr(value, prefix) ? 1U : 0U) << i;
	}
	return mask;
}

struct list {
	struct diff d;
	struct notes notes;
	struct item items[CIRCUITS + 1];
	char names[CIRCUITS][8], from[CIRCUITS][VALUE], to[CIRCUITS][VALUE];
};

static void add(struct list *l, enum item_kind kind, const char *name, const char *from,
		const char *to)
{
	l->d.of[l->d.n] = &l->items[l->d.n];
	l->d.list[l->d.n++] = (struct change){
		.kind = kind, .name = name, .from = from, .to = to,
	};
}

/* Masks of each circuit, before and after; a number of the machine's in their midst */
static void begin(struct list *l, const unsigned int from[CIRCUITS],
		  const unsigned int to[CIRCUITS])
{
	unsigned int i;

	memset(l, 0, sizeof(*l));
	l->d.notes = &l->notes;
	l->d.list = calloc(CIRCUITS + 1, sizeof(*l->d.list));
	l->d.of = calloc(CIRCUITS + 1, sizeof(struct item *));
	for (i = 0; i < CIRCUITS; i++) {
		if (i == CIRCUITS / 2)
			add(l, ITEM_SYSCTL, "net.core.rmem_max", "1", "2");
		snprintf(l->names[i], sizeof(l->names[i]), "c%u", i);
		if (from[i] != to[i] && to[i])
			add(l, ITEM_CIRCUIT, l->names[i], value_of(from[i], l->from[i]),
			    value_of(to[i], l->to[i]));
	}
}

static void end(struct list *l)
{
	free(l->d.list);
	free(l->d.of);
}

/* Steps on the way; each change begins with what is there, and takes nobody's prefix. */
static unsigned int play(const struct list *l, unsigned int now[CIRCUITS])
{
	unsigned int steps = 0, i, k;

	for (k = 0; k < l->d.n; k++) {
		const struct change *c = &l->d.list[k];
		unsigned int at = c->kind == ITEM_CIRCUIT ? (unsigned int)atoi(c->name + 1) : 0;

		if (c->kind != ITEM_CIRCUIT)
			continue;
		assert_int_equal(mask_of(c->from), now[at]);
		assert_string_equal(l->d.of[k] ? "item" : "none", "item");
		now[at] = mask_of(c->to);
		steps += c->step;
		for (i = 0; i < CIRCUITS; i++)
			assert_int_equal(i == at ? 0 : now[i] & now[at], 0);
	}
	return steps;
}

static unsigned int changed(const unsigned int from[CIRCUITS], const unsigned int to[CIRCUITS])
{
	unsigned int now[CIRCUITS], steps;
	struct list l;
	struct err e;

	memcpy(now, from, sizeof(now));
	begin(&l, from, to);
	assert_int_equal(diff_order(&l.d, &e), 0);
	steps = play(&l, now);
	assert_memory_equal(now, to, sizeof(now));
	assert_int_equal(l.notes.n + l.notes.more, steps);
	end(&l);
	return steps;
}

static void test_moved(void **state)
{
	static const unsigned int from[] = { 1, 2, 4, 8, 16, 32 };
	static const unsigned int up[] = { 1 | 2, 4, 8, 16, 32, 64 };
	static const unsigned int down[] = { 64, 1, 2, 4, 8, 16 | 32 };
	static const unsigned int swap[] = { 2, 1, 4, 8, 16, 32 };
	static const unsigned int ring[] = { 2, 4, 8, 16, 32, 1 };

	(void)state;
	assert_int_equal(changed(from, from), 0);
	assert_int_equal(changed(from, up), 0);
	assert_int_equal(changed(from, down), 0);
	assert_int_equal(changed(from, swap), 1);
	assert_int_equal(changed(from, ring), 1);
}

/* Whoever has what, before and after: the end is reached, and nobody's prefix taken. */
static void test_any(void **state)
{
	unsigned int from[CIRCUITS], to[CIRCUITS], i, k, steps = 0;

	(void)state;
	srandom(1);
	for (i = 0; i < TRIES; i++) {
		memset(from, 0, sizeof(from));
		memset(to, 0, sizeof(to));
		for (k = 0; k < PREFIXES; k++) {
			from[random() % CIRCUITS] |= 1U << k;
			to[random() % CIRCUITS] |= 1U << k;
		}
		/* one that goes has gone before (diff_end()) */
		for (k = 0; k < CIRCUITS; k++)
			if (!to[k])
				from[k] = 0;
		steps += changed(from, to);
	}
	assert_in_range(steps, TRIES / 20, TRIES * 2);
}

/* Another mark or device: it is another prefix. */
static void test_marked(void **state)
{
	struct list l = { .d.n = 0 };
	struct err e;

	(void)state;
	l.d.notes = &l.notes;
	l.d.list = calloc(2, sizeof(*l.d.list));
	l.d.of = calloc(2, sizeof(struct item *));
	add(&l, ITEM_CIRCUIT, "c0", "window=1 prefixes=192.0.2.0/24",
	    "window=1 prefixes=192.0.2.0/24 mark=7");
	add(&l, ITEM_CIRCUIT, "c1", "window=1 prefixes=192.0.2.0/24 mark=7",
	    "window=1 prefixes=192.0.2.0/24 dev=eth1");
	assert_int_equal(diff_order(&l.d, &e), 0);
	assert_int_equal(l.d.n, 2);
	assert_string_equal(l.d.list[0].name, "c1");
	assert_string_equal(l.d.list[1].name, "c0");
	end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

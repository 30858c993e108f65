// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing by sockets, without a kernel: keys, what each socket has of a rate, and what leads from
 * the slots that there are to a list.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "ctcpd/pace_load.h"
#include "ctcpd/pace_slots.h"
#include "units.h"

#define MSS	1448
#define HEADERS	66

static struct pace pace(int ifindex, const char *to, uint64_t mbit)
{
	struct pace one = { .ifindex = ifindex, .rate = mbit * MBIT, .rtt_us = 1000 };
	struct err e;

	assert_int_equal(parse_prefix(to, &one.to, &e), 0);
	return one;
}

/* --- keys ------------------------------------------------------------------ */

static void assert_key(const char *to, uint32_t bits, uint32_t family, const void *addr, size_t n)
{
	const unsigned char none[16] = { 0 };
	struct pace one = pace(3, to, 1);
	struct pace_key key;

	assert_int_equal(pace_key_of(&one, &key), 0);
	assert_int_equal(key.bits, bits);
	assert_int_equal(key.ifindex, 3);
	assert_int_equal(key.family, family);
	assert_memory_equal(key.addr, addr, n);
	assert_memory_equal(key.addr + n, none, sizeof(none) - n);
}

static void test_keys(void **state)
{
	(void)state;
	assert_key("192.0.2.7", 96, AF_INET, "\xc0\x00\x02\x07", 4);
	assert_key("192.0.2.0/24", 88, AF_INET, "\xc0\x00\x02\x00", 4);
	assert_key("0.0.0.0/0", 64, AF_INET, "\0\0\0\0", 4);
	assert_key("2001:db8::7", 192, AF_INET6,
		   "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07", 16);
	assert_key("2001:db8::/64", 128, AF_INET6, "\x20\x01\x0d\xb8", 4);
	assert_key("::ffff:192.0.2.7", 96, AF_INET, "\xc0\x00\x02\x07", 4);
	assert_key("::ffff:192.0.2.0/120", 88, AF_INET, "\xc0\x00\x02\x00", 4);
	assert_key("::ffff:0:0/96", 64, AF_INET, "\0\0\0\0", 4);
	/* more than IPv4 is in it */
	assert_key("::/95", 159, AF_INET6, "\0\0\0\0", 4);
}

static void test_no_keys(void **state)
{
	struct pace no_device = pace(0, "192.0.2.7", 1);
	struct pace no_prefix = { .ifindex = 3, .rate = MBIT };
	struct pace too_long = pace(3, "192.0.2.7", 1);
	struct pace_key key;

	(void)state;
	too_long.to.len = 33;
	assert_int_equal(pace_key_of(&no_device, &key), -EINVAL);
	assert_int_equal(pace_key_of(&no_prefix, &key), -EINVAL);
	assert_int_equal(pace_key_of(&too_long, &key), -EINVAL);
}

/* As the program makes that of a socket: two devices do not meet, nor two families. */
static void test_slot_and_back(void **state)
{
	const char * const prefixes[] = { "192.0.2.7", "192.0.2.0/24", "2001:db8::/32", "::/0" };
	struct pace_slot slot = { .rtt_us = 1000, .rate = 5 * MBIT };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const struct pace one = pace(7, prefixes[i], 5);
		struct pace back;

		assert_int_equal(pace_key_of(&one, &slot.key), 0);
		back = pace_of_slot(&slot);
		assert_true(prefix_equal(&one.to, &back.to));
		assert_int_equal(back.ifindex, 7);
		assert_int_equal(back.rate, one.rate);
		assert_int_equal(back.rtt_us, 1000);
	}
}

/* --- shares ---------------------------------------------------------------- */

static void test_share(void **state)
{
	(void)state;
	assert_int_equal(pace_share(1000000, 0, 1, 0), 1000000);
	assert_int_equal(pace_share(1000000, 0, 4, 0), 250000);
	/* what the light ones leave */
	assert_int_equal(pace_share(1000000, 200000, 2, 1), 400000);
	/* never less than evenly with all of them */
	assert_int_equal(pace_share(1000000, 900000, 1, 3), 250000);
	assert_int_equal(pace_share(1000000, 5000000, 2, 2), 250000);
	/* counts that are off */
	assert_int_equal(pace_share(1000000, 0, 0, 0), 1000000);
	assert_int_equal(pace_share(1000000, -500, -2, -1), 1000000);
	/* what bpf_setsockopt() takes, and what lets a connection live */
	assert_int_equal(pace_share(RATE_MAX, 0, 1, 0), 0xfffffffe);
	assert_int_equal(pace_share(1000000, 0, 100000, 0), 1000);
}

static void test_light_share(void **state)
{
	(void)state;
	/* alone, whatever it uses, it may have all */
	assert_int_equal(pace_light_share(1000000, 0, 0, 0, 0), 1000000);
	assert_int_equal(pace_light_share(1000000, 300000, 0, 1, 300000), 1000000);
	/* an idle one beside one that runs: as if both did */
	assert_int_equal(pace_light_share(1000000, 0, 1, 0, 0), 500000);
	assert_int_equal(pace_light_share(1000000, 100000, 1, 1, 100000), 500000);
	/* beside another light one: what that leaves */
	assert_int_equal(pace_light_share(1000000, 300000, 1, 2, 100000), 400000);
}

/* From all that each may have, to what it has by what all use: they end at one division. */
static void test_settles(void **state)
{
	const uint64_t rate = 1000000;
	/* what each would send by itself */
	const uint64_t wants[] = { 100000, 10000000, 10000000, 0, 20000 };
	const uint64_t ends[] = { 100000, 440000, 440000, 0, 20000 };
	uint64_t share[5] = { rate, rate, rate, rate, rate }, used[5] = { 0 };
	int32_t running = 5, lights = 0;
	int64_t light = 0;
	int turn, i;

	(void)state;
	for (turn = 0; turn < 5; turn++) {
		running = 0;
		lights = 0;
		light = 0;
		for (i = 0; i < 5; i++) {
			used[i] = wants[i] < share[i] ? wants[i] : share[i];
			if (!pace_is_light(used[i], share[i])) {
				running++;
				used[i] = 0;
			}
			lights += used[i] > 0;
			light += (int64_t)used[i];
		}
		for (i = 0; i < 5; i++)
			share[i] = used[i] || !wants[i] ?
				pace_light_share(rate, light, running, lights, used[i]) :
				pace_share(rate, light, running, lights);
	}
	for (i = 0; i < 5; i++)
		assert_int_equal(wants[i] < share[i] ? wants[i] : share[i], ends[i]);
}

static void test_used(void **state)
{
	(void)state;
	assert_int_equal(pace_used(125000, 1000000), 125000);
	assert_int_equal(pace_used(125000, 100000), 1250000);
	assert_int_equal(pace_used(125000, 0), 0);
	/* a day at 1 Tbit/s */
	assert_int_equal(pace_used(RATE_MAX * 86400, 86400000000ULL), RATE_MAX);
	assert_true(pace_is_light(49, 100));
	assert_false(pace_is_light(50, 100));
	assert_true(pace_is_light(0, PACE_LEAST));
}

static void test_counted(void **state)
{
	(void)state;
	assert_int_equal(pace_payload(50000000, MSS, HEADERS), 47820343);
	assert_int_equal(pace_on_wire(47820343, MSS, HEADERS), 49999999);
	assert_int_equal(pace_payload(PACE_LIMIT, 65483, HEADERS), 4290642775);
	assert_int_equal(pace_payload(1000, 0, HEADERS), 1000);
	assert_int_equal(pace_on_wire(1000, 0, HEADERS), 1000);
}

static void test_in_force(void **state)
{
	(void)state;
	assert_int_equal(pace_in_force(PACE_NONE, 1000), 1000);
	assert_int_equal(pace_in_force(500, 1000), 500);
	assert_int_equal(pace_in_force(2000, 1000), 1000);
	assert_true(pace_in_force(PACE_NONE, PACE_NONE) == PACE_NONE);
	assert_int_equal(pace_in_force(0, 1000), 0);
}

/* --- from the slots to a list ---------------------------------------------- */

static struct pace_slot *slots_of(const struct pace *list, uint32_t n)
{
	struct pace_slot *slots = calloc(PACE_SLOTS, sizeof(*slots));
	uint32_t i;

	assert_non_null(slots);
	for (i = 0; i < n; i++) {
		assert_int_equal(pace_key_of(&list[i], &slots[i].key), 0);
		slots[i].rate = list[i].rate;
		slots[i].generation = 1;
	}
	return slots;
}

static const struct pace_edit *edit_of(const struct pace_edits *edits, uint32_t at)
{
	uint32_t i;

	for (i = 0; i < edits->n; i++)
		if (edits->list[i].at == at)
			return &edits->list[i];
	return NULL;
}

static void assert_edit(const struct pace_edits *edits, uint32_t at, enum pace_edit_kind kind,
			uint32_t slot)
{
	const struct pace_edit *edit = edit_of(edits, at);

	assert_non_null(edit);
	assert_int_equal(edit->kind, kind);
	assert_int_equal(edit->slot, slot);
}

static void test_edits(void **state)
{
	const struct pace now[] = {
		pace(3, "192.0.2.7", 100), pace(3, "2001:db8::/64", 200), pace(4, "192.0.2.7", 300),
		pace(3, "198.51.100.0/24", 0),
	};
	const struct pace list[] = {
		pace(3, "192.0.2.7", 100), pace(4, "192.0.2.7", 0), pace(3, "203.0.113.0/24", 50),
		pace(3, "2001:db8::/64", 210), pace(3, "192.0.2.0/24", 0),
		pace(3, "198.51.100.0/24", 20), pace(5, "192.0.2.7", 10),
	};
	struct pace_slot *slots = slots_of(now, 4);
	struct pace_edits edits;
	uint32_t at = 99;
	struct err e;

	(void)state;
	assert_int_equal(pace_edits_make(slots, list, 7, &edits, &at, &e), 0);
	assert_int_equal(edits.n, 5);
	assert_null(edit_of(&edits, 0));	/* as it is */
	assert_edit(&edits, 1, PACE_DROP, 2);
	assert_edit(&edits, 3, PACE_RATE, 1);
	assert_null(edit_of(&edits, 4));	/* it is not there */
	assert_edit(&edits, 5, PACE_ADD, 3);	/* it was going: in its own slot */
	/* free ones, each of its own */
	assert_int_equal(edit_of(&edits, 2)->kind, PACE_ADD);
	assert_int_equal(edit_of(&edits, 6)->kind, PACE_ADD);
	assert_int_equal(edit_of(&edits, 2)->slot + edit_of(&edits, 6)->slot, 4 + 5);
	assert_int_not_equal(edit_of(&edits, 2)->slot, edit_of(&edits, 6)->slot);
	assert_int_equal(edit_of(&edits, 6)->key.ifindex, 5);
	free(edits.list);
	free(slots);
}

static void assert_refused(const struct pace_slot *slots, const struct pace *list, uint32_t n,
			   int rc, uint32_t which, const char *why)
{
	struct pace_edits edits;
	uint32_t at = 99;
	struct err e = { "" };

	assert_int_equal(pace_edits_make(slots, list, n, &edits, &at, &e), rc);
	assert_int_equal(at, which);
	assert_int_equal(edits.n, 0);
	assert_null(edits.list);
	if (!strstr(e.text, why))
		fail_msg("expected: ...%s...\ngot: %s", why, e.text);
}

static void test_refused(void **state)
{
	struct pace_slot *slots = slots_of(NULL, 0);
	struct pace list[3] = {
		pace(3, "192.0.2.7", 100), pace(3, "192.0.2.8", 100), pace(3, "192.0.2.7", 50),
	};

	(void)state;
	assert_refused(slots, list, 3, -EEXIST, 2, "192.0.2.7/32 is in the list twice");
	list[2] = pace(3, "::ffff:192.0.2.8", 50);
	assert_refused(slots, list, 3, -EEXIST, 2, "twice");
	list[2].ifindex = -1;
	assert_refused(slots, list, 3, -EINVAL, 2, "device -1");
	list[2].ifindex = 3;
	list[2].rate = RATE_MIN - 1;
	assert_refused(slots, list, 3, -ERANGE, 2, "999 bytes/s");
	list[2].rate = RATE_MAX + 1;
	assert_refused(slots, list, 3, -ERANGE, 2, "125000000001 bytes/s");
	free(slots);
}

/* As many as there can be go while as many come; one more does not fit. */
static void test_full(void **state)
{
	struct pace *list = calloc(PACE_SLOTS + 1, sizeof(*list));
	struct pace_slot *slots;
	struct pace_edits edits;
	struct err e;
	uint32_t i, at;

	(void)state;
	assert_non_null(list);
	for (i = 0; i <= PACE_SLOTS; i++) {
		list[i] = pace(3, "10.0.0.0", 1);
		list[i].to.addr[2] = (unsigned char)(i >> 8);
		list[i].to.addr[3] = (unsigned char)i;
	}
	slots = slots_of(list, PACED_MAX);
	for (i = 0; i < PACED_MAX; i++)
		list[i].rate = 0;
	assert_int_equal(pace_edits_make(slots, list, PACE_SLOTS, &edits, &at, &e), 0);
	assert_int_equal(edits.n, PACE_SLOTS);
	free(edits.list);
	assert_refused(slots, list, PACE_SLOTS + 1, -ENOSPC, PACE_SLOTS, "no more than 8192");
	free(slots);
	free(list);
}

/* --- passes ---------------------------------------------------------------- */

/* Where ctcpd is built without libbpf there is none */
#pragma weak pace_pass_run

/* The kernel says EAGAIN within a pass of very many sockets, and goes on when it is read again. */
static void test_pass_goes_on(void **state)
{
	int ends[2], status;
	pid_t pid;

	(void)state;
	if (!pace_pass_run)
		skip();
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* the first read finds nothing */
		usleep(20000);
		_exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(pace_pass_run(ends[0]), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_pass_that_fails(void **state)
{
	(void)state;
	if (!pace_pass_run)
		skip();
	assert_int_equal(pace_pass_run(-1), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys), cmocka_unit_test(test_no_keys),
		cmocka_unit_test(test_slot_and_back), cmocka_unit_test(test_share),
		cmocka_unit_test(test_light_share), cmocka_unit_test(test_settles),
		cmocka_unit_test(test_used), cmocka_unit_test(test_counted),
		cmocka_unit_test(test_in_force), cmocka_unit_test(test_edits),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_full),
		cmocka_unit_test(test_pass_goes_on), cmocka_unit_test(test_pass_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

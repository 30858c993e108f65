// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that show circuits, and the namespace's counters
 */
#include "fuzz.h"

uint64_t opened, trips;

/* One circuit, as GET shows it; *@arg: how many there were */
static int check_circuit(const struct nlmsghdr *answer, void *arg)
{
	const struct object *o = object_of(answer);
	bool auto_made = nl_find(answer, TCP_CIRCUIT_A_AUTO);
	uint32_t sockets = nl_number_of(answer, TCP_CIRCUIT_A_SOCKETS);
	uint32_t total = nl_number_of(answer, TCP_CIRCUIT_A_CWND_TOTAL);
	uint64_t lost = nl_number_of(answer, TCP_CIRCUIT_A_LOST);
	int *count = arg;

	++*count;
	if (!auto_made && (!o || !o->there))
		rule("there is a circuit that was not made");
	if (auto_made && nobody)
		rule("nobody is shown a peer");
	if (o && (nl_number_of(answer, TCP_CIRCUIT_A_WINDOW) != o->window ||
		  nl_number_of(answer, TCP_CIRCUIT_A_RATE) != o->rate))
		rule("%s has %llu segments, %llu bytes/s", o->name,
		     (unsigned long long)nl_number_of(answer, TCP_CIRCUIT_A_WINDOW),
		     (unsigned long long)nl_number_of(answer, TCP_CIRCUIT_A_RATE));
	if (nl_number_of(answer, TCP_CIRCUIT_A_HUNGRY) > sockets ||
	    nl_number_of(answer, TCP_CIRCUIT_A_DELIVERED) > COUNTED ||
	    lost > COUNTED || total > TCP_CIRCUIT_WINDOW_LIMIT + sockets ||
	    (!sockets && total))
		rule("%s: total %u by %u sockets, %llu lost",
		     o ? o->name : "a peer's", total, sockets,
		     (unsigned long long)lost);
	return 0;
}

/* How many there are, each checked */
int circuits(void)
{
	int count = 0, err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	err = talk(check_circuit, &count);
	if (err)
		rule("dump: %s (%s)", strerror(err), nl.text);
	return count;
}

bool do_get_name(void)
{
	struct object *o = any_object();
	int expected = o->there ? 0 : ENOENT, count = 0, err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, 0);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
	err = talk(check_circuit, &count);
	if (err != expected || count != !err)
		rule("get %s: %s (expected %s), %d answers", o->name,
		     strerror(err), strerror(expected), count);
	return !err;
}

static int keep_name(const struct nlmsghdr *answer, void *arg)
{
	const struct object *o = object_of(answer);
	const char **name = arg;

	*name = o ? o->name : "";
	return 0;
}

/* By address: the longest match, or what a peer's sockets share, or nothing */
bool do_get_address(void)
{
	const char *name = "", *expected;
	unsigned char address[16];
	int err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_GET, 0);
	expected = longest_match(put_address(address), address);
	err = talk(keep_name, &name);
	if (strcmp(name, expected) || (*expected && err) ||
	    (err && err != ENOENT && err != EPERM))
		rule("get by address: %s, '%s' (expected '%s')", strerror(err),
		     name, expected);
	return !err;
}

static int keep_stats(const struct nlmsghdr *answer, void *arg)
{
	uint32_t there = 0;

	(void)arg;
	for (struct object *o = objects; o < OBJECTS_END; o++)
		there += o->there;
	if (nl_number_of(answer, TCP_CIRCUIT_STATS_A_CIRCUITS) != there)
		rule("%llu circuits counted, %u were made", (unsigned long long)
		     nl_number_of(answer, TCP_CIRCUIT_STATS_A_CIRCUITS), there);
	if (nl_number_of(answer, TCP_CIRCUIT_STATS_A_TRIPS) < trips)
		rule("fewer trips than before");
	trips = nl_number_of(answer, TCP_CIRCUIT_STATS_A_TRIPS);
	opened = nl_number_of(answer, TCP_CIRCUIT_STATS_A_OPENED);
	return 0;
}

bool do_stats(void)
{
	int err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_STATS, 0);
	err = talk(keep_stats, NULL);
	if (err && !nobody)
		rule("stats: %s", strerror(err));
	return !err;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that make, change, reset and remove circuits
 */
#include "fuzz.h"

uint64_t changes;

static bool is_window(uint64_t v)
{
	return v >= 1 && v <= TCP_CIRCUIT_WINDOW_LIMIT;
}

/* What has to come of it; 1: some error, the kernel's choice */
static int error_of_new(const struct object *o, uint16_t flags, uint32_t window,
			uint64_t rate)
{
	if (nobody)
		return -EPERM;
	if (!is_window(window) || rate > TCP_CIRCUIT_RATE_LIMIT)
		return 1;
	if (o->there && flags & NLM_F_EXCL)
		return -EEXIST;
	if (!o->there && !(flags & NLM_F_CREATE))
		return -ENOENT;
	return 0;
}

/* A rate that lets a phase come to its end; in a storm none, as it would calm it */
static uint64_t some_rate(void)
{
	uint64_t rate = value();

	if (phase == STORM || below(2))
		return 0;
	return rate < SLOW ? SLOW + rate : rate;
}

bool do_new(void)
{
	static const uint16_t flags[] = { NLM_F_CREATE, NLM_F_REPLACE,
					  NLM_F_CREATE | NLM_F_EXCL,
					  NLM_F_CREATE | NLM_F_REPLACE };
	struct object *o = any_object();
	uint16_t flag = flags[below(COUNT(flags))];
	uint32_t window = steady && below(8) ? steady : value();
	uint64_t rate = some_rate();
	int expected, err;

	if (steady && is_window(window))
		window = steady;
	expected = error_of_new(o, flag, window, rate);
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_NEW, flag);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
	put_prefixes(o);
	nl_put_u32(&message, TCP_CIRCUIT_A_WINDOW, window);
	if (rate || below(2))
		nl_put_u64(&message, TCP_CIRCUIT_A_RATE, rate);
	if (o->mark)
		nl_put_u32(&message, TCP_CIRCUIT_A_MARK, o->mark);
	err = talk(NULL, NULL);
	if (expected > 0 ? !err : err != -expected)
		rule("new %s, flags 0x%x, window %u, rate %llu: %s (%s)",
		     o->name, flag, window, (unsigned long long)rate,
		     strerror(err), nl.text);
	if (err)
		return false;
	o->there = true;
	o->window = window;
	o->rate = rate;
	changes++;
	return true;
}

bool do_del(void)
{
	struct object *o = any_object();
	int expected = nobody ? EPERM : o->there ? 0 : ENOENT, err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_DEL, 0);
	nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
	err = talk(NULL, NULL);
	if (err != expected)
		rule("del %s: %s (expected %s)", o->name, strerror(err),
		     strerror(expected));
	if (!err)
		o->there = false;
	changes += !err;
	return !err;
}

void remove_all(void)
{
	for (struct object *o = objects; o < OBJECTS_END; o++) {
		nl_begin(&nl, &message, TCP_CIRCUIT_CMD_DEL, 0);
		nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
		if (o->there && talk(NULL, NULL))
			rule("del %s: %s", o->name, nl.text);
		o->there = false;
	}
}

bool do_reset(void)
{
	struct object *o = any_object();
	unsigned char address[16];
	int what = below(3), err;

	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_RESET, 0);
	if (what == 0)
		nl_put_string(&message, TCP_CIRCUIT_A_NAME, o->name);
	if (what == 1)
		put_address(address);
	err = talk(NULL, NULL);
	if (nobody ? err != EPERM :
	    what == 0 ? err != (o->there ? 0 : ENOENT) :
	    err && (what == 2 || err != ENOENT))
		rule("reset %d: %s", what, strerror(err));
	return !err;
}

void reset_all(void)
{
	nl_begin(&nl, &message, TCP_CIRCUIT_CMD_RESET, 0);
	if (talk(NULL, NULL))
		rule("reset: %s", nl.text);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Guarantee and preference -> algorithm: see guarantee.h.
 */
#include <errno.h>
#include <string.h>

#include "guarantee.h"
#include "item.h"
#include "words.h"

static const char * const guarantees[] = {
	[GUARANTEE_FULL] = "full",
	[GUARANTEE_SEMI] = "semi",
	[GUARANTEE_NONE] = "none",
};

static const char * const prefers[] = {
	[PREFER_UNSAID] = "",
	[PREFER_CIRCUIT] = "circuit",
	[PREFER_OTHERS] = "others",
};

int parse_guarantee(const char *s, enum guarantee *guarantee, struct err *e)
{
	int i = word_find(guarantees, 0, GUARANTEE_NONE + 1, s);

	if (i < 0)
		return err_set(e, i, "--guarantee: \"%s\" is not one of none, semi, full", s);
	*guarantee = (enum guarantee)i;
	return 0;
}

int parse_prefer(const char *s, enum prefer *prefer, struct err *e)
{
	int i = word_find(prefers, PREFER_CIRCUIT, PREFER_OTHERS + 1, s);

	if (i < 0)
		return err_set(e, i, "--prefer: \"%s\" is not one of circuit, others", s);
	*prefer = (enum prefer)i;
	return 0;
}

const char *guarantee_name(enum guarantee guarantee)
{
	return guarantees[guarantee];
}

const char *prefer_name(enum prefer prefer)
{
	return prefers[prefer];
}

bool circuit_is_htcp(const struct circuit *c)
{
	return c->guarantee == GUARANTEE_NONE ||
	       (c->guarantee == GUARANTEE_SEMI && c->prefer == PREFER_OTHERS);
}

/* As the kernel names it. */
const char *circuit_algorithm(const struct circuit *c)
{
	return circuit_is_htcp(c) ? HTCP_NAME : CC_NAME;
}

/* Behind "circuit: " or "htcp: " */
const char *circuit_algorithm_why(const struct circuit *c)
{
	if (c->guarantee == GUARANTEE_FULL)
		return "guaranteed by the path";
	if (c->guarantee == GUARANTEE_NONE)
		return "not guaranteed, so that the rate has to be found and shared";
	if (c->prefer == PREFER_OTHERS)
		return "guaranteed in part, others' traffic preferred";
	return "guaranteed in part, its own traffic preferred; the breaker stays armed";
}

/* What nothing but the module does, and H-TCP runs without it. */
static int check_htcp(const struct circuit *c, struct err *e)
{
	static const char instead[] =
		"; --shaper htb, tbf or fq holds the rate, or --unpaced if something else does";

	if (!c->pace && !c->early_window)
		return 0;
	return err_set(e, -EINVAL, "%s is the module's, and this path gets " HTCP_NAME " (%s)%s",
		       c->pace ? "--pace" : "--early-window", circuit_algorithm_why(c),
		       c->pace ? instead : "");
}

int guarantee_check(const struct circuit *c, struct err *e)
{
	if (c->guarantee == GUARANTEE_SEMI && c->prefer == PREFER_UNSAID)
		return err_set(e, -EINVAL,
			       "--guarantee semi: whose traffic is preferred? --prefer circuit or --prefer others");
	if (c->guarantee != GUARANTEE_SEMI && c->prefer != PREFER_UNSAID)
		return err_set(e, -EINVAL,
			       "--prefer %s is for --guarantee semi; with %s the path gets %s in any case",
			       prefer_name(c->prefer), guarantee_name(c->guarantee),
			       circuit_algorithm(c));
	return circuit_is_htcp(c) ? check_htcp(c, e) : 0;
}

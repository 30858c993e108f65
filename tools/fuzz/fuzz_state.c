// SPDX-License-Identifier: GPL-2.0
/*
 * The state file: any text is refused with a sentence, or it is a state, which formatted
 * parses to itself; and so does what recovery, the end of a run, a confirmation and the
 * way back make of it.  Its items are told of and written as commands.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "item.h"
#include "print.h"
#include "state.h"

#define BOOT "0c1e"

typedef void (*change_fn)(struct state *st);

/* @text is a state; with these changes it is one, too. */
static char *again(const char *what, const char *text, size_t len, change_fn first,
		   change_fn second)
{
	struct err e = { "" };
	struct state st;
	char *out;

	fuzz_true(what, !state_parse(text, len, BOOT, &st, &e), text);
	if (first)
		first(&st);
	if (second)
		second(&st);
	fuzz_true("formats", !state_format(&st, BOOT, &out, &len), text);
	state_free(&st);
	return out;
}

static void check_change(const char *what, const char *text, change_fn first, change_fn second)
{
	char *changed = again("parses again", text, strlen(text), first, second);
	char *twice = again(what, changed, strlen(changed), NULL, NULL);

	fuzz_same(what, changed, twice);
	free(twice);
	free(changed);
}

/* The end of a run; that of one on the way back follows its beginning. */
static void settle(struct state *st)
{
	if (st->confirm.reverting)
		state_revert(st);
	state_settle(st);
}

/* Of each item what is shown of it, and the commands that would set it back. */
static void tell(const struct base *b)
{
	static char lines[1 << 16];
	struct change c = {
		.kind = b->kind, .name = b->name, .from = b->ours, .to = b->before,
		.circuit = NOBODY, .ifindex = b->ifindex,
	};
	char text[DRIFT_TEXT];

	item_describe(b->kind, b->name, b->ours, text, sizeof(text));
	drift_text(&c, text, sizeof(text));
	change_commands(&c, "eth1", lines, sizeof(lines));
	item_equal(b->kind, b->name, b->ours, b->before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = { "" };
	struct state st;
	char *text;
	size_t len;
	uint32_t i;
	int rc = state_parse((const char *)data, size, BOOT, &st, &e);

	if (rc) {
		fuzz_true("says why", e.text[0] && rc == -EBADMSG, "");
		fuzz_true("is empty", state_is_empty(&st), e.text);
		return 0;
	}
	for (i = 0; i < st.n_base; i++)
		tell(&st.base[i]);
	fuzz_true("formats", !state_format(&st, BOOT, &text, &len), "");
	state_free(&st);
	check_change("as it is", text, NULL, NULL);
	check_change("recovered", text, state_recover, NULL);
	check_change("settled", text, state_recover, settle);
	check_change("confirmed", text, state_recover, state_confirm);
	check_change("reverted", text, state_recover, state_revert);
	free(text);
	return 0;
}

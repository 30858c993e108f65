// SPDX-License-Identifier: GPL-2.0
/*
 * The circuit file, /etc/ctcp-setup/circuits: any text is refused with a sentence, or
 * what it says, as ctcp-setup save writes it, parses to the same.  Each circuit is
 * planned, for a device of 10 Gbit/s.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "out.h"
#include "plan.h"
#include "state.h"
#include "wants.h"

static char *saved(const struct state *st, size_t *len)
{
	struct out out = { .grows = true };
	uint32_t i;

	out_bytes(&out, "", 0);
	for (i = 0; i < st->n_circuits; i++) {
		out_text(&out, "add");
		circuit_put(&out, &st->circuits[i].circuit);
	}
	if (out.failed)
		abort();
	*len = out.used;
	return out.text;
}

static void plan(const struct circuit *c)
{
	struct facts f = {
		.kind = "", .ifindex = 7, .out_ifindex = 7, .up = true, .mtu = 1500,
		.header = 14, .gso_max_size = 65536, .gso_max_segs = 65535, .tx_queues = 8,
		.txqlen = 1000, .speed_mbit = 10000, .ram = 8ULL << 30, .page = 4096,
	};
	struct notes notes = { 0 };
	struct err e = { "" };
	struct plan p;
	int rc = plan_make(c, &f, &p, &notes, &e);

	fuzz_true("says why it has no plan", !rc || e.text[0], c->dev);
	if (!rc)
		plan_memory(&f, 0, &p, &notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = { "" };
	struct state st;
	char *once, *twice;
	size_t len;
	uint32_t i;
	int rc = circuits_parse((const char *)data, size, &st, &e);

	if (rc) {
		fuzz_true("says why", e.text[0] && rc == -EBADMSG, "");
		fuzz_true("is empty", state_is_empty(&st), e.text);
		return 0;
	}
	for (i = 0; i < st.n_circuits; i++)
		plan(&st.circuits[i].circuit);
	once = saved(&st, &len);
	state_free(&st);
	fuzz_true("parses again", !circuits_parse(once, len, &st, &e), once);
	twice = saved(&st, &len);
	state_free(&st);
	fuzz_same("saved", once, twice);
	free(once);
	free(twice);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Who holds the rate of a circuit that names no shaper: each rule of choose.h with the
 * last value at which it holds and the first at which it does not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "choose.h"
#include "kmod.h"
#include "lacks.h"
#include "site.h"
#include "state.h"

#define GBIT	125000000ULL

struct row {
	/* the question; 0 = as usual: one queue of unknown speed, one circuit */
	uint64_t rate, speed_mbit, others_rate;
	uint32_t queues, in_classes, unshaped, unchosen;
	bool everything;	/* no --to */
	bool vlan, foreign, fq, no_classes, htcp;
	/* the answer */
	enum shaper shaper;
	const char *says;
};

static const struct row rows[] = {
	{ .shaper = SHAPER_NONE, .says = "alone on eth1, whose queue need not change" },
	{ .unchosen = 1, .shaper = SHAPER_HTB, .says = "2 circuits share the one queue of eth1" },
	/* 20 gbit: the circuits together, or what the device carries */
	{ .unchosen = 1, .rate = 10 * GBIT, .others_rate = 10 * GBIT - 1, .shaper = SHAPER_HTB,
	  .says = "share the one queue" },
	{ .unchosen = 1, .rate = 10 * GBIT, .others_rate = 10 * GBIT, .shaper = SHAPER_NONE,
	  .says = "the circuits of eth1 have 20gbit" },
	{ .unchosen = 1, .speed_mbit = 19999, .shaper = SHAPER_HTB, .says = "one queue" },
	{ .unchosen = 1, .speed_mbit = 20000, .shaper = SHAPER_NONE,
	  .says = "eth1 carries 20gbit, and from 20gbit on" },
	{ .unchosen = 1, .speed_mbit = 400000, .rate = 1, .shaper = SHAPER_NONE,
	  .says = "eth1 carries 400gbit" },
	/* what the module does not hold */
	{ .htcp = true, .shaper = SHAPER_HTB, .says = "gets H-TCP, whose rate a class of eth1" },
	{ .htcp = true, .queues = 64, .speed_mbit = 100000, .shaper = SHAPER_HTB,
	  .says = "gets H-TCP" },
	{ .htcp = true, .everything = true, .shaper = SHAPER_TBF, .says = "one bucket of eth1" },
	/* queues */
	{ .unchosen = 1, .queues = 2, .shaper = SHAPER_NONE,
	  .says = "2 queues, and a root qdisc would be one lock for all of them; TCP's own" },
	{ .unchosen = 1, .queues = 64, .fq = true, .shaper = SHAPER_NONE,
	  .says = "64 queues, and a root qdisc would be one lock for all of them; the fq there" },
	/* what others have */
	{ .in_classes = 1, .shaper = SHAPER_HTB, .says = "other circuits of eth1 have classes" },
	{ .in_classes = 1, .unshaped = 1, .shaper = SHAPER_HTB, .says = "have classes" },
	{ .in_classes = 1, .queues = 8, .speed_mbit = 100000, .shaper = SHAPER_HTB,
	  .says = "its root is one lock already" },
	{ .unshaped = 1, .shaper = SHAPER_NONE, .says = "no class holds the other circuits" },
	/* how many classes are quick to make */
	{ .unchosen = 1023, .shaper = SHAPER_HTB, .says = "1024 circuits share" },
	{ .unchosen = 1024, .shaper = SHAPER_NONE, .says = "more than 1024 classes" },
	{ .in_classes = 1023, .shaper = SHAPER_HTB, .says = "have classes" },
	{ .in_classes = 1024, .shaper = SHAPER_NONE, .says = "more than 1024 classes" },
	/* somebody's root qdisc, and what this kernel has */
	{ .unchosen = 1, .foreign = true, .fq = true, .shaper = SHAPER_NONE,
	  .says = "the root qdisc of eth1, fq, is somebody's and stays; the fq there" },
	{ .unchosen = 1, .no_classes = true, .shaper = SHAPER_NONE,
	  .says = "sch_htb and cls_flower are not known here" },
	/* no prefix */
	{ .everything = true, .shaper = SHAPER_NONE, .says = "without --to" },
	{ .everything = true, .in_classes = 1, .shaper = SHAPER_NONE, .says = "without --to" },
	/* a VLAN for itself */
	{ .vlan = true, .everything = true, .queues = 8, .speed_mbit = 100000,
	  .shaper = SHAPER_TBF, .says = "has eth1 for itself" },
	{ .vlan = true, .everything = true, .rate = 20 * GBIT - 1, .shaper = SHAPER_TBF,
	  .says = "has eth1 for itself" },
	{ .vlan = true, .everything = true, .rate = 20 * GBIT, .shaper = SHAPER_NONE,
	  .says = "without --to" },
	{ .vlan = true, .everything = true, .unshaped = 1, .shaper = SHAPER_NONE,
	  .says = "without --to" },
	{ .vlan = true, .everything = true, .foreign = true, .shaper = SHAPER_NONE,
	  .says = "without --to" },
	{ .vlan = true, .shaper = SHAPER_NONE, .says = "alone" },
};

static void count(struct site *s, enum shaper shaper, uint32_t n, uint64_t rate)
{
	const struct circuit c = { .shaper = shaper, .rate = n ? rate / n : 0 };
	uint32_t i;

	for (i = 0; i < n; i++)
		site_count(s, &c);
}

static void ask(const struct row *r, struct site *s, struct circuit *c)
{
	*c = (struct circuit){ .dev = "eth1", .shaper = SHAPER_AUTO, .n_to = !r->everything,
		.guarantee = r->htcp ? GUARANTEE_NONE : GUARANTEE_FULL };
	c->rate = r->rate ?: GBIT;
	*s = (struct site){
		.dev = "eth1", .vlan = r->vlan, .foreign = r->foreign, .fq = r->fq,
		.classes = !r->no_classes, .tx_queues = r->queues ?: 1,
		.speed_mbit = r->speed_mbit, .root = "fq",
	};
	count(s, SHAPER_HTB, r->in_classes, 0);
	count(s, SHAPER_NONE, r->unshaped, 0);
	count(s, SHAPER_AUTO, r->unchosen, r->others_rate);
	site_count(s, c);
}

static void test_rules(void **state)
{
	struct choice choice;
	struct circuit c;
	struct site s;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ask(&rows[i], &s, &c);
		choose_shaper(&s, &c, &choice);
		if (choice.shaper != rows[i].shaper || !strstr(choice.reason, rows[i].says))
			fail_msg("row %zu: expected %s, \"%s\", got %s, \"%s\"", i,
				 shaper_name(rows[i].shaper), rows[i].says,
				 shaper_name(choice.shaper), choice.reason);
		/* either the module holds the rate, or a qdisc does, never both or neither */
		assert_int_equal(choice.pace, choice.shaper == SHAPER_NONE);
	}
}

/* What is chosen stands in the state in words; "auto" does not. */
static void test_words(void **state)
{
	struct circuit c = { .dev = "eth1", .name = "lhc", .rate = GBIT, .rtt_us = 26000,
			     .multiple = 1300, .streams = 1, .shaper = SHAPER_AUTO };
	struct state st = { 0 }, back = { 0 };
	struct err e = { "" };
	char *text;
	size_t len;

	(void)state;
	assert_non_null(state_add(&st, &c, 7));
	assert_int_equal(state_format(&st, "b", &text, &len), 0);
	assert_non_null(strstr(text, "--shaper auto"));
	assert_int_equal(state_parse(text, len, "b", &back, &e), -EBADMSG);
	free(text);
	st.circuits[0].circuit.shaper = SHAPER_NONE;
	st.circuits[0].circuit.pace = true;
	assert_int_equal(state_format(&st, "b", &text, &len), 0);
	assert_non_null(strstr(text, "--shaper none --pace"));
	assert_int_equal(state_parse(text, len, "b", &back, &e), 0);
	state_free(&back);
	free(text);
	state_free(&st);
}

/* A line of a file that says whether the module paces has said who holds the rate. */
static void test_named(void **state)
{
	static const struct {
		const char *line;
		int rc;
		enum shaper shaper;
		bool pace;
	} lines[] = {
		{ "add a --rate 4gbit --rtt 26ms eth1", 0, SHAPER_AUTO, true },
		{ "add a --rate 4gbit --rtt 26ms --shaper auto eth1", 0, SHAPER_AUTO, false },
		{ "add a --rate 4gbit --rtt 26ms --pace eth1", 0, SHAPER_NONE, true },
		{ "add a --rate 4gbit --rtt 26ms --unpaced eth1", 0, SHAPER_NONE, false },
		{ "add a --rate 4gbit --rtt 26ms --shaper none eth1", 0, SHAPER_NONE, true },
		{ "add a --rate 4gbit --rtt 26ms --shaper tbf eth1", 0, SHAPER_TBF, false },
		{ "add a --rate 4gbit --rtt 26ms --shaper auto --pace eth1", -EBADMSG, 0, false },
		/* of htb, should that be chosen */
		{ "add a --rate 4gbit --rtt 26ms --rest 1gbit eth1", 0, SHAPER_AUTO, true },
	};
	struct err e = { "" };
	struct state st;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		int rc = circuits_parse(lines[i].line, strlen(lines[i].line), &st, &e);

		assert_int_equal(rc, lines[i].rc);
		if (!rc) {
			assert_int_equal(st.circuits[0].circuit.shaper, lines[i].shaper);
			assert_int_equal(st.circuits[0].circuit.pace, lines[i].pace);
		}
		state_free(&st);
	}
}

static struct circuit on(const char *dev, const char *name, enum shaper shaper)
{
	struct circuit c = { .rate = GBIT, .rtt_us = 26000, .shaper = shaper, .n_to = 1 };

	snprintf(c.dev, sizeof(c.dev), "%s", dev);
	snprintf(c.name, sizeof(c.name), "%s", name);
	return c;
}

/* A device that is in every namespace, with one queue. */
static void test_one(void **state)
{
	struct circuit a = on("lo", "a", SHAPER_AUTO), htb = on("lo", "b", SHAPER_HTB);
	struct circuit gone = on("no-such", "c", SHAPER_AUTO), tbf = on("lo", "d", SHAPER_TBF);
	struct chosen chosen = { .dev = "" };
	struct state st = { 0 };
	struct err e = { "" };
	struct nl nl;

	(void)state;
	assert_int_equal(nlm_open(&nl, NETLINK_ROUTE, &e), 0);
	assert_int_equal(site_choose_one(&nl, &st, &a, &chosen, &e), 0);
	assert_int_equal(a.shaper, SHAPER_NONE);
	assert_true(a.pace);
	assert_int_equal(chosen.notes.n, 1);
	assert_non_null(strstr(chosen.notes.text[0], "lo: none, the circuit is alone on lo"));
	/* what is named, and what cannot be told, is not chosen */
	assert_int_equal(site_choose_one(&nl, &st, &tbf, &chosen, &e), 0);
	assert_int_equal(tbf.shaper, SHAPER_TBF);
	assert_int_equal(site_choose_one(&nl, &st, &gone, &chosen, &e), 0);
	assert_int_equal(gone.shaper, SHAPER_NONE);
	assert_true(gone.pace);
	assert_int_equal(chosen.notes.n, 1);
	/* one that goes is not counted, one that stays is */
	state_add(&st, &htb, 1)->standing = REMOVING;
	a.shaper = SHAPER_AUTO;
	assert_int_equal(site_choose_one(&nl, &st, &a, &chosen, &e), 0);
	assert_int_equal(a.shaper, SHAPER_NONE);
	st.circuits[0].standing = STANDING;
	a.shaper = SHAPER_AUTO;
	assert_int_equal(site_choose_one(&nl, &st, &a, &chosen, &e), 0);
	assert_int_equal(a.shaper, SHAPER_HTB);
	assert_false(a.pace);
	/* an option that the choice has no use for */
	st.circuits[0].standing = REMOVING;
	a.shaper = SHAPER_AUTO;
	a.limit = 1000000;
	assert_int_equal(site_choose_one(&nl, &st, &a, &chosen, &e), -EINVAL);
	assert_non_null(strstr(e.text, "has no queue, which is chosen: the circuit is alone"));
	state_free(&st);
	nlm_close(&nl);
}

/* Of a file: all of a device alike, said once; what stands already is not chosen for. */
static void test_all(void **state)
{
	bool classes = module_is_known("sch_htb") && module_is_known("cls_flower");
	struct circuit a = on("lo", "a", SHAPER_AUTO), b = on("lo", "b", SHAPER_AUTO);
	struct circuit c = on("no-such", "c", SHAPER_AUTO), d = on("lo", "d", SHAPER_AUTO);
	struct state st = { 0 }, wanted = { 0 };
	struct chosen chosen = { .dev = "" };
	struct err e = { "" };
	struct nl nl;
	uint32_t i;

	(void)state;
	assert_int_equal(nlm_open(&nl, NETLINK_ROUTE, &e), 0);
	assert_non_null(state_add(&wanted, &a, 0));
	assert_non_null(state_add(&wanted, &b, 0));
	assert_non_null(state_add(&wanted, &c, 0));
	assert_non_null(state_add(&wanted, &d, 0));
	for (i = 0; i < wanted.n_circuits; i++)
		wanted.circuits[i].standing = ADDING;
	wanted.circuits[3].standing = REMOVING;
	assert_int_equal(site_choose_all(&nl, &st, &wanted, &chosen, &e), 0);
	assert_int_equal(wanted.circuits[0].circuit.shaper, classes ? SHAPER_HTB : SHAPER_NONE);
	assert_int_equal(wanted.circuits[1].circuit.shaper, classes ? SHAPER_HTB : SHAPER_NONE);
	assert_int_equal(wanted.circuits[2].circuit.shaper, SHAPER_NONE);
	assert_int_equal(wanted.circuits[3].circuit.shaper, SHAPER_AUTO);
	assert_int_equal(chosen.notes.n, 1);
	assert_non_null(strstr(chosen.notes.text[0],
			       classes ? "lo: htb, 2 circuits share" : "lo: none, the modules"));
	state_free(&wanted);
	nlm_close(&nl);
}

/* --- what the kernel has not ------------------------------------------------ */

static void test_lacks(void **state)
{
	struct err e = { "Specified qdisc kind is unknown" };

	(void)state;
	assert_int_equal(lacks_kind(-ENOENT, LACKS_QDISC, "htb", &e), -EOPNOTSUPP);
	assert_string_equal(e.text,
			    "Specified qdisc kind is unknown; htb is module sch_htb, CONFIG_NET_SCH_HTB");
	strcpy(e.text, "TC classifier not found");
	assert_int_equal(lacks_kind(-ENOENT, LACKS_CLASSIFIER, "flower", &e), -EOPNOTSUPP);
	assert_string_equal(e.text,
			    "TC classifier not found; flower is module cls_flower, CONFIG_NET_CLS_FLOWER");
	/* no room for more */
	memset(e.text, 'x', sizeof(e.text) - 1);
	e.text[sizeof(e.text) - 1] = 0;
	assert_int_equal(lacks_kind(-ENOENT, LACKS_QDISC, "fq", &e), -EOPNOTSUPP);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	/* any other answer is not about the kind */
	strcpy(e.text, "Invalid argument");
	assert_int_equal(lacks_kind(-EINVAL, LACKS_QDISC, "htb", &e), -EINVAL);
	assert_int_equal(lacks_kind(0, LACKS_QDISC, "htb", &e), 0);
	assert_string_equal(e.text, "Invalid argument");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

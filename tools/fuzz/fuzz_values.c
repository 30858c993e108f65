// SPDX-License-Identifier: GPL-2.0
/*
 * What a person types: the first line says which value the second is, or that the rest
 * are the words of a command line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "circuit.h"
#include "fuzz.h"
#include "print.h"
#include "text.h"
#include "units.h"
#include "words.h"

static void check(int rc, const struct err *e, const char *s)
{
	fuzz_true("says why", !rc || (rc < 0 && e->text[0]), s);
}

/* Text has at most three places behind the point, which is exact for whole bits. */
static void rate(const char *s)
{
	struct err e = { "" };
	uint64_t value, same;
	char text[64];
	int rc = parse_rate(s, &value, &e);

	check(rc, &e, s);
	if (rc)
		return;
	format_rate(text, sizeof(text), value);
	fuzz_true("rate", !parse_rate(text, &same, &e) && same == value, text);
}

static void time_of(const char *s)
{
	struct err e = { "" };
	uint64_t value, same;
	char text[64];
	int rc = parse_time(s, &value, &e);

	check(rc, &e, s);
	if (rc)
		return;
	format_time(text, sizeof(text), value);
	fuzz_true("time", !parse_time(text, &same, &e) && same == value, text);
}

static void loss(const char *s)
{
	struct err e = { "" };
	uint32_t value, same;
	char text[64];
	int rc = parse_loss(s, &value, &e);

	check(rc, &e, s);
	if (rc)
		return;
	format_loss(text, sizeof(text), value);
	fuzz_true("loss", !parse_loss(text, &same, &e) && same == value, text);
}

static void numbers(const char *s)
{
	struct err e = { "" };
	uint64_t wide;
	uint32_t n;
	int rc = parse_wait("--wait", s, &wide, &e);

	check(rc, &e, s);
	fuzz_true("wait", rc || (wide >= WAIT_MIN_US && wide <= WAIT_MAX_US), s);
	check(parse_size("--limit", s, &wide, &e), &e, s);
	rc = parse_multiple(s, &n, &e);
	check(rc, &e, s);
	fuzz_true("multiple", rc || (n >= MULTIPLE_MIN && n <= MULTIPLE_MAX), s);
	rc = parse_count("--mss", s, 88, 65496, &n, &e);
	check(rc, &e, s);
	fuzz_true("count", rc || (n >= 88 && n <= 65496), s);
}

static void prefix(const char *s)
{
	struct prefix p, same;
	struct err e = { "" };
	char text[64];
	int rc = parse_prefix(s, &p, &e);

	check(rc, &e, s);
	if (rc)
		return;
	format_prefix(text, sizeof(text), &p);
	fuzz_true("prefix", !parse_prefix(text, &same, &e) && prefix_equal(&p, &same), text);
	same = prefix_middle(&p);
	same.len = p.family == AF_INET ? 32 : 128;
	fuzz_true("holds its middle", prefix_holds(&p, &same), text);
}

static void far_side(const char *s)
{
	struct circuit c = CIRCUIT_DEFAULTS, same = CIRCUIT_DEFAULTS;
	struct err e = { "" };
	char text[TO_TEXT];
	int rc = parse_to(s, &c, &e);

	check(rc, &e, s);
	check(parse_via(s, &c, &e), &e, s);
	if (rc)
		return;
	format_to(text, sizeof(text), &c);
	fuzz_true("far side", !parse_to(text, &same, &e) && same.n_to == c.n_to, text);
}

static void names(const char *s)
{
	char name[TCP_CIRCUIT_NAME_LEN], dev[IFNAMSIZ];
	struct err e = { "" };
	enum shaper shaper;
	int rc = parse_name(s, name, &e);

	check(rc, &e, s);
	if (!rc)
		fuzz_same("name", s, name);
	rc = parse_dev(s, dev, &e);
	check(rc, &e, s);
	if (!rc)
		fuzz_same("device", s, dev);
	rc = parse_shaper(s, &shaper, &e);
	check(rc, &e, s);
	if (!rc)
		fuzz_same("shaper", s, shaper_name(shaper));
}

static void cleaned(const char *s)
{
	char *copy = strdup(s), word[64];

	if (!copy)
		abort();
	text_clean(copy);
	fuzz_true("is plain", text_is_plain(copy), copy);
	fuzz_true("as long as it was", strlen(copy) == strlen(s), copy);
	if (text_is_plain(s))
		fuzz_same("plain text", s, copy);
	shell_word(word, sizeof(word), s);
	free(copy);
}

static char *print_words(int n, char **words)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int i;

	if (!out)
		abort();
	for (i = 0; i < n; i++)
		word_print(out, words[i]);
	fclose(out);
	return text;
}

static void words(const char *s)
{
	char *line = strdup(s), *words[WORDS_MAX + 1], *once, *twice;
	int n = words_split(line, words);

	if (n > 0) {
		once = print_words(n, words);
		free(line);
		line = strdup(once);
		fuzz_true("as many words", words_split(line, words) == n, once);
		twice = print_words(n, words);
		fuzz_same("words", once, twice);
		free(once);
		free(twice);
	}
	free(line);
}

/* As each command takes its words: ctcp-setup.c. */
static void command_line(const struct fuzz_text *t)
{
	static const unsigned int takes[] = {
		TAKES_CIRCUIT | TAKES_JSON | TAKES_QUIET | TAKES_DEV | TAKES_CONFIRM,
		TAKES_CIRCUIT | TAKES_NAME | TAKES_DEV,
		TAKES_WORDS | TAKES_JSON,
		TAKES_FILE | TAKES_DRY_RUN | TAKES_WAIT | TAKES_FORCE,
		TAKES_PEER | TAKES_ALL | TAKES_SAY,
	};
	size_t i, k;

	for (i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		char program[] = "ctcp-setup", *argv[FUZZ_PARTS + 1] = { program };
		struct err e = { "" };
		struct args a;
		int rc;

		for (k = 1; k < t->n; k++)
			argv[k] = t->part[k];
		rc = args_parse(t->n ? (int)t->n : 1, argv, takes[i], &circuit_added, &a, &e);
		check(rc, &e, t->part[1]);
		if (!rc && takes[i] & TAKES_CIRCUIT)
			circuit_check(&a.circuit, &e);
		args_free(&a);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		const char *name;
		void (*check)(const char *s);
	} kinds[] = {
		{ "rate", rate }, { "rtt", time_of }, { "loss", loss }, { "number", numbers },
		{ "prefix", prefix }, { "to", far_side }, { "name", names },
		{ "text", cleaned }, { "words", words },
	};
	struct fuzz_text t;
	size_t i;

	fuzz_split(&t, data, size);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(t.part[0], kinds[i].name))
			kinds[i].check(t.part[1]);
	if (!strcmp(t.part[0], "args"))
		command_line(&t);
	fuzz_free(&t);
	return 0;
}

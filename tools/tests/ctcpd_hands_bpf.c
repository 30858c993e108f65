// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's hands by sockets, by command, for selftests/ctcpd_bpf.sh: each line that it
 * prints is a hand or a result, with words "key=value".
 *
 *	ctcpd_hands_bpf apply DEV PREFIX RATE RTT [DEV PREFIX RATE RTT ...]
 *	ctcpd_hands_bpf look | tick | undo
 *	ctcpd_hands_bpf stay | watch
 *	ctcpd_hands_bpf churn DEV
 *	ctcpd_hands_bpf commands
 *
 * RATE is 0 or e.g. 950mbit.  DEV may be #N, a device's index.  Until they are killed stay, which
 * says "ready" first, divides anew ten times a second, watch looks as often, and churn goes from
 * one list to another and back.  Exit: 0, or 1 with the code and the sentence on stderr.
 * commands takes these from the lines of its input up to "end", without being loaded anew for
 * each, and ends what it says of one with the line ".".
 */
#include <errno.h>
#include <unistd.h>

#include "ctcpd/hands_bpf.h"
#include "hands_command.h"

#define POLL_US		100000
#define WORDS_MAX	64

static int apply(struct hands_bpf *h, int n, char **words, struct err *e)
{
	static struct pace list[LIST_MAX];
	struct hands_result r;
	int i, rc = 0;

	n /= 4;
	for (i = 0; i < n && i < (int)LIST_MAX && !rc; i++)
		rc = parse_one(words + 4 * i, true, &list[i], e);
	if (rc)
		return rc;
	rc = hands_bpf_apply(h, list, (uint32_t)n, &r, e);
	tell(&r, rc);
	return rc;
}

static int undo(struct hands_bpf *h, struct err *e)
{
	struct hands_result r;
	int rc = hands_bpf_undo(h, &r, e);

	tell(&r, rc);
	return rc;
}

/* 10.77.2.0/24 in whole and by its halves in turn, and beside the whole something else */
static int churn(struct hands_bpf *h, const char *dev, struct err *e)
{
	static const char * const prefixes[] = {
		"10.77.2.0/24", "10.77.2.0/25", "10.77.2.128/25", "fd77:2::/64",
	};
	static const uint64_t rates[2][4] = {
		{ 100 * MBIT, 0, 0, 1000 * MBIT }, { 0, 10 * MBIT, 1 * MBIT, 0 },
	};
	struct pace list[4] = { 0 };
	struct hands_result r;
	int i, turn, rc = 0;

	puts("ready");
	fflush(stdout);
	for (turn = 0; !rc; turn ^= 1) {
		for (i = 0; i < 4 && !rc; i++) {
			rc = parse_prefix(prefixes[i], &list[i].to, e);
			list[i].ifindex = index_of(dev);
			list[i].rate = rates[turn][i];
		}
		rc = rc ?: hands_bpf_apply(h, list, 4, &r, e);
	}
	return rc;
}

static int stay(struct hands_bpf *h, struct err *e)
{
	int rc;

	puts("ready");
	fflush(stdout);
	while (!(rc = hands_bpf_tick(h, e)))
		usleep(POLL_US);
	return rc;
}

static int watch(struct hands_bpf *h, struct err *e)
{
	int rc;

	while (!(rc = hands_bpf_look(h, print_hand, NULL, e)) && !fflush(stdout))
		usleep(POLL_US);
	return rc;
}

static int command(struct hands_bpf *h, int argc, char **argv, struct err *e)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (!strcmp(verb, "apply"))
		return apply(h, argc - 2, argv + 2, e);
	if (!strcmp(verb, "look"))
		return hands_bpf_look(h, print_hand, NULL, e);
	if (!strcmp(verb, "tick"))
		return hands_bpf_tick(h, e);
	if (!strcmp(verb, "undo"))
		return undo(h, e);
	if (!strcmp(verb, "stay"))
		return stay(h, e);
	if (!strcmp(verb, "watch"))
		return watch(h, e);
	if (!strcmp(verb, "churn") && argc == 3)
		return churn(h, argv[2], e);
	return err_set(e, -EINVAL, "\"%s\" is not one of apply, look, tick, undo, stay, watch, churn, commands",
		       verb);
}

static void obey(struct hands_bpf *h, char *line)
{
	char *words[WORDS_MAX] = { "" }, *rest = line, *word;
	struct err e = { "" };
	int n = 1, rc;

	while (n < WORDS_MAX && (word = strsep(&rest, "\n ")))
		if (*word)
			words[n++] = word;
	rc = command(h, n, words, &e);
	if (rc)
		printf("%s: %s\n", errno_name(-rc), e.text);
	puts(".");
	fflush(stdout);
}

static int run(struct hands_bpf *h, int argc, char **argv, struct err *e)
{
	char line[1024];

	if (argc != 2 || strcmp(argv[1], "commands"))
		return command(h, argc, argv, e);
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n"))
		obey(h, line);
	return 0;
}

int main(int argc, char **argv)
{
	struct err e = { "" };
	struct hands_bpf *h;
	int rc = hands_bpf_open(&h, &e);

	if (!rc) {
		rc = run(h, argc, argv, &e);
		hands_bpf_close(h);
	}
	if (rc)
		fprintf(stderr, "%s: %s\n", errno_name(-rc), e.text);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's hands by command, for selftests/ctcpd_hands.sh: each line that it prints is a
 * hand or a result, with words "key=value".
 *
 *	ctcpd_hands apply [--one-lock] DEV PREFIX RATE RTT [DEV PREFIX RATE RTT ...]
 *	ctcpd_hands let-go [--device] DEV PREFIX
 *	ctcpd_hands look | recover | fit DEV
 *
 * RATE is 0 or e.g. 950mbit.  DEV may be #N, a device's index.  Exit: 0, or 1 with the code
 * and the sentence on stderr.
 */
#include <errno.h>

#include "fault.h"
#include "hands_command.h"

static int apply(int n, char **words, struct err *e)
{
	static struct pace list[LIST_MAX];
	struct hands_result r;
	bool one_lock = n && !strcmp(words[0], "--one-lock");
	int i, rc = 0;

	words += one_lock;
	n = (n - one_lock) / 4;
	for (i = 0; i < n && i < (int)LIST_MAX && !rc; i++)
		rc = parse_one(words + 4 * i, true, &list[i], e);
	if (rc)
		return rc;
	rc = hands_apply(list, (uint32_t)n, one_lock, &r, e);
	tell(&r, rc);
	return rc;
}

static int let_go(int n, char **words, struct err *e)
{
	bool device = n > 2 && !strcmp(words[0], "--device");
	struct hands_result r;
	struct pace one;
	int rc;

	if (n < 2 + device)
		return err_set(e, -EINVAL, "let-go [--device] DEV PREFIX");
	rc = parse_one(words + device, false, &one, e);
	if (rc)
		return rc;
	rc = hands_let_go(&one, device, &r, e);
	tell(&r, rc);
	return rc;
}

static int command(int argc, char **argv, struct err *e)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (!strcmp(verb, "apply"))
		return apply(argc - 2, argv + 2, e);
	if (!strcmp(verb, "recover"))
		return apply(0, argv, e);
	if (!strcmp(verb, "let-go"))
		return let_go(argc - 2, argv + 2, e);
	if (!strcmp(verb, "look"))
		return hands_look(print_hand, NULL, e);
	if (!strcmp(verb, "fit") && argc == 3)
		return hands_fit(index_of(argv[2]), false, e);
	return err_set(e, -EINVAL, "\"%s\" is not one of apply, let-go, look, recover, fit", verb);
}

int main(int argc, char **argv)
{
	struct err e = { "" };
	int rc = command(argc, argv, &e);

	faulty_end();
	if (rc)
		fprintf(stderr, "%s: %s\n", errno_name(-rc), e.text);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

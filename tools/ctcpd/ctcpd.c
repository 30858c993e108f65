// SPDX-License-Identifier: GPL-2.0
/*
 * ctcpd: sees what limits the TCP flows of this host.
 *
 * The commands, their options and what they need are tables.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "commands.h"
#include "control.h"
#include "named.h"
#include "near.h"
#include "standard.h"
#include "units.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define EVERY_US	5000000U	/* 5 s */
#define EVERY_MIN_US	100000U
#define EVERY_MAX_US	60000000U
#define LOOK_MIN_US	50000U
#define LOOK_MAX_US	1000000U

enum {
	EXIT_OK,
	EXIT_FAILED,
	EXIT_USAGE,
	EXIT_OUTPUT,
	EXIT_CONFIG = EX_CONFIG,
};

/* --- commands ----------------------------------------------------------------------- */

/* What a command takes, as bits: options, and the one word that is none */
#define TAKES_JSON	1U
#define TAKES_TIMES	2U
#define TAKES_RUN	4U	/* --config, --debug */
#define TAKES_SOCKET	8U
#define TAKES_FILE	16U	/* it may be left out */
#define NEEDS_FILE	32U
#define NEEDS_REMOTE	64U
#define NEEDS_PREFIX	128U
#define TAKES_WORD	(TAKES_FILE | NEEDS_FILE | NEEDS_REMOTE | NEEDS_PREFIX)

static const struct command {
	const char *name;
	int (*fn)(const struct options *o, struct err *e);
	unsigned int takes;
} commands[] = {
	{ "run", command_run, TAKES_RUN | TAKES_SOCKET },
	{ "status", command_status, TAKES_JSON | TAKES_SOCKET },
	{ "report", command_report, TAKES_JSON | TAKES_SOCKET },
	{ "why", command_why, TAKES_JSON | TAKES_SOCKET | NEEDS_REMOTE },
	{ "forget", command_forget, TAKES_JSON | TAKES_SOCKET | NEEDS_PREFIX },
	{ "record", command_record, TAKES_TIMES | TAKES_FILE },
	{ "replay", command_replay, TAKES_JSON | NEEDS_FILE },
};

static const char help[] =
"Usage: ctcpd run [--config FILE] [--socket FILE] [--debug]\n"
"       ctcpd status [--json] [--socket FILE]\n"
"       ctcpd report [--json] [--socket FILE]\n"
"       ctcpd why REMOTE [--json] [--socket FILE]\n"
"       ctcpd forget REMOTE | PREFIX [--json] [--socket FILE]\n"
"       ctcpd record [--every TIME] [--look TIME] [--for TIME] [FILE]\n"
"       ctcpd replay FILE [--json]\n"
"\n"
"Sees what limits the TCP flows of this host: their receiver, a window, a buffer,\n"
"the application, the network.  It observes, and changes nothing; with mode = act in\n"
"its file it paces what overruns a receiver.\n"
"\n"
"  run              the daemon, in the foreground, as ctcpd.service runs it\n"
"  status           how it is, and each remote with its verdict\n"
"  report           what to tell the owners of the remotes, and what to change here\n"
"  why              what is known of one remote: the evidence, earlier visits, advice\n"
"  forget           all that the daemon and its history know of them\n"
"  record           samples of all flows, to FILE or to standard output\n"
"  replay           what limits each flow of a record; - is standard input\n"
"\n"
"  --config FILE    run: in place of /etc/ctcpd.conf\n"
"  --debug          run: in the log also each poll, and verdicts without trouble\n"
"  --socket FILE    where the daemon listens, and is asked (" CONTROL_FILE ")\n"
"  --every TIME     record: between two polls, 100ms to 60s (5s)\n"
"  --look TIME      record: of flows that may overrun their receiver also each TIME in\n"
"                   between, 50ms to 1s (none; the daemon has 200ms)\n"
"  --for TIME       record: for how long (until it is stopped)\n"
"  --json           print in base units: bytes, bytes/s, us\n"
"  -h, --help       print this\n"
"  -V, --version    print the version\n"
"\n"
"Exit status: 0 done; 1 failed, or no daemon answers; 2 bad usage; 3 done, but the output\n"
"could not be written; 78 run: its configuration is wrong, or no socket can be where it\n"
"is to be.\n";

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int no_command(const char *word, struct err *e)
{
	unsigned int best = 3, far;
	const char *near = NULL;
	size_t i;

	if (!word)
		return err_set(e, -EINVAL, "which command? ctcpd --help lists them");
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		far = word_distance(word, commands[i].name);
		if (far >= best)
			continue;
		best = far;
		near = commands[i].name;
	}
	return err_set(e, -EINVAL, "\"%s\" is not a command; %s%s%s", word,
		       near ? "did you mean " : "ctcpd --help lists them", near ?: "",
		       near ? "?" : "");
}

/* --- options -------------------------------------------------------------------------- */

enum {
	OPT_CONFIG = 256, OPT_DEBUG, OPT_SOCKET, OPT_EVERY, OPT_LOOK, OPT_FOR, OPT_JSON,
};

static const struct option options[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "debug", no_argument, NULL, OPT_DEBUG },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "every", required_argument, NULL, OPT_EVERY },
	{ "look", required_argument, NULL, OPT_LOOK },
	{ "for", required_argument, NULL, OPT_FOR },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

/* By OPT_*: which bit of a command's stands for it */
static const unsigned int taken_by[] = {
	[OPT_CONFIG - OPT_CONFIG] = TAKES_RUN,
	[OPT_DEBUG - OPT_CONFIG] = TAKES_RUN,
	[OPT_SOCKET - OPT_CONFIG] = TAKES_SOCKET,
	[OPT_EVERY - OPT_CONFIG] = TAKES_TIMES,
	[OPT_LOOK - OPT_CONFIG] = TAKES_TIMES,
	[OPT_FOR - OPT_CONFIG] = TAKES_TIMES,
	[OPT_JSON - OPT_CONFIG] = TAKES_JSON,
};

static int bad_option(int opt, char **argv, struct err *e)
{
	const char *word = argv[optind - 1];

	if (opt == ':')
		return err_set(e, -EINVAL, "%s needs a value; ctcpd --help shows which", word);
	if (optopt && optopt < OPT_CONFIG)
		return err_set(e, -EINVAL, "unknown option \"-%c\"; ctcpd --help lists them",
			       optopt);
	if (optopt)
		return err_set(e, -EINVAL, "\"%s\" takes no value", word);
	return err_set(e, -EINVAL, "unknown option \"%s\"; ctcpd --help lists them", word);
}

static int take_option(int opt, struct options *o, struct err *e)
{
	switch (opt) {
	case OPT_CONFIG:
		o->config = optarg;
		return 0;
	case OPT_SOCKET:
		o->socket = optarg;
		return 0;
	case OPT_DEBUG:
		o->debug = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_EVERY:
		return parse_span("--every", optarg, EVERY_MIN_US, EVERY_MAX_US, &o->every_us, e);
	case OPT_LOOK:
		return parse_span("--look", optarg, LOOK_MIN_US, LOOK_MAX_US, &o->look_us, e);
	default:
		return parse_span("--for", optarg, EVERY_MIN_US, WAIT_MAX_US, &o->for_us, e);
	}
}

static int read_remote(const struct command *cmd, const char *word, struct prefix *p,
		       struct err *e)
{
	return cmd->takes & NEEDS_REMOTE ? named_address(word, p, e) : named_prefix(word, p, e);
}

/* The word that is no option, or its absence */
static int take_word(const struct command *cmd, int n, char **words, struct options *o,
		     struct err *e)
{
	bool needs_remote = cmd->takes & (NEEDS_REMOTE | NEEDS_PREFIX);

	if (n > !!(cmd->takes & TAKES_WORD))
		return err_set(e, -EINVAL, "\"%s\" is one word too many; ctcpd --help",
			       words[n - 1]);
	if (!n && needs_remote)
		return err_set(e, -EINVAL, "which remote? e.g. ctcpd %s 192.0.2.7", cmd->name);
	if (!n && cmd->takes & NEEDS_FILE)
		return err_set(e, -EINVAL, "which file? e.g. ctcpd %s flows.trace; - is standard input",
			       cmd->name);
	o->word = n ? words[0] : NULL;
	return needs_remote ? read_remote(cmd, words[0], &o->remote, e) : 0;
}

/* @asked: 'h' or 'V', of what stands before the first mistake */
static int parse(const struct command *cmd, int argc, char **argv, struct options *o, int *asked,
		 struct err *e)
{
	int opt, rc;

	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":hV", options, NULL)) != -1) {
		if (opt == 'h' || opt == 'V') {
			*asked = opt;
			return 0;
		}
		if (opt == ':' || opt == '?')
			return bad_option(opt, argv, e);
		if (!(cmd->takes & taken_by[opt - OPT_CONFIG]))
			return err_set(e, -EINVAL, "%s takes no --%s; ctcpd --help shows what it takes",
				       cmd->name, options[opt - OPT_CONFIG].name);
		rc = take_option(opt, o, e);
		if (rc)
			return rc;
	}
	return take_word(cmd, argc - optind, argv + optind, o, e);
}

/* --- main ------------------------------------------------------------------------------- */

static int complain(const struct err *e, int code)
{
	fprintf(stderr, "ctcpd: %s\n", e->text);
	return code;
}

static void print_asked(int asked)
{
	if (asked == 'h')
		fputs(help, stdout);
	else
		printf("ctcpd %s\n", CTCP_VERSION);
}

static int run_command(const struct command *cmd, int argc, char **argv)
{
	struct options o = { .every_us = EVERY_US, .socket = CONTROL_FILE };
	struct err e = { "" };
	int asked = 0, rc = 0;

	if (parse(cmd, argc, argv, &o, &asked, &e))
		return complain(&e, EXIT_USAGE);
	if (asked)
		print_asked(asked);
	else
		rc = cmd->fn(&o, &e);
	if (rc)
		return complain(&e, rc == EX_CONFIG ? EXIT_CONFIG : EXIT_FAILED);
	if (fflush(stdout) || ferror(stdout)) {
		err_set(&e, -EIO, "done, but the output cannot be written: %s",
			errno ? strerror(errno) : "a part of it is lost");
		return complain(&e, EXIT_OUTPUT);
	}
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	static const struct command none = { "ctcpd", NULL, TAKES_JSON };
	const struct command *cmd;
	struct options o = { 0 };
	struct err e;
	int asked = 0;

	standard_files_open();
	cmd = argc > 1 ? find_command(argv[1]) : NULL;
	if (cmd)
		return run_command(cmd, argc - 1, argv + 1);
	if (argc > 1 && *argv[1] != '-') {
		no_command(argv[1], &e);
		return complain(&e, EXIT_USAGE);
	}
	if (argc < 1 || (!parse(&none, argc, argv, &o, &asked, &e) && !asked))
		no_command(NULL, &e);
	if (!asked)
		return complain(&e, EXIT_USAGE);
	print_asked(asked);
	return fflush(stdout) ? EXIT_OUTPUT : EXIT_OK;
}

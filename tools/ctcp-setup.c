// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup: from two numbers, rate and round trip, to a full circuit.
 *
 *	command line -> circuit -> state -> plan -> diff -> commit -> read back
 *
 * Each stage is a file of that name.  help[] says what an exit status means.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "command.h"
#include "link.h"
#include "near.h"
#include "standard.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_OK,
	EXIT_FAILED,
	EXIT_USAGE,
	EXIT_OUTPUT,
	EXIT_UNKNOWN,
	EXIT_PARTLY,
	EXIT_BUSY,
};

static const struct command {
	const char *name;
	int (*run)(const struct args *a, struct err *e);
	unsigned int takes;
	enum { NEEDS_NOTHING, NEEDS_DEV, NEEDS_NAME, NEEDS_ALL_OF_IT } needs;
} commands[] = {
	/* the first is the command without a name */
	{ "ctcp-setup", command_setup,
	  TAKES_CIRCUIT | TAKES_JSON | TAKES_QUIET | TAKES_DEV | TAKES_CONFIRM,
	  NEEDS_ALL_OF_IT },
	{ "add", command_add,
	  TAKES_CIRCUIT | TAKES_JSON | TAKES_QUIET | TAKES_NAME | TAKES_DEV | TAKES_CONFIRM,
	  NEEDS_ALL_OF_IT },
	{ "change", command_change,
	  TAKES_CIRCUIT | TAKES_JSON | TAKES_QUIET | TAKES_NAME | TAKES_CONFIRM, NEEDS_NAME },
	{ "del", command_del, TAKES_FORCE | TAKES_QUIET | TAKES_NAME | TAKES_CONFIRM,
	  NEEDS_NAME },
	{ "confirm", command_confirm, TAKES_JSON | TAKES_QUIET, NEEDS_NOTHING },
	{ "cancel", command_cancel, TAKES_JSON | TAKES_QUIET, NEEDS_NOTHING },
	{ "list", command_list, TAKES_JSON, NEEDS_NOTHING },
	{ "save", command_save, TAKES_TARGET, NEEDS_NOTHING },
	{ "apply", command_apply,
	  TAKES_FILE | TAKES_JSON | TAKES_QUIET | TAKES_DRY_RUN | TAKES_CONFIRM | TAKES_WAIT,
	  NEEDS_NOTHING },
	{ "diff", command_diff, TAKES_FILE | TAKES_JSON | TAKES_QUIET, NEEDS_NOTHING },
	{ "show", command_show, TAKES_JSON | TAKES_DEV, NEEDS_NOTHING },
	{ "verify", command_verify, TAKES_JSON | TAKES_QUIET | TAKES_DEV | TAKES_MEASURE,
	  NEEDS_NOTHING },
	{ "monitor", command_monitor, TAKES_JSON, NEEDS_NOTHING },
	{ "watch", command_watch, TAKES_JSON | TAKES_SAY, NEEDS_NOTHING },
	{ "reset", command_reset, TAKES_QUIET | TAKES_PEER, NEEDS_NOTHING },
	{ "adopt", command_adopt, TAKES_JSON | TAKES_QUIET | TAKES_DRY_RUN | TAKES_NAME,
	  NEEDS_NAME },
	{ "undo", command_undo,
	  TAKES_FORCE | TAKES_QUIET | TAKES_DEV | TAKES_ALL | TAKES_CONFIRM, NEEDS_DEV },
	{ "circuit", command_circuit, TAKES_WORDS, NEEDS_NOTHING },
};

static const char help[] =
"Usage: ctcp-setup --rate RATE --rtt TIME [OPTIONS] DEV\n"
"       ctcp-setup add NAME --to PREFIX[,PREFIX] --rate RATE --rtt TIME [OPTIONS] DEV\n"
"       ctcp-setup change NAME [OPTIONS]\n"
"       ctcp-setup del NAME [--force]\n"
"       ctcp-setup list [--json]\n"
"       ctcp-setup save [FILE]\n"
"       ctcp-setup apply FILE [--wait TIME] [--partial] [--dry-run] [--json]\n"
"       ctcp-setup diff FILE [--json]\n"
"       ctcp-setup show [DEV | NAME] [--json]\n"
"       ctcp-setup verify [DEV | NAME] [--measure [--for TIME]] [--json]\n"
"       ctcp-setup monitor [--json]\n"
"       ctcp-setup watch [--say] [--json]\n"
"       ctcp-setup reset [NAME | ADDRESS]\n"
"       ctcp-setup adopt NAME [--dry-run] [--json]\n"
"       ctcp-setup undo DEV | NAME | --all [--force]\n"
"       ctcp-setup confirm | cancel [--json]\n"
"       ctcp-setup circuit set NAME prefix PREFIX... window N [rate RATE]\n"
"                              [unpaced] [dev DEV] [mark N] [early-window]\n"
"       ctcp-setup circuit del NAME\n"
"       ctcp-setup circuit list\n"
"\n"
"Options without a value may stand before the command, too.\n"
"\n"
"Sizes and sets up everything for one circuit: the circuit itself, which\n"
"congestion control \"circuit\" has its window from, a shaper on DEV, TCP's\n"
"buffers.\n"
"\n"
"  --rate RATE      what the circuit carries, L2: 4gbit, 622.08mbit\n"
"  --rtt TIME       its round trip at no load: 26ms, 500us\n"
"  --name NAME      of the circuit (DEV)\n"
"  --to PREFIX      its far side, which a route leads to, several with commas;\n"
"                   else all behind DEV\n"
"  --via GATEWAY    the gateway of these routes, one of each family\n"
"  --default-cc     circuit for every connection that asks for nothing else\n"
"  --streams N      connections expected to share the circuit (1)\n"
"  --loss P         part of the packets that the path loses: 0.1%, 1e-3 (0)\n"
"  --pace           the module paces the circuit at the rate\n"
"  --unpaced        it does not\n"
"  --early-window   a server opens its client's window right behind the SYN-ACK\n"
"  --multiple X     window as a multiple of rate x rtt (1.3)\n"
"  --shaper WHICH   tbf (the default), fq, htb: a class for each circuit of DEV,\n"
"                   none, or auto (the default of add): what suits DEV and rates\n"
"  --rest RATE      for all that is in no class of htb (what is left of DEV)\n"
"  --uplink RATE    what the wire of DEV leads to, if less than its speed\n"
"  --guarantee G    of the rate, by the path: full (the default); semi, admitted but\n"
"                   not policed; none\n"
"  --prefer WHOSE   with semi, circuit's traffic, by circuit, or others', by htcp;\n"
"                   with none it is htcp\n"
"  --burst SIZE     bucket of tbf or htb\n"
"  --limit SIZE     room in the queue\n"
"  --mss N          segment as TCP announces it (MTU - 40)\n"
"  --overbook       rates may add up to more than DEV carries, prefixes overlap\n"
"  --confirm-within TIME  back to what was before unless ctcp-setup confirm comes\n"
"                   within TIME, 1s to 1d: 60s, 10min\n"
"  --wait TIME      apply: for devices that are missing or down, 1s to 1d\n"
"  --partial        apply: circuits that cannot be set up do not keep the others\n"
"  --measure        verify: what the circuits carry, against what was planned\n"
"  --for TIME       verify --measure: for how long it looks, 1s to 1d (5s)\n"
"  --say            watch: say what differs and do not restore it\n"
"  --dry-run        print the commands that would do it, change nothing\n"
"  --json           print in base units: bit/s, bytes, us\n"
"  --quiet          print errors only\n"
"  --force          undo: also what someone else changed since\n"
"  -h, --help       print this\n"
"  -V, --version    print the version\n"
"\n"
"Exit status: 0 done; 1 failed, or verify, show or diff found a difference; 2 bad\n"
"usage; 3 done, but the output could not be written; 4 verify, show or diff could\n"
"not look; 5 done, but for circuits that apply --partial left out; 6 another is at\n"
"work, or a change waits for confirmation: the same command works later.\n"
"\n"
"Rates and sizes as for tc: bit kbit mbit gbit tbit; b kb mb gb of 1024.\n";

/* Options without a value may stand before the command's name. */
static int command_index(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && args_is_flag(argv[i]); i++)
		;
	return i;
}

/* If a command is named, its name is moved to argv[1]. */
static const struct command *find_command(int argc, char **argv)
{
	int at = command_index(argc, argv);
	size_t i;

	for (i = 1; at < argc && i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[at], commands[i].name))
			continue;
		memmove(&argv[2], &argv[1], (size_t)(at - 1) * sizeof(*argv));
		return &commands[i];
	}
	return &commands[0];
}

static int complain(const struct err *e, int code)
{
	fprintf(stderr, "ctcp-setup: %s\n", e->text);
	return code;
}

/* --- words that are no command ---------------------------------------------- */

/* The command that @word was meant for, most likely; NULL: there is none */
static const char *nearest(const char *word)
{
	unsigned int best = strlen(word) > 3 ? 3 : 2, far;
	const char *name = NULL;
	size_t i;

	for (i = 1; i < ARRAY_SIZE(commands); i++) {
		far = word_distance(word, commands[i].name);
		if (far >= best)
			continue;
		best = far;
		name = commands[i].name;
	}
	return name;
}

static bool is_command(const char *word)
{
	size_t i;

	for (i = 1; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(word, commands[i].name))
			return true;
	return false;
}

/*
 * The bare command takes one word, a device: was another word meant as a command?  @front:
 * the word in a command's place, NULL = an option with a value is there.
 */
static int check_words(const struct args *a, const char *front, struct err *e)
{
	const char *word = front ?: a->word, *near;
	bool bare = a->circuit.rate || a->circuit.rtt_us;

	if (!word || link_index(word))
		return 0;
	if (is_command(word))
		return err_set(e, -1, "\"%s\" is a command, which comes first: ctcp-setup %s ...",
			       word, word);
	near = nearest(word);
	if (bare && (!near || !front || a->n_words == 1))
		return 0;
	return err_set(e, -1,
		       "\"%s\" is neither a command nor a device; %s%s%s", word,
		       near ? "did you mean " : "ctcp-setup --help lists the commands",
		       near ?: "", near ? "?" : "");
}

#define ADD_EXAMPLE "--to 192.0.2.0/24 --rate 4gbit --rtt 26ms"

static int check_name(const struct command *cmd, const struct args *a, struct err *e)
{
	bool add = cmd->needs == NEEDS_ALL_OF_IT;

	if (!a->name[0])
		return err_set(e, -1, "which circuit? e.g. ctcp-setup %s lhc%s", cmd->name,
			       add ? " " ADD_EXAMPLE " eth1" : "");
	if (!add || a->circuit.dev[0])
		return 0;
	if (link_index(a->name))
		return err_set(e, -1,
			       "the circuit's name is missing before the device %s; e.g. ctcp-setup add lhc %s %s",
			       a->name, ADD_EXAMPLE, a->name);
	return err_set(e, -1, "which device? e.g. ctcp-setup add %s " ADD_EXAMPLE " eth1", a->name);
}

static int check(const struct command *cmd, const struct args *a, struct err *e)
{
	if (cmd->takes & TAKES_NAME && check_name(cmd, a, e))
		return -1;
	if (cmd->needs == NEEDS_ALL_OF_IT)
		return circuit_check(&a->circuit, e);
	if (a->all && a->circuit.dev[0])
		return err_set(e, -1, "undo takes --all or \"%s\", not both", a->circuit.dev);
	if (cmd->needs == NEEDS_DEV && !a->circuit.dev[0] && !a->all)
		return err_set(e, -1, "which device or circuit? e.g. ctcp-setup %s eth1, or --all",
			       cmd->name);
	return 0;
}

/*
 * For a command that only looks, exit status 1 means a difference; after a failure it is not known
 * whether there is one.  -EUCLEAN: all is done but what was left out.  -EALREADY: it is enough to
 * try again later.
 */
static int failure(const struct command *cmd, int rc)
{
	bool looks = cmd->run == command_verify || cmd->run == command_diff ||
		     cmd->run == command_show;

	if (cmd->run == command_apply && rc == -EUCLEAN)
		return EXIT_PARTLY;
	if (rc == -EALREADY)
		return EXIT_BUSY;
	return looks && rc != -EBADE ? EXIT_UNKNOWN : EXIT_FAILED;
}

/* NULL, or why not all output was written */
static const char *flush_output(void)
{
	if (fflush(stdout))
		return strerror(errno);
	return ferror(stdout) ? "a part of it is lost" : NULL;
}

static int run(const struct command *cmd, int argc, char **argv, struct args *a, struct err *e)
{
	const struct circuit *preset = cmd->takes & TAKES_NAME ? &circuit_added : &circuit_bare;
	int at = command_index(argc, argv), rc;
	const char *front = at < argc && *argv[at] != '-' ? argv[at] : NULL, *why;

	rc = args_parse(argc, argv, cmd->takes, preset, a, e);
	if (cmd == &commands[0] && !a->help && !a->version && check_words(a, front, e))
		return complain(e, EXIT_USAGE);
	if (rc)
		return complain(e, EXIT_USAGE);
	link_own_name(a->circuit.dev);
	if (a->help) {
		fputs(help, stdout);
	} else if (a->version) {
		printf("ctcp-setup %s\n", CTCP_VERSION);
	} else {
		if (check(cmd, a, e))
			return complain(e, EXIT_USAGE);
		rc = cmd->run(a, e);
		if (rc)
			return complain(e, failure(cmd, rc));
	}
	why = flush_output();
	if (why) {
		err_set(e, -1, "done, but the output cannot be written: %s", why);
		return complain(e, EXIT_OUTPUT);
	}
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	const struct command *cmd = find_command(argc, argv);
	int shift = cmd != &commands[0], rc;
	struct err e = { "" };
	struct args a;

	standard_files_open();
	if (argc > 0)
		argv[shift] = (char *)cmd->name;
	rc = run(cmd, argc - shift, argv + shift, &a, &e);
	args_free(&a);
	return rc;
}

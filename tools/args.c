// SPDX-License-Identifier: GPL-2.0
/*
 * Options of all commands, one table, parsed by getopt_long.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "guarantee.h"
#include "units.h"

enum {
	OPT_RATE = 256, OPT_RTT, OPT_MULTIPLE, OPT_BURST, OPT_LIMIT, OPT_MSS, OPT_STREAMS,
	OPT_SHAPER, OPT_REST, OPT_UPLINK, OPT_GUARANTEE, OPT_PREFER, OPT_NAME, OPT_TO, OPT_VIA,
	OPT_LOSS, OPT_PACE, OPT_UNPACED, OPT_EARLY_WINDOW, OPT_OVERBOOK, OPT_DEFAULT_CC,
	OPT_CONFIRM_WITHIN, OPT_WAIT, OPT_PARTIAL, OPT_SAY, OPT_MEASURE, OPT_FOR, OPT_DRY_RUN,
	OPT_JSON, OPT_QUIET, OPT_FORCE, OPT_ALL, OPT_HELP, OPT_VERSION,
};

static const struct option options[] = {
	{ "rate", required_argument, NULL, OPT_RATE },
	{ "rtt", required_argument, NULL, OPT_RTT },
	{ "multiple", required_argument, NULL, OPT_MULTIPLE },
	{ "burst", required_argument, NULL, OPT_BURST },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "mss", required_argument, NULL, OPT_MSS },
	{ "streams", required_argument, NULL, OPT_STREAMS },
	{ "shaper", required_argument, NULL, OPT_SHAPER },
	{ "rest", required_argument, NULL, OPT_REST },
	{ "uplink", required_argument, NULL, OPT_UPLINK },
	{ "guarantee", required_argument, NULL, OPT_GUARANTEE },
	{ "prefer", required_argument, NULL, OPT_PREFER },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "to", required_argument, NULL, OPT_TO },
	{ "via", required_argument, NULL, OPT_VIA },
	{ "loss", required_argument, NULL, OPT_LOSS },
	{ "pace", no_argument, NULL, OPT_PACE },
	{ "unpaced", no_argument, NULL, OPT_UNPACED },
	{ "overbook", no_argument, NULL, OPT_OVERBOOK },
	{ "early-window", no_argument, NULL, OPT_EARLY_WINDOW },
	{ "default-cc", no_argument, NULL, OPT_DEFAULT_CC },
	{ "confirm-within", required_argument, NULL, OPT_CONFIRM_WITHIN },
	{ "wait", required_argument, NULL, OPT_WAIT },
	{ "partial", no_argument, NULL, OPT_PARTIAL },
	{ "say", no_argument, NULL, OPT_SAY },
	{ "measure", no_argument, NULL, OPT_MEASURE },
	{ "for", required_argument, NULL, OPT_FOR },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "quiet", no_argument, NULL, OPT_QUIET },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ }
};

/* Of the bare command a tbf holds the rate, of a circuit among several what suits them. */
const struct circuit circuit_bare = CIRCUIT_DEFAULTS;
const struct circuit circuit_added = {
	.multiple = 1300, .streams = 1, .shaper = SHAPER_AUTO, .pace = true,
};

/* The first one replaces what the circuit had; so does the first gateway. */
static int add_to(const char *value, struct args *a, struct err *e)
{
	if (!a->to_given)
		a->circuit.n_to = 0;
	a->to_given = true;
	return parse_to(value, &a->circuit, e);
}

static int add_via(const char *value, struct args *a, struct err *e)
{
	if (!a->via_given)
		memset(a->circuit.via, 0, sizeof(a->circuit.via));
	a->via_given = true;
	return parse_via(value, &a->circuit, e);
}

/* What is wrong with it is said of the option that it was given to, and not of --rate. */
static int parse_other_rate(const char *option, const char *value, uint64_t *rate, struct err *e)
{
	static const char said[] = "--rate";
	int rc = parse_rate(value, rate, e);
	struct err why = *e;

	if (rc && !strncmp(e->text, said, strlen(said)))
		err_set(e, rc, "%s%s", option, why.text + strlen(said));
	return rc;
}

static int parse_circuit_option(int opt, const char *value, struct args *a, struct err *e)
{
	struct circuit *c = &a->circuit;

	switch (opt) {
	case OPT_RATE:
		return parse_rate(value, &c->rate, e);
	case OPT_RTT:
		return parse_time(value, &c->rtt_us, e);
	case OPT_MULTIPLE:
		return parse_multiple(value, &c->multiple, e);
	case OPT_BURST:
		return parse_size("--burst", value, &c->burst, e);
	case OPT_LIMIT:
		return parse_size("--limit", value, &c->limit, e);
	case OPT_MSS:
		return parse_count("--mss", value, 88, 65496, &c->mss, e);
	case OPT_STREAMS:
		return parse_count("--streams", value, 1, 65535, &c->streams, e);
	case OPT_SHAPER:
		a->shaper_given = true;
		return parse_shaper(value, &c->shaper, e);
	case OPT_REST:
		return parse_other_rate("--rest", value, &c->rest, e);
	case OPT_UPLINK:
		return parse_other_rate("--uplink", value, &c->uplink, e);
	case OPT_GUARANTEE:
		a->guarantee_given = true;
		return parse_guarantee(value, &c->guarantee, e);
	case OPT_PREFER:
		a->prefer_given = true;
		return parse_prefer(value, &c->prefer, e);
	case OPT_NAME:
		return parse_name(value, c->name, e);
	case OPT_TO:
		return add_to(value, a, e);
	case OPT_VIA:
		return add_via(value, a, e);
	case OPT_LOSS:
		return parse_loss(value, &c->loss, e);
	case OPT_PACE:
	case OPT_UNPACED:
		a->pace_given = true;
		c->pace = opt == OPT_PACE;
		return 0;
	default:
		c->overbook |= opt == OPT_OVERBOOK;
		c->early_window |= opt == OPT_EARLY_WINDOW;
		c->default_cc |= opt == OPT_DEFAULT_CC;
		return 0;
	}
}

/* The long option that a short one stands for, or itself */
static int long_option(int opt)
{
	return opt == 'h' ? OPT_HELP : opt == 'V' ? OPT_VERSION : opt;
}

static bool takes_option(unsigned int takes, int opt)
{
	if (opt == OPT_HELP || opt == OPT_VERSION)
		return !(takes & TAKES_LINE);
	if (opt == OPT_JSON)
		return takes & TAKES_JSON;
	if (opt == OPT_FORCE)
		return takes & TAKES_FORCE;
	if (opt == OPT_QUIET)
		return takes & TAKES_QUIET;
	if (opt == OPT_ALL)
		return takes & TAKES_ALL;
	if (opt == OPT_CONFIRM_WITHIN)
		return takes & TAKES_CONFIRM;
	if (opt == OPT_WAIT || opt == OPT_PARTIAL)
		return takes & TAKES_WAIT;
	if (opt == OPT_SAY)
		return takes & TAKES_SAY;
	if (opt == OPT_MEASURE || opt == OPT_FOR)
		return takes & TAKES_MEASURE;
	if (opt == OPT_DRY_RUN)
		return takes & (TAKES_CIRCUIT | TAKES_DRY_RUN) && !(takes & TAKES_LINE);
	if (opt == OPT_NAME)
		return (takes & TAKES_CIRCUIT) && !(takes & TAKES_NAME);
	return takes & TAKES_CIRCUIT;
}

/* By the number that getopt_long() gives, also for the short one. */
static const char *option_name(int opt)
{
	const struct option *o = options;

	while (o->val != opt)
		o++;
	return o->name;
}

static void set_flag(int opt, struct args *a)
{
	a->dry_run |= opt == OPT_DRY_RUN;
	a->json |= opt == OPT_JSON;
	a->quiet |= opt == OPT_QUIET;
	a->force |= opt == OPT_FORCE;
	a->all |= opt == OPT_ALL;
	a->say |= opt == OPT_SAY;
	a->partial |= opt == OPT_PARTIAL;
	a->measure |= opt == OPT_MEASURE;
	a->help |= opt == OPT_HELP;
	a->version |= opt == OPT_VERSION;
}

static int bad_option(int opt, char **argv, struct err *e)
{
	const char *word = argv[optind - 1];

	if (opt == ':')
		return err_set(e, -EINVAL, "%s needs a value; ctcp-setup --help shows which", word);
	if (optopt && optopt < 256)
		return err_set(e, -EINVAL, "unknown option \"-%c\"; ctcp-setup --help lists them",
			       optopt);
	if (optopt)
		return err_set(e, -EINVAL, "\"%s\" takes no value", word);
	return err_set(e, -EINVAL, "unknown option \"%s\"; ctcp-setup --help lists them", word);
}

/* A name, unless it reads as an address. */
static int parse_peer(const char *s, struct args *a, struct err *e)
{
	if (!parse_address(s, &a->peer))
		return 0;
	memset(&a->peer, 0, sizeof(a->peer));
	if (parse_name(s, a->name, e))
		return err_set(e, -EINVAL,
			       "\"%s\" is neither a circuit's name nor the address of a peer; write e.g. eth1 or 192.0.2.1",
			       s);
	return 0;
}

static int parse_words(int argc, char **argv, struct args *a, struct err *e)
{
	const char *verb = argc ? argv[0] : "";

	if (!strcmp(verb, "set") && argc > 1) {
		a->verb = CIRCUIT_SET;
		return object_from_words(argc - 1, argv + 1, &a->object, e);
	}
	if (!strcmp(verb, "del") && argc == 2) {
		a->verb = CIRCUIT_DEL;
		return parse_name(argv[1], a->object.name, e);
	}
	if (!strcmp(verb, "list") && argc == 1) {
		a->verb = CIRCUIT_LIST;
		return 0;
	}
	return err_set(e, -EINVAL,
		       "circuit: \"%s%s%s\" is not one of set NAME prefix P... window N, del NAME, list",
		       verb, argc > 1 ? " " : "", argc > 1 ? argv[1] : "");
}

static int parse_file(int argc, char **argv, struct args *a, struct err *e)
{
	if (argc != 1)
		return err_set(e, -EINVAL, "which file of circuits? e.g. " CIRCUITS_FILE);
	a->file = argv[0];
	return 0;
}

static int parse_target(int argc, char **argv, struct args *a, struct err *e)
{
	if (argc > 1)
		return err_set(e, -EINVAL, "one file at a time, not \"%s\" and \"%s\"", argv[0],
			       argv[1]);
	a->target = argc && strcmp(argv[0], "-") ? argv[0] : NULL;
	return 0;
}

/* What stands there without an option: a device, say; it may be left out. */
static int parse_operand(int argc, char **argv, unsigned int takes, struct args *a,
			 struct err *e)
{
	bool peer = takes & TAKES_PEER;

	a->n_words = argc;
	a->word = argc ? argv[0] : NULL;
	if (takes & TAKES_WORDS)
		return parse_words(argc, argv, a, e);
	if (takes & TAKES_FILE)
		return parse_file(argc, argv, a, e);
	if (takes & TAKES_TARGET)
		return parse_target(argc, argv, a, e);
	if (takes & TAKES_NAME && argc) {
		if (parse_name(argv[0], a->name, e))
			return -EINVAL;
		argc--;
		argv++;
	}
	if (argc && !(takes & (TAKES_DEV | TAKES_PEER)))
		return err_set(e, -EINVAL, "\"%s\" is one word too many; ctcp-setup --help",
			       argv[0]);
	if (argc > 1)
		return err_set(e, -EINVAL,
			       "one %s at a time, not \"%s\" and \"%s\"; ctcp-setup --help lists the commands",
			       peer ? "name or address" : "device", argv[0], argv[1]);
	if (!argc)
		return 0;
	return peer ? parse_peer(argv[0], a, e) : parse_dev(argv[0], a->circuit.dev, e);
}

/* A qdisc of the circuit's holds its rate. */
static bool has_qdisc(const struct circuit *c)
{
	return c->shaper != SHAPER_NONE && c->shaper != SHAPER_AUTO;
}

/* The module cannot pace H-TCP: it gives way to what was said, or chosen, to hold the rate. */
static int leave_pacing(const struct circuit *preset, struct args *a, struct err *e)
{
	if (!a->shaper_given && preset->shaper == SHAPER_NONE)
		return err_set(e, -EINVAL,
			       "this path gets %s (%s), whose rate the module cannot hold, as it does now; --shaper auto chooses what is to hold it, --shaper htb, tbf or fq names it, and --unpaced says that something else does",
			       circuit_algorithm(&a->circuit),
			       circuit_algorithm_why(&a->circuit));
	a->circuit.pace = false;
	return 0;
}

/*
 * Of a circuit among others --shaper none is the module, and what a qdisc holds the module
 * need not, unless it was told to beside one; who says whether it paces has chosen.
 */
static int follow_shaper(const struct circuit *preset, struct args *a, struct err *e)
{
	struct circuit *c = &a->circuit;

	if (c->shaper == SHAPER_AUTO && a->pace_given) {
		if (a->shaper_given)
			return err_set(e, -EINVAL,
				       "--shaper auto chooses whether the module paces; --%s needs --shaper none, or htb",
				       c->pace ? "pace" : "unpaced");
		c->shaper = SHAPER_NONE;
	}
	if (preset == &circuit_bare || a->pace_given)
		return 0;
	if (a->shaper_given)
		c->pace = c->shaper == SHAPER_NONE || (has_qdisc(preset) && preset->pace);
	return c->pace && circuit_is_htcp(c) ? leave_pacing(preset, a, e) : 0;
}

void args_free(struct args *a)
{
	object_free(&a->object);
}

/* What was preferred is of no account where the guarantee decides. */
static void follow_guarantee(struct args *a)
{
	if (a->guarantee_given && !a->prefer_given && a->circuit.guarantee != GUARANTEE_SEMI)
		a->circuit.prefer = PREFER_UNSAID;
}

/* -1: none is called so, by its whole name */
static int find_option(const char *name)
{
	int i;

	for (i = 0; options[i].name; i++)
		if (options[i].name[0] == *name && !strcmp(options[i].name, name))
			return i;
	return -1;
}

/* An option, by its whole name, that has no value behind it */
bool args_is_flag(const char *word)
{
	int at = strncmp(word, "--", 2) ? -1 : find_option(word + 2);

	return at >= 0 && options[at].has_arg == no_argument;
}

/*
 * A circuit as it is written into states: whole options, each with its value behind it, of
 * thousands of lines, for which getopt_long() would take most of the time.  1: it is not
 * written so.
 */
static int parse_plain(int argc, char **argv, unsigned int takes, const struct circuit *preset,
		       struct args *a, struct err *e)
{
	char *operands[2];
	int i, n = 0, rc = 0;

	for (i = 1; i < argc && !rc; i++) {
		const char *word = argv[i], *value = NULL;
		int at = strncmp(word, "--", 2) ? -1 : find_option(word + 2);

		if (*word != '-' && n < 2) {
			operands[n++] = argv[i];
			continue;
		}
		if (at < 0 || options[at].val > OPT_DEFAULT_CC ||
		    !takes_option(takes, options[at].val))
			return 1;
		if (options[at].has_arg && ++i == argc)
			return 1;
		if (options[at].has_arg)
			value = argv[i];
		rc = parse_circuit_option(options[at].val, value, a, e);
	}
	if (rc)
		return rc;
	follow_guarantee(a);
	return follow_shaper(preset, a, e) ?: parse_operand(n, operands, takes, a, e);
}

/* Whose option it is not */
static const char *taker(unsigned int takes, const char *command)
{
	if (takes & TAKES_LINE)
		return "a line of a file";
	return takes & TAKES_CIRCUIT && !(takes & TAKES_NAME) ? "ctcp-setup without a command" :
								 command;
}

/* By getopt_long(): options in short, of every command, in any order */
static int parse_any(int argc, char **argv, unsigned int takes, const struct circuit *preset,
		     struct args *a, struct err *e)
{
	int opt, rc = 0;

	opterr = 0;
	optind = 0;		/* glibc: start afresh */
	while (!rc && (opt = getopt_long(argc, argv, ":hV", options, NULL)) != -1) {
		if (opt == '?' || opt == ':')
			return bad_option(opt, argv, e);
		opt = long_option(opt);
		if (!takes_option(takes, opt))
			return err_set(e, -EINVAL, "\"--%s\" is not an option of %s",
				       option_name(opt), taker(takes, argv[0]));
		if (opt <= OPT_DEFAULT_CC)
			rc = parse_circuit_option(opt, optarg, a, e);
		else if (opt == OPT_CONFIRM_WITHIN)
			rc = parse_wait("--confirm-within", optarg, &a->confirm_us, e);
		else if (opt == OPT_WAIT)
			rc = parse_wait("--wait", optarg, &a->wait_us, e);
		else if (opt == OPT_FOR)
			rc = parse_wait("--for", optarg, &a->for_us, e);
		else
			set_flag(opt, a);
	}
	if (rc || a->help || a->version)
		return rc;
	if (a->for_us && !a->measure)
		return err_set(e, -EINVAL, "--for is how long --measure takes; add --measure");
	if (a->partial && a->confirm_us)
		return err_set(e, -EINVAL,
			       "--partial makes several changes, of which --confirm-within would wait for one; leave one of them out");
	follow_guarantee(a);
	rc = follow_shaper(preset, a, e);
	if (rc)
		return rc;
	return parse_operand(argc - optind, argv + optind, takes, a, e);
}

/* @argv[0] is the program or the command. */
int args_parse(int argc, char **argv, unsigned int takes, const struct circuit *preset,
	       struct args *a, struct err *e)
{
	const struct args none = { .circuit = *preset, .argc = argc, .argv = argv };
	int rc = 1;

	*a = none;
	if (takes & TAKES_CIRCUIT)
		rc = parse_plain(argc, argv, takes, preset, a, e);
	if (rc != 1)
		return rc;
	*a = none;
	return parse_any(argc, argv, takes, preset, a, e);
}

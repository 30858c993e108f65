// SPDX-License-Identifier: GPL-2.0
/*
 * Options of all commands, one table, parsed by getopt_long.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "units.h"

enum {
	OPT_RATE = 256, OPT_RTT, OPT_MULTIPLE, OPT_BURST, OPT_LIMIT, OPT_MSS, OPT_STREAMS,
	OPT_SHAPER, OPT_TO, OPT_VIA, OPT_LOSS, OPT_PACE, OPT_DEFAULT_CC, OPT_DRY_RUN,
	OPT_JSON, OPT_QUIET, OPT_FORCE, OPT_HELP, OPT_VERSION,
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
	{ "to", required_argument, NULL, OPT_TO },
	{ "via", required_argument, NULL, OPT_VIA },
	{ "loss", required_argument, NULL, OPT_LOSS },
	{ "pace", no_argument, NULL, OPT_PACE },
	{ "default-cc", no_argument, NULL, OPT_DEFAULT_CC },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "quiet", no_argument, NULL, OPT_QUIET },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ }
};

static int parse_circuit_option(int opt, const char *value, struct circuit *c,
				struct err *e)
{
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
		return parse_shaper(value, &c->shaper, e);
	case OPT_TO:
		return parse_prefix(value, &c->to, e);
	case OPT_VIA:
		return parse_gateway(value, &c->via, e);
	case OPT_LOSS:
		return parse_loss(value, &c->loss, e);
	default:
		c->pace |= opt == OPT_PACE;
		c->default_cc |= opt == OPT_DEFAULT_CC;
		return 0;
	}
}

static bool takes_option(unsigned int takes, int opt)
{
	if (opt == OPT_HELP || opt == OPT_VERSION)
		return true;
	if (opt == OPT_JSON)
		return takes & TAKES_JSON;
	if (opt == OPT_FORCE)
		return takes & TAKES_FORCE;
	if (opt == OPT_QUIET)
		return takes & (TAKES_CIRCUIT | TAKES_FORCE | TAKES_PEER);
	return takes & TAKES_CIRCUIT;
}

static void set_flag(int opt, struct args *a)
{
	a->dry_run |= opt == OPT_DRY_RUN;
	a->json |= opt == OPT_JSON;
	a->quiet |= opt == OPT_QUIET;
	a->force |= opt == OPT_FORCE;
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

/* The device, or of reset the peer; it may be left out. */
static int parse_operand(int argc, char **argv, unsigned int takes, struct args *a,
			 struct err *e)
{
	bool peer = takes & TAKES_PEER;

	if (argc > 1)
		return err_set(e, -EINVAL, "one %s at a time, not \"%s\" and \"%s\"",
			       peer ? "address" : "device", argv[0], argv[1]);
	if (!argc)
		return 0;
	return peer ? parse_peer(argv[0], &a->peer, e) : parse_dev(argv[0], a->circuit.dev, e);
}

/* @argv[0] is the program or the command. */
int args_parse(int argc, char **argv, unsigned int takes, struct args *a,
	       struct err *e)
{
	int opt, index, rc = 0;

	*a = (struct args){ .circuit = CIRCUIT_DEFAULTS };
	opterr = 0;
	optind = 0;		/* glibc: start afresh */
	while (!rc && (opt = getopt_long(argc, argv, ":", options, &index)) != -1) {
		if (opt == '?' || opt == ':')
			return bad_option(opt, argv, e);
		if (!takes_option(takes, opt))
			return err_set(e, -EINVAL,
				       "\"--%s\" is not an option of %s",
				       options[index].name, argv[0]);
		if (opt <= OPT_DEFAULT_CC)
			rc = parse_circuit_option(opt, optarg, &a->circuit, e);
		else
			set_flag(opt, a);
	}
	if (rc || a->help || a->version)
		return rc;
	return parse_operand(argc - optind, argv + optind, takes, a, e);
}

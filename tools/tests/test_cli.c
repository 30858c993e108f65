// SPDX-License-Identifier: GPL-2.0
/*
 * The command line end to end: { exit code, arguments, stdout, stderr }.
 *
 * The program is run as it is, without CAP_NET_ADMIN whoever runs the test, on
 * the loopback device, which it refuses, or only with --dry-run: nothing here
 * can change the machine.
 */
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "program.h"

struct row {
	int rc;
	const char *args;
	const char *out;	/* in stdout; "" = nothing there */
	const char *err;	/* in stderr; "" = nothing there */
};

static char dir[64];

/* In the child: no CAP_NET_ADMIN, not even by exec as root. */
static void run_program(const char *args)
{
	char run[80], line[1024];

	prctl(PR_CAPBSET_DROP, CAP_NET_ADMIN, 0, 0, 0);
	snprintf(run, sizeof(run), "%s/run", dir);
	setenv("CTCP_RUNDIR", run, 1);
	snprintf(line, sizeof(line), "exec %s/ctcp-setup %s >%s/out 2>%s/err", TEST_DIR, args,
		 dir, dir);
	execl("/bin/sh", "sh", "-c", line, NULL);
}

static void check(const struct row *r)
{
	int status = program_status(run_program, r->args);
	char out[16384], err[16384];

	program_wrote(dir, "out", out, sizeof(out));
	program_wrote(dir, "err", err, sizeof(err));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != r->rc || !program_matches(out, r->out) ||
	    !program_matches(err, r->err))
		fail_msg("ctcp-setup %s: status %#x\n--- stdout\n%s--- stderr\n%s", r->args,
			 status, out, err);
	if (r->rc && !program_is_error(err, "ctcp-setup: "))
		fail_msg("ctcp-setup %s: not one line of ctcp-setup's: %s", r->args, err);
}

static void check_all(const struct row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		check(&rows[i]);
}

#define CIRCUIT "--rate 4gbit --rtt 26ms "

static void test_usage(void **state)
{
	static const struct row rows[] = {
		{ 0, "--help", "Usage: ctcp-setup --rate RATE", "" },
		{ 0, "show --help", "Usage:", "" },
		{ 0, "undo --help", "Usage:", "" },
		{ 0, "--version", "ctcp-setup " CTCP_VERSION "\n", "" },
		{ 2, "", "", "--rate is missing" },
		{ 2, "lo", "", "--rate is missing" },
		{ 2, "--rate 4gbit lo", "", "--rtt is missing" },
		{ 2, CIRCUIT, "", "which device?" },
		{ 2, CIRCUIT "eth0 eth1", "", "not \"eth0\" and \"eth1\"" },
		{ 2, CIRCUIT "--frobnicate lo", "", "unknown option \"--frobnicate\"" },
		{ 2, CIRCUIT "-x lo", "", "unknown option \"-x\"" },
		{ 2, CIRCUIT "--json=1 lo", "", "\"--json=1\" takes no value" },
		{ 2, "lo --rate", "", "--rate needs a value" },
		{ 2, CIRCUIT "--force lo", "",
		  "\"--force\" is not an option of ctcp-setup without a command\n" },
		{ 2, "show --rate 4gbit", "", "\"--rate\" is not an option of show" },
		{ 0, "reset --help", "Usage:", "" },
		{ 2, "reset 192.0.2.7 192.0.2.8", "",
		  "one name or address at a time, not \"192.0.2.7\" and \"192.0.2.8\"" },
		{ 2, "reset 'a b'", "",
		  "\"a b\" is neither a circuit's name nor the address of a peer; write" },
		{ 2, "reset ''", "", "\"\" is neither" },
		{ 2, "reset abcdefghijklmnopqrstuvwxyz012345", "", "is neither" },
		{ 2, "reset --json", "", "\"--json\" is not an option of reset" },
		{ 2, "reset --force", "", "\"--force\" is not an option of reset" },
		{ 0, "adopt --help", "Usage:", "" },
		{ 2, "adopt", "", "which circuit? e.g. ctcp-setup adopt lhc\n" },
		{ 2, "adopt lhc eth1", "", "\"eth1\" is one word too many" },
		{ 2, "adopt 192.0.2.1", "", "\"192.0.2.1\" is not a name for a circuit" },
		{ 2, "adopt --force lhc", "", "\"--force\" is not an option of adopt" },
		{ 2, "undo", "", "which device or circuit? e.g. ctcp-setup undo eth1, or --all" },
		{ 2, "undo --json lo", "", "\"--json\" is not an option of undo" },
		{ 2, "show lo eth0", "", "one device at a time" },
		{ 0, "monitor --help", "Usage:", "" },
		{ 2, "monitor lo", "", "\"lo\" is one word too many" },
		{ 0, "watch --help", "ctcp-setup watch [--say] [--json]", "" },
		{ 2, "watch lo", "", "\"lo\" is one word too many" },
		{ 2, "watch --quiet", "", "\"--quiet\" is not an option of watch" },
		{ 2, "monitor --say", "", "\"--say\" is not an option of monitor" },
		{ 2, "apply --wait 60 -", "", "--wait: \"60\" has no unit; 60s or 60min?" },
		{ 2, "diff --partial -", "", "\"--partial\" is not an option of diff" },
		{ 2, "apply --partial --confirm-within 5s -", "", "--partial makes several" },
		{ 2, "diff --wait 60s -", "", "\"--wait\" is not an option of diff" },
		{ 2, "monitor --quiet", "", "\"--quiet\" is not an option of monitor" },
		{ 2, "show --confirm-within 5s", "",
		  "\"--confirm-within\" is not an option of show" },
		{ 2, "undo --confirm-within 2d eth1", "",
		  "--confirm-within: \"2d\" is out of range; from 1s to 1d" },
		{ 2, "add lhc --confirm-within", "", "--confirm-within needs a value" },
		{ 2, "verify --measure --for 900ms", "",
		  "--for: \"900ms\" is out of range; from 1s to 1d" },
		{ 2, "verify --measure --for 5", "", "--for: \"5\" has no unit; 5s or 5min?" },
		{ 2, "verify --for 5s", "", "--for is how long --measure takes; add --measure" },
		{ 2, "show --measure", "", "\"--measure\" is not an option of show" },
		{ 0, "verify --measure", "no circuit in this network namespace\n", "" },
		{ 0, "verify --measure --json",
		  "{\n  \"differences\": [],\n  \"circuits\": []\n}\n", "" },
		{ 4, "verify --measure lhc", "", "has set up no circuit lhc" },
		{ 4, "diff /dev/null", "", "/dev/null is empty" },
		{ 2, "save a b", "", "one file at a time, not \"a\" and \"b\"" },
		{ 1, "save /nonexistent/f", "", "cannot write /nonexistent/f" },
		{ 0, "save", "begin # circuits, for ctcp-setup apply\nend\n", "" },
		{ 4, "diff /nonexistent", "", "cannot read /nonexistent: No such file" },
		{ 0, "--help", "4 verify, show or diff could\nnot look", "" },
		{ 2, "confirm eth1", "", "\"eth1\" is one word too many" },
		{ 2, "cancel --force", "", "\"--force\" is not an option of cancel" },
		{ 2, "show --quiet", "", "\"--quiet\" is not an option of show" },
		{ 2, CIRCUIT "a/b", "", "\"a/b\" is not a device name" },
		{ 2, CIRCUIT "sixteencharacter", "", "is not a device name" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

/* A word that is no command, or not where one stands, is told of as what it is. */
static void test_verbs(void **state)
{
	static const struct row rows[] = {
		{ 2, "shwo", "",
		  "\"shwo\" is neither a command nor a device; did you mean show?" },
		{ 2, "delete lhc", "",
		  "\"delete\" is neither a command nor a device; did you mean del?" },
		{ 2, "udno lo", "",
		  "\"udno\" is neither a command nor a device; did you mean undo?" },
		{ 2, "udno --all", "", "did you mean undo?" },
		{ 2, "ad lhc " CIRCUIT "lo", "", "did you mean add?" },
		{ 2, "--json ver", "", "did you mean verify?" },
		{ 2, "remove lhc", "",
		  "\"remove\" is neither a command nor a device; ctcp-setup --help lists" },
		{ 2, "abcdefghijklmnopqrstuvwxyz lhc", "", "is neither a command nor a device; c" },
		{ 2, "--rate 4gbit add lhc --rtt 26ms lo", "",
		  "\"add\" is a command, which comes first: ctcp-setup add ..." },
		{ 2, "--rate 4gbit show", "", "\"show\" is a command, which comes first" },
		{ 2, "add " CIRCUIT "--to 192.0.2.0/24 lo", "",
		  "the circuit's name is missing before the device lo; e.g. ctcp-setup add lhc "
		  "--to 192.0.2.0/24 --rate 4gbit --rtt 26ms lo\n" },
		{ 2, "add lhc " CIRCUIT, "", "which device? e.g. ctcp-setup add lhc --to" },
		{ 2, "--dry-run verify", "", "\"--dry-run\" is not an option of verify" },
		{ 0, "--measure verify", "no circuit in this network namespace\n", "" },
		{ 1, "--dry-run --quiet add lhc " CIRCUIT "--to 192.0.2.0/24 lo", "",
		  "lo is the loopback device" },
		{ 1, "--unpaced change lhc", "", "this needs CAP_NET_ADMIN" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

/* A plan of a file in JSON, too; this one takes nothing away as there is nothing. */
static void test_dry_run(void **state)
{
	static const struct row rows[] = {
		{ 0, "apply --dry-run ${CTCP_RUNDIR%run}none", "# nothing to change\n", "" },
		{ 0, "apply --dry-run --json ${CTCP_RUNDIR%run}none",
		  "  \"applied\": false,\n  \"chosen\": [],\n  \"changes\": [],\n"
		  "  \"confirm\": null,\n  \"notes\": [],\n  \"commands\": [", "" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

static void test_values(void **state)
{
	static const struct row rows[] = {
		{ 2, "--rate 4 --rtt 26ms lo", "", "\"4\" has no unit; 4mbit or 4gbit?" },
		{ 2, "--rate 4mbps --rtt 26ms lo", "",
		  "\"4mbps\" means megabytes per second to tc; did you mean 4mbit?" },
		{ 2, "--rate -4gbit --rtt 26ms lo", "", "\"-4gbit\"" },
		{ 2, "--rate 0gbit --rtt 26ms lo", "", "from 8kbit to 1tbit" },
		{ 2, "--rate nan --rtt 26ms lo", "", "\"nan\" is not a rate" },
		{ 2, "--rate inf --rtt 26ms lo", "", "\"inf\" is not a rate" },
		{ 2, "--rate '' --rtt 26ms lo", "", "\"\" is not a rate" },
		{ 2, "--rate '4 gbit' --rtt 26ms lo", "", "unknown unit \" gbit\"" },
		{ 2, "--rate 4gbitx --rtt 26ms lo", "", "unknown unit \"gbitx\"" },
		{ 2, "--rate 99999999999999999999gbit --rtt 26ms lo", "", "out of range" },
		{ 2, "--rate 4gbit --rtt 26 lo", "", "26ms or 26us?" },
		{ 2, "--rate 4gbit --rtt 0us lo", "", "from 1us to 10s" },
		{ 2, "--rate 4gbit --rtt 11s lo", "", "from 1us to 10s" },
		{ 2, CIRCUIT "--multiple 11 lo", "", "from 0.01 to 10" },
		{ 2, CIRCUIT "--multiple x lo", "", "\"x\" is not a number" },
		{ 2, CIRCUIT "--burst 1kbit lo", "", "k is 1024 bytes" },
		{ 2, CIRCUIT "--burst 5gb lo", "", "4294967295b" },
		{ 2, CIRCUIT "--limit 0 lo", "", "--limit: \"0\" is out of range" },
		{ 2, CIRCUIT "--mss 87 lo", "", "from 88 to 65496" },
		{ 2, CIRCUIT "--streams 0 lo", "", "from 1 to 65535" },
		{ 2, CIRCUIT "--streams 2.5 lo", "", "not a whole number" },
		{ 2, CIRCUIT "--loss 50% lo", "", "--loss: \"50%\" is out of range" },
		{ 2, CIRCUIT "--loss -1% lo", "", "\"-1%\" is not a part of the packets" },
		{ 2, CIRCUIT "--loss 1 lo", "", "e.g. 1% or 0.01" },
		{ 2, CIRCUIT "--loss lots lo", "", "write e.g. 0.1% or 1e-3" },
		{ 2, CIRCUIT "--pace=4gbit lo", "", "takes no value" },
		{ 2, CIRCUIT "--early-window=1 lo", "", "takes no value" },
		{ 2, "show --pace", "", "\"--pace\" is not an option of show" },
		{ 2, CIRCUIT "--shaper hfsc lo", "", "one of tbf, fq, htb, none, auto" },
		{ 2, CIRCUIT "--shaper auto --pace lo", "", "--pace needs --shaper none" },
		{ 2, CIRCUIT "--guarantee half lo", "",
		  "--guarantee: \"half\" is not one of none, semi, full" },
		{ 2, CIRCUIT "--guarantee semi --prefer me lo", "",
		  "--prefer: \"me\" is not one of circuit, others" },
		{ 2, CIRCUIT "--guarantee semi lo", "", "whose traffic is preferred?" },
		{ 2, CIRCUIT "--prefer others lo", "",
		  "--prefer others is for --guarantee semi; with full the path gets circuit" },
		{ 2, CIRCUIT "--guarantee none --pace lo", "",
		  "--pace is the module's, and this path gets htcp" },
		{ 2, "add lhc " CIRCUIT "--to 10.0.0.0/8 --guarantee none --early-window lo", "",
		  "--early-window is the module's, and this path gets htcp" },
		{ 2, "show --guarantee none", "", "\"--guarantee\" is not an option of show" },
		{ 2, CIRCUIT "--to 10.0.0.1/8 lo", "", "did you mean 10.0.0.0/8?" },
		{ 2, CIRCUIT "--to nowhere lo", "", "not a prefix" },
		{ 2, CIRCUIT "--to 10.0.0.0/8 --to 10.0.0.0/8 lo", "",
		  "--to: 10.0.0.0/8 is given twice" },
		{ 2, CIRCUIT "--to 10.0.0.0/8,11.0.0.0/8,10.0.0.0/8 lo", "",
		  "--to: 10.0.0.0/8 is given twice" },
		{ 2, CIRCUIT "--to 10.0.0.0/8, lo", "", "--to: \"\" is not a prefix" },
		{ 2, CIRCUIT "--to 10.0.0.0/8,,11.0.0.0/8 lo", "", "--to: \"\" is not a prefix" },
		{ 2, CIRCUIT "--to 10.0.0.0/8,10.1.0.1/16 lo", "", "did you mean 10.1.0.0/16?" },
		{ 2, CIRCUIT "--to 10.0.0.0,10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5,"
		  "10.0.0.6,10.0.0.7,10.0.0.8,10.0.0.9,10.0.0.10,10.0.0.11,10.0.0.12,10.0.0.13,"
		  "10.0.0.14,10.0.0.15,10.0.0.16 lo", "",
		  "--to: 10.0.0.16/32 is one prefix more than a circuit takes here, 16" },
		{ 2, CIRCUIT "--name 'a b' lo", "", "\"a b\" is not a name for a circuit" },
		{ 2, CIRCUIT "--name 10.0.0.1 lo", "", "not an address" },
		{ 2, CIRCUIT "10.0.0.1", "",
		  "the name of device \"10.0.0.1\" cannot be that of its circuit; --name" },
		{ 2, CIRCUIT "--via 10.0.0.1 lo", "", "--via needs --to" },
		{ 2, CIRCUIT "--to 10.0.0.0/8 --via fe80::1 lo", "",
		  "--via: fe80::1 is a gateway, but no prefix of --to is of its family" },
		{ 2, CIRCUIT "--to 10.0.0.0/8 --via 10.0.0.1 --via 10.0.0.2 lo", "",
		  "--via: \"10.0.0.2\" is a second gateway of its family, beside 10.0.0.1" },
		{ 2, CIRCUIT "--to 10.0.0.0/8 --via 10.0.0.0/8 lo", "", "not an address" },
		{ 2, CIRCUIT "--shaper fq --burst 100kb lo", "", "--shaper fq has none" },
		{ 2, CIRCUIT "--shaper none --limit 100kb lo", "", "has no queue" },
		{ 2, CIRCUIT "--shaper htb lo", "", "htb needs --to" },
		{ 2, CIRCUIT "--rest 1gbit lo", "", "--shaper tbf has no classes" },
		{ 2, CIRCUIT "--rest 1mbps lo", "", "--rest: \"1mbps\" means megabytes" },
		{ 2, CIRCUIT "--uplink 1mbps lo", "", "--uplink: \"1mbps\" means megabytes" },
		{ 2, "show --uplink 1gbit", "", "\"--uplink\" is not an option of show" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

#define SET "circuit set lhc "

static void test_circuit_words(void **state)
{
	static const struct row rows[] = {
		{ 0, "circuit --help", "Usage:", "" },
		{ 2, "circuit", "",
		  "\"\" is not one of set NAME prefix P... window N, del NAME, list" },
		{ 2, "circuit set", "", "\"set\" is not one of" },
		{ 2, "circuit add lhc", "", "\"add lhc\" is not one of" },
		{ 2, "circuit del", "", "\"del\" is not one of" },
		{ 2, "circuit del a b", "", "\"del a\" is not one of" },
		{ 2, "circuit list lhc", "", "\"list lhc\" is not one of" },
		{ 2, "circuit --json list", "", "\"--json\" is not an option of circuit" },
		{ 2, "circuit set 'a b' window 1", "", "\"a b\" is not a name for a circuit" },
		{ 2, "circuit del 192.0.2.1", "", "\"192.0.2.1\" is not a name for a circuit" },
		{ 2, "circuit del -- -x", "", "\"-x\" is not a name for a circuit" },
		{ 2, SET, "", "circuit lhc needs a prefix, e.g. prefix 192.0.2.0/24" },
		{ 2, SET "window 10", "", "needs a prefix" },
		{ 2, SET "prefix 192.0.2.0/24", "", "needs a window" },
		{ 2, SET "prefix", "", "\"prefix\" needs a value" },
		{ 2, SET "prefix 192.0.2.0/24 window 1 unpacd", "",
		  "\"unpacd\" is not one of prefix, window, rate, unpaced, dev," },
		{ 2, SET "prefix 192.0.2.1/24 window 1", "",
		  "prefix: \"192.0.2.1/24\" has bits behind its prefix length; did you mean" },
		{ 2, SET "prefix x window 1", "", "prefix: \"x\" is not a prefix" },
		{ 2, SET "prefix ::/0 window 0", "", "window: \"0\" is out of range" },
		{ 2, SET "prefix ::/0 window 67108865", "", "from 1 to 67108864" },
		{ 2, SET "prefix ::/0 window 1 window 2", "",
		  "window is given twice, again as \"2\"" },
		{ 2, SET "prefix ::/0 window 1 rate 4", "",
		  "rate: \"4\" has no unit; 4mbit or 4gbit?" },
		{ 2, SET "prefix ::/0 window 1 mark 0", "", "mark: \"0\" is out of range" },
		{ 2, SET "prefix ::/0 window 1 dev a/b", "", "\"a/b\" is not a device name" },
		{ 2, SET "prefix ::/0 window 1 to x", "", "\"to\" is not one of prefix, window" },
		{ 1, SET "prefix ::/0 window 1 rate 1gbit dev lo mark 7 early-window", "",
		  "this needs CAP_NET_ADMIN" },
		{ 1, "circuit del lhc", "", "this needs CAP_NET_ADMIN" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

static void test_refused(void **state)
{
	static const struct row rows[] = {
		{ 1, CIRCUIT "lo", "", "CAP_NET_ADMIN; run it as root, or with --dry-run" },
		{ 1, "undo lo", "", "this needs CAP_NET_ADMIN; run it as root\n" },
		{ 1, "reset", "", "this needs CAP_NET_ADMIN; run it as root\n" },
		{ 1, "--quiet reset 2001:db8::7", "", "this needs CAP_NET_ADMIN" },
		{ 1, "reset eth1", "", "this needs CAP_NET_ADMIN" },
		{ 1, "adopt lhc", "", "this needs CAP_NET_ADMIN; run it as root\n" },
		{ 1, "--json adopt --dry-run lhc", "", "this needs CAP_NET_ADMIN" },
		{ 1, "monitor", "", "this needs CAP_NET_ADMIN; run it as root\n" },
		{ 1, "monitor --json", "", "this needs CAP_NET_ADMIN" },
		{ 1, "watch", "", "this needs CAP_NET_ADMIN; run it as root\n" },
		{ 1, "watch --say", "", "this needs CAP_NET_ADMIN" },
		{ 1, CIRCUIT "--dry-run lo", "", "lo is the loopback device" },
		{ 1, "--dry-run " CIRCUIT "no-such-device", "",
		  "there is no device no-such-device" },
		{ 4, "show lo", "", "there is no circuit lo, nor one on a device" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

static void test_show(void **state)
{
	static const struct row rows[] = {
		{ 0, "show", "no circuit in this network namespace\n", "" },
		{ 0, "show --json", "[]\n", "" },
		{ 0, "--json show", "[]\n", "" },
		{ 4, "--json show lo", "", "there is no circuit lo, nor one on a device" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

static int setup(void **state)
{
	char path[80];
	FILE *none;

	(void)state;
	strcpy(dir, "/tmp/ctcp-cli-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	/* a file of no circuits */
	snprintf(path, sizeof(path), "%s/none", dir);
	none = fopen(path, "w");
	if (!none)
		return -1;
	fputs("# none\n", none);
	return fclose(none);
}

static int teardown(void **state)
{
	char cmd[100];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_verbs),
		cmocka_unit_test(test_dry_run),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_circuit_words),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_show),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

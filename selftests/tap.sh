# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# tap.sh: print a test's points as TAP on stdout, for any POSIX shell; source this file
#
# tap.py and tap.h are the same for Python and C; lab/tap.awk reads what all of them print.

KSFT_SKIP=4
TAP_COUNT=0
TAP_FAILED=0
TAP_SKIPPED=0

# tap_begin: start to count anew, in a shell that runs several tests
tap_begin()
{
	TAP_COUNT=0
	TAP_FAILED=0
	TAP_SKIPPED=0
}

# pass DESCRIPTION
pass()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	printf '%s\n' "ok $TAP_COUNT - $1"
}

# skip DESCRIPTION REASON: a point that this machine cannot decide.  Where the test has to
# run, that is a failure (tap.awk); by hand, the exit status shows that a point is missing.
skip()
{
	pass "$1 # SKIP $2"
	TAP_SKIPPED=$((TAP_SKIPPED + 1))
}

# fail DESCRIPTION [LINE...]
fail()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	TAP_FAILED=$((TAP_FAILED + 1))
	printf '%s\n' "not ok $TAP_COUNT - $1"
	shift
	if [ $# -gt 0 ]; then printf '%s\n' "$@" | sed 's/^/# /'; fi
}

# point STATUS DESCRIPTION: the point holds if STATUS is 0
point()
{
	if [ "$1" = 0 ]; then pass "$2"; else fail "$2"; fi
}

skip_all()
{
	printf '%s\n' "1..0 # SKIP $*"
	exit $KSFT_SKIP
}

# tap_plan N: print the plan, the number of points
tap_plan()
{
	echo "1..$1"
}

# tap_finish: print the plan, and exit with the test's status
tap_finish()
{
	tap_plan "$TAP_COUNT"
	[ "$TAP_FAILED" = 0 ] && [ "$TAP_COUNT" -gt 0 ] || exit 1
	[ "$TAP_SKIPPED" = 0 ] || exit $KSFT_SKIP
	exit 0
}

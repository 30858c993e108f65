# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# watch_lib.sh: a running ctcp-setup watch, and what it says; source it after setup_lib.sh
#
# It has a second to act: from the command that undoes something until the kernel has that
# again, or until watch has printed the line.

need_commands ctcp-setup circuit_nl tc jq flock
need_module

IN_TIME=1000	# ms

# shellcheck disable=SC2034 # of tests that source this
LHC="add lhc --to 10.81.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 10ms"
# shellcheck disable=SC2034
SIX="add six --to fd81::/32 --via fd78::254 --rate 1gbit --rtt 10ms"

# ms that the machine has been up
now_ms()
{
	local up

	read -r up _ </proc/uptime
	echo $((10#${up/./}0))
}

# --- a host ------------------------------------------------------------------

# fresh NAME: a host of that name, without the module and any circuit
fresh()
{
	without_module
	host "$1"
	BEFORE=$(state)
}

# host_done NAME: undo all circuits before the host goes, as they would hold the module
host_done()
{
	works "$1: undo" setup undo --quiet --all
	unchanged "$1: all as before" "$BEFORE"
	host_end
}

has_route()
{
	in_host ip route show 10.81.0.0/16 | grep -q 'via 10.78.0.254 dev eth1 .*congctl circuit'
}

# as_set_up NAME
as_set_up()
{
	works "$1: verify" setup verify
}

# --- watch -------------------------------------------------------------------

# said PATTERN: true if a line of watch matches
said()
{
	grep -qE -- "$1" "$TMP/watch"
}

# watch [OPTION...]: start it in the background, and wait until it says that it watches
watch()
{
	: >"$TMP/watch"
	spawn -e -n "$HOST" ctcp-setup watch "$@" >>"$TMP/watch" 2>"$TMP/watch.err" &
	WATCH=$!
	defer "kill $WATCH"
	until_true 10 said watching || fail "watch begins" "$(cat "$TMP/watch" "$TMP/watch.err")"
}

# watch_ends NAME [PID]: SIGTERM ends it, with exit status 0 and within a second
watch_ends()
{
	local begun pid=${2:-$WATCH}

	begun=$(now_ms)
	kill -TERM "$pid"
	wait "$pid"
	equal "$1: SIGTERM ends it, exit status" 0 $?
	at_most "$1: ms until it has ended" $IN_TIME $(($(now_ms) - begun))
	equal "$1: nothing on standard error" "" "$(<"$TMP/watch.err")"
}

# lines PATTERN: how many lines of watch match
lines()
{
	grep -cE -- "$1" "$TMP/watch"
}

# in_time NAME COMMAND...: the command succeeds within a second of $BEGUN
in_time()
{
	local what=$1

	shift
	until_true 3 "$@"
	succeeds "$what" "$@"
	at_most "$what: ms" $IN_TIME $(($(now_ms) - BEGUN))
}

# settled: wait until watch has handled what it has heard
settled()
{
	sleep 0.7
}

# undone NAME PATTERN COMMAND...: watch sets again what the command did to lhc, and says so
undone()
{
	local what=$1 pattern=$2

	shift 2
	: >"$TMP/watch"
	BEGUN=$(now_ms)
	in_host "$@" || fail "$what: the command" "$*"
	in_time "$what: restored" said " restored lhc $pattern"
	as_set_up "$what"
}

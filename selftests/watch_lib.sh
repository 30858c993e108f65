# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# watch_lib.sh: a running ctcp-setup watch, and what it says; read it after setup_lib.sh
#
# Within a second: from the command that undid it until the kernel has it again, or until
# the line is there.

need_commands ctcp-setup circuit_nl tc jq flock
need_module

IN_TIME=1000	# ms

# shellcheck disable=SC2034 # of tests that read this
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

# host_done NAME: without a circuit, as the module stays while another namespace has one
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

# said PATTERN: a line of the watch that matches
said()
{
	grep -qE -- "$1" "$TMP/watch"
}

# watch [OPTION...]: in the background, until it says that it watches
watch()
{
	: >"$TMP/watch"
	spawn -e -n "$HOST" ctcp-setup watch "$@" >>"$TMP/watch" 2>"$TMP/watch.err" &
	WATCH=$!
	defer "kill $WATCH"
	until_true 10 said watching || fail "watch begins" "$(cat "$TMP/watch" "$TMP/watch.err")"
}

# watch_ends NAME [PID]: by SIGTERM, cleanly and at once
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

# lines PATTERN: of the watch, how many
lines()
{
	grep -cE -- "$1" "$TMP/watch"
}

# in_time NAME COMMAND...: it succeeds within a second of $BEGUN
in_time()
{
	local what=$1

	shift
	until_true 3 "$@"
	succeeds "$what" "$@"
	at_most "$what: ms" $IN_TIME $(($(now_ms) - BEGUN))
}

# settled: what it has heard was looked at
settled()
{
	sleep 0.7
}

# undone NAME PATTERN COMMAND...: what it does to lhc is set again, and the line says so
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

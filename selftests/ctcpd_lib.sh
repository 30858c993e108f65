# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# ctcpd_lib.sh: what the tests of a running ctcpd share; source it after lib.sh.
#
# The network of lib.sh has a second remote: 10 Mbit/s and a queue of 20 packets before it.
#
#	| rtr  r3 +------------+ eth1  slow |
#	          tbf            10.77.3.1
#
# The daemon runs in src with $TMP/ctcpd.conf, and logs to $LOG.

SLOW=ctcp-$$-slow
SLOW4=10.77.3.1
SOCKET=$TMP/run/control
LOG=$TMP/log
DAEMON=

# eventually SECONDS COMMAND...: as until_true, but once a second: each look takes several programs,
# and the daemon itself polls once a second
eventually()
{
	local limit=$1

	shift
	while ! "$@" >/dev/null 2>&1; do
		limit=$((limit - 1))
		[ $limit -gt 0 ] || return 1
		sleep 1
	done
}

# --- the network --------------------------------------------------------------------

second_remote()
{
	ip netns add "$SLOW"
	defer "ip netns del $SLOW"
	ip -n "$SLOW" link set lo up
	wire "$RTR" r3 "$SLOW" eth1
	ip -n "$RTR" addr add 10.77.3.254/24 dev r3
	ip -n "$SLOW" addr add $SLOW4/24 dev eth1
	ip -n "$SLOW" route add default via 10.77.3.254
	ip -n "$SRC" route add 10.77.3.0/24 via 10.77.1.254
	ip netns exec "$SLOW" ethtool -K eth1 gro off >/dev/null
	in_rtr tc qdisc add dev r3 root tbf rate 10mbit burst 4kb limit 30kb
}

serve_slow()
{
	ip netns exec "$SLOW" circuit_sock serve "$PORT" >/dev/null 2>&1 &
	defer "kill $!"
	until_true 10 slow_listens
}

slow_listens()
{
	ip netns exec "$SLOW" ss -Hltn "sport = :$PORT" | grep -q LISTEN
}

# --- the daemon ------------------------------------------------------------------------

ask()
{
	ctcpd "$@" --socket "$SOCKET"
}

# value FILTER: print what the jq FILTER finds in the daemon's status
value()
{
	ask status --json | jq -r "$1"
}

value_is()
{
	[ "$(value "$1")" = "$2" ]
}

answers()
{
	ask status
}

# begin [OPTION...]
begin()
{
	background src ctcpd run --config "$TMP/ctcpd.conf" --socket "$SOCKET" "$@" >>"$LOG" 2>&1
	DAEMON=$!
	defer "kill -KILL $DAEMON"
	eventually 20 answers || fail "the daemon answers" "$(cat "$LOG")"
}

# end SIGNAL: end the daemon; ENDED is its exit status.  0 if no case of ONLY_CASES began one:
# wait without a pid would wait for the servers
end()
{
	# shellcheck disable=SC2034 # of tests that source this
	ENDED=0
	[ -n "$DAEMON" ] || return 0
	kill "-$1" $DAEMON
	wait $DAEMON 2>/dev/null
	# shellcheck disable=SC2034 # of tests that source this
	ENDED=$?
}

polls_go_on()
{
	local before

	before=$(value .polls)
	eventually 20 more_than .polls "$before"
}

# more_than FILTER N
more_than()
{
	[ "$(value "$1")" -gt "$2" ]
}

# logged PATTERN: how many lines of the log match
logged()
{
	grep -cE -- "$1" "$LOG"
}

says()
{
	eventually 60 grep -qE -- "$1" "$LOG"
}

# verdict REMOTE: print the present verdict
verdict()
{
	ask why "$1" --json | jq -r .now.judgement.verdict
}

verdict_is()
{
	[ "$(verdict "$1")" = "$2" ]
}

# visits REMOTE: how many the history has
visits()
{
	ask why "$1" --json 2>/dev/null | jq '.visits | length'
}

has_visits()
{
	[ "$(visits "$1")" -ge "${2:-1}" ]
}

# polls: wait for three polls, so that what one finds the next has acted on
polls()
{
	polls_go_on
	polls_go_on
	polls_go_on
}

# slow_begins: start an endless transfer to the slow remote; its process is $STREAM
slow_begins()
{
	background src circuit_sock send -n 100000000000 $SLOW4 $PORT >/dev/null 2>&1
	STREAM=$!
	defer "kill $STREAM"
}

slow_ends()
{
	kill $STREAM
	wait $STREAM 2>/dev/null
	in_src ss -tK dst $SLOW4 >/dev/null
}

# lines: how many the log has so far
lines()
{
	wc -l <"$LOG"
}

# said_since LINE PATTERN: how many lines of the log after that one match
said_since()
{
	tail -n "+$(($1 + 1))" "$LOG" | grep -cE -- "$2"
}

was_said_since()
{
	[ "$(said_since "$1" "$2")" -gt 0 ]
}

says_since()
{
	eventually "$1" was_said_since "$2" "$3"
}

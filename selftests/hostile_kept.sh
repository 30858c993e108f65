#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# Breakers and losses are kept when a user's sockets have gone: no user gets rid of his own, or of
# another's, by having many.
#
#	left_behind	breakers tripped in other circuits, more than are kept
#	fills		many open breakers in other circuits, to displace those of others
#	evicts		losses displaced by those of many other connections
#	logs		lines of the log, by breakers of several namespaces

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/hostile_lib.sh"

MANY=300		# circuits left behind, more than are kept
KEPT=64			# of these, as they are of one uid
FORGOTTEN=4		# enum tcp_circuit_cause

many_tripped()
{
	got_in src circuit_nl stats
	find_value trips '[0-9]*' "$GOT"
	[ "$VALUE" -ge "$1" ]
}

kept_is()
{
	[ "$(stat_of kept)" = "$1" ]
}

# leave_behind N [USER]: circuits to so many peers, tripped, and no socket
leave_behind()
{
	local pid trips user=${2:-$MALLORY}

	trips=$(stat_of trips)
	background src circuit_hostile many -u "$user" -n "$1" -t 600000 \
		10.99.1.1 $PORT >/dev/null
	pid=$!
	until_true 60 many_connected "$1"
	damage loss 25%
	until_true 120 many_tripped $((trips + $1))
	kill $pid
	wait $pid 2>/dev/null
	damage
	at_least "left behind: breakers that tripped" "$1" \
		$(($(stat_of trips) - trips))
}

nothing_is_there()
{
	[ "$(stat_of memory)" = 0 ]
}

# his_flight ADDRESS: what one socket of Mallory's has in flight at most, segments
his_flight()
{
	field flight_max "$(hostile windows -u $MALLORY -t 1000 "$1" $PORT)"
}

forgotten()
{
	grep -c "event=closed .* cause=$FORGOTTEN " "$TMP/events"
}

are_forgotten()
{
	[ "$(forgotten)" -ge "$1" ]
}

# More open breakers than are kept
many_left_behind()
{
	local before monitor

	fresh
	before=$(stat_of memory)
	trip $MALLORY
	end_sockets src
	at_least "a user that is kept: bytes" 100 $(($(stat_of memory) - before))
	background src circuit_nl monitor >"$TMP/events"
	monitor=$!
	until_true 10 grep -q ready "$TMP/events"
	leave_behind $MANY
	end_sockets src
	# whoever listens may come to it later
	until_true 10 are_forgotten $((MANY - KEPT))
	kill $monitor
	wait $monitor 2>/dev/null
	at_least "left behind: events that say that one was forgotten" $((MANY - KEPT)) \
		"$(forgotten)"
	equal "left behind: how many may be kept" 256 "$(stat_of kept_max)"
	at_most "left behind: kept" $KEPT "$(stat_of kept)"
	at_least "left behind: kept" $((KEPT * 3 / 4)) "$(stat_of kept)"
	at_most "left behind: circuits" $KEPT "$(stat_of peers)"
	at_most "left behind: bytes for each" 2048 \
		$(($(stat_of memory) / KEPT))
	at_most "left behind, more than are kept: segments where he tripped first" \
		$CUT "$(his_flight $DST4)"
}

# Another user's open breakers, more than are kept: each of the two remains marked.
others_left_behind()
{
	leave_behind $((KEPT + 1)) $ALICE
	end_sockets src
	at_most "another user leaves as many behind: segments where he never was, of 20" 2 \
		"$(his_flight 10.99.9.8)"
	end_sockets src
}

# It forgets what it is asked to, and nothing else.
reset_of_those()
{
	in_src circuit_nl new excl other prefix 10.88.0.0/16 window 77
	succeeds "another circuit is reset" in_src circuit_nl reset other
	at_most "another circuit is reset: segments where he tripped first" \
		$CUT "$(his_flight $DST4)"
	in_src circuit_nl del other
	succeeds "this circuit is reset" in_src circuit_nl reset wave
	at_least "this circuit is reset: segments" $WINDOW \
		"$(his_flight $DST4)"
	end_sockets src
	at_most "and in a new circuit he is still cut: segments of 20" 2 \
		"$(his_flight 10.99.9.9)"
	end_sockets src
	succeeds "all are reset" in_src circuit_nl reset
	at_least "reset: segments where he tripped first" $WINDOW \
		"$(his_flight $DST4)"
	no_wave
	equal "reset: kept" 0 "$(stat_of kept)"
	equal "reset: circuits" 0 "$(stat_of peers)"
	equal "reset: memory" 0 "$(stat_of memory)"
}

# A quiet time shorter than the machine's own
quiet_time_of_those()
{
	sysctl -qw ${CEILING}_breaker=0
	defer "sysctl -qw ${CEILING}_breaker=1"
	set_in src net.ipv4.tcp_circuit_breaker_quiet 3
	leave_behind 20
	end_sockets src
	until_true 30 kept_is 0
	equal "after the quiet time: kept" 0 "$(stat_of kept)"
	equal "after the quiet time: circuits" 0 "$(stat_of peers)"
	sysctl -qw ${CEILING}_breaker=1
}

left_behind()
{
	set_in src net.ipv4.tcp_circuit_fcwnd 20
	set_in src net.ipv4.tcp_circuit_breaker_ms 500
	set_in src net.ipv4.tcp_circuit_breaker_quiet 0
	end_sockets src
	until_true 60 nothing_is_there
	many_left_behind
	others_left_behind
	reset_of_those
	quiet_time_of_those
	set_in src net.ipv4.tcp_circuit_breaker_quiet 300
	set_in src net.ipv4.tcp_circuit_breaker_ms 2000
	set_in src net.ipv4.tcp_circuit_fcwnd 0
}

# Who keeps many open breakers gets rid of neither his next ones nor of others'.
fills()
{
	local out

	set_in src net.ipv4.tcp_circuit_fcwnd 20
	set_in src net.ipv4.tcp_circuit_breaker_ms 500
	in_src circuit_nl reset
	fresh
	in_src circuit_nl new excl other prefix 10.99.200.0/24 window 500 >/dev/null
	leave_behind 256
	end_sockets src
	at_most "one uid's open breakers: kept" $KEPT "$(stat_of kept)"
	set_in src net.ipv4.tcp_circuit_breaker_ms 2000
	damage loss 25%
	out=$(hostile evict -u $MALLORY -n 4 -p 1300 -t 10000 $DST4 $PORT)
	damage
	at_least "beside his open breakers elsewhere: cycles" 5 "$(field cycles "$out")"
	at_least "beside his open breakers elsewhere: tripped in" \
		$(($(field cycles "$out") - 1)) "$(field tripped "$out")"
	end_sockets src
	trip $ALICE
	end_sockets src
	out=$(hostile windows -u $ALICE -t 1000 10.99.200.1 $PORT)
	equal "beside his open breakers elsewhere: another user in a clean circuit, segments" \
		500 "$(field flight_max "$out")"
	in_src circuit_nl reset
	in_src circuit_nl del other
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	end_sockets src
	no_wave
}

# Losses are not forgotten for those of many connections that have lost a segment each.
evicts()
{
	local out

	set_in src net.ipv4.tcp_circuit_fcwnd 20
	fresh
	damage loss 20%
	out=$(hostile evict -u $MALLORY -n 350 -p 1300 -t 8000 $DST4 $PORT)
	damage
	at_least "others are forgotten first: cycles" 5 "$(field cycles "$out")"
	at_least "others are forgotten first: tripped in" 3 "$(field tripped "$out")"
	in_src circuit_nl reset
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	end_sockets src
	no_wave
}

# away N: dst leaves N circuits to as many peers behind, tripped, as leave_behind() does for src
away()
{
	local pid

	background dst circuit_hostile many -u $MALLORY -n "$1" -t 600000 \
		10.88.1.1 $PORT >/dev/null
	pid=$!
	until_true 60 away_connected "$1"
	in_rtr tc qdisc replace dev r1 root netem limit 1000000 delay $((RTT_MS / 2))ms loss 25%
	until_true 120 away_tripped "$1"
	kill $pid
	wait $pid 2>/dev/null
	in_rtr tc qdisc replace dev r1 root netem limit 1000000 delay $((RTT_MS / 2))ms
	end_sockets dst
}

away_connected()
{
	[ "$(in_dst ss -Htn state established "dport = :$PORT" | wc -l)" -ge "$1" ]
}

away_tripped()
{
	[ "$(field trips "$(in_dst circuit_nl stats)")" -ge "$1" ]
}

# All namespaces but the machine's own have one limit of what they write to the log.
logs()
{
	# shellcheck disable=SC2034 # serve sets it
	local SERVER ns lines

	for ns in src dst; do
		set_in $ns net.ipv4.tcp_circuit_fcwnd 20
		set_in $ns net.ipv4.tcp_circuit_breaker_ms 500
	done
	serve src
	away 12
	leave_behind 12
	end_sockets src
	sleep 6
	echo "hostile_kept: two namespaces" >/dev/kmsg
	for ns in src dst; do
		at_least "open breakers of a namespace: $ns" 12 \
			"$(field kept "$(in_$ns circuit_nl stats)")"
		in_$ns circuit_nl reset
	done
	lines=$(dmesg | sed '1,/hostile_kept: two namespaces/d' | grep -c 'breaker closed')
	at_least "two namespaces close 12 breakers each at once: lines of the log" 1 "$lines"
	at_most "two namespaces close 12 breakers each at once: lines of the log" 10 "$lines"
	serve_end
	for ns in src dst; do
		set_in $ns net.ipv4.tcp_circuit_fcwnd 0
		set_in $ns net.ipv4.tcp_circuit_breaker_ms 2000
	done
}

hostile_network
cases left_behind fills evicts logs
finish

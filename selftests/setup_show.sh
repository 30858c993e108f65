#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup show tells what the sockets of each circuit do, of ours and of others',
# and of peers that have one of themselves, and that a breaker has tripped;
# ctcp-setup reset gives the window back, and says what there is not; ctcp-setup monitor
# tells both as they happen.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup jq circuit_sock setpriv
need_module

# 100 Mbit/s, 20 ms: 250000 bytes x 1.3 in segments of 1514 is 215.
CIRCUIT=(--rate 100mbit --rtt 20ms)
FCWND=215

# senders N BYTES ADDRESS: they stay connected
senders()
{
	local i

	SENDERS=
	for ((i = 0; i < $1; i++)); do
		background src timeout 600 circuit_sock send -C circuit -n "$2" \
			-k 600000 "$3" "$PORT" >>"$TMP/senders"
		SENDERS+=" $!"
	done
}

# A peer's circuit stays until the last of its sockets has said goodbye.
senders_end()
{
	# shellcheck disable=SC2086 # a list
	kill $SENDERS
	# shellcheck disable=SC2086
	wait $SENDERS 2>/dev/null
	until_true 60 no_circuits
}

# live FILTER: of the first circuit
live()
{
	setup show --json | jq -r ".[0].circuit.$1"
}

# shellcheck disable=SC2317 # called by until_true
live_is()
{
	[ "$(live "$1")" = "$2" ]
}

# circuit_is NAME EXPECTED FIELD, polled
circuit_is()
{
	until_true 30 live_is "$3" "$2"
	equal "$1" "$2" "$(live "$3")"
}

# sockets_of NAME ADDRESS SELECTORS: three sockets to it
sockets_of()
{
	senders 3 10000 "$2"
	circuit_is "$1: sockets" 3 sockets
	works "$1: show" setup show
	matches "$1: show, the circuit" \
		"^  circuit  eth1 $3: [0-9]+ of $FCWND segments shared out, 3 sockets, .* 0 lost" \
		"$OUT"
	equal "$1: show, no breaker has tripped" "" "$(grep TRIPPED <<<"$OUT")"
	circuit_is "$1: window" $FCWND fcwnd_segments
	circuit_is "$1: breaker" false tripped
	works "$1: reset of what is not tripped" setup reset eth1
	equal "$1: reset says so" "eth1: no breaker is tripped" "$OUT"
	works "$1: reset by address" setup reset "$2"
	equal "$1: reset by address says so" "$2: no breaker is tripped" "$OUT"
	senders_end
}

whose()
{
	setup --quiet "${CIRCUIT[@]}" --to 10.77.2.0/24 eth1
	sockets_of "IPv4" "$DST4" "to 10.77.2.0/24"
	setup undo --quiet eth1
	setup --quiet "${CIRCUIT[@]}" --to fd77:2::/64 eth1
	sockets_of "IPv6" "$DST6" "to fd77:2::/64"
	setup undo --quiet eth1
	setup --quiet "${CIRCUIT[@]}" eth1
	sockets_of "without --to" "$DST4" "to 0.0.0.0/0, ::/0 by eth1"
	setup undo --quiet eth1
}

# others_are NAME EXPECTED FILTER: of what is no circuit's of ours
others_are()
{
	equal "$1" "$2" "$(setup show --json | jq -r ".[] | select(.dev == null) | $3")"
}

# What is nobody's of ours: a circuit of somebody's, and a peer with a window of the
# namespace's.  Peers are for the administrator's eyes.
others()
{
	setup --quiet "${CIRCUIT[@]}" --to 10.77.2.0/24 eth1
	works "circuit set" setup circuit set lab prefix 10.99.0.0/16 window 50 rate 8mbit
	set_in src net.ipv4.tcp_circuit_fcwnd 100
	senders 1 10000 "$DST6"
	until_true 30 in_src sh -c "ctcp-setup show | grep -q '^  peer '"
	works "others: show" setup show
	matches "others: the circuit" \
		"^  circuit  lab to 10.99.0.0/16: 0 of 50 segments .* paced at 8mbit" \
		"$(sed -n '/^other circuits:/,$p' <<<"$OUT")"
	matches "others: the peer" "^  peer     $DST6 .*of 100 segments shared out, 1 socket," \
		"$(sed -n '/^other peers:/,$p' <<<"$OUT")"
	matches "others: totals" '^in all: 2 of [0-9]+ circuits' "$OUT"
	others_are "others: --json, the circuit" lab '.circuits[0].name'
	others_are "others: --json, the peer" "$DST6" '.peers[0].peer'
	others_are "others: --json, totals" 2 '.totals.circuits'
	works "show of this circuit alone" setup show eth1
	equal "show of this circuit alone: not the others" "" \
		"$(grep -E "lab|$DST6|in all" <<<"$OUT")"
	works "show without CAP_NET_ADMIN" \
		in_host setpriv --bounding-set=-net_admin --inh-caps=-net_admin ctcp-setup show
	equal "show without CAP_NET_ADMIN: no peers" "" "$(grep "$DST6" <<<"$OUT")"
	matches "show without CAP_NET_ADMIN: circuits" '^  circuit  lab ' "$OUT"
	senders_end
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	works "circuit del" setup circuit del lab
	setup undo --quiet eth1
}

# What "ctcp-setup monitor" says meanwhile is a line of JSON each in EVENTS.
monitor_begins()
{
	background src ctcp-setup monitor --json >"$TMP/monitor"
	MONITOR=$!
	until_true 10 monitor_listens || fail "ctcp-setup monitor began"
}

# Subscribed: then it is told of a circuit that somebody makes.
# shellcheck disable=SC2317 # called by until_true
monitor_listens()
{
	in_src circuit_nl new heard prefix 10.99.0.0/16 window 1 &&
		in_src circuit_nl del heard && [ -s "$TMP/monitor" ]
}

monitor_ends()
{
	kill $MONITOR
	wait $MONITOR
	equal "monitor, ended by a signal: exit" 0 $?
	EVENTS=$(jq -c 'select(.name == "eth1")' "$TMP/monitor")
}

# told NAME EXPECTED EVENT FILTER: of the last one
told()
{
	equal "monitor: $1" "$2" \
		"$(jq -r "select(.event == \"$3\") | $4" <<<"$EVENTS" | tail -n 1)"
}

monitors()
{
	monitor_begins
	trips
	resets
	monitor_ends
	told "a trip: reason" loss tripped .evidence.reason
	told "a trip: user" 0 tripped .evidence.uid
	told "a trip: window" $FCWND tripped .evidence.window_segments
	told "a trip: more lost than are too many" true tripped \
		'.evidence | .lost_segments > .threshold * .segments'
	told "a reset: cause" reset closed .cause
	told "a reset: nothing is tripped any more" false closed .tripped
}

# A third lost, for much longer than the breaker's half a second.
trips()
{
	setup --quiet "${CIRCUIT[@]}" eth1
	in_src sysctl -qw net.ipv4.tcp_circuit_breaker_ms=500
	delay 10 loss 33%
	senders 2 1000000000 "$DST4"
	circuit_is "a third lost: tripped" true tripped
	works "tripped: show" setup show
	matches "tripped: plainly, and what resets it" \
		"^  TRIPPED  eth1: the window of 1 user is cut; ctcp-setup reset eth1 " "$OUT"
	matches "tripped: by what" \
		"^  tripped  by: user 0: [0-9]+ of [0-9]+ segments lost, .* where 10% are too many" \
		"$OUT"
	circuit_is "tripped: --json, by what" loss evidence.reason
	delay 10
}

resets()
{
	says "reset of a circuit that is none" 1 "there is no circuit lab;" setup reset lab
	says "reset of a peer that is none" 1 "no circuit and no socket .* is for 127.0.0.2;" \
		setup reset 127.0.0.2
	circuit_is "reset of what is none: the other stays" true tripped
	works "reset" setup reset eth1
	equal "reset says what it did" "eth1: 1 breaker reset" "$OUT"
	works "show after reset" setup show
	equal "after reset: nothing is tripped" "" "$(grep TRIPPED <<<"$OUT")"
	matches "after reset: what it was" "^  tripped  last by: user 0: " "$OUT"
	works "reset of all" setup reset
	equal "reset of all: none left" "no breaker is tripped" "$OUT"
	works "reset --quiet" setup reset --quiet
	equal "reset --quiet" "" "$OUT"
	senders_end
}

network 10
# shellcheck disable=SC2034 # of setup_lib.sh
HOST=$SRC
# shellcheck disable=SC2119 # no option
serve dst -C circuit
whose
others
monitors
setup undo --quiet eth1
serve_end
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup show tells whom sockets send to with circuit, below the circuit that it
# belongs to, and that a breaker has tripped; ctcp-setup reset gives the window
# back, and says what there is not.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup jq circuit_sock
need_module

# 100 Mbit/s, 20 ms: 250000 bytes x 1.3 in segments of 1514 is 215.
CIRCUIT=(--rate 100mbit --rtt 20ms)
FCWND=215
NOBODY=10.77.2.99

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

# shellcheck disable=SC2317 # called by until_true
no_circuit()
{
	! in_src grep -q 'closed$' /proc/net/tcp_circuit
}

# A circuit stays until the last of its sockets has said goodbye, or while tripped.
senders_end()
{
	# shellcheck disable=SC2086 # a list
	kill $SENDERS
	# shellcheck disable=SC2086
	wait $SENDERS 2>/dev/null
	until_true 60 no_circuit
}

# peer_is FILTER VALUE: of the first peer of the first circuit
# shellcheck disable=SC2317 # called by until_true
peer_is()
{
	[ "$(setup show --json | jq -r ".[0].peers[0].$1")" = "$2" ]
}

# peer NAME EXPECTED FIELD, polled: of the first circuit's first peer
peer()
{
	until_true 30 peer_is "$3" "$2"
	equal "$1" "$2" "$(setup show --json | jq -r ".[0].peers[0].$3")"
}

# peers_of NAME ADDRESS: three sockets to it
peers_of()
{
	senders 3 10000 "$2"
	peer "$1: sockets" 3 sockets
	works "$1: show" setup show
	matches "$1: show, the peer" \
		"^  peer     $2: [0-9]+ of $FCWND segments held, 3 sockets, .* 0 lost" "$OUT"
	equal "$1: show, no breaker has tripped" "" "$(grep TRIPPED <<<"$OUT")"
	peer "$1: address" "$2" peer
	peer "$1: window" $FCWND fcwnd_segments
	peer "$1: breaker" false tripped
	works "$1: reset of what is not tripped" setup reset "$2"
	equal "$1: reset says so" "$2: no breaker is tripped" "$OUT"
	senders_end
}

# Below the circuit whose prefix it is in; of one that is nobody's, at the end.
whose()
{
	setup --quiet "${CIRCUIT[@]}" --to 10.77.2.0/24 eth1
	peers_of "IPv4" "$DST4"
	senders 1 10000 "$DST6"
	until_true 30 in_src grep -q "^$DST6 " /proc/net/tcp_circuit
	works "another's: show" setup show
	matches "another's: not below this circuit" \
		"^other peers:|^  peer     $DST6: " "$(tail -n 2 <<<"$OUT")"
	equal "another's: --json" "$DST6" \
		"$(setup show --json | jq -r '.[] | select(.dev == null) | .peers[0].peer')"
	works "show of this circuit alone" setup show eth1
	equal "show of this circuit alone: not the other" "" "$(grep "$DST6" <<<"$OUT")"
	senders_end
	setup undo --quiet eth1
	setup --quiet "${CIRCUIT[@]}" --to fd77:2::/64 eth1
	peers_of "IPv6" "$DST6"
	setup undo --quiet eth1
	setup --quiet "${CIRCUIT[@]}" eth1
	peers_of "without --to" "$DST4"
}

# A third lost, for much longer than the breaker's half a second.
trips()
{
	in_src sysctl -qw net.ipv4.tcp_circuit_breaker_ms=500
	delay 10 loss 33%
	senders 2 1000000000 "$DST4"
	peer "a third lost: tripped" true tripped
	works "tripped: show" setup show
	matches "tripped: plainly, and what resets it" \
		"^  TRIPPED  $DST4: .*ctcp-setup reset $DST4 " "$OUT"
	senders_end
	delay 10
}

resets()
{
	says "reset of a peer that is none" 1 "no socket .* circuit to $NOBODY" \
		setup reset $NOBODY
	peer "reset of a peer that is none: the other stays" true tripped
	works "reset" setup reset "$DST4"
	equal "reset says what it did" "$DST4: 1 breaker reset" "$OUT"
	equal "after reset: nothing is tripped" "" "$(setup show | grep TRIPPED)"
	works "reset of all" setup reset
	equal "reset of all: none left" "no breaker is tripped" "$OUT"
	works "reset --quiet" setup reset --quiet
	equal "reset --quiet" "" "$OUT"
}

network 10
# shellcheck disable=SC2034 # of setup_lib.sh
HOST=$SRC
# shellcheck disable=SC2119 # no option
serve dst -C circuit
whose
trips
resets
setup undo --quiet eth1
serve_end
finish

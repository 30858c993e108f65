#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Early window: a server whose circuit asks for it opens its client's window right
# behind the SYN-ACK, so that a whole window is under way one round trip after the
# SYN; and leaves alone what it must: SYN cookies, Fast Open, listeners that would
# not keep the promise, peers of other circuits.

. "$(dirname "$0")/lib.sh"
need_commands ethtool tcpdump circuit_nl circuit_sock
need_module

RTT_MS=100
WINDOW=2000
EARLY=1			# TCP_CIRCUIT_F_EARLY_WINDOW
# circuit_sock's first write, and whole segments of either family after it, so that
# Nagle's algorithm keeps none back; less than the window
BYTES=$((262144 + 3 * 1448 * 1428 / 4))

both_ends()
{
	local host name=net.ipv4.tcp_allowed_congestion_control before

	before=$(sysctl -n $name)
	sysctl -qw $name="$before circuit"
	defer "sysctl -qw $name='$before'"
	for host in src dst; do
		set_in $host net.ipv4.tcp_congestion_control circuit
		set_in $host net.ipv4.tcp_rmem "4096 131072 67108864"
		set_in $host net.ipv4.tcp_wmem "4096 131072 67108864"
	done
	in_src circuit_nl new far prefix 10.77.2.0/24 prefix fd77:2::/64 \
		window $WINDOW
}

# server_circuit FLAGS [PREFIX...]
server_circuit()
{
	local flags=$1 words=

	shift
	[ $# -gt 0 ] || set -- 10.77.1.0/24 fd77:1::/64
	while [ $# -gt 0 ]; do
		words="$words prefix $1"
		shift
	done
	# shellcheck disable=SC2086 # words
	in_dst circuit_nl new far $words window $WINDOW flags "$flags"
}

captures()
{
	grep -q 'listening on' "$TMP/tcpdump"
}

ends_seen()
{
	grep -q 'Flags \[F' "$TMP/packets"
}

# transfer ADDRESS: how many ms it takes, in MS; how many ACKs of the server's said no
# more than its SYN-ACK had, in ACKS
transfer()
{
	local began

	background src tcpdump --immediate-mode -l -nni eth1 -B 8192 -s 128 \
		"tcp src port $PORT" >"$TMP/packets" 2>"$TMP/tcpdump"
	TCPDUMP=$!
	until_true 10 captures || fail "tcpdump began"
	began=$(date +%s%N)
	in_src circuit_sock send -n $BYTES "$1" $PORT >"$TMP/sent" ||
		fail "a transfer to $1" "$(cat "$TMP/sent")"
	MS=$((($(date +%s%N) - began) / 1000000))
	until_true 10 ends_seen
	kill $TCPDUMP
	wait $TCPDUMP 2>/dev/null
	ACKS=$(grep -c 'Flags \[\.\], ack 1, win' "$TMP/packets")
}

# opened NAME ADDRESS, left_alone NAME ADDRESS
opened()
{
	transfer "$2"
	equal "$1: ACKs right behind the SYN-ACK" 1 "$ACKS"
	[ "$LAB" = uml ] || return 0
	at_most "$1: ms until all is acknowledged, two round trips" \
		$((2 * RTT_MS + 20)) "$MS"
}

left_alone()
{
	transfer "$2"
	equal "$1: ACKs right behind the SYN-ACK" 0 "$ACKS"
}

warm_up()
{
	in_src circuit_sock send -n 1000 $DST4 $PORT >"$TMP/sent"
	in_src circuit_sock send -n 1000 $DST6 $PORT >"$TMP/sent"
}

without()
{
	server_circuit 0
	left_alone "not asked for, IPv4" $DST4
	[ "$LAB" = uml ] &&
		at_least "not asked for: ms, a round trip more" \
			$((3 * RTT_MS - 20)) "$MS"
	left_alone "not asked for, IPv6" $DST6
}

with()
{
	server_circuit $EARLY
	opened "IPv4" $DST4
	opened "IPv6" $DST6
	server_circuit $EARLY 10.77.1.0/25 fd77:1::/65
	opened "after a change of the circuit, IPv4" $DST4
}

others()
{
	server_circuit $EARLY 10.99.0.0/16
	left_alone "a peer of no circuit" $DST4
	server_circuit $EARLY

	set_in dst net.ipv4.tcp_syncookies 2
	left_alone "SYN cookies" $DST4
	set_in dst net.ipv4.tcp_syncookies 1

	set_in dst net.ipv4.tcp_moderate_rcvbuf 0
	left_alone "no auto-tuning" $DST4
	set_in dst net.ipv4.tcp_moderate_rcvbuf 1

	set_in dst net.ipv4.tcp_congestion_control reno
	left_alone "a listener whose children have another algorithm" $DST4
	set_in dst net.ipv4.tcp_congestion_control circuit

	set_in dst net.ipv4.tcp_window_scaling 0
	left_alone "no window scaling" $DST4
	set_in dst net.ipv4.tcp_window_scaling 1

	serve_end
	serve dst -B 262144
	left_alone "a listener with SO_RCVBUF" $DST4
	serve_end
	serve dst
}

# The hook goes with the last circuit that wants it, and comes back with the next.
comes_and_goes()
{
	in_dst circuit_nl del far
	left_alone "circuit removed" $DST4
	server_circuit $EARLY
	opened "made again" $DST4
	server_circuit 0
	left_alone "flag taken back" $DST4
}

network $((RTT_MS / 2))
single_packets
both_ends
serve dst
warm_up
without
with
others
comes_and_goes
finish

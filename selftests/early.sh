#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Early window: which clients get it, and what is left alone: SYN cookies, Fast Open, MPTCP,
# signed segments, listeners that would not keep the promise, peers of other circuits, and the
# SYN-ACK itself.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/early_lib.sh"

without()
{
	server_circuit 0
	left_alone "not asked for, IPv4" $DST4
	! in_virtual_time ||
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

# The SYN-ACK of the connection that has ended, IP header and all, in hexadecimal: without
# what differs from one to the next, which is identification, flow label, checksums, the
# client's port, sequence numbers and timestamps
synack_bytes()
{
	awk '/Flags \[/ { wanted = /Flags \[S\./ && !seen++; next }
		wanted && /^[ \t]+0x/ {
			sub(/.*:[ \t]+/, "")
			gsub(/ /, "")
			hex = hex $0
		}
		END { print hex }' "$TMP/packets" | sed -E '
		s/^(4.{7}).{4}(.{8}).{4}(.{16})/\1 \2 \3 /
		s/^(6..).{5}(.{8})(.{64})/\1 \2 \3 /
		s/ ([^ ]{4})[^ ]{20}([^ ]{8})[^ ]{4}([^ ]*)$/ \1 \2 \3/
		s/(0402080a).{16}/\1/'
}

# same_synack NAME ADDRESS [OPTION...]: with and without
same_synack()
{
	local without

	server_circuit 0
	transfer "${@:2}"
	without=$(synack_bytes)
	matches "$1: a SYN-ACK: $without" \
		"^(45[^ ]* [^ ]*06|6[^ ]* ....06)[^ ]* [^ ]* 1389 a[^ ]* 00000204.{4}0402080a0103030.\$" \
		"$without"
	server_circuit $EARLY
	opened "$1, its SYN-ACK" "${@:2}"
	equal "$1: the SYN-ACK, bytes" "$without" "$(synack_bytes)"
}

others()
{
	server_circuit $EARLY 10.99.0.0/16
	left_alone "a peer of no circuit, IPv4" $DST4
	left_alone "a peer of no circuit, IPv6" $DST6
	server_circuit $EARLY 10.77.1.0/24
	opened "a circuit of IPv4 alone" $DST4
	left_alone "a circuit of IPv4 alone, IPv6" $DST6
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

	# Several copies would be duplicate ACKs to it.
	set_in src net.ipv4.tcp_sack 0
	left_alone "a client without SACK" $DST4
	set_in src net.ipv4.tcp_sack 1

	serve_end
	serve dst -B 262144
	left_alone "a listener with SO_RCVBUF" $DST4
	serve_end
	serve dst -l 1000000
	left_alone "a listener with TCP_WINDOW_CLAMP" $DST4
	serve_end
	serve dst -v

	ip -n "$DST" route replace 10.77.1.0/24 via 10.77.2.254 window 1000000
	left_alone "a route with a window" $DST4
	ip -n "$DST" route replace 10.77.1.0/24 via 10.77.2.254
	opened "without it" $DST4
	signed
	multipath
}

# A signature stands in the SYN-ACK, and would have to be made anew.
signed()
{
	in_dst timeout 1 circuit_sock serve -K ::ffff:$SRC4 $((PORT + 9)) 2>"$TMP/md5"
	if grep -q TCP_MD5SIG "$TMP/md5"; then
		echo "# no TCP_MD5SIG here"
		return
	fi
	serve_end
	serve dst -v -K ::ffff:$SRC4
	left_alone "TCP_MD5SIG" $DST4 -K $DST4
	matches "TCP_MD5SIG: signed" "Flags \[S\.\].*md5" "$(cat "$TMP/packets")"
	serve_end
	serve dst -v
}

# Its SYN-ACK has an option of its own.
multipath()
{
	serve_end
	background dst circuit_sock serve -P $PORT 2>/dev/null
	SERVER=$!
	defer "kill $SERVER"
	if until_true 5 in_src timeout 10 circuit_sock send -P -n 1000 $DST4 $PORT; then
		until_true 10 none_connected
		left_alone "MPTCP" $DST4 -P
		matches "MPTCP: spoken" "Flags \[S\.\].*mptcp" "$(cat "$TMP/packets")"
	else
		echo "# no MPTCP here, or without TCP_INFO, which came with 5.16"
	fi
	serve_end
	serve dst -v
}

# kept NAME: nothing arrives that there is no room for, and nothing is sent again.
kept()
{
	local before

	before=$(beyond_window)
	transfer_watched $DST4
	equal "$1: segments sent again" 0 "$TROUBLES"
	equal "$1: segments beyond the window" 0 $(($(beyond_window) - before))
}

# The child's window may be less than the circuit's.
promises()
{
	in_virtual_time || return 0
	server_circuit $EARLY
	serve_end
	serve dst -v -C circuit -w 10
	kept "a listener with a window of its own"
	serve_end
	serve dst -v
	sysctl -qw net.ipv4.tcp_circuit_ceiling_window=100
	kept "a ceiling below the circuit's window"
	sysctl -qw net.ipv4.tcp_circuit_ceiling_window=0
	locked
}

# As sources.sh says of a route's "cwnd lock", a connection has to end before while metrics
# are saved.
locked()
{
	set_in dst net.ipv4.tcp_no_metrics_save 0
	ip -n "$DST" route replace 10.77.1.0/24 via 10.77.2.254 cwnd lock 20
	transfer $DST4
	until_true 10 in_dst ip tcp_metrics show $SRC4
	kept "a route with a window that is locked"
	ip -n "$DST" route replace 10.77.1.0/24 via 10.77.2.254
	in_dst ip tcp_metrics flush >/dev/null
	set_in dst net.ipv4.tcp_no_metrics_save 1
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

# --- Fast Open, ECN ----------------------------------------------------------

fast_opened()
{
	in_src nstat -asz TcpExtTCPFastOpenActive | awk '/FastOpen/ { print $2 }'
}

# The server's socket is there with the SYN, and its own ACK opens the window.
fast_open()
{
	local address arrives before ms

	both_ends net.ipv4.tcp_fastopen 3
	for address in $DST4 $DST6; do
		serve_end
		serve dst -v -F
		left_alone "Fast Open: $address is asked for a cookie" "$address" -F
		server_circuit 0
		transfer "$address" -F
		arrives=$ARRIVED ms=$MS
		# a slow machine acknowledges it once more now and then, and of its
		# two processors one may overtake the other
		[ "$LAB" = uml ] || arrives="((ack )+synack( ack)*|synack( ack)+)"
		server_circuit $EARLY
		before=$(fast_opened)
		harmless "Fast Open: data in the SYN to $address" "$address" \
			"$arrives" "$ms" -F
		equal "Fast Open: data in the SYN to $address: taken" 1 \
			$(($(fast_opened) - before))
		equal "Fast Open: data in the SYN to $address: ACKs of ours" 0 "$ACKS"
		data_refused "$address"
	done
	both_ends net.ipv4.tcp_fastopen 1
}

# data_refused ADDRESS: by a listener without Fast Open; the client sends them again,
# with and without the early window.
data_refused()
{
	local ms troubles

	serve_end
	serve dst -v
	server_circuit 0
	transfer_watched "$1" -F
	ms=$MS troubles=$TROUBLES
	server_circuit $EARLY
	transfer_watched "$1" -F
	equal "Fast Open: refused by $1: handshake" "synack early" "$ARRIVED"
	in_virtual_time || return 0
	equal "Fast Open: refused by $1: segments sent again" "$troubles" "$TROUBLES"
	at_most "Fast Open: refused by $1: ms" "$ms" "$MS"
}

# On either side an ACK would count marks: by ECE, or by all three bits of Accurate
# ECN, which the newest kernels have.
ecn()
{
	both_ends net.ipv4.tcp_ecn 1
	same_synack "ECN" $DST4
	equal "ECN: marks" 0 "$(field delivered_ce "$(cat "$TMP/sent")")"
	if [ -e /proc/sys/net/ipv4/tcp_ecn_option ]; then
		both_ends net.ipv4.tcp_ecn 3
		left_alone "Accurate ECN" $DST4
		set_in dst net.ipv4.tcp_ecn_option 0
		left_alone "Accurate ECN without its option" $DST4
		set_in dst net.ipv4.tcp_ecn_option 2
	fi
	both_ends net.ipv4.tcp_ecn 2
}

early_network
without
with
same_synack "IPv4" $DST4
same_synack "IPv6" $DST6
fast_open
ecn
others
promises
comes_and_goes
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# From connect() to full rate in at most two round trips, both directions, whether
# the server listens with circuit or takes it after accept().  Seen in the packets
# on rtr: in the round trip that begins two after the SYN left (client to server:
# SYN, the 64 KB that a SYN-ACK can promise, everything), the sender moves a full
# window.  A small receiver is never overrun.

. "$(dirname "$0")/lib.sh"
need_commands tcpdump ethtool circuit_sock
need_module

RTT_MS=600	# long against whatever an emulated machine does
FCWND=300	# more than six times what a SYN-ACK can promise
MSS=1448

# captured COMMAND...: what of it passes r1, with a server of its own
captured()
{
	rm -f "$TMP/cap"
	background rtr tcpdump -i r1 -s 128 -U -w "$TMP/cap" "tcp port $PORT" \
		2>"$TMP/tcpdump.err"
	DUMP=$!
	until_true 10 grep -q 'listening on' "$TMP/tcpdump.err"
	"$@" >/dev/null 2>&1
	until_true 10 sh -c "tcpdump -n -r $TMP/cap 2>/dev/null |
		grep -q 'Flags .[FR]'"
	kill $DUMP
	wait $DUMP
	serve_end
}

# in_round N FROM: data segments that FROM sent in the N-th round trip after the
# first SYN, counted at r1
in_round()
{
	tcpdump -n -tt -r "$TMP/cap" 2>/dev/null |
		awk -v from="$2." -v n="$1" -v rtt=$RTT_MS '
		!t0 && /Flags \[S\]/ { t0 = $1 }
		index($3, from) == 1 && /length [1-9]/ {
			round = int(($1 - t0 + 0.02) * 1000 / rtt) + 1
			count[round]++
		}
		END { print count[n] + 0 }'
}

# client_to_server NAME SERVER_OPTION...: handshake, then 64 KB, then a window in
# each round trip
client_to_server()
{
	local name=$1

	shift
	PORT=$((PORT + 1))
	serve dst "$@"
	captured in_src timeout 20 circuit_sock send -C circuit \
		-n $((5 * FCWND * MSS)) $DST4 $PORT
	equal "$name: data in the first round trip" 0 \
		"$(in_round 1 $SRC4)"
	at_least "$name: segments in the second" 44 \
		"$(in_round 2 $SRC4)"
	at_least "$name: segments in the third, from two on" $FCWND \
		"$(in_round 3 $SRC4)"
}

# The server's first flight leaves one round trip after the SYN came by: full.
server_to_client()
{
	PORT=$((PORT + 1))
	serve dst -C circuit -n $((5 * FCWND * MSS))
	captured in_src timeout 20 circuit_sock send -C circuit -k 6000 \
		$DST4 $PORT
	at_least "server to client: segments until the third round trip ends" \
		$FCWND $(($(in_round 2 $DST4) + $(in_round 3 $DST4)))
}

# Nobody sends more than a receiver with a buffer of its own has said.
small_receiver()
{
	local overrun

	PORT=$((PORT + 1))
	serve dst -C circuit -B 65536
	captured in_src timeout 20 circuit_sock send -C circuit -n 600000 \
		$DST4 $PORT
	overrun=$(tcpdump -n -S -r "$TMP/cap" 2>/dev/null | awk -v s="$SRC4." '
		/Flags \[S\]/ { match($0, /wscale [0-9]+/) }
		/Flags \[S\.\]/ { if (match($0, /wscale [0-9]+/))
			scale = 2 ^ substr($0, RSTART + 7, RLENGTH - 7) }
		index($3, s) != 1 && match($0, /ack [0-9]+/) {
			ack = substr($0, RSTART + 4, RLENGTH - 4)
			match($0, /win [0-9]+/)
			win = substr($0, RSTART + 4, RLENGTH - 4)
			if ($0 !~ /Flags \[S/) win *= scale
			if (ack + win > edge) edge = ack + win
		}
		index($3, s) == 1 && match($0, /seq [0-9]+:[0-9]+/) {
			split(substr($0, RSTART + 4, RLENGTH - 4), q, ":")
			if (q[2] > edge) n++
			seen++
		}
		END { print seen ? n + 0 : "no data" }')
	equal "small receiver: segments beyond its window" 0 "$overrun"
	equal "small receiver: its overflows" 0 \
		"$(in_dst nstat -asz TcpExtTCPRcvQDrop TcpExtTcpExtBacklogDrop |
			awk '!/^#/ { n += $2 } END { print n + 0 }')"
}

# A server that wanted a small window is not opened when it takes circuit then: it
# may go on promising the 64 KB of its SYN-ACK, and from 6.9 on the core forgets the
# wish when it measures its segments, but for the buffer's 128 KB; opened, it would
# tell megabytes.  (Later all kernels forget it.)
clamped_receiver()
{
	PORT=$((PORT + 1))
	serve dst -A circuit -c 32768
	captured in_src timeout 20 circuit_sock send -C circuit -n 60000 \
		$DST4 $PORT
	at_most "window of a server that clamped it to 32768" 131072 "$(largest_window)"
}

# Where TCP as a whole holds what tcp_mem lets pass without a look, nothing is opened
# beyond what the core would.  The numbers are the machine's, not a namespace's.
full_memory()
{
	local before

	[ "$LAB" = uml ] || return 0
	before=$(sysctl -n net.ipv4.tcp_mem)
	defer "sysctl -qw net.ipv4.tcp_mem='$before'"
	told_window
	at_least "window of a server with memory left" $((FCWND * MSS)) \
		"$(largest_window)"
	# shellcheck disable=SC2086	# three numbers
	set -- $before
	sysctl -qw net.ipv4.tcp_mem="0 $2 $3"
	told_window
	at_most "window of a server with none left" 131072 "$(largest_window)"
	sysctl -qw net.ipv4.tcp_mem="$before"
}

# A connection of few segments: the core's own opening has no time.
told_window()
{
	PORT=$((PORT + 1))
	serve dst -C circuit
	captured in_src timeout 20 circuit_sock send -C circuit -n 20000 \
		$DST4 $PORT
}

# The largest that DST4 told after its SYN-ACK, bytes
largest_window()
{
	tcpdump -n -r "$TMP/cap" 2>/dev/null | awk -v s="$DST4." '
		index($3, s) != 1 { next }
		/Flags \[S\.\]/ { if (match($0, /wscale [0-9]+/))
			scale = 2 ^ substr($0, RSTART + 7, RLENGTH - 7); next }
		match($0, /win [0-9]+/) {
			win = substr($0, RSTART + 4, RLENGTH - 4) * scale
			if (win > most) most = win
		}
		END { print most }'
}

network $((RTT_MS / 2))
single_packets
for host in src dst; do
	set_in $host net.ipv4.tcp_circuit_fcwnd $FCWND
done
client_to_server "client to server" -C circuit
client_to_server "server that takes circuit after accept()" -A circuit
# The thesis' advice: a buffer that is large from the start is open from the start.
before=$(in_dst sysctl -n net.ipv4.tcp_rmem)
set_in dst net.ipv4.tcp_rmem "4096 6291456 6291456"
client_to_server "server with a large tcp_rmem default" -C circuit
set_in dst net.ipv4.tcp_rmem "$before"
server_to_client
small_receiver
clamped_receiver
full_memory
finish

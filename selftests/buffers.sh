#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# A circuit's buffers: the send buffer grows to what tcp_wmem allows for every
# window there is, also where window x cost no longer fits the core's int; the
# receive buffer opens at once, but not over a limit that somebody set.  Both do so,
# too, for a window that is asked for on a connection that is there.

. "$(dirname "$0")/lib.sh"
need_commands circuit_sock
need_module

WMEM=20000000
RMEM=30000000

# hold_open WINDOW: a connection with that window, kept until released
hold_open()
{
	hold -w "$1" -n 100000
}

hold()
{
	background src circuit_sock send -C circuit "$@" -k 60000 $DST4 $PORT \
		>"$TMP/out"
	HELD=$!
	until_true 20 grep -q cwnd "$TMP/out"
}

release()
{
	kill $HELD
	wait $HELD 2>/dev/null
	rm -f "$TMP/out"
	end_sockets src
}

# buffer r|t [src|dst]: of the connection to $PORT at that end, bytes, as ss -m has it
buffer()
{
	"in_${2:-src}" ss -Htm "dport = :$PORT or sport = :$PORT" |
		sed -n "s/.*\\b$1b\\([0-9]*\\).*/\\1/p"
}

send_buffers()
{
	local window

	for window in 10000 250000 466034 500000 1000000 1048576; do
		hold_open $window
		equal "window $window: send buffer" $WMEM "$(buffer t)"
		release
	done
	hold_open 1000
	COST=$(buffer t)
	at_least "window 1000: send buffer" 4000000 "$COST"
	release
}

# Room for 16 windows of 1448-byte segments, or tcp_rmem
receive_buffers()
{
	hold_open 1000
	equal "window 1000: receive buffer" 23168000 "$(buffer r)"
	release
	hold_open 5000
	equal "window 5000: receive buffer" $RMEM "$(buffer r)"
	release
	set_in src net.ipv4.tcp_moderate_rcvbuf 0
	hold_open 5000
	equal "tcp_moderate_rcvbuf off: receive buffer" 131072 "$(buffer r)"
	release
	set_in src net.ipv4.tcp_moderate_rcvbuf 1
}

# asked_later NAME SEND RECEIVE [OPTION...]: both buffers of a connection that has
# sent nothing yet and asks for 1000 segments
asked_later()
{
	local name=$1 send=$2 receive=$3

	shift 3
	hold "$@" -W 1000
	equal "$name: send buffer" "$send" "$(buffer t)"
	equal "$name: receive buffer" "$receive" "$(buffer r)"
	release
}

asked_on_a_connection()
{
	local before

	asked_later "window asked for after connect()" "$COST" 23168000
	asked_later "the same with SO_SNDBUF" 100000 23168000 -S 50000
	[ "$LAB" = uml ] || return 0
	hold
	before=$(buffer t)
	release
	no_memory
	asked_later "the same where TCP has no memory left" "$before" 131072
	memory_again
}

# A server that has something under way, a greeting, when it takes circuit
greeted()
{
	set_in dst net.ipv4.tcp_wmem "4096 16384 $WMEM"
	set_in dst net.ipv4.tcp_circuit_fcwnd 1000
	PORT=$((PORT + 1))
	serve dst -g -A circuit
	hold
	equal "taken after a greeting: send buffer" "$COST" "$(buffer t dst)"
	release
	serve_end
}

# shared_buffer WINDOWS: one more socket of the circuit, on a port of its own
shared_buffer()
{
	PORT=$((PORT + 1))
	serve dst
	rm -f "$TMP/out"
	hold_open 1000
	defer "kill $HELD"
	equal "socket $((PORT - FIRST)) of a circuit: receive buffer, $1 windows" \
		$(($1 * 1448000)) "$(buffer r)"
}

# Sockets divide the 16 windows, down to four each.
shared_buffers()
{
	local windows FIRST=$PORT

	for windows in 16 8 5 4 4 4; do
		shared_buffer $windows
	done
}

network 2
set_in src net.ipv4.tcp_wmem "4096 16384 $WMEM"
set_in src net.ipv4.tcp_rmem "4096 131072 $RMEM"
serve dst
send_buffers
receive_buffers
asked_on_a_connection
greeted
serve dst
shared_buffers
finish

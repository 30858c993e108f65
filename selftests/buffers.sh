#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# A circuit's buffers: the send buffer grows to what tcp_wmem allows for every
# window there is, also where window x cost no longer fits the core's int; the
# receive buffer opens at once, within a budget of the circuit's, and not over a limit
# that somebody set.  Both do so, too, for a window that is asked for on a connection
# that is there; where nothing gives a window, they stay as TCP has them.

. "$(dirname "$0")/lib.sh"
need_commands circuit_nl circuit_sock
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
	in_virtual_time || return 0
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

# one_more: one more socket of the circuit, on a port of its own
one_more()
{
	PORT=$((PORT + 1))
	serve dst
	rm -f "$TMP/out"
	hold -n 100000
	HOLDERS+=("$HELD")
	defer "kill $HELD"
}

# The first has 16 windows, each that follows half of what is left of 32; counted in
# 32 KiB.
shared_buffers()
{
	local thousandths before FIRST=$PORT sum=0

	HOLDERS=()
	# the budget of the circuit, not that of a small machine
	before=$(sysctl -n net.ipv4.tcp_mem)
	defer "sysctl -qw net.ipv4.tcp_mem='$before'"
	sysctl -qw net.ipv4.tcp_mem="400000 500000 600000"
	in_src circuit_nl new far prefix 10.77.2.0/24 window 1000
	for thousandths in 16000 8000 4000 2000 1000 500; do
		one_more
		within "socket $((PORT - FIRST)) of a circuit: receive buffer" \
			$((thousandths * 1448)) "$(buffer r)" 32768
		sum=$((sum + $(buffer r)))
	done
	at_most "all of them" $((32 * 1448000)) $sum
	kill "${HOLDERS[@]}"
	until_true 20 no_circuits
	one_more
	equal "when they have gone: receive buffer" $((16 * 1448000)) \
		"$(buffer r)"
}

no_window()
{
	hold -n 100000
	equal "no window: receive buffer" 131072 "$(buffer r)"
	release
}

network 2
set_in src net.ipv4.tcp_wmem "4096 16384 $WMEM"
set_in src net.ipv4.tcp_rmem "4096 131072 $RMEM"
serve dst
no_window
send_buffers
receive_buffers
asked_on_a_connection
greeted
serve dst
shared_buffers
finish

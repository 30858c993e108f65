#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# A connection changes its algorithm in mid-transfer.  To circuit: the window
# is fcwnd from then on.  From circuit: the other one begins with ten segments, with
# circuit's window as its threshold, and does not multiply it.  It falls back to Reno
# where nothing gives a window any more, and comes again when something does.  And the
# namespace, the machine and an unprivileged user choose circuit only where the
# administrator allowed it.

. "$(dirname "$0")/lib.sh"
need_commands circuit_sock circuit_nl setpriv ss
need_module

PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
FCWND=123
NETNS=4

switch()
{
	in_src timeout 60 circuit_sock send -n 10000000 "$@" $DST4 $PORT
}

to_circuit()
{
	local out

	out=$(switch -C "$1" -L circuit)
	equal "$1 to circuit: smallest window after it" $FCWND \
		"$(field cwnd_min "$out")"
	equal "$1 to circuit: largest window after it" $FCWND \
		"$(field cwnd_max "$out")"
	equal "$1 to circuit: source" $NETNS "$(field source "$out")"
}

from_circuit()
{
	local out

	out=$(switch -C circuit -L "$1")
	equal "circuit to $1: no window of circuit's any more" "" \
		"$(field fcwnd "$out")"
	at_least "circuit to $1: it finished, with a window" 1 \
		"$(field cwnd "$out")"
}

# --- a stream --------------------------------------------------------------------

# becomes NAME ALGORITHM
becomes()
{
	until_true 10 stream_algorithm_is "$2"
	equal "$1: TCP_CONGESTION" "$2" "$(stream_algorithm)"
}

acked()
{
	stream_shows bytes_acked
}

# carries NAME: still
carries()
{
	local before

	before=$(acked)
	sleep 0.5
	at_least "$1: bytes more in half a second" 100000 $(($(acked) - before))
}

# --- with a large window ---------------------------------------------------------

LARGE=1000

# large_from ALGORITHM: half of so much goes in 0.3 s, at LARGE in each round trip of
# 50 ms, and nothing is lost.  Of its own, CUBIC adds 5 % in each while it has lost
# nothing yet; slow start would double six times.
large_from()
{
	local out

	out=$(in_src circuit_sock send -C circuit -L "$1" -n 18000000 \
		$DST4 $PORT)
	equal "$LARGE of circuit's to $1: the smallest window after it" 10 \
		"$(field cwnd_min "$out")"
	at_most "$LARGE of circuit's to $1: the largest, 0.3 s later" \
		$((2 * LARGE)) "$(field cwnd_max "$out")"
}

# The threshold is circuit's window: what follows avoids congestion from there on.
threshold_of()
{
	stream_send -C circuit -L "$1" -n 20000000 -k 60000 $DST4 $PORT
	becomes "$LARGE of circuit's to $1" "$1"
	equal "$LARGE of circuit's to $1: threshold" $LARGE "$(stream_shows ssthresh)"
	stream_end
}

# Room for what an unbounded window would send, B
large_buffers()
{
	local ns

	for ns in src dst; do
		set_in $ns net.ipv4.tcp_rmem "4096 131072 268435456"
		set_in $ns net.ipv4.tcp_wmem "4096 16384 268435456"
	done
}

# --- to Reno's growth and back ---------------------------------------------------

# falls_back NAME WINDOW: what gave it WINDOW has gone
falls_back()
{
	becomes "$1" circuit-reno
	# how many round trips that is, only virtual time can tell
	if in_virtual_time; then
		sleep 0.3
		at_most "$1: window, 0.3 s later" $((2 * $2)) "$(stream_shows cwnd)"
	fi
	carries "$1"
}

# comes_back NAME WINDOW
comes_back()
{
	becomes "$1" circuit
	until_true 10 stream_window_is "$2"
	equal "$1: window" "$2" "$(stream_shows cwnd)"
	carries "$1"
}

reno_and_back()
{
	stream_begin -C circuit
	comes_back "a window from the beginning" $FCWND
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	falls_back "the sysctl gives none any more" $FCWND
	set_in src net.ipv4.tcp_circuit_fcwnd 77
	comes_back "the sysctl gives one" 77
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	falls_back "and none again" 77
	echo 55 >$PARAMETER
	comes_back "the module's parameter gives one" 55
	echo 0 >$PARAMETER
	falls_back "and none any more" 55
	in_src circuit_nl new live prefix 10.77.0.0/16 window 66 >/dev/null
	comes_back "there is a circuit" 66
	in_src circuit_nl del live >/dev/null
	falls_back "it was removed" 66
	set_in src net.ipv4.tcp_circuit_fcwnd $FCWND
	comes_back "the sysctl gives one at last" $FCWND
	stream_end

	set_in src net.ipv4.tcp_circuit_fcwnd 0
	stream_begin -C circuit
	becomes "no window from the beginning" circuit-reno
	carries "no window from the beginning"
	set_in src net.ipv4.tcp_circuit_fcwnd $FCWND
	comes_back "... then one" $FCWND
	stream_end
}

# --- who may ---------------------------------------------------------------------

# The kernel keeps a reference to the module whenever it refuses a namespace's
# default (tcp_set_default_congestion_control(), 6.1): only where the machine is
# thrown away afterwards.
restricted()
{
	if in_virtual_time; then
		refused "another namespace's default is refused to circuit" \
			set_in src net.ipv4.tcp_congestion_control circuit
	fi
	succeeds "an unprivileged socket is given another algorithm" \
		sock_as_nobody send -C reno -n 1 $DST4 $PORT
	matches "an unprivileged socket is refused circuit" \
		"TCP_CONGESTION: Operation not permitted" \
		"$(sock_as_nobody send -C circuit -n 1 $DST4 $PORT 2>&1)"
	matches "nobody chooses circuit's Reno" \
		"TCP_CONGESTION: No such file or directory" \
		"$(switch -C circuit-reno 2>&1)"
}

before=$(<$PARAMETER)
echo 0 >$PARAMETER
defer "echo $before >$PARAMETER"
network 5
set_in src net.ipv4.tcp_circuit_fcwnd $FCWND
serve dst
for algorithm in reno cubic bbr; do
	in_src sysctl -n net.ipv4.tcp_available_congestion_control |
		grep -qw $algorithm || modprobe tcp_$algorithm 2>/dev/null ||
		{ fail "$algorithm: not in this kernel"; continue; }
	to_circuit $algorithm
	from_circuit $algorithm
done
sock_for_anyone
restricted
reno_and_back
large_buffers
set_in src net.ipv4.tcp_circuit_fcwnd $LARGE
# How much goes in 0.3 s is known where the processor is infinitely fast.
if in_virtual_time; then
	delay 25
	large_from reno
	large_from cubic
fi
threshold_of reno
threshold_of cubic
finish

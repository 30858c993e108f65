#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# The window stays what it is through loss, retransmission timeouts, idle time
# and ECN marks.  The sender looks at its window at each turn of its loop, so
# that one round trip with another value would be seen; and each point also
# shows that what it is about did happen.

. "$(dirname "$0")/lib.sh"
need_commands ethtool circuit_nl circuit_sock
need_module

FCWND=200

# held NAME OUTPUT: smallest and largest window seen were both fcwnd
held()
{
	equal "$1: smallest window" $FCWND "$(field cwnd_min "$2")"
	equal "$1: largest window" $FCWND "$(field cwnd_max "$2")"
}

# When the one before has gone, and its half of the window with it
send()
{
	until_true 20 no_circuits
	in_src timeout 120 circuit_sock send -C circuit "$@" $DST4 $PORT
}

# counter PATTERN: the sum of those of src's namespace, since it was made
counter()
{
	in_src nstat -asz "$1" | awk '!/^#/ { n += $2 } END { print n + 0 }'
}

plain()
{
	delay 10
	held "no loss" "$(send -n 4000000)"
}

loss()
{
	local out

	delay 10 loss 2%
	out=$(send -n 8000000)
	held "2 % loss" "$out"
	at_least "2 % loss: retransmissions" 20 "$(field retrans "$out")"
	at_least "2 % loss: recoveries entered" 1 "$(field recoveries "$out")"
}

# The path is dead for a while in the middle of a transfer.
timeouts()
{
	local out before

	delay 10
	before=$(field timeouts "$(in_src circuit_nl stats)")
	mkfifo "$TMP/go"
	send -r -n 20000000 <"$TMP/go" >"$TMP/out" &
	exec 8>"$TMP/go"
	until_true 10 grep -q ready "$TMP/out"
	delay 10 loss 100%
	echo >&8
	sleep 1.5
	delay 10
	exec 8>&-
	wait $!
	out=$(<"$TMP/out")
	held "after timeouts" "$out"
	at_least "timeouts entered" 2 "$(field losses "$out")"
	at_least "timeouts that the namespace counts" 2 \
		$(($(field timeouts "$(in_src circuit_nl stats)") - before))
	at_least "windows restored" 1 "$(field restored "$out")"
	equal "the sender saw state Loss" 4 "$(field state_max "$out")"
}

# tcp_slow_start_after_idle would halve the window for each RTO of silence.
idle()
{
	local out

	delay 10
	set_in src net.ipv4.tcp_slow_start_after_idle 1
	out=$(send -n 2000000 -i 3000)
	held "after 3 s of silence" "$out"
	at_least "silence, ms" 2900 "$(field silence_ms "$out")"
}

marks()
{
	local out

	set_in src net.ipv4.tcp_ecn 1
	set_in dst net.ipv4.tcp_ecn 1
	# a SYN is never marked but lost, and would be sent again without ECN
	set_in src net.ipv4.tcp_ecn_fallback 0
	# marks trip the breaker, too, where the transfer takes a slow machine long enough
	set_in src net.ipv4.tcp_circuit_breaker 0
	delay 10 loss 5% ecn
	out=$(send -n 8000000)
	held "5 % ECN marks" "$out"
	at_least "5 % ECN marks: marks seen" 20 "$(field delivered_ce "$out")"
	set_in src net.ipv4.tcp_ecn 0
	set_in src net.ipv4.tcp_circuit_breaker 100
}

# As many as a stream counts; the namespace counts on.
recoveries()
{
	local out before

	delay 10 loss 5%
	# so many losses may trip the breaker by chance
	set_in src net.ipv4.tcp_circuit_breaker 0
	before=$(field recoveries "$(in_src circuit_nl stats)")
	out=$(send -n 20000000 -w 20)
	at_least "a long transfer: recoveries that the namespace counts" 256 \
		$(($(field recoveries "$(in_src circuit_nl stats)") - before))
	equal "a long transfer: recoveries that it tells of itself" 255 "$(field recoveries "$out")"
	set_in src net.ipv4.tcp_circuit_breaker 100
}

# Packets that come late look lost: undo must not leave another window behind.  No
# correlation: with one, netem reorders next to nothing.
reordering()
{
	delay 10 reorder 5%
	held "5 % reordered" "$(send -n 8000000)"
	at_least "reordering seen" 1 "$(counter 'TcpExtTCP*Reorder')"
}

# sends_all N: so many streams with an equal part of the window each
sends_all()
{
	[ "$(stream_shows cwnd | sort | uniq -c | xargs)" = "$1 $((FCWND / $1))" ]
}

# bbr_of NAME: of the first connection in $SHOWN, as ss prints it: bw in Mbit/s
bbr_of()
{
	sed -n "s/.*bbr:(\(.*\)$1:\([0-9.]*\)\(Mbps\)\{0,1\}[,)].*/\2/p" <<<"$SHOWN" |
		head -n 1
}

# Once, as a smaller round trip may be seen at any time
look()
{
	SHOWN=$(in_src ss -Hti "dport = :$PORT")
}

# What ss prints as BBR's is circuit's: the part of the window, and what that makes of
# the smallest round trip; with a rate, the pace.
shown()
{
	local i pids=()

	delay 10
	for i in 1 2; do
		background src circuit_sock send -C circuit -n 100000000000 $DST4 $PORT \
			>/dev/null
		pids+=($!)
		succeeds "ss: $i streams" until_true 20 sends_all $i
		look
		# of bw it prints three digits: above 100 Mbit/s, whole ones
		within "ss: bw of one of $i at $(bbr_of mrtt) ms, 1/10 Mbit/s" \
			"$(awk -v ms="$(bbr_of mrtt)" -v n="$((FCWND / i))" \
				'BEGIN { printf("%d", n * 1448 * 8 / ms / 100) }')" \
			"$(awk -v mbit="$(bbr_of bw)" 'BEGIN { printf("%d", mbit * 10) }')" 6
		equal "ss: its part of the window, of $i" "$(awk "BEGIN { print 1 / $i }")" \
			"$(bbr_of pacing_gain)"
		equal "ss: not cut" 1 "$(bbr_of cwnd_gain)"
	done
	kill "${pids[1]}"
	end_sockets src
	kill "${pids[0]}"
	until_true 20 no_circuits
	# 12.5 MB/s of frames are 95.6 Mbit/s of payload
	in_src circuit_nl new far prefix $DST4/32 window $FCWND rate 12500000
	background src circuit_sock send -C circuit -n 100000000000 $DST4 $PORT >/dev/null
	until_true 20 sends_all 1
	look
	equal "ss: bw at a rate, Mbit/s" 95.6 "$(bbr_of bw)"
	kill $!
	end_sockets src
	in_src circuit_nl del far
}

# A write to the sysctl reaches a stream that has been steady for long.
follows()
{
	local window

	delay 10
	background src circuit_sock send -C circuit -n 100000000000 $DST4 $PORT >/dev/null
	until_true 20 sends_all 1
	for window in 60 $FCWND; do
		set_in src net.ipv4.tcp_circuit_fcwnd $window
		succeeds "the sysctl becomes $window: so does a running stream's window" \
			until_true 3 stream_window_is $window
	done
	kill $!
	end_sockets src
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	background src circuit_sock send -C circuit -n 100000000000 $DST4 $PORT >/dev/null
	until_true 20 sending
	set_in src net.ipv4.tcp_circuit_fcwnd $FCWND
	succeeds "the sysctl is set: a stream that had no window has it" \
		until_true 3 stream_window_is $FCWND
	kill $!
	end_sockets src
}

# A probe of the path's MTU takes one from the window until the next ACK, as it
# leaves as one segment and holds two; a success would scale the window.
mtu_probe()
{
	local out

	delay 10
	set_in src net.ipv4.tcp_mtu_probing 2
	set_in src net.ipv4.tcp_base_mss 512
	in_src ip route replace 10.77.2.0/24 via 10.77.1.254
	out=$(send -n 8000000)
	at_least "MTU probes: smallest window" $((FCWND - 1)) \
		"$(field cwnd_min "$out")"
	equal "MTU probes: largest window" $FCWND "$(field cwnd_max "$out")"
	equal "MTU probes: window after them" $FCWND "$(field cwnd "$out")"
	at_least "MTU probes succeeded" 1 "$(counter TcpExtTCPMTUPSuccess)"
	set_in src net.ipv4.tcp_mtu_probing 0
}

network
single_packets
set_in src net.ipv4.tcp_circuit_fcwnd $FCWND
serve dst
plain
loss
timeouts
idle
marks
recoveries
reordering
shown
follows
mtu_probe
finish

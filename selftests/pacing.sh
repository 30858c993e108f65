#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml
#
# With a rate, each segment has its time from the first one on: a switch with
# room for ten frames loses nothing, and the circuit is full.  The switch is a
# tbf on r2: rate, a bucket of two frames, and a queue of what is asked for.

. "$(dirname "$0")/lib.sh"
need_commands ethtool circuit_sock circuit_streams ctcp-setup
need_module

RTT_MS=50

# switch RATE_MBIT BUFFER BUCKET
switch()
{
	in_rtr tc qdisc del dev r2 root 2>/dev/null
	in_rtr tc qdisc add dev r2 root tbf rate "$1mbit" burst "$3" limit "$2"
	in_src ctcp-setup undo --quiet eth1 >/dev/null 2>&1
	for host in src dst; do
		"in_$host" ctcp-setup --quiet --shaper none --rate "$1mbit" \
			--rtt ${RTT_MS}ms eth1 >/dev/null ||
			fail "ctcp-setup on $host"
	done
	set_in src net.ipv4.tcp_circuit_rate $(($1 * 125000))
	set_in dst net.ipv4.tcp_circuit_rate $(($1 * 125000))
}

# below KIND RATE_MBIT: what stands below TCP on src
below()
{
	in_src tc qdisc del dev eth1 root 2>/dev/null
	case $1 in
	fq) in_src tc qdisc add dev eth1 root fq limit 100000 flow_limit 100000 ;;
	tbf) in_src tc qdisc add dev eth1 root tbf rate "$2mbit" burst 3028 \
		limit 10000000 ;;
	esac
}

drops()
{
	in_rtr tc -s qdisc show dev r2 | sed -n 's/.*dropped \([0-9]*\).*/\1/p' |
		head -n 1
}

# lossless NAME RATE_MBIT MS [OPTION...]: from the first segment on
lossless()
{
	local name=$1 rate=$2 ms=$3 before out limit

	shift 3
	# what an earlier one has left to send
	in_src ss -K "dport = :$PORT" >/dev/null
	before=$(drops)
	out=$(in_src timeout 120 circuit_streams -w 100 -t "$ms" -p 20 "$@" \
		$DST4 $PORT)
	equal "$name: lost in the switch" 0 $(($(drops) - before))
	equal "$name: sent again" 0 "$(field retrans "$out")"
	limit=$((rate * 125 * ms * 1448 / 1514))
	at_least "$name: bytes in $ms ms" $((limit * 98 / 100)) \
		"$(field bytes "$out")"
}

# With no rate the same switch loses: this test can fail.
unpaced_loses()
{
	set_in src net.ipv4.tcp_circuit_rate 0
	in_src timeout 120 circuit_streams -t 300 $DST4 $PORT >/dev/null
	at_least "unpaced: lost in the switch" 100 "$(drops)"
}

# Server to client: nobody's SYN-ACK holds the first flight to 64 KB.
from_server()
{
	in_rtr tc qdisc replace dev r1 root tbf rate 1000mbit burst 3028 \
		limit 15140
	serve_end
	serve dst -C circuit -n 20000000
	in_src timeout 20 bash -c "exec 3<>/dev/tcp/$DST4/$PORT; \
		head -c 20000000 <&3 >/dev/null"
	equal "server to client: lost in the switch" 0 \
		"$(in_rtr tc -s qdisc show dev r1 |
			sed -n 's/.*dropped \([0-9]*\).*/\1/p' | head -n 1)"
	in_rtr tc qdisc del dev r1 root
	serve_end
	serve dst -C circuit
}

# One socket's own rate, SO_MAX_PACING_RATE, and the rate that ss shows
rates()
{
	local out

	set_in src net.ipv4.tcp_circuit_rate 125000000
	out=$(in_src timeout 60 circuit_sock send -C circuit -R 12500000 \
		-n 3000000 $DST4 $PORT)
	equal "TCP_CIRCUIT_RATE: rate" 12500000 "$(field rate "$out")"
	equal "TCP_CIRCUIT_RATE: pacing rate, payload" \
		$((12500000 * 1448 / 1514)) "$(field pacing "$out")"
	out=$(in_src timeout 60 circuit_sock send -C circuit -M 1000000 \
		-n 300000 $DST4 $PORT)
	equal "SO_MAX_PACING_RATE below it: pacing rate" 1000000 \
		"$(field pacing "$out")"
}

# timers FCWND: while its first ten wait for ACKs, the pacing timer rests.
# One at each time a segment may go would be 20,000 in that quarter of a second.
timers()
{
	local before

	end_sockets src
	set_in src net.ipv4.tcp_circuit_rate 125000000
	before=$(soft_timers)
	background src circuit_sock send -C circuit -w "$1" -n 20000 -k 1000 \
		$DST4 $PORT >/dev/null
	sleep 0.15
	at_least "window of $1 full: segments under way" "$1" \
		"$(in_src ss -Hti "dport = :$PORT" |
			sed -n 's/.*unacked:\([0-9]*\).*/\1/p')"
	sleep 0.2
	at_most "window of $1 full, while it waits: timers" 100 \
		$(($(soft_timers) - before))
	end_sockets src
}

soft_timers()
{
	awk '/HRTIMER:/ { for (i = 2; i <= NF; i++) n += $i } END { print n }' \
		/proc/softirqs
}

# A window of rate x RTT, unpaced: what the core keeps back until it fills a GSO
# packet is little of it.  As much as a third left 709.
short_path()
{
	local out ms=500 window=41	# 1 Gbit/s x 0.5 ms

	end_sockets src
	in_rtr tc qdisc del dev r2 root
	in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay 500us
	below tbf 1000
	set_in src net.ipv4.tcp_circuit_rate 0
	set_in src net.ipv4.tcp_circuit_fcwnd $window
	out=$(in_src timeout 60 circuit_streams -w 100 -t $ms -p 20 $DST4 $PORT)
	at_least "a window of rate x RTT, 0.5 ms: thousandths of it" 950 \
		$(($(field bytes "$out") * 1000 / (window * 1448 * 2 * ms)))
}

network
single_packets
in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay ${RTT_MS}ms
serve dst -C circuit
switch 1000 15140 3028
for kind in none fq tbf; do
	below $kind 1000
	lossless "1 Gbit/s, ten frames, $kind below" 1000 900
done
below none
timers 2
lossless "1 Gbit/s, ten frames, 4 streams" 1000 900 -n 4
from_server
rates
unpaced_loses
switch 10000 65536 6056
lossless "10 Gbit/s, 64 KB" 10000 300
short_path
finish

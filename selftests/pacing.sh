#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml
#
# With a rate, each segment of a circuit has its time from the first one on: a switch
# with room for ten frames loses nothing, and the circuit is full, however many
# streams it has.  With SO_MAX_PACING_RATE and no rate it takes room for a GSO packet
# more.  The switch is a tbf on r2: rate, a bucket of two frames, and a queue of what
# is asked for.

. "$(dirname "$0")/lib.sh"
need_commands ethtool circuit_nl circuit_sock circuit_streams ctcp-setup
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
	WINDOW=$(circuit_field src eth1 window)
	circuit src 10.77.2.0/24 "$WINDOW" $(($1 * 125000))
	circuit dst 10.77.1.0/24 "$WINDOW" $(($1 * 125000))
}

# Both hosts' memory is this machine's, and ctcp-setup leaves its tcp_mem alone in a
# namespace: what the windows of 10 Gbit/s need at both ends, pages.
memory()
{
	local before

	before=$(sysctl -n net.ipv4.tcp_mem)
	defer "sysctl -qw net.ipv4.tcp_mem='$before'"
	sysctl -qw net.ipv4.tcp_mem="400000 500000 600000"
}

# circuit src|dst PREFIX WINDOW RATE: with a longer prefix than what ctcp-setup made
circuit()
{
	"in_$1" circuit_nl new paced prefix "$2" window "$3" rate "$4" ||
		fail "a circuit on $1"
}

# towards_dst WINDOW RATE: src's
towards_dst()
{
	circuit src 10.77.2.0/24 "$1" "$2"
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

# lossless NAME RATE_MBIT MS [OPTION...]: from the first segment on
lossless()
{
	local name=$1 rate=$2 ms=$3 before out limit

	shift 3
	# what an earlier one has left to send
	in_src ss -tK "dport = :$PORT" >/dev/null
	before=$(dropped rtr r2)
	out=$(in_src timeout 120 circuit_streams -w 100 -t "$ms" -p 20 "$@" \
		$DST4 $PORT)
	equal "$name: lost in the switch" 0 $(($(dropped rtr r2) - before))
	equal "$name: sent again" 0 "$(field retrans "$out")"
	limit=$((rate * 125 * ms * 1448 / 1514))
	at_least "$name: bytes in $ms ms" $((limit * 98 / 100)) \
		"$(field bytes "$out")"
}

# With no rate the same switch loses: this test can fail.
unpaced_loses()
{
	towards_dst "$WINDOW" 0
	in_src timeout 120 circuit_streams -t 300 $DST4 $PORT >/dev/null
	at_least "unpaced: lost in the switch" 100 "$(dropped rtr r2)"
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
		"$(dropped rtr r1)"
	in_rtr tc qdisc del dev r1 root
	serve_end
	serve dst -C circuit
}

# send MAX_PACING BYTES: with a rate of the socket's own
send()
{
	in_src timeout 60 circuit_sock send -C circuit -M "$1" -n "$2" $DST4 $PORT
}

# One socket's own rate, SO_MAX_PACING_RATE, from its first segment on, by which the
# core sends a GSO packet at a time, and after a pause the next one in half of its time;
# and the rate that ss shows
own_rates()
{
	local before out payload=$((125000000 * 1448 / 1514))

	end_sockets src
	towards_dst "$WINDOW" 12500000
	out=$(in_src timeout 60 circuit_sock send -C circuit -n 3000000 $DST4 $PORT)
	equal "a circuit's rate" 12500000 "$(field rate "$out")"
	equal "a circuit's rate: pacing rate, payload" \
		$((12500000 * 1448 / 1514)) "$(field pacing "$out")"
	equal "SO_MAX_PACING_RATE below it: pacing rate" 1000000 \
		"$(field pacing "$(send 1000000 300000)")"
	equal "SO_MAX_PACING_RATE above it: pacing rate" \
		$((12500000 * 1448 / 1514)) "$(field pacing "$(send 50000000 3000000)")"
	before=$(dropped rtr r2)
	out=$(send -1 3000000)
	equal "SO_MAX_PACING_RATE 0, none to the core: pacing rate" \
		$((12500000 * 1448 / 1514)) "$(field pacing "$out")"
	equal "SO_MAX_PACING_RATE 0, none to the core: lost in the switch" 0 \
		$(($(dropped rtr r2) - before))
	towards_dst "$WINDOW" 0
	in_rtr tc qdisc change dev r2 root tbf rate 1000mbit burst 3028 \
		limit $((65536 * 3 / 2 + 15140))
	before=$(dropped rtr r2)
	out=$(send $payload 20000000)
	equal "SO_MAX_PACING_RATE without a rate: pacing rate" $payload \
		"$(field pacing "$out")"
	equal "SO_MAX_PACING_RATE without a rate: lost in the switch" 0 \
		$(($(dropped rtr r2) - before))
	equal "SO_MAX_PACING_RATE without a rate: sent again" 0 \
		"$(field retrans "$out")"
}

# ms_of COMMAND...
ms_of()
{
	local begin

	begin=$(date +%s%N)
	"$@" >/dev/null
	echo $((($(date +%s%N) - begin) / 1000000))
}

# A stream that is alone has all of the rate, however little it sends: a round trip to
# connect, one for the 64 KB that a SYN-ACK can promise and one for what is more than
# that, and the bytes at the rate.
short_transfers()
{
	local bytes rounds

	for bytes in 14480 60000 300000 3000000; do
		end_sockets src
		rounds=$((bytes > 65535 ? 3 : 2))
		at_most "$bytes bytes at 1 Gbit/s: ms" \
			$((rounds * RTT_MS + bytes * 1514 / 1448 / 125000 + 5)) \
			"$(ms_of in_src timeout 20 circuit_sock send -C circuit \
				-n $bytes $DST4 $PORT)"
	done
}

# The pace of each stream of several, from ss, bytes of payload in a second
paces()
{
	in_src ss -Htin "dport = :$PORT" |
		sed -n 's/.*pacing_rate \([0-9]*\)bps.*/\1/p'
}

# exact N: the paces of N streams that send all they can are the rate's N-th part
exact()
{
	local streams least most part=$((125000000 * 1448 / 1514 * 8 / $1))

	end_sockets src
	background src circuit_streams -n "$1" -t 5000 $DST4 $PORT >/dev/null
	streams=$!
	sleep 2
	read -r least most < <(paces | sort -n | sed -n '1p;$p' | xargs)
	within "$1 streams: the slowest pace, bit/s" $part "$least" $((part / 200))
	within "$1 streams: the fastest pace, bit/s" $part "$most" $((part / 200))
	kill $streams
	end_sockets src
}

# What one user's bound keeps small, paced or not, is the others': 17 segments each 50 ms
# are 4 Mbit/s of 1 Gbit/s.
small_bound()
{
	local name=net.ipv4.tcp_allowed_congestion_control before other out

	in_virtual_time || return 0
	end_sockets src
	before=$(sysctl -n $name)
	sysctl -qw $name="$before circuit"
	towards_dst "$WINDOW" 125000000
	background src circuit_sock send -C circuit -u 65534 -w 17 -n 100000000000 $DST4 $PORT \
		>/dev/null
	other=$!
	sleep 1
	out=$(in_src timeout 60 circuit_streams -n 1 -w 1000 -t 3000 $DST4 $PORT)
	at_least "beside a stream that asked for 17 segments: thousandths of the line" 900 \
		$(($(field bytes "$out") / (3 * 125000000 / 1000 * 1448 / 1514)))
	equal "... trips, as of a stream that falls short" 0 "$(circuit_field src paced trips)"
	kill $other
	sysctl -qw $name="$before"
	end_sockets src
}

# sent_by_src: bytes, ever
sent_by_src()
{
	in_src cat /sys/class/net/eth1/statistics/tx_bytes
}

# slowly KIND: streams whose part of the rate is less than a segment a second are as busy as
# any other, and together send at the rate
slowly()
{
	local rate=8000 window=10 s=30 before streams

	end_sockets src
	below "$1" 1000
	towards_dst $window $rate
	background src circuit_streams -n 10 -t 60000 $DST4 $PORT >/dev/null
	streams=$!
	sleep 15
	before=$(sent_by_src)
	sleep $s
	within "10 streams of $rate byte/s, $1 below: bytes in $s s" $((rate * s)) \
		$(($(sent_by_src) - before)) $((rate * s / 20))
	kill $streams
	end_sockets src
}

# own_slow KIND: a socket's own rate, of which a segment lasts four round trips, and one of 0.8
own_slow()
{
	local rate s=6 before

	end_sockets src
	below "$1" 1000
	towards_dst "$WINDOW" 0
	for rate in 7240 36200; do
		before=$(sent_by_src)
		background src timeout 60 circuit_sock send -C circuit -M $rate \
			-n $((rate * 10)) $DST4 $PORT >/dev/null
		sleep $s
		within "SO_MAX_PACING_RATE $rate, $1 below: bytes in $s s" \
			$((rate * s * 1514 / 1448)) $(($(sent_by_src) - before)) \
			$((rate * s / 20 + 1514))
		end_sockets src
	done
}

# Short segments take a short time at a rate: of nine requests of 100 bytes, one in each round
# trip and a little, none waits for as long as a full one would take.
requests()
{
	end_sockets src
	below none 1000
	default_circuit
	towards_dst "$WINDOW" 10000
	in_src timeout 20 bash -c "exec 3<>/dev/tcp/$DST4/$PORT
		for n in 1 2 3 4 5 6 7 8 9; do
			printf '%0100d' 0 >&3
			sleep 0.06
		done
		ss -Hti 'dport = :$PORT'" >"$TMP/requests"
	equal "nine requests at 10,000 byte/s, 60 ms apart: bytes acknowledged in 540 ms" 901 \
		"$(sed -n 's/.*bytes_acked:\([0-9]*\).*/\1/p' "$TMP/requests")"
	end_sockets src
}

# timers WINDOW: while its first ten wait for ACKs, the pacing timer rests.
# One at each time a segment may go would be 20,000 in that quarter of a second.
timers()
{
	local before

	end_sockets src
	towards_dst "$1" 125000000
	before=$(soft_timers)
	background src circuit_sock send -C circuit -n 20000 -k 1000 $DST4 $PORT \
		>/dev/null
	sleep 0.15
	at_least "window of $1 full: segments under way" "$1" \
		"$(in_src ss -Hti "dport = :$PORT" |
			sed -n 's/.*unacked:\([0-9]*\).*/\1/p')"
	sleep 0.2
	at_most "window of $1 full, while it waits: timers" 100 \
		$(($(soft_timers) - before))
	end_sockets src
	towards_dst "$WINDOW" 125000000
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
	towards_dst $window 0
	out=$(in_src timeout 60 circuit_streams -w 100 -t $ms -p 20 $DST4 $PORT)
	at_least "a window of rate x RTT, 0.5 ms: thousandths of it" 950 \
		$(($(field bytes "$out") * 1000 / (window * 1448 * 2 * ms)))
}

memory
network
single_packets
in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay ${RTT_MS}ms
serve dst -C circuit
switch 1000 15140 3028
for kind in none fq tbf; do
	below $kind 1000
	lossless "1 Gbit/s, ten frames, $kind below" 1000 500
done
below none
timers 2
lossless "1 Gbit/s, ten frames, 4 streams" 1000 500 -n 4
lossless "1 Gbit/s, ten frames, 8 streams" 1000 500 -n 8
short_transfers
for streams in 3 8 30; do
	exact $streams
done
small_bound
for kind in none fq; do
	slowly $kind
	own_slow $kind
done
below none
requests
from_server
own_rates
switch 1000 15140 3028
unpaced_loses
switch 10000 65536 6056
lossless "10 Gbit/s, 64 KB" 10000 150
short_path
finish

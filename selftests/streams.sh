#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Sockets of one circuit share one window: n streams together hold it, each its
# share, from two round trips after they come, go or fall idle; the sum is never
# larger than the window and a segment for each stream; the queue that was made for
# one window drops nothing.  Goodput is asserted in virtual time only.

. "$(dirname "$0")/lib.sh"
need_commands ethtool circuit_hostile circuit_nl circuit_sock circuit_streams ctcp-setup
need_module

if [ "$LAB" = uml ]; then
	need_commands iperf3 jq
	RATE_MBIT=500 MANY="1 4 16 256" SECONDS_MS=3000 SETTLE_MS=1000
else
	RATE_MBIT=50 MANY="1 4 16" SECONDS_MS=1500 SETTLE_MS=5000
fi
RTT_MS=50
# two round trips of the newcomer: by its second ACK the others have given back its whole share
ROUND_MS=$((RTT_MS * 2 + 10))

run()
{
	in_src timeout 120 circuit_streams "$@" $DST4 $PORT
}

# shared NAME STREAMS OUTPUT: assertions that hold for every number of streams
shared()
{
	at_most "$1: shares together" "$WINDOW" "$(field total_max "$3")"
	equal "$1: the shaper's drops" 0 "$(dropped src eth1)"
	# on a slow machine streams change while they are asked one after the other,
	# and segments with late ACKs are taken for lost
	in_virtual_time || return 0
	at_most "$1: windows together" $((WINDOW + $2)) "$(field sum_max "$3")"
	equal "$1: sent again" 0 "$(field retrans "$3")"
}

# payload limit in SECONDS_MS, bytes
line()
{
	echo $((RATE_MBIT * 125 * SECONDS_MS * 1448 / 1514))
}

together()
{
	local n out

	for n in $MANY; do
		out=$(run -n "$n" -w 1000 -t $SECONDS_MS)
		shared "$n streams" "$n" "$out"
		in_virtual_time || continue
		within "$n streams: bytes" "$(line)" "$(field bytes "$out")" \
			$(($(line) / 100))
		at_least "$n streams: Jain's fairness, 1/10000" 9900 \
			"$(field jain "$out")"
	done
}

# iperf3_mbit OPTION...: goodput at the receiver, Mbit/s
iperf3_mbit()
{
	in_src iperf3 -c $DST4 -p $((PORT + 2)) -C circuit -J "$@" |
		jq '.end.sum_received.bits_per_second / 1e6 | floor'
}

# A stream uses little at first when its peer's window opens step by step, or while its
# program waits for room in the buffer.  The core holds back what does not fill a packet;
# this must not count as a stream that wants no more than it has.
opening()
{
	in_virtual_time || return 0
	set_in src net.ipv4.tcp_circuit_fcwnd $((RATE_MBIT * 5367 / 1000))
	in_src tc qdisc add dev eth1 root tbf rate ${RATE_MBIT}mbit burst 100kb \
		limit 10000000
	background dst iperf3 -s -1 -p $((PORT + 2)) >/dev/null
	defer "kill $!"
	PORT=$((PORT + 2)) until_true 10 listening dst || fail "iperf3's server"
	at_least "two whose peer opens slowly: Mbit/s in 4 s" $((RATE_MBIT * 84 / 100)) \
		"$(iperf3_mbit -P 2 -t 4)"
	PORT=$((PORT + 2)) end_sockets src
	in_src tc qdisc del dev eth1 root
}

# The first has the whole window when the others come.
newcomers()
{
	local n out

	for n in 2 8; do
		# a socket of an earlier run with data to send is a stream, too
		end_sockets src
		out=$(run -n $n -f 1 -l 500 -w 700 -t $SETTLE_MS -p 1)
		shared "$((n - 1)) newcomers" $n "$out"
		# in real time the host may delay it by any time
		if [ "$LAB" = uml ]; then
			at_most "$((n - 1)) newcomers: ms until all windows are alike" \
				$ROUND_MS "$(field settle_ms "$out")"
		else
			at_least "$((n - 1)) newcomers: all windows become alike, ms" \
				0 "$(field settle_ms "$out")"
		fi
	done
}

# rest_fills NAME STREAMS PART OPTION...: whatever some streams do, the others fill the
# line but for one part in PART
rest_fills()
{
	local name=$1 streams=$2 part=$3 out

	shift 3
	out=$(run -n "$streams" -t $SECONDS_MS "$@")
	shared "$name" "$streams" "$out"
	in_virtual_time || return 0
	within "$name: bytes of the rest" "$(line)" "$(field bytes "$out")" \
		$(($(line) / part))
}

# After seven of eight have stopped, the last one has the whole window again; a control
# channel takes what it needs, not half of the window.
others()
{
	rest_fills "seven of eight stop" 8 33 -f 1 -l 100 -s 1000 -w 1200
	rest_fills "one that whispers beside" 2 100 -q 1 -w 1000
}

# beside QUIET PERCENT WORD...: how much one stream keeps of a circuit beside QUIET others
# that send 100 bytes every 5 ms
beside()
{
	local quiet=$1 percent=$2 alone with

	shift 2
	in_src circuit_nl new excl host prefix $DST4 "$@"
	alone=$(field bytes "$(run -n 1 -w 1000 -t 1000)")
	end_sockets src
	with=$(field bytes "$(run -n $((quiet + 1)) -q "$quiet" -w 1000 -t 1000)")
	end_sockets src
	at_least "beside $quiet that trickle, $*: % of what it has alone" \
		"$percent" $((with * 100 / alone))
	in_src circuit_nl del host
}

# Many streams that constantly send a little do not take the circuit from one that sends
# much.
trickles()
{
	in_virtual_time || return 0
	delay 10
	beside 40 40 window 200
	beside 40 45 window 1000 rate 31250000	# 49 to 54 by seed
	beside 10 55 window 200
	beside 10 70 window 1000 rate 31250000
	delay $((RTT_MS / 2))
}

# A receiver acknowledges two segments at once, or one after 40 ms: such an ACK leaves
# nothing in flight of a stream that has few segments, and is no sign that it needs less.
few_segments()
{
	local out

	in_virtual_time || return 0
	in_src circuit_nl new excl host prefix $DST4 window 12
	out=$(run -n 4 -w 1000 -t 5000)
	end_sockets src
	in_src circuit_nl del host
	at_least "four streams on a window of 12: segments each ${RTT_MS} ms" 6 \
		$(($(field bytes "$out") / 1448 * RTT_MS / 5000))
}

# A turn that was booked for later and given back takes nothing of the window.  After a
# thousand streams have come and gone, the one that stays looks at its turn within 100 ms
# (turn.c), and has the whole window two round trips later.
turns_given_back()
{
	local ms=0

	in_virtual_time || return 0
	CIRCUIT=host
	in_src circuit_nl new excl host prefix $DST4 window 100
	sender $PORT
	until_true 10 holds 100
	in_src timeout 60 circuit_hostile waves -n 1000 -t 1 -p 120 $DST4 $PORT >/dev/null
	while ! holds 100 && [ $ms -lt 10000 ]; do
		sleep 0.01
		ms=$((ms + 10))
	done
	at_most "after 1000 streams were reset: ms until the window is held" \
		$((100 + 2 * RTT_MS + 20)) $ms
	kill $SENDER
	end_sockets src
	in_src circuit_nl del host
	CIRCUIT=eth1
}

# window_beside ADDRESS OPTION...: the window of a stream that sends without end, while
# another one does so to ADDRESS
window_beside()
{
	local address=$1 other out

	shift
	background src circuit_sock send -C circuit -n 100000000000 "$@" \
		"$address" $PORT >/dev/null
	other=$!
	out=$(run -n 1 -w 500 -t 500)
	kill $other
	field sum_max "$out"
	end_sockets src
}

# sender PORT: send there without end, in the background
sender()
{
	background src circuit_sock send -C circuit -n 100000000000 $DST4 "$1" \
		>/dev/null
	SENDER=$!
}

has_sockets()
{
	[ "$(circuit_field src host sockets)" -ge "$1" ]
}

# all_sent PORT BYTES: each of the five streams has acknowledged so many bytes to dst
all_sent()
{
	[ "$(in_dst ss -Htin "sport = :$1" | grep -c "bytes_acked:$2 ")" = 5 ]
}

# slowest_rtt PORT: the longest round trip that dst measures to src, ms
slowest_rtt()
{
	in_dst ss -Htin "sport = :$1" |
		sed -n 's/.* rtt:\([0-9]*\).*/\1/p' | sort -n | tail -n 1
}

# fq sends a packet at the time in its stamp; the ACKs of a stream whose turn is a second
# away must not have the time of that turn.  A delayed ACK takes 40 ms.
acks_have_no_turn()
{
	local port=$((PORT + 1)) pids=() n

	in_virtual_time || return 0
	in_src tc qdisc add dev eth1 root fq limit 100000
	in_src circuit_nl new excl host prefix $DST4 window 10
	serve dst
	background dst circuit_sock serve -C reno -n 14480 -i 1000 $port >/dev/null
	pids+=($!)
	PORT=$port until_true 10 listening dst || fail "a server on port $port"
	background src circuit_streams -n 200 -w 4000 -t 1000 $DST4 $PORT >/dev/null
	pids+=($!)
	until_true 10 has_sockets 200
	for n in 1 2 3 4 5; do
		sender $port
		pids+=("$SENDER")
	done
	succeeds "dst sent twice to streams that wait for a turn" \
		until_true 10 all_sent $port 28960
	at_most "their ACKs under fq: ms until they come" $((RTT_MS + 40)) \
		"$(slowest_rtt $port)"
	kill "${pids[@]}"
	serve_end
	PORT=$port end_sockets src
	end_sockets src
	in_src circuit_nl del host
	in_src tc qdisc del dev eth1 root
}

# Sum of the shares of the circuit's streams, segments
held()
{
	circuit_field src "$CIRCUIT" cwnd_total
}

holds()
{
	[ "$(held)" = "$1" ]
}

# waiting PORT: bytes in the send queues of established sockets to it; a SYN does not count
waiting()
{
	in_src ss -Htn "dport = :$1" |
		awk '$1 == "ESTAB" { n += $3 } END { print n + 0 }'
}

stands_still()
{
	[ "$(waiting "$1")" -gt 0 ] && holds 0
}

# A stream whose peer reads nothing cannot send, and keeps no share.
stalled()
{
	local other=$((PORT + 1))

	PORT=$other serve dst
	kill -STOP "$SERVER"
	sender $other
	until_true 60 stands_still $other
	at_least "to one that does not read: bytes that wait" 1 \
		"$(waiting $other)"
	equal "and its share meanwhile" 0 "$(held)"
	equal "and of another stream meanwhile: window" "$WINDOW" \
		"$(field sum_max "$(run -n 1 -w 500 -t 500)")"
	kill $SENDER
	kill -KILL "$SERVER"
	PORT=$other end_sockets src
	end_sockets src
}

# A changed window applies to existing streams, too.
two_windows()
{
	CIRCUIT=host
	in_src circuit_nl new host prefix $DST4 window 600
	sender $PORT
	until_true 10 holds 600
	in_src circuit_nl new replace host prefix $DST4 window 300
	equal "a window halved, a second stream: window" 150 \
		"$(field sum_max "$(run -n 1 -w 1000 -t 500)")"
	kill $SENDER
	end_sockets src
	in_src circuit_nl del host
	CIRCUIT=eth1
}

# A socket's own window, set by the administrator, is outside the circuit's; so is another
# circuit.
own_windows()
{
	equal "beside a socket with a window of its own: window" "$WINDOW" \
		"$(window_beside $DST4 -w 77)"
	ip -n "$DST" addr add 10.77.2.2/24 dev eth1
	in_src circuit_nl new other prefix 10.77.2.2/32 window 100
	equal "beside a stream of another circuit: window" "$WINDOW" \
		"$(window_beside 10.77.2.2)"
	in_src circuit_nl del other
}

nothing_left()
{
	end_sockets src
	until_true 20 no_circuits
	equal "sockets and peers' circuits when all is over" 0 \
		"$(circuits_in_use)"
}

network $((RTT_MS / 2))
opening
single_packets
acks_have_no_turn
for host in src dst; do
	"in_$host" ctcp-setup --quiet --rate ${RATE_MBIT}mbit --rtt ${RTT_MS}ms eth1 \
		>/dev/null || fail "ctcp-setup on $host"
done
CIRCUIT=eth1
WINDOW=$(circuit_field src $CIRCUIT window)
serve dst
together
newcomers
others
few_segments
turns_given_back
trickles
stalled
two_windows
own_windows
nothing_left
finish

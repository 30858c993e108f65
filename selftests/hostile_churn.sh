#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# Sockets that are opened and closed all the time get together no more than one that stays.
#
#	crowd		more sockets than segments, however short they live
#	unknown		connections of a byte each, whose round trip is not known
#	cookies		the same behind SYN cookies
#	bursts		streams that are reset leave nothing in fq that would leave all at one time
#	flaps		streams that leave the circuit and come back all the time

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/hostile_lib.sh"
need_commands nstat

CROWD=200		# sockets, more than a window has segments

# in_round_trip NAME LEAST MOST GOT: segments that a crowd sends together
in_round_trip()
{
	at_least "$1: segments in a round trip" "$2" "$4"
	at_most "$1: segments in a round trip" "$3" "$4"
}

# crowded NAME LEAST MOST FROM: CROWD sockets, and what they send together in each round
# trip, in the mean of the seconds from FROM on
crowded()
{
	in_virtual_time || return 0
	end_sockets src
	hostile send -u $MALLORY -n $CROWD -t 5100 -p 20 $DST4 $PORT >"$TMP/crowd"
	in_round_trip "$1, $CROWD sockets" "$2" "$3" \
		$(($(mean "$TMP/crowd" acked "$4" 5) * RTT_MS / 1000 / PAYLOAD))
}

# short_lived NAME LEAST MOST VERB MS [OPTION...]: CROWD sockets that are reset, or leave,
# as soon as they have sent, and what they send together in each round trip
short_lived()
{
	local name=$1 least=$2 most=$3 verb=$4 ms=$5 out

	in_virtual_time || return 0
	shift 5
	end_sockets src
	out=$(hostile "$verb" -u $MALLORY -n $CROWD -t 3000 -p "$ms" "$@" $DST4 $PORT)
	in_round_trip "$name, $CROWD sockets that live $ms ms ($verb${*:+ $*})" \
		"$least" "$most" $(($(field sent "$out") * RTT_MS / $(field ms "$out")))
}

# What one has who stays, while others come and go: half, as beside one that stays
beside_short_lived()
{
	in_virtual_time || return 0
	end_sockets src
	fresh 200
	alice short 9000
	until_true 20 acked "$TMP/short" 4
	hostile relay -u $MALLORY -n $CROWD -p 10 $DST4 $PORT >/dev/null
	wait $ALICE_PID
	at_least "beside sockets that live 10 ms: of what she had, in her worst second, %" \
		40 "$(worst short 5 8)"
}

# Fewer streams than segments, but not two for each
nearly_crowded()
{
	local flight

	end_sockets src
	hostile send -u $MALLORY -n 49 -t 5100 -p 4 $DST4 $PORT >"$TMP/crowd"
	flight=$(greatest "$TMP/crowd" flight_max 2 5)
	at_least "49 streams on a window of 50: in flight" 40 "$flight"
	at_most "49 streams on a window of 50: in flight" 52 "$flight"
}

# All together have about what one socket would have, however short they live; and they do
# have most of it, but for waves, of which nobody sends while they connect.
crowd()
{
	fresh 200
	trip $MALLORY
	crowded "tripped" $((CUT * 4 / 10)) $((CUT * 12 / 10)) 1
	short_lived "tripped" $((CUT / 5)) $((CUT * 12 / 10)) waves 250
	short_lived "tripped" $((CUT / 2)) $((CUT * 12 / 10)) relay 1
	end_sockets src
	fresh 50
	crowded "a window of 50" 25 $((50 * 12 / 10)) 2
	short_lived "a window of 50" 10 $((50 * 12 / 10)) waves 250
	short_lived "a window of 50" 25 $((50 * 13 / 10)) relay 1
	short_lived "a window of 50" 25 $((50 * 13 / 10)) relay 1 -s toggle
	short_lived "a window of 50" 25 $((50 * 13 / 10)) relay 1 -s delay
	short_lived "a window of 50" 25 $((50 * 13 / 10)) relay 1 -s reuse
	short_lived "a window of 50" 0 $((50 * 13 / 10)) relay 1 -s lag
	short_lived "a window of 50" 0 $((50 * 13 / 10)) waves 250 -s lag
	nearly_crowded
	beside_short_lived
	no_wave
	set_in src net.ipv4.tcp_circuit_fcwnd 50
	short_lived "an automatic circuit's 50" 25 $((50 * 12 / 10)) waves 1 -n 1
	set_in src net.ipv4.tcp_circuit_fcwnd 0
}

# beside_unknown VERB [OPTION...]: of eight connections at once, each of a segment at a time
beside_unknown()
{
	fresh 200
	others 8 src "$@" -u $MALLORY -n 1 -t 8000 $DST4 $PORT
	at_most "beside a byte each of nobody knows where ($*): her bursts of half of the window, mean ms" \
		$((RTT_MS * 3)) "$(her_bursts $DST4)"
	wait "${OTHERS[@]}" || fail "connections of a byte each"
	end_sockets src
	no_wave
}

# Segments whose round trip nobody knows take no more than these: what she sends now and then
# finds the rest of the window, though in a second there are as many of them as that has segments.
unknown()
{
	in_virtual_time || return 0
	beside_unknown waves -s unknown
	beside_unknown waves -s forget
	beside_unknown forget
}

cookies_received()
{
	in_src nstat -asz TcpExtSyncookiesRecv | awk '/Recv/ { print $2 }'
}

# So from a server that knows no round trip until its first ACK: behind SYN cookies, without
# timestamps
cookies()
{
	local n=6 greeter before port=$((PORT + 100))

	in_virtual_time || return 0
	fresh 20
	set_in src net.ipv4.tcp_syncookies 2
	set_in src net.ipv4.tcp_timestamps 0
	before=$(cookies_received)
	background src circuit_hostile greet -n $n -t 9000 $port
	greeter=$!
	others $n dst waves -n 1 -p 400 -t 8000 10.77.1.1 $port
	at_most "beside answers to SYN cookies: her bursts of five windows, mean ms" \
		$((RTT_MS * 10)) "$(her_bursts $DST4)"
	wait "${OTHERS[@]}" $greeter || fail "a server, and who connects to it"
	at_least "connections by SYN cookies" 50 \
		"$(($(cookies_received) - before))"
	set_in src net.ipv4.tcp_timestamps 1
	set_in src net.ipv4.tcp_syncookies 1
	end_sockets src
	no_wave
}

bytes_in_fq()
{
	in_src tc -s qdisc show dev eth1 | sed -n 's/.*backlog \([0-9KMb]*\) .*/\1/p' |
		head -n 1 | sed 's/Mb$/000000/; s/Kb$/000/; s/b$//'
}

# Streams that are reset leave nothing in fq that would leave all at one time.
bursts()
{
	local how

	in_virtual_time || return 0
	in_src tc qdisc replace dev eth1 root fq
	for how in burst stretch; do
		fresh 200
		hostile relay -u $MALLORY -n 30 -p $RTT_MS -s $how $DST4 $PORT >/dev/null ||
			fail "streams one after the other"
		at_most "departures 0.8 s ahead, 30 streams one after the other ($how): segments in fq" \
			200 "$(($(bytes_in_fq) / 1514))"
		end_sockets src
	done
	in_src tc qdisc del dev eth1 root
	end_sockets src
	no_wave
}

# beside_flaps MS: of a stream that comes back so often, which had the window
beside_flaps()
{
	fresh
	mallory 1 send -s flap -p "$1"
	sleep 1
	alice flaps 5000
	wait $ALICE_PID
	at_least "beside who leaves and comes back each $((2 * $1)) ms: bytes/s of hers, at last" \
		$((WINDOW / 2 * SPARED / 100 * PAYLOAD * 1000 / RTT_MS)) \
		"$(least "$TMP/flaps" acked 3 4)"
	mallory_ends
}

flaps()
{
	local ms

	in_virtual_time || return 0
	room_at_once
	for ms in 1 2 5 10 50; do
		beside_flaps $ms
	done
	room_as_before
}

hostile_network
cases crowd unknown cookies bursts flaps
finish

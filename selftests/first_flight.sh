#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# The first flight after the handshake has exactly min(fcwnd, receive window)
# segments.  Seen in the packets on rtr: data segments before the first ACK of
# data can be back, which is one round trip (600 ms) after the first of them.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/capture_lib.sh"
need_commands tcpdump ethtool circuit_nl circuit_sock
need_module

MSS=1448

# serve_captured [OPTION...]: a server on dst, and tcpdump beside src
serve_captured()
{
	PORT=$((PORT + 1))
	serve dst "$@"
	capture_begin r1
}

# flight ADDRESS: data segments it sent in the half second from its first one on
flight()
{
	packets -tt | awk -v from="$1." '
		index($3, from) == 1 && /length [1-9]/ {
			if (!first) first = $1
			if ($1 - first < 0.5) n++
		}
		END { print n + 0 }'
}

# The receive window in the SYN (S) or the SYN-ACK (S.), bytes, never scaled
handshake_window()
{
	packets | sed -n "s/.*Flags \\[$1\\],.* win \\([0-9]*\\),.*/\\1/p" |
		head -n 1
}

# Bytes worth two flights, and more than a receive window of 64 KB at most
two_flights()
{
	echo $((($1 < 50 ? $1 : 50) * 2 * MSS))
}

# segments_that_fit FCWND RECEIVE_WINDOW MSS
segments_that_fit()
{
	local fit=$(($2 / $3))

	echo $(($1 < fit ? $1 : fit))
}

# flight_is NAME FCWND MSS SENDER FLAGS: S or S. carries the receiver's window
flight_is()
{
	local window

	window=$(handshake_window "$5")
	equal "$1, window $2, receive window $window: first flight" \
		"$(segments_that_fit "$2" "$window" "$3")" "$(flight "$4")"
}

# client_flight NAME WINDOW MSS FROM TO
client_flight()
{
	serve_captured
	in_src timeout 10 circuit_sock send -C circuit -n "$(two_flights "$2")" \
		"$5" $PORT >/dev/null
	capture_end
	flight_is "$1" "$2" "$3" "$4" 'S\.'
}

# The other direction: the server sends as soon as it has accepted.
server_flight()
{
	set_in dst net.ipv4.tcp_circuit_fcwnd "$1"
	serve_captured -C circuit -n "$(two_flights "$1")"
	in_src bash -c "exec 3<>/dev/tcp/$DST4/$PORT; \
		head -c $(two_flights "$1") <&3 >/dev/null"
	capture_end
	flight_is "server to client" "$1" $MSS $DST4 S
}

# A client that runs circuit opens its window with the ACK of the handshake: the
# server's first flight is fcwnd, whatever the SYN said.
open_receiver()
{
	set_in src net.ipv4.tcp_circuit_fcwnd "$1"
	set_in dst net.ipv4.tcp_circuit_fcwnd "$1"
	serve_captured -C circuit -n $((2 * $1 * MSS))
	in_src timeout 10 circuit_sock send -C circuit -k 3000 $DST4 $PORT \
		>/dev/null
	capture_end
	equal "server to client that runs circuit, fcwnd $1: first flight" \
		"$1" "$(flight $DST4)"
}

# by_circuit WINDOW: the same where a circuit matches, whatever the namespace has
by_circuit()
{
	in_src circuit_nl new far prefix 10.77.2.0/24 prefix fd77:2::/64 \
		window "$1"
	client_flight "IPv4, a circuit's window" "$1" $MSS $SRC4 $DST4
	client_flight "IPv6, a circuit's window" "$1" $((MSS - 20)) $SRC6 $DST6
	in_src circuit_nl del far
}

network 300
single_packets
for fcwnd in 1 4 33 1000; do
	set_in src net.ipv4.tcp_circuit_fcwnd $fcwnd
	client_flight IPv4 $fcwnd $MSS $SRC4 $DST4
done
for fcwnd in 7 1000; do
	set_in src net.ipv4.tcp_circuit_fcwnd $fcwnd
	client_flight IPv6 $fcwnd $((MSS - 20)) $SRC6 $DST6
done
by_circuit 23
for fcwnd in 5 33 1000; do
	server_flight $fcwnd
done
open_receiver 33
open_receiver 1000
finish

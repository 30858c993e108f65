#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Where a socket's window comes from, first that is set: the administrator's socket
# option, the circuit that matches, the route, the namespace, the module, what a user
# may ask for; and without any of them it is Reno's.  Changing the table, the
# namespace's or the module's changes the live sockets that follow it, and no others.

. "$(dirname "$0")/lib.sh"
need_commands circuit_sock circuit_nl setpriv ss
need_module

PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
NONE=0 SOCKET=1 CIRCUIT=2 ROUTE=3 NETNS=4 MODULE=5 USER=6
BYTES=20000

sent()
{
	in_src timeout 30 circuit_sock send -n $BYTES "$@" "$TO" $PORT
}

# says NAME WINDOW SOURCE LINE: of circuit_sock's
says()
{
	equal "$1: window" "$2" "$(field cwnd "$4")"
	equal "$1: source" "$3" "$(field source "$4")"
}

# window_is NAME WINDOW SOURCE [OPTION...]: of a connection made now, to $TO
window_is()
{
	says "$1" "$2" "$3" "$(sent -C circuit "${@:4}")"
}

# is_reno NAME [OPTION...]: nothing gives it a window, and it grows as Reno's does
is_reno()
{
	local name=$1 out reno

	shift
	out=$(sent -C circuit "$@")
	equal "$name: source" $NONE "$(field source "$out")"
	equal "$name: fcwnd" 0 "$(field fcwnd "$out")"
	at_least "$name: window" 10 "$(field cwnd "$out")"
	# how many segments an ACK is for is chance on a machine with a real clock
	if in_virtual_time; then
		reno=$(sent -C reno)
		equal "$name: window, as Reno's" "$(field cwnd "$reno")" \
			"$(field cwnd "$out")"
	fi
	stream_send -C circuit -n $BYTES -k 60000 "$@" "$TO" $PORT
	until_true 10 stream_algorithm_is circuit-reno
	equal "$name: TCP_CONGESTION" circuit-reno "$(stream_algorithm)"
	stream_end
}

route_window()
{
	case $TO in
	*:*) ip -n "$SRC" -6 route replace fd77:2::/64 via fd77:1::fe "$@" ;;
	*) ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254 "$@" ;;
	esac
}

# object WINDOW: the circuit that holds $TO's network, of both families
object()
{
	in_src circuit_nl new order prefix 10.77.2.0/24 prefix fd77:2::/64 \
		window "$1" >/dev/null
}

no_object()
{
	in_src circuit_nl del order >/dev/null
}

# Each source is set while those after it are, and taken away again.
order()
{
	is_reno "$TO, nothing set"
	set_in src net.ipv4.tcp_circuit_fcwnd_max 40
	is_reno "$TO, a user may ask, and does not"
	says "$TO, a user asks" 40 $USER \
		"$(sock_as_nobody send -n $BYTES -w 40 "$TO" $PORT)"
	says "$TO, a user asks for less, after connect" 39 $USER \
		"$(sock_as_nobody send -n $BYTES -W 39 "$TO" $PORT)"
	says "$TO, a user asks for too much" 40 $USER \
		"$(sock_as_nobody send -n $BYTES -w 1000 "$TO" $PORT)"
	echo 50 >$PARAMETER
	window_is "$TO, module" 50 $MODULE
	says "$TO, module over what a user may ask for" 50 $MODULE \
		"$(sock_as_nobody send -n $BYTES -w 1000 "$TO" $PORT)"
	set_in src net.ipv4.tcp_circuit_fcwnd_max 0
	set_in src net.ipv4.tcp_circuit_fcwnd 60
	window_is "$TO, namespace over module" 60 $NETNS
	route_window initcwnd 70
	window_is "$TO, route over namespace" 70 $ROUTE
	object 75
	window_is "$TO, circuit over route" 75 $CIRCUIT
	window_is "$TO, socket over circuit" 80 $SOCKET -w 80
	window_is "$TO, socket, asked after connect" 81 $SOCKET -W 81
	window_is "$TO, socket gives it back" 75 $CIRCUIT -w 80 -W 0
	says "$TO, a user's bound is no source" 33 $CIRCUIT \
		"$(sock_as_nobody send -n $BYTES -w 33 "$TO" $PORT)"
	no_object
	window_is "$TO, back to route" 70 $ROUTE
	route_window
	window_is "$TO, back to namespace" 60 $NETNS
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	window_is "$TO, back to module" 50 $MODULE
	echo 0 >$PARAMETER
	object 75
	window_is "$TO, circuit alone" 75 $CIRCUIT
	no_object
	is_reno "$TO, back to nothing"
}

# A route's "cwnd lock" caps all of them.  The kernel looks it up in its cache of
# addresses, where a connection puts it that ends while metrics are saved.
clamp()
{
	set_in src net.ipv4.tcp_circuit_fcwnd 60
	set_in src net.ipv4.tcp_no_metrics_save 0
	route_window cwnd lock 40
	in_src circuit_sock send -C reno -n 20000 $DST4 $PORT >/dev/null
	until_true 10 in_src ip tcp_metrics show $DST4
	window_is "clamped by the route" 40 $NETNS
	window_is "clamped by the route, socket" 40 $SOCKET -w 50
	object 75
	window_is "clamped by the route, circuit" 40 $CIRCUIT
	no_object
	route_window
	in_src ip tcp_metrics flush >/dev/null
	set_in src net.ipv4.tcp_no_metrics_save 1
	set_in src net.ipv4.tcp_circuit_fcwnd 0
}

# becomes NAME WINDOW: soon, while data flow
becomes()
{
	until_true 10 stream_window_is "$2"
	equal "$1" "$2" "$(stream_shows cwnd)"
}

live_changes()
{
	set_in src net.ipv4.tcp_circuit_fcwnd 20
	stream_begin -C circuit
	becomes "live socket: namespace's window" 20
	set_in src net.ipv4.tcp_circuit_fcwnd 90
	becomes "live socket: the namespace's window grew" 90
	set_in src net.ipv4.tcp_circuit_fcwnd 3
	becomes "live socket: the namespace's window shrank" 3
	object 40
	becomes "live socket: there is a circuit" 40
	object 45
	becomes "live socket: the circuit's window grew" 45
	set_in src net.ipv4.tcp_circuit_fcwnd 90
	in_src circuit_nl new host prefix $DST4/32 window 12 >/dev/null
	becomes "live socket: there is a longer match" 12
	in_src circuit_nl del host >/dev/null
	becomes "live socket: and it is gone" 45
	no_object
	becomes "live socket: all circuits are gone" 90
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	echo 30 >$PARAMETER
	becomes "live socket: follows the module's parameter" 30
	echo 31 >$PARAMETER
	becomes "live socket: the parameter changed" 31
	stream_end

	stream_begin -C circuit -w 25
	becomes "live socket with a window of its own" 25
	set_in src net.ipv4.tcp_circuit_fcwnd 90
	object 45
	sleep 1
	becomes "live socket with a window of its own: unmoved" 25
	no_object
	stream_end
	echo 0 >$PARAMETER
	set_in src net.ipv4.tcp_circuit_fcwnd 0
}

# The other namespace's sysctl is another one, and so are its circuits.
namespaces()
{
	set_in dst net.ipv4.tcp_circuit_fcwnd 99
	in_dst circuit_nl new order prefix 10.77.2.0/24 prefix 10.77.1.0/24 \
		window 98 >/dev/null
	TO=$DST4 is_reno "another namespace's window is not ours"
	equal "the namespace's sysctl is its own" 0 \
		"$(in_src sysctl -n net.ipv4.tcp_circuit_fcwnd)"
	equal "its circuits, too" "" "$(in_src circuit_nl dump)"
	in_dst circuit_nl del order >/dev/null
	set_in dst net.ipv4.tcp_circuit_fcwnd 0
}

before=$(<$PARAMETER)
echo 0 >$PARAMETER
defer "echo $before >$PARAMETER"
sock_for_anyone
network 5
default_circuit
serve dst
for TO in $DST4 $DST6; do
	order
done
TO=$DST4
clamp
live_changes
namespaces
finish

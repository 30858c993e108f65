#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Where a socket's window comes from, first that is set: socket option, route,
# namespace, module.  Writing the namespace's or the module's changes the live
# sockets that follow it, and no others.

. "$(dirname "$0")/lib.sh"
need_commands circuit_sock
need_module

PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
NONE=0 SOCKET=1 ROUTE=2 NETNS=3 MODULE=4

# window_is NAME WINDOW SOURCE [OPTION...]: of a connection made now, to $TO
window_is()
{
	local name=$1 out

	out=$(in_src timeout 30 circuit_sock send -C circuit -n 20000 "${@:4}" \
		"$TO" $PORT)
	equal "$name: window" "$2" "$(field cwnd "$out")"
	equal "$name: source" "$3" "$(field source "$out")"
}

route_window()
{
	case $TO in
	*:*) ip -n "$SRC" -6 route replace fd77:2::/64 via fd77:1::fe "$@" ;;
	*) ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254 "$@" ;;
	esac
}

# Each source is set while those after it are, and taken away again.
order()
{
	window_is "$TO, nothing set" 10 $NONE
	echo 50 >$PARAMETER
	window_is "$TO, module" 50 $MODULE
	set_in src net.ipv4.tcp_circuit_fcwnd 60
	window_is "$TO, namespace over module" 60 $NETNS
	route_window initcwnd 70
	window_is "$TO, route over namespace" 70 $ROUTE
	window_is "$TO, socket over route" 80 $SOCKET -w 80
	window_is "$TO, socket, asked after connect" 81 $SOCKET -W 81
	window_is "$TO, socket gives it back" 70 $ROUTE -w 80 -W 0
	route_window
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	window_is "$TO, back to module" 50 $MODULE
	echo 0 >$PARAMETER
	window_is "$TO, back to nothing" 10 $NONE
}

# A route's "cwnd lock" caps all of them.  The kernel looks it up in its cache of
# addresses, where a connection puts it that ends while metrics are saved.
clamp()
{
	set_in src net.ipv4.tcp_circuit_fcwnd 60
	set_in src net.ipv4.tcp_no_metrics_save 0
	route_window cwnd lock 40
	in_src circuit_sock send -n 20000 $DST4 $PORT >/dev/null
	until_true 10 in_src ip tcp_metrics show $DST4
	window_is "clamped by the route" 40 $NETNS
	window_is "clamped by the route, socket" 40 $SOCKET -w 50
	route_window
	in_src ip tcp_metrics flush >/dev/null
	set_in src net.ipv4.tcp_no_metrics_save 1
	set_in src net.ipv4.tcp_circuit_fcwnd 0
}

# The window that the kernel shows for the one connection to $PORT
live_window()
{
	in_src ss -Hti "dport = :$PORT" | sed -n 's/.*\bcwnd:\([0-9]*\).*/\1/p'
}

live_window_is()
{
	[ "$(live_window)" = "$1" ]
}

# becomes NAME WINDOW: soon, while data flow
becomes()
{
	until_true 10 live_window_is "$2"
	equal "$1" "$2" "$(live_window)"
}

# live [OPTION...]: a connection that sends without end, until live_end
live()
{
	background src circuit_sock send -C circuit -n 100000000000 "$@" \
		$DST4 $PORT >/dev/null
	LIVE=$!
}

live_end()
{
	kill $LIVE
	wait $LIVE 2>/dev/null
	end_sockets src
	serve_end
	PORT=$((PORT + 1))
	serve dst
}

live_changes()
{
	set_in src net.ipv4.tcp_circuit_fcwnd 20
	live
	becomes "live socket: namespace's window" 20
	set_in src net.ipv4.tcp_circuit_fcwnd 90
	becomes "live socket: the namespace's window grew" 90
	set_in src net.ipv4.tcp_circuit_fcwnd 3
	becomes "live socket: the namespace's window shrank" 3
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	echo 30 >$PARAMETER
	becomes "live socket: follows the module's parameter" 30
	echo 31 >$PARAMETER
	becomes "live socket: the parameter changed" 31
	live_end

	live -w 25
	set_in src net.ipv4.tcp_circuit_fcwnd 90
	becomes "live socket with a window of its own: unmoved" 25
	live_end
	echo 0 >$PARAMETER
	set_in src net.ipv4.tcp_circuit_fcwnd 0
}

# The other namespace's sysctl is another one.
namespaces()
{
	set_in dst net.ipv4.tcp_circuit_fcwnd 99
	TO=$DST4 window_is "another namespace's window is not ours" 10 $NONE
	equal "the namespace's sysctl is its own" 0 \
		"$(in_src sysctl -n net.ipv4.tcp_circuit_fcwnd)"
	set_in dst net.ipv4.tcp_circuit_fcwnd 0
}

before=$(<$PARAMETER)
echo 0 >$PARAMETER
defer "echo $before >$PARAMETER"
network 5
serve dst
for TO in $DST4 $DST6; do
	order
done
TO=$DST4
clamp
live_changes
namespaces
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# The module stays while a socket needs it: open, listening, or closed by its
# program with data still to send; and while there is a circuit.  Then it goes, and
# leaves nothing: no sysctl, no option, no algorithm, no netlink family; routes that
# name it fall back to the default.

. "$(dirname "$0")/lib.sh"
need_commands circuit_nl circuit_sock
need_module

users()
{
	cat /sys/module/tcp_circuit/refcnt
}

# busy NAME: cannot be unloaded now
busy()
{
	refused "$1: the module stays" rmmod tcp_circuit
	at_least "$1: users" 1 "$(users)"
}

unused()
{
	[ "$(users)" = 0 ]
}

alone()
{
	until_true 20 unused
	equal "$1: users" 0 "$(users)"
}

open_socket()
{
	background src circuit_sock send -C circuit -n 1000 -k 60000 \
		$DST4 $PORT >"$TMP/open"
	until_true 10 grep -q cwnd "$TMP/open"
	busy "a connected socket"
	kill $!
	wait $! 2>/dev/null
	alone "after it closed"
}

listening_socket()
{
	serve_end
	PORT=$((PORT + 1))
	serve dst -C circuit
	busy "a listening socket"
	serve_end
	alone "after it closed"
}

# Data wait in the send queue of the connection to $PORT.
queued()
{
	in_src ss -Htn "dport = :$PORT" | awk '$3 > 0 { found = 1 }
		END { exit !found }'
}

# Nobody holds the socket any more, but the path is dead and its data are not
# acknowledged.
orphan()
{
	serve dst
	mkfifo "$TMP/go"
	exec 8<>"$TMP/go"
	background src circuit_sock send -C circuit -r -n 5000000 \
		$DST4 $PORT <&8 >"$TMP/out"
	until_true 10 grep -q ready "$TMP/out"
	delay 5 loss 100%
	echo >&8
	exec 8>&-
	until_true 10 queued
	kill $!
	wait $! 2>/dev/null
	busy "an orphan with data to send"
	# Not by ss -K, see orphans_die().
	delay 5
	alone "after the orphan's data arrived"
	serve_end
}

leaves_nothing()
{
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254 \
		congctl circuit
	in_src circuit_nl new wave prefix 10.77.2.0/24 prefix fd77:2::/64 \
		window 1000 rate 125000000
	equal "a circuit before it" wave "$(word name "$(in_src circuit_nl dump)")"
	refused "the module stays while there is a circuit" rmmod tcp_circuit
	in_src circuit_nl del wave
	succeeds "the module unloads without one" rmmod tcp_circuit
	equal "sysctls that are left" "" \
		"$(find /proc/sys/net/ipv4 -name '*circuit*')"
	refused "no algorithm is left" grep -q circuit \
		/proc/sys/net/ipv4/tcp_available_congestion_control
	equal "files in /proc/net that are left" "" \
		"$(find /proc/net/ -maxdepth 1 -name '*circuit*')"
	matches "no netlink family is left" "^ENOENT" "$(circuit_nl stats 2>&1)"
	serve dst
	# A slow machine may lose some of it.
	at_most "a route that names it still carries connections, their first window" \
		10 "$(field cwnd_min "$(in_src timeout 20 \
			circuit_sock send -n 100000 $DST4 $PORT)")"
	succeeds "the module loads again" modprobe tcp_circuit
}

reload()
{
	local n

	for n in 1 2 3 4 5; do
		rmmod tcp_circuit && modprobe tcp_circuit ||
			fail "load and unload, round $n"
	done
	pass "five times unloaded and loaded"
}

once_free unused || skip_all "the module is in use on this machine"
network 5
serve dst
open_socket
listening_socket
orphan
leaves_nothing
reload
finish

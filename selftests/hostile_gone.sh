#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# A socket that leaves circuit takes no window along, and leaves none behind.
#
#	nothing_to_read	files of version 0.2, which showed who talks to whom, are gone
#	leaves		a socket with a window changes to another algorithm
#	leaks		a reset socket that its program does not close
#	without_module	the windows of routes and sysctls once the module is unloaded

. "$(dirname "$0")/lib.sh"
module_loaded && WAS_LOADED=1
. "$SELFTESTS/hostile_lib.sh"
need_commands ctcp-setup

nothing_to_read()
{
	refused "no file tells who talks to whom" \
		in_src ls /proc/net/tcp_circuit
	refused "nor another" in_src ls /proc/net/tcp_circuit_stat
}

leaves()
{
	local out

	fresh
	out=$(hostile leave -u $MALLORY -t 1000 $DST4 $PORT)
	equal "to cubic: window before" $WINDOW "$(field window "$out")"
	at_most "to cubic: threshold" $WINDOW "$(field ssthresh "$out")"
	# 15 round trips; CUBIC that knows of no loss grows by 5 % in each, also
	# beyond its threshold: 1.05 ^ 15 = 2.08
	at_most "to cubic: the largest window in 0.3 s" $((WINDOW * 21 / 10)) \
		"$(field cwnd_max "$out")"
	no_wave
}

leaks()
{
	local pid

	fresh
	background src circuit_hostile leak -u $MALLORY -n 2 -t 20000 \
		$DST4 $PORT >"$TMP/leak"
	pid=$!
	until_true 20 grep -q ready "$TMP/leak"
	in_dst ss -tK "dport = :$(field port "$(cat "$TMP/leak")")" >/dev/null
	wait $pid
	at_most "a leaked socket: window of the other one before" \
		$((WINDOW * 6 / 10)) "$(field before "$(cat "$TMP/leak")")"
	equal "a leaked socket, reset: window of the other one" $WINDOW \
		"$(field after "$(cat "$TMP/leak")")"
	at_most "a leaked socket, reset: ms until then" 1000 \
		"$(field ms "$(cat "$TMP/leak")")"
	no_wave
}

# A machine whose module has gone, or failed to be built again
without_module()
{
	local out ns

	succeeds "ctcp-setup on src" in_src ctcp-setup --quiet --rate 1gbit \
		--rtt 20ms eth1
	equal "its routes give no window" "" \
		"$(in_src ip route show table all | grep -E 'init[cr]wnd')"
	serve_end
	for ns in src dst; do
		set_in $ns net.ipv4.tcp_congestion_control cubic
		end_sockets $ns
		# while there is a circuit the module stays
		remove_circuits $ns
	done
	succeeds "the module goes" once_free modprobe -r tcp_circuit
	serve dst
	out=$(in_src circuit_sock send -n 1 $DST4 $PORT)
	equal "without the module: the window of a new connection" 10 \
		"$(field cwnd "$out")"
	[ -z "${WAS_LOADED:-}" ] || modprobe tcp_circuit
}

hostile_network
cases nothing_to_read leaves leaks without_module
finish

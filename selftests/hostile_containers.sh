#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# What a container's administrator may do, and how far the ceilings of the machine's own namespace
# limit it.
#
#	ceilings	windows of a container
#	breaker_ceiling	its breakers
#	contained	CAP_NET_ADMIN alone, without a user namespace
#	own_network	a container's administrator makes circuits anew
#	neighbours	its sysctls

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/hostile_lib.sh"
need_commands nsenter setpriv

# ceiled NAME OPTION...: a window of whatever size is one of 100
ceiled()
{
	local name=$1

	shift
	at_most "a ceiling, and $name: windows together" 101 \
		"$(field sum_max "$(hostile windows -n 1 -t 1000 "$@" $DST4 $PORT)")"
}

ceilings()
{
	local name

	for name in window circuits breaker; do
		refused "a container has no ceiling_$name to write" \
			set_in src ${CEILING}_$name 0
	done
	sysctl -qw ${CEILING}_window=100
	defer "sysctl -qw ${CEILING}_window=0"
	set_in src net.ipv4.tcp_circuit_fcwnd 100000
	ceiled "its sysctl"
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	refused "a circuit above the ceiling" \
		in_src circuit_nl new wave prefix $DST4 window 100000
	sysctl -qw ${CEILING}_window=0
	fresh 100000
	sysctl -qw ${CEILING}_window=100
	ceiled "its circuit"
	no_wave
	ceiled "its administrator's socket option" -w 100000
	set_in src net.ipv4.tcp_circuit_fcwnd_max 100000
	ceiled "its gift" -w 100000 -u $MALLORY
	equal "a ceiling, and its gift asked for by a connection: refused" 1 \
		"$(field refused "$(hostile windows -n 1 -t 100 -w 101 -s established -u $MALLORY \
			$DST4 $PORT)")"
	set_in src net.ipv4.tcp_circuit_fcwnd_max 0
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254 initcwnd 10000
	ceiled "its route"
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254
	sysctl -qw ${CEILING}_window=0
}

# Off in the container, or so mild that it never trips: it is the machine's.
breaker_ceiling()
{
	local trips

	set_in src net.ipv4.tcp_circuit_breaker 0
	set_in src net.ipv4.tcp_circuit_breaker_quiet 1
	fresh
	trip $MALLORY
	sleep 3
	equal "open for a second, says the container: 3 s later its breaker is open" 1 \
		"$(circuit_field src wave breaker)"
	no_wave
	set_in src net.ipv4.tcp_circuit_breaker 1000
	set_in src net.ipv4.tcp_circuit_breaker_ms 600000
	fresh
	trip $MALLORY
	no_wave

	set_in src net.ipv4.tcp_circuit_breaker 0
	sysctl -qw ${CEILING}_breaker=0
	defer "sysctl -qw ${CEILING}_breaker=1"
	fresh
	trips=$(stat_of trips)
	damage loss 60%
	hostile send -u $MALLORY -n 4 -t 8000 $DST4 $PORT >/dev/null
	damage
	equal "without that ceiling: trips" "$trips" "$(stat_of trips)"
	sysctl -qw ${CEILING}_breaker=1
	no_wave
	set_in src net.ipv4.tcp_circuit_breaker 100
	set_in src net.ipv4.tcp_circuit_breaker_ms 2000
	set_in src net.ipv4.tcp_circuit_breaker_quiet 300
}

# in_own COMMAND...: as the administrator of $USERS' network namespace
in_own()
{
	nsenter -t "$USERS" -U -n -S 0 -G 0 "$@"
}

# The largest sum of windows of a connection to itself, 127.0.0.1
own_window()
{
	field sum_max "$(in_own timeout 60 "$TMP/circuit_hostile" windows -n 1 -t 500 \
		127.0.0.1 $PORT)"
}

# As a container has it that shares the machine's user namespace.
contained()
{
	local only="setpriv --bounding-set=-all,+net_admin --inh-caps=-all"

	fresh
	trip $MALLORY
	refused "CAP_NET_ADMIN alone: it may not reset the machine's breaker" \
		in_src $only circuit_nl reset wave
	refused "CAP_NET_ADMIN alone: nor remove the circuit" in_src $only circuit_nl del wave
	equal "CAP_NET_ADMIN alone: the breaker is open" 1 "$(circuit_field src wave breaker)"
	succeeds "CAP_NET_ADMIN alone: it may have a circuit" \
		in_src $only circuit_nl new excl other prefix 10.99.200.0/24 window 500
	in_src circuit_nl del other
	end_sockets src
	succeeds "with CAP_SYS_ADMIN, too: reset" in_src circuit_nl reset wave
	no_wave
}

# An open breaker goes along where a container's administrator could leave it behind.
own_network()
{
	local pid

	sock_for_anyone
	cp "$(command -v circuit_hostile)" "$(command -v circuit_nl)" "$TMP/"
	user_namespace $MALLORY -n
	# without any delay virtual time would stand still
	in_own ip link set lo up mtu 1500
	in_own ethtool -K lo tso off gso off gro off >/dev/null
	in_own tc qdisc add dev lo root netem limit 1000000 delay 5ms
	in_own "$TMP/circuit_nl" new excl wide prefix 127.0.0.0/8 window $WINDOW
	in_own timeout 60 "$TMP/circuit_sock" serve $PORT >/dev/null &
	defer "kill $!"
	until_true 10 own_serves
	equal "a container, before: window" $WINDOW "$(own_window)"
	# not by in_own: it is timeout that has to be killed, and no shell around it
	nsenter -t "$USERS" -U -n -S 0 -G 0 timeout 60 "$TMP/circuit_hostile" send -n 4 \
		-t 50000 127.0.0.1 $PORT >"$TMP/own" &
	pid=$!
	in_own tc qdisc change dev lo root netem limit 1000000 delay 5ms loss 40%
	until_true 60 grep -q 'tripped=4' "$TMP/own"
	in_own tc qdisc change dev lo root netem limit 1000000 delay 5ms
	kill $pid
	wait $pid 2>/dev/null
	at_most "a container has tripped: window" $CUT "$(own_window)"
	equal "a container has tripped: whose sockets, as it counts uids" 0 \
		"$(field uid "$(in_own "$TMP/circuit_nl" get wide)")"
	# what waits for a retransmission is ended, too
	until_true 20 own_idle
	equal "... its sockets are gone" 0 \
		"$(field sockets "$(in_own "$TMP/circuit_nl" get wide)")"
	in_own "$TMP/circuit_nl" new excl narrow prefix 127.0.0.1 window $WINDOW
	at_most "... in a circuit of a longer prefix: window" $CUT "$(own_window)"
	refused "... it may not reset its breaker" in_own "$TMP/circuit_nl" reset
	kill "$USERS"
}

own_idle()
{
	in_own ss -K "dport = :$PORT"
	[ "$(field sockets "$(in_own "$TMP/circuit_nl" get wide)")" = 0 ]
}

own_serves()
{
	in_own ss -Hltn "sport = :$PORT" | grep -q LISTEN
}

# What another namespace writes.  How many circuits it has: circuits.sh, lab/cost.sh.
neighbours()
{
	local other=ctcp-$$-other i

	ip netns add "$other"
	defer "ip netns del $other"
	fresh
	alice quiet 6000
	until_true 20 grep -q acked "$TMP/quiet"
	for ((i = 1; i <= 100; i++)); do
		echo $((i % 7))
	done | spawn -n "$other" sh -c 'while read -r n; do
		echo "$n" >/proc/sys/net/ipv4/tcp_circuit_fcwnd
		echo "$((n + 500))" >/proc/sys/net/ipv4/tcp_circuit_breaker_ms
		sleep 0.02
	done'
	wait $ALICE_PID
	equal "another namespace's sysctls: the smallest window here" $WINDOW \
		"$(least "$TMP/quiet" sum_max 2 5)"
	equal "another namespace's sysctls are its own" 0 \
		"$(in_src sysctl -n net.ipv4.tcp_circuit_fcwnd)"
	no_wave
}

hostile_network
cases ceilings breaker_ceiling contained own_network neighbours
finish

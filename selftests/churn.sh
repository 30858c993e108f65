#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Ten thousand short connections that end in every way (circuit_churn), of two
# users, while all that they depend on changes under them: circuits are added,
# replaced, removed, reset and queried at once, at both ends; sysctls, the module's
# parameter, routes with congctl, sockets killed by ss -K, namespaces that come and
# go with sockets and circuits in them.  In the end nothing of it is left, and the
# module goes; also again and again, with sockets or circuits that keep it.
#
# CHURN=N in the environment: number of connections, by default 10,000, or 2,000 where
# the kernel is slow: emulated, or one that checks itself.

. "$(dirname "$0")/lib.sh"
need_commands circuit_churn circuit_nl circuit_sock ss
need_module

CLIENTS=16
NOBODY=65534
PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
STOP=$TMP/stop
if slow_kernel; then
	CHURN=${CHURN:-2000}
fi
CHURN=${CHURN:-10000}
# If ss -K cannot end orphans, kill no socket: one listed as established may be closed
# by then.
KILLS=:
if orphans_die; then KILLS=kills; fi

# One after the other, again and again, until the clients have finished
disturb()
{
	local name rounds=0 busy=0

	while [ ! -e "$STOP" ]; do
		for name in sysctls $KILLS routes_change $KILLS namespaces; do
			$name
			sleep 0.1
		done
		rounds=$((rounds + 1))
	done >/dev/null 2>&1
	echo "rounds=$rounds busy=$busy" >"$TMP/disturbed"
}

one_of()
{
	shift $((RANDOM % $#))
	echo "$1"
}

sysctls()
{
	local name=net.ipv4.tcp_circuit

	in_src sysctl -qw \
		${name}_fcwnd="$(one_of 0 1 10 60 1000 67108864)" \
		${name}_fcwnd_max="$(one_of 0 20 100000)" \
		${name}_breaker="$(one_of 0 1 100 1000)" \
		${name}_breaker_ms="$(one_of 500 2000)" \
		${name}_breaker_quiet="$(one_of 0 1 300)"
	echo "$(one_of 0 20 500)" >$PARAMETER
	sysctl -qw ${name}_ceiling_window="$(one_of 0 5 500)" \
		${name}_ceiling_breaker="$(one_of 0 1)"
}

routes_change()
{
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254 \
		congctl circuit initcwnd "$(one_of 1 50 5000)"
	ip -n "$SRC" -6 route replace fd77:2::/64 via fd77:1::fe congctl reno
	sleep 0.05
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254
	ip -n "$SRC" -6 route replace fd77:2::/64 via fd77:1::fe
}

kills()
{
	in_src ss -tK state "$(one_of established fin-wait-1 syn-sent)" \
		"dport = :$PORT"
}

# has_socket NS STATE
has_socket()
{
	[ -n "$(spawn -n "$1" ss -Htn state "$2" "sport = :7000")" ]
}

# Delete a namespace with connections and circuits in it; $busy counts those that had both.
namespaces()
{
	local ns=$SRC-brief pid

	ip netns add "$ns"
	ip -n "$ns" link set lo up
	spawn -n "$ns" sysctl -qw net.ipv4.tcp_circuit_fcwnd=50
	spawn -e -n "$ns" circuit_sock serve -C circuit 7000 &
	pid=$!
	until_true 5 has_socket "$ns" listening
	spawn -n "$ns" circuit_churn add -n 100
	spawn -e -n "$ns" circuit_sock send -C circuit -n 5000 \
		-k 60000 127.0.0.1 7000 &
	if until_true 5 has_socket "$ns" established &&
	   [ "$(left "$ns")" -gt 100 ]; then
		busy=$((busy + 1))
	fi
	ip netns del "$ns"
	kill $! "$pid"
	wait $! "$pid"
}

# left NS: the number of its circuits, automatic ones included
left()
{
	spawn -n "$1" circuit_churn left
}

clients()
{
	local n pids=()

	for n in $(seq $CLIENTS); do
		background src circuit_churn connect -s "$n" \
			-u $((n % 2 ? 0 : NOBODY)) \
			-n $((CHURN / CLIENTS)) $PORT 10.77.9.9 $DST4 $DST6 \
			::ffff:$DST4 >"$TMP/client$n"
		pids+=($!)
	done
	wait "${pids[@]}"
	touch "$STOP"
}

# total NAME: the sum of this number over all clients
total()
{
	local n sum=0

	for n in $(seq $CLIENTS); do
		sum=$((sum + $(field "$1" "$(<"$TMP/client$n")")))
	done
	echo $sum
}

# changers: start two processes on src and one on dst that change circuits, and one on each
# that watches
changers()
{
	CHANGERS=()
	background src circuit_churn circuits -s 1 >"$TMP/circuits1"
	CHANGERS+=($!)
	background src circuit_churn circuits -s 2 >"$TMP/circuits2"
	CHANGERS+=($!)
	background dst circuit_churn circuits -s 3 >"$TMP/circuits3"
	CHANGERS+=($!)
	background src circuit_churn watch >"$TMP/watch1"
	CHANGERS+=($!)
	background dst circuit_churn watch >"$TMP/watch2"
	CHANGERS+=($!)
	defer "kill ${CHANGERS[*]}"
}

changers_end()
{
	local n name least=$((CHURN / 200))

	# an emulated machine gives each of them only one turn at times
	if [ "$LAB" = qemu ]; then least=1; fi

	kill "${CHANGERS[@]}"
	wait "${CHANGERS[@]}"
	for n in 1 2 3; do
		for name in added replaced removed queries resets; do
			at_least "circuits $n: $name" "$least" \
				"$(field $name "$(<"$TMP/circuits$n")")"
		done
		equal "circuits $n: answers that nobody expects" 0 \
			"$(field unexpected "$(<"$TMP/circuits$n")")"
		grep '^unexpected' "$TMP/circuits$n" | sort | uniq -c |
			sed 's/^/# /'
	done
	for n in 1 2; do
		at_least "watch $n: events" $((CHURN / 100)) \
			"$(field events "$(<"$TMP/watch$n")")"
	done
}

churn()
{
	local busy=1 name

	changers
	disturb &
	clients
	until_true 60 test -s "$TMP/disturbed"
	changers_end
	at_least "all of it changed under them, times" $((CHURN / 2000)) \
		"$(field rounds "$(<"$TMP/disturbed")")"
	# on an emulated machine there is none at times
	[ "$LAB" != qemu ] || busy=0
	at_least "namespaces gone with a connection in them" $busy \
		"$(field busy "$(<"$TMP/disturbed")")"
	equal "connections" "$CHURN" "$(total connections)"
	for name in whole reset abandoned options; do
		at_least "of these $name" $((CHURN / 1000)) "$(total $name)"
	done
	# where starting ss takes a second, it may find none alive
	if in_virtual_time; then
		at_least "of these killed" 1 "$(total killed)"
	fi
}

# --- nothing is left ------------------------------------------------------------

none_left()
{
	[ "$(left "$1")" = 0 ]
}

unused()
{
	[ "$(<"/sys/module/tcp_circuit/refcnt")" = 0 ]
}

# A socket in TIME_WAIT has no algorithm and may stay.
no_socket()
{
	[ -z "$(in_src ss -Htan state connected exclude time-wait)" ]
}

nothing_left()
{
	local ns

	kill "$SERVER"
	wait "$SERVER" 2>/dev/null
	if orphans_die; then
		in_src ss -tK >/dev/null
		in_dst ss -tK >/dev/null
	fi
	until_true 150 no_socket
	equal "sockets left" "" \
		"$(in_src ss -Htan state connected exclude time-wait)"
	for ns in "$SRC" "$RTR" "$DST"; do
		until_true 20 none_left "$ns"
		equal "circuits left in ${ns##*-}" 0 "$(left "$ns")"
	done
	until_true 20 unused
	equal "users of the module" 0 "$(<"/sys/module/tcp_circuit/refcnt")"
	succeeds "the module unloads" rmmod tcp_circuit
	succeeds "and loads" modprobe tcp_circuit
}

# --- load and unload --------------------------------------------------------------

# keeps NAME COMMAND...: the module is in use; after the command it can be unloaded
keeps()
{
	local name=$1

	shift
	refused "$name: the module stays" rmmod tcp_circuit
	"$@" >/dev/null
	until_true 20 unused
	succeeds "$name, ended: the module goes" rmmod tcp_circuit
	modprobe tcp_circuit
}

# The window is larger than what the path takes at once, so that data stay in the queue.
start_sender()
{
	set_in src net.ipv4.tcp_circuit_fcwnd 50
	background src circuit_sock send -C circuit -n "$1" -k 60000 \
		$DST4 $PORT >/dev/null
	SENDER=$!
	until_true 10 in_use
}

in_use()
{
	! unused
}

# Not by ss -K, see orphans_die().
heal()
{
	in_rtr tc qdisc del dev r2 root
}

load_and_unload()
{
	local round rounds=0

	serve dst
	for round in 1 2 3; do
		start_sender 1000
		keeps "round $round, a live socket" kill $SENDER
		start_sender 10000000
		in_rtr tc qdisc replace dev r2 root netem loss 100%
		kill -KILL $SENDER
		keeps "round $round, an orphan with data queued" heal
	done
	in_src circuit_churn add -n 1000 >/dev/null
	equal "circuits, and nothing else" 1000 "$(left "$SRC")"
	refused "they keep the module" rmmod tcp_circuit
	ip netns add "$SRC-gone"
	spawn -n "$SRC-gone" circuit_churn add -n 1000 >/dev/null
	remove_circuits src
	refused "so do those of another namespace" rmmod tcp_circuit
	ip netns del "$SRC-gone"
	succeeds "without them it goes" until_true 10 rmmod tcp_circuit
	succeeds "it loads again" modprobe tcp_circuit
	for round in $(seq 20); do
		in_src circuit_churn add -n 20 >/dev/null
		remove_circuits src
		rmmod tcp_circuit && modprobe tcp_circuit &&
			rounds=$((rounds + 1))
	done
	equal "loaded and unloaded, times" 20 $rounds
	serve_end
}

once_free unused || skip_all "the module is in use on this machine"
before=$(<$PARAMETER)
defer "echo $before >$PARAMETER"
for name in ceiling_window ceiling_breaker; do
	name=net.ipv4.tcp_circuit_$name
	defer "sysctl -qw $name=$(sysctl -n $name)"
done
allowed=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
defer "sysctl -qw net.ipv4.tcp_allowed_congestion_control='$allowed'"
sysctl -qw net.ipv4.tcp_allowed_congestion_control="$allowed circuit"
network 1
# 10.77.9.0/24 has no hosts, and no router says so.
ip -n "$RTR" route add blackhole 10.77.9.0/24
ip -n "$SRC" route add 10.77.9.0/24 via 10.77.1.254
in_rtr tc qdisc replace dev r2 root netem limit 10000 delay 1ms loss 0.5%
background dst circuit_churn serve $PORT
SERVER=$!
defer "kill $SERVER"
until_true 10 listening dst
churn
nothing_left
delay 1
load_and_unload 2>/dev/null
finish

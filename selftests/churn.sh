#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Ten thousand short connections that end in every way (circuit_churn), while all
# that they depend on changes under them: sysctls, the module's parameter, routes
# with congctl, sockets killed by ss -K, namespaces that come and go with sockets
# in them, /proc/net/tcp_circuit read and reset.  In the end nothing of it is left,
# and the module goes; also again and again, with sockets that keep it.
#
# CHURN=N in the environment: so many connections; 2,000 by default where the
# kernel is slow, for it watches itself or is emulated.

. "$(dirname "$0")/lib.sh"
need_commands circuit_churn circuit_sock ss
need_module

CLIENTS=16
PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
STOP=$TMP/stop
if slow_kernel; then
	CHURN=${CHURN:-2000}
fi
CHURN=${CHURN:-10000}
# Where orphans do not die, none is killed: one that is found established may have
# been closed by the time it is.
KILLS=:
if orphans_die; then KILLS=kills; fi

# One after the other, again and again, until the clients have finished
disturb()
{
	local name rounds=0 busy=0

	while [ ! -e "$STOP" ]; do
		for name in sysctls $KILLS routes_change $KILLS proc $KILLS \
			namespaces; do
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
		${name}_rate="$(one_of 0 1000000 125000000 125000000000)" \
		${name}_share="$(one_of 0 1 2)" \
		${name}_breaker="$(one_of 0 1 100 1000)" \
		${name}_breaker_ms="$(one_of 500 2000)" \
		${name}_breaker_quiet="$(one_of 0 1 300)"
	echo "$(one_of 0 20 500)" >$PARAMETER
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
	in_src ss -K state "$(one_of established fin-wait-1 syn-sent)" \
		"dport = :$PORT"
}

proc()
{
	in_src cat /proc/net/tcp_circuit /proc/net/tcp_circuit_stat
	in_src tee /proc/net/tcp_circuit <<<"$(one_of reset "reset $DST4" \
		"reset $DST6" nonsense)"
}

# has_socket NS STATE
has_socket()
{
	[ -n "$(ip netns exec "$1" ss -Htn state "$2" "sport = :7000")" ]
}

# A namespace, gone with connections in it; $busy: how many had one
namespaces()
{
	local ns=$SRC-brief pid

	ip netns add "$ns"
	ip -n "$ns" link set lo up
	ip netns exec "$ns" circuit_sock serve -C circuit 7000 &
	pid=$!
	until_true 5 has_socket "$ns" listening
	ip netns exec "$ns" circuit_sock send -C circuit -w 50 -n 5000 \
		-k 60000 127.0.0.1 7000 &
	if until_true 5 has_socket "$ns" established; then
		busy=$((busy + 1))
	fi
	ip netns del "$ns"
	kill $! "$pid"
	wait $! "$pid"
}

clients()
{
	local n pids=()

	for n in $(seq $CLIENTS); do
		background src circuit_churn connect -s "$n" \
			-n $((CHURN / CLIENTS)) $PORT 10.77.9.9 $DST4 $DST6 \
			::ffff:$DST4 >"$TMP/client$n"
		pids+=($!)
	done
	wait "${pids[@]}"
	touch "$STOP"
}

# total NAME: of what all clients said
total()
{
	local n sum=0

	for n in $(seq $CLIENTS); do
		sum=$((sum + $(field "$1" "$(<"$TMP/client$n")")))
	done
	echo $sum
}

churn()
{
	local name

	disturb &
	clients
	until_true 60 test -s "$TMP/disturbed"
	at_least "all of it changed under them, times" $((CHURN / 2000)) \
		"$(field rounds "$(<"$TMP/disturbed")")"
	at_least "namespaces gone with a connection in them" 1 \
		"$(field busy "$(<"$TMP/disturbed")")"
	equal "connections" "$CHURN" "$(total connections)"
	for name in whole reset abandoned options; do
		at_least "of these $name" $((CHURN / 1000)) "$(total $name)"
	done
	# whether ss finds one alive is chance where starting ss takes a second
	if [ "$LAB" = uml ]; then
		at_least "of these killed" 1 "$(total killed)"
	fi
}

# --- nothing is left ------------------------------------------------------------

lines()
{
	ip netns exec "$1" sh -c 'echo reset >/proc/net/tcp_circuit
		sed 1d /proc/net/tcp_circuit' | wc -l
}

no_line()
{
	[ "$(lines "$1")" = 0 ]
}

unused()
{
	[ "$(<"/sys/module/tcp_circuit/refcnt")" = 0 ]
}

# TIME_WAIT has no algorithm and may stay.
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
		in_src ss -K >/dev/null
		in_dst ss -K >/dev/null
	fi
	until_true 150 no_socket
	equal "sockets left" "" \
		"$(in_src ss -Htan state connected exclude time-wait)"
	for ns in "$SRC" "$RTR" "$DST"; do
		until_true 20 no_line "$ns"
		equal "circuits left in ${ns##*-}" 0 "$(lines "$ns")"
	done
	until_true 20 unused
	equal "users of the module" 0 "$(<"/sys/module/tcp_circuit/refcnt")"
	succeeds "the module unloads" rmmod tcp_circuit
	succeeds "and loads" modprobe tcp_circuit
}

# --- load and unload --------------------------------------------------------------

# keeps NAME COMMAND...: in use; after the command it goes
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

# A window of more than the path takes at once: data are left in the queue.
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
	for round in $(seq 20); do
		rmmod tcp_circuit && modprobe tcp_circuit &&
			rounds=$((rounds + 1))
	done
	equal "loaded and unloaded, times" 20 $rounds
	serve_end
}

once_free unused || skip_all "the module is in use on this machine"
before=$(<$PARAMETER)
defer "echo $before >$PARAMETER"
network 1
# Nobody is there, and nobody says so.
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

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# Receive buffers that open at once take no memory from others.
#
#	receivers	receivers that never read
#	containers	the same for containers that are granted memory and never use it

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/hostile_lib.sh"
need_commands nstat

MSS=1460		# bytes, at most
BUDGET=32		# windows of receive buffer for a circuit (buffers.c)
TCP_MEM="47952 63936 95904"	# pages

tcp_pages()
{
	awk '/^TCP:/ { for (i = 1; i < NF; i++) if ($i == "mem") print $(i + 1) }' \
		/proc/net/sockstat
}

pressures()
{
	in_dst nstat -asz TcpExtTCPMemoryPressures | awk '!/^#/ { print $2 }'
}

# hoard N ALGORITHM [OPTION...]: N connections that dst never reads; HELD: the most bytes that
# they held, PAGES: the most that TCP did
hoard()
{
	local n=$1 algorithm=$2 pid sender pages

	shift 2
	background dst circuit_hostile hoard -C "$algorithm" -n "$n" -t 4000 \
		$((PORT + 2)) >"$TMP/hoard"
	pid=$!
	until_true 10 hoarding
	background src circuit_hostile send -C cubic -n "$n" -t 30000 "$@" \
		$DST4 $((PORT + 2)) >/dev/null
	sender=$!
	PAGES=0
	while kill -0 $pid 2>/dev/null; do
		pages=$(tcp_pages)
		[ "$pages" -le "$PAGES" ] || PAGES=$pages
		sleep 0.1
	done
	wait $pid
	kill $sender
	wait $sender 2>/dev/null
	HELD=$(field held_max "$(cat "$TMP/hoard")")
}

hoarding()
{
	in_dst ss -Hltn "sport = :$((PORT + 2))" | grep -q LISTEN
}

mem_again()
{
	sysctl -qw net.ipv4.tcp_mem="$MEM"
}

# Senders have small buffers, so that the receivers hold nearly all of the memory.
receivers()
{
	local cubic=0 WINDOW=1000

	MEM=$(sysctl -n net.ipv4.tcp_mem)
	defer mem_again
	sysctl -qw net.ipv4.tcp_mem="$TCP_MEM"
	set_in dst net.ipv4.tcp_rmem "4096 131072 67108864"
	set_in src net.ipv4.tcp_wmem "4096 16384 262144"

	hoard 8 cubic
	cubic=$HELD
	hoard 8 circuit
	at_most "nobody reads, no window is given: bytes, as CUBIC's" \
		$((cubic * 3 / 2)) "$HELD"

	set_in dst net.ipv4.tcp_circuit_fcwnd $WINDOW
	hoard 8 circuit
	echo "# 8 connections that nobody reads: $HELD bytes, CUBIC's $cubic"
	at_most "nobody reads: bytes within the circuit's budget" \
		$((BUDGET * WINDOW * MSS)) "$HELD"
	at_least "nobody reads: bytes, one window at least" \
		$((WINDOW * MSS)) "$HELD"
	at_most "nobody reads: pages below where pressure begins" \
		"${TCP_MEM%% *}" "$PAGES"

	# Each has a circuit of its own, as each has another address of the peer.
	hoard 32 circuit -b 10.88.1.1
	echo "# 32 peers: $HELD bytes, $PAGES pages"
	at_most "32 peers, nobody reads: pages below where pressure begins" \
		"${TCP_MEM%% *}" "$PAGES"
	equal "times that TCP came under pressure" 0 "$(pressures)"
	set_in dst net.ipv4.tcp_circuit_fcwnd 0
	set_in src net.ipv4.tcp_wmem "4096 16384 4194304"
	mem_again
}

# The receive buffer of a connection within the machine's own namespace, bytes
may_hold()
{
	field rcvbuf "$(circuit_hostile hold -w $WINDOW -t 0 127.0.0.1 $((PORT + 3)))"
}

# Each container has connections to itself that could take all of the budget.
containers()
{
	local ns i alone rmem pids=()

	MEM=$(sysctl -n net.ipv4.tcp_mem)
	defer mem_again
	sysctl -qw net.ipv4.tcp_mem="36864 49152 73728"
	rmem=$(sysctl -n net.ipv4.tcp_rmem)
	defer "sysctl -qw net.ipv4.tcp_rmem='$rmem'"
	sysctl -qw net.ipv4.tcp_rmem="4096 131072 67108864"
	ip link set lo up
	alone=$(may_hold)
	for i in 1 2 3 4 5 6 7 8 9 10; do
		ns=ctcp-$$-c$i
		ip netns add "$ns"
		defer "ip netns del $ns"
		ip -n "$ns" link set lo up
		spawn -n "$ns" sysctl -qw net.ipv4.tcp_circuit_fcwnd=100000 \
			net.ipv4.tcp_rmem="4096 131072 2147483647"
		spawn -e -n "$ns" circuit_hostile hold -n 3 -t 30000 127.0.0.1 \
			$PORT >"$TMP/c$i" &
		pids+=($!)
		until_true 10 grep -q rcvbuf "$TMP/c$i"
	done
	at_least "ten containers: what a connection of the machine's own may receive" \
		$((alone / 4)) "$(may_hold)"
	kill "${pids[@]}"
	sysctl -qw net.ipv4.tcp_rmem="$rmem"
	mem_again
}

hostile_network
cases receivers containers
finish

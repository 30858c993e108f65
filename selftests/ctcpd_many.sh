#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# What ctcpd costs a host of many connections: memory, and CPU time of a poll.
#
#	SOCKETS=50000 CPU_MS=250 selftests/ctcpd_many.sh
#
# In virtual time programs take no time, so that CPU time is asserted elsewhere alone, and there
# with limits that an emulated or a busy machine keeps: the bar itself, 250 ms for 50,000, is
# one of a machine of its own, and asserted as above.  The other ends of the connections are on
# the same kernel, which goes through these for each dump as well.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/ctcpd_lib.sh"
need_root
need_commands ctcpd ctcpd_sockets jq

SOCKETS=${SOCKETS:-10000}
slow_kernel && SOCKETS=2000
REMOTES=200
SENDERS=100
# 12 MB, and of each, which loses nothing, 720 bytes (flows.h), and a tenth for what else there
# is of it; of 50,000 that is 53 of 64 MB
MEMORY_KB=$((12288 + SOCKETS * 832 / 1024))
MOST_MS=$((SOCKETS / 50 + 20))	# four times 250 ms for 50,000, and what is not for each
# an emulated processor is 20 times as slow, and its host may have other work
slow_kernel && MOST_MS=$((60 * MOST_MS))
CPU_MS=${CPU_MS:-$MOST_MS}	# of the daemon; what writes each sample into a trace takes more
POLLS=5

# connections [OPTION...]: $SOCKETS to dst, which stay
connections()
{
	background src ctcpd_sockets connect -s $SENDERS "$@" "$SOCKETS" 10.80.0.1 $REMOTES $PORT \
		>"$TMP/connections"
	CONNECTIONS=$!
	until_true 300 grep -q "^n=$SOCKETS$" "$TMP/connections" ||
		fail "$SOCKETS connections to $REMOTES remotes"
}

connections_end()
{
	kill $CONNECTIONS
	wait $CONNECTIONS 2>/dev/null
}

# clock_ticks PID: in user and in kernel mode
clock_ticks()
{
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

# memory_of PID: the most that was resident, kB
memory_of()
{
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status"
}

# polled N: so many samples are there of the first flow that was written
polled()
{
	local first

	first=$(grep -m 1 -o '^cookie=[^ ]*' "$TMP/trace") &&
		[ "$(grep -c "^$first " "$TMP/trace")" -ge "$1" ]
}

# record_polls: $CPU_TICKS of $POLLS of them, and the most $MEMORY that they held
record_polls()
{
	local before

	background src ctcpd record --every 5s "$TMP/trace"
	RECORD=$!
	until_true 60 polled 2
	before=$(clock_ticks $RECORD)
	until_true 120 polled $((POLLS + 2))
	CPU_TICKS=$(($(clock_ticks $RECORD) - before))
	MEMORY=$(memory_of $RECORD)
	kill -TERM $RECORD
	wait $RECORD
	equal "record ends without a failure" 0 $?
}

flows()
{
	sed -n 's/^\(cookie=[^ ]*\) .*/\1/p' "$TMP/trace" | sort -u | wc -l
}

# cpu_of_a_poll WHAT MS
cpu_of_a_poll()
{
	in_real_time || return 0
	at_least "$SOCKETS flows: CPU time is counted, ticks of $POLLS polls" 1 "$CPU_TICKS"
	at_most "$SOCKETS flows: CPU time of $1, ms" "$2" \
		$((CPU_TICKS * 1000 / $(getconf CLK_TCK) / POLLS))
}

all_are_flows()
{
	connections
	record_polls
	equal "flows of $SOCKETS connections" "$SOCKETS" "$(flows)"
	at_most "$SOCKETS flows: resident memory, kB" $MEMORY_KB "$MEMORY"
	cpu_of_a_poll "a poll with its trace" $MOST_MS
	BUSY=$MEMORY
	connections_end
}

# Those that never sent, of which $SENDERS do now
few_are_flows()
{
	connections -q
	record_polls
	equal "flows where $SENDERS of $SOCKETS connections send" $SENDERS "$(flows)"
	at_most "connections that never sent: resident memory, kB" $((BUSY / 2 + 4096)) "$MEMORY"
	connections_end
}

# logs_polls N: more than these
logs_polls()
{
	[ "$(logged 'poll [0-9]+: ')" -gt "$1" ]
}

# The daemon, which looks more closely at some, judges each remote, and keeps a history
the_daemon_polls()
{
	local before polls

	printf '%s\n' '[ctcpd]' 'poll = 5s' 'min-rtt = none' '[history]' \
		"file = $TMP/history.db" >"$TMP/ctcpd.conf"
	connections
	# what it answers costs as well: its log has the polls
	begin --debug
	eventually 60 logs_polls 1
	equal "flows that the daemon has" "$SOCKETS" "$(value .flows)"
	before=$(clock_ticks $DAEMON)
	polls=$(logged 'poll [0-9]+: ')
	eventually 120 logs_polls $((polls + POLLS - 1))
	CPU_TICKS=$(($(clock_ticks $DAEMON) - before))
	cpu_of_a_poll "a poll of the daemon" "$CPU_MS"
	at_most "$SOCKETS flows: resident memory of the daemon, kB" $MEMORY_KB \
		"$(memory_of $DAEMON)"
	end TERM
	equal "it ends without a failure" 0 "$ENDED"
	connections_end
}

network
in_dst ip route add local 10.80.0.0/16 dev lo
in_rtr ip route add 10.80.0.0/16 via $DST4
in_src ip route add 10.80.0.0/16 via 10.77.1.254
set_in src net.ipv4.ip_local_port_range "1024 65535"
background dst ctcpd_sockets serve $PORT
SERVER=$!
defer "kill $SERVER"
until_true 10 listening dst

cases all_are_flows few_are_flows the_daemon_polls
finish

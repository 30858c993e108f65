#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Random calls on random sockets (circuit_fuzz), on a loopback that loses
# packets.  FUZZ_SEED=N repeats a run; FUZZ_CALLS=N is
# for long ones.  100,000 calls in virtual time; 20,000 where the kernel is slow,
# for it watches itself or is emulated.

. "$(dirname "$0")/lib.sh"
need_commands circuit_fuzz ss
need_module

slow_kernel()
{
	[ "$LAB" = qemu ] || [ -e /sys/kernel/debug/kmemleak ]
}

CALLS=${FUZZ_CALLS:-100000}
if [ -z "${FUZZ_CALLS:-}" ] && slow_kernel; then CALLS=20000; fi
SEED=${FUZZ_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}

PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
before=$(<$PARAMETER)
defer "echo $before >$PARAMETER"
ip netns add "$SRC"
defer "ip netns del $SRC"
ip -n "$SRC" link set lo up
in_src tc qdisc add dev lo root netem limit 10000 loss 3%

out=$(in_src circuit_fuzz -s "$SEED" -n "$CALLS" 2>&1)
status=$?
grep '^broken' <<<"$out" | sed 's/^/# /'
equal "exit status of seed $SEED" 0 $status
equal "calls" "$CALLS" "$(field calls "$out")"
equal "broken rules" 0 "$(field broken "$out")"
at_least "calls that succeeded" $((CALLS / 4)) "$(field good "$out")"
stat=$(in_src cat /proc/net/tcp_circuit_stat)
at_least "connections" $((CALLS / 200)) \
	"$(awk '$1 == "Opened" { print $2 }' <<<"$stat")"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Random calls on random sockets and circuits (circuit_fuzz), on a loopback that
# loses packets, at times so many that breakers trip.  FUZZ_SEED=N repeats a run,
# FUZZ_CALLS=N makes it longer or shorter.  200,000 calls in virtual time, a million by
# make check MUCH=1 and make check-debug; 20,000 where the kernel is slow.

. "$(dirname "$0")/lib.sh"
need_commands circuit_fuzz ss
need_module

CALLS=${FUZZ_CALLS:-200000}
if [ -z "${FUZZ_CALLS:-}" ] && slow_kernel; then CALLS=20000; fi
SEED=${FUZZ_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}

PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
before=$(<$PARAMETER)
defer "echo $before >$PARAMETER"
lone_host

KILL=()
if orphans_die; then KILL=(-k); fi
out=$(in_src circuit_fuzz -s "$SEED" -n "$CALLS" "${KILL[@]}" 2>&1)
status=$?
grep '^broken' <<<"$out" | sed 's/^/# /'
equal "exit status of seed $SEED" 0 $status
equal "calls" "$CALLS" "$(field calls "$out")"
equal "broken rules" 0 "$(field broken "$out")"
at_least "calls that succeeded" $((CALLS / 4)) "$(field good "$out")"
at_least "connections" $((CALLS / 200)) "$(field opened "$out")"
at_least "changes of circuits" $((CALLS / 500)) "$(field changes "$out")"
# Whether a storm lasts for the two seconds of a breaker is chance on an emulated
# machine, whose clock is the host's; and so is what few calls see: of a million,
# some 200 trip one and 3000 look at what it cut, but in bunches.
if [ "$LAB" = uml ] && [ "$CALLS" -ge 1000000 ]; then
	at_least "breakers that tripped" 1 "$(field trips "$out")"
	at_least "looks at a window that was cut" $((CALLS / 6000)) \
		"$(field cut "$out")"
fi
finish

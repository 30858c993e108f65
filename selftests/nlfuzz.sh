#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Random messages to the netlink family (circuit_nlfuzz).  NLFUZZ_SEED=N repeats a
# run, NLFUZZ_MESSAGES=N makes it longer or shorter.  200,000 in virtual time, a million by
# make check MUCH=1 and make check-debug; 20,000 where the kernel is slow.

. "$(dirname "$0")/lib.sh"
need_commands circuit_nlfuzz circuit_nl
need_module

MESSAGES=${NLFUZZ_MESSAGES:-200000}
if [ -z "${NLFUZZ_MESSAGES:-}" ] && slow_kernel; then MESSAGES=20000; fi
SEED=${NLFUZZ_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}

lone_host
out=$(in_src circuit_nlfuzz -s "$SEED" -n "$MESSAGES" 2>&1)
status=$?
grep '^broken' <<<"$out" | sed 's/^/# /'
equal "exit status of seed $SEED" 0 $status
equal "messages" "$MESSAGES" "$(field messages "$out")"
equal "broken rules" 0 "$(field broken "$out")"
at_least "messages that were done" $((MESSAGES / 8)) "$(field "done" "$out")"
at_least "messages that were refused" $((MESSAGES / 4)) "$(field refused "$out")"
succeeds "the family answers" in_src circuit_nl stats
equal "circuits that are left" "" "$(in_src circuit_nl dump)"
succeeds "a circuit can be made" in_src circuit_nl new excl wave \
	prefix 192.0.2.0/24 window 10
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Sockets that something else has its hands on, too: kTLS, MPTCP, sockmap, TFO,
# syncookies, disconnect, IPV6_ADDRFORM, TCP_REPAIR, SO_REUSEPORT.  The points are
# circuit_stacks's.  In virtual time every one of them has to be there; other
# kernels say what they have not got.

. "$(dirname "$0")/lib.sh"
need_commands circuit_stacks
need_module

lone_host
set_in src net.ipv4.tcp_circuit_fcwnd 60
set_in src net.ipv4.tcp_fastopen 519
set_in src net.ipv4.tcp_no_metrics_save 1
# Room for more than MPTCP begins with, on a host with little memory, too, B
set_in src net.ipv4.tcp_wmem "4096 16384 4194304"
default_circuit

# Allocations of a process that asks for it fail; src has a /sys without debugfs.
FAILSLAB=/sys/kernel/debug/failslab
if [ -d $FAILSLAB ]; then
	echo Y >$FAILSLAB/task-filter
	echo -1 >$FAILSLAB/times
	echo 100 >$FAILSLAB/probability
	defer "echo 0 >$FAILSLAB/probability"
	export FAILSLAB
else
	unset FAILSLAB
fi
out=$(in_src circuit_stacks)
status=$?
echo "$out"
[ "$LAB" = uml ] || exit $status
# Only the kernel that watches itself lets allocations fail; it has to.
missing=$(grep '^# absent' <<<"$out")
if [[ ${LAB_KERNEL:-} != *debug ]]; then
	missing=$(grep -v 'allocations that fail' <<<"$missing")
fi
[ -z "$missing" ] || exit 1
exit $status

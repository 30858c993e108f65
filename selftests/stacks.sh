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

ip netns add "$SRC"
defer "ip netns del $SRC"
ip -n "$SRC" link set lo up
set_in src net.ipv4.tcp_circuit_fcwnd 60
set_in src net.ipv4.tcp_fastopen 519
set_in src net.ipv4.tcp_no_metrics_save 1
before=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
sysctl -qw net.ipv4.tcp_allowed_congestion_control="$before circuit"
defer "sysctl -qw net.ipv4.tcp_allowed_congestion_control='$before'"
set_in src net.ipv4.tcp_congestion_control circuit

out=$(in_src circuit_stacks)
status=$?
echo "$out"
[ "$LAB" = uml ] || exit $status
! grep '^# absent' <<<"$out" | grep -v 'allocations that fail' || exit 1
exit $status

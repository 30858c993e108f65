#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# The socket options and struct tcp_circuit_info: lengths, pointers, values,
# states, families, owners, privileges.  The points are sockopt_abi's.

. "$(dirname "$0")/lib.sh"
need_commands sockopt_abi
need_module

ip netns add "$SRC"
defer "ip netns del $SRC"
ip -n "$SRC" link set lo up
set_in src net.ipv4.tcp_circuit_fcwnd 60
set_in src net.ipv4.tcp_circuit_fcwnd_max 0
set_in src net.ipv4.tcp_circuit_rate 1000000

# A default of circuit is allowed in a namespace once the machine's own lists it.
before=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
sysctl -qw net.ipv4.tcp_allowed_congestion_control="$before circuit"
defer "sysctl -qw net.ipv4.tcp_allowed_congestion_control='$before'"
set_in src net.ipv4.tcp_congestion_control circuit

in_src sockopt_abi

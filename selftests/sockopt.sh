#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# The socket options and struct tcp_circuit_info: lengths, pointers, values,
# states, families, owners, privileges.  The points are sockopt_abi's.

. "$(dirname "$0")/lib.sh"
need_commands sockopt_abi
need_module

# The module's would be the window where nothing else gives one.
PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
before=$(<$PARAMETER)
defer "echo $before >$PARAMETER"
echo 0 >$PARAMETER

lone_host
set_in src net.ipv4.tcp_circuit_fcwnd 60
set_in src net.ipv4.tcp_circuit_fcwnd_max 0
default_circuit

in_src sockopt_abi

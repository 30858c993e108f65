#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# The netlink family "tcp_circuit": every refusal with its reason, and nothing half
# done; which flags do what; the longest match; dumps, events, privileges,
# namespaces, limits.  The points are circuit_netlink's.

. "$(dirname "$0")/lib.sh"
need_commands circuit_netlink
need_module

CEILING=net.ipv4.tcp_circuit_ceiling_circuits
before=$(sysctl -n $CEILING)
defer "sysctl -qw $CEILING=$before"
# Enough for as many prefixes as a namespace may have, 128 of each circuit
sysctl -qw $CEILING=2100

lone_host
set_in src net.ipv4.tcp_circuit_fcwnd 60
default_circuit
ip -n "$SRC" addr add 10.77.2.1/32 dev lo
ip -n "$SRC" addr add a4d:201::/128 dev lo nodad

in_src circuit_netlink

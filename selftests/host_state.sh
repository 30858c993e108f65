#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# host_state.sh [configured]: everything that ctcp-setup may touch in this network namespace,
# as text, or what was given to its circuits alone (setup_lib.sh).  A script of its own, as
# dash forks at a third of what it costs bash.
#
# Of the modules ours alone: a qdisc's own comes with the first of its kind and stays.  A
# link's operational state comes when it likes, and IPv6 routes of the same prefix on two
# devices stand in the order in which these came up.

# What was given to the circuits, without what their sockets do.  Asked only where the module
# is, as the kernel might load it to answer.
configured()
{
	[ -d /sys/module/tcp_circuit ] || return 0
	circuit_nl dump | sed -n '/ auto=0 /s/ id=[0-9]*\| sockets=.*//gp' | sort
}

if [ "${1:-}" = configured ]; then
	configured
	exit
fi
cd /sys/module || exit
echo "module: $(echo tcp_circuit*)"
configured
tc -r qdisc show
ip -o link show | sed 's/ state [A-Z]*//; s/NO-CARRIER,//'
ip -d -4 route show table all
ip -d -6 route show table all | sort
cd /proc/sys/net || exit
grep -s . ipv4/tcp_* core/*mem*
find "$CTCP_RUNDIR" -type f ! -name lock ! -name 'ctcpd-*.lock' 2>/dev/null | sort

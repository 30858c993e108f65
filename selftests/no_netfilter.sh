#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: nonetfilter
#
# On a kernel without CONFIG_NETFILTER the module loads, says what is missing, and
# works: the socket options alone are not there, and are refused as by a kernel
# that does not know them.  Circuits are: they need netlink only.

. "$(dirname "$0")/lib.sh"
need_commands circuit_nl circuit_sock

said()
{
	dmesg | grep 'tcp_circuit:.*CONFIG_NETFILTER'
}

send()
{
	in_src timeout 30 circuit_sock send -C circuit -n 20000 "$@" $DST4 $PORT
}

options()
{
	local out

	out=$(send -w 90 2>&1)
	equal "the option before connect()" \
		"circuit_sock: TCP_CIRCUIT_FCWND: Protocol not available" "$out"
	out=$(send -W 90 2>&1)
	equal "the option after connect()" \
		"circuit_sock: TCP_CIRCUIT_FCWND: Protocol not available" "$out"
}

windows()
{
	equal "nothing set: Reno's growth" circuit-reno \
		"$(word algorithm "$(send)")"
	set_in src net.ipv4.tcp_circuit_fcwnd 60
	equal "the namespace's window" 60 "$(field cwnd "$(send)")"
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254 initcwnd 70
	equal "the route's window" 70 "$(field cwnd "$(send)")"
	in_src circuit_nl new wave prefix 10.77.2.0/24 window 80
	equal "a circuit's window" 80 "$(field cwnd "$(send)")"
}

need_root
# The one thing that shows in a running kernel: what ipset, nft and iptables ask
refused "this kernel has no netfilter" test -e /proc/sys/net/netfilter
need_module
equal "lines of the log that say what is missing" 1 "$(said | wc -l)"
network 5
serve dst
windows
options
finish

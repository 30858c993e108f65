#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# A connection changes its algorithm in mid-transfer.  To circuit: the window
# is fcwnd from then on.  From circuit: the other one has the window, and
# starts from where circuit left it.  And the namespace, the machine and an
# unprivileged user choose it only where the administrator allowed it.

. "$(dirname "$0")/lib.sh"
need_commands circuit_sock setpriv
need_module

FCWND=123

switch()
{
	in_src timeout 60 circuit_sock send -n 10000000 "$@" $DST4 $PORT
}

to_circuit()
{
	local out

	out=$(switch -C "$1" -L circuit)
	equal "$1 to circuit: smallest window after it" $FCWND \
		"$(field cwnd_min "$out")"
	equal "$1 to circuit: largest window after it" $FCWND \
		"$(field cwnd_max "$out")"
	equal "$1 to circuit: source" 3 "$(field source "$out")"
}

from_circuit()
{
	local out

	out=$(switch -C circuit -L "$1")
	equal "circuit to $1: no window of circuit's any more" "" \
		"$(field fcwnd "$out")"
	at_least "circuit to $1: it finished, with a window" 1 \
		"$(field cwnd "$out")"
}

# A copy of the program: its own may lie in a folder that is not for everyone.
as_nobody()
{
	in_src setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps=-all --bounding-set=-all "$TMP/circuit_sock" "$@"
}

# The kernel keeps a reference to the module whenever it refuses a namespace's
# default (tcp_set_default_congestion_control(), 6.1): only where the machine is
# thrown away afterwards.
restricted()
{
	if [ "$LAB" = uml ]; then
		refused "another namespace's default is refused to circuit" \
			set_in src net.ipv4.tcp_congestion_control circuit
	fi
	succeeds "an unprivileged socket is given another algorithm" \
		as_nobody send -C reno -n 1 $DST4 $PORT
	matches "an unprivileged socket is refused circuit" \
		"TCP_CONGESTION: Operation not permitted" \
		"$(as_nobody send -C circuit -n 1 $DST4 $PORT 2>&1)"
}

network 5
set_in src net.ipv4.tcp_circuit_fcwnd $FCWND
serve dst
for algorithm in reno cubic bbr; do
	in_src sysctl -n net.ipv4.tcp_available_congestion_control |
		grep -qw $algorithm || modprobe tcp_$algorithm 2>/dev/null ||
		{ fail "$algorithm: not in this kernel"; continue; }
	to_circuit $algorithm
	from_circuit $algorithm
done
chmod 755 "$TMP"
cp "$(command -v circuit_sock)" "$TMP/"
restricted
finish

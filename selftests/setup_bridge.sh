#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# A device whose connections leave by another one: a port of a bridge is shaped, and its
# circuit is that of the bridge's connections, with --to and without; of a VLAN's above
# the device it is not, which is said.
#
#	br0 -- eth1 --- rtr --- dst

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands circuit_sock ctcp-setup tc
need_module

CIRCUIT=(--rate 1gbit --rtt 10ms --pace)
SOURCE=2	# TCP_CIRCUIT_SOURCE_CIRCUIT
WINDOW=1074	# of that plan

# connection NAME WINDOW SOURCE: what a new one to dst has
connection()
{
	local out

	out=$(in_host circuit_sock send -C circuit -n 1 $DST4 $PORT)
	equal "$1: window of a connection" "$2" "$(field fcwnd "$out")"
	equal "$1: where it comes from" "$3" "$(field source "$out")"
}

into_bridge()
{
	ip -n "$SRC" -batch - <<-END
		link add br0 type bridge
		link set br0 addrgenmode none
		link set br0 up
		link set eth1 master br0
		addr del $SRC4/24 dev eth1
		addr add $SRC4/24 dev br0
		route replace 10.77.2.0/24 via 10.77.1.254 dev br0
	END
	until_true 20 in_host ping -c 1 -W 1 10.77.1.254
}

whole_device()
{
	works "a port of a bridge" setup "${CIRCUIT[@]}" eth1
	matches "a port of a bridge: a note" \
		"eth1 is a port of br0 .*routes and connections leave by br0" "$OUT"
	matches "a port of a bridge: shaped" '^qdisc tbf .*rate 1Gbit' "$(root_qdisc eth1)"
	connection "a port of a bridge" $WINDOW $SOURCE
	works "a port of a bridge: verify" setup verify
	ip -n "$SRC" link set br0 down
	ip -n "$SRC" link set br0 name br7
	ip -n "$SRC" link set br7 up
	works "the bridge renamed: verify" setup verify
	ip -n "$SRC" link set br7 down
	ip -n "$SRC" link set br7 name br0
	ip -n "$SRC" link set br0 up
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254 dev br0
	works "a port of a bridge: undo" setup undo --quiet eth1
	unchanged "a port of a bridge: as before" "$BEFORE"
}

to_prefix()
{
	works "a port of a bridge, --to" setup "${CIRCUIT[@]}" --to 10.77.2.0/24 eth1
	matches "a port of a bridge, --to: the route" \
		'^10.77.2.0/24 via 10.77.1.254 dev br0 .*congctl circuit' \
		"$(in_host ip route show 10.77.2.0/24)"
	connection "a port of a bridge, --to" $WINDOW $SOURCE
	works "a port of a bridge, --to: undo" setup undo --quiet eth1
	unchanged "a port of a bridge, --to: as before" "$BEFORE"
	works "a port of a bridge, --via" setup "${CIRCUIT[@]}" --to 10.99.0.0/16 \
		--via 10.77.1.254 eth1
	works "a port of a bridge, --via: undo" setup undo --quiet eth1
	unchanged "a port of a bridge, --via: as before" "$BEFORE"
}

vlan_above()
{
	ip -n "$SRC" link add link eth1 name eth1.5 type vlan id 5
	ip -n "$SRC" link set eth1.5 up
	works "a device below a VLAN" setup "${CIRCUIT[@]}" eth1
	matches "a device below a VLAN: a note" \
		"connections by eth1.5, which sits on eth1, do not belong to this circuit" "$OUT"
	works "a device below a VLAN: undo" setup undo --quiet eth1
	works "a device below a VLAN, --to" setup "${CIRCUIT[@]}" --to 10.77.2.0/24 eth1
	refused "a device below a VLAN, --to: a note" grep -q "sits on eth1" <<<"$OUT"
	works "a device below a VLAN, --to: undo" setup undo --quiet eth1
	ip -n "$SRC" link del eth1.5
}

network
# shellcheck disable=SC2034 # of setup_lib.sh
HOST=$SRC
default_circuit
serve dst
into_bridge
until_true 10 in_host circuit_sock send -n 1 $DST4 $PORT
BEFORE=$(state)
whole_device
to_prefix
vlan_above
finish

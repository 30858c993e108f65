# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# touch_lib.sh: circuits under load, each packet of theirs captured at the far side; what
# setup_touch.sh and lab/changes.sh share.  Read it after setup_lib.sh.
#
#	src ---- rtr ---- dst, which has 10.80.0.1 ... 10.83.255.255
#
# Four layouts: how the circuits of src leave it.
#
#	htb	eth1, a class each
#	none	eth1, paced by the module, no qdisc
#	fq	the same, above an fq that somebody made
#	vlan	a VLAN of eth1 each, with a tbf
#
# $ONE_WAY_MS is the delay from src to dst, and back.

need_commands circuit_arrivals circuit_streams ctcp-setup ethtool tc

# shellcheck disable=SC2034 # of those that read this
LAYOUTS="htb none fq vlan"

# far_sides NAME: a network of that name, on whose dst all of 10.80.0.0/14 is
far_sides()
{
	SRC=ctcp-$$-$1-src
	RTR=ctcp-$$-$1-rtr
	DST=ctcp-$$-$1-dst
	network $ONE_WAY_MS
	single_packets
	ip -n "$DST" route add local 10.80.0.0/14 dev lo
	ip -n "$RTR" route add 10.80.0.0/14 via $DST4
	ip -n "$SRC" route add 10.80.0.0/14 via 10.77.1.254
	ip -n "$DST" route add 10.60.0.0/16 via 10.77.2.254
	# shellcheck disable=SC2034 # of setup_lib.sh
	HOST=$SRC
	serve dst
}

far_sides_end()
{
	serve_end
	setup undo --all --quiet
	ip netns del "$SRC"
	ip netns del "$RTR"
	ip netns del "$DST"
}

# vlan ID: one of src's, with the router's end
vlan()
{
	ip -n "$SRC" -batch - <<-END
		link add link eth1 name eth1.$1 type vlan id $1
		link set eth1.$1 up
		addr add 10.60.$1.1/24 dev eth1.$1
	END
	ip -n "$RTR" -batch - <<-END
		link add link r1 name r1.$1 type vlan id $1
		link set r1.$1 up
		addr add 10.60.$1.254/24 dev r1.$1
	END
}

# lay_out LAYOUT VLAN...: from here on circuits are of it
lay_out()
{
	local id

	LAYOUT=$1
	shift
	case $LAYOUT in
	fq) in_src tc qdisc add dev eth1 root handle 1: fq ;;
	vlan) for id; do vlan "$id"; done ;;
	esac
}

# A datagram by each device, so that no stream waits for its gateway's address
neighbours()
{
	local gateways

	gateways=$(ip -n "$RTR" -o -4 addr show | grep -oE '10\.(60\.[0-9]+|77\.1)\.254' |
		paste -sd,)
	in_src circuit_arrivals send -t 1 "$gateways,10.80.0.1" $PORT
	sleep 0.5
}

# how ID: words that the layout has for the circuit on this VLAN
how()
{
	case $LAYOUT in
	htb) echo "--via 10.77.1.254 --shaper htb eth1" ;;
	none | fq) echo "--via 10.77.1.254 --shaper none --pace eth1" ;;
	vlan) echo "--via 10.60.$1.254 --shaper tbf eth1.$1" ;;
	esac
}

# via ID: of a circuit's routes
via()
{
	if [ "$LAYOUT" = vlan ]; then
		echo "--via 10.60.$1.254"
	else
		echo "--via 10.77.1.254"
	fi
}

# --- a run --------------------------------------------------------------------------

# Streams begin at a full second: the timers of TCP and of the module then run alike in
# each run.
full_second()
{
	sleep "$(date +%N | awk '{ printf "%.9f", (1e9 - $1) / 1e9 }')"
}

# capture FILE: from here on what comes to dst
capture()
{
	background dst circuit_arrivals capture "$TMP/$1" eth1
	CAPTURE=$!
	until_true 10 captures || fail "a capture"
}

# shellcheck disable=SC2317 # called by until_true
captures()
{
	in_dst grep -q '^[0-9a-f]' /proc/net/packet
}

capture_end()
{
	kill $CAPTURE
	wait $CAPTURE || fail "capture: it saw all"
}

# addresses_of N NET: 10.NET.1.1 and so on, with commas between
addresses_of()
{
	seq -f "10.$2.%g.1" -s, "$1"
}

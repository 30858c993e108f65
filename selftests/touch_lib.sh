# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# touch_lib.sh: circuits under load, with each of their packets captured at the far side; what
# setup_touch.sh and lab/changes.sh share.  Source it after setup_lib.sh.
#
#	src ---- rtr ---- dst, which has 10.80.0.1 ... 10.83.255.255
#
# Four layouts: how the circuits leave src
#
#	htb	eth1, a class each
#	none	eth1, paced by the module, no qdisc
#	fq	the same, above an fq that is there already
#	vlan	a VLAN of eth1 each, with a tbf
#
# $ONE_WAY_MS is the delay from src to dst, and back.

need_commands circuit_arrivals circuit_streams ctcp-setup ethtool tc

# shellcheck disable=SC2034 # of scripts that source this
LAYOUTS="htb none fq vlan"

# far_sides NAME: make a network of that name, whose dst has all addresses of 10.80.0.0/14
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

# vlan ID: make a VLAN on src, with its end on the router
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

# lay_out LAYOUT VLAN...: prepare src for it; how() and via() then follow it
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

# Send a datagram by each device, so that no stream waits for its gateway's address.
neighbours()
{
	local gateways

	gateways=$(ip -n "$RTR" -o -4 addr show | grep -oE '10\.(60\.[0-9]+|77\.1)\.254' |
		paste -sd,)
	in_src circuit_arrivals send -t 1 "$gateways,10.80.0.1" $PORT
	sleep 0.5
}

# how ID: print the layout's words for the circuit on this VLAN
how()
{
	case $LAYOUT in
	htb) echo "--via 10.77.1.254 --shaper htb eth1" ;;
	none | fq) echo "--via 10.77.1.254 --shaper none --pace eth1" ;;
	vlan) echo "--via 10.60.$1.254 --shaper tbf eth1.$1" ;;
	esac
}

# via ID: print the words for the gateway of this circuit's routes
via()
{
	if [ "$LAYOUT" = vlan ]; then
		echo "--via 10.60.$1.254"
	else
		echo "--via 10.77.1.254"
	fi
}

# --- a run --------------------------------------------------------------------------

# Wait for a full second: if the streams begin then, the timers of TCP and of the module run
# alike in each run.
full_second()
{
	sleep "$(date +%N | awk '{ printf "%.9f", (1e9 - $1) / 1e9 }')"
}

# capture FILE: capture what arrives at dst from now on
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

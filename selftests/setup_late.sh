#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# ctcp-setup apply --wait and --partial: devices that come late, gateways that cannot be
# reached yet, and what is somebody else's, hold up no circuit but their own.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
. "$SELFTESTS/watch_lib.sh"

# --- apply --wait ------------------------------------------------------------

late_devices()
{
	local before

	fresh late
	# shellcheck disable=SC2086
	echo "${LHC/10.78/10.79} eth2" >"$TMP/circuits"
	before=$(state)
	BEGUN=$(now_ms)
	complains "apply --wait: the time is over" 1 'circuit lhc: there is no device eth2' \
		setup apply --wait 2s --quiet "$TMP/circuits"
	setup apply --wait 30s --quiet "$TMP/circuits" >"$TMP/late" 2>&1 &
	sleep 1
	unchanged "apply --wait: nothing yet" "$before"
	ip -n "$HOST" -batch - <<-END
		link add eth2 numtxqueues 1 type veth peer name far-eth2
		addr add 10.79.0.1/24 dev eth2
	END
	sleep 1
	equal "apply --wait: it is down" "" "$(configured)"
	BEGUN=$(now_ms)
	in_host ip link set eth2 up
	wait $!
	equal "apply --wait: it came, exit status" 0 $?
	at_most "apply --wait: ms after it was up" $IN_TIME $(($(now_ms) - BEGUN))
	equal "apply --wait: no word" "" "$(<"$TMP/late")"
	as_set_up "apply --wait"
	BEGUN=$(now_ms)
	works "apply --wait: all are there" setup apply --wait 30s --quiet "$TMP/circuits"
	at_most "apply --wait: all are there: ms" $IN_TIME $(($(now_ms) - BEGUN))
	complains "apply --wait without a unit" 2 '--wait: "60" has no unit' \
		setup apply --wait 60 "$TMP/circuits"
	complains "--wait elsewhere" 2 '"--wait" is not an option of diff' \
		setup diff --wait 60s "$TMP/circuits"
	complains "--say elsewhere" 2 '"--say" is not an option of apply' \
		setup apply --say "$TMP/circuits"
	works "apply --wait: undo" setup undo --quiet --all
	host_end
}

# --- apply --partial ---------------------------------------------------------

has_circuit()
{
	[ -n "$(circuit_value "$1" window)" ]
}

# left_out NAME COUNT [PATTERN...]: apply --partial leaves so many out, and says these
left_out()
{
	local name=$1 n=$2

	shift 2
	run setup apply --partial --quiet "$TMP/circuits"
	equal "$name: exit status" 5 "$RC"
	matches "$name: counted" "^ctcp-setup: $n of 3 circuits are left out" "$ERR"
	while [ $# -gt 0 ]; do
		matches "$name: said" "^note: $1.*: it is left out for now$" "$ERR"
		shift
	done
}

# what_can_be: one device is not there, and of another the gateway cannot be reached: the third
# has its circuit
what_can_be()
{
	complains "without --partial" 1 'circuit ska: there is no device eth2' \
		setup apply --quiet "$TMP/circuits"
	left_out "--partial" 2 'circuit ska: there is no device eth2' 'circuit esa: .*10.83.0.0/16'
	as_set_up "--partial"
	succeeds "--partial: the one that can be" has_route
	equal "--partial: it alone" lhc "$(setup list --json | jq -r '.[].name')"
	left_out "--partial once more" 2 'circuit ska: there is no device eth2'
}

# all_come: the others have theirs as soon as they can
all_come()
{
	local late

	setup apply --partial --wait 60s --quiet "$TMP/circuits" >"$TMP/late" 2>&1 &
	late=$!
	sleep 1
	BEGUN=$(now_ms)
	ip -n "$HOST" -batch - <<-END
		link add eth2 numtxqueues 1 type veth peer name far-eth2
		addr add 10.79.0.1/24 dev eth2
		link set far-eth2 up
		link set eth2 up
	END
	in_time "--partial --wait: a device came" has_circuit ska
	as_set_up "--partial --wait: a device came"
	in_host ip addr add 10.99.0.1/24 dev eth3
	until_true 7 has_circuit esa
	succeeds "--partial --wait: a gateway came" has_circuit esa
	wait "$late"
	equal "--partial --wait: all came, exit status" 0 $?
	as_set_up "--partial --wait: all came"
}

# one_is_down: what stands on it stays as it was until it is up
one_is_down()
{
	in_host ip link set eth2 down
	sed -i '/^add ska/s/1gbit/2gbit/; /^add esa/s/1gbit/3gbit/' "$TMP/circuits"
	left_out "--partial, a device down" 1 'circuit ska: eth2 is down'
	equal "--partial, a device down: it stays, and the other changes" "125000000 375000000" \
		"$(circuit_value ska rate) $(circuit_value esa rate)"
	in_host ip link set eth2 up
	works "--partial, it is up" setup apply --partial --quiet "$TMP/circuits"
	equal "--partial, it is up: it changes" 250000000 "$(circuit_value ska rate)"
}

partial_refused()
{
	echo "add bad --rate 1gbit eth1" >>"$TMP/circuits"
	complains "--partial: a line that is wrong" 1 'line 4: --rtt is missing' \
		setup apply --partial "$TMP/circuits"
	complains "--partial with --confirm-within" 2 '--partial makes several changes' \
		setup apply --partial --confirm-within 5s "$TMP/circuits"
	complains "--partial elsewhere" 2 '"--partial" is not an option of diff' \
		setup diff --partial "$TMP/circuits"
}

partial()
{
	fresh partial
	another_device eth3
	cat >"$TMP/circuits" <<-END
		$LHC --shaper tbf eth1
		add ska --to 10.82.0.0/16 --via 10.79.0.254 --rate 1gbit --rtt 10ms eth2
		add esa --to 10.83.0.0/16 --via 10.99.0.254 --rate 1gbit --rtt 10ms eth3
	END
	what_can_be
	all_come
	one_is_down
	partial_refused
	works "--partial: undo" setup undo --quiet --all
	host_end
}

# What somebody has in the place of one circuit, or of all on a device, is theirs.
partial_foreign()
{
	fresh foreign
	another_device eth3
	in_host ip addr add 10.79.0.1/24 dev eth3
	in_host tc qdisc add dev eth3 root handle 7: netem limit 1000
	cat >"$TMP/circuits" <<-END
		$LHC --shaper tbf eth1
		add ska --to 10.82.0.0/16 --via 10.79.0.254 --rate 1gbit --rtt 10ms --shaper htb eth3
		add esa --to 10.83.0.0/16 --via 10.79.0.254 --rate 1gbit --rtt 10ms --shaper htb eth3
	END
	left_out "--partial, a root qdisc of somebody's" 2 \
		'circuit ska: eth3 has a root qdisc of somebody else.s, netem 7:' \
		'circuit esa: eth3 has a root qdisc of somebody else.s, netem 7:'
	as_set_up "--partial, a root qdisc of somebody's"
	equal "--partial, a root qdisc of somebody's: the other device's alone" lhc \
		"$(setup list --json | jq -r '.[].name')"
	matches "--partial, a root qdisc of somebody's: it stays" "qdisc netem 7: root" \
		"$(in_host tc qdisc show dev eth3)"
	in_host tc qdisc del dev eth3 root
	in_host circuit_nl new esa prefix 10.99.0.0/16 window 10
	left_out "--partial, a circuit of somebody's" 1 'circuit esa: there is a circuit esa'
	as_set_up "--partial, a circuit of somebody's"
	equal "--partial, a circuit of somebody's: the others" "lhc ska" \
		"$(setup list --json | jq -r '.[].name' | sort | xargs)"
	in_host circuit_nl del esa
	works "--partial, it is gone" setup apply --partial --quiet "$TMP/circuits"
	works "--partial, foreign: undo" setup undo --quiet --all
	host_end
}

# What does not fit beside the others of the file is left out, and they are set up.
partial_over()
{
	local more="--via 10.79.0.254 --rtt 10ms --shaper htb --uplink 1gbit"

	fresh over
	another_device eth3
	in_host ip addr add 10.79.0.1/24 dev eth3
	cat >"$TMP/circuits" <<-END
		add lhc --to 10.81.0.0/16 --rate 600mbit $more eth3
		add ska --to 10.82.0.0/16 --rate 600mbit $more eth3
		add esa --to 10.83.0.0/16 --rate 300mbit $more eth3
	END
	left_out "--partial, too much for the uplink" 1 \
		'circuit ska: --rate: with circuit ska those on eth3 have 1.5gbit, more than the 1gbit of its uplink'
	as_set_up "--partial, too much for the uplink"
	equal "--partial, too much for the uplink: the others" "esa lhc" \
		"$(setup list --json | jq -r '.[].name' | sort | xargs)"
	sed -i 's/^\(add ska .*\)--uplink 1gbit/\1--uplink 2gbit/' "$TMP/circuits"
	left_out "--partial, another uplink" 1 'circuit ska: --uplink: 2gbit of circuit ska is not the 1gbit'
	sed -i '/^add ska /s/2gbit/1gbit/; /^add ska /s/600mbit/100mbit/' "$TMP/circuits"
	works "--partial, it fits" setup apply --partial --quiet "$TMP/circuits"
	works "--partial, too much: undo" setup undo --quiet --all
	host_end
}

buffers()
{
	value net.ipv4.tcp_rmem
	value net.ipv4.tcp_wmem
}

# eth2_comes: another device than before
eth2_comes()
{
	another_device eth2
	in_host ip addr add 10.79.0.1/24 dev eth2
}

# without_its_way BUFFERS: its gateway cannot be reached, or the kernel refuses its route
without_its_way()
{
	sed 's/10.79.0.254/10.99.0.254/' "$TMP/circuits" >"$TMP/unreachable"
	run setup apply --partial --quiet "$TMP/unreachable"
	equal "left out: exit status" 5 "$RC"
	equal "left out: the buffers" "$1" "$(buffers)"
	as_set_up "left out"
	in_host ip link set eth2 down
	in_host ip addr flush dev eth2
	in_host ip link set eth2 up
	sed '/^add six/s/1gbit/3gbit/' "$TMP/circuits" >"$TMP/six"
	run setup apply --partial --quiet "$TMP/six"
	equal "the kernel refuses its route: exit status" 5 "$RC"
	equal "the kernel refuses its route: another changes" 375000000 "$(circuit_value six rate)"
	in_host ip addr add 10.79.0.1/24 dev eth2
	works "its address is there again" setup apply --quiet "$TMP/circuits"
	as_set_up "its address is there again"
}

# no_longer_fits: it keeps no other from being changed
no_longer_fits()
{
	in_host ip link set eth2 mtu 1300
	sed -i '/^add six/s/1gbit/2gbit/' "$TMP/circuits"
	works "no longer fits its device: another changes" setup apply --quiet "$TMP/circuits"
	matches "no longer fits its device: said" \
		'^note: circuit lhc: --mss: 1400 does not fit .*; what was set up stays' \
		"$(setup apply "$TMP/circuits")"
	equal "no longer fits its device: the other has changed" 250000000 "$(circuit_value six rate)"
	in_host ip link set eth2 mtu 1500
}

# without_its_device BUFFERS: it is down, or another one that it does not fit
without_its_device()
{
	in_host ip link set eth2 down
	run setup apply --partial --quiet "$TMP/circuits"
	equal "its device is down: exit status" 5 "$RC"
	equal "its device is down: the buffers" "$1" "$(buffers)"
	in_host ip link del eth2
	eth2_comes
	in_host ip link set eth2 mtu 1300
	complains "does not fit the next device" 1 'circuit lhc: --mss: 1400 does not fit' \
		setup apply --quiet "$TMP/circuits"
	run setup apply --partial --quiet "$TMP/circuits"
	equal "does not fit the next device: --partial: exit status" 5 "$RC"
	in_host ip link set eth2 mtu 1500
	works "it fits" setup apply --quiet "$TMP/circuits"
	as_set_up "it fits"
}

# What a circuit needs that is left out, or whose device is down, stays.
left_as_it_is()
{
	local before

	fresh left
	eth2_comes
	cat >"$TMP/circuits" <<-END
		add lhc --to 10.81.0.0/16 --via 10.79.0.254 --rate 10gbit --rtt 10ms --mss 1400 --shaper tbf eth2
		$SIX eth1
	END
	works "left out" setup apply --quiet "$TMP/circuits"
	before=$(buffers)
	without_its_way "$before"
	no_longer_fits
	without_its_device "$before"
	setup undo --quiet --all
	host_end
}

# --- a device that is made anew ----------------------------------------------

# loses_device NAME WORDS: lhc stood on eth2, which is gone, and six stands on eth1
loses_device()
{
	fresh anew
	eth2_comes
	cat >"$TMP/circuits" <<-END
		${LHC/10.78/10.79} $2 eth2
		$SIX eth1
	END
	works "$1: before" setup apply --quiet "$TMP/circuits"
	in_host ip link del eth2
}

# apply_anew NAME WORDS: what stands in the state and is alike, but has lost its device, is
# refused while there is none, and set up on the next of that name.
apply_anew()
{
	local name="apply, $1, a device anew"

	loses_device "$name" "$2"
	complains "$name: it is gone" 1 'circuit lhc: there is no device eth2' \
		setup apply --quiet "$TMP/circuits"
	complains "$name: it is gone, diff" 4 'circuit lhc: there is no device eth2' \
		setup diff "$TMP/circuits"
	run setup apply --partial --quiet "$TMP/circuits"
	equal "$name: it is gone, --partial: exit status" 5 "$RC"
	matches "$name: it is gone, --partial: said" '^note: circuit lhc: there is no device eth2' "$ERR"
	eth2_comes
	run setup diff "$TMP/circuits"
	equal "$name: diff: exit status" 1 "$RC"
	works "$name: it has come" setup apply --quiet "$TMP/circuits"
	as_set_up "$name: it has come"
	in_host ip link del eth2
	setup apply --partial --wait 60s --quiet "$TMP/circuits" >"$TMP/late" 2>&1 &
	sleep 1
	eth2_comes
	wait $!
	equal "$name: --partial waits for it, exit status" 0 $?
	matches "$name: --partial waits for it: said" '^note: circuit lhc: there is no device eth2' \
		"$(<"$TMP/late")"
	as_set_up "$name: --partial waits for it"
	in_host ip link set eth2 down
	says "$name: it is down" 1 'circuit lhc: eth2 is down' \
		setup apply --quiet "$TMP/circuits"
	in_host ip link set eth2 up
	works "$name: it is up" setup apply --quiet "$TMP/circuits"
	as_set_up "$name: it is up"
	works "$name: undo" setup undo --quiet --all
	host_end
}

# anew_among NAME WORDS: as then, and a run has left lhc out before another eth2 came
anew_among()
{
	loses_device "$1" "$2"
	run setup apply --partial --quiet "$TMP/circuits"
	equal "$1: without the device: exit status" 5 "$RC"
	eth2_comes
}

# What is somebody's on the other device, or has the circuit's name, is refused by its name.
anew_foreign()
{
	local shaper

	for shaper in tbf htb; do
		anew_among "device anew, $shaper, somebody's root" "--shaper $shaper"
		in_host tc qdisc add dev eth2 root handle 7: pfifo limit 7
		complains "device anew, $shaper, somebody's root: apply" 1 \
			'eth2 has a root qdisc of somebody else.s, pfifo 7:' \
			setup apply --quiet "$TMP/circuits"
		run setup apply --partial --quiet "$TMP/circuits"
		equal "device anew, $shaper, somebody's root: --partial: exit status" 5 "$RC"
		matches "device anew, $shaper, somebody's root: it stays" 'pfifo 7:.*limit 7p' \
			"$(root_qdisc eth2)"
		in_host tc qdisc del dev eth2 root
		works "device anew, $shaper, it is gone" setup apply --quiet "$TMP/circuits"
		as_set_up "device anew, $shaper, it is gone"
		setup undo --quiet --all
		host_end
	done
	anew_among "device anew, watch" "--shaper tbf"
	in_host ip link del eth2
	watch
	ip -n "$HOST" link add eth2 numtxqueues 1 type veth peer name far-eth2
	in_host tc qdisc add dev eth2 root handle 7: pfifo limit 7
	ip -n "$HOST" -batch - <<-END
		addr add 10.79.0.1/24 dev eth2
		link set far-eth2 up
		link set eth2 up
	END
	until_true 3 said ' differs lhc qdisc eth2'
	settled
	watch_ends "device anew, watch"
	complains "device anew, somebody's root, after watch: apply" 1 \
		'eth2 has a root qdisc of somebody else.s, pfifo 7:' \
		setup apply --quiet "$TMP/circuits"
	setup undo --quiet --all
	host_end
	anew_among "device anew, somebody's circuit" "--shaper tbf"
	in_host circuit_nl new lhc prefix 10.99.0.0/16 window 10
	complains "device anew, somebody's circuit: apply" 1 'there is a circuit lhc that no state' \
		setup apply --quiet "$TMP/circuits"
	in_host circuit_nl del lhc
	setup undo --quiet --all
	host_end
}

# A route that was there before the circuit, and that its owner has set on the other device
anew_route()
{
	local route="10.81.0.0/16 via 10.79.0.254 dev eth2"

	fresh anew-route
	eth2_comes
	# shellcheck disable=SC2086 # its words
	in_host ip route add $route
	echo "${LHC/10.78/10.79} --shaper tbf eth2" >"$TMP/circuits"
	works "device anew, a route of before" setup apply --quiet "$TMP/circuits"
	in_host ip link del eth2
	eth2_comes
	# shellcheck disable=SC2086
	in_host ip route add $route
	works "device anew, a route of before: apply" setup apply --quiet "$TMP/circuits"
	as_set_up "device anew, a route of before"
	setup undo --quiet --all
	in_host ip route replace 10.81.0.0/16 via 10.79.0.254 dev eth2 congctl circuit
	works "a route that was as wanted before" setup apply --quiet "$TMP/circuits"
	in_host ip route replace 10.81.0.0/16 via 10.78.0.254 dev eth1
	setup apply --quiet "$TMP/circuits"
	matches "a route that was as wanted before: led elsewhere, it stays" 'via 10.78.0.254' \
		"$(in_host ip route show 10.81.0.0/16)"
	setup undo --quiet --all
	host_end
}

late_devices
partial
apply_anew tbf "--shaper tbf"
apply_anew htb "--shaper htb"
apply_anew none "--shaper none --pace"
apply_anew "shaper not named" ""
anew_foreign
anew_route
left_as_it_is
partial_foreign
partial_over
finish

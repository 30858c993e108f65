#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# The hands of ctcpd by classes: a paced remote has a class, a queue and filters, and
# nothing else of the machine changes; a rate is changed in place.  Killed or failing at any
# step, all is as before; a run of an administrator's that was cut short is left to him.  An
# administrator comes first, and what somebody has changed of ours is let go of as he has it.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup ctcp-setup-faulty ctcpd_hands circuit_streams ethtool tc jq
need_module

STEPS_MAX=60
A=10.81.0.7/32 B=10.82.0.9/32 C=fd81::7/128

hands()
{
	in_host ctcpd_hands "$@"
}

apply()
{
	hands apply "$@"
}

# Of one remote on eth1: RATE, and its prefix if it is not $A
pace()
{
	hands apply eth1 "${2:-$A}" "$1" 47ms
}

classes()
{
	in_host tc class show dev eth1 | sort
}

# class MINOR: a line
class()
{
	classes | grep "^class htb c7c0:$1 "
}

filters()
{
	in_host tc filter show dev eth1
}

all_state()
{
	state
	classes
	filters
}

# all_unchanged DESCRIPTION BEFORE
all_unchanged()
{
	same "$1" "$2" "$(all_state)"
}

# hand PREFIX WORD: of the hand that paces it
hand()
{
	hands look | grep " to=$1 " | grep -o " $2=[^ ]*" | cut -d= -f2
}

# refuses DESCRIPTION CODE PATTERN COMMAND...: this code and sentence, and nothing changed
refuses()
{
	local what=$1 code=$2 pattern=$3 before

	shift 3
	before=$(all_state)
	run "$@"
	if [ "$RC" = 1 ] && grep -qE -- "^$code: .*$pattern" "$TMP/err"; then
		pass "$what"
	else
		fail "$what" "command: $*" "expected: exit 1, $code: .*$pattern" \
			"got:      exit $RC" "$OUT" "$ERR"
	fi
	all_unchanged "$what: nothing changed" "$before"
}

# --- what is made ------------------------------------------------------------

paced()
{
	local before kept

	host paced
	before=$(all_state)
	works "fit" hands fit eth1
	works "two remotes" apply eth1 $A 950mbit 47ms eth1 $C 100mbit 1ms
	matches "the root" '^qdisc htb c7c0:[^ ]* root .* default 0xffff ' "$(root_qdisc eth1)"
	matches "a class of its rate, with a bucket of 200 us" \
		'rate 950Mbit ceil 950Mbit burst 237[0-9][0-9]b' "$(class 1)"
	# 118.75e6 x 47 ms is 5.6 MB: 128 GSO packets are more
	matches "room for 64 sockets" 'qdisc bfifo 1:[^ ]* parent c7c0:1 limit [89][0-9]{6}b' \
		"$(in_host tc -r qdisc show dev eth1)"
	matches "all else is not held" 'rate 1Tbit ceil 1Tbit ' "$(class ffff)"
	equal "filters, without a tag and with one" 4 "$(filters | grep -c dst_ip)"
	same "nothing else of the machine" \
		"$(grep -v '^qdisc\|^/\|^link [0-9]* eth1 ' <<<"$before" | sort)" \
		"$(all_state | grep -v '^qdisc\|^class\|^filter\|^  \|^/\|^link [0-9]* eth1 ' | sort)"
	works "look" hands look
	equal "look: both as set" 2 "$(grep -c 'state=set' <<<"$OUT")"
	kept=$(all_state)
	works "the same again" apply eth1 $A 950mbit 47ms eth1 $C 100mbit 1ms
	matches "the same again: no change" 'rc=0 changed=0' "$OUT"
	all_unchanged "the same again: all is as it was" "$kept"
	works "another rate" pace 900mbit
	matches "another rate: one change" 'rc=0 changed=1 ' "$OUT"
	matches "another rate: in place" 'leaf 1: .*rate 900Mbit ceil 900Mbit' "$(class 1)"
	works "one goes" pace 0
	equal "one goes: its class" "" "$(class 1)"
	equal "one goes: its filters" 2 "$(filters | grep -c dst_ip)"
	works "one that is not there goes" pace 0
	matches "one that is not there goes: no change" 'rc=0 changed=0' "$OUT"
	works "the last goes" pace 0 $C
	all_unchanged "the last goes: all as before" "$before"
	host_end
}

shown()
{
	host shown
	pace 950mbit >/dev/null
	works "show" setup show
	matches "show: whose" 'eth1: ctcpd-1, paced by ctcpd at 950mbit' "$OUT"
	matches "show: its counters" 'class +c7c0:1, sent' "$OUT"
	works "show --json" setup show --json
	json_is "show: owner" ctcpd '.[0].owner'
	json_is "show: no window" null '.[0].fcwnd_segments'
	works "verify" setup verify
	works "list" setup list
	matches "list: whose" 'ctcpd-1 .* 10.81.0.7/32 \(ctcpd.s\)' "$OUT"
	works "list --json" setup list --json
	json_is "list: owner" ctcpd '.[0].owner'
	works "save" setup save
	equal "save: not what ctcpd finds out anew" 0 "$(grep -c '^add' <<<"$OUT")"
	in_host tc class change dev eth1 parent c7c0: classid c7c0:1 htb rate 1mbit
	says_verify "verify of what somebody changed"
	says "change of ctcpd's" 1 'ctcpd-1 is ctcpd.s' setup change ctcpd-1 --rate 1gbit
	setup del ctcpd-1 --quiet 2>/dev/null
	setup undo --all --force --quiet
	host_end
}

# Of a class that is ctcpd's, by name
says_verify()
{
	run setup verify
	if [ "$RC" = 1 ] && grep -q '^ctcpd-1 of ctcpd on eth1: class' <<<"$OUT" &&
	   grep -q 'ctcpd lets go' <<<"$ERR"; then
		pass "$1"
	else
		fail "$1" "got: exit $RC" "$OUT" "$ERR"
	fi
}

# Of a device that is gone, or down, nobody has changed anything.
says_waiting()
{
	run setup verify
	if [ "$RC" = 1 ] && grep -q '^ctcpd-[0-9]* of ctcpd on ' <<<"$OUT" &&
	   grep -q 'ctcpd paces again what it had paced on a device that is gone or down once' \
		<<<"$ERR" && ! grep -q 'lets go' <<<"$ERR"; then
		pass "$1"
	else
		fail "$1" "got: exit $RC" "$OUT" "$ERR"
	fi
}

# --- an administrator comes first ------------------------------------------------

ADMIN=(--via 10.78.0.254 --rate 1gbit --rtt 10ms --quiet)

gives_way()
{
	local before

	without_module
	host gives-way
	another_device eth2
	ip -n "$HOST" addr add 10.79.0.1/24 dev eth2
	before=$(all_state)
	apply eth1 $A 950mbit 1ms eth1 $B 100mbit 1ms eth2 10.90.0.1/32 100mbit 1ms >/dev/null
	works "a circuit on the device" setup add lhc --to 10.99.0.0/16 --shaper htb "${ADMIN[@]}" eth1
	equal "a circuit on the device: those there go" "10.90.0.1/32" \
		"$(hands look | sed 's/.* to=\([^ ]*\).*/\1/')"
	equal "a circuit on the device: its class and all else's" 2 "$(classes | wc -l)"
	refuses "the device is his" EPERM 'eth1 has circuit lhc' pace 950mbit
	refuses "a prefix is his, on whichever device" EPERM '10.99.1.1/32 overlaps' \
		apply eth2 10.99.1.1/32 1mbit 1ms
	works "undo of it" setup undo lhc --quiet
	works "the bare command" pace 950mbit
	works "the bare command: tbf" setup --rate 1gbit --rtt 10ms --quiet eth1
	matches "the bare command: the root" '^qdisc tbf c7c0:' "$(root_qdisc eth1)"
	setup undo eth1 --quiet
	pace 950mbit >/dev/null
	works "an overlapping prefix on another device" setup add lhc --to 10.81.0.0/16 \
		--via 10.79.0.254 --rate 1gbit --rtt 10ms --quiet --shaper none eth2
	equal "an overlapping prefix on another device: gone on both" "" "$(hands look)"
	setup undo --all --quiet
	all_unchanged "all as before" "$before"
	host_end
}

beside()
{
	local before kept

	without_module
	host beside
	another_device eth2
	ip -n "$HOST" addr add 10.79.0.1/24 dev eth2
	before=$(all_state)
	setup add lhc --to 10.99.0.0/16 --via 10.79.0.254 --rate 1gbit --rtt 10ms --quiet \
		--shaper htb eth2
	setup save >"$TMP/saved"
	kept=$(all_state; in_host tc class show dev eth2)
	works "beside a circuit on another device" pace 950mbit
	works "another rate" pace 900mbit
	matches "apply of a file leaves ctcpd's" '^1 circuit' \
		"$(setup apply "$TMP/saved")"
	equal "apply of a file leaves ctcpd's: it is there" set "$(hand $A state)"
	in_host tc class change dev eth1 parent c7c0: classid c7c0:1 htb rate 1mbit
	setup apply "$TMP/saved" >/dev/null
	matches "apply of a file restores nothing of ctcpd's" 'rate 1Mbit' "$(class 1)"
	setup del ctcpd-1 --force --quiet
	same "without it all as with the circuit alone" "$kept" \
		"$(all_state; in_host tc class show dev eth2)"
	pace 950mbit >/dev/null
	in_host sysctl -qw net.ipv4.tcp_sack=0
	in_host tc class change dev eth2 parent c7c0: classid c7c0:1 htb rate 1mbit
	works "a run of ctcpd's touches nothing of his" pace 100mbit
	equal "a run of ctcpd's touches nothing of his: a sysctl" 0 "$(value net.ipv4.tcp_sack)"
	matches "a run of ctcpd's touches nothing of his: a class" 'rate 1Mbit' \
		"$(in_host tc class show dev eth2)"
	setup undo --all --quiet --force
	in_host sysctl -qw net.ipv4.tcp_sack=1
	all_unchanged "undo --all takes ctcpd's too" "$before"
	host_end
}

unconfirmed()
{
	local before

	without_module
	host unconfirmed
	pace 950mbit >/dev/null
	before=$(all_state)
	works "a change that waits" setup add lhc --to 10.99.0.0/16 --shaper htb "${ADMIN[@]}" \
		--confirm-within 60s eth1
	refuses "while it waits" EALREADY 'waits to be confirmed' pace 100mbit
	works "cancel" setup cancel --quiet
	all_unchanged "cancel: what was paced is back" "$before"
	equal "cancel: as it was set" set "$(hand $A state)"
	works "ctcpd goes on" pace 100mbit
	setup undo --all --quiet
	host_end
}

# What it would restore it restores with his own, which somebody changed later.
watched()
{
	host watched
	another_device eth2
	ip -n "$HOST" addr add 10.79.0.1/24 dev eth2
	pace 950mbit >/dev/null
	setup add lhc --to 10.99.0.0/16 --shaper htb "${ADMIN[@]/10.78/10.79}" eth2
	spawn -e -n "$HOST" ctcp-setup watch >"$TMP/watch" 2>&1 &
	WATCH=$!
	defer "kill $WATCH 2>/dev/null"
	until_true 10 grep -q watching "$TMP/watch"
	in_host tc class change dev eth1 parent c7c0: classid c7c0:1 htb rate 1mbit
	in_host tc class change dev eth2 parent c7c0: classid c7c0:1 htb rate 1mbit
	until_true 10 grep -q restored "$TMP/watch"
	matches "watch restores an administrator's" 'class eth2 c7c0:1' "$(cat "$TMP/watch")"
	equal "watch says nothing of ctcpd's" 0 "$(grep -c 'eth1 c7c0:1' "$TMP/watch")"
	matches "watch restores nothing of ctcpd's" 'rate 1Mbit' "$(class 1)"
	kill $WATCH
	wait $WATCH 2>/dev/null
	setup undo --all --force --quiet
	host_end
}

# --- what somebody changes ---------------------------------------------------------

# stands_down WHAT PATTERN DEVICE: what was changed is told, refused, and let go
stands_down()
{
	local kept

	equal "$1: look" changed "$(hand $A state)"
	equal "$1: of all of the device" "$3" "$(hand $A device)"
	matches "$1: look says what" "$2" "$(hands look | grep " to=$A ")"
	refuses "$1: another rate" EPERM "$2|somebody else" pace 900mbit
	kept=$(classes; filters; root_qdisc eth1)
	if [ "$3" = 1 ]; then
		works "$1: let go" hands let-go --device eth1 $A
		equal "$1: let go: nothing is paced" "" "$(hands look)"
	else
		works "$1: let go" hands let-go eth1 $A
		equal "$1: let go: the other is as it was" set "$(hand $B state)"
	fi
	same "$1: let go: the kernel as he has it" "$kept" "$(classes; filters; root_qdisc eth1)"
	refuses "$1: not again" EPERM "somebody else|no state tells of" pace 900mbit
}

begin_changed()
{
	host "$1"
	apply eth1 $A 950mbit 1ms eth1 $B 100mbit 1ms >/dev/null
}

# Nothing of this namespace is needed any more.
end_changed()
{
	setup undo --all --force --quiet 2>/dev/null
	in_host tc qdisc del dev eth1 root 2>/dev/null
	host_end
}

changed()
{
	begin_changed a-rate
	in_host tc class change dev eth1 parent c7c0: classid c7c0:1 htb rate 1mbit
	stands_down "a rate" 'class eth1 c7c0:1' 0
	end_changed
	begin_changed a-root
	in_host tc qdisc replace dev eth1 root handle 5: pfifo
	stands_down "another root" 'the root qdisc of eth1 is' 1
	end_changed
	begin_changed all-else
	in_host tc class change dev eth1 parent c7c0: classid c7c0:ffff htb rate 1mbit
	stands_down "the rate of all else" 'class eth1 c7c0:ffff' 1
	end_changed
}

# What somebody took away: it may be paced again, as nothing is in its place.
taken_away()
{
	begin_changed no-root
	in_host tc qdisc del dev eth1 root
	equal "the root deleted: look" changed "$(hand $A state)"
	refuses "the root deleted: another rate" EPERM 'somebody else' pace 900mbit
	works "the root deleted: let go" hands let-go --device eth1 $A
	equal "the root deleted: it stays so" 0 "$(classes | wc -l)"
	end_changed
	begin_changed no-filter
	in_host tc filter del dev eth1 parent c7c0: protocol ip pref 100 handle 0x0a510007 flower
	equal "a filter deleted: look" changed "$(hand $A state)"
	works "a filter deleted: it goes all the same" pace 0
	equal "a filter deleted: the other is as it was" set "$(hand $B state)"
	works "a filter deleted: and the last" pace 0 $B
	equal "a filter deleted: no root of ours" 0 "$(root_qdisc eth1 | grep -c c7c0)"
	end_changed
	host foreign
	in_host tc qdisc add dev eth1 root handle 5: pfifo
	refuses "somebody's root" EPERM 'root qdisc of somebody else' pace 950mbit
	refuses "somebody's root: fit" EPERM 'root qdisc of somebody else' hands fit eth1
	in_host tc qdisc del dev eth1 root
	host_end
}

# Whose it is nothing tells any more: it is left, until somebody clears the way.
state_deleted()
{
	begin_changed no-state
	rm "$CTCP_RUNDIR"/*.state
	equal "no state: nothing is told" "" "$(hands look)"
	refuses "no state: another rate" EPERM \
		'qdisc htb c7c0: of eth1 is as ctcpd sets one up, but no state tells' pace 900mbit
	in_host tc qdisc del dev eth1 root
	works "no state: paced again once the root is removed" pace 900mbit
	equal "no state: as set" set "$(hand $A state)"
	end_changed
}

# --- devices -----------------------------------------------------------------------

devices()
{
	local before

	host devices
	another_device eth2
	before=$(all_state)
	apply eth1 $A 950mbit 1ms eth2 $A 100mbit 1ms >/dev/null
	equal "one remote by two devices" 2 "$(hands look | grep -c " to=$A ")"
	ip -n "$HOST" link set eth1 down
	ip -n "$HOST" link set eth1 name wan0
	ip -n "$HOST" link set wan0 up
	equal "renamed: as set" "wan0 set" \
		"$(hands look | sed -n 's/.* dev=\(wan0\) .* state=\([a-z]*\).*/\1 \2/p')"
	works "renamed: another rate" apply wan0 $A 900mbit 1ms
	matches "renamed: in place" 'rate 900Mbit' "$(in_host tc class show dev wan0)"
	ip -n "$HOST" link set wan0 down
	equal "down" down "$(hands look | sed -n 's/.* dev=wan0 .* state=\([a-z]*\).*/\1/p')"
	works "down: it goes all the same" apply wan0 $A 0 1ms
	ip -n "$HOST" link set wan0 name eth1
	ip -n "$HOST" link set eth1 up
	ip -n "$HOST" link del eth2
	equal "gone" gone "$(hands look | sed -n 's/.* state=\([a-z]*\).*/\1/p')"
	says_waiting "verify of what is gone with its device"
	works "gone: forgotten by the next run" hands recover
	equal "gone: forgotten" "" "$(hands look)"
	another_device eth2
	pace 950mbit >/dev/null
	ip -n "$HOST" link del eth1
	veth_lines eth1 far1 "numtxqueues 1 numrxqueues 1" | ip -n "$HOST" -batch -
	equal "made anew: gone" gone "$(hand $A state)"
	works "made anew: paced there" pace 900mbit
	equal "made anew: one" set "$(hand $A state)"
	matches "made anew: its class" 'rate 900Mbit' "$(classes)"
	pace 0 >/dev/null
	equal "no state is left" 0 "$(find "$CTCP_RUNDIR" -name '*.state' | wc -l)"
	host_end
	host queues 2
	refuses "several queues" EOPNOTSUPP 'eth1 has 2 queues' pace 950mbit
	works "several queues, as its operator wants" apply --one-lock eth1 $A 950mbit 1ms
	pace 0 >/dev/null
	refuses "more than the device" EOPNOTSUPP 'loopback' apply lo $A 1mbit 1ms
	refuses "no device" ENODEV 'index 4711' apply '#4711' $A 1mbit 1ms
	host_end
}

# --- steps --------------------------------------------------------------------------

NEW=(eth1 "$A" 900mbit 47ms eth1 "$B" 0 1ms eth1 "$C" 10mbit 1ms)

# steps DIE|FAIL EXIT NAME: at each step from two remotes to two others
steps()
{
	local n=1 old

	apply eth1 $A 950mbit 47ms eth1 $B 100mbit 1ms >/dev/null
	old=$(all_state)
	while [ $n -lt $STEPS_MAX ]; do
		run in_host env "CTCP_$1_AT=$n" ctcpd_hands apply "${NEW[@]}"
		[ "$RC" = "$2" ] || break
		hands recover >/dev/null || fail "$3: recover, step $n"
		[ "$(all_state)" = "$old" ] || same "$3: as before, step $n" "$old" "$(all_state)"
		[ "$(hands look | grep -c state=set)" = 2 ] ||
			fail "$3: look, step $n" "$(hands look)"
		n=$((n + 1))
	done
	equal "$3: no step left" 0 "$RC"
	at_least "$3: steps" 5 $((n - 1))
	equal "$3: as wanted" 2 "$(hands look | grep -c state=set)"
	apply eth1 $A 0 1ms eth1 $C 0 1ms >/dev/null
}

first_steps()
{
	local n=1 before=$1

	while [ $n -lt $STEPS_MAX ]; do
		run in_host env "CTCP_DIE_AT=$n" ctcpd_hands apply eth1 $A 950mbit 47ms
		[ "$RC" = 137 ] || break
		hands recover >/dev/null || fail "the first one killed: recover, step $n"
		[ "$(all_state)" = "$before" ] ||
			same "the first one killed: as before, step $n" "$before" "$(all_state)"
		n=$((n + 1))
	done
	equal "the first one killed: no step left" 0 "$RC"
	at_least "the first one killed: steps" 4 $((n - 1))
	for ((n = 1; n < STEPS_MAX; n++)); do
		run in_host env "CTCP_DIE_AT=$n" ctcpd_hands apply eth1 $A 0 1ms
		[ "$RC" = 137 ] || break
		hands recover >/dev/null || fail "the last one killed: recover, step $n"
		[ "$(hand $A state)" = set ] || fail "the last one killed: as before, step $n"
	done
	equal "the last one killed: no step left" 0 "$RC"
}

faults()
{
	local before

	host faults
	before=$(all_state)
	steps DIE 137 killed
	steps FAIL 1 failing
	all_unchanged "faults: all as before" "$before"
	first_steps "$before"
	all_unchanged "faults: all as before once more" "$before"
	host_end
}

# A run of an administrator's that was killed at any step is not ended by ctcpd, nor
# taken back; one of ctcpd's he takes back with whatever he does.
cut_short()
{
	local n before half

	without_module
	host cut-short
	another_device eth2
	ip -n "$HOST" addr add 10.79.0.1/24 dev eth2
	before=$(all_state)
	pace 950mbit >/dev/null
	for ((n = 1; n < STEPS_MAX; n++)); do
		run in_host env "CTCP_DIE_AT=$n" ctcp-setup-faulty add lhc --to 10.99.0.0/16 \
			--shaper htb "${ADMIN[@]/10.78/10.79}" eth2
		[ "$RC" = 137 ] || break
		half=$(all_state)
		run pace 100mbit
		[[ $ERR = EALREADY:*"cut short"* ]] || fail "his run, step $n" "exit $RC" "$ERR"
		[ "$(all_state)" = "$half" ] || same "his run, step $n" "$half" "$(all_state)"
		[ "$(hand $A state)" = set ] || fail "his run, step $n: look" "$(hands look)"
		setup undo lhc --quiet
		run pace 950mbit
		[ "$RC" = 0 ] || fail "his run, taken back by him, step $n" "$ERR"
	done
	equal "his run: no step left" 0 "$RC"
	at_least "his run: steps" 9 $((n - 1))
	setup undo lhc --quiet
	for ((n = 1; n < STEPS_MAX; n++)); do
		run in_host env "CTCP_DIE_AT=$n" ctcpd_hands apply eth1 $A 900mbit 1ms \
			eth1 $B 100mbit 1ms
		[ "$RC" = 137 ] || break
		run setup add lhc --to 10.99.0.0/16 --shaper htb "${ADMIN[@]/10.78/10.79}" eth2
		[ "$RC" = 0 ] || fail "ctcpd's run, step $n: a command of his" "$ERR"
		run hands recover
		[ "$RC" = 0 ] || fail "ctcpd's run, step $n: recover" "$ERR"
		[ "$(hands look | sed 's/.*rate=\([0-9]*\) state=\([a-z]*\).*/\1 \2/')" = \
			"950000000 set" ] || fail "ctcpd's run, step $n: look" "$(hands look)"
		setup undo lhc --quiet
	done
	equal "ctcpd's run: no step left" 0 "$RC"
	at_least "ctcpd's run: steps" 3 $((n - 1))
	setup undo --all --quiet
	all_unchanged "cut short: all as before" "$before"
	host_end
}

# --- many ---------------------------------------------------------------------------

many()
{
	local list=() i before

	host many
	before=$(all_state)
	for ((i = 0; i < 500; i++)); do
		list+=(eth1 "10.81.$((i / 250)).$((i % 250 + 1))/32" 100mbit 10ms)
	done
	works "500 remotes" apply "${list[@]}"
	equal "500 remotes: classes" 501 "$(classes | wc -l)"
	equal "500 remotes: look" 500 "$(hands look | grep -c state=set)"
	works "500 remotes: one more" pace 950mbit 10.82.0.1/32
	works "500 remotes: verify" setup verify
	works "500 remotes: go" apply "${list[@]//100mbit/0}" eth1 10.82.0.1/32 0 1ms
	all_unchanged "500 remotes: all as before" "$before"
	works "hosts and then their subnet" apply "${list[@]:0:12}"
	works "their subnet in their place" apply "${list[0]}" "${list[1]}" 0 1ms \
		"${list[4]}" "${list[5]}" 0 1ms "${list[8]}" "${list[9]}" 0 1ms \
		eth1 10.81.0.0/24 300mbit 10ms
	equal "their subnet in their place" "10.81.0.0/24" \
		"$(hands look | sed 's/.* to=\([^ ]*\).*/\1/')"
	apply eth1 10.81.0.0/24 0 1ms >/dev/null
	host_end
}

# --- traffic --------------------------------------------------------------------------

#	eth1 of src ---- rtr ---- dst, which has $A and $B; behind rtr's 40 packets 100mbit
slow_hop()
{
	network 5
	single_packets
	for n in 10.81.0.7 10.82.0.9; do
		ip -n "$DST" addr add $n/32 dev lo
		ip -n "$RTR" route add $n/32 via "$DST4"
		ip -n "$SRC" route add $n/32 via 10.77.1.254
	done
	in_rtr tc qdisc replace dev r2 root netem limit 80 delay 5ms rate 100mbit
	HOST=$SRC
	serve dst
}

# line RATE_MBIT MS: payload that a line of that rate carries
line()
{
	echo $(($1 * 125 * $2 * 1448 / 1514))
}

# stream FILE [OPTION...]: to $A, in the background
stream()
{
	local file=$1

	shift
	spawn -e -n "$SRC" timeout 120 circuit_streams -w 500 "$@" 10.81.0.7 $PORT >"$TMP/$file" &
}

# hardly_again NAME FILE: at most a tenth of what was sent again without pacing; some is in slow
# start, when a GSO packet alone is most of what the hop has room for
hardly_again()
{
	at_most "$1: sent again" $(($(field retrans "$(<"$TMP/unpaced")") / 10)) \
		"$(field retrans "$(<"$TMP/$2")")"
}

# What overruns the hop is sent again and again; paced, hardly any is, and all arrives.
traffic()
{
	local a n

	slow_hop
	stream unpaced -t 3000
	wait $!
	at_least "not paced: sent again" 10 "$(field retrans "$(<"$TMP/unpaced")")"
	works "paced below what the hop takes" apply eth1 $A 98mbit 10ms
	for a in 1 4; do
		stream paced -t 3000 -n $a
		wait $!
		within "paced, $a streams: bytes" "$(line 98 3000)" \
			"$(field bytes "$(<"$TMP/paced")")" $(($(line 98 3000) / 100))
		hardly_again "paced, $a streams" paced
	done
	stream changed -t 3000
	a=$!
	for n in 50 98 70 98; do
		sleep 0.3
		apply eth1 $A ${n}mbit 10ms eth1 $B 10mbit 10ms >/dev/null ||
			fail "another rate while it sends"
	done
	wait $a
	hardly_again "another rate while it sends" changed
	equal "another rate while it sends: no packet is dropped here" 0 \
		"$(in_src tc -s class show dev eth1 | grep -A 1 'c7c0:1 ' |
			sed -n 's/.*dropped \([0-9]*\),.*/\1/p')"
	stream gone -t 2000
	a=$!
	sleep 1
	works "it goes while it sends" apply eth1 $A 0 10ms
	wait $a
	at_least "it goes while it sends: it goes on" "$(line 60 2000)" \
		"$(field bytes "$(<"$TMP/gone")")"
	apply eth1 $B 0 10ms >/dev/null
}

# --- what the kernel has not ---------------------------------------------------

modules_are_found_by()
{
	sysctl -qw "kernel.modprobe=$1"
}

# Neither there nor to be loaded: builtin, as in the lab, it is always there.
take_flower_away()
{
	defer "modules_are_found_by $(sysctl -n kernel.modprobe)"
	modules_are_found_by /bin/false
	rmmod cls_flower 2>/dev/null
	! grep -qw cls_flower /proc/modules
}

without_flower()
{
	local found

	host without_flower
	found=$(sysctl -n kernel.modprobe)
	if ! take_flower_away; then
		skip "no flower" "it is in use on this machine"
		return
	fi
	refuses "no flower" EOPNOTSUPP \
		'TC classifier not found; flower is module cls_flower, CONFIG_NET_CLS_FLOWER' \
		pace 950mbit
	modules_are_found_by "$found"
	works "flower again" pace 950mbit
}

paced
shown
gives_way
beside
unconfirmed
watched
changed
taken_away
state_deleted
devices
faults
cut_short
many
in_virtual_time || without_flower
! in_virtual_time || traffic
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Undo restores exactly what was there, however far a run came: killed after any
# step it made, or failing at any step, on a fresh host and on top of a circuit
# with other numbers.  Steps are counted by ctcp-setup-faulty, a build of
# ctcp-setup that dies or fails on purpose (CTCP_DIE_AT, CTCP_FAIL_AT), or does not
# receive an answer of the kernel (CTCP_DEAF_AT); each loop goes on until a run
# survives, so that no step is left out.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup ctcp-setup-faulty tc flock setpriv
need_module

CIRCUIT=(--rate 4gbit --rtt 26ms --to 10.79.0.0/16)
OTHER=(--rate 1gbit --rtt 5ms --to 10.80.0.0/16 --shaper fq)
STEPS_MAX=30		# steps of a run, or something is wrong with the count
ANSWERS_MAX=300		# so for answers

# Every kind of item is there to be restored: a route with metrics, a device
# without room for a queue, and if it can be had a machine without the module.
fresh()
{
	without_module
	host "$1"
	in_host ip route add 10.79.0.0/16 via 10.78.0.254 mtu 1400 proto static
	in_host ip route add 10.80.0.0/16 via 10.78.0.253
	ip -n "$HOST" link set eth1 txqueuelen 0
}

# faulty DIE|FAIL N ARGUMENT...
faulty()
{
	local -x "CTCP_$1_AT=$2"

	run in_host ctcp-setup-faulty "${@:3}"
}

# wrong DESCRIPTION BEFORE: true, and a point that failed, if state() is not BEFORE
wrong()
{
	got_host state
	[ "$GOT" = "$2" ] && return 1
	same "$1" "$2" "$GOT"
}

simple()
{
	local before

	fresh simple
	before=$(state)
	works "a run" setup --quiet "${CIRCUIT[@]}" eth1
	refused "a run changes something" test "$before" = "$(state)"
	works "undo" setup undo eth1
	unchanged "undo: all as before" "$before"
	works "undo where there is nothing" setup undo eth1
	matches "undo where there is nothing says so" 'eth1: nothing to undo' "$OUT"
	unchanged "undo where there is nothing: all as before" "$before"
	setup --quiet "${CIRCUIT[@]}" eth1
	setup --quiet "${OTHER[@]}" eth1
	setup --quiet --rate 2gbit --rtt 1ms --shaper none eth1
	works "undo of three runs" setup undo eth1
	unchanged "undo of three runs: all as before the first" "$before"
	host_end
}

# Dead after the Nth change; undo; dead again; the same command; undo.
killed_at()
{
	faulty DIE "$1" --quiet "${CIRCUIT[@]}" eth1
	[ "$RC" = 137 ] || return 1
	setup undo --quiet eth1 || fail "undo after death at step $1"
	wrong "undo after death at step $1" "$BEFORE" && return 1
	faulty DIE "$1" --quiet "${CIRCUIT[@]}" eth1
	setup --quiet "${CIRCUIT[@]}" eth1 2>"$TMP/err" ||
		fail "a run after death at step $1" "$(<"$TMP/err")"
	matches "after death at step $1 it goes on, and says so" \
		'earlier run .*cut short' "$(<"$TMP/err")"
	wrong "a run after death at step $1" "$DONE" && return 1
	setup undo --quiet eth1 || fail "undo after a second run, step $1"
	! wrong "undo after a second run, step $1" "$BEFORE"
}

killed()
{
	local n=1

	fresh killed
	BEFORE=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	DONE=$(state)
	setup undo --quiet eth1
	while [ $n -lt $STEPS_MAX ] && killed_at $n; do
		n=$((n + 1))
	done
	equal "no step left: the run survives" 0 "$RC"
	at_least "steps to die at" 5 $((n - 1))
	setup undo --quiet eth1
	unchanged "after all of them: all as before" "$BEFORE"
	host_end
}

# The same on top of a circuit: undo leads back to before the first run.
killed_on_top()
{
	local n=1 before

	fresh on-top
	before=$(state)
	while [ $n -lt $STEPS_MAX ]; do
		setup --quiet "${CIRCUIT[@]}" eth1
		faulty DIE $n --quiet "${OTHER[@]}" eth1
		[ "$RC" = 137 ] || break
		setup undo --quiet eth1 || fail "on top: undo, step $n"
		wrong "on top: undo, step $n" "$before" && break
		n=$((n + 1))
	done
	equal "on top: no step left: the run survives" 0 "$RC"
	at_least "on top: steps to die at" 4 $((n - 1))
	setup undo --quiet eth1
	unchanged "on top: after all of them: all as before" "$before"
	host_end
}

undo_killed()
{
	local n=1 before

	fresh undo-killed
	before=$(state)
	while [ $n -lt $STEPS_MAX ]; do
		setup --quiet "${CIRCUIT[@]}" eth1
		faulty DIE $n undo --quiet eth1
		[ "$RC" = 137 ] || break
		setup undo --quiet eth1 || fail "undo after undo died at step $n"
		wrong "undo after undo died at step $n" "$before" && break
		n=$((n + 1))
	done
	equal "undo survives in the end" 0 "$RC"
	at_least "steps for undo to die at" 5 $((n - 1))
	unchanged "undo killed: all as before" "$before"
	host_end
}

# fails_at NAME BEFORE ARGUMENT...: at every step, with exit 1 and one reason,
# and all as before
fails_at()
{
	local name=$1 before=$2 n=1

	shift 2
	while [ $n -lt $STEPS_MAX ]; do
		faulty FAIL $n --quiet "$@" eth1
		[ "$RC" = 1 ] || break
		grep -q '^ctcp-setup: .*failed on purpose' "$TMP/err" ||
			fail "$name, step $n: the reason" "got: $ERR"
		wrong "$name, step $n: rolled back" "$before" && break
		n=$((n + 1))
	done
	equal "$name: no step left: the run succeeds" 0 "$RC"
	at_least "$name: steps to fail at" 5 $((n - 1))
}

failures()
{
	local before circuit

	fresh failures
	before=$(state)
	fails_at "a failure" "$before" "${CIRCUIT[@]}"
	setup undo --quiet eth1
	unchanged "failures: all as before" "$before"
	setup --quiet "${CIRCUIT[@]}" eth1
	circuit=$(state)
	fails_at "a failure on top" "$circuit" "${OTHER[@]}"
	setup undo --quiet eth1
	unchanged "failures on top: all as before the first run" "$before"
	host_end
}

# After an answer that is not received the run fails and all is as before, or it goes
# on without it; whoever asks next does not read that answer.
deaf()
{
	local before failed=0 n=1

	fresh deaf
	before=$(state)
	while [ $n -lt $ANSWERS_MAX ]; do
		faulty DEAF $n --quiet "${CIRCUIT[@]}" eth1
		grep -q '^deaf on purpose' "$TMP/err" || break
		if [ "$RC" = 0 ]; then
			setup undo --quiet eth1 || fail "undo after deaf to answer $n"
		else
			failed=$((failed + 1))
			grep -q '^ctcp-setup: .*No buffer space' "$TMP/err" ||
				fail "deaf to answer $n: the reason" "got: $ERR"
		fi
		wrong "deaf to answer $n: all as before" "$before" && break
		n=$((n + 1))
	done
	equal "no answer left: the run succeeds" 0 "$RC"
	at_least "answers to be deaf to" 10 $((n - 1))
	at_least "of these the run needs" 5 $failed
	setup undo --quiet eth1
	unchanged "deaf: all as before" "$before"
	host_end
}

deaf_undo()
{
	local before n=1

	fresh deaf-undo
	before=$(state)
	while [ $n -lt $ANSWERS_MAX ]; do
		setup --quiet "${CIRCUIT[@]}" eth1
		faulty DEAF $n undo --quiet eth1
		grep -q '^deaf on purpose' "$TMP/err" || break
		[ "$RC" = 0 ] || setup undo --quiet eth1 ||
			fail "undo after one that was deaf to answer $n"
		wrong "undo, deaf to answer $n: all as before" "$before" && break
		n=$((n + 1))
	done
	equal "no answer left: undo succeeds" 0 "$RC"
	at_least "answers for undo to be deaf to" 5 $((n - 1))
	unchanged "undo, deaf: all as before" "$before"
	host_end
}

# looks_deaf COMMAND...: what an answer that is not received keeps it from is not taken for
# a difference, nor for there being none
looks_deaf()
{
	local blind=0 n=1

	while [ $n -lt $ANSWERS_MAX ]; do
		faulty DEAF $n "$@"
		grep -q '^deaf on purpose' "$TMP/err" || break
		[ "$RC" = 0 ] || [ "$RC" = 4 ] ||
			fail "$1, deaf to answer $n: exit status 0 or 4" "got: $RC" "$OUT" "$ERR"
		[ "$RC" = 0 ] || blind=$((blind + 1))
		n=$((n + 1))
	done
	equal "$1: no answer left: there is no difference" 0 "$RC"
	at_least "$1: answers to be deaf to" 3 $((n - 1))
	at_least "$1: of these it needs" 3 $blind
}

deaf_looks()
{
	fresh deaf-looks
	setup add lhc "${CIRCUIT[@]}" --shaper tbf --quiet eth1
	setup save >"$TMP/saved"
	looks_deaf verify --quiet
	looks_deaf show
	looks_deaf diff --quiet "$TMP/saved"
	in_host tc qdisc del dev eth1 root
	run setup verify
	equal "verify where there is a difference: exit status" 1 "$RC"
	run setup diff "$TMP/saved"
	equal "diff where there is one: exit status" 1 "$RC"
	says "verify without a state that can be read" 4 'cannot' \
		in_host env CTCP_RUNDIR="$TMP/saved" ctcp-setup verify
	setup undo --all --quiet
	host_end
}

# hops PREFIX N: a route of so many next hops in place of the one there
hops()
{
	local n words=()

	for n in $(seq "$2"); do
		words+=(nexthop via "fd78::1:$n" dev eth1)
	done
	in_host ip -6 route replace "$1" "${words[@]}"
}

# Somebody's route of 31 next hops is larger than what is kept of one; it is not ours,
# and all else goes back.
many_hops()
{
	local before

	fresh hops
	before=$(state)
	setup --quiet --rate 4gbit --rtt 26ms --to fd79::/32 --via fd78::fe eth1
	hops fd79::/32 31
	run setup undo eth1
	equal "undo over a route of 31 next hops: exit status" 1 "$RC"
	matches "undo over a route of 31 next hops names it" 'fd79::/32' "$ERR"
	equal "the route of 31 next hops stays" 31 \
		"$(in_host ip -6 route show fd79::/32 | grep -c nexthop)"
	matches "all else is restored" '^qdisc noqueue' "$(root_qdisc eth1)"
	works "undo --force over a route of 31 next hops" setup undo --force eth1
	unchanged "undo --force over it: all as before" "$before"
	hops fd79::/32 31
	complains "a circuit where 31 next hops are" 1 'fd79::/32 .*several' \
		in_host ctcp-setup --rate 4gbit --rtt 26ms --to fd79::/32 eth1
	host_end
}

# in_order NAME FIRST SECOND: two circuits, undone in this order.  Eth2's buffers
# are 4 x ceil(1.3 x 1e9 x 26e-3 / 1514) x 1514.
in_order()
{
	local before alone

	before=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	alone=$(value net.ipv4.tcp_rmem)
	setup --quiet --rate 8gbit --rtt 26ms --to 10.83.0.0/16 eth2
	works "two devices, $1: undo $2" setup undo "$2"
	if [ "$2" = eth2 ]; then
		equal "two devices, $1: buffers of eth1's" "$alone" \
			"$(value net.ipv4.tcp_rmem)"
	else
		equal "two devices, $1: buffers of eth2's" 135200200 \
			"$(value net.ipv4.tcp_rmem | cut -d ' ' -f 3)"
	fi
	succeeds "two devices, $1: the module stays" module_loaded
	works "two devices, $1: undo $3" setup undo "$3"
	unchanged "two devices, $1: all as before" "$before"
}

two_devices()
{
	fresh two
	another_device eth2
	in_host ip addr add 10.83.1.1/24 dev eth2
	in_host ip route add 10.83.0.0/16 via 10.83.1.254
	in_order "first one first" eth1 eth2
	in_order "last one first" eth2 eth1
	host_end
}

# What somebody else changed since stays, unless forced.
somebody()
{
	local before

	fresh somebody
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	in_host sysctl -qw net.ipv4.tcp_rmem="4096 100000 5000000"
	run setup undo eth1
	equal "undo over somebody's value: exit status" 1 "$RC"
	matches "undo over somebody's value names it" 'tcp_rmem .*5000000' "$ERR"
	equal "somebody's value stays" "4096 100000 5000000" \
		"$(value net.ipv4.tcp_rmem)"
	matches "all else is restored" '^qdisc noqueue' "$(root_qdisc eth1)"
	works "undo --force" setup undo --force eth1
	unchanged "undo --force: all as before" "$before"
	host_end
}

# A device that went took its qdisc and its routes with it, but not its circuit.
device_gone()
{
	local before

	fresh gone
	another_device eth2
	in_host ip addr add 10.83.1.1/24 dev eth2
	before=$(state | grep -v eth2)
	setup --quiet --rate 1gbit --rtt 5ms --to 10.83.1.0/24 eth2
	ip -n "$HOST" link del eth2
	works "undo for a device that is gone" setup undo eth2
	same "undo for a device that is gone: all as before" "$before" "$(state)"
	another_device eth2
	setup --quiet --rate 1gbit --rtt 5ms eth2
	ip -n "$HOST" link del eth2
	equal "the circuit of a device that is gone stays" 1 \
		"$(configured | grep -c '^name=eth2 ')"
	works "undo for a device that is gone, without --to" setup undo eth2
	same "undo for a device that is gone, without --to: all as before" \
		"$before" "$(state)"
	host_end
}

# rename DEV NAME
rename()
{
	ip -n "$HOST" link set "$1" down
	ip -n "$HOST" link set "$1" name "$2"
	ip -n "$HOST" link set "$2" up
}

# A device is followed by its index, whatever it is called: shaper, circuit and plan.
device_renamed()
{
	local before

	fresh renamed
	# down and up again it has lost the routes that others gave it
	rename eth1 wan0
	rename wan0 eth1
	before=$(state)
	for NAME in eth1 wan0; do
		setup --quiet --rate 1gbit --rtt 5ms eth1
		rename eth1 wan0
		matches "renamed: the circuit is by the new name" '^eth1 .* dev wan0 ' \
			"$(setup circuit list)"
		works "renamed: verify" setup verify
		matches "renamed: show has the new name" '^wan0: ' "$(setup show)"
		works "renamed: undo $NAME" setup undo "$NAME"
		matches "renamed: undo $NAME restores" "^$NAME: [1-9]" "$OUT"
		rename wan0 eth1
		unchanged "renamed: undo $NAME: all as before" "$before"
	done
	setup --quiet --rate 1gbit --rtt 5ms eth1
	rename eth1 wan0
	works "renamed: a run by the new name" setup --quiet --rate 2gbit --rtt 5ms wan0
	matches "renamed: one circuit, by the new name" '^wan0 ' "$(setup circuit list)"
	works "renamed: undo after that" setup undo --quiet wan0
	rename wan0 eth1
	unchanged "renamed: all as before" "$before"
	host_end
}

# Renamed while it is up it keeps its routes, ours too.
renamed_live()
{
	local before

	fresh renamed-live
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	if ! ip -n "$HOST" link set eth1 name wan0 2>/dev/null; then
		echo "# renamed_live: left out, this kernel renames no device that is up" >&2
		setup undo --quiet eth1
		host_end
		return
	fi
	works "renamed live: verify" setup verify
	matches "renamed live: the route" 'via 10.78.0.254 dev wan0 .*congctl circuit' \
		"$(in_host ip route show 10.79.0.0/16)"
	works "renamed live: undo of the old name" setup undo --quiet eth1
	ip -n "$HOST" link set wan0 name eth1
	unchanged "renamed live: all as before" "$before"
	host_end
}

# A name that is words of a shell: what --dry-run prints can be given to one.
device_named_as_words()
{
	local odd='x;id'

	fresh words
	mkdir "$TMP/stubs"
	for stub in modprobe sysctl tc ip ctcp-setup id; do
		printf '#!/bin/sh\necho "${0##*/} $*" >>%s\n' "$TMP/ran" >"$TMP/stubs/$stub"
	done
	chmod +x "$TMP"/stubs/*
	rename eth1 "$odd"
	setup --dry-run --quiet "${OTHER[@]}" --via 10.78.0.254 "$odd" >"$TMP/commands"
	PATH=$TMP/stubs /bin/sh "$TMP/commands"
	matches "a name that is words: the qdisc" "^tc qdisc replace dev $odd root " "$(<"$TMP/ran")"
	refused "a name that is words: none is run" grep -q '^id' "$TMP/ran"
	host_end
}

# Without the right to load a module, and where no sysctl can be written
not_allowed()
{
	local before

	fresh not-allowed
	before=$(state)
	complains "without CAP_SYS_MODULE" 1 'tcp_circuit.*(not permitted|CAP_SYS_MODULE)' \
		in_host setpriv --bounding-set=-sys_module ctcp-setup --quiet "${CIRCUIT[@]}" eth1
	unchanged "without CAP_SYS_MODULE: all as before" "$before"
	modprobe tcp_circuit
	before=$(state)
	complains "a read-only /proc/sys" 1 'net\.ipv4\.[a-z_]*.*[Rr]ead-only' \
		in_host unshare --mount --propagation private sh -c '
			mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys &&
			exec "$@"' sh ctcp-setup --quiet "${CIRCUIT[@]}" eth1
	unchanged "a read-only /proc/sys: all as before" "$before"
	works "after both of them" setup --quiet "${CIRCUIT[@]}" eth1
	works "after both of them: undo" setup undo --quiet eth1
	host_end
}

# A name that is neither UTF-8 nor without control characters: the state has it as it is,
# and who reads is shown another.
device_renamed_oddly()
{
	local before odd=$'e\xff1' odder=$'e\xff\x1b'

	fresh odd
	another_device eth2
	another_device eth3
	in_host ip addr add 10.83.1.1/24 dev eth2
	rename eth2 "$odd"
	rename "$odd" eth2
	rename eth3 "$odder"
	rename "$odder" eth3
	before=$(state)
	setup add lhc --quiet --rate 1gbit --rtt 5ms --shaper htb --to 10.83.0.0/16 \
		--via 10.83.1.254 eth2
	setup --quiet --rate 1gbit --rtt 5ms eth3
	rename eth2 "$odd"
	rename eth3 "$odder"
	works "an odd name: change" setup change lhc --quiet --rate 2gbit
	works "an odd name: list" setup list
	matches "an odd name: list shows another" '^lhc +e\?1 ' "$OUT"
	works "an odd name: list --json" setup list --json
	json_is "list of an odd name" 'e?1' '.[] | select(.name == "lhc").dev'
	works "an odd name: verify --json" setup verify --json
	json_is "verify of an odd name" 0 length
	works "an odd name: circuit list" setup circuit list
	matches "an odd name: circuit list shows another" '^eth3 .* dev .e\?\?' "$OUT"
	works "an odd name: show --json" setup show --json
	json_is "show of odd names" 'e?1 e??' '[.[].dev | values] | sort | join(" ")'
	works "an odd name: save" setup save
	in_host tc qdisc del dev "$odd" root
	run setup verify --json
	equal "an odd name: verify after a loss: exit status" 1 "$RC"
	json_is "verify of an odd name after a loss" e?1 \
		'map(select(.item == "qdisc"))[0] | .name'
	run setup verify
	matches "an odd name: verify after a loss" '^lhc on e\?1: qdisc e\?1 is ' "$OUT"
	run setup change lhc --dry-run --rate 3gbit
	matches "an odd name: what change would do" "dev 'e\\?1' " "$OUT"
	works "an odd name: change makes it good" setup change lhc --rate 1gbit
	refused "an odd name: none of its bytes was shown" grep -q $'\xff' "$TMP/out"
	works "an odd name: del" setup del --quiet lhc
	works "an odd name: undo --all" setup undo --quiet --all
	rename "$odd" eth2
	rename "$odder" eth3
	unchanged "an odd name: all as before" "$before"
	host_end
}

# Made anew under its name it begins anew: no shaper, no route, a circuit of its own.
device_anew()
{
	local before

	fresh anew
	before=$(state)
	another_device eth2
	in_host ip addr add 10.83.1.1/24 dev eth2
	setup --quiet --rate 1gbit --rtt 5ms --to 10.83.0.0/16 --via 10.83.1.254 eth2
	ip -n "$HOST" link del eth2
	another_device eth2
	in_host ip addr add 10.83.1.1/24 dev eth2
	works "anew: the same run again" \
		setup --quiet --rate 1gbit --rtt 5ms --to 10.83.0.0/16 --via 10.83.1.254 eth2
	matches "anew: its shaper" 'tbf' "$(root_qdisc eth2)"
	works "anew: verify" setup verify
	ip -n "$HOST" link del eth2
	another_device eth2
	works "anew: a run on another device meanwhile" \
		setup --quiet --rate 1gbit --rtt 1ms --shaper none eth1
	ip -n "$HOST" link del eth2
	works "gone: a run on another device meanwhile" \
		setup --quiet --rate 2gbit --rtt 1ms --shaper none eth1
	another_device eth2
	works "anew: undo" setup undo --quiet eth2
	works "anew: undo of the other" setup undo --quiet eth1
	ip -n "$HOST" link del eth2
	unchanged "anew: all as before" "$before"
	host_end
}

# The module went by hand, and with it what its routes say; they are ours all the same.
module_gone()
{
	local before

	fresh module-gone
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	setup circuit del eth1		# which holds the module
	if ! rmmod tcp_circuit 2>/dev/null; then
		skip "undo without the module" "the module is in use on this machine"
		setup undo --quiet eth1
		host_end
		return
	fi
	works "undo without the module" setup undo --quiet eth1
	setup --quiet --rate 1gbit --rtt 5ms --shaper none eth1
	equal "the module comes back, and no route has its name" "" \
		"$(in_host ip route show | grep congctl)"
	setup undo --quiet eth1
	unchanged "undo without the module: all as before" "$before"
	host_end
}

# The module was removed by hand and loaded again by somebody, who gave it a number.
module_of_somebody()
{
	local before

	fresh module-somebody
	setup --quiet "${CIRCUIT[@]}" eth1
	setup circuit del eth1
	if ! rmmod tcp_circuit 2>/dev/null; then
		skip "somebody's module" "the module is in use on this machine"
		setup undo --quiet eth1
		host_end
		return
	fi
	modprobe tcp_circuit fcwnd=500
	works "undo beside somebody's module" setup undo --all
	matches "undo beside somebody's module says that it stays" \
		'module tcp_circuit is left loaded: .*somebody' "$OUT"
	equal "somebody's module is there, with its number" 500 \
		"$(cat /sys/module/tcp_circuit/parameters/fcwnd)"
	works "undo once more" setup undo --all
	matches "undo once more has nothing to say" '^all: nothing to undo$' "$OUT"
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	setup undo --quiet eth1
	unchanged "a circuit with somebody's module: all as before" "$before"
	modprobe -r tcp_circuit
	host_end
}

# With a sysfs that is mounted anew in each namespace, one and the same load is known.
module_of_both()
{
	local one two before

	without_module || return
	host one
	one=$HOST
	host two
	two=$HOST
	before=$(state)
	setup --quiet --rate 4gbit --rtt 26ms --shaper none eth1
	HOST=$one
	setup --quiet --rate 4gbit --rtt 26ms --shaper none eth1
	HOST=$two
	setup undo --quiet eth1
	HOST=$one
	works "the last circuit, of a namespace that did not load the module: undo" \
		setup undo --quiet eth1
	refused "the module goes with it" module_loaded
	host_end
	HOST=$two
	unchanged "of both: all as before" "$before"
	host_end
}

# moved NAME: a host with a route by eth2, which a circuit has led to eth3
moved()
{
	fresh "$1"
	another_device eth2
	another_device eth3
	in_host ip addr add 10.82.1.1/24 dev eth2
	in_host ip addr add 10.83.1.1/24 dev eth3
	in_host ip route add 10.81.0.0/16 via 10.82.1.254 mtu 1400
	BEFORE=$(state)
	works "$1: a circuit in place of a route" setup add lhc --quiet --rate 1gbit --rtt 5ms \
		--shaper none --to 10.81.0.0/16 --via 10.83.1.254 eth3
	matches "$1: its route" 'via 10.83.1.254 .*congctl circuit' "$(far_route)"
}

far_route()
{
	in_host ip route show 10.81.0.0/16
}

# The route of before went with its device, and would have gone without us, too.
way_back_gone()
{
	moved way-back-gone
	ip -n "$HOST" link del eth2
	works "the way back is gone: undo" setup undo lhc
	matches "the way back is gone: undo says so" \
		'10.81.0.0/16: .*gone.* does not come back' "$OUT"
	same "the way back is gone: all else as before" \
		"$(grep -v 'eth2\|10\.82\.' <<<"$BEFORE")" "$(state)"
	works "the way back is gone: undo once more" setup undo --all
	matches "the way back is gone: nothing is left to undo" 'nothing to undo' "$OUT"
	works "the way back is gone: verify" setup verify
	host_end
	moved way-back-gone-apply
	ip -n "$HOST" link del eth2
	echo "# no circuit" >"$TMP/none"
	run setup apply --quiet "$TMP/none"
	equal "the way back is gone: apply without the circuit: exit status" 0 "$RC"
	matches "the way back is gone: apply says so" 'does not come back' "$ERR"
	equal "the way back is gone: apply has left no route" '' "$(far_route)"
	host_end
}

# Ours went with its device; the one in whose place it was is by another.
own_way_gone()
{
	moved own-way-gone
	ip -n "$HOST" link del eth3
	works "our device is gone: undo" setup undo lhc
	same "our device is gone: the route of before is back" \
		"$(grep -v 'eth3\|10\.83\.' <<<"$BEFORE")" "$(state)"
	host_end
	moved own-way-down
	ip -n "$HOST" link set eth3 down
	equal "our device is down: the route is gone" '' "$(far_route)"
	works "our device is down: undo" setup undo lhc
	ip -n "$HOST" link set eth3 up
	unchanged "our device is down: all as before" "$BEFORE"
	host_end
}

# What undo had to leave is a difference, whatever circuits there are.
leftovers()
{
	fresh leftovers
	BEFORE=$(state)
	setup --quiet "${CIRCUIT[@]}" eth1
	in_host sysctl -qw net.ipv4.tcp_rmem="4096 100000 5000000"
	run setup undo eth1
	run setup verify
	equal "left over: verify: exit status" 1 "$RC"
	matches "left over: verify tells of it" \
		'^left over: sysctl net.ipv4.tcp_rmem is 4096 100000 5000000, before it was 4096 ' "$OUT"
	equal "left over: verify says what helps" \
		"ctcp-setup: 1 difference from what was set up; ctcp-setup undo --all --force restores what is left over" \
		"$ERR"
	run setup verify --json
	json_is "left over" 'null net.ipv4.tcp_rmem' '.[] | "\(.dev) \(.name)"'
	works "left over: undo --force" setup undo --quiet --force --all
	works "left over: verify after that" setup verify
	unchanged "left over: all as before" "$BEFORE"
	host_end
}

# What a run would do after one that was killed is what --dry-run prints.
dry_run_after_death()
{
	local n lines changes

	fresh dry
	for n in 2 6 9; do
		faulty DIE "$n" --quiet "${CIRCUIT[@]}" eth1
		lines=$(setup --dry-run "${CIRCUIT[@]}" eth1 2>/dev/null | grep -vc '^#')
		changes=$(setup "${CIRCUIT[@]}" eth1 2>/dev/null | grep -c ' -> ')
		equal "after death at step $n: lines of --dry-run, changes made" "$changes" "$lines"
		setup undo --quiet eth1
	done
	host_end
}

# A prefix has one circuit, whichever device is asked for.
prefix_taken()
{
	fresh taken
	another_device eth2
	in_host ip addr add 10.83.1.1/24 dev eth2
	setup --quiet "${CIRCUIT[@]}" eth1
	complains "a prefix of another circuit" 1 '10.79.0.0/16 is that of circuit eth1 on eth1 ' \
		in_host ctcp-setup --rate 1gbit --rtt 5ms --to 10.79.0.0/16 --via 10.83.1.254 eth2
	setup undo --quiet eth1
	host_end
}

simple
killed
killed_on_top
undo_killed
failures
deaf
deaf_undo
deaf_looks
many_hops
two_devices
somebody
device_gone
device_renamed
renamed_live
device_named_as_words
device_renamed_oddly
not_allowed
device_anew
module_gone
module_of_somebody
module_of_both
way_back_gone
own_way_gone
leftovers
dry_run_after_death
prefix_taken
finish

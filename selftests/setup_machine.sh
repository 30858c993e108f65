#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu
#
# What concerns the machine and not one namespace: the module is loaded when it is
# absent and goes again by undo; --default-cc and the limits that only the
# machine's own namespace has; a machine without the module.  Not for a machine
# that somebody works on: for a moment all of its connections would be circuits.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup ctcp-setup-faulty tc circuit_sock
need_module

CIRCUIT=(--rate 4gbit --rtt 26ms)
DEV=ctcp0
STEPS_MAX=30

# The machine's own namespace is the host from now on.  Its tcp_mem is that of a
# small machine: one of 4 GB has more than is wanted, and nothing would be raised.
own_namespace()
{
	HOST=
	defer "sysctl -qw net.ipv4.tcp_mem='$(value net.ipv4.tcp_mem)'"
	sysctl -qw net.ipv4.tcp_mem="4096 8192 16384"
	veth_lines "$DEV" ctcp1 | ip -batch -
	defer "ip link del $DEV"
	ip addr add 10.78.0.1/24 dev "$DEV"
}

# --- the module ------------------------------------------------------------

loads_and_removes()
{
	local words

	without_module
	host module
	equal "before: no module" "" "$(ls -d /sys/module/tcp_circuit 2>/dev/null)"
	works "a run without the module" setup --quiet "${CIRCUIT[@]}" eth1
	succeeds "the module is loaded" module_loaded
	works "undo" setup undo --quiet eth1
	refused "undo removes the module" module_loaded
	for words in reset monitor "circuit list" "circuit del eth1"; do
		# shellcheck disable=SC2086 # words
		complains "$words without the module" 1 \
			'module tcp_circuit is not loaded; modprobe tcp_circuit' setup $words
	done
	works "show without the module" setup show
	modprobe tcp_circuit
	works "a run with the module" setup --quiet "${CIRCUIT[@]}" eth1
	works "undo" setup undo --quiet eth1
	succeeds "undo leaves a module that was there" module_loaded
	modprobe -r tcp_circuit
	host_end
}

# Opened when it is needed: nothing is changed, and it says what does without it.
without_libkmod()
{
	local library before

	library=$(ldconfig -p | awk '/libkmod\.so\.2 / { print $NF; exit }')
	host no-library
	before=$(state)
	complains "a run without libkmod" 1 \
		'cannot load module tcp_circuit: .*libkmod.*; modprobe tcp_circuit does it by hand' \
		unshare --mount bash -c "mount --bind /dev/null $library && \
			exec ip netns exec $HOST ctcp-setup ${CIRCUIT[*]} eth1"
	unchanged "a run without libkmod" "$before"
	host_end
}

without_circuit()
{
	state | grep -v tcp_circuit | sed 's/ circuit//'
}

# A socket that uses circuit holds the module: all else is undone.
in_use()
{
	local before

	host in-use
	before=$(without_circuit)
	setup --quiet "${CIRCUIT[@]}" eth1
	spawn -e -n "$HOST" circuit_sock serve -C circuit "$PORT" &
	until_true 10 grep -q '[1-9]' /sys/module/tcp_circuit/refcnt
	works "undo while a socket is there" setup undo eth1
	matches "undo says that the module stays" \
		'tcp_circuit is left loaded: in use; a later undo removes it' "$OUT"
	succeeds "the module stays" module_loaded
	same "all else is as before" "$before" \
		"$(without_circuit | grep -v "^$CTCP_RUNDIR")"
	works "show" setup show
	matches "show: no circuit" '^no circuit' "$OUT"
	works "reset of nothing" setup reset
	equal "reset of nothing" "no breaker is tripped" "$OUT"
	kill $!
	wait $! 2>/dev/null
	until_true 10 grep -q '^0' /sys/module/tcp_circuit/refcnt
	works "undo without the socket" setup undo eth1
	refused "undo without the socket removes the module" module_loaded
	same "undo without the socket: all as before" "$before" "$(without_circuit)"
	host_end
}

# Somebody's circuits would go with the module, too.
others_circuits()
{
	host others
	setup --quiet "${CIRCUIT[@]}" eth1
	setup circuit set lab prefix 192.0.2.0/24 window 10
	works "undo beside somebody's circuit" setup undo eth1
	matches "undo beside somebody's circuit says that the module stays" \
		'tcp_circuit is left loaded: it has 1 circuit of others; a later undo removes it' \
		"$OUT"
	equal "somebody's circuit stays" "lab prefix 192.0.2.0/24 window 10" \
		"$(setup circuit list)"
	setup circuit del lab
	works "undo without somebody's circuit" setup undo eth1
	refused "undo without somebody's circuit removes the module" module_loaded
	host_end
}

# A kernel update without a build of the module looks like this.
missing()
{
	local ko release

	release=$(uname -r)
	ko=$(modinfo -n tcp_circuit)
	mv "$ko" "$ko.away"
	defer "mv $ko.away $ko"
	host missing
	complains "no module for this kernel" 1 \
		"no module tcp_circuit for kernel ${release//+/.}" \
		setup "${CIRCUIT[@]}" eth1
	mv "$ko.away" "$ko"
	works "the module is there again" setup --quiet "${CIRCUIT[@]}" eth1
	setup undo --quiet eth1
	host_end
}

# --- the default algorithm -------------------------------------------------

# The kernel lets a namespace have as default only what all may use; and it
# keeps a reference to the module for each time that it refuses (6.1:
# tcp_set_default_congestion_control()), so that the tool must not try.
elsewhere()
{
	host elsewhere
	complains "--default-cc outside the machine's own namespace" 1 \
		'tcp_allowed_congestion_control' \
		setup --quiet "${CIRCUIT[@]}" --default-cc eth1
	equal "nobody holds the module" 0 "$(module_count)"
	host_end
}

# at_least_each NAME FLOORS VALUES: three numbers each
at_least_each()
{
	local -a floor value
	local i

	read -ra floor <<<"$2"
	read -ra value <<<"$3"
	for i in 0 1 2; do
		at_least "$1, number $((i + 1))" "${floor[i]}" "${value[i]:-}"
	done
}

# The window's buffers and 128 KiB of a stream, each way, in pages, and the kernel's own
# steps above it: 2 x (67603128 + 131072) bytes.  The buffers are 4 x 11163 x 1514 bytes.
limits()
{
	local page need

	page=$(getconf PAGESIZE)
	need=$(((2 * (67603128 + 131072) + page - 1) / page))
	at_least "rmem_max" 67603128 "$(value net.core.rmem_max)"
	at_least "wmem_max" 67603128 "$(value net.core.wmem_max)"
	at_least_each "tcp_mem" \
		"$need $((need * 5 / 4)) $((need * 3 / 2))" \
		"$(value net.ipv4.tcp_mem)"
}

# The other end of $DEV in a namespace of its own, so that what goes there leaves by it
far_end()
{
	FAR=ctcp-$$-far
	ip netns add "$FAR"
	defer "ip netns del $FAR"
	ip link set ctcp1 netns "$FAR"
	ip -n "$FAR" addr add 10.78.0.2/24 dev ctcp1
	ip -n "$FAR" link set ctcp1 up
}

# window_to ADDRESS: of a connection that asks for nothing
window_to()
{
	local server

	spawn -e -n "$FAR" circuit_sock serve "$PORT" >/dev/null &
	server=$!
	until_true 10 ip netns exec "$FAR" sh -c "ss -Hltn 'sport = :$PORT' | grep -q LISTEN"
	field fcwnd "$(timeout 30 circuit_sock send -n 100000 "$1" "$PORT")"
	kill $server
}

default_cc()
{
	local before

	before=$(state)
	works "--default-cc" setup --quiet "${CIRCUIT[@]}" --default-cc "$DEV"
	equal "the default algorithm" circuit \
		"$(value net.ipv4.tcp_congestion_control)"
	matches "everybody may use it" '\<circuit\>' \
		"$(value net.ipv4.tcp_allowed_congestion_control)"
	limits
	equal "a connection that asks for nothing: its window" 11163 \
		"$(window_to 10.78.0.2)"
	works "a second run" setup "${CIRCUIT[@]}" --default-cc "$DEV"
	matches "a second run says that nothing changes" 'nothing to change' "$OUT"
	works "without --default-cc" setup --quiet "${CIRCUIT[@]}" "$DEV"
	equal "the default algorithm goes back" "$DEFAULT" \
		"$(value net.ipv4.tcp_congestion_control)"
	until_true 10 no_sockets
	works "undo" setup undo --quiet "$DEV"
	unchanged "undo: all as before" "$before"
}

# tcp_mem is one for all circuits: each one's buffers, 2 x 4 x 5582 x 1514 bytes, and a
# stream's 2 x 131072 beside the other's.  Ctcp1 is the other end of $DEV.
two_circuits()
{
	local before page need dev circuit=(--rate 2gbit --rtt 26ms)

	before=$(state)
	page=$(getconf PAGESIZE)
	need=$((2 * ((2 * (33804592 + 131072) + page - 1) / page)))
	works "a circuit" setup --quiet "${circuit[@]}" "$DEV"
	works "another one" setup --quiet "${circuit[@]}" ctcp1
	at_least_each "tcp_mem of both" \
		"$need $((need * 5 / 4)) $((need * 3 / 2))" \
		"$(value net.ipv4.tcp_mem)"
	for dev in "$DEV" ctcp1; do
		works "$dev: a second run" setup "${circuit[@]}" "$dev"
		matches "$dev: a second run has nothing to do" 'nothing to change' "$OUT"
	done
	works "undo of one" setup undo --quiet "$DEV"
	works "undo of the other" setup undo --quiet ctcp1
	unchanged "both undone: all as before" "$before"
}

# shellcheck disable=SC2317 # called by until_true
no_sockets()
{
	! ss -Hant "sport = :$PORT or dport = :$PORT" | grep -q .
}

# Every step there is: limits, both lists, the shaper and the window.
killed()
{
	local n=1 before

	before=$(state)
	while [ $n -lt $STEPS_MAX ]; do
		CTCP_DIE_AT=$n run in_host ctcp-setup-faulty --quiet \
			"${CIRCUIT[@]}" --default-cc "$DEV"
		[ "$RC" = 137 ] || break
		setup undo --quiet "$DEV" || fail "undo after death at step $n"
		[ "$before" = "$(state)" ] ||
			unchanged "undo after death at step $n" "$before"
		n=$((n + 1))
	done
	equal "no step left: the run survives" 0 "$RC"
	at_least "steps to die at" 10 $((n - 1))
	setup undo --quiet "$DEV"
	unchanged "killed at each step and undone: all as before" "$before"
}

# The machine's own list is what lets a namespace have it.
allowed()
{
	host allowed
	modprobe tcp_circuit
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="$ALLOWED circuit"
	works "--default-cc in a namespace, allowed" \
		setup --quiet "${CIRCUIT[@]}" --default-cc eth1
	equal "the namespace's default" circuit \
		"$(value net.ipv4.tcp_congestion_control)"
	equal "the machine's default stays" "$DEFAULT" \
		"$(sysctl -n net.ipv4.tcp_congestion_control)"
	works "undo in the namespace" setup undo --quiet eth1
	equal "the namespace's default of before" "$DEFAULT" \
		"$(value net.ipv4.tcp_congestion_control)"
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="$ALLOWED"
	host_end
}

# --- names that are no device's ----------------------------------------------

# The kernel's ioctls load a module netdev-NAME, and then a module NAME, for root's question
# about a device NAME that is not there.  What it asks modprobe for is written down.
asks_for_no_module()
{
	local log=$TMP/asked helper=$TMP/modprobe word

	host nameless
	modprobe tcp_circuit
	printf '#!/bin/sh\necho "$*" >>%s\nexec /sbin/modprobe "$@"\n' "$log" >"$helper"
	chmod +x "$helper"
	defer "sysctl -qw kernel.modprobe='$(value kernel.modprobe)'"
	sysctl -qw kernel.modprobe="$helper"
	: >"$log"
	echo "add one --rate 10mbit --rtt 10ms --to 192.0.2.0/24 nodev4" >"$TMP/circuits"
	for word in "show nodev1" "undo nodev2" "--rate 10mbit --rtt 10ms nodev3" list -V \
		"apply --partial $TMP/circuits" "verify nodev5" "nodev6" \
		"circuit set one prefix 192.0.2.0/24 window 10 dev nodev7" "del nodev8" \
		"adopt nodev9" "diff $TMP/circuits"; do
		# shellcheck disable=SC2086 # words
		setup $word >/dev/null 2>&1 || :
	done
	equal "modules that are asked for by the name of a device" "" \
		"$(grep -E 'netdev-|nodev' "$log")"
	in_host busybox ifconfig nodev0 >/dev/null 2>&1 || :
	equal "... and by ifconfig's, which is seen" "netdev-nodev0 nodev0" \
		"$(grep -o '[^ ]*nodev[^ ]*' "$log" | xargs)"
	host_end
}

DEFAULT=$(sysctl -n net.ipv4.tcp_congestion_control)
ALLOWED=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
loads_and_removes
without_libkmod
in_use
others_circuits
missing
allowed
asks_for_no_module
modprobe -r tcp_circuit
own_namespace
two_circuits
far_end
default_cc
killed
elsewhere
finish

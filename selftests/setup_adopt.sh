#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Adopt: running connections with another algorithm get circuit, those of this circuit and no
# others, of any user.  They have their share within two round trips, and are the same sockets
# as before.  Connections that cannot be adopted are counted.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup ctcp-setup-faulty circuit_sock setpriv ss jq
need_module

WINDOW=300
RTT_MS=50
LOOK_MS=6	# between two looks, at most
[[ $(uname -r) != 6.1.* ]] || LOOK_MS=10	# it runs programs slower (uml.sh)
DELAYED_ACK_MS=40	# TCP_DELACK_MIN
STUCK=$((PORT + 1))	# its server reads nothing
BUSY=$((PORT + 2))	# its server accepts nothing
MULTI=$((PORT + 3))	# its server speaks MPTCP; "" where the kernel does not

# --- streams -----------------------------------------------------------------------

# connected PID: its local port, as ss has it
connected()
{
	in_src ss -Htnp state established |
		awk -v pid="pid=$1," 'index($0, pid) { sub(/.*:/, "", $3); print $3 }'
}

is_connected()
{
	[ -n "$(connected "$1")" ]
}

# begin NAME ADDRESS PORT [OPTION...]: data without end; its process is PID[NAME], its local
# port LOCAL[NAME]
declare -A PID LOCAL
begin()
{
	local name=$1 address=$2 port=$3

	shift 3
	stream_send -n 100000000000 "$@" "$address" "$port"
	PID[$name]=$STREAM
	defer "kill $STREAM"
	until_true 20 is_connected "$STREAM" || fail "a connection: $name"
	LOCAL[$name]=$(connected "$STREAM")
}

# of NAME WHAT: a number of the connection, as ss has it
of()
{
	in_src ss -Hti "sport = :${LOCAL[$1]}" | sed -n "s/.*\\b$2:\\([0-9]*\\).*/\\1/p"
}

# runs NAME: its algorithm
runs()
{
	in_src ss -Hti "sport = :${LOCAL[$1]}" |
		grep -oE 'circuit(-reno)?|reno|cubic|bbr' | head -n 1
}

# all_run ALGORITHM NAME...
all_run()
{
	local name want=$1

	shift
	for name; do
		equal "$name runs" "$want" "$(runs "$name")"
	done
}

# windows_are SEGMENTS NAME...
windows_are()
{
	local name want=$1

	shift
	for name; do
		[ "$(of "$name" cwnd)" = "$want" ] || return 1
	done
}

now_ms()
{
	echo $(($(date +%s%N) / 1000000))
}

# ms_until SECONDS COMMAND...: how long that takes, at a look each 5 ms
ms_until()
{
	local began end

	began=$(now_ms)
	end=$((began + $1 * 1000))
	shift
	until "$@"; do
		[ "$(now_ms)" -lt "$end" ] || break
		sleep 0.005
	done
	echo $(($(now_ms) - began))
}

more_acked()
{
	[ "$(of "$1" bytes_acked)" -gt $(($2 + 200000)) ]
}

# carry NAME...: each goes on
carry()
{
	local name before

	for name; do
		before=$(of "$name" bytes_acked)
		succeeds "$name carries on" until_true 30 more_acked "$name" "$before"
	done
}

# --- what is there -----------------------------------------------------------------

# more_addresses: of dst, each with a route through rtr
more_addresses()
{
	local net

	ip -n "$DST" addr add 10.77.2.2/24 dev eth1
	for net in 10.77.3 10.77.4 10.77.5 10.77.6; do
		ip -n "$DST" addr add $net.1/24 dev eth1
		ip -n "$RTR" route add $net.0/24 via $DST4
	done
	ip -n "$SRC" route add 10.77.3.0/24 via 10.77.1.254
	ip -n "$SRC" route add 10.77.4.0/24 via 10.77.1.254
	ip -n "$SRC" route add 10.77.5.0/24 via 10.77.1.254 congctl lock reno
	# another way for one user
	ip -n "$SRC" route add 10.77.6.0/24 dev lo
	ip -n "$SRC" route add 10.77.6.0/24 via 10.77.1.254 table 77
	ip -n "$SRC" rule add to 10.77.6.0/24 uidrange 65534-65534 lookup 77
}

servers()
{
	serve dst
	background dst circuit_sock serve -p 1000000 $STUCK
	defer "kill -KILL $!"
	background src circuit_sock serve $BUSY
	BUSY_SERVER=$!
	defer "kill -KILL $BUSY_SERVER"
	background dst circuit_sock serve -P $MULTI 2>/dev/null
	defer "kill -KILL $!"
	if ! until_true 5 mptcp_works; then
		echo "# no MPTCP here, or without TCP_INFO, which came with 5.16"
		MULTI=
	fi
}

mptcp_works()
{
	in_src timeout 10 circuit_sock send -P -C cubic -n 1000 $DST4 $MULTI
}

circuits()
{
	setup circuit set lhc prefix 10.77.2.0/24 prefix fd77:2::/64 window $WINDOW
	setup circuit set longer prefix 10.77.2.2 window 50
	setup circuit set marked prefix 10.77.2.0/24 mark 7 window 40
	setup circuit set device prefix 10.77.3.0/24 dev eth1 window 30
	setup circuit set elsewhere prefix 10.77.3.0/24 dev lo window 20
	setup circuit set locked prefix 10.77.5.0/24 window 20
	setup circuit set user prefix 10.77.6.0/24 dev eth1 window 20
}

streams()
{
	begin first $DST4 $PORT -C cubic
	begin second $DST4 $PORT -C cubic
	begin six $DST6 $PORT -C reno
	begin nobody $DST4 $PORT -C cubic -u 65534
	begin longer 10.77.2.2 $PORT -C cubic
	begin marked $DST4 $PORT -C cubic -m 7
	begin device 10.77.3.1 $PORT -C cubic
	begin outside 10.77.4.1 $PORT -C cubic
	begin locked 10.77.5.1 $PORT
	begin user 10.77.6.1 $PORT -C cubic -u 65534
	begin ours $DST4 $PORT -C circuit
	if [ -n "$MULTI" ]; then
		begin mptcp $DST4 $MULTI -C cubic -P
	fi
}

# is_stuck NAME
is_stuck()
{
	in_src ss -Htno "sport = :${LOCAL[$1]}" | grep -q persist
}

is_orphan()
{
	[ -n "$(in_src ss -Htn state fin-wait-1 "dport = :$STUCK")" ]
}

# A socket that its process has closed, with data for a peer that takes none
orphan()
{
	begin stuck $DST4 $STUCK -C cubic
	succeeds "a receiver takes no more" until_true 60 is_stuck stuck
	kill "${PID[stuck]}"
	succeeds "... and the sender's process is gone" until_true 10 is_orphan
}

is_queued()
{
	[ -n "$(in_src ss -Htn state established "sport = :$BUSY")" ]
}

unaccepted()
{
	until_true 10 listens_at $BUSY || fail "a server on port $BUSY"
	kill -STOP $BUSY_SERVER
	background dst circuit_sock send -n 1000 $SRC4 $BUSY >/dev/null
	defer "kill $!"
	# what src sends there would be in a circuit, too
	succeeds "a connection waits to be accepted" until_true 10 is_queued
}

listens_at()
{
	in_src ss -Hltn "sport = :$1" | grep -q LISTEN
}

# --- adopt -------------------------------------------------------------------------

OURS="first second six nobody"
OTHERS="longer marked device outside user"

# left JSON: as numbers in one line
left()
{
	jq -r '.left | "\(.circuit) \(.orphaned) \(.unaccepted) \(.mptcp) \(.ended) \(.no_process)"'
}

# local_ports: of all that src has, sorted
local_ports()
{
	in_src ss -Htn state established "dport = :$PORT" | awk '{ sub(/.*:/, "", $3); print $3 }' |
		sort -n | tr '\n' ' '
}

only_looked_at()
{
	local multi=0

	[ -z "$MULTI" ] || multi=1
	! in_virtual_time || equal "MPTCP in virtual time" 1 $multi
	works "--dry-run --json" setup adopt lhc --dry-run --json
	json_is "how many" 4 '.adopted | length'
	json_is "the circuit" lhc .circuit
	json_is "none refused" 0 '.refused | length'
	equal "left: circuit, orphaned, unaccepted, mptcp, ended, of no process" \
		"1 1 1 $multi 0 0" "$(left <<<"$OUT")"
	json_is "their processes" \
		"$(printf '%s\n' "${PID[first]}" "${PID[second]}" "${PID[six]}" "${PID[nobody]}" |
			sort -n | tr '\n' ' ')" '[.adopted[].pid] | sort | map("\(.) ") | add'
	json_is "the one over IPv6" "$DST6 $PORT ${LOCAL[six]} reno circuit_sock 0" \
		'.adopted[] | select(.before == "reno") |
		 "\(.peer) \(.port) \(.local_port) \(.before) \(.program) \(.uid)"'
	json_is "that of another user" "${PID[nobody]}" '.adopted[] | select(.uid == 65534).pid'
	works "--dry-run" setup adopt --dry-run lhc
	matches "--dry-run: a line each" "^$DST4 +$PORT +${LOCAL[first]} +${PID[first]} circuit_sock +cubic\$" \
		"$OUT"
	matches "--dry-run: how many" '^lhc: 4 connections to adopt; left: ' "$OUT"
	all_run cubic first second nobody
	all_run reno six
}

# Of the receiver
delayed_acks()
{
	in_dst nstat -asz TcpExtDelayedACKs | awk '/Delayed/ { print $2 }'
}

adopted()
{
	local ports share=$((WINDOW / 5)) took name delayed=0 before

	ports=$(local_ports)
	succeeds "ours has all of the window" until_true 20 windows_are $WINDOW ours
	before=$(delayed_acks)
	works "adopt" setup adopt lhc
	# They wait for what it has in flight, and that is the first round trip; each takes its
	# part with an ACK of its own, and who had none while there was room has a lone segment
	# in flight, whose ACK a receiver may delay.  How long it takes only virtual time can
	# tell.
	took=$(ms_until 20 windows_are $share $OURS ours)
	[ "$(delayed_acks)" = "$before" ] || delayed=$DELAYED_ACK_MS
	! in_virtual_time || at_most "all five have a fifth of the window, ms after that" \
		$((2 * RTT_MS + LOOK_MS + delayed)) "$took"
	for name in $OURS ours; do
		equal "$name: its window" $share "$(of "$name" cwnd)"
	done
	matches "a line each" "^$DST6 +$PORT +${LOCAL[six]} +${PID[six]} circuit_sock +reno\$" "$OUT"
	matches "how many" '^lhc: 4 connections adopted; left: ' "$OUT"
	all_run circuit $OURS
	all_run cubic $OTHERS
	equal "the same sockets" "$ports" "$(local_ports)"
	for name in $OURS; do
		succeeds "$name: its process is there" kill -0 "${PID[$name]}"
	done
	equal "the kernel counts five in the circuit" 5 "$(circuit_value lhc sockets)"
	carry $OURS $OTHERS
	works "adopt again" setup adopt lhc
	matches "again: none" '^lhc: no connection adopted; left: 5 with circuit already, 1 closed by the process, 1 not accepted yet' \
		"$OUT"
	matches "again: nothing else is printed" '^1$' "$(wc -l <<<"$OUT")"
}

# one NAME: it is the only one of the circuit of that name
one()
{
	works "adopt $1" setup adopt "$1" --json
	json_is "$1: the connection" "${LOCAL[$1]}" '[.adopted[].local_port] | join(" ")'
	all_run circuit "$1"
}

others()
{
	works "a device that no connection leaves by" setup adopt elsewhere --json
	json_is "... has none" 0 '.adopted | length'
	one longer
	one marked
	one device
	one user
	equal "a peer of no circuit: as it was" cubic "$(runs outside)"
	equal "four are in the circuit, and ours" 5 "$(circuit_value lhc sockets)"
}

# of_half_closed: what ss has of it
of_half_closed()
{
	in_dst ss -Htni state close-wait "sport = :$STUCK"
}

is_half_closed()
{
	[ -n "$(of_half_closed)" ]
}

# The accepting side has v4-mapped sockets, and a process each; one of a peer that sends no
# more may send still.
other_side()
{
	local streams

	in_src circuit_sock send -n 1000 $DST4 $STUCK >/dev/null
	succeeds "a peer shuts down" until_true 10 is_half_closed
	in_dst ctcp-setup circuit set back prefix 10.77.1.0/24 window 100
	streams=$(in_dst ss -Htn state established "sport = :$PORT" "dst 10.77.1.0/24" | wc -l)
	at_least "connections that dst has accepted" 8 "$streams"
	works "adopt what was accepted" in_dst ctcp-setup adopt back --quiet
	equal "--quiet" "" "$OUT"
	equal "they run circuit" "$streams" \
		"$(in_dst ss -Htni state established "sport = :$PORT" "dst 10.77.1.0/24" |
			grep -c '\bcircuit\b')"
	matches "... that of a peer that sends no more, too" '\bcircuit\b' "$(of_half_closed)"
}

# Its process ends while adopt has its socket, and has it linger for 30 s with data that
# nobody takes: the last to close it would wait for that.
lingering()
{
	local adopt began

	begin lingers $DST4 $STUCK -C cubic -s 30 -m 9
	succeeds "a receiver takes no more of that, too" until_true 60 is_stuck lingers
	setup circuit set lingers prefix 10.77.2.0/24 mark 9 window 10
	began=$(now_ms)
	background src env CTCP_HOLD=2 ctcp-setup-faulty adopt lingers >"$TMP/lingers" 2>&1
	adopt=$!
	sleep 1
	kill -KILL "${PID[lingers]}"
	wait "$adopt"
	equal "its process ends meanwhile: exit status" 0 $?
	matches "its process ends meanwhile: it is adopted" \
		'^lingers: 1 connection adopted' "$(tail -n 1 "$TMP/lingers")"
	at_most "its process ends meanwhile: nobody waits for it, ms" 5000 $(($(now_ms) - began))
	setup circuit del lingers
}

# --- what is refused ---------------------------------------------------------------

refusals()
{
	says "no such circuit" 1 \
		'there is no circuit nope; there are ([a-z]+, ){6}[a-z]+$' setup adopt nope
	says "a route that locks its algorithm" 1 \
		"1 of 1 connections not adopted; the first, to 10.77.5.1 port $PORT, of process ${PID[locked]} \\(circuit_sock\\): TCP_CONGESTION: Operation not permitted, as where its route has congctl lock" \
		setup adopt locked --quiet
	run setup adopt locked --json
	equal "--json: exit status" 1 "$RC"
	json_is "what was refused" "reno TCP_CONGESTION" '.refused[] | "\(.before) \(.step)"'
	all_run reno locked
	setup circuit set outside prefix 10.77.4.0/24 window 20
	says "processes that may not be looked at" 1 \
		'no process was found for 1 connections, and [0-9]+ processes do not show' \
		in_src setpriv --bounding-set=-sys_ptrace ctcp-setup adopt outside --quiet
	equal "... it is as it was" cubic "$(runs outside)"
}

nothing_there()
{
	lone_host
	export HOST=$SRC
	says "no circuit at all" 1 'there is no circuit lhc, nor any other; ctcp-setup add makes one' \
		setup adopt lhc
	setup circuit set lhc prefix 10.77.2.0/24 window 10
	says "another than the only one" 1 'there is no circuit lh; there is lhc$' setup adopt lh
	works "no connection" setup adopt lhc
	equal "no connection: said" "lhc: no connection adopted" "$OUT"
	setup circuit del lhc
	if without_module; then
		says "no module" 1 'tcp_circuit is not loaded' setup adopt lhc
		modprobe tcp_circuit
	fi
	ip netns del "$SRC"
}

nothing_there
network $((RTT_MS / 2))
more_addresses
# B; a stream's window is then some three times its share
set_in dst net.ipv4.tcp_rmem "4096 131072 400000"
servers
streams
orphan
unaccepted
circuits
only_looked_at
adopted
others
other_side
lingering
refusals
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: qemu root
# suites: bookworm bookworm-backports newest
#
# ctcpd in `mode = act` on a device of several queues: what is overrun is paced by its sockets,
# and no qdisc is touched.  A restart loses nothing and sets nothing twice, and one that has other
# hands leaves nothing of these; an administrator's circuit comes first, and what somebody else
# does to the program is stood down from, once.  Where the machine cannot, it says so and observes.
#
# The network is that of ctcpd_lib.sh, but that src's eth1 has four queues.  Once a rate is tried,
# the stream makes room for a connection that sends next to nothing: its limit shows what is paced,
# and the search for the rate, which is not of this test, stays where it is.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/ctcpd_lib.sh"
need_root
need_commands ctcpd ctcp-setup ctcpd_limits circuit_nl circuit_sock jq nsenter ss tc

export CTCP_RUNDIR=$TMP/state
HISTORY=$TMP/history/history.db
PINS=/sys/fs/bpf/ctcpd
MODE=observe
ONE_LOCK=no
STREAM=

# --- the daemon and its flows ---------------------------------------------------------

# In place of ctcpd_lib.sh's: "ip netns exec" hides bpffs and cgroup2.
begin()
{
	nsenter --net="/run/netns/$SRC" "$@" ctcpd run --config "$TMP/ctcpd.conf" \
		--socket "$SOCKET" >>"$LOG" 2>&1 &
	DAEMON=$!
	defer "kill -KILL $DAEMON"
	eventually 60 answers || fail "the daemon answers" "$(cat "$LOG")"
}

configure()
{
	printf '%s\n' '[ctcpd]' "mode = $MODE" "one-lock = $ONE_LOCK" 'poll = 1s' \
		'min-rtt = none' '[history]' "file = $HISTORY" >"$TMP/ctcpd.conf"
}

# reload KEY VALUE: by SIGHUP
reload()
{
	configure
	kill -HUP $DAEMON
	eventually 60 value_is ".config.\"$1\"" "$2"
}

mode_becomes()
{
	MODE=$1
	reload mode "$1"
}

# With 1000 bytes no interval counts.
idle_begins()
{
	slow_ends
	background src circuit_sock send -n 1000 -k 3600000 $SLOW4 $PORT >/dev/null 2>&1
	STREAM=$!
	defer "kill $STREAM"
}

# --- what the kernel has ----------------------------------------------------------------

qdiscs()
{
	in_src tc qdisc show dev eth1
	in_src tc class show dev eth1
}

classes()
{
	in_src tc class show dev eth1 | grep -c htb
}

pinned()
{
	(cd /sys/fs/bpf && find ctcpd | sort | tr '\n' ' ') 2>/dev/null
}

programs()
{
	field programs "$(ctcpd_limits programs pace_event)"
}

# limit ADDRESS: bit/s, that a socket which leads there may send at most; "" = none has one
limit()
{
	in_src ss -tinH state established dst "$1" |
		sed -n 's|.*pacing_rate [0-9]*bps/\([0-9]*\)bps.*|\1|p' | sort -n | head -n 1
}

is_limited()
{
	[ -n "$(limit $SLOW4)" ]
}

is_not_limited()
{
	! is_limited
}

# kbit, as the daemon has it in force
rate()
{
	ask why $SLOW4 --json | jq '(.pacing.rate_bytes_s // 0) * 8 / 1000 | floor'
}

is_paced()
{
	[ "$(rate)" -gt 0 ]
}

paced_by()
{
	ask why $SLOW4 --json | jq -r .pacing.paced_by
}

# limit_is_rate DESCRIPTION: of payload, 1448 of 1514 bytes
limit_is_rate()
{
	succeeds "$1: its socket has a limit" until_true 10 is_limited
	within "$1: which is the rate, kbit" $(($(rate) * 1448 / 1514)) \
		$(($(limit $SLOW4) / 1000)) 2
}

nothing_is_left()
{
	equal "$1: nothing is pinned" "" "$(pinned)"
	equal "$1: no program" 0 "$(programs)"
	succeeds "$1: no socket has a limit" until_true 10 is_not_limited
}

# --- cases --------------------------------------------------------------------------------

observes()
{
	configure
	begin
	slow_begins
	# by its send buffer, so that it overruns no queue, however fast this machine is
	background src circuit_sock send -S 32768 -n 100000000000 $DST4 $PORT >/dev/null 2>&1
	defer "kill $!"
	eventually 300 grep -q "$SLOW4: would be paced" "$LOG"
	equal "observe: it says what it would do" 1 "$(logged "$SLOW4: would be paced at [0-9.]+mbit: ")"
	polls
	equal "observe: its device would be paced by sockets" "eth1 sockets" \
		"$(value '.pacing.devices[] | "\(.device) \(.paced_by)"')"
	nothing_is_left observe
}

paces()
{
	local at status

	at=$(lines)
	mode_becomes act
	succeeds "act: it is paced" says_since 60 "$at" "$SLOW4: paced at"
	equal "act: by what, said once" 1 \
		"$(said_since "$at" 'on eth1 remotes are paced by sockets, not by classes: eth1 has 4 queues')"
	succeeds "act: its socket has a limit" until_true 10 is_limited
	idle_begins
	limit_is_rate "act: what begins"
	equal "act: the other has none" "" "$(limit $DST4)"
	equal "act: no qdisc is touched" "$QDISCS" "$(qdiscs)"
	equal "act: one program" 1 "$(programs)"
	equal "why: by what" sockets "$(paced_by)"
	matches "why: in words" 'paced at .* on eth1, by sockets; ' "$(ask why $SLOW4)"
	equal "status: by what" "0 1" "$(value '.pacing.paced_by | "\(.classes) \(.sockets)"')"
	status=$(ask status)
	matches "status: in words" '0 by classes, 1 by sockets' "$status"
	matches "status: why not by classes" 'eth1: by sockets: eth1 has 4 queues' "$status"
	equal "report: by what" sockets "$(ask report --json | jq -r '.paced[0].paced_by')"
}

# restarts SIGNAL: what the kernel has is neither set again nor lost
restarts()
{
	local before at kbit

	before=$(pinned)
	kbit=$(rate)
	at=$(lines)
	end "$1"
	[ "$1" = KILL ] || cp -r "$TMP/history" "$TMP/kept"
	succeeds "$1: its socket keeps its limit" is_limited
	equal "$1: it stays pinned" "$before" "$(pinned)"
	begin
	polls
	equal "$1: pinned as it was" "$before" "$(pinned)"
	equal "$1: one program" 1 "$(programs)"
	equal "$1: the same rate, kbit" "$kbit" "$(rate)"
	equal "$1: nothing is set once more" 0 "$(said_since "$at" "$SLOW4: .*paced")"
	limit_is_rate "$1"
}

restart_of_both_kinds()
{
	restarts TERM
	equal "TERM: exit status" 0 $ENDED
	restarts KILL
}

has_classes()
{
	in_src tc qdisc add dev lo root handle 1: htb &&
		in_src tc filter add dev lo parent 1: protocol ip flower dst_ip 192.0.2.1 classid 1:1
	local rc=$?

	in_src tc qdisc del dev lo root
	return $rc
} 2>/dev/null

# Its operator has it by classes, and by sockets again: between runs, and by a reload
other_hands()
{
	local kbit

	has_classes || {
		skip "other hands" "this kernel has no htb, or no flower"
		return
	}
	kbit=$(rate)
	end TERM
	ONE_LOCK=yes
	configure
	begin
	polls
	equal "one-lock = yes: by what" classes "$(paced_by)"
	equal "one-lock = yes: the same rate, kbit" "$kbit" "$(rate)"
	at_least "one-lock = yes: classes" 1 "$(classes)"
	nothing_is_left "one-lock = yes"
	end TERM
	ONE_LOCK=no
	configure
	begin
	polls
	equal "one-lock = no: by what" sockets "$(paced_by)"
	equal "one-lock = no: the same rate, kbit" "$kbit" "$(rate)"
	equal "one-lock = no: the qdiscs are as before" "$QDISCS" "$(qdiscs)"
	limit_is_rate "one-lock = no"
	ONE_LOCK=yes
	reload one-lock yes
	polls
	equal "reload to yes: by what" classes "$(paced_by)"
	nothing_is_left "reload to yes"
	ONE_LOCK=no
	reload one-lock no
	polls
	equal "reload to no: by what" sockets "$(paced_by)"
	equal "reload to no: the qdiscs are as before" "$QDISCS" "$(qdiscs)"
}

# begin_again: with the history of before
begin_again()
{
	end TERM
	rm -r "$TMP/history"
	cp -r "$TMP/kept" "$TMP/history"
	begin
}

paced_again()
{
	begin_again
	eventually 60 is_paced || fail "it is paced again" "$(<"$LOG")"
}

forgets()
{
	equal "forget: how many were paced" 1 "$(ask forget $SLOW4 --json | jq .paced)"
	polls
	nothing_is_left forget
	paced_again
}

administrator()
{
	local at

	module_loaded || modprobe tcp_circuit 2>/dev/null || {
		skip "an administrator's circuit" "tcp_circuit cannot be loaded into $(uname -r)"
		return
	}
	at=$(lines)
	in_src ctcp-setup add lhc --to 10.99.0.0/16 --shaper htb --via 10.77.1.254 --rate 30mbit \
		--rtt 20ms --quiet eth1 || fail "an administrator adds a circuit"
	succeeds "an administrator's circuit: said" says_since 30 "$at" \
		'left alone .*eth1 has circuit lhc, which an administrator set up'
	polls
	equal "an administrator's circuit: once" 1 "$(said_since "$at" 'an administrator')"
	nothing_is_left "an administrator's circuit"
	in_src ctcp-setup undo --all --quiet
	in_src circuit_nl new ska prefix 10.77.3.0/24 window 100
	at=$(lines)
	begin_again
	succeeds "the module's circuit: said" says_since 300 "$at" \
		'left alone .*circuit ska, which is set up in the module'
	nothing_is_left "the module's circuit"
	in_src circuit_nl del ska
	paced_again
}

# By somebody, while the daemon runs
detached()
{
	local at

	at=$(lines)
	ctcpd_limits detach "$(echo "$PINS"/*/event)"
	succeeds "detached: said" says_since 30 "$at" \
		'eth1: not paced by ctcpd, and left alone .*was detached from the root cgroup'
	polls
	equal "detached: once" 1 "$(said_since "$at" 'left alone')"
	nothing_is_left detached
	paced_again
	at=$(lines)
	rm -r "$PINS"
	succeeds "unpinned: said" says_since 30 "$at" 'left alone .*below /sys/fs/bpf/ctcpd was removed'
	polls
	nothing_is_left unpinned
	paced_again
}

takes_back()
{
	local at

	at=$(lines)
	mode_becomes observe
	succeeds "act to observe: said" says_since 30 "$at" '1 remotes or subnets are not paced any more'
	polls
	nothing_is_left "act to observe"
	equal "act to observe: the qdiscs are as before" "$QDISCS" "$(qdiscs)"
}

# without WHAT PATTERN COMMAND...: on a machine that is changed for the daemon alone
without()
{
	local what=$1 pattern=$2 at

	shift 2
	end TERM
	MODE=act
	configure
	at=$(lines)
	begin "$@"
	succeeds "without $what: said" says_since 300 "$at" "nothing is paced on eth1: .*$pattern"
	polls
	equal "without $what: once" 1 "$(said_since "$at" 'nothing is paced on eth1')"
	equal "without $what: it acts all the same" acts "$(value .pacing.state)"
	matches "without $what: status" "eth1: nothing is paced: eth1 has 4 queues.*$pattern" \
		"$(ask status)"
	matches "without $what: why" "not paced, as nothing can be paced on eth1: .*$pattern" \
		"$(ask why $SLOW4)"
	nothing_is_left "without $what"
}

cannot()
{
	without CAP_BPF CAP_BPF setpriv --inh-caps=-bpf --bounding-set=-bpf
	without bpffs 'no bpffs at /sys/fs/bpf' \
		unshare -m sh -c "umount -l /sys/fs/bpf; exec \"\$@\"" sh
}

# --- the machine ----------------------------------------------------------------------------

mount_bpffs()
{
	[ "$(stat -f -c %T /sys/fs/bpf)" = bpf_fs ] && return
	mount -t bpf bpf /sys/fs/bpf && defer "umount /sys/fs/bpf"
}

mount_cgroup2()
{
	grep -q ' cgroup2 ' /proc/self/mounts && return
	mkdir "$TMP/cgroup"
	mount -t cgroup2 none "$TMP/cgroup" && defer "umount $TMP/cgroup"
}

four_queues()
{
	ip -n "$SRC" link del eth1
	ip link add "w$$" netns "$SRC" numtxqueues 4 type veth peer name "v$$" netns "$RTR"
	ip -n "$SRC" link set "w$$" name eth1
	ip -n "$RTR" link set "v$$" name r1
	ip -n "$SRC" link set eth1 up
	ip -n "$RTR" link set r1 up
	ip -n "$SRC" addr add $SRC4/24 dev eth1
	ip -n "$RTR" addr add 10.77.1.254/24 dev r1
	ip -n "$SRC" route add 10.77.2.0/24 via 10.77.1.254
}

[ -e /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
mount_bpffs || skip_all "bpffs cannot be mounted"
mount_cgroup2 || skip_all "cgroup2 cannot be mounted"
[ -z "$(pinned)" ] || skip_all "ctcpd paces by sockets on this machine"
network
four_queues
second_remote
delay 10 rate 40mbit
serve dst
serve_slow
defer "rm -r $PINS"
QDISCS=$(qdiscs)
cases observes paces restart_of_both_kinds other_hands forgets administrator \
	detached takes_back cannot
end TERM
equal "at the end: exit status" 0 $ENDED
nothing_is_left "at the end"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: qemu root
# suites: bookworm bookworm-backports newest
#
# The hands of ctcpd by sockets: what runs and what begins has its pacing rate, several share
# one, an application's own stays and comes back.  What is paced outlives a daemon that is
# killed, and of what is taken back nothing stays.

. "$(dirname "$0")/lib.sh"
need_root
need_commands ctcpd_hands_bpf ctcpd_limits circuit_sock nsenter setpriv ss tc

PINS=/sys/fs/bpf/ctcpd
ALL4=10.77.2.0/24
MBIT=125000	# bytes/s

# src's, but for its network as the machine is: "ip netns exec" hides bpffs and cgroup2.  By one
# process for each, or by the one that serve_hands began.
hands()
{
	local line

	if [ -z "${SERVING-}" ]; then
		nsenter --net="/run/netns/$SRC" ctcpd_hands_bpf "$@" 5>&- 6<&- 7>&- 8<&-
		return
	fi
	echo "$*" >&5
	while read -r -t 300 line <&6 && [ "$line" != . ]; do
		echo "$line"
	done
}

# Loading a program takes an emulated machine ten seconds.
serve_hands()
{
	mkfifo "$TMP/commands" "$TMP/answers"
	nsenter --net="/run/netns/$SRC" ctcpd_hands_bpf commands <"$TMP/commands" >"$TMP/answers" \
		7>&- 8<&- &
	SERVING=$!
	defer "kill $SERVING"
	exec 5>"$TMP/commands"
	exec 6<"$TMP/answers"
}

# At its end it unpins, if nothing is paced any more.
serve_hands_end()
{
	echo end >&5
	wait "$SERVING"
	exec 5>&- 6<&-
	SERVING=
	equal "the end of one that paces nothing: nothing is pinned" "" "$(pinned)"
}

# apply RATE [PREFIX [DEV]]
apply()
{
	hands apply "${3:-eth1}" "${2:-$ALL4}" "$1" 1ms
}

pinned()
{
	(cd /sys/fs/bpf && find ctcpd | sort) 2>/dev/null
}

programs()
{
	field programs "$(ctcpd_limits programs pace_event)"
}

# refuses DESCRIPTION CODE PATTERN COMMAND...
refuses()
{
	local what=$1 code=$2 pattern=$3 said

	shift 3
	if said=$("$@" 2>&1); then
		fail "$what" "expected a failure of: $*" "$said"
	else
		matches "$what" "$code: .*$pattern" "$said"
	fi
}

# --- an application's connections ----------------------------------------------

mkfifo "$TMP/to" "$TMP/from"
exec 7<>"$TMP/to" 8<>"$TMP/from"

# connections ADDRESS: src's, as ask opens them
connections()
{
	nsenter --net="/run/netns/$SRC" ctcpd_limits connect "$1" $PORT <&7 >&8 7>&- 8<&- &
	CONNECTIONS=$!
	defer "kill $CONNECTIONS"
}

connections_end()
{
	kill "$CONNECTIONS" 2>/dev/null
	wait "$CONNECTIONS" 2>/dev/null
}

# ask COMMAND: what it answers is in SAID
ask()
{
	echo "$*" >&7
	read -r -t 60 SAID <&8 || SAID=
}

# max I: its SO_MAX_PACING_RATE
max()
{
	ask show "$1"
	field max "$SAID"
}

# payload BYTES_PER_S [HEADERS]: what of it is payload, of the connection that SAID is of
payload()
{
	local mss

	mss=$(field mss "$SAID")
	echo $(($1 * mss / (mss + ${2:-66})))
}

max_is()
{
	[ "$(max "$1")" = "$2" ]
}

# soon_max DESCRIPTION I RATE: within seconds, without a tick
soon_max()
{
	until_true 60 max_is "$2" "$3"
	equal "$1" "$3" "$(max "$2")"
}

# --- cases ---------------------------------------------------------------------

one_runs()
{
	connections $DST4
	ask open
	ask send 0
	matches "a rate is set" 'rc=0 changed=1 ' "$(apply 400mbit)"
	ask show 0
	equal "what runs: its limit" "$(payload $((400 * MBIT)))" "$(field max "$SAID")"
	matches "what runs: as ss shows it" \
		"pacing_rate [0-9]*bps/$(($(payload $((400 * MBIT))) * 8))bps" \
		"$(in_src ss -Htin "dport = :$PORT")"
	at_most "what runs: it is paced so" "$(payload $((400 * MBIT)))" "$(field pacing "$SAID")"
	matches "the same again" 'rc=0 changed=0 ' "$(apply 400mbit)"
	matches "look" "dev=eth1 .*to=$ALL4 rate=400000000 state=set device=0 why=$" "$(hands look)"
	matches "another rate" 'rc=0 changed=1 ' "$(apply 300mbit)"
	equal "another rate: its limit" "$(payload $((300 * MBIT)))" "$(max 0)"
	matches "it is taken back" 'rc=0 changed=1 ' "$(apply 0)"
	equal "it is taken back: no limit" -1 "$(max 0)"
	equal "it is taken back: nothing is pinned" "" "$(pinned)"
	equal "it is taken back: no program" 0 "$(programs)"
	connections_end
}

one_begins()
{
	apply 400mbit >/dev/null
	connections $DST4
	ask open
	equal "what begins: nothing was sent" 0 "$(field sent "$SAID")"
	equal "what begins: its limit" "$(payload $((400 * MBIT)))" "$(field max "$SAID")"
	apply 0 >/dev/null
	equal "what begins and is idle: taken back" -1 "$(max 0)"
	connections_end
}

accepted_limit()
{
	in_src ss -Htin state established "sport = :5009" |
		sed -n 's|.*pacing_rate [0-9]*bps/\([0-9]*\)bps.*|\1|p'
}

# The other end: src's server, by the address of who connects
one_accepted()
{
	apply 400mbit >/dev/null
	background src circuit_sock serve -g 5009 >/dev/null
	defer "kill $!"
	until_true 10 eval 'in_src ss -Hltn "sport = :5009" | grep -q LISTEN'
	background dst circuit_sock send -n 1000 -k 60000 $SRC4 5009 >/dev/null
	local sender=$!

	until_true 10 accepted_limit
	within "what was accepted: its limit, kbit/s" \
		$((400000 * 1448 / 1514)) $(($(accepted_limit) / 1000)) 1
	kill $sender
	wait $sender 2>/dev/null
	apply 0 >/dev/null
}

# family NAME ADDRESS PREFIX HEADERS
family()
{
	apply 400mbit "$3" >/dev/null
	connections "$2"
	ask open
	equal "$1: what begins" "$(payload $((400 * MBIT)) "$4")" "$(field max "$SAID")"
	ask send 0
	apply 300mbit "$3" >/dev/null
	ask show 0
	equal "$1: what runs" "$(payload $((300 * MBIT)) "$4")" "$(field max "$SAID")"
	apply 0 "$3" >/dev/null
	equal "$1: taken back" -1 "$(max 0)"
	connections_end
}

families()
{
	family "IPv6" $DST6 fd77:2::/64 86
	family "IPv6, one address" $DST6 $DST6/128 86
	family "a mapped address" ::ffff:$DST4 $DST4/32 66
	family "a mapped prefix" $DST4 ::ffff:10.77.2.0/120 66
}

# Not by this prefix, not by this device: the longest match, as routes have it
others()
{
	ip -n "$SRC" link add other index 77 type veth peer name other-peer
	hands apply eth1 10.77.3.0/24 400mbit 1ms '#77' $ALL4 400mbit 1ms eth1 fd77:2::/64 400mbit 1ms \
		>/dev/null
	connections $DST4
	ask open
	ask send 0
	hands tick
	equal "other prefixes, another device: no limit" -1 "$(max 0)"
	hands apply eth1 $ALL4 300mbit 1ms eth1 $DST4/32 200mbit 1ms >/dev/null
	ask show 0
	equal "of two prefixes the longer one" "$(payload $((200 * MBIT)))" "$(field max "$SAID")"
	apply 0 $DST4/32 >/dev/null
	equal "it goes: the shorter one" "$(payload $((300 * MBIT)))" "$(max 0)"
	ip -n "$SRC" link del other
	matches "a device that is gone" 'index=77 .*state=gone' "$(hands look)"
	hands undo >/dev/null
	equal "undo: no limit" -1 "$(max 0)"
	connections_end
}

own()
{
	local low=$((10 * MBIT)) high=$((900 * MBIT)) huge=$((100000 * MBIT))

	connections $DST4
	ask open $low
	ask open $high
	ask open
	ask open $huge
	apply 400mbit >/dev/null
	equal "an own lower limit stays" $low "$(max 0)"
	at_most "an own higher one is lowered" $((400 * MBIT)) "$(max 1)"
	equal "one that could not be given back stays" $huge "$(max 3)"
	ask max 2 $low
	hands tick
	equal "an own limit set later stays" $low "$(max 2)"
	ask max 2 $high
	hands tick
	at_most "set later, and higher: it is lowered" $((400 * MBIT)) "$(max 2)"
	ask open $low
	equal "an own lower limit of what begins stays" $low "$(field max "$SAID")"
	apply 0 >/dev/null
	equal "taken back: the lower one" $low "$(max 0)"
	equal "taken back: the higher one" $high "$(max 1)"
	equal "taken back: the one set later" $high "$(max 2)"
	equal "taken back: the one that stayed" $huge "$(max 3)"
	connections_end
}

# Each of four has a quarter, also of those that began before all was attached
share()
{
	local rate=$((8 * MBIT)) i

	connections $DST4
	[ "$1" = running ] || apply 8mbit >/dev/null
	for i in 0 1 2 3; do
		ask open
		ask send $i
	done
	[ "$1" = begun ] || apply 8mbit >/dev/null
	[ "$1" = begun ] || until_true 60 shared 0 4 hands tick
	for i in 0 1 2 3; do
		soon_max "four $1: a quarter for $i" $i "$(payload $((rate / 4)))"
	done
	for i in 1 2 3; do
		ask quiet $i
	done
	until_true 60 shared 0 1 hands tick
	soon_max "four $1: three are idle, and one has all" 0 "$(payload $rate)"
	for i in 1 2 3; do
		ask close $i
	done
	ask open
	ask send 4
	if [ "$1" != begun ]; then
		# by then it may have sent for a part of a tick alone
		until_true 60 shared 0 2 hands tick
		until_true 60 shared 4 2 hands tick
	fi
	soon_max "four $1: three ended, one came: a half" 0 "$(payload $((rate / 2)))"
	soon_max "four $1: and the other half" 4 "$(payload $((rate / 2)))"
	apply 0 >/dev/null
	connections_end
}

# shared I N COMMAND...: connection I has an N-th after that
shared()
{
	local i=$1 n=$2

	shift 2
	"$@"
	max_is "$i" "$(payload $((8 * MBIT / n)))"
}

shares()
{
	share begun
	share running
}

# One with a window of the module's is an administrator's; one that grows as Reno's is not.
circuits_own()
{
	module_loaded || modprobe tcp_circuit 2>/dev/null || {
		skip "a circuit's own" "tcp_circuit cannot be loaded into $(uname -r)"
		return
	}
	apply 400mbit >/dev/null
	set_in src net.ipv4.tcp_circuit_fcwnd 100
	stream_begin -C circuit
	until_true 10 sending
	hands tick
	# not what an earlier connection still has to send
	equal "a circuit's own: no limit" 0 "$(in_src ss -Htin state established "dport = :$PORT" |
		grep -c 'pacing_rate [0-9]*bps/')"
	equal "a circuit's own: it is one" circuit "$(stream_algorithm)"
	stream_end
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	apply 0 >/dev/null
}

# fq paces by packets as they are on the wire.
below_fq()
{
	in_src tc qdisc replace dev eth1 root fq 2>/dev/null || {
		skip "below fq" "this kernel has no fq"
		return
	}
	apply 400mbit >/dev/null
	connections $DST4
	ask open
	ask send 0
	soon_max "below fq: its limit is all of the rate" 0 $((400 * MBIT))
	apply 0 >/dev/null
	equal "below fq: taken back" -1 "$(max 0)"
	connections_end
	in_src tc qdisc del dev eth1 root
}

outlives()
{
	local before stay

	connections $DST4
	ask open
	ask send 0
	apply 400mbit >/dev/null
	before=$(pinned)
	nsenter --net="/run/netns/$SRC" ctcpd_hands_bpf stay >"$TMP/stay" 7>&- 8<&- &
	stay=$!
	until_true 20 grep -q ready "$TMP/stay"
	refuses "a second one" EAGAIN "another process" hands look
	kill -9 $stay
	wait $stay 2>/dev/null
	equal "killed: its limit stays" "$(payload $((400 * MBIT)))" "$(max 0)"
	ask open
	at_most "killed: what begins has one" "$(payload $((400 * MBIT)))" "$(field max "$SAID")"
	matches "started again: as it was set" 'rate=400000000 state=set' "$(hands look)"
	matches "started again: no change" 'changed=0' "$(apply 400mbit)"
	same_pins "started again: pinned as it was" "$before"
	equal "started again: one program" 1 "$(programs)"
	matches "started again: another rate" 'changed=1' "$(apply 300mbit)"
	hands tick
	equal "started again: another rate is in force" "$(payload $((300 * MBIT)))" "$(max 0)"
	matches "started again: undo" 'changed=1' "$(hands undo)"
	equal "started again: undo: no limit" "-1 -1" "$(max 0) $(max 1)"
	equal "started again: undo: nothing is pinned" "" "$(pinned)"
	connections_end
}

# not_so WHAT EXPECTED GOT: a line where they differ
not_so()
{
	[ "$2" = "$3" ] || echo "# $1, round $round: expected $2, got $3"
}

# After a kill: taken up, with another rate, and taken back
recovered()
{
	not_so "not as set" 0 "$(hands look | grep -vc state=set)"
	hands apply eth1 $ALL4 400mbit 1ms eth1 10.77.2.0/25 0 1ms eth1 10.77.2.128/25 0 1ms >/dev/null
	not_so "set anew" 1 "$(hands look | grep -c "to=$ALL4 rate=400000000 state=set")"
	not_so "programs" 1 "$(programs)"
	ask show 0
	not_so "limit" "$(payload $((400 * MBIT)))" "$(field max "$SAID")"
	hands undo >/dev/null
	not_so "undone" "-1  0" "$(max 0) $(pinned) $(programs)"
}

# Killed at any time between two lists
cut_short()
{
	local rounds=15 round churn wrong=

	slow_kernel && rounds=3
	connections $DST4
	ask open
	ask send 0
	RANDOM=${BPF_SEED:=$$}
	echo "# BPF_SEED=$BPF_SEED"
	for ((round = 0; round < rounds; round++)); do
		nsenter --net="/run/netns/$SRC" ctcpd_hands_bpf churn eth1 >"$TMP/churn" 7>&- 8<&- &
		churn=$!
		until_true 20 grep -q ready "$TMP/churn"
		sleep "0.0$((RANDOM % 100))"
		kill -9 $churn
		wait $churn 2>/dev/null
		wrong+=$(recovered)
	done
	equal "killed $rounds times between two lists: nothing wrong" "" "$wrong"
	connections_end
}

same_pins()
{
	if [ "$2" = "$(pinned)" ] && [ -n "$2" ]; then
		pass "$1"
	else
		fail "$1" "expected: $2" "got: $(pinned)"
	fi
}

# By somebody: a daemon that stays says so, one that is started attaches it anew.
detached()
{
	apply 400mbit >/dev/null
	rm "$PINS"/*/event
	equal "unpinned: no program" 0 "$(programs)"
	matches "unpinned: started again, as it was set" 'state=set' "$(hands look)"
	equal "unpinned: one program" 1 "$(programs)"
	nsenter --net="/run/netns/$SRC" ctcpd_hands_bpf watch >"$TMP/watch" 7>&- 8<&- &
	until_true 20 grep -q state=set "$TMP/watch"
	ctcpd_limits detach "$(echo "$PINS"/*/event)"
	until_true 20 grep -q state=changed "$TMP/watch"
	matches "detached: a daemon that stays says so" \
		'state=changed device=1 why=.* was detached from the root cgroup' "$(tail -n 1 "$TMP/watch")"
	kill $!
	wait $! 2>/dev/null
	matches "detached: started again, as it was set" 'state=set' "$(hands look)"
	connections $DST4
	ask open
	equal "detached: started again, what begins" "$(payload $((400 * MBIT)))" "$(field max "$SAID")"
	connections_end
	hands undo >/dev/null
}

router_limit()
{
	in_rtr ss -Htin "dport = :$PORT" | grep -c 'pacing_rate [0-9]*bps/'
}

# The same prefix by a device of the same number
other_namespace()
{
	local index sender

	index=$(in_rtr cat /sys/class/net/r2/ifindex)
	ip -n "$SRC" link add twin-peer index 1077 type veth peer name twin index "$index"
	equal "another namespace: a device of the same number" twin \
		"$(ip -n "$SRC" -o link show | sed -n "s/^$index: \([a-z]*\).*/\1/p")"
	apply 400mbit $ALL4 "#$index" >/dev/null
	background rtr circuit_sock send -n 100000000000 $DST4 $PORT >/dev/null
	sender=$!
	until_true 10 eval 'in_rtr ss -Htn state established "dport = :$PORT" | grep -q .'
	hands tick
	equal "another namespace: no limit" 0 "$(router_limit)"
	equal "another namespace: its connection is there" 1 \
		"$(in_rtr ss -Htn state established "dport = :$PORT" | wc -l)"
	kill $sender
	wait $sender 2>/dev/null
	hands undo >/dev/null
	ip -n "$SRC" link del twin
}

all_or_nothing()
{
	local said

	apply 400mbit >/dev/null
	said=$(hands apply eth1 $ALL4 300mbit 1ms '#4711' 10.77.4.0/24 1mbit 1ms \
		eth1 10.77.5.0/24 1mbit 1ms 2>&1)
	matches "a device that is not there" 'ENODEV: .*index 4711' "$said"
	matches "a device that is not there: which of the list" 'changed=0 at=1 ' "$said"
	equal "a device that is not there: nothing has changed" 1 \
		"$(hands look | grep -c 'rate=400000000 state=set')"
	equal "a device that is not there: nothing has come" 1 "$(hands look | wc -l)"
	matches "the same twice" 'EEXIST: .*twice' \
		"$(hands apply eth1 10.77.4.0/24 1mbit 1ms eth1 10.77.4.0/24 2mbit 1ms 2>&1)"
	hands undo >/dev/null
}

# without WHAT CODE PATTERN SCRIPT: on a machine that is changed for it alone
without()
{
	refuses "without $1" "$2" "$3" unshare -m \
		bash -c "$4; nsenter --net=/run/netns/$SRC ctcpd_hands_bpf look"
	equal "without $1: nothing is pinned" "" "$(pinned)"
}

unable()
{
	refuses "without CAP_BPF" EACCES 'CAP_BPF, which' \
		setpriv --inh-caps=-bpf --bounding-set=-bpf ctcpd_hands_bpf look
	refuses "without any capability" EACCES 'CAP_BPF CAP_PERFMON CAP_NET_ADMIN' \
		setpriv --inh-caps=-all --bounding-set=-all ctcpd_hands_bpf look
	matches "with these three alone" 'rc=0 changed=1' "$(nsenter --net="/run/netns/$SRC" \
		setpriv --inh-caps=-all --bounding-set=-all,+bpf,+perfmon,+net_admin \
		ctcpd_hands_bpf apply eth1 $ALL4 1mbit 1ms 2>&1)"
	hands undo >/dev/null
	without bpffs EOPNOTSUPP 'no bpffs at /sys/fs/bpf' 'umount -l /sys/fs/bpf'
	without BTF EOPNOTSUPP CONFIG_DEBUG_INFO_BTF 'mount -t tmpfs none /sys/kernel/btf'
	without cgroup2 EOPNOTSUPP 'no cgroup2' 'umount -l -a -t cgroup2'
	without_memory
}

# Before Linux 6.7 that of all namespaces
optmem()
{
	in_src sysctl -n net.core.optmem_max 2>/dev/null || sysctl -n net.core.optmem_max
}

set_optmem()
{
	in_src sysctl -qw "net.core.optmem_max=$1" 2>/dev/null ||
		sysctl -qw "net.core.optmem_max=$1"
}

# The kernel takes what belongs to a socket from there, too.
without_memory()
{
	local before

	before=$(optmem)
	defer "set_optmem $before"
	set_optmem 1
	refuses "without memory for a socket's mark" EOPNOTSUPP \
		'no mark with a socket: Cannot allocate memory; net.core.optmem_max' \
		nsenter --net="/run/netns/$SRC" ctcpd_hands_bpf apply eth1 $ALL4 1mbit 1ms
	set_optmem "$before"
	equal "without memory for a socket's mark: nothing is pinned" "" "$(pinned)"
}

# --- the machine -----------------------------------------------------------------

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

[ -e /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
mount_bpffs || skip_all "bpffs cannot be mounted"
mount_cgroup2 || skip_all "cgroup2 cannot be mounted"
[ -z "$(pinned)" ] || skip_all "ctcpd paces by sockets on this machine"
network
serve dst
defer "rm -r $PINS"

serve_hands
cases one_begins one_accepted families others own shares circuits_own below_fq other_namespace \
	all_or_nothing
serve_hands_end
cases one_runs outlives cut_short detached unable
equal "at the end nothing is pinned" "" "$(pinned)"
equal "at the end there is no program" 0 "$(programs)"
finish

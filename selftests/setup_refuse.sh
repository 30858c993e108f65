#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# What cannot be right is refused before anything is changed: exit 2 for what was
# typed, 1 for what this machine cannot do, one line on stderr that quotes the
# value and says what would be right.  VLANs and ports of a bridge are devices
# like others; somebody's qdisc is never touched.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup tc setpriv
need_module

# --- what was typed --------------------------------------------------------

# typed PATTERN ARGUMENT...: exit 2
typed()
{
	local pattern=$1

	shift
	says "ctcp-setup $*" 2 "$pattern" setup "$@"
}

rates()
{
	typed '"0" is not a rate; write e.g. 4gbit' --rate 0 --rtt 26ms eth1
	typed '"0gbit" is out of range' --rate 0gbit --rtt 26ms eth1
	typed '"-1" is not a rate' --rate -1 --rtt 26ms eth1
	typed '"-1gbit" is not a rate' --rate=-1gbit --rtt 26ms eth1
	typed '"4" has no unit.*4gbit' --rate 4 --rtt 26ms eth1
	typed '"4mbps".*did you mean 4mbit' --rate 4mbps --rtt 26ms eth1
	typed '"4Gbps".*did you mean 4Gbit' --rate 4Gbps --rtt 26ms eth1
	typed '"4MBps".*did you mean' --rate 4MBps --rtt 26ms eth1
	typed '"1bit" is out of range' --rate 1bit --rtt 26ms eth1
	typed '"2tbit" is out of range' --rate 2tbit --rtt 26ms eth1
	typed '"four" is not a rate' --rate four --rtt 26ms eth1
	typed '"" is not a rate' --rate '' --rtt 26ms eth1
	typed '"99999999999999999999gbit"' \
		--rate 99999999999999999999gbit --rtt 26ms eth1
}

times()
{
	typed '"26" has no unit.*26ms' --rate 4gbit --rtt 26 eth1
	typed '"0ms" is out of range' --rate 4gbit --rtt 0ms eth1
	typed '"11s" is out of range' --rate 4gbit --rtt 11s eth1
	typed '"26min"' --rate 4gbit --rtt 26min eth1
}

others()
{
	typed '--rtt is missing' --rate 4gbit eth1
	typed '--rate is missing' --rtt 26ms eth1
	typed 'which device' --rate 4gbit --rtt 26ms
	typed '"eth1" and "eth2"' --rate 4gbit --rtt 26ms eth1 eth2
	typed '"a/b" is not a device' --rate 4gbit --rtt 26ms a/b
	typed '"abcdefghijklmnop" is not' --rate 4gbit --rtt 26ms abcdefghijklmnop
	typed '"--sped"' --rate 4gbit --rtt 26ms --sped 1 eth1
	typed '"0" is out of range' --rate 4gbit --rtt 26ms --streams 0 eth1
	typed '"50%" is out of range.*less than 50%' \
		--rate 4gbit --rtt 26ms --loss 50% eth1
	typed '"-1%" is not a part' --rate 4gbit --rtt 26ms --loss -1% eth1
	typed '"1.3x" is not a number' --rate 4gbit --rtt 26ms --multiple 1.3x eth1
	typed '"wfq" is not one of' --rate 4gbit --rtt 26ms --shaper wfq eth1
	typed '"10.0.0/8" is not a prefix' --rate 4gbit --rtt 26ms --to 10.0.0/8 eth1
	typed '"shwo" is neither a command nor a device' shwo
	typed '"help" is neither a command nor a device' help
	typed '"shwo" is neither a command nor a device; did you mean show' shwo eth1
	typed '"e\?1" has control characters' --rate 4gbit --rtt 26ms $'e\e1'
	typed '"e\?1" has control characters or is not UTF-8' --json --rate 4gbit --rtt 26ms $'e\xff1'
	typed 'which device' undo
	typed 'rate.*show' show --rate 4gbit eth1
	typed '"a b" is neither a circuit.s name nor the address' reset 'a b'
	typed '"a b" is not a name for a circuit' --rate 4gbit --rtt 26ms --name 'a b' eth1
	typed '--to: 10.0.0.0/8 is given twice' \
		--rate 4gbit --rtt 26ms --to 10.0.0.0/8 --to 10.0.0.0/8 eth1
	typed '"set" is not one of set NAME' circuit set
	typed 'circuit lhc needs a prefix' circuit set lhc window 1
	typed 'circuit lhc needs a window' circuit set lhc prefix ::/0
	typed 'window: "0" is out of range' circuit set lhc prefix ::/0 window 0
	typed '"eth1" is one word too many' monitor eth1
	typed 'one name or address at a time, not "192.0.2.1" and "192.0.2.2"' reset 192.0.2.1 192.0.2.2
}

# --- what this machine cannot do -------------------------------------------

# cannot NAME PATTERN ARGUMENT...: exit 1
cannot()
{
	local name=$1 pattern=$2

	shift 2
	complains "$name" 1 "$pattern" setup "$@"
}

# One stream's window ends at 1 GiB, a circuit's at 2^26 segments, one queue at 4 GiB.
too_large()
{
	cannot "400 Gbit/s x 600 ms" '25759578 segments.*--streams 35' \
		--rate 400gbit --rtt 600ms eth1
	cannot "1 Tbit/s x 10 s" '1073315720 segments is more than a circuit takes' \
		--rate 1tbit --rtt 10s --streams 2000 eth1
	cannot "400 Gbit/s x 600 ms in 64 streams" 'limit of .* bytes.*4294967295' \
		--rate 400gbit --rtt 600ms --streams 64 eth1
	cannot "a bucket smaller than a segment" '--burst: 1000 bytes' \
		--rate 4gbit --rtt 26ms --burst 1000 eth1
	cannot "a queue smaller than a segment" '--limit: 1000 bytes' \
		--rate 4gbit --rtt 26ms --limit 1000 eth1
	cannot "a segment larger than the MTU" '--mss: 9000 .*eth1.* 1460' \
		--rate 4gbit --rtt 26ms --mss 9000 eth1
	cannot "one stream above what fq paces" '34.35gbit.*--streams' \
		--rate 40gbit --rtt 1ms --shaper fq eth1
}

devices()
{
	cannot "a device that is not there" 'no device eth7' \
		--rate 4gbit --rtt 26ms eth7
	cannot "the loopback device" 'lo is the loopback' --rate 4gbit --rtt 26ms lo
	ip -n "$HOST" link set eth1 down
	cannot "a device that is down" 'eth1 is down' --rate 4gbit --rtt 26ms eth1
	ip -n "$HOST" link set eth1 up
	ip -n "$HOST" addr replace fd78::1/64 dev eth1 nodad
	ip -n "$HOST" link add br0 type bridge
	ip -n "$HOST" link set br0 addrgenmode none
	ip -n "$HOST" link set br0 up
	cannot "a bridge without a port" 'br0 is a bridge' \
		--rate 4gbit --rtt 26ms br0
	ip -n "$HOST" link set eth1 master br0
	cannot "a bridge" 'br0 is a bridge.*eth1' --rate 4gbit --rtt 26ms br0
}

# good_device DEV WORDS: set up with a note that has these words, and undone
good_device()
{
	local before

	before=$(state)
	works "$1" setup --rate 4gbit --rtt 26ms "$1"
	matches "$1: a note" "note: $2" "$OUT"
	matches "$1: shaped" '^qdisc tbf .*rate 4Gbit .*limit 16900782b' \
		"$(root_qdisc "$1")"
	works "$1: undo" setup undo --quiet "$1"
	unchanged "$1: as before" "$before"
}

# eth1 is a port of br0 by now.
good_devices()
{
	good_device eth1 'eth1 is a port of br0'
	another_device eth2
	ip -n "$HOST" link add link eth2 name eth2.7 type vlan id 7
	ip -n "$HOST" link set eth2.7 addrgenmode none
	ip -n "$HOST" link set eth2.7 up
	good_device eth2.7 'eth2.7 sits on eth2'
	# Debian's kernels have it, the lab's has not
	if ! ip -n "$HOST" link add link eth2 name mac2 type macvlan 2>/dev/null; then
		echo "# good_devices: no macvlan, this kernel has none" >&2
		return
	fi
	ip -n "$HOST" link set mac2 addrgenmode none
	ip -n "$HOST" link set mac2 up
	good_device mac2 'mac2 sits on eth2'
}

# no_more DEV: than the bond's link carries (a veth says 10 Gbit/s), whatever else is there
no_more()
{
	cannot "$1: more than the bond carries" "20gbit is more than $1 carries, 10000mbit" \
		add ska --to 10.82.0.0/16 --rate 20gbit --rtt 1ms --shaper none "$1"
}

# Those that send by another device have its speed, and all of them together.
on_a_bond()
{
	local before dev six="--rate 6gbit --rtt 1ms --shaper none"

	# Debian's kernels have it, the lab's has not
	if ! ip -n "$HOST" link add bond0 type bond 2>/dev/null; then
		echo "# on_a_bond: no bond, this kernel has none" >&2
		return
	fi
	another_device eth5
	ip -n "$HOST" -batch - <<-END
		link set bond0 addrgenmode none
		link set eth5 down
		link set eth5 master bond0
		link set bond0 up
		link add link bond0 name mac5 type macvlan
		link add link bond0 name bond0.7 type vlan id 7
		link set mac5 addrgenmode none
		link set bond0.7 addrgenmode none
		addr add 10.79.0.1/24 dev mac5
		addr add 10.80.0.1/24 dev bond0.7
		link set mac5 up
		link set bond0.7 up
	END
	until_true 10 in_host grep -q 10000 /sys/class/net/bond0/speed
	for dev in bond0 mac5 bond0.7; do
		no_more $dev
	done
	before=$(state)
	# shellcheck disable=SC2086 # its words
	{
		works "a macvlan of a bond" setup add lhc --to 10.79.0.128/25 $six --quiet mac5
		cannot "a VLAN of it beside that" \
			'with circuit ska those on bond0 .*have 12gbit, more than the 10gbit' \
			add ska --to 10.80.0.128/25 $six bond0.7
	}
	works "a macvlan of a bond: undo" setup undo --quiet mac5
	unchanged "a macvlan of a bond: as before" "$before"
}

# By whichever name it is called, it is one device and has one circuit.  300 names are
# more than 32 KiB of one netlink message; Debian 11, whose libnl cannot take that, says
# "Out of memory" and changes nothing.
names()
{
	local before n many=300

	[[ $(uname -r) != 5.10.* ]] || many=100

	another_device eth4
	ip -n "$HOST" link property add dev eth4 altname wan
	for n in $(seq $many); do
		echo "link property add dev eth4 altname $(printf 'x%0126d' "$n")"
	done | ip -n "$HOST" -batch -
	before=$(state)
	works "by an alternative name of many" setup --rate 4gbit --rtt 26ms wan
	matches "the circuit is that of the device" '^eth4: circuit of 4gbit' "$OUT"
	equal "and is called as it" 1 "$(setup circuit list | grep -c '^eth4 ')"
	works "again by its own name" setup --rate 4gbit --rtt 26ms eth4
	matches "again by its own name: nothing to do" 'nothing to change' "$OUT"
	works "undo by the alternative name" setup undo --quiet wan
	unchanged "undo by the alternative name: as before" "$before"
	ip -n "$HOST" link del eth4
}

# exit_of STATUS PATTERN FILE COMMAND...: with its output to FILE
exit_of()
{
	local status=$1 pattern=$2 file=$3

	shift 3
	"$@" >"$file" 2>"$TMP/err"
	equal "$*, output to $file: exit status" "$status" $?
	matches "$*, output to $file: what it says" "$pattern" "$(<"$TMP/err")"
}

# Done is done, whether or not it can be told.
output()
{
	local before

	before=$(state)
	exit_of 3 'done, but the output cannot be written: No space' /dev/full \
		in_host ctcp-setup --rate 4gbit --rtt 26ms eth1
	matches "it was done" '^qdisc tbf .*rate 4Gbit' "$(root_qdisc eth1)"
	for option in --json ''; do
		# shellcheck disable=SC2086 # a word or none
		exit_of 3 'done, but the output' /dev/full in_host ctcp-setup show $option
	done
	in_host ctcp-setup show >&- 2>"$TMP/err"
	equal "show with its output closed: exit status" 3 $?
	in_host ctcp-setup undo eth1 >&- 2>"$TMP/err"
	equal "undo with its output closed: exit status" 3 $?
	unchanged "undo with its output closed: as before" "$before"
	for option in -h --help; do
		matches "$option" '^Usage: ctcp-setup' "$(setup $option)"
	done
	equal "-V" "$(setup --version)" "$(setup -V)"
}

# foreign KIND WORDS: somebody's root qdisc, left as it was
foreign()
{
	# shellcheck disable=SC2086 # the words of tc
	succeeds "$1: somebody's" in_host tc qdisc add dev eth1 root $2
	cannot "$1 of somebody's" "eth1 .*somebody else.* $1" \
		--rate 4gbit --rtt 26ms eth1
	cannot "$1 of somebody's, for fq" "eth1 .*somebody else.* $1" \
		--rate 4gbit --rtt 26ms --shaper fq eth1
	in_host tc qdisc del dev eth1 root
}

# Ours by its handle, but whoever made it did not write it down.
with_our_handle()
{
	local handle

	setup --quiet --rate 4gbit --rtt 26ms eth1
	handle=$(root_qdisc eth1 | sed 's/^qdisc tbf \([0-9a-f]*:\).*/\1/')
	setup undo --quiet eth1
	in_host tc qdisc add dev eth1 root handle "$handle" \
		tbf rate 1gbit burst 100kb limit 1mb
}

foreigners()
{
	foreign htb "handle 1: htb default 10"
	foreign prio "handle 1: prio"
	foreign fq "handle 8001: fq maxrate 1gbit"
	foreign tbf "handle 1: tbf rate 1gbit burst 100kb limit 1mb"
	foreign netem "netem delay 1ms"
	with_our_handle
	cannot "a qdisc with our handle and no state" 'eth1 .*no state' \
		--rate 4gbit --rtt 26ms eth1
	in_host tc qdisc del dev eth1 root
}

# A circuit of somebody's is not taken over, whatever it has; nor another device's.
circuits()
{
	succeeds "a circuit eth1 of somebody's" in_host circuit_nl new eth1 \
		prefix 192.0.2.0/24 window 5
	cannot "a circuit of somebody's" \
		'a circuit eth1 that no state tells of, window=5 prefixes=192.0.2.0/24; ctcp-setup circuit del eth1 ' \
		--rate 4gbit --rtt 26ms eth1
	cannot "a prefix of somebody's" "192.0.2.0/24 is that of circuit eth1 in the kernel, which no state tells of; ctcp-setup circuit del eth1 " \
		--rate 4gbit --rtt 26ms --name other --to 192.0.2.0/24 --via 10.78.0.254 eth1
	works "circuit del" setup circuit del eth1
	works "a run after that" setup --quiet --rate 4gbit --rtt 26ms --name mine eth1
	another_device eth3
	cannot "a circuit of another device's" 'circuit mine is that of another device' \
		--rate 4gbit --rtt 26ms --name mine eth3
	ip -n "$HOST" link del eth3
	works "undo" setup undo --quiet eth1
	cannot "reset of a circuit that is none" 'there is no circuit lhc;' reset lhc
	cannot "del of a circuit that is none" 'there is no circuit lhc;' circuit del lhc
	cannot "a circuit by a device that is none" 'there is no device eth7' \
		circuit set lhc prefix ::/0 window 1 dev eth7
}

# shellcheck disable=SC2317 # called by complains
without_net_admin()
{
	in_host setpriv --bounding-set=-net_admin --inh-caps=-net_admin \
		ctcp-setup "$@"
}

rights()
{
	local before

	complains "without CAP_NET_ADMIN" 1 'CAP_NET_ADMIN' \
		without_net_admin --rate 4gbit --rtt 26ms eth1
	complains "undo without CAP_NET_ADMIN" 1 'CAP_NET_ADMIN' \
		without_net_admin undo eth1
	complains "reset without CAP_NET_ADMIN" 1 'CAP_NET_ADMIN' \
		without_net_admin reset
	complains "monitor without CAP_NET_ADMIN" 1 'CAP_NET_ADMIN' \
		without_net_admin monitor
	complains "circuit set without CAP_NET_ADMIN" 1 'CAP_NET_ADMIN' \
		without_net_admin circuit set lhc prefix ::/0 window 1
	before=$(state)
	run without_net_admin --dry-run --rate 4gbit --rtt 26ms eth1
	equal "--dry-run without CAP_NET_ADMIN: exit status" 0 "$RC"
	matches "--dry-run without CAP_NET_ADMIN: its lines" '^tc qdisc replace' "$OUT"
	unchanged "--dry-run without CAP_NET_ADMIN" "$before"
	run without_net_admin show
	equal "show without CAP_NET_ADMIN: exit status" 0 "$RC"
	run without_net_admin circuit list
	equal "circuit list without CAP_NET_ADMIN: exit status" 0 "$RC"
}

typing()
{
	local before

	before=$(state)
	rates
	times
	others
	unchanged "after all that was mistyped nothing is changed" "$before"
}

host refuse
typing
too_large
rights
circuits
foreigners
names
output
devices
good_devices
on_a_bond
host_end
finish

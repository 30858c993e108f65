#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# changes.sh: what a change of a circuit costs the circuit's own running stream: prints
# docs/changes.md, from runs in virtual time.
#
# It boots the virtual-time machine with itself as the script there.

if [ "${LAB:-}" != uml ]; then
	here=$(cd "$(dirname "$0")" && pwd)
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
	make -s -C "$here/../.." tools tests-bin >&2 || exit 1
	LAB_KERNEL=${LAB_KERNEL-newest} "$here/uml.sh" -m 4G -t 900 -o "$out" -s 1 "$0" >&2 ||
		exit 1
	cat "$out/changes.md"
	exit
fi

. "$(dirname "$0")/../lib.sh"
. "$SELFTESTS/setup_lib.sh"
. "$SELFTESTS/touch_lib.sh"
need_module

# shellcheck disable=SC2034 # of touch_lib.sh
ONE_WAY_MS=10
RATE=10mbit
RTT=20ms
CHANGE_MS=1500
FROM_MS=$((CHANGE_MS - 100))
UNTIL_MS=3500
OWN=10.81.1.0/24	# of the circuit "own": its stream is to 10.81.1.1
MORE=10.80.1.0/24	# another prefix of it
OTHER=10.82.1.0/24	# of the circuit "other"

# circuit NAME PREFIXES VLAN: a line of a circuits file
circuit()
{
	echo "add $1 --to $2 --rate $RATE --rtt $RTT $(how "$3")"
}

circuits()
{
	circuit own "$1" 1
	circuit other "$2" 2
}

# --- changes --------------------------------------------------------------------------

CHANGES="nothing rate_up rate_down window_up window_down add_prefix take_prefix
	take_own_prefix move_prefix shaper del undo reset"

own()
{
	setup change own "$@" --quiet
}

# shellcheck disable=SC2317 # these are called by their names
{
nothing() { true; }
rate_up() { own --rate 20mbit; }
rate_down() { own --rate 5mbit; }
window_up() { own --rtt 40ms; }
window_down() { own --rtt 15ms; }
# shellcheck disable=SC2046 # words
add_prefix() { own --to "$OWN,$MORE,10.80.2.0/24" $(via 1); }
# shellcheck disable=SC2046
take_prefix() { own --to $OWN $(via 1); }
# shellcheck disable=SC2046
take_own_prefix() { own --to $MORE $(via 1); }
del() { setup del own --quiet; }
undo() { setup undo --all --quiet; }
reset() { setup reset own; }
}

# In one command: the file's two circuits change together.
# shellcheck disable=SC2317
move_prefix()
{
	circuits $MORE "$OTHER,$OWN" >"$TMP/moved"
	setup apply --quiet "$TMP/moved"
}

# shellcheck disable=SC2317
shaper()
{
	case $LAYOUT in
	htb | vlan) own --shaper none --pace ;;
	none) own --shaper htb ;;
	fq) own --unpaced ;;
	esac
}

say_of()
{
	case $1 in
	nothing) echo "no change" ;;
	rate_up) echo "rate from 10 to 20 Mbit/s" ;;
	rate_down) echo "rate from 10 to 5 Mbit/s" ;;
	window_up) echo "window: \`--rtt\` from 20 to 40 ms" ;;
	window_down) echo "window: \`--rtt\` from 20 to 15 ms" ;;
	add_prefix) echo "a prefix more" ;;
	take_prefix) echo "a prefix less, not the stream's" ;;
	take_own_prefix) echo "the stream's prefix taken" ;;
	move_prefix) echo "the stream's prefix moved to another circuit" ;;
	shaper) echo "another shaper" ;;
	*) echo "\`$1\`" ;;
	esac
}

# --- runs -------------------------------------------------------------------------------

# cost CHANGE: a cell of the table
cost()
{
	local stream got

	circuits "$OWN,$MORE" $OTHER >"$TMP/circuits"
	setup apply --quiet "$TMP/circuits" 2>/dev/null || fail "$LAYOUT, $1: apply"
	capture arrivals
	full_second
	background src timeout 60 circuit_streams -w 0 -t $((UNTIL_MS + 200)) 10.81.1.1 $PORT \
		>/dev/null
	stream=$!
	sleep "$(awk "BEGIN { print $CHANGE_MS / 1000 }")"
	"$1" >/dev/null || fail "$LAYOUT, $1"
	wait $stream
	capture_end
	end_sockets src
	sleep 1
	next_server
	setup undo --all --quiet || fail "$LAYOUT, $1: undo"
	got=$(circuit_arrivals stream $FROM_MS $UNTIL_MS "$TMP/arrivals")
	echo "# $LAYOUT, $1: $got" >&2
	awk -v l="$(field lost "$got")" -v g="$(field gap_us "$got")" \
		-v r="$(field reordered "$got")" \
		'BEGIN { printf "%d / %.1f / %d\n", l, g / 1000, r }'
}

# column LAYOUT: a cell of each change, a line each
column()
{
	local change

	far_sides "$1"
	lay_out "$1" 1 2
	neighbours
	for change in $CHANGES; do
		cost "$change" >>"$TMP/column-$1"
	done
	far_sides_end
}

table()
{
	local layout change n=0

	echo "| change | \`htb\` | \`none\` | \`none\` above fq | \`tbf\` on a VLAN |"
	echo "| --- | --- | --- | --- | --- |"
	for change in $CHANGES; do
		n=$((n + 1))
		printf '| %s' "$(say_of "$change")"
		for layout in $LAYOUTS; do
			printf ' | %s' "$(sed -n ${n}p "$TMP/column-$layout")"
		done
		echo " |"
	done
}

document()
{
	cat <<-'END'
	<!-- SPDX-License-Identifier: GPL-2.0 -->
	# What a change of a circuit costs

	Written by `make changes` (`selftests/lab/changes.sh`), from runs in virtual time.

	Others lose nothing: `selftests/setup_touch.sh` asserts it packet by packet, for each of the
	shapers below, beside fifty changes in ten seconds: no packet of another circuit lost or
	overtaken, none more than 1 ms later than in a run without changes.

	What the circuit's own running stream pays, in the two seconds after the change:
	**packets lost / longest gap in delivery, ms / bytes overtaken**. One stream fills a
	circuit of 10 Mbit/s and 20 ms; it is captured at the far side. A packet of 1514 bytes
	takes 1.2 ms at that rate, and 2.4 ms at half of it: a gap as long as the first row's is
	none. Packets are told apart by the number in their IP header, which is a new one
	when TCP sends a segment again.

	END
	table
	cat <<-'END'

	Another shaper is `none` with `--pace` for circuits of htb and of tbf, htb for those
	that the module paces, and `--unpaced` above fq, whose qdisc is somebody's and stays.
	`undo` is that of all circuits. The prefix is moved by one `apply` of a file in which it
	is the other circuit's.

	In virtual time what the tool itself computes takes no time, while each of its waits for
	the kernel does. On a machine of your own a change of several steps (a prefix moved,
	another shaper, `del`, `undo`) has its steps apart by the time of a netlink request each, and
	the gaps above are longer by as much.
	END
}

for layout in $LAYOUTS; do
	column "$layout"
done
document >/lab/changes.md
[ $TAP_FAILED = 0 ]

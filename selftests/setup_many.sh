#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Several circuits on a device: add, change, del, list; a file of them that the host
# is made equal to (apply), held against (diff), and that is written from it (save).
# The module holds each one's rate, and no other circuit is touched by a change.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup ctcp-setup-faulty tc jq
need_module

STEPS_MAX=60
MANY=300
slow_kernel && MANY=40	# still more than are set at once
ANSWERS=4		# for each part, at most
LOOKS=100
ONE=80			# answers for one among MANY: asked of it alone

# circuits: their names as the kernel has them, in one line
circuits()
{
	configured | sed 's/^name=\([^ ]*\) .*/\1/' | sort | tr '\n' ' '
}

# add NAME PREFIX RATE [OPTION...]
add()
{
	local name=$1 to=$2 rate=$3

	shift 3
	setup add "$name" --to "$to" --via 10.78.0.254 --rate "$rate" --rtt 10ms --quiet "$@" eth1
}

add_change_del()
{
	local before kept

	without_module
	host one-by-one
	before=$(state)
	works "add" add lhc 10.81.0.0/16 1gbit
	works "add a second one on the same device" add ska 10.82.0.0/16 2gbit
	equal "both are in the kernel" "lhc ska " "$(circuits)"
	equal "the module paces the first" 125000000 "$(circuit_value lhc rate)"
	equal "... and the second" 250000000 "$(circuit_value ska rate)"
	matches "no shaper holds them" '^qdisc noqueue' "$(root_qdisc eth1)"
	matches "a route for each" '10.82.0.0/16 .*congctl circuit' \
		"$(in_host ip route show 10.82.0.0/16)"
	works "verify" setup verify
	matches "verify counts both" '^2 circuits' "$OUT"
	works "list" setup list
	matches "list: one a line" '^ska +eth1 +2gbit +10ms +none +10.82.0.0/16$' "$OUT"
	works "list --json" setup list --json
	json_is "list --json: two" 2 length
	kept=$(configured | grep '^name=lhc ')
	works "change" setup change ska --rate 3gbit --quiet
	equal "change: the rate" 375000000 "$(circuit_value ska rate)"
	matches "change: what was not named stays" '^ska .* 3gbit +10ms .*10.82' "$(setup list)"
	equal "change: the other is as it was" "$kept" "$(configured | grep '^name=lhc ')"
	works "show of one" setup show lhc
	matches "show of one says whose plan it is" '^eth1: circuit lhc of 1gbit' "$OUT"
	refused "show of one shows no other" grep -q 3gbit <<<"$OUT"
	works "del" setup del ska --quiet
	equal "del: the other stays" "lhc " "$(circuits)"
	equal "del: its route goes" "" "$(in_host ip route show 10.82.0.0/16)"
	works "undo of the device" setup undo --quiet eth1
	unchanged "all as before" "$before"
	host_end
}

refusals()
{
	local before

	host refusals
	add lhc 10.81.0.0/16 1gbit
	before=$(state)
	complains "a name twice" 1 'eth1 has a circuit lhc already; ctcp-setup change lhc' \
		setup add lhc --to 10.82.0.0/16 --rate 1gbit --rtt 1ms eth1
	complains "a prefix twice" 1 '10.81.0.0/16 is that of circuit lhc on eth1' \
		setup add ska --to 10.81.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms eth1
	complains "a part of another's prefix" 1 'overlaps 10.81.0.0/16 of circuit lhc; .*--overbook' \
		setup add ska --to 10.81.7.0/24 --via 10.78.0.254 --rate 1gbit --rtt 1ms eth1
	complains "a shaper beside it" 1 'tbf of ska would hold both to one rate' \
		setup add ska --to 10.82.0.0/16 --via 10.78.0.254 --shaper tbf --rate 1gbit \
		--rtt 1ms eth1
	complains "add without a name" 2 'which circuit' setup add
	complains "add without a device" 2 'which device' \
		setup add ska --rate 1gbit --rtt 1ms
	complains "change of none" 1 'no circuit ska; ctcp-setup list' \
		setup change ska --rate 1gbit
	complains "del of none" 1 'no circuit ska; ctcp-setup list' setup del ska
	complains "del by a device's name" 1 'no circuit eth1;' setup del eth1
	complains "--all and a device" 2 '"eth1", not both' setup undo --all eth1
	unchanged "refused: nothing was changed" "$before"
	setup circuit set mine prefix 10.85.0.0/16 window 7
	before=$(state)
	complains "a prefix of circuit set" 1 \
		'10.85.0.0/16 is that of circuit mine in the kernel, which no state tells of' \
		setup add ska --to 10.85.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms eth1
	complains "a prefix of circuit set, --dry-run" 1 '10.85.0.0/16 is that of circuit mine' \
		setup add ska --to 10.85.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 1ms \
		--dry-run eth1
	unchanged "a prefix of circuit set: nothing was changed" "$before"
	works "show of circuit set's" setup show mine
	matches "show of circuit set's: whose" '^not set up by ctcp-setup:' "$OUT"
	setup circuit del mine
	run setup circuit set lhc prefix 10.81.0.0/16 window 9
	equal "circuit set of what was set up: exit status" 0 "$RC"
	matches "circuit set of what was set up: it is said" \
		'circuit lhc is one that ctcp-setup has set up' "$ERR"
	works "set up again" setup change lhc --quiet
	works "set up again: verify" setup verify
	another_device eth2
	setup add eth2 --to 10.86.0.0/16 --via 10.78.0.254 --rate 1mbit --rtt 1ms --quiet eth1
	setup --rate 1mbit --rtt 1ms --quiet --name two eth2
	complains "undo of a name that is another's device" 1 \
		'eth2 is the name of a circuit on eth1, and the device of circuit two' \
		setup undo eth2
	works "del of both" setup del eth2 --quiet
	setup del two --quiet
	works "a part of another's prefix on purpose" \
		add ska 10.81.7.0/24 1gbit --overbook
	complains "the bare command beside two" 1 'eth1 has 2 circuits; ctcp-setup change' \
		setup --rate 1gbit --rtt 1ms eth1
	works "undo --all" setup undo --all --quiet
	equal "undo --all: no circuit" "" "$(circuits)"
	host_end
}

# routes: by which prefixes circuit is led to, with their gateways, in one line
routes()
{
	{
		in_host ip -4 route show
		in_host ip -6 route show
	} | sed -n 's/^\([^ ]*\) via \([^ ]*\) .*congctl circuit.*/\1>\2/p' | tr '\n' ' '
}

# prefixes_of NAME: in order, with commas between
prefixes_of()
{
	configured | sed -n "s/^name=$1 .* prefixes=\([^ ]*\) .*/\1/p" | tr ',' '\n' | sort |
		paste -sd,
}

# One circuit with several prefixes of both families: one window, a route for each.
# A circuit that was added is not the bare command's to take away; its own it replaces,
# and one of the same name.
beside_a_bare_one()
{
	local before list

	host bare
	before=$(state)
	add lhc 10.81.0.0/16 1gbit
	list=$(setup save)
	complains "bare beside one that was added" 1 \
		'eth1 has circuit lhc; ctcp-setup change lhc changes it, add NAME gives eth1 one more, undo lhc clears' \
		setup --rate 2gbit --rtt 10ms eth1
	complains "bare beside it, --dry-run" 1 'eth1 has circuit lhc' \
		setup --rate 2gbit --rtt 10ms --dry-run eth1
	equal "bare beside it: it stands" "$list" "$(setup save)"
	works "bare by its name" setup --quiet --rate 2gbit --rtt 10ms --name lhc eth1
	works "bare once more, by another" setup --quiet --rate 3gbit --rtt 10ms eth1
	equal "bare once more: the one of before is gone" "eth1 " "$(circuits)"
	works "bare, changed" setup change eth1 --quiet --rate 4gbit
	works "bare over what was changed" setup --quiet --rate 3gbit --rtt 10ms --name lhc eth1
	equal "bare over what was changed: one" "lhc " "$(circuits)"
	complains "add beside a bare one" 1 \
		'ctcp-setup change lhc --shaper none --pace holds it by the module$' \
		setup add ska --to 10.82.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 10ms eth1
	works "as it says: change" setup change lhc --quiet --shaper none --pace
	works "as it says: add" add ska 10.82.0.0/16 1gbit
	works "undo" setup undo --all --quiet
	unchanged "bare beside others: all as before" "$before"
	# a file's circuits were added
	circuits_file "add lhc --rate 1gbit --rtt 10ms --shaper tbf eth1"
	works "a file's" setup apply --quiet "$TMP/circuits"
	complains "bare over a file's" 1 'eth1 has circuit lhc' setup --rate 2gbit --rtt 10ms eth1
	works "a file's: undo" setup undo --all --quiet
	host_end
}

# What a file would change, in JSON as add tells it
json_preview()
{
	local lines

	host preview
	circuits_file "$LHC" "$SKA"
	works "apply --dry-run" setup apply --dry-run --quiet "$TMP/circuits"
	lines=$OUT
	works "apply --dry-run --json" setup apply --dry-run --json "$TMP/circuits"
	json_is "apply --dry-run --json: not applied" false .applied
	equal "apply --dry-run --json: the same commands" "$lines" "$(jq -r '.commands[]' <<<"$OUT")"
	json_is "apply --dry-run --json: each is a change" true '.changes | length > 5'
	equal "apply --dry-run --json: nothing is set up" "[]" "$(setup list --json)"
	host_end
}

prefixes()
{
	local before three

	without_module
	host prefixes
	before=$(state)
	works "several prefixes" setup add lhc --to 10.82.0.0/16,fd82::/32 --to 10.81.0.0/16 \
		--via fd78::254 --via 10.78.0.254 --rate 1gbit --rtt 10ms --quiet eth1
	equal "several prefixes: one circuit" "lhc " "$(circuits)"
	equal "several prefixes: it has all" "10.81.0.0/16,10.82.0.0/16,fd82::/32" \
		"$(prefixes_of lhc)"
	equal "several prefixes: a route for each" \
		"10.81.0.0/16>10.78.0.254 10.82.0.0/16>10.78.0.254 fd82::/32>fd78::254 " "$(routes)"
	matches "several prefixes: list" ' 10.81.0.0/16,10.82.0.0/16,fd82::/32$' "$(setup list)"
	works "several prefixes: list --json" setup list --json
	json_is "several prefixes: list --json" fd82::/32 '.[0].to[2]'
	works "several prefixes: verify" setup verify
	works "several prefixes: the same again" setup change lhc --json
	json_is "several prefixes: the same again changes nothing" 0 '.changes | length'
	three=$(state)
	complains "a prefix of another among several" 1 '10.82.0.0/16 is that of circuit lhc' \
		setup add ska --to 10.83.0.0/16,10.82.0.0/16 --via 10.78.0.254 --rate 1gbit \
		--rtt 1ms eth1
	unchanged "a prefix of another among several: nothing was changed" "$three"
	setup save >"$TMP/saved"
	works "change of the prefixes" setup change lhc --to 10.82.0.0/16,10.84.0.0/16 \
		--via 10.78.0.254 --quiet
	equal "change of the prefixes: it has these" "10.82.0.0/16,10.84.0.0/16" \
		"$(prefixes_of lhc)"
	equal "change of the prefixes: the routes" \
		"10.82.0.0/16>10.78.0.254 10.84.0.0/16>10.78.0.254 " "$(routes)"
	works "apply of what was saved" setup apply --quiet "$TMP/saved"
	equal "apply of what was saved: it has all" "10.81.0.0/16,10.82.0.0/16,fd82::/32" \
		"$(prefixes_of lhc)"
	works "apply of what was saved: verify" setup verify
	works "undo" setup undo --quiet eth1
	unchanged "several prefixes: all as before" "$before"
	host_end
}

# --- files -----------------------------------------------------------------

# circuits_file LINE...
circuits_file()
{
	printf '%s\n' "$@" >"$TMP/circuits"
}

LHC="add lhc --to 10.81.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 10ms --pace eth1"
SKA="add ska --to 10.82.0.0/16 --via 10.78.0.254 --rate 2gbit --rtt 10ms --pace eth1"
ESA="add esa --to 10.83.0.0/16 --via 10.78.0.254 --rate 3gbit --rtt 10ms --pace eth1"

# What circuits that stand have lost, apply of the same file sets again; what somebody has
# set in its place it leaves, and verify tells.
lost()
{
	in_host ip route del 10.81.0.0/16
	in_host sysctl -qw net.ipv4.tcp_no_metrics_save=0
	run setup verify lhc
	equal "lost: verify of one circuit: exit status" 1 "$RC"
	matches "lost: verify of one circuit: what the machine is to have" 'tcp_no_metrics_save' "$OUT"
	equal "lost: verify of one circuit: each once" 2 "$(wc -l <<<"$OUT")"
	matches "lost: verify says whose it is" '^lhc on eth1: route 10.81.0.0/16 is absent' "$OUT"
	run setup verify --json
	json_is "lost: verify, whose it is" lhc \
		'.[] | select(.name == "10.81.0.0/16").circuit'
	run setup diff "$TMP/saved"
	equal "lost: diff: exit status" 1 "$RC"
	matches "lost: diff: nothing is changed" '^  differs [a-z]+ ' "$OUT"
	matches "lost: diff: how many" '^ctcp-setup: 2 differences from ' "$ERR"
	works "lost: apply" setup apply --quiet "$TMP/saved"
	works "lost: apply, then verify" setup verify
	equal "lost: apply sets a sysctl again" 1 "$(value net.ipv4.tcp_no_metrics_save)"
	in_host ip route replace 10.81.0.0/16 via 10.78.0.253 dev eth1
	works "led another way: apply" setup apply --quiet "$TMP/saved"
	matches "led another way: apply leaves it" 'via 10.78.0.253' \
		"$(in_host ip route show 10.81.0.0/16)"
	run setup verify
	equal "led another way: verify: exit status" 1 "$RC"
	setup change lhc --via 10.78.0.254 --quiet
}

files()
{
	local before kept

	without_module
	host files
	before=$(state)
	circuits_file "# what shall be" "" "$LHC" "  $SKA	# a tab, a comment"
	run setup diff "$TMP/circuits"
	equal "diff before apply: exit status" 1 "$RC"
	matches "diff before apply: how many" '[0-9]+ differences from ' "$ERR"
	matches "diff before apply: a new one" 'circuit lhc: absent -> window' "$OUT"
	unchanged "diff changes nothing" "$before"
	works "apply" setup apply "$TMP/circuits"
	equal "apply: what the file has" "lhc ska " "$(circuits)"
	equal "apply: how long that lasts, once" \
		"note: all of this lasts until ctcp-setup undo --all, or the next boot: ctcp-setup.service applies /etc/ctcp-setup/circuits then" \
		"$(grep ' lasts ' <<<"$OUT")"
	works "diff after apply" setup diff "$TMP/circuits"
	works "apply again" setup apply --json "$TMP/circuits"
	json_is "apply again changes nothing" 0 '.changes | length'
	kept=$(configured | grep '^name=lhc ')
	circuits_file "$LHC" "${SKA/2gbit/4gbit}" "$ESA"
	works "apply of a change and a new one" setup apply --quiet "$TMP/circuits"
	equal "apply: three" "esa lhc ska " "$(circuits)"
	equal "apply: the change" 500000000 "$(circuit_value ska rate)"
	equal "apply: what the file has as it is stays" "$kept" \
		"$(configured | grep '^name=lhc ')"
	works "save" setup save
	echo "$OUT" >"$TMP/saved"
	works "diff with what was saved" setup diff "$TMP/saved"
	lost
	circuits_file "$ESA"
	works "apply from standard input" in_host sh -c "ctcp-setup apply --quiet - <$TMP/circuits"
	equal "apply: one is left" "esa " "$(circuits)"
	works "apply of what was saved" setup apply --quiet "$TMP/saved"
	equal "apply of what was saved: three again" "esa lhc ska " "$(circuits)"
	circuits_file "" "  " ""
	complains "apply of blank lines alone" 1 "circuits is empty, " \
		setup apply --quiet "$TMP/circuits"
	circuits_file "" "# none"
	works "apply of a comment alone" setup apply --quiet "$TMP/circuits"
	unchanged "apply of a comment alone: all as before" "$before"
	host_end
}

# bad_file NAME PATTERN LINE...: refused whole
bad_file()
{
	local name=$1 pattern=$2

	shift 2
	circuits_file "$@"
	complains "$name" 1 "$pattern" setup apply "$TMP/circuits"
	unchanged "$name: nothing was changed" "$BEFORE"
}

bad_files()
{
	host bad
	BEFORE=$(state)
	bad_file "a rate of no unit" "circuits, line 2: --rate: \"4mbps\"" \
		"$LHC" "${SKA/2gbit/4mbps}"
	bad_file "another word" "circuits, line 1: \"del\" is not add" "del lhc"
	bad_file "no name" "line 1: add needs a name" "add"
	bad_file "no device" "line 1: which device" "${LHC/ eth1/}"
	bad_file "a device that is none" "circuit ska: .*eth9" "$LHC" "${SKA/eth1/eth9}"
	bad_file "a name twice" "lhc is the name of two circuits" "$LHC" "${SKA/ska/lhc}"
	bad_file "a prefix twice" "circuit ska: --to: 10.81.0.0/16 is that of circuit lhc" \
		"$LHC" "${SKA/10.82/10.81}"
	bad_file "an option of the command" "line 1" "$LHC --dry-run"
	bad_file "an open quotation mark" "line 1: a quotation mark" "add \"lhc"
	printf '%s\0\n' "$LHC" >"$TMP/circuits"
	complains "a file with a NUL" 1 "there is a NUL in it" setup apply "$TMP/circuits"
	complains "a file that is none" 1 "cannot read $TMP/none: No such file" \
		setup apply "$TMP/none"
	complains "a folder" 1 "cannot read $TMP: Is a directory" setup apply "$TMP"
	unchanged "refused files: nothing was changed" "$BEFORE"
	host_end
}

# Killed after any step of apply: the list of before, and all as before it by undo.
killed()
{
	local n=1 before two

	without_module
	host killed
	before=$(state)
	circuits_file "$LHC" "$SKA"
	setup apply --quiet "$TMP/circuits"
	two=$(state)
	circuits_file "${LHC/1gbit/2gbit}" "$ESA"
	while [ $n -lt $STEPS_MAX ]; do
		CTCP_DIE_AT=$n run in_host ctcp-setup-faulty apply --quiet "$TMP/circuits"
		[ "$RC" = 137 ] || break
		printf '%s\n' "$LHC" "$SKA" >"$TMP/old"
		setup apply --quiet "$TMP/old" 2>/dev/null || fail "apply after death at step $n"
		got_host state
		[ "$GOT" = "$two" ] || same "apply after death at step $n" "$two" "$GOT"
		n=$((n + 1))
	done
	equal "no step left: apply survives" 0 "$RC"
	at_least "steps to die at" 5 $((n - 1))
	equal "what the file has" "esa lhc " "$(circuits)"
	works "undo --all" setup undo --all --quiet
	unchanged "killed: all as before" "$before"
	host_end
}

# A hundred at once, and one more: what another has is not written.
hundred()
{
	local before n

	without_module
	host hundred
	before=$(state)
	for n in $(seq 100); do
		echo "add c$n --to 10.90.$n.0/24 --via 10.78.0.254 --rate 10mbit --rtt 10ms --pace eth1"
	done >"$TMP/circuits"
	works "apply of a hundred" setup apply --quiet "$TMP/circuits"
	equal "a hundred circuits" 100 "$(configured | wc -l)"
	works "verify of a hundred" setup verify
	works "one more" add more 10.91.0.0/16 10mbit
	equal "one more: as many" 101 "$(configured | wc -l)"
	works "undo --all" setup undo --all --quiet
	unchanged "a hundred: all as before" "$before"
	host_end
}

# list_of N SHAPER: lines of a circuits file
list_of()
{
	local n

	for ((n = 1; n <= $1; n++)); do
		echo "add c$n --to 10.$((90 + n / 250)).$((n % 250)).0/24,fd90:$n::/32" \
			"--via 10.78.0.254 --via fd78::254 --rate 10mbit --rtt 10ms --shaper $2 eth1"
	done
}

# What a list of circuits has made, by other programs than the tool.  Which class a circuit
# has is the tool's choice; these came in the same order.
made()
{
	setup save | grep -v '^#'
	in_host sh -c 'tc class show dev eth1; tc filter show dev eth1' | sort
	in_host ip -d -4 route show
	in_host ip -d -6 route show | sort
	configured
}

# What circuits share is changed for one while another cannot be planned.
beside_a_device_down()
{
	local before

	without_module
	host beside
	another_device eth2
	in_host ip addr add 10.79.0.1/24 dev eth2
	before=$(state)
	setup add lhc --to 10.81.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 10ms --quiet eth1
	setup add ska --to 10.82.0.0/16 --via 10.79.0.254 --rate 1gbit --rtt 10ms --quiet eth2
	in_host ip link set eth2 down
	works "beside a device that is down: change" setup change lhc --rate 3gbit --quiet
	equal "beside a device that is down: no run is under way" 0 \
		"$(cat "$CTCP_RUNDIR"/*.state | grep -c ' next ')"
	in_host ip link set eth2 up
	works "the device is up: change" setup change ska --rate 2gbit --quiet
	works "the device is up: verify" setup verify
	works "the device is up: undo" setup undo --all --quiet
	unchanged "the device is up: all as before" "$before"
	host_end
}

# save replaces a file as a whole or not at all, and apply takes no part of one for all of it.
saved()
{
	local file=$TMP/small/circuits before n size

	host saved
	list_of 100 none >"$TMP/circuits"
	setup apply --quiet "$TMP/circuits"
	before=$(state)
	mkdir "$TMP/small"
	mount -t tmpfs -o size=8k none "$TMP/small"
	echo "# old" >"$file"
	says "save on a full disk" 1 "cannot write $file, which is as it was: No space left" \
		setup save "$file"
	equal "save on a full disk: the old file" "# old" "$(<"$file")"
	equal "save on a full disk: no other file" circuits "$(ls -A "$TMP/small")"
	equal "save to a full disk by the shell: exit status" 3 \
		"$(in_host sh -c "ctcp-setup save >$TMP/small/part 2>/dev/null; echo \$?")"
	at_least "save to a full disk by the shell: what is there of it" 1 \
		"$(wc -c <"$TMP/small/part")"
	says "apply of that" 1 "part, line [0-9]+: " setup apply "$TMP/small/part"
	umount "$TMP/small"
	file=$TMP/link
	echo "# old" >"$TMP/target"
	chmod 640 "$TMP/target"
	ln -s target "$file"
	works "save" setup save "$file"
	equal "save: mode and link stay" "640 symbolic link" \
		"$(stat -c %a "$TMP/target") $(stat -c %F "$file")"
	same "save: as to standard output" "$(setup save)" "$(<"$file")"
	works "save: diff" setup diff "$file"
	says "save: in the place of what is no file" 1 '/dev/null is not a file' \
		setup save /dev/null
	size=$(wc -c <"$file")
	for n in 0 1 5 6 20 41 200 1000 $((size / 2)) $((size - 5)) $((size - 4)) $((size - 2)); do
		head -c "$n" "$file" >"$TMP/cut"
		says "the first $n bytes of $size: apply" 1 'cut(, line [0-9]+: | is empty)' \
			setup apply "$TMP/cut"
	done
	head -n -20 "$file" >"$TMP/cut"
	says "without its last lines: apply" 1 'cut, line 82: .* no end .* cut short' \
		setup apply "$TMP/cut"
	says "without its last lines: diff" 4 'no end .* cut short' setup diff "$TMP/cut"
	unchanged "of all these: nothing changed" "$before"
	works "saved: undo" setup undo --all --quiet
	host_end
}

# counted DESCRIPTION MOST ARGS...: ctcp-setup with MANY circuits takes at most so many answers
# of netlink, and does not look the device and the module up for each
counted()
{
	local what=$1 most=$2

	shift 2
	CTCP_COUNT=1 run in_host ctcp-setup-faulty "$@"
	equal "$what" 0 "$RC"
	at_most "$what: answers of netlink" $most "$(field answers "$ERR")"
	at_most "$what: looks at the device and the module" $LOOKS "$(field looks "$ERR")"
}

# Many are set and read in few datagrams, one alone is not: both make the same.
at_once()
{
	local shaper=$1 parts=3 shown=100 before one_by_one words

	# circuit and two routes; class, its queue, two filters for each prefix
	[ "$shaper" != htb ] || parts=9 shown=$((3 * MANY))
	parts=$((parts * MANY))
	without_module
	host "at-once-$shaper"
	before=$(state)
	list_of $MANY "$shaper" >"$TMP/circuits"
	while read -ra words; do
		setup "${words[@]}" --quiet || fail "at once, $shaper: ${words[1]} alone"
	done <"$TMP/circuits"
	one_by_one=$(made)
	equal "at once, $shaper: circuits one by one" $MANY "$(configured | wc -l)"
	works "at once, $shaper: undo" setup undo --all --quiet
	unchanged "at once, $shaper: all as before" "$before"
	counted "at once, $shaper: apply" $((parts * ANSWERS)) apply --quiet "$TMP/circuits"
	same "at once, $shaper: the same as one by one" "$one_by_one" "$(made)"
	works "at once, $shaper: verify" setup verify
	counted "at once, $shaper: show" $shown show
	works "at once, $shaper: apply again" setup apply --json "$TMP/circuits"
	json_is "at once, $shaper: apply again changes nothing" 0 '.changes | length'
	sed 's/10mbit/20mbit/' "$TMP/circuits" >"$TMP/faster"
	works "at once, $shaper: twice the rate" setup apply --quiet "$TMP/faster"
	works "at once, $shaper: twice the rate: verify" setup verify
	equal "at once, $shaper: twice the rate: all" $MANY "$(configured | grep -c ' rate=2500000 ')"
	works "at once, $shaper: as it was" setup apply --quiet "$TMP/circuits"
	same "at once, $shaper: as it was: the same" "$one_by_one" "$(made)"
	counted "at once, $shaper: add one more" $ONE add one --to 10.99.0.0/24 \
		--via 10.78.0.254 --rate 10mbit --rtt 10ms --shaper "$shaper" --quiet eth1
	works "at once, $shaper: del of that one" setup del one --quiet
	same "at once, $shaper: as it was again" "$one_by_one" "$(made)"
	counted "at once, $shaper: undo" $((parts * ANSWERS)) undo --all --quiet
	unchanged "at once, $shaper: all as before again" "$before"
	host_end
}

# none_at_once DESCRIPTION PATTERN: apply of $TMP/circuits is refused, and leaves nothing behind
none_at_once()
{
	local before

	before=$(state)
	complains "$1" 1 "$2" setup apply --quiet "$TMP/circuits"
	unchanged "$1: all as before" "$before"
}

# A device has 65,534 classes for circuits.
too_many_classes()
{
	host too-many
	modprobe tcp_circuit
	awk 'BEGIN {
		for (n = 1; n <= 65535; n++)
			printf "add c%d --to 10.%d.%d.%d/32 --via 10.78.0.254 --rate 1mbit --rtt 10ms --shaper htb --overbook eth1\n",
				n, 128 + int(n / 65536), int(n / 256) % 256, n % 256
	}' >"$TMP/circuits"
	none_at_once "65,535 classes on one device" 'eth1.*65534'
	host_end
}

# One among many, in the first lot of datagrams and in the last: a prefix that somebody's
# circuit has, and a gateway that the kernel refuses when all else is there.
refused_at_once()
{
	local n prefix

	host refused-at-once
	modprobe tcp_circuit
	for n in 3 $((MANY - 10)); do
		prefix=10.$((90 + n / 250)).$((n % 250)).0/24
		list_of $MANY none >"$TMP/circuits"
		in_host circuit_nl new mine prefix "$prefix" window 7 || fail "circuit_nl new"
		none_at_once "another's prefix, circuit $n of $MANY" \
			"circuit c$n: --to: $prefix is that of circuit mine"
		setup circuit del mine
		sed -i "${n}s/--via 10.78.0.254/--via 10.77.7.7/" "$TMP/circuits"
		none_at_once "no such gateway, circuit $n of $MANY" \
			"the kernel refuses the route to $prefix: "
	done
	host_end
}

add_change_del
beside_a_bare_one
json_preview
prefixes
refusals
files
bad_files
killed
hundred
beside_a_device_down
saved
at_once none
at_once htb
too_many_classes
refused_at_once
finish

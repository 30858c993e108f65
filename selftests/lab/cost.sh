#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cost.sh: what an ACK costs with circuit, Reno, CUBIC and BBR, what a pace costs, and
# what a connection does among how many circuits; TAP, with the tables as comments
#
# Debian bookworm's kernel runs in an emulated machine whose clock counts
# instructions (QEMU -icount: one is 1 ns), so that the figures do not depend on
# this machine, its load or its counters.  They are instructions, not cycles: a
# division or a locked addition counts as much as a move.
#
#	ack	tcp_ack(), in which the algorithm sees each ACK
#	send	tcp_write_xmit() without __tcp_transmit_skb(): what may be sent now,
#		and in what packets; circuit is asked there, too
#
# both per ACK of a sender at full rate, one ACK for each segment, 512 segments
# in flight, 20,000 ACKs (COST_COUNT).  What limits the flight is the receiver's
# window, in the rows named ...-window the sender's own.
#
# What bursts cost is the whole sender's, per megabyte: the above, IP, the device,
# timers and the way of ACKs up to TCP, not the copying of data.  At 250 Mbit/s, in
# bursts of one segment (the pace of 1 Gbit/s and less), 13 (about 10 Gbit/s) and 44 (64
# KB), and unpaced; the machine's 10^9 instructions/s would not do for more.
#
# A connection is made, accepted and reset by one program, over the loopback; what it
# costs is all that the machine did meanwhile, both ends' lookups of their circuit
# included.  $connections of them one after the other, in a namespace with
#
#	connect-1	one circuit
#	connect-65536	so many, by prefixes of the same two lengths
#	connect-beside	one, and 100,000 in another namespace
#	connect-lengths	one, by prefixes of 17 lengths, which are looked up in turn
#			until one matches: the machine's is the shortest
#	connect-reno	one that nobody looks for
#
# The second and third may be above the first by $among thousandths, for hash chains are
# as long as chance makes them; measured were 0.02 % and nothing.  What does cost is each
# more length, some 530 instructions of 66,000, however many circuits have it.
#
# All is done in two machines, which must agree within $repeat thousandths of
# ack + send ($loose where windows, streams or timers take a course of their own: CUBIC,
# BBR, four streams, a pace), and circuit may be above Reno by $above thousandths:
# what is simpler may cost so much.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

repeat=${COST_REPEAT:-10}
above=${COST_ABOVE:-20}
loose=50
among=10
connections=10000
count=${COST_COUNT:-20000}
skip=$((count / 4)) flight=512
limit=2400	# s of real time for one machine
runs="
connect-reno	reno	$connections connect 1 0 2
connect-1	circuit	$connections connect 1 0 2
connect-65536	circuit	$connections connect 65536 0 2
connect-beside	circuit	$connections connect 1 100000 2
connect-lengths	circuit	$connections connect 1 0 17
reno		reno	1 flight 0
cubic		cubic	1 flight 0
bbr		bbr	1 flight 0
circuit		circuit	1 flight 0
circuit-paced	circuit	1 flight 125000000
reno-4		reno	4 flight 0
circuit-4	circuit	4 flight 0
reno-window	reno	1 window 0
cubic-window	cubic	1 window 0
circuit-window	circuit	1 window 0
burst-1		circuit	1 burst 31250000 1
burst-13	circuit	1 burst 31250000 13
burst-44	circuit	1 burst 31250000 44
unpaced-44	circuit	1 burst 0 44
"

need_root
"$here/need.sh" qemu-system-x86 mmdebstrap debian-archive-keyring e2fsprogs ||
	exit 1
cd "$TOP" || exit 1

# What is compiled is a copy; the machine's first process is ours there.
copy_tree()
{
	mkdir -p "$TMP"/src/lab
	cp -r Kbuild Makefile tcp_circuit.c circuit include selftests "$TMP"/src/
	cp "$here"/cost-init.sh "$TMP"/src/selftests/lab/qemu-init.sh
	grep . <<< "${RUNS-$runs}" > "$TMP"/src/lab/runs
	echo "skip=$skip count=$count flight=$flight" > "$TMP"/src/lab/settings
}

compile()	# FOLDER
{
	"$here"/chroot.sh "$suite"/root "$TMP"/src make -s \
		-C /lib/modules/"$release"/build M="$1" modules
}

# By which the machine makes circuits, and connections
compile_tools()
{
	"$here"/chroot.sh "$suite"/root "$TMP"/src make -s -C /src/selftests \
		../build/bin/circuit_nl ../build/bin/circuit_connects
}

# Without cmpxchg16b: see qemu.sh.  Without erms: a copy's instructions are of
# eight bytes each.
boot()		# NUMBER
{
	mke2fs -q -t ext4 -L src -O ^has_journal -d "$TMP"/src "$TMP/$1.img" \
		256M > /dev/null
	timeout -k 5 "$limit" qemu-system-x86_64 \
		-accel tcg,thread=single -icount shift=0,sleep=off -smp 1 \
		-cpu max,cx16=off,erms=off -m 1024 -rtc base=2024-01-01 \
		-display none -monitor none -no-reboot -nic none \
		-serial file:"$TMP/$1.console" -serial file:"$TMP/$1.serial" \
		-drive file="$suite"/disk.img,format=raw,if=virtio,snapshot=on \
		-drive file="$TMP/$1.img",format=raw,if=virtio \
		-kernel "$suite"/vmlinuz -initrd "$suite"/initrd \
		-append "root=LABEL=root rw init=/sbin/lab-init console=ttyS0 \
			panic=-1 oops=panic preempt=none tsc=reliable \
			clocksource=tsc nokaslr" \
		> "$TMP/$1.qemu" 2>&1 < /dev/null
	tr -d '\r' < "$TMP/$1.serial" > "$TMP/$1.out"
}

keep_log()
{
	mkdir -p build
	tail -n +1 "$TMP"/[12].out "$TMP"/[12].qemu "$TMP"/[12].console \
		2> /dev/null | tr -d '\r' > build/cost.log
}

# RUN ACKS SEGMENTS ACK SEND SENDER: tenths of instructions per ACK; of the whole
# sender's per megabyte.  RUN connections N ALL CIRCUIT: tenths of instructions per
# connection, of which 1 takes 1 ns.
summary()	# NUMBER
{
	awk '
	function flush() {
		all = n["ack"] + n["xmit"] + n["down"] + n["timer"] + n["input"]
		if (acks) printf "%s %d %d %d %d %d\n", run, acks, segments,
			10 * n["ack"] / acks, 10 * n["xmit"] / acks,
			all / (segments * 1448 / 1e6)
		acks = 0 }
	$2 == "RUN" { flush(); run = $3 }
	$1 == "acks" { acks = $2; segments = $4 }
	NF == 3 { n[$1] = $3 }
	/^connections=/ {
		for (i = 1; i <= NF; i++) {
			split($i, word, "=")
			n[word[1]] = word[2]
		}
		printf "%s connections %d %d %s\n", run, n["connections"],
			10 * n["ns"] / n["connections"], n["circuit"] }
	$2 == "DONE" { flush() }' "$TMP/$1.out" > "$TMP/$1.sum"
}

# NUMBER RUN: tenths of instructions per ACK, ack and send, or per connection
sum_of()
{
	awk -v run="$2" '$1 == run { print $2 == "connections" ? $4 : $4 + $5 }' \
		"$TMP/$1.sum"
}

table()
{
	awk '
	BEGIN { printf "# %-15s %7s %9s %9s %9s %9s\n", "algorithm", "ACKs",
		"ack", "send", "sum", "to reno" }
	$1 ~ /burst|unpaced|connect/ { next }
	{ sum = ($4 + $5) / 10
	  kind = $1
	  sub(/^[a-z]*(-paced)?/, "", kind)
	  if ($1 ~ /^reno/) reno[kind] = sum
	  printf "# %-15s %7d %9.1f %9.1f %9.1f %+8.1f%%\n", $1, $2, $4 / 10,
		$5 / 10, sum, reno[kind] ? 100 * (sum / reno[kind] - 1) : 0 }' "$TMP/1.sum"
	awk '$1 ~ /burst|unpaced/ {
		if (!head++) printf "# %-15s %9s %22s\n", "bursts", "segments",
			"instructions per MB"
		printf "# %-15s %9d %22d\n", $1, $3, $6 }' "$TMP/1.sum"
	awk '$2 == "connections" {
		if (!head++) printf "# %-15s %9s %12s %12s\n", "connections", "how many",
			"instructions", "to connect-1"
		order[head] = $1; many[head] = $3; sum[$1] = $4 / 10 }
	END { for (i = 1; i <= head; i++)
		printf "# %-15s %9d %12.1f %+11.2f%%\n", order[i], many[i], sum[order[i]],
			100 * (sum[order[i]] / sum["connect-1"] - 1) }' "$TMP/1.sum"
}

# alike DESCRIPTION A B THOUSANDTHS
alike()
{
	if [ -n "$2" ] && [ -n "$3" ] &&
	   [ $((($2 > $3 ? $2 - $3 : $3 - $2) * 1000)) -le $(($2 * $4)) ]; then
		pass "$1"
	else
		fail "$1" "first: ${2:-none}" "second: ${3:-none} (tenths)"
	fi
}

repeats()
{
	local run most

	while read -r run _; do
		most=$repeat
		case $run in
		burst*|unpaced*|'') continue ;;
		cubic*|bbr*|*-4|*-paced) most=$loose ;;
		esac
		alike "$run: again within $most thousandths" \
			"$(sum_of 1 "$run")" "$(sum_of 2 "$run")" "$most"
	done < "$TMP"/src/lab/runs
}

# no_dearer WHAT RUN THAN THOUSANDTHS
no_dearer()
{
	local what="$1 with $2 costs at most $4 thousandths more than with $3"
	local run than

	run=$(sum_of 1 "$2")
	than=$(sum_of 1 "$3")
	if [ -n "$run" ] && [ -n "$than" ] &&
	   [ $((run * 1000)) -le $((than * (1000 + $4))) ]; then
		pass "$what"
	else
		fail "$what" "$2: ${run:-none}" "$3: ${than:-none} (tenths)"
	fi
}

# The whole sender's instructions for a megabyte in RUN
of_megabyte()
{
	awk -v run="$1" '$1 == run { print $6 }' "$TMP/1.sum"
}

# in_bursts RUN PART: at most one PART of what is sent frame by frame
in_bursts()
{
	at_most "a megabyte by $1: instructions" $(($(of_megabyte burst-1) / $2)) \
		"$(of_megabyte "$1")"
}

# Nothing is compared that was not there: circuits here and there, and whose they were
circuits_were()	# RUN HERE THERE
{
	equal "$1: circuits here and elsewhere" "circuits circuits=$2 circuits=$3" \
		"$(sed -n "/^### RUN $1\$/,/^### RUN/p" "$TMP/1.out" | grep '^circuits ')"
	equal "$1: the connections' circuit" cost \
		"$(awk -v run="$1" '$1 == run { print $5 }' "$TMP/1.sum")"
}

suite=$("$here"/suite.sh bookworm) || skip_all "no suite to boot"
exec 8< "$suite"
flock -s 8
release=$(cat "$suite"/kernel)
copy_tree
succeeds "the module builds for $release" compile /src
succeeds "the meter builds" compile /src/selftests/lab/cost
succeeds "circuit_nl and circuit_connects build" compile_tools
boot 1 &
boot 2 &
wait
for number in 1 2; do
	summary $number
	succeeds "machine $number came to its end" \
		grep -q '^### DONE' "$TMP/$number.out"
done
keep_log
table
repeats
no_dearer "an ACK" circuit reno "$above"
no_dearer "an ACK" circuit-4 reno-4 "$above"
no_dearer "an ACK" circuit-window reno-window "$above"
in_bursts burst-13 5
in_bursts burst-44 10
circuits_were connect-1 1 0
circuits_were connect-65536 65536 0
circuits_were connect-beside 1 100000
circuits_were connect-lengths 1 0
no_dearer "a connection" connect-65536 connect-1 $among
no_dearer "a connection" connect-beside connect-1 $among
finish

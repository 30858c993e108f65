#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh: the main job, on emulated circuits, with its result in plain words
#
# Boots the virtual-time lab; in it, modprobe tcp_circuit, then ctcp-setup with a
# rate and a round trip, then iperf3, unmodified, once for each algorithm.
# Writes build/demo/results.json, report.txt and circuit.svg.

set -u
LAB_DIR_HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$LAB_DIR_HERE/../.." && pwd)
RUNS=$TOP/build/demo
. "$LAB_DIR_HERE/runs.sh"
. "$LAB_DIR_HERE/alone.sh"

ALGORITHMS="circuit cubic htcp bbr"
LOSS=0.00454545		# percent: one in 22,000
WINDOWS_MIB="14.8 12 6"	# Alali 2016, table 3.2

list()
{
	local alg mib

	for alg in $ALGORITHMS; do
		echo "wide-$alg 4000 26 $alg 0 10"
		echo "lossy-$alg 4000 26 $alg $LOSS 10"
		echo "long-$alg 1000 50 $alg $LOSS 20"
	done
	for mib in $WINDOWS_MIB; do
		awk -v m="$mib" 'BEGIN { printf "window-%s 4000 26 circuit 0 4 %d\n",
			m, m * 1048576 / 1514 }'
	done
}

# table PREFIX TITLE
table()
{
	local alg

	printf '%s\n' "$2"
	printf '  %-9s %16s %9s %14s %9s\n' "" goodput "of line" \
		"first second" resent
	for alg in $ALGORITHMS; do
		jq -r '[.alg, .mean, .share, .first_second, .retransmissions] | @tsv' \
			"$RUNS/$1-$alg/run.json"
	done | awk -F '\t' '{
		printf "  %-9s %9.0f Mbit/s %7.1f %% %7.0f Mbit/s %9d\n",
			$1, $2, $3, $4, $5 }'
	echo
}

windows()
{
	local mib

	echo "The window makes the rate (4 Gbit/s, 26 ms, after the first second):"
	printf '  %-12s %12s %22s\n' window measured "min(line, fcwnd/RTT)"
	for mib in $WINDOWS_MIB; do
		jq -r --argjson mib "$mib" '
			($mib * 1048576 / 1514 | floor * 1448 * 8 / 26000) as $w
			| [$mib, .after_first, ([.line, $w] | min)] | @tsv' \
			"$RUNS/window-$mib/run.json"
	done | awk -F '\t' '{ printf "  %8.1f MiB %5.0f Mbit/s %15.0f Mbit/s\n",
		$1, $2, $3 }'
	echo
}

number()
{
	jq -r "$2" "$RUNS/$1/run.json"
}

# What it means, from the figures themselves
words()
{
	local mine cubic

	echo "In plain words:"
	printf '  A 4 Gbit/s, 26 ms circuit was full (%.2f %% of what the line can\n' \
		"$(number wide-circuit .after_first_share)"
	printf '  carry) from the second second on, and at %.0f %% in the first.\n' \
		"$(number wide-circuit '100 * .first_second / .line')"
	mine=$(number long-circuit .mean)
	cubic=$(number long-cubic .mean)
	printf '  With one packet in 22,000 damaged, circuit moved %.0f Mbit/s over\n' \
		"$mine"
	printf '  1 Gbit/s and 50 ms, CUBIC %.0f: a terabyte takes %.1f hours, not %.1f.\n' \
		"$cubic" "$(hours "$mine")" "$(hours "$cubic")"
	printf '  ctcp-setup took %.0f ms to plan and apply (median of %d).\n' \
		"$(jq -s '[.[].setup_s] | sort | .[length / 2 | floor] * 1000' \
			"$RUNS"/*/run.json)" "$(list | wc -l)"
}

hours()
{
	awk -v m="$1" 'BEGIN { print 8e6 / m / 3600 }'
}

# Seconds and Mbit/s.  With loss, means of half a second: what came after a hole
# is delivered all at once when the hole is filled, which is not a rate.
series()
{
	local tenths=1

	case $1 in lossy-* | long-*) tenths=5 ;; esac
	jq -r --argjson n $tenths '[.over_time | _nwise($n)][]
		| [(map(.[0]) | add / length), (map(.[1]) | add / length)]
		| @tsv' "$RUNS/$1/run.json" >"$RUNS/$1/series"
}

plot()
{
	local name

	for name in "$RUNS"/*/run.json; do
		series "$(basename "$(dirname "$name")")"
	done
	gnuplot -e "runs='$RUNS'" "$LAB_DIR_HERE/demo.gp"
}

report()
{
	table wide "4 Gbit/s, 26 ms, no loss, 10 s:"
	table lossy "4 Gbit/s, 26 ms, one packet lost in 22,000, 10 s:"
	table long "1 Gbit/s, 50 ms, one packet lost in 22,000, 20 s:"
	windows
	words
}

main()
{
	"$LAB_DIR_HERE/need.sh" gcc make pkg-config libmnl-dev libnl-3-dev \
		libnl-route-3-dev libkmod-dev libjansson-dev \
		libsqlite3-dev libinih-dev libmicrohttpd-dev gnuplot-nox &&
		prepare && make -s -C "$TOP" tools || exit 1
	rm -rf "$RUNS"
	mkdir -p "$RUNS"
	echo "Each of $(list | wc -l) transfers has a lab of its own; as they end:"
	list | run_all || exit 1
	jq -s 'map(del(.over_time))' "$RUNS"/*/run.json >"$RUNS/results.json"
	plot || exit 1
	echo
	report | tee "$RUNS/report.txt"
	echo
	echo "Throughput over time: build/demo/circuit.svg"
	echo "All figures:          build/demo/results.json"
}

alone "make demo" "$TOP/build/demo.lock" main

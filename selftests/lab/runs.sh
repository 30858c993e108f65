# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# runs.sh: carry out a list of transfers in the lab, and what came of each
#
# A run is a line of words:
#
#	NAME RATE_MBIT RTT_MS ALGORITHM LOSS_PERCENT SECONDS [FCWND]
#
# Runs without loss use 64 KB packets, for speed; with loss each frame is a packet
# of its own, since netem would lose 64 KB at a time.  Every run has a machine of
# its own, as many at once as there are processors: time is virtual, so they
# do not disturb each other.  Their seed is the same always, and so are the figures.
#
# Each leaves $RUNS/NAME/run.json, made by run.jq.

# run_one LINE: in $RUNS, with $LAB_DIR_HERE the folder of this file
run_one()
{
	local name rate rtt alg loss seconds fcwnd offloads=on dir

	# shellcheck disable=SC2086 # a line of words
	set -- $1
	name=$1 rate=$2 rtt=$3 alg=$4 loss=$5 seconds=$6 fcwnd=${7:-}
	[ "$loss" = 0 ] || offloads=off
	dir=$RUNS/$name
	mkdir -p "$dir"
	"$LAB_DIR_HERE/uml.sh" -m 4G -t 600 -s 1 -o "$dir" \
		"$LAB_DIR_HERE/transfer.sh" RATE="${rate}mbit" RTT="${rtt}ms" \
		ALG="$alg" LOSS="$loss" SECONDS_LONG="$seconds" \
		OFFLOADS=$offloads FCWND="$fcwnd" >"$dir/log" 2>&1 || {
		echo "run $name failed:" >&2
		tail -n 20 "$dir/log" >&2
		return 1
	}
	jq -n -f "$LAB_DIR_HERE/run.jq" --arg name "$name" --arg alg "$alg" \
		--argjson rate "$rate" --argjson rtt "$rtt" \
		--argjson loss "$loss" --argjson seconds "$seconds" \
		--argjson setup_s "$(seconds_between "$dir"/before "$dir"/after)" \
		--argjson nothing_s "$(seconds_between "$dir"/after "$dir"/nothing)" \
		--slurpfile client "$dir/client.json" \
		--slurpfile server "$dir/server.json" \
		--slurpfile qdisc "$dir/qdisc.json" >"$dir/run.json"
	progress "$dir/run.json"
}

# By the host's clock: files made before and after something
seconds_between()
{
	stat -c %.9Y "$1" "$2" |
		awk 'NR == 1 { a = $1 } END { printf "%.4f", $1 - a }'
}

progress()
{
	jq -r '"  \(.rate) Mbit/s, \(.rtt) ms, loss \(.loss) %, \(.alg)"
		+ ": \(.mean | round) Mbit/s"' "$1" >&2
}

# at_once GIB: as many machines of that size as have a processor and memory
at_once()
{
	awk -v cores="$(nproc)" -v gib="$1" '/^MemAvailable/ {
		n = int($2 / 1048576 / gib)
		if (n > cores) n = cores
		print (n > 1 ? n : 1) }' /proc/meminfo
}

# run_all < LINES: those that fail are named, and make the whole fail
run_all()
{
	export RUNS LAB_DIR_HERE
	export -f run_one seconds_between progress
	tr '\n' '\0' | xargs -0 -P "$(at_once 4)" -I{} bash -c 'run_one "{}"'
}

# value NAME FIELD: of a run, rounded to an integer
value()
{
	jq -r ".$2 | round" "$RUNS/$1/run.json"
}

# prepare: what all runs need, once, before they start at the same time
prepare()
{
	"$LAB_DIR_HERE/need.sh" iperf3 jq iproute2 ethtool procps busybox kmod ||
		return 1
	kernel=$("$LAB_DIR_HERE/uml-kernel.sh") || return 1
	LAB_KO=$("$LAB_DIR_HERE/uml-module.sh" "$kernel") || return 1
	export LAB_KO
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh DIR SECONDS TARGET...: each fuzz target DIR/fuzz_TARGET for so long, from the
# corpus in the tree; TAP, a point for each
#
# What is new goes to DIR/found/TARGET, for make fuzz-merge; the input that a target
# failed with to DIR/failed/TARGET-*, and what was said to DIR/TARGET.log.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../selftests/tap.sh"
dir=$1
seconds=$2
shift 2

fuzz()
{
	local target=$1 dict=

	rm -rf "$dir/found/$target" "$dir/failed/$target"-*
	mkdir -p "$dir/found/$target" "$dir/failed"
	[ ! -e "$here/$target.dict" ] || dict=-dict=$here/$target.dict
	"$dir/fuzz_$target" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=2048 \
		-max_len=4096 -print_final_stats=1 $dict \
		-artifact_prefix="$dir/failed/$target-" \
		"$dir/found/$target" "$here/corpus/$target" >"$dir/$target.log" 2>&1
}

# What libFuzzer counts at its end
stat_of()
{
	sed -n "s/^stat::$2: *//p" "$dir/$1.log"
}

# Why it failed, and how to see it again
diagnose()
{
	local target=$1 input

	grep -aE 'runtime error:|ERROR:|not so of|became|SUMMARY' "$dir/$target.log" |
		head -n 4 | sed 's/^/# /'
	for input in "$dir/failed/$target"-*; do
		[ ! -e "$input" ] || echo "# $dir/fuzz_$target $input"
	done
}

tap_plan $#
total=0
for target; do
	if fuzz "$target" && runs=$(stat_of "$target" number_of_executed_units) &&
	   [ "${runs:-0}" -gt 0 ]; then
		pass "fuzz $target: $runs executions in $seconds s"
		total=$((total + runs))
	else
		fail "fuzz $target"
		diagnose "$target"
	fi
done
echo "# $total executions, $TAP_FAILED of $# targets failed"
[ "$TAP_FAILED" = 0 ]

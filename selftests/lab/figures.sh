#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml
#
# figures.sh: the figures this project stands for, in virtual time; TAP
#
#	4 Gbit/s, 26 ms, no loss: at least 99.5 % of the line's payload limit after
#	the first second.
#	1 Gbit/s, 50 ms, one loss in 22,000: at least 98 % of it; CUBIC and H-TCP
#	less than half.
#	ctcp-setup, module loaded: under 50 ms, by the host's clock, on a machine that is
#	not busy.
#
# The papers' own are in selftests/bench.

LAB_DIR_HERE=$(cd "$(dirname "$0")" && pwd)
. "$LAB_DIR_HERE/../lib.sh"
. "$LAB_DIR_HERE/runs.sh"
RUNS=$TOP/build/figures

list()
{
	local alg

	echo "plain 4000 26 circuit 0 6"
	for alg in circuit cubic htcp; do
		echo "loss-$alg 1000 50 $alg 0.00454545 10"
	done
}

# floor NAME WHAT RUN FIELD LEAST: all in thousandths, shown in percent
floor()
{
	local got

	got=$(jq ".$3" "$RUNS/$2/run.json")
	if jq -en "$got >= $4" >/dev/null; then
		pass "$1: $(printf %.2f "$got") % of the line's limit (at least $4)"
	else
		fail "$1" "expected: at least $4 %" "got:      $got %"
	fi
}

below_half()
{
	local got

	got=$(jq .share "$RUNS/loss-$1/run.json")
	if jq -en "$got < 50" >/dev/null; then
		pass "1 Gbit/s, 50 ms, 1 in 22,000, $1: $(printf %.1f "$got") % (under half)"
	else
		fail "the same with $1" "expected: under 50 %" "got:      $got %"
	fi
}

# least FIELD: ms, of all runs.  A busy machine makes some of them longer and none
# shorter: the shortest is nearest to what the program takes.
least()
{
	jq -s "[.[].$1] | min * 1000 | ceil" "$RUNS"/*/run.json
}

# Real time, which a busy machine has less of: where the lab needs more than 4 ms to
# start a program that does nothing, ctcp-setup may take twelve times that.
setup_time()
{
	local ms nothing most

	ms=$(least setup_s)
	nothing=$(least nothing_s)
	most=$((nothing > 4 ? 12 * nothing : 50))
	if [ "$ms" -lt "$most" ]; then
		pass "ctcp-setup plans and applies in $ms ms, the shortest run (under $most; a program that does nothing: $nothing)"
	else
		fail "ctcp-setup's time" "expected: under $most ms" \
			"got: $ms ms, the shortest of $(list | wc -l); a program that does nothing: $nothing"
	fi
}

prepare || exit 1
rm -rf "$RUNS"
list | run_all || fail "all runs" "see above"
floor "4 Gbit/s, 26 ms, no loss, after the first second" plain \
	after_first_share 99.5
equal "the shaper's drops there" 0 "$(value plain shaper_drops)"
floor "1 Gbit/s, 50 ms, 1 in 22,000" loss-circuit share 98
below_half cubic
below_half htcp
setup_time
finish

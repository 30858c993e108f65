#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check.sh [TEST...]: the tests of the tree that virtual time can run, or those named
#
#	lint	style and static analysis (lint.sh), by 6.1's checkpatch and headers
#	unit	the tools' and the module's unit tests, with the sanitizers
#	tap	the unit tests of what reads all others' results (tap.awk)
#	kept	the unit tests of what decides whether a test is run again (kept.sh)
#	alone	that two runs in one tree exclude each other (alone.sh), and how one ends
#	chosen	which tests make check, CI and the mutants take, and what these are given
#	bench	the unit tests of the bench's engine
#	flows	those of the labelled flows (flows/)
#	dashboard	whether prometheus answers the dashboard's queries rightly (dashboard/)
#	dtn	those of the data transfer node (dtn/)
#	seed	that a seed gives the same run in a tree at any path (uml.sh -s)
#	processor	that each machine runs on a processor of its own (uml.sh)
#	mutants	whether the list of wrong lines fits the tree (make check-mutants tries them)
#	fuzzers	the tools' fuzz targets, FUZZ_SECONDS each (make -C tools fuzz)
#	NAME	selftests/NAME.sh in the virtual-time lab, a machine for each
#	figures	the figures this project stands for (figures.sh), on 6.1
#
# Tests run on the newest kernel, which runs programs two to three times as fast as 6.1 does
# in virtual time (uml.sh); "LAB_KERNEL= check.sh" takes 6.1, other words other kernels.
#
# CHURN, FUZZ_CALLS, NLFUZZ_MESSAGES and FAULTS in the environment: how much the tests of
# those names do; FUZZ_SEED, NLFUZZ_SEED and FAULTS_SEED: what they draw.  ONLY_CASES=NAME,NAME:
# only these cases of each test (lib.sh).  CHECK_SEED=N repeats a run, to the last random
# number of each machine; without it a seed is drawn, and printed.
#
# Only make check-kernels runs tracepoints, no_netfilter, ctcpd_bpf and ctcpd_act_bpf, which need
# other kernels (the last two BTF), race, which needs two processors, and setup_neighbours,
# setup_systemd and ctcpd_systemd, which need daemons.
#
# PART=test_NAME in the environment: only this file of unit, bench, flows or dtn, as
# make check-mutants runs it.
#
# As many at once as there are processors, those that take longest first.  What each said
# is in build/check/NAME.tap; the last line is "N passed, N failed, N skipped".
#
# A test of the lab that has passed, or figures, is run again when something that it reads
# has changed (kept.sh); a kept result is listed as such, and counted.  FRESH=1 in the
# environment runs everything, as CHECK_SEED does.  With ONLY_CASES results are neither kept
# nor reused.
#
# A tree has one run at a time (alone.sh); what is left of a killed one writes nothing more.

set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
out=$top/build/check
began=$(date +%s)
export LAB_KERNEL=${LAB_KERNEL-newest}
export PART=${PART:-}
seed=${CHECK_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
# Timeout for one test, in seconds of real time.  It only ends tests that hang, so it leaves room
# for a slow host or a debug kernel; on an idle host a test takes twelve minutes at most.
limit=3600
case $LAB_KERNEL in
*debug | *leaks) limit=7200 ;;
esac
LAB_DIR_HERE=$here	# for runs.sh
export LAB_DIR_HERE
. "$here/runs.sh"
. "$here/kept.sh"
. "$here/alone.sh"

PACKAGES="gcc clang libclang-rt-dev make pkg-config libmnl-dev libnl-3-dev libnl-route-3-dev
	libkmod-dev libjansson-dev libsqlite3-dev libinih-dev libmicrohttpd-dev
	libbpf-dev libcmocka-dev tcpdump nftables shellcheck sparse
	cppcheck perl libcap2-bin bash-builtins python3 python3-yaml
	python3-jsonschema jq pycodestyle pyflakes3 python3-matplotlib python3-markdown"

# These tests take half of the total time.  Start them first, so that only short ones run at the
# end.
LONGEST="unit setup_faults hostile_churn churn hostile_peers lint ctcpd_act ctcpd_hands ctcpd_run
	ctcpd_many breaker_evidence breaker_spares hostile_breaker hostile_idle hostile_kept
	setup_touch ctcpd_eyes breaker_untripped breaker_trips fuzzers loss setup_undo
	pacing early_path setup_watch setup_late setup_confirm streams nlfuzz setup_many fuzz"

# in_order TEST...: print them, those of LONGEST first
in_order()
{
	# shellcheck disable=SC2086 # a list of names
	printf '%s\n' $LONGEST "$@" | awk '!seen[$0]++'
}

# The tests whose head names this lab
lab_tests()
{
	grep -lE '^# labs:.*\buml\b' "$top"/selftests/*.sh |
		xargs -n 1 basename -s .sh
}

# known TEST...: true if each is a name of the list above
known()
{
	local test names

	names=$(printf '%s\n' lint unit tap kept alone chosen seed processor bench flows \
		dtn dashboard mutants fuzzers figures
		lab_tests)
	for test; do
		grep -qxF -- "$test" <<<"$names" || {
			echo "check.sh: \"$test\" is no test of virtual time:" \
				"give some of" $names >&2
			[ ! -e "$top/selftests/$test.sh" ] ||
				echo "check.sh: selftests/$test.sh has no \"# labs:\" with uml" >&2
			return 1
		}
	done
}

# If Debian's archive is out of reach, or its newest kernel needs another configuration, the
# tests run on 6.1.
choose_kernel()
{
	[ "$LAB_KERNEL" = newest ] || return 0
	"$here/uml-kernel.sh" >/dev/null && return
	echo "check: the newest kernel cannot be had (above): the tests run on 6.1"
	LAB_KERNEL=
}

build()
{
	make -s -j"$(nproc)" -C "$top" tools tests-bin
}

unit_tests()
{
	local status=0

	export CMOCKA_MESSAGE_OUTPUT=tap
	if [ -z "$PART" ] || [ -e "$top/tools/tests/$PART.c" ]; then
		make -s -C "$top/tools" O="$top/build/tools" ${PART:+TESTS="$PART"} check || status=1
	fi
	if [ -z "$PART" ] || [ -e "$top/selftests/unit/$PART.c" ]; then
		make -s -C "$top/selftests/unit" O="$top/build/unit" ${PART:+TESTS="$PART"} check ||
			status=1
	fi
	return $status
}

fuzzers()
{
	make -s -C "$top/tools" O="$top/build/tools" fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-2}"
}

# in_the_machine TEST [NAME=value...]: run it there, with what is for it in our environment
in_the_machine()
{
	local name words=("${@:2}")

	for name in CHURN FUZZ_CALLS FUZZ_SEED NLFUZZ_MESSAGES NLFUZZ_SEED FAULTS FAULTS_SEED \
		ONLY_CASES; do
		[ -z "${!name:-}" ] || words+=("$name=${!name}")
	done
	"$here/uml.sh" -m 4G -t "$limit" -s "$seed" "$top/selftests/$1.sh" "${words[@]}"
}

tap_of()
{
	case $1 in
	lint) LAB_KERNEL='' "$here/lint.sh" ;;
	unit) unit_tests ;;
	fuzzers) fuzzers ;;
	tap) "$here/test_tap.sh" ;;
	kept) "$here/test_kept.sh" ;;
	alone) "$here/test_alone.sh" ;;
	chosen) "$here/test_chosen.sh" ;;
	seed) "$here/test_seed.sh" ;;
	processor) "$here/test_processor.sh" ;;
	bench) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 \
		"$top/selftests/bench/test_bench.py" ${PART:+"$PART"} ;;
	flows) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 \
		"$top/selftests/flows/test_flows.py" ${PART:+"$PART"} ;;
	dashboard) PYTHONDONTWRITEBYTECODE=1 "$top/selftests/dashboard/test_dashboard.py" ;;
	dtn) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 \
		"$top/selftests/dtn/test_dtn.py" ${PART:+"$PART"} ;;
	mutants) PYTHONDONTWRITEBYTECODE=1 "$top/selftests/mutants/mutants.py" --list ;;
	figures) LAB_KERNEL='' "$here/figures.sh" ;;
	ynl) in_the_machine ynl YNL_DIR="$("$here/ynl-tool.sh")" ;;
	*) in_the_machine "$1" ;;
	esac
}

# Each cmocka program prints a plan of its own; replace them by one plan for all.
one_plan()
{
	awk '/^1\.\.[0-9]/ { plan += substr($1, 4); next }
		{ print }
		END { if (plan) print "1.." plan }'
}

# result_of TEST [WORDS]: print its result in a line, with WORDS in place of the seconds, and its
# failures
result_of()
{
	awk -F '\t' -v t="$(($(date +%s) - began))" -v words="${2:-}" '
		$1 == "TEST" { printf "[%4d s] %-17s %3d passed, %d failed (%s)\n",
			t, $2, $3, $4, words ? words : $5 " s" }
		$1 == "FAIL" { printf "          %s: %s\n", $2, $3 }' \
		"$out/$1.result"
}

# goes_on: true while the run to which this test belongs goes on.  If its shell was killed, no
# further test may begin, and the folder of results may belong to another run.
goes_on()
{
	kill -0 "$run" 2>/dev/null
}

# Reuse the kept result of a lab test, or run it and keep its result if it passed.  Exit status
# 255 makes xargs start no further test.
run_or_keep()
{
	local key

	goes_on || exit 255
	if ! may_keep "$1"; then
		run_test "$1"
		return
	fi
	key=$(kept_key "$1")
	if is_kept "$1" "$key"; then
		result_of "$1" "kept: passed $(kept_since "$1"); nothing it reads has changed"
		return
	fi
	run_test "$1"
	keep "$1" "$key"
}

run_test()
{
	local start status

	start=$(date +%s)
	{
		echo "### RUN $1"
		tap_of "$1" 2>&1 </dev/null | one_plan
		status=${PIPESTATUS[0]}
		echo "### EXIT $1 $status $(($(date +%s) - start))"
		echo "### DONE"
	} >"$out/$1.tap"
	goes_on || exit 255
	awk -f "$here/tap.awk" "$out/$1.tap" >"$out/$1.result"
	result_of "$1"
}

# A test without a result failed: it never began, or its shell was killed.
count_missing()
{
	local test

	for test; do
		grep -qs '^TOTAL' "$out/$test.result" && continue
		echo "          $test: it left no result"
		printf 'TOTAL\t0\t1\n' >"$out/$test.result"
	done
}

# Print the sum of all results; fail unless all passed.
sum()
{
	local kept

	kept=$(find "$out" -name '*.kept' | wc -l)
	[ "$kept" = 0 ] || echo "not run again, as nothing that they read has changed since they" \
		"passed: $kept of the tests; make check FRESH=1 runs all"
	cat "$out"/*.result | awk -F '\t' '
		$1 == "TOTAL" { p += $2; f += $3 }
		END { printf "%d passed, %d failed, 0 skipped\n", p, f
			exit f || !p }'
}

main()
{
	local tests=$* run=$$

	# shellcheck disable=SC2086 # a list of names
	known $tests || exit 2
	# shellcheck disable=SC2086 # a list of names
	"$here/need.sh" $PACKAGES && choose_kernel && prepare && build || exit 1
	# shellcheck disable=SC2046 # a list of names
	[ -n "$tests" ] || tests=$(in_order unit tap kept alone chosen seed processor bench flows \
		dtn dashboard mutants fuzzers lint $(lab_tests) figures)
	rm -rf "$out"
	mkdir -p "$out"
	echo "check: everything that is said goes to build/check/;" \
		"CHECK_SEED=$seed makes the same again"
	kept_begin "$out"
	export out here top began limit seed run
	export -f run_test tap_of in_the_machine one_plan unit_tests fuzzers result_of \
		run_or_keep goes_on
	tests=$(tr -s ' ' '\n' <<<"$tests")
	grep -vxF figures <<<"$tests" | tr '\n' '\0' |
		xargs -0 -r -n 1 -P "$(at_once 2)" bash -c 'run_or_keep "$1"' -
	# figures uses all processors by itself
	! grep -qxF figures <<<"$tests" || run_or_keep figures
	# shellcheck disable=SC2086 # a list of names
	count_missing $tests
	sum
}

alone "make check" "$top/build/check.lock" main "$@"

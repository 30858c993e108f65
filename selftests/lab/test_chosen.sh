#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_chosen.sh: which tests are run by make check, by CI and for a mutant, and what of the
# environment they are given; TAP

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
. "$here/tree_lib.sh"

ONE_POINT='echo "ok 1"; echo 1..1'

# shellcheck disable=SC2016 # words of the programs
tree_that_records()
{
	tree
	program "$TREE/selftests/records.sh" '# labs: uml' 'env >>"$WAY/env"' \
		'echo run >>"$WAY/runs"' "$ONE_POINT"
}

runs()
{
	wc -l <"$WAY/runs"
}

given()
{
	local name

	tree_that_records
	for name in CHURN FUZZ_CALLS FUZZ_SEED NLFUZZ_MESSAGES NLFUZZ_SEED FAULTS FAULTS_SEED \
		ONLY_CASES; do
		rm -f "$WAY/env"
		env FRESH=1 $name=47 "$TREE/selftests/lab/check.sh" records >/dev/null 2>&1
		equal "a test is given" "$name=47" "$(grep "^$name=" "$WAY/env")"
	done
	rm -f "$WAY/env"
	FRESH=1 check records >/dev/null
	equal "and nothing that is not set" "" "$(grep -E '^(CHURN|FAULTS|ONLY_CASES)' "$WAY/env")"
}

# A run of some cases says nothing about the others.
some_cases()
{
	tree_that_records
	check records >/dev/null
	check records >/dev/null
	equal "a test that passed is kept: runs" 1 "$(runs)"
	ONLY_CASES=one check records >/dev/null
	equal "one of its cases is run: runs" 2 "$(runs)"
	echo "# more" >>"$TREE/selftests/records.sh"
	ONLY_CASES=one check records >/dev/null
	check records >/dev/null
	equal "and that it passed is not kept: runs" 4 "$(runs)"
}

# mutant NAME TEST: in the list of the tree
mutant()
{
	printf '[[mutant]]\nname = "%s"\nfile = "Kbuild"\nold = "a"\nnew = "b"\ntest = "%s"\n' \
		"$1" "$2" >>"$TREE/selftests/mutants/list.toml"
}

of_a_mutant()
{
	local out

	tree
	mkdir -p "$TREE/selftests/mutants"
	cp "$SELFTESTS/tap.py" "$TREE/selftests/"
	cp "$SELFTESTS/mutants/mutants.py" "$TREE/selftests/mutants/"
	echo a >"$TREE/Kbuild"
	program "$TREE/selftests/emulated.sh" '# labs: qemu root' "$ONE_POINT"
	echo 'shared() { :; }	# as tests with "# labs: uml" use it' >"$TREE/selftests/shared_lib.sh"
	mutant of-make-check later
	mutant of-unit unit
	mutant of-qemu emulated
	mutant of-a-library shared_lib
	out=$(PYTHONDONTWRITEBYTECODE=1 "$TREE/selftests/mutants/mutants.py" --list)
	matches "a mutant may name a uml test" '^ok 1 - of-make-check: later$' "$out"
	matches "and the unit tests" '^ok 2 - of-unit: unit$' "$out"
	matches "not a test that make check does not run" \
		'^not ok 3 - of-qemu: "emulated" is no test of make check$' "$out"
	matches "nor a library" \
		'^not ok 4 - of-a-library: "shared_lib" is no test of make check$' "$out"
}

# ci [NAME=value]: CI's run, whose make only records how it is called
ci()
{
	env -u CI_TURN PATH="$WAY/bin:$PATH" XDG_CACHE_HOME="$WAY/cache" "$@" "$TREE/.ci/run" 2>&1
}

# shellcheck disable=SC2016 # words of the programs
tree_with_ci()
{
	local test

	tree
	mkdir -p "$TREE/.ci" "$WAY/cache/tcp_circuit"
	cp "$TOP/.ci/run" "$TREE/.ci/"
	echo 41 >"$WAY/cache/tcp_circuit/turn"
	program "$WAY/bin/make" 'echo "$1 TESTS=${TESTS-}" >>"$WAY/made"' \
		'echo "1 passed, 0 failed, 0 skipped"'
	for test in anywhere breaker loss; do
		program "$TREE/selftests/$test.sh" '# labs: uml qemu root' "$ONE_POINT"
	done
	program "$TREE/selftests/setup_moved.sh" '# labs: uml qemu root' "$ONE_POINT"
	program "$TREE/selftests/setup_units.sh" '# labs: qemu' '# suites: bookworm' "$ONE_POINT"
}

of_ci()
{
	local out turn

	tree_with_ci
	turn=$WAY/cache/tcp_circuit/turn
	out=$(ci CI_TURN=8)
	matches "CI names the emulated tests of its turn" \
		'^turn 8: TESTS="anywhere loss" make check-kernels SUITES=bookworm; ' "$out"
	equal "and runs them" "check-kernels TESTS=anywhere loss" \
		"$(grep '^check-kernels' "$WAY/made")"
	matches "the other half, eight turns later" \
		'^turn 16: TESTS="breaker setup_units" make check-kernels SUITES=bookworm; ' \
		"$(ci CI_TURN=16)"
	matches "without those of another suite" \
		'^turn 2: TESTS="breaker" make check-kernels SUITES=newest; ' "$(ci CI_TURN=2)"
	equal "a turn that is repeated is not counted" 41 "$(<"$turn")"
	matches "the next turn" '^turn 42: TESTS="anywhere loss" make check-kernels SUITES=newest; ' \
		"$(ci)"
	equal "is counted" 42 "$(<"$turn")"
	matches "and one without emulated tests" \
		'^turn 43: no make check-kernels; make bench-quick PART=3/10 ROUND=4; ' "$(ci)"
}

# unlisted WORDS FOLDER FILE...: those that WORDS, as the Makefile of FOLDER expands them, lack
unlisted()
{
	local words

	words=$(make -s -C "$TOP/$2" --eval="words: ; @printf '%s\n' $1" words)
	printf '%s\n' "${@:3}" | sed 's@.*/@@; s@\.c$@@' | grep -vxF -f <(echo "$words")
}

# A file of unit tests that no Makefile names would never run.
# shellcheck disable=SC2016 # make's variables
of_unit()
{
	equal "tools/tests/test_*.c that make check does not run" "" \
		"$(unlisted '$(TESTS)' tools "$TOP"/tools/tests/test_*.c)"
	equal "selftests/unit/test_*.c that make check does not run" "" \
		"$(unlisted '$(TESTS)' selftests/unit "$TOP"/selftests/unit/test_*.c)"
	equal "tools/*.c that are part of no program" "" \
		"$(unlisted '$(PARTS) ctcp-setup' tools "$TOP"/tools/*.c)"
}

cases given some_cases of_a_mutant of_ci of_unit
finish

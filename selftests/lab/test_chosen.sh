#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_chosen.sh: which tests are run, and what of the environment they are given; TAP

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

cases given some_cases
finish

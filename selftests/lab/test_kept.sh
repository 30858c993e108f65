#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_kept.sh: which changes make a test of the lab run again (kept.sh); TAP

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

top=$TMP/tree
KEPT_OUT=$TMP/out
export seed=47
export KEPT_NOT='' KEPT_WORDS=newest KEPT_LAB=kernel
. "$here/kept.sh"

# A tree of one test that is looked at, t, and of what it reads
small_tree()
{
	rm -rf "$top" "$KEPT_OUT"
	mkdir -p "$top"/{build/bin,circuit,docs,include,selftests/lab,tools/units} "$KEPT_OUT"
	cd "$top" || exit
	touch tcp_circuit.c Kbuild circuit/path.h include/tcp.h docs/page.md tools/units/one
	touch selftests/lab/{cache,check,kept,newest-source,uml-init,uml-kernel,uml-module,uml}.sh
	touch selftests/lab/{tap.awk,uml-seed.c} include/probe.sh
	touch build/bin/{ctcp-setup,ctcpd,circuit_nl}
	# shellcheck disable=SC2016 # words of the test
	echo '. "$(dirname "$0")/lib.sh"
		for unit in "$TOP/tools/units/$name"; do ctcp-setup; done
		cat "$TOP/include/tcp.h" "$SELFTESTS/data"' >selftests/t.sh
	# shellcheck disable=SC2016
	echo '. "$SELFTESTS/deep.sh"; TOP=$(cd "$SELFTESTS/.." && pwd)' >selftests/lib.sh
	echo 'circuit_nl' >selftests/deep.sh
	touch selftests/{data,other.sh}
}

# changes FILE: whether t is run again when this changes
changes()
{
	local before

	small_tree
	before=$(kept_key t)
	echo more >>"$top/$1"
	[ "$before" != "$(kept_key t)" ]
}

reads()
{
	local file

	for file in selftests/{t.sh,lib.sh,deep.sh,data} tools/units/{one,another} include/tcp.h \
		build/bin/{ctcp-setup,circuit_nl} tcp_circuit.c circuit/{path.h,new.c} \
		include/probe.sh selftests/lab/{uml-init.sh,tap.awk,check.sh,uml-kernel.sh}; do
		succeeds "run again with $file" changes "$file"
	done
	for file in selftests/other.sh build/bin/ctcpd docs/page.md; do
		refused "not with $file" changes "$file"
	done
}

words()
{
	local before

	small_tree
	before=$(kept_key t)
	equal "the same key twice" "$before" "$(kept_key t)"
	refused "run again where it is to do more" \
		[ "$before" = "$(KEPT_WORDS='newest 1000' kept_key t)" ]
	refused "run again with another kernel or package" \
		[ "$before" = "$(KEPT_LAB='kernel 2' kept_key t)" ]
}

# result_is LINE...: of t, with its TAP
result_is()
{
	printf '%b\n' "$@" >"$KEPT_OUT/t.result"
	echo "ok 1" >"$KEPT_OUT/t.tap"
}

PASSED='TEST\tt\t1\t0\t3'

keeps()
{
	local key

	small_tree
	key=$(kept_key t)
	result_is 'FAIL\tt\tit took too long' 'TEST\tt\t1\t1\t3' 'TOTAL\t1\t1'
	keep t "$key"
	refused "what failed is not kept" is_kept t "$key"
	result_is 'TOTAL\t0\t1'
	keep t "$key"
	refused "nor what left no result" is_kept t "$key"
	result_is "$PASSED" 'TOTAL\t1\t0'
	keep t "of what was edited meanwhile"
	refused "nor what was edited while it ran" is_kept t "of what was edited meanwhile"
	keep t "$key"
	rm -f "$KEPT_OUT"/t.*
	succeeds "what passed is" is_kept t "$key"
	equal "with what it said" "ok 1" "$(cat "$KEPT_OUT/t.tap")"
	equal "and its counts" "$(printf '%b' "$PASSED")" "$(head -n 1 "$KEPT_OUT/t.result")"
	matches "and when, with which seed" '^20.* with CHECK_SEED=47$' "$(kept_since t)"
	refused "not for another key" is_kept t "other"
	KEPT_NOT=1
	refused "nor where all is to be run" is_kept t "$key"
	KEPT_NOT=
}

draw()
{
	local one

	small_tree
	refused "a test that draws nothing may be kept" draws t
	# shellcheck disable=SC2016
	for one in '$((RANDOM % 5))' '/dev/urandom' 'FUZZ_SEED'; do
		echo "echo $one" >>"$top/selftests/t.sh"
		succeeds "one that draws is run always, here by $one" draws t
		small_tree
	done
}

# A library that a test takes in by other words would not be seen
understood()
{
	local -x top=$TOP
	local test missing=''

	for test in "$TOP"/selftests/*.sh; do
		missing+=$(sed -nE 's/^[[:space:]]*\. .*\/([^"\/]*)"?$/selftests\/\1/p' "$test" |
			grep -vxF -f <(files_of "$(basename "$test" .sh)"))
	done
	equal "what the tests here take in, and is not seen" "" "$missing"
}

cases reads words keeps draw understood
finish

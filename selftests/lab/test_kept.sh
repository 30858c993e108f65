#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_kept.sh: which changes make a test of the lab run again (kept.sh); TAP

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

top=$TMP/tree
KEPT_OUT=$TMP/out
export seed=47
export KEPT_NOT='' KEPT_WORDS=newest KEPT_KERNEL=kernel KEPT_HOST=packages
. "$here/kept.sh"

# Make a tree of two tests, t and figures, and of the files that they read.
make_tree()
{
	mkdir -p "$top"/{build/bin,circuit,docs,include,selftests/lab,tools/units}
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
	touch selftests/{data,other.sh} selftests/lab/run.jq
	# shellcheck disable=SC2016
	echo '# labs: uml
		. "$LAB_DIR_HERE/../lib.sh"; "$LAB_DIR_HERE/transfer.sh"' >selftests/lab/figures.sh
	# shellcheck disable=SC2016
	echo 'cat "$(dirname "$0")/../data"; "$LAB_DIR_HERE/run.jq"' >selftests/lab/transfer.sh
	printf '#!/bin/sh\necho "kernel for <$LAB_KERNEL> $(cat %s)"\n' "$TMP/config" \
		>selftests/lab/uml-kernel.sh
	chmod +x selftests/lab/uml-kernel.sh
}

# Restore the tree.
small_tree()
{
	rm -rf "$top" "$KEPT_OUT"
	cp -r "$TMP/whole" "$top"
	mkdir "$KEPT_OUT"
	echo 1 >"$TMP/config"
}

# changes TEST BEFORE FILE: true if a change of FILE makes the test run again
changes()
{
	small_tree
	echo more >>"$top/$3"
	[ "$2" != "$(kept_key "$1")" ]
}

reads()
{
	local file before

	small_tree
	before=$(kept_key t)
	for file in selftests/{t.sh,lib.sh,deep.sh,data} tools/units/{one,another} include/tcp.h \
		build/bin/{ctcp-setup,circuit_nl} tcp_circuit.c circuit/{path.h,new.c} \
		include/probe.sh selftests/lab/{uml-init.sh,tap.awk,check.sh,uml-kernel.sh}; do
		succeeds "run again with $file" changes t "$before" "$file"
	done
	for file in selftests/other.sh build/bin/ctcpd docs/page.md; do
		refused "not with $file" changes t "$before" "$file"
	done
}

# figures.sh has its scripts in lab/, and boots 6.1 whatever kernel the tests run on.
figures()
{
	local file before
	local -x LAB_KERNEL=newest

	small_tree
	before=$(kept_key figures)
	equal "figures: the same key twice" "$before" "$(kept_key figures)"
	for file in selftests/{lab/{figures.sh,transfer.sh,run.jq},lib.sh,deep.sh,data} \
		build/bin/circuit_nl tcp_circuit.c selftests/lab/{uml.sh,uml-seed.c}; do
		succeeds "figures: made again with $file" changes figures "$before" "$file"
	done
	refused "figures: not with selftests/t.sh" changes figures "$before" selftests/t.sh
	small_tree
	refused "figures: nor with the kernel of the tests" \
		[ "$before" != "$(KEPT_KERNEL='kernel 2' kept_key figures)" ]
	equal "figures: the kernel is 6.1" 'kernel for <> 1' "$(kernel_of figures)"
	echo 2 >"$TMP/config"
	succeeds "figures: made again with another 6.1" [ "$before" != "$(kept_key figures)" ]
}

words()
{
	local before

	small_tree
	before=$(kept_key t)
	equal "the same key twice" "$before" "$(kept_key t)"
	refused "run again where it is to do more" \
		[ "$before" = "$(KEPT_WORDS='newest 1000' kept_key t)" ]
	refused "run again with another kernel" \
		[ "$before" = "$(KEPT_KERNEL='kernel 2' kept_key t)" ]
	refused "run again with another package" \
		[ "$before" = "$(KEPT_HOST='packages 2' kept_key t)" ]
}

# result_is LINE...: write these lines as t's result, and some TAP
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
	local one script
	local -x ONLY_CASES=''

	small_tree
	refused "what is not of the lab is not kept" may_keep t
	script=$(cat "$top/selftests/t.sh")
	for one in uml "qemu uml root"; do
		echo "# labs: $one" >>"$top/selftests/t.sh"
		succeeds "a test that draws nothing may be, of the lab by \"$one\"" may_keep t
		echo "$script" >"$top/selftests/t.sh"
	done
	succeeds "figures may be" may_keep figures
	ONLY_CASES=one refused "a run of some cases may not" may_keep figures
	# shellcheck disable=SC2016
	for one in '$((RANDOM % 5))' '/dev/urandom' 'FUZZ_SEED'; do
		printf '# labs: uml\n%s\necho %s\n' "$script" "$one" >"$top/selftests/t.sh"
		refused "one that draws is run always, here by $one" may_keep t
	done
}

# named() must find each library that a script of the tree sources.
understood()
{
	local script missing=''

	cd "$TOP" || return
	for script in selftests/*.sh selftests/lab/{figures,runs,transfer}.sh; do
		missing+=$(sed -nE 's/^[[:space:]]*\. .*\/([^"\/]*)"?$/\1/p' "$script" |
			grep -vxF -f <(named "$script" | sed 's@.*/@@'))
	done
	equal "what the tests here take in, and is not seen" "" "$missing"
}

make_tree
mv "$top" "$TMP/whole"
cases reads figures words keeps draw understood
finish

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # here is the folder of the test that sources it
#
# tree_lib.sh: a small tree in which check.sh runs; source this file behind lib.sh
#
# It has check.sh itself, two tests and figures that need no machine, and nothing to build.

TREE=$TMP/tree
export WAY=$TMP/way	# files by which this test and the tests in the tree signal each other
export PATH=$TMP/bin:$PATH
unset FRESH CHECK_SEED
export -n ONLY_CASES	# it selects cases of this test, not of those in the tree

# program PATH LINE...: write an executable bash script
program()
{
	local path=$1

	shift
	mkdir -p "${path%/*}"
	printf '%s\n' '#!/bin/bash' "$@" >"$path"
	chmod +x "$path"
}

# tree: make it anew.  uml.sh starts the test at once, without the host's environment, as the
# guest does not have it.
# shellcheck disable=SC2016 # words of the programs
tree()
{
	local lab=$TREE/selftests/lab

	rm -rf "$TREE" "$WAY"
	mkdir -p "$lab" "$WAY" "$TREE"/{circuit,include}
	touch "$TREE"/{tcp_circuit.c,Kbuild} "$lab"/{cache,newest-source,uml-init}.sh \
		"$lab/uml-seed.c"
	cp "$here"/{alone,check,kept,runs}.sh "$here/tap.awk" "$lab/"
	printf '.PHONY: tools tests-bin\ntools tests-bin:\n\t@mkdir -p build/bin\n' >"$TREE/Makefile"
	program "$TMP/bin/nproc" 'echo 1'
	program "$lab/need.sh"
	program "$lab/uml-kernel.sh" 'echo kernel'
	program "$lab/uml-module.sh" 'echo module'
	program "$lab/uml.sh" 'while getopts rm:t:o:s: _; do :; done; shift $((OPTIND - 1))' \
		'exec env -i PATH="$PATH" WAY="$WAY" "${@:2}" "$1"'
	program "$TREE/selftests/waits.sh" '# labs: uml' 'echo $$ >"$WAY/begun"' \
		'until [ -e "$WAY/go" ]; do sleep 0.05; done' 'echo "ok 1"; echo 1..1'
	program "$TREE/selftests/later.sh" '# labs: uml' 'touch "$WAY/later"' \
		'echo "ok 1"; echo 1..1'
	program "$lab/figures.sh" '# labs: uml' 'echo run >>"$WAY/figures"' \
		'echo "$(cat "$WAY/verdict") 1"; echo 1..1; grep -qx ok "$WAY/verdict"'
}

# check TEST...: make check in the tree
check()
{
	"$TREE/selftests/lab/check.sh" "$@" 2>&1
}

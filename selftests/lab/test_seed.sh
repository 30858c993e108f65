#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_seed.sh: the same seed is the same run wherever the tree lies, where this user may
# mount (uml.sh), and another seed another; TAP.  The copy takes what the tree has built.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

DEEP=$TMP/one/of/many/much/deeper/folders/with_a_long_name
LAB_KO=$("$here/uml-module.sh") || exit 1
export LAB_KO

# run_of TREE SEED
run_of()
{
	"$1/selftests/lab/uml.sh" -t 600 -s "$2" "$1/selftests/lab/seed_run.sh" 2>&1
}

may_mount()
{
	unshare -m --propagation private sh -c 'mount -t tmpfs lab /mnt' 2>/dev/null
}

mkdir -p "$DEEP/build"
cp -r "$SELFTESTS" "$DEEP/"
cp -r "$TOP/build/bin" "$DEEP/build/"
one=$(run_of "$TOP" 7)
other=$(run_of "$TOP" 8)
matches "packets are lost" 'dropped [1-9]' "$one"
refused "another seed is another run" [ "$one" = "$other" ]
if may_mount; then
	equal "the same seed in a folder much deeper is the same run: lines that differ" "" \
		"$(diff <(echo "$one") <(run_of "$DEEP" 7))"
fi
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_alone.sh: two runs in one tree exclude each other (alone.sh), and make check keeps its
# figures as it keeps its tests; TAP

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
. "$here/tree_lib.sh"

# begin TEST...: start a run, with the pid FIRST, that goes on until $WAY/go exists
begin()
{
	"$TREE/selftests/lab/check.sh" "$@" >"$TMP/first" 2>&1 &
	FIRST=$!
	until_true 20 test -s "$WAY/begun" || fail "the first run began" "$(<"$TMP/first")"
}

all_in()
{
	find "$1" -printf '%p %s %T@\n' | sort
}

# refusal WHAT PID: print what a second run says
refusal()
{
	echo "make $1 is running in this tree, as process $2: nothing was begun, nothing changed"
}

gone()
{
	! kill -0 "$1" 2>/dev/null
}

second()
{
	local before out status

	tree
	begin waits
	before=$(all_in "$TREE")
	out=$(check later)
	status=$?
	equal "a second run: exit status" 1 $status
	equal "a second run says" "$(refusal check "$FIRST")" "$out"
	equal "and changes nothing: lines that differ" "" "$(diff - <(all_in "$TREE") <<<"$before")"
	cp -r "$TREE" "$TMP/another"
	succeeds "a copy of the tree is no second run there" \
		"$TMP/another/selftests/lab/check.sh" later
	touch "$WAY/go"
	wait "$FIRST"
	equal "the first passes: exit status" 0 $?
	equal "and its last line" "1 passed, 0 failed, 0 skipped" "$(tail -n 1 "$TMP/first")"
	succeeds "then another one begins" check later
}

# Programs that a run leaves behind do not hold the lock.
left_behind()
{
	local left

	tree
	program "$TREE/selftests/waits.sh" '# labs: uml' \
		"sleep 600 </dev/null >/dev/null 2>&1 & echo \$! >>$WAY/left" 'echo "ok 1"; echo 1..1'
	program "$TREE/selftests/lab/need.sh" \
		"sleep 600 </dev/null >/dev/null 2>&1 & echo \$! >>$WAY/left"
	succeeds "a run that leaves programs behind" check waits
	mapfile -t left <"$WAY/left"
	at_least "how many" 2 ${#left[@]}
	succeeds "they are there still" kill -0 "${left[@]}"
	succeeds "the next one begins" check later
	mapfile -t left <"$WAY/left"
	kill "${left[@]}"
}

# Kill only the shell of a run: the test that it has started goes on.
killed()
{
	local rest

	tree
	echo "ok" >"$WAY/verdict"
	begin waits later
	rest=$(pgrep -P "$FIRST" -x xargs)
	kill -KILL "$FIRST"
	wait "$FIRST" 2>/dev/null
	refused "the first run was killed, its test goes on" gone "$(<"$WAY/begun")"
	succeeds "another one begins at once" check figures
	touch "$WAY/go"
	succeeds "what was left ends" until_true 20 gone "$rest"
	refused "begins no other test" test -e "$WAY/later"
	equal "writes no result" "" "$(find "$TREE/build/check" -name 'waits.*')"
	equal "and keeps none" "" "$(find "$TREE/build/kept" -name 'waits.*')"
}

# The same between two tests, of which the first is kept and the other has not begun
killed_between()
{
	local rest

	tree
	check later >/dev/null
	# shellcheck disable=SC2016
	program "$TMP/bin/sha256sum" 'if [ $# -gt 0 ]; then touch "$WAY/held"; fi' \
		'while [ $# -gt 0 ] && [ ! -e "$WAY/go" ]; do sleep 0.05; done' \
		"exec $(command -v sha256sum) \"\$@\""
	"$TREE/selftests/lab/check.sh" later waits >"$TMP/first" 2>&1 &
	FIRST=$!
	succeeds "a run looks whether a test is kept" until_true 20 test -e "$WAY/held"
	rest=$(pgrep -P "$FIRST" -x xargs)
	kill -KILL "$FIRST"
	wait "$FIRST" 2>/dev/null
	touch "$WAY/go"
	succeeds "killed there, it ends" until_true 20 gone "$rest"
	refused "and begins no other test" test -e "$WAY/begun"
	rm "$TMP/bin/sha256sum"
}

figures()
{
	local out

	tree
	echo "not ok" >"$WAY/verdict"
	refused "figures that fail" check figures
	echo "ok" >"$WAY/verdict"
	succeeds "are made again, and pass" check figures
	equal "made so far, times" 2 "$(wc -l <"$WAY/figures")"
	echo "not ok" >"$WAY/verdict"
	out=$(check figures)
	equal "those that passed are not made again: exit status" 0 $?
	equal "made so far, times" 2 "$(wc -l <"$WAY/figures")"
	matches "it says so" 'figures +1 passed, 0 failed \(kept: passed 20' "$out"
	matches "and how many" '^not run again, .* they passed: 1 of the tests' "$out"
	refused "made again where all are asked for" env FRESH=1 \
		"$TREE/selftests/lab/check.sh" figures
	echo "# more" >>"$TREE/tcp_circuit.c"
	refused "made again with another module" check figures
}

# The other commands that write to a folder of build/
others()
{
	local what script lock out tool

	while read -r what script; do
		lock=build/$what.lock
		tree
		mkdir -p "$TREE/build" "$(dirname "$TREE/$script")"
		cp "$TOP/$script" "$TREE/$script"
		for tool in need make-tools; do
			program "$TREE/selftests/lab/$tool.sh" 'touch "$WAY/later"; exit 1'
		done
		echo 4711 >"$TREE/$lock"
		out=$(flock "$TREE/$lock" "$TREE/$script" 2>&1)
		equal "make $what, a second one" "$(refusal "$what" 4711)" "$out"
		refused "make $what: it begins nothing" test -e "$WAY/later"
		"$TREE/$script" >/dev/null 2>&1
		succeeds "make $what: but the first does" test -e "$WAY/later"
	done <<-END
	demo selftests/lab/demo.sh
	bench selftests/bench/bench.sh
	verdicts selftests/flows/verdicts.sh
	dtn selftests/dtn/dtn.sh
	END
}

# Two commands at once both build the tools: the second waits for the first.
build()
{
	local one two

	tree
	cp "$TOP/Makefile" "$TOP/dkms.conf" "$TREE/"
	program "$TREE/tools/build" 'mkdir -p "$1"; touch "$1/ctcp-setup" "$1/ctcpd"' \
		'mkdir "$WAY/building" || touch "$WAY/twice"; echo >>"$WAY/built"' \
		'until [ -e "$WAY/go" ]; do sleep 0.05; done; rmdir "$WAY/building"'
	printf 'all:\n\t@./build $(O)\n' >"$TREE/tools/Makefile"
	make -s -C "$TREE" tools >/dev/null 2>&1 &
	one=$!
	until_true 20 test -e "$WAY/building"
	make -s -C "$TREE" tools >/dev/null 2>&1 &
	two=$!
	succeeds "make tools, a second one waits" until_true 20 pgrep -P $two -x flock
	touch "$WAY/go"
	wait $one $two
	equal "both have built" 2 "$(wc -l <"$WAY/built")"
	refused "not at the same time" test -e "$WAY/twice"
}

cases second left_behind killed killed_between figures others build
finish

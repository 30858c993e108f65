#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_tap.sh: what tap.awk makes of what tests say; TAP
#
# The complaints of shells are recorded from bash 5.2, dash and busybox; this machine's bash
# shows what becomes of a list of cases that is cut short.

here=$(cd "$(dirname "$0")" && pwd)
unset ONLY_CASES	# set for another test of the same run; the scripts here have their own
. "$here/../lib.sh"

# judged LINES [STATUS]: what tap.awk makes of a test with this output and exit status
judged()
{
	printf '### RUN probe\n%s\n### EXIT probe %d 7\n### DONE\n' "$1" "${2:-0}" |
		awk -f "$here/tap.awk"
}

# verdict PASSED FAILED: tap.awk's lines for that test and for all of them
verdict()
{
	printf 'TEST\tprobe\t%d\t%d\t7\nTOTAL\t%d\t%d' "$1" "$2" "$1" "$2"
}

GREEN=$'ok 1 - one\nok 2 - two\n1..2'

# judges DESCRIPTION PASSED FAILED LINES [STATUS]
judges()
{
	local said

	said=$(judged "${@:4}" | grep -v '^FAIL')
	if [ "$said" = "$(verdict "$2" "$3")" ]; then
		pass "$1: $2 passed, $3 failed"
	else
		fail "$1" "expected: $2 passed, $3 failed" "got:      $said"
	fi
}

# complained LINE...: each line fails a test whose points and plan are in order
complained()
{
	local line

	for line; do
		judges "$line" 2 1 "$line"$'\n'"$GREEN"
	done
}

# tolerated LINE...: no line is a complaint of a shell
tolerated()
{
	local line

	for line; do
		judges "$line" 2 0 "$line"$'\n'"$GREEN"
	done
}

points_and_plans()
{
	judges "all is well" 2 0 "$GREEN"
	judges "a point fails" 1 1 $'ok 1 - one\nnot ok 2 - two\n1..2' 1
	judges "too few points" 1 1 $'ok 1 - one\n1..2'
	judges "no plan" 1 1 'ok 1 - one' 1
	judges "a skip" 0 1 $'ok 1 - one # SKIP it cannot run\n1..1'
	judges "all is skipped" 0 1 '1..0 # SKIP it cannot run' 4
	judges "a status that nothing tells of" 2 1 "$GREEN" 125
	judges "it takes too long" 1 1 'ok 1 - one' 124
	equal "a machine that dies: failed" 2 "$(echo '### RUN probe' |
		awk -f "$here/tap.awk" | sed -n 's/^TOTAL\t0\t//p')"
}

recorded()
{
	complained './x.sh: line 5: 08: value too great for base (error token is "08")' \
		'/src/selftests/lib.sh: line 88: 3 * : syntax error: operand expected (error token is "* ")' \
		'./x.sh: line 5: 1/0 : division by 0 (error token is "0 ")' \
		'./x.sh: line 9: [: : integer expression expected' \
		'./x.sh: line 9: [: =: unary operator expected' \
		'./x.sh: line 9: [: too many arguments' \
		'./x.sh: line 3: $OUT: ambiguous redirect' \
		'./x.sh: line 3: WINDOW: unbound variable' \
		'./x.sh: line 3: ${a b}: bad substitution' \
		'./x.sh: line 3: circuit_soc: command not found' \
		'./x.sh: line 40: syntax error: unexpected end of file' \
		'./x.sh: 1: [: Illegal number: a' \
		'./x.sh: 1: [: 1: unexpected operator' \
		'./x.sh: 1: circuit_soc: not found' \
		'./x.sh: 1: arithmetic expression: division by zero: "1/0"' \
		'./x.sh: 1: q: parameter not set' \
		'./x.sh: 1: Bad substitution' \
		'./x.sh: 1: Syntax error: end of file unexpected (expecting "then")' \
		'sh: divide by zero' 'sh: a: bad number' 'sh: circuit_soc: not found'
	judges "many complaints are one failure" 2 1 \
		$'./x.sh: line 3: A: unbound variable\n./x.sh: line 3: A: unbound variable\n'"$GREEN"
	equal "it is named" $'FAIL\tprobe\ta shell\'s complaint: ./x.sh: line 3: A: unbound variable' \
		"$(judged './x.sh: line 3: A: unbound variable'$'\n'"$GREEN" | grep '^FAIL')"
	tolerated '# got:      ./x.sh: line 3: A: unbound variable' \
		"/src/selftests/lib.sh: line 336: 13904 Killed                  ip netns exec" \
		'modprobe: FATAL: Module tcp_circuit not found in directory /lib/modules' \
		'ctcp-setup: eth9: not found' \
		'circuit_sock: connect: No route to host'
	judges "words of a point" 2 0 $'ok 1 - a\nok 2 - it says: command not found\n1..2'
}

# script COMMAND...: run these commands as a test, by this machine's bash
script()
{
	printf '%s\n' ". '$SELFTESTS/lib.sh'" "$@" finish >"$TMP/script.sh"
	bash "$TMP/script.sh" 2>&1
}

# cut_short NAME COMMAND: three cases with a point each, the second one cut short by COMMAND
cut_short()
{
	local out status

	out=$(script "first() { pass one; }" "second() { $2; pass two; }" \
		"third() { pass three; }" 'cases first second third')
	status=$?
	equal "$1: its own exit status" 1 $status
	matches "$1: it says where" \
		'^not ok 2 - 3 cases: 1 came to their end, second did not' "$out"
	judges "$1, as the lab has it" 1 2 "$out" $status
}

# An unknown case name fails the test even beside a valid one; it must not look as if both had
# run.
chosen_in_vain()
{
	local out

	out=$(ONLY_CASES=first,secnd script 'first() { pass one; }' 'second() { pass two; }' \
		'third() { pass three; }' 'cases first second' 'cases third')
	equal "a misspelt case beside another: exit status" 1 $?
	matches "a misspelt case beside another: which, and what there is" \
		'^not ok 2 - ONLY_CASES: "secnd" is no case of this test: first second third$' "$out"
	out=$(ONLY_CASES='first second' script 'pass always' 'first() { pass one; }' \
		'second() { pass two; }' 'cases first second')
	equal "cases that no comma parts: exit status" 1 $?
	matches "cases that no comma parts: which" \
		'"first second" is no case of this test: first second$' "$out"
	out=$(ONLY_CASES=first,third, script 'first() { pass one; }' 'third() { pass three; }' \
		'cases first' 'cases third')
	equal "cases of two lists: exit status" 0 $?
	judges "cases of two lists" 2 0 "$out"
	out=$(ONLY_CASES=first script 'pass one')
	equal "a case of a test without cases: exit status" 1 $?
	matches "a case of a test without cases: which" \
		'^not ok 2 - ONLY_CASES: "first" is no case of this test: it has none$' "$out"
}

# The chosen cases of ctcpd's tests may begin no daemon, while the test's servers run.
without_a_daemon()
{
	local out

	# shellcheck disable=SC2016 # the script's own
	out=$(ONLY_CASES=first script '. "$SELFTESTS/ctcpd_lib.sh"' 'sleep 20 &' \
		'defer "kill $!"' 'first() { pass one; }' 'cases first' 'begun=$SECONDS' \
		'end TERM' 'equal "its exit status" 0 $ENDED' \
		'at_most "s that it waits" 9 $((SECONDS - begun))')
	equal "no daemon that was begun: exit status" 0 $?
	judges "no daemon that was begun" 3 0 "$out"
}

lists_of_cases()
{
	local out

	out=$(script 'first() { pass one; }' 'second() { pass two; }' 'cases first second')
	equal "cases that all end: exit status" 0 $?
	judges "cases that all end" 2 0 "$out"
	out=$(ONLY_CASES=first,third script 'first() { pass one; }' 'second() { fail two; }' \
		'third() { pass three; }' 'cases first second third')
	equal "cases that are chosen: exit status" 0 $?
	judges "cases that are chosen" 2 0 "$out"
	out=$(ONLY_CASES=thir script 'third() { pass three; }' 'cases third')
	equal "a case that is not there is chosen: exit status" 1 $?
	chosen_in_vain
	without_a_daemon
	# shellcheck disable=SC2016 # the script's own
	cut_short "a bad number in one of three cases" 'x=08; x=$((x + 1))'
	# shellcheck disable=SC2016
	cut_short "a division by nothing there" 'x=$((1 / 0))'
}

# skipped_for COMMAND: print why a script with this command is skipped
skipped_for()
{
	script "$1" | sed -n 's/^1\.\.0 # SKIP //p'
}

# A test without one of its programs is skipped, and says how to get it.
without_a_program()
{
	local program

	for program in circuit_nothing ctcp-nothing; do
		equal "without $program" "$program is not built: make tools tests-bin" \
			"$(skipped_for "need_commands sh $program")"
	done
	equal "without a program of others" "no-such is not installed" \
		"$(skipped_for 'need_commands sh no-such')"
}

points_and_plans
without_a_program
recorded
lists_of_cases
finish

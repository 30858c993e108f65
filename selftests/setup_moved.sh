#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Move a prefix from one circuit to another, though the kernel refuses a prefix that another
# circuit still has: in any order of the file, also where two circuits swap prefixes; and the
# way back after a failure, at a deadline, or by the command after one that was killed.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup ctcp-setup-faulty
need_module

STEPS_MAX=60		# changes of a run; with more, counting them has failed

# circuits PREFIXES...: a file of circuits c1, c2, ... with these prefixes, N for 10.N.0.0/16
circuits()
{
	local list n=0 to

	echo "begin"
	for list; do
		n=$((n + 1))
		to=$(sed -E 's|([0-9]+)|10.\1.0.0/16|g' <<<"$list")
		echo "add c$n --rate 100mbit --rtt 10ms --to $to --via 10.78.0.254 eth1"
	done
	echo "end"
}

# have: the prefixes of each circuit in the kernel, sorted, circuits by name
have()
{
	local prefixes

	in_host circuit_nl dump | sed -nE 's/^name=(c[0-9]).* prefixes=([^ ]*).*/\1 \2/p' | sort |
		while read -r _ prefixes; do
			tr ',' '\n' <<<"$prefixes" | cut -d. -f2 | sort -n | paste -sd,
		done | tr '\n' ' '
}

# becomes WHAT BEFORE AFTER: change the prefixes, lists with blanks between, and kill the change
becomes()
{
	# shellcheck disable=SC2086 # words
	circuits $2 >"$TMP/before"
	# shellcheck disable=SC2086 # words
	circuits $3 >"$TMP/after"
	setup --quiet apply "$TMP/before" || fail "$1: the circuits of before"
	works "$1" setup --quiet apply "$TMP/after"
	equal "$1: prefixes" "$3 " "$(have)"
	works "$1: verify" setup --quiet verify
	killed "$1" "$2" "$3"
}

# Kill the command after each change in its turn: applying the file of before, or that of after,
# repairs what is left.
killed()
{
	local n file want

	for file in before after; do
		want=$2
		[ $file = before ] || want=$3
		for ((n = 1; n < STEPS_MAX; n++)); do
			setup --quiet apply "$TMP/before" || fail "$1: back, $n"
			CTCP_DIE_AT=$n run in_host ctcp-setup-faulty --quiet apply "$TMP/after"
			[ "$RC" = 137 ] || break
			setup --quiet apply "$TMP/$file" 2>"$TMP/err" ||
				fail "$1: killed at $n, apply $file" "$(<"$TMP/err")"
			[ "$(have)" = "$want " ] ||
				equal "$1: killed at $n, apply $file: prefixes" "$want " "$(have)"
		done
		at_least "$1: changes at which it was killed, then apply $file" 4 $((n - 1))
		equal "$1: then it survives" 0 "$RC"
	done
	failed "$1" "$2"
	setup --quiet undo --all
}

# A command that fails takes its changes back.
failed()
{
	local n

	for ((n = 1; n < STEPS_MAX; n++)); do
		setup --quiet apply "$TMP/before" || fail "$1: back, $n"
		CTCP_FAIL_AT=$n run in_host ctcp-setup-faulty --quiet apply "$TMP/after"
		[ "$RC" = 1 ] || break
		[ "$(have)" = "$2 " ] ||
			equal "$1: failed at $n: prefixes" "$2 " "$(have)"
	done
	at_least "$1: changes that failed" 4 $((n - 1))
}

is_back()
{
	[ "$(have)" = "$1 " ]
}

# Unconfirmed, a change is taken back at the deadline.
on_trial()
{
	circuits 90 92 >"$TMP/before"
	circuits 95 90,92 >"$TMP/after"
	setup --quiet apply "$TMP/before"
	works "on trial" setup --quiet apply "$TMP/after" --confirm-within 2s
	equal "on trial: prefixes" "95 90,92 " "$(have)"
	succeeds "on trial: they go back" until_true 60 is_back "90 92"
	succeeds "... and the change is over" until_true 60 setup --quiet apply "$TMP/before"
	works "... verify" setup --quiet verify
	setup --quiet undo --all
}

# Taking a change back fails halfway: the next command that changes anything completes it.
cancel_fails()
{
	local n

	circuits 90 92 >"$TMP/before"
	circuits 92 90 >"$TMP/after"
	for ((n = 1; n < STEPS_MAX; n++)); do
		setup --quiet apply "$TMP/before" || fail "cancel: back, $n"
		setup --quiet apply "$TMP/after" --confirm-within 60s || fail "cancel: on trial, $n"
		CTCP_FAIL_AT=$n run in_host ctcp-setup-faulty --quiet cancel
		[ "$RC" != 0 ] || break
		setup --quiet add c9 --rate 100mbit --rtt 10ms --to 10.99.0.0/16 \
			--via 10.78.0.254 eth1 2>"$TMP/err" ||
			fail "cancel failed at $n, then add" "$(<"$TMP/err")"
		[ "$(have)" = "90 92 99 " ] ||
			equal "cancel failed at $n, then add: prefixes" "90 92 99 " "$(have)"
		setup verify >"$TMP/out" 2>&1 ||
			fail "cancel failed at $n, then add: verify" "$(<"$TMP/out")"
		setup --quiet del c9
	done
	at_least "cancel: changes that failed" 3 $((n - 1))
	setup --quiet undo --all
}

host moved
becomes "the giver first" "90 92" "95 90,92"
becomes "the receiver first" "90 92" "90,92 93"
becomes "a swap" "90 92" "92 90"
becomes "three in a ring, and one beside" "90 91 92 93,94" "91 92 90,93 94"
on_trial
cancel_fails
host_end
finish

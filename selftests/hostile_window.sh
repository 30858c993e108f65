#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# A user has one window, however many of his sockets ask for it, and in whatever state.
#
#	one_window	ten sockets that ask for a window, in each of their states
#	gift		the same where only fcwnd_max gives a window

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/hostile_lib.sh"

one_window()
{
	fresh
	ask_all "a user" $WINDOW
	equal "a user, more than the circuit has, on a connection: refused" \
		$SOCKETS "$(field refused "$(hostile windows -u $MALLORY \
			-n $SOCKETS -t 100 -w $((WINDOW + 1)) -s established \
			$DST4 $PORT)")"
	together "a user, more than the circuit has, before it" $WINDOW \
		"$(hostile windows -u $MALLORY -n $SOCKETS -t 1500 \
			-w $((10 * WINDOW)) -s before $DST4 $PORT)"
	no_wave
}

# Where nothing gives a window, fcwnd_max is for all sockets of a user to one peer.
gift()
{
	local mine others

	set_in src net.ipv4.tcp_circuit_fcwnd_max $WINDOW
	ask_all "a gift" $WINDOW
	background src circuit_hostile send -u $ALICE -n 1 -t 4000 -w $WINDOW \
		$DST4 $PORT >"$TMP/alice"
	others=$!
	mine=$(hostile windows -u $MALLORY -n $SOCKETS -t 2500 -w $WINDOW \
		$DST4 $PORT)
	wait $others
	together "a gift, beside another user's" $WINDOW "$mine"
	equal "it is a gift" $SOCKETS "$(field gifts "$mine")"
	at_least "another user has one of his own" $WINDOW \
		"$(least "$TMP/alice" sum_max 2 3)"
	gifts_reset
	set_in src net.ipv4.tcp_circuit_fcwnd_max 0
}

tripped_gifts()
{
	in_src circuit_nl dump | grep -c ' auto=1 .* tripped_users=1 '
}

# The administrator's reset of a peer is one of all circuits to it, whosever they are.
gifts_reset()
{
	trip $MALLORY -w $WINDOW
	trip $ALICE -w $WINDOW
	equal "two users' gifts to one peer have tripped" 2 "$(tripped_gifts)"
	succeeds "reset of the peer" in_src circuit_nl reset $DST4
	equal "reset of the peer: still open" 0 "$(tripped_gifts)"
	end_sockets src
}

hostile_network
cases one_window gift
finish

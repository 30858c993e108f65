#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu
#
# The circuit breaker trips when a circuit turns out to be a path that other traffic shares,
# so that this traffic survives.  It cuts the window of its user only, until the administrator
# resets it; there is one line in the log and one event, with the evidence, and ss shows it.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/breaker_lib.sh"
. "$SELFTESTS/breaker_cross_lib.sh"

REROUTES=3		# of each kind: CUBIC's share is the middle of them
[ "$LAB" = uml ] || REROUTES=1
NOBODY=65534
RESET=2			# enum tcp_circuit_cause

# Streams may end, the path may be mended: it stays, and cuts nobody else.
sticky()
{
	flow_end
	by_circuit
	sleep 3
	succeeds "sticky when all streams have ended" state_is open
	flow 130000
	sleep 2
	succeeds "sticky for a new stream" state_is open
	cut
	spares_users
}

# Another user on the same circuit, meanwhile
spares_users()
{
	local out

	out=$(in_src timeout 60 circuit_streams -u $NOBODY -w 1000 -t 1000 $FAR $PORT)
	equal "another user has not tripped" 1 "$(far tripped_users)"
	at_least "another user's window, $WINDOW before" $((WINDOW * 8 / 10)) \
		"$(field sum_max "$out")"
}

reset_by_hand()
{
	refused "reset of a circuit that is not there" \
		in_src circuit_nl reset nosuch
	succeeds "reset of another circuit" in_src circuit_nl reset eth1
	succeeds "is not of this one" state_is open
	watch_events
	succeeds "reset by its address" in_src circuit_nl reset $FAR
	succeeds "closed by it" state_is closed
	until_true 5 happened closed
	watch_end
	equal "the event's cause" $RESET "$(field cause "$(event closed)")"
	equal "the event's reason is the trip's" $LOSS \
		"$(field reason "$(event closed)")"
	until_true 5 window_is_back
	succeeds "the window is back" window_is_back
	flow_end
	fresh
}

window_is_back()
{
	in_src ss -Hti "dport = :$PORT" | grep -q "cwnd:$WINDOW\b"
}

breaker_network
spares "onto $SHARED_MBIT Mbit/s" 1 $REROUTES
sticky
reset_by_hand
spares "four streams onto $SHARED_MBIT Mbit/s" 4 $REROUTES
mended
finish

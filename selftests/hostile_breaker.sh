#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# Each user has a breaker of his own: he cannot escape it, and cannot trip another user's.
#
#	no_way_out	whatever a tripped user's socket does, it stays cut
#	subordinates	the same with the uids of a user namespace of the user
#	ttl		loss that a user makes himself trips only his breaker
#	inherited	the same by connections that root's listener has accepted
#	for_all		loss that all users have
#	small_asks	many small windows on a path that is shared after all

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/hostile_lib.sh"
need_commands nsenter setpriv

DELAY=3			# enum tcp_circuit_reason; shortfall is 4
CAROL=65532		# a third user

# Whatever the socket does, it stays tripped.
no_way_out()
{
	local out

	fresh
	trip $MALLORY
	ask_all "tripped" $CUT
	out=$(hostile leave -u $MALLORY -t 500 $DST4 $PORT)
	at_most "tripped, to cubic: threshold" $CUT "$(field ssthresh "$out")"
	at_most "tripped, to cubic: the window 0.3 s later" $((4 * CUT)) \
		"$(field cwnd_max "$out")"
	out=$(hostile windows -u $ALICE -n 1 -t 1500 $DST4 $PORT)
	equal "another user has not tripped" 0 "$(field tripped "$out")"
	at_least "another user's window" $((WINDOW * SPARED / 100)) \
		"$(field sum_max "$out")"
	succeeds "reset" in_src circuit_nl reset wave
	end_sockets src
	out=$(hostile windows -u $MALLORY -n 1 -t 1500 $DST4 $PORT)
	equal "reset: the window is back" $WINDOW "$(field sum_max "$out")"
	no_wave
}

# subordinate WHAT OPTION...: circuit_hostile there, -u: a uid of the namespace's own
subordinate()
{
	in_src nsenter -t "$USERS" -U -S 0 -G 0 timeout 120 "$TMP/circuit_hostile" "$@"
}

in_wave()
{
	find_circuit_field src wave sockets
	[ "$VALUE" = "$1" ]
}

# The windows of a connection that was closed, a line each, until all it had is sent
orphan_windows()
{
	while in_wave 1; do
		stream_shows cwnd
		sleep 0.05
	done | grep .
}

# A user is one user, whichever of its subordinate uids a socket has.
subordinates()
{
	local out

	sock_for_anyone
	cp "$(command -v circuit_hostile)" "$TMP/"
	user_namespace $MALLORY
	fresh
	trip $MALLORY
	out=$(subordinate windows -u 5 -n 1 -t 1500 $DST4 $PORT)
	equal "a subordinate uid: its user's breaker is open" 1 \
		"$(field tripped "$out")"
	at_most "a subordinate uid: window" $CUT "$(field sum_max "$out")"
	out=$(subordinate send -u 6 -n 1 -t 2500 -C circuit $DST4 $PORT | tail -n 1)
	at_most "another one: window" $CUT "$(field sum_max "$out")"
	end_sockets src

	# opened outside of it, and given to one of its uids
	out=$(in_src setpriv --reuid $MALLORY --regid $MALLORY --clear-groups timeout 120 \
		"$TMP/circuit_hostile" windows -n 1 -t 1500 -g "$USERS:11" $DST4 $PORT)
	equal "a socket given to another one: its user's breaker is open" 1 \
		"$(field tripped "$out")"
	at_most "a socket given to another one: window" $CUT "$(field sum_max "$out")"
	end_sockets src

	# what it wrote is still to be sent when its process has gone
	background src nsenter -t "$USERS" -U -S 7 -G 7 "$TMP/circuit_sock" send \
		-C circuit -S 212992 -n 100000000000 $DST4 $PORT >/dev/null
	STREAM=$!
	until_true 20 in_wave 1
	until_true 20 stream_window_is $CUT
	kill -9 $STREAM
	wait $STREAM 2>/dev/null
	orphan_windows >"$TMP/orphan"
	at_least "its connection, closed: looks at it" 3 "$(wc -l <"$TMP/orphan")"
	at_most "its connection, closed: window" $CUT \
		"$(sort -n "$TMP/orphan" | tail -n 1)"
	end_sockets src
	no_wave

	two_gifts $((WINDOW + SOCKETS)) "a user's subordinate uids"
	kill "$USERS"
	user_namespace 0
	two_gifts $((2 * WINDOW)) "uids that root gave out"
	at_least "uids that root gave out: each is a user" $((2 * WINDOW)) "$BOTH"
	kill "$USERS"
}

# two_gifts MOST WHOSE: the windows of two of the namespace's uids together, in $BOTH
two_gifts()
{
	local one

	set_in src net.ipv4.tcp_circuit_fcwnd_max $WINDOW
	subordinate send -u 8 -n 1 -t 4100 -w $WINDOW $DST4 $PORT >"$TMP/one" &
	one=$!
	subordinate send -u 9 -n 1 -t 4100 -w $WINDOW $DST4 $PORT >"$TMP/two"
	wait $one
	BOTH=$(($(least "$TMP/one" sum_max 4 4) + $(least "$TMP/two" sum_max 4 4)))
	at_most "a gift, two of $2: windows together" "$1" $BOTH
	at_least "a gift, two of $2: it is in use" $((WINDOW / 2)) $BOTH
	set_in src net.ipv4.tcp_circuit_fcwnd_max 0
	end_sockets src
}

# spared NAME FILE WINDOW: Mallory's two streams lose from the 5th second on.  Hers is
# a third; she has more until dst, in its own time, opens the receive windows for his.
spared()
{
	! in_virtual_time ||
		at_least "$1: another user has of what she had, in her worst second, %" \
			$SPARED "$(worst "$2" 6 12 $(($3 * PAYLOAD * 1000 / RTT_MS / 3)))"
	at_least "$1: another user's window, at last" $(($3 * SPARED / 100)) \
		"$(least "$TMP/$2" sum_max 9 12)"
}

# Mallory's two streams behave for 4 s; then their packets die on the way, by turns.
ttl()
{
	local mallory

	fresh
	alice ttl 16000
	mallory=$(hostile send -u $MALLORY -n 2 -t 13100 -l 4000 $DST4 $PORT)
	wait $ALICE_PID
	equal "loss of one's own making: his breaker trips" 2 \
		"$(field tripped "$mallory")"
	equal "not another user's" 0 \
		"$(sed -n 's/.*\btripped=\([0-9]*\).*/\1/p' "$TMP/ttl" |
			sort -n | tail -n 1)"
	spared "loss of one's own making" ttl $WINDOW
	no_wave
}

# children USER N OPTION...: N connections that his process accepts from root's
# listener send, in the background
children()
{
	local user=$1 n=$2 port=$((PORT + $2))

	shift 2
	background src timeout 120 circuit_hostile inherit -u "$user" -n "$n" \
		-t 11100 "$@" $port >"$TMP/$user"
	CHILDREN=$!
	PORT=$port until_true 10 listening src
	background dst circuit_hostile read -C "" -n "$n" -t 11500 $SRC4 $port
}

inherited()
{
	fresh 200
	children $ALICE 1
	children $MALLORY 2 -l 4000
	wait $CHILDREN
	equal "root's listener: breakers that trip" 1 \
		"$(circuit_field src wave tripped_users)"
	equal "root's listener: whose that is" $MALLORY \
		"$(circuit_field src wave uid)"
	spared "root's listener" $ALICE 200
	no_wave
}

# A path that is lossy for everyone trips for each.
for_all()
{
	fresh
	alice all 120000
	trip $MALLORY
	damage loss 30%
	until_true 60 grep -q tripped=1 "$TMP/all"
	damage
	kill $ALICE_PID
	wait $ALICE_PID 2>/dev/null
	equal "heavy loss for all: users that tripped" 2 \
		"$(circuit_field src wave tripped_users)"
	no_wave
}

# Another user: Mallory's breaker is still open, whatever becomes of the circuit.
small_asks()
{
	fresh 400 rate 12500000
	in_rtr tc qdisc replace dev r2 root tbf rate 20mbit burst 3028 limit 2500000
	in_rtr tc qdisc replace dev r1 root netem limit 1000000 delay ${RTT_MS}ms
	hostile send -u $CAROL -n 45 -w 9 -t 5100 $DST4 $PORT >"$TMP/asks"
	delay $((RTT_MS / 2))
	equal "small windows on a path of a fifth of the rate: they trip" 45 \
		"$(field tripped "$(cat "$TMP/asks")")"
	at_least "by delay ($DELAY) or shortfall" $DELAY \
		"$(circuit_field src wave reason)"
	no_wave
}

hostile_network
cases no_way_out subordinates ttl inherited for_all small_asks
finish

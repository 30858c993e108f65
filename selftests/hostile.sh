#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml root
#
# Nobody is harmed: what users without privileges, peers, and administrators of a
# container try, and what it takes from others.  Throughput and time are asserted where
# time is virtual; elsewhere windows, counts and order alone.
#
#	one_window	ten sockets that ask for a window, in each of their states
#	gift		so where nothing gives a window
#	no_way_out	whatever a tripped user's socket does
#	subordinates	so with the uids of a user namespace of one's own
#	ttl		loss of one's own making
#	inherited	so by connections that root's listener has accepted
#	for_all		loss that is everybody's
#	crowd		more sockets than segments, however short they live
#	far_resets	what a far peer leaves in flight, beside bursts to a near one
#	holes		streams of which one segment never arrives
#	sleepers	streams that hold themselves back, with a window
#	ahead		what fq is to send long after, with a window
#	delays		so what is to leave later by TCP_TX_DELAY
#	unknown		connections of a byte each, whose round trip nobody knows
#	cookies		so behind SYN cookies
#	bursts		so what is paced, then is not
#	flaps		streams that leave and come back all the time
#	silent		a peer from which nothing comes back for long, who asks or not
#	trickle		one from which little comes back
#	dead		streams of which nothing arrives, and who keeps writing
#	small_asks	many small windows on a path that is shared after all
#	distances	no harm at all: a near and a far peer of one circuit
#	left_behind	breakers tripped elsewhere, more than are kept
#	fills		many open breakers elsewhere, to get rid of others
#	evicts		losses forgotten for those of many other connections
#	receivers	memory of who does not read
#	containers	so where containers are granted it and never use it
#	ceilings	windows of a container
#	breaker_ceiling	its breakers
#	contained	CAP_NET_ADMIN alone, without a user namespace
#	own_network	a container's administrator makes circuits anew
#	neighbours	its sysctls
#	leaves		to another algorithm with a window
#	leaks		a socket that nobody closes
#	nothing_to_read	who talks to whom
#	without_module	what routes and sysctls then give
#
#	src --- rtr --- dst	r2: 10 ms, at times with loss
#	10.99.0.0/16: all of it dst's; 10.88.0.0/16: all of it src's

. "$(dirname "$0")/lib.sh"
module_loaded && WAS_LOADED=1
need_commands ethtool circuit_hostile circuit_nl circuit_sock ctcp-setup nsenter setpriv ss
need_module

WINDOW=400
FIRST=100000		# subordinate uids
SUBORDINATES=65536
MALLORY=65534		# users
ALICE=65533
SOCKETS=10
MANY=300		# circuits left behind, more than are kept
KEPT=64			# of these, as they are of one uid
CROWD=200		# sockets, more than a window has segments
CUT=10			# what a breaker leaves of WINDOW
SPARED=80		# % that others keep
RTT_MS=20
DELAY=3			# enum tcp_circuit_reason; shortfall is 4
FORGOTTEN=4		# enum tcp_circuit_cause
MSS=1460		# bytes, at most
PAYLOAD=1448		# bytes of a segment
BUDGET=32		# windows of receive buffer for a circuit (buffers.c)
TCP_MEM="47952 63936 95904"	# pages
CEILING=net.ipv4.tcp_circuit_ceiling

hostile()
{
	local what=$1

	shift
	in_src timeout 120 circuit_hostile "$what" "$@"
}

damage()
{
	in_rtr tc qdisc replace dev r2 root netem limit 1000000 \
		delay $((RTT_MS / 2))ms "$@"
}

# fresh [WINDOW [WORD...]]: a circuit to dst, without a past
fresh()
{
	local window=${1:-$WINDOW}

	shift $(($# > 0))
	in_src circuit_nl del wave 2>/dev/null
	in_src circuit_nl new excl wave prefix $DST4 window "$window" "$@" \
		>/dev/null || fail "a circuit to dst"
}

no_wave()
{
	in_src circuit_nl del wave
}

# stat NAME: of src
stat_of()
{
	field "$1" "$(in_src circuit_nl stats)"
}

# her_bursts ADDRESS: a few in six seconds, and how long each takes, mean ms
her_bursts()
{
	field mean "$(hostile bursts -u $ALICE -p 300 -t 6000 "$1" $PORT)"
}

# others NUMBER NETNS COMMAND...: so many of them, in the background, and she begins when all do
others()
{
	local n=$1 netns=$2

	shift 2
	OTHERS=()
	while [ ${#OTHERS[@]} -lt "$n" ]; do
		background "$netns" circuit_hostile "$@" >/dev/null
		OTHERS+=($!)
	done
	sleep 1.5
}

# sorted FILE NAME FROM TO: its values in these lines, the smallest first
sorted()
{
	sed -n "$3,$4p" "$1" | sed -n "s/.*\\b$2=\\([0-9]*\\).*/\\1/p" | sort -n
}

least()
{
	sorted "$@" | head -n 1
}

greatest()
{
	sorted "$@" | tail -n 1
}

# mean FILE NAME FROM TO
mean()
{
	sorted "$@" | awk '{ n += $1 } END { print NR ? int(n / NR) : 0 }'
}

# --- ten sockets, and one window -------------------------------------------------

# A stream that finds nothing left has one segment all the same.
together()
{
	at_most "$1: windows together" $(($2 + SOCKETS)) "$(field sum_max "$3")"
	at_least "$1: they are in use" $(($2 / 2)) "$(field flight_max "$3")"
}

# ask_all NAME WINDOW OPTION...: in every state of a socket
ask_all()
{
	local name=$1 window=$2 state

	shift 2
	for state in before syn established disconnect toggle; do
		together "$name, asked: $state" "$window" \
			"$(hostile windows -u $MALLORY -n $SOCKETS -t 1500 \
				-w "$WINDOW" -s $state "$@" $DST4 $PORT)"
	done
	together "$name, asked by a listener and its children" "$window" \
		"$(accepted "$@")"
}

# By a server of src's, to readers on dst
accepted()
{
	background src timeout 120 circuit_hostile accept -u $MALLORY \
		-n $SOCKETS -t 1500 -w "$WINDOW" "$@" $((PORT + 1)) >"$TMP/accept"
	until_true 10 accepting
	in_dst circuit_hostile read -C "" -n $SOCKETS -t 2000 $SRC4 $((PORT + 1))
	wait $!
	cat "$TMP/accept"
}

accepting()
{
	in_src ss -Hltn "sport = :$((PORT + 1))" | grep -q LISTEN
}

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

# --- breakers ----------------------------------------------------------------------

# trip USER OPTION...: by loss for all; it lasts as long as it needs.  Where more is lost,
# streams wait for timeouts, and their slots for segments.
trip()
{
	local user=$1 pid

	shift
	background src circuit_hostile send -u "$user" -n 4 -p 10 -t 120000 "$@" \
		$DST4 $PORT >"$TMP/trip"
	pid=$!
	until_true 20 grep -q acked "$TMP/trip"
	damage loss 30%
	until_true 60 grep -q 'tripped=4' "$TMP/trip"
	kill $pid
	wait $pid 2>/dev/null
	damage
	matches "heavy loss trips a user's breaker" "tripped=4" \
		"$(tail -n 1 "$TMP/trip")"
}

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

# user_namespace USER [-n]: of this user's, who is root there, with SUBORDINATES more
# uids from FIRST on, and with a network of its own; its process is in $USERS
user_namespace()
{
	setpriv --reuid "$1" --regid "$1" --clear-groups unshare -U ${2:-} sleep 1000 &
	USERS=$!
	defer "kill $USERS"
	until_true 10 test -e "/proc/$USERS/ns/user" -a "$(readlink "/proc/$USERS/ns/user")" \
		!= "$(readlink /proc/self/ns/user)"
	# by one write each, which bash's printf does not do
	until_true 10 sh -c "printf '0 $1 1\n1 $FIRST $SUBORDINATES\n' >/proc/$USERS/uid_map"
	sh -c "printf '0 $1 1\n1 $FIRST $SUBORDINATES\n' >/proc/$USERS/gid_map"
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

# alice FILE MS: what she has each second, in the background
alice()
{
	background src circuit_hostile send -u $ALICE -n 1 -p 4 -t "$2" $DST4 $PORT \
		>"$TMP/$1"
	ALICE_PID=$!
}

# worst FILE FROM TO [MOST]: of her seconds, in % of what she had from the 2nd to the
# 4th, at most MOST bytes in each
worst()
{
	local had

	had=$(mean "$TMP/$1" acked 2 4)
	if [ -n "${4:-}" ] && [ "$had" -gt "$4" ]; then had=$4; fi
	echo $(($(least "$TMP/$1" acked "$2" "$3") * 100 / had))
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

# in_round_trip NAME LEAST MOST GOT: segments that a crowd sends together
in_round_trip()
{
	at_least "$1: segments in a round trip" "$2" "$4"
	at_most "$1: segments in a round trip" "$3" "$4"
}

# crowded NAME LEAST MOST FROM: CROWD sockets, and what they send together in each round
# trip, in the mean of the seconds from FROM on
crowded()
{
	in_virtual_time || return 0
	end_sockets src
	hostile send -u $MALLORY -n $CROWD -t 5100 -p 20 $DST4 $PORT >"$TMP/crowd"
	in_round_trip "$1, $CROWD sockets" "$2" "$3" \
		$(($(mean "$TMP/crowd" acked "$4" 5) * RTT_MS / 1000 / PAYLOAD))
}

# short_lived NAME LEAST MOST VERB MS [OPTION...]: CROWD sockets that are reset, or leave,
# as soon as they have sent, and what they send together in each round trip
short_lived()
{
	local name=$1 least=$2 most=$3 verb=$4 ms=$5 out

	in_virtual_time || return 0
	shift 5
	end_sockets src
	out=$(hostile "$verb" -u $MALLORY -n $CROWD -t 3000 -p "$ms" "$@" $DST4 $PORT)
	in_round_trip "$name, $CROWD sockets that live $ms ms ($verb${*:+ $*})" \
		"$least" "$most" $(($(field sent "$out") * RTT_MS / $(field ms "$out")))
}

# What one has who stays, while others come and go: half, as beside one that stays
beside_short_lived()
{
	in_virtual_time || return 0
	end_sockets src
	fresh 200
	alice short 9000
	until_true 20 acked "$TMP/short" 4
	hostile relay -u $MALLORY -n $CROWD -p 10 $DST4 $PORT >/dev/null
	wait $ALICE_PID
	at_least "beside sockets that live 10 ms: of what she had, in her worst second, %" \
		40 "$(worst short 5 8)"
}

# Fewer streams than segments, but not two for each
nearly_crowded()
{
	local flight

	end_sockets src
	hostile send -u $MALLORY -n 49 -t 5100 -p 4 $DST4 $PORT >"$TMP/crowd"
	flight=$(greatest "$TMP/crowd" flight_max 2 5)
	at_least "49 streams on a window of 50: in flight" 40 "$flight"
	at_most "49 streams on a window of 50: in flight" 52 "$flight"
}

# All together have about what one socket would have, however short they live; and they do
# have most of it, but for waves, of which nobody sends while they connect.
crowd()
{
	fresh 200
	trip $MALLORY
	crowded "tripped" $((CUT * 4 / 10)) $((CUT * 12 / 10)) 1
	short_lived "tripped" $((CUT / 5)) $((CUT * 12 / 10)) waves 250
	short_lived "tripped" $((CUT / 2)) $((CUT * 12 / 10)) relay 1
	end_sockets src
	fresh 50
	crowded "a window of 50" 25 $((50 * 12 / 10)) 2
	short_lived "a window of 50" 10 $((50 * 12 / 10)) waves 250
	short_lived "a window of 50" 25 $((50 * 13 / 10)) relay 1
	short_lived "a window of 50" 25 $((50 * 13 / 10)) relay 1 -s toggle
	short_lived "a window of 50" 25 $((50 * 13 / 10)) relay 1 -s delay
	short_lived "a window of 50" 25 $((50 * 13 / 10)) relay 1 -s reuse
	short_lived "a window of 50" 0 $((50 * 13 / 10)) relay 1 -s lag
	short_lived "a window of 50" 0 $((50 * 13 / 10)) waves 250 -s lag
	nearly_crowded
	beside_short_lived
	no_wave
	set_in src net.ipv4.tcp_circuit_fcwnd 50
	short_lived "an automatic circuit's 50" 25 $((50 * 12 / 10)) waves 1 -n 1
	set_in src net.ipv4.tcp_circuit_fcwnd 0
}

# What a far stream leaves in flight when it is reset is over after its own round trip,
# and is no more for a near one than it is.
far_resets()
{
	local near out

	in_rtr tc qdisc replace dev r2 root netem limit 1000000 delay 300ms
	background rtr circuit_sock serve $PORT >/dev/null
	near=$!
	in_src circuit_nl new excl wave prefix 10.77.0.0/16 window 200
	out=$(hostile bursts -u $ALICE -t 2000 10.77.1.254 $PORT)
	at_most "bursts alone: worst, ms" 40 "$(field worst "$out")"
	background src timeout 20 circuit_hostile relay -u $MALLORY -n 200 -p 20 \
		$DST4 $PORT >"$TMP/relay"
	sleep 1.5
	out=$(hostile bursts -u $ALICE -t 2500 10.77.1.254 $PORT)
	# For a round trip of the far peer the window is full of its segments; 1,530 when
	# each of its next streams took all that became free.
	at_most "bursts beside a far peer's resets: mean, ms" 450 "$(field mean "$out")"
	at_most "... the slowest of them, ms" 700 "$(field worst "$out")"
	end_sockets src
	kill $near
	damage
	no_wave
}

# One byte at a time is enough to have something to send.
dead()
{
	fresh 200
	alice dead 11000
	until_true 20 acked "$TMP/dead" 4
	hostile dead -u $MALLORY -n 10 -t 6000 $DST4 $PORT
	wait $ALICE_PID
	! in_virtual_time ||
		at_least "beside dead streams: of what she had, from their 4th second on, %" \
			90 "$(worst dead 9 10)"
	no_wave
}

# Streams whose first segment never arrives, but the others do: two timeouts on they hold no
# share, and must not send beside the shares either.
holes()
{
	local i total

	in_virtual_time || return 0
	fresh 200
	in_rtr tc qdisc add dev r2 clsact
	in_rtr tc filter add dev r2 egress protocol ip u32 match ip protocol 6 0xff \
		match u32 0x484f4c45 0xffffffff at 52 action drop
	alice beside 20000
	background src timeout 30 circuit_hostile hole -u $MALLORY -n 10 -t 12000 $DST4 $PORT
	until_true 20 timed_out || fail "ten streams that time out"
	for ((i = 0; i < 100; i++)); do
		flying
		sleep 0.04
	done >"$TMP/flying"
	total=$(sort -n "$TMP/flying" | tail -n 1)
	at_least "beside streams with a hole, two timeouts on: in flight together" 100 "$total"
	at_most "beside streams with a hole, two timeouts on: in flight together" 215 "$total"
	in_rtr tc qdisc del dev r2 clsact
	kill $ALICE_PID
	end_sockets src
	no_wave
}

# shellcheck disable=SC2317 # called by until_true
timed_out()
{
	[ "$(in_src ss -Htin "dst $DST4" | grep -c 'backoff:[2-9]')" -ge 10 ]
}

# flying: segments in flight of all streams, as the kernel counts them
flying()
{
	in_src ss -Htin "dst $DST4" | tr ' ' '\n' | awk -F '[:/]' '
		$1 == "unacked" { sum += $2 }
		$1 == "sacked" || $1 == "lost" { sum -= $2 }
		$1 == "retrans" { sum += $2 }
		END { print sum + 0 }'
}

# acked FILE N: so many seconds have been told of
acked()
{
	[ "$(grep -c acked "$1")" -ge "$2" ]
}

# The receiver's window is not what is measured.
room_at_once()
{
	set_in dst net.ipv4.tcp_rmem "4096 16777216 16777216"
	next_server
}

room_as_before()
{
	set_in dst net.ipv4.tcp_rmem "4096 131072 16777216"
	next_server
}

# mallory NUMBER COMMAND [OPTION...]: by so many sockets, in the background; they are connected
mallory()
{
	local n=$1

	shift
	background src timeout 60 circuit_hostile "$@" -u $MALLORY -n "$n" -t 30000 \
		$DST4 $PORT
	MALLORY_PID=$!
	until_true 20 many_connected "$n" || fail "$n of his sockets that are connected"
}

mallory_ends()
{
	kill $MALLORY_PID || fail "he did it until now"
	wait $MALLORY_PID 2>/dev/null
	end_sockets src
	no_wave
}

# Each has all that it asked for, and is never hungry.
# beside_sleepers NUMBER HOW: of streams, which had the window a moment ago
beside_sleepers()
{
	local what="beside $1 that hold themselves back ($2)"

	fresh
	mallory "$1" sleep -p 200 -s "$2"
	sleep 1
	alice "sleepers" 10000
	wait $ALICE_PID
	at_least "$what: segments of hers, from the 7th second" \
		$((WINDOW * SPARED / 100)) "$(least "$TMP/sleepers" sum_max 7 9)"
	at_least "$what: bytes/s of hers, from the 7th second" \
		$((WINDOW * SPARED / 100 * PAYLOAD * 1000 / RTT_MS)) \
		"$(least "$TMP/sleepers" acked 7 9)"
	mallory_ends
}

# Who looks at its share again and again does not keep it, and lifting the pace does not
# undo what the core has put off.
sleepers()
{
	local n how

	in_virtual_time || return 0
	room_at_once
	for n in 1 8; do
		for how in once poke raise drip; do
			beside_sleepers $n $how
		done
	done
	room_as_before
}

# Packets
in_fq()
{
	in_src tc -s qdisc show dev eth1 |
		sed -n 's/.*backlog [^ ]* \([0-9]*\)p.*/\1/p' | head -n 1
}

bytes_in_fq()
{
	in_src tc -s qdisc show dev eth1 | sed -n 's/.*backlog \([0-9KMb]*\) .*/\1/p' |
		head -n 1 | sed 's/Mb$/000000/; s/Kb$/000/; s/b$//'
}

# beside_ahead NUMBER HOW: of streams of which nothing is to leave before the 9th second; she
# comes when the window is free
beside_ahead()
{
	local what="beside $1 to leave 9 s later ($2)"

	fresh
	mallory "$1" ahead -s "$2"
	sleep 1.5
	equal "$what: packets in fq" 0 "$(in_fq)"
	alice ahead 6500
	wait $ALICE_PID
	at_least "$what: segments of hers, in the 6th second" \
		$((WINDOW * SPARED / 100)) "$(least "$TMP/ahead" sum_max 6 6)"
	mallory_ends
}

ahead()
{
	in_virtual_time || return 0
	room_at_once
	in_src tc qdisc replace dev eth1 root fq
	beside_ahead 1 alone
	beside_ahead 100 alone
	beside_ahead 1 go
	beside_ahead 100 go
	in_src tc qdisc del dev eth1 root
	room_as_before
}

# Departures by TCP_TX_DELAY are not paced: fq would have a window of each stream after another.
delays()
{
	in_virtual_time || return 0
	in_src tc qdisc replace dev eth1 root fq
	fresh
	mallory 1 send -s delay
	sleep 1
	at_most "to leave 5 s later by TCP_TX_DELAY: packets in fq" 2 "$(in_fq)"
	mallory_ends
	in_src tc qdisc del dev eth1 root
}

# beside_unknown VERB [OPTION...]: of eight connections at once, each of a segment at a time
beside_unknown()
{
	fresh 200
	others 8 src "$@" -u $MALLORY -n 1 -t 8000 $DST4 $PORT
	at_most "beside a byte each of nobody knows where ($*): her bursts of half of the window, mean ms" \
		$((RTT_MS * 3)) "$(her_bursts $DST4)"
	wait "${OTHERS[@]}" || fail "connections of a byte each"
	end_sockets src
	no_wave
}

# Segments whose round trip nobody knows take no more than these: what she sends now and then
# finds the rest of the window, though in a second there are as many of them as that has segments.
unknown()
{
	in_virtual_time || return 0
	beside_unknown waves -s unknown
	beside_unknown waves -s forget
	beside_unknown forget
}

cookies_received()
{
	in_src nstat -asz TcpExtSyncookiesRecv | awk '/Recv/ { print $2 }'
}

# So from a server that knows no round trip until its first ACK: behind SYN cookies, without
# timestamps
cookies()
{
	local n=6 greeter before port=$((PORT + 100))

	in_virtual_time || return 0
	fresh 20
	set_in src net.ipv4.tcp_syncookies 2
	set_in src net.ipv4.tcp_timestamps 0
	before=$(cookies_received)
	background src circuit_hostile greet -n $n -t 9000 $port
	greeter=$!
	others $n dst waves -n 1 -p 400 -t 8000 10.77.1.1 $port
	at_most "beside answers to SYN cookies: her bursts of five windows, mean ms" \
		$((RTT_MS * 10)) "$(her_bursts $DST4)"
	wait "${OTHERS[@]}" $greeter || fail "a server, and who connects to it"
	at_least "connections by SYN cookies" 50 \
		"$(($(cookies_received) - before))"
	set_in src net.ipv4.tcp_timestamps 1
	set_in src net.ipv4.tcp_syncookies 1
	end_sockets src
	no_wave
}

# Streams that are reset leave nothing in fq that would leave all at one time.
bursts()
{
	local how

	in_virtual_time || return 0
	in_src tc qdisc replace dev eth1 root fq
	for how in burst stretch; do
		fresh 200
		hostile relay -u $MALLORY -n 30 -p $RTT_MS -s $how $DST4 $PORT >/dev/null ||
			fail "streams one after the other"
		at_most "departures 0.8 s ahead, 30 streams one after the other ($how): segments in fq" \
			200 "$(($(bytes_in_fq) / 1514))"
		end_sockets src
	done
	in_src tc qdisc del dev eth1 root
	end_sockets src
	no_wave
}

# beside_flaps MS: of a stream that comes back so often, which had the window
beside_flaps()
{
	fresh
	mallory 1 send -s flap -p "$1"
	sleep 1
	alice flaps 5000
	wait $ALICE_PID
	at_least "beside who leaves and comes back each $((2 * $1)) ms: bytes/s of hers, at last" \
		$((WINDOW / 2 * SPARED / 100 * PAYLOAD * 1000 / RTT_MS)) \
		"$(least "$TMP/flaps" acked 3 4)"
	mallory_ends
}

flaps()
{
	local ms

	in_virtual_time || return 0
	room_at_once
	for ms in 1 2 5 10 50; do
		beside_flaps $ms
	done
	room_as_before
}

# known_forever NETNS DEV ADDRESS NETNS DEV: the first knows the other's address there, as ARP
# would not wait for a distant peer
known_forever()
{
	"in_$1" ip neigh replace "$3" dev "$2" nud permanent \
		lladdr "$("in_$4" cat "/sys/class/net/$5/address")"
}

# distant_peer DELAY [OPTION...]: a circuit to it and to rtr, and Mallory's streams, one
# without an option, that have it all
distant_peer()
{
	local delay=$1

	shift
	known_forever rtr r2 10.77.2.1 dst eth1
	known_forever dst eth1 10.77.2.254 rtr r2
	in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay "$delay"
	in_src circuit_nl new excl wave prefix 10.77.0.0/16 window 200 >/dev/null
	background rtr circuit_sock serve $PORT >/dev/null
	NEAR_PID=$!
	background src circuit_hostile send -u $MALLORY -n 1 -t 200000 "$@" $DST4 $PORT >/dev/null
	MALLORY_PID=$!
	until_true 60 many_connected 1 || fail "a connection to a distant peer"
}

# hers_beside WHAT LEAST: segments that Alice has who sends to rtr
hers_beside()
{
	in_src circuit_hostile send -u $ALICE -n 1 -t 9000 10.77.1.254 $PORT >"$TMP/near"
	at_least "beside a peer $1: segments of hers, from the 6th second" "$2" \
		"$(least "$TMP/near" sum_max 6 8)"
}

distant_peer_ends()
{
	mallory_ends
	in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay 0ms
	kill $NEAR_PID
	wait $NEAR_PID 2>/dev/null
	next_server
}

# silent_peer WORDS [OPTION...]: it answers 20 s late, and has the window when she begins to
# send to another peer of the circuit
silent_peer()
{
	local words=$1

	shift
	distant_peer 20s "$@"
	# its first segments are acknowledged, and it has sent a window
	sleep 21
	hers_beside "$words" $((200 * SPARED / 100))
	at_most "beside a peer $words: her bursts of half of the window, mean ms" \
		$((RTT_MS * 3 / 2)) \
		"$(her_bursts 10.77.1.254)"
	distant_peer_ends
}

# To ask for TCP_CIRCUIT_INFO is to have the module look at one's share.
silent()
{
	in_virtual_time || return 0
	silent_peer "that is silent"
	silent_peer "that is silent, whose stream is asked each ms" -s poll
	silent_peer "that is silent, whose 8 streams are asked each ms" -s poll -n 8
}

# A peer makes the round trip long, so that no timeout comes.
slow_peer()
{
	local ms

	distant_peer 20ms
	for ms in 300 900 1800 3000; do
		in_dst tc qdisc replace dev eth1 root netem limit 1000000 delay ${ms}ms
		sleep 5
	done
}

# Then it acknowledges a segment now and then.  With holes, two or three of 45 never arrive: the
# oldest in flight is sent again and again, and what was sent after it is what gets old.
trickle()
{
	local how

	in_virtual_time || return 0
	for how in "in order" "with holes"; do
		slow_peer
		in_rtr tc qdisc add dev r2 clsact
		[ "$how" = "in order" ] ||
			in_rtr tc filter add dev r2 egress protocol ip u32 \
				match ip protocol 6 0xff match u32 0 0xf000 at 24 action drop
		damage rate 9kbit
		sleep 8
		hers_beside "that acknowledges a segment now and then, $how" \
			$((200 / 2 * SPARED / 100))
		in_rtr tc qdisc del dev r2 clsact
		in_rtr tc qdisc del dev r2 root
		damage
		distant_peer_ends
	done
}

small_asks()
{
	fresh 400 rate 12500000
	in_rtr tc qdisc replace dev r2 root tbf rate 20mbit burst 3028 limit 2500000
	in_rtr tc qdisc replace dev r1 root netem limit 1000000 delay ${RTT_MS}ms
	hostile send -u $MALLORY -n 45 -w 9 -t 5100 $DST4 $PORT >"$TMP/asks"
	delay $((RTT_MS / 2))
	equal "small windows on a path of a fifth of the rate: they trip" 45 \
		"$(field tripped "$(cat "$TMP/asks")")"
	at_least "by delay ($DELAY) or shortfall" $DELAY \
		"$(circuit_field src wave reason)"
	no_wave
}

# Who waits for a far peer is not late, though a near one answers at once.
distances()
{
	local near ms

	in_rtr tc qdisc del dev r1 root
	background rtr circuit_sock serve $PORT >/dev/null
	near=$!
	for ms in $RTT_MS 100; do
		in_rtr tc qdisc replace dev r2 root netem limit 1000000 delay ${ms}ms
		distant $ms
	done
	kill $near
	delay $((RTT_MS / 2))
}

# distant MS: bulk to dst beside a connection to rtr that is idle by now
distant()
{
	local idle

	in_src circuit_nl new excl wave prefix 10.77.0.0/16 window 36 rate 6250000 \
		>/dev/null || fail "a circuit to rtr and dst"
	background src circuit_hostile send -u $ALICE -t 60000 10.77.1.254 $PORT \
		>"$TMP/near"
	idle=$!
	until_true 20 acked "$TMP/near" 1
	kill -STOP $idle
	hostile send -u $ALICE -t 15100 $DST4 $PORT >/dev/null
	equal "a near peer, and one $1 ms away: trips" 0 \
		"$(circuit_field src wave trips)"
	kill -KILL $idle
	wait $idle 2>/dev/null
	no_wave
}

many_connected()
{
	local connected

	got_in src ss -Htn state established "dport = :$PORT"
	mapfile -t connected <<<"$GOT"
	[ -n "$GOT" ] && [ ${#connected[@]} -ge "$1" ]
}

many_tripped()
{
	got_in src circuit_nl stats
	find_value trips '[0-9]*' "$GOT"
	[ "$VALUE" -ge "$1" ]
}

kept_is()
{
	[ "$(stat_of kept)" = "$1" ]
}

# leave_behind N: circuits to so many peers, tripped, and no socket
leave_behind()
{
	local pid trips

	trips=$(stat_of trips)
	background src circuit_hostile many -u $MALLORY -n "$1" -t 600000 \
		10.99.1.1 $PORT >/dev/null
	pid=$!
	until_true 60 many_connected "$1"
	damage loss 25%
	until_true 120 many_tripped $((trips + $1))
	kill $pid
	wait $pid 2>/dev/null
	damage
	at_least "left behind: breakers that tripped" "$1" \
		$(($(stat_of trips) - trips))
}

nothing_is_there()
{
	[ "$(stat_of memory)" = 0 ]
}

# his_flight ADDRESS: what one socket of Mallory's has in flight at most, segments
his_flight()
{
	field flight_max "$(hostile windows -u $MALLORY -t 1000 "$1" $PORT)"
}

forgotten()
{
	grep -c "event=closed .* cause=$FORGOTTEN " "$TMP/events"
}

are_forgotten()
{
	[ "$(forgotten)" -ge "$1" ]
}

left_behind()
{
	local monitor

	set_in src net.ipv4.tcp_circuit_fcwnd 20
	set_in src net.ipv4.tcp_circuit_breaker_ms 500
	set_in src net.ipv4.tcp_circuit_breaker_quiet 0
	end_sockets src
	until_true 60 nothing_is_there
	fresh
	trip $MALLORY
	end_sockets src
	background src circuit_nl monitor >"$TMP/events"
	monitor=$!
	until_true 10 grep -q ready "$TMP/events"
	leave_behind $MANY
	end_sockets src
	# whoever listens may come to it later
	until_true 10 are_forgotten $((MANY - KEPT))
	kill $monitor
	wait $monitor 2>/dev/null
	at_least "left behind: events that say that one was forgotten" $((MANY - KEPT)) \
		"$(forgotten)"
	equal "left behind: how many may be kept" 256 "$(stat_of kept_max)"
	at_most "left behind: kept" $KEPT "$(stat_of kept)"
	at_least "left behind: kept" $((KEPT * 3 / 4)) "$(stat_of kept)"
	at_most "left behind: circuits" $KEPT "$(stat_of peers)"
	at_most "left behind: bytes for each" 2048 \
		$(($(stat_of memory) / KEPT))
	at_most "left behind, more than are kept: segments where he tripped first" \
		$CUT "$(his_flight $DST4)"
	in_src circuit_nl new excl other prefix 10.88.0.0/16 window 77
	succeeds "another circuit is reset" in_src circuit_nl reset other
	at_most "another circuit is reset: segments where he tripped first" \
		$CUT "$(his_flight $DST4)"
	in_src circuit_nl del other
	succeeds "this circuit is reset" in_src circuit_nl reset wave
	at_least "this circuit is reset: segments" $WINDOW \
		"$(his_flight $DST4)"
	end_sockets src
	at_most "and in a new circuit he is still cut: segments of 20" 2 \
		"$(his_flight 10.99.9.9)"
	end_sockets src
	succeeds "all are reset" in_src circuit_nl reset
	at_least "reset: segments where he tripped first" $WINDOW \
		"$(his_flight $DST4)"
	no_wave
	equal "reset: kept" 0 "$(stat_of kept)"
	equal "reset: circuits" 0 "$(stat_of peers)"
	equal "reset: memory" 0 "$(stat_of memory)"

	# Shorter than the machine's own
	sysctl -qw ${CEILING}_breaker=0
	defer "sysctl -qw ${CEILING}_breaker=1"
	set_in src net.ipv4.tcp_circuit_breaker_quiet 3
	leave_behind 20
	end_sockets src
	until_true 30 kept_is 0
	equal "after the quiet time: kept" 0 "$(stat_of kept)"
	equal "after the quiet time: circuits" 0 "$(stat_of peers)"
	sysctl -qw ${CEILING}_breaker=1
	set_in src net.ipv4.tcp_circuit_breaker_quiet 300
	set_in src net.ipv4.tcp_circuit_breaker_ms 2000
	set_in src net.ipv4.tcp_circuit_fcwnd 0
}

# --- memory of who receives --------------------------------------------------------

tcp_pages()
{
	awk '/^TCP:/ { for (i = 1; i < NF; i++) if ($i == "mem") print $(i + 1) }' \
		/proc/net/sockstat
}

pressures()
{
	in_dst nstat -asz TcpExtTCPMemoryPressures | awk '!/^#/ { print $2 }'
}

# hoard N ALGORITHM [OPTION...]: HELD bytes by connections that nobody reads, PAGES
hoard()
{
	local n=$1 algorithm=$2 pid sender pages

	shift 2
	background dst circuit_hostile hoard -C "$algorithm" -n "$n" -t 4000 \
		$((PORT + 2)) >"$TMP/hoard"
	pid=$!
	until_true 10 hoarding
	background src circuit_hostile send -C cubic -n "$n" -t 30000 "$@" \
		$DST4 $((PORT + 2)) >/dev/null
	sender=$!
	PAGES=0
	while kill -0 $pid 2>/dev/null; do
		pages=$(tcp_pages)
		[ "$pages" -le "$PAGES" ] || PAGES=$pages
		sleep 0.1
	done
	wait $pid
	kill $sender
	wait $sender 2>/dev/null
	HELD=$(field held_max "$(cat "$TMP/hoard")")
}

hoarding()
{
	in_dst ss -Hltn "sport = :$((PORT + 2))" | grep -q LISTEN
}

mem_again()
{
	sysctl -qw net.ipv4.tcp_mem="$MEM"
}

# Senders keep little themselves: what is held is the receiver's.
receivers()
{
	local cubic=0 WINDOW=1000

	MEM=$(sysctl -n net.ipv4.tcp_mem)
	defer mem_again
	sysctl -qw net.ipv4.tcp_mem="$TCP_MEM"
	set_in dst net.ipv4.tcp_rmem "4096 131072 67108864"
	set_in src net.ipv4.tcp_wmem "4096 16384 262144"

	hoard 8 cubic
	cubic=$HELD
	hoard 8 circuit
	at_most "nobody reads, no window is given: bytes, as CUBIC's" \
		$((cubic * 3 / 2)) "$HELD"

	set_in dst net.ipv4.tcp_circuit_fcwnd $WINDOW
	hoard 8 circuit
	echo "# 8 connections that nobody reads: $HELD bytes, CUBIC's $cubic"
	at_most "nobody reads: bytes within the circuit's budget" \
		$((BUDGET * WINDOW * MSS)) "$HELD"
	at_least "nobody reads: bytes, one window at least" \
		$((WINDOW * MSS)) "$HELD"
	at_most "nobody reads: pages below where pressure begins" \
		"${TCP_MEM%% *}" "$PAGES"

	# A circuit for each: by each address that the peer has
	hoard 32 circuit -b 10.88.1.1
	echo "# 32 peers: $HELD bytes, $PAGES pages"
	at_most "32 peers, nobody reads: pages below where pressure begins" \
		"${TCP_MEM%% *}" "$PAGES"
	equal "times that TCP came under pressure" 0 "$(pressures)"
	set_in dst net.ipv4.tcp_circuit_fcwnd 0
	set_in src net.ipv4.tcp_wmem "4096 16384 4194304"
	mem_again
}

# What the machine's own connection to itself may hold, bytes
may_hold()
{
	field rcvbuf "$(circuit_hostile hold -w $WINDOW -t 0 127.0.0.1 $((PORT + 3)))"
}

# Each with connections to itself that could take all of the room
containers()
{
	local ns i alone rmem pids=()

	MEM=$(sysctl -n net.ipv4.tcp_mem)
	defer mem_again
	sysctl -qw net.ipv4.tcp_mem="36864 49152 73728"
	rmem=$(sysctl -n net.ipv4.tcp_rmem)
	defer "sysctl -qw net.ipv4.tcp_rmem='$rmem'"
	sysctl -qw net.ipv4.tcp_rmem="4096 131072 67108864"
	ip link set lo up
	alone=$(may_hold)
	for i in 1 2 3 4 5 6 7 8 9 10; do
		ns=ctcp-$$-c$i
		ip netns add "$ns"
		defer "ip netns del $ns"
		ip -n "$ns" link set lo up
		spawn -n "$ns" sysctl -qw net.ipv4.tcp_circuit_fcwnd=100000 \
			net.ipv4.tcp_rmem="4096 131072 2147483647"
		spawn -e -n "$ns" circuit_hostile hold -n 3 -t 30000 127.0.0.1 \
			$PORT >"$TMP/c$i" &
		pids+=($!)
		until_true 10 grep -q rcvbuf "$TMP/c$i"
	done
	at_least "ten containers: what a connection of the machine's own may receive" \
		$((alone / 4)) "$(may_hold)"
	kill "${pids[@]}"
	sysctl -qw net.ipv4.tcp_rmem="$rmem"
	mem_again
}

# --- namespaces ---------------------------------------------------------------------

# ceiled NAME OPTION...: a window of whatever size is one of 100
ceiled()
{
	local name=$1

	shift
	at_most "a ceiling, and $name: windows together" 101 \
		"$(field sum_max "$(hostile windows -n 1 -t 1000 "$@" $DST4 $PORT)")"
}

ceilings()
{
	local name

	for name in window circuits breaker; do
		refused "a container has no ceiling_$name to write" \
			set_in src ${CEILING}_$name 0
	done
	sysctl -qw ${CEILING}_window=100
	defer "sysctl -qw ${CEILING}_window=0"
	set_in src net.ipv4.tcp_circuit_fcwnd 100000
	ceiled "its sysctl"
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	refused "a circuit above the ceiling" \
		in_src circuit_nl new wave prefix $DST4 window 100000
	sysctl -qw ${CEILING}_window=0
	fresh 100000
	sysctl -qw ${CEILING}_window=100
	ceiled "its circuit"
	no_wave
	ceiled "its administrator's socket option" -w 100000
	set_in src net.ipv4.tcp_circuit_fcwnd_max 100000
	ceiled "its gift" -w 100000 -u $MALLORY
	set_in src net.ipv4.tcp_circuit_fcwnd_max 0
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254 initcwnd 10000
	ceiled "its route"
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254
	sysctl -qw ${CEILING}_window=0
}

# Off in the container, or so mild that it never trips: it is the machine's.
breaker_ceiling()
{
	local trips

	set_in src net.ipv4.tcp_circuit_breaker 0
	set_in src net.ipv4.tcp_circuit_breaker_quiet 1
	fresh
	trip $MALLORY
	no_wave
	set_in src net.ipv4.tcp_circuit_breaker 1000
	set_in src net.ipv4.tcp_circuit_breaker_ms 600000
	fresh
	trip $MALLORY
	no_wave

	set_in src net.ipv4.tcp_circuit_breaker 0
	sysctl -qw ${CEILING}_breaker=0
	defer "sysctl -qw ${CEILING}_breaker=1"
	fresh
	trips=$(stat_of trips)
	damage loss 60%
	hostile send -u $MALLORY -n 4 -t 8000 $DST4 $PORT >/dev/null
	damage
	equal "without that ceiling: trips" "$trips" "$(stat_of trips)"
	sysctl -qw ${CEILING}_breaker=1
	no_wave
	set_in src net.ipv4.tcp_circuit_breaker 100
	set_in src net.ipv4.tcp_circuit_breaker_ms 2000
	set_in src net.ipv4.tcp_circuit_breaker_quiet 300
}

# in_own COMMAND...: as the administrator of $USERS' network namespace
in_own()
{
	nsenter -t "$USERS" -U -n -S 0 -G 0 "$@"
}

# The largest sum of windows of a connection to itself, 127.0.0.1
own_window()
{
	field sum_max "$(in_own timeout 60 "$TMP/circuit_hostile" windows -n 1 -t 500 \
		127.0.0.1 $PORT)"
}

# As a container has it that shares the machine's user namespace.
contained()
{
	local only="setpriv --bounding-set=-all,+net_admin --inh-caps=-all"

	fresh
	trip $MALLORY
	refused "CAP_NET_ADMIN alone: it may not reset the machine's breaker" \
		in_src $only circuit_nl reset wave
	refused "CAP_NET_ADMIN alone: nor remove the circuit" in_src $only circuit_nl del wave
	equal "CAP_NET_ADMIN alone: the breaker is open" 1 "$(circuit_field src wave breaker)"
	succeeds "CAP_NET_ADMIN alone: it may have a circuit" \
		in_src $only circuit_nl new excl other prefix 10.99.200.0/24 window 500
	in_src circuit_nl del other
	end_sockets src
	succeeds "with CAP_SYS_ADMIN, too: reset" in_src circuit_nl reset wave
	no_wave
}

# An open breaker goes along where a container's administrator could leave it behind.
own_network()
{
	local pid

	sock_for_anyone
	cp "$(command -v circuit_hostile)" "$(command -v circuit_nl)" "$TMP/"
	user_namespace $MALLORY -n
	# without any delay virtual time would stand still
	in_own ip link set lo up mtu 1500
	in_own ethtool -K lo tso off gso off gro off >/dev/null
	in_own tc qdisc add dev lo root netem limit 1000000 delay 5ms
	in_own "$TMP/circuit_nl" new excl wide prefix 127.0.0.0/8 window $WINDOW
	in_own timeout 60 "$TMP/circuit_sock" serve $PORT >/dev/null &
	defer "kill $!"
	until_true 10 own_serves
	equal "a container, before: window" $WINDOW "$(own_window)"
	# not by in_own: it is timeout that has to be killed, and no shell around it
	nsenter -t "$USERS" -U -n -S 0 -G 0 timeout 60 "$TMP/circuit_hostile" send -n 4 \
		-t 50000 127.0.0.1 $PORT >"$TMP/own" &
	pid=$!
	in_own tc qdisc change dev lo root netem limit 1000000 delay 5ms loss 40%
	until_true 60 grep -q 'tripped=4' "$TMP/own"
	in_own tc qdisc change dev lo root netem limit 1000000 delay 5ms
	kill $pid
	wait $pid 2>/dev/null
	at_most "a container has tripped: window" $CUT "$(own_window)"
	# what waits for a retransmission is ended, too
	until_true 20 own_idle
	equal "... its sockets are gone" 0 \
		"$(field sockets "$(in_own "$TMP/circuit_nl" get wide)")"
	in_own "$TMP/circuit_nl" new excl narrow prefix 127.0.0.1 window $WINDOW
	at_most "... in a circuit of a longer prefix: window" $CUT "$(own_window)"
	refused "... it may not reset its breaker" in_own "$TMP/circuit_nl" reset
	kill "$USERS"
}

own_idle()
{
	in_own ss -K "dport = :$PORT"
	[ "$(field sockets "$(in_own "$TMP/circuit_nl" get wide)")" = 0 ]
}

own_serves()
{
	in_own ss -Hltn "sport = :$PORT" | grep -q LISTEN
}

# What another namespace writes.  How many circuits it has: circuits.sh, lab/cost.sh.
neighbours()
{
	local other=ctcp-$$-other i

	ip netns add "$other"
	defer "ip netns del $other"
	fresh
	alice quiet 6000
	until_true 20 grep -q acked "$TMP/quiet"
	for ((i = 1; i <= 100; i++)); do
		echo $((i % 7))
	done | spawn -n "$other" sh -c 'while read -r n; do
		echo "$n" >/proc/sys/net/ipv4/tcp_circuit_fcwnd
		echo "$((n + 500))" >/proc/sys/net/ipv4/tcp_circuit_breaker_ms
		sleep 0.02
	done'
	wait $ALICE_PID
	equal "another namespace's sysctls: the smallest window here" $WINDOW \
		"$(least "$TMP/quiet" sum_max 2 5)"
	equal "another namespace's sysctls are its own" 0 \
		"$(in_src sysctl -n net.ipv4.tcp_circuit_fcwnd)"
	no_wave
}

# Who keeps many open breakers gets rid of neither his next ones nor of others'.
fills()
{
	local out

	set_in src net.ipv4.tcp_circuit_fcwnd 20
	set_in src net.ipv4.tcp_circuit_breaker_ms 500
	in_src circuit_nl reset
	fresh
	in_src circuit_nl new excl other prefix 10.99.200.0/24 window 500 >/dev/null
	leave_behind 256
	end_sockets src
	at_most "one uid's open breakers: kept" $KEPT "$(stat_of kept)"
	set_in src net.ipv4.tcp_circuit_breaker_ms 2000
	damage loss 25%
	out=$(hostile evict -u $MALLORY -n 4 -p 1300 -t 10000 $DST4 $PORT)
	damage
	at_least "beside his open breakers elsewhere: cycles" 5 "$(field cycles "$out")"
	at_least "beside his open breakers elsewhere: tripped in" \
		$(($(field cycles "$out") - 1)) "$(field tripped "$out")"
	end_sockets src
	trip $ALICE
	end_sockets src
	out=$(hostile windows -u $ALICE -t 1000 10.99.200.1 $PORT)
	equal "beside his open breakers elsewhere: another user in a clean circuit, segments" \
		500 "$(field flight_max "$out")"
	in_src circuit_nl reset
	in_src circuit_nl del other
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	end_sockets src
	no_wave
}

# Losses are not forgotten for those of many connections that have lost a segment each.
evicts()
{
	local out

	set_in src net.ipv4.tcp_circuit_fcwnd 20
	fresh
	damage loss 20%
	out=$(hostile evict -u $MALLORY -n 350 -p 1300 -t 8000 $DST4 $PORT)
	damage
	at_least "others are forgotten first: cycles" 5 "$(field cycles "$out")"
	at_least "others are forgotten first: tripped in" 3 "$(field tripped "$out")"
	in_src circuit_nl reset
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	end_sockets src
	no_wave
}

# --- what is left behind ---------------------------------------------------------------

leaves()
{
	local out

	fresh
	out=$(hostile leave -u $MALLORY -t 1000 $DST4 $PORT)
	equal "to cubic: window before" $WINDOW "$(field window "$out")"
	at_most "to cubic: threshold" $WINDOW "$(field ssthresh "$out")"
	# 15 round trips; CUBIC that knows of no loss grows by 5 % in each, also
	# beyond its threshold: 1.05 ^ 15 = 2.08
	at_most "to cubic: the largest window in 0.3 s" $((WINDOW * 21 / 10)) \
		"$(field cwnd_max "$out")"
	no_wave
}

leaks()
{
	local pid

	fresh
	background src circuit_hostile leak -u $MALLORY -n 2 -t 20000 \
		$DST4 $PORT >"$TMP/leak"
	pid=$!
	until_true 20 grep -q ready "$TMP/leak"
	in_dst ss -tK "dport = :$(field port "$(cat "$TMP/leak")")" >/dev/null
	wait $pid
	at_most "a leaked socket: window of the other one before" \
		$((WINDOW * 6 / 10)) "$(field before "$(cat "$TMP/leak")")"
	equal "a leaked socket, reset: window of the other one" $WINDOW \
		"$(field after "$(cat "$TMP/leak")")"
	at_most "a leaked socket, reset: ms until then" 1000 \
		"$(field ms "$(cat "$TMP/leak")")"
	no_wave
}

nothing_to_read()
{
	refused "no file tells who talks to whom" \
		in_src ls /proc/net/tcp_circuit
	refused "nor another" in_src ls /proc/net/tcp_circuit_stat
}

# A machine whose module has gone, or failed to be built again
without_module()
{
	local out ns

	succeeds "ctcp-setup on src" in_src ctcp-setup --quiet --rate 1gbit \
		--rtt 20ms eth1
	equal "its routes give no window" "" \
		"$(in_src ip route show table all | grep -E 'init[cr]wnd')"
	serve_end
	for ns in src dst; do
		set_in $ns net.ipv4.tcp_congestion_control cubic
		end_sockets $ns
		# while there is a circuit the module stays
		remove_circuits $ns
	done
	succeeds "the module goes" once_free modprobe -r tcp_circuit
	serve dst
	out=$(in_src circuit_sock send -n 1 $DST4 $PORT)
	equal "without the module: the window of a new connection" 10 \
		"$(field cwnd "$out")"
	[ -z "${WAS_LOADED:-}" ] || modprobe tcp_circuit
}

topology()
{
	local ns

	network $((RTT_MS / 2))
	single_packets
	ip -n "$DST" route add local 10.99.0.0/16 dev lo
	ip -n "$SRC" route add local 10.88.0.0/16 dev lo
	ip -n "$RTR" route add 10.99.0.0/16 via 10.77.2.1
	ip -n "$RTR" route add 10.88.0.0/16 via 10.77.1.1
	ip -n "$SRC" route add 10.99.0.0/16 via 10.77.1.254
	ip -n "$DST" route add 10.88.0.0/16 via 10.77.2.254
	default_circuit
	set_in dst net.ipv4.tcp_congestion_control circuit
	for ns in src dst; do
		set_in $ns net.ipv4.tcp_rmem "4096 131072 16777216"
	done
}

# What is to be tried, all of it or those that are named
TESTS=${HOSTILE_TESTS:-nothing_to_read one_window gift no_way_out subordinates ttl inherited
	for_all crowd far_resets dead holes sleepers ahead delays unknown cookies bursts flaps silent trickle small_asks distances left_behind
	fills evicts receivers containers ceilings breaker_ceiling contained own_network neighbours leaves leaks without_module}

topology
serve dst
# shellcheck disable=SC2086 # a list of names
cases ${TESTS//,/ }
finish

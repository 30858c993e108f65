# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# hostile_lib.sh: what the tests of hostile users (hostile_*.sh) share; source it after lib.sh
#
# Users without privileges, peers, and administrators of a container try to take from others,
# and must not succeed.  Mallory tries, mostly by circuit_hostile; Alice is another user of the
# same circuit.  Throughput and time are asserted in virtual time; elsewhere only windows,
# counts and order.
#
#	src --- rtr --- dst	r2: 10 ms, at times with loss
#	10.99.0.0/16: all addresses are dst's; 10.88.0.0/16: all are src's

need_commands ethtool circuit_hostile circuit_nl circuit_sock ss
need_module

WINDOW=400		# of the circuit, segments
MALLORY=65534		# users
ALICE=65533
SOCKETS=10
RTT_MS=20
# shellcheck disable=SC2034 # the rest is for tests that source this
CEILING=net.ipv4.tcp_circuit_ceiling
# shellcheck disable=SC2034
PAYLOAD=1448		# bytes of a segment
# shellcheck disable=SC2034
CUT=10			# what a breaker leaves of WINDOW
# shellcheck disable=SC2034
SPARED=80		# % that other users keep

# hostile_network: dst serves; circuit is the algorithm of both
hostile_network()
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
	serve dst
}

damage()
{
	in_rtr tc qdisc replace dev r2 root netem limit 1000000 \
		delay $((RTT_MS / 2))ms "$@"
}

# fresh [WINDOW [WORD...]]: a new circuit to dst, in place of the old one
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

# stat_of NAME: a number of src's namespace
stat_of()
{
	field "$1" "$(in_src circuit_nl stats)"
}

# --- who tries, and who must not be harmed ---------------------------------------------

hostile()
{
	local what=$1

	shift
	in_src timeout 120 circuit_hostile "$what" "$@"
}

# alice FILE MS: Alice sends, in the background; FILE has a line for each second
alice()
{
	background src circuit_hostile send -u $ALICE -n 1 -p 4 -t "$2" $DST4 $PORT \
		>"$TMP/$1"
	# shellcheck disable=SC2034 # of tests that source this
	ALICE_PID=$!
}

# her_bursts ADDRESS: Alice sends bursts for six seconds, 300 ms apart: their mean, ms
her_bursts()
{
	field mean "$(hostile bursts -u $ALICE -p 300 -t 6000 "$1" $PORT)"
}

# mallory NUMBER COMMAND [OPTION...]: Mallory does it by so many sockets, in the background; they
# are connected
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

many_connected()
{
	local connected

	got_in src ss -Htn state established "dport = :$PORT"
	mapfile -t connected <<<"$GOT"
	[ -n "$GOT" ] && [ ${#connected[@]} -ge "$1" ]
}

# others NUMBER NETNS COMMAND...: start so many of them in the background, and give them 1.5 s
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

# Open receive windows at once, so that they do not limit what is measured.
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

# --- what they say of each second ------------------------------------------------------

# acked FILE N: FILE has the lines of N seconds
acked()
{
	[ "$(grep -c acked "$1")" -ge "$2" ]
}

# sorted FILE NAME FROM TO: the values of NAME in these lines, the smallest first
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

# worst FILE FROM TO [MOST]: the worst of Alice's seconds FROM to TO, in % of her mean from the 2nd
# to the 4th, or of MOST bytes if that is less
worst()
{
	local had

	had=$(mean "$TMP/$1" acked 2 4)
	if [ -n "${4:-}" ] && [ "$had" -gt "$4" ]; then had=$4; fi
	echo $(($(least "$TMP/$1" acked "$2" "$3") * 100 / had))
}

# --- sockets that ask for windows ------------------------------------------------------

# A stream that gets no share may still send one segment.
together()
{
	at_most "$1: windows together" $(($2 + SOCKETS)) "$(field sum_max "$3")"
	at_least "$1: they are in use" $(($2 / 2)) "$(field flight_max "$3")"
}

# ask_all NAME WINDOW OPTION...: ask for a window in every state of a socket
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

# A server on src asks, and sends to readers on dst.
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

# --- breakers --------------------------------------------------------------------------

# trip USER OPTION...: trip this user's breaker by 30 % loss for all, as long as it takes.  With
# more loss streams would wait for timeouts, and slots for segments.
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

# --- user namespaces -------------------------------------------------------------------

FIRST=100000		# subordinate uids
SUBORDINATES=65536

# user_namespace USER [-n]: make one in which this user is root, with SUBORDINATES more uids from
# FIRST on, and with -n a network of its own; $USERS is the pid of its process
user_namespace()
{
	setpriv --reuid "$1" --regid "$1" --clear-groups unshare -U ${2:-} sleep 1000 &
	USERS=$!
	defer "kill $USERS"
	until_true 10 test -e "/proc/$USERS/ns/user" -a "$(readlink "/proc/$USERS/ns/user")" \
		!= "$(readlink /proc/self/ns/user)"
	# the kernel wants one write for each map, which bash's printf does not guarantee
	until_true 10 sh -c "printf '0 $1 1\n1 $FIRST $SUBORDINATES\n' >/proc/$USERS/uid_map"
	sh -c "printf '0 $1 1\n1 $FIRST $SUBORDINATES\n' >/proc/$USERS/gid_map"
}

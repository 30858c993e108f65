#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Circuits as objects: a name, prefixes of both families, a window, a rate.  All that
# goes to any of their addresses shares one window; the longest match decides, also
# for what runs already; without a match it is what route, namespace or module say,
# and without any window Reno's own growth.  65,536 of them cost a connection nothing that
# can be seen here, nor do 100,000 in another namespace; lab/cost.sh counts instructions.
#
#	dst has 10.77.2.11 to 10.77.2.18 and, on lo, 10.77.3.1; src's eth2 leads to
#	rtr, too

. "$(dirname "$0")/lib.sh"
need_commands ethtool circuit_nl circuit_sock circuit_streams
need_module

RTT_MS=50
SITE=10.77.2.0/24
SITE6=fd77:2::/64
HOSTS=$(printf '10.77.2.%d ' {11..18})
ELSEWHERE=10.77.3.1
PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
PREFIXES=128		# TCP_CIRCUIT_PREFIXES_MAX
ALL_PREFIXES=262144	# of a namespace
NONE=0 SOCKET=1 CIRCUIT=2 ROUTE=3 NETNS=4 MODULE=5

# new NAME WORD...: a circuit of src's
new()
{
	in_src circuit_nl new "$@" || fail "circuit_nl new $*"
}

del()
{
	local name

	for name; do
		in_src circuit_nl del "$name" || fail "circuit_nl del $name"
	done
}

topology()
{
	local host

	network
	for host in $HOSTS; do
		ip -n "$DST" addr add "$host/24" dev eth1
	done
	ip -n "$DST" addr add $ELSEWHERE/32 dev lo
	ip -n "$RTR" route add $ELSEWHERE via $DST4
	ip -n "$SRC" route add $ELSEWHERE via 10.77.1.254
	wire "$SRC" eth2 "$RTR" r3
	ip -n "$SRC" addr add 10.77.4.1/24 dev eth2
	ip -n "$RTR" addr add 10.77.4.254/24 dev r3
	ip -n "$DST" route add 10.77.4.0/24 via 10.77.2.254
	single_packets
	offloads_off src eth2
	offloads_off rtr r3
}

# streams N ADDRESSES [OPTION...]: for a second, when each has its share
streams()
{
	in_src timeout 120 circuit_streams -n "$1" -w 500 -t 1000 -p 1 "${@:3}" \
		"${2// /,}" $PORT
}

# share NAME WINDOW N ADDRESSES [OPTION...]: they have it all, and one segment more for each that
# found nothing left at most.  A slow machine asks one after the other, and meanwhile
# they change.
share()
{
	local out

	out=$(streams "${@:3}")
	end_sockets src
	at_most "$1: shares together" "$2" "$(field total_max "$out")"
	in_virtual_time || return 0
	at_least "$1: windows together" "$2" "$(field sum_max "$out")"
	at_most "$1: windows together" $(($2 + $3)) "$(field sum_max "$out")"
}

many_hosts()
{
	new site prefix $SITE window 800
	share "eight hosts behind one prefix" 800 8 "${HOSTS% }"
	share "eight hosts, two streams each" 800 16 "${HOSTS% }"
	new dual prefix $SITE6 prefix 10.77.2.1/32 window 400
	share "both families in one circuit" 400 6 "$DST4 $DST6"
	share "an IPv4 address on an IPv6 socket, too" 400 2 "$DST4 ::ffff:$DST4"
	del site dual
}

# What all streams of a circuit deliver together is its rate, whether its window is
# 1.3 times what the path holds or four times.
one_rate()
{
	local out window

	in_virtual_time || return 0
	for window in 540 1600; do
		new site prefix $SITE window $window rate 12500000
		out=$(streams 8 "${HOSTS% }")
		end_sockets src
		within "eight hosts, 100 Mbit/s, window $window: bytes in 1 s" \
			$((12500000 * 1448 / 1514)) "$(field bytes "$out")" 60000
		at_least "eight hosts, 100 Mbit/s, window $window: Jain's fairness, 1/10000" \
			9990 "$(field jain "$out")"
	done
	del site
}

# sent ADDRESS [OPTION...]: what a connection to it says of itself
sent()
{
	in_src timeout 30 circuit_sock send -C circuit -n 20000 "${@:2}" \
		"$1" $PORT
}

# belongs ADDRESS NAME WINDOW [OPTION...]: a connection made now
belongs()
{
	local out options=${*:4}

	out=$(sent "$1" "${@:4}")
	equal "to $1${options:+ $options}: circuit" "$2" "$(word circuit "$out")"
	equal "to $1${options:+ $options}: window" "$3" "$(field fcwnd "$out")"
}

# matched ADDRESS NAME [WORD...]: what the kernel says that one would belong to
matched()
{
	equal "match $1 ${*:3}" "$2" \
		"$(word name "$(in_src circuit_nl match "$1" "${@:3}" 2>&1)")"
}

longest_match()
{
	new all prefix 0.0.0.0/0 prefix ::/0 window 100
	new wide prefix 10.77.0.0/16 prefix fd77::/16 window 116
	new site prefix $SITE prefix $SITE6 window 124
	new host prefix 10.77.2.11/32 prefix $DST6/128 window 132
	belongs $ELSEWHERE wide 116
	belongs $DST4 site 124
	belongs 10.77.2.11 host 132
	belongs ::ffff:10.77.2.11 host 132
	belongs $DST6 host 132
	matched 10.77.2.10 site
	matched 10.77.2.12 site
	matched 10.78.0.0 all
	matched fd77:2::2 site
	matched fd77:3:: wide
	matched fd78:: all
	del host
	belongs 10.77.2.11 site 124
	belongs $DST6 site 124
	del site
	belongs 10.77.2.11 wide 116
	del wide
	belongs 10.77.2.11 all 100
	del all
	belongs 10.77.2.11 "" 0
}

selectors()
{
	new first prefix $SITE dev eth1 window 51
	new second prefix $SITE dev eth2 window 52
	new marked prefix $SITE mark 7 window 57
	new any prefix 10.77.0.0/16 window 50
	belongs $DST4 first 51
	belongs $ELSEWHERE any 50
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.4.254 dev eth2
	belongs $DST4 second 52
	belongs $DST4 second 52 -m 7
	del second
	belongs $DST4 marked 57 -m 7
	belongs $DST4 any 50 -m 8
	belongs $DST4 any 50
	ip -n "$SRC" route replace 10.77.2.0/24 via 10.77.1.254 dev eth1
	matched $DST4 first dev eth1
	matched $DST4 marked mark 7
	matched $DST4 any dev eth2
	del first marked any
}

# --- what runs already

# A connection that sends without end, until live_end
live()
{
	background src circuit_sock send -C circuit -n 100000000000 $DST4 $PORT \
		>/dev/null
	LIVE=$!
	until_true 10 connected
	IDENTITY=$(identity)
}

live_end()
{
	kill $LIVE
	wait $LIVE 2>/dev/null
	end_sockets src
}

connected()
{
	[ -n "$(identity)" ]
}

# The cookie that tells sockets apart
identity()
{
	in_src ss -Htne state established "dport = :$PORT" 2>/dev/null |
		grep -o '\bsk:[0-9a-f]*'
}

connection()
{
	in_src ss -Htin "dport = :$PORT"
}

window_is()
{
	connection | grep -q "\bcwnd:$1\b"
}

pace_is()
{
	connection | grep -q "pacing_rate $1bps"
}

algorithm_is()
{
	connection | grep -qE "\b$1 "
}

both_are()
{
	window_is "$1" && pace_is "$2"
}

# in_time DESCRIPTION COMMAND...: within two round trips.  In virtual time; a slow
# machine's round trip is what it is.
in_time()
{
	local name=$1 ms=0

	shift
	while ! "$@" && [ $ms -lt 20000 ]; do
		sleep 0.005
		ms=$((ms + 5))
	done
	if [ "$LAB" = uml ]; then
		at_most "$name: ms" $((2 * RTT_MS + 5)) $ms
	else
		succeeds "$name" "$@"
	fi
}

# soon DESCRIPTION COMMAND...: in time, and nothing was restarted
soon()
{
	in_time "$@"
	equal "$1: the same socket" "$IDENTITY" "$(identity)"
}

# Bits of payload a second that so many bytes on the wire are
payload_bits()
{
	echo $(($1 * 1448 / 1514 * 8))
}

live_changes()
{
	new site prefix $SITE window 200
	live
	soon "a running transfer has its circuit's window" window_is 200
	new replace site prefix $SITE window 400
	soon "its window grew" window_is 400
	new replace site prefix $SITE window 90
	soon "its window shrank" window_is 90
	if in_virtual_time; then
		new replace site prefix $SITE window 300 rate 2500000
		soon "window and rate" both_are 300 "$(payload_bits 2500000)"
		new replace site prefix $SITE window 300 rate 5000000
		soon "a new rate" both_are 300 "$(payload_bits 5000000)"
	fi
	new replace site prefix $SITE window 200
	soon "no rate any more" window_is 200
	new host prefix $DST4 window 77
	soon "a longer prefix takes over" window_is 77
	equal "its circuit's sockets" 1 "$(circuit_field src host sockets)"
	equal "those of the one before" 0 "$(circuit_field src site sockets)"
	new replace site prefix $SITE prefix $DST6 window 333
	sleep 0.2
	equal "what happens to the shorter one is nothing to it" 77 \
		"$(connection | sed -n 's/.*\bcwnd:\([0-9]*\).*/\1/p')"
	del host
	soon "removed, it gives it back to the next match" window_is 333
	new replace site prefix 10.77.3.0/24 window 333
	soon "its prefix is no longer one of the circuit: Reno" \
		algorithm_is circuit-reno
	new replace site prefix $SITE window 120
	soon "and is again: its window" window_is 120
	soon "its algorithm" algorithm_is circuit
	del site
	soon "no circuit matches any more: Reno" algorithm_is circuit-reno
	set_in src net.ipv4.tcp_circuit_fcwnd 66
	soon "the namespace gives a window" window_is 66
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	soon "and takes it away" algorithm_is circuit-reno
	live_end
}

# The other end's circuit is that of its own namespace.
back_window_is()
{
	in_dst ss -Htin "sport = :$PORT" | grep -q "\bcwnd:$1\b"
}

accepting_end()
{
	local client

	in_dst circuit_nl new back prefix 10.77.1.0/24 window 90
	PORT=$((PORT + 1))
	serve dst -C circuit -n 100000000000
	background src circuit_sock send -C circuit -k 60000 $DST4 $PORT >/dev/null
	client=$!
	until_true 20 back_window_is 90
	succeeds "the accepting end's window" back_window_is 90
	equal "its circuit's sockets" 1 "$(circuit_field dst back sockets)"
	in_dst circuit_nl new replace back prefix 10.77.1.0/24 window 45
	in_time "the accepting end's window, changed while it sends" back_window_is 45
	kill $client
	end_sockets src
	serve_end
	PORT=$((PORT + 1))
	serve dst
}

names_of()
{
	circuits_of "$1" | sed 's/name=\([^ ]*\).*/\1/'
}

# An automatic circuit stays for a round trip when its last socket was reset.
seen_here()
{
	[ "$(names_of src)" = "$1" ]
}

namespaces()
{
	new site prefix $SITE window 124
	in_dst circuit_nl new site prefix $SITE window 99
	equal "a name that another namespace has: window here" 124 \
		"$(circuit_field src site window)"
	equal "and there" 99 "$(circuit_field dst site window)"
	until_true 5 seen_here site
	equal "circuits that are seen here" site "$(names_of src)"
	matches "what is only there is not here" ^ENOENT \
		"$(in_src circuit_nl del back 2>&1)"
	in_dst circuit_nl del site
	belongs $DST4 site 124
	in_dst circuit_nl del back
	del site
}

# --- where no circuit matches

# by NAME WINDOW SOURCE [OPTION...]
by()
{
	local out

	out=$(sent "$TO" "${@:4}")
	equal "$TO, $1: window" "$2" "$(field fcwnd "$out")"
	equal "$TO, $1: source" "$3" "$(field source "$out")"
}

route()
{
	case $TO in
	*:*) ip -n "$SRC" -6 route replace $SITE6 via fd77:1::fe "$@" ;;
	*) ip -n "$SRC" route replace $SITE via 10.77.1.254 "$@" ;;
	esac
}

# All at once, then each taken away
order()
{
	local before

	before=$(<$PARAMETER)
	defer "echo $before >$PARAMETER"
	for TO in $DST4 $DST6; do
		echo 50 >$PARAMETER
		set_in src net.ipv4.tcp_circuit_fcwnd 60
		route initcwnd 70
		new site prefix $SITE prefix $SITE6 window 80
		by "the administrator's socket option" 90 $SOCKET -w 90
		by "a circuit" 80 $CIRCUIT
		del site
		by "the route" 70 $ROUTE
		route
		by "the namespace" 60 $NETNS
		set_in src net.ipv4.tcp_circuit_fcwnd 0
		by "the module" 50 $MODULE
		echo 0 >$PARAMETER
		by "nothing" 0 $NONE
		equal "$TO, nothing: algorithm" circuit-reno \
			"$(word algorithm "$(sent "$TO")")"
	done
	echo "$before" >$PARAMETER
}

# Those to one peer share what their newest route gives.
peers()
{
	local TO=$DST4

	route initcwnd 600
	share "no circuit, one peer" 600 3 $DST4
	share "no circuit, two peers" 1200 4 "$DST4 10.77.2.11"
	live
	until_true 10 window_is 600
	route initcwnd 300
	equal "the route's window halved, a second stream: window" 150 \
		"$(field sum_max "$(streams 1 $DST4)")"
	live_end
	route
	until_true 20 no_circuits
	equal "peers' circuits when all is over" 0 "$(circuits_in_use)"
}

# The peer's address alone does not say which peer it is: by another device, or on
# another link, it is another one.
devices()
{
	in_rtr tc qdisc replace dev r3 root netem limit 1000000 delay $((RTT_MS / 2))ms
	ip -n "$SRC" route add $SITE via 10.77.4.254 dev eth2 metric 9
	set_in src net.ipv4.tcp_circuit_fcwnd 300
	share "one peer, sockets bound to two devices" 600 2 $DST4 -D eth1,eth2
	share "one peer, sockets bound to one device" 300 2 $DST4 -D eth1
	link_local
	set_in src net.ipv4.tcp_circuit_fcwnd 0
}

link_local()
{
	# shellcheck disable=SC2034 # serve sets it
	local SERVER

	ip -n "$RTR" addr add fe80::1/64 dev r1 nodad
	ip -n "$RTR" addr add fe80::1/64 dev r3 nodad
	serve rtr
	share "a link-local address on two links" 600 2 "fe80::1%eth1 fe80::1%eth2"
	share "a link-local address on one link" 300 2 "fe80::1%eth1 fe80::1%eth1"
	serve_end
}

# took ALGORITHM: ms for 20 MB, and what was sent again, through a queue that drops
took()
{
	local begin out

	begin=$(date +%s%N)
	out=$(in_src circuit_sock send -C "$1" -n 20000000 $DST4 $PORT)
	echo "ms=$((($(date +%s%N) - begin) / 1000000)) $out"
}

# By a drop-tail queue of a quarter of the BDP, which Reno does not fill: the same
# losses for both
reno()
{
	local reno ours

	in_virtual_time || return 0
	in_rtr tc qdisc replace dev r2 root tbf rate 20mbit burst 3028 limit 15625
	reno=$(took reno)
	ours=$(took circuit)
	at_least "no window, a bottleneck: segments sent again" 10 \
		"$(field retrans "$ours")"
	within "no window, a bottleneck: ms, Reno's" "$(field ms "$reno")" \
		"$(field ms "$ours")" $(($(field ms "$reno") * 3 / 100))
	equal "no window, a bottleneck: algorithm" circuit-reno \
		"$(word algorithm "$ours")"
	delay $((RTT_MS / 2))
}

# --- many

# ms that 500 connections take: the least of five times
connects()
{
	local begin

	for _ in 1 2 3 4 5; do
		begin=$(date +%s%N)
		in_src circuit_streams -n 500 -t 0 $DST4 $PORT >/dev/null ||
			fail "500 connections"
		echo $((($(date +%s%N) - begin) / 1000000))
		end_sockets src
	done | sort -n | head -n 1
}

# no_dearer DESCRIPTION NETNS N: with N circuits in NETNS, what connects() measures
# takes at most half as long again as without them.  An emulated machine's host may have
# other work during either half: up to five pairs, and a cost of that size shows in each.
# It finds what grows with their number; lab/cost.sh (make check-cost) asserts 1 % of the
# instructions.
no_dearer()
{
	local i with='' without

	for i in 1 2 3 4 5; do
		without=$(connects)
		spawn -n "$2" circuit_nl fill "$3" >/dev/null || break
		with=$(connects)
		spawn -n "$2" circuit_nl fill "$3" del >/dev/null || break
		if [ "$with" -le $((without * 3 / 2)) ]; then break; fi
	done
	at_most "$1, ms ($without without, pair $i of 5)" $((without * 3 / 2)) "$with"
}

memory()
{
	field memory "$(in_src circuit_nl stats)"
}

# In virtual time a connection costs nothing, whatever it does.
many_circuits()
{
	local before

	until_true 20 no_circuits
	before=$(memory)
	new site prefix $SITE window 100
	if in_real_time; then
		no_dearer "500 connections with 65,536 circuits" \
			"$SRC" 65535
	fi
	equal "circuits beside one" filled=65535 "$(in_src circuit_nl fill 65535)"
	equal "circuits" 65536 "$(field circuits "$(in_src circuit_nl stats)")"
	equal "dumped" 65536 "$(circuits_of src | wc -l)"
	at_least "their memory, bytes" $((65536 * 100)) "$(memory)"
	matched 10.200.255.254 c65534
	belongs $DST4 site 100
	matches "one more: refused with a reason" "^ENOSPC: .+" \
		"$(in_src circuit_nl new more prefix 10.99.0.0/16 window 1 2>&1)"
	equal "deleted" filled=65535 "$(in_src circuit_nl fill 65535 del)"
	del site
	until_true 20 memory_is "$before"
	equal "memory when they have gone, bytes" "$before" "$(memory)"
}

shrink_caches()
{
	local shrink

	[ "$LAB" != root ] || return 0
	for shrink in /sys/kernel/slab/*/shrink; do
		[ ! -w "$shrink" ] || echo 1 >"$shrink" || :
	done
}

# kB that the kernel's allocator has in use for what it cannot take back; without what
# KASAN keeps of freed objects for a while, which shrinking a cache ends
slab()
{
	shrink_caches
	awk '/^SUnreclaim:/ { print $2 }' /proc/meminfo
}

slab_is_below()
{
	[ "$(slab)" -le "$1" ]
}

# All that a namespace may have, 128 for each circuit, and one more by each way there is
many_prefixes()
{
	local before kept full others

	mapfile -t others < <(printf 'prefix\n10.97.%d.0/24\n' {0..127})
	until_true 20 no_circuits
	before=$(memory)
	kept=$(slab)
	equal "circuits of $PREFIXES prefixes each" filled=$((ALL_PREFIXES / PREFIXES)) \
		"$(in_src circuit_nl fill $((ALL_PREFIXES / PREFIXES)) of $PREFIXES)"
	equal "prefixes" $ALL_PREFIXES "$(field prefixes "$(in_src circuit_nl stats)")"
	at_least "their memory, bytes" $((ALL_PREFIXES * 40)) $(($(memory) - before))
	full=$(slab)
	matched 10.203.255.255 c$((ALL_PREFIXES / PREFIXES - 1))
	matches "one more, of a new circuit: refused with a reason" \
		"^ENOSPC: .*limit of prefixes" \
		"$(in_src circuit_nl new more prefix 10.99.0.0/16 window 1 2>&1)"
	new replace c0 prefix 10.99.0.0/16 window 1
	new more prefix 10.98.0.0/16 window 1
	matches "one more than there were, of one that is replaced: refused with a reason" \
		"^ENOSPC: .*limit of prefixes" \
		"$(in_src circuit_nl new replace more "${others[@]}" window 1 2>&1)"
	equal "... which has what it had" 10.98.0.0/16 \
		"$(word prefixes "$(circuit_of src more)")"
	del more
	equal "deleted" filled=$((ALL_PREFIXES / PREFIXES)) \
		"$(in_src circuit_nl fill $((ALL_PREFIXES / PREFIXES)) del)"
	equal "memory when they have gone, bytes" "$before" "$(memory)"
	# What else the machine does, and what the allocator keeps in half-empty slabs,
	# is a tenth of it at most.
	in_the_lab || return 0
	until_true 60 slab_is_below $((kept + (full - kept) / 10))
	at_most "... and the allocator's, kB ($kept before, $full with them)" \
		$((kept + (full - kept) / 10)) "$(slab)"
}

# What another namespace has, more than it may have by default
neighbours()
{
	local name=net.ipv4.tcp_circuit_ceiling_circuits other=ctcp-$$-other before

	in_real_time || return 0
	before=$(sysctl -n $name)
	defer "sysctl -qw $name=$before"
	sysctl -qw $name=100000
	ip netns add "$other"
	defer "ip netns del $other"
	new site prefix $SITE window 100
	no_dearer "500 connections beside 100,000 circuits of another namespace" \
		"$other" 100000
	del site
	sysctl -qw $name="$before"
}

memory_is()
{
	[ "$(memory)" = "$1" ]
}

# What other namespaces may have at most is the machine's own namespace's to say.
ceiling()
{
	local name=net.ipv4.tcp_circuit_ceiling_circuits before out

	before=$(sysctl -n $name)
	defer "sysctl -qw $name=$before"
	sysctl -qw $name=10
	out=$(in_src circuit_nl fill 20 2>&1)
	matches "a ceiling of ten circuits: the eleventh" "^ENOSPC: .+" "$out"
	equal "a ceiling of ten circuits: there are" 10 "$(field filled "$out")"
	new replace c3 prefix 10.200.0.3 window 7
	equal "one of ten can be replaced" 7 "$(circuit_field src c3 window)"
	in_src circuit_nl fill 10 del >/dev/null
	sysctl -qw $name="$before"
}

topology
serve dst
many_circuits
many_prefixes
neighbours
ceiling
delay $((RTT_MS / 2))
many_hosts
one_rate
longest_match
selectors
live_changes
accepting_end
namespaces
order
peers
devices
reno
finish

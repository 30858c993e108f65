#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# --to PREFIX: a circuit to it, and a route that carries the algorithm and no window, so
# that what goes there uses circuit with no application changed, and nothing else does.  What the route
# had stays, undo gives it back to the letter, and takes away one that was not
# there.  Only one path can be a circuit: other routes are refused.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup ctcp-setup-faulty tc circuit_sock
need_module

# 4 Gbit/s, 26 ms in segments of 1514; IPv6's are of the same size on the wire.
CIRCUIT=(--rate 4gbit --rtt 26ms)
FCWND=11163

# --- connections -----------------------------------------------------------

# shellcheck disable=SC2317 # called by succeeds
setup_in_src() { in_src ctcp-setup "$@"; }

# Of the connection that is open
algorithm()
{
	in_src ss -Htin state established "dport = :$PORT" | grep -oE '\<(circuit|cubic)\>' | head -n 1
}

# connection ADDRESS: send and stay; $SENT what it was, $ALGORITHM what ss says
connection()
{
	background src timeout 120 circuit_sock send -n 100000 -k 60000 \
		"$1" "$PORT" >"$TMP/sent"
	until_true 30 grep -q cwnd= "$TMP/sent"
	ALGORITHM=$(algorithm)
	SENT=$(<"$TMP/sent")
	kill $!
	wait $! 2>/dev/null
}

# carried NAME ADDRESS: by circuit, with the circuit's window
carried()
{
	connection "$2"
	equal "$1: algorithm" circuit "$ALGORITHM"
	equal "$1: window" $FCWND "$(field fcwnd "$SENT")"
	equal "$1: the window is the circuit's" "2 eth1" \
		"$(field source "$SENT") $(word circuit "$SENT")"
}

left_alone()
{
	connection "$2"
	equal "$1: algorithm" cubic "$ALGORITHM"
	equal "$1: no window of circuit" "" "$(field fcwnd "$SENT")"
}

# dst has two addresses of each family; the circuit is to the first.
connections()
{
	# shellcheck disable=SC2119 # no delay
	network
	set_in src net.ipv4.tcp_congestion_control cubic
	ip -n "$DST" addr add 10.77.3.1/32 dev lo
	ip -n "$DST" addr add fd77:3::1/128 dev lo
	for via in "$SRC 10.77.1.254 fd77:1::fe" "$RTR $DST4 $DST6"; do
		# shellcheck disable=SC2086 # three words
		set -- $via
		ip -n "$1" route add 10.77.3.0/24 via "$2"
		ip -n "$1" -6 route add fd77:3::/64 via "$3"
	done
	serve dst
	left_alone "IPv4 before" "$DST4"
	succeeds "--to 10.77.2.0/24" \
		setup_in_src --quiet "${CIRCUIT[@]}" --to 10.77.2.0/24 eth1
	carried "IPv4" "$DST4"
	left_alone "IPv4 elsewhere" 10.77.3.1
	left_alone "IPv6 beside it" "$DST6"
	equal "the namespace's own window stays" 0 \
		"$(in_src sysctl -n net.ipv4.tcp_circuit_fcwnd)"
	succeeds "--to fd77:2::/64 instead" \
		setup_in_src --quiet "${CIRCUIT[@]}" --to fd77:2::/64 eth1
	carried "IPv6" "$DST6"
	left_alone "IPv6 elsewhere" fd77:3::1
	left_alone "IPv4, given back" "$DST4"
	succeeds "undo" setup_in_src undo eth1
	left_alone "IPv6 after undo" "$DST6"
}

# --- routes ----------------------------------------------------------------

# the_route PREFIX: every route with this prefix, in all detail
the_route()
{
	case $1 in
	*:*)	in_host ip -d -6 route show exact "$1" ;;
	*)	in_host ip -d -4 route show exact "$1" ;;
	esac
}

# without_ours TEXT: the route without what ctcp-setup puts on it, to compare
without_ours()
{
	sed -e "s/ congctl [a-z]*//" -e 's/ *$//' <<<"$1"
}

# there_and_back NAME PREFIX [ROUTE...]: with that route there before, or none
there_and_back()
{
	local name=$1 to=$2 before route during words=()

	shift 2
	case $to in *:*) words=(-6) ;; esac
	host route
	for route in "$@"; do
		# shellcheck disable=SC2086 # its words
		in_host ip "${words[@]}" route add $route
	done
	route=$(the_route "$to")
	before=$(state)
	works "$name" setup --quiet "${CIRCUIT[@]}" --to "$to" eth1
	during=$(the_route "$to")
	matches "$name: algorithm" "congctl circuit( |$)" "$during"
	equal "$name: the window is the circuit's" "$FCWND $to" \
		"$(circuit_value eth1 window) $(word prefixes "$(in_host circuit_nl get eth1)")"
	if [ -n "$route" ]; then
		equal "$name: all else as it was" "$(without_ours "$route")" \
			"$(without_ours "$during")"
	else
		equal "$name: no window on the route" "" "$(grep initcwnd <<<"$during")"
	fi
	works "$name: undo" setup undo --quiet eth1
	unchanged "$name: as before" "$before"
	host_end
}

existing()
{
	there_and_back "a route through a gateway" 10.79.0.0/16 \
		"10.79.0.0/16 via 10.78.0.254"
	there_and_back "a route with metrics" 10.79.0.0/16 \
		"10.79.0.0/16 via 10.78.0.254 proto static src 10.78.0.1 metric 7 \
		 mtu 1400 advmss 1200 initrwnd 40 quickack 1 window 60000 rto_min 40ms"
	there_and_back "a locked MTU, on link" 10.79.1.0/24 \
		"10.79.1.0/24 via 10.80.0.1 dev eth1 onlink mtu lock 1300"
	there_and_back "window and algorithm of somebody's" 10.79.0.0/16 \
		"10.79.0.0/16 via 10.78.0.254 initcwnd 20 congctl reno"
	there_and_back "the kernel's own route" 10.78.0.0/24
	there_and_back "a host's route" 10.78.0.9/32 "10.78.0.9 dev eth1 scope link"
	there_and_back "the default route" 0.0.0.0/0 \
		"default via 10.78.0.254 proto 186"
	there_and_back "an IPv6 route with metrics" fd79::/32 \
		"fd79::/32 via fd78::fe proto static metric 512 mtu 1400 hoplimit 9 pref high"
	there_and_back "IPv6, the kernel's own route" fd78::/64
	there_and_back "the IPv6 default route" ::/0 "default via fd78::fe dev eth1"
}

absent()
{
	there_and_back "no route, a gateway as for the rest" 10.79.1.0/24 \
		"10.79.0.0/16 via 10.78.0.254"
	there_and_back "no route, on the link" 10.78.0.128/25
	there_and_back "no IPv6 route" fd79:0:1::/48 "fd79::/32 via fd78::fe"
}

# like NAME PREFIX PATTERN ROUTE: a new route for the prefix is as ROUTE, which covers
# it, and a second run leaves it so.  Its window, too, and not its algorithm.
like()
{
	local before during words=()

	case $2 in *:*) words=(-6) ;; esac
	host like
	in_host ip addr add 10.78.0.2/24 dev eth1
	in_host ip addr add fd78::2/64 dev eth1 nodad
	# shellcheck disable=SC2086 # its words
	in_host ip "${words[@]}" route add $4
	before=$(state)
	works "$1" setup --quiet "${CIRCUIT[@]}" --to "$2" eth1
	during=$(the_route "$2")
	matches "$1: as the one that covers it" "$3" "$(without_ours "$during")"
	matches "$1: algorithm" "congctl circuit( |$)" "$during"
	matches "$1: its protocol is ours" ' proto (199|ctcp)( |$)' "$during"
	works "$1: a second run" setup "${CIRCUIT[@]}" --to "$2" eth1
	matches "$1: a second run has nothing to do" 'nothing to change' "$OUT"
	equal "$1: a second run leaves it" "$during" "$(the_route "$2")"
	works "$1: undo" setup undo --quiet eth1
	unchanged "$1: as before" "$before"
	host_end
}

covered()
{
	like "no route, source and metrics as for the rest" 10.79.1.0/24 \
		' via 10.78.0.254 dev eth1 .*src 10.78.0.2 mtu lock 1400 .*advmss 1200 .*initcwnd 9' \
		"10.79.0.0/16 via 10.78.0.254 src 10.78.0.2 metric 7 mtu lock 1400 \
		 rto_min 40ms advmss 1200 initcwnd 9 congctl reno"
	like "no route, on link as for the rest" 10.79.1.0/24 \
		' via 10.80.0.1 dev eth1 .*onlink' \
		"10.79.0.0/16 via 10.80.0.1 dev eth1 onlink"
	like "no route, the source of the link" 10.78.0.128/25 \
		' dev eth1 .*scope link src 10.78.0.1' "10.79.0.0/16 via 10.78.0.254"
	like "no IPv6 route, source and metrics as for the rest" fd79:0:1::/48 \
		' via fd78::fe dev eth1 .*src fd78::2 .*mtu 1400 .*pref high' \
		"fd79::/32 via fd78::fe src fd78::2 mtu 1400 pref high"
}

# Two routes with one prefix: the one that is used is the one with less metric.
beside()
{
	local other

	host beside
	in_host ip route add 10.79.0.0/16 via 10.78.0.254 metric 300
	in_host ip route add 10.79.0.0/16 via 10.78.0.253 metric 100
	in_host ip route add 10.79.0.0/16 via 10.78.0.252 table 77
	setup --quiet "${CIRCUIT[@]}" --to 10.79.0.0/16 eth1
	other=$(in_host ip route show table all 10.79.0.0/16)
	matches "of two routes the one that is used" \
		"via 10.78.0.253 .*congctl circuit" "$other"
	equal "of two routes that one only" 1 "$(grep -c circuit <<<"$other")"
	host_end
}

# of_two PREFIX GATEWAY HIS [--force]: the circuit's route by GATEWAY, somebody's HIS before
# it; undo
of_two()
{
	local to=$1 gateway=$2 his="$1 via $3 dev eth1 metric 100" before

	shift 3
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" --to "$to" --via "$gateway" eth1
	# shellcheck disable=SC2086 # words
	in_host ip route add $his
	run setup verify --json
	equal "$to: somebody's comes before ours: verify says so" "1 route" \
		"$RC $(jq -r '[.[].item] | join(" ")' <<<"$OUT")"
	matches "$to: ... and what has to go first" \
		"; once somebody else's root qdisc or route is gone, ctcp-setup change NAME" "$ERR"
	complains "$to: change does not put it behind somebody's" 1 \
		"there is a route to $to, .* which is used before" setup change eth1 --rate 2gbit
	works "$to: undo of ours that is not used $*" setup undo "$@" eth1
	matches "$to: ... says whose is" "is somebody's, is used before ours, and stays" "$OUT"
	matches "$to: ... his stays" "^$to via .* metric 100" \
		"$(the_route "$to" | sed 's/^unicast //')"
	equal "$to: ... ours is gone" "" "$(the_route "$to" | grep circuit)"
	# shellcheck disable=SC2086 # words
	in_host ip route del $his
	unchanged "$to: all else as before" "$before"
}

# left_of CIRCUIT WHAT ROUTES STATUS: undo of it exits so; those routes are there (their
# gateways), and no state
left_of()
{
	local circuit=$1

	shift
	run setup undo "$circuit"
	equal "$1: exit status of undo" "$3" "$RC"
	equal "$1: routes after it" "$2" \
		"$(the_route 10.79.0.0/16 | awk '{ print $4 ($0 ~ /congctl/ ? "!" : "") }' | xargs)"
	setup undo --all --force --quiet 2>/dev/null
	in_host ip route flush exact 10.79.0.0/16
}

left()
{
	left_of eth1 "$@"
}

# Of the metric of the circuit's: in front of it, or behind it the one that it replaced
same_metric()
{
	local to=10.79.0.0/16

	in_host ip route add $to via 10.78.0.254
	setup --quiet "${CIRCUIT[@]}" --to $to eth1
	in_host ip route prepend $to via 10.78.0.253
	complains "a route put in front: change --via" 1 'which is used before' \
		setup change eth1 --via 10.78.0.252
	left "a route put in front" "10.78.0.253 10.78.0.254" 0
	in_host ip route add $to via 10.78.0.254 proto static metric 100
	setup --quiet "${CIRCUIT[@]}" --to $to eth1
	in_host ip route append $to via 10.78.0.254 proto static metric 100
	left "the route of before put behind" "10.78.0.254" 0
	setup --quiet "${CIRCUIT[@]}" --to $to --via 10.78.0.254 eth1
	in_host ip route prepend $to via 10.78.0.253
	: >"$TMP/none"
	CTCP_FAIL_AT=2 run in_host ctcp-setup-faulty apply "$TMP/none"
	equal "apply fails, a route put in front: all is back" "1 10.78.0.253 10.78.0.254!" \
		"$RC $(the_route $to | awk '{ print $4 ($0 ~ /congctl/ ? "!" : "") }' | xargs)"
	left "... and goes" "10.78.0.253" 0
}

# Somebody has it twice, of two metrics, and the second route of the circuit fails: the first
# goes back, as the other of his is not the one of before.
twice()
{
	local to=10.79.0.0/16 before n

	in_host ip route add $to via 10.78.0.254 proto static
	in_host ip route add $to via 10.78.0.254 proto static metric 100
	before=$(state)
	for n in {1..20}; do
		CTCP_FAIL_AT=$n run in_host ctcp-setup-faulty --quiet "${CIRCUIT[@]}" \
			--to "$to,10.82.0.0/16" --via 10.78.0.254 eth1
		[[ $ERR == *"10.82.0.0/16: failed on purpose"* ]] && break
	done
	matches "twice: the circuit's other route fails" "10.82.0.0/16: failed on purpose" "$ERR"
	unchanged "twice: all as before" "$before"
	in_host ip route flush exact $to
}

# Of IPv6 somebody may append a next hop, and the kernel tells of both as one route.
appended()
{
	local to=fd79::/32 way=$1 before

	shift
	before=$(state)
	setup --quiet "${CIRCUIT[@]}" --to $to --via fd78::fe eth1
	in_host ip -6 route append $to via fd78::fd dev eth1
	run setup verify --json
	equal "a next hop appended, $way: verify" "1 route" \
		"$RC $(jq -r '[.[].item] | join(" ")' <<<"$OUT")"
	works "a next hop appended, $way" setup undo "$@" eth1
	equal "... his stays, and ours is gone" "fd78::fd" \
		"$(in_host ip -6 route show $to | sed 's/.*via //; s/ dev .*metric 1024//; s/ pref .*//')"
	in_host ip -6 route flush exact $to
	unchanged "... all else as before" "$before"
}

# Ours was made like the one that covers it, and does not follow one that is used before it.
stays_like()
{
	local to=10.79.0.0/16

	in_host ip route add default via 10.78.0.254
	echo "add lhc --rate 1gbit --rtt 10ms --to $to eth1" >"$TMP/like"
	setup --quiet apply "$TMP/like"
	in_host ip route prepend $to via 10.78.0.253
	matches "like the covering one: verify names both" \
		"route $to is $to via 10.78.0.253, plan wants $to via 10.78.0.254" \
		"$(setup verify 2>/dev/null)"
	works "like the covering one: apply" setup apply "$TMP/like"
	matches "... changes nothing" "nothing to change" "$OUT"
	matches "... says which is used" 'via 10.78.0.253" is somebody.s, is used before ours' "$OUT"
	in_host ip route del default
	left_of lhc "like the covering one" "10.78.0.253" 0
}

# Ours is gone: what is there by another metric is nothing of ours.
gone()
{
	local to=10.79.0.0/16

	setup --quiet "${CIRCUIT[@]}" --to $to --via 10.78.0.254 eth1
	in_host ip route del $to
	in_host ip route add $to via 10.78.0.253 metric 50
	left "ours deleted, somebody's of a lower metric" "10.78.0.253" 0
	setup --quiet "${CIRCUIT[@]}" --to $to --via 10.78.0.254 eth1
	in_host ip route add $to via 10.78.0.253 metric 500
	in_host ip route del $to metric 0
	matches "ours deleted, a route of a higher metric: verify" "route $to is absent" \
		"$(setup verify 2>/dev/null)"
	works "... change sets it again" setup change eth1 --rate 2gbit
	left "... undo" "10.78.0.253" 0
}

# What a run that was cut short did not come to change is not ours.
not_taken()
{
	local to=10.79.0.0/16

	setup --quiet "${CIRCUIT[@]}" --to $to --via 10.78.0.254 eth1
	in_host ip route replace $to via 10.78.0.253
	CTCP_DIE_AT=1 run in_host ctcp-setup-faulty --quiet change eth1 --rate 2gbit
	equal "killed before the route" 137 "$RC"
	left "a change killed before it took somebody's route" "10.78.0.253" 1
}

# A lookup does not find it, and the kernel has it.
without_carrier()
{
	local to=10.79.0.0/16

	in_host sysctl -qw net.ipv4.conf.all.ignore_routes_with_linkdown=1
	setup --quiet "${CIRCUIT[@]}" --to $to --via 10.78.0.254 eth1
	ip -n "$HOST" link set far1 down
	succeeds "the carrier is away" until_true 10 eval "the_route $to | grep -q linkdown"
	left "no carrier" "" 0
	ip -n "$HOST" link set far1 up
	in_host sysctl -qw net.ipv4.conf.all.ignore_routes_with_linkdown=0
}

# The kernel does not tell of a congctl that it does not have.
without_algorithm()
{
	if ! without_module; then
		echo "# the module is in use on this machine: not tried without it"
		return
	fi
	setup --quiet "${CIRCUIT[@]}" --to fd79::/32 --via fd78::fe eth1
	in_host ip -6 route add fd79::/32 via fd78::fd metric 100
	in_host ctcp-setup circuit del eth1
	rmmod tcp_circuit
	works "without the module: undo" setup undo eth1
	equal "without the module: routes after it" "fd78::fd" \
		"$(the_route fd79::/32 | awk '{ print $4 }' | xargs)"
	in_host ip -6 route flush exact fd79::/32
	need_module
}

# It came while the circuit was there: ours is found behind it, and his stays.
behind()
{
	host behind
	in_host ip route add 10.79.0.0/16 via 10.78.0.254 metric 300
	of_two 10.79.0.0/16 10.78.0.254 10.78.0.253
	in_host ip route flush exact 10.79.0.0/16
	of_two fd79::/32 fd78::fe fd78::fd
	of_two fd79::/32 fd78::fe fd78::fd --force
	same_metric
	twice
	appended "undo"
	appended "undo --force" --force
	stays_like
	gone
	not_taken
	without_carrier
	without_algorithm
	host_end
}

# The line of the route after --to and --via, first on a fresh prefix, then on one
# whose gateway was another.
via()
{
	local before

	host via
	in_host ip route add 10.79.0.0/16 via 10.78.0.254 mtu 1400
	before=$(state)
	works "--via" setup --quiet "${CIRCUIT[@]}" --to 10.80.0.0/16 \
		--via 10.78.0.77 eth1
	matches "--via: gateway" "via 10.78.0.77 dev eth1 .*circuit" \
		"$(the_route 10.80.0.0/16)"
	works "--via moves a route" setup --quiet "${CIRCUIT[@]}" --to 10.79.0.0/16 \
		--via 10.78.0.77 eth1
	matches "--via moves a route: gateway" "via 10.78.0.77 .*mtu 1400.*" \
		"$(the_route 10.79.0.0/16)"
	equal "the prefix of before is given back" "" "$(the_route 10.80.0.0/16)"
	works "undo after --via" setup undo --quiet eth1
	unchanged "undo after --via: as before" "$before"
	host_end
}

# A prefix moves to a circuit on another device, and back: not by the gateway that it had.
devices()
{
	local way="--rate 1gbit --rtt 10ms --shaper none --pace" four=10.90.0.0/16 six=fd90:0:1::/48

	host devices
	another_device eth2
	ip -n "$HOST" -batch - <<-END
		addr add 10.81.0.1/24 dev eth2
		addr add fe80::11/64 dev eth1 nodad
		addr add fe80::12/64 dev eth2 nodad
		route add 10.90.0.0/15 via 10.78.0.254
		route add fd90::/32 via fe80::1 dev eth1
	END
	cat >"$TMP/on-eth1" <<-END
		add a $way --to $four,$six eth1
		add b $way --to 10.95.0.0/16 --via 10.81.0.254 eth2
	END
	cat >"$TMP/on-eth2" <<-END
		add a $way --to 10.91.0.0/16 eth1
		add b $way --to $four,$six --via 10.81.0.254 --via fe80::2 eth2
	END
	sed 's/ --via [^ ]*//g' "$TMP/on-eth2" >"$TMP/nowhere"
	setup --quiet apply "$TMP/on-eth1"
	complains "a prefix moves to a device that does not lead there" 1 \
		"$four is not reached by eth2; --via" setup apply "$TMP/nowhere"
	sed -i "s|--to $four,|--to |" "$TMP/nowhere"
	complains "... of IPv6" 1 "$six is not reached by eth2; --via" \
		setup apply "$TMP/nowhere"
	works "a prefix moves to another device" \
		setup --quiet apply --confirm-within 60s "$TMP/on-eth2"
	equal "... by its gateway" "10.81.0.254 fe80::2" "$(gateways $four $six)"
	run setup cancel
	equal "... and back" "0 10.78.0.254 fe80::1" "$RC $(gateways $four $six)"
	setup --quiet apply "$TMP/on-eth2"
	works "a prefix moves back" setup --quiet apply "$TMP/on-eth1"
	equal "... by the gateway of before" "10.78.0.254 fe80::1" "$(gateways $four $six)"
	host_end
}

# gateways PREFIX...: of their routes
gateways()
{
	local to

	for to in "$@"; do
		the_route "$to" | sed 's/.* via \([^ ]*\) .*/\1/'
	done | xargs
}

# A rule by source leads past the main table: said, and by whom.
by_rule()
{
	local words

	for words in "-4 10.79.0.0/16 10.78.0.254 10.78.0.1" \
		     "-6 fd79::/32 fd78::fe fd78::1"; do
		# shellcheck disable=SC2086 # four words
		set -- $words
		host rule
		works "$1: no rule" setup "${CIRCUIT[@]}" --to "$2" --via "$3" eth1
		equal "$1: no rule: no note" "" "$(grep 'ip rule' <<<"$OUT")"
		works "$1: a rule by source" \
			in_host ip "$1" rule add from "$4" lookup 777
		in_host ip "$1" route add default via "$3" table 777
		works "$1: a rule" setup "${CIRCUIT[@]}" --to "$2" --via "$3" eth1
		matches "$1: a rule: it says which table" \
			"note: from $4 to $2 .* table 777, by ip rule" "$OUT"
		in_host ip "$1" route add "$2" via "$3" table 777 congctl circuit
		works "$1: the circuit there, too" \
			setup "${CIRCUIT[@]}" --to "$2" --via "$3" eth1
		equal "$1: the circuit there, too: no note" "" \
			"$(grep 'ip rule' <<<"$OUT")"
		host_end
	done
}

# no_path NAME PATTERN TO ROUTE: this route cannot be a circuit
no_path()
{
	# shellcheck disable=SC2086 # the words of the route
	succeeds "$1: the route" in_host ip route add $4
	complains "$1" 1 "$3 $2" setup "${CIRCUIT[@]}" --to "$3" eth1
	# shellcheck disable=SC2086
	in_host ip route del $4
}

refusals()
{
	host refused
	another_device eth2
	in_host ip addr add 10.81.0.1/24 dev eth2
	in_host ip nexthop add id 5 via 10.78.0.254 dev eth1
	no_path "a nexthop object" '.*nexthop' 10.79.0.0/16 "10.79.0.0/16 nhid 5"
	no_path "a blackhole" '.*unicast' 10.79.0.0/16 "blackhole 10.79.0.0/16"
	no_path "another device" '.*eth1' 10.79.0.0/16 "10.79.0.0/16 via 10.81.0.254"
	in_host ip -6 route add fd79::/32 nexthop via fd78::fe dev eth1 \
		nexthop via fd78::fd dev eth1
	complains "several next hops" 1 'fd79::/32 .*several' \
		setup "${CIRCUIT[@]}" --to fd79::/32 eth1
	complains "no way to it" 1 '203.0.113.0/24' \
		setup "${CIRCUIT[@]}" --to 203.0.113.0/24 eth1
	complains "a gateway that nobody reaches" 1 '198.51.100.1|10.82.0.0/16' \
		setup "${CIRCUIT[@]}" --to 10.82.0.0/16 --via 198.51.100.1 eth1
	complains "bits behind the prefix length" 2 '10.79.0.1/16' \
		setup "${CIRCUIT[@]}" --to 10.79.0.1/16 eth1
	local to

	for to in 224.0.0.0/4 239.1.2.3 255.255.255.255 10.78.0.255 ff00::/8 ff02::1; do
		complains "$to" 1 "$to(/[0-9]+)? is multicast or broadcast" \
			setup "${CIRCUIT[@]}" --to "$to" --via \
			"$([[ $to != *:* ]] && echo 10.78.0.254 || echo fd78::fe)" eth1
	done
	complains "an address of this host" 1 '10.78.0.1/32 is an address of this host' \
		setup "${CIRCUIT[@]}" --to 10.78.0.1 eth1
	complains "an IPv6 address of this host" 1 'fd78::1/128 is an address of this host' \
		setup "${CIRCUIT[@]}" --to fd78::1 eth1
	complains "--via without --to" 2 '--via' \
		setup "${CIRCUIT[@]}" --via 10.78.0.254 eth1
	host_end
}

connections
existing
absent
covered
beside
behind
via
devices
by_rule
refusals
finish

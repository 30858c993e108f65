# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# lib.sh: every test sources this file first.
#
# TAP on stdout (tap.sh); exit 0 when all points held, 1 when one did not, 4 when the
# test or a point of it cannot run here (with the reason).  Each test file says in its
# head, in a line "# labs: ...", where it must run: uml (virtual time), qemu (emulated),
# root (a developer's own machine), nonetfilter (virtual time, a kernel without
# CONFIG_NETFILTER).  There a skip counts as a failure.
#
# The network, in namespaces that a test makes and removes itself:
#
#	+-----------+            +-------------+            +-----------+
#	|    src    |            |     rtr     |            |    dst    |
#	|      eth1 +------------+ r1       r2 +------------+ eth1      |
#	| 10.77.1.1 |            |  netem each |            | 10.77.2.1 |
#	+-----------+            +-------------+            +-----------+
#	fd77:1::1                                            fd77:2::1
#
# The shaper stands on src's eth1.  Delay, loss and marks are made by netem on
# rtr's ports: r2 for what goes to dst, r1 for what comes back.

set -u
SELFTESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$SELFTESTS/.." && pwd)
LAB=${LAB:-root}
BIN=${CTCP_BIN:-$TOP/build/bin}
PATH=$BIN:$PATH
. "$SELFTESTS/tap.sh"
. "$SELFTESTS/shell.sh"

TMP=$(mktemp -d)

SRC=ctcp-$$-src
RTR=ctcp-$$-rtr
DST=ctcp-$$-dst
SRC4=10.77.1.1
DST4=10.77.2.1
SRC6=fd77:1::1
DST6=fd77:2::1

# Emulated, or a virtual-time machine whose kernel checks itself
slow_kernel()
{
	[ "$LAB" = qemu ] || [[ ${LAB_KERNEL:-} = *@(debug|leaks) ]]
}

# For a part of a test that only virtual time can decide; prints that it is left out
in_virtual_time()
{
	[ "$LAB" = uml ] ||
		{ echo "# ${FUNCNAME[1]}: left out, only in virtual time" >&2; false; }
}

# For a part that measures the cost of a program; programs take no virtual time
in_real_time()
{
	[ "$LAB" != uml ] ||
		{ echo "# ${FUNCNAME[1]}: left out, nothing costs in virtual time" >&2; false; }
}

# For a part that needs a machine which nothing but the test uses
in_the_lab()
{
	[ "$LAB" != root ] ||
		{ echo "# ${FUNCNAME[1]}: left out, only in the lab" >&2; false; }
}

# True when a stream from src to PORT is established
sending()
{
	got_in src ss -Htn state established "dport = :$PORT"
	[ -n "$GOT" ]
}

# --- points ------------------------------------------------------------------

# equal DESCRIPTION EXPECTED GOT
equal()
{
	if [ "$2" = "$3" ]; then
		pass "$1: $3"
	else
		fail "$1" "expected: $2" "got:      $3"
	fi
}

# within DESCRIPTION EXPECTED GOT TOLERANCE, integers
within()
{
	if [ -n "$3" ] && [ "$3" -ge $(($2 - $4)) ] &&
	   [ "$3" -le $(($2 + $4)) ]; then
		pass "$1: $3 (expected $2 +- $4)"
	else
		fail "$1" "expected: $2 +- $4" "got:      $3"
	fi
}

# at_least DESCRIPTION FLOOR GOT, integers
at_least()
{
	if [ -n "$3" ] && [ "$3" -ge "$2" ]; then
		pass "$1: $3 (at least $2)"
	else
		fail "$1" "expected: at least $2" "got:      $3"
	fi
}

# at_most DESCRIPTION CEILING GOT, integers, none negative
at_most()
{
	if [ -n "$3" ] && [ "$3" -ge 0 ] && [ "$3" -le "$2" ]; then
		pass "$1: $3 (at most $2)"
	else
		fail "$1" "expected: at most $2" "got:      $3"
	fi
}

# has_line PATTERN TEXT: grep -qE, without a process
has_line()
{
	local line

	while IFS= read -r line; do
		[[ ! $line =~ $1 ]] || return 0
	done <<<"$2"
	return 1
}

# matches DESCRIPTION PATTERN TEXT: extended regular expression, of a line
matches()
{
	if has_line "$2" "$3"; then
		pass "$1"
	else
		fail "$1" "expected: /$2/" "got:      $3"
	fi
}

# succeeds DESCRIPTION COMMAND...
succeeds()
{
	local what=$1 out

	shift
	if out=$("$@" 2>&1); then
		pass "$what"
	else
		fail "$what" "command: $*" "exit: $?" "$out"
	fi
}

# refused DESCRIPTION COMMAND...: it must fail
refused()
{
	local what=$1 out

	shift
	if out=$("$@" 2>&1); then
		fail "$what" "expected a failure of: $*" "$out"
	else
		pass "$what"
	fi
}

# cases NAME...: run these functions, or those of them that ONLY_CASES=NAME,NAME in the
# environment names.  After an error in $(( )) bash aborts this whole command and goes on with
# the next: finish() compares how many cases were begun and ended.
CASES=0
CASES_ENDED=0
CASE_NAMES=()

cases()
{
	CASES=$((CASES + $#))
	CASE_NAMES+=("$@")
	for CASE; do
		is_chosen "$CASE" && "$CASE"
		CASES_ENDED=$((CASES_ENDED + 1))
	done
}

is_chosen()
{
	[ -z "${ONLY_CASES:-}" ] || [[ ,$ONLY_CASES, = *",$1,"* ]] ||
		{ echo "# $1: left out, not in ONLY_CASES" >&2; false; }
}

# Check ONLY_CASES after the last call of cases(): a test may call it more than once.
are_cases()
{
	local name names known

	printf -v known ',%s' "${CASE_NAMES[@]}"
	IFS=, read -ra names <<<"${ONLY_CASES:-}"
	for name in "${names[@]}"; do
		[[ $known, = *",$name,"* ]] ||
			fail "ONLY_CASES: \"$name\" is no case of this test: ${CASE_NAMES[*]:-it has none}"
	done
}

finish()
{
	[ $CASES_ENDED = $CASES ] ||
		fail "$CASES cases: $CASES_ENDED came to their end, $CASE did not"
	are_cases
	tap_finish
}

# --- do and undo -----------------------------------------------------------

DEFERRED=()

# defer COMMAND: run at the end, last first, however the test ends
defer()
{
	DEFERRED=("$1" "${DEFERRED[@]}")
}

undo_all()
{
	local command

	for command in "${DEFERRED[@]}"; do
		eval "$command" >/dev/null 2>&1
	done
	rm -rf "$TMP"
}
trap undo_all EXIT
trap 'exit 1' INT TERM

# Does ss -K end a socket whose process has gone?  Before 6.11 tcp_abort() removes
# such an orphan's data and timer, but never the socket, and the core warns of its
# counters.  Debian's 6.1 has the fix, too; kernels between are taken for unfixed.
orphans_die()
{
	[[ $(uname -r) = 6.1[.-]* ]] ||
		[ "$(printf '%s\n' 6.11 "$(uname -r)" | sort -V | head -n 1)" = 6.11 ]
}

no_sockets()
{
	got_in "$1" ss -Htn state connected exclude time-wait "dport = :$PORT"
	[ -z "$GOT" ]
}

# circuits_of src|dst: a line of NAME=value for each
circuits_of()
{
	"in_$1" circuit_nl dump
}

# find_circuit src|dst KEY: CIRCUIT_LINE is that of the circuit with this name, or with this
# address as its only prefix
find_circuit()
{
	local name id auto prefixes rest

	CIRCUIT_LINE=
	got_in "$1" circuit_nl dump
	while read -r name id auto prefixes rest; do
		case "$name $prefixes" in
		"name=$2 "* | *" prefixes=$2/32" | *" prefixes=$2/128")
			CIRCUIT_LINE+="$name $id $auto $prefixes $rest"$'\n' ;;
		esac
	done <<<"$GOT"
}

# circuit_of src|dst KEY: the same, printed
circuit_of()
{
	find_circuit "$@"
	printf %s "$CIRCUIT_LINE"
}

# find_circuit_field src|dst KEY FIELD: VALUE is a number of it, 0 when there is none
find_circuit_field()
{
	find_circuit "$1" "$2"
	find_value "$3" '[0-9-]*' "$CIRCUIT_LINE"
	VALUE=${VALUE:-0}
}

# circuit_field src|dst KEY FIELD: the same, printed
circuit_field()
{
	find_circuit_field "$@"
	echo "$VALUE"
}

# The number of sockets in src's circuits, plus that of automatic circuits
circuits_in_use()
{
	local all

	all=$(circuits_of src) || return
	awk '{ for (i = 1; i <= NF; i++) { split($i, v, "="); n[v[1]] += v[2] } }
		END { print n["sockets"] + n["auto"] }' <<<"$all"
}

# remove_circuits src|dst: delete all named circuits there
remove_circuits()
{
	local names

	mapfile -t names < <("in_$1" circuit_nl dump |
		sed -n 's/^name=\([^ ]\{1,\}\) .*/\1/p')
	[ ${#names[@]} = 0 ] || "in_$1" circuit_nl del "${names[@]}"
}

no_circuits()
{
	[ "$(circuits_in_use)" = 0 ]
}

# breaker_is src|dst KEY open|closed
breaker_is()
{
	local open=0

	[ "$3" = closed ] || open=1
	find_circuit_field "$1" "$2" breaker
	[ "$VALUE" = $open ]
}

# end_sockets src|dst: end all connections to $PORT, orphans, too
end_sockets()
{
	if orphans_die; then
		"in_$1" ss -tK "dport = :$PORT" >/dev/null
	else
		until_true 60 no_sockets "$1"
	fi
}

# until_true SECONDS COMMAND...: poll, never merely sleep
until_true()
{
	local limit=$(($1 * 10))

	shift
	while ! "$@" >/dev/null 2>&1; do
		limit=$((limit - 1))
		[ $limit -gt 0 ] || return 1
		nap 0.1
	done
}

# once_free COMMAND...: retry COMMAND until tests that have ended no longer hold the module.
# A namespace lives as long as its sockets.  A socket whose peer went with its own namespace
# gives up at its first timeout after 102 s (tcp_orphan_retries, 8); as each timeout is twice
# as long as the one before, after 165 s on a path of 100 ms, and 205 s at worst.
once_free()
{
	until_true 240 "$@"
}

# --- what a test needs -----------------------------------------------------

need_root()
{
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	unshare -n true 2>/dev/null || skip_all "cannot make network namespaces"
}

# where_from COMMAND: print that COMMAND is missing, and how to build it if it is ours
where_from()
{
	case $1 in
	circuit_* | ctcp*) echo "$1 is not built: make tools tests-bin" ;;
	*) echo "$1 is not installed" ;;
	esac
}

need_commands()
{
	local command

	for command in "$@"; do
		type -P "$command" >/dev/null || skip_all "$(where_from "$command")"
	done
}

module_loaded()
{
	[ -d /sys/module/tcp_circuit ]
}

# Load the module, and unload it at the end, unless it was loaded before.
need_module()
{
	need_root
	module_loaded && return
	modprobe tcp_circuit 2>/dev/null ||
		skip_all "tcp_circuit cannot be loaded into $(uname -r)"
	defer "modprobe -r tcp_circuit"
}

# --- the network -----------------------------------------------------------

in_src() { spawn -n "$SRC" "$@"; }
in_rtr() { spawn -n "$RTR" "$@"; }
in_dst() { spawn -n "$DST" "$@"; }

# got_in src|rtr|dst COMMAND...: put its output into GOT, without a fork of this shell
got_in()
{
	local ns=${1^^}

	spawn -n "${!ns}" -v GOT "${@:2}"
}

# background src|rtr|dst COMMAND...: start it; $! is its own pid, not a shell's, and its input
# the caller's, which a mere & would replace by /dev/null
background()
{
	local ns=${1^^}

	spawn -e -n "${!ns}" "${@:2}" <&0 &
}

# sysctl in a namespace: set_in src|dst NAME VALUE
set_in()
{
	"in_$1" sysctl -qw "$2=$3"
}

offloads_off()
{
	"in_$1" ethtool -K "$2" tso off gso off gro off >/dev/null
}

wire()
{
	ip link add "w$$" netns "$1" type veth peer name "v$$" netns "$3"
	ip -n "$1" link set "w$$" name "$2"
	ip -n "$3" link set "v$$" name "$4"
	ip -n "$1" link set "$2" up
	ip -n "$3" link set "$4" up
}

addresses()
{
	ip -n "$SRC" addr add $SRC4/24 dev eth1
	ip -n "$RTR" addr add 10.77.1.254/24 dev r1
	ip -n "$RTR" addr add 10.77.2.254/24 dev r2
	ip -n "$DST" addr add $DST4/24 dev eth1
	ip -n "$SRC" addr add $SRC6/64 dev eth1 nodad
	ip -n "$RTR" addr add fd77:1::fe/64 dev r1 nodad
	ip -n "$RTR" addr add fd77:2::fe/64 dev r2 nodad
	ip -n "$DST" addr add $DST6/64 dev eth1 nodad
}

routes()
{
	ip -n "$SRC" route add 10.77.2.0/24 via 10.77.1.254
	ip -n "$DST" route add 10.77.1.0/24 via 10.77.2.254
	ip -n "$SRC" -6 route add fd77:2::/64 via fd77:1::fe
	ip -n "$DST" -6 route add fd77:1::/64 via fd77:2::fe
}

# src as the only host, with its loopback device
lone_host()
{
	ip netns add "$SRC"
	defer "ip netns del $SRC"
	ip -n "$SRC" link set lo up
}

# circuit for all sockets that src opens; the machine's own namespace has to allow it first
default_circuit()
{
	local name=net.ipv4.tcp_allowed_congestion_control before

	before=$(sysctl -n $name)
	sysctl -qw $name="$before circuit"
	defer "sysctl -qw $name='$before'"
	set_in src net.ipv4.tcp_congestion_control circuit
}

# network [ONE_WAY_MS]: make it, with this delay each way (default none)
network()
{
	local ns

	for ns in "$SRC" "$RTR" "$DST"; do
		ip netns add "$ns"
		defer "ip netns del $ns"
		ip -n "$ns" link set lo up
		spawn -n "$ns" sysctl -qw net.ipv4.ip_forward=1 \
			net.ipv6.conf.all.forwarding=1 \
			net.ipv4.tcp_no_metrics_save=1
	done
	wire "$SRC" eth1 "$RTR" r1
	wire "$RTR" r2 "$DST" eth1
	addresses
	routes
	[ $# -eq 0 ] || delay "$1"
}

# Send each packet by itself: netem and the qdiscs count a GSO skb as a single one.
single_packets()
{
	offloads_off src eth1
	offloads_off rtr r1
	offloads_off rtr r2
	offloads_off dst eth1
}

# delay ONE_WAY_MS [NETEM WORDS for what goes to dst]
delay()
{
	local ms=$1

	shift
	in_rtr tc qdisc replace dev r2 root netem limit 1000000 delay "${ms}ms" "$@"
	in_rtr tc qdisc replace dev r1 root netem limit 1000000 delay "${ms}ms"
}

# --- traffic ---------------------------------------------------------------

PORT=5001

listening()
{
	got_in "$1" ss -Hltn "sport = :$PORT"
	[[ $GOT = *LISTEN* ]]
}

# serve src|dst [OPTION...]: a sink on $PORT until the test ends
serve()
{
	local where=$1

	shift
	background "$where" circuit_sock serve "$@" $PORT >"$TMP/serve.out" 2>&1
	SERVER=$!
	defer "kill $SERVER"
	until_true 10 listening "$where" || fail "a server on port $PORT"
}

serve_end()
{
	kill "$SERVER" 2>/dev/null
	wait "$SERVER" 2>/dev/null
}

# next_server: replace dst's server by one on a port that no earlier connection used
next_server()
{
	serve_end
	PORT=$((PORT + 1))
	serve dst
}

# sock_for_anyone: copy circuit_sock for sock_as_nobody, as other users may not be allowed
# to enter its folder
sock_for_anyone()
{
	chmod 755 "$TMP"
	cp "$(command -v circuit_sock)" "$TMP/"
}

# sock_as_nobody ARGUMENT...: circuit_sock on src, without any privilege
sock_as_nobody()
{
	in_src setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps=-all --bounding-set=-all "$TMP/circuit_sock" "$@"
}

# --- one stream ------------------------------------------------------------

# stream_send ARGUMENT...: src sends until stream_end; its connection is the only one to $PORT
stream_send()
{
	background src circuit_sock send "$@" >/dev/null
	STREAM=$!
}

# stream_begin [OPTION...]: to $DST4, data without end
stream_begin()
{
	stream_send -n 100000000000 "$@" $DST4 $PORT
}

# stream_end: end it and its sockets, and start a new server for the next one
stream_end()
{
	kill $STREAM
	wait $STREAM 2>/dev/null
	end_sockets src
	next_server
}

# stream_shows NAME: print this number of the connection from ss
stream_shows()
{
	in_src ss -Hti "dport = :$PORT" | sed -n "s/.*\\b$1:\\([0-9]*\\).*/\\1/p"
}

stream_window_is()
{
	got_in src ss -Hti "dport = :$PORT"
	[[ $GOT =~ [[:blank:]]cwnd:$1([[:blank:]]|$) ]]
}

# stream_algorithm: print the name that ss, as TCP_CONGESTION, gives
stream_algorithm()
{
	in_src ss -Hti "dport = :$PORT" |
		grep -oE 'circuit(-reno)?|reno|cubic|bbr' | head -n 1
}

stream_algorithm_is()
{
	[ "$(stream_algorithm)" = "$1" ]
}

# --- memory, and what programs print ---------------------------------------

# no_memory: set the first number of tcp_mem, below which TCP allocates freely, to 0.  The
# numbers are the machine's, not a namespace's.
no_memory()
{
	MEMORY=$(sysctl -n net.ipv4.tcp_mem)
	defer memory_again
	sysctl -qw net.ipv4.tcp_mem="0 ${MEMORY#*[[:space:]]}"
}

memory_again()
{
	sysctl -qw net.ipv4.tcp_mem="$MEMORY"
}

# dropped src|rtr|dst DEV: print how many packets the root qdisc dropped
dropped()
{
	"in_$1" tc -s qdisc show dev "$2" | sed -n 's/.*dropped \([0-9]*\).*/\1/p' |
		head -n 1
}

# Starting a process costs the host 20 ms or more, most of a test's cost; these functions
# parse text without one.  find_value NAME PATTERN TEXT: VALUE is what matches behind the
# last NAME=.
find_value()
{
	local found="^.*[^[:alnum:]_]$1=($2)"

	VALUE=
	[[ " $3" =~ $found ]] && VALUE=${BASH_REMATCH[1]}
}

# field NAME TEXT: the number behind NAME= in what a program of ours printed
field()
{
	! find_value "$1" '[0-9-]*' "$2" || echo "$VALUE"
}

# word NAME TEXT: the word behind NAME= there
word()
{
	! find_value "$1" $'[^ \n]*' "$2" || echo "$VALUE"
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Values that are no window: the module's parameter at load and later, and the
# sysctls.  Each is refused, and the old value stays.  Sysctls of earlier versions are gone.
# Only the machine's own namespace sets the ceilings, which hold in all others, whichever
# user is root there.

. "$(dirname "$0")/lib.sh"
need_commands circuit_sock circuit_nl
need_module

PARAMETER=/sys/module/tcp_circuit/parameters/fcwnd
WINDOW_LIMIT=67108864
FCWND_LIMIT=1048576
SYSCTLS=/proc/sys/net/ipv4/tcp_circuit_
NETNS=4

# here COMMAND...: in the machine's own namespace, where WHERE says so
here()
{
	"$@"
}

WHERE=in_src

write()
{
	printf '%s' "$2" | $WHERE tee "$1" >/dev/null
}

value()
{
	$WHERE cat "$1"
}

# keeps NAME FILE LEAST MOST VALUE...: none of the values is taken, what was
# there stays; the ends of the range are
keeps()
{
	local name=$1 file=$2 least=$3 most=$4 there=$((($3 + $4) / 2)) value

	shift 4
	write "$file" $there
	for value in "$@"; do
		refused "$name refuses '$value'" write "$file" "$value"
		equal "$name after '$value'" $there "$(value "$file")"
	done
	for value in "$most" "$least"; do
		succeeds "$name takes $value" write "$file" "$value"
		equal "$name" "$value" "$(value "$file")"
	done
}

# bounds NAME DEFAULT LEAST MOST [VALUE...]
bounds()
{
	local name=tcp_circuit_$1 file=$SYSCTLS$1 default=$2 least=$3 most=$4

	shift 4
	equal "$name begins with" "$default" "$(value "$file")"
	keeps "$name" "$file" "$least" "$most" $((most + 1)) \
		18446744073709551616 x 5x "$@"
	write "$file" "$default"
}

# loads VALUE: not with this parameter, and with a reason in the log
loads()
{
	echo "limits: $1" >/dev/kmsg
	refused "no module with fcwnd='$1'" modprobe tcp_circuit "fcwnd=$1"
	matches "the log says why" "tcp_circuit: fcwnd=.* is not a window: it must be 0 to" \
		"$(dmesg | sed "1,/limits: $1/d")"
	refused "nothing is left of it" module_loaded
}

# --- what there is, and where -----------------------------------------------------

names()
{
	# shellcheck disable=SC2016 # the shell inside expands it
	$WHERE sh -c 'cd /proc/sys/net/ipv4 && echo tcp_circuit_*'
}

inventory()
{
	local own="tcp_circuit_breaker tcp_circuit_breaker_ms tcp_circuit_breaker_quiet"
	local ceilings="tcp_circuit_ceiling_breaker tcp_circuit_ceiling_circuits"
	local windows="tcp_circuit_fcwnd tcp_circuit_fcwnd_max"

	equal "the namespace's sysctls" "$own $windows" "$(names)"
	equal "the machine's" \
		"$own $ceilings tcp_circuit_ceiling_window $windows" \
		"$(WHERE=here names)"
	for WHERE in in_src here; do
		equal "$WHERE: nothing of ours in /proc/net" "" \
			"$($WHERE ls /proc/net | grep circuit)"
	done
	WHERE=in_src
}

# --- ceilings ---------------------------------------------------------------------

ceiling()
{
	here sysctl -qw "net.ipv4.tcp_circuit_ceiling_$1=$2"
}

# window_is NAME WINDOW SOURCE [OPTION...]: of a connection made now, over the loopback
window_is()
{
	local name=$1 out

	out=$($WHERE timeout 30 circuit_sock send -C circuit -n 20000 "${@:4}" \
		127.0.0.1 $PORT)
	equal "$name: window" "$2" "$(field cwnd "$out")"
	equal "$name: source" "$3" "$(field source "$out")"
}

live_window_is()
{
	[ "$(in_src ss -Hti "dport = :$PORT" |
		sed -n 's/.*\bcwnd:\([0-9]*\).*/\1/p')" = "$1" ]
}

ceiling_of_windows()
{
	in_src sysctl -qw net.ipv4.tcp_circuit_fcwnd=1000
	ceiling window 100
	window_is "a ceiling of 100 over the namespace's 1000" 100 $NETNS
	window_is "... over its root's socket option" 100 1 -w 500
	window_is "below it" 50 1 -w 50
	refused "a circuit of more" \
		in_src circuit_nl new all prefix 0.0.0.0/0 window 101
	matches "says which ceiling" 'tcp_circuit_ceiling_window' \
		"$(in_src circuit_nl new all prefix 0.0.0.0/0 window 101 2>&1)"
	ceiling window 0
	succeeds "a circuit that is there before the ceiling" \
		in_src circuit_nl new all prefix 0.0.0.0/0 window 2000
	ceiling window 100
	window_is "... its sockets have no more" 100 2
	equal "... and it tells what was set" 2000 \
		"$(field window "$(in_src circuit_nl get all)")"
	in_src circuit_nl del all
	echo 3000 >$PARAMETER
	in_src sysctl -qw net.ipv4.tcp_circuit_fcwnd=0
	window_is "... over the module's parameter" 100 5
	echo 0 >$PARAMETER
	in_src sysctl -qw net.ipv4.tcp_circuit_fcwnd=1000
	background src circuit_sock send -C circuit -n 100000000000 \
		127.0.0.1 $PORT >/dev/null
	until_true 10 live_window_is 100
	ceiling window 0
	until_true 10 live_window_is 1000
	succeeds "no ceiling any more: a live connection follows" \
		live_window_is 1000
	ceiling window 200
	until_true 10 live_window_is 200
	succeeds "one again: it follows" live_window_is 200
	ceiling window 0
	kill $!
	end_sockets src
}

# The machine's own windows have none.
no_ceiling_here()
{
	local before

	before=$(sysctl -n net.ipv4.tcp_circuit_fcwnd)
	here circuit_sock serve -C reno $PORT &
	defer "kill $!"
	defer "sysctl -qw net.ipv4.tcp_circuit_fcwnd=$before"
	sysctl -qw net.ipv4.tcp_circuit_fcwnd=1000
	until_true 10 sh -c "ss -Hltn 'sport = :$PORT' | grep -q LISTEN"
	ceiling window 100
	WHERE=here window_is "not in the machine's own namespace" 1000 $NETNS
	ceiling window 0
	sysctl -qw net.ipv4.tcp_circuit_fcwnd="$before"
}

# add N: a circuit of its own in src
add()
{
	in_src circuit_nl new "c$1" prefix "10.9.$1.0/24" window 10
}

ceiling_of_circuits()
{
	ceiling circuits 3
	succeeds "a ceiling of three circuits: one" add 1
	succeeds "two" add 2
	succeeds "three" add 3
	refused "four" add 4
	matches "with a reason" "^ENOSPC: ." "$(add 4 2>&1)"
	succeeds "one of the three is replaced" add 2
	equal "three are there" 3 "$(in_src circuit_nl dump | grep -c name=c)"
	ceiling circuits 1
	equal "a lower ceiling takes none away" 3 \
		"$(in_src circuit_nl dump | grep -c name=c)"
	in_src circuit_nl del c1
	refused "... but lets none in" add 1
	equal "it is told" 1 \
		"$(field circuits_max "$(in_src circuit_nl stats)")"
	succeeds "not in the machine's own namespace" \
		here circuit_nl new ceiling1 prefix 198.51.100.0/25 window 1
	succeeds "... where two are two" \
		here circuit_nl new ceiling2 prefix 198.51.100.128/25 window 1
	here circuit_nl del ceiling1
	here circuit_nl del ceiling2
	ceiling circuits 65536
	succeeds "the ceiling is lifted" add 1
	in_src circuit_nl dump | sed -n 's/^name=\(c[0-9]*\) .*/\1/p' |
		while read -r name; do
			in_src circuit_nl del "$name"
		done
}

trips()
{
	field trips "$(in_src circuit_nl stats)"
}

has_tripped()
{
	[ "$(trips)" -ge "$1" ]
}

# A fifth is lost on the loopback, of single segments.
lossy_loopback()
{
	offloads_off src lo
	in_src tc qdisc change dev lo root netem limit 10000 delay 5ms loss 20%
}

# trips_are NAME TRIPS [SECONDS]: when a connection has sent for as long as it takes; a
# fifth lost may cost it timeouts, one after another
trips_are()
{
	background src circuit_sock send -C circuit -n 100000000000 \
		127.0.0.1 $PORT >/dev/null
	until_true "${3:-60}" has_tripped "$(($2 ? $2 : 1))"
	equal "$1: trips" "$2" "$(trips)"
	kill $!
	end_sockets src
}

ceiling_of_breakers()
{
	lossy_loopback
	in_src sysctl -qw net.ipv4.tcp_circuit_breaker=0 \
		net.ipv4.tcp_circuit_fcwnd=100
	ceiling breaker 0
	trips_are "no ceiling, and src's root has turned its breaker off" 0 20
	ceiling breaker 1
	trips_are "the machine's own holds" 1
	in_src sysctl -qw net.ipv4.tcp_circuit_breaker=1000 \
		net.ipv4.tcp_circuit_breaker_ms=600000 \
		net.ipv4.tcp_circuit_breaker_quiet=1
	in_src circuit_nl reset
	trips_are "whatever else src's root writes" 2
	in_src tc qdisc del dev lo root
}

before=$(<$PARAMETER)
echo 0 >$PARAMETER
defer "echo $before >$PARAMETER"
lone_host
inventory
keeps parameter $PARAMETER 0 $WINDOW_LIMIT $((WINDOW_LIMIT + 1)) -1 \
	4294967296 99999999999999999999 x 5x
bounds fcwnd 0 0 $WINDOW_LIMIT -1 4294967296
bounds fcwnd_max 0 0 $FCWND_LIMIT -1 4294967296
bounds breaker 100 0 1000 -1 4294967297
bounds breaker_ms 2000 500 600000 -1 0 499 4294967796
bounds breaker_quiet 300 0 604800 -1 4294967297
WHERE=here
for name in window circuits breaker; do
	defer "ceiling $name $(value ${SYSCTLS}ceiling_$name)"
done
bounds ceiling_window 0 0 $WINDOW_LIMIT -1 4294967296
bounds ceiling_circuits 65536 0 1048576 -1 4294967297
bounds ceiling_breaker 1 0 1 -1 4294967297
WHERE=in_src
ip -n "$SRC" link set lo mtu 1500
in_src tc qdisc add dev lo root netem limit 10000 delay 5ms
serve src -C reno	# else its end would share the window
ceiling_of_windows
no_ceiling_here
ceiling_of_circuits
ceiling_of_breakers
serve_end

if once_free modprobe -r tcp_circuit; then
	loads $((WINDOW_LIMIT + 1))
	loads -1
	loads many
	succeeds "a good one loads" modprobe tcp_circuit fcwnd=11163
	equal "with its window" 11163 "$(<$PARAMETER)"
else
	skip "load-time values" "the module is in use on this machine"
fi
finish

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# setup_lib.sh: what the tests of ctcp-setup (setup_*.sh) share; source it after
# lib.sh.
#
# Most need no traffic, only a namespace that can be thrown away.  host() makes
# one with a veth whose other end is in it, too:
#
#	+---------------------- $HOST ----------------------+
#	|  eth1 10.78.0.1/24, fd78::1/64 ------------ far1  |
#	+---------------------------------------------------+
#
# Two such namespaces are alike, even in the index of the device, so that what the
# kernel says about them can be compared literally.
#
# States are kept below $TMP, so that circuits of this machine do not interfere.

export CTCP_RUNDIR=$TMP/run
HOST=
need_commands circuit_nl circuit_state

# --- namespaces --------------------------------------------------------------

# in_host COMMAND...: run it in $HOST, or in the machine's own namespace if $HOST is empty
in_host()
{
	if [ -n "$HOST" ]; then
		spawn -n "$HOST" "$@"
	else
		spawn "$@"
	fi
}

# got_host COMMAND...: put its output there into GOT, without a fork of this shell; "state" is
# a command here, too
got_host()
{
	[ "$1" != state ] || set -- circuit_state
	spawn ${HOST:+-n "$HOST"} -v GOT "$@"
}

# veth_lines NAME PEER [WORDS]: lines for ip -batch.  Without automatic addresses, which
# would appear some time after the device is up.
veth_lines()
{
	local name=$1 peer=$2

	shift 2
	cat <<-END
		link add $name $* type veth peer name $peer $*
		link set $name addrgenmode none
		link set $peer addrgenmode none
		link set $name up
		link set $peer up
	END
}

# On a kernel without SO_NETNS_COOKIE (before 5.14) ctcp-setup tells namespaces apart by
# their inode, which a later namespace may get again: then it takes the state of the
# earlier one for that of the new one.  Remove such a state.
forget_namesake()
{
	local inode state

	compgen -G "$CTCP_RUNDIR/i*" >/dev/null || return 0
	inode=$(stat -L -c %i "/run/netns/$HOST")
	state=$CTCP_RUNDIR/i$inode.state
	[ -e "$state" ] || return 0
	echo "# no SO_NETNS_COOKIE here: the state of a namespace with this one's inode" \
		"is removed"
	rm "$state"
}

# host NAME [QUEUES]: make a host, which in_host then uses.  Its device has one queue
# unless QUEUES says more: by default a veth may have one for each processor.
host()
{
	local queues="numtxqueues ${2:-1} numrxqueues ${2:-1}"

	HOST=ctcp-$$-$1
	ip netns add "$HOST"
	defer "ip netns del $HOST"
	forget_namesake
	ip -n "$HOST" -batch - <<-END
		link set lo up
		$(veth_lines eth1 far1 "$queues")
		addr add 10.78.0.1/24 dev eth1
		addr add fd78::1/64 dev eth1 nodad
	END
	in_host sysctl -qw net.ipv4.tcp_no_metrics_save=0
	until_true 10 settled
}

# Wait for IPv6's automatic routes, which the kernel adds some time after a link is up, so that
# the state which a test compares with has them all.
settled()
{
	both_up eth1 far1 && [[ $GOT = *"local fd78::1 dev eth1 "* ]]
}

# both_up NAME PEER: the same without the address, which a link loses when it goes down
both_up()
{
	got_host ip -6 route show table local
	[[ $GOT = *"multicast ff00::/8 dev $1 "* && $GOT = *"multicast ff00::/8 dev $2 "* ]]
}

# host_end: delete the host made last, when its state does not matter any more
host_end()
{
	ip netns del "$HOST"
}

# another_device NAME: add a device like eth1, with its other end in the same namespace
another_device()
{
	veth_lines "$1" "far-$1" "numtxqueues 1 numrxqueues 1" | ip -n "$HOST" -batch -
	until_true 10 both_up "$1" "far-$1"
}

# --- the module --------------------------------------------------------------

# How many references the module has, 0 if it is not loaded
module_count()
{
	cat /sys/module/tcp_circuit/refcnt 2>/dev/null || echo 0
}

# Unload the module, and load it again at the end if it was loaded.  False: it is in use,
# on a developer's own machine, and stays.
without_module()
{
	module_loaded || return 0
	[ -z "${MODULE_STAYS:-}" ] || return 1
	if ! once_free modprobe -r tcp_circuit; then
		MODULE_STAYS=1
		return 1
	fi
	defer "modprobe tcp_circuit"
}

# --- state -------------------------------------------------------------------

# circuit_value NAME FIELD: print a number of this circuit, from the kernel and not from the
# tool; nothing if there is no such circuit
circuit_value()
{
	got_host circuit_nl get "$1" 2>/dev/null
	field "$2" "$GOT"
}

# The configuration of the circuits of $HOST, without what their sockets do
configured()
{
	in_host circuit_state configured
}

# Everything that ctcp-setup may touch, in the namespace $HOST, as text
state()
{
	in_host circuit_state
}

# same DESCRIPTION BEFORE AFTER: two texts of many lines; the difference if not
same()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "expected (<) and got (>):" \
			"$(diff <(echo "$2") <(echo "$3"))"
	fi
}

# unchanged DESCRIPTION BEFORE: state() still prints BEFORE
unchanged()
{
	got_host state
	same "$1" "$2" "$GOT"
}

# --- the command -------------------------------------------------------------

setup()
{
	in_host ctcp-setup "$@"
}

# run COMMAND...: its output in $OUT and $ERR, its exit status in "$RC"
run()
{
	"$@" >"$TMP/out" 2>"$TMP/err"
	RC=$?
	OUT=$(<"$TMP/out")
	ERR=$(<"$TMP/err")
}

# works DESCRIPTION COMMAND...: exit 0, and nothing on stderr
works()
{
	local what=$1

	shift
	run "$@"
	if [ "$RC" = 0 ] && [ -z "$ERR" ]; then
		pass "$what"
	else
		fail "$what" "command: $*" "expected: exit 0, no message" \
			"got:      exit $RC" "$OUT" "$ERR"
	fi
}

# says DESCRIPTION EXIT PATTERN COMMAND...: the command ends with this exit status, one line on
# stderr that the pattern matches, and nothing on stdout
says()
{
	local what=$1 rc=$2 pattern=$3

	shift 3
	run "$@"
	if [ "$RC" = "$rc" ] && [ -z "$OUT" ] && [[ $ERR != *$'\n'* ]] &&
	   has_line "^ctcp-setup: .*$pattern" "$ERR"; then
		pass "$what"
	else
		fail "$what" "command: $*" \
			"expected: exit $rc, one line on stderr, /$pattern/" \
			"got:      exit $RC" "stdout: $OUT" "stderr: $ERR"
	fi
}

# complains DESCRIPTION EXIT PATTERN COMMAND...: says(), and nothing has changed
complains()
{
	local before

	got_host state
	before=$GOT
	says "$@"
	unchanged "$1: nothing changed" "$before"
}

# value NAME: print the value of a sysctl, with single blanks
value()
{
	in_host sysctl -n "$1" | tr -s ' \t' ' '
}

# root_qdisc DEV: print it as tc does, with raw numbers and without counters
root_qdisc()
{
	in_host tc -r qdisc show dev "$1" | grep ' root ' |
		sed 's/ *$//'
}

# Packets that the root qdisc of eth1 has sent since it was made
sent_packets()
{
	in_host tc -s qdisc show dev eth1 |
		sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p' | head -n 1
}

# Packets in the root qdisc of eth1
backlog()
{
	in_host tc -s qdisc show dev eth1 |
		sed -n 's/.*backlog [^ ]* \([0-9]*\)p.*/\1/p' | head -n 1
}

# datagrams N: send N full datagrams out of eth1, to a host that is not there, without a process
# for each, and with a new socket before a send buffer is full
datagrams()
{
	ip -n "$HOST" neigh replace 10.78.0.9 lladdr 02:00:00:00:00:09 dev eth1
	in_host bash -c "for ((i = 0; i < $1; i++)); do
			((i % 50)) || exec 3>/dev/udp/10.78.0.9/9
			printf %01400d 0 >&3
		done"
}

# json_is NAME EXPECTED FILTER: what the jq FILTER finds in $OUT, the command's output
json_is()
{
	spawn -v GOT jq -r "$3" <<<"$OUT"
	equal "--json: $1" "$2" "$GOT"
}

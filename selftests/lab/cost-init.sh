#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The first process of the emulated machine that cost.sh boots.
#
# For each line of /src/lab/runs, a transfer between two namespaces; on the second
# serial port "### RUN NAME", then what the meter has counted
# (cost/cost_meter.c), at last "### DONE".
#
#	NAME ALGORITHM STREAMS flight RATE	the receiver's window is the limit
#	NAME ALGORITHM STREAMS window RATE	the sender's (ip route: cwnd lock)
#	NAME ALGORITHM STREAMS burst RATE N	none; GSO packets of N segments
#	NAME ALGORITHM N connect HERE THERE LENGTHS
#		no transfer: N connections, with so many circuits in their namespace and
#		in another one, by prefixes of so many lengths
#
# RATE, bytes/s: circuit's pace, 0 for none.  Circuit's window and pace are those of an
# object to which all of src's connections belong, of any algorithm.
#
# The meter is not loaded before the first transfer: connections are measured by the clock,
# and most of their cost would be the meter's probes.

export PATH=/src/build/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8

skip=5000 count=20000 flight=512
meter=/sys/module/cost_meter/parameters/measure

set_up()
{
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t devtmpfs devtmpfs /dev 2>/dev/null
	mount -t tmpfs tmpfs /run
	mount -t tmpfs tmpfs /tmp
	exec > /dev/ttyS1 2>&1 < /dev/null
	stty -F /dev/ttyS1 raw -echo
	insmod /src/tcp_circuit.ko
	modprobe tcp_bbr
	sysctl -qw net.ipv4.tcp_circuit_ceiling_circuits=1048576
}

# Buffers have one size for all, so that no algorithm changes them.
network()
{
	for ns in src dst; do
		ip netns add $ns
		ip -n $ns link set lo up
	done
	ip link add eth0 netns src type veth peer name eth0 netns dst
	for ns in src dst; do
		ip netns exec $ns sysctl -qw net.ipv4.tcp_no_metrics_save=1 \
			net.ipv4.tcp_wmem="4194304 4194304 4194304" \
			net.ipv4.tcp_rmem="4194304 4194304 4194304" \
			net.ipv4.tcp_congestion_control=reno
		ip -n $ns link set eth0 up
	done
	ip -n src addr add 10.77.1.1/24 dev eth0
	ip -n dst addr add 10.77.1.2/24 dev eth0
}

# The receiver acknowledges each segment by itself, after 20 ms.
many_acks()
{
	ip -n dst route change 10.77.1.0/24 dev eth0 src 10.77.1.2 quickack 1
	for ns in src dst; do
		ip netns exec $ns ethtool -K eth0 tso off gso off gro off > /dev/null
	done
	ip netns exec dst tc qdisc add dev eth0 root netem delay 20ms limit 100000
}

# The receiver's buffers: twice the window that it offers.
offer()		# SEGMENTS
{
	ip netns exec dst sysctl -qw net.ipv4.tcp_rmem="$(($1 * 2896)) \
		$(($1 * 2896)) $(($1 * 2896))"
}

# The kernel applies "cwnd lock" only to a host in its metrics cache, and adds a host when
# a connection to it ends.
lock_window()	# SEGMENTS
{
	ip netns exec src sysctl -qw net.ipv4.tcp_no_metrics_save=0
	serve
	ip netns exec src iperf3 -c 10.77.1.2 -n 10K > /dev/null
	kill $server
	wait
	ip -n src tcp_metrics flush
	ip -n src route change 10.77.1.0/24 dev eth0 src 10.77.1.1 cwnd lock "$1"
	serve
	ip netns exec src iperf3 -c 10.77.1.2 -n 10K > /dev/null
	kill $server
	wait
	ip netns exec src sysctl -qw net.ipv4.tcp_no_metrics_save=1
}

# One pace for all sizes of bursts.  Circuit makes bursts of 15 us at its rate, and
# SO_MAX_PACING_RATE lowers the pace only, so the device limits the burst.
bursts()	# RATE SEGMENTS
{
	ip -n src link set eth0 gso_max_segs "$2"
	[ "$1" = 0 ] || options="--fq-rate $(($1 * 8))"
}

serve()
{
	ip netns exec dst iperf3 -s > /tmp/server 2>&1 &
	server=$!
	until ip netns exec dst ss -Hltn | grep -q 5201; do sleep 0.05; done
}

measured()
{
	! grep -q '^acks 0 ' /proc/cost
}

# prefixes LENGTHS: the shortest matches the peer's address, so that all lengths are looked up
prefixes()
{
	echo prefix 127.0.0.0/8
	for i in $(seq 2 "$1"); do
		echo prefix 11.0.0.0/$((34 - i))
	done
}

# circuits_are_gone COUNT: the module has this reference count again; each circuit holds it
circuits_are_gone()
{
	[ "$(cat /sys/module/tcp_circuit/refcnt)" = "$1" ]
}

connects()	# ALGORITHM N HERE THERE LENGTHS
{
	held=$(cat /sys/module/tcp_circuit/refcnt)
	for ns in src other; do
		ip netns add $ns
		ip -n $ns link set lo up
	done
	# shellcheck disable=SC2046 # words
	ip netns exec src circuit_nl new cost $(prefixes "$5") window 8192
	ip netns exec src circuit_nl fill $(($3 - 1)) > /dev/null
	ip netns exec other circuit_nl fill "$4" > /dev/null
	echo "circuits $(field circuits src) $(field circuits other)"
	sleep 2		# what the kernel puts off is over
	ip netns exec src circuit_connects -C "$1" -s $(($2 / 10)) "$2" 127.0.0.1 5201
	ip netns del src
	ip netns del other
	until circuits_are_gone "$held"; do sleep 0.25; done
	sleep 2
}

field()		# NAME NAMESPACE
{
	ip netns exec "$2" circuit_nl stats | grep -o "\<$1=[0-9]*"
}

meter()
{
	[ -e /proc/cost ] || insmod /src/selftests/lab/cost/cost_meter.ko
}

transfer()	# ALGORITHM STREAMS WHAT RATE [SEGMENTS]
{
	meter
	network
	options=
	rate=$4
	case $3 in
	flight)	many_acks
		offer $((flight / $2)) ;;
	window)	many_acks
		lock_window $((flight / $2)) ;;
	burst)	bursts "$4" "$5"
		[ "$4" = 0 ] || rate=12500000000 ;;
	esac
	ip netns exec src circuit_nl new cost prefix 10.77.1.0/24 window 8192 \
		rate "$rate"
	serve
	# Without quickack, an ACK is for many segments.
	echo "$skip $count" > $meter
	[ "$3" != burst ] || echo "$((skip / 10)) $((count / 10))" > $meter
	# shellcheck disable=SC2086 # words
	ip netns exec src iperf3 -Z -c 10.77.1.2 -C "$1" -P "$2" -t 600 -i 0 \
		$options > /tmp/client 2>&1 &
	client=$!
	until measured || ! kill -0 $client 2> /dev/null; do sleep 0.25; done
	ip netns exec src ss -Htin "dport = :5201" | grep -o ' cwnd:[0-9]*' |
		sed 's/^/# /'
	cat /proc/cost
	kill $client $server
	wait
	ip netns del src
	ip netns del dst
}

run()		# NAME ALGORITHM STREAMS WHAT ...
{
	echo "### RUN $1"
	if [ "$4" = connect ]; then
		connects "$2" "$3" "$5" "$6" "$7"
	else
		shift
		transfer "$@"
	fi
}

set_up
. /src/lab/settings	# skip, count, flight
while read -r line; do
	# shellcheck disable=SC2086
	run $line
done < /src/lab/runs
dmesg | grep -iE 'cost_meter|WARNING|BUG|rethook' | sed 's/^/# /'
echo "### DONE"
sync
busybox poweroff -f

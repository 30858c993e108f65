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
#
# RATE, bytes/s: that of circuit's pace, 0 for none.  Circuit's window and pace are
# those of an object that all of src's connections belong to, whoever's they are.

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
	insmod /src/selftests/lab/cost/cost_meter.ko
}

# Buffers of one size for all: what an algorithm makes of them is not measured.
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

# An ACK for each segment, 20 ms late.
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

# The kernel heeds the lock only with a host that it keeps metrics of, and keeps
# them when a connection ends.
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

# One pace for all sizes of bursts.  Circuit makes one of 15 us from its rate, and
# SO_MAX_PACING_RATE lowers the pace only: the device limits the burst.
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

run()		# NAME ALGORITHM STREAMS WHAT RATE [SEGMENTS]
{
	echo "### RUN $1"
	network
	options=
	rate=$5
	case $4 in
	flight)	many_acks
		offer $((flight / $3)) ;;
	window)	many_acks
		lock_window $((flight / $3)) ;;
	burst)	bursts "$5" "$6"
		[ "$5" = 0 ] || rate=12500000000 ;;
	esac
	ip netns exec src circuit_nl new cost prefix 10.77.1.0/24 window 8192 \
		rate "$rate"
	serve
	# Without quickack, an ACK is for many segments.
	echo "$skip $count" > $meter
	[ "$4" != burst ] || echo "$((skip / 10)) $((count / 10))" > $meter
	# shellcheck disable=SC2086 # words
	ip netns exec src iperf3 -Z -c 10.77.1.2 -C "$2" -P "$3" -t 600 -i 0 \
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

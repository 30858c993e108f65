#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# From connect() to full rate in at most two round trips, both directions, whether
# the server listens with circuit or takes it after accept().  The packets next to the
# sender show it: the first flight (of a client the 64 KB that a SYN-ACK can promise)
# leaves before anything of it is acknowledged, and the second is a full window.  In
# virtual time, where nothing else delays them, their times are asserted, too.
# A small receiver is never overrun.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/capture_lib.sh"
need_commands tcpdump ethtool circuit_nl circuit_sock
need_module

RTT_MS=600	# long compared with any pause of an emulated machine
FCWND=300	# more than six times what a SYN-ACK can promise
MSS=1448

# captured [-i DEVICE] COMMAND...: run it, and capture its packets at r1 or DEVICE
captured()
{
	local device=r1

	if [ "$1" = -i ]; then
		device=$2
		shift 2
	fi
	capture_begin "$device"
	"$@" >/dev/null 2>&1
	capture_end
}

# flight N FROM: number of data segments in FROM's N-th flight, captured next to FROM.  A
# flight ends when its first byte is acknowledged.
flight()
{
	flights "$2" | awk -v n="$1" '$1 == n { got = $2 } END { print got + 0 }'
}

# began N FROM: when FROM's N-th flight began, ms after the SYN
began()
{
	flights "$2" | awk -v n="$1" '$1 == n { print $3 }'
}

# flights FROM: for each a line of its number, its segments, and its beginning in ms
flights()
{
	packets -tt | awk -v from="$1." '
		!t0 && /Flags \[S\]/ { t0 = $1 }
		index($3, from) != 1 && !/Flags \[S/ &&
		match($0, /ack [0-9]+/) {
			acked = substr($0, RSTART + 4, RLENGTH - 4) + 0
		}
		index($3, from) == 1 && match($0, /seq [0-9]+:[0-9]+/) {
			split(substr($0, RSTART + 4, RLENGTH - 4), seq, ":")
			if (!n || acked > first) {
				first = seq[1] + 0
				at[++n] = ($1 - t0) * 1000
			}
			count[n]++
		}
		END { for (i = 1; i <= n; i++)
			printf("%d %d %d\n", i, count[i], at[i]) }'
}

# client_to_server NAME SERVER_OPTION...: handshake, then 64 KB, then a window in
# each round trip
client_to_server()
{
	local name=$1

	shift
	PORT=$((PORT + 1))
	serve dst "$@"
	captured in_src timeout 20 circuit_sock send -C circuit \
		-n $((5 * FCWND * MSS)) $DST4 $PORT
	at_least "$name: segments in the first flight" 44 "$(flight 1 $SRC4)"
	# on a slow machine the last ACK of the first flight may come by itself
	at_least "$name: segments in the second" $((FCWND * 15 / 16)) \
		"$(flight 2 $SRC4)"
	in_virtual_time || return 0
	within "$name: ms from the SYN to the second flight" $((2 * RTT_MS)) \
		"$(began 2 $SRC4)" 10
}

# server_to_client NAME SERVER_OPTION...: the server's first flight leaves one round
# trip after the SYN, and is a full window
server_to_client()
{
	local name=$1

	shift
	PORT=$((PORT + 1))
	serve dst "$@" -n $((5 * FCWND * MSS))
	captured -i r2 in_src timeout 20 circuit_sock send -C circuit -k 6000 \
		$DST4 $PORT
	at_least "$name: segments in the first flight" $FCWND \
		"$(flight 1 $DST4)"
	in_virtual_time || return 0
	within "$name: ms from the SYN to it" $RTT_MS "$(began 1 $DST4)" 10
}

# Setting the window wakes a writer blocked on the send buffer at once, not one round
# trip later.
woken_at_once()
{
	PORT=$((PORT + 1))
	serve dst -C circuit
	set_in src net.ipv4.tcp_circuit_fcwnd 0
	at_most "room in a full send buffer: ms after the window" $((RTT_MS / 2)) \
		"$(field room_ms "$(in_src timeout 20 circuit_sock send -C circuit \
			-f -W $FCWND $DST4 $PORT)")"
	set_in src net.ipv4.tcp_circuit_fcwnd $FCWND
	serve_end
}

# The sender stays within the window advertised by a receiver that set SO_RCVBUF.
small_receiver()
{
	local overrun

	PORT=$((PORT + 1))
	serve dst -C circuit -B 65536
	captured in_src timeout 20 circuit_sock send -C circuit -n 600000 \
		$DST4 $PORT
	overrun=$(packets -S | awk -v s="$SRC4." '
		/Flags \[S\]/ { match($0, /wscale [0-9]+/) }
		/Flags \[S\.\]/ { if (match($0, /wscale [0-9]+/))
			scale = 2 ^ substr($0, RSTART + 7, RLENGTH - 7) }
		index($3, s) != 1 && match($0, /ack [0-9]+/) {
			ack = substr($0, RSTART + 4, RLENGTH - 4)
			match($0, /win [0-9]+/)
			win = substr($0, RSTART + 4, RLENGTH - 4)
			if ($0 !~ /Flags \[S/) win *= scale
			if (ack + win > edge) edge = ack + win
		}
		index($3, s) == 1 && match($0, /seq [0-9]+:[0-9]+/) {
			split(substr($0, RSTART + 4, RLENGTH - 4), q, ":")
			if (q[2] > edge) n++
			seen++
		}
		END { print seen ? n + 0 : "no data" }')
	equal "small receiver: segments beyond its window" 0 "$overrun"
	equal "small receiver: its overflows" 0 \
		"$(in_dst nstat -asz TcpExtTCPRcvQDrop TcpExtTcpExtBacklogDrop |
			awk '!/^#/ { n += $2 } END { print n + 0 }')"
}

# Taking circuit does not enlarge the receive window of a server that clamped it before.
# The server may go on advertising the 64 KB of its SYN-ACK; from 6.9 on the core drops
# the clamp when it measures segments, up to the buffer's 128 KB; a window opened by
# circuit would be megabytes.  (In longer transfers all kernels drop the clamp: a reader
# gets more once it reads over ten segments in what the core takes for a round trip,
# which may be a slow machine's pause.  Segments that arrive before the server has taken
# circuit are measured, too, so they are sent after that.)
clamped_receiver()
{
	PORT=$((PORT + 1))
	serve dst -A circuit -c 32768
	captured send_when_taken -n 14000
	at_most "window of a server that clamped it to 32768" 131072 "$(largest_window)"
}

# send_when_taken OPTION...: send once the server has taken circuit
send_when_taken()
{
	in_src timeout 30 circuit_sock send -C circuit "$@" -r $DST4 $PORT \
		< <(until_true 20 taken && echo)
}

taken()
{
	in_dst ss -Htin "sport = :$PORT" | grep -q circuit
}

# Without memory left, circuit opens no window further than the core would.
full_memory()
{
	in_virtual_time || return 0
	told_window
	at_least "window of a server with memory left" $((FCWND * MSS)) \
		"$(largest_window)"
	no_memory
	told_window
	at_most "window of a server with none left" 131072 "$(largest_window)"
}

# Nor does it where nothing gives a window.
no_window()
{
	in_virtual_time || return 0
	set_in dst net.ipv4.tcp_circuit_fcwnd 0
	told_window
	at_most "window of a server without a circuit" 131072 "$(largest_window)"
	set_in dst net.ipv4.tcp_circuit_fcwnd $FCWND
}

# A connection of few segments, too short for the core to open the window by itself
told_window()
{
	PORT=$((PORT + 1))
	serve dst -C circuit
	captured in_src timeout 20 circuit_sock send -C circuit -n 20000 \
		$DST4 $PORT
}

# The largest window that DST4 advertised after its SYN-ACK, bytes
largest_window()
{
	packets | awk -v s="$DST4." '
		index($3, s) != 1 { next }
		/Flags \[S\.\]/ { if (match($0, /wscale [0-9]+/))
			scale = 2 ^ substr($0, RSTART + 7, RLENGTH - 7); next }
		match($0, /win [0-9]+/) {
			win = substr($0, RSTART + 4, RLENGTH - 4) * scale
			if (win > most) most = win
		}
		END { print most }'
}

# Both ends have their windows from circuits that match the other's address.
by_circuits()
{
	local host

	for host in src dst; do
		set_in $host net.ipv4.tcp_circuit_fcwnd 0
		"in_$host" circuit_nl new far prefix 10.77.0.0/16 window $FCWND
	done
	client_to_server "by circuits, client to server" -C circuit
	server_to_client "by circuits, server to client" -C circuit
	for host in src dst; do
		"in_$host" circuit_nl del far
		set_in $host net.ipv4.tcp_circuit_fcwnd $FCWND
	done
}

network $((RTT_MS / 2))
single_packets
for host in src dst; do
	set_in $host net.ipv4.tcp_circuit_fcwnd $FCWND
done
# Resolve the neighbours first: ARP would take half a round trip.
in_src timeout 10 bash -c "exec 3<>/dev/tcp/$DST4/$PORT" 2>/dev/null
client_to_server "client to server" -C circuit
client_to_server "server that takes circuit after accept()" -A circuit
# The thesis advises a buffer that is large, and so open, from the start.
before=$(in_dst sysctl -n net.ipv4.tcp_rmem)
set_in dst net.ipv4.tcp_rmem "4096 6291456 6291456"
client_to_server "server with a large tcp_rmem default" -C circuit
set_in dst net.ipv4.tcp_rmem "$before"
server_to_client "server to client" -C circuit
server_to_client "from a server that takes circuit after accept()" -A circuit
set_in dst net.ipv4.tcp_circuit_fcwnd 0
server_to_client "from one that then asks for its window, too" -A circuit -W $FCWND
set_in dst net.ipv4.tcp_circuit_fcwnd $FCWND
by_circuits
woken_at_once
small_receiver
clamped_receiver
no_window
full_memory
finish

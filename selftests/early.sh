#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Early window: a server whose circuit asks for it opens its client's window right
# behind the SYN-ACK, so that a whole window is under way one round trip after the
# SYN; and leaves alone what it must: SYN cookies, Fast Open, MPTCP, signed segments,
# listeners that would not keep the promise, peers of other circuits, SYNs that queue up,
# and the SYN-ACK itself.  That ACK passes
# stateful firewalls on the path and at both ends; lost, late, early or several
# times, it does no harm.  What happens to that ACK, and many clients at once, are in
# virtual time only.

. "$(dirname "$0")/lib.sh"
need_commands ethtool tcpdump nft circuit_nl circuit_sock
need_module

RTT_MS=100
WINDOW=2000
EARLY=1			# TCP_CIRCUIT_F_EARLY_WINDOW
QUEUE=16		# EARLY_QUEUE of circuit/early.c
# circuit_sock's first write, and whole segments of either family after it, so that
# Nagle's algorithm keeps none back; less than the window, and than the 1000 packets
# that a host takes at once (netdev_max_backlog)
BYTES=$((262144 + 1448 * 1428 / 4))

# both_ends SYSCTL VALUE
both_ends()
{
	local host

	for host in src dst; do
		set_in $host "$1" "$2"
	done
}

circuits()
{
	local name=net.ipv4.tcp_allowed_congestion_control before

	before=$(sysctl -n $name)
	sysctl -qw $name="$before circuit"
	defer "sysctl -qw $name='$before'"
	both_ends net.ipv4.tcp_congestion_control circuit
	both_ends net.ipv4.tcp_rmem "4096 131072 67108864"
	both_ends net.ipv4.tcp_wmem "4096 131072 67108864"
	in_src circuit_nl new far prefix 10.77.2.0/24 prefix fd77:2::/64 \
		window $WINDOW
}

# server_circuit FLAGS [PREFIX...]
server_circuit()
{
	local flags=$1 words=

	shift
	[ $# -gt 0 ] || set -- 10.77.1.0/24 fd77:1::/64
	while [ $# -gt 0 ]; do
		words="$words prefix $1"
		shift
	done
	# shellcheck disable=SC2086 # words
	in_dst circuit_nl new far $words window $WINDOW flags "$flags"
}

captures()
{
	grep -q 'listening on' "$TMP/tcpdump"
}

ends_seen()
{
	grep -q 'Flags \[F' "$TMP/packets"
}

# What came of the handshake of the connection that has ended, in its order: "synack"
# and, with the same acknowledgement, "early" where it has nothing in the place of a
# SYN's options, else "ack"
arrived()
{
	awk '/Flags \[F/ { ended[$5] = 1 }
		!/Flags \[(S\.|\.)[EW]*\]/ { next }
		{
			match($0, /ack [0-9]+/)
			ack[++n] = substr($0, RSTART + 4, RLENGTH - 4)
			peer[n] = $5
			kind[n] = "ack"
		}
		/nop,nop,nop,nop/ { kind[n] = "early" }
		/Flags \[S/ { kind[n] = "synack"; syns[$5] = ack[n] }
		END { for (i = 1; i <= n; i++)
			if (ended[peer[i]] && ack[i] == syns[peer[i]]) {
				printf("%s%s", gap, kind[i])
				gap = " "
			} }' "$TMP/packets"
}

# The SYN-ACK of the connection that has ended, IP header and all, in hexadecimal: without
# what differs from one to the next, which is identification, flow label, checksums, the
# client's port, sequence numbers and timestamps
synack_bytes()
{
	awk '/Flags \[/ { wanted = /Flags \[S\./ && !seen++; next }
		wanted && /^[ \t]+0x/ {
			sub(/.*:[ \t]+/, "")
			gsub(/ /, "")
			hex = hex $0
		}
		END { print hex }' "$TMP/packets" | sed -E '
		s/^(4.{7}).{4}(.{8}).{4}(.{16})/\1 \2 \3 /
		s/^(6..).{5}(.{8})(.{64})/\1 \2 \3 /
		s/ ([^ ]{4})[^ ]{20}([^ ]{8})[^ ]{4}([^ ]*)$/ \1 \2 \3/
		s/(0402080a).{16}/\1/'
}

# Of the server's, not even one that waits for the last ACK: neither what is captured
# next nor the next share of the window is to have anything of it.
# Requests may be there; iproute2 6.15 lists them in spite of "exclude syn-recv".
none_connected()
{
	[ -z "$(in_dst ss -Htn state established state fin-wait-1 state fin-wait-2 \
		state close-wait state last-ack state closing "sport = :$PORT")" ]
}

# Resets, segments sent again and segments that were wrong, of src and dst since they
# are there
troubles()
{
	local host

	for host in src dst; do
		"in_$host" nstat -asz TcpOutRsts TcpRetransSegs TcpInErrs
	done | awk '!/^#/ { n += $2 } END { print n + 0 }'
}

# transfer ADDRESS [OPTION...]: how many ms it takes, in MS; what arrived of its
# handshake, in ARRIVED; ACKs right behind the SYN-ACK, in ACKS
transfer()
{
	local address=$1 began

	shift
	background src tcpdump --immediate-mode -l -nnSxi eth1 -B 8192 -s 128 \
		"tcp src port $PORT" >"$TMP/packets" 2>"$TMP/tcpdump"
	TCPDUMP=$!
	until_true 10 captures || fail "tcpdump began"
	began=$(date +%s%N)
	in_src circuit_sock send -n $BYTES "$@" "$address" $PORT >"$TMP/sent" ||
		fail "a transfer to $address" "$(cat "$TMP/sent")"
	MS=$((($(date +%s%N) - began) / 1000000))
	{ until_true 10 ends_seen && until_true 10 none_connected; } ||
		fail "a connection to $address ends"
	kill $TCPDUMP
	wait $TCPDUMP 2>/dev/null
	ARRIVED=$(arrived)
	ACKS=$(grep -ow early <<<"$ARRIVED" | wc -l)
}

# transfer_watched ADDRESS [OPTION...]: and what went wrong, in TROUBLES
transfer_watched()
{
	local before

	before=$(troubles)
	transfer "$@"
	TROUBLES=$(($(troubles) - before))
}

# opened NAME ADDRESS [OPTION...], left_alone NAME ADDRESS [OPTION...]
opened()
{
	transfer "${@:2}"
	equal "$1: ACKs right behind the SYN-ACK" 1 "$ACKS"
	in_virtual_time || return 0
	at_most "$1: ms until all is acknowledged, two round trips" \
		$((2 * RTT_MS + 20)) "$MS"
}

left_alone()
{
	transfer "${@:2}"
	equal "$1: ACKs right behind the SYN-ACK" 0 "$ACKS"
}

warm_up()
{
	in_src circuit_sock send -n 1000 $DST4 $PORT >"$TMP/sent"
	in_src circuit_sock send -n 1000 $DST6 $PORT >"$TMP/sent"
	until_true 10 none_connected
}

without()
{
	server_circuit 0
	left_alone "not asked for, IPv4" $DST4
	! in_virtual_time ||
		at_least "not asked for: ms, a round trip more" \
			$((3 * RTT_MS - 20)) "$MS"
	left_alone "not asked for, IPv6" $DST6
}

with()
{
	server_circuit $EARLY
	opened "IPv4" $DST4
	opened "IPv6" $DST6
	server_circuit $EARLY 10.77.1.0/25 fd77:1::/65
	opened "after a change of the circuit, IPv4" $DST4
}

# same_synack NAME ADDRESS [OPTION...]: with and without
same_synack()
{
	local without

	server_circuit 0
	transfer "${@:2}"
	without=$(synack_bytes)
	matches "$1: a SYN-ACK: $without" \
		"^(45[^ ]* [^ ]*06|6[^ ]* ....06)[^ ]* [^ ]* 1389 a[^ ]* 00000204.{4}0402080a0103030.\$" \
		"$without"
	server_circuit $EARLY
	opened "$1, its SYN-ACK" "${@:2}"
	equal "$1: the SYN-ACK, bytes" "$without" "$(synack_bytes)"
}

others()
{
	server_circuit $EARLY 10.99.0.0/16
	left_alone "a peer of no circuit, IPv4" $DST4
	left_alone "a peer of no circuit, IPv6" $DST6
	server_circuit $EARLY 10.77.1.0/24
	opened "a circuit of IPv4 alone" $DST4
	left_alone "a circuit of IPv4 alone, IPv6" $DST6
	server_circuit $EARLY

	set_in dst net.ipv4.tcp_syncookies 2
	left_alone "SYN cookies" $DST4
	set_in dst net.ipv4.tcp_syncookies 1

	set_in dst net.ipv4.tcp_moderate_rcvbuf 0
	left_alone "no auto-tuning" $DST4
	set_in dst net.ipv4.tcp_moderate_rcvbuf 1

	set_in dst net.ipv4.tcp_congestion_control reno
	left_alone "a listener whose children have another algorithm" $DST4
	set_in dst net.ipv4.tcp_congestion_control circuit

	set_in dst net.ipv4.tcp_window_scaling 0
	left_alone "no window scaling" $DST4
	set_in dst net.ipv4.tcp_window_scaling 1

	# Several copies would be duplicate ACKs to it.
	set_in src net.ipv4.tcp_sack 0
	left_alone "a client without SACK" $DST4
	set_in src net.ipv4.tcp_sack 1

	serve_end
	serve dst -B 262144
	left_alone "a listener with SO_RCVBUF" $DST4
	serve_end
	serve dst -l 1000000
	left_alone "a listener with TCP_WINDOW_CLAMP" $DST4
	serve_end
	serve dst -v

	ip -n "$DST" route replace 10.77.1.0/24 via 10.77.2.254 window 1000000
	left_alone "a route with a window" $DST4
	ip -n "$DST" route replace 10.77.1.0/24 via 10.77.2.254
	opened "without it" $DST4
	signed
	multipath
}

# A signature stands in the SYN-ACK, and would have to be made anew.
signed()
{
	in_dst timeout 1 circuit_sock serve -K ::ffff:$SRC4 $((PORT + 9)) 2>"$TMP/md5"
	if grep -q TCP_MD5SIG "$TMP/md5"; then
		echo "# no TCP_MD5SIG here"
		return
	fi
	serve_end
	serve dst -v -K ::ffff:$SRC4
	left_alone "TCP_MD5SIG" $DST4 -K $DST4
	matches "TCP_MD5SIG: signed" "Flags \[S\.\].*md5" "$(cat "$TMP/packets")"
	serve_end
	serve dst -v
}

# Its SYN-ACK has an option of its own.
multipath()
{
	serve_end
	background dst circuit_sock serve -P $PORT 2>/dev/null
	SERVER=$!
	defer "kill $SERVER"
	if until_true 5 in_src timeout 10 circuit_sock send -P -n 1000 $DST4 $PORT; then
		until_true 10 none_connected
		left_alone "MPTCP" $DST4 -P
		matches "MPTCP: spoken" "Flags \[S\.\].*mptcp" "$(cat "$TMP/packets")"
	else
		echo "# no MPTCP here, or without TCP_INFO, which came with 5.16"
	fi
	serve_end
	serve dst -v
}

beyond_window()
{
	in_dst nstat -asz TcpExtBeyondWindow | awk '!/^#/ { n = $2 } END { print n + 0 }'
}

# kept NAME: nothing arrives that there is no room for, and nothing is sent again.
kept()
{
	local before

	before=$(beyond_window)
	transfer_watched $DST4
	equal "$1: segments sent again" 0 "$TROUBLES"
	equal "$1: segments beyond the window" 0 $(($(beyond_window) - before))
}

# The child's window may be less than the circuit's.
promises()
{
	in_virtual_time || return 0
	server_circuit $EARLY
	serve_end
	serve dst -v -C circuit -w 10
	kept "a listener with a window of its own"
	serve_end
	serve dst -v
	sysctl -qw net.ipv4.tcp_circuit_ceiling_window=100
	kept "a ceiling below the circuit's window"
	sysctl -qw net.ipv4.tcp_circuit_ceiling_window=0
}

# The hook goes with the last circuit that wants it, and comes back with the next.
comes_and_goes()
{
	in_dst circuit_nl del far
	left_alone "circuit removed" $DST4
	server_circuit $EARLY
	opened "made again" $DST4
	server_circuit 0
	left_alone "flag taken back" $DST4
}


# --- stateful firewalls

# firewall src|rtr|dst CHAIN...: let pass what belongs to a connection to $PORT, and
# count what conntrack takes for invalid.  ICMP and ICMPv6 by number: there may be no
# /etc/protocols.
firewall()
{
	local host=$1 chain

	shift
	{
		echo "table inet firewall {"
		for chain in "$@"; do
			cat <<-END
			chain $chain {
				type filter hook $chain priority 0; policy drop
				meta l4proto { 1, 58 } accept
				ct state invalid counter drop
				ct state established counter accept
				ct state new tcp dport $PORT accept
			}
			END
		done
		echo "}"
	} | "in_$host" nft -f - || fail "a firewall in $host"
}

# counted src|rtr|dst invalid|established: packets
counted()
{
	"in_$1" nft list table inet firewall | awk -v state="$2" '
		$0 ~ state { for (i = 1; i < NF; i++)
			if ($i == "packets") { n += $(i + 1); seen = 1 } }
		END { print seen ? n : "no counter" }'
}

# nothing_invalid NAME HOST...
nothing_invalid()
{
	local name=$1 host

	shift
	for host in "$@"; do
		at_least "$name: packets of a connection at $host" 50 \
			"$(counted "$host" established)"
		equal "$name: packets invalid at $host" 0 "$(counted "$host" invalid)"
	done
}

# One more each time, and left in place: nor may an ACK be dropped that is late, early
# or there several times.
firewalls()
{
	firewall rtr forward
	opened "firewall on the path, IPv4" $DST4
	opened "firewall on the path, IPv6" $DST6
	nothing_invalid "on the path" rtr
	firewall src input output
	opened "the client's firewall, IPv4" $DST4
	opened "the client's firewall, IPv6" $DST6
	nothing_invalid "the client's" rtr src
	firewall dst input output
	opened "the server's firewall, IPv4" $DST4
	opened "the server's firewall, IPv6" $DST6
	nothing_invalid "the server's" rtr src dst
}

# --- that ACK lost, late, early, several times

# As long as a SYN-ACK: all later ones have only timestamps.
THAT_ACK="tcp sport $PORT tcp flags & (fin | syn | rst | psh | ack) == ack tcp doff 10"

# choose src|rtr|dst HOOK ACTION: what is done with it there
choose()
{
	"in_$1" nft -f - <<-END || fail "the choice of an ACK in $1"
	table inet choice
	delete table inet choice
	table inet choice {
		chain chosen {
			type filter hook $2 priority 10
			$THAT_ACK $3
		}
	}
	END
}

choose_none()
{
	local host

	for host in rtr dst; do
		"in_$host" nft delete table inet choice 2>/dev/null
	done
}

# bands src|rtr|dst DEVICE "QDISC FOR ALL" "QDISC FOR PRIORITY 1:2"
bands()
{
	"in_$1" tc qdisc del dev "$2" root 2>/dev/null
	"in_$1" tc qdisc add dev "$2" root handle 1: prio bands 2 \
		priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	# shellcheck disable=SC2086 # words
	{
		"in_$1" tc qdisc add dev "$2" parent 1:1 handle 10: $3
		"in_$1" tc qdisc add dev "$2" parent 1:2 handle 20: $4
	} || fail "bands on $1"
}

# ack_takes MS: the chosen one, from rtr to src
ack_takes()
{
	bands rtr r1 "netem limit 1000000 delay $((RTT_MS / 2))ms" \
		"netem delay ${1}ms"
}

# Two from dst, of each two from rtr, or one where the kernel remembers that it is a
# duplicate.  New kernels take a netem that duplicates for the only one of its device.
ack_several()
{
	in_rtr tc qdisc replace dev r2 root netem limit 1000000 delay ${RTT_MS}ms
	bands rtr r1 "pfifo limit 1000000" "netem delay 20ms duplicate 100%"
	bands dst eth1 "pfifo limit 1000000" "netem duplicate 100%"
}

path_again()
{
	in_dst tc qdisc del dev eth1 root 2>/dev/null
	in_rtr tc qdisc del dev r1 root
	delay $((RTT_MS / 2))
}

# harmless NAME ADDRESS ARRIVED MS [OPTION...]: what is to arrive of the handshake, a
# regular expression, and what the transfer may take
harmless()
{
	local name=$1 address=$2 arrives=$3 ms=$4 served

	shift 4
	transfer_watched "$address" "$@"
	served=$(tail -n 1 "$TMP/serve.out")
	matches "$name: handshake: $ARRIVED" "^$arrives\$" "$ARRIVED"
	equal "$name: bytes" "$BYTES" "$(field bytes "$served")"
	equal "$name: of these wrong" 0 "$(field wrong "$served")"
	in_virtual_time || return 0
	equal "$name: resets, segments sent again or wrong" 0 "$TROUBLES"
	at_most "$name: ms" $((ms + 20)) "$MS"
}

# The first SYN-ACK is lost, and what it had behind it comes to a client that waits for
# it: what is promised with the next one is no more than there is room for.
sent_again()
{
	local before

	in_rtr nft -f - <<-END || fail "the choice of a SYN-ACK"
	table inet choice {
		chain chosen {
			type filter hook forward priority 10
			tcp sport $PORT tcp flags & (syn | ack) == syn | ack \
				limit rate 1/day burst 1 packets counter drop
		}
	}
	END
	before=$(beyond_window)
	transfer $DST4
	equal "a SYN-ACK is lost: how many" 1 "$(in_rtr nft list table inet choice |
		sed -n 's/.*counter packets \([0-9]*\).*/\1/p')"
	choose_none
	matches "a SYN-ACK is lost: handshake: $ARRIVED" "^early synack( early| synack)*\$" \
		"$ARRIVED"
	equal "a SYN-ACK is lost: bytes" "$BYTES" "$(field bytes "$(tail -n 1 "$TMP/serve.out")")"
	equal "a SYN-ACK is lost: of these wrong" 0 \
		"$(field wrong "$(tail -n 1 "$TMP/serve.out")")"
	equal "a SYN-ACK is lost: segments beyond the window" 0 \
		$(($(beyond_window) - before))
	in_virtual_time || return 0
	at_most "a SYN-ACK is lost: ms, a second more than without the early window" \
		$((1000 + 3 * RTT_MS + 20)) "$MS"
}

# No longer than without it, three round trips; two, and what it is late, where it is
# of use
harms()
{
	local name=$1 address=$2 half=$((RTT_MS / 2))

	choose rtr forward drop
	harmless "lost, $name" "$address" "synack" $((3 * RTT_MS))

	choose rtr forward "meta priority set 1:2"
	ack_takes $((half + 60))
	harmless "behind the first data, $name" "$address" "synack early" \
		$((2 * RTT_MS + 60))
	choose rtr forward "meta priority set 1:2"
	ack_takes $((half + 150))
	harmless "behind their ACKs, $name" "$address" "synack early" \
		$((3 * RTT_MS))
	choose rtr forward "meta priority set 1:2"
	ack_takes $((half - 40))
	harmless "before the SYN-ACK, $name" "$address" "early synack" \
		$((3 * RTT_MS))

	ack_several
	choose dst output "meta priority set 1:2"
	choose rtr forward "meta priority set 1:2"
	harmless "several times, $name" "$address" \
		"synack( early){3,4}" $((2 * RTT_MS + 20))
	path_again
	choose_none
}

on_the_path()
{
	in_virtual_time || return 0
	harms IPv4 $DST4
	harms IPv6 $DST6
	nothing_invalid "lost, late, early, several times" rtr src dst
}

# Clients that are no circuit's, each with its own growth, which the server's window lets
# be: all is acknowledged seven round trips after the SYN, as slow start from ten segments
# has sent 630 after six.
unmodified_clients()
{
	local address algorithm

	for address in $DST4 $DST6; do
		for algorithm in cubic reno; do
			harmless "a client of $algorithm, $address" "$address" \
				"synack early" $((7 * RTT_MS)) -C $algorithm
		done
	done
}

firewalls_end()
{
	local host

	for host in src rtr dst; do
		"in_$host" nft delete table inet firewall
	done
}

# --- Fast Open, ECN

fast_opened()
{
	in_src nstat -asz TcpExtTCPFastOpenActive | awk '/FastOpen/ { print $2 }'
}

# The server's socket is there with the SYN, and its own ACK opens the window.
fast_open()
{
	local address arrives before ms

	both_ends net.ipv4.tcp_fastopen 3
	for address in $DST4 $DST6; do
		serve_end
		serve dst -v -F
		left_alone "Fast Open: $address is asked for a cookie" "$address" -F
		server_circuit 0
		transfer "$address" -F
		arrives=$ARRIVED ms=$MS
		# a slow machine acknowledges it once more now and then, and of its
		# two processors one may overtake the other
		[ "$LAB" = uml ] || arrives="((ack )+synack( ack)*|synack( ack)+)"
		server_circuit $EARLY
		before=$(fast_opened)
		harmless "Fast Open: data in the SYN to $address" "$address" \
			"$arrives" "$ms" -F
		equal "Fast Open: data in the SYN to $address: taken" 1 \
			$(($(fast_opened) - before))
		equal "Fast Open: data in the SYN to $address: ACKs of ours" 0 "$ACKS"
		data_refused "$address"
	done
	both_ends net.ipv4.tcp_fastopen 1
}

# data_refused ADDRESS: by a listener without Fast Open; the client sends them again,
# with and without the early window.
data_refused()
{
	local ms troubles

	serve_end
	serve dst -v
	server_circuit 0
	transfer_watched "$1" -F
	ms=$MS troubles=$TROUBLES
	server_circuit $EARLY
	transfer_watched "$1" -F
	equal "Fast Open: refused by $1: handshake" "synack early" "$ARRIVED"
	in_virtual_time || return 0
	equal "Fast Open: refused by $1: segments sent again" "$troubles" "$TROUBLES"
	at_most "Fast Open: refused by $1: ms" "$ms" "$MS"
}

# On either side an ACK would count marks: by ECE, or by all three bits of Accurate
# ECN, which the newest kernels have.
ecn()
{
	both_ends net.ipv4.tcp_ecn 1
	same_synack "ECN" $DST4
	equal "ECN: marks" 0 "$(field delivered_ce "$(cat "$TMP/sent")")"
	if [ -e /proc/sys/net/ipv4/tcp_ecn_option ]; then
		both_ends net.ipv4.tcp_ecn 3
		left_alone "Accurate ECN" $DST4
		set_in dst net.ipv4.tcp_ecn_option 0
		left_alone "Accurate ECN without its option" $DST4
		set_in dst net.ipv4.tcp_ecn_option 2
	fi
	both_ends net.ipv4.tcp_ecn 2
}

# --- SYNs that queue up

waiting()
{
	[ "$(in_dst ss -Hn state syn-recv "sport = :$PORT" | wc -l)" = "$1" ]
}

# No SYN-ACK of theirs was sent only once.
none_young()
{
	! in_dst ss -Hno state syn-recv "sport = :$PORT" | grep -q ',0)'
}

# client_that_hangs N: the N-th whose ACKs do not leave; it lives until $HANG closes
client_that_hangs()
{
	background src circuit_sock send -C reno -m 7 -r $DST4 $PORT \
		<"$TMP/hang" {HANG}>&- >/dev/null 2>&1
	until_true 10 waiting "$1" || fail "requests that wait: $1"
}

no_clients()
{
	[ -z "$(in_src ss -Htn state connected exclude time-wait \
		"dport = :$PORT")" ]
}

syns_queue_up()
{
	local i

	# five retries are over after a minute, which a slow machine needs for this
	set_in dst net.ipv4.tcp_synack_retries 12
	mkfifo "$TMP/hang"
	exec {HANG}<>"$TMP/hang"
	in_src nft -f - <<-END
	table inet hang {
		chain output {
			type filter hook output priority 0
			meta mark 7 tcp flags & syn != syn drop
		}
	}
	END
	for ((i = 1; i < QUEUE; i++)); do
		client_that_hangs $i
	done
	until_true 10 none_young || fail "SYN-ACKs sent again"
	opened "$QUEUE SYNs wait, with its own, IPv4" $DST4
	opened "$QUEUE SYNs wait, with its own, IPv6" $DST6
	client_that_hangs $QUEUE
	until_true 10 none_young || fail "SYN-ACKs sent again"
	left_alone "$((QUEUE + 1)) SYNs wait, IPv4" $DST4
	left_alone "$((QUEUE + 1)) SYNs wait, IPv6" $DST6
	waiting $QUEUE || fail "requests that wait: still $QUEUE"
	serve_end
	in_src nft delete table inet hang
	exec {HANG}>&-
	until_true 60 no_clients || fail "clients that hung are gone"
	set_in dst net.ipv4.tcp_synack_retries 5
	serve dst -v
	opened "none waits" $DST4
}

# Clients that come at once, each with more than 64 KB to send and a window of its
# own, to a server that reads slowly: none is promised what others will have.  All that
# may be granted is far from what the machine has for TCP.
at_once()
{
	local clients=() before

	in_virtual_time || return 0
	WINDOW=$((WINDOW / 4)) server_circuit $EARLY
	serve_end
	serve dst -p 300
	before=$(troubles)
	for ((i = 0; i < QUEUE; i++)); do
		background src circuit_sock send -w 150 -n 100000 $DST4 $PORT \
			>/dev/null
		clients+=($!)
	done
	wait "${clients[@]}"
	equal "$QUEUE clients at once: resets, segments sent again or wrong" 0 \
		$(($(troubles) - before))
	until_true 10 none_connected || fail "its readers end"
	serve_end
	serve dst -v
	server_circuit $EARLY
}

# --- how soon the circuit is full

# until_full FRAMES SYN: ms from the SYN until the first slot of 5 ms from which on, for a
# round trip, each has 95 % of the line; and until the first round trip with 95 % of it
until_full()
{
	awk -v syn="$2" -v rtt=$RTT_MS -v rate=$LINE '
		{
			t[++n] = ($1 - syn) * 1000
			match($0, /length [0-9]+:/)
			size[n] = substr($0, RSTART + 7, RLENGTH - 8)
			slot[int(t[n] / 5)] += size[n]
			held += size[n]
			while (t[first + 1] <= t[n] - rtt)
				held -= size[++first]
			if (!rolled && held >= 0.95 * rate * rtt)
				rolled = t[n] - rtt
		}
		END {
			last = int(t[n] / 5)
			for (i = 0; i <= last && run < rtt / 5; i++)
				run = slot[i] >= 0.95 * rate * 5 ? run + 1 : 0
			if (run < rtt / 5 || !rolled)
				print "never never"
			else
				printf("%d %d\n", (i - run) * 5, rolled)
		}' "$1"
}

# first_full ADDRESS: these two, of a transfer of three round trips, in SLOT and ROLLING
first_full()
{
	local dumps

	background src tcpdump --immediate-mode -c 1 -l -tt -nni eth1 \
		"tcp dst port $PORT" >"$TMP/syn" 2>"$TMP/tcpdump"
	dumps=$!
	until_true 10 captures || fail "tcpdump began"
	background dst tcpdump -U -B 65536 -s 96 -w "$TMP/frames" -i eth1 \
		"tcp dst port $PORT and greater 1000" 2>"$TMP/tcpdump"
	dumps="$dumps $!"
	until_true 10 captures || fail "tcpdump began"
	in_src circuit_sock send -n $((3 * RTT_MS * LINE)) "$1" $PORT >"$TMP/sent"
	until_true 10 none_connected
	# shellcheck disable=SC2086 # words
	kill $dumps 2>/dev/null
	# shellcheck disable=SC2086 # words
	wait $dumps
	tcpdump -tt -nne -r "$TMP/frames" >"$TMP/lines" 2>/dev/null
	read -r SLOT ROLLING \
		<<<"$(until_full "$TMP/lines" "$(awk '{ print $1 }' "$TMP/syn")")"
}

LINE=125000		# bytes in a ms: 1 Gbit/s

full_rate()
{
	local address window=$((13 * RTT_MS * LINE / 10 / 1514 + 1))

	in_virtual_time || return 0
	WINDOW=$window
	in_src circuit_nl new far prefix 10.77.2.0/24 prefix fd77:2::/64 \
		window $WINDOW
	in_src tc qdisc add dev eth1 root tbf rate 1gbit burst 100kb \
		limit $((WINDOW * 1514))
	for address in $DST4 $DST6; do
		server_circuit 0
		first_full "$address"
		at_least "full rate at $address without it: ms from the SYN" \
			$((24 * RTT_MS / 10)) "$SLOT"
		at_least "full rate at $address without it: first round trip of it" \
			$((23 * RTT_MS / 10)) "$ROLLING"
		server_circuit $EARLY
		first_full "$address"
		at_most "full rate at $address: ms from the SYN" \
			$((3 * RTT_MS / 2)) "$SLOT"
		at_most "full rate at $address: first round trip of it" \
			$((3 * RTT_MS / 2)) "$ROLLING"
	done
}

network $((RTT_MS / 2))
single_packets
circuits
serve dst -v
warm_up
without
with
same_synack "IPv4" $DST4
same_synack "IPv6" $DST6
sent_again
firewalls
unmodified_clients
on_the_path
firewalls_end
fast_open
ecn
syns_queue_up
at_once
others
promises
comes_and_goes
server_circuit $EARLY
full_rate
finish

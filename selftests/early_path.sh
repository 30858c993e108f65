#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: uml qemu root
#
# Early window: the ACK that opens it passes stateful firewalls on the path and at both ends;
# lost, late, early or several times, it does no harm.  What happens to that ACK is in
# virtual time only.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/early_lib.sh"

# As long as a SYN-ACK: all later ones have only timestamps.
THAT_ACK="tcp sport $PORT tcp flags & (fin | syn | rst | psh | ack) == ack tcp doff 10"

# --- stateful firewalls ------------------------------------------------------

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

# --- that ACK lost, late, early, several times -------------------------------

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

early_network
server_circuit $EARLY
cases sent_again firewalls unmodified_clients on_the_path
finish

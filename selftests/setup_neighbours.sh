#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# labs: qemu
# suites: bookworm
#
# ctcp-setup watch beside the network managers themselves, which setup_watch.sh only imitates:
# systemd-networkd and NetworkManager remove our routes, and a qdisc, when an operator uses
# them in everyday ways.  First show, without watch, that they do remove them.
#
# Each runs in the namespace of the test, with a /run, a message bus and records of udev of
# its own, so that it knows of no other device.  One of the root file systems of the emulated
# machines has both (lab/suite.sh), so that the host need not have them.
#
# A route has to be back within a second, or five on an emulated machine: from the kernel's
# last message about what it depends on (its own removal, or the return of the address) until
# the kernel has it again.

. "$(dirname "$0")/lib.sh"
. "$SELFTESTS/setup_lib.sh"
need_commands ctcp-setup tc jq dbus-daemon networkctl NetworkManager nmcli
NETWORKD=/lib/systemd/systemd-networkd
[ -x $NETWORKD ] || skip_all "$NETWORKD is not installed"
need_module

IN_TIME=1000	# ms
WAIT=30		# s for a daemon to do what it was told
if slow_kernel; then IN_TIME=5000 WAIT=120; fi

LHC="add lhc --to 10.81.0.0/16 --via 10.78.0.254 --rate 1gbit --rtt 10ms --shaper htb"
SIX="add six --to fd81::/32 --via fd78::254 --rate 1gbit --rtt 10ms"

# --- the namespace of a daemon -----------------------------------------------

# daemons_host NAME: make a host whose addresses the network manager sets
daemons_host()
{
	host "$1"
	in_host ip addr flush dev eth1
	own_run
}

# own COMMAND...: in $HOST, with the /run of its daemons
own()
{
	nsenter --target "$OWN" --mount --net env LC_ALL=C "$@"
}

# networkd and NetworkManager wait until udev has recorded that it is done with a device.
own_run()
{
	command ip netns exec "$HOST" unshare --mount --propagation private sh -e -c '
		mount -t tmpfs run /run
		mkdir -p /run/dbus /run/udev/data /run/systemd/network /run/systemd/netif \
			/run/systemd/networkd.conf.d /run/nm/system-connections /run/nm/conf.d
		chown systemd-network: /run/systemd/netif
		# so that it remembers nothing, and its requests start no other service
		mount -t tmpfs nm /var/lib/NetworkManager
		mount -t tmpfs services /usr/share/dbus-1/system-services
		for index in /sys/class/net/*/ifindex; do
			echo I:1 >"/run/udev/data/n$(cat "$index")"
		done
		touch /run/ready
		exec sleep 100000' &
	OWN=$!
	defer "kill $OWN"
	until_true 10 own test -e /run/ready
	own dbus-daemon --system --nofork --nopidfile >"$TMP/dbus" 2>&1 &
	BUS=$!
	defer "kill $BUS"
	until_true "$WAIT" own test -S /run/dbus/system_bus_socket ||
		fail "a message bus" "$(<"$TMP/dbus")"
}

# into FILE [MODE]: write the input to FILE in the /run of the daemons
into()
{
	own sh -c "umask 077 && cat >'$1' && chmod '${2:-644}' '$1'"
}

own_end()
{
	kill "$BUS" "$OWN"
	wait "$BUS" "$OWN"
}

# --- what the kernel reports -----------------------------------------------------

# listen: record each change of an address or a route in a line with its time
listen()
{
	: >"$TMP/heard"
	spawn -e -n "$HOST" ip -ts monitor address route >>"$TMP/heard" &
	LISTENER=$!
	defer "kill $LISTENER"
}

# heard PATTERN
heard()
{
	grep -qE -- "$1" "$TMP/heard"
}

# ms until the route was back, counted as the head of this file says
restored_ms()
{
	awk '
	function ms(word)
	{
		gsub(/[][]|.*T/, "", word)
		split(word, at, ":")
		return (at[1] * 3600 + at[2] * 60 + at[3]) * 1000
	}
	/inet 10\.78\.0\.1\/24/ || /Deleted 10\.81\.0\.0\/16/ { from = ms($1) }
	!/Deleted/ && /10\.81\.0\.0\/16 .*congctl circuit/ { to = ms($1); exit }
	END { if (from && to) printf "%d\n", (to - from + 86400000) % 86400000 }' "$TMP/heard"
}

has_route()
{
	in_host ip route show 10.81.0.0/16 proto 199 |
		grep -q 'via 10.78.0.254 dev eth1 .*congctl circuit'
}

no_route()
{
	[ -z "$(in_host ip route show 10.81.0.0/16)" ]
}

no_address()
{
	[ -z "$(in_host ip -4 -o addr show dev eth1)" ]
}

# The whole state of the host: what we set up, and what the manager did
everything()
{
	state
	in_host tc -r class show dev eth1
	in_host ip -o addr show dev eth1 | sed 's/ tentative//; s/ valid_lft.*//'
}

is_everything()
{
	[ "$(everything)" = "$1" ]
}

# as_before NAME BEFORE: the host is as it was, once the daemon is done, too
as_before()
{
	for _ in {1..20}; do
		is_everything "$2" && break
		sleep 1
	done
	same "$1: ours is as set up, theirs as they have it" "$2" "$(everything)"
	is_everything "$2" || sed 's/^/# watch: /' "$TMP/watch"
	works "$1: verify" setup verify
}

# --- watch ---------------------------------------------------------------------

said()
{
	grep -qE -- "$1" "$TMP/watch"
}

# lines PATTERN: how many lines of watch match
lines()
{
	grep -cE -- "$1" "$TMP/watch"
}

watch()
{
	: >"$TMP/watch"
	spawn -e -n "$HOST" ctcp-setup watch >>"$TMP/watch" 2>&1 &
	WATCH=$!
	defer "kill $WATCH"
	until_true "$WAIT" said watching || fail "watch begins" "$(<"$TMP/watch")"
}

watch_ends()
{
	kill -TERM "$WATCH"
	wait "$WATCH"
	equal "$1: watch ends, exit status" 0 $?
}

# settled: wait until watch has handled what it has heard
settled()
{
	sleep 3
}

# circuits: set two of them up
circuits()
{
	# shellcheck disable=SC2086 # their words
	setup $LHC --quiet eth1 && setup $SIX --quiet eth1
}

# again NAME BEFORE: set all up by commands, as it was; watch then counts from zero
again()
{
	works "$1: set up by hand" setup change lhc --quiet
	works "$1: set up by hand, IPv6" setup change six --quiet
	as_before "$1, set up by hand" "$2"
	settled
}

# alone NAME COMMAND...: without watch, the route is gone for good
alone()
{
	local what=$1

	shift
	"$@" >"$TMP/act" 2>&1 || fail "$what" "$(<"$TMP/act")"
	until_true "$WAIT" no_route
	succeeds "$what: it takes our route" no_route
}

# restored NAME BEFORE COMMAND...: watch restores what the command removed
restored()
{
	local what=$1 before=$2

	shift 2
	: >"$TMP/watch"
	: >"$TMP/heard"
	"$@" >"$TMP/act" 2>&1 || fail "$what" "$(<"$TMP/act")"
	until_true "$WAIT" said ' restored lhc route 10.81.0.0/16'
	succeeds "$what: it took our route" said ' restored lhc route 10.81.0.0/16: absent -> '
	as_before "$what" "$before"
	at_most "$what: ms until the route was there again" $IN_TIME "$(restored_ms)"
}

# judged: watch has restored the route or left it as it is
judged()
{
	said ' (left|restored) lhc route'
}

# left NAME COMMAND...: watch leaves the route at the third time within a minute.  On a slow
# machine the first time may be too long ago: repeat the command up to three times.
left()
{
	local what=$1 n

	shift
	for n in 1 2 3; do
		: >"$TMP/watch"
		"$@" >"$TMP/act" 2>&1 || fail "$what" "$(<"$TMP/act")"
		until_true "$WAIT" judged
		if said ' left lhc route'; then break; fi
		settled
	done
	settled
	equal "$what: said once" 1 "$(lines ' left lhc route 10.81.0.0/16: absent -> .*3 times')"
	equal "$what: not set again" "0 " \
		"$(lines ' restored lhc route') $(in_host ip route show 10.81.0.0/16)"
}

# flaps NAME BEFORE: the far end goes down and comes back; a manager removes its addresses
# meanwhile.  It does not undo what watch sets, so that watch does not give up at the third
# time.
flaps()
{
	local n

	for n in 1 2 3; do
		: >"$TMP/watch"
		: >"$TMP/heard"
		in_host ip link set far1 down
		until_true "$WAIT" no_address
		succeeds "$1, $n: the address went" no_address
		in_host ip link set far1 up
		until_true "$WAIT" has_route
		as_before "$1, $n" "$2"
		at_most "$1, $n: ms until the route was there again" $IN_TIME "$(restored_ms)"
	done
	settled
}

# kept NAME: nothing of ours was removed, and watch says nothing
kept()
{
	settled
	succeeds "$1: our route is there" has_route
	same "$1: no word of watch" "" "$(<"$TMP/watch")"
	equal "$1: nothing was taken" 0 "$(grep -c 'Deleted.*[ /]10\.\(81\|78\.0\.1\)' "$TMP/heard")"
}

# replaced NAME COMMAND...: a qdisc of the manager replaces ours, and watch says that it stays
replaced()
{
	local what=$1 asked

	shift
	: >"$TMP/watch"
	"$@" >"$TMP/act" 2>&1 || fail "$what" "$(<"$TMP/act")"
	until_true "$WAIT" said ' differs .* qdisc eth1'
	settled
	equal "$what: said once" 1 \
		"$(lines ' differs .* qdisc eth1: foreign pfifo .*somebody else')"
	# In the moment of the change the kernel may refuse what belongs below ours, but only then.
	asked=$(lines refused)
	ip -n "$HOST" link set eth1 alias theirs
	ip -n "$HOST" link set eth1 alias ''
	settled
	equal "$what: no more is asked of the kernel below it" "$asked" "$(lines refused)"
	matches "$what: it stays" '^qdisc pfifo ' "$(root_qdisc eth1)"
}

# --- systemd-networkd ------------------------------------------------------------

# network_file [LINE...]: lines to add to the usual ones
network_file()
{
	{
		cat <<-END
			[Match]
			Name=eth1
			[Network]
			LinkLocalAddressing=no
			IPv6AcceptRA=no
			Address=10.78.0.1/24
			Address=fd78::1/64
			[Route]
			Destination=10.90.0.0/16
			Gateway=10.78.0.254
		END
		printf '%s\n' "$@"
	} | into /run/systemd/network/eth1.network
}

networkd_begin()
{
	own $NETWORKD >>"$TMP/networkd" 2>&1 &
	MANAGER=$!
	defer "kill $MANAGER"
}

manager_end()
{
	kill "$MANAGER"
	wait "$MANAGER"
}

networkd_restarts()
{
	manager_end
	networkd_begin
}

networkd_is_done()
{
	own networkctl list eth1 | grep -q 'eth1 .*configured' && in_host ip route show 10.90.0.0/16 |
		grep -q static
}

# networkd is on the bus only some time after its start.
networkd_told()
{
	until_true "$WAIT" own networkctl status eth1
	own networkctl "$@"
}

with_another_route()
{
	network_file "[Route]" "Destination=10.92.0.0/16" "Gateway=10.78.0.254"
	networkd_told reload
}

networkd()
{
	local before

	daemons_host networkd
	network_file
	networkd_begin
	until_true "$WAIT" networkd_is_done ||
		fail "systemd-networkd configures eth1" "$(<"$TMP/networkd")"
	circuits
	before=$(everything)
	alone "networkd restarts, alone" networkd_restarts
	again "networkd restarts, alone" "$before"
	alone "networkctl reconfigure, alone" networkd_told reconfigure eth1
	again "networkctl reconfigure, alone" "$before"
	listen
	watch
	restored "networkd restarts" "$before" networkd_restarts
	restored "networkctl reconfigure" "$before" networkd_told reconfigure eth1
	left "networkd restarts, the third time in a minute" networkd_restarts
	again "networkd restarts, the third time" "$before"
	flaps "networkd, no carrier" "$before"
	without_foreign
	without_carrier_loss "$before"
	with_another_route >"$TMP/act" 2>&1 || fail "networkctl reload" "$(<"$TMP/act")"
	until_true "$WAIT" has_other
	succeeds "networkctl reload: another route of theirs" has_other
	settled
	setup change lhc --quiet
	setup change six --quiet
	works "networkctl reload: verify" until_true 10 setup verify
	watch_ends "networkd"
	works "networkd: undo" setup undo --quiet --all
	manager_end
	kill "$LISTENER"
	own_end
	host_end
}

# Nor does it remove anything when a carrier is lost, where it is told to ignore that.
without_carrier_loss()
{
	network_file "[Network]" "IgnoreCarrierLoss=yes"
	networkd_told reload >"$TMP/act" 2>&1 || fail "networkctl reload" "$(<"$TMP/act")"
	settled
	until_true "$WAIT" networkd_is_done
	again "IgnoreCarrierLoss=yes" "$1"
	: >"$TMP/watch"
	: >"$TMP/heard"
	in_host ip link set far1 down
	settled
	in_host ip link set far1 up
	kept "no carrier, with IgnoreCarrierLoss=yes"
}

has_other()
{
	in_host ip route show 10.92.0.0/16 | grep -q static
}

# Two settings of the manual: ManageForeignRoutes=no keeps our routes, but networkd removes and
# restores the address at its start, and the IPv4 routes go with it; KeepConfiguration=static
# keeps the address.
without_foreign()
{
	printf '[Network]\nManageForeignRoutes=no\n' | into /run/systemd/networkd.conf.d/ours.conf
	network_file "[Network]" "KeepConfiguration=static"
	: >"$TMP/watch"
	: >"$TMP/heard"
	networkd_restarts
	until_true "$WAIT" own networkctl status eth1
	kept "networkd restarts with ManageForeignRoutes=no and KeepConfiguration=static"
	own rm /run/systemd/networkd.conf.d/ours.conf
}

# --- NetworkManager --------------------------------------------------------------

# NetworkManager manages eth1 only, and neither name service nor host name.
nm_files()
{
	into /run/nm/nm.conf <<-END
		[main]
		plugins=keyfile
		auth-polkit=false
		dns=none
		rc-manager=unmanaged
		systemd-resolved=false
		hostname-mode=none
		dhcp=internal
		no-auto-default=*
		${1-}
		[keyfile]
		path=/run/nm/system-connections
		unmanaged-devices=*,except:interface-name:eth1
		[connectivity]
		enabled=false
	END
	into /run/nm/system-connections/eth1.nmconnection 600 <<-END
		[connection]
		id=eth1
		uuid=7c0c2f10-0000-4000-8000-000000000001
		type=ethernet
		interface-name=eth1
		[ipv4]
		method=manual
		address1=10.78.0.1/24
		route1=10.91.0.0/16,10.78.0.254
		never-default=true
		[ipv6]
		method=manual
		address1=fd78::1/64
		never-default=true
	END
}

nm_begin()
{
	own NetworkManager --no-daemon --config /run/nm/nm.conf --config-dir /run/nm/conf.d \
		--system-config-dir /run/nm/conf.d --state-file /run/nm/state \
		--intern-config /run/nm/intern.conf >>"$TMP/nm" 2>&1 &
	MANAGER=$!
	defer "kill $MANAGER"
	until_true "$WAIT" nm_is_done || fail "NetworkManager is there" "$(tail -n 30 "$TMP/nm")"
}

nm_is_done()
{
	own nmcli -t -f DEVICE,STATE device | grep -q '^eth1:connected'
}

nm_has_route()
{
	in_host ip route show 10.91.0.0/16 | grep -q static
}

nm_up()
{
	own nmcli connection up eth1
}

# With the first "device reapply" NetworkManager takes over a device that it did not
# configure: it removes the address and adds it again.
nm_host()
{
	daemons_host "$1"
	nm_files "${2-}"
	in_host ip addr add 10.78.0.1/24 broadcast 10.78.0.255 dev eth1
	in_host ip addr add fd78::1/64 dev eth1
	nm_begin
}

nm_host_end()
{
	works "$1: undo" setup undo --quiet --all
	manager_end
	own_end
	host_end
}

nm_alone()
{
	nm_host nm-alone
	circuits
	alone "nmcli device reapply, alone" own nmcli device reapply eth1
	works "nmcli device reapply, alone: set up by hand" setup change lhc --quiet
	alone "nmcli connection up, alone" nm_up
	nm_host_end "NetworkManager, alone"
}

nm_with_a_qdisc()
{
	own nmcli connection modify eth1 tc.qdiscs "root handle 7: pfifo" && nm_up
}

# NetworkManager changes address and metric by this, so only what is ours is compared.
nm_reapply()
{
	nm_host nm-reapply
	circuits
	listen
	watch
	: >"$TMP/watch"
	own nmcli device reapply eth1 >"$TMP/act" 2>&1 || fail "nmcli device reapply" "$(<"$TMP/act")"
	until_true "$WAIT" said ' restored lhc route'
	succeeds "nmcli device reapply: it took our route" \
		said ' restored lhc route 10.81.0.0/16: absent -> '
	works "nmcli device reapply: verify" until_true 10 setup verify
	at_most "nmcli device reapply: ms until the route was there again" $IN_TIME \
		"$(restored_ms)"
	watch_ends "nmcli device reapply"
	kill "$LISTENER"
	nm_host_end "nmcli device reapply"
}

nm()
{
	local before

	nm_host nm
	nm_up >"$TMP/act" 2>&1 || fail "nmcli connection up" "$(<"$TMP/act")"
	until_true "$WAIT" nm_has_route
	settled
	circuits
	before=$(everything)
	listen
	watch
	restored "nmcli connection up" "$before" nm_up
	restored "nmcli connection up, again" "$before" nm_up
	left "nmcli connection up, the third time in a minute" nm_up
	again "nmcli connection up, the third time" "$before"
	flaps "NetworkManager, no carrier" "$before"
	replaced "a connection with a qdisc" nm_with_a_qdisc
	own nmcli connection modify eth1 tc.qdiscs ""
	in_host tc qdisc del dev eth1 root
	as_before "NetworkManager's qdisc deleted" "$before"
	watch_ends "NetworkManager"
	kill "$LISTENER"
	nm_host_end "NetworkManager"
}

# A setting of the manual: NetworkManager removes nothing when the carrier is lost.
nm_ignores_carrier()
{
	nm_host nm-carrier ignore-carrier=interface-name:eth1
	nm_up >"$TMP/act" 2>&1 || fail "nmcli connection up" "$(<"$TMP/act")"
	until_true "$WAIT" nm_has_route
	circuits
	listen
	watch
	: >"$TMP/watch"
	in_host ip link set far1 down
	sleep 10
	in_host ip link set far1 up
	kept "no carrier, with ignore-carrier"
	watch_ends "ignore-carrier"
	kill "$LISTENER"
	nm_host_end "ignore-carrier"
}

echo "# $($NETWORKD --version 2>/dev/null | head -n 1 || networkctl --version | head -n 1)," \
	"$(NetworkManager --version)"
networkd
nm_alone
nm_reapply
nm
nm_ignores_carrier
finish

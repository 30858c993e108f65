#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What test_seed.sh compares, in the virtual-time machine: random numbers, and which packets
# a lossy path loses.

. "$LAB_DIR/selftests/lib.sh"
need_commands circuit_sock tc
need_module

network
# Of some 300 packets, as GSO makes them of 20 MB, 15 are lost
delay 10 loss 5%
serve dst
od -An -N 8 -t x1 /dev/urandom
in_src circuit_sock send -C reno -n 20000000 $DST4 $PORT
in_rtr tc -s qdisc show dev r2
echo "$0 $PWD"

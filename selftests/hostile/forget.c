// SPDX-License-Identifier: GPL-2.0
/*
 * forget: a stream whose round trip nobody knows, however long it lives
 *
 * The kernel is made to forget the round trip (round_trip.c) before each byte that a
 * stream sends, and circuit once more before the byte's ACK arrives.  A segment of an
 * unknown round trip must not count as in flight for longer than until its ACK.
 */
#include "hostile.h"

void run_forget(const struct options *o, const char *address, int port)
{
	long begin = clock_ms();
	int us = 0;

	connect_all(o, address, port, false);
	while (clock_ms() - begin < o->ms) {
		forget_rtt(o, ++us);
		send_byte(o);
		leave_and_return(o);
		while (!all_acked(o) && clock_ms() - begin < o->ms)
			pause_ms(1);
	}
	drop_all(o);
}

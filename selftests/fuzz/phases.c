// SPDX-License-Identifier: GPL-2.0
/*
 * Phases: a storm, a steady window, anything
 */
#include "fuzz.h"

#define STORM_LOSS	60	/* % */

enum phase phase;
uint32_t steady;
bool orphans_die;

static void begin_storm(void)
{
	write_number(SYSCTLS "breaker", 1 + below(500));
	write_number(SYSCTLS "breaker_quiet", below(2) ? 300 : 1);
	set_mtu(1500);
	open_streams();
	set_loss(STORM_LOSS);
}

void begin_phase(void)
{
	static const int mtus[] = { 65536, 9000, 1500 };

	phase = turn / PHASE % PHASES;
	steady = 0;
	set_mtu(mtus[below(COUNT(mtus))]);
	set_loss(phase == STORM ? 0 : 3);
	if (phase == ANYTHING)
		return;
	steady = 1 + below(2000);
	write_number(SYSCTLS "fcwnd", steady);
	write_number(SYSCTLS "breaker", 1 + below(100));
	write_number(SYSCTLS "breaker_ms", 500);
	if (phase == STORM)
		begin_storm();
}

/*
 * All are closed, those of the pool by RST, on a loopback that loses nothing any
 * more.  What was closed before and heard nothing of that still has timers of up
 * to TCP_RTO_MAX (120 s) to wait for; where the kernel knows how (-k), ss -K ends it.
 */
void end_phase(void)
{
	int left = 0;

	remove_all();
	set_loss(0);
	if (phase == STORM)
		close_streams();
	for (int slot = 0; slot < SOCKETS; slot++)
		drop(slot);
	for (int tries = 0; tries < 3000; tries++) {
		reset_all();
		left = circuits();
		if (!left)
			return;
		if (orphans_die && tries % 500 == 60 &&
		    system("ss -tK >/dev/null 2>&1"))
			bail("ss -K");
		usleep(tries < 20 ? 10000 : 100000);
	}
	rule("%d circuits left, all sockets closed", left);
}

/* Time passes; in a storm more, for the breaker to see what is lost. */
void pass_time(void)
{
	if (phase == STORM) {
		blow();
		usleep(40000 + below(40000));
	} else {
		usleep(2000 + below(40000));
	}
}

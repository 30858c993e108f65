// SPDX-License-Identifier: GPL-2.0
// By 7.3, hrtimer_callback_running() in a header of its own; in linux/hrtimer.h before
// absent: linux/hrtimer_bases.h.*(No such file|file not found)
#include <linux/hrtimer.h>
#include <linux/hrtimer_bases.h>

int probe(struct hrtimer *timer)
{
	return hrtimer_callback_running(timer);
}

// SPDX-License-Identifier: GPL-2.0
// 6.11: a sysctl's handler may not write to its table
// absent: incompatible pointer type|initialization of|incompatible function pointer
#include <linux/sysctl.h>

int probe(const struct ctl_table *table, int write, void *buffer, size_t *len,
	  loff_t *pos);

proc_handler *handler = probe;

// SPDX-License-Identifier: GPL-2.0
// 9c5d03d36251 "genetlink: start to validate reserved header bytes" (6.1): from
// which command on a family's messages may have no flags but the core's own
// absent: resv_start_op
#include <net/genetlink.h>

struct genl_family probe = { .resv_start_op = 1 };

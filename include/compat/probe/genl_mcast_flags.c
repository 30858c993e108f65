// SPDX-License-Identifier: GPL-2.0
// "genetlink: add CAP_NET_ADMIN test for multicast bind", also in 5.10's stable
// releases: who may join a group
// absent: flags
#include <net/genetlink.h>

struct genl_multicast_group probe = { .flags = 1 };

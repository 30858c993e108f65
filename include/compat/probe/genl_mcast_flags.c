// SPDX-License-Identifier: GPL-2.0
// "genetlink: add CAP_NET_ADMIN test for multicast bind" (5.12, and stable ones before
// it): who may join a group
// absent: flags
#include <net/genetlink.h>

struct genl_multicast_group probe = { .flags = 1 };

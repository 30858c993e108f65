// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion control itself is ../tcp_circuit.c, which one reads first.  The
 * kernel's build allows no object of a module to have the module's own name.
 */

#include "../tcp_circuit.c"
